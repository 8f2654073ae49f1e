//! Allocating and freeing pages whose content nobody logs: those of sorted builds and of long
//! values.

use buffer::page::PageType;
use buffer::{Held, Mtr, PageNo, Pool, RecordLsn, SpaceId};

use crate::error::Result;

/// Frees pages of a space, a few with each record.
pub(crate) fn free_pages(pool: &Pool, space: SpaceId, pages: &[PageNo]) -> Result<()> {
    for chunk in pages.chunks(pool.pages_at_once()) {
        pool.log().free_check();
        let lock = pool.lock_structure(space)?;
        let mut mtr = Mtr::begin(pool, &lock);
        let held: std::result::Result<Vec<Held>, _> = chunk.iter().map(|&no| mtr.latch_unread(no)).collect();
        let held = held?;
        mtr.prepare_free()?;
        held.into_iter().for_each(|held| mtr.free(held));
        mtr.commit();
    }
    Ok(())
}

/// Allocates pages whose content the caller makes durable itself. Only their allocation is logged.
/// Returns their numbers and the place of the record.
pub(crate) fn alloc_unlogged(
    pool: &Pool,
    space: SpaceId,
    wanted: usize,
    page_type: PageType,
) -> Result<(Vec<PageNo>, RecordLsn)> {
    pool.log().free_check();
    let lock = pool.lock_structure(space)?;
    let mut mtr = Mtr::begin(pool, &lock);
    let held: std::result::Result<Vec<Held>, _> = (0..wanted).map(|_| mtr.alloc()).collect();
    let held = held?;
    let numbers = held.iter().map(|&held| mtr.no(held)).collect();
    for &held in &held {
        mtr.format(held, page_type, 0);
    }
    let lsn = mtr.commit_marking(&held);
    Ok((numbers, lsn))
}
