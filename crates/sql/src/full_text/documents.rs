//! What is searched, and what tells its documents apart.

use crate::error::Result;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

/// The documents of a table.
pub(crate) trait Documents {
    /// Calls `visit` for each, with the texts of its columns. The same documents come in the same
    /// order each time.
    ///
    /// # Errors
    /// What reading ends with, and what `visit` does.
    fn each(&mut self, visit: &mut dyn FnMut(&[Option<&str>]) -> Result<()>) -> Result<()>;
}

/// What tells documents apart: two hashes of their texts that nobody can foresee.
#[derive(Debug, Default)]
pub(super) struct DocumentHash {
    first: RandomState,
    second: RandomState,
}

impl DocumentHash {
    pub fn of<'t>(&self, texts: impl Iterator<Item = Option<&'t str>>) -> u128 {
        let (mut first, mut second) = (self.first.build_hasher(), self.second.build_hasher());
        for text in texts {
            text.hash(&mut first);
            text.hash(&mut second);
        }
        u128::from(first.finish()) << 64 | u128::from(second.finish())
    }
}
