//! Repair at start: torn pages are put back, and whole ones are made durable.
//!
//! The pages that a batch lists may be whole in the kernel's page cache only. The server that wrote
//! them may have been killed before it synced them, or may have stopped because a sync had failed,
//! after which Linux reports success for pages that never reached the disk. The log is not replayed
//! on a page that is up to date, and soon no area lists the page any more. So every listed page is
//! written over itself and synced here.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use os::disk::{Disk, OpenMode};

use super::area::{
    BATCH_AT, CHECKSUM_AT, ENTRIES_AT, ENTRY_BYTES, HEADER_BYTES, HEADER_LEN_AT, MAGIC, PAGE_SIZE_AT,
    PAGES_AT, WITH_COPIES_AT, area_bytes,
};
use super::files::files_of;
use crate::config::PoolConfig;
use crate::error::Result;
use crate::page::{self, PageId, PageNo, u16_at, u32_at, u64_at};
use crate::space::sync_or_stop;
use crate::verify::verify;

/// A page that a batch was about to write in its place.
struct Listed<'a> {
    path: PathBuf,
    id: PageId,
    /// The page's copy. `None` where the strategy keeps no copies.
    copy: Option<&'a [u8]>,
}

/// The pages of one file that have to be looked at, with their copies.
type Pages<'a> = Vec<(PageId, Option<&'a [u8]>)>;

/// Puts back every page that is damaged in its place and whole in the doublewrite file, and makes
/// the others durable. Returns the number of the last batch in the file. This runs before anything
/// reads a page, even when doublewrite is off now, since it may have been on before.
pub(crate) fn repair(disk: &dyn Disk, config: &PoolConfig) -> Result<u64> {
    let files = files_of(disk, config)?;
    let contents = files.iter().map(|(path, pages)| Ok((disk.read(path)?, *pages)));
    let contents: Vec<(Vec<u8>, usize)> = contents.collect::<std::io::Result<_>>()?;
    let mut last_batch = 0;
    let mut newest: HashMap<(PathBuf, PageNo), (u64, Listed<'_>)> = HashMap::new();
    let areas = contents.iter().flat_map(|(bytes, pages)| {
        bytes.chunks_exact(area_bytes(*pages, config.page_size)).map(move |area| (area, *pages))
    });
    for (area, pages) in areas {
        let Some((header, batch)) = area_header(area, pages, config) else { continue };
        last_batch = last_batch.max(batch);
        for listed in pages_listed(area, header, config) {
            let key = (listed.path.clone(), listed.id.no);
            if newest.get(&key).is_none_or(|(other, _)| batch > *other) {
                newest.insert(key, (batch, listed));
            }
        }
    }
    let mut by_file: HashMap<PathBuf, Pages<'_>> = HashMap::new();
    for (_, (_, listed)) in newest {
        by_file.entry(listed.path).or_default().push((listed.id, listed.copy));
    }
    by_file.into_iter().try_for_each(|(path, pages)| repair_file(disk, config.page_size, &path, &pages))?;
    Ok(last_batch)
}

fn repair_file(disk: &dyn Disk, page_size: usize, path: &Path, pages: &Pages<'_>) -> Result<()> {
    if !disk.exists(path)? {
        // The tablespace was dropped, or it was renamed after the batch had been synced in place.
        return Ok(());
    }
    let file = disk.open(path, OpenMode::ReadWrite)?;
    let mut found = vec![0; page_size];
    let got = file.read_at(&mut found, 0)?;
    found[got..].fill(0);
    // The name may have been given to another tablespace since. The identity of page 0 is in its
    // first sector, which is never torn, and was synced before any other page of the space was
    // written.
    let space = page::id(&found).space;
    for &(id, copy) in pages.iter().filter(|(id, _)| id.space == space) {
        let offset = id.no as u64 * page_size as u64;
        let got = file.read_at(&mut found, offset)?;
        found[got..].fill(0);
        let Err(reason) = verify(&found, id) else {
            file.write_all_at(&found, offset)?;
            continue;
        };
        let place = format!("{}: page {}", path.display(), id.no);
        let Some(copy) = copy else {
            log::error!("{place} is damaged ({reason}), and innodb_doublewrite=DETECT_ONLY keeps no copies");
            continue;
        };
        log::warn!("{place} is damaged ({reason}); repaired from the doublewrite file");
        file.write_all_at(copy, offset)?;
    }
    sync_or_stop(disk, &*file)
}

/// Returns the header of an area, and its batch's number. `None` when the header is not whole: it
/// was being written when the power went, and the batch's pages had not been touched in their
/// places.
fn area_header<'a>(area: &'a [u8], capacity: usize, config: &PoolConfig) -> Option<(&'a [u8], u64)> {
    let header_len = u32_at(area, HEADER_LEN_AT) as usize;
    let sound = &area[..MAGIC.len()] == MAGIC
        && (ENTRIES_AT..=HEADER_BYTES).contains(&header_len)
        && crc32c::crc32c(&area[HEADER_LEN_AT..header_len]) == u32_at(area, CHECKSUM_AT)
        && u32_at(area, PAGE_SIZE_AT) as usize == config.page_size;
    let pages = u32_at(area, PAGES_AT) as usize;
    let fits = pages <= capacity && ENTRIES_AT + pages * ENTRY_BYTES <= header_len;
    (sound && fits).then(|| (&area[..header_len], u64_at(area, BATCH_AT)))
}

/// Returns the pages that an area lists. A page whose copy is not the listed one is left out: the
/// copy was being overwritten by a batch whose pages had not been touched in their places. What is
/// there may be an earlier copy of the same page, whole but older than its last write in place, so
/// the entry's checksum decides.
fn pages_listed<'a>(area: &'a [u8], header: &[u8], config: &PoolConfig) -> Vec<Listed<'a>> {
    let with_copies = u32_at(header, WITH_COPIES_AT) != 0;
    let entry = |index: usize| {
        let at = ENTRIES_AT + index * ENTRY_BYTES;
        let id = PageId::new(u32_at(header, at), u32_at(header, at + 4));
        let path_at = u32_at(header, at + 8) as usize;
        let path_len = header.get(path_at..path_at + 2).map(|len| u16_at(len, 0) as usize)?;
        let path = std::str::from_utf8(header.get(path_at + 2..path_at + 2 + path_len)?).ok()?;
        let copy_at = HEADER_BYTES + index * config.page_size;
        let copy = with_copies.then(|| &area[copy_at..copy_at + config.page_size]);
        if let Some(copy) = copy {
            verify(copy, id).ok()?;
            (u32_at(copy, 0) == u32_at(header, at + 12)).then_some(())?;
        }
        Some(Listed { path: config.datadir.join(path), id, copy })
    };
    (0..u32_at(header, PAGES_AT) as usize).filter_map(entry).collect()
}
