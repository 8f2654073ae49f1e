//! Going back to a savepoint without the tables that do not go back at a source: those of MyISAM
//! and of other engines without transactions.

use super::changes::{Changes, ChangesMark};
use super::mode::LockMode;
use super::{Savepoint, StatementContext, Transaction};
use crate::bytes::KeyBuf;
use crate::error::{EngineError, Result};
use crate::table::Table;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A row that has changed since a savepoint: its clustered key, and its image, which is `None` for
/// a row that is not there any more.
struct ChangedRow {
    table: Arc<Table>,
    key: KeyBuf,
    image: Option<Vec<u8>>,
}

impl Changes {
    /// Returns the present state of the rows that have changed since the mark in the tables for
    /// which `keeps` holds, in the order in which they changed first.
    fn changed_rows(&self, mark: ChangesMark, keeps: &dyn Fn(&Table) -> bool) -> Result<Vec<ChangedRow>> {
        let mut seen = BTreeSet::new();
        let mut changed = Vec::new();
        for (table, key) in self.rows_since(mark) {
            if !keeps(table) || !seen.insert((table.id, key.to_vec())) {
                continue;
            }
            let image = self.own_image(table, &key)?.expect("a changed row is in the write set");
            changed.push(ChangedRow { table: table.clone(), key, image });
        }
        Ok(changed)
    }
}

/// Reports whether a row has changed since the savepoint in a table for which `is_one` holds.
pub(super) fn has_changed(
    transaction: &Transaction,
    savepoint: Savepoint,
    is_one: &dyn Fn(&Table) -> bool,
) -> bool {
    transaction.rows.changes.rows_since(savepoint.changes).any(|(table, _)| is_one(table))
}

/// Takes back every change since the savepoint, except for those of the tables for which `keeps`
/// holds; see [`Transaction::roll_back_except`].
pub(super) fn roll_back_except(
    transaction: &mut Transaction,
    savepoint: Savepoint,
    timestamp_us: u64,
    keeps: &dyn Fn(&Table) -> bool,
) -> Result<bool> {
    transaction.end_statement();
    let kept = transaction.rows.changes.changed_rows(savepoint.changes, keeps)?;
    transaction.rollback_to(savepoint);
    transaction.begin_statement(StatementContext { timestamp_us, rows_query: None });
    let (mut inserted, mut is_kept) = (Vec::new(), false);
    // A row that makes way for another one does so first.
    let (deleted, changed): (Vec<_>, Vec<_>) = kept.into_iter().partition(|row| row.image.is_none());
    for ChangedRow { table, key, image } in deleted.into_iter().chain(changed) {
        let current = transaction.get(&table, &key, LockMode::Update)?;
        match (current, image) {
            (None, None) => {}
            (None, Some(image)) => inserted.push((table, image)),
            (Some(current), None) => {
                transaction.delete(&table, &current)?;
                is_kept = true;
            }
            (Some(current), Some(image)) if current.image == image => {}
            (Some(current), Some(image)) => {
                is_kept = true;
                match transaction.update(&table, &current, &image) {
                    // The value belongs to a row that changes only later.
                    Err(EngineError::Duplicate { .. }) => {
                        transaction.delete(&table, &current)?;
                        inserted.push((table, image));
                    }
                    updated => updated?,
                }
            }
        }
    }
    for (table, image) in inserted {
        transaction.insert(&table, &image)?;
        is_kept = true;
    }
    transaction.end_statement();
    Ok(is_kept)
}
