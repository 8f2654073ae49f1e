//! Names of tables, and the scopes of variables.

/// A table's name, with its schema when written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    pub schema: Option<String>,
    pub name: String,
}

/// Which value of a system variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Global,
    Session,
    Persist,
    PersistOnly,
    /// `@@x` or `SET x`: the session's, or the global one where there is no other. In SET
    /// TRANSACTION: the next transaction's.
    Unwritten,
}
