//! A scan's way through the zone map of its table ([`crate::zones`]): it leaves out zones that have
//! no row which it wants, and learns the zones that it reads.
//!
//! Both happen between two runs of entries, so that a scan pays nothing for them at each row.

use crate::entry::ClusteredValue;
use crate::error::Result;
use crate::table::Table;
use crate::version::view::View;
use crate::zones::{Learned, Numbers, ZoneMap};
use std::ops::Bound;
use std::sync::Arc;

/// The number of entries at which a zone is complete.
const ENTRIES_OF_ZONE: usize = 1024;

/// The way of one scan. It is forward, in the clustered tree, at a snapshot.
pub(super) struct ZoneWalk {
    table: Arc<Table>,
    wanted: Numbers,
    learning: Option<Learning>,
}

/// The zone that the scan is learning.
struct Learning {
    announced: u64,
    entries: usize,
    /// What the entries say, once there are some.
    learned: Option<Learned>,
}

impl ZoneWalk {
    /// Returns the way of a scan that wants only rows in which the partitioning column has a number
    /// between these. `None` is for a table without a zone map.
    pub fn new(table: &Arc<Table>, (least, greatest): (u64, u64)) -> Option<Box<ZoneWalk>> {
        table.zones.as_ref()?;
        let wanted = Numbers::between(least, greatest);
        Some(Box::new(ZoneWalk { table: table.clone(), wanted, learning: None }))
    }

    fn map(table: &Table) -> &ZoneMap {
        table.zones.as_ref().expect("a walk is on a table with a zone map")
    }

    /// Does what is to be done before a run of entries is copied whose keys lie behind `bound`.
    /// Returns the key at which the scan goes on instead, if the keys before it have no row that it
    /// wants.
    pub fn before_run(&mut self, bound: Bound<&[u8]>, view: &View) -> Option<Vec<u8>> {
        let place = match bound {
            Bound::Unbounded => Vec::new(),
            Bound::Included(key) => key.to_vec(),
            Bound::Excluded(key) => after(key),
        };
        let ahead = Self::map(&self.table).ahead(&place, self.wanted, view);
        let is_complete = |learning: &Learning| learning.entries >= ENTRIES_OF_ZONE;
        if ahead.is_some() || self.learning.as_ref().is_some_and(is_complete) {
            self.finish();
        }
        if self.learning.is_none() {
            let announced = Self::map(&self.table).begin(ahead.clone().unwrap_or(place));
            self.learning = Some(Learning { announced, entries: 0, learned: None });
        }
        ahead
    }

    /// Learns from the entries of a run that was copied after [`ZoneWalk::before_run`].
    ///
    /// # Errors
    /// Returns an error for an entry that does not decode.
    pub fn learn<'r>(&mut self, run: impl Iterator<Item = (&'r [u8], &'r [u8])>) -> Result<()> {
        let Some(learning) = &mut self.learning else { return Ok(()) };
        let map = Self::map(&self.table);
        let mut last = None;
        let mut learned =
            learning.learned.take().unwrap_or(Learned { end: Vec::new(), numbers: Numbers::NONE, as_of: 0 });
        for (key, value) in run {
            let parsed = ClusteredValue::parse(value)?;
            learned.as_of = learned.as_of.max(parsed.seq);
            if !parsed.is_deleted() {
                let image = self.table.image_of(&parsed)?;
                learned.numbers.join(map.numbers_of(&self.table.layout, &image));
            }
            learning.entries += 1;
            last = Some(key);
        }
        if let Some(last) = last {
            learned.end = after(last);
            learning.learned = Some(learned);
        }
        Ok(())
    }

    /// Ends the zone that is being learned behind the last entry that was read.
    pub fn finish(&mut self) {
        if let Some(Learning { announced, learned, .. }) = self.learning.take() {
            Self::map(&self.table).end(announced, learned);
        }
    }
}

impl Drop for ZoneWalk {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Returns the least key behind this one.
fn after(key: &[u8]) -> Vec<u8> {
    let mut after = Vec::with_capacity(key.len() + 1);
    after.extend_from_slice(key);
    after.push(0);
    after
}
