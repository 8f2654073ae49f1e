//! What tables have as expressions: generated columns, CHECK constraints, the parts of functional
//! indexes. An expression is its canonical SQL text here; crate `sql` compiles it.

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
