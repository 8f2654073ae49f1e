//! The neighbours that are written with a page (`innodb_flush_neighbors`).

use std::sync::atomic::Ordering;

use crate::frames::Frames;
use crate::instance::EXTENT_PAGES;
use crate::options::FlushNeighbors;

/// Returns the numbered frames with their dirty neighbours, and how many of them may be written.
pub(crate) fn with_neighbors(
    frames: &Frames,
    which: FlushNeighbors,
    numbers: Vec<u32>,
    limit: usize,
) -> (Vec<u32>, usize) {
    if which == FlushNeighbors::Off {
        return (numbers, limit);
    }
    let mut all: Vec<u32> = numbers.iter().flat_map(|&number| neighbors(frames, which, number)).collect();
    all.sort_unstable();
    all.dedup();
    let limit = limit.max(all.len());
    (all, limit)
}

/// Returns the frame, and those of its neighbours that are dirty.
fn neighbors(frames: &Frames, which: FlushNeighbors, number: u32) -> Vec<u32> {
    let packed = frames.frame(number).page_id.load(Ordering::Relaxed);
    let first = packed - packed % u64::from(EXTENT_PAGES);
    let dirty = |&other: &u64| {
        let number = frames.holder_of(other)?;
        frames.frame(number).is_dirty().then_some(number)
    };
    let (below, above) = (first..packed, packed + 1..first + u64::from(EXTENT_PAGES));
    let mut found = vec![number];
    if which == FlushNeighbors::Contiguous {
        found.extend(below.rev().map_while(|other| dirty(&other)));
        found.extend(above.map_while(|other| dirty(&other)));
    } else {
        found.extend(below.chain(above).filter_map(|other| dirty(&other)));
    }
    found
}
