//! The nested loops of a query: one level for each of its tables, outermost first.
//!
//! In: the steps of the plan, and the rows of computed and derived tables. Out: each combination of
//! rows that meets the conditions, in one row of slots that all levels share.
//!
//! The tables of a nest (the right side of an outer join, semi-join or anti-join) form loops of
//! their own within the level at which the nest begins. Whether the levels behind the nest run is
//! decided when the nest has delivered a combination of rows, or has ended without one.

use super::Run;
use super::hash_join::HashTable;
use super::reader::Reader;
use super::run::all_hold;
use super::spill::Rows;
use super::watches::Watches;
use crate::error::Result;
use crate::plan::{Nest, NestKind, Source, TableStep};
use crate::stopwatch::Operator;
use std::cell::OnceCell;
use types::Value;

/// Whether the rows keep coming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Continue,
    Stop,
}

/// For each step of the plan, the rows of a computed or derived table, which are computed once
/// before the loops begin. `None` means that the step reads a table of another kind.
pub(super) type Materialized = Vec<Option<Rows>>;

/// Takes a combination of rows.
pub(super) type Visit<'v> = dyn FnMut(&mut Run<'_, '_>, &mut Vec<Value>) -> Result<Flow> + 'v;

/// Calls `visit` with each combination of rows of the tables.
pub(super) fn nested_loops(
    run: &mut Run<'_, '_>,
    tables: &[TableStep],
    materialized: &Materialized,
    row: &mut Vec<Value>,
    visit: &mut Visit<'_>,
) -> Result<Flow> {
    let hashes = match tables.iter().any(|step| step.hash.is_some()) {
        true => tables.iter().map(|_| OnceCell::new()).collect(),
        false => Vec::new(),
    };
    if tables.is_empty() {
        // As in MySQL, a query without tables looks at one row.
        run.ctx.counters.rows_examined.count();
    }
    let start = Level { step: 0, nest: 0, end: tables.len() };
    match run.ctx.measures {
        None => {
            let watches = Watches::none();
            Loops::<false> { tables, materialized, hashes, watches }.level(run, start, row, visit)
        }
        Some(measures) => {
            let loops = Loops::<true> { tables, materialized, hashes, watches: Watches::of(tables) };
            loops.watches.begin_chain(tables, 0..tables.len(), 0);
            let flow = loops.level(run, start, row, visit);
            loops.watches.end_chain(tables, 0..tables.len(), 0);
            loops.watches.add_to(measures, tables);
            flow
        }
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
    /// For each step with a hash join, its hash table once it is built.
    hashes: Vec<OnceCell<HashTable>>,
    watches: Watches,
}

impl<const MEASURED: bool> Loops<'_, MEASURED> {
    fn level(
        &self,
        run: &mut Run<'_, '_>,
        level: Level,
        row: &mut Vec<Value>,
        visit: &mut Visit<'_>,
    ) -> Result<Flow> {
        if level.step == level.end {
            return visit(run, row);
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
        let within = |run: &mut Run<'_, '_>, row: &mut Vec<Value>| -> Result<Flow> {
            self.passing(Operator::Read(at), || {
                if !all_hold(&step.conditions, row, run)? {
                    run.with(|txn| txn.release_unwanted());
                    return Ok(Flow::Continue);
                }
                self.passing(Operator::Kept(at), || self.level(run, inner, row, visit))
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

    /// Calls `within` with each row of a table.
    #[inline]
    fn each_row(
        &self,
        run: &mut Run<'_, '_>,
        level: Level,
        row: &mut Vec<Value>,
        mut within: impl FnMut(&mut Run<'_, '_>, &mut Vec<Value>) -> Result<Flow>,
    ) -> Result<Flow> {
        let step = &self.tables[level.step];
        if step.hash.is_some() {
            let table = self.hash_table(run, level.step, row)?;
            let mut found = table.find(step, row, run)?;
            while table.next_into(&mut found, step, row, run)? {
                if within(run, row)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            return Ok(Flow::Continue);
        }
        if let Source::Stored { table, access } = &step.source {
            let mut reader = Reader::open(run, table, access, run.lock_for(step.lock), row)?;
            while reader.read_into(run, step, row)? {
                if within(run, row)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            return Ok(Flow::Continue);
        }
        let slots = step.base..step.base + step.columns;
        match (&step.source, &self.materialized[level.step]) {
            (_, Some(rows)) => {
                let mut cursor = rows.cursor();
                while cursor.next(&mut row[slots.clone()], run.ctx)? {
                    run.on_row()?;
                    if within(run, row)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            (Source::Subquery(call), None) => {
                for found in &call.rows(row, run.ctx)?.rows {
                    run.on_row()?;
                    row[slots.clone()].clone_from_slice(found);
                    if within(run, row)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            (Source::JsonTable(table), None) => {
                let (found, _charge) = super::json_table::rows(run, table, step.columns, row)?;
                for found in &found {
                    run.on_row()?;
                    row[slots.clone()].clone_from_slice(found);
                    if within(run, row)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            (_, None) => {}
        }
        Ok(Flow::Continue)
    }

    /// Returns the hash table of a step, which it builds at the first call. The table's rows are
    /// read into `row`.
    fn hash_table(&self, run: &mut Run<'_, '_>, at: usize, row: &mut [Value]) -> Result<&HashTable> {
        if let Some(table) = self.hashes[at].get() {
            return Ok(table);
        }
        let build = |run: &mut Run<'_, '_>, row: &mut [Value]| {
            HashTable::of(run, &self.tables[at], self.materialized[at].as_ref(), row)
        };
        let table = match MEASURED {
            true => self.watches.building(at, || build(run, row))?,
            false => build(run, row)?,
        };
        Ok(self.hashes[at].get_or_init(|| table))
    }
}

impl TableStep {
    fn fill_with_null(&self, row: &mut [Value]) {
        row[self.base..self.base + self.columns].fill(Value::Null);
        if let Some(key) = self.key_slot {
            row[key] = Value::Null;
        }
    }
}
