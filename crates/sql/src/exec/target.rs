//! The rows that an UPDATE or a DELETE is about.

use super::Run;
use super::reader::{Reader, decode};
use super::sort::Sorter;
use crate::bind::Target;
use crate::error::{Result, SqlError};
use crate::expr::{Number, number};
use crate::memory::{allocated, growth};
use crate::plan::{RowLock, Source};
use engine::{LockMode, Row, Table};
use std::sync::Arc;
use types::Value;

/// Gets a row and its decoded columns, which it may change.
pub(super) type VisitRow<'v> = dyn FnMut(&mut Run<'_, '_>, Row, &mut Vec<Value>) -> Result<()> + 'v;

impl Target {
    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        match &self.step.source {
            Source::Stored { table, .. } => table,
            _ => unreachable!("a target is a stored table"),
        }
    }

    fn limit(&self, run: &Run<'_, '_>) -> Result<u64> {
        let Some(limit) = &self.limit else { return Ok(u64::MAX) };
        match number(&*limit.count.eval(&[], run.ctx)?) {
            Number::Int(n) if n >= 0 => Ok(n as u64),
            Number::UInt(n) => Ok(n),
            _ => Err(SqlError::new(1210, "Incorrect arguments to LIMIT")),
        }
    }

    /// Calls `visit` for each row, locked for update, with its decoded columns. With
    /// `collect_first`, all rows are found before the first visit, so that what a visit changes is
    /// not found again.
    pub fn for_each(
        &self,
        run: &mut Run<'_, '_>,
        collect_first: bool,
        visit: &mut VisitRow<'_>,
    ) -> Result<()> {
        let limit = self.limit(run)?;
        for condition in &self.preconditions {
            if !condition.holds(&[], run.ctx)? {
                return Ok(());
            }
        }
        if limit == 0 {
            return Ok(());
        }
        let table = self.table();
        let Source::Stored { access, .. } = &self.step.source else { return Ok(()) };
        let mut values: Vec<Value> = std::iter::repeat_with(|| Value::Null).take(self.step.columns).collect();
        let mut reader = Reader::open(run, table, access, RowLock::UPDATE, &[])?;
        if self.semi_consistent {
            reader.set_semi_consistent();
        }
        let in_order = self.order.is_empty() || (self.ordered_by_access && !reader.degraded);
        let mut sorter = Sorter::new(&self.order, Some(limit), run.charge());
        let (mut collected, mut charge) = (Vec::new(), run.charge());
        let mut taken = 0;
        while let Some(mut row) = reader.next(run)? {
            decode(table, &row.image, &self.step.needed, &mut values)?;
            let mut takes = self.takes(run, &values)?;
            if takes && reader.is_unlocked() {
                // It was looked at as it is committed; now it is waited for, and may have changed.
                let Some(locked) = run.with(|txn| txn.get(table, &row.key, LockMode::Update))? else {
                    continue;
                };
                row = locked;
                decode(table, &row.image, &self.step.needed, &mut values)?;
                takes = self.takes(run, &values)?;
            }
            if !takes {
                run.with(|txn| txn.release_unwanted());
                continue;
            }
            if !in_order {
                // The sorter counts the keys and the row's place.
                charge.add(row_bytes(&row))?;
                sorter.push_row(&values, row, run.ctx)?;
                continue;
            }
            taken += 1;
            if collect_first {
                charge.add(row_bytes(&row))?;
                growth::push(&mut collected, row, &mut charge)?;
            } else {
                visit(run, row, &mut values)?;
            }
            if taken >= limit {
                break;
            }
        }
        if !in_order {
            let most = usize::try_from(limit).unwrap_or(usize::MAX);
            collected = sorter.finish(run.ctx)?.map(|(_, row)| row).take(most).collect();
        }
        for row in collected {
            decode(table, &row.image, &self.step.needed, &mut values)?;
            visit(run, row, &mut values)?;
        }
        Ok(())
    }

    fn takes(&self, run: &Run<'_, '_>, values: &[Value]) -> Result<bool> {
        for condition in &self.step.conditions {
            if !condition.holds(values, run.ctx)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What a row that is kept until it is changed takes beside its place in a list.
fn row_bytes(row: &Row) -> usize {
    allocated(row.key.capacity()) + allocated(row.image.capacity())
}
