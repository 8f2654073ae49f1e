//! INTERSECT and EXCEPT: the rows so far that a branch has too, or those that it has not.
//!
//! The branch's rows are counted by their keys, in memory up to `tmp_table_size`. Beyond it, rows
//! with further keys are spread over partitions by their keys, and so are the rows so far for which
//! these keys have to be known. Each partition is then worked on for itself.

use super::distinct::{Distinct, row_key};
use super::loops::Flow;
use super::run::Run;
use super::spill::{Entered, KeyTable, Part, Partitions, RowCodec, Rows, hash_of, later_parts, table_bytes};
use crate::error::Result;
use crate::expr::Context;
use crate::memory::{Charge, growth};
use crate::sink::ColumnMeta;
use types::Value;

/// How often each row of a branch occurs, by the rows' keys.
pub(super) struct Counted {
    table: KeyTable,
    counts: Vec<u64>,
    charge: Charge,
    most_bytes: usize,
    /// How many times the rows have been partitioned before.
    level: u32,
    /// The keys that had no room.
    later: Option<Partitions>,
}

impl Counted {
    pub fn new(level: u32, ctx: &Context<'_>) -> Counted {
        Counted {
            table: KeyTable::new(Charge::new(ctx.memory)),
            counts: Vec::new(),
            charge: Charge::new(ctx.memory),
            most_bytes: table_bytes(ctx),
            level,
            later: None,
        }
    }

    /// Counts a row with this key.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`], and 1 and 3 when a temporary file cannot be created
    /// or written.
    pub fn add(&mut self, key: &[u8], hash: u64, ctx: &Context<'_>) -> Result<()> {
        let used_bytes = self.table.used_bytes() + size_of_val(&self.counts[..]) + key.len();
        let has_room = self.later.is_none() && used_bytes <= self.most_bytes;
        // At the last level the hash has no unused bits left, so everything has to fit in memory.
        let must_enter = !Partitions::can_spread(self.level) || self.table.len() == 0;
        debug_assert_eq!(self.counts.len(), self.table.len(), "each key has a count");
        match self.table.enter(key, hash, has_room || must_enter)? {
            Entered::New(_) => growth::push(&mut self.counts, 1, &mut self.charge),
            Entered::Known(number) => {
                self.counts[number] += 1;
                Ok(())
            }
            Entered::Refused => later_parts(&mut self.later, self.level, ctx).push(key, hash, &[], ctx),
        }
    }
}

/// What stays of the rows so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// The rows that the branch has too stay (INTERSECT), or those that it has not (EXCEPT).
    pub keeps_common: bool,
    /// Each row stays once. Otherwise each row of the branch matches one row.
    pub distinct: bool,
}

impl Rule {
    /// Reports whether a row with this key stays. `None` means that its partition has to be worked
    /// on first.
    fn stays(self, counted: &mut Counted, key: &[u8], hash: u64) -> Option<bool> {
        let is_there = match counted.table.find(key, hash) {
            None if counted.later.is_some() => return None,
            None => false,
            Some(_) if self.distinct => true,
            Some(number) => {
                let count = &mut counted.counts[number];
                let is_there = *count > 0;
                *count -= u64::from(is_there);
                is_there
            }
        };
        Some(is_there == self.keeps_common)
    }
}

/// The rows that stay.
struct Staying {
    rows: Rows,
    distinct: Option<Distinct>,
}

impl Staying {
    fn add(&mut self, row: &[Value], columns: &[ColumnMeta], ctx: &Context<'_>) -> Result<()> {
        let is_wanted = match &mut self.distinct {
            Some(distinct) => distinct.is_first(row, columns, ctx)?,
            None => true,
        };
        if is_wanted { self.rows.push(row, ctx) } else { Ok(()) }
    }
}

/// Rows whose partitions are worked on later.
struct Postponed {
    parts: Option<Partitions>,
    level: u32,
    codec: RowCodec,
    written: Vec<u8>,
}

/// Reduces the rows so far to those that stay.
///
/// # Errors
/// Returns the errors of [`Counted::add`], 2 when a temporary file cannot be read, and 1317 when
/// the statement is killed.
pub(super) fn reduce(
    run: &Run<'_, '_>,
    before: &Rows,
    mut counted: Counted,
    rule: Rule,
    columns: &[ColumnMeta],
) -> Result<Rows> {
    let ctx = run.ctx;
    let distinct = rule.distinct.then(|| Distinct::uncounted(false, ctx));
    let mut staying = Staying { rows: Rows::uncounted(columns.len(), ctx), distinct };
    let mut postponed = Postponed { parts: None, level: 0, codec: RowCodec::default(), written: Vec::new() };
    let mut cursor = before.cursor();
    let mut row = vec![Value::Null; columns.len()];
    while cursor.next(&mut row, ctx)? {
        run.on_row()?;
        let key = row_key(&row, columns);
        let hash = hash_of(&key);
        match rule.stays(&mut counted, &key, hash) {
            Some(true) => staying.add(&row, columns, ctx)?,
            Some(false) => {}
            None => {
                let Postponed { parts, level, codec, written } = &mut postponed;
                written.clear();
                codec.write_row(&row, written);
                later_parts(parts, *level, ctx).push(&key, hash, written, ctx)?;
            }
        }
    }
    let codec = postponed.codec;
    let mut pairs = paired(counted, postponed.parts, ctx)?;
    while let Some((own, theirs)) = pairs.pop() {
        let mut counted = Counted::new(own.level(), ctx);
        if let Some(theirs) = theirs {
            theirs.for_each(ctx, &mut |key, hash, _| counted.add(key, hash, ctx))?;
        }
        let mut later = None;
        own.for_each(ctx, &mut |key, hash, written| {
            ctx.forget_made();
            match rule.stays(&mut counted, key, hash) {
                Some(true) => {
                    codec.read_row(written, &mut row)?;
                    staying.add(&row, columns, ctx)
                }
                Some(false) => Ok(()),
                None => later_parts(&mut later, own.level(), ctx).push(key, hash, written, ctx),
            }
        })?;
        pairs.extend(paired(counted, later, ctx)?);
    }
    let Staying { mut rows, distinct } = staying;
    if let Some(distinct) = distinct {
        distinct.finish(columns.len(), ctx, &mut |row| {
            rows.push(row, ctx)?;
            Ok(Flow::Continue)
        })?;
    }
    assert!(rows.len() <= before.len(), "INTERSECT and EXCEPT only take rows away");
    Ok(rows)
}

/// Returns each partition of rows so far, with the partition that has the branch's keys for it.
fn paired(counted: Counted, own: Option<Partitions>, ctx: &Context<'_>) -> Result<Vec<(Part, Option<Part>)>> {
    let finish = |parts: Option<Partitions>| parts.map_or(Ok(Vec::new()), |parts| parts.finish(ctx));
    let mut theirs = finish(counted.later)?;
    let mut pair = |own: Part| {
        let at = theirs.iter().position(|theirs| theirs.index() == own.index());
        let of_branch = at.map(|at| theirs.swap_remove(at));
        (own, of_branch)
    };
    Ok(finish(own)?.into_iter().map(&mut pair).collect())
}
