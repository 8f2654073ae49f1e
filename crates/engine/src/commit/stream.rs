//! The stream of committed groups, read from the log in commit order. The binary log is made of it.

use super::record::{CommitHeader, CommitRecord, is_binlogged};
use super::sidecar;
use crate::commit::pipeline::Committer;
use crate::config::EngineConfig;
use crate::error::Result;
use crate::spill::SpilledGroup;
use crate::xa::record::{Content, XaNote};
use redo::{LogReader, Lsn, RecordHead, kind};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A committed transaction as the binary log needs it. The events stay where they were read.
#[derive(Clone, Debug)]
pub struct CommittedGroup<'a> {
    /// The sequence number: the end of the commit's record.
    pub seq: Lsn,
    /// The start of the commit's record.
    pub start_lsn: Lsn,
    /// The header of the record: GTID, times, origin.
    pub header: CommitHeader,
    /// The event group: events in format v4 without a GTID event and checksums, with `log_pos` 0.
    pub group: GroupBytes<'a>,
    /// The record's sidecar; empty for a group that is in a spill file.
    pub(crate) sidecar: &'a [u8],
}

/// The place of an event group.
#[derive(Clone, Debug)]
pub enum GroupBytes<'a> {
    /// In memory, where the record was read.
    Here(&'a [u8]),
    /// In memory, put together for the binary log, which has other events than the record.
    Made(Vec<u8>),
    /// In a spill file, because the group may be larger than the memory.
    Spilled(SpilledGroup),
}

impl GroupBytes<'_> {
    /// Returns the length of the group in bytes.
    pub fn len_bytes(&self) -> u64 {
        match self {
            GroupBytes::Here(group) => group.len() as u64,
            GroupBytes::Made(group) => group.len() as u64,
            GroupBytes::Spilled(group) => group.len_bytes(),
        }
    }

    /// Calls `visit` on each run of the group. A run is a few whole events.
    ///
    /// # Errors
    /// Returns the errors of `visit`, and [`crate::EngineError::Corrupt`] for a damaged spill file,
    /// at the latest after the last run.
    pub fn for_each_run<E: From<crate::EngineError>>(
        &self,
        mut visit: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        match self {
            GroupBytes::Here(group) => visit(group),
            GroupBytes::Made(group) => visit(group),
            GroupBytes::Spilled(group) => group.for_each_run(visit),
        }
    }

    /// Returns the whole group in memory.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut whole = Vec::new();
        self.for_each_run(|run| {
            whole.extend_from_slice(run);
            Result::Ok(())
        })?;
        Ok(whole)
    }
}

/// A stream of committed groups from some position on, which follows the live end of the log.
pub struct CommitStream {
    committer: Arc<Committer>,
    reader: LogReader,
    /// The record at which the reader is and which was not safe enough to be given out yet.
    held_back: Option<RecordHead>,
    /// The end of the record that was given out last.
    given_out_lsn: Lsn,
}

impl Committer {
    /// Returns a stream of the committed groups from `from_lsn` on. `from_lsn` must be a position
    /// that a stream or a checkpoint gave out.
    pub fn commit_stream(self: &Arc<Committer>, from_lsn: Lsn) -> Result<CommitStream> {
        Ok(CommitStream {
            committer: self.clone(),
            reader: self.log.read_from(from_lsn),
            held_back: None,
            given_out_lsn: from_lsn,
        })
    }
}

impl CommitStream {
    /// Returns the position before which everything has been given out.
    pub fn lsn(&self) -> Lsn {
        self.held_back.map_or(self.reader.lsn(), |record| record.start_lsn)
    }

