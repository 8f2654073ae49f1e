//! The log's files: `#innodb_redo/#ib_redoN`, each a stretch of the stream behind a header of 4 KB.
//!
//! A file is made ready before it is used: it is filled with zeros (so that a sync of later writes
//! needs no metadata), given the header that says which stretch it holds, synced, and renamed, and
//! its directory is synced. Only then does it join the set. Files whose stretch a checkpoint has
//! passed are retired. The governor makes them the next files, or removes them.
//!
//! Lock order: `making` before `set`; nothing else is locked while `set` is held, and no file
//! operation is done under it.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use os::aligned::AlignedBuffer;
use os::disk::{Access, Disk, File, OpenMode};
use os::sync::Mutex;
use os::sync::atomic::{AtomicU64, Ordering};

use crate::{LogConfig, Lsn, RedoError};

pub(crate) const HEADER_BYTES: u64 = 4096;
const MAGIC: &[u8; 8] = b"SLIPREDO";
const VERSION: u32 = 1;
const HEADER_USED_BYTES: usize = 52;
const NAME: &str = "#ib_redo";
const TMP: &str = "_tmp";

/// Returns the directory of a log inside the data directory.
pub(crate) fn log_dir(dir: &Path) -> PathBuf {
    dir.join("#innodb_redo")
}

/// A file of the log, and the stretch of the stream that it holds.
#[derive(Debug)]
pub(crate) struct LogFile {
    pub number: u64,
    pub start_lsn: Lsn,
    pub data_bytes: u64,
    pub file: Arc<dyn File>,
}

impl LogFile {
    pub fn end_lsn(&self) -> Lsn {
        self.start_lsn + self.data_bytes
    }

    pub fn offset(&self, lsn: Lsn) -> u64 {
        debug_assert!(lsn >= self.start_lsn && lsn <= self.end_lsn());
        HEADER_BYTES + (lsn - self.start_lsn)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    number: u64,
    start_lsn: Lsn,
    data_bytes: u64,
    log_id: u64,
}

impl Header {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES as usize];
        bytes[0..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.number.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.start_lsn.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.data_bytes.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.log_id.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..48]);
        bytes[48..52].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; HEADER_USED_BYTES]) -> Result<Header, String> {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let half = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        if &bytes[0..8] != MAGIC {
            return Err("its header is not a log file's".into());
        }
        if half(8) != VERSION {
            return Err(format!("its format is version {}, this server knows {VERSION}", half(8)));
        }
        if half(48) != crc32c::crc32c(&bytes[..48]) {
            return Err("the checksum of its header is wrong".into());
        }
        Ok(Header { number: word(16), start_lsn: word(24), data_bytes: word(32), log_id: word(40) })
    }
}

#[derive(Debug, Default)]
struct Set {
    /// The files in use and those made ahead. They are contiguous: each file starts where the one
    /// before ends.
    live: VecDeque<Arc<LogFile>>,
    /// The files that a checkpoint has passed, which wait to be recycled or removed.
    retired: Vec<Arc<LogFile>>,
}

/// All files of a log.
#[derive(Debug)]
pub(crate) struct Files {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    log_id: u64,
    /// The disk space in bytes that all files together are to take. Relaxed: the governor looks
    /// again after every change.
    capacity_bytes: AtomicU64,
    /// Held while a file is made, so that two threads do not make the same one.
    making: Mutex<()>,
    set: Mutex<Set>,
}

impl Files {
    /// Makes the state without any files. `dir` is the log's own directory and exists.
    pub fn new(disk: Arc<dyn Disk>, dir: PathBuf, log_id: u64, capacity: u64) -> Files {
        let capacity_bytes = AtomicU64::new(capacity);
        Files { disk, dir, log_id, capacity_bytes, making: Mutex::new(()), set: Mutex::default() }
    }

    /// Sets the capacity that decides the size of files made from now on. Files of another size are
    /// removed when the log has left them behind.
    pub fn set_capacity(&self, bytes: u64) {
        self.capacity_bytes.store(bytes, Ordering::Relaxed);
    }

    fn file_bytes(&self) -> u64 {
        LogConfig::file_bytes(self.capacity_bytes.load(Ordering::Relaxed))
    }

