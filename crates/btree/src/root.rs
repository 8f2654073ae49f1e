//! Where a tree is: its pool, its space and its root page.
//!
//! This is a passive value below everything else of the crate. What looks up, changes or reads a
//! tree borrows it or keeps a reference to it, and it knows nothing of them.

use std::sync::{Arc, OnceLock};

use buffer::page::{self, PageType};
use buffer::{PageId, PageNo, Pool, SpaceId, SpaceRoom, slotted};

use crate::error::{Result, TreeError};

/// The most levels of a tree. No tree that fits 2^32 pages is higher, since every inner node was
/// split from a full one.
pub(crate) const MAX_LEVELS: usize = 32;

/// The place of a tree. It stays the same for the tree's whole life.
#[derive(Debug)]
pub(crate) struct Root {
    pool: Arc<Pool>,
    space: SpaceId,
    page: PageNo,
    /// The room of the tree's space. It is looked up when it is asked for first.
    room: OnceLock<SpaceRoom>,
}

impl Root {
    pub fn new(pool: &Arc<Pool>, space: SpaceId, page: PageNo) -> Root {
        Root { pool: Arc::clone(pool), space, page, room: OnceLock::new() }
    }

    #[inline]
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    #[inline]
    pub fn space(&self) -> SpaceId {
        self.space
    }

    /// Returns the number of the root page.
    #[inline]
    pub fn page(&self) -> PageNo {
        self.page
    }

    /// Returns the root page's identity.
    #[inline]
    pub fn id(&self) -> PageId {
        self.page_id(self.page)
    }

    /// Returns the identity of a page of the tree.
    #[inline]
    pub fn page_id(&self, no: PageNo) -> PageId {
        PageId::new(self.space, no)
    }

    /// Returns the room of the tree's space.
    pub fn room(&self) -> Result<&SpaceRoom> {
        match self.room.get() {
            Some(room) => Ok(room),
            None => {
                let gone = buffer::BufferError::NoSuchSpace(self.space);
                let room = self.pool.room(self.space).ok_or(gone)?;
                Ok(self.room.get_or_init(|| room))
            }
        }
    }

    /// Returns the longest length of key plus value, in bytes.
    #[inline]
    pub fn max_entry_len(&self) -> usize {
        slotted::max_entry_len(self.pool.page_size())
    }

    /// Returns the length of the longest key, in bytes.
    #[inline]
    pub fn max_key_len(&self) -> usize {
        slotted::max_key_len(self.pool.page_size())
    }

    /// Checks that key and value may be an entry of the tree.
    ///
    /// # Errors
    /// Returns [`TreeError::EntryTooLong`] and [`TreeError::KeyTooLong`].
    pub fn check_entry(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let (max_key, max_entry) = (self.max_key_len(), self.max_entry_len());
        if key.len() > max_key {
            return Err(TreeError::KeyTooLong { len: key.len(), max: max_key });
        }
        if key.len() + value.len() > max_entry {
            return Err(TreeError::EntryTooLong { len: key.len() + value.len(), max: max_entry });
        }
        Ok(())
    }

    /// Checks that a page is a node of the expected level (of any level when `expected` is `None`),
    /// and returns its level.
    ///
    /// # Errors
    /// Returns [`TreeError::Damaged`] when the page is something else.
    #[inline]
    pub fn check_node(&self, no: PageNo, bytes: &[u8], expected: Option<u8>) -> Result<u8> {
        let level = page::level(bytes);
        let sound = page::page_type(bytes) == Some(PageType::Index)
            && expected.is_none_or(|expected| expected == level)
            && (level == 0 || slotted::count(bytes) > 0);
        if sound { Ok(level) } else { Err(self.out_of_place(no, bytes, expected)) }
    }

    #[cold]
    fn out_of_place(&self, no: PageNo, bytes: &[u8], expected: Option<u8>) -> TreeError {
        let (found, level) = (page::page_type(bytes), page::level(bytes));
        let entries = if found == Some(PageType::Index) { slotted::count(bytes) } else { 0 };
        let reason = format!(
            "it should be a node of level {expected:?}, it is {found:?} of level {level} with {entries} entries"
        );
        self.damaged(no, reason)
    }

    /// Makes the error for a damaged page of the tree.
    pub fn damaged(&self, no: PageNo, reason: impl Into<String>) -> TreeError {
        TreeError::damaged(self.page_id(no), reason)
    }
}