    /// Returns the next group that belongs into the binary log, or `None` when there is none within
    /// `wait` (at once without `wait`).
    ///
    /// With `innodb_flush_log_at_trx_commit = 1` a group comes out when it is durable, so that no
    /// binary log file and no replica holds a transaction that a crash could take back. With other
    /// values it comes out when it is written.
    pub fn next(&mut self, wait: Option<Duration>) -> Result<Option<CommittedGroup<'_>>> {
        let Some(record) = self.next_record(wait)? else { return Ok(None) };
        if !self.may_go_out(record.lsn, wait.is_some())? {
            self.held_back = Some(record);
            return Ok(None);
        }
        let (start, last) = (record.start_lsn, self.given_out_lsn);
        assert!(last <= start, "the group at {start} is given out after the one that ends at {last}");
        self.given_out_lsn = record.lsn;
        let commit = CommitRecord::parse(self.reader.payload())?;
        let mut header = commit.header;
        let xa = if header.replaced { sidecar::xa_note(commit.sidecar)? } else { None };
        // The spill file exists as long as the checkpoint has not passed the commit, and the
        // checkpoint waits for this stream.
        let group = match (&commit.spill, header.replaced) {
            _ if xa.is_some() => {
                let xa = xa.expect("just looked at");
                header.replaced = xa.has_statements();
                logged_xa_group(xa, &self.committer.config)?
            }
            (None, false) => GroupBytes::Here(commit.group),
            (None, true) => GroupBytes::Made(sidecar::logged_group(commit.group, commit.sidecar)?),
            (Some(spill), false) => GroupBytes::Spilled(spill.open(&self.committer.config)?),
            (Some(spill), true) => {
                let (group, sidecar) = spill.load(&self.committer.config)?;
                GroupBytes::Made(sidecar::logged_group(&group, &sidecar)?)
            }
        };
        let sidecar = commit.sidecar;
        Ok(Some(CommittedGroup { seq: record.lsn, start_lsn: record.start_lsn, header, group, sidecar }))
    }

    /// Returns the next record whose group belongs into the binary log.
    fn next_record(&mut self, wait: Option<Duration>) -> Result<Option<RecordHead>> {
        if let Some(record) = self.held_back.take() {
            return Ok(Some(record));
        }
        loop {
            let Some(record) = self.reader.advance(wait)? else { return Ok(None) };
            if record.kind == kind::COMMIT && is_binlogged(self.reader.payload()) {
                return Ok(Some(record));
            }
        }
    }

    /// Reports whether the log holds a group as safely as its commit asks for. With `waits` it
    /// waits until the log does.
    fn may_go_out(&self, seq: Lsn, waits: bool) -> Result<bool> {
        let log = &self.committer.log;
        if self.committer.flush_log_at_trx_commit.load(Ordering::Relaxed) != 1 || log.durable_lsn() >= seq {
            return Ok(true);
        }
        // While commits gather (`binlog_group_commit_sync_delay`), each commit asks for its sync
        // itself when its group goes on.
        let asks = !self.committer.group_delay.is_on();
        if waits {
            log.follow_durable(seq, asks)?;
        } else if asks {
            log.request_durable(seq);
        }
        Ok(waits)
    }
}

/// Returns the event group of a record about an XA transaction as the binary log has it.
fn logged_xa_group<'a>(note: XaNote<'a>, config: &EngineConfig) -> Result<GroupBytes<'a>> {
    let note = match note {
        XaNote::Finished { events, .. } => return Ok(GroupBytes::Here(events)),
        XaNote::Prepared(note) => note,
    };
    Ok(match (note.content, note.replaced) {
        (Content::Here { group: Cow::Borrowed(group), .. }, false) => GroupBytes::Here(group),
        (Content::Here { group, .. }, false) => GroupBytes::Made(group.into_owned()),
        (Content::Here { group, sidecar }, true) => {
            GroupBytes::Made(sidecar::logged_group(&group, &sidecar)?)
        }
        (Content::File(file), false) => GroupBytes::Spilled(file.open(config)?),
        (Content::File(file), true) => {
            let (group, sidecar) = file.load(config)?;
            GroupBytes::Made(sidecar::logged_group(&group, &sidecar)?)
        }
    })
}
