//! The definition of a table as users see it.

use super::column::{ColumnDef, ColumnDefault};
use super::expression::{CheckDef, KeptIndex, KeptKind, KeptPart};
use super::foreign_key::ForeignKeyDef;
use super::index::{IndexColumn, IndexDef, IndexRef};
use super::name::same_name;
use super::partition::Partitioning;
use super::temporal::{ColumnRoles, Temporal};
use types::TypeCode;

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDef {
    /// The schema that the table is in.
    pub schema: String,
    /// The name of the table.
    pub name: String,
    /// The columns in order.
    pub columns: Vec<ColumnDef>,
    /// The primary key. `None` means that rows are kept in the order of a hidden row id.
    pub primary: Option<Vec<IndexColumn>>,
    /// Whether the statement says `USING BTREE` of the primary key, which is shown.
    pub primary_using_btree: bool,
    /// The secondary indexes in order.
    pub indexes: Vec<IndexDef>,
    /// The FOREIGN KEY constraints in the order of their creation.
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// The CHECK constraints in the order of their creation.
    pub checks: Vec<CheckDef>,
    /// The FULLTEXT and SPATIAL indexes, and those that are only shown and dumped.
    pub kept_indexes: Vec<KeptIndex>,
    /// The `PARTITION BY` clause.
    pub partitioning: Option<Partitioning>,
    /// The periods and the versioning of the table, as MariaDB has them.
    pub temporal: Temporal,
    /// The number of the default collation of new columns.
    pub collation: u16,
    /// The `COMMENT` of the table.
    pub comment: String,
    /// The other options as written (`ROW_FORMAT`, `STATS_PERSISTENT`, ...), for `SHOW CREATE
    /// TABLE`.
    pub options: Vec<(String, String)>,
    /// The first value of the AUTO_INCREMENT counter that the statement asked for; 0 means none.
    pub auto_increment: u64,
    /// The time when the table was created, in seconds of Unix time.
    pub created_s: u64,
}

/// The first rank of indexes that are not unique ([`TableDef::rank`]).
pub const RANK_OF_OTHERS: u8 = 4;

impl TableDef {
    /// Returns an empty definition in utf8mb4_0900_ai_ci.
    pub fn new(schema: &str, name: &str) -> TableDef {
        TableDef {
            schema: schema.to_string(),
            name: name.to_string(),
            columns: Vec::new(),
            primary: None,
            primary_using_btree: false,
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

    /// Returns the position of the column with this name, compared without regard to case. The
    /// hidden columns of indexed expressions have no names for anybody.
    pub fn column(&self, name: &str) -> Option<usize> {
        let is_it = |column: &ColumnDef| same_name(&column.name, name) && !column.is_indexed_expression();
        self.columns.iter().position(is_it)
    }

    /// Returns the number of columns that statements and the binary log know.
    pub fn named_columns(&self) -> usize {
        self.columns.iter().position(ColumnDef::is_indexed_expression).unwrap_or(self.columns.len())
    }

    /// Returns the index that has the hidden column at this position.
    pub fn index_of_expression(&self, column: usize) -> Option<&IndexDef> {
        self.indexes.iter().find(|index| index.columns.iter().any(|part| part.column == column))
    }

    /// Returns the position in `indexes` of the index with this name, compared without regard to
    /// case.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| same_name(&index.name, name))
    }

    /// Returns the positions of a kept index's columns. `None` means that a part is an expression,
    /// or that the table has no such column.
    pub fn kept_columns(&self, index: &KeptIndex) -> Option<Vec<usize>> {
        let column = |part: &KeptPart| {
            let name = part.text.trim_matches('`').replace("``", "`");
            self.column(&name).filter(|_| !part.is_expression)
        };
        index.parts.iter().map(column).collect()
    }

    /// Returns the index with the entries of the kept index at this position, if it has entries.
    pub fn entries_of(&self, kept: usize) -> Option<IndexRef> {
        self.kept_indexes.get(kept)?.entries.as_ref()?;
        let before = self.kept_indexes[..kept].iter().filter(|index| index.entries.is_some()).count();
        Some(IndexRef::Secondary(self.indexes.len() + before))
    }

    /// Returns the numbers of all indexes with a tree other than the clustered one, in the order of
    /// their trees.
    pub(crate) fn index_ids(&self) -> impl Iterator<Item = u32> + '_ {
        let kept = self.kept_indexes.iter().filter_map(|index| Some(index.entries.as_ref()?.id));
        self.indexes.iter().map(|index| index.id).chain(kept)
    }

    /// Returns the same numbers, to be changed.
    pub(crate) fn index_ids_mut(&mut self) -> impl Iterator<Item = &mut u32> {
        let kept = self.kept_indexes.iter_mut().filter_map(|index| Some(&mut index.entries.as_mut()?.id));
        self.indexes.iter_mut().map(|index| &mut index.id).chain(kept)
    }

