//! The server: what stands between clients and the layers below.
//!
//! In: options, connections with their commands, signals. Out: answers; the error log; the
//! process's exit code.
//!
//! The way of a statement: [`listener`] accepts, [`connection`] reads the command (crate
//! `protocol`), a `sql::Session` runs it and asks `sql_host` for what belongs to the server,
//! [`wire_sink`] sends the result. [`serve`] has the way of the process: options, [`start`], ready,
//! a signal, the end.
//!
//! The layers, from the lowest. A file names those below it alone:
//!
//! 1. The process: [`error_log`], [`panic_hook`], [`signals`], `service` (systemd), [`version`],
//!    `datadir` (whose it is, and its format) and `auto_cnf`.
//! 2. What the server keeps in memory, each part by itself: [`accounts`] (the table, rights and
//!    roles, and what a statement changes), `variables::store` (values by their places),
//!    [`sessions`] (the connections, KILL), `time_limits`, [`status`] (counters), [`host_cache`],
//!    `replicas`, `innodb_monitor::last_look`.
//! 3. [`server`]: [`server::Server`] owns these beside the engine, the binary log and the channels,
//!    and is what everything above is given.
//! 4. [`variables`]: the definitions, which are functions of a server, and what is set by them.
//!    [`options`] reads them from the command line and option files; [`help`] and [`manual`] print
//!    them.
//! 5. The server's own sessions: `internal_host` and `internal_session`. `accounts::storage` reads
//!    and writes the tables of accounts with them, `initialise` makes them.
//! 6. One client: `peer` (where it comes from), `tls`, [`authenticate`] and `login` (who it is),
//!    [`connection_host`] with `session_rights` (what belongs to its session), `checks` (what it
//!    may do).
//! 7. What a client is shown: `processlist`, [`show_status`], `innodb_monitor`, `virtual_tables`.
//! 8. [`admin`]: the statements that the server itself carries out.
//! 9. `sql_host`: what a client's session asks of the server, answered with layers 6 to 8.
//! 10. [`connection`] with [`wire_sink`], [`cells`], `prepared` and `packet_room`; [`listener`].
//! 11. [`start`] puts a server together, [`serve`] runs it.
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
mod internal_host;
mod internal_session;
pub mod listener;
mod login;
pub mod manual;
pub mod options;
mod packet_room;
pub mod panic_hook;
mod peer;
mod prepared;
mod processlist;
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
mod sql_host;
pub mod start;
pub mod status;
mod time_limits;
mod tls;
pub mod variables;
pub mod version;
mod virtual_tables;
pub mod wire_sink;