    /// Removes the files of a creation that a crash interrupted.
    pub fn clear(&self) -> Result<(), RedoError> {
        for path in self.disk.list(&self.dir)? {
            if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(NAME)) {
                self.disk.remove(&path)?;
            }
        }
        Ok(())
    }

    /// Takes over the files on disk that belong to this log and hold `from_lsn` or later positions.
    /// Leftovers of interrupted recycling are removed.
    pub fn load(&self, from_lsn: Lsn) -> Result<(), RedoError> {
        let mut found = Vec::new();
        for path in self.disk.list(&self.dir)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(number) = name.strip_prefix(NAME) else { continue };
            if number.ends_with(TMP) {
                self.disk.remove(&path)?;
            } else if let Ok(number) = number.parse::<u64>() {
                found.extend(self.load_one(&path, number, from_lsn)?);
            }
        }
        found.sort_by_key(|file| file.number);
        let mut live: VecDeque<Arc<LogFile>> = VecDeque::new();
        for file in found {
            let follows = live
                .back()
                .is_none_or(|last| last.end_lsn() == file.start_lsn && last.number + 1 == file.number);
            match follows {
                true => live.push_back(Arc::new(file)),
                false => {
                    // Only files made ahead can follow a gap: a crash lost the renaming of their
                    // predecessor.
                    self.disk.remove(file.file.path())?;
                }
            }
        }
        let place = match (live.front(), live.back()) {
            (Some(first), Some(last)) if first.start_lsn <= from_lsn && last.end_lsn() >= from_lsn => {
                self.set.lock().live = live;
                return Ok(());
            }
            (Some(first), Some(last)) => format!("files hold {}..{}", first.start_lsn, last.end_lsn()),
            _ => "there is no log file".into(),
        };
        let dir = self.dir.display();
        Err(RedoError::Corrupt(format!("{dir}: the log from {from_lsn} on is missing: {place}")))
    }

    /// Opens the file. Returns `None`, and removes the file, when it is not needed any more.
    fn load_one(&self, path: &Path, number: u64, from_lsn: Lsn) -> Result<Option<LogFile>, RedoError> {
        let file = self.disk.open(path, OpenMode::ReadWrite)?;
        let mut bytes = [0; HEADER_USED_BYTES];
        let decoded = match file.read_at(&mut bytes, 0)? {
            HEADER_USED_BYTES => Header::decode(&bytes),
            got => Err(format!("it has {got} bytes")),
        };
        let header = decoded.map_err(|what| RedoError::Corrupt(format!("{}: {what}", path.display())))?;
        if header.log_id != self.log_id {
            return Err(RedoError::Corrupt(format!("{} belongs to another log", path.display())));
        }
        // When name and header disagree, the file was being recycled and its renaming was lost. Its
        // old stretch is not needed.
        if header.number != number || header.start_lsn.saturating_add(header.data_bytes) < from_lsn {
            self.disk.remove(path)?;
            return Ok(None);
        }
        let wanted = HEADER_BYTES.checked_add(header.data_bytes);
        if wanted.is_none_or(|wanted| file.len_bytes().is_ok_and(|len| len < wanted)) {
            let (path, len) = (path.display(), file.len_bytes()?);
            return Err(RedoError::Corrupt(format!("{path} ends after {len} bytes, its header says more")));
        }
        let Header { start_lsn, data_bytes, .. } = header;
        Ok(Some(LogFile { number, start_lsn, data_bytes, file }))
    }

    /// Returns the file that holds the byte at `lsn`, if there is one.
    pub fn find(&self, lsn: Lsn) -> Option<Arc<LogFile>> {
        let set = self.set.lock();
        let index = set.live.partition_point(|file| file.end_lsn() <= lsn);
        set.live.get(index).filter(|file| file.start_lsn <= lsn).cloned()
    }

    /// Returns the files that hold bytes of `from..to`, in order.
    pub fn overlapping(&self, from: Lsn, to: Lsn) -> Vec<Arc<LogFile>> {
        let set = self.set.lock();
        set.live.iter().filter(|file| file.start_lsn < to && file.end_lsn() > from).cloned().collect()
    }

    /// Returns the oldest position that is still in the log.
    pub fn oldest_lsn(&self) -> Lsn {
        self.set.lock().live.front().map_or(0, |file| file.start_lsn)
    }

    /// Returns the disk space in bytes of all files, those waiting to be recycled included.
    pub fn size_bytes(&self) -> u64 {
        total_bytes(&self.set.lock())
    }

    /// Reports whether there are files from a time when the capacity was larger.
    pub fn have_too_large(&self) -> bool {
        let data_bytes = self.file_bytes() - HEADER_BYTES;
        let set = self.set.lock();
        set.live.iter().chain(&set.retired).any(|file| file.data_bytes > data_bytes)
    }

    /// Returns the file for the byte at `lsn`, and makes it if it does not exist. `lsn` is at most
    /// the end of the last file.
    pub fn find_or_make(&self, lsn: Lsn) -> Result<Arc<LogFile>, RedoError> {
        if let Some(file) = self.find(lsn) {
            return Ok(file);
        }
        let _making = self.making.lock();
        if let Some(file) = self.find(lsn) {
            return Ok(file);
        }
        let made = self.make_next(lsn)?;
        assert!(made.start_lsn == lsn, "the file after {lsn} starts at {}", made.start_lsn);
        Ok(made)
    }

    /// Removes the last file if it was made ahead for another capacity and the log, which ends at
    /// `end_lsn()`, has not come to it.
    ///
    /// # Errors
    /// Returns an error when the file cannot be removed. It is no part of the log any more even
    /// then.
    pub fn unmake_ahead(&self, end_lsn: impl Fn() -> Lsn) -> Result<(), RedoError> {
        // Until the file is gone nobody may make its successor, which gets the same number and
        // name.
        let _making = self.making.lock();
        let data_bytes = self.file_bytes() - HEADER_BYTES;
        let unused = {
            let mut set = self.set.lock();
            // A writer looks for its file under the same lock, and only when the log has come to
            // it.
            let unused = |file: &Arc<LogFile>| file.data_bytes != data_bytes && file.start_lsn > end_lsn();
            match set.live.len() > 1 && set.live.back().is_some_and(unused) {
                true => set.live.pop_back(),
                false => None,
            }
        };
        match unused {
            Some(file) => Ok(self.disk.remove(&self.path_of(&file))?),
            None => Ok(()),
        }
    }

    /// Makes a file ahead if no file follows the one that the byte at `lsn` is in. Returns whether
    /// it made one.
    pub fn make_ahead(&self, lsn: Lsn) -> Result<bool, RedoError> {
        let _making = self.making.lock();
        let last_end = self.set.lock().live.back().map(|file| (file.start_lsn, file.end_lsn()));
        match last_end {
            Some((start, _)) if start > lsn => Ok(false),
            Some((_, end)) => self.make_next(end).map(|_| true),
            None => self.make_next(lsn).map(|_| true),
        }
    }

    /// Makes the file after the last one, out of a retired one if there is one. The caller holds
    /// `making`. `start_lsn` matters only for the very first file.
    fn make_next(&self, start_lsn: Lsn) -> Result<Arc<LogFile>, RedoError> {
        let (number, start_lsn, old) = {
            let mut set = self.set.lock();
            let last = set.live.back();
            let (number, start_lsn) = last.map_or((0, start_lsn), |last| (last.number + 1, last.end_lsn()));
            (number, start_lsn, set.retired.pop())
        };
        let file_bytes = self.file_bytes();
        let data_bytes = file_bytes - HEADER_BYTES;
        let path = self.dir.join(format!("{NAME}{number}"));
        let tmp = self.dir.join(format!("{NAME}{number}{TMP}"));
        let reused = match old {
            Some(old) if old.data_bytes == data_bytes => {
                self.disk.rename(&self.path_of(&old), &tmp)?;
                true
            }
            Some(old) => {
                self.disk.remove(&self.path_of(&old))?;
                false
            }
            None => false,
        };
        let file = self.open_past_cache(&tmp)?;
        if !reused {
            fill_with_zeros(&*file, file_bytes)?;
        }
        let header = Header { number, start_lsn, data_bytes, log_id: self.log_id };
        file.write_all_at(&header.encode(), 0)?;
        file.sync_data()?;
        self.disk.rename(&tmp, &path)?;
        self.disk.sync_dir(&self.dir)?;
        let file = self.disk.open(&path, OpenMode::ReadWrite)?;
        let made = Arc::new(LogFile { number, start_lsn, data_bytes, file });
        self.set.lock().live.push_back(Arc::clone(&made));
        Ok(made)
    }

    /// Opens a file that is to be filled with zeros, past the page cache if that is possible. The
    /// cache would only cost copies, and it would keep the zeros in units of a megabyte, where each
    /// short write of the log later costs the kernel a walk over the whole unit.
    fn open_past_cache(&self, path: &Path) -> std::io::Result<Arc<dyn File>> {
        match self.disk.open_with(path, OpenMode::OpenOrCreate, Access::Direct { native_aio: false }) {
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                self.disk.open(path, OpenMode::OpenOrCreate)
            }
            opened => opened,
        }
    }

    fn path_of(&self, file: &LogFile) -> PathBuf {
        self.dir.join(format!("{NAME}{}", file.number))
    }

    /// Retires the files that lie wholly before `lsn`, and returns whether there were any. The last
    /// file stays, so that the position of the next one is known.
    pub fn retire_before(&self, lsn: Lsn) -> bool {
        let mut set = self.set.lock();
        let mut any = false;
        while set.live.len() > 1 && set.live[0].end_lsn() <= lsn {
            let file = set.live.pop_front().expect("more than one");
            set.retired.push(file);
            any = true;
        }
        any
    }

    /// Removes retired files that are not wanted for recycling.
    pub fn remove_surplus(&self) -> Result<(), RedoError> {
        let _making = self.making.lock();
        loop {
            let surplus = {
                let data_bytes = self.file_bytes() - HEADER_BYTES;
                let mut set = self.set.lock();
                let is_full = total_bytes(&set) > self.capacity_bytes.load(Ordering::Relaxed);
                let surplus = set.retired.iter().rposition(|file| is_full || file.data_bytes != data_bytes);
                surplus.map(|at| set.retired.swap_remove(at))
            };
            let Some(file) = surplus else { return Ok(()) };
            self.disk.remove(&self.path_of(&file))?;
        }
    }
}

