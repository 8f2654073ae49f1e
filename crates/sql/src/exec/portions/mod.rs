//! Runs the loops of a query by several threads. Each of them takes portions of the rows, one after
//! the other: ranges of the first table, or combinations of rows of the first tables
//! ([`division`]).
//!
//! In: the tables of the loops, and a function that takes in the rows of portions. Out: what the
//! function has made on each thread. The statement's own thread takes portions like the others, so
//! that nothing waits for a thread that gets no processor.
//!
//! The statement has the result that it would have with one thread. So only expressions that any
//! thread can compute are computed here, and only at a snapshot that all threads share. Where a
//! thread raises a condition (a warning or an error), or has no room for what it makes,
//! [`in_portions`] returns `None`, as if nothing had been read. The caller then reads everything
//! with the statement's thread, which meets the same condition in the order of the rows.

mod division;
mod pace;
mod surroundings;

use super::Run;
use super::hash_join::SharedTable;
use super::known_subqueries::{KnownSubqueries, NumberedRows};
use super::loops::{Flow, Materialized, Portion, ThreadLoops, Visit, shared_tables};
use crate::error::Result;
use crate::expr::{Context, Expr, NoSession};
use crate::plan::{Source, TableStep};
use crate::replica_host::ReplicaHost;
use crate::variables::Variables;
use division::{Divisible, Division, FirstRows};
use engine::Transaction;
use pace::{Pace, Places};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use surroundings::{Surroundings, may_be_shared, rows_of_subqueries, subqueries_of};
use types::Value;

/// The loops whose rows are shared.
pub(super) struct Loops<'e> {
    pub tables: &'e [TableStep],
    /// The number of slots of a row.
    pub slots: usize,
    /// How many leading columns of the index that the first table is read by all rows of a portion
    /// have in common with no row of another one. 0 asks for nothing.
    pub leading_columns: usize,
}

/// What every thread needs.
struct Common<'s> {
    ctx: Surroundings<'s>,
    tables: &'s [TableStep],
    slots: usize,
    /// The rows of the subqueries in the expressions.
    subqueries: Vec<NumberedRows>,
}

/// The portions, which the threads share.
struct Shared<'s> {
    common: &'s Common<'s>,
    /// The hash tables of the steps.
    hashes: Vec<Option<SharedTable>>,
    division: Division,
    /// The next portion that nobody has taken.
    next: AtomicUsize,
    /// Whether one thread has given up, so that nothing of the others is wanted. Relaxed accesses
    /// are enough for both: what the threads make goes from one to another when they end.
    has_given_up: AtomicBool,
}

/// The portions that one thread takes.
pub(super) struct PortionReader<'t, 'r, 'c> {
    run: &'t mut Run<'r, 'c>,
    shared: &'t Shared<'t>,
    row: Vec<Value>,
    /// The portion at hand.
    portion: usize,
    /// Whether the thread leaves when it does not get a processor for itself.
    pace: Option<Pace>,
}

