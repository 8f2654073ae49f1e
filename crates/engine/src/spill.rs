//! Spill files: what a transaction logs when it is too large for memory and for the log.
//!
//! The event group of a transaction, a session's or a source's, grows in memory up to
//! `EngineConfig::spill_bytes` and then goes to a file of its own, `#innodb_spill/NUMBER`. At
//! commit the sidecar follows, the file is synced, and the commit record names the file instead of
//! holding group and sidecar. So the record is small, and writing it holds nobody up (decision
//! 0007). Row images that the group does not have as a whole go to a second file, which nobody
//! needs once the rows are on their pages.
//!
//! A file is removed with a transaction that does not commit. The group file of a commit stays
//! until a checkpoint no longer needs the commit ([`crate::checkpoint`]). Recovery removes the
//! files that a crash leaves without a commit.
//!
//! Invariant: the file and its name are durable before the commit record is in the log.

use crate::bytes::{Put, Reader};
use crate::commit::position::CommitMark;
use crate::config::EngineConfig;
use crate::error::{EngineError, Result};
use crate::files::io_error;
use os::disk::{Disk, File, OpenMode};
use parking_lot::Mutex;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The directory of spill files, in the data directory.
const DIRECTORY: &str = "#innodb_spill";

/// The number of bytes that are read or written at once.
const BLOCK_BYTES: usize = 1 << 20;

/// Returns the path of a spill file in a data directory.
pub(crate) fn path_of(datadir: &Path, number: u64) -> PathBuf {
    datadir.join(DIRECTORY).join(number.to_string())
}

/// The image that a row gets.
#[derive(Clone, Debug)]
pub(crate) enum NewImage {
    Here(Vec<u8>),
    /// The image is in a spill file, at this byte offset.
    Spilled {
        part: SpillPart,
        at: u64,
        len: u32,
    },
}

/// One of a transaction's spill files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpillPart {
    /// The file of the event group.
    Group,
    /// The file of the images that the group does not have.
    Images,
}

impl NewImage {
    pub fn len(&self) -> usize {
        match self {
            NewImage::Here(image) => image.len(),
            NewImage::Spilled { len, .. } => *len as usize,
        }
    }
}

/// The spill file of a running transaction. It is removed when this value is dropped, unless it was
/// kept.
pub(crate) struct SpillFile {
    disk: Arc<dyn Disk>,
    file: Arc<dyn File>,
    path: PathBuf,
    number: u64,
    len: u64,
    /// The checksum of the bytes before `checked_len`.
    crc: u32,
    checked_len: u64,
    kept: bool,
}

impl SpillFile {
    fn create(config: &EngineConfig, number: u64) -> Result<SpillFile> {
        let dir = config.datadir.join(DIRECTORY);
        if !config.disk.is_dir(&dir).map_err(|error| io_error(&dir, error))? {
            config.disk.create_dir_all(&dir).map_err(|error| io_error(&dir, error))?;
            config.disk.sync_dir(&config.datadir).map_err(|error| io_error(&config.datadir, error))?;
        }
        let path = path_of(&config.datadir, number);
        let opened = config.disk.open(&path, OpenMode::CreateNew);
        let file = opened.map_err(|error| io_error(&path, error))?;
        let disk = config.disk.clone();
        Ok(SpillFile { disk, file, path, number, len: 0, crc: 0, checked_len: 0, kept: false })
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// Appends bytes, and brings each block to storage before it writes the next. Writing
    /// everything back only at the commit, or one sync of many blocks, would hold up the log's
    /// syncs.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        for (block, number) in bytes.chunks(BLOCK_BYTES).zip(0u64..) {
            let at = self.len + number * BLOCK_BYTES as u64;
            self.file.write_all_at(block, at).map_err(|error| io_error(&self.path, error))?;
            self.file.write_back(at, block.len() as u64);
        }
        if self.checked_len == self.len {
            self.crc = crc32c::crc32c_append(self.crc, bytes);
            self.checked_len += bytes.len() as u64;
        }
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Forgets the bytes from offset `len` on.
    pub fn truncate(&mut self, len: u64) {
        self.len = self.len.min(len);
        if self.checked_len > self.len {
            (self.crc, self.checked_len) = (0, 0);
        }
    }

