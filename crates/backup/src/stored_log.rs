//! The log of a backup as a running replica follows it: the events behind a place, and those that
//! a run with `--follow` adds meanwhile.
//!
//! A segment is brought into a file of the replica and checked against the manifest's checksum
//! before an event of it is given away. Segments grow, and short ones become a longer one, so the
//! reader remembers a place in the server's log and no segment.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use binlog::boundary::{Boundaries, Edge};
use binlog::event::{Event, FLAGS_OFFSET, HEADER_LEN, Header, event_type, flag};
use binlog::gtid::GtidSet;
use binlog::{Checksum, Format};
use os::disk::Disk;

use crate::error::{BackupError, Result};
use crate::lay_down::executed_of;
use crate::location::Location;
use crate::log_file::Events;
use crate::log_plan::Piece;
use crate::manifest::{Manifest, Place, Segment};
use crate::seal::Key;
use crate::store::Version;
use crate::vault::Vault;

/// How long a request to a store is tried again before the reader reports that the store cannot be
/// reached. A replica that is told to stop waits so long at most.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often segments are looked for when a run replaces them meanwhile.
const ATTEMPTS: u32 = 10;

/// What a replica has of the log already.
#[derive(Debug, Clone)]
pub enum Begin {
    /// The replica has these transactions, and wants all others.
    Gtids(GtidSet),
    /// The replica has everything before this place.
    Place(Place),
}

/// The log of a backup, read from some place on.
pub struct StoredLog {
    vault: Vault,
    disk: Arc<dyn Disk>,
    /// The file that holds the segment that is being read.
    scratch: PathBuf,
    manifest: Manifest,
    version: Version,
    /// The place of the next event.
    next: Place,
    /// The transactions that are passed over.
    has: GtidSet,
    /// The server's file whose name the replica was told last.
    told: Option<String>,
}

/// Where a place is in a manifest's log.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// The next event is in the segment with this index.
    In(usize),
    /// The log ends at the place.
    AtEnd,
    /// The log does not have the place.
    Nowhere,
}

fn find(manifest: &Manifest, place: &Place) -> Found {
    let logs = &manifest.logs;
    let holds = |log: &Segment| log.file == place.file && (log.from..log.to).contains(&place.pos);
    let ends = |log: &Segment| log.file == place.file && log.to == place.pos;
    let at = |index| if index < logs.len() { Found::In(index) } else { Found::AtEnd };
    if let Some(index) = logs.iter().position(holds) {
        return Found::In(index);
    }
    if let Some(index) = logs.iter().rposition(ends) {
        return at(index + 1);
    }
    // The log begins with the place of the oldest copy, which may be the end of an earlier file.
    let begins = manifest.copies.first().and_then(|copy| copy.place.as_ref());
    if begins == Some(place) { at(0) } else { Found::Nowhere }
}

impl StoredLog {
    /// Opens the backup at `from`, and finds where its log goes on for a replica. `scratch` is the
    /// path of a file that this reader may replace at any time.
    ///
    /// # Errors
    /// Returns [`BackupError::Refused`] when the log does not go on from there, and errors of the
    /// store.
    pub fn open(
        from: &Location,
        key_file: Option<&Path>,
        begin: Begin,
        scratch: PathBuf,
    ) -> Result<StoredLog> {
        let disk = os::disk::real();
        let key = key_file.map(|file| Key::read(&*disk, file)).transpose()?;
        StoredLog::of(Vault::new(from.open(PATIENCE)?, key), disk, begin, scratch)
    }

    fn of(vault: Vault, disk: Arc<dyn Disk>, begin: Begin, scratch: PathBuf) -> Result<StoredLog> {
        let (manifest, version) = Manifest::read(&vault)?;
        let (next, has) = match begin {
            Begin::Gtids(has) => (place_for(&vault, &manifest, &has)?, has),
            Begin::Place(place) => (place, GtidSet::default()),
        };
        if find(&manifest, &next) == Found::Nowhere {
            return Err(gone(&vault, &next));
        }
        Ok(StoredLog { vault, disk, scratch, manifest, version, next, has, told: None })
    }

