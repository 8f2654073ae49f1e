//! The server: what stands between clients and the layers below.
//!
//! In: options, connections with their commands, signals. Out: answers; the error log; the
//! process's exit code.
//!
//! The way of a statement: [`listener`] accepts, [`connection`] reads the command (crate
//! `protocol`), a `sql::Session` runs it and asks [`sql_host`] for what belongs to the server, and
//! the connection sends the result. [`serve`] has the way of the process: options, [`start`],
//! ready, a signal, the end.
//!
//! The layers, from the lowest. A file names those below it alone:
//!
//! 1. [`process`]: the error log, signals, what a panic ends, systemd, the version; [`datadir`]:
//!    whose the data directory is, and its format.
//! 2. [`accounts`] in memory, and what statements make of them; `variables::store`, the values of
//!    system variables; of [`server`] the connections, counters, hosts and replicas.
//! 3. [`server::Server`] owns these beside the engine, the binary log and the channels, and is what
//!    everything above is given.
//! 4. [`variables`]: the definitions, which are functions of a server, and what setting one does.
//!    [`options`] reads them from the command line and option files.
//! 5. [`internal`]: the server's own sessions. `accounts::storage` reads and writes the tables of
//!    accounts with them, and [`initialise`] makes these.
//! 6. [`client`]: who a client is, what belongs to its session, and what it may do.
//! 7. [`show`]: what a client is shown of the server.
//! 8. [`admin`]: the statements that the server itself carries out.
//! 9. [`sql_host`]: what a client's session asks of the server, answered by the three layers below.
//! 10. [`connection`] and [`listener`].
//! 11. [`events`]: the event scheduler, which runs sessions that are no client's.
//! 12. [`start`] puts a server together, and [`serve`] runs it.
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
pub mod attach;
pub mod client;
pub mod connection;
pub mod datadir;
pub mod events;
pub mod initialise;
pub mod internal;
pub mod listener;
pub mod options;
pub mod process;
pub mod query_log;
pub mod serve;
pub mod server;
pub mod show;
pub mod sql_host;
mod sql_rights;
pub mod start;
mod system_tables;
pub mod variables;
