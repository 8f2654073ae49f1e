//! The rows that functions over a window go through.

use crate::exec::keyed_rows::KeyedRow;

/// Rows that belong to one window.
pub(super) struct Part<'r> {
    pub rows: &'r mut [KeyedRow],
    /// For each row, where the rows begin that are equal to it in order, and where they end.
    pub peers: Vec<(usize, usize)>,
}
