//! Changes of a tree's entries: a leaf that is full is split, and one that has become sparse is
//! merged.

use buffer::{RecordLsn, slotted};

use crate::error::Result;
use crate::leaf::{self, Change, Outcome};
use crate::merge::merge;
use crate::root::Root;
use crate::split::split;
use crate::spot::Spot;

/// Changes an entry as [`crate::Tree::modify`] does.
///
/// # Errors
/// Returns the errors of [`crate::Tree::modify`].
pub(crate) fn modify<'v>(
    root: &Root,
    spot: &Spot<'_>,
    lsn: RecordLsn,
    mut change: impl FnMut(Option<&[u8]>) -> Change<'v>,
) -> Result<()> {
    let key = spot.key;
    loop {
        let mut leaf = spot.write(root)?;
        let found = spot.search(&leaf);
        let wanted = change(found.ok().map(|index| slotted::value(&leaf, index)));
        let outcome = leaf::change(root, &mut leaf, key, found, &wanted, lsn)?;
        drop(leaf);
        match outcome {
            Outcome::Done => return Ok(()),
            Outcome::Sparse => return merge(root, key),
            Outcome::Full { needed } => {
                // A commit's rows are in the log already. Waiting for log space here could mean
                // waiting for a checkpoint that waits for these rows.
                if lsn == RecordLsn::UNLOGGED {
                    root.pool().log().free_check();
                }
                split(root, key, needed)?;
            }
        }
    }
}
