//! The doublewrite file: pages are written and synced here before they are written in place, so that a page torn by a power cut
//! has a whole copy. Byte by byte in docs/formats/page.md.
//!
//! The file has a few areas, each used by one flusher at a time. One batch: pages into the area, sync; pages in place; sync of the tablespaces;
//! only then may the area be used again. So at any moment a page that may be torn in its place is whole in an area, and of several copies of a
//! page the one in the batch with the highest number is the one that its last write in place came after. (Its LSN does not tell: rows of
//! slow commits and purge change pages without raising it.)
//!
//! An entry names its tablespace by path, relative to the data directory, so that repair needs no open tablespaces and happens before
//! anything reads a page.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use os::disk::{Disk, File, OpenMode};
use parking_lot::{Mutex, MutexGuard};

use crate::error::{BufferError, Result};
use crate::page::{self, PageId, PageNo, put_u32, put_u64, u16_at, u32_at, u64_at};
use crate::pool::PoolConfig;
use crate::space::sync_or_stop;

const MAGIC: &[u8; 8] = b"SLIPDBL1";
const CHECKSUM_AT: usize = 8;
const HEADER_LEN_AT: usize = 12;
const PAGE_SIZE_AT: usize = 16;
const PAGES_AT: usize = 20;
const BATCH_AT: usize = 24;
const ENTRIES_AT: usize = 32;
const ENTRY_BYTES: usize = 12;
/// Room for an area's header.
const HEADER_BYTES: usize = 64 << 10;
/// Pages of one area take that much, at most.
const AREA_PAGES_BYTES: usize = 1 << 20;
const AREAS: usize = 3;

/// Who wants to write; each kind begins its search for an area at its own, so that one rarely waits for another.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flusher {
    /// The page cleaner.
    Cleaner = 0,
    /// A checkpoint, or somebody who wants a space's pages on disk.
    Checkpoint = 1,
    /// A foreground thread in want of a frame.
    SinglePage = 2,
}

/// A place to gather pages for one batch of writes, doublewritten or not.
#[derive(Debug)]
pub(crate) struct WriteArea {
    /// Where in the doublewrite file the area begins.
    offset: u64,
    page_size: usize,
    /// Header, then pages.
    buffer: Vec<u8>,
    pages: usize,
}

/// All areas. Lock order: an area's mutex comes after all latches that its thread holds (it only tries for further ones), and before a
/// space's path, the flush lists and the page table.
#[derive(Debug)]
pub(crate) struct WriteAreas {
    /// The doublewrite file; `None` when doublewrite is off.
    file: Option<Arc<dyn File>>,
    /// Number of the last batch; goes on from what the file has. A page is in one batch at a time (`Frame::writing`), so the batches that hold it
    /// are numbered in their order; relaxed, since only that order matters and the page's own locks make it.
    batch: AtomicU64,
    datadir: PathBuf,
    areas: Vec<Mutex<WriteArea>>,
}

fn file_path(config: &PoolConfig) -> PathBuf {
    config.datadir.join(format!("#ib_{}_0.dblwr", config.page_size))
}

const fn area_pages(page_size: usize) -> usize {
    AREA_PAGES_BYTES / page_size
}

const fn area_bytes(page_size: usize) -> usize {
    HEADER_BYTES + area_pages(page_size) * page_size
}

impl WriteAreas {
    /// `last_batch` is what [`repair`] answered.
    pub fn open(disk: &dyn Disk, config: &PoolConfig, last_batch: u64) -> Result<WriteAreas> {
        let page_size = config.page_size;
        let file = if config.doublewrite { Some(open_file(disk, config)?) } else { None };
        let area = |number: usize| WriteArea {
            offset: (number * area_bytes(page_size)) as u64,
            page_size,
            buffer: vec![0; area_bytes(page_size)],
            pages: 0,
        };
        let areas = (0..AREAS).map(|number| Mutex::new(area(number))).collect();
        Ok(WriteAreas { file, batch: AtomicU64::new(last_batch), datadir: config.datadir.clone(), areas })
    }

