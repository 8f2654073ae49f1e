//! How a log is made, and how one is opened: its end is found.
//!
//! The end is the first position from the checkpoint on where no record with a right checksum lies.
//! What a crash left beyond the end was never acknowledged, since a sync covers everything before
//! it. It also must never come back: a record there would be taken for the successor of a new
//! record that happens to end where it begins. So every opening begins a new *life*: a random seed
//! that goes into the checksum of every record from the end on. The seed is made durable (with the
//! end, in a checkpoint slot) before the first of these records is written. Whatever lies beyond
//! carries an older life's seed, or an older lap's position, and is no record any more.
//!
//! There is one exception: if a later record says that the end had been durable
//! ([`Frame::durable_lsn`]), a record is damaged and what follows it was acknowledged. Opening is
//! then refused. Only damage to the last records of a log goes unnoticed.
//!
//! The records that no other record says were durable are then written over themselves and synced.
//! Their bytes may be only in the kernel's page cache. The server that wrote them may have been
//! killed before it synced them, or may have stopped because a sync had failed, after which Linux
//! reports success for pages that never reached the disk. Only bytes written anew are certain to be
//! synced.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use os::disk::Disk;

use crate::checkpoint::{Checkpoint, Life, Lives, Slot, Slots};
use crate::core::{Core, Start};
use crate::files::{Files, log_dir};
use crate::frame::{FRAME_BYTES, Frame};
use crate::{LogConfig, Lsn, RedoError, START_LSN, checksum};

/// The number of bytes that are read (and written back) at a time.
const SCAN_BYTES: usize = 1 << 20;
/// Noted stretches with at most this many bytes between them are joined. That leaves so few that
/// they take hardly any memory.
const JOINED_BYTES: u64 = 64 << 10;

pub(crate) fn create(disk: Arc<dyn Disk>, config: &LogConfig) -> Result<Core, RedoError> {
    let dir = log_dir(&config.dir);
    let has_parent = disk.is_dir(&config.dir)?;
    disk.create_dir_all(&dir)?;
    disk.sync_dir(&config.dir)?;
    if !has_parent {
        disk.sync_dir(config.dir.parent().unwrap_or(Path::new("")))?;
    }
    let slots = Slots::new(Arc::clone(&disk), &dir);
    if slots.newest()?.is_some() {
        return Err(RedoError::Exists(dir));
    }
    let log_id = os::random::u64();
    let files = Files::new(Arc::clone(&disk), dir, log_id, config.capacity());
    files.clear()?;
    files.find_or_make(START_LSN)?;
    let lives = Lives::new(Life { start_lsn: START_LSN, seed: os::random::u64() });
    let checkpoint = Checkpoint { lsn: START_LSN, state: Vec::new() };
    // The slot comes last: without it there is no log, and a creation that a crash interrupted is
    // simply repeated.
    slots.write(&Slot { sequence: 1, log_id, lives: lives.clone(), checkpoint })?;
    let start = Start { end_lsn: START_LSN, checkpoint_lsn: START_LSN, sequence: 1, log_id, lives };
    Ok(Core::new(disk, config, files, slots, start))
}

