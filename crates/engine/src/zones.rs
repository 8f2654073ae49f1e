//! The zone map of a partitioned table: which values its partitioning column has in which stretches
//! of the table's keys.
//!
//! The rows of all partitions stand in one tree (decision 0041), so a query for the rows of one
//! partition would read the whole table. Scans learn the least and the greatest value of each zone
//! while they pass it, and later scans leave out the zones that cannot have a row which they want
//! (decision 0077). The map is in memory only.
//!
//! In: the runs of entries that scans copy from the pages, and the rows that commits put on pages.
//! Out: how far a scan may go on without reading.
//!
//! Invariants:
//! - The values of a zone never get fewer, except when a scan learns the zone anew.
//! - Every version of a row that a snapshot of [`Zone::as_of`] or later can see has its value among
//!   those of its zone. At the moment of learning these are the versions on the pages, because a
//!   version that is not on its page any more was replaced by a commit of at most `as_of`. Later
//!   ones are noted before their commits are visible.
//! - A scan announces what it learns ([`ZoneMap::begin`]) before it reads the pages, and a commit
//!   notes a row after it has put it on its page. So of a row and a scan that meet, either the scan
//!   finds the row on its page or the commit finds the announcement.

use crate::definition::{PartitionFunction, PartitionKind, TableDef};
use crate::version::view::View;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use types::TypeCode;
use types::order_number::OrderNumber;
use types::row::RowLayout;

/// The greatest number of zones. When there are more, each two neighbours become one.
const MOST_ZONES: usize = 1 << 16;

/// Numbers that order as the values of the column do, from the least to the greatest, both
/// included. NULL has no number, because no comparison finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    least: u64,
    greatest: u64,
}

impl Numbers {
    pub const NONE: Numbers = Numbers { least: u64::MAX, greatest: 0 };
    const ALL: Numbers = Numbers { least: 0, greatest: u64::MAX };

    pub fn between(least: u64, greatest: u64) -> Numbers {
        Numbers { least, greatest }
    }

    fn is_disjoint(self, other: Numbers) -> bool {
        self.least > other.greatest || other.least > self.greatest
    }

    pub fn join(&mut self, other: Numbers) {
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }
}

/// What is known of the keys from the zone's place in the map on.
#[derive(Clone, Debug)]
struct Zone {
    /// The first key behind the zone.
    end: Vec<u8>,
    numbers: Numbers,
    /// The snapshots that see this commit may use the zone.
    as_of: u64,
}

/// A zone that a scan is learning.
#[derive(Debug)]
struct Announced {
    id: u64,
    start: Vec<u8>,
    /// The numbers of the rows that commits have put behind the start meanwhile.
    numbers: Numbers,
}

#[derive(Debug, Default)]
struct Zones {
    /// The zones by the first key that belongs to them. No two of them overlap.
    known: BTreeMap<Vec<u8>, Zone>,
    announced: Vec<Announced>,
    last_id: u64,
}

/// The zone map of a table.
#[derive(Debug)]
pub(crate) struct ZoneMap {
    column: usize,
    order: OrderNumber,
    /// Whether a scan has ever announced something. The fences beside its uses make sure that a
    /// commit which reads `false` has put its row on the page before the scan reads the page.
    is_used: AtomicBool,
    /// The innermost lock: nothing is latched or locked under it.
    zones: Mutex<Zones>,
}

/// What a scan has learned of the keys from its announced start on.
#[derive(Debug)]
pub(crate) struct Learned {
    /// The first key behind those that were read.
    pub end: Vec<u8>,
    pub numbers: Numbers,
    /// The newest commit among the entries that were read.
    pub as_of: u64,
}

impl ZoneMap {
    /// Returns the empty zone map of a table. `None` is for a table that is not partitioned by
    /// ranges or lists of values of a number or a time.
    pub fn of(def: &TableDef) -> Option<Box<ZoneMap>> {
        let by = &def.partitioning.as_ref()?.by;
        if !matches!(by.kind, PartitionKind::Range | PartitionKind::List) {
            return None;
        }
        let column = column_of(def, by).filter(|column| !def.columns[*column].is_virtual())?;
        let ty = &def.columns[column].ty;
        // The bytes of a TIMESTAMP order by the moment, but not as the clocks of a time zone do.
        let is_moment = ty.code == TypeCode::Timestamp2;
        let order = if is_moment { OrderNumber::BigEndian } else { OrderNumber::of(ty)? };
        Some(Box::new(ZoneMap { column, order, is_used: AtomicBool::new(false), zones: Mutex::default() }))
    }

    pub fn column(&self) -> usize {
        self.column
    }

    /// Returns the numbers that hold the value of the column in a row, which are all for an image
    /// that does not decode.
    pub fn numbers_of(&self, layout: &RowLayout, image: &[u8]) -> Numbers {
        match layout.find(image, self.column) {
            Ok(None) => Numbers::NONE,
            Ok(Some(packed)) => {
                let number = self.order.of_packed(packed);
                Numbers::between(number, number)
            }
            Err(_) => Numbers::ALL,
        }
    }

