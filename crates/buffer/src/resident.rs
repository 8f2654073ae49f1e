//! The pages that are in the pool, for those who want to see them. Looking changes nothing: no page
//! becomes younger, and nobody waits for a latch.

use std::sync::atomic::Ordering;

use redo::Lsn;

use crate::frame::NO_PAGE;
use crate::frames::Frames;
use crate::guard::PageRead;
use crate::page::{self, PageId, PageType};
use crate::slotted;

/// A page in the pool, as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResidentPage {
    /// The page's identity.
    pub id: PageId,
    /// The number of the pool's instance that has the page.
    pub instance: usize,
    /// The number of the frame that holds the page.
    pub frame: u32,
    /// Whether the page is in the old part of the LRU list.
    pub is_old: bool,
    /// The start of the record of the oldest change that is not on disk; 0 for a clean page.
    pub oldest_change: Lsn,
    /// What the page's own bytes say. `None` when another thread was changing them.
    pub content: Option<ResidentContent>,
}

/// What the bytes of a page say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResidentContent {
    /// What the page holds. `None` means that its type byte names no type.
    pub page_type: Option<PageType>,
    /// The end of the record of the newest change.
    pub newest_change: Lsn,
    /// The number of entries in a node of a tree; 0 in other pages.
    pub entries: usize,
}

impl ResidentContent {
    fn of(bytes: &[u8]) -> ResidentContent {
        let page_type = page::page_type(bytes);
        let is_node = page_type == Some(PageType::Index);
        let entries = if is_node { slotted::count(bytes) } else { 0 };
        ResidentContent { page_type, newest_change: page::lsn(bytes), entries }
    }
}

/// Returns the pages of all instances, one instance after the other, each from the page that is to
/// leave first to the hottest one. The mutex of an instance's lists is held for one walk over them.
pub(crate) fn pages(frames: &Frames) -> Vec<ResidentPage> {
    let mut pages = Vec::new();
    for (instance, of_instance) in frames.instances().iter().enumerate() {
        let mut listed: Vec<u32> = of_instance.lists.lock().hottest_first().collect();
        listed.reverse();
        pages.extend(listed.into_iter().filter_map(|number| page_in(frames, instance, number)));
    }
    pages
}

/// Returns the page that a frame holds. `None` if it holds none any more.
fn page_in(frames: &Frames, instance: usize, number: u32) -> Option<ResidentPage> {
    let frame = frames.frame(number);
    let packed = frame.page_id.load(Ordering::Relaxed);
    if packed == NO_PAGE {
        return None;
    }
    let content = frame.latch.try_shared().then(|| PageRead::new(frames, number)).and_then(|page| {
        // Without the latch the page may have left meanwhile, and another one have come.
        frame.holds(packed).then(|| ResidentContent::of(&page))
    });
    Some(ResidentPage {
        id: PageId::new((packed >> 32) as u32, packed as u32),
        instance,
        frame: number,
        is_old: !frame.young.load(Ordering::Relaxed),
        oldest_change: frame.oldest_lsn.load(Ordering::Relaxed),
        content,
    })
}
