//! Numbers for temporary tables and their spaces, from ranges that the dictionary's numbers, which
//! count up from 1, do not reach. None of the numbers outlives the engine, so none is logged.

use buffer::{Pool, SpaceId};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The first number of a temporary table's space.
const FIRST_SPACE: SpaceId = 0xf000_0000;
/// The first number of a temporary table. Table numbers have six bytes, and those of the dictionary
/// count up from 1.
const FIRST_TABLE: u64 = 1 << 47;

/// Hands out the numbers.
#[derive(Default)]
pub(crate) struct TemporaryNumbers {
    spaces: AtomicU32,
    tables: AtomicU64,
}

impl TemporaryNumbers {
    /// Returns the number of a space that is not open.
    pub fn space(&self, pool: &Pool) -> SpaceId {
        loop {
            let number = self.spaces.fetch_add(1, Ordering::Relaxed) % (u32::MAX - FIRST_SPACE);
            if !pool.has_space(FIRST_SPACE + number) {
                return FIRST_SPACE + number;
            }
        }
    }

    /// Returns the number of a new table.
    pub fn table(&self) -> u64 {
        let number = FIRST_TABLE + self.tables.fetch_add(1, Ordering::Relaxed);
        assert!(number < 1 << 48, "the number {number} of a temporary table has more than six bytes");
        number
    }
}
