//! The expressions of tables: generated columns, CHECK constraints, the parts of functional
//! indexes. Here an expression is its canonical SQL text, which crate `sql` compiles.

use types::cells::Surface;
use types::words::WordSizes;

/// The `GENERATED ALWAYS AS (expression)` clause of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The expression, in MySQL's canonical form.
    pub expression: String,
    /// Whether the column is `STORED`. The values of VIRTUAL columns are in the rows too (decision
    /// 0033).
    pub stored: bool,
}

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckDef {
    /// The name of the constraint.
    pub name: String,
    /// The condition, in MySQL's canonical form.
    pub expression: String,
    /// Whether the constraint is enforced, that is, has no `NOT ENFORCED`.
    pub enforced: bool,
    /// Whether this is MariaDB's constraint of a column, which has the column's name and is dropped
    /// with it.
    pub of_column: bool,
}

/// The kind of an index that is only kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptKind {
    /// An index over expressions.
    Functional,
    /// A `FULLTEXT` index, with the parser that `WITH PARSER` names.
    FullText(Option<String>),
    /// A `SPATIAL` index.
    Spatial {
        /// The number of the table's other indexes that stand before this one in lists of indexes.
        behind: u32,
    },
    /// A `VECTOR` index of MariaDB, with its options as MariaDB shows them.
    Vector(String),
}

/// An index whose parts are expressions, or of a kind that is only kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptIndex {
    /// The name of the index.
    pub name: String,
    /// The kind of the index.
    pub kind: KeptKind,
    /// Whether the index is `UNIQUE`.
    pub unique: bool,
    /// The parts of the key, in order.
    pub parts: Vec<KeptPart>,
    /// The `COMMENT` of the index.
    pub comment: String,
    /// Whether the index is `INVISIBLE`.
    pub invisible: bool,
    /// The entries of the index. `None` means that it has none, as those of data directories of
    /// earlier versions and those whose expressions are not known here.
    pub entries: Option<KeptEntries>,
}

/// The entries of a FULLTEXT or SPATIAL index, which are in a tree like those of other indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptEntries {
    /// The number of the index in its engine, as in [`super::IndexDef`].
    pub id: u32,
    /// Which entries a row has.
    pub rule: EntryRule,
}

/// Which entries a row has in an index that is not over columns as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryRule {
    /// One for each different word of the columns' texts.
    Words {
        /// Whether the index was made WITH PARSER ngram.
        is_ngram: bool,
        /// What the server's variables said when the index was made.
        sizes: WordSizes,
    },
    /// One for each cell that covers the column's geometry (`types::cells`). Indexes of earlier
    /// versions have those of the plane, whatever the column's spatial reference system is.
    Cells(Surface),
}

/// A part of a [`KeptIndex`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPart {
    /// The name of a column, or an expression in MySQL's canonical form.
    pub text: String,
    /// Whether `text` is an expression.
    pub is_expression: bool,
    /// The number of leading characters of the column that are in the key. `None` means the whole
    /// column.
    pub prefix: Option<u32>,
    /// Whether `DESC` was written.
    pub descending: bool,
}
