//! Inserting a row whose key another row already has: REPLACE deletes the other row, ON DUPLICATE
//! KEY UPDATE updates it, IGNORE leaves the new row out.

use super::super::assign::{encode, now_for};
use super::super::row_update::{NewValue, assign_all};
use super::super::{Run, triggers};
use super::{InsertPlan, Outcome, bits_of};
use crate::error::{Result, SqlError};
use engine::{EngineError, IndexRef, KeyRange, LockMode, Row, TriggerEvent, Use};
use types::Value;

impl InsertPlan {
    /// Puts the row into the table, and deals with rows that are in its way. `wanted` are the
    /// values of the query's tables that ON DUPLICATE KEY UPDATE reads.
    pub(in crate::exec) fn put(
        &self,
        run: &mut Run<'_, '_>,
        image: &[u8],
        wanted: &[Value],
    ) -> Result<Outcome> {
        let mut removed = 0;
        loop {
            run.ctx.counters.handler_write.count();
            run.note_change(&self.table, Use::Insert);
            let error = match run.with(|txn| txn.insert(&self.table, image)) {
                Ok(()) if removed > 0 => return Ok(Outcome::Replaced(removed)),
                Ok(()) => return Ok(Outcome::Inserted),
                Err(error) => error,
            };
            if self.ignore && error.is_ignorable() && !matches!(error, EngineError::Duplicate { .. }) {
                let error = SqlError::from(error);
                run.ctx.warn(error.code, error.message);
                return Ok(Outcome::LeftOut);
            }
            let EngineError::Duplicate { index, .. } = &error else { return Err(error.into()) };
            if self.replace || !self.on_duplicate.is_empty() {
                let values = self.table.layout.decode_all(image)?;
                let Some(old) = self.conflicting_row(run, index, (image, &values))? else {
                    return Err(error.into());
                };
                if !self.replace {
                    return self.update(run, old, values, wanted);
                }
                self.check_seen(run, &old.image)?;
                let fires_delete = self.table.has_triggers(TriggerEvent::Delete.bit());
                if old.image == image && removed == 0 && self.is_last_unique(index) && !fires_delete {
                    // The same row is there already, so nothing is done. MySQL counts it as one
                    // inserted row.
                    return Ok(Outcome::Inserted);
                }
                let is_plain = self.table.def.temporal.versioning.is_none() && !fires_delete;
                if is_plain
                    && self.table.is_related()
                    && run.with(|txn| txn.keeps_references(&self.table, &old.image, image))?
                {
                    // The foreign keys about the row keep their values, so the row is updated in
                    // place and its child rows stay.
                    run.ctx.counters.handler_update.count();
                    run.note_change(&self.table, Use::Update);
                    match run.with(|txn| txn.update(&self.table, &old, image)) {
                        Err(EngineError::Duplicate { .. }) => {}
                        updated => {
                            return updated.map(|()| Outcome::Replaced(removed + 1)).map_err(Into::into);
                        }
                    }
                }
                let gone = run.before_delete(&self.table, &old)?;
                run.delete_row(&self.table, &old)?;
                run.after_delete(&self.table, gone)?;
                removed += 1;
            } else if self.ignore {
                run.ctx.warn(1062, error.to_string());
                return Ok(Outcome::Ignored);
            } else {
                return Err(error.into());
            }
        }
    }

    /// Reports whether the named index is the last unique one, so that no further row can be in the
    /// way in an index behind it.
    fn is_last_unique(&self, index: &str) -> bool {
        let mut unique = self.table.def.indexes.iter().filter(|index| index.unique);
        unique.next_back().is_none_or(|last| last.name == index)
    }

