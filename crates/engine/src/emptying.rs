//! The passes of [`crate::emptier`] through tables with rows of dropped partitions.

use crate::table::Table;
use parking_lot::Mutex;
use redo::Lsn;
use std::collections::VecDeque;

/// What is left to do after a step of the deletion of rows that went with their partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptied {
    /// There is more to do now.
    GoesOn,
    /// There is more to do, but others have to let go of a table, a row or a snapshot first.
    Waits,
    /// No table has such rows.
    Done,
}

/// The tables that have rows of dropped partitions. Its mutex is a leaf.
#[derive(Default)]
pub(crate) struct Emptying(Mutex<VecDeque<Pass>>);

/// A pass through a table.
pub(crate) struct Pass {
    pub table_id: u64,
    /// The position of the newest note that the pass is about. A pass that finds a newer one begins
    /// again.
    pub until: Lsn,
    /// The key at which the next step begins.
    pub from: Vec<u8>,
    /// Whether a step has left rows to a later pass.
    pub has_left_rows: bool,
    /// The newest commit when the pass came to the end of the table. None of the rows was there any
    /// more: each was deleted or had made way for another one.
    pub ended_at: Option<Lsn>,
    /// The error of the step before, in words. It was told then.
    pub told: Option<String>,
}

impl Pass {
    fn begin(table_id: u64, until: Lsn) -> Pass {
        Pass { table_id, until, from: Vec::new(), has_left_rows: false, ended_at: None, told: None }
    }

    /// Begins again, for notes up to a position.
    pub fn begin_again(&mut self, until: Lsn) {
        *self = Pass::begin(self.table_id, until);
    }
}

impl Emptying {
    /// Notes that a table has rows of dropped partitions.
    pub fn note(&self, table: &Table) {
        let Some(dropped) = &table.dropped else { return };
        let mut passes = self.0.lock();
        if !passes.iter().any(|pass| pass.table_id == table.id) {
            passes.push_back(Pass::begin(table.id, dropped.until()));
        }
    }

    /// Takes the pass that is to make the next step.
    pub fn take(&self) -> Option<Pass> {
        self.0.lock().pop_front()
    }

    /// Puts a pass back, behind those of other tables. One that began meanwhile takes its place.
    pub fn put_back(&self, pass: Pass) {
        let mut passes = self.0.lock();
        if !passes.iter().any(|other| other.table_id == pass.table_id) {
            passes.push_back(pass);
        }
    }

    /// Reports whether there is no pass.
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}
