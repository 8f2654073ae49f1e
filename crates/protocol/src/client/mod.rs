//! A blocking client: what replicas, the benchmark kit and the tests talk to servers with.
//!
//! One connection, one thread. Buffers are reused, so a statement whose rows are not kept costs no
//! allocation: the load generator runs on [`Client::execute_discard`]. Anything that a server sends
//! is checked like any other peer's bytes.

mod connect;
mod error;
mod link;
mod query;

pub use crate::stream::{Interrupter, Stream};
pub use connect::{Address, ConnectOptions};
pub use error::ClientError;
pub use link::Client;
pub use query::{ResultSet, Statement, Summary};
