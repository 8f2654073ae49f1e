//! `PARTITION BY`, and the operations of ALTER TABLE on partitions.

use super::{TableName, WrittenExpr};
use engine::PartitionKind;

/// The function of `PARTITION BY` or `SUBPARTITION BY`.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionFunctionSpec {
    pub kind: PartitionKind,
    pub linear: bool,
    pub algorithm_1: bool,
    /// The expression of RANGE, LIST or HASH. `None` if the function is over columns.
    pub expression: Option<WrittenExpr>,
    pub columns: Vec<String>,
}

/// A value of `VALUES LESS THAN` or `VALUES IN`.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionValue {
    /// `MAXVALUE`
    Max,
    Of(super::Expr),
}

/// The values that belong to a partition. Each is a list with one item for each column of the
/// function.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionValues {
    None,
    LessThan(Vec<PartitionValue>),
    In(Vec<Vec<PartitionValue>>),
    /// MariaDB's `DEFAULT` of LIST, and `HISTORY` and `CURRENT` of SYSTEM_TIME.
    Word(&'static str),
}

/// A partition as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionElement {
    pub name: String,
    pub values: PartitionValues,
    pub options: Vec<(String, String)>,
    pub subpartitions: Vec<(String, Vec<(String, String)>)>,
}

/// `PARTITION BY`
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionSpec {
    pub by: PartitionFunctionSpec,
    pub count: Option<u64>,
    pub sub: Option<(PartitionFunctionSpec, Option<u64>)>,
    /// The written partitions. Empty if none are written.
    pub partitions: Vec<PartitionElement>,
}

/// The partitions that a statement is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionNames {
    All,
    Of(Vec<String>),
}

/// An operation of ALTER TABLE on partitions. MySQL allows at most one in a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionAlteration {
    /// `PARTITION BY`
    By(Box<PartitionSpec>),
    /// `REMOVE PARTITIONING`
    Remove,
    /// `ADD PARTITION (...)`
    Add(Vec<PartitionElement>),
    /// `ADD PARTITION PARTITIONS n`
    AddCount(u64),
    Drop(Vec<String>),
    Truncate(PartitionNames),
    Coalesce(u64),
    /// `REORGANIZE PARTITION names INTO (...)`. Without names nothing changes.
    Reorganize(Vec<String>, Vec<PartitionElement>),
    /// `EXCHANGE PARTITION name WITH TABLE table`
    Exchange {
        partition: String,
        table: TableName,
        validates: bool,
    },
    /// MariaDB's `CONVERT PARTITION name TO TABLE table`
    ToTable {
        partition: String,
        table: TableName,
    },
    /// MariaDB's `CONVERT TABLE table TO PARTITION ...`
    FromTable {
        table: TableName,
        element: Box<PartitionElement>,
    },
    /// `REBUILD PARTITION`
    Rebuild(PartitionNames),
    /// MariaDB's ADD with IF NOT EXISTS, or DROP with IF EXISTS.
    Conditional(Box<PartitionAlteration>),
}

impl PartitionAlteration {
    /// Returns the other table whose rows the statement moves.
    pub fn other_table(&self) -> Option<&TableName> {
        match self {
            PartitionAlteration::Exchange { table, .. }
            | PartitionAlteration::ToTable { table, .. }
            | PartitionAlteration::FromTable { table, .. } => Some(table),
            _ => None,
        }
    }
}
