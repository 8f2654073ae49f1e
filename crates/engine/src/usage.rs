//! How often the indexes of a table were used, and how often its rows were changed.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is done with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is read.
    Fetch,
    /// It is inserted.
    Insert,
    /// It is updated.
    Update,
    /// It is deleted.
    Delete,
}

/// How many rows were used, by the places of [`Use`].
pub type Uses = [u64; 4];

/// What was done with rows by way of one index, or by way of none. Relaxed: each number stands for
/// itself.
#[derive(Debug, Default)]
pub struct IndexUsage([AtomicU64; 4]);

impl IndexUsage {
    /// Adds uses.
    pub fn add(&self, uses: &Uses) {
        for (sum, more) in self.0.iter().zip(uses) {
            if *more != 0 {
                sum.fetch_add(*more, Ordering::Relaxed);
            }
        }
    }

    /// Returns the sums.
    pub fn sums(&self) -> Uses {
        std::array::from_fn(|at| self.0[at].load(Ordering::Relaxed))
    }

    /// Begins to count anew.
    pub fn clear(&self) {
        self.0.iter().for_each(|sum| sum.store(0, Ordering::Relaxed));
    }
}
