//! What tables have as expressions: generated columns, CHECK constraints, the parts of functional
//! indexes. An expression is its canonical SQL text here; crate `sql` compiles it.

use super::{ColumnDefault, Partitioning, TableDef, same_name};

/// `GENERATED ALWAYS AS (expression)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The expression, in MySQL's canonical form.
    pub expression: String,
    /// `STORED`. The values of VIRTUAL columns are in the rows too (decision 0033).
    pub stored: bool,
}

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckDef {
    /// Its name.
    pub name: String,
    /// The condition, in MySQL's canonical form.
    pub expression: String,
    /// Without `NOT ENFORCED`.
    pub enforced: bool,
    /// MariaDB's constraint of a column, which has the column's name and goes with it.
    pub of_column: bool,
}

/// What an index that is only kept is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptKind {
    /// Over expressions.
    Functional,
    /// `FULLTEXT`, with the parser that `WITH PARSER` names.
    FullText(Option<String>),
    /// `SPATIAL`
    Spatial {
        /// How many of the table's other indexes stand before it where indexes are listed.
        behind: u32,
    },
}

/// An index whose parts are expressions, or which is of a kind that is only kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptIndex {
    /// Name.
    pub name: String,
    /// What kind of index it is.
    pub kind: KeptKind,
    /// `UNIQUE`
    pub unique: bool,
    /// Its parts as they are written, each a column's name in backticks or an expression.
    pub parts: Vec<KeptPart>,
    /// `COMMENT`
    pub comment: String,
    /// `INVISIBLE`
    pub invisible: bool,
}

/// A part of a [`KeptIndex`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPart {
    /// A column's name, or an expression in MySQL's canonical form.
    pub text: String,
    /// It is an expression.
    pub is_expression: bool,
    /// Only this many characters of the column.
    pub prefix: Option<u32>,
    /// `DESC`
    pub descending: bool,
}

impl TableDef {
    /// Position in `checks` of the constraint with this name.
    pub fn check_constraint(&self, name: &str) -> Option<usize> {
        self.checks.iter().position(|check| same_name(&check.name, name))
    }

    /// Position in `kept_indexes` of the index with this name.
    pub fn kept_index(&self, name: &str) -> Option<usize> {
        self.kept_indexes.iter().position(|index| same_name(&index.name, name))
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