fn total_bytes(set: &Set) -> u64 {
    set.live.iter().chain(&set.retired).map(|file| HEADER_BYTES + file.data_bytes).sum()
}

fn fill_with_zeros(file: &dyn File, len_bytes: u64) -> Result<(), RedoError> {
    let zeros = AlignedBuffer::zeroed((1 << 20).min(len_bytes as usize));
    let mut at = 0;
    while at < len_bytes {
        let part = (zeros.len() as u64).min(len_bytes - at);
        file.write_all_at(&zeros[..part as usize], at)?;
        at += part;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use os::sim::SimDisk;

    use super::*;

    #[test]
    fn a_header_is_refused_by_any_flipped_byte() {
        let header = Header { number: 3, start_lsn: 8192, data_bytes: 4096, log_id: 9 };
        let bytes: [u8; HEADER_USED_BYTES] = header.encode()[..HEADER_USED_BYTES].try_into().unwrap();
        assert_eq!(Header::decode(&bytes).unwrap(), header);
        for at in (0..12).chain(16..52) {
            let mut damaged = bytes;
            damaged[at] ^= 0x10;
            assert!(Header::decode(&damaged).is_err(), "byte {at}");
        }
    }

    #[test]
    fn files_follow_each_other_are_recycled_and_found_again() {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(1));
        let dir = PathBuf::from("/log");
        disk.create_dir_all(&dir).unwrap();
        let open = || Files::new(Arc::clone(&disk), dir.clone(), 5, 4 << 20);
        let files = open();
        let data = (1 << 20) - HEADER_BYTES;
        assert_eq!(files.find_or_make(8192).unwrap().number, 0);
        assert!(files.make_ahead(8192).unwrap());
        assert!(!files.make_ahead(8192).unwrap());
        assert_eq!(files.find(8192 + data).unwrap().number, 1);
        assert!(files.retire_before(8192 + data));
        assert_eq!(files.find_or_make(8192 + 2 * data).unwrap().number, 2);
        let names: Vec<_> = disk.list(&dir).unwrap();
        assert_eq!(names, vec![dir.join("#ib_redo1"), dir.join("#ib_redo2")], "file 0 became file 2");
        let again = open();
        again.load(8192 + data + 5).unwrap();
        assert_eq!(again.overlapping(0, u64::MAX).len(), 2);
        assert!(matches!(open().load(8192), Err(RedoError::Corrupt(_))), "the start is gone");
    }
}
