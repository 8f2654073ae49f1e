//! Computes subqueries in expressions from their rows.
//!
//! A subquery runs when its value is asked for. The columns of the queries around it that it names
//! are its arguments: expressions over the row at hand, which are computed first. The
//! implementation of `RunSubqueries` caches its rows by the arguments.

use super::node::{MayEqual, Quantified, RowSubquery, SubqueryCall, SubqueryUse};
use super::{Context, SubqueryRows, compare, group_key};
use crate::ast::BinaryOp;
use crate::error::{Result, SqlError};
use std::cmp::Ordering;
use std::rc::Rc;
use types::Value;

/// At most this many rows are compared one by one.
const FEW_ROWS: usize = 8;

/// Returns the key of a row. `None` means that one of its values is NULL.
fn key_of<'v>(row: impl Iterator<Item = &'v Value>, collations: &[u16]) -> Option<Vec<u8>> {
    let mut key = Vec::new();
    for (value, collation) in row.zip(collations) {
        if value.is_null() {
            return None;
        }
        group_key(value, *collation, &mut key);
    }
    Some(key)
}

impl SubqueryCall {
    /// Returns the subquery's rows for the row at hand.
    ///
    /// # Errors
    /// Returns the errors of `RunSubqueries::rows`, and 1235 where expressions are computed
    /// without a statement.
    pub fn rows(&self, row: &[Value], ctx: &Context<'_>) -> Result<Rc<SubqueryRows>> {
        let mut args = Vec::with_capacity(self.args.len());
        for arg in &self.args {
            args.push(ctx.owned(arg.eval(row, ctx)?)?);
        }
        let Some(subqueries) = ctx.subqueries else {
            return Err(SqlError::not_supported("a subquery in this place"));
        };
        subqueries.rows(self.number, args, ctx)
    }

    /// Returns the subquery's only row, or `None` where it has no row.
    ///
    /// # Errors
    /// Returns 1242 where the subquery has several rows, and the errors of [`SubqueryCall::rows`].
    pub fn only_row(&self, row: &[Value], ctx: &Context<'_>) -> Result<Option<Rc<SubqueryRows>>> {
        let found = self.rows(row, ctx)?;
        match found.len() {
            0 => Ok(None),
            1 => Ok(Some(found)),
            _ => Err(SqlError::new(1242, "Subquery returns more than 1 row")),
        }
    }

    /// Returns the value of `(SELECT ...)` or `EXISTS (SELECT ...)`.
    pub fn value(&self, what: SubqueryUse, row: &[Value], ctx: &Context<'_>) -> Result<Value> {
        match what {
            SubqueryUse::Exists => Ok(Value::Int(i64::from(!self.rows(row, ctx)?.is_empty()))),
            SubqueryUse::Scalar => match self.only_row(row, ctx)? {
                None => Ok(Value::Null),
                Some(found) => ctx.copied(&found.first[0][0]),
            },
        }
    }
}

/// Compares two rows as MySQL does. `None` means unknown. With `=`, `<>` and `<=>` a pair that
/// differs decides before a pair with NULL does. With the other operators the first pair decides
/// that differs or has a NULL.
pub(crate) fn compare_rows<'v>(
    op: BinaryOp,
    pairs: impl Iterator<Item = (&'v Value, &'v Value, u16)>,
    ctx: &Context<'_>,
) -> Result<Option<bool>> {
    let is_order =
        matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual);
    let mut unknown = false;
    let mut ordering = Ordering::Equal;
    for (a, b, collation) in pairs {
        if op == BinaryOp::NullSafeEqual && (a.is_null() || b.is_null()) {
            if a.is_null() && b.is_null() {
                continue;
            }
            return Ok(Some(false));
        }
        match compare(a, b, collation, ctx)? {
            None if is_order => return Ok(None),
            None => unknown = true,
            Some(Ordering::Equal) => {}
            Some(other) => {
                ordering = other;
                break;
            }
        }
    }
    if unknown && ordering == Ordering::Equal {
        return Ok(None);
    }
    Ok(Some(match op {
        BinaryOp::Equal | BinaryOp::NullSafeEqual => ordering == Ordering::Equal,
        BinaryOp::NotEqual => ordering != Ordering::Equal,
        BinaryOp::Less => ordering == Ordering::Less,
        BinaryOp::LessEqual => ordering != Ordering::Greater,
        BinaryOp::Greater => ordering == Ordering::Greater,
        BinaryOp::GreaterEqual => ordering != Ordering::Less,
        _ => unreachable!("only comparisons compare rows"),
    }))
}

impl Quantified {
    /// Returns the answer. `None` means unknown.
    pub fn answer(&self, row: &[Value], ctx: &Context<'_>) -> Result<Option<bool>> {
        let mut needles = Vec::with_capacity(self.operands.len());
        for operand in &self.operands {
            needles.push(operand.eval(row, ctx)?);
        }
        let found = self.call.rows(row, ctx)?;
        let answer = if self.hashes && found.len() > FEW_ROWS {
            let keys = found.keys(&|row| key_of(row.iter(), &self.collations), ctx)?;
            match key_of(needles.iter().map(|needle| &**needle), &self.collations) {
                Some(key) if keys.contains(&key)? => Some(true),
                Some(_) if !keys.has_null => Some(false),
                // In a row with several values, another value than the NULL may tell that the rows
                // differ.
                _ if needles.len() == 1 => None,
                _ => self.look_through(&needles, &found, ctx)?,
            }
        } else {
            self.look_through(&needles, &found, ctx)?
        };
        Ok(answer.map(|answer| answer != self.negated))
    }

    fn look_through(
        &self,
        needles: &[std::borrow::Cow<'_, Value>],
        found: &SubqueryRows,
        ctx: &Context<'_>,
    ) -> Result<Option<bool>> {
        let (mut unknown, mut decided) = (false, None);
        found.for_each(
            &mut |row| {
                let pairs = needles.iter().zip(row).zip(&self.collations);
                let pairs = pairs.map(|((needle, value), collation)| (&**needle, value, *collation));
                match compare_rows(self.op, pairs, ctx)? {
                    Some(holds) if holds != self.all => decided = Some(holds),
                    Some(_) => {}
                    None => unknown = true,
                }
                Ok(decided.is_none())
            },
            ctx,
        )?;
        if decided.is_some() {
            return Ok(decided);
        }
        Ok(if unknown { None } else { Some(self.all) })
    }
}

impl RowSubquery {
    /// Returns the answer. `None` means unknown. Where the subquery has no row, NULLs take its
    /// place.
    pub fn answer(&self, row: &[Value], ctx: &Context<'_>) -> Result<Option<bool>> {
        let found = self.call.only_row(row, ctx)?;
        let mut operands = Vec::with_capacity(self.operands.len());
        for operand in &self.operands {
            operands.push(operand.eval(row, ctx)?);
        }
        let null = Value::Null;
        let value = |at: usize| found.as_ref().map_or(&null, |found| &found.first[0][at]);
        let pairs = operands.iter().enumerate().zip(&self.collations);
        compare_rows(
            self.op,
            pairs.map(|((at, operand), collation)| (&**operand, value(at), *collation)),
            ctx,
        )
    }
}

impl MayEqual {
    pub fn holds(&self, row: &[Value], ctx: &Context<'_>) -> Result<bool> {
        let (a, b) = (self.operands[0].eval(row, ctx)?, self.operands[1].eval(row, ctx)?);
        Ok(compare(&a, &b, self.collation, ctx)?.is_none_or(|ordering| ordering == Ordering::Equal))
    }
}