impl<'r, 'c> PortionReader<'_, 'r, 'c> {
    /// Returns the context of the thread.
    pub fn ctx(&self) -> &'r Context<'c> {
        self.run.ctx
    }

    /// Takes the next portion, and returns its number. Portions with higher numbers lie behind
    /// those with lower ones. `None` means that no portion is left for the thread, or that a thread
    /// has given up.
    pub fn next_portion(&mut self) -> Option<usize> {
        let has_waited = self.pace.as_ref().is_some_and(Pace::has_waited);
        if has_waited || self.shared.has_given_up.load(Ordering::Relaxed) {
            return None;
        }
        self.portion = self.shared.next.fetch_add(1, Ordering::Relaxed);
        (self.portion < self.shared.division.portions()).then_some(self.portion)
    }

    /// Calls `visit` with each combination of rows of the loops that is in the portion that was
    /// taken last.
    ///
    /// # Errors
    /// Returns the errors of the loops and of `visit`.
    pub fn each_row(&mut self, visit: &mut Visit<'_>) -> Result<Flow> {
        let Shared { common: Common { tables, .. }, hashes, division, .. } = self.shared;
        let nothing = Materialized::new();
        match division {
            Division::Keys(cuts) => {
                let first = self.portion.checked_sub(1).map(|before| &cuts[before][..]);
                let portion: Portion<'_> = (first, cuts.get(self.portion).map(|end| &end[..]));
                let loops = ThreadLoops::new((tables, hashes), &nothing, Some(portion));
                loops.run(self.run, 0..tables.len(), &mut self.row, visit)
            }
            Division::Rows(rows) => {
                let loops = ThreadLoops::new((tables, hashes), &nothing, None);
                for number in rows.of_portion(self.portion) {
                    rows.read(number, &mut self.row)?;
                    if loops.run(self.run, rows.steps..tables.len(), &mut self.row, visit)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
                Ok(Flow::Continue)
            }
        }
    }
}

/// What a thread has made, and what it has counted.
struct Made<T> {
    made: T,
    counted: Counted,
}

/// What a thread has counted in the place of the session.
struct Counted {
    figures: Vec<u64>,
    rows_examined: u64,
}

impl Counted {
    fn add_to(&self, ctx: &Context<'_>) {
        ctx.counters.add_all(&self.figures);
        ctx.counters.rows_examined.add(self.rows_examined);
    }
}

/// Uses the stored tables before anything of them is read. The readers that are begun beside the
/// statement's transaction take no metadata locks, so the tables stay as they are by its own.
fn use_all(run: &mut Run<'_, '_>, tables: &[TableStep]) -> Result<()> {
    let stored = tables.iter().filter_map(|step| match &step.source {
        Source::Stored { table, .. } => Some(table),
        _ => None,
    });
    Ok(run.with(|transaction| transaction.use_tables([], stored))?)
}

