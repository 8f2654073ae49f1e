//! Reading of the binary log's files, and their comparison with the recovered engine.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use binlog::compressed::PayloadReader;
use binlog::{Checksum, DecodeError, Event, Format};
use engine::{Engine, Table};
use os::disk::Disk;
use os::sim::SimDisk;
use types::Value;

use crate::state::Step;
use crate::tables::{K, KEYED, SCHEMA, TAG};
use crate::worker::{LEDGER_TEXT, ledger_tag};
use crate::{DATADIR, UUID};

/// The number of compressed transactions that were read so far. Its order is relaxed because it is
/// only printed.
pub static COMPRESSED: AtomicU64 = AtomicU64::new(0);

/// One transaction in the binary log.
struct Group {
    gno: u64,
    /// The ledger entries that the transaction sets: the worker and its count.
    counts: Vec<(i64, i64)>,
}

/// Checks that the files hold every GTID from 1 on, once and in order, that they hold every
/// worker's transactions in the order of its counts up to what was recovered, and that each is in
/// the group whose number its worker was told.
pub fn compare(disk: &SimDisk, engine: &Arc<Engine>, recovered: &[Step], place: &str) {
    let keyed = engine.catalog().table(SCHEMA, KEYED).expect("it is always there");
    let groups = read_groups(disk, &keyed, place);
    let numbers: Vec<u64> = groups.iter().map(|group| group.gno).collect();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected, "{place}: GTIDs are missing, doubled or out of order");
    let executed = engine.gtid_executed().to_string();
    let upto = match numbers.len() {
        0 => String::new(),
        1 => format!("{UUID}:1"),
        last => format!("{UUID}:1-{last}"),
    };
    assert_eq!(executed, upto, "{place}: the engine has executed something else");
    for (number, step) in recovered.iter().enumerate() {
        let number = number as i64;
        let counts: BTreeMap<i64, u64> = groups
            .iter()
            .flat_map(|group| group.counts.iter().map(|&(worker, count)| (worker, count, group.gno)))
            .filter(|&(worker, ..)| worker == number)
            .map(|(_, count, gno)| (count, gno))
            .collect();
        let in_order: Vec<u64> = counts.values().copied().collect();
        assert!(in_order.is_sorted(), "{place}: worker {number}'s transactions are out of order");
        let count = ledger_count(step, number);
        assert!(
            counts.keys().copied().eq(1..=count),
            "{place}: worker {number} has committed {count} transactions, the binary log has {:?}",
            counts.keys()
        );
        if let Some(gno) = step.gno {
            assert!(numbers.contains(&gno), "{place}: worker {number} was told of GTID {gno}");
        }
    }
}

fn ledger_count(step: &Step, number: i64) -> i64 {
    let row = step.state.tables.get(KEYED).and_then(|table| table.rows.get(&ledger_tag(number)));
    match row.map(|values| &values[K]) {
        Some(Value::Int(count)) => *count,
        _ => 0,
    }
}

fn read_groups(disk: &SimDisk, keyed: &Table, place: &str) -> Vec<Group> {
    let index = disk.read(&Path::new(DATADIR).join("binlog.index")).expect("the index");
    let index = String::from_utf8(index).expect("names");
    let mut groups: Vec<Group> = Vec::new();
    for name in index.lines() {
        let name = Path::new(name).file_name().expect("a file's name");
        let bytes = disk.read(&Path::new(DATADIR).join(name)).expect("a file of the index");
        let mut reader = FileReader::new(keyed, &mut groups, format!("{place}: {}", name.display()));
        reader.read(&bytes);
    }
    groups
}

/// The reader of one file. A transaction has a beginning and an end; a statement about definitions
/// is its GTID event and itself.
struct FileReader<'a> {
    keyed: &'a Table,
    keyed_id: Option<u64>,
    groups: &'a mut Vec<Group>,
    open: bool,
    begun: bool,
    place: String,
}

