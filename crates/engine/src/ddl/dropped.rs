//! Forgetting the partitions whose rows have all been deleted.

use super::context::DdlContext;
use super::statement::Ddl;
use crate::dictionary;
use crate::error::Result;
use crate::group::query::SessionContext;
use crate::table::Table;
use redo::Lsn;
use std::sync::Arc;

/// Takes the notes about dropped partitions up to a position out of a table, whose rows of that
/// time have been deleted. No binary log has this, because no statement says it. It waits for
/// those who use the table for `patience_ms` milliseconds at most.
///
/// # Errors
/// Returns an error when others use the table, and I/O errors.
pub(crate) fn forget_dropped(ddl: &Ddl, table: &Table, until: Lsn, patience_ms: u64) -> Result<()> {
    let session = SessionContext::default();
    let context = DdlContext { lock_timeout_ms: Some(patience_ms), ..DdlContext::new("", "", &session) };
    let mut locks = ddl.metadata_locks(&context);
    locks.lock_table(&table.def.schema, &table.def.name)?;
    let old = ddl.existing_table(&table.def.schema, &table.def.name)?;
    if old.id != table.id {
        return Err(crate::EngineError::TableChanged(table.def.name.clone()));
    }
    let _one = ddl.one.lock();
    let mut placement = old.placement.clone();
    placement.dropped.retain(|note| note.until > until);
    let before = Some((&old.placement, &old.def));
    let ops = dictionary::table_ops(old.id, before, Some((&placement, &old.def)))?;
    let outcome = ddl.commit_unlogged(&ops, None)?;
    ddl.sequencer.note_released(outcome.seq);
    let new = Table::open(&ddl.pool, placement, old.def.clone(), old.counters.clone());
    ddl.catalog.replace_tables(&[&*old], &[Arc::new(new)]);
    Ok(())
}
