//! Reads a large table of a query by several threads. Each of them takes portions of the table, one
//! after the other, and runs the loops of the query for the rows of the portion.
//!
//! In: the tables of the loops, and a function that takes in the rows of portions. Out: what the
//! function has made on each thread. The statement's own thread reads portions like the others, so
//! that nothing waits for a thread that gets no processor.
//!
//! The statement has the result that it would have with one thread. So only expressions that any
//! thread can compute are computed here, and only at a snapshot that all threads share. Where a
//! thread raises a condition (a warning or an error), or has no room for what it makes,
//! [`in_portions`] returns `None`, as if nothing had been read. The caller then reads everything
//! with the statement's thread, which meets the same condition in the order of the rows.

use super::Run;
use super::bounds::Ranges;
use super::hash_join::SharedTable;
use super::loops::{Flow, Materialized, Portion, Visit, nested_loops_of_portion, shared_tables};
use super::subqueries::{KnownSubqueries, NumberedRows};
use crate::error::Result;
use crate::expr::{Context, Expr, NoSession, is_for_any_thread};
use crate::plan::{Access, RowLock, Source, TableStep};
use crate::replica_host::ReplicaHost;
use crate::variables::Variables;
use engine::{Direction, Table, Transaction};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use types::Value;

/// A table with fewer entries in the ranges that are read is read by one thread.
const LEAST_ENTRIES: u64 = 10_000;

/// How many portions there are for each thread, so that the threads end at about the same time.
const PORTIONS_PER_THREAD: usize = 32;

/// More portions than these are not made, even if the ranges are a small part of the index.
const MOST_PORTIONS: u64 = 4096;

/// The threads of the process that read beside statements' own threads. Relaxed accesses are
/// enough: the number bounds them, and guards nothing else.
static READING: AtomicUsize = AtomicUsize::new(0);

/// The right to start a number of threads. There are no more in the process than processors beside
/// the one that a statement has.
struct Places(usize);

impl Places {
    /// Takes up to `wanted` places.
    fn take(wanted: usize) -> Places {
        let most = os::thread::processors() - 1;
        let mut taken = 0;
        let take = |reading: usize| {
            taken = wanted.min(most.saturating_sub(reading));
            Some(reading + taken)
        };
        let _ = READING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        Places(taken)
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let before = READING.fetch_sub(self.0, Ordering::Relaxed);
        assert!(before >= self.0, "places are given back once");
    }
}

/// What the threads share.
struct Shared<'s> {
    ctx: Surroundings<'s>,
    tables: &'s [TableStep],
    slots: usize,
    /// The rows of the subqueries in the expressions.
    subqueries: Vec<NumberedRows>,
    /// The hash tables of the steps.
    hashes: Vec<Option<SharedTable>>,
    /// The keys at which portions end and the next ones begin.
    cuts: Vec<Vec<u8>>,
    /// The next portion that nobody has taken.
    next: AtomicUsize,
    /// Whether one thread has given up, so that nothing of the others is wanted. Relaxed accesses
    /// are enough for both: what the threads make goes from one to another when they end.
    has_given_up: AtomicBool,
}

/// The parts of a statement's [`Context`] that all threads can have.
struct Surroundings<'s> {
    engine: &'s Arc<engine::Engine>,
    memory: &'s Arc<crate::memory::Budget>,
    interrupt: &'s AtomicBool,
    parameters: &'s [Value],
    outer: &'s [Value],
    schema: Option<&'s str>,
    now_us: u64,
    strict: bool,
    lenient: bool,
}

