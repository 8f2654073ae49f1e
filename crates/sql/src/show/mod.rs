//! SHOW, DESCRIBE and EXPLAIN: what the dictionary, the session and the host know, as rows of
//! result sets.

mod create_table;
mod explain;
mod help;
mod objects;
mod partitioning;
mod stored_rows;
mod temporal;

pub(crate) use create_table::{ShownIndex, create_table, engine_of, indexes_as_shown, moment_in};
pub(crate) use explain::{
    Explained, Operations, Part, PartitionsOf, UsedPartitions, explain_rows, json, operations, tree,
};
pub(crate) use objects::ShowParts;
pub(crate) use partitioning::{
    expression as partition_expression, method as partition_method, values as partition_values,
};

use types::collation;

/// Matches a name against a LIKE pattern as SHOW does, without regard to case.
pub(crate) fn matches_pattern(name: &[u8], pattern: &[u8]) -> bool {
    types::like::like(name, pattern, Some(b'\\'), collation::UTF8MB4_GENERAL_CI)
}