    /// Notes a row that a commit has put on its page. The commit is not visible yet.
    pub fn note(&self, layout: &RowLayout, key: &[u8], image: &[u8]) {
        fence(Ordering::SeqCst);
        if !self.is_used.load(Ordering::Relaxed) {
            return;
        }
        let numbers = self.numbers_of(layout, image);
        let mut zones = self.zones.lock();
        let before = (Bound::Unbounded, Bound::Included(key));
        if let Some((_, zone)) = zones.known.range_mut::<[u8], _>(before).next_back()
            && key < &zone.end[..]
        {
            zone.numbers.join(numbers);
        }
        for announced in &mut zones.announced {
            if key >= &announced.start[..] {
                announced.numbers.join(numbers);
            }
        }
    }

    /// Returns the key at which a scan that is at `key`, and wants rows with these numbers, may go
    /// on. `None` means that it has to read what comes next.
    pub fn ahead(&self, key: &[u8], wanted: Numbers, view: &View) -> Option<Vec<u8>> {
        let zones = self.zones.lock();
        let seen = view.complete_to();
        let before = (Bound::Unbounded, Bound::Included(key));
        let (first, _) =
            zones.known.range::<[u8], _>(before).next_back().filter(|(_, zone)| key < &zone.end[..])?;
        let mut end: Option<&Vec<u8>> = None;
        for (start, zone) in zones.known.range(first.clone()..) {
            let follows = end.is_none_or(|end| end == start);
            if !follows || zone.as_of > seen || !zone.numbers.is_disjoint(wanted) {
                break;
            }
            end = Some(&zone.end);
        }
        end.cloned()
    }

    /// Announces that a scan learns the keys from `start` on. Returns the number of the
    /// announcement, which [`ZoneMap::end`] takes back.
    pub fn begin(&self, start: Vec<u8>) -> u64 {
        self.is_used.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let mut zones = self.zones.lock();
        zones.last_id += 1;
        let id = zones.last_id;
        zones.announced.push(Announced { id, start, numbers: Numbers::NONE });
        id
    }

    /// Takes an announcement back. What was learned takes the place of what was known.
    pub fn end(&self, id: u64, learned: Option<Learned>) {
        let mut zones = self.zones.lock();
        let at = zones.announced.iter().position(|announced| announced.id == id);
        let Announced { start, numbers: added, .. } =
            zones.announced.swap_remove(at.expect("an announcement ends once"));
        let Some(Learned { end, mut numbers, as_of }) = learned else { return };
        assert!(start < end, "a zone has keys");
        numbers.join(added);
        zones.put(start, Zone { end, numbers, as_of });
    }
}

impl Zones {
    /// Puts a zone in the place of the zones, and the parts of zones, that it covers.
    fn put(&mut self, start: Vec<u8>, zone: Zone) {
        let before = (Bound::Unbounded, Bound::Excluded(&start[..]));
        if let Some((_, left)) = self.known.range_mut::<[u8], _>(before).next_back()
            && left.end > start
        {
            let rest = (left.end > zone.end).then(|| left.clone());
            left.end.clone_from(&start);
            if let Some(rest) = rest {
                self.known.insert(zone.end.clone(), rest);
            }
        }
        let within: Vec<Vec<u8>> =
            self.known.range(start.clone()..zone.end.clone()).map(|(start, _)| start.clone()).collect();
        for covered in within {
            let covered = self.known.remove(&covered).expect("it was just found");
            if covered.end > zone.end {
                self.known.insert(zone.end.clone(), covered);
            }
        }
        let before = self.known.range(..start.clone()).next_back();
        assert!(before.is_none_or(|(_, before)| before.end <= start), "no two zones overlap");
        let behind = self.known.range(start.clone()..).next();
        assert!(behind.is_none_or(|(behind, _)| *behind >= zone.end), "no two zones overlap");
        self.known.insert(start, zone);
        if self.known.len() > MOST_ZONES {
            self.join_neighbours();
        }
    }

    /// Makes one zone of each two that touch.
    fn join_neighbours(&mut self) {
        let mut zones = std::mem::take(&mut self.known).into_iter().peekable();
        while let Some((start, mut zone)) = zones.next() {
            if let Some((_, next)) = zones.next_if(|(next, _)| *next == zone.end) {
                zone.numbers.join(next.numbers);
                zone.as_of = zone.as_of.max(next.as_of);
                zone.end = next.end;
            }
            self.known.insert(start, zone);
        }
        if self.known.len() > MOST_ZONES {
            // Hardly any two zones touch. Scans learn them again.
            self.known.clear();
        }
    }
}

/// Returns the column whose values choose the partition: the first column of RANGE COLUMNS or LIST
/// COLUMNS, or the only column of the expression.
fn column_of(def: &TableDef, by: &PartitionFunction) -> Option<usize> {
    let Some(expression) = &by.expression else { return def.column(by.columns.first()?) };
    // Names stand between backticks in the canonical form.
    let mut names = expression.split('`').skip(1).step_by(2);
    let first = names.next()?;
    names.all(|name| name == first).then(|| def.column(first)).flatten()
}