    /// An empty area for one batch.
    pub fn take(&self, flusher: Flusher) -> MutexGuard<'_, WriteArea> {
        let own = flusher as usize;
        let in_turn = (0..AREAS).map(|step| &self.areas[(own + step) % AREAS]);
        let mut area = in_turn.into_iter().find_map(|area| area.try_lock()).unwrap_or_else(|| {
            let _waiting = os::account::enter(os::account::State::DoublewriteWait);
            self.areas[own].lock()
        });
        area.pages = 0;
        area
    }

    /// Whether pages must go through the file.
    pub fn doublewrites(&self) -> bool {
        self.file.is_some()
    }

    /// Writes the area's pages to the doublewrite file and syncs it. `places` are the pages' identities and files, in order.
    pub fn save(&self, disk: &dyn Disk, area: &mut WriteArea, places: &[(PageId, &Path)]) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let _writing = os::account::enter(os::account::State::DoublewriteWait);
        assert_eq!(places.len(), area.pages, "every page has a place");
        let batch = self.batch.fetch_add(1, Ordering::Relaxed) + 1;
        let header_len = area.put_header(&self.datadir, places, batch)?;
        file.write_all_at(&area.buffer[..header_len.next_multiple_of(512)], area.offset)?;
        file.write_all_at(area.all_pages(), area.offset + HEADER_BYTES as u64)?;
        sync_or_stop(disk, &**file)
    }
}

fn open_file(disk: &dyn Disk, config: &PoolConfig) -> Result<Arc<dyn File>> {
    let file = disk.open(&file_path(config), OpenMode::OpenOrCreate)?;
    let len = AREAS * area_bytes(config.page_size);
    let have = file.len_bytes()?;
    if have < len as u64 {
        file.write_all_at(&vec![0; len - have as usize], have)?;
        sync_or_stop(disk, &*file)?;
        disk.sync_dir(&config.datadir)?;
    }
    Ok(file)
}

impl WriteArea {
    /// How many pages the area holds.
    pub fn capacity(&self) -> usize {
        area_pages(self.page_size)
    }

    /// Adds a copy of a page.
    pub fn push(&mut self, page: &[u8]) {
        let at = HEADER_BYTES + self.pages * self.page_size;
        self.buffer[at..at + self.page_size].copy_from_slice(page);
        self.pages += 1;
    }

    /// Pages `range` of the batch.
    pub fn pages(&self, range: std::ops::Range<usize>) -> &[u8] {
        &self.buffer[HEADER_BYTES + range.start * self.page_size..HEADER_BYTES + range.end * self.page_size]
    }

    fn all_pages(&self) -> &[u8] {
        self.pages(0..self.pages)
    }

    /// Computes the checksums of all pages.
    pub fn seal_all(&mut self) {
        let end = HEADER_BYTES + self.pages * self.page_size;
        self.buffer[HEADER_BYTES..end].chunks_exact_mut(self.page_size).for_each(page::seal);
    }

    fn put_header(&mut self, datadir: &Path, places: &[(PageId, &Path)], batch: u64) -> Result<usize> {
        let page_size = self.page_size as u32;
        let header = &mut self.buffer[..HEADER_BYTES];
        header[..MAGIC.len()].copy_from_slice(MAGIC);
        put_u32(header, PAGE_SIZE_AT, page_size);
        put_u32(header, PAGES_AT, places.len() as u32);
        put_u64(header, BATCH_AT, batch);
        let mut end = ENTRIES_AT + places.len() * ENTRY_BYTES;
        let mut last: Option<(&Path, usize)> = None;
        for (index, (id, path)) in places.iter().enumerate() {
            // Batches are sorted by space, so equal paths follow each other.
            let path_at = match last {
                Some((same, at)) if same == *path => at,
                _ => put_path(header, &mut end, datadir, path)?,
            };
            last = Some((path, path_at));
            let at = ENTRIES_AT + index * ENTRY_BYTES;
            put_u32(header, at, id.space);
            put_u32(header, at + 4, id.no);
            put_u32(header, at + 8, path_at as u32);
        }
        put_u32(header, HEADER_LEN_AT, end as u32);
        let sum = crc32c::crc32c(&header[HEADER_LEN_AT..end]);
        put_u32(header, CHECKSUM_AT, sum);
        Ok(end)
    }
}

fn put_path(header: &mut [u8], end: &mut usize, datadir: &Path, path: &Path) -> Result<usize> {
    let name = path.strip_prefix(datadir).unwrap_or(path);
    let Some(text) = name.to_str().filter(|text| *end + 2 + text.len() <= HEADER_BYTES) else {
        let message = format!("{}: this path cannot be kept in the doublewrite file", path.display());
        return Err(BufferError::Config(message));
    };
    let at = *end;
    header[at..at + 2].copy_from_slice(&(text.len() as u16).to_le_bytes());
    header[at + 2..at + 2 + text.len()].copy_from_slice(text.as_bytes());
    *end = at + 2 + text.len();
    Ok(at)
}