    /// Returns the row that has the new row's key in the named unique index, and locks it for
    /// update.
    fn conflicting_row(
        &self,
        run: &mut Run<'_, '_>,
        index: &str,
        (image, values): (&[u8], &[Value]),
    ) -> Result<Option<Row>> {
        let index = match self.table.def.index(index) {
            Some(at) if index != "PRIMARY" => IndexRef::Secondary(at),
            _ => IndexRef::Primary,
        };
        let keys = match index {
            IndexRef::Secondary(at) if self.table.is_multi_valued(index) => self.table.row_keys(at, image)?,
            _ => {
                let parts = self.table.index_columns(index);
                let key_values: Vec<Value> = parts.iter().map(|part| values[part.column].clone()).collect();
                vec![self.table.encode_key(index, &key_values)?]
            }
        };
        for key in keys {
            run.ctx.counters.uses.add(self.table.usage(Some(index)), Use::Fetch, 1);
            let range = KeyRange::prefix(&key);
            let mut scan = run.with(|txn| {
                txn.scan(&self.table, index, range, engine::Direction::Forward, LockMode::Update)
            })?;
            if let Some(row) = run.with(|txn| scan.next(txn))? {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// Returns the columns that ON DUPLICATE KEY UPDATE sets to DEFAULT.
    fn set_to_default(&self) -> Vec<usize> {
        let columns = self.on_duplicate.iter().filter(|(_, value)| matches!(value, NewValue::Default));
        columns.map(|(at, _)| *at).collect()
    }

    /// Updates the row in the way, for ON DUPLICATE KEY UPDATE. Its expressions find the values of
    /// the new row behind those of the old one, and the wanted values behind these.
    fn update(&self, run: &mut Run<'_, '_>, old: Row, new: Vec<Value>, wanted: &[Value]) -> Result<Outcome> {
        let mut values = self.table.layout.decode_all(&old.image)?;
        values.extend(new);
        values.extend_from_slice(wanted);
        assign_all(run, &self.table, &self.on_duplicate, 1, self.strictness(run), (0, &mut values))?;
        let columns = self.table.columns();
        if self.table.has_triggers(TriggerEvent::Update.bit()) {
            return self.update_with_triggers(run, &old, &mut values[..columns]);
        }
        let id = self.table.def.auto_increment_column().map(|column| bits_of(&values[column]));
        let mut image = encode(&self.table, &values[..columns], run.ctx)?;
        if image == old.image {
            return Ok(Outcome::Updated { changed: false, id });
        }
        if !self.stamped.is_empty() {
            for at in &self.stamped {
                values[*at] = now_for(&self.table.def.columns[*at], run.ctx)?;
            }
            image = encode(&self.table, &values[..columns], run.ctx)?;
        }
        if let Some(expressions) = &self.expressions {
            let (def, strictness) = (&self.table.def, self.strictness(run));
            let new = &mut values[..columns];
            expressions.fill_defaults(def, &self.set_to_default(), new, 1, strictness, run.ctx)?;
            expressions.generate(def, new, 1, strictness, run.ctx)?;
        }
        if self.is_unseen(run, &values[..columns])? || self.is_refused(run, &values[..columns])? {
            return Ok(Outcome::Ignored);
        }
        if self.expressions.is_some() {
            image = encode(&self.table, &values[..columns], run.ctx)?;
        }
        run.update_row(&self.table, &old, &image)?;
        Ok(Outcome::Updated { changed: true, id })
    }

    /// As [`InsertPlan::update`], for a table with triggers for UPDATE. `new` has the assigned
    /// values.
    fn update_with_triggers(&self, run: &mut Run<'_, '_>, old: &Row, new: &mut [Value]) -> Result<Outcome> {
        let table = &self.table;
        let before = table.layout.decode_all(&old.image)?;
        if *new != before[..] {
            for at in &self.stamped {
                new[*at] = now_for(&table.def.columns[*at], run.ctx)?;
            }
        }
        run.before_update(table, &before, new)?;
        triggers::check_nulls(run, table, new, self.strictness(run))?;
        if let Some(expressions) = &self.expressions {
            expressions.generate(&table.def, new, 1, self.strictness(run), run.ctx)?;
        }
        if self.is_unseen(run, new)? || self.is_refused(run, new)? {
            return Ok(Outcome::Ignored);
        }
        let id = table.def.auto_increment_column().map(|column| bits_of(&new[column]));
        let image = encode(table, new, run.ctx)?;
        let changed = image != old.image;
        if changed {
            run.update_row(table, old, &image)?;
        }
        run.after_update(table, &before, new)?;
        Ok(Outcome::Updated { changed, id })
    }
}
