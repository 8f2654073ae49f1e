//! The sessions that the server runs for itself, on its own tables.
//!
//! `host` answers what such a session asks of the server, `row_collector` keeps the rows of its
//! statements, and `session` is the session.

mod host;
pub mod row_collector;
pub mod session;