    /// Returns the UUID of the server whose log it is.
    pub fn server_uuid(&self) -> &str {
        &self.manifest.server_uuid
    }

    /// Gives away what has come since the last call, until `visit` breaks. Returns whether anything
    /// has come. Transactions that the replica has are left out.
    ///
    /// # Errors
    /// Returns [`BackupError::Refused`] when the log does not go on from the last place any more,
    /// [`BackupError::Damaged`], and errors of the store.
    pub fn read_new(&mut self, mut visit: impl FnMut(Piece<'_>) -> ControlFlow<()>) -> Result<bool> {
        let mut has_come = false;
        for attempt in 1.. {
            if let Some((manifest, version)) = Manifest::read_newer(&self.vault, &self.version)? {
                (self.manifest, self.version) = (manifest, version);
            }
            match self.read_known(&mut visit, &mut has_come) {
                // The segment was replaced, so there is a newer manifest.
                Err(BackupError::Missing(_)) if attempt < ATTEMPTS => {}
                read => return read.map(|()| has_come),
            }
        }
        unreachable!("the last attempt returns")
    }

    /// Reads the segments that the manifest names, from the next event on.
    fn read_known(
        &mut self,
        visit: &mut dyn FnMut(Piece<'_>) -> ControlFlow<()>,
        has_come: &mut bool,
    ) -> Result<()> {
        loop {
            let segment = match find(&self.manifest, &self.next) {
                Found::In(index) => self.manifest.logs[index].clone(),
                Found::AtEnd => return Ok(()),
                Found::Nowhere => return Err(gone(&self.vault, &self.next)),
            };
            self.bring(&segment)?;
            *has_come = true;
            if self.read_segment(&segment, visit)?.is_break() {
                return Ok(());
            }
            assert_eq!(self.next.pos, segment.to, "a segment is read to its end");
        }
    }

    fn bring(&self, segment: &Segment) -> Result<()> {
        let wrong = |error| BackupError::io(&self.scratch, error);
        if self.disk.exists(&self.scratch).map_err(wrong)? {
            self.disk.remove(&self.scratch).map_err(wrong)?;
        }
        segment.stored.pour_out(&self.vault, &*self.disk, &self.scratch).map(drop)
    }

    /// Gives away the events of the segment that has been brought.
    fn read_segment(
        &mut self,
        segment: &Segment,
        visit: &mut dyn FnMut(Piece<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let mut events = Events::open(&*self.disk, &self.scratch, segment.from, true)?;
        let begin =
            if self.next.file == segment.file { self.next.pos.max(segment.from) } else { segment.from };
        self.next = Place { file: segment.file.clone(), pos: begin };
        if self.told.as_ref() != Some(&segment.file) {
            self.told = Some(segment.file.clone());
            if visit(Piece::File(&segment.file, begin)).is_break()
                || visit(Piece::Event(&events.format)).is_break()
            {
                self.told = None;
                return Ok(ControlFlow::Break(()));
            }
        }
        let (checksum_bytes, mut filter) = (events.checksum.len_bytes(), Filter::default());
        while let Some((pos, event)) = events.next_event()? {
            if pos < begin {
                continue;
            }
            let end = pos + event.len() as u64;
            let bare = &event[..event.len().saturating_sub(checksum_bytes)];
            let is_wanted = filter.wants(bare, &self.has);
            // A place behind transactions that were left out is told before the next one.
            let told = match (is_wanted, std::mem::replace(&mut filter.has_left_out, !is_wanted)) {
                (true, true) => visit(Piece::File(&segment.file, pos)),
                _ => ControlFlow::Continue(()),
            };
            if told.is_break() || (is_wanted && visit(Piece::Event(event)).is_break()) {
                return Ok(ControlFlow::Break(()));
            }
            if !filter.boundaries.is_inside() {
                self.next.pos = end;
            }
        }
        if self.next.pos != segment.to {
            let what = format!("it ends within a transaction, or not at {}", segment.to);
            return Err(BackupError::damaged(self.vault.name(&segment.stored.path), what));
        }
        match filter.has_left_out {
            true => Ok(visit(Piece::File(&segment.file, segment.to))),
            false => Ok(ControlFlow::Continue(())),
        }
    }
}

impl Drop for StoredLog {
    fn drop(&mut self) {
        // Another reader of the same replica would replace the file anyway.
        let _removed = self.disk.remove(&self.scratch);
    }
}

/// Finds the transactions that a replica has among the events of a log.
#[derive(Default)]
struct Filter {
    boundaries: Boundaries,
    /// Whether the transaction that has begun is left out.
    leaves_out: bool,
    /// Whether the last event was left out.
    has_left_out: bool,
}

impl Filter {
    /// Takes the next event, without its checksum, and reports whether the replica wants it.
    fn wants(&mut self, bare: &[u8], has: &GtidSet) -> bool {
        let edge = self.boundaries.feed(bare);
        if edge == Edge::Begin {
            let decoded = Header::decode(bare).and_then(|header| binlog::event::decode_body(&header, bare));
            self.leaves_out = matches!(decoded, Ok(Event::Gtid(event)) if has.contains(event.gtid));
        }
        let is_wanted = !self.leaves_out;
        if matches!(edge, Edge::End | Edge::Whole) {
            self.leaves_out = false;
        }
        is_wanted
    }
}

fn gone(vault: &Vault, place: &Place) -> BackupError {
    let Place { file, pos } = place;
    BackupError::Refused(format!("{}: its log does not have the place {file}:{pos}", vault.name("")))
}

/// Returns the newest place of the log before which everything is in `has`.
fn place_for(vault: &Vault, manifest: &Manifest, has: &GtidSet) -> Result<Place> {
    for index in (0..=manifest.logs.len()).rev() {
        for copy in manifest.copies.iter().rev() {
            let Some(place) = &copy.place else { continue };
            if manifest.segment_of(place) == index && executed_of(copy)?.is_subset(has) {
                return Ok(place.clone());
            }
        }
        let Some(segment) = manifest.logs.get(index) else { continue };
        if segment.from == 4 && previous_gtids(vault, segment)?.is_subset(has) {
            return Ok(Place { file: segment.file.clone(), pos: 4 });
        }
    }
    let mut missing = match manifest.copies.first() {
        Some(copy) => executed_of(copy)?,
        None => GtidSet::default(),
    };
    missing.subtract(has);
    let what = format!(
        "{}: its log begins after '{missing}', which this server does not have: restore this server from there",
        vault.name("")
    );
    Err(BackupError::Refused(what))
}

/// Reads so many bytes of a file.
fn take(content: &mut impl Read, bytes: u64, name: &str) -> Result<Vec<u8>> {
    let mut taken = Vec::new();
    let read = content.by_ref().take(bytes).read_to_end(&mut taken);
    match read.map_err(|error| BackupError::unread(name, error))? as u64 == bytes {
        true => Ok(taken),
        false => Err(BackupError::damaged(name, "it ends within its head")),
    }
}

/// Reads the GTIDs that were executed before a file, from the file's head. Only the head is
/// fetched, so the events' own checksums are what counts. Events without checksums are taken once
/// the whole file has that of the manifest.
fn previous_gtids(vault: &Vault, segment: &Segment) -> Result<GtidSet> {
    let name = vault.name(&segment.stored.path);
    let mut content = segment.stored.checked(vault)?;
    let damaged = |error: &dyn std::fmt::Display| BackupError::damaged(&name, error);
    let _magic = take(&mut content, binlog::MAGIC.len() as u64, &name)?;
    let mut format = Format::new(Checksum::Crc32);
    loop {
        let mut event = take(&mut content, HEADER_LEN as u64, &name)?;
        let header = Header::decode(&event).map_err(|error| damaged(&error))?;
        let rest = u64::from(header.event_size)
            .checked_sub(HEADER_LEN as u64)
            .filter(|rest| *rest <= segment.stored.bytes)
            .ok_or_else(|| damaged(&"an event of its head has a wrong length"))?;
        event.extend(take(&mut content, rest, &name)?);
        let is_format = header.event_type == event_type::FORMAT_DESCRIPTION;
        if is_format {
            // Whether the server was writing the file does not count in the event's checksum.
            event[FLAGS_OFFSET] &= !(flag::BINLOG_IN_USE as u8);
        }
        let is_checked = is_format || format.checksum == Checksum::Crc32;
        if is_checked && binlog::checksum::verify_checksum(&event).is_err() {
            return Err(damaged(&"an event of its head does not have its checksum"));
        }
        match binlog::decode(&event, &format).map_err(|error| damaged(&error))?.1 {
            Event::FormatDescription(described) => format = Format::new(described.checksum),
            Event::PreviousGtids(encoded) => {
                let gtids = GtidSet::decode(encoded).map_err(|error| damaged(&error))?;
                if !is_checked {
                    let read = std::io::copy(&mut content, &mut std::io::sink());
                    let _verified = read.map_err(|error| BackupError::unread(&name, error))?;
                }
                return Ok(gtids);
            }
            _ => return Err(damaged(&"it does not begin with the GTIDs before it")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Copy;
    use crate::stored::Stored;

    fn place(file: &str, pos: u64) -> Place {
        Place { file: file.to_owned(), pos }
    }

    fn manifest(oldest: Place, logs: &[(&str, u64, u64)]) -> Manifest {
        let stored = Stored { path: "logs/x".into(), bytes: 0, sha256: String::new(), compressed: false };
        let segment = |&(file, from, to): &(&str, u64, u64)| Segment {
            file: file.to_owned(),
            from,
            to,
            stored: stored.clone(),
        };
        let copy = Copy {
            server_version: String::new(),
            gtid_executed: String::new(),
            place: Some(oldest),
            taken_us: 0,
            files: Vec::new(),
        };
        let logs = logs.iter().map(segment).collect();
        Manifest { server_uuid: String::new(), copies: vec![copy], logs }
    }

    #[test]
    fn a_place_is_in_a_segment_at_the_end_or_nowhere() {
        let all = manifest(place("b.1", 50), &[("b.1", 4, 99), ("b.1", 99, 200), ("b.2", 4, 70)]);
        let cases = [
            (place("b.1", 4), Found::In(0)),
            (place("b.1", 98), Found::In(0)),
            (place("b.1", 99), Found::In(1)),
            (place("b.1", 200), Found::In(2)),
            (place("b.2", 70), Found::AtEnd),
            (place("b.2", 71), Found::Nowhere),
            (place("b.3", 4), Found::Nowhere),
        ];
        for (at, found) in cases {
            assert_eq!(find(&all, &at), found, "{at:?}");
        }
    }

    /// A log from which segments were removed does not go on for a reader that needs them.
    #[test]
    fn the_end_of_a_file_that_is_gone_leads_on_only_from_the_oldest_copy() {
        let begun = manifest(place("b.1", 200), &[("b.2", 4, 70)]);
        assert_eq!(find(&begun, &place("b.1", 200)), Found::In(0));
        assert_eq!(find(&begun, &place("b.1", 150)), Found::Nowhere);
        assert_eq!(find(&manifest(place("b.1", 200), &[]), &place("b.1", 200)), Found::AtEnd);
    }

    #[test]
    fn whole_transactions_are_left_out() {
        let has: GtidSet = "00000000-0000-0000-0000-000000000001:1-2".parse().expect("a set");
        let mut filter = Filter::default();
        // A transaction without a GTID event is never one that the replica has.
        let mut xid = vec![0; HEADER_LEN + 8];
        xid[4] = event_type::XID;
        xid[9] = xid.len() as u8;
        assert!(filter.wants(&xid, &has));
        filter.leaves_out = true;
        assert!(!filter.wants(&xid, &has), "the last event of one that is left out");
        assert!(filter.wants(&xid, &has), "the next one");
    }
}
