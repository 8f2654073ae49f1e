//! The doublewrite file, to which pages are written and synced before they are written in place, so
//! that a page torn by a power cut has a whole copy. docs/formats/page.md has the layout byte by
//! byte.
//!
//! The file has a few areas, each used by one batch at a time: the pages are written into the area,
//! the file is synced, the pages are written in place, the tablespaces are synced, and only then
//! may the area be used again (`batch`). So at any moment a page that may be torn in its place is
//! whole in an area. When several areas have copies of a page, the one in the batch with the
//! highest number is the one that was last written in place. (LSNs do not tell, because rows of
//! slow commits and purge change pages without raising the page's LSN.) Batches that are saved at
//! the same time share a sync of the file.
//!
//! How pages go through the file is a strategy ([`Doublewrite`]) that can be changed while the pool
//! is open. Before pages are written without a copy, all copies in the file are made void.
//! Otherwise a page torn later would be "repaired" with a copy that is older than what the log
//! still has.
//!
//! An entry of an area's header names the page's tablespace by its path, relative to the data
//! directory. So repair needs no open tablespaces and happens before anything reads a page.

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

/// The number of areas besides one for each thread that flushes in the background. They serve
/// checkpoints, single-page flushes and unfinished batches.
const OTHER_AREAS: usize = 4;

/// The time that a thread waits for an idle area before it looks for batches to finish.
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
    /// The strategy in force. It is held shared while a batch is saved and written, and while
    /// batches are finished; it changes when all of these are done.
    state: RwLock<Strategy>,
    /// Held through a whole batch under `Legacy`.
    legacy: Mutex<()>,
    /// The number of the last batch, which goes on from what the file has. A page is in one batch
    /// at a time (`Frame::writing`), so the batches that hold it are numbered in their order.
    /// Relaxed, since only that order matters and the page's own locks make it.
    batch: AtomicU64,
    idle: Mutex<Vec<WriteArea>>,
    /// Signalled under `idle` when an area comes back.
    given_back: Condvar,
    shared_sync: SharedSync,
    access: Access,
    /// Whether the file is synced after a batch was written to it.
    syncs: bool,
}

#[derive(Debug)]
struct Strategy {
    kind: Doublewrite,
    /// The open file. `None` when `kind` is, and has always been, `Off`.
    file: Option<Arc<dyn File>>,
}

/// An area in use for a batch that is being saved and written. The area goes back when this value
/// is dropped, unless [`BatchArea::detach`] has taken it out.
#[derive(Debug)]
pub(crate) struct BatchArea<'a> {
    areas: &'a WriteAreas,
    strategy: RwLockReadGuard<'a, Strategy>,
    _legacy: Option<MutexGuard<'a, ()>>,
    area: Option<WriteArea>,
}

impl WriteAreas {
    /// Opens or creates the file, with one area for each of the `actors` threads that flush in the
    /// background and a few more. [`repair()`] has been called, so the content of the file is not
    /// needed any more; `last_batch` is what `repair` returned.
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
        // The pages that other doublewrite files hold are repaired and synced by now, and would
        // soon be older than the pages in place.
        for (other, _) in files_of(disk, config)?.into_iter().filter(|(other, _)| *other != areas.path) {
            disk.remove(&other)?;
            disk.sync_dir(&areas.datadir)?;
        }
        let file = if disk.exists(&areas.path)? { Some(areas.open_file(disk)?) } else { None };
        areas.state.write().file = file;
        // An existing file is open here even if the strategy is `Off`, so that copies left in it
        // are made void.
        areas.put_strategy(&mut areas.state.write(), disk, config.options.doublewrite)?;
        Ok(areas)
    }

    /// Changes the strategy for all batches that begin after this. Waits for the batches under way
    /// and calls `finish` to finish them all.
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
            // The file is written, not only extended: no batch shall need space that the disk does
            // not have.
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

    /// Returns an empty area for one batch, if one is idle.
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

    /// Waits a short time for an area to become idle.
    pub fn wait_for_idle(&self) {
        let _waiting = enter(State::DoublewriteWait);
        let mut idle = self.idle.lock();
        if idle.is_empty() {
            self.given_back.wait_for(&mut idle, AREA_WAIT);
        }
    }

    /// Takes back the area of a batch that is finished.
    pub fn give_back(&self, mut area: WriteArea) {
        area.clear();
        self.idle.lock().push(area);
        self.given_back.notify_one();
    }

    /// Keeps the strategy from changing until the returned guard is dropped. This does not queue
    /// behind a thread that waits to change the strategy, since that thread may wait for a batch
    /// that waits for the caller.
    pub fn hold_strategy(&self) -> impl Sized + '_ {
        self.state.read_recursive()
    }

    /// Writes the area's pages to the doublewrite file and syncs it. `places` has the pages'
    /// identities and files, in the order of the pages.
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
    /// Returns the area.
    pub fn area(&mut self) -> &mut WriteArea {
        self.area.as_mut().expect("the batch has not taken it along")
    }

    /// Takes the area out, so that the batch can keep it until it is finished. The strategy stays
    /// held.
    pub fn detach(&mut self) -> WriteArea {
        self.area.take().expect("a batch takes it along once")
    }

    /// Reports whether no other batch may begin before this one is finished.
    pub fn finishes_at_once(&self) -> bool {
        self.strategy.kind == Doublewrite::Legacy
    }

    /// Reports whether this batch must go through the file. `untorn` says that the storage
    /// guarantees to write each of its pages whole or not at all.
    pub fn doublewrites(&self, untorn: bool) -> bool {
        match self.strategy.kind {
            Doublewrite::Off => false,
            Doublewrite::Auto => !untorn,
            Doublewrite::Parallel | Doublewrite::Legacy | Doublewrite::DetectOnly => true,
        }
    }

    /// Reports whether the strategy relies on the storage to write pages whole.
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
