//! Recovery at a start: brings the files to the end of the redo log.
//!
//! The checkpoint says up to where the files are safe. Everything that follows in the redo log is
//! written into the files again, at the same positions as before. Groups have only one form, and
//! the places where a file ends and the next begins are read from the files, because a file is
//! complete and synced before its successor enters the index. So replicas' positions stay right. A
//! part of a file that the redo log does not have is cut off, and the error log names the
//! transactions in it (decision 0051).

use std::io;

use binlog::gtid::GtidSet;
use engine::Engine;
use os::disk::OpenMode;

use crate::dependencies::Written;
use crate::error::BinlogError;
use crate::events::{self, HeadEvent};
use crate::lost::Lost;
use crate::series::FileSeries;
use crate::state::SafePoint;
use crate::tail::{BLOCK_BYTES, Tail};

/// Writes everything of the redo log from `safe.lsn` on again, and returns the end in the newest
/// file, which is then synced.
///
/// # Errors
/// Returns an error when the files contradict the redo log or cannot be read or written.
pub(crate) fn rederive(files: &FileSeries, safe: &SafePoint, engine: &Engine) -> Result<Tail, BinlogError> {
    let mut stream = engine.commit_stream(safe.lsn)?;
    let mut tail = open_tail(files, safe)?;
    let newest = files.last().unwrap_or(safe.file);
    let mut groups: u64 = 0;
    loop {
        while tail.number < newest && ends_here(files, &tail)? {
            tail = next_tail(files, &tail)?;
        }
        let Some(committed) = stream.next(None)? else { break };
        tail.append(&committed, Written::UNKNOWN)?;
        groups += 1;
        if tail.number < newest || tail.gathered_bytes() >= BLOCK_BYTES {
            tail.flush()?;
        }
    }
    tail.lsn = stream.lsn();
    tail.flush()?;
    if tail.number != newest {
        return Err(BinlogError::Damaged {
            file: files.name(tail.number),
            pos: tail.pos(),
            what: format!("the log ends here, but file '{}' follows", files.name(newest)),
        });
    }
    if !ends_here(files, &tail)? {
        cut_off(files, &mut tail, engine)?;
    }
    tail.mark_in_use(false)?;
    tail.sync()?;
    if groups > 0 {
        log::info!(
            "Binary log: {groups} transactions put into '{}' again, up to position {}",
            files.name(tail.number),
            tail.pos()
        );
    }
    Ok(tail)
}

/// Cuts the newest file behind the end of the redo log, and reports the transactions that were
/// there. The GTIDs among them that this server assigned are purged before: a new transaction with
/// one of them would be passed over by the replicas that have the lost one. The GTIDs of other
/// servers are not executed, and come again.
fn cut_off(files: &FileSeries, tail: &mut Tail, engine: &Engine) -> Result<(), BinlogError> {
    let file = files.open_file(tail.number, OpenMode::Read)?;
    let (pos, len) = (tail.pos(), file.len_bytes()?);
    let lost = Lost::read(&*file, pos, tail.checksum(), engine.config().server_uuid)?;
    if lost.transactions > 0 {
        log::error!(
            "Binary log: '{}' is cut off at position {pos} of {len}: what follows is not in the redo log, which ends at LSN {} and is \
             damaged there or was not synced (innodb_flush_log_at_trx_commit). This server has lost {lost}, which replicas may have",
            files.name(tail.number),
            tail.lsn
        );
    }
    if !lost.own.is_empty() {
        log::error!(
            "Binary log: no other transaction gets the lost GTIDs of this server; they are purged: '{}'",
            lost.own
        );
        engine.add_gtid_purged(&lost.own)?;
        tail.gtids.union(&lost.own);
    }
    tail.truncate()
}

/// Brings the files into order after an error had turned the log off: cuts off the part that was
/// not synced, whose contents are uncertain. The GTIDs committed since, or in that part, are
/// purged, so that no replica passes over them unnoticed. Returns the GTIDs that precede the next
/// file.
pub(crate) fn after_turned_off(
    files: &FileSeries,
    safe: SafePoint,
    engine: &Engine,
) -> Result<GtidSet, BinlogError> {
    if files.numbers().binary_search(&safe.file).is_ok() {
        let mut tail = open_tail(files, &safe)?;
        tail.truncate()?;
        tail.mark_in_use(false)?;
        tail.sync()?;
    }
    let (mut gtids, mut lost) = (safe.gtids, engine.gtid_executed());
    lost.subtract(&gtids);
    log::warn!(
        "The binary log had been turned off by an error (binlog_error_action). It does not have what was committed since; these GTIDs \
         are purged: '{lost}'"
    );
    gtids.union(&lost);
    engine.add_gtid_purged(&lost)?;
    Ok(gtids)
}

fn open_tail(files: &FileSeries, at: &SafePoint) -> Result<Tail, BinlogError> {
    let damaged = |pos, what| BinlogError::Damaged { file: files.name(at.file), pos, what };
    let file = match files.open_file(at.file, OpenMode::ReadWrite) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(damaged(4, "the index names it, but it is not there".to_owned()));
        }
        opened => opened?,
    };
    let checksum = events::read_head(&*file)
        .and_then(|head| events::checksum_of_head(&head))
        .map_err(|what| damaged(4, what))?;
    let len = file.len_bytes()?;
    if len < at.pos {
        return Err(damaged(
            len,
            format!("the file ends here, but had been synced up to position {}", at.pos),
        ));
    }
    Ok(Tail::at(files.name(at.file), file, at, checksum))
}

/// Reports whether the file ends at the tail's position: with a rotate or stop event as its last
/// event.
fn ends_here(files: &FileSeries, tail: &Tail) -> Result<bool, BinlogError> {
    let file = files.open_file(tail.number, OpenMode::Read)?;
    let len = file.len_bytes()?;
    let pos = tail.pos();
    if len <= pos {
        // A file that a crash left without a last event ends at its length.
        return Ok(len == pos && files.last() != Some(tail.number));
    }
    if len - pos > events::LONGEST_END_EVENT_BYTES {
        return Ok(false);
    }
    let mut rest = vec![0; (len - pos) as usize];
    file.read_exact_at(&mut rest, pos)?;
    Ok(events::is_end_event(&rest, tail.checksum()))
}

/// Returns the tail of the file behind a complete one, positioned behind its head.
fn next_tail(files: &FileSeries, tail: &Tail) -> Result<Tail, BinlogError> {
    let number =
        files.numbers().iter().copied().find(|&n| n > tail.number).expect("a newer file is in the index");
    let file = files.open_file(number, OpenMode::Read)?;
    let head = events::read_head(&*file).map_err(|what| BinlogError::Damaged {
        file: files.name(number),
        pos: 4,
        what,
    })?;
    let pos = head.iter().map(HeadEvent::end).max().unwrap_or(4);
    let at = SafePoint { lsn: tail.lsn, file: number, pos, sequence_number: 0, gtids: tail.gtids.clone() };
    open_tail(files, &at)
}
