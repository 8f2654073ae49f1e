//! Reading committed groups from the log, in commit order: what the binary log is made of.

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

/// A committed transaction as the binary log needs it; the events are where they were read.
#[derive(Clone, Debug)]
pub struct CommittedGroup<'a> {
    /// Sequence number: the end of the commit's record.
    pub seq: Lsn,
    /// Where the record begins.
    pub start_lsn: Lsn,
    /// GTID, times, origin.
    pub header: CommitHeader,
    /// The event group: events in format v4 without GTID event and checksums, `log_pos` 0.
    pub group: GroupBytes<'a>,
    /// The record's sidecar; empty for a group that is in a spill file.
    pub(crate) sidecar: &'a [u8],
}

/// Where an event group is.
#[derive(Clone, Debug)]
pub enum GroupBytes<'a> {
    /// Where it was read.
    Here(&'a [u8]),
    /// Put together for the binary log, which has other events than the record.
    Made(Vec<u8>),
    /// In a spill file: it may be larger than the memory.
    Spilled(SpilledGroup),
}

impl GroupBytes<'_> {
    /// The group's length.
    pub fn len_bytes(&self) -> u64 {
        match self {
            GroupBytes::Here(group) => group.len() as u64,
            GroupBytes::Made(group) => group.len() as u64,
            GroupBytes::Spilled(group) => group.len_bytes(),
        }
    }

    /// Gives the group run by run, each a few whole events.
    ///
    /// # Errors
    /// `visit`'s; and [`crate::EngineError::Corrupt`] for a spill file that is damaged, in the end
    /// at the latest.
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

    /// The whole group in memory.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut whole = Vec::new();
        self.for_each_run(|run| {
            whole.extend_from_slice(run);
            Result::Ok(())
        })?;
        Ok(whole)
    }
}

/// Committed groups from some position on, following the live end of the log.
pub struct CommitStream {
    committer: Arc<Committer>,
    reader: LogReader,
    /// The record at which the reader is and which could not be given out yet.
    held_back: Option<RecordHead>,
}

impl Committer {
    /// Committed groups from `from_lsn` on, which is a position that a stream or a checkpoint gave
    /// out.
    pub fn commit_stream(self: &Arc<Committer>, from_lsn: Lsn) -> Result<CommitStream> {
        Ok(CommitStream { committer: self.clone(), reader: self.log.read_from(from_lsn), held_back: None })
    }
}

impl CommitStream {
    /// Everything before this position has been given out.
    pub fn lsn(&self) -> Lsn {
        self.held_back.map_or(self.reader.lsn(), |record| record.start_lsn)
    }

    /// The next group that belongs into the binary log, or `None` when there is none within `wait`
    /// (at once without it).
    ///
    /// With `innodb_flush_log_at_trx_commit = 1` a group comes out when it is durable, so that no
    /// binary log file and no replica holds a transaction that a crash could take back; else when
    /// it is written.
    pub fn next(&mut self, wait: Option<Duration>) -> Result<Option<CommittedGroup<'_>>> {
        let Some(record) = self.next_record(wait)? else { return Ok(None) };
        if !self.may_go_out(record.lsn, wait.is_some())? {
            self.held_back = Some(record);
            return Ok(None);
        }
        let commit = CommitRecord::parse(self.reader.payload())?;
        let mut header = commit.header;
        let xa = if header.replaced { sidecar::xa_note(commit.sidecar)? } else { None };
        // A spill file is there as long as the checkpoint has not passed the commit, which waits
        // for this stream.
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

    /// The next record of a group that belongs into the binary log.
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

    /// Whether the log holds a group as safely as its commit asks for; a caller that waits waits
    /// until it does.
    fn may_go_out(&self, seq: Lsn, waits: bool) -> Result<bool> {
        let log = &self.committer.log;
        if self.committer.flush_log_at_trx_commit.load(Ordering::Relaxed) != 1 || log.durable_lsn() >= seq {
            return Ok(true);
        }
        // While commits gather (`binlog_group_commit_sync_delay`), each asks for its sync itself,
        // when its group goes on.
        let asks = !self.committer.group_delay.is_on();
        if waits {
            log.follow_durable(seq, asks)?;
        } else if asks {
            log.request_durable(seq);
        }
        Ok(waits)
    }
}

/// The event group of a record about an XA transaction as the binary log has it.
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
