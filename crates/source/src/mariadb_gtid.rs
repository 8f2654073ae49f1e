//! The transactions of the binary log by MariaDB's GTIDs (decision 0029). The n-th transaction that
//! the log has ever had is `0-S-n`, where S is the server id in its events.
//!
//! Only the files tell n: the number of transactions before a file is the number of previous GTIDs
//! at its head.

use std::sync::Arc;

use binlog::event::{HEADER_LEN, Header, event_type};
use binlog::gtid::{MariadbGtid, MariadbGtidState};
use engine::GtidMode;
use os::disk::{File, OpenMode};
use parking_lot::Mutex;

use crate::error::Refusal;
use crate::events::{self, HeadEvent};
use crate::files::LogFiles;
use crate::find::previous_gtids;
use crate::position::FilePosition;

/// The domain of all transactions, because they have one order.
pub const DOMAIN: u32 = 0;

const BLOCK_BYTES: usize = 256 * 1024;

/// The transactions that begin in a part of a file.
#[derive(Default)]
struct Counted {
    count: u64,
    /// The server id of the last transaction.
    server_id: Option<u32>,
}

/// The last transaction of the log at the time when it was last asked for.
#[derive(Clone, Copy)]
struct Newest {
    /// The generation of the log ([`crate::files::Shared::generation`]).
    generation: u64,
    /// The end of the log at that time.
    end: FilePosition,
    gtid: MariadbGtid,
}

/// Keeps [`Newest`] from one question to the next. Lock order: before `series` and `shared`.
#[derive(Default)]
pub(crate) struct NewestGtid(Mutex<Option<Newest>>);

impl NewestGtid {
    /// Returns the result of [`crate::Binlog::mariadb_gtid_at_end`]. Each call reads the file only
    /// from the end of the previous call on.
    pub fn get(&self, files: &LogFiles) -> Result<Option<MariadbGtid>, Refusal> {
        if files.engine.gtid_mode() != GtidMode::On {
            return Ok(None);
        }
        let end = files.wait_caught_up()?;
        let generation = files.shared.lock().generation;
        let mut newest = self.0.lock();
        let known = newest.filter(|known| known.generation == generation && known.end.file == end.file);
        let gtid = match known {
            Some(Newest { end: at, gtid, .. }) => {
                let file = files.series.lock().open_file(end.file, OpenMode::Read);
                let file = file.map_err(|error| unreadable(&error.to_string()))?;
                let more = count(&file, at.pos, end.pos)?;
                let server_id = more.server_id.unwrap_or(gtid.server_id);
                Some(MariadbGtid { server_id, seq: gtid.seq + more.count, ..gtid })
            }
            None => last_gtid_before(files, end, end)?,
        };
        *newest = gtid.map(|gtid| Newest { generation, end, gtid });
        Ok(gtid)
    }
}

/// Returns the position where a replica in this state must start: the newest file before which the
/// replica lacks nothing.
pub(crate) fn find_file(files: &LogFiles, has: &MariadbGtidState) -> Result<FilePosition, Refusal> {
    if files.engine.gtid_mode() != GtidMode::On {
        return Err(Refusal::fatal_1236(
            "The replication sender thread cannot start in AUTO_POSITION mode: this server has GTID_MODE other than ON.",
        ));
    }
    let has = has.get(DOMAIN).map_or(0, |gtid| gtid.seq);
    let series = files.series.lock();
    for &number in series.numbers().iter().rev() {
        if previous_gtids(&series, number)?.count() <= has {
            return Ok(FilePosition { file: number, pos: 4 });
        }
    }
    Err(not_in_any_file())
}

/// Returns the result of [`crate::Binlog::mariadb_gtid_at`].
pub(crate) fn gtid_at(files: &LogFiles, name: &str, pos: u64) -> Result<Option<MariadbGtid>, Refusal> {
    let end = files.wait_caught_up()?;
    let number = {
        let series = files.series.lock();
        if name.is_empty() { series.numbers().first().copied() } else { series.find(name) }
    };
    let number = number.ok_or_else(|| Refusal::new(1373, "Target log not found in binlog index"))?;
    last_gtid_before(files, FilePosition { file: number, pos }, end)
}

fn last_gtid_before(
    files: &LogFiles,
    place: FilePosition,
    end: FilePosition,
) -> Result<Option<MariadbGtid>, Refusal> {
    let mut seq = None;
    let mut to = Some(place.pos);
    let numbers = files.series.lock().numbers().to_vec();
    for &number in numbers.iter().rev().filter(|number| **number <= place.file) {
        let file = files.series.lock().open_file(number, OpenMode::Read);
        let file = file.map_err(|error| unreadable(&error.to_string()))?;
        let head = events::read_head(&*file).map_err(|what| unreadable(&what))?;
        let before = events::previous_gtids_of(&head).map_err(|what| unreadable(&what))?.count();
        let len = if number == end.file { Ok(end.pos) } else { file.len_bytes() };
        let len = len.map_err(|error| unreadable(&error.to_string()))?;
        let from = head.iter().map(HeadEvent::end).max().unwrap_or(4);
        let counted = count(&file, from, to.take().map_or(len, |to| to.min(len)))?;
        let seq = *seq.get_or_insert(before + counted.count);
        match counted.server_id {
            _ if seq == 0 => return Ok(None),
            Some(server_id) => return Ok(Some(MariadbGtid { domain: DOMAIN, server_id, seq })),
            None => {}
        }
    }
    // The last transaction is in a file that has been purged.
    Ok(seq.map(|seq| MariadbGtid { domain: DOMAIN, server_id: files.config.server_id, seq }))
}

/// Builds the refusal of a replica that lacks transactions which no file has.
pub(crate) fn not_in_any_file() -> Refusal {
    Refusal::fatal_1236(
        "Could not find GTID state requested by slave in any binlog files. Probably the slave state is too old and required \
         binlog files have been purged.",
    )
}

fn unreadable(what: &str) -> Refusal {
    Refusal::fatal_1236(format!(
        "Could not read binlog while searching for slave start position on master: {what}"
    ))
}

/// Counts the transactions that begin between two positions of a file. Both must be between events.
fn count(file: &Arc<dyn File>, from: u64, to: u64) -> Result<Counted, Refusal> {
    let mut counted = Counted::default();
    let mut block = vec![0; BLOCK_BYTES];
    let (mut pos, mut block_at, mut block_len) = (from, from, 0);
    while pos < to {
        let mut offset = (pos - block_at) as usize;
        if offset + HEADER_LEN > block_len {
            block_len = file.read_at(&mut block, pos).map_err(|error| unreadable(&error.to_string()))?;
            (block_at, offset) = (pos, 0);
        }
        let header = block.get(offset..block_len).and_then(|bytes| Header::decode(bytes).ok());
        let header = header.filter(|header| header.event_size as usize >= HEADER_LEN);
        let header = header.ok_or_else(|| unreadable(&format!("no event begins at position {pos}")))?;
        if matches!(header.event_type, event_type::GTID | event_type::GTID_TAGGED) {
            counted.count += 1;
            counted.server_id = Some(header.server_id);
        }
        pos += u64::from(header.event_size);
    }
    if pos > to && to >= from {
        return Err(unreadable(&format!(
            "position {to} does not correspond to the location of any binlog event"
        )));
    }
    Ok(counted)
}
