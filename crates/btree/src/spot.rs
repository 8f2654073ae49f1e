//! A key with the leaf that it belongs to, so that the leaf is looked for once.

use buffer::FoundLeaf;

/// A key and the leaf that it was found to belong to; see [`crate::Tree::locate`].
#[derive(Debug, Clone, Copy)]
pub struct Spot<'k> {
    pub(crate) key: &'k [u8],
    pub(crate) found: Option<FoundLeaf>,
}

impl<'k> Spot<'k> {
    /// Where the leaf is, to be kept beside a copy of the key and put together with it by
    /// [`Spot::again`].
    pub fn leaf(&self) -> Option<FoundLeaf> {
        self.found
    }

    /// The spot of a key whose leaf was found before, in the same tree.
    pub fn again(key: &'k [u8], leaf: FoundLeaf) -> Spot<'k> {
        Spot { key, found: Some(leaf) }
    }
}
