//! The nested loops of a query: one level for each of its tables, outermost first.
//!
//! In: the steps of the plan, and the rows of computed and derived tables. Out: each combination of
//! rows that meets the conditions, in one row of slots that all levels share.
//!
//! The tables of a nest (the right side of an outer join, semi-join or anti-join) form loops of
//! their own within the level at which the nest begins. Whether the levels behind the nest run is
//! decided when the nest has delivered a combination of rows, or has ended without one.
//!
//! A row that looks for others in a hash table may have to wait, because the part of the table that
//! may have them is not in memory. It goes on from that level when all rows have come.

use super::Run;
use super::hash_join::{HashTable, SharedTable, Waiting};
use super::reader::Reader;
use super::run::{all_hold, rest_holds};
use super::spill::Rows;
use super::watches::Watches;
use crate::error::Result;
use crate::plan::{Answered, Nest, NestKind, Padding, Source, TableStep};
use crate::stopwatch::Operator;
use std::cell::{Cell, OnceCell};
use std::ops::Range;
use types::Value;

/// Whether the rows keep coming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Continue,
    Stop,
}

/// For each step of the plan, the rows of a computed or derived table, which are computed once
/// before the loops begin. `None` means that the step reads a table of another kind. It is empty if
/// all steps do.
pub(super) type Materialized = Vec<Option<Rows>>;

/// Whether the order in which the rows come is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The rows come in the order of the first table's rows. Nothing is read ahead of what is
    /// wanted.
    OfTables,
    Free,
}

/// The ends of a portion of the first table's rows: their keys lie from the first end on and before
/// the other one. `None` is the end of the index.
pub(super) type Portion<'p> = (Option<&'p [u8]>, Option<&'p [u8]>);

/// Takes a combination of rows.
pub(super) type Visit<'v> = dyn FnMut(&mut Run<'_, '_>, &mut Vec<Value>) -> Result<Flow> + 'v;

/// Takes a row of a table, with the conditions that it is known to meet.
type Within<'w> = dyn FnMut(&mut Run<'_, '_>, Answered, &mut Vec<Value>) -> Result<Flow> + 'w;

/// Calls `visit` with each combination of rows of the tables.
pub(super) fn nested_loops(
    run: &mut Run<'_, '_>,
    (tables, order): (&[TableStep], Order),
    materialized: &Materialized,
    row: &mut Vec<Value>,
    visit: &mut Visit<'_>,
) -> Result<Flow> {
    let hashes = match tables.iter().any(|step| step.hash.is_some()) {
        true => Hashed::of(tables, order),
        false => Vec::new(),
    };
    if tables.is_empty() {
        // As in MySQL, a query without tables looks at one row.
        run.ctx.counters.rows_examined.count();
    }
    match run.ctx.measures {
        None => {
            let (watches, kept) = (Watches::none(), Kept::of(tables));
            let mut loops = Loops::<false> { tables, materialized, hashes, kept, portion: None, watches };
            loops.all(run, row, visit)
        }
        Some(measures) => {
            let (watches, kept) = (Watches::of(tables), Kept::of(tables));
            let mut loops = Loops::<true> { tables, materialized, hashes, kept, portion: None, watches };
            loops.watches.begin_chain(tables, 0..tables.len(), 0);
            let flow = loops.all(run, row, visit);
            loops.watches.end_chain(tables, 0..tables.len(), 0);
            loops.watches.add_to(measures, tables);
            flow
        }
    }
}

/// Reads the tables of all hash joins, for [`ThreadLoops`]. `None` means that one of them does not
/// fit in memory.
pub(super) fn shared_tables(
    run: &mut Run<'_, '_>,
    tables: &[TableStep],
    materialized: &Materialized,
    row: &mut [Value],
) -> Result<Option<Vec<Option<SharedTable>>>> {
    let mut shared = Vec::with_capacity(tables.len());
    for (at, step) in tables.iter().enumerate() {
        if step.hash.is_none() {
            shared.push(None);
            continue;
        }
        let rows = materialized.get(at).and_then(Option::as_ref);
        let table = HashTable::of(run, step, rows, Waiting::InMemoryOnly, row)?.shared();
        if table.is_none() {
            return Ok(None);
        }
        shared.push(table);
    }
    Ok(Some(shared))
}