impl<'s> Surroundings<'s> {
    fn of(ctx: &'s Context<'_>) -> Surroundings<'s> {
        Surroundings {
            engine: ctx.engine,
            memory: ctx.memory,
            interrupt: ctx.interrupt,
            parameters: ctx.parameters,
            outer: ctx.outer,
            schema: ctx.schema,
            now_us: ctx.now_us,
            strict: ctx.strict,
            lenient: ctx.lenient.get(),
        }
    }

    /// Returns the context of a thread.
    fn context<'c>(
        &'c self,
        session: &'c NoSession,
        host: &'c ReplicaHost,
        variables: &'c Variables,
    ) -> Context<'c> {
        let mut ctx = session.context(self.engine, host, variables, false);
        ctx.interrupt = self.interrupt;
        ctx.parameters = self.parameters;
        ctx.outer = self.outer;
        ctx.schema = self.schema;
        ctx.now_us = self.now_us;
        ctx.strict = self.strict;
        ctx.lenient.set(self.lenient);
        ctx
    }
}

/// The portions that one thread reads.
pub(super) struct PortionReader<'r> {
    run: Run<'r, 'r>,
    shared: &'r Shared<'r>,
    row: Vec<Value>,
    /// The portion at hand.
    portion: usize,
    /// Whether the thread leaves when it does not get a processor for itself.
    pace: Option<Pace>,
}

/// How much of a processor a thread gets. One that gets less than most of one takes it from other
/// threads of the process, such as the applier, or from other processes.
struct Pace {
    began_ns: u64,
    began_cpu_ns: u64,
    preemptions: u64,
}

impl Pace {
    fn begin() -> Pace {
        Pace {
            began_ns: os::clock::monotonic_ns(),
            began_cpu_ns: os::clock::thread_cpu_ns(),
            preemptions: os::thread::preemptions(),
        }
    }

    /// Reports whether the calling thread, which has begun the pace, has waited for a processor for
    /// a good part of its time. Time in which it has waited for pages alone does not count.
    fn has_waited(&self) -> bool {
        const LEAST_NS: u64 = 4_000_000;
        let all_ns = os::clock::monotonic_ns().saturating_sub(self.began_ns);
        let own_ns = os::clock::thread_cpu_ns().saturating_sub(self.began_cpu_ns);
        let waits = all_ns >= LEAST_NS && own_ns < all_ns / 4 * 3;
        waits && os::thread::preemptions() > self.preemptions
    }
}

impl<'r> PortionReader<'r> {
    /// Returns the context of the thread.
    pub fn ctx(&self) -> &'r Context<'r> {
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
        (self.portion <= self.shared.cuts.len()).then_some(self.portion)
    }

    /// Calls `visit` with each combination of rows of the loops whose row of the first table is in
    /// the portion that was taken last.
    ///
    /// # Errors
    /// Returns the errors of the loops and of `visit`.
    pub fn each_row(&mut self, visit: &mut Visit<'_>) -> Result<Flow> {
        let Shared { tables, hashes, cuts, .. } = self.shared;
        let first = self.portion.checked_sub(1).map(|before| &cuts[before][..]);
        let portion: Portion<'_> = (first, cuts.get(self.portion).map(|end| &end[..]));
        nested_loops_of_portion(&mut self.run, (tables, hashes), portion, &mut self.row, visit)
    }
}

/// What a thread has made, and what its statements would have counted.
struct Made<T> {
    made: T,
    counts: Vec<u64>,
    rows_examined: u64,
}

/// The loops whose rows are shared.
pub(super) struct Loops<'e> {
    pub tables: &'e [TableStep],
    /// The number of slots of a row.
    pub slots: usize,
    /// How many leading columns of the index that the first table is read by all rows of a portion
    /// have in common with no row of another one. 0 asks for nothing.
    pub leading_columns: usize,
}

