//! Transactions that a binary log file has and the redo log no longer has. The file is written from
//! the redo log, so there are such transactions only when the redo log has lost its end: it was
//! damaged, or with `innodb_flush_log_at_trx_commit` other than 1 the machine stopped before it was
//! synced.

use std::fmt;
use std::io;

use binlog::Checksum;
use binlog::event::HEADER_LEN;
use binlog::gtid::{GtidSet, Uuid};
use os::disk::File;

use crate::events::{self, event_type};

/// The transactions in a file behind the end of the redo log.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    /// The number of transactions of which at least the beginning is there.
    pub transactions: u64,
    /// The GTIDs of those transactions that have one.
    pub gtids: GtidSet,
    /// The GTIDs among them that this server has assigned.
    pub own: GtidSet,
}

impl Lost {
    /// Reads the whole events of a file from a position on.
    pub fn read(file: &dyn File, mut pos: u64, checksum: Checksum, own: Uuid) -> io::Result<Lost> {
        let (mut lost, mut event) = (Lost::default(), Vec::new());
        while read_event(file, pos, checksum, &mut event)? {
            pos += event.len() as u64;
            if !is_beginning(events::kind(&event)) {
                continue;
            }
            lost.transactions += 1;
            let Some(gtid) = events::gtid_of(&event, checksum) else { continue };
            lost.gtids.add(gtid);
            if gtid.tsid.uuid == own {
                lost.own.add(gtid);
            }
        }
        Ok(lost)
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} transactions, GTIDs '{}'", self.transactions, self.gtids)
    }
}

fn is_beginning(kind: u8) -> bool {
    matches!(kind, event_type::GTID | event_type::ANONYMOUS_GTID | event_type::GTID_TAGGED)
}

/// Reads the event at `pos` into `event`. Returns false when there is no whole event.
fn read_event(file: &dyn File, pos: u64, checksum: Checksum, event: &mut Vec<u8>) -> io::Result<bool> {
    let left = file.len_bytes()?.saturating_sub(pos);
    if left < HEADER_LEN as u64 {
        return Ok(false);
    }
    event.resize(HEADER_LEN, 0);
    file.read_exact_at(event, pos)?;
    let size = events::size(event);
    if size < HEADER_LEN + checksum.len_bytes() || size as u64 > left {
        return Ok(false);
    }
    event.resize(size, 0);
    file.read_exact_at(&mut event[HEADER_LEN..], pos + HEADER_LEN as u64)?;
    Ok(checksum == Checksum::None || binlog::checksum::verify_checksum(event).is_ok())
}
