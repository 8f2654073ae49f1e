//! The slotted page: sorted entries of variable length on an index page. docs/formats/page.md has
//! the layout byte by byte.
//!
//! ```text
//! 24 count u16 | 26 skip u16 | 28 cells_start u32 | 32 garbage u32
//! 36 run i16 | 38 last_insert u16
//! 40 slots, 8 bytes each, in key order: offset u16, key length u16, head u32
//! .. free space .. cells: value length u16, key, value
//! ```
//! `skip` is the number of bytes that all keys of the page share at their beginning. A slot's
//! `head` is the four key bytes after these as a big-endian number (zeros beyond the key's end), so
//! that a search compares numbers within the slot array and touches one or two cells at its end.
//! The first key of an inner node has no part in this: it is empty, below every other, and never
//! compared.
//!
//! Invariants, which [`check`] verifies on every page that comes from disk, so that the code here
//! may index without failing: slots end at or before `cells_start`; every cell lies between it and
//! the page's end. The writer has to keep the key order and the heads right; `btree`'s validate
//! checks them.
//!
//! On inner nodes the value is a child's page number, and the first entry's key is empty: it stands
//! for everything below the second entry's key. `remove_child` keeps that so.

use std::cell::RefCell;
use std::cmp::Ordering;

use crate::page::{PAGE_HEADER_BYTES, PageNo, put_u16, put_u32, u16_at, u32_at};

pub(crate) const COUNT: usize = PAGE_HEADER_BYTES;
pub(crate) const SKIP: usize = 26;
const CELLS_START: usize = 28;
const GARBAGE: usize = 32;
const RUN: usize = 36;
const LAST_INSERT: usize = 38;
/// The byte at which the slots begin.
pub const SLOTS: usize = 40;
/// The number of bytes of one slot.
pub const SLOT_BYTES: usize = 8;
pub(crate) const CELL_HEADER_BYTES: usize = 2;

/// Returns the number of bytes that an entry takes on a page, its slot included.
#[inline]
pub const fn entry_bytes(key_len: usize, value_len: usize) -> usize {
    SLOT_BYTES + CELL_HEADER_BYTES + key_len + value_len
}

/// Returns the largest sum of key and value length that fits a page of this size. Two such entries
/// fill the page.
pub const fn max_entry_len(page_size: usize) -> usize {
    (page_size - SLOTS) / 2 - SLOT_BYTES - CELL_HEADER_BYTES
}

/// Returns the length of the longest key: an inner node has room for at least four of them.
pub const fn max_key_len(page_size: usize) -> usize {
    (page_size - SLOTS) / 4 - SLOT_BYTES - CELL_HEADER_BYTES - 4
}

/// Makes an index page, which is formatted already, empty.
pub fn init(page: &mut [u8]) {
    page[COUNT..SLOTS].fill(0);
    let len = page.len() as u32;
    put_u32(page, CELLS_START, len);
}

/// Returns the number of entries.
#[inline]
pub fn count(page: &[u8]) -> usize {
    u16_at(page, COUNT) as usize
}

#[inline]
fn skip(page: &[u8]) -> usize {
    u16_at(page, SKIP) as usize
}

#[inline]
fn cells_start(page: &[u8]) -> usize {
    u32_at(page, CELLS_START) as usize
}

#[inline]
fn slot(page: &[u8], index: usize) -> (usize, usize, u32) {
    let at = SLOTS + index * SLOT_BYTES;
    let bytes: [u8; 8] = page[at..at + 8].try_into().expect("eight bytes");
    let word = u64::from_le_bytes(bytes);
    (word as u16 as usize, (word >> 16) as u16 as usize, (word >> 32) as u32)
}

#[inline]
fn put_slot(page: &mut [u8], index: usize, offset: usize, key_len: usize, head: u32) {
    let word = offset as u64 | (key_len as u64) << 16 | (head as u64) << 32;
    let at = SLOTS + index * SLOT_BYTES;
    page[at..at + 8].copy_from_slice(&word.to_le_bytes());
}

#[inline]
pub(crate) fn head_of(key: &[u8], skip: usize) -> u32 {
    match (key.get(skip..skip + 4), key.last_chunk()) {
        (Some(bytes), _) => u32::from_be_bytes(bytes.try_into().expect("four bytes")),
        // A number as a key has four bytes, and the keys of a page begin alike. What is left of
        // it is moved to the front by a shift, because copying so few bytes costs a call.
        (None, Some(last)) => {
            let missing = (skip + 4 - key.len()).min(4) as u32;
            u32::from_be_bytes(*last).checked_shl(8 * missing).unwrap_or(0)
        }
        (None, None) => {
            let mut bytes = [0; 4];
            let rest = key.get(skip..).unwrap_or(&[]);
            bytes[..rest.len()].copy_from_slice(rest);
            u32::from_be_bytes(bytes)
        }
    }
}

