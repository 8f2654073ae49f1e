//! How much of a plan the optimizer may choose.

/// The decisions that the optimizer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freedom {
    /// Rules choose only the index of each table, because rows are locked in the order in which
    /// they are read.
    None,
    /// The optimizer chooses how each table is read.
    Methods,
    /// The optimizer also chooses the order of the tables.
    All,
}
