//! `PARTITION BY`, and what ALTER TABLE does to partitions.

use super::{TableName, WrittenExpr};
use engine::PartitionKind;

/// The function of `PARTITION BY` or `SUBPARTITION BY`.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionFunctionSpec {
    pub kind: PartitionKind,
    pub linear: bool,
    pub algorithm_1: bool,
    /// Of RANGE, LIST and HASH; `None`: it is over columns.
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

/// Which values belong to a partition; each as many as the function has columns.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionValues {
    None,
    LessThan(Vec<PartitionValue>),
    In(Vec<Vec<PartitionValue>>),
    /// `DEFAULT` of LIST, `HISTORY` and `CURRENT` of SYSTEM_TIME: MariaDB's.
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
    /// Empty: none are written.
    pub partitions: Vec<PartitionElement>,
}

/// Which partitions a statement is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionNames {
    All,
    Of(Vec<String>),
}

/// A part of ALTER TABLE that is about partitions. MySQL has at most one in a statement.
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
    /// `REORGANIZE PARTITION names INTO (...)`; without names nothing changes.
    Reorganize(Vec<String>, Vec<PartitionElement>),
    /// `EXCHANGE PARTITION name WITH TABLE table`
    Exchange {
        partition: String,
        table: TableName,
        validates: bool,
    },
    /// `REBUILD PARTITION`
    Rebuild(PartitionNames),
    /// MariaDB's ADD with IF NOT EXISTS and DROP with IF EXISTS.
    Conditional(Box<PartitionAlteration>),
}
