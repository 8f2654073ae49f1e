//! How the rows of the loops are divided into portions.
//!
//! A large first table is divided at keys of the index that it is read by. Where the first tables
//! are small and those behind them are not, the combinations of rows of the first tables are
//! gathered, and divided.

use super::super::bounds::Ranges;
use crate::error::Result;
use crate::exec::Run;
use crate::exec::loops::{Flow, ThreadLoops};
use crate::exec::spill::{RowList, table_bytes};
use crate::expr::{Context, Diagnostics};
use crate::plan::{Access, Source, TableStep};
use engine::{Direction, KeyRange, Table};
use std::ops::Range;
use std::sync::Arc;
use types::Value;

/// A table with fewer entries in the ranges that are read is read by one thread.
const LEAST_ENTRIES: u64 = 10_000;

/// Loops with a lower estimated cost, in rows that are read in sequence, are run by one thread.
const LEAST_COST: f64 = 4_000.0;

/// How many portions there are for each thread at most, so that the threads end at about the same
/// time.
const PORTIONS_PER_THREAD: usize = 32;

/// Portions have about this many entries at least. To begin with one takes some 30,000
/// instructions, as many as twenty rows (the count `scanned_row` of docs/costs.md).
const LEAST_ENTRIES_OF_PORTION: u64 = 1_500;

/// More portions than these are not made, even if the ranges are a small part of the index.
const MOST_PORTIONS: u64 = 4096;

/// The portions.
pub(super) enum Division {
    /// The keys of the first table at which portions end and the next ones begin.
    Keys(Vec<Vec<u8>>),
    Rows(FirstRows),
}

impl Division {
    /// Returns the number of portions.
    pub fn portions(&self) -> usize {
        match self {
            Division::Keys(cuts) => cuts.len() + 1,
            Division::Rows(rows) => rows.len().div_ceil(rows.per_portion),
        }
    }
}

/// What is to be divided.
pub(super) enum Divisible<'e> {
    /// The first table, at this many keys.
    Table(&'e Arc<Table>, &'e Access, usize),
    /// The combinations of rows of the first tables, into about as many portions.
    Rows(usize),
}

impl<'e> Divisible<'e> {
    /// Reports whether there is nothing to be divided as far as the optimizer knows. It is asked
    /// for subqueries that run for many outer rows: reading the index for an estimate would cost as
    /// much as the few rows of each do.
    pub fn is_hardly(tables: &[TableStep]) -> bool {
        let (first, last) = (tables.first(), tables.last());
        let Some((first, last)) =
            first.and_then(|step| step.estimate).zip(last.and_then(|step| step.estimate))
        else {
            return false;
        };
        first.read * 8.0 < LEAST_ENTRIES as f64 && last.cost < LEAST_COST
    }

    /// Returns what can be divided for so many threads. `None` means that one thread does.
    ///
    /// # Errors
    /// Returns the errors of estimating the ranges that are read.
    pub fn of(
        tables: &'e [TableStep],
        has_order: bool,
        threads: usize,
        ctx: &Context<'_>,
    ) -> Result<Option<Divisible<'e>>> {
        let Some((table, access)) = first_table(tables) else { return Ok(None) };
        if let Some(portions) = portions(table, access, threads, ctx)? {
            return Ok(Some(Divisible::Table(table, access, portions)));
        }
        let cost = tables.last().and_then(|last| last.estimate).map_or(0.0, |estimate| estimate.cost);
        let is_dear = tables.len() > 1 && cost >= LEAST_COST && !has_order;
        Ok(is_dear.then_some(Divisible::Rows(threads * PORTIONS_PER_THREAD)))
    }

    /// Divides the table at keys. Rows that are equal in the first `leading_columns` columns of the
    /// index are in one portion. `None` means that the keys do not tell the columns, or that there
    /// is no table to divide.
    ///
    /// # Errors
    /// Returns the errors of reading the index.
    pub fn at_keys(&self, leading_columns: usize) -> Result<Option<Division>> {
        let Divisible::Table(table, access, portions) = self else { return Ok(None) };
        let mut cuts = table.split_points(access.index, *portions)?;
        if leading_columns > 0 {
            let cut = |key| table.cut_behind(access.index, leading_columns, key);
            let Some(whole) = cuts.into_iter().map(cut).collect::<Option<_>>() else { return Ok(None) };
            cuts = whole;
            cuts.dedup();
        }
        assert!(cuts.is_sorted(), "portions lie one behind the other");
        Ok(Some(Division::Keys(cuts)))
    }
}

/// Returns the first table if it is a stored one that is read once, in ranges that depend on no
/// other table.
fn first_table(tables: &[TableStep]) -> Option<(&Arc<Table>, &Access)> {
    let first = tables.first().filter(|first| first.hash.is_none() && first.nests.is_empty())?;
    match &first.source {
        Source::Stored { table, access } if !access.is_point && access.direction == Direction::Forward => {
            Some((table, access))
        }
        _ => None,
    }
}

