//! A blocking client, by which replicas, the benchmark kit and the tests talk to servers.
//!
//! A connection is used by one thread. Buffers are reused, so a statement whose rows are not kept
//! costs no allocation: the load generator uses [`Client::execute_discard`]. Everything that a
//! server sends is checked like the bytes of any other peer.

mod connect;
mod error;
mod link;
mod query;

pub use crate::stream::{Interrupter, Stream};
pub use connect::{Address, ConnectOptions};
pub use error::ClientError;
pub use link::Client;
pub use query::{Asked, ResultSet, Statement, Summary};