    pub fn read(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(at, len, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads bytes in place of those in `into`.
    fn read_into(&self, at: u64, len: usize, into: &mut Vec<u8>) -> Result<()> {
        assert!(at + len as u64 <= self.len, "what is read of a spill file was written");
        into.resize(len, 0);
        self.file.read_exact_at(into, at).map_err(|error| io_error(&self.path, error))
    }

    /// Makes the content and the name durable. Returns the checksum of the content.
    pub fn make_durable(&mut self) -> Result<u32> {
        let failed = |error| io_error(&self.path, error);
        self.file.set_len(self.len).map_err(failed)?;
        let mut block = vec![0; BLOCK_BYTES.min((self.len - self.checked_len) as usize)];
        while self.checked_len < self.len {
            let part = &mut block[..BLOCK_BYTES.min((self.len - self.checked_len) as usize)];
            self.file.read_exact_at(part, self.checked_len).map_err(failed)?;
            self.crc = crc32c::crc32c_append(self.crc, part);
            self.checked_len += part.len() as u64;
        }
        self.sync()?;
        let dir = self.path.parent().unwrap_or(Path::new(""));
        self.disk.sync_dir(dir).map_err(|error| self.fail(error))?;
        Ok(self.crc)
    }

    fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| self.fail(error))
    }

    fn fail(&self, error: std::io::Error) -> EngineError {
        self.disk.fail_stop(&format!("{}: sync failed: {error}", self.path.display()));
        io_error(&self.path, error)
    }

    /// Completes the file with the sidecar and makes it durable, so that the commit record can name
    /// it.
    pub fn finish(&mut self, group_len: u64, sidecar: &[u8]) -> Result<SpillRef> {
        assert!(group_len == self.len, "a group of {group_len} bytes is in a file of {}", self.len);
        let limit = u32::MAX as usize;
        let (Ok(group_len), Ok(sidecar_len)) = (u32::try_from(group_len), u32::try_from(sidecar.len()))
        else {
            return Err(EngineError::TransactionTooLarge { limit_bytes: limit });
        };
        self.append(sidecar)?;
        let crc = self.make_durable()?;
        Ok(SpillRef { number: self.number, group_len, sidecar_len, crc })
    }

    /// Leaves the file where it is, because a commit record names it.
    pub fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        if !self.kept
            && let Err(error) = self.disk.remove(&self.path)
        {
            log::warn!("InnoDB: {}: {error}", self.path.display());
        }
    }
}

/// The files of a transaction that has outgrown its memory.
pub(crate) struct Spill {
    /// The file of the event group and, at commit, of the sidecar.
    pub group: SpillFile,
    /// The file of images of rows that the group does not have.
    pub images: Option<SpillFile>,
}

impl Spill {
    fn file(&self, part: SpillPart) -> Result<&SpillFile> {
        let file = match part {
            SpillPart::Group => Some(&self.group),
            SpillPart::Images => self.images.as_ref(),
        };
        file.ok_or_else(nothing_spilled)
    }

    /// Returns the length of one of the files in bytes.
    pub fn len(&self, part: SpillPart) -> Result<u64> {
        Ok(self.file(part)?.len())
    }

    /// Returns bytes of one of the files.
    pub fn read(&self, part: SpillPart, at: u64, len: u32) -> Result<Vec<u8>> {
        self.file(part)?.read(at, len as usize)
    }

    /// Reads bytes of one of the files in place of those in `into`.
    pub fn read_into(&self, part: SpillPart, at: u64, len: usize, into: &mut Vec<u8>) -> Result<()> {
        self.file(part)?.read_into(at, len, into)
    }
}

/// Returns the image, from memory or from its file.
pub(crate) fn image_of<'i>(image: &'i NewImage, spill: Option<&Spill>) -> Result<Cow<'i, [u8]>> {
    match image {
        NewImage::Here(image) => Ok(Cow::Borrowed(image)),
        NewImage::Spilled { part, at, len } => {
            Ok(Cow::Owned(spill.ok_or_else(nothing_spilled)?.read(*part, *at, *len)?))
        }
    }
}

/// Returns the error of a row that is in a file which its transaction does not have.
pub(crate) fn nothing_spilled() -> EngineError {
    EngineError::Corrupt("a row of the transaction is in a file that it has not".to_string())
}

/// The reference of a commit record to its spill file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpillRef {
    pub number: u64,
    pub group_len: u32,
    pub sidecar_len: u32,
    /// The CRC-32C of the file.
    pub crc: u32,
}

