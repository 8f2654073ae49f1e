//! The doublewrite file: pages are written and synced here before they are written in place, so
//! that a page torn by a power cut has a whole copy. Byte by byte in docs/formats/page.md.
//!
//! The file has a few areas, each used by one batch at a time: pages into the area, sync; pages in
//! place; sync of the tablespaces; only then may the area be used again (`batch`). So at any moment
//! a page that may be torn in its place is whole in an area, and of several copies of a page the
//! one in the batch with the highest number is the one that its last write in place came after.
//! (Its LSN does not tell: rows of slow commits and purge change pages without raising it.) Batches
//! that are saved at the same time share a sync of the file.
//!
//! How pages go through the file is a strategy ([`Doublewrite`]) that can be changed while the pool
//! is open. What the file holds when pages begin to be written without a copy is made void first:
//! else a page torn later would be "repaired" with a copy that is older than what the log still
//! has.
//!
//! An entry names its tablespace by path, relative to the data directory, so that repair needs no
//! open tablespaces and happens before anything reads a page.

mod area;
mod files;
mod repair;
mod shared_sync;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use os::account::{State, enter};
use os::aligned::IO_ALIGNMENT;
use os::disk::{Access, Disk, File, OpenMode};
use parking_lot::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard};

pub(crate) use area::WriteArea;
use area::{HEADER_BYTES, area_bytes, area_pages};
use files::{file_path, files_of};
pub(crate) use repair::repair;
use shared_sync::SharedSync;

use crate::config::PoolConfig;
use crate::error::Result;
use crate::options::Doublewrite;
use crate::page::PageId;
use crate::space::sync_or_stop;

/// Areas beside one for each thread that flushes in the background: for checkpoints and single
/// pages, and for batches that are unfinished.
const OTHER_AREAS: usize = 4;

/// How long a thread that finds no idle area waits before it looks whether there are batches to
/// finish.
const AREA_WAIT: Duration = Duration::from_millis(1);

/// All areas, and how they are used. Lock order: `state` and `legacy` come after all latches that
/// their thread holds (it only tries for further ones), and before a space's path, the flush lists
/// and the page table; `idle` is a leaf.
#[derive(Debug)]
pub(crate) struct WriteAreas {
    path: PathBuf,
    area_bytes: usize,
    count: usize,
    datadir: PathBuf,
    /// Held shared while a batch is saved and written, and while batches are finished; it changes
    /// when all of them are.
    state: RwLock<Strategy>,
    /// Held through a batch under `Legacy`.
    legacy: Mutex<()>,
    /// Number of the last batch; goes on from what the file has. A page is in one batch at a time
    /// (`Frame::writing`), so the batches that hold it are numbered in their order; relaxed, since
    /// only that order matters and the page's own locks make it.
    batch: AtomicU64,
    idle: Mutex<Vec<WriteArea>>,
    /// Signalled under `idle` when an area comes back.
    given_back: Condvar,
    shared_sync: SharedSync,
    access: Access,
    /// Whether a batch is synced.
    syncs: bool,
}

#[derive(Debug)]
struct Strategy {
    kind: Doublewrite,
    /// Open when `kind` is not, or has not always been, `Off`.
    file: Option<Arc<dyn File>>,
}

/// An area in use for a batch that is being saved and written. The area goes back when this is
/// dropped, unless the batch has taken it along.
#[derive(Debug)]
pub(crate) struct BatchArea<'a> {
    areas: &'a WriteAreas,
    strategy: RwLockReadGuard<'a, Strategy>,
    _legacy: Option<MutexGuard<'a, ()>>,
    area: Option<WriteArea>,
}

impl WriteAreas {
    /// For so many `actors` that flush in the background. `last_batch` is what [`repair`] answered;
    /// it has been called: what the file holds is not needed any more.
    pub fn open(
        disk: &dyn Disk,
        config: &PoolConfig,
        access: Access,
        actors: usize,
        last_batch: u64,
    ) -> Result<WriteAreas> {
        let page_size = config.page_size;
        let count = OTHER_AREAS + actors;
        let pages = area_pages(config.capacity_bytes, page_size);
        let idle = (0..count).map(|number| WriteArea::new(number, pages, page_size)).collect();
        let areas = WriteAreas {
            path: file_path(&config.datadir, page_size, pages),
            area_bytes: area_bytes(pages, page_size),
            datadir: config.datadir.clone(),
            count,
            state: RwLock::new(Strategy { kind: Doublewrite::Off, file: None }),
            legacy: Mutex::new(()),
            batch: AtomicU64::new(last_batch),
            idle: Mutex::new(idle),
            given_back: Condvar::new(),
            shared_sync: SharedSync::default(),
            access,
            syncs: config.options.flush_method.syncs(),
        };
        // What other files hold is repaired and synced, and would soon be older than the pages.
        for (other, _) in files_of(disk, config)?.into_iter().filter(|(other, _)| *other != areas.path) {
            disk.remove(&other)?;
            disk.sync_dir(&areas.datadir)?;
        }
        let file = if disk.exists(&areas.path)? { Some(areas.open_file(disk)?) } else { None };
        areas.state.write().file = file;
        // Tells whether copies may be in the file that no strategy looks after.
        areas.put_strategy(&mut areas.state.write(), disk, config.options.doublewrite)?;
        Ok(areas)
    }