    /// Reports whether the primary key is a column of the kind that
    /// `sql_generate_invisible_primary_key` makes. MySQL takes such a column for a generated one,
    /// whoever wrote it.
    pub fn has_generated_key(&self) -> bool {
        let Some([part]) = self.primary.as_deref() else { return false };
        let column = &self.columns[part.column];
        part.column == 0
            && same_name(&column.name, "my_row_id")
            && column.ty.code == TypeCode::LongLong
            && column.ty.unsigned
            && column.auto_increment
            && column.invisible
    }

    /// Reports whether this is a MariaDB sequence: a table of one row, which row events set.
    pub fn is_sequence(&self) -> bool {
        self.primary.is_none() && self.options.iter().any(|(name, value)| name == "SEQUENCE" && value == "1")
    }

    /// Returns the position of the column that has a role.
    pub fn column_with(&self, role: ColumnRoles) -> Option<usize> {
        self.columns.iter().position(|column| column.roles.has(role))
    }

    /// Returns the positions of ROW START and ROW END of a table with system versioning.
    pub fn row_period(&self) -> Option<(usize, usize)> {
        self.temporal.versioning?;
        Some((self.column_with(ColumnRoles::ROW_START)?, self.column_with(ColumnRoles::ROW_END)?))
    }

    /// Reports whether a column is neither shown nor listed, because nobody wrote it.
    pub fn is_hidden(&self, column: &ColumnDef) -> bool {
        column.is_indexed_expression() || self.is_implied(column)
    }

    /// Reports whether a column is the start or the end of a row's validity, and nobody wrote it.
    pub fn is_implied(&self, column: &ColumnDef) -> bool {
        column.roles.is_of_row() && self.temporal.versioning.is_some_and(|versioning| versioning.implied)
    }

    /// Reports whether rows are versioned by numbers of transactions, not by time.
    pub fn is_versioned_by_transactions(&self) -> bool {
        self.row_period().is_some_and(|(_, end)| self.columns[end].ty.code == TypeCode::LongLong)
    }

    /// Returns the position of the AUTO_INCREMENT column.
    pub fn auto_increment_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.auto_increment)
    }

    /// Returns `schema.table`.
    pub fn qualified_name(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }

    /// Returns the position in `checks` of the constraint with this name.
    pub fn check_constraint(&self, name: &str) -> Option<usize> {
        self.checks.iter().position(|check| same_name(&check.name, name))
    }

    /// Returns the position in `kept_indexes` of the index with this name.
    pub fn kept_index(&self, name: &str) -> Option<usize> {
        self.kept_indexes.iter().position(|index| same_name(&index.name, name))
    }

    /// Returns the rank of an index among the others. MySQL sorts the indexes whenever a table is
    /// made or altered: first the unique ones, of which those without a nullable column come first,
    /// and among equals those without a virtual column. [`RANK_OF_OTHERS`] is the first rank of
    /// indexes that are not unique.
    pub fn rank(&self, index: &IndexDef) -> u8 {
        let mut columns = index.columns.iter().map(|part| &self.columns[part.column]);
        let is_virtual = u8::from(columns.clone().any(ColumnDef::is_virtual));
        match index.unique {
            true => 2 * u8::from(columns.any(|column| column.nullable)) + is_virtual,
            false => RANK_OF_OTHERS + is_virtual,
        }
    }

    /// Puts the indexes into the order in which they are shown. An ALTER begins with this.
    pub fn arrange_indexes(&mut self) {
        let mut ranks: Vec<u8> = self.indexes.iter().map(|index| self.rank(index)).collect();
        // The places of SPATIAL indexes are among those of the rank of others.
        let before = |behind: u32| {
            let in_front = |&(at, rank): &(usize, &u8)| {
                *rank < RANK_OF_OTHERS || *rank == RANK_OF_OTHERS && at < behind as usize
            };
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

    /// Adjusts the places of SPATIAL indexes among the others when the index at `gone` is removed.
    pub fn close_gap_in_order(&mut self, gone: usize) {
        for index in &mut self.kept_indexes {
            if let KeptKind::Spatial { behind } = &mut index.kind {
                *behind -= u32::from(*behind as usize > gone);
            }
        }
    }

    /// Reports whether the value of some column is computed from other columns.
    pub fn has_generated(&self) -> bool {
        self.columns.iter().any(|column| column.generated.is_some())
    }

    /// Reports whether a client's write of a row needs an expression (of a generated column, a
    /// default, an enforced constraint or the partitions), or whether the table has a unique key
    /// that is not kept up.
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
