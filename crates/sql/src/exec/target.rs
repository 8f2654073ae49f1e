//! Finds the rows that an UPDATE or a DELETE of one table changes.

use super::Run;
use super::reader::{Reader, decode};
use super::run::rest_holds;
use super::sort::Sorter;
use super::spill::Rows;
use crate::bind::Target;
use crate::error::{Result, SqlError};
use crate::expr::{Number, number};
use crate::plan::{Answered, RowLock, Source};
use engine::{IndexRef, LockMode, Row, Table};
use std::sync::Arc;
use types::Value;

/// Takes a row and its decoded columns, which it may change.
pub(super) type VisitRow<'v> = dyn FnMut(&mut Run<'_, '_>, Row, &mut Vec<Value>) -> Result<()> + 'v;

impl Target {
    /// Returns the table whose rows are changed.
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

    /// Returns the columns that are read of each row when these conditions need not be decided.
    fn needed(&self, answered: Answered) -> &[usize] {
        let all = (0..self.step.conditions.len()).all(|at| answered.has(at));
        match &self.step.needed_beside_conditions {
            Some(beside) if all => beside,
            _ => &self.step.needed,
        }
    }

    /// Decodes these columns of a row.
    fn decode(&self, row: &Row, needed: &[usize], values: &mut [Value]) -> Result<()> {
        decode(self.table(), &row.image, needed, values)?;
        if let Some(padding) = &self.step.padding {
            padding.fill(values);
        }
        Ok(())
    }

    /// Calls `visit` for each row with its decoded columns. The row is locked for update. With
    /// `collect_first`, all rows are found before the first visit, so that changed rows are not
    /// found again.
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
        // As in MySQL, a scan of the whole table changes rows by the primary key.
        run.found_by = Some(reader.used_index().unwrap_or(IndexRef::Primary));
        if self.semi_consistent {
            reader.set_semi_consistent();
        }
        let answered = reader.answered(&self.step);
        let needed = self.needed(answered);
        let in_order = self.order.is_empty() || (self.ordered_by_access && !reader.degraded);
        let mut sorter = (!in_order).then(|| Sorter::new(&self.order, Some(limit), run.ctx));
        let mut collected = (in_order && collect_first).then(|| Rows::new(KEPT_COLUMNS, run.ctx));
        let mut taken = 0;
        while let Some(mut row) = reader.next(run)? {
            self.decode(&row, needed, &mut values)?;
            let mut takes = rest_holds(&self.step.conditions, answered, &values, run.ctx)?;
            if takes && reader.is_unlocked() {
                // So far the committed version was looked at. Now the row is locked, and may have
                // changed meanwhile.
                let Some(locked) = run.with(|txn| txn.get(table, &row.key, LockMode::Update))? else {
                    continue;
                };
                row = locked;
                self.decode(&row, needed, &mut values)?;
                takes = rest_holds(&self.step.conditions, answered, &values, run.ctx)?;
            }
            if !takes {
                run.with(|txn| txn.release_unwanted());
                continue;
            }
            if let Some(sorter) = &mut sorter {
                sorter.push(&values, &kept(row), run.ctx)?;
                continue;
            }
            taken += 1;
            match &mut collected {
                Some(collected) => collected.push(&kept(row), run.ctx)?,
                None => visit(run, row, &mut values)?,
            }
            if taken >= limit {
                break;
            }
        }
        let mut next = kept(Row { key: Vec::new(), image: Vec::new() });
        let mut visit_kept = |run: &mut Run<'_, '_>, next: &mut [Value; KEPT_COLUMNS]| {
            let row = taken_back(next);
            self.decode(&row, needed, &mut values)?;
            visit(run, row, &mut values)
        };
        if let Some(sorter) = sorter {
            let mut sorted = sorter.finish(run.ctx)?;
            while sorted.next(&mut next, run.ctx)? {
                visit_kept(run, &mut next)?;
            }
        }
        if let Some(collected) = collected {
            let mut cursor = collected.cursor();
            while cursor.next(&mut next, run.ctx)? {
                visit_kept(run, &mut next)?;
            }
        }
        Ok(())
    }
}

/// A row that is kept until it is changed has two values: its key and its image.
const KEPT_COLUMNS: usize = 2;

fn kept(row: Row) -> [Value; KEPT_COLUMNS] {
    [Value::Bytes(row.key), Value::Bytes(row.image)]
}

fn taken_back(kept: &mut [Value; KEPT_COLUMNS]) -> Row {
    let [key, image] = kept;
    let bytes = |value: &mut Value| match std::mem::replace(value, Value::Null) {
        Value::Bytes(bytes) => bytes,
        other => unreachable!("a key and an image are bytes, not {other:?}"),
    };
    Row { key: bytes(key), image: bytes(image) }
}