impl<'a> FileReader<'a> {
    fn new(keyed: &'a Table, groups: &'a mut Vec<Group>, place: String) -> FileReader<'a> {
        FileReader { keyed, keyed_id: None, groups, open: false, begun: false, place }
    }

    fn read(&mut self, bytes: &[u8]) {
        let place = self.place.clone();
        assert_eq!(&bytes[..4], b"\xfebin", "{place}: the magic number");
        let mut at = 4;
        while at < bytes.len() {
            let size = u32::from_le_bytes(bytes[at + 9..at + 13].try_into().expect("four bytes")) as usize;
            let event = bytes.get(at..at + size).unwrap_or_else(|| panic!("{place}: cut off at {at}"));
            binlog::checksum::verify_checksum(event)
                .unwrap_or_else(|error| panic!("{place}: at {at}: {error:?}"));
            self.take(event, Checksum::Crc32).unwrap_or_else(|error| panic!("{place}: at {at}: {error:?}"));
            at += size;
        }
        assert!(!self.open, "{place}: the last transaction has no end");
    }

    fn take(&mut self, event: &[u8], checksum: Checksum) -> Result<(), DecodeError> {
        match binlog::decode(event, &Format::new(checksum))?.1 {
            Event::Gtid(gtid) => {
                assert!(!self.open, "{}: the transaction before {} has no end", self.place, gtid.gtid.gno);
                self.groups.push(Group { gno: gtid.gtid.gno, counts: Vec::new() });
                self.open = true;
            }
            Event::TransactionPayload(payload) => {
                COMPRESSED.fetch_add(1, Ordering::Relaxed);
                let mut events = PayloadReader::new(&payload)?;
                while let Some(event) = events.next_event()? {
                    self.take(event, Checksum::None)?;
                }
            }
            Event::Xid(_) => (self.open, self.begun) = (false, false),
            Event::Query(query) if self.begun => {
                let group = self.groups.last_mut().expect("statements follow a GTID");
                group.counts.extend(ledger_text(query.statement));
            }
            Event::Query(query) => {
                self.begun = query.statement == b"BEGIN";
                self.open = self.begun;
            }
            Event::TableMap(map) if map.table == KEYED.as_bytes() => self.keyed_id = Some(map.table_id),
            Event::Rows(rows) if Some(rows.table_id) == self.keyed_id => {
                let group = self.groups.last_mut().expect("rows follow a GTID");
                read_counts(&rows, self.keyed, &mut group.counts);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the worker and the count if the statement counts in the ledger.
fn ledger_text(statement: &[u8]) -> Option<(i64, i64)> {
    let counted = std::str::from_utf8(statement).expect("text").strip_prefix(LEDGER_TEXT)?;
    let (worker, count) = counted.split_once(' ').expect("worker and count");
    Some((worker.parse().expect("a number"), count.parse().expect("a number")))
}

/// Adds the ledger's changes in a rows event to `counts`.
fn read_counts(rows: &binlog::event::RowsEvent<'_>, keyed: &Table, counts: &mut Vec<(i64, i64)>) {
    let (before_mask, after_mask) = (rows.before_mask(), rows.after_mask());
    for change in rows.iter(&keyed.layout) {
        let change = change.expect("a row");
        let (mut tag, mut count) = (None, None);
        for (mask, image) in [before_mask.as_ref().zip(change.before), after_mask.as_ref().zip(change.after)]
            .into_iter()
            .flatten()
        {
            keyed
                .layout
                .walk_partial(mask, image, |column, raw| {
                    let int = || raw.map(|raw| i32::from_le_bytes(raw.try_into().expect("an INT")));
                    match column {
                        TAG => tag = int().or(tag),
                        K => count = int().or(count),
                        _ => {}
                    }
                })
                .expect("a row of the table");
        }
        if let (Some(tag @ ..0), Some(count)) = (tag, count) {
            counts.push((i64::from(-1 - tag), i64::from(count)));
        }
    }
}
