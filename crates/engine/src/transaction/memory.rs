//! What a transaction's changes keep in memory, asked for before more is kept: images of large
//! transactions go to files, keys and locks stay.

use crate::error::{EngineError, Result};
use std::sync::Arc;

/// What limits the memory of a session's transactions.
pub trait MemoryBudget: Send + Sync {
    /// Asks for so many bytes more.
    ///
    /// # Errors
    /// MySQL's number and text of the error that the statement ends with.
    fn take(&self, bytes: u64) -> std::result::Result<(), (u16, String)>;

    /// So many of the bytes are not kept any more.
    fn give_back(&self, bytes: u64);
}

/// About what a changed row takes beside its image: its place in the write set and in the journal,
/// its key in both, its lock. Measured: 640 bytes a row with one secondary index.
const ROW_BYTES: u64 = 352;
/// The same for an entry of a secondary index.
const ENTRY_BYTES: u64 = 288;
/// What is asked for at once.
const STEP_BYTES: u64 = 1 << 20;
/// What is not asked for: small transactions do not come to the budget.
const FREE_BYTES: u64 = 64 << 10;

/// What the changes of one transaction keep. Given back when it is dropped.
pub(super) struct Memory {
    budget: Option<Arc<dyn MemoryBudget>>,
    /// Of all changes so far, those that were taken back among them.
    changed_bytes: u64,
    /// Up to here nothing is asked.
    allowed_bytes: u64,
    taken_bytes: u64,
}

impl Default for Memory {
    /// Without a limit.
    fn default() -> Memory {
        Memory { budget: None, changed_bytes: 0, allowed_bytes: u64::MAX, taken_bytes: 0 }
    }
}

impl Memory {
    /// What a budget limits.
    pub fn of(budget: Arc<dyn MemoryBudget>) -> Memory {
        Memory { budget: Some(budget), allowed_bytes: FREE_BYTES, ..Memory::default() }
    }

    /// A row of a table with so many secondary indexes is changed.
    #[inline]
    pub fn note_change(&mut self, indexes: usize) {
        self.changed_bytes += ROW_BYTES + ENTRY_BYTES * indexes as u64;
    }

    /// Whether there may be further changes.
    ///
    /// # Errors
    /// As [`MemoryBudget::take`].
    #[inline]
    pub fn check(&mut self) -> Result<()> {
        if self.changed_bytes <= self.allowed_bytes { Ok(()) } else { self.take_more() }
    }

    #[cold]
    fn take_more(&mut self) -> Result<()> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let bytes = (self.changed_bytes - self.allowed_bytes).max(STEP_BYTES);
        budget.take(bytes).map_err(|(code, message)| EngineError::Statement { code, message })?;
        self.allowed_bytes += bytes;
        self.taken_bytes += bytes;
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
            memory.check().is_err()
        });
        let bytes = changes.unwrap_or_default() * (ROW_BYTES + ENTRY_BYTES);
        assert!((4 * STEP_BYTES..5 * STEP_BYTES).contains(&bytes), "{bytes}");
        assert_eq!(budget.used.load(Ordering::Relaxed), 4 * STEP_BYTES);
        drop(memory);
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
    }
}