/// Calls `work` on several threads, which share the rows of the loops, and returns what each has
/// made. `exprs` are the expressions that `work` computes. `None` means that the rows have to be
/// read by one thread: they are not worth several threads, not all expressions can be computed by
/// any thread, or `work` has returned an error, a warning or `None` on one of them.
///
/// # Errors
/// Returns the errors of reading the tables of hash joins.
pub(super) fn in_portions<'e, T: Send>(
    run: &mut Run<'_, '_>,
    loops: &Loops<'e>,
    materialized: &Materialized,
    exprs: impl Iterator<Item = &'e Expr>,
    work: &(dyn Fn(&mut PortionReader<'_>) -> Result<Option<T>> + Sync),
) -> Result<Option<Vec<T>>> {
    let (ctx, tables, slots) = (run.ctx, loops.tables, loops.slots);
    let threads = ctx.variables.parallel_read_threads.min(os::thread::processors() as u64) as usize;
    if threads < 2 || ctx.measures.is_some() || !may_be_shared(run, tables) {
        return Ok(None);
    }
    let Some((table, access)) = first_table(tables) else { return Ok(None) };
    let Some(portions) = portions(table, access, threads, ctx)? else { return Ok(None) };
    let Some(numbers) = subqueries_of(tables, exprs) else { return Ok(None) };
    let Some(subqueries) = rows_of_subqueries(numbers, ctx)? else { return Ok(None) };
    let places = Places::take(threads - 1);
    if places.0 == 0 {
        return Ok(None);
    }
    let mut readers = Vec::with_capacity(1 + places.0);
    for _ in 0..=places.0 {
        let Some(reader) = run.with(Transaction::reader_beside)? else { return Ok(None) };
        readers.push((reader, ctx.variables.clone()));
    }
    let mut cuts = table.split_points(access.index, portions)?;
    if loops.leading_columns > 0 {
        let cut = |key| table.cut_behind(access.index, loops.leading_columns, key);
        let Some(whole) = cuts.into_iter().map(cut).collect::<Option<_>>() else { return Ok(None) };
        cuts = whole;
        cuts.dedup();
    }
    assert!(cuts.is_sorted(), "portions lie one behind the other");
    let mut row = Value::nulls(slots);
    let Some(hashes) = shared_tables(run, tables, materialized, &mut row)? else { return Ok(None) };
    let shared = Shared {
        ctx: Surroundings::of(ctx),
        tables,
        slots,
        subqueries,
        hashes,
        cuts,
        next: AtomicUsize::new(0),
        has_given_up: AtomicBool::new(false),
    };
    let shared = &shared;
    let own = readers.pop().expect("the statement's thread reads too");
    let own = || on_thread(own, None, shared, work);
    let helped = |of| move || on_thread(of, Some(Pace::begin()), shared, work);
    let jobs = readers.into_iter().map(helped);
    let jobs = jobs.collect();
    let made: Option<Vec<Made<T>>> = os::thread::run_beside("parallel read", own, jobs).into_iter().collect();
    let Some(made) = made else { return Ok(None) };
    ctx.counters.parallel_reads.count();
    let add = |Made { made, counts, rows_examined }: Made<T>| {
        ctx.counters.add_all(&counts);
        ctx.counters.rows_examined.add(rows_examined);
        made
    };
    Ok(Some(made.into_iter().map(add).collect()))
}

/// Has a thread do its work. `None` means that it has given up.
fn on_thread<T>(
    (mut reader, variables): (Transaction, Variables),
    pace: Option<Pace>,
    shared: &Shared<'_>,
    work: &(dyn Fn(&mut PortionReader<'_>) -> Result<Option<T>> + Sync),
) -> Option<Made<T>> {
    let session = NoSession::new(shared.ctx.memory.clone(), 0);
    let host = ReplicaHost::default();
    let ctx = shared.ctx.context(&session, &host, &variables);
    let subqueries = KnownSubqueries::of(&shared.subqueries, &ctx).ok()?;
    let ctx = ctx.within(&subqueries, ctx.outer);
    let run = Run::new(&mut reader, &ctx);
    let mut portions = PortionReader { run, shared, row: Value::nulls(shared.slots), portion: 0, pace };
    let made = work(&mut portions).ok().flatten().filter(|_| !session.has_conditions());
    if made.is_none() {
        shared.has_given_up.store(true, Ordering::Relaxed);
    }
    let counters = session.counters();
    made.map(|made| Made { made, counts: counters.figures(), rows_examined: counters.rows_examined.get() })
}

/// Returns the table whose rows are shared, if there is one: a stored table that is read once, in
/// ranges that depend on no other table.
fn first_table(tables: &[TableStep]) -> Option<(&Arc<Table>, &Access)> {
    let first = tables.first().filter(|first| first.hash.is_none() && first.nests.is_empty())?;
    match &first.source {
        Source::Stored { table, access } if !access.is_point && access.direction == Direction::Forward => {
            Some((table, access))
        }
        _ => None,
    }
}

/// Reports whether further threads can read the tables: they are stored and read without locks, or
/// have hash tables, which the statement's thread fills.
fn may_be_shared(run: &Run<'_, '_>, tables: &[TableStep]) -> bool {
    let is_plain = |step: &TableStep| match &step.source {
        _ if step.hash.is_some() => true,
        Source::Stored { table, .. } => !table.is_temporary() && run.lock_for(step.lock) == RowLock::NONE,
        _ => false,
    };
    // A hash table whose nest has guards is filled only if a row meets them.
    let is_guarded = tables.iter().any(|step| step.nests.iter().any(|nest| !nest.guards.is_empty()));
    let has_hash = tables.iter().any(|step| step.hash.is_some());
    tables.iter().all(is_plain) && !(is_guarded && has_hash)
}

/// Returns how many portions of the whole index make enough of them within the ranges that are
/// read. `None` means that so few entries are read that one thread does.
fn portions(table: &Table, access: &Access, threads: usize, ctx: &Context<'_>) -> Result<Option<usize>> {
    let Ranges { ranges, is_useless, may_repeat, .. } = Ranges::of(table, access, &[], ctx)?;
    if is_useless || may_repeat {
        return Ok(None);
    }
    let mut wanted = 0u64;
    for range in &ranges {
        wanted = wanted.saturating_add(range.estimated_entries(table, access.index)?);
    }
    if wanted < LEAST_ENTRIES {
        return Ok(None);
    }
    let all = engine::KeyRange::all().estimated_entries(table, access.index)?.max(wanted);
    let portions = (threads * PORTIONS_PER_THREAD) as u64;
    Ok(Some(portions.saturating_mul(all / wanted).clamp(portions, MOST_PORTIONS) as usize))
}

/// Returns the numbers of the subqueries in the expressions of the loops and in these. `None` means
/// that not all expressions can be computed by any thread.
fn subqueries_of<'e>(tables: &'e [TableStep], exprs: impl Iterator<Item = &'e Expr>) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    let of_step = |step: &'e TableStep| {
        let access = match &step.source {
            Source::Stored { access, .. } => &access.alternatives[..],
            _ => &[],
        };
        let of_nests = step.nests.iter().flat_map(|nest| nest.guards.iter().chain(&nest.conditions));
        let of_hash = step.hash.iter().flat_map(|lookup| &lookup.conditions);
        let of_access = access.iter().flat_map(|key| key.values());
        of_access.chain(of_nests).chain(of_hash).chain(&step.conditions)
    };
    let mut all = tables.iter().flat_map(of_step).chain(exprs);
    all.all(|expr| is_for_any_thread(expr, &mut numbers)).then_some(numbers)
}

/// Returns the rows of subqueries for the threads. `None` means that a subquery's rows cannot be
/// copied for them.
fn rows_of_subqueries(mut numbers: Vec<usize>, ctx: &Context<'_>) -> Result<Option<Vec<NumberedRows>>> {
    numbers.sort_unstable();
    numbers.dedup();
    let mut known = Vec::with_capacity(numbers.len());
    for number in numbers {
        let Some(subqueries) = ctx.subqueries else { return Ok(None) };
        let Some(rows) = subqueries.rows_for_threads(number, ctx)? else { return Ok(None) };
        known.push((number, rows));
    }
    Ok(Some(known))
}
