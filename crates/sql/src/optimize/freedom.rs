//! How much of a plan the optimizer may choose.

/// What the optimizer may decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freedom {
    /// Only which index is read, by rules: rows are locked in the order in which they are read.
    None,
    /// How each table is read.
    Methods,
    /// The order too.
    All,
}
