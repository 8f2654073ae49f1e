//! Tables of `mysql` that this server computes from what it knows of itself, and that a source may
//! change rows of.
//!
//! A row in one of them says something about the source alone: the pages of its indexes, or the
//! position of its own replication. Events of such rows are passed over, as they would be where a
//! filter ignores the table.

use super::bind_error::BindError;
use super::statement::{self, StatementError};
use binlog::event::QueryEvent;
use sql::touched::Touched;

/// The tables' names within `mysql`.
const TABLES: &[&str] = &[
    "gtid_executed",
    "innodb_index_stats",
    "innodb_table_stats",
    "slave_master_info",
    "slave_relay_log_info",
    "slave_worker_info",
];

/// Errors that a statement gets which changes such a table: `ER_NO_SUCH_TABLE` and
/// `ER_NON_UPDATABLE_TABLE`.
const REFUSALS: [u32; 2] = [1146, 1288];

fn is_one(schema: &str, table: &str) -> bool {
    schema == "mysql" && TABLES.contains(&table)
}

/// Reports whether a table map event names a computed table, given why it could not be bound.
pub(super) fn is_of_computed_table(error: &BindError) -> bool {
    matches!(error, BindError::NoSuchTable(schema, table) if is_one(schema, table))
}

/// Reports whether a statement was refused because computed tables are all that it changes.
pub(super) fn is_refused_for_computed_tables(query: &QueryEvent<'_>, error: &StatementError) -> bool {
    error.number().is_some_and(|number| REFUSALS.contains(&number))
        && match statement::touched(query) {
            Touched::Tables(tables) => tables.iter().all(|(schema, table)| is_one(schema, table)),
            Touched::Schema(_) | Touched::Nothing => false,
        }
}
