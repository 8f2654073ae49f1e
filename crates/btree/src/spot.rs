//! Spots: a key together with its leaf, so that the leaf is looked for only once.

use buffer::FoundLeaf;

/// A key and the leaf that it was found to belong to; see [`crate::Tree::locate`].
#[derive(Debug, Clone, Copy)]
pub struct Spot<'k> {
    pub(crate) key: &'k [u8],
    pub(crate) found: Option<FoundLeaf>,
}

impl<'k> Spot<'k> {
    /// Returns the place of the leaf. It can be kept beside a copy of the key, and [`Spot::again`]
    /// puts the two together.
    pub fn leaf(&self) -> Option<FoundLeaf> {
        self.found
    }

    /// Makes the spot of a key whose leaf was found before, in the same tree.
    pub fn again(key: &'k [u8], leaf: FoundLeaf) -> Spot<'k> {
        Spot { key, found: Some(leaf) }
    }
}