impl SpillRef {
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.number);
        out.put_u32(self.group_len);
        out.put_u32(self.sidecar_len);
        out.put_u32(self.crc);
    }

    pub fn decode(reader: &mut Reader<'_>) -> Result<SpillRef> {
        Ok(SpillRef {
            number: reader.u64()?,
            group_len: reader.u32()?,
            sidecar_len: reader.u32()?,
            crc: reader.u32()?,
        })
    }

    /// Returns the event group and the sidecar.
    pub fn load(&self, config: &EngineConfig) -> Result<(Vec<u8>, Vec<u8>)> {
        let path = path_of(&config.datadir, self.number);
        let mut group = config.disk.read(&path).map_err(|error| io_error(&path, error))?;
        let expected = self.group_len as usize + self.sidecar_len as usize;
        if group.len() != expected || crc32c::crc32c(&group) != self.crc {
            let place = path.display();
            return Err(EngineError::Corrupt(format!(
                "{place}: it has {} bytes, its commit says {expected}, or its checksum is wrong",
                group.len()
            )));
        }
        let sidecar = group.split_off(self.group_len as usize);
        Ok((group, sidecar))
    }

    /// Opens the event group, to be read piece by piece.
    pub fn open(&self, config: &EngineConfig) -> Result<SpilledGroup> {
        let path = path_of(&config.datadir, self.number);
        let opened = config.disk.open(&path, OpenMode::Read);
        let file = opened.map_err(|error| io_error(&path, error))?;
        Ok(SpilledGroup { file, path, spill: *self })
    }
}

/// The spill files of an engine. Each gets a number that no file had before.
pub(crate) struct SpillFiles {
    config: Arc<EngineConfig>,
    next: AtomicU64,
    /// The files whose removal waits for the end of a hold. `None` means that there is no hold.
    held: Arc<Mutex<Option<Vec<u64>>>>,
}

/// A hold of the files of commits, which lasts until this is dropped. There is one at a time.
pub(crate) struct SpillHold {
    config: Arc<EngineConfig>,
    held: Arc<Mutex<Option<Vec<u64>>>>,
}

impl Drop for SpillHold {
    fn drop(&mut self) {
        let held = self.held.lock().take();
        held.into_iter().flatten().for_each(|number| remove(&self.config, number));
    }
}

impl SpillFiles {
    pub fn new(config: Arc<EngineConfig>) -> SpillFiles {
        SpillFiles { config, next: AtomicU64::new(1), held: Arc::default() }
    }

    /// Returns the options that the engine was opened with.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// Makes a file for a transaction.
    pub fn create(&self) -> Result<SpillFile> {
        SpillFile::create(&self.config, self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Keeps the files of commits from being removed.
    pub fn hold(&self) -> SpillHold {
        let before = self.held.lock().replace(Vec::new());
        assert!(before.is_none(), "one copy is made at a time");
        SpillHold { config: self.config.clone(), held: self.held.clone() }
    }

    /// Removes the file of a commit that nothing needs any more, at the end of the hold if there is
    /// one.
    pub fn remove(&self, number: u64) {
        if let Some(held) = self.held.lock().as_mut() {
            held.push(number);
            return;
        }
        remove(&self.config, number);
    }

    /// Notes that numbers up to this one are in use.
    pub fn note_used(&self, number: u64) {
        self.next.fetch_max(number + 1, Ordering::Relaxed);
    }
}

/// The event group of a commit in its spill file.
#[derive(Clone, Debug)]
pub struct SpilledGroup {
    file: Arc<dyn File>,
    path: PathBuf,
    spill: SpillRef,
}

impl SpilledGroup {
    /// Returns the length of the group in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.spill.group_len.into()
    }

    /// Returns the commit's whole sidecar. [`SpilledGroup::for_each_run`] checks its checksum with
    /// that of the group.
    pub(crate) fn sidecar(&self) -> Result<Vec<u8>> {
        let failed = |error| io_error(&self.path, error);
        let (from, len) = (self.len_bytes(), u64::from(self.spill.sidecar_len));
        // Damaged lengths are refused before memory is asked for.
        if self.file.len_bytes().map_err(failed)? != from + len {
            let place = self.path.display();
            return Err(EngineError::Corrupt(format!("{place}: it is not as long as its commit says")));
        }
        let mut sidecar = vec![0; len as usize];
        self.file.read_exact_at(&mut sidecar, from).map_err(failed)?;
        Ok(sidecar)
    }

    /// Calls `visit` with one run of whole events after another. Returns an error when the file is
    /// not what the commit wrote, but only after all of it was visited.
    pub(crate) fn for_each_run<E: From<EngineError>>(
        &self,
        mut visit: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (mut crc, mut at, mut bytes) = (0, 0, Vec::new());
        while at < self.len_bytes() {
            self.read_block(&mut at, self.len_bytes(), &mut crc, &mut bytes)?;
            let mut whole = 0;
            while let Ok(len) = binlog::reader::event_len(&bytes[whole..]) {
                whole += len;
            }
            visit(&bytes[..whole])?;
            bytes.drain(..whole);
        }
        let is_whole = bytes.is_empty();
        let end = self.len_bytes() + u64::from(self.spill.sidecar_len);
        while at < end {
            bytes.clear();
            self.read_block(&mut at, end, &mut crc, &mut bytes)?;
        }
        if !is_whole || crc != self.spill.crc {
            let place = self.path.display();
            return Err(EngineError::Corrupt(format!("{place}: its checksum is wrong")).into());
        }
        Ok(())
    }

    fn read_block(&self, at: &mut u64, end: u64, crc: &mut u32, bytes: &mut Vec<u8>) -> Result<()> {
        let len = BLOCK_BYTES.min((end - *at) as usize);
        let from = bytes.len();
        bytes.resize(from + len, 0);
        let read = self.file.read_exact_at(&mut bytes[from..], *at);
        read.map_err(|error| io_error(&self.path, error))?;
        *crc = crc32c::crc32c_append(*crc, &bytes[from..]);
        *at += len as u64;
        Ok(())
    }
}

/// A commit whose changes are in a spill file, as long as recovery may need the file.
#[derive(Clone, Debug)]
pub(crate) struct SpilledCommit {
    pub spill: SpillRef,
    pub start_lsn: u64,
    pub seq: u64,
    /// The changes that the commit makes to the replication state.
    pub mark: CommitMark,
    /// The end of the log when the commit's last row was on its page. `None` means that it is not
    /// yet.
    pub applied_lsn: Option<u64>,
}

impl SpilledCommit {
    /// Reports whether recovery from this checkpoint position needs the file.
    pub fn is_needed_from(&self, checkpoint_lsn: u64) -> bool {
        self.seq > checkpoint_lsn || self.applied_lsn.is_none_or(|applied| applied >= checkpoint_lsn)
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        self.spill.encode(out);
        out.put_u64(self.start_lsn);
        out.put_u64(self.seq);
        self.mark.encode(out);
    }

