//! Holds: positions from which the log's files are kept although a checkpoint has passed them.

use std::collections::BTreeMap;
use std::sync::Arc;

use os::sync::Mutex;

use crate::Lsn;

/// The least number of bytes by which a holder may be behind the log's end. A log with a larger
/// capacity lets it be behind by that capacity.
const LEAST_HELD_BYTES: u64 = 256 << 20;

#[derive(Debug, Default)]
struct Held {
    next: u64,
    positions: BTreeMap<u64, Lsn>,
}

/// All holds of a log.
#[derive(Debug, Default)]
pub(crate) struct Holds(Arc<Mutex<Held>>);

impl Holds {
    /// Keeps the files that hold `lsn` and later positions. The caller makes sure that no
    /// checkpoint is made meanwhile.
    pub fn take(&self, lsn: Lsn) -> Hold {
        let mut held = self.0.lock();
        let number = held.next;
        held.next += 1;
        held.positions.insert(number, lsn);
        Hold { held: Arc::clone(&self.0), number }
    }

    /// Returns the position before which files may be recycled once a checkpoint is at
    /// `checkpoint_lsn`. A holder that is too far behind `end` does not count: the log would grow
    /// without a bound, and its holder finds that the files are gone.
    pub fn floor(&self, checkpoint_lsn: Lsn, end: Lsn, capacity_bytes: u64) -> Lsn {
        let oldest = end.saturating_sub(capacity_bytes.max(LEAST_HELD_BYTES));
        let held = self.0.lock();
        let counted = held.positions.values().copied().filter(|&lsn| lsn >= oldest);
        counted.fold(checkpoint_lsn, Lsn::min)
    }
}

/// A hold, which lasts until this is dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    held: Arc<Mutex<Held>>,
    number: u64,
}

impl Hold {
    /// Notes that the files before `lsn` are not needed any more.
    pub fn advance(&self, lsn: Lsn) {
        if let Some(held) = self.held.lock().positions.get_mut(&self.number) {
            *held = lsn.max(*held);
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.held.lock().positions.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_hold_counts_unless_it_is_too_far_behind() {
        let holds = Holds::default();
        assert_eq!(holds.floor(500, 1000, 0), 500);
        let (first, second) = (holds.take(100), holds.take(300));
        assert_eq!(holds.floor(500, 1000, 0), 100);
        first.advance(400);
        assert_eq!(holds.floor(500, 1000, 0), 300);
        assert_eq!(holds.floor(500, 350 + LEAST_HELD_BYTES, 0), 400, "the second one is left behind");
        assert_eq!(holds.floor(500, 350 + LEAST_HELD_BYTES, 2 * LEAST_HELD_BYTES), 300);
        drop(second);
        assert_eq!(holds.floor(500, 1000, 0), 400);
        drop(first);
        assert_eq!(holds.floor(500, 1000, 0), 500);
    }
}
