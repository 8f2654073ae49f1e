//! Spill files: what a transaction logs when it is too large for memory and for the log.
//!
//! The event group of a transaction grows in memory up to `EngineConfig::spill_bytes` and then goes to a file of its own,
//! `#innodb_spill/NUMBER`. At commit the sidecar follows, the file is synced, and the commit record names it instead of
//! holding group and sidecar: so the record is small, and writing it holds nobody up (decision 0007).
//!
//! Life of a file: it goes with the transaction that does not commit; that of a commit stays until a checkpoint needs the
//! commit no more ([`crate::checkpoint`]). What a crash leaves without a commit is removed by recovery.
//!
//! Invariant: the file and its name are durable before the commit record is in the log.

use crate::bytes::{Put, Reader};
use crate::commit::position::CommitMark;
use crate::commit::record::read_tag;
use crate::config::EngineConfig;
use crate::engine::io_error;
use crate::error::{EngineError, Result};
use binlog::gtid::{Gtid, Tag, Tsid, Uuid};
use os::disk::{Disk, File, OpenMode};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where spill files are, in the data directory.
const DIRECTORY: &str = "#innodb_spill";

/// Bytes that are read or written at once.
const BLOCK_BYTES: usize = 1 << 20;
/// What a spilled commit says of its GTID in a checkpoint: 0 it has none, 1 it has one, and this, its tag follows.
const TAGGED: u8 = 2;

fn path_of(datadir: &Path, number: u64) -> PathBuf {
    datadir.join(DIRECTORY).join(number.to_string())
}

/// The spill file of a running transaction; removed when dropped, unless it was kept.
pub(crate) struct SpillFile {
    disk: Arc<dyn Disk>,
    file: Arc<dyn File>,
    path: PathBuf,
    number: u64,
    len: u64,
    kept: bool,
}

impl SpillFile {
    pub fn create(config: &EngineConfig, number: u64) -> Result<SpillFile> {
        let dir = config.datadir.join(DIRECTORY);
        if !config.disk.is_dir(&dir).map_err(|error| io_error(&dir, error))? {
            config.disk.create_dir_all(&dir).map_err(|error| io_error(&dir, error))?;
            config.disk.sync_dir(&config.datadir).map_err(|error| io_error(&config.datadir, error))?;
        }
        let path = path_of(&config.datadir, number);
        let opened = config.disk.open(&path, OpenMode::CreateNew);
        let file = opened.map_err(|error| io_error(&path, error))?;
        Ok(SpillFile { disk: config.disk.clone(), file, path, number, len: 0, kept: false })
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all_at(bytes, self.len).map_err(|error| io_error(&self.path, error))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Forgets what is behind `len`.
    pub fn truncate(&mut self, len: u64) {
        self.len = self.len.min(len);
    }

    pub fn read(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, at).map_err(|error| io_error(&self.path, error))?;
        Ok(bytes)
    }

    /// Makes the content and the name durable; returns the content's checksum.
    pub fn make_durable(&mut self) -> Result<u32> {
        let failed = |error| io_error(&self.path, error);
        self.file.set_len(self.len).map_err(failed)?;
        let mut crc = 0;
        let mut block = vec![0; BLOCK_BYTES];
        let mut at = 0;
        while at < self.len {
            let part = &mut block[..BLOCK_BYTES.min((self.len - at) as usize)];
            self.file.read_exact_at(part, at).map_err(failed)?;
            crc = crc32c::crc32c_append(crc, part);
            at += part.len() as u64;
        }
        let dir = self.path.parent().unwrap_or(Path::new(""));
        if let Err(error) = self.file.sync_data().and_then(|()| self.disk.sync_dir(dir)) {
            self.disk.fail_stop(&format!("{}: sync failed: {error}", self.path.display()));
            return Err(failed(error));
        }
        Ok(crc)
    }

    /// Leaves the file where it is: a commit record names it.
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

/// What a commit record says of its spill file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpillRef {
    pub number: u64,
    pub group_len: u32,
    pub sidecar_len: u32,
    /// CRC-32C of the file.
    pub crc: u32,
}

impl SpillRef {
    /// Event group and sidecar.
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
}

/// A commit whose changes are in a spill file, as long as a crash may need them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpilledCommit {
    pub spill: SpillRef,
    pub start_lsn: u64,
    pub seq: u64,
    pub gtid: Option<Gtid>,
    /// The log's end when its last row was on its page; `None`: not yet.
    pub applied_lsn: Option<u64>,
}

impl SpilledCommit {
    /// Whether recovery from this checkpoint position needs the file.
    pub fn is_needed_from(&self, checkpoint_lsn: u64) -> bool {
        self.seq > checkpoint_lsn || self.applied_lsn.is_none_or(|applied| applied >= checkpoint_lsn)
    }

    pub fn mark(&self) -> CommitMark {
        CommitMark { gtid: self.gtid, mariadb_gtid: None, position: None }
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.spill.number);
        out.put_u32(self.spill.group_len);
        out.put_u32(self.spill.sidecar_len);
        out.put_u32(self.spill.crc);
        out.put_u64(self.start_lsn);
        out.put_u64(self.seq);
        let tag = self.gtid.map_or(Tag::NONE, |gtid| gtid.tsid.tag);
        out.put_u8(if tag.is_none() { u8::from(self.gtid.is_some()) } else { TAGGED });
        if let Some(gtid) = self.gtid {
            out.extend_from_slice(&gtid.tsid.uuid.0);
            out.put_u64(gtid.gno);
        }
        if !tag.is_none() {
            out.put_str(tag.as_str());
        }
    }

    pub fn decode(reader: &mut Reader<'_>) -> Result<SpilledCommit> {
        let spill = SpillRef {
            number: reader.u64()?,
            group_len: reader.u32()?,
            sidecar_len: reader.u32()?,
            crc: reader.u32()?,
        };
        let (start_lsn, seq) = (reader.u64()?, reader.u64()?);
        let gtid = match reader.u8()? {
            0 => None,
            kind => {
                let uuid = Uuid(reader.take(16)?.try_into().expect("sixteen were taken"));
                let gno = reader.u64()?;
                let tag = if kind == TAGGED { read_tag(reader)? } else { Tag::NONE };
                Some(Gtid { tsid: Tsid { uuid, tag }, gno })
            }
        };
        Ok(SpilledCommit { spill, start_lsn, seq, gtid, applied_lsn: None })
    }
}

/// Removes a file that nothing needs any more.
pub(crate) fn remove(config: &EngineConfig, number: u64) {
    let path = path_of(&config.datadir, number);
    if let Err(error) = config.disk.remove(&path) {
        log::warn!("InnoDB: {}: {error}", path.display());
    }
}

/// The numbers of all spill files there are.
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
            let gtid = gtid.map(|rest| format!("{uuid}:{rest}").parse::<Gtid>().expect("is a GTID"));
            let spill = SpillRef { number: 5, crc: 6, group_len: 7, sidecar_len: 8 };
            let commit = SpilledCommit { spill, start_lsn: 9, seq: 10, gtid, applied_lsn: None };
            let mut bytes = Vec::new();
            commit.encode(&mut bytes);
            let mut reader = Reader::new(&bytes, "spilled commit");
            let back = SpilledCommit::decode(&mut reader).unwrap();
            assert!(reader.is_empty());
            assert_eq!((back.gtid, back.spill.number, back.seq), (gtid, 5, 10));
            for len in 0..bytes.len() {
                assert!(SpilledCommit::decode(&mut Reader::new(&bytes[..len], "spilled commit")).is_err());
            }
        }
    }
}
