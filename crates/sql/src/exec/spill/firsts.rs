//! The first entry of each key.
//!
//! Keys are kept in memory as long as there is room. Entries of further keys then go to a file,
//! spread by their keys, and each part is looked through when all entries have come.

use super::partitions::{Part, Partitions};
use super::room::table_bytes;
use super::row::{damaged, read_number, write_number};
use super::table::{Entered, KeyTable, hash_of};
use crate::error::Result;
use crate::expr::Context;
use crate::memory::Charge;

/// The keys so far.
pub(crate) struct Firsts {
    table: KeyTable,
    most_bytes: usize,
    later: Option<Partitions>,
    /// How many entries went there. Each has its number there, so that they can be put in order
    /// again.
    numbered: u64,
    payload: Vec<u8>,
}

/// Takes the number and the payload of an entry; false: no more are wanted.
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

    /// Whether an entry is the first of its key. Where that cannot be known, its payload is kept
    /// for [`Firsts::finish`], and it is not.
    ///
    /// # Errors
    /// 1 and 3 when a temporary file cannot be made or written, those of [`Charge::add`].
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

    /// Whether entries were kept for [`Firsts::finish`].
    pub fn has_later(&self) -> bool {
        self.later.is_some()
    }

    /// Gives the first of each key that was kept to `take`, in any order, with its number among
    /// those that were kept. False: `take` wants no more.
    ///
    /// # Errors
    /// As [`Firsts::is_first`]; 2 when the file cannot be read; those of `take`; 1317.
    pub fn finish(self, ctx: &Context<'_>, take: &mut TakeFirst<'_>) -> Result<bool> {
        let Firsts { table, later, most_bytes, .. } = self;
        // Its room is for the parts.
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

/// Where entries go that have been spread so many times.
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

/// Gives the first of each key of a part to `take`. What does not fit is spread once more, to
/// `parts`.
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
        // What has the same hash cannot be spread.
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
