//! EXPLAIN.

use super::Statement;

/// What EXPLAIN is about.
#[derive(Debug, Clone, PartialEq)]
pub enum ExplainOf {
    Statement {
        statement: Box<Statement>,
        /// The schema in which names without one are looked up (FOR SCHEMA).
        schema: Option<String>,
    },
    /// The statement that runs in the connection with this number.
    Connection(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainFormat {
    Traditional,
    Tree,
    Json,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    pub of: ExplainOf,
    pub analyze: bool,
    /// `None` means the format in `explain_format`.
    pub format: Option<ExplainFormat>,
    /// The user variable that takes the text.
    pub into: Option<String>,
}