/// The loops of a query on one of several threads. The hash tables are complete, and the other
/// tables are stored ones.
pub(super) struct ThreadLoops<'p>(Loops<'p, false>);

impl<'p> ThreadLoops<'p> {
    /// Makes loops with hash tables that the threads share. Of the first table, only rows of
    /// `portion` are read. `nothing` is empty.
    pub fn new(
        (tables, shared): (&'p [TableStep], &[Option<SharedTable>]),
        nothing: &'p Materialized,
        portion: Option<Portion<'p>>,
    ) -> ThreadLoops<'p> {
        assert!(nothing.is_empty(), "tables that are made are in hash tables");
        let hashed = |shared: &Option<SharedTable>| Hashed {
            table: shared.as_ref().map_or_else(OnceCell::new, |shared| OnceCell::from(shared.table())),
            waiting: Waiting::Forbidden,
        };
        let hashes = shared.iter().map(hashed).collect();
        let (watches, kept) = (Watches::none(), Kept::of(tables));
        ThreadLoops(Loops { tables, materialized: nothing, hashes, kept, portion, watches })
    }

    /// Calls `visit` with each combination of rows of these steps, for a row that has the tables
    /// before them. No nest has steps on both sides of an end.
    ///
    /// # Errors
    /// Returns the errors of the expressions, of reading and of `visit`.
    pub fn run(
        &self,
        run: &mut Run<'_, '_>,
        steps: Range<usize>,
        row: &mut Vec<Value>,
        visit: &mut Visit<'_>,
    ) -> Result<Flow> {
        self.0.level(run, Level { step: steps.start, nest: 0, end: steps.end }, row, visit)
    }
}

/// What is known of a step's hash join.
struct Hashed {
    /// The hash table, once it is built.
    table: OnceCell<HashTable>,
    /// Whether rows may wait at the step. Within a nest they may not, because what becomes of the
    /// rows in front of the nest depends on them.
    waiting: Waiting,
}

impl Hashed {
    /// Returns one for each step.
    fn of(tables: &[TableStep], order: Order) -> Vec<Hashed> {
        let mut end_of_nest = 0;
        let of_step = |(at, step): (usize, &TableStep)| {
            let may_wait = step.hash.is_some() && order == Order::Free && at >= end_of_nest;
            for nest in &step.nests {
                end_of_nest = end_of_nest.max(at + nest.tables);
            }
            let waiting = if may_wait { Waiting::Allowed } else { Waiting::Forbidden };
            Hashed { table: OnceCell::new(), waiting }
        };
        tables.iter().enumerate().map(of_step).collect()
    }
}

/// The readers of stored tables that have been read for one row of the tables around them, and are
/// to be read for others. There is a place for each step, or none if there is one step only.
struct Kept<'p>(Vec<Cell<Option<Box<Reader<'p>>>>>);

impl<'p> Kept<'p> {
    fn of(tables: &[TableStep]) -> Kept<'p> {
        let places = if tables.len() > 1 { tables.len() } else { 0 };
        Kept((0..places).map(|_| Cell::new(None)).collect())
    }

    /// Takes the reader of a step, if one is kept.
    fn take(&self, step: usize) -> Option<Box<Reader<'p>>> {
        self.0.get(step)?.take()
    }

    /// Keeps the reader of a step, if it can be: the one that was kept before, or one that was
    /// opened.
    fn put(&self, step: usize, before: Option<Box<Reader<'p>>>, opened: Option<Reader<'p>>) {
        let Some(place) = self.0.get(step) else { return };
        let reader = before.or_else(|| opened.map(Box::new));
        place.set(reader.and_then(|mut reader| reader.rest().then_some(reader)));
    }
}

/// A position in the loops: a step, or one of the nests that begin at the step.
#[derive(Clone, Copy)]
struct Level {
    step: usize,
    nest: usize,
    /// The step behind the last one of the current loops.
    end: usize,
}

/// The loops. `MEASURED` says that their operations are measured, for EXPLAIN ANALYZE.
struct Loops<'p, const MEASURED: bool> {
    tables: &'p [TableStep],
    materialized: &'p Materialized,
    /// One for each step if one of them is a hash join. Otherwise this is empty.
    hashes: Vec<Hashed>,
    kept: Kept<'p>,
    /// The part of the first table that is read. `None` means all of it.
    portion: Option<Portion<'p>>,
    watches: Watches,
}

