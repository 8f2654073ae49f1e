//! Parse, bind, plan and execute SQL against the engine.
//!
//! In: the text of a statement, or a prepared statement and its parameters. Out: rows and OKs into
//! a [`ResultSink`]; changes into the engine's write sets; commands that are not about data to the
//! server.
//!
//! The way of a statement: `lexer` -> `parse` (a tree of `ast`) -> `bind` (names to columns, a tree
//! of `expr`) -> `plan` (which index, which ranges) -> `exec`. Bound plans are cached by text for
//! each session, and are valid as long as the schema version they were bound under.
//!
//! Invariants: a statement that fails leaves nothing of itself in the transaction (savepoint); DDL
//! commits before and after itself; every error carries MySQL's number and wording ([`SqlError`]);
//! nothing here panics on what a client sends.

pub mod admin;
mod ast;
mod attribute;
mod bind;
mod binlog_format;
mod ddl;
mod detached;
mod engine_error;
mod error;
mod exec;
mod expr;
mod host;
mod lexer;
mod literal_rows;
pub mod memory;
mod normalized;
mod parse;
mod plan;
mod quoting;
mod replica_host;
pub mod replicated;
mod schema_tables;
mod session;
mod show;
mod sink;
mod sql_mode;
pub mod touched;
mod variables;

pub use admin::AdminCommand;
pub use detached::VirtualColumns;
pub use error::{Result, SqlError, sqlstate};
pub use host::{Host, Privilege, RoutineChange, Sight, StatementClass, VariableScope, VirtualTable};
pub use normalized::normalized;
pub use session::{Prepared, Session, SessionInit};
pub use sink::{ColumnMeta, EndOfRows, OkInfo, ResultSink, column_flag, status};