/// Calls `work` on several threads, which share the rows of the loops, and returns what each has
/// made. `exprs` are the expressions that `work` computes. `None` means that the rows have to be
/// read by one thread: they are not worth several threads, not all expressions can be computed by
/// any thread, or `work` has returned an error, a warning or `None` on one of them.
///
/// # Errors
/// Returns the errors of using the tables and of estimating the rows, and those of subqueries.
pub(super) fn in_portions<'e, T: Send>(
    run: &mut Run<'_, '_>,
    loops: &Loops<'e>,
    materialized: &Materialized,
    exprs: impl Iterator<Item = &'e Expr>,
    work: &(dyn Fn(&mut PortionReader<'_, '_, '_>) -> Result<Option<T>> + Sync),
) -> Result<Option<Vec<T>>> {
    let (ctx, tables, slots) = (run.ctx, loops.tables, loops.slots);
    let threads = pace::most_threads(ctx.variables.parallel_read_threads);
    if threads < 2 || ctx.measures.is_some() || !may_be_shared(run, tables) {
        return Ok(None);
    }
    if !ctx.outer.is_empty() && Divisible::is_hardly(tables) {
        return Ok(None);
    }
    use_all(run, tables)?;
    let has_order = loops.leading_columns > 0;
    let Some(divisible) = Divisible::of(tables, has_order, threads, ctx)? else { return Ok(None) };
    let Some(numbers) = subqueries_of(tables, exprs) else { return Ok(None) };
    let Some(subqueries) = rows_of_subqueries(numbers, ctx)? else { return Ok(None) };
    let places = Places::take(threads - 1);
    if places.count() == 0 {
        return Ok(None);
    }
    let mut readers = Vec::with_capacity(1 + places.count());
    for _ in 0..=places.count() {
        let Some(reader) = run.with(Transaction::reader_beside)? else { return Ok(None) };
        readers.push((reader, ctx.variables.clone()));
    }
    let common = Common { ctx: Surroundings::of(ctx), tables, slots, subqueries };
    let mut own = readers.pop().expect("the statement's thread reads too");
    let prepared = on_thread(&mut own, &common, |run| {
        let hashes = shared_tables(run, tables, materialized, &mut Value::nulls(slots))?;
        let Some(hashes) = hashes else { return Ok(None) };
        let division = divide(run, &divisible, loops, &hashes)?;
        Ok(division.map(|division| (hashes, division)))
    });
    let Some(Made { made: (hashes, division), counted }) = prepared else { return Ok(None) };
    let (next, has_given_up) = (AtomicUsize::new(0), AtomicBool::new(false));
    let shared = &Shared { common: &common, hashes, division, next, has_given_up };
    let own = || take_portions(own, None, shared, work);
    let help = |reader| move || take_portions(reader, Some(Pace::begin()), shared, work);
    let others = readers.into_iter().map(help).collect();
    let made = os::thread::run_beside("parallel read", own, others);
    let Some(made) = made.into_iter().collect::<Option<Vec<Made<T>>>>() else { return Ok(None) };
    let all_taken = shared.next.load(Ordering::Relaxed) >= shared.division.portions();
    assert!(all_taken, "each portion is read by a thread, because the statement's own takes what is left");
    ctx.counters.parallel_reads.count();
    counted.add_to(ctx);
    let take = |Made { made, counted }: Made<T>| {
        counted.add_to(ctx);
        made
    };
    Ok(Some(made.into_iter().map(take).collect()))
}

/// Divides what is divisible. `None` means that it cannot be divided.
fn divide(
    run: &mut Run<'_, '_>,
    divisible: &Divisible<'_>,
    loops: &Loops<'_>,
    hashes: &[Option<SharedTable>],
) -> Result<Option<Division>> {
    let Divisible::Rows(portions) = divisible else { return divisible.at_keys(loops.leading_columns) };
    let nothing = Materialized::new();
    let of_thread = ThreadLoops::new((loops.tables, hashes), &nothing, None);
    let rows = FirstRows::gather(run, (loops.tables, loops.slots), &of_thread, *portions)?;
    Ok(rows.map(Division::Rows))
}

/// Has a thread take portions and do its work. `None` means that it has given up.
fn take_portions<T>(
    mut reader: (Transaction, Variables),
    pace: Option<Pace>,
    shared: &Shared<'_>,
    work: &(dyn Fn(&mut PortionReader<'_, '_, '_>) -> Result<Option<T>> + Sync),
) -> Option<Made<T>> {
    let made = on_thread(&mut reader, shared.common, |run| {
        let row = Value::nulls(shared.common.slots);
        work(&mut PortionReader { run, shared, row, portion: 0, pace })
    });
    if made.is_none() {
        shared.has_given_up.store(true, Ordering::Relaxed);
    }
    made
}

/// Calls `work` with the state of a statement that runs on the calling thread. `None` means that
/// `work` has returned `None` or an error, or has raised a condition.
fn on_thread<T>(
    (reader, variables): &mut (Transaction, Variables),
    common: &Common<'_>,
    work: impl FnOnce(&mut Run<'_, '_>) -> Result<Option<T>>,
) -> Option<Made<T>> {
    let session = NoSession::new(common.ctx.memory.clone(), 0);
    let host = ReplicaHost::default();
    let ctx = common.ctx.context(&session, &host, variables);
    let subqueries = KnownSubqueries::of(&common.subqueries, &ctx).ok()?;
    let ctx = ctx.within(&subqueries, ctx.outer);
    let made = work(&mut Run::new(reader, &ctx)).ok().flatten().filter(|_| !session.has_conditions());
    let counters = session.counters();
    let (figures, rows_examined) = (counters.figures(), counters.rows_examined.get());
    made.map(|made| Made { made, counted: Counted { figures, rows_examined } })
}
