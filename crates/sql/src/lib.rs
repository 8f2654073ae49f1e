//! Parse, bind, plan and execute SQL against the engine.
//!
//! In: the text of a statement, or a prepared statement and its parameters. Out: rows and OKs into
//! a [`ResultSink`]; changes into the engine's write sets; commands that are not about data to the
//! server.
//!
//! The layers, from the lowest. A statement goes through them in this order, and a file names those
//! below it alone:
//!
//! 1. What everything names: `error`, `memory`, `counters`, `sql_mode`, `sink`, `host` (what the
//!    server around a session answers), `computed_table` (a table that it computes), `admin`
//!    (commands that are the server's), `attribute` and `quoting` (how the dictionary keeps things
//!    and how definitions are printed), `variables`.
//! 2. Text to tokens: `lexical`, `literal_rows`, `lexer`.
//! 3. Tokens to a tree: `parse`, which makes the trees of `ast`.
//! 4. Expressions, bound and computed: `expr`.
//! 5. The plan's operators as values: `plan` (which index, which ranges).
//! 6. Binding: `bind` makes names columns, and trees of `ast` those of `expr` and `plan`. It reads
//!    the dictionary, and the definitions of `schema_tables`; `show` prints them.
//! 7. Running: `exec` carries plans out; `detached` computes a definition's expressions without a
//!    client.
//! 8. Statements about definitions: `ddl`.
//! 9. The session: `session::state` is what it keeps, `session` what it does with each statement.
//!    `replicated` runs what a source has logged.
//!
//! Bound plans are cached by text for each session, and are valid as long as the schema version
//! they were bound under.
//!
//! Invariants: a statement that fails leaves nothing of itself in the transaction (savepoint); DDL
//! commits before and after itself; every error carries MySQL's number and wording ([`SqlError`]);
//! nothing here panics on what a client sends.

pub mod admin;
mod ast;
mod attribute;
mod bind;
mod binlog_format;
mod computed_table;
pub mod counters;
mod ddl;
mod detached;
mod engine_error;
mod error;
pub mod event_timing;
mod exec;
mod expr;
mod host;
mod lexer;
mod lexical;
mod literal_rows;
pub mod memory;
mod normalized;
mod object_text;
mod optimize;
mod parse;
mod plan;
mod program;
mod quoting;
mod regexp;
mod replica_host;
pub mod replicated;
mod result_column;
mod schema_tables;
mod session;
mod show;
mod sink;
mod sql_mode;
mod temporary;
pub mod time_zone;
pub mod touched;
mod variables;

pub use admin::AdminCommand;
pub use attribute::view_column_names;
pub use computed_table::{ComputedRows, ComputedTable};
pub use detached::VirtualColumns;
pub use error::{Result, SqlError, sqlstate};
pub use host::{
    Host, Privilege, Rights, RoutineChange, Sight, StatementClass, UserLocks, VariableScope, VirtualTable,
};
pub use normalized::normalized;
pub use session::event::{EventCondition, EventRun, drop_event, note_event_run, run_event, timing_of};
pub use session::prepared::Prepared;
pub use session::{Session, SessionInit};
pub use sink::{ClientFile, ColumnMeta, EndOfRows, OkInfo, ResultSink, column_flag, status};
