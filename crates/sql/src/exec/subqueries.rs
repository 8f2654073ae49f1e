//! Runs a statement's subqueries when their values are asked for.
//!
//! While a statement with subqueries runs, its transaction is shared: the code that reads or
//! changes rows borrows it for just that, and never while an expression is computed.

use super::Run;
use super::narrowed::{cost_of_narrowing, narrowed_rows};
use super::select::gather;
use crate::error::Result;
use crate::expr::{Context, RunSubqueries, SharedTransaction, SubqueryRows};
use crate::memory::{Charge, LONG_VALUE_BYTES, allocated, growth, heap_bytes, row_bytes};
use crate::plan::SubPlan;
use engine::Transaction;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use types::Value;

/// The remembered results of one subquery.
#[derive(Default)]
struct Known {
    /// The result of a subquery without arguments. It has only one.
    only: Option<Rc<SubqueryRows>>,
    by_args: HashMap<Vec<u8>, Rc<SubqueryRows>>,
    /// The charge for the map and its keys, and the bytes that the remembered rows take.
    charge: Option<Charge>,
    bytes: usize,
}

/// The most bytes that the results of one subquery for different arguments may take.
const MOST_REMEMBERED_BYTES: usize = 1 << 20;

/// The subqueries of a running statement, and its transaction.
pub(crate) struct Subqueries<'p> {
    plans: &'p [SubPlan],
    txn: RefCell<&'p mut Transaction>,
    known: RefCell<Vec<Known>>,
    shares_reads: bool,
}

impl<'p> Subqueries<'p> {
    /// Runs a statement with these subqueries. If `changes_rows` is set, the subqueries take shared
    /// locks when the isolation level demands it. `calls` says that the statement calls stored
    /// functions. A statement with neither has the transaction for itself.
    pub fn with<T>(
        plans: &'p [SubPlan],
        txn: &'p mut Transaction,
        ctx: &Context<'_>,
        changes_rows: bool,
        calls: bool,
        run: impl FnOnce(Run<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        if plans.is_empty() && !calls {
            return run(Run::new(txn, ctx));
        }
        let shares_reads = changes_rows && txn.locks_gaps();
        let known = RefCell::new(plans.iter().map(|_| Known::default()).collect());
        let subqueries = Subqueries { plans, txn: RefCell::new(txn), known, shares_reads };
        let ctx = ctx.within(&subqueries, &[]);
        run(Run::sharing(&subqueries.txn, &ctx))
    }

    fn remembered(&self, number: usize, key: &Option<Vec<u8>>) -> Option<Rc<SubqueryRows>> {
        let known = &self.known.borrow()[number];
        match key {
            None => known.only.clone(),
            Some(key) => known.by_args.get(key).cloned(),
        }
    }

    fn remember(
        &self,
        number: usize,
        key: Option<Vec<u8>>,
        rows: &Rc<SubqueryRows>,
        ctx: &Context<'_>,
    ) -> Result<()> {
        let known = &mut self.known.borrow_mut()[number];
        let Some(key) = key else {
            known.only = Some(rows.clone());
            return Ok(());
        };
        let bytes = allocated(key.len())
            + rows.first.iter().fold(0usize, |bytes, row| bytes.saturating_add(row_bytes(row)));
        if known.bytes.saturating_add(bytes) > MOST_REMEMBERED_BYTES {
            *known = Known::default();
        }
        if bytes > MOST_REMEMBERED_BYTES || !rows.is_in_memory() {
            return Ok(());
        }
        let charge = known.charge.get_or_insert_with(|| Charge::new(ctx.memory));
        charge.add(allocated(key.len()))?;
        growth::insert_new(&mut known.by_args, key, rows.clone(), charge)?;
        known.bytes += bytes;
        Ok(())
    }
}

impl RunSubqueries for Subqueries<'_> {
    fn rows(&self, number: usize, args: Vec<Value>, ctx: &Context<'_>) -> Result<Rc<SubqueryRows>> {
        let plan = &self.plans[number];
        assert!(!plan.is_joined, "a subquery whose tables are joined with others is not run");
        let key = (!args.is_empty() && !plan.varies).then(|| key_of(&args));
        if !plan.varies
            && let Some(rows) = self.remembered(number, &key)
        {
            return Ok(rows);
        }
        ctx.check_interrupt()?;
        crate::parse::check_stack()?;
        let within = ctx.within(self, &args);
        let mut run = Run::sharing(&self.txn, &within);
        run.set_shares_reads(self.shares_reads);
        let rows = Rc::new(gather(&mut run, &plan.plan)?);
        if !plan.varies {
            self.remember(number, key, &rows, ctx)?;
        }
        Ok(rows)
    }

