//! The search for the point up to which binary logs are to be applied.

use std::path::{Path, PathBuf};

use binlog::boundary::{Boundaries, Edge};
use binlog::event::{Event, Header};
use binlog::gtid::{Gtid, GtidSet};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use os::disk::Disk;

use crate::error::{BackupError, Result};
use crate::log_file::Events;
use crate::manifest::Place;

/// The point of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Point {
    /// All of these GTIDs are executed.
    Gtids(GtidSet),
    /// Everything is executed that was committed by this time, in microseconds of Unix time.
    Time(u64),
}

impl Point {
    /// Reads a set of GTIDs or a time. `None` means that the text is neither.
    pub fn parse(text: &str) -> Option<Point> {
        if let Ok(set) = text.parse::<GtidSet>()
            && !set.is_empty()
        {
            return Some(Point::Gtids(set));
        }
        let at = match text.parse::<jiff::Timestamp>() {
            Ok(at) => at,
            Err(_) => TimeZone::system().to_timestamp(text.parse::<DateTime>().ok()?).ok()?,
        };
        Some(Point::Time(u64::try_from(at.as_microsecond()).ok()?))
    }
}

/// A file of events.
#[derive(Debug, Clone)]
pub(crate) struct LogPart {
    /// The file's path.
    pub path: PathBuf,
    /// The name of the server's file.
    pub name: String,
    /// The offset of the first event in the server's file.
    pub from: u64,
    /// The offset of the first event that counts. Those before it are passed over.
    pub begin: u64,
    /// Whether the first event stands behind the format description, wherever `from` is.
    pub is_segment: bool,
}

/// What is to be applied.
#[derive(Debug)]
pub struct LogPlan {
    parts: Vec<LogPart>,
    /// The place behind the last transaction.
    pub end: Place,
    /// The number of transactions.
    pub transactions: u64,
    /// The GTIDs that are executed at the point.
    pub gtid_executed: GtidSet,
}

