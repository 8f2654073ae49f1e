//! Looking at what the pool holds, without bringing anything in and without waiting.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use crate::frame::NO_PAGE;
use crate::page::{self, PageType, SpaceId};
use crate::pool::Pool;

impl Pool {
    /// Shows `visit` the leaves of indexes in the wanted tablespaces that are in the pool, each
    /// latched shared meanwhile, until it breaks. One that somebody changes at the moment is passed
    /// over, and so may be one that is brought in meanwhile.
    pub fn visit_cached_leaves(
        &self,
        is_wanted: impl Fn(SpaceId) -> bool,
        mut visit: impl FnMut(SpaceId, &[u8]) -> ControlFlow<()>,
    ) {
        for number in 0..self.frames().len() as u32 {
            let frame = self.frame(number);
            let packed = frame.page_id.load(Ordering::Relaxed);
            let space = (packed >> 32) as SpaceId;
            if packed == NO_PAGE || !is_wanted(space) || !frame.latch.try_shared() {
                continue;
            }
            let mut flow = ControlFlow::Continue(());
            if frame.holds(packed) {
                // SAFETY: the latch is held shared.
                let bytes =
                    unsafe { std::slice::from_raw_parts(self.memory().page_ptr(number), self.page_size()) };
                if page::page_type(bytes) == Some(PageType::Index) && page::level(bytes) == 0 {
                    flow = visit(space, bytes);
                }
            }
            frame.latch.release_shared();
            if flow.is_break() {
                return;
            }
        }
    }
}
