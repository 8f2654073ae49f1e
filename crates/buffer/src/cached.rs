//! Looks at what the pool holds, without bringing pages in and without waiting.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use crate::frame::NO_PAGE;
use crate::frames::Frames;
use crate::page::{self, PageType, SpaceId};

/// Does the work of [`crate::Pool::visit_cached_leaves`].
pub(crate) fn visit_leaves(
    frames: &Frames,
    is_wanted: impl Fn(SpaceId) -> bool,
    mut visit: impl FnMut(SpaceId, &[u8]) -> ControlFlow<()>,
) {
    for number in 0..frames.count() as u32 {
        let frame = frames.frame(number);
        let packed = frame.page_id.load(Ordering::Relaxed);
        let space = (packed >> 32) as SpaceId;
        if packed == NO_PAGE || !is_wanted(space) || !frame.latch.try_shared() {
            continue;
        }
        let mut flow = ControlFlow::Continue(());
        if frame.holds(packed) {
            // SAFETY: the frame's latch is held shared, so nobody writes these bytes.
            let bytes = unsafe { std::slice::from_raw_parts(frames.page_ptr(number), frames.page_size()) };
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
