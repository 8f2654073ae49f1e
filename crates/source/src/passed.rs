//! The places in the files that belong to places in the redo log. A copy of the data directory
//! stands for one place in the redo log; this tells where in the binary log that is.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use redo::Lsn;

use crate::position::FilePosition;

/// The ends that the files had, each with the place in the redo log that the writer had come to.
/// They are noted while somebody wants them.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// Relaxed: what is noted a moment too late is told apart by the positions.
    is_wanted: AtomicBool,
    ends: Mutex<Vec<(Lsn, FilePosition)>>,
}

impl Passed {
    /// Begins to note ends, and forgets those that have been noted.
    pub fn begin(&self) {
        self.ends.lock().clear();
        self.is_wanted.store(true, Ordering::SeqCst);
    }

    /// Ends the notes.
    pub fn end(&self) {
        self.is_wanted.store(false, Ordering::SeqCst);
        *self.ends.lock() = Vec::new();
    }

    /// Notes that everything of the redo log up to `lsn`, and nothing else, is before `end`.
    pub fn note(&self, lsn: Lsn, end: FilePosition) {
        if self.is_wanted.load(Ordering::SeqCst) {
            self.ends.lock().push((lsn, end));
        }
    }

    /// Returns the end of the files at `lsn`, which the writer has passed, and which the redo log
    /// had not come to when the notes began.
    pub fn at(&self, lsn: Lsn) -> Option<FilePosition> {
        let ends = self.ends.lock();
        let after = ends.partition_point(|(noted, _)| *noted <= lsn);
        Some(ends[after.checked_sub(1)?].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_end_that_is_not_behind_the_place_counts() {
        let passed = Passed::default();
        let end = |pos| FilePosition { file: 1, pos };
        passed.note(5, end(50));
        assert_eq!(passed.at(100), None, "nobody wanted it");
        passed.begin();
        for (lsn, pos) in [(10, 100), (20, 200), (20, 210), (30, 300)] {
            passed.note(lsn, end(pos));
        }
        assert_eq!([9, 10, 19, 25, 99].map(|lsn| passed.at(lsn)), {
            [None, Some(end(100)), Some(end(100)), Some(end(210)), Some(end(300))]
        });
        passed.end();
        assert_eq!(passed.at(25), None);
    }
}
