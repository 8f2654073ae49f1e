//! Fuzzers of whole servers: what comes from a disk, a source or a client is damaged in every way
//! that a seeded generator thinks of, and the server must refuse it or answer right. It must not
//! panic, hang, take memory without bound, or give other rows.
//!
//! Each fuzzer first plays what once failed (`corpus/`), then makes up new inputs for
//! `SLIPSTREAM_FUZZ_SECONDS` (a minute; `make nightly`: an hour). The seed is printed; `SEED=...`
//! plays it again. Failures of one run are gathered and reported together, each as a line for the
//! corpus.
//!
//! They are of our own making: engines that are led by coverage want a compiler of the nightly
//! kind, and what they need of a whole server in another process is not to be had.

mod campaign;
mod client;
mod compressed;
mod datadir;
mod events;
mod expressions;
mod grammar;
mod hungry;
mod live;
mod pipe;
mod schema;
mod source;
mod sql;
mod tls;
mod watched;
mod words;
mod worst;