    /// Changes the strategy for all batches that begin from here on. Waits for those under way and
    /// has `finish` finish them all.
    pub fn set_strategy(
        &self,
        disk: &dyn Disk,
        kind: Doublewrite,
        finish: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut state = self.state.write();
        if state.kind == kind {
            return Ok(());
        }
        finish()?;
        self.put_strategy(&mut state, disk, kind)
    }

    fn put_strategy(&self, state: &mut Strategy, disk: &dyn Disk, kind: Doublewrite) -> Result<()> {
        if kind != Doublewrite::Off && state.file.is_none() {
            state.file = Some(self.open_file(disk)?);
        }
        if let (false, Some(file)) = (kind.keeps_copies(), &state.file) {
            self.void(disk, &**file)?;
        }
        state.kind = kind;
        Ok(())
    }

    /// Makes every copy in the file void, durably.
    fn void(&self, disk: &dyn Disk, file: &dyn File) -> Result<()> {
        let areas = file.len_bytes()? / self.area_bytes as u64;
        (0..areas)
            .try_for_each(|area| file.write_all_at(&[0; IO_ALIGNMENT], area * self.area_bytes as u64))?;
        sync_or_stop(disk, file)
    }

    fn open_file(&self, disk: &dyn Disk) -> Result<Arc<dyn File>> {
        let file = disk.open_with(&self.path, OpenMode::OpenOrCreate, self.access)?;
        let len = (self.count * self.area_bytes) as u64;
        // After a power cut the length may be anything.
        let mut have = file.len_bytes()? & !(IO_ALIGNMENT as u64 - 1);
        if have < len {
            // Written, not only made longer: no batch shall need space that the disk does not have.
            let zeros = vec![0; self.area_bytes];
            while have < len {
                let more = (len - have).min(self.area_bytes as u64);
                file.write_all_at(&zeros[..more as usize], have)?;
                have += more;
            }
            sync_or_stop(disk, &*file)?;
            disk.sync_dir(&self.datadir)?;
        }
        Ok(file)
    }

    /// An empty area for one batch, if one is idle.
    pub fn take(&self) -> Option<BatchArea<'_>> {
        let strategy = self.state.read();
        let legacy = (strategy.kind == Doublewrite::Legacy).then(|| {
            self.legacy.try_lock().unwrap_or_else(|| {
                let _waiting = enter(State::DoublewriteWait);
                self.legacy.lock()
            })
        });
        let area = self.idle.lock().pop()?;
        Some(BatchArea { areas: self, strategy, _legacy: legacy, area: Some(area) })
    }

    /// Waits for an area to become idle, for a short time.
    pub fn wait_for_idle(&self) {
        let _waiting = enter(State::DoublewriteWait);
        let mut idle = self.idle.lock();
        if idle.is_empty() {
            self.given_back.wait_for(&mut idle, AREA_WAIT);
        }
    }

    /// The area's batch is finished.
    pub fn give_back(&self, mut area: WriteArea) {
        area.clear();
        self.idle.lock().push(area);
        self.given_back.notify_one();
    }

    /// Keeps the strategy as it is. It does not wait for a thread that waits to change it: that one
    /// may wait for a batch that waits for the caller.
    pub fn hold_strategy(&self) -> impl Sized + '_ {
        self.state.read_recursive()
    }

    /// Writes the area's pages to the doublewrite file and syncs it. `places` are the pages'
    /// identities and files, in order.
    pub fn save(&self, disk: &dyn Disk, batch: &mut BatchArea<'_>, places: &[(PageId, &Path)]) -> Result<()> {
        let Some(file) = &batch.strategy.file else { return Ok(()) };
        let _writing = enter(State::DoublewriteWait);
        let number = self.batch.fetch_add(1, Ordering::Relaxed) + 1;
        let with_copies = batch.strategy.kind != Doublewrite::DetectOnly;
        let area = batch.area.as_mut().expect("the batch has not taken it along");
        let header_len = area.put_header(&self.datadir, places, number, with_copies)?;
        let header = (area.offset(), area.header(header_len.next_multiple_of(IO_ALIGNMENT)));
        let pages = (area.offset() + HEADER_BYTES as u64, area.all_pages());
        file.write_batch(&[header, pages][..1 + usize::from(with_copies)])?;
        if self.syncs { self.shared_sync.after_write(|| sync_or_stop(disk, &**file)) } else { Ok(()) }
    }
}

impl BatchArea<'_> {
    /// The area.
    pub fn area(&mut self) -> &mut WriteArea {
        self.area.as_mut().expect("the batch has not taken it along")
    }

    /// Takes the area out, for the batch to keep it until it is finished. What this stands for is
    /// held on.
    pub fn detach(&mut self) -> WriteArea {
        self.area.take().expect("a batch takes it along once")
    }

    /// Whether no other batch may begin before this one is finished.
    pub fn finishes_at_once(&self) -> bool {
        self.strategy.kind == Doublewrite::Legacy
    }

    /// Whether this batch must go through the file; `untorn` says that the storage guarantees all
    /// of its pages.
    pub fn doublewrites(&self, untorn: bool) -> bool {
        match self.strategy.kind {
            Doublewrite::Off => false,
            Doublewrite::Auto => !untorn,
            Doublewrite::Parallel | Doublewrite::Legacy | Doublewrite::DetectOnly => true,
        }
    }

    /// Whether pages rely on the storage to be written whole.
    pub fn relies_on_storage(&self) -> bool {
        self.strategy.kind == Doublewrite::Auto
    }
}

impl Drop for BatchArea<'_> {
    fn drop(&mut self) {
        if let Some(area) = self.area.take() {
            self.areas.give_back(area);
        }
    }
}