/// Opens the log. Also returns stretches of whole records that have all the wanted records:
/// `wanted` decides by a record's kind and the first bytes of its payload.
pub(crate) fn open(
    disk: Arc<dyn Disk>,
    config: &LogConfig,
    wanted: &mut dyn FnMut(u8, &[u8]) -> bool,
) -> Result<(Core, Checkpoint, Vec<Range<Lsn>>), RedoError> {
    let dir = log_dir(&config.dir);
    let slots = Slots::new(Arc::clone(&disk), &dir);
    if !slots.exist()? {
        return Err(RedoError::Missing(dir));
    }
    let Some(newest) = slots.newest()? else {
        return Err(RedoError::Corrupt(format!("{}: neither checkpoint is whole", dir.display())));
    };
    // The process may have been killed between writing this slot and syncing it. The next slot
    // overwrites the older one, so this one must be durable first.
    slots.write(&newest)?;
    let Slot { sequence, log_id, mut lives, checkpoint } = newest;
    let files = Files::new(Arc::clone(&disk), dir, log_id, config.capacity());
    files.load(checkpoint.lsn)?;
    let scan = Scan { files: &files, lives: &lives };
    let Found { end_lsn, durable_lsn, noted } = scan.find_end(checkpoint.lsn, wanted)?;
    scan.check_end(end_lsn)?;
    rewrite(&files, durable_lsn, end_lsn)?;
    // The new life may begin only now, with the end durable: a slot that says "from here on" must
    // never be older than the records before that position.
    lives.begin(Life { start_lsn: end_lsn, seed: os::random::u64() });
    let sequence = sequence + 1;
    slots.write(&Slot { sequence, log_id, lives: lives.clone(), checkpoint: checkpoint.clone() })?;
    let start = Start { end_lsn, checkpoint_lsn: checkpoint.lsn, sequence, log_id, lives };
    Ok((Core::new(disk, config, files, slots, start), checkpoint, noted))
}

/// The results of a scan.
struct Found {
    /// The first position at which there is no record.
    end_lsn: Lsn,
    /// The position up to which the records say that a sync had succeeded.
    durable_lsn: Lsn,
    noted: Vec<Range<Lsn>>,
}

impl Found {
    fn note(&mut self, record: Range<Lsn>) {
        match self.noted.last_mut() {
            Some(last) if record.start - last.end <= JOINED_BYTES => last.end = record.end,
            _ => self.noted.push(record),
        }
    }
}

struct Scan<'a> {
    files: &'a Files,
    lives: &'a Lives,
}

impl Scan<'_> {
    /// Goes through the records from `lsn` on, up to the first position without a record.
    fn find_end(&self, lsn: Lsn, wanted: &mut dyn FnMut(u8, &[u8]) -> bool) -> Result<Found, RedoError> {
        let mut window = Window { start_lsn: lsn, bytes: Vec::new() };
        let mut found = Found { end_lsn: lsn, durable_lsn: lsn, noted: Vec::new() };
        let mut is_wanted;
        loop {
            let lsn = found.end_lsn;
            is_wanted = false;
            let look = &mut |kind, head: &[u8]| is_wanted = wanted(kind, head);
            let Some(frame) = self.record_at(lsn, &mut window, look)? else { return Ok(found) };
            found.durable_lsn = found.durable_lsn.max(frame.durable_lsn(lsn).unwrap_or(0));
            found.end_lsn += frame.total_bytes();
            if is_wanted {
                found.note(lsn..found.end_lsn);
            }
        }
    }

    /// Refuses the end if a record not far behind it says that everything up to the first record
    /// found behind the end was durable once. (Durability only up to some point in between does not
    /// suffice, since a long record may be durable in part.)
    fn check_end(&self, end_lsn: Lsn) -> Result<(), RedoError> {
        let mut bytes = vec![0; SCAN_BYTES / 2];
        let got = read_stream(self.files, end_lsn, &mut bytes)?;
        let mut window = Window { start_lsn: end_lsn, bytes: Vec::new() };
        let (mut first_lsn, mut next_lsn) = (None, end_lsn + 1);
        for (at, bytes) in bytes[..got].windows(FRAME_BYTES).enumerate().skip(1) {
            // Records that are found are gone through one after the other. Where none was found, a
            // record may begin at any byte.
            let mut lsn = end_lsn + at as u64;
            if lsn < next_lsn || Frame::decode(bytes.try_into().expect("a frame's length"), lsn).is_none() {
                continue;
            }
            while let Some(frame) = self.record_at(lsn, &mut window, &mut |_, _| ())? {
                let first_lsn = *first_lsn.get_or_insert(lsn);
                if frame.durable_lsn(lsn).is_some_and(|durable_lsn| durable_lsn >= first_lsn) {
                    return Err(self.damaged(end_lsn, lsn));
                }
                lsn += frame.total_bytes();
                next_lsn = lsn;
            }
        }
        Ok(())
    }

    fn damaged(&self, end_lsn: Lsn, later_lsn: Lsn) -> RedoError {
        let place = match self.files.find(end_lsn) {
            Some(file) => format!("{}: offset {}", file.file.path().display(), file.offset(end_lsn)),
            None => "the log".to_owned(),
        };
        RedoError::Corrupt(format!(
            "{place}: the record at LSN {end_lsn} is damaged; it was durable before the one at LSN {later_lsn} was written"
        ))
    }

    /// Returns the frame of the record at `lsn`. The record is checked piece by piece, so that a
    /// large one takes no more memory. `look` is called with its kind and the first piece, before
    /// the whole record is checked.
    fn record_at(
        &self,
        lsn: Lsn,
        window: &mut Window,
        look: &mut dyn FnMut(u8, &[u8]),
    ) -> Result<Option<Frame>, RedoError> {
        let Some(bytes) = window.get(self.files, lsn, FRAME_BYTES)? else { return Ok(None) };
        let Some(frame) = Frame::decode(bytes.try_into().expect("as asked"), lsn) else { return Ok(None) };
        let seed = self.lives.seed_at(lsn);
        let mut checksum = frame.begin_check(seed, lsn);
        let (first, end) = (lsn + FRAME_BYTES as u64, lsn + frame.total_bytes());
        let mut at = first;
        while at < end {
            let part = (end - at).min(SCAN_BYTES as u64 / 2);
            let Some(bytes) = window.get(self.files, at, part as usize)? else { return Ok(None) };
            if at == first {
                look(frame.kind, bytes);
            }
            checksum = checksum::append(checksum, bytes);
            at += part;
        }
        Ok(frame.ends_check(checksum).then_some(frame))
    }
}