    fn rows_for_threads(&self, number: usize, ctx: &Context<'_>) -> Result<Option<Vec<Vec<Value>>>> {
        const MOST_ROWS: usize = 1000;
        if self.plans[number].varies {
            return Ok(None);
        }
        let rows = self.rows(number, Vec::new(), ctx)?;
        let is_small = rows.is_in_memory()
            && rows.len() <= MOST_ROWS
            && rows.first.iter().flatten().all(|value| heap_bytes(value) < LONG_VALUE_BYTES);
        Ok(is_small.then(|| rows.first.clone()))
    }

    fn known_rows(&self, number: usize) -> Option<Rc<SubqueryRows>> {
        if self.plans[number].varies { None } else { self.remembered(number, &None) }
    }

    fn set_rows(&self, number: usize, rows: Option<Rc<SubqueryRows>>) {
        self.known.borrow_mut()[number].only = rows;
    }

    fn cost_of_narrowing(&self, number: usize) -> Option<f64> {
        let plan = &self.plans[number];
        if plan.varies || plan.reads_variables || self.remembered(number, &None).is_some() {
            return None;
        }
        cost_of_narrowing(&plan.plan)
    }

    fn narrow(&self, number: usize, integers: Rc<SubqueryRows>, ctx: &Context<'_>) -> Result<()> {
        // While the subquery runs, its rows are the integers, among which its column is looked for.
        self.set_rows(number, Some(integers));
        let within = ctx.within(self, &[]);
        let mut run = Run::sharing(&self.txn, &within);
        run.set_shares_reads(self.shares_reads);
        let rows = narrowed_rows(&mut run, &self.plans[number].plan, number);
        self.set_rows(number, None);
        self.set_rows(number, Some(Rc::new(rows?)));
        Ok(())
    }

    fn transaction(&self) -> &dyn SharedTransaction {
        &self.txn
    }
}

/// Returns bytes that are the same exactly for the same values of the same kinds.
fn key_of(args: &[Value]) -> Vec<u8> {
    let mut key = Vec::with_capacity(args.len() * 16);
    let put = |key: &mut Vec<u8>, kind: u8, bytes: &[u8]| {
        key.push(kind);
        key.extend((bytes.len() as u64).to_le_bytes());
        key.extend(bytes);
    };
    for arg in args {
        match arg {
            Value::Null => key.push(0),
            Value::Int(n) => put(&mut key, 1, &n.to_le_bytes()),
            Value::UInt(n) => put(&mut key, 2, &n.to_le_bytes()),
            Value::Bytes(bytes) => put(&mut key, 3, bytes),
            other => put(&mut key, 4, format!("{other:?}").as_bytes()),
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_different_kinds_are_different() {
        let all = [
            vec![Value::Null],
            vec![Value::Int(1)],
            vec![Value::UInt(1)],
            vec![Value::text("1")],
            vec![Value::text("")],
            vec![Value::Double(1.0)],
            vec![Value::text("a"), Value::text("b")],
            vec![Value::text("ab"), Value::text("")],
            vec![Value::Null, Value::Int(1)],
            vec![Value::Int(1), Value::Null],
        ];
        for (at, args) in all.iter().enumerate() {
            for (other_at, other) in all.iter().enumerate() {
                assert_eq!(key_of(args) == key_of(other), at == other_at, "{args:?} {other:?}");
            }
        }
    }
}
