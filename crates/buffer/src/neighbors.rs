//! Neighbours that are written with a page (`innodb_flush_neighbors`).

use std::sync::atomic::Ordering;

use crate::instance::EXTENT_PAGES;
use crate::options::FlushNeighbors;
use crate::pool::Pool;

impl Pool {
    /// The frames with their dirty neighbours, and how many of them may be written.
    pub(crate) fn with_neighbors(&self, frames: Vec<u32>, limit: usize) -> (Vec<u32>, usize) {
        let which = self.options().flush_neighbors;
        if which == FlushNeighbors::Off {
            return (frames, limit);
        }
        let mut all: Vec<u32> = frames.iter().flat_map(|&frame| self.neighbors(frame, which)).collect();
        all.sort_unstable();
        all.dedup();
        let limit = limit.max(all.len());
        (all, limit)
    }

    /// The frame, and those of its dirty neighbours.
    fn neighbors(&self, frame: u32, which: FlushNeighbors) -> Vec<u32> {
        let packed = self.frame(frame).page_id.load(Ordering::Relaxed);
        let first = packed - packed % u64::from(EXTENT_PAGES);
        let dirty = |&other: &u64| {
            let number = self.table.shard(other).get(&other).copied()?;
            self.frame(number).is_dirty().then_some(number)
        };
        let (below, above) = (first..packed, packed + 1..first + u64::from(EXTENT_PAGES));
        let mut found = vec![frame];
        if which == FlushNeighbors::Contiguous {
            found.extend(below.rev().map_while(|other| dirty(&other)));
            found.extend(above.map_while(|other| dirty(&other)));
        } else {
            found.extend(below.chain(above).filter_map(|other| dirty(&other)));
        }
        found
    }
}
