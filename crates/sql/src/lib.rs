//! Parses, binds, plans and executes SQL statements against the engine.
//!
//! The input is the text of a statement, or a prepared statement and its parameters. Rows and OK
//! answers go into a [`ResultSink`], changes of rows into the engine's write sets, and commands
//! that are not about data to the server.
//!
//! These are the layers, the lowest first. Each layer uses only those above it in this list:
//!
//! 1. What every layer names: `error`, `memory`, `counters`, `measured` (what statements took),
//!    `stopwatch` (what the operations of one statement took, for EXPLAIN ANALYZE), `sql_mode`,
//!    `sink`, `host` (what the server around a session answers), `computed_table` (a table that
//!    the host computes), `admin` (commands that the server carries out), `attribute` and `quoting`
//!    (how the dictionary stores definitions and how they are printed), `variables`.
//! 2. Text to tokens: `received_text` (the characters of a source's statement), `lexical`,
//!    `literal_rows`, `lexer`.
//! 3. Tokens to a tree: `parse`, which makes the trees of `ast`. Tokens to a digest: `digest`.
//! 4. Expressions, bound and computed: `expr`; what they search for: `full_text`.
//! 5. The plan's operators as values: `plan` (which index, which ranges).
//! 6. Binding: `bind` resolves names to columns and turns the trees of `ast` into those of `expr`
//!    and `plan`. It reads the dictionary and the definitions of `schema_tables`, which `show`
//!    prints.
//! 7. Running: `exec` carries plans out. `detached` computes a definition's expressions without a
//!    client.
//! 8. Statements about definitions: `ddl`.
//! 9. The session: `session::state` is what a session keeps, `session` what it does with each
//!    statement. `replicated` runs what a source has logged, and
//!    `converted` returns the statements that one of a source stands for.
//!
//! Each session caches bound plans by the statement's text. A cached plan is valid while the schema
//! version that it was bound under is current.
//!
//! Invariants: a statement that fails leaves none of its changes in the transaction (a savepoint
//! undoes them); DDL commits before and after itself; every error carries MySQL's number and
//! wording ([`SqlError`]); nothing that a client sends makes this crate panic.

pub mod admin;
mod ast;
mod attribute;
mod base64;
mod bind;
mod binlog_format;
mod computed_table;
mod converted;
pub mod counters;
mod ddl;
mod detached;
mod digest;
mod engine_error;
mod error;
pub mod event_timing;
mod exec;
mod expr;
mod full_text;
mod host;
mod lexer;
mod lexical;
mod literal_rows;
pub mod locale;
pub mod measured;
pub mod memory;
mod normalized;
mod object_text;
mod optimize;
mod parse;
mod plan;
mod program;
mod quoting;
mod received_text;
mod regexp;
mod replica_host;
pub mod replicated;
mod result_column;
mod schema_tables;
mod session;
mod show;
mod sink;
mod sql_mode;
mod statement_log;
mod stopwatch;
mod system_rows;
mod table_uses;
mod temporary;
pub mod time_zone;
pub mod touched;
mod variables;
mod view_query;

pub use admin::AdminCommand;
pub use attribute::view_column_names;
pub use computed_table::{ComputedRows, ComputedTable};
pub use detached::{PartitionConditions, VirtualColumns};
pub use digest::Digest;
pub use error::{Result, SqlError, sqlstate};
pub use host::{
    Host, Privilege, Rights, RoutineChange, RowEvents, RunningPlan, SetupAction, SetupChange, Sight,
    StatementClass, TransactionKind, UserLocks, VariableScope, VirtualTable,
};
pub use normalized::normalized;
pub use schema_tables::{can_be_truncated, compressed_page_sizes};
pub use session::event::{EventCondition, EventRun, drop_event, note_event_run, run_event, timing_of};
pub use session::prepared::Prepared;
pub use session::{Session, SessionInit};
pub use sink::{
    ClientFile, ColumnMeta, EndOfRows, OkInfo, PlanNumber, ResultSink, StoredRow, WarningLevel, column_flag,
    status,
};
pub use statement_log::{EndedStatement, StatementLog, StatementOrigin};
