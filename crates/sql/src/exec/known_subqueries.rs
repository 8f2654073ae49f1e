//! Subqueries whose rows are known: those that further threads of a statement ask for.

use crate::error::{Result, SqlError};
use crate::expr::{Context, RunSubqueries, SharedTransaction, SubqueryRows};
use crate::memory::Charge;
use std::rc::Rc;
use types::Value;

/// The rows of a subquery without arguments, by its number.
pub(super) type NumberedRows = (usize, Vec<Vec<Value>>);

/// The rows of those subqueries that a further thread of a statement asks for.
pub(super) struct KnownSubqueries(Vec<(usize, Rc<SubqueryRows>)>);

impl KnownSubqueries {
    /// Copies the rows of subqueries, which are given by their numbers.
    pub fn of(subqueries: &[NumberedRows], ctx: &Context<'_>) -> Result<KnownSubqueries> {
        let mut known = Vec::with_capacity(subqueries.len());
        for (number, rows) in subqueries {
            let mut charge = Charge::new(ctx.memory);
            rows.iter().try_for_each(|row| charge.add_row(row))?;
            known.push((*number, Rc::new(SubqueryRows::new(rows.clone(), None, charge))));
        }
        Ok(KnownSubqueries(known))
    }
}

impl RunSubqueries for KnownSubqueries {
    fn rows(&self, number: usize, args: Vec<Value>, _: &Context<'_>) -> Result<Rc<SubqueryRows>> {
        assert!(args.is_empty(), "a thread asks for subqueries without arguments only");
        let known = self.0.iter().find(|(known, _)| *known == number);
        known.map(|(_, rows)| rows.clone()).ok_or_else(|| SqlError::not_supported("a subquery of a thread"))
    }

    fn rows_for_threads(&self, _: usize, _: &Context<'_>) -> Result<Option<Vec<Vec<Value>>>> {
        Ok(None)
    }

    fn known_rows(&self, number: usize) -> Option<Rc<SubqueryRows>> {
        self.0.iter().find(|(known, _)| *known == number).map(|(_, rows)| rows.clone())
    }

    fn set_rows(&self, _: usize, _: Option<Rc<SubqueryRows>>) {
        unreachable!("the rows of recursive common tables are the statement's own thread's");
    }

    fn cost_of_narrowing(&self, _: usize) -> Option<f64> {
        None
    }

    fn narrow(&self, _: usize, _: Rc<SubqueryRows>, _: &Context<'_>) -> Result<()> {
        unreachable!("a thread's subqueries cannot be narrowed");
    }

    fn transaction(&self) -> &dyn SharedTransaction {
        unreachable!("stored functions are called by the statement's own thread");
    }
}
