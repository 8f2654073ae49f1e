//! The documents that a search reads, and the hash that tells them apart.

use crate::error::Result;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

/// The documents of a table.
pub(crate) trait Documents {
    /// Calls `visit` for each document, with the texts of its columns. Each call of this function
    /// gives the same documents in the same order.
    ///
    /// # Errors
    /// Returns the errors of reading and those of `visit`.
    fn each(&mut self, visit: &mut dyn FnMut(&[Option<&str>]) -> Result<()>) -> Result<()>;
}

/// The hash that tells documents apart. It consists of two hashes whose keys nobody can foresee, so
/// that no client can make two documents collide.
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
