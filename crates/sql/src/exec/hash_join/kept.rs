//! The rows of a hash table that are in memory.

use crate::error::Result;
use crate::exec::spill::{Entered, KeyTable, hash_of};
use crate::memory::{Charge, growth, out_of_memory};

/// The end of a chain, which is no row.
pub(super) const END: u32 = u32::MAX;

/// A row: where its bytes end, and the next row with the same key.
#[derive(Debug, Clone, Copy)]
struct Link {
    end: u32,
    next: u32,
}

/// The most bytes that a table has before it goes on in files, so that the end of each row is a
/// number of 32 bits.
pub(super) const MOST_BYTES: usize = 2 << 30;

/// Rows as bytes, by their keys.
#[derive(Debug)]
pub(super) struct Kept {
    keys: KeyTable,
    /// The first and the last row of each key.
    chains: Vec<(u32, u32)>,
    links: Vec<Link>,
    /// The bytes of the rows, one row behind the other.
    bytes: Vec<u8>,
    /// The charge for everything but `keys`, which has its own.
    charge: Charge,
}

impl Kept {
    /// Creates an empty table. Both charges are empty.
    pub fn new(for_keys: Charge, charge: Charge) -> Kept {
        Kept {
            keys: KeyTable::new(for_keys),
            chains: Vec::new(),
            links: Vec::new(),
            bytes: Vec::new(),
            charge,
        }
    }

    /// Returns the bytes that the rows and their keys use.
    pub fn used_bytes(&self) -> usize {
        self.keys.used_bytes()
            + size_of_val(&self.chains[..])
            + size_of_val(&self.links[..])
            + self.bytes.len()
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Adds a row behind those that have the same key.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`], and 1041 when there are more rows than numbers.
    pub fn push(&mut self, key: &[u8], hash: u64, row: &[u8]) -> Result<()> {
        // A row's number has 32 bits.
        let at = u32::try_from(self.links.len()).ok().filter(|at| *at < END).ok_or_else(out_of_memory)?;
        growth::append(&mut self.bytes, row, &mut self.charge)?;
        let end = u32::try_from(self.bytes.len()).map_err(|_| out_of_memory())?;
        growth::push(&mut self.links, Link { end, next: END }, &mut self.charge)?;
        assert!(self.chains.len() < self.links.len(), "each key has a row");
        match self.keys.enter(key, hash, true)? {
            Entered::New(_) => growth::push(&mut self.chains, (at, at), &mut self.charge),
            Entered::Known(number) => {
                let last = std::mem::replace(&mut self.chains[number].1, at);
                let last = &mut self.links[last as usize].next;
                assert_eq!(*last, END, "a row comes behind the last one of its key");
                *last = at;
                Ok(())
            }
            Entered::Refused => Err(out_of_memory()),
        }
    }

    /// Returns the first row with this key, or [`END`].
    #[inline]
    pub fn find(&self, key: &[u8], hash: u64) -> u32 {
        self.keys.find(key, hash).map_or(END, |number| self.chains[number].0)
    }

    /// Returns the bytes of a row, and the next row with the same key, or [`END`].
    #[inline]
    pub fn row(&self, at: u32) -> (&[u8], u32) {
        let at = at as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.links[before].end);
        let Link { end, next } = self.links[at];
        debug_assert!(next as usize > at, "a chain of rows with the same key ends");
        (&self.bytes[start as usize..end as usize], next)
    }

    /// Calls `visit` with the key, the hash and the bytes of each row. Rows with the same key come
    /// in the order in which they were added.
    ///
    /// # Errors
    /// Returns the errors of `visit`.
    pub fn for_each(&self, mut visit: impl FnMut(&[u8], u64, &[u8]) -> Result<()>) -> Result<()> {
        for (number, (first, _)) in self.chains.iter().enumerate() {
            let key = self.keys.key(number);
            let (hash, mut at) = (hash_of(key), *first);
            while at != END {
                let (row, next) = self.row(at);
                assert!(next > at, "the next row with the same key came later");
                visit(key, hash, row)?;
                at = next;
            }
        }
        Ok(())
    }
}
