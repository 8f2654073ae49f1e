//! What a session keeps of one statement: its diagnostics area and its counts.

use crate::expr::Diagnostics;
use std::cell::{Cell, RefCell};

/// The state of the statement that runs, or of the one that ran last, which SHOW WARNINGS,
/// ROW_COUNT() and FOUND_ROWS() tell of.
///
/// It is a value: a statement that runs inside another one, as a stored program's will, gets a
/// state of its own when this one is taken out of the session, and the outer statement goes on with
/// its state when that is put back. Nothing of a statement may therefore be kept in the session
/// beside it.
#[derive(Default)]
pub(crate) struct StatementState {
    /// Warnings, notes and the error.
    pub diagnostics: RefCell<Diagnostics>,
    /// The statement has called LAST_INSERT_ID(expr).
    pub last_insert_id_set: Cell<bool>,
    /// The description of its result is with the client: it cannot be run again.
    pub has_described: Cell<bool>,
    /// ROW_COUNT(): the rows that it changed, or -1.
    pub row_count: i64,
    /// FOUND_ROWS().
    pub found_rows: u64,
}
