//! Finds the first entry of each key.
//!
//! Keys are kept in memory as long as they fit. After that, entries with keys that are not in
//! memory go to a file, partitioned by their keys. When all entries have come, the first entries of
//! each partition are found the same way.

use super::partitions::{Part, Partitions};
use super::room::table_bytes;
use super::row::{damaged, read_number, write_number};
use super::table::{Entered, KeyTable, hash_of};
use crate::error::Result;
use crate::expr::Context;
use crate::memory::Charge;

/// The keys that have been seen, and the entries that are left for later.
pub(crate) struct Firsts {
    table: KeyTable,
    most_bytes: usize,
    later: Option<Partitions>,
    /// The number of entries that went to `later`. Each is stored with its number, so that they can
    /// be put in order again.
    numbered: u64,
    payload: Vec<u8>,
}

/// Takes the number and the payload of an entry. It returns false when it wants no more.
pub(crate) type TakeFirst<'t> = dyn FnMut(u64, &[u8]) -> Result<bool> + 't;

impl Firsts {
    pub fn new(ctx: &Context<'_>) -> Firsts {
        Firsts {
            table: KeyTable::new(Charge::new(ctx.memory)),
            most_bytes: table_bytes(ctx),
            later: None,
            numbered: 0,
            payload: Vec::new(),
        }
    }

    /// Reports whether an entry is known to be the first one with its key. When this cannot be
    /// known yet, the entry's payload is kept for [`Firsts::finish`] and the answer is false.
    ///
    /// # Errors
    /// Returns 1 when a temporary file cannot be created and 3 when it cannot be written, and the
    /// errors of [`Charge::add`].
    pub fn is_first(
        &mut self,
        key: &[u8],
        write_payload: impl FnOnce(&mut Vec<u8>),
        ctx: &Context<'_>,
    ) -> Result<bool> {
        let hash = hash_of(key);
        let may_enter = self.later.is_none() && self.table.used_bytes() + key.len() <= self.most_bytes;
        match self.table.enter(key, hash, may_enter)? {
            Entered::New(_) => Ok(true),
            Entered::Known(_) => Ok(false),
            Entered::Refused => {
                self.payload.clear();
                write_number(self.numbered, &mut self.payload);
                self.numbered += 1;
                write_payload(&mut self.payload);
                later_parts(&mut self.later, 0, ctx).push(key, hash, &self.payload, ctx)?;
                Ok(false)
            }
        }
    }

    /// Returns the keys that have been seen. `None` means that entries are left for later.
    pub fn into_keys(self) -> Option<KeyTable> {
        self.later.is_none().then_some(self.table)
    }

    /// Notes a key that has room, and reports whether it is new.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`].
    pub fn enter(&mut self, key: &[u8]) -> Result<bool> {
        match self.table.enter(key, hash_of(key), true)? {
            Entered::New(_) => Ok(true),
            Entered::Known(_) => Ok(false),
            Entered::Refused => Err(crate::memory::out_of_memory()),
        }
    }

    /// Gives the keys this many times less memory.
    pub fn divide_memory(&mut self, by: usize) {
        self.most_bytes /= by;
    }

    /// Reports whether entries are left for [`Firsts::finish`].
    pub fn has_later(&self) -> bool {
        self.later.is_some()
    }

    /// Passes the first entry of each key among those left for later to `take`, in any order, with
    /// its number among them. Returns false when `take` wants no more.
    ///
    /// # Errors
    /// Returns the errors of [`Firsts::is_first`] and of `take`, 2 when the file cannot be read,
    /// and 1317 when the statement is killed.
    pub fn finish(self, ctx: &Context<'_>, take: &mut TakeFirst<'_>) -> Result<bool> {
        let Firsts { table, later, most_bytes, .. } = self;
        // The partitions need the table's memory.
        drop(table);
        let mut parts = later.map_or(Ok(Vec::new()), |later| later.finish(ctx))?;
        while let Some(part) = parts.pop() {
            if !firsts_of_part(&part, most_bytes, &mut parts, ctx, take)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the partitions for entries that are left for later, which it creates for the first of
/// them. `level` is how many times the entries have been partitioned before.
pub(crate) fn later_parts<'l>(
    later: &'l mut Option<Partitions>,
    level: u32,
    ctx: &Context<'_>,
) -> &'l mut Partitions {
    later.get_or_insert_with(|| {
        if level == 0 {
            ctx.counters.created_tmp_disk_tables.count();
        }
        Partitions::new(level, ctx)
    })
}

/// Passes the first entry of each key of a partition to `take`. Entries that do not fit in memory
/// are partitioned once more, and these partitions are added to `parts`.
fn firsts_of_part(
    part: &Part,
    most_bytes: usize,
    parts: &mut Vec<Part>,
    ctx: &Context<'_>,
    take: &mut TakeFirst<'_>,
) -> Result<bool> {
    let mut table = KeyTable::new(Charge::new(ctx.memory));
    let mut later: Option<Partitions> = None;
    let mut goes_on = true;
    part.for_each(ctx, &mut |key, hash, payload| {
        if !goes_on {
            return Ok(());
        }
        let has_room = later.is_none() && table.used_bytes() + key.len() <= most_bytes;
        // At the last level the hash has no unused bits left, so everything has to fit in
        // memory.
        match table.enter(key, hash, has_room || !Partitions::can_spread(part.level()))? {
            Entered::New(_) => {
                let mut payload = payload;
                let number = read_number(&mut payload).ok_or_else(damaged)?;
                goes_on = take(number, payload)?;
                Ok(())
            }
            Entered::Known(_) => Ok(()),
            Entered::Refused => later_parts(&mut later, part.level(), ctx).push(key, hash, payload, ctx),
        }
    })?;
    drop(table);
    if goes_on && let Some(later) = later {
        parts.extend(later.finish(ctx)?);
    }
    Ok(goes_on)
}
