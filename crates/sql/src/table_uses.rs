//! What a session does with the rows of tables, by index, for performance_schema.
//!
//! A session keeps its numbers to itself: they go to those of the table when somebody reads, when
//! another index wants their place, and when the session ends. So no statement writes what other
//! sessions write, too.

use engine::{IndexUsage, Use, Uses};
use parking_lot::Mutex;
use std::sync::Arc;

/// How many indexes a session has a place for.
const PLACES: usize = 32;

/// What a session has done by way of one index and not given yet.
#[derive(Debug)]
struct Place {
    usage: Arc<IndexUsage>,
    uses: Uses,
}

/// What a session has done with the rows of tables. Only its own thread adds, so the lock is free
/// unless somebody reads.
#[derive(Debug, Default)]
pub struct TableUses(Mutex<Vec<Option<Place>>>);

impl TableUses {
    /// Adds rows that were used by way of an index.
    #[inline]
    pub fn add(&self, usage: &Arc<IndexUsage>, what: Use, rows: u64) {
        let mut places = self.0.lock();
        // The last bits of an address are those of its alignment.
        let at = (Arc::as_ptr(usage) as usize >> 5) % PLACES;
        match places.get_mut(at) {
            Some(Some(place)) if Arc::ptr_eq(&place.usage, usage) => place.uses[what as usize] += rows,
            _ => take_place(&mut places, at, usage).uses[what as usize] += rows,
        }
    }

    /// Gives the numbers to those of the tables.
    pub fn give(&self) {
        self.0.lock().iter_mut().flatten().for_each(Place::give);
    }
}

impl Drop for TableUses {
    fn drop(&mut self) {
        self.give();
    }
}

impl Place {
    fn give(&mut self) {
        self.usage.add(&self.uses);
        self.uses = Uses::default();
    }
}

/// Makes room for an index at a place, whose numbers are given before.
#[cold]
fn take_place<'p>(places: &'p mut Vec<Option<Place>>, at: usize, usage: &Arc<IndexUsage>) -> &'p mut Place {
    if places.is_empty() {
        places.resize_with(PLACES, || None);
    }
    if let Some(before) = &mut places[at] {
        before.give();
    }
    places[at].insert(Place { usage: usage.clone(), uses: Uses::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_given_once() {
        let usages: Vec<Arc<IndexUsage>> = (0..3 * PLACES).map(|_| Arc::default()).collect();
        let uses = TableUses::default();
        for _ in 0..2 {
            for usage in &usages {
                uses.add(usage, Use::Fetch, 2);
                uses.add(usage, Use::Delete, 1);
            }
        }
        uses.give();
        uses.give();
        assert!(usages.iter().all(|usage| usage.sums() == [4, 0, 0, 2]));
        uses.add(&usages[0], Use::Insert, 5);
        drop(uses);
        assert_eq!(usages[0].sums(), [4, 5, 0, 2]);
        usages[0].clear();
        assert_eq!(usages[0].sums(), Uses::default());
    }
}