    /// Reads what [`SpilledCommit::encode`] wrote. Without `whole_mark` the mark has only the GTID,
    /// as in old checkpoints.
    pub fn decode(reader: &mut Reader<'_>, whole_mark: bool) -> Result<SpilledCommit> {
        let spill = SpillRef::decode(reader)?;
        let (start_lsn, seq) = (reader.u64()?, reader.u64()?);
        let mark = CommitMark::decode(reader, whole_mark)?;
        Ok(SpilledCommit { spill, start_lsn, seq, mark, applied_lsn: None })
    }
}

/// Removes a file that nothing needs any more.
pub(crate) fn remove(config: &EngineConfig, number: u64) {
    let path = path_of(&config.datadir, number);
    if let Err(error) = config.disk.remove(&path) {
        log::warn!("InnoDB: {}: {error}", path.display());
    }
}

/// Returns the numbers of all spill files that exist.
pub(crate) fn list(config: &EngineConfig) -> Result<Vec<u64>> {
    let dir = config.datadir.join(DIRECTORY);
    if !config.disk.is_dir(&dir).map_err(|error| io_error(&dir, error))? {
        return Ok(Vec::new());
    }
    let paths = config.disk.list(&dir).map_err(|error| io_error(&dir, error))?;
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse().ok();
    Ok(paths.iter().filter_map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spilled_commit_comes_back_from_the_checkpoint_with_its_gtid() {
        for gtid in [None, Some("7"), Some("tag:7")] {
            let uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
            let gtid =
                gtid.map(|rest| format!("{uuid}:{rest}").parse::<binlog::gtid::Gtid>().expect("is a GTID"));
            let spill = SpillRef { number: 5, crc: 6, group_len: 7, sidecar_len: 8 };
            let commit = SpilledCommit {
                spill,
                start_lsn: 9,
                seq: 10,
                mark: CommitMark { gtid, ..CommitMark::default() },
                applied_lsn: None,
            };
            let mut bytes = Vec::new();
            commit.encode(&mut bytes);
            let mut reader = Reader::new(&bytes, "spilled commit");
            let back = SpilledCommit::decode(&mut reader, true).unwrap();
            assert!(reader.is_empty());
            assert_eq!((back.mark.gtid, back.spill.number, back.seq), (gtid, 5, 10));
            for len in 0..bytes.len() {
                assert!(
                    SpilledCommit::decode(&mut Reader::new(&bytes[..len], "spilled commit"), true).is_err()
                );
            }
        }
    }
}
