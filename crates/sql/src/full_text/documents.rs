//! The documents that a search reads, and the hash that tells them apart.

use crate::error::Result;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

/// The function that is called for each document, with the document's number and the texts of its
/// columns. It returns whether the document has something that is looked for.
pub(crate) type Visit<'v> = dyn FnMut(u64, &[Option<&str>]) -> Result<bool> + 'v;

/// The entries of an index that a search looks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Looked {
    /// The keys of entries.
    pub entries: Vec<Vec<u8>>,
    /// What the keys of further entries begin with.
    pub beginnings: Vec<Vec<u8>>,
}

/// The documents of a table.
pub(crate) trait Documents {
    /// Calls `visit` once for each document that has an entry which is looked for, in any order;
    /// it may be called for other documents as well. `None` looks for all documents. A document has
    /// the same number in each call of this function.
    ///
    /// # Errors
    /// Returns the errors of reading and those of `visit`.
    fn each(&mut self, looked: Option<&Looked>, visit: &mut Visit<'_>) -> Result<()>;

    /// Calls `visit` once for each document with one of these numbers, in the order of the table.
    ///
    /// # Errors
    /// Returns the errors of [`Documents::each`].
    fn again(&mut self, numbers: &HashSet<u64>, visit: &mut Visit<'_>) -> Result<()>;

    /// Returns the number of all documents, also of those without words. It is called after
    /// [`Documents::each`].
    ///
    /// # Errors
    /// Returns the errors of reading.
    fn count(&mut self) -> Result<u64>;
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
