//! The pool's open tablespaces: made, opened, renamed, dropped.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::error::{BufferError, Result};
use crate::frame::NO_PAGE;
use crate::page::SpaceId;
use crate::pool::Pool;
use crate::space::{Space, SpaceRoom, StructureLock};

impl Pool {
    /// Makes a tablespace file with its header page, durably.
    ///
    /// # Errors
    /// When the number or the file exists already; an I/O error.
    pub fn create_space(&self, id: SpaceId, path: &Path) -> Result<()> {
        if self.spaces.read().contains_key(&id) || id == u32::MAX {
            return Err(BufferError::SpaceInUse(id));
        }
        let space = Space::create(&*self.disk, path, self.access, id, self.page_size())?;
        self.spaces.write().insert(id, Arc::new(space));
        Ok(())
    }

    /// Opens a tablespace file; returns the number that it says it has. Opening one that is open
    /// already does nothing.
    ///
    /// # Errors
    /// When the file is no tablespace, or one of another page size, or of a number that another
    /// file has; an I/O error.
    pub fn open_space(&self, path: &Path) -> Result<SpaceId> {
        let space = Space::open(&*self.disk, path, self.access, self.page_size())?;
        let id = space.id;
        let mut spaces = self.spaces.write();
        match spaces.get(&id) {
            Some(open) if *open.path.read() == path => Ok(id),
            Some(_) => Err(BufferError::SpaceInUse(id)),
            None => {
                spaces.insert(id, Arc::new(space));
                Ok(id)
            }
        }
    }

    /// Whether the space is open.
    pub fn has_space(&self, id: SpaceId) -> bool {
        self.spaces.read().contains_key(&id)
    }

    /// Where the space's file is.
    pub fn space_path(&self, id: SpaceId) -> Option<PathBuf> {
        Some(self.space(id).ok()?.path.read().clone())
    }

    /// Length of the space's file in bytes, as far as it was made ready for pages.
    pub fn space_bytes(&self, id: SpaceId) -> Option<u64> {
        self.spaces.read().get(&id).map(|space| space.offset_of(space.file_pages()))
    }

    pub(crate) fn space(&self, id: SpaceId) -> Result<Arc<Space>> {
        self.spaces.read().get(&id).cloned().ok_or(BufferError::NoSuchSpace(id))
    }

    /// What tells whether the space has room, see [`SpaceRoom`]; `None` when it is not open.
    pub fn room(&self, id: SpaceId) -> Option<SpaceRoom> {
        let space = self.spaces.read().get(&id).cloned()?;
        Some(SpaceRoom::new(space, Arc::clone(&self.disk), self.syncs_length()))
    }

    /// Takes the space's structure lock. No page latch may be held.
    ///
    /// # Errors
    /// When the space is not open.
    pub fn lock_structure(&self, id: SpaceId) -> Result<StructureLock> {
        Ok(StructureLock::new(self.space(id)?))
    }

    /// Removes the space's file, and then forgets its pages. The caller makes sure that nobody uses
    /// the space any more.
    ///
    /// In this order: until the removal is durable a crash finds the file again, and has to find
    /// the log of the pages that are not written to it. So they hold up the checkpoint until then.
    /// Those that are written meanwhile go to a file that has no name any more.
    ///
    /// # Errors
    /// When there is no such space; when the file cannot be removed, and the space stays.
    pub fn drop_space(&self, id: SpaceId) -> Result<()> {
        self.remove_file(&*self.space(id)?)?;
        self.spaces.write().remove(&id);
        self.forget_pages(id);
        Ok(())
    }

    fn remove_file(&self, space: &Space) -> Result<()> {
        let path = space.path.read();
        self.disk.remove(&path)?;
        if let Some(dir) = path.parent() {
            self.disk.sync_dir(dir)?;
        }
        Ok(())
    }

    /// Renames the space's file, durably. No page write of the space is under way meanwhile.
    ///
    /// # Errors
    /// When there is no such space; when the file cannot be renamed.
    pub fn rename_space(&self, id: SpaceId, to: &Path) -> Result<()> {
        let space = self.space(id)?;
        let mut path = space.path.write();
        while space.unsynced.load(Ordering::Acquire) > 0 {
            if !self.finish_batches()? {
                os::clock::sleep(Duration::from_millis(1));
            }
        }
        self.disk.rename(&path, to)?;
        for dir in [path.parent(), to.parent()].into_iter().flatten() {
            self.disk.sync_dir(dir)?;
        }
        to.clone_into(&mut path);
        Ok(())
    }

    fn forget_pages(&self, id: SpaceId) {
        for number in 0..self.frames.len() as u32 {
            let frame = self.frame(number);
            let packed = frame.page_id.load(Ordering::Relaxed);
            if packed == NO_PAGE || packed >> 32 != id as u64 {
                continue;
            }
            frame.latch.exclusive();
            while frame.holds(packed) && frame.writing.load(Ordering::Acquire) {
                frame.latch.release_exclusive();
                // A batch that could not write the page lets go of it now. Whether another page of
                // it can be written is not asked here.
                let _ = self.finish_batches();
                os::clock::sleep(Duration::from_millis(1));
                frame.latch.exclusive();
            }
            if !frame.holds(packed) {
                frame.latch.release_exclusive();
                continue;
            }
            {
                let mut lists = self.instance_of_frame(number).flush_lists.lock();
                lists.forget(number, frame.oldest());
                frame.oldest_lsn.store(0, Ordering::Relaxed);
            }
            self.discard(number);
        }
    }
}
