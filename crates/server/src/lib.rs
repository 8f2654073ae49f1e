//! The server: what stands between clients and the layers below.
//!
//! In: options, connections with their commands, signals. Out: answers; the error log; the
//! process's exit code.
//!
//! The way of a statement: [`listener`] accepts, [`connection`] reads the command (crate
//! `protocol`), a `sql::Session` runs it and asks [`connection_host::ConnectionHost`] for what
//! belongs to the server, [`wire_sink`] sends the result. [`serve`] has the way of the process:
//! options, [`start`], ready, a signal, the end.
//!
//! Invariants:
//! - A connection that breaks, misbehaves or panics harms no other connection.
//! - Nothing is acknowledged to a client before the session has returned; the session returns after
//!   the commit is as safe as `innodb_flush_log_at_trx_commit` asks.
//! - Accounts in memory are those in the tables: a change is stored first and counts afterwards.
//! - A start that fails says what and where, leaves the data directory as it was, and exits with a
//!   code other than 0.

pub mod accounts;
pub mod admin;
pub mod authenticate;
mod auto_cnf;
pub mod cells;
mod checks;
pub mod connection;
pub mod connection_host;
mod datadir;
pub mod error_log;
pub mod help;
pub mod host_cache;
mod initialise;
mod innodb_monitor;
mod internal_session;
pub mod listener;
mod login;
pub mod manual;
pub mod options;
mod packet_room;
pub mod panic_hook;
mod peer;
mod prepared;
mod replicas;
mod result_table;
mod row_collector;
mod secrets;
pub mod serve;
pub mod server;
mod service;
mod session_rights;
pub mod sessions;
pub mod show_status;
pub mod signals;
pub mod start;
pub mod status;
mod time_limits;
mod tls;
pub mod variables;
pub mod version;
mod virtual_tables;
pub mod wire_sink;