/// Returns the key of entry `index`.
#[inline]
pub fn key(page: &[u8], index: usize) -> &[u8] {
    let (offset, key_len, _) = slot(page, index);
    &page[offset + CELL_HEADER_BYTES..offset + CELL_HEADER_BYTES + key_len]
}

#[inline]
fn value_range(page: &[u8], index: usize) -> std::ops::Range<usize> {
    let (offset, key_len, _) = slot(page, index);
    let start = offset + CELL_HEADER_BYTES + key_len;
    start..start + u16_at(page, offset) as usize
}

/// Returns the value of entry `index`.
#[inline]
pub fn value(page: &[u8], index: usize) -> &[u8] {
    &page[value_range(page, index)]
}

/// Returns where the key of entry `index` begins on the page, its length, and that of the value
/// behind it.
#[inline]
pub fn entry_at(page: &[u8], index: usize) -> (usize, usize, usize) {
    let (offset, key_len, _) = slot(page, index);
    (offset + CELL_HEADER_BYTES, key_len, u16_at(page, offset) as usize)
}

/// Returns the bytes of entry `index`, which are its key and then its value, and the key's length.
#[inline]
pub fn entry(page: &[u8], index: usize) -> (&[u8], usize) {
    let (offset, key_len, _) = slot(page, index);
    let start = offset + CELL_HEADER_BYTES;
    (&page[start..start + key_len + u16_at(page, offset) as usize], key_len)
}

/// Returns the value of entry `index`, to be overwritten by as many bytes.
#[inline]
pub fn value_mut(page: &mut [u8], index: usize) -> &mut [u8] {
    let range = value_range(page, index);
    &mut page[range]
}

/// Returns the child's page number in entry `index` of an inner node.
#[inline]
pub fn child(page: &[u8], index: usize) -> PageNo {
    let range = value_range(page, index);
    u32_at(page, range.start)
}

/// Returns the index of the first entry whose key is compared. An inner node's first entry is not
/// compared: it stands for everything below the second one's key.
#[inline]
fn first_compared(page: &[u8]) -> usize {
    usize::from(crate::page::level(page) > 0)
}

/// Finds `key`: returns its index, or as the error the index where it would be inserted.
#[inline]
pub fn search(page: &[u8], key: &[u8]) -> Result<usize, usize> {
    let (entries, skip, first) = (count(page), skip(page), first_compared(page));
    if entries <= first || key.is_empty() {
        return search_edge(page, key);
    }
    let head = head_of(key, skip);
    let (slots, _) = page[SLOTS..SLOTS + entries * SLOT_BYTES].as_chunks::<SLOT_BYTES>();
    let head_at = |index: usize| (u64::from_le_bytes(slots[index]) >> 32) as u32;
    let mut low = partition(first, entries, |index| head_at(index) < head);
    // Whole keys are compared on a tie, so an entry that is found is right even if the key does not
    // begin as all others here do.
    if low < entries && head_at(low) == head {
        // Mostly the first entry with the head is the only one, as with numbers as keys.
        if self::key(page, low) == key {
            return Ok(low);
        }
        let mut high = partition(low, entries, |index| head_at(index) <= head);
        while low < high {
            let middle = (low + high) / 2;
            match self::key(page, middle).cmp(key) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(middle),
            }
        }
    }
    // When the key is not found, heads mean something only if the key begins as the others do.
    let prefix = &self::key(page, first)[..skip];
    match key[..key.len().min(skip)].cmp(prefix) {
        Ordering::Less => Err(first),
        Ordering::Greater => Err(entries),
        Ordering::Equal => Err(low),
    }
}

/// Finds `key` as [`search`] does, in a leaf in which its entry is probably at `index`.
#[inline]
pub fn search_near(page: &[u8], key: &[u8], index: usize) -> Result<usize, usize> {
    debug_assert_eq!(crate::page::level(page), 0, "all keys of a leaf are compared");
    if index < count(page) && self::key(page, index) == key { Ok(index) } else { search(page, key) }
}

