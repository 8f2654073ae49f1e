//! What tests of whole servers need: instances on temporary directories and free ports, sysbench,
//! checksums, and a TCP proxy that cuts connections.
//!
//! Flows in: a flavor and settings of [`bench::instance`]. Flows out: servers under test, what
//! clients saw, and checksums to compare. All functions here panic with a message when they fail,
//! because a test has no caller that could handle an error.
//!
//! Invariants: a test that cannot run because a peer is missing says so ([`available`]), and the
//! summary of `make test` repeats it. The binary under test is built from the sources of this
//! workspace ([`binary::slipstream`]).

pub mod answers;
pub mod application;
pub mod background;
pub mod binary;
pub mod binlog_events;
pub mod browser;
pub mod caller;
pub mod client_suite;
pub mod conversation;
pub mod definitions;
pub mod every_type;
pub mod expressions;
pub mod family;
pub mod following;
pub mod grammar;
pub mod history;
pub mod http;
pub mod known;
pub mod ledger;
pub mod limited;
pub mod lines;
pub mod program;
pub mod proxy;
pub mod reader;
pub mod repertoire;
pub mod running;
pub mod s3;
pub mod schema;
pub mod server;
mod skipped;
pub mod sysbench;
pub mod vitess;
pub mod witness;
pub mod work;

pub use bench::instance::{Flavor, Instance, RowImage, Settings, USER};
pub use server::{Replica, Server};
pub use skipped::{available, counts_compare, may_mount, reader_available, tool_available};

/// Returns how often the kill loops kill: the value of `SLIPSTREAM_KILLS`, or 50.
pub fn kills() -> u64 {
    times("SLIPSTREAM_KILLS", 50)
}

/// Returns how often a loop runs: the value of this variable of the environment, or `default`.
pub fn times(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => default,
    }
}
