//! A table as users see it.

use super::column::{ColumnDef, ColumnDefault};
use super::expression::{CheckDef, KeptIndex, KeptKind};
use super::foreign_key::ForeignKeyDef;
use super::index::{IndexColumn, IndexDef};
use super::name::same_name;
use super::partition::Partitioning;
use super::temporal::{ColumnRoles, Temporal};
use types::TypeCode;

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDef {
    /// Schema that the table is in.
    pub schema: String,
    /// Name.
    pub name: String,
    /// Columns in order.
    pub columns: Vec<ColumnDef>,
    /// Primary key; `None`: rows are kept in the order of a hidden row id.
    pub primary: Option<Vec<IndexColumn>>,
    /// Secondary indexes in order.
    pub indexes: Vec<IndexDef>,
    /// FOREIGN KEY constraints in the order of their making.
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// CHECK constraints in the order of their making.
    pub checks: Vec<CheckDef>,
    /// Indexes that are shown and dumped, and that nothing is looked up in.
    pub kept_indexes: Vec<KeptIndex>,
    /// `PARTITION BY`
    pub partitioning: Option<Partitioning>,
    /// Periods, as MariaDB has them.
    pub temporal: Temporal,
    /// Default collation of new columns.
    pub collation: u16,
    /// `COMMENT`
    pub comment: String,
    /// Other options as written (`ROW_FORMAT`, `STATS_PERSISTENT`, ...), for `SHOW CREATE TABLE`.
    pub options: Vec<(String, String)>,
    /// First value of the AUTO_INCREMENT counter that the statement asked for; 0: not said.
    pub auto_increment: u64,
    /// When the table was created, in seconds of Unix time.
    pub created_s: u64,
}

impl TableDef {
    /// An empty definition in utf8mb4_0900_ai_ci.
    pub fn new(schema: &str, name: &str) -> TableDef {
        TableDef {
            schema: schema.to_string(),
            name: name.to_string(),
            columns: Vec::new(),
            primary: None,
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            kept_indexes: Vec::new(),
            partitioning: None,
            temporal: Temporal::default(),
            collation: 255,
            comment: String::new(),
            options: Vec::new(),
            auto_increment: 0,
            created_s: 0,
        }
    }

    /// Position of the column with this name, compared without regard to case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| same_name(&column.name, name))
    }

    /// Position in `indexes` of the index with this name, compared without regard to case.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| same_name(&index.name, name))
    }

    /// Whether it is a MariaDB sequence: a table of one row, which row events set.
    pub fn is_sequence(&self) -> bool {
        self.primary.is_none() && self.options.iter().any(|(name, value)| name == "SEQUENCE" && value == "1")
    }

    /// Position of the column that has a role.
    pub fn column_with(&self, role: ColumnRoles) -> Option<usize> {
        self.columns.iter().position(|column| column.roles.has(role))
    }

    /// Positions of ROW START and ROW END of a table with system versioning.
    pub fn row_period(&self) -> Option<(usize, usize)> {
        self.temporal.versioning?;
        Some((self.column_with(ColumnRoles::ROW_START)?, self.column_with(ColumnRoles::ROW_END)?))
    }

    /// Whether a column is neither shown nor listed: nobody wrote it.
    pub fn is_hidden(&self, column: &ColumnDef) -> bool {
        column.roles.is_of_row() && self.temporal.versioning.is_some_and(|versioning| versioning.implied)
    }

    /// Whether rows are versioned by numbers of transactions, not by time.
    pub fn is_versioned_by_transactions(&self) -> bool {
        self.row_period().is_some_and(|(_, end)| self.columns[end].ty.code == TypeCode::LongLong)
    }

    /// Position of the AUTO_INCREMENT column.
    pub fn auto_increment_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.auto_increment)
    }

    /// `schema.table`
    pub fn qualified_name(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }

    /// Position in `checks` of the constraint with this name.
    pub fn check_constraint(&self, name: &str) -> Option<usize> {
        self.checks.iter().position(|check| same_name(&check.name, name))
    }

    /// Position in `kept_indexes` of the index with this name.
    pub fn kept_index(&self, name: &str) -> Option<usize> {
        self.kept_indexes.iter().position(|index| same_name(&index.name, name))
    }

    /// The place of an index among the others, as MySQL sorts them whenever a table is made or
    /// altered: unique ones first, and of those the ones that nothing is NULL in; the others as far
    /// as no virtual column is in them.
    pub fn rank(&self, index: &IndexDef) -> u8 {
        let mut columns = index.columns.iter().map(|part| &self.columns[part.column]);
        let is_virtual =
            |column: &ColumnDef| column.generated.as_ref().is_some_and(|generated| !generated.stored);
        match index.unique {
            true => u8::from(columns.any(|column| column.nullable)),
            false => 2 + u8::from(columns.any(is_virtual)),
        }
    }

    /// Puts the indexes into the order in which they are shown: what an ALTER begins with.
    pub fn arrange_indexes(&mut self) {
        let mut ranks: Vec<u8> = self.indexes.iter().map(|index| self.rank(index)).collect();
        // The places of SPATIAL indexes are among those of rank 2.
        let before = |behind: u32| {
            let in_front = |&(at, rank): &(usize, &u8)| *rank < 2 || *rank == 2 && at < behind as usize;
            ranks.iter().enumerate().filter(in_front).count() as u32
        };
        for index in &mut self.kept_indexes {
            if let KeptKind::Spatial { behind } = &mut index.kind {
                *behind = before(*behind);
            }
        }
        if !ranks.is_sorted() {
            let mut ranked: Vec<_> = ranks.drain(..).zip(std::mem::take(&mut self.indexes)).collect();
            ranked.sort_by_key(|(rank, _)| *rank);
            self.indexes = ranked.into_iter().map(|(_, index)| index).collect();
        }
    }

    /// Keeps the places of SPATIAL indexes among the others when the one at `gone` is no more.
    pub fn close_gap_in_order(&mut self, gone: usize) {
        for index in &mut self.kept_indexes {
            if let KeptKind::Spatial { behind } = &mut index.kind {
                *behind -= u32::from(*behind as usize > gone);
            }
        }
    }

    /// Some column's value is computed from others'.
    pub fn has_generated(&self) -> bool {
        self.columns.iter().any(|column| column.generated.is_some())
    }

    /// Whether a row of it that a client writes asks for an expression: of a generated column, of a
    /// default, of a constraint that is enforced, of its partitions; or has a unique key that is
    /// not kept up.
    pub fn asks_for_expressions(&self) -> bool {
        let is_expression =
            |default: &Option<ColumnDefault>| matches!(default, Some(ColumnDefault::Expression(_)));
        self.has_generated()
            || self.columns.iter().any(|column| is_expression(&column.default))
            || self.checks.iter().any(|check| check.enforced)
            || self.kept_indexes.iter().any(|index| index.unique)
            || self.partitioning.as_ref().is_some_and(Partitioning::leaves_rows_out)
    }
}
