//! The memory that a transaction's changes and locks take, which is asked for before more is used.
//! Images of large transactions go to files; keys and locks stay in memory.

use crate::error::{EngineError, Result};
use std::sync::Arc;

/// The limit of the memory of a session's transactions.
pub trait MemoryBudget: Send + Sync {
    /// Asks for this many more bytes.
    ///
    /// # Errors
    /// Returns MySQL's number and text of the error that the statement ends with.
    fn take(&self, bytes: u64) -> std::result::Result<(), (u16, String)>;

    /// Gives back this many bytes.
    fn give_back(&self, bytes: u64);
}

/// The approximate bytes of a changed row besides its image and its lock: its place in the write
/// set and in the journal, and its key in both. Measured: 640 bytes for a row with one secondary
/// index and its lock.
const ROW_BYTES: u64 = 256;
/// The approximate bytes of a changed entry of a secondary index, in the same places.
const ENTRY_BYTES: u64 = 288;
/// The approximate bytes of a lock: 32 in a map and 8 in a list, both of which double when they
/// grow.
const LOCK_BYTES: u64 = 96;
/// The number of bytes that are asked for at once.
const STEP_BYTES: u64 = 1 << 20;
/// The number of bytes that are used without asking, so that small transactions never ask the
/// budget.
const FREE_BYTES: u64 = 64 << 10;

/// The memory of one transaction's changes and locks. It is given back when this value is dropped.
pub(super) struct Memory {
    budget: Option<Arc<dyn MemoryBudget>>,
    /// The bytes of all changes so far, including those that were taken back.
    changed_bytes: u64,
    /// The number of bytes up to which the budget is not asked.
    allowed_bytes: u64,
    taken_bytes: u64,
}

impl Default for Memory {
    /// Returns a value without a limit.
    fn default() -> Memory {
        Memory { budget: None, changed_bytes: 0, allowed_bytes: u64::MAX, taken_bytes: 0 }
    }
}

impl Memory {
    /// Returns a value that this budget limits.
    pub fn of(budget: Arc<dyn MemoryBudget>) -> Memory {
        Memory { budget: Some(budget), allowed_bytes: FREE_BYTES, ..Memory::default() }
    }

    /// Notes the change of a row of a table with this many secondary indexes.
    #[inline]
    pub fn note_change(&mut self, indexes: usize) {
        self.changed_bytes += ROW_BYTES + ENTRY_BYTES * indexes as u64;
    }

    /// Asks for the memory of further changes and locks, besides the changes noted and the locks
    /// held.
    ///
    /// # Errors
    /// Returns the error of [`MemoryBudget::take`].
    #[inline]
    pub fn check(&mut self, held_locks: usize) -> Result<()> {
        let kept_bytes = self.changed_bytes + held_locks as u64 * LOCK_BYTES;
        if kept_bytes <= self.allowed_bytes { Ok(()) } else { self.take_more(kept_bytes) }
    }

    #[cold]
    fn take_more(&mut self, kept_bytes: u64) -> Result<()> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let bytes = (kept_bytes - self.allowed_bytes).max(STEP_BYTES);
        budget.take(bytes).map_err(|(code, message)| EngineError::Statement { code, message })?;
        self.allowed_bytes += bytes;
        self.taken_bytes += bytes;
        assert!(kept_bytes <= self.allowed_bytes, "what is kept has been asked for");
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(budget) = self.budget.as_ref().filter(|_| self.taken_bytes > 0) {
            budget.give_back(self.taken_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Limited {
        used: AtomicU64,
        limit: u64,
    }

    impl MemoryBudget for Limited {
        fn take(&self, bytes: u64) -> std::result::Result<(), (u16, String)> {
            let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
            if used <= self.limit {
                return Ok(());
            }
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            Err((4082, "too much".to_owned()))
        }

        fn give_back(&self, bytes: u64) {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    #[test]
    fn changes_are_refused_at_the_limit_and_given_back() {
        let budget = Arc::new(Limited { used: AtomicU64::new(0), limit: 4 * STEP_BYTES });
        let mut memory = Memory::of(budget.clone());
        let changes = (0..).find(|_| {
            memory.note_change(1);
            memory.check(0).is_err()
        });
        let bytes = changes.unwrap_or_default() * (ROW_BYTES + ENTRY_BYTES);
        assert!((4 * STEP_BYTES..5 * STEP_BYTES).contains(&bytes), "{bytes}");
        assert_eq!(budget.used.load(Ordering::Relaxed), 4 * STEP_BYTES);
        drop(memory);
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn locks_are_refused_at_the_limit_and_released_locks_make_room() {
        let budget = Arc::new(Limited { used: AtomicU64::new(0), limit: 4 * STEP_BYTES });
        let mut memory = Memory::of(budget.clone());
        let locks = (0..).find(|held| memory.check(*held).is_err()).unwrap_or_default();
        let bytes = locks as u64 * LOCK_BYTES;
        assert!((4 * STEP_BYTES..5 * STEP_BYTES).contains(&bytes), "{bytes}");
        assert!(memory.check(locks / 2).is_ok(), "half of the locks fit");
    }
}