/// Returns how many portions of the whole index make enough of them within the ranges that are
/// read. `None` means that so few entries are read that one thread does.
fn portions(table: &Table, access: &Access, threads: usize, ctx: &Context<'_>) -> Result<Option<usize>> {
    // The ranges are computed again when they are read. Where that warns, it is to warn once.
    let before = ctx.diagnostics.borrow().count;
    let ranges = Diagnostics::or_without_trace(ctx.diagnostics, || {
        let ranges = Ranges::of(table, access, &[], ctx).ok()?;
        (ctx.diagnostics.borrow().count == before).then_some(ranges)
    });
    let Some(Ranges { ranges, is_useless: false, may_repeat: false, .. }) = ranges else { return Ok(None) };
    let mut wanted = 0u64;
    for range in &ranges {
        wanted = wanted.saturating_add(range.estimated_entries(table, access.index)?);
    }
    if wanted < LEAST_ENTRIES {
        return Ok(None);
    }
    let all = KeyRange::all().estimated_entries(table, access.index)?.max(wanted);
    let portions = (wanted / LEAST_ENTRIES_OF_PORTION).clamp(1, (threads * PORTIONS_PER_THREAD) as u64);
    Ok(Some(portions.saturating_mul(all / wanted).clamp(portions, MOST_PORTIONS) as usize))
}

/// The combinations of rows of the first tables.
pub(super) struct FirstRows {
    /// The number of those tables.
    pub steps: usize,
    /// The slots of these tables that something behind them reads.
    slots: Vec<usize>,
    /// The values in these slots.
    rows: RowList,
    per_portion: usize,
}

impl FirstRows {
    fn new(tables: &[TableStep], steps: usize, ctx: &Context<'_>) -> FirstRows {
        FirstRows {
            steps,
            slots: tables[..steps].iter().flat_map(TableStep::kept_slots).collect(),
            rows: RowList::new(ctx),
            per_portion: 1,
        }
    }

    /// Gathers rows of the first tables until there are `portions`, or until only the last table or
    /// nest is left. `None` means that there are too few of them to be divided.
    ///
    /// # Errors
    /// Returns the errors of the loops and of [`crate::memory::Charge::add`].
    pub fn gather(
        run: &mut Run<'_, '_>,
        (tables, slots): (&[TableStep], usize),
        loops: &ThreadLoops<'_>,
        portions: usize,
    ) -> Result<Option<FirstRows>> {
        const MOST_ROWS: usize = 50_000;
        let most_bytes = table_bytes(run.ctx) / 8;
        let mut row = Value::nulls(slots);
        let mut rows = FirstRows::new(tables, 0, run.ctx);
        rows.push(&row)?;
        while rows.len() < portions {
            let steps = rows.steps..end_of_nests(tables, rows.steps);
            if steps.end >= tables.len() {
                break;
            }
            let mut further = FirstRows::new(tables, steps.end, run.ctx);
            let mut flow = Flow::Continue;
            for number in 0..rows.len() {
                rows.read(number, &mut row)?;
                flow = loops.run(run, steps.clone(), &mut row, &mut |_, row| {
                    further.push(row)?;
                    let is_full = further.len() > MOST_ROWS || further.rows.used_bytes() > most_bytes;
                    Ok(if is_full { Flow::Stop } else { Flow::Continue })
                })?;
                if flow == Flow::Stop {
                    break;
                }
            }
            if flow == Flow::Stop {
                break;
            }
            rows = further;
        }
        rows.per_portion = rows.len().div_ceil(portions).max(1);
        Ok((rows.steps > 0 && rows.len() > 1).then_some(rows))
    }

    fn push(&mut self, row: &[Value]) -> Result<()> {
        self.rows.push(row, self.slots.iter().copied())
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the numbers of the rows of a portion.
    pub fn of_portion(&self, portion: usize) -> Range<usize> {
        let first = portion * self.per_portion;
        first..self.len().min(first + self.per_portion)
    }

    /// Puts a row into the slots.
    ///
    /// # Errors
    /// Returns the errors of [`RowList::read`].
    pub fn read(&self, number: usize, row: &mut [Value]) -> Result<()> {
        self.rows.read(number, row, self.slots.iter().copied())
    }
}

/// Returns the step behind a step and behind the nests that begin at it or within them.
fn end_of_nests(tables: &[TableStep], first: usize) -> usize {
    let (mut at, mut end) = (first, first + 1);
    while at < end.min(tables.len()) {
        end = tables[at].nests.iter().fold(end, |end, nest| end.max(at + nest.tables));
        at += 1;
    }
    end
}
