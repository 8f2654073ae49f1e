//! Reading committed groups from the log, in commit order: what the binary log is made of.

use super::record::{CommitHeader, CommitRecord, is_binlogged};
use crate::Engine;
use crate::error::Result;
use redo::{LogReader, Lsn, kind};
use std::borrow::Cow;
use std::sync::Arc;
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
    pub group: Cow<'a, [u8]>,
}

/// Committed groups from some position on, following the live end of the log.
pub struct CommitStream {
    engine: Arc<Engine>,
    reader: LogReader,
}

impl Engine {
    /// Committed groups from `from_lsn` on, which is a position that a stream or a checkpoint gave out.
    pub fn commit_stream(self: &Arc<Engine>, from_lsn: Lsn) -> Result<CommitStream> {
        Ok(CommitStream { engine: self.clone(), reader: self.log.read_from(from_lsn) })
    }
}

impl CommitStream {
    /// Everything before this position has been given out.
    pub fn lsn(&self) -> Lsn {
        self.reader.lsn()
    }

    /// The next group that belongs into the binary log, or `None` when there is none within `wait` (at once without it).
    ///
    /// With `innodb_flush_log_at_trx_commit = 1` a group comes out when it is durable, so that no binary log file and no
    /// replica holds a transaction that a crash could take back; else when it is written.
    pub fn next(&mut self, wait: Option<Duration>) -> Result<Option<CommittedGroup<'_>>> {
        let record = loop {
            let Some(record) = self.reader.advance(wait)? else { return Ok(None) };
            if record.kind == kind::COMMIT && is_binlogged(self.reader.payload()) {
                break record;
            }
        };
        let commit = CommitRecord::parse(self.reader.payload())?;
        let group = match &commit.spill {
            // The file is there as long as the checkpoint has not passed the commit, which waits for this stream.
            Some(spill) => Cow::Owned(spill.load(&self.engine.config)?.0),
            None => Cow::Borrowed(commit.group),
        };
        if self.engine.flush_log_at_trx_commit() == 1 {
            self.engine.log.follow_durable(record.lsn)?;
        }
        let header = commit.header;
        Ok(Some(CommittedGroup { seq: record.lsn, start_lsn: record.start_lsn, header, group }))
    }
}