/// Returns the first index from `low` to `high` for which `is_before` is false. Once `is_before` is
/// false it is false for all later indexes. The loop has no branches that depend on the data, since
/// a processor would guess every other one of those wrong; the compiler has to be told.
#[inline]
pub(crate) fn partition(low: usize, high: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut base, mut len) = (low, high - low);
    while len > 1 {
        let half = len / 2;
        base = std::hint::select_unpredictable(is_before(base + half - 1), base + half, base);
        len -= half;
    }
    base + usize::from(len == 1 && is_before(base))
}

/// Searches for the empty key, and in pages with nothing to compare.
#[cold]
fn search_edge(page: &[u8], key: &[u8]) -> Result<usize, usize> {
    match (key.is_empty(), count(page)) {
        (true, 1..) if self::key(page, 0).is_empty() => Ok(0),
        (true, _) => Err(0),
        (false, entries) => Err(entries),
    }
}

/// Returns the entry of an inner node whose subtree holds `key`.
#[inline]
pub fn child_index(page: &[u8], key: &[u8]) -> usize {
    match search(page, key) {
        Ok(index) => index,
        Err(index) => index.saturating_sub(1),
    }
}

/// Returns the entry of an inner node whose subtree holds the largest keys below `key`.
pub fn child_index_below(page: &[u8], key: &[u8]) -> usize {
    match search(page, key) {
        Ok(index) | Err(index) => index.saturating_sub(1),
    }
}

/// Returns the number of bytes that entries may still take, after compaction.
#[inline]
pub fn free_bytes(page: &[u8]) -> usize {
    contiguous(page) + u32_at(page, GARBAGE) as usize
}

/// Returns the number of bytes that entries take, their slots included.
#[inline]
pub fn used_bytes(page: &[u8]) -> usize {
    page.len() - SLOTS - free_bytes(page)
}

/// Returns the length of the run of inserts that an insert at `index` would continue. It is above 0
/// for inserts that each went directly behind the one before, below 0 for inserts that each went
/// directly before the one before, and 0 where there is no such run. It is a hint for splits and is
/// in no log record.
#[inline]
pub fn run_at(page: &[u8], index: usize) -> i16 {
    let (run, last) = (u16_at(page, RUN) as i16, u16_at(page, LAST_INSERT) as usize);
    let goes_on = match run {
        1.. => index == last + 1,
        _ => index == last,
    };
    if goes_on || count(page) == 0 { run } else { 0 }
}

/// Gives the page a run that began on another page. The run's next insert will go before the first
/// entry here, or into the empty page.
pub fn set_run(page: &mut [u8], run: i16) {
    put_u16(page, RUN, run as u16);
    put_u16(page, LAST_INSERT, 0);
}

/// Gives the page the run of `source`, all of whose entries it has.
pub fn copy_run(page: &mut [u8], source: &[u8]) {
    page[RUN..SLOTS].copy_from_slice(&source[RUN..SLOTS]);
}

/// Gives the page the run of `source`, if the run's last insert is among the entries that the page
/// has: those of `source` from `at` on.
pub fn take_run(page: &mut [u8], source: &[u8], at: usize) {
    if let Some(last) = (u16_at(source, LAST_INSERT) as usize).checked_sub(at) {
        put_u16(page, RUN, u16_at(source, RUN));
        put_u16(page, LAST_INSERT, last as u16);
    }
}

/// Notes the insert at `index` that is about to be made.
#[inline]
fn note_insert(page: &mut [u8], index: usize) {
    let run = match run_at(page, index) {
        run @ 1.. => run.saturating_add(1),
        run @ ..0 => run.saturating_sub(1),
        // No run goes on: two inserts that are neighbours may begin a new one.
        0 if count(page) == 0 => 0,
        0 if index == u16_at(page, LAST_INSERT) as usize => -1,
        0 => i16::from(index == u16_at(page, LAST_INSERT) as usize + 1),
    };
    put_u16(page, RUN, run as u16);
    put_u16(page, LAST_INSERT, index as u16);
}

#[inline]
fn contiguous(page: &[u8]) -> usize {
    cells_start(page) - SLOTS - count(page) * SLOT_BYTES
}

