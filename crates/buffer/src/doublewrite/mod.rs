//! The doublewrite file: pages are written and synced here before they are written in place, so that a page torn by a power cut
//! has a whole copy. Byte by byte in docs/formats/page.md.
//!
//! The file has a few areas, each used by one flusher at a time. One batch: pages into the area, sync; pages in place; sync of the tablespaces;
//! only then may the area be used again. So at any moment a page that may be torn in its place is whole in an area, and of several copies of a
//! page the one in the batch with the highest number is the one that its last write in place came after. (Its LSN does not tell: rows of
//! slow commits and purge change pages without raising it.)
//!
//! How pages go through the file is a strategy ([`Doublewrite`]) that can be changed while the pool is open. What the file holds when pages begin to be
//! written without a copy is made void first: else a page torn later would be "repaired" with a copy that is older than what the log still has.
//!
//! An entry names its tablespace by path, relative to the data directory, so that repair needs no open tablespaces and happens before
//! anything reads a page.

mod area;
mod repair;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use os::account::{State, enter};
use os::aligned::IO_ALIGNMENT;
use os::disk::{Access, Disk, File, OpenMode};
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};

pub(crate) use area::WriteArea;
use area::{HEADER_BYTES, area_bytes, area_pages};
pub(crate) use repair::repair;

use crate::error::Result;
use crate::page::PageId;
use crate::pool::PoolConfig;
use crate::space::sync_or_stop;

/// How pages are protected against being torn (`innodb_doublewrite`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doublewrite {
    /// Not at all (`OFF`).
    Off,
    /// Each flusher has an area of its own, one sync a batch (`ON`, `DETECT_AND_RECOVER`, `PARALLEL`).
    Parallel,
    /// One area for all, held from the first copy to the tablespaces' sync, as InnoDB had it before 8.0.20 (`LEGACY`).
    Legacy,
    /// Only which pages are written goes to the file: torn ones are found, not repaired (`DETECT_ONLY`).
    DetectOnly,
    /// As `Off` for tablespaces whose storage guarantees that a page is written whole or not at all, as `Parallel` for others (`AUTO`).
    Auto,
}

impl Doublewrite {
    /// The strategy of a value of `innodb_doublewrite`.
    pub fn named(name: &str) -> Option<Doublewrite> {
        Some(match name.to_ascii_uppercase().as_str() {
            "OFF" => Doublewrite::Off,
            "ON" | "DETECT_AND_RECOVER" | "PARALLEL" => Doublewrite::Parallel,
            "LEGACY" => Doublewrite::Legacy,
            "DETECT_ONLY" => Doublewrite::DetectOnly,
            "AUTO" => Doublewrite::Auto,
            _ => return None,
        })
    }

    /// Whether every page that may be torn has a copy.
    fn keeps_copies(self) -> bool {
        matches!(self, Doublewrite::Parallel | Doublewrite::Legacy | Doublewrite::Auto)
    }
}

/// Who wants to write; each begins its search for an area at its own, so that one rarely waits for another.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flusher {
    /// A checkpoint, or somebody who wants a space's pages on disk.
    Checkpoint,
    /// A foreground thread in want of a frame.
    SinglePage,
    /// The LRU flusher of the instance of this number.
    Lru(usize),
    /// The page cleaner of this number.
    Cleaner(usize),
}

/// Areas of checkpoints and of single pages.
const OTHER_AREAS: usize = 3;

/// All areas, and how they are used. Lock order: `state` and an area's mutex come after all latches that their thread holds (it only tries for
/// further ones), and before a space's path, the flush lists and the page table; `state` before the areas.
#[derive(Debug)]
pub(crate) struct WriteAreas {
    path: PathBuf,
    area_bytes: usize,
    datadir: PathBuf,
    /// Held shared through a batch, so the strategy changes between batches.
    state: RwLock<Strategy>,
    /// Number of the last batch; goes on from what the file has. A page is in one batch at a time (`Frame::writing`), so the batches that hold it
    /// are numbered in their order; relaxed, since only that order matters and the page's own locks make it.
    batch: AtomicU64,
    /// The first is `Legacy`'s.
    areas: Vec<Mutex<WriteArea>>,
    instances: usize,
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

/// An area in use for one batch.
#[derive(Debug)]
pub(crate) struct BatchArea<'a> {
    strategy: RwLockReadGuard<'a, Strategy>,
    pub area: MutexGuard<'a, WriteArea>,
}

/// The file whose areas hold `pages` pages each; a pool of another size has another file.
fn file_path(datadir: &Path, page_size: usize, pages: usize) -> PathBuf {
    datadir.join(format!("#ib_{page_size}_{pages}.dblwr"))
}

