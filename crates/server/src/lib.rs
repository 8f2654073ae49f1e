//! The server: everything between the clients and the layers below.
//!
//! In: options, connections with their commands, signals. Out: answers to clients, the error log,
//! and the exit code of the process.
//!
//! A statement takes this way: [`listener`] accepts the connection, [`connection`] reads the
//! command (crate `protocol`), a `sql::Session` runs it and asks [`sql_host`] for what belongs to
//! the server, and the connection sends the result. [`serve`] has the way of the process: options,
//! [`start`], the announcement that the server is ready, a signal, the end.
//!
//! These are the layers, from the lowest. A file refers only to layers below its own:
//!
//! 1. [`process`]: the error log, signals, the effect of a panic, systemd, the version;
//!    [`datadir`]: the owner of the data directory, and its format.
//! 2. [`accounts`] in memory, and the statements that change them; `variables::store`, the values
//!    of system variables; in [`server`] the connections, counters, hosts and replicas.
//! 3. [`server::Server`] owns these together with the engine, the binary log and the channels.
//!    Everything above receives it.
//! 4. [`variables`]: the definitions, which are functions of a server, and the effects of setting
//!    one. [`options`] reads them from the command line and from option files.
//! 5. [`internal`]: the server's own sessions. `accounts::storage` reads and writes the tables of
//!    accounts with them, and [`initialise`] creates these tables.
//! 6. [`client`]: who a client is, what belongs to its session, and what it may do.
//! 7. [`show`]: what a client sees of the server.
//! 8. [`admin`]: the statements that the server itself carries out.
//! 9. [`sql_host`]: the answers to what a client's session asks of the server, from the three
//!    layers below.
//! 10. [`connection`] and [`listener`].
//! 11. [`events`]: the event scheduler, which runs sessions without a client.
//! 12. [`http`]: what monitoring and load balancers ask by HTTP.
//! 13. [`start`] puts a server together, and [`serve`] runs it.
//!
//! Invariants:
//! - A connection that breaks, misbehaves or panics harms no other connection.
//! - A client gets no acknowledgement before the session has returned, and the session returns
//!   after the commit is as safe as `innodb_flush_log_at_trx_commit` asks.
//! - The accounts in memory are those in the tables: a change is stored first and takes effect
//!   afterwards.
//! - A start that fails says what failed and where, leaves the data directory as it was, and exits
//!   with a code other than 0.

pub mod accounts;
pub mod admin;
pub mod attach;
pub mod backup;
pub mod client;
pub mod connection;
pub mod datadir;
pub mod events;
pub mod http;
pub mod initialise;
pub mod internal;
pub mod listener;
pub mod options;
pub mod process;
pub mod query_log;
pub mod restore;
pub mod serve;
pub mod server;
pub mod show;
pub mod sql_host;
mod sql_rights;
pub mod start;
mod stores;
mod sys_schema;
mod system_tables;
pub mod variables;