/// Inserts an entry at `index`, the place that [`search`] returned. The caller has made sure that
/// the entry fits ([`free_bytes`]).
pub fn insert(page: &mut [u8], index: usize, key: &[u8], value: &[u8]) {
    let needed = entry_bytes(key.len(), value.len());
    assert!(needed <= free_bytes(page), "the caller checks that the entry fits");
    if needed > contiguous(page) {
        compact(page);
    }
    let entries = count(page);
    note_insert(page, index);
    let offset = put_cell(page, key, value);
    let at = SLOTS + index * SLOT_BYTES;
    page.copy_within(at..SLOTS + entries * SLOT_BYTES, at + SLOT_BYTES);
    put_u16(page, COUNT, entries as u16 + 1);
    let skip = skip(page);
    put_slot(page, index, offset, key.len(), head_of(key, skip));
    let first = first_compared(page);
    let neighbour = if index == first { (first + 1).min(entries) } else { first.min(entries) };
    // Heads are also recomputed now and then while a page fills, since only that lets `skip` rise
    // again.
    let breaks_prefix = index >= first && common_prefix(self::key(page, neighbour), key) < skip;
    if (entries + 1) & entries == 0 || breaks_prefix {
        rehead(page);
    }
}

fn put_cell(page: &mut [u8], key: &[u8], value: &[u8]) -> usize {
    let offset = cells_start(page) - CELL_HEADER_BYTES - key.len() - value.len();
    put_u16(page, offset, value.len() as u16);
    let key_at = offset + CELL_HEADER_BYTES;
    page[key_at..key_at + key.len()].copy_from_slice(key);
    page[key_at + key.len()..key_at + key.len() + value.len()].copy_from_slice(value);
    put_u32(page, CELLS_START, offset as u32);
    offset
}

fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// Recomputes `skip` and all heads. Keys are sorted, so the bytes that the first and the last key
/// share are shared by all.
fn rehead(page: &mut [u8]) {
    let (entries, first) = (count(page), first_compared(page));
    let skip = if entries <= first + 1 { 0 } else { common_prefix(key(page, first), key(page, entries - 1)) };
    put_u16(page, SKIP, skip as u16);
    for index in 0..entries {
        let (offset, key_len, _) = slot(page, index);
        let head = head_of(key(page, index), skip);
        put_slot(page, index, offset, key_len, head);
    }
}

/// Removes entry `index`.
pub fn remove(page: &mut [u8], index: usize) {
    let entries = count(page);
    let (_, key_len, _) = slot(page, index);
    let freed = CELL_HEADER_BYTES + key_len + value_range(page, index).len();
    let garbage = u32_at(page, GARBAGE) + freed as u32;
    put_u32(page, GARBAGE, garbage);
    let at = SLOTS + index * SLOT_BYTES;
    page.copy_within(at + SLOT_BYTES..SLOTS + entries * SLOT_BYTES, at);
    put_u16(page, COUNT, entries as u16 - 1);
    let last = u16_at(page, LAST_INSERT) as usize;
    match index.cmp(&last) {
        Ordering::Less => put_u16(page, LAST_INSERT, last as u16 - 1),
        Ordering::Equal => put_u16(page, RUN, 0),
        Ordering::Greater => {}
    }
    if entries == 1 {
        init(page);
    }
}

/// Puts another value into entry `index`. Returns false, with nothing changed, when the value does
/// not fit.
pub fn replace_value(page: &mut [u8], index: usize, value: &[u8]) -> bool {
    let range = value_range(page, index);
    if value.len() == range.len() {
        page[range].copy_from_slice(value);
        return true;
    }
    let (offset, key_len, _) = slot(page, index);
    if value.len() < range.len() {
        let garbage = u32_at(page, GARBAGE) + (range.len() - value.len()) as u32;
        put_u32(page, GARBAGE, garbage);
        put_u16(page, offset, value.len() as u16);
        page[range.start..range.start + value.len()].copy_from_slice(value);
        return true;
    }
    let old_cell = CELL_HEADER_BYTES + key_len + range.len();
    let new_cell = CELL_HEADER_BYTES + key_len + value.len();
    if new_cell > free_bytes(page) + old_cell {
        return false;
    }
    let key = key(page, index).to_vec();
    if new_cell <= contiguous(page) {
        let garbage = u32_at(page, GARBAGE) + old_cell as u32;
        put_u32(page, GARBAGE, garbage);
    } else {
        // The value is first shrunk to nothing, so that compaction leaves the old value out.
        put_u16(page, offset, 0);
        let garbage = u32_at(page, GARBAGE) + range.len() as u32;
        put_u32(page, GARBAGE, garbage);
        compact(page);
        // The short cell that compaction kept is garbage now. If there is no room for both cells,
        // it is compacted away with its slot.
        if new_cell > contiguous(page) {
            remove(page, index);
            compact(page);
            insert(page, index, &key, value);
            return true;
        }
        let garbage = u32_at(page, GARBAGE) + (CELL_HEADER_BYTES + key_len) as u32;
        put_u32(page, GARBAGE, garbage);
    }
    let offset = put_cell(page, &key, value);
    // Compaction may have changed how many bytes the heads skip.
    let head = head_of(&key, skip(page));
    put_slot(page, index, offset, key.len(), head);
    true
}