/// A stretch of the log in memory.
struct Window {
    start_lsn: Lsn,
    bytes: Vec<u8>,
}

impl Window {
    /// Returns the `len` bytes at `lsn`, or `None` where the files end before. `len` is at most
    /// half of `SCAN_BYTES`.
    fn get(&mut self, files: &Files, lsn: Lsn, len: usize) -> Result<Option<&[u8]>, RedoError> {
        let end = self.start_lsn + self.bytes.len() as u64;
        if lsn < self.start_lsn || lsn + len as u64 > end {
            self.bytes.resize(SCAN_BYTES, 0);
            let got = read_stream(files, lsn, &mut self.bytes)?;
            self.bytes.truncate(got);
            self.start_lsn = lsn;
        }
        let from = (lsn - self.start_lsn) as usize;
        Ok(self.bytes.get(from..from + len))
    }
}

/// Reads the stream from `lsn` across files, and returns how many bytes there were.
pub(crate) fn read_stream(files: &Files, lsn: Lsn, bytes: &mut [u8]) -> Result<usize, RedoError> {
    let mut filled = 0;
    while filled < bytes.len() {
        let at = lsn + filled as u64;
        let Some(file) = files.find(at) else { break };
        let len = (bytes.len() - filled).min((file.end_lsn() - at) as usize);
        file.file.read_exact_at(&mut bytes[filled..filled + len], file.offset(at))?;
        filled += len;
    }
    Ok(filled)
}

/// Writes `from..to` over itself and syncs it: see the module's head.
fn rewrite(files: &Files, from: Lsn, to: Lsn) -> Result<(), RedoError> {
    let mut bytes = vec![0; SCAN_BYTES.min((to - from) as usize)];
    for file in files.overlapping(from, to) {
        let (mut at, end) = (from.max(file.start_lsn), to.min(file.end_lsn()));
        while at < end {
            let part = &mut bytes[..SCAN_BYTES.min((end - at) as usize)];
            file.file.read_exact_at(part, file.offset(at))?;
            file.file.write_all_at(part, file.offset(at))?;
            at += part.len() as u64;
        }
        file.file.sync_data()?;
    }
    Ok(())
}