/// The doublewrite files of this page size, and how many pages their areas hold.
fn files_of(disk: &dyn Disk, config: &PoolConfig) -> Result<Vec<(PathBuf, usize)>> {
    let prefix = format!("#ib_{}_", config.page_size);
    let pages_of = |path: &PathBuf| {
        let pages =
            path.file_name()?.to_str()?.strip_prefix(&prefix)?.strip_suffix(".dblwr")?.parse().ok()?;
        // Nothing that this server names so; the bound keeps the arithmetic in range.
        (1..=1 << 20).contains(&pages).then_some(pages)
    };
    let all = disk.list(&config.datadir)?;
    Ok(all.into_iter().filter_map(|path| pages_of(&path).map(|pages| (path, pages))).collect())
}

impl WriteAreas {
    /// `instances` of the `actors` that flush in the background are LRU flushers. `last_batch` is what [`repair`] answered; it has been called: what the file holds is not needed any more.
    pub fn open(
        disk: &dyn Disk,
        config: &PoolConfig,
        access: Access,
        (instances, actors): (usize, usize),
        last_batch: u64,
    ) -> Result<WriteAreas> {
        let page_size = config.page_size;
        let count = 1 + OTHER_AREAS + actors;
        let pages = area_pages(config.capacity_bytes, page_size);
        let areas = (0..count).map(|number| Mutex::new(WriteArea::new(number, pages, page_size))).collect();
        let areas = WriteAreas {
            path: file_path(&config.datadir, page_size, pages),
            area_bytes: area_bytes(pages, page_size),
            datadir: config.datadir.clone(),
            state: RwLock::new(Strategy { kind: Doublewrite::Off, file: None }),
            batch: AtomicU64::new(last_batch),
            areas,
            instances,
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
        areas.set_strategy(disk, config.options.doublewrite, true)?;
        Ok(areas)
    }

    /// Changes the strategy for all batches that begin from here on; waits for those under way.
    pub fn set_strategy(&self, disk: &dyn Disk, kind: Doublewrite, opening: bool) -> Result<()> {
        let mut state = self.state.write();
        if state.kind == kind && !opening {
            return Ok(());
        }
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
        let len = (self.areas.len() * self.area_bytes) as u64;
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

    /// An empty area for one batch.
    pub fn take(&self, flusher: Flusher) -> BatchArea<'_> {
        let strategy = self.state.read();
        let (legacy, parallel) = self.areas.split_at(1);
        let mut area = if strategy.kind == Doublewrite::Legacy {
            legacy[0].try_lock().unwrap_or_else(|| wait_for(&legacy[0]))
        } else {
            let own = match flusher {
                Flusher::Checkpoint => 0,
                Flusher::SinglePage => 1,
                Flusher::Lru(instance) => OTHER_AREAS + instance,
                Flusher::Cleaner(number) => OTHER_AREAS + self.instances + number,
            };
            let mut in_turn = (0..parallel.len()).map(|step| &parallel[(own + step) % parallel.len()]);
            in_turn.find_map(|area| area.try_lock()).unwrap_or_else(|| wait_for(&parallel[own]))
        };
        area.clear();
        BatchArea { strategy, area }
    }

    /// Writes the area's pages to the doublewrite file and syncs it. `places` are the pages' identities and files, in order.
    pub fn save(&self, disk: &dyn Disk, batch: &mut BatchArea<'_>, places: &[(PageId, &Path)]) -> Result<()> {
        let Some(file) = &batch.strategy.file else { return Ok(()) };
        let _writing = enter(State::DoublewriteWait);
        let number = self.batch.fetch_add(1, Ordering::Relaxed) + 1;
        let with_copies = batch.strategy.kind != Doublewrite::DetectOnly;
        let area = &mut *batch.area;
        let header_len = area.put_header(&self.datadir, places, number, with_copies)?;
        let header = (area.offset(), area.header(header_len.next_multiple_of(IO_ALIGNMENT)));
        let pages = (area.offset() + HEADER_BYTES as u64, area.all_pages());
        file.write_batch(&[header, pages][..1 + usize::from(with_copies)])?;
        if self.syncs { sync_or_stop(disk, &**file) } else { Ok(()) }
    }
}

fn wait_for(area: &Mutex<WriteArea>) -> MutexGuard<'_, WriteArea> {
    let _waiting = enter(State::DoublewriteWait);
    area.lock()
}

impl BatchArea<'_> {
    /// Whether this batch must go through the file; `untorn` says that the storage guarantees all of its pages.
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
