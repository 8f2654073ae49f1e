//! The rows of one window partition.

use crate::exec::keyed_rows::KeyedRow;

/// The rows of one window partition, in the window's order.
pub(super) struct Part<'r> {
    pub rows: &'r mut [KeyedRow],
    /// For each row, the index of its first peer (a row that is equal in the window's order) and
    /// the index behind its last peer.
    pub peers: Vec<(usize, usize)>,
}