/// Puts back every page that is damaged in its place and whole in the doublewrite file. Runs before anything reads a page; also when
/// doublewrite is off now, since it may have been on. Returns the number of the last batch in the file.
pub(crate) fn repair(disk: &dyn Disk, config: &PoolConfig) -> Result<u64> {
    let path = file_path(config);
    if !disk.exists(&path)? {
        return Ok(0);
    }
    let bytes = disk.read(&path)?;
    let mut last_batch = 0;
    let mut copies: HashMap<_, (u64, &[u8])> = HashMap::new();
    for area in bytes.chunks_exact(area_bytes(config.page_size)) {
        let Some((header, batch)) = area_header(area, config) else { continue };
        last_batch = last_batch.max(batch);
        for (path, id, copy) in whole_copies(area, header, config) {
            let newest = copies.entry((path, id.no)).or_insert((batch, copy));
            if batch > newest.0 {
                *newest = (batch, copy);
            }
        }
    }
    let mut by_file: HashMap<PathBuf, Vec<(PageNo, &[u8])>> = HashMap::new();
    for ((path, no), (_, copy)) in copies {
        by_file.entry(path).or_default().push((no, copy));
    }
    by_file.into_iter().try_for_each(|(path, pages)| repair_file(disk, config.page_size, &path, &pages))?;
    Ok(last_batch)
}

fn repair_file(disk: &dyn Disk, page_size: usize, path: &Path, pages: &[(PageNo, &[u8])]) -> Result<()> {
    if !disk.exists(path)? {
        // Dropped, or renamed after the batch had been synced in place.
        return Ok(());
    }
    let file = disk.open(path, OpenMode::ReadWrite)?;
    let mut repaired = 0;
    let mut found = vec![0; page_size];
    let got = file.read_at(&mut found, 0)?;
    found[got..].fill(0);
    // The name may have been given to another tablespace since. Page 0's identity is in its first sector, which is never torn, and was synced before
    // any other page of the space was written.
    let space = page::id(&found).space;
    for &(no, copy) in pages.iter().filter(|(_, copy)| page::id(copy).space == space) {
        let offset = no as u64 * page_size as u64;
        let got = file.read_at(&mut found, offset)?;
        found[got..].fill(0);
        if let Err(reason) = page::verify(&found, page::id(copy)) {
            log::warn!(
                "{}: page {no} is damaged ({reason}); repaired from the doublewrite file",
                path.display()
            );
            file.write_all_at(copy, offset)?;
            repaired += 1;
        }
    }
    if repaired > 0 {
        sync_or_stop(disk, &*file)?;
    }
    Ok(())
}

/// The header of an area, and its batch's number. `None` when it is not whole: then it was being written when the power went, and the
/// batch's pages were not yet touched in their places.
fn area_header<'a>(area: &'a [u8], config: &PoolConfig) -> Option<(&'a [u8], u64)> {
    let header_len = u32_at(area, HEADER_LEN_AT) as usize;
    let sound = &area[..MAGIC.len()] == MAGIC
        && (ENTRIES_AT..=HEADER_BYTES).contains(&header_len)
        && crc32c::crc32c(&area[HEADER_LEN_AT..header_len]) == u32_at(area, CHECKSUM_AT)
        && u32_at(area, PAGE_SIZE_AT) as usize == config.page_size;
    let pages = u32_at(area, PAGES_AT) as usize;
    let fits = pages <= area_pages(config.page_size) && ENTRIES_AT + pages * ENTRY_BYTES <= header_len;
    (sound && fits).then(|| (&area[..header_len], u64_at(area, BATCH_AT)))
}

/// The whole copies in an area, with their files. One that is not whole was being overwritten by a batch whose pages were not yet touched.
fn whole_copies<'a>(area: &'a [u8], header: &[u8], config: &PoolConfig) -> Vec<(PathBuf, PageId, &'a [u8])> {
    let entry = |index: usize| {
        let at = ENTRIES_AT + index * ENTRY_BYTES;
        let id = PageId::new(u32_at(header, at), u32_at(header, at + 4));
        let path_at = u32_at(header, at + 8) as usize;
        let path_len = header.get(path_at..path_at + 2).map(|len| u16_at(len, 0) as usize)?;
        let path = std::str::from_utf8(header.get(path_at + 2..path_at + 2 + path_len)?).ok()?;
        let copy_at = HEADER_BYTES + index * config.page_size;
        let copy = &area[copy_at..copy_at + config.page_size];
        page::verify(copy, id).ok()?;
        Some((config.datadir.join(path), id, copy))
    };
    (0..u32_at(header, PAGES_AT) as usize).filter_map(entry).collect()
}