/// A piece of what is to be applied.
#[derive(Debug)]
pub enum Piece<'a> {
    /// The events go on in this file, at this offset.
    File(&'a str, u64),
    /// The next event.
    Event(&'a [u8]),
}

/// A group that is being looked at.
#[derive(Default)]
struct Group {
    gtid: Option<Gtid>,
    committed_us: u64,
}

fn group_of(event: &[u8]) -> Group {
    let Ok(header) = Header::decode(event) else { return Group::default() };
    let coarse_us = u64::from(header.timestamp) * 1_000_000;
    let of = |us: u64| if us == 0 { coarse_us } else { us };
    match binlog::event::decode_body(&header, event) {
        Ok(Event::Gtid(event)) => {
            Group { gtid: Some(event.gtid), committed_us: of(event.immediate_commit_us) }
        }
        Ok(Event::AnonymousGtid(event)) => Group { gtid: None, committed_us: of(event.immediate_commit_us) },
        _ => Group { gtid: None, committed_us: coarse_us },
    }
}

impl LogPlan {
    /// Finds the point in the logs, of which the first begins where a copy with the GTIDs
    /// `executed` stands. `None` means that nothing is to be applied.
    ///
    /// # Errors
    /// Returns [`BackupError::Refused`] when the logs do not come to the point or the copy is past
    /// it already, and errors of the files.
    pub(crate) fn find(
        disk: &dyn Disk,
        parts: Vec<LogPart>,
        executed: GtidSet,
        until: Option<&Point>,
    ) -> Result<Option<LogPlan>> {
        if let Some(Point::Gtids(wanted)) = until
            && wanted.is_subset(&executed)
        {
            return if executed.is_subset(wanted) { Ok(None) } else { Err(too_late(wanted, executed)) };
        }
        let end = Place { file: String::new(), pos: 0 };
        let mut plan = LogPlan { parts: Vec::new(), end, transactions: 0, gtid_executed: executed };
        for part in &parts {
            if plan.look_through(disk, part, until)? {
                plan.parts = parts;
                return Ok(Some(plan).filter(|plan| plan.transactions > 0));
            }
        }
        if let Some(Point::Gtids(wanted)) = until {
            let mut missing = wanted.clone();
            missing.subtract(&plan.gtid_executed);
            let what = format!("the binary logs end before the point: they do not have '{missing}'");
            return Err(BackupError::Refused(what));
        }
        plan.parts = parts;
        Ok(Some(plan).filter(|plan| plan.transactions > 0))
    }

    /// Looks through a file. Returns true when the point is in it.
    fn look_through(&mut self, disk: &dyn Disk, part: &LogPart, until: Option<&Point>) -> Result<bool> {
        let mut events = Events::open(disk, &part.path, part.from, part.is_segment)?;
        let checksum_bytes = events.checksum.len_bytes();
        let (mut boundaries, mut group) = (Boundaries::default(), Group::default());
        while let Some((pos, event)) = events.next_event()? {
            if pos < part.begin {
                continue;
            }
            let end = pos + event.len() as u64;
            let bare = &event[..event.len().saturating_sub(checksum_bytes)];
            let edge = boundaries.feed(bare);
            if matches!(edge, Edge::Begin | Edge::Whole) {
                group = group_of(bare);
                if matches!(until, Some(Point::Time(latest_us)) if group.committed_us > *latest_us) {
                    return Ok(true);
                }
            }
            if matches!(edge, Edge::End | Edge::Whole) {
                group.gtid.into_iter().for_each(|gtid| self.gtid_executed.add(gtid));
                self.end = Place { file: part.name.clone(), pos: end };
                self.transactions += 1;
                if matches!(until, Some(Point::Gtids(wanted)) if wanted.is_subset(&self.gtid_executed)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns the place where the events begin.
    pub fn start(&self) -> Place {
        let first = self.parts.first();
        assert!(self.transactions == 0 || !self.end.file.is_empty(), "transactions stand in a file");
        first.map_or(Place { file: String::new(), pos: 4 }, |part| Place {
            file: part.name.clone(),
            pos: part.begin,
        })
    }

    /// Calls `visit` with everything up to the point, in order.
    ///
    /// # Errors
    /// Returns the errors of `visit`, and those of the files.
    pub fn for_each(
        &self,
        disk: &dyn Disk,
        mut visit: impl FnMut(Piece<'_>) -> std::result::Result<(), String>,
    ) -> Result<()> {
        let mut visit = |piece: Piece<'_>| visit(piece).map_err(BackupError::Refused);
        for part in &self.parts {
            let mut events = Events::open(disk, &part.path, part.from, part.is_segment)?;
            visit(Piece::File(&part.name, part.begin))?;
            visit(Piece::Event(&events.format.clone()))?;
            while let Some((pos, event)) = events.next_event()? {
                if pos < part.begin {
                    continue;
                }
                if part.name == self.end.file && pos >= self.end.pos {
                    return Ok(());
                }
                visit(Piece::Event(event))?;
            }
        }
        Ok(())
    }
}

fn too_late(wanted: &GtidSet, mut executed: GtidSet) -> BackupError {
    executed.subtract(wanted);
    BackupError::Refused(format!("the backup is later than the point: it has '{executed}' too"))
}

/// Returns the binary log files of a directory that follow a place: the rest of its file, and the
/// later files.
pub(crate) fn files_from(disk: &dyn Disk, dir: &Path, place: &Place) -> Result<Vec<LogPart>> {
    let refused = |what: String| Err(BackupError::Refused(format!("{}: {what}", dir.display())));
    let split = |name: &str| {
        let (base, number) = name.rsplit_once('.')?;
        Some((base.to_owned(), number.parse::<u64>().ok()?))
    };
    let Some((base, first)) = split(&place.file) else {
        return refused(format!("'{}' is no name of a binary log file", place.file));
    };
    let mut found = Vec::new();
    for path in disk.list(dir).map_err(|error| BackupError::io(dir, error))? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        match split(&name) {
            Some((of, number)) if of == base && number >= first => found.push((number, name, path)),
            _ => {}
        }
    }
    found.sort();
    for ((number, ..), expected) in found.iter().zip(first..) {
        if *number != expected {
            return refused(format!("'{base}.{expected:06}' is not there"));
        }
    }
    if found.is_empty() {
        return refused(format!("'{}' is not there, in which the backup's log ends", place.file));
    }
    assert_eq!(found[0].0, first, "the files begin with the one that the copy ends in");
    let part = |(number, name, path): (u64, String, PathBuf)| {
        let from = if number == first { place.pos } else { 4 };
        LogPart { path, name, from, begin: from, is_segment: false }
    };
    Ok(found.into_iter().map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_gtids_or_times() {
        let uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
        assert!(matches!(Point::parse(&format!("{uuid}:1-5")), Some(Point::Gtids(set)) if set.count() == 5));
        assert_eq!(Point::parse("1970-01-02T00:00:00.5Z"), Some(Point::Time(86_400_500_000)));
        assert!(matches!(Point::parse("2026-11-28 10:00:00"), Some(Point::Time(_))));
        for text in ["", "yesterday", "12", uuid] {
            assert_eq!(Point::parse(text), None, "{text}");
        }
    }
}
