//! The end of the newest binary log file, where committed groups are encoded.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use binlog::compressed::PayloadWriter;
use binlog::group::{self, GroupStart};
use binlog::gtid::GtidSet;
use binlog::{Checksum, DecodeError};
use engine::{CommittedGroup, GroupBytes};
use os::account::{State, enter};
use os::disk::File;
use redo::Lsn;

use crate::dependencies::Written;
use crate::disk_full::wait_for_space;
use crate::error::BinlogError;
use crate::events;
use crate::position::FilePosition;
use crate::recent::Block;
use crate::sequence::{Numbering, least_of_same_length};
use crate::state::SafePoint;

/// The number of gathered bytes at which they are written.
pub(crate) const BLOCK_BYTES: usize = 512 * 1024;
/// The number of unsynced bytes at which a file is synced.
pub(crate) const SYNC_BYTES: u64 = 16 * 1024 * 1024;
/// The offset in a file of the byte with LOG_EVENT_BINLOG_IN_USE_F, which the checksum does not
/// cover.
const IN_USE_OFFSET: u64 = 4 + 17;

/// A file that is being written, and its end.
pub(crate) struct Tail {
    pub number: u64,
    file: Arc<dyn File>,
    name: String,
    /// The checksum with which the file's events end.
    checksum: Checksum,
    /// The length of the file without the gathered bytes.
    written: u64,
    gathered: Vec<u8>,
    /// The compressor, made when it is first needed, and below it the buffer for a compressed
    /// transaction.
    payloads: Option<PayloadWriter>,
    payload: Vec<u8>,
    numbering: Numbering,
    /// The GTIDs in the binary log up to the end.
    pub gtids: GtidSet,
    /// The end of the last commit record that was taken.
    pub lsn: Lsn,
    /// The number of bytes written since the last sync.
    pub unsynced_bytes: u64,
    /// True when writing must not wait, or must no longer wait, for space on a full disk.
    stopping: Arc<AtomicBool>,
}

