//! Names of tables, and the scopes of variables.

/// A table's name, with its schema if it is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    pub schema: Option<String>,
    pub name: String,
}

/// Which value of a system variable is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Global,
    Session,
    Persist,
    PersistOnly,
    /// No scope is written, as in `@@x` or `SET x`: the session's value, or the global one of a
    /// variable that has only that. In SET TRANSACTION it means the next transaction.
    Unwritten,
}
