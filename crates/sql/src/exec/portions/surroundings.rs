//! What further threads of a statement need to compute its expressions, and whether they can.

use crate::error::Result;
use crate::exec::Run;
use crate::exec::known_subqueries::NumberedRows;
use crate::expr::{Context, Expr, NoSession, is_for_any_thread};
use crate::memory::Budget;
use crate::plan::{RowLock, Source, TableStep};
use crate::replica_host::ReplicaHost;
use crate::variables::Variables;
use engine::Engine;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use types::Value;

/// The parts of a statement's [`Context`] that all threads can have.
pub(super) struct Surroundings<'s> {
    engine: &'s Arc<Engine>,
    pub memory: &'s Arc<Budget>,
    interrupt: &'s AtomicBool,
    parameters: &'s [Value],
    outer: &'s [Value],
    schema: Option<&'s str>,
    now_us: u64,
    strict: bool,
    lenient: bool,
}

impl<'s> Surroundings<'s> {
    pub fn of(ctx: &'s Context<'_>) -> Surroundings<'s> {
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
    pub fn context<'c>(
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

/// Reports whether further threads can read the tables: they are stored and read without locks, or
/// have hash tables, which the statement's thread fills.
pub(super) fn may_be_shared(run: &Run<'_, '_>, tables: &[TableStep]) -> bool {
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

/// Returns the numbers of the subqueries in the expressions of the loops and in these. `None` means
/// that not all expressions can be computed by any thread.
pub(super) fn subqueries_of<'e>(
    tables: &'e [TableStep],
    exprs: impl Iterator<Item = &'e Expr>,
) -> Option<Vec<usize>> {
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
pub(super) fn rows_of_subqueries(
    mut numbers: Vec<usize>,
    ctx: &Context<'_>,
) -> Result<Option<Vec<NumberedRows>>> {
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
