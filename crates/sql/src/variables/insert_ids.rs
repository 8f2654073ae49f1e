//! The AUTO_INCREMENT values that the binary log names for a statement: INSERT_ID.
//!
//! As in MySQL there is one value for a statement and all that runs within it, functions and
//! triggers included. It is the first value that any of them generates, whatever the table. A
//! statement that runs again elsewhere then generates the same first value, and takes all others
//! from the tables' counters.

use std::cell::Cell;

/// The value that the next generated one shall have, and the first one that the running statement
/// has generated.
#[derive(Debug, Clone, Default)]
pub(crate) struct InsertIds {
    given: Cell<Option<u64>>,
    first_generated: Cell<Option<u64>>,
}

impl InsertIds {
    /// Returns the value of `insert_id`, or `None` when none is set or it has been used.
    pub fn given(&self) -> Option<u64> {
        self.given.get()
    }

    /// Sets `insert_id`. 0 stands for no value, as in MySQL.
    pub fn give(&self, id: Option<u64>) {
        self.given.set(id.filter(|id| *id > 0));
    }

    /// Takes the value of `insert_id`, which is used once.
    pub fn take_given(&self) -> Option<u64> {
        self.given.take()
    }

    /// Notes that a statement begins that is within no other one.
    pub fn begin_statement(&self) {
        self.first_generated.set(None);
    }

    /// Notes a generated value. The first one of a statement stays.
    pub fn note_generated(&self, id: u64) {
        if self.first_generated.get().is_none() {
            self.first_generated.set(Some(id));
        }
    }

    /// Returns the first value that the statement has generated.
    pub fn first_generated(&self) -> Option<u64> {
        self.first_generated.get()
    }

    /// Takes over the values as a program within the statement has left them.
    pub fn take_over(&self, lent: &InsertIds) {
        self.given.set(lent.given.get());
        self.first_generated.set(lent.first_generated.get());
    }
}
