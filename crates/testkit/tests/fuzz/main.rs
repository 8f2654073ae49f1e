//! Fuzzers of whole servers: what comes from a disk, a source or a client is damaged in every way
//! that a seeded generator thinks of, and the server must refuse it or give right answers. The
//! server must not panic, hang, take memory without bound, or give other rows.
//!
//! Each fuzzer first plays what once failed (`corpus/`), then makes up new inputs for
//! `SLIPSTREAM_FUZZ_SECONDS` (a minute by default, an hour in `make nightly`). The fuzzer prints
//! its seed; `SEED=...` plays it again. The failures of one run are gathered and reported together,
//! each as a line for the corpus.
//!
//! The fuzzers are of our own making: engines that are led by coverage need a nightly compiler, and
//! cannot measure the coverage of a whole server in another process.

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
