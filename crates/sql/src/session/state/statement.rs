//! The state of one statement: its diagnostics area and its counts.

use crate::expr::Diagnostics;
use std::cell::{Cell, RefCell};

/// The state of the running statement, or of the last one, which SHOW WARNINGS, ROW_COUNT() and
/// FOUND_ROWS() show.
///
/// It is a value that can be taken out of the session, so that a statement within another one gets
/// a state of its own, and the outer one gets its state back. Therefore nothing about a statement
/// may be kept in the session beside it.
#[derive(Default)]
pub(crate) struct StatementState {
    /// The warnings, notes and the error.
    pub diagnostics: RefCell<Diagnostics>,
    /// Whether the statement has called LAST_INSERT_ID(expr).
    pub last_insert_id_set: Cell<bool>,
    /// Whether the description of the result has been sent to the client, so that the statement
    /// cannot be run again.
    pub has_described: Cell<bool>,
    /// The value of ROW_COUNT(): the number of changed rows, or -1.
    pub row_count: i64,
    /// The value of FOUND_ROWS().
    pub found_rows: u64,
}