impl Tail {
    /// Builds the tail of a file that ends at `at`.
    pub fn at(name: String, file: Arc<dyn File>, at: &SafePoint, checksum: Checksum) -> Tail {
        Tail {
            number: at.file,
            file,
            name,
            checksum,
            written: at.pos,
            gathered: Vec::with_capacity(BLOCK_BYTES * 2),
            payloads: None,
            payload: Vec::new(),
            numbering: Numbering::after(at.sequence_number),
            gtids: at.gtids.clone(),
            lsn: at.lsn,
            unsynced_bytes: 0,
            stopping: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Returns the same tail, which waits for space on a full disk until `stopping` is set.
    pub fn until(mut self, stopping: &Arc<AtomicBool>) -> Tail {
        self.stopping = stopping.clone();
        self
    }

    /// Returns the position in the file at which the next event begins, in bytes.
    pub fn pos(&self) -> u64 {
        self.written + self.gathered.len() as u64
    }

    /// Returns the checksum with which the file's events end.
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// Returns the number of bytes that are not written yet.
    pub fn gathered_bytes(&self) -> usize {
        self.gathered.len()
    }

    /// Appends a committed group. Returns how many bytes its events have in the file.
    pub fn append(
        &mut self,
        committed: &CommittedGroup<'_>,
        written: Written<'_>,
    ) -> Result<u64, BinlogError> {
        assert!(
            committed.seq > self.lsn,
            "groups come in commit order: LSN {} comes after {}",
            committed.seq,
            self.lsn
        );
        self.lsn = committed.seq;
        let header = &committed.header;
        let (mut last_committed, number) = self.numbering.next(committed.seq, header.depends_lsn, written);
        assert!(last_committed < number, "transaction {number} of a file depends on earlier ones");
        if header.gtid.is_some_and(|gtid| !gtid.tsid.tag.is_none()) {
            last_committed = last_committed.max(least_of_same_length(number - 1));
        }
        let gtid = events::gtid_event(header, (last_committed, number));
        let start = events::group_start(header, &gtid);
        let mut bytes = committed.group.len_bytes();
        match &committed.group {
            GroupBytes::Here(events) => match header.compression {
                Some(level) => bytes = self.append_compressed(events, level, start)?,
                None => self.append_events(events, start)?,
            },
            GroupBytes::Made(events) => self.append_events(events, start)?,
            spilled @ GroupBytes::Spilled(_) => self.append_spilled(spilled, start)?,
        }
        if let Some(gtid) = header.gtid {
            self.gtids.add(gtid);
        }
        Ok(bytes)
    }

    fn append_compressed(
        &mut self,
        events: &[u8],
        level: u8,
        start: GroupStart<'_>,
    ) -> Result<u64, BinlogError> {
        let mut payloads = match self.payloads.take() {
            Some(payloads) if payloads.level() == level => payloads,
            _ => PayloadWriter::new(level)?,
        };
        let mut payload = std::mem::take(&mut self.payload);
        payload.clear();
        let compressed = payloads.append(events, &mut payload);
        compressed.map_err(|error| self.damaged(self.pos(), error))?;
        self.append_events(&payload, start)?;
        let written = payload.len() as u64;
        (self.payloads, self.payload) = (Some(payloads), payload);
        Ok(written)
    }

    fn append_events(&mut self, events: &[u8], start: GroupStart<'_>) -> Result<(), BinlogError> {
        let pos = self.pos();
        let emitted = group::emit(events, start, pos, self.checksum, &mut self.gathered);
        emitted.map(|_| ()).map_err(|error| self.damaged(pos, error))
    }

    /// Appends a group that may be larger than the memory. Parts of it are in the file before it is
    /// whole, but readers are not shown them.
    fn append_spilled(&mut self, spilled: &GroupBytes<'_>, start: GroupStart<'_>) -> Result<(), BinlogError> {
        let (pos, mut first, mut events) = (self.pos(), None, 0);
        spilled.for_each_run(|run| {
            let walked = group::walk(run).try_for_each(|event| {
                first.get_or_insert(event?.header);
                events += 1;
                Ok(())
            });
            walked.map_err(|error| self.damaged(pos, error))
        })?;
        let Some(first) = first else { return Ok(()) };
        let lengths = (spilled.len_bytes(), events);
        group::emit_start(&first, lengths, start, pos, self.checksum, &mut self.gathered);
        spilled.for_each_run(|run| {
            let pos = self.pos();
            let emitted = group::emit_events(run, pos, self.checksum, &mut self.gathered);
            emitted.map_err(|error| self.damaged(pos, error))?;
            let written = self.written;
            self.flush()?;
            // It is written back bit by bit, because a large write-back would hold up the redo
            // log's syncs.
            self.file.write_back(written, self.written - written);
            if self.unsynced_bytes >= SYNC_BYTES { self.sync() } else { Ok(()) }
        })
    }

    fn damaged(&self, pos: u64, error: DecodeError) -> BinlogError {
        BinlogError::Damaged { file: self.name.clone(), pos, what: format!("the group: {error}") }
    }

    /// Appends the event that ends a file: a rotate event with the next file, or a stop event.
    pub fn append_end(&mut self, next_file: Option<&str>, server_id: u32) {
        let pos = self.pos();
        match next_file {
            Some(name) => events::append_rotate(&mut self.gathered, pos, server_id, name, self.checksum),
            None => events::append_stop(&mut self.gathered, pos, server_id, self.checksum),
        }
    }

    /// Writes the gathered bytes.
    pub fn flush(&mut self) -> Result<(), BinlogError> {
        if !self.gathered.is_empty() {
            let _state = enter(State::BinlogWrite);
            wait_for_space(&self.name, &self.stopping, || {
                self.file.write_all_at(&self.gathered, self.written)
            })?;
            self.written += self.gathered.len() as u64;
            self.unsynced_bytes += self.gathered.len() as u64;
            self.gathered.clear();
        }
        Ok(())
    }

    /// Returns the gathered bytes that are not written yet, for readers that are about to read
    /// them.
    pub fn gathered_block(&self) -> Block {
        assert!(!self.gathered.is_empty(), "a block has bytes");
        let start = FilePosition { file: self.number, pos: self.written };
        Block { start, bytes: self.gathered.as_slice().into() }
    }

    /// Syncs the written bytes.
    pub fn sync(&mut self) -> Result<(), BinlogError> {
        debug_assert!(self.unsynced_bytes <= self.written, "only what was written can be synced");
        let _state = enter(State::BinlogSync);
        self.file.sync_data().map_err(BinlogError::Sync)?;
        self.unsynced_bytes = 0;
        Ok(())
    }

    /// Cuts the file behind the end.
    pub fn truncate(&mut self) -> Result<(), BinlogError> {
        self.flush()?;
        self.file.set_len(self.written)?;
        Ok(())
    }

    /// Marks the file as open, or as closed properly.
    pub fn mark_in_use(&self, in_use: bool) -> Result<(), BinlogError> {
        let mut byte = [0];
        self.file.read_exact_at(&mut byte, IN_USE_OFFSET)?;
        byte[0] = byte[0] & !1 | u8::from(in_use);
        self.file.write_all_at(&byte, IN_USE_OFFSET)?;
        Ok(())
    }

    /// Returns the end as a safe point, which it is once it is synced.
    pub fn safe_point(&self) -> SafePoint {
        SafePoint {
            lsn: self.lsn,
            file: self.number,
            pos: self.written,
            sequence_number: self.numbering.last(),
            gtids: self.gtids.clone(),
        }
    }
}