/// Removes all entries from `key` on. Returns true when there were any.
pub fn truncate_from(page: &mut [u8], key: &[u8]) -> bool {
    let (Ok(first) | Err(first)) = search(page, key);
    let entries = count(page);
    if first == entries && first > 0 {
        return false;
    }
    let freed: usize = (first..entries)
        .map(|index| CELL_HEADER_BYTES + self::key(page, index).len() + value_range(page, index).len())
        .sum();
    let garbage = u32_at(page, GARBAGE) + freed as u32;
    put_u32(page, GARBAGE, garbage);
    put_u16(page, COUNT, first as u16);
    if u16_at(page, LAST_INSERT) as usize >= first {
        put_u16(page, RUN, 0);
    }
    if first == 0 {
        init(page);
    }
    compact(page);
    first < entries
}

/// Removes entry `index` of an inner node. When it was the first, the new first entry's key becomes
/// empty.
pub fn remove_child(page: &mut [u8], index: usize) {
    remove(page, index);
    if index == 0 && count(page) > 0 {
        let child = child(page, 0);
        remove(page, 0);
        insert(page, 0, &[], &child.to_le_bytes());
    }
}

/// Appends entries `from..` of `source`. The caller has made sure that they fit and are above all
/// keys here.
pub fn append_all(page: &mut [u8], source: &[u8], from: usize) {
    let hint: [u8; SLOTS - RUN] = page[RUN..SLOTS].try_into().expect("four bytes");
    for index in from..count(source) {
        let at = count(page);
        insert(page, at, key(source, index), value(source, index));
    }
    page[RUN..SLOTS].copy_from_slice(&hint);
}

thread_local! {
    /// A buffer in which pages are rebuilt.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Moves the cells together, in key order, so that all free space is in one piece, and recomputes
/// the heads.
pub fn compact(page: &mut [u8]) {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.clear();
        scratch.extend_from_slice(page);
        let len = page.len() as u32;
        put_u32(page, CELLS_START, len);
        put_u32(page, GARBAGE, 0);
        for index in (0..count(scratch)).rev() {
            let (_, key_len, head) = slot(scratch, index);
            let offset = put_cell(page, key(scratch, index), value(scratch, index));
            put_slot(page, index, offset, key_len, head);
        }
    });
    rehead(page);
}

/// Returns where the free space in the middle of a page begins and ends. An image must hold
/// everything before and after it.
pub(crate) fn image_bounds(page: &[u8]) -> (usize, usize) {
    (SLOTS + count(page) * SLOT_BYTES, cells_start(page))
}

/// Checks an index page read from disk: makes sure that no access of this module can leave the
/// page.
///
/// # Errors
/// Returns what is wrong, as the middle of a sentence.
pub fn check(page: &[u8]) -> Result<(), &'static str> {
    let (entries, start) = (count(page), cells_start(page));
    if start > page.len() || SLOTS + entries * SLOT_BYTES > start {
        return Err("its slots and cells overlap");
    }
    let skip = skip(page);
    let mut cell_bytes = 0;
    for index in 0..entries {
        let (offset, key_len, _) = slot(page, index);
        if offset < start || offset + CELL_HEADER_BYTES + key_len > page.len() {
            return Err("a key lies outside of the cells");
        }
        let end = offset + CELL_HEADER_BYTES + key_len + u16_at(page, offset) as usize;
        if end > page.len() {
            return Err("a value lies outside of the cells");
        }
        if key_len < skip && index >= first_compared(page) {
            return Err("a key is shorter than what all keys share");
        }
        if crate::page::level(page) > 0 && end - offset != CELL_HEADER_BYTES + key_len + 4 {
            return Err("an inner node's entry names no child");
        }
        cell_bytes += end - offset;
    }
    if page.len() - start != cell_bytes + u32_at(page, GARBAGE) as usize {
        return Err("its cells and its count of garbage do not add up");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
