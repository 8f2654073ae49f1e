//! Copying tablespace files while they are in use.
//!
//! A file is read from disk, past the pool. A page that a write tears under the reader has a wrong
//! checksum, and is read again; a page that stays torn is taken from the pool, latched. So every
//! page of the copy is whole. Pages may be of different moments: recovery of the copy needs the log
//! from a checkpoint that was durable before the first page was read, up to a moment after the last
//! one was.
//!
//! Pages that the log does not describe (`btree`'s sorted builds) are flushed before the commit
//! that names them. [`crate::FlushNotes`] tells the spaces that have to be copied again.

use std::sync::Arc;
use std::time::Duration;

use os::aligned::AlignedBuffer;
use os::disk::File;

use crate::error::{BufferError, Result};
use crate::fetch::Fetcher;
use crate::page::{self, PageId, PageNo};
use crate::space::Space;
use crate::verify;

/// The number of bytes that are read and written at a time.
const PIECE_BYTES: usize = 1 << 20;
/// How many times a torn page is looked for, on disk and in the pool, with a millisecond between.
const TRIES: u32 = 1000;

/// A copy of one tablespace's file under way.
#[derive(Debug)]
pub struct SpaceCopy<'p> {
    fetcher: &'p Fetcher,
    space: Arc<Space>,
    to: Arc<dyn File>,
    next: PageNo,
    page_size: usize,
    piece: AlignedBuffer,
}

impl<'p> SpaceCopy<'p> {
    /// Begins to copy a space's file over `to`. `fetcher` brings the pages that stay torn.
    pub(crate) fn begin(
        fetcher: &'p Fetcher,
        space: Arc<Space>,
        to: Arc<dyn File>,
        page_size: usize,
    ) -> SpaceCopy<'p> {
        let piece = AlignedBuffer::zeroed(PIECE_BYTES.max(page_size));
        SpaceCopy { fetcher, space, to, next: 0, page_size, piece }
    }

    /// Copies the next pages, a megabyte at most. Returns how many bytes they have, and `None` when
    /// there are no more.
    ///
    /// # Errors
    /// Returns [`BufferError::Corrupt`] for a page that is damaged on disk and is not in the pool,
    /// and I/O errors of either file.
    pub fn step(&mut self) -> Result<Option<u64>> {
        let page_size = self.page_size;
        let left = self.space.file_pages().saturating_sub(self.next) as usize;
        let pages = left.min(self.piece.len() / page_size);
        if pages == 0 {
            return Ok(None);
        }
        let first = self.next;
        self.space.read_raw(first, &mut self.piece[..pages * page_size])?;
        for at in 0..pages {
            let id = PageId::new(self.space.id, first + at as PageNo);
            let place = at * page_size..(at + 1) * page_size;
            if !verify::is_whole(&self.piece[place.clone()], id) {
                self.read_again(id, place)?;
            }
        }
        let (bytes, offset) = (&self.piece[..pages * page_size], self.space.offset_of(first));
        self.to.write_all_at(bytes, offset)?;
        self.to.write_back(offset, bytes.len() as u64);
        self.next = first + pages as PageNo;
        Ok(Some(bytes.len() as u64))
    }

    /// Reads a page that was torn until it is whole. If the pool has the page, that one is taken.
    fn read_again(&mut self, id: PageId, place: std::ops::Range<usize>) -> Result<()> {
        for tried in 1.. {
            os::clock::sleep(Duration::from_millis(1));
            self.space.read_raw(id.no, &mut self.piece[place.clone()])?;
            if verify::is_whole(&self.piece[place.clone()], id) {
                break;
            }
            match self.fetcher.read(id) {
                Ok(latched) => {
                    let page = &mut self.piece[place];
                    page.copy_from_slice(&latched);
                    page::seal(page);
                    break;
                }
                // Pages of a build are written past the pool, which does not have them.
                Err(BufferError::Corrupt { .. }) if tried < TRIES => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