impl<'p, const MEASURED: bool> Loops<'p, MEASURED> {
    /// Runs all levels, and then goes on with the rows that wait, from the outermost level where
    /// there are any.
    fn all(&mut self, run: &mut Run<'_, '_>, row: &mut Vec<Value>, visit: &mut Visit<'_>) -> Result<Flow> {
        let end = self.tables.len();
        assert!(self.hashes.is_empty() || self.hashes.len() == end, "each step has its hash join or none");
        assert!(
            self.tables.iter().all(|step| step.base + step.columns <= row.len()),
            "each table has its slots in the row"
        );
        let mut flow = self.level(run, Level { step: 0, nest: 0, end }, row, visit)?;
        for step in 0..self.hashes.len() {
            if flow == Flow::Continue {
                flow = self.those_that_wait(run, Level { step, nest: 0, end }, row, visit)?;
            }
        }
        Ok(flow)
    }

    /// Goes on with the rows that wait at a level, one part of its hash table after the other.
    fn those_that_wait(
        &mut self,
        run: &mut Run<'_, '_>,
        level: Level,
        row: &mut Vec<Value>,
        visit: &mut Visit<'_>,
    ) -> Result<Flow> {
        let mut groups = Vec::new();
        loop {
            if let Some(table) = self.hashes[level.step].table.take() {
                groups.extend(table.into_waiting(run.ctx)?);
            }
            let Some(parts) = groups.last_mut() else { return Ok(Flow::Continue) };
            let Some((table, waiting)) = parts.next(run.ctx)? else {
                groups.pop();
                continue;
            };
            self.hashes[level.step].table = OnceCell::from(table);
            let mut rows = parts.rows(&waiting, run.ctx);
            while rows.next_into(&self.tables[..level.step], row)? {
                run.on_row()?;
                if self.level(run, level, row, visit)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
    }

    fn level(
        &self,
        run: &mut Run<'_, '_>,
        level: Level,
        row: &mut Vec<Value>,
        visit: &mut Visit<'_>,
    ) -> Result<Flow> {
        debug_assert!(level.step <= level.end, "the loops end behind their last table");
        if level.step == level.end {
            return visit(run, row);
        }
        if let Some(hashed) = self.hashes.get(level.step)
            && level.nest == 0
            && hashed.waiting == Waiting::Allowed
            && self.has_wait(run, level.step, row)?
        {
            return Ok(Flow::Continue);
        }
        match self.tables[level.step].nests.get(level.nest) {
            Some(nest) => self.nest(run, level, nest, row, visit),
            None => self.rows(run, level, row, visit),
        }
    }

    /// Runs `run` while an operation of the step passes a row on, and measures that.
    #[inline]
    fn passing<T>(&self, operator: Operator, run: impl FnOnce() -> Result<T>) -> Result<T> {
        match MEASURED {
            true => self.watches.passing(operator, run),
            false => run(),
        }
    }

    /// Runs the tables of a nest and, for each result, the levels behind the nest.
    fn nest(
        &self,
        run: &mut Run<'_, '_>,
        level: Level,
        nest: &Nest,
        row: &mut Vec<Value>,
        visit: &mut Visit<'_>,
    ) -> Result<Flow> {
        let inside = Level { nest: level.nest + 1, end: level.step + nest.tables, ..level };
        debug_assert!(inside.end <= level.end, "a nest lies within the loops around it");
        let behind = Level { step: inside.end, nest: 0, end: level.end };
        let (step, at) = (level.step, level.nest);
        let go_on = |loops: &Self, run: &mut Run<'_, '_>, row: &mut Vec<Value>, visit: &mut Visit<'_>| {
            loops.passing(Operator::WithNest(step, at), || {
                if !all_hold(&nest.conditions, row, run)? {
                    return Ok(Flow::Continue);
                }
                loops.passing(Operator::NestKept(step, at), || loops.level(run, behind, row, visit))
            })
        };
        let mut matched = false;
        if MEASURED {
            self.watches.begin(Operator::Inside(step, at));
        }
        if all_hold(&nest.guards, row, run)? {
            let flow = self.chain(run, inside, row, &mut |run, row| {
                matched = true;
                self.passing(Operator::Inside(step, at), || match nest.kind {
                    NestKind::Semi | NestKind::Anti => Ok(Flow::Stop),
                    NestKind::Outer => go_on(self, run, row, visit),
                })
            });
            if flow.is_err() || nest.kind == NestKind::Outer && flow == Ok(Flow::Stop) {
                self.end(Operator::Inside(step, at));
                return flow;
            }
        }
        self.end(Operator::Inside(step, at));
        let goes_on = match nest.kind {
            NestKind::Semi => matched,
            NestKind::Anti => !matched,
            NestKind::Outer if matched => return Ok(Flow::Continue),
            NestKind::Outer => {
                self.tables[level.step..inside.end].iter().for_each(|step| step.fill_with_null(row));
                true
            }
        };
        if goes_on { go_on(self, run, row, visit) } else { Ok(Flow::Continue) }
    }

    /// Runs the tables of a nest.
    fn chain(
        &self,
        run: &mut Run<'_, '_>,
        inside: Level,
        row: &mut Vec<Value>,
        visit: &mut Visit<'_>,
    ) -> Result<Flow> {
        let steps = inside.step..inside.end;
        if MEASURED {
            self.watches.begin_chain(self.tables, steps.clone(), inside.nest);
        }
        let flow = self.level(run, inside, row, visit);
        if MEASURED {
            self.watches.end_chain(self.tables, steps, inside.nest);
        }
        flow
    }

    #[inline]
    fn end(&self, operator: Operator) {
        if MEASURED {
            self.watches.end(operator);
        }
    }

    /// Runs the inner levels for each row of a table that meets the table's conditions.
    fn rows(
        &self,
        run: &mut Run<'_, '_>,
        level: Level,
        row: &mut Vec<Value>,
        visit: &mut Visit<'_>,
    ) -> Result<Flow> {
        let (at, step) = (level.step, &self.tables[level.step]);
        let inner = Level { step: level.step + 1, nest: 0, end: level.end };
        let within = |run: &mut Run<'_, '_>, answered: Answered, row: &mut Vec<Value>| -> Result<Flow> {
            self.passing(Operator::Read(at), || {
                if !rest_holds(&step.conditions, answered, row, run.ctx)? {
                    run.with(|txn| txn.release_unwanted());
                    return Ok(Flow::Continue);
                }
                self.passing(Operator::Kept(at), || match inner.step == inner.end {
                    true => visit(run, row),
                    false => self.level(run, inner, row, visit),
                })
            })
        };
        if !MEASURED {
            return self.each_row(run, level, row, within);
        }
        self.watches.begin(Operator::Kept(at));
        self.watches.begin(Operator::Read(at));
        let flow = self.each_row(run, level, row, within);
        self.watches.end(Operator::Read(at));
        self.watches.end(Operator::Kept(at));
        flow
    }

    /// Calls `within` with each row of a table, and with the conditions that the row is known to
    /// meet.
    #[inline]
    fn each_row(
        &self,
        run: &mut Run<'_, '_>,
        level: Level,
        row: &mut Vec<Value>,
        mut within: impl FnMut(&mut Run<'_, '_>, Answered, &mut Vec<Value>) -> Result<Flow>,
    ) -> Result<Flow> {
        let step = &self.tables[level.step];
        if step.hash.is_some() {
            let table = self.hash_table(run, level.step, row)?;
            let mut found = table.find(step, row, run)?;
            while table.next_into(&mut found, step, row, run)? {
                if within(run, Answered::NONE, row)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            return Ok(Flow::Continue);
        }
        if let Source::Stored { table, access } = &step.source {
            let (mut kept, mut opened) = (self.kept.take(level.step), None);
            let reader = match &mut kept {
                Some(reader) => {
                    reader.begin_again(run, access, row)?;
                    &mut **reader
                }
                None => opened.insert(Reader::open(run, table, access, run.lock_for(step.lock), row)?),
            };
            if let (Some(portion), 0) = (self.portion, level.step) {
                reader.narrow_to(portion);
            }
            let flow = match &step.padding {
                Some(padding) => each_padded_row(run, reader, (step, padding), row, &mut within)?,
                None => each_row_of(run, reader, step, row, &mut within)?,
            };
            self.kept.put(level.step, kept, opened);
            return Ok(flow);
        }
        let slots = step.base..step.base + step.columns;
        match (&step.source, self.materialized.get(level.step).and_then(Option::as_ref)) {
            (_, Some(rows)) => {
                let mut cursor = rows.cursor();
                while cursor.next(&mut row[slots.clone()], run.ctx)? {
                    run.on_row()?;
                    if within(run, Answered::NONE, row)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            (Source::Subquery(call), None) => {
                let (rows, ctx) = (call.rows(row, run.ctx)?, run.ctx);
                let mut flow = Flow::Continue;
                let mut take = |found: &[Value]| {
                    run.on_row()?;
                    row[slots.clone()].clone_from_slice(found);
                    flow = within(run, Answered::NONE, row)?;
                    Ok(flow == Flow::Continue)
                };
                rows.for_each(&mut take, ctx)?;
                return Ok(flow);
            }
            (Source::JsonTable(table), None) => {
                let (found, _charge) = super::json_table::rows(run, table, step.columns, row)?;
                for found in &found {
                    run.on_row()?;
                    row[slots.clone()].clone_from_slice(found);
                    if within(run, Answered::NONE, row)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            (_, None) => {}
        }
        Ok(Flow::Continue)
    }

    /// Has the row wait at a step if the hash table's rows that it looks for are not in memory.
    /// Returns whether it waits.
    fn has_wait(&self, run: &mut Run<'_, '_>, at: usize, row: &mut [Value]) -> Result<bool> {
        let step = &self.tables[at];
        if self.hashes[at].table.get().is_none() {
            // Without a row that gets as far as the table, the table is not read.
            for nest in &step.nests {
                if !all_hold(&nest.guards, row, run)? {
                    return Ok(false);
                }
            }
        }
        self.hash_table(run, at, row)?.has_wait(step, &self.tables[..at], row, run)
    }

    /// Returns the hash table of a step, which it builds at the first call. The table's rows are
    /// read into `row`.
    fn hash_table(&self, run: &mut Run<'_, '_>, at: usize, row: &mut [Value]) -> Result<&HashTable> {
        if let Some(table) = self.hashes[at].table.get() {
            return Ok(table);
        }
        let build = |run: &mut Run<'_, '_>, row: &mut [Value]| {
            let waiting = self.hashes[at].waiting;
            HashTable::of(
                run,
                &self.tables[at],
                self.materialized.get(at).and_then(Option::as_ref),
                waiting,
                row,
            )
        };
        let table = match MEASURED {
            true => self.watches.building(at, || build(run, row))?,
            false => build(run, row)?,
        };
        Ok(self.hashes[at].table.get_or_init(|| table))
    }
}

/// Calls `within` with each row of a stored table.
#[inline]
fn each_row_of(
    run: &mut Run<'_, '_>,
    reader: &mut Reader<'_>,
    step: &TableStep,
    row: &mut Vec<Value>,
    within: &mut impl FnMut(&mut Run<'_, '_>, Answered, &mut Vec<Value>) -> Result<Flow>,
) -> Result<Flow> {
    while reader.read_into(run, step, row)? {
        if within(run, reader.answered(step), row)? == Flow::Stop {
            return Ok(Flow::Stop);
        }
    }
    Ok(Flow::Continue)
}

/// Calls `within` with each row of a stored table, whose CHAR columns get their spaces first.
#[cold]
#[inline(never)]
fn each_padded_row(
    run: &mut Run<'_, '_>,
    reader: &mut Reader<'_>,
    (step, padding): (&TableStep, &Padding),
    row: &mut Vec<Value>,
    within: &mut Within<'_>,
) -> Result<Flow> {
    let answered = reader.answered(step);
    while reader.read_into(run, step, row)? {
        padding.fill(&mut row[step.base..]);
        if within(run, answered, row)? == Flow::Stop {
            return Ok(Flow::Stop);
        }
    }
    Ok(Flow::Continue)
}

impl TableStep {
    fn fill_with_null(&self, row: &mut [Value]) {
        row[self.base..self.base + self.columns].fill(Value::Null);
        if let Some(key) = self.key_slot {
            row[key] = Value::Null;
        }
    }
}
