//! The open tablespaces: how they are made, opened, renamed and removed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use os::disk::{Access, Disk};
use parking_lot::RwLock;

use crate::config::PoolConfig;
use crate::error::{BufferError, Result};
use crate::options::FlushMethod;
use crate::page::{PageId, PageNo, SpaceId};
use crate::space::{Space, SpaceRoom, StructureLock, sync_or_stop};

/// The tablespaces that are open, and the way their files are accessed.
#[derive(Debug)]
pub(crate) struct Spaces {
    disk: Arc<dyn Disk>,
    access: Access,
    page_size: usize,
    /// Whether a file's new length is synced. A pool that syncs no page writes must sync at least
    /// this.
    syncs_length: bool,
    /// The open tablespaces by number. In the lock order it is a leaf, except for a space's path,
    /// which `open` reads under it.
    spaces: RwLock<HashMap<SpaceId, Arc<Space>>>,
}

impl Spaces {
    /// Makes the state with no tablespace open. `access` is how their files will be accessed.
    pub fn new(disk: Arc<dyn Disk>, config: &PoolConfig, access: Access) -> Spaces {
        Spaces {
            disk,
            access,
            page_size: config.page_size,
            syncs_length: config.options.flush_method == FlushMethod::DirectNoSync,
            spaces: RwLock::new(HashMap::new()),
        }
    }

    /// Does the work of [`crate::Pool::create_space`] and [`crate::Pool::create_unlogged_space`].
    pub fn create(&self, id: SpaceId, is_logged: bool, path: &Path) -> Result<()> {
        if self.has(id) || id == u32::MAX {
            return Err(BufferError::SpaceInUse(id));
        }
        let space = Space::create(&*self.disk, path, self.access, (id, is_logged), self.page_size)?;
        self.spaces.write().insert(id, Arc::new(space));
        Ok(())
    }

    /// Does the work of [`crate::Pool::open_space`].
    pub fn open(&self, path: &Path) -> Result<SpaceId> {
        let space = Space::open(&*self.disk, path, self.access, self.page_size)?;
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

    pub fn has(&self, id: SpaceId) -> bool {
        self.spaces.read().contains_key(&id)
    }

    /// Returns the spaces whose changes are logged, with their paths.
    pub fn logged(&self) -> Vec<(SpaceId, PathBuf)> {
        let spaces = self.spaces.read();
        let logged: Vec<_> = spaces.values().filter(|space| space.is_logged).cloned().collect();
        // A renaming holds a path while it waits for batches, which look spaces up.
        drop(spaces);
        logged.into_iter().map(|space| (space.id, space.path.read().clone())).collect()
    }

    /// Returns the number of spaces, each of which has a file that is open.
    pub fn count(&self) -> usize {
        self.spaces.read().len()
    }

    /// Returns the space.
    ///
    /// # Errors
    /// Returns an error when the space is not open.
    pub fn get(&self, id: SpaceId) -> Result<Arc<Space>> {
        self.spaces.read().get(&id).cloned().ok_or(BufferError::NoSuchSpace(id))
    }

    /// Returns the path of the space's file. `None` when the space is not open.
    pub fn path(&self, id: SpaceId) -> Option<PathBuf> {
        Some(self.get(id).ok()?.path.read().clone())
    }

    /// Returns the length of the space's file in bytes, as far as it was made ready for pages.
    /// `None` when the space is not open.
    pub fn bytes(&self, id: SpaceId) -> Option<u64> {
        self.spaces.read().get(&id).map(|space| space.offset_of(space.file_pages()))
    }

    /// Returns the [`SpaceRoom`] that tells whether the space has room. `None` when the space is
    /// not open.
    pub fn room(&self, id: SpaceId) -> Option<SpaceRoom> {
        let space = self.spaces.read().get(&id).cloned()?;
        Some(SpaceRoom::new(space, Arc::clone(&self.disk), self.syncs_length))
    }

    /// Takes the space's structure lock. The caller holds no page latch.
    pub fn lock_structure(&self, id: SpaceId) -> Result<StructureLock> {
        Ok(StructureLock::new(self.get(id)?))
    }

    /// Makes the page's file long enough for the page.
    pub fn make_room(&self, id: PageId) -> Result<()> {
        self.get(id.space)?.ensure(id.no, &*self.disk, self.syncs_length)
    }

    /// Writes pages that were handed out for the first time. `first` is the number of the first
    /// one.
    pub fn write_fresh(&self, id: SpaceId, first: PageNo, pages: &[u8]) -> Result<()> {
        self.get(id)?.write_fresh(first, pages, &*self.disk, self.syncs_length)
    }

    /// Makes everything durable that was written to the space's file.
    pub fn sync(&self, id: SpaceId) -> Result<()> {
        let space = self.get(id)?;
        sync_or_stop(&*self.disk, &*space.file)
    }

    /// Removes the space's file, durably, and then the space. What is written to the space after
    /// that goes to a file that has no name any more.
    pub fn remove(&self, id: SpaceId) -> Result<()> {
        let space = self.get(id)?;
        {
            let path = space.path.read();
            self.disk.remove(&path)?;
            if let Some(dir) = path.parent().filter(|_| space.is_logged) {
                self.disk.sync_dir(dir)?;
            }
        }
        self.spaces.write().remove(&id);
        Ok(())
    }

    /// Does the work of [`crate::Pool::rename_space`]. `finish` finishes the unfinished batches of
    /// page writes, and returns false when there are none.
    pub fn rename(&self, id: SpaceId, to: &Path, finish: impl Fn() -> Result<bool>) -> Result<()> {
        let space = self.get(id)?;
        let mut path = space.path.write();
        while space.unsynced.load(Ordering::Acquire) > 0 {
            if !finish()? {
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
}
