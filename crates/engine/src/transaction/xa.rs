//! Preparing a transaction, and making a prepared transaction again from the log.

use super::Transaction;
use super::mode::Isolation;
use super::row_access::RowAccess;
use crate::Engine;
use crate::bytes::KeyBuf;
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitParts, GtidNext};
use crate::commit::sidecar::{Sidecar, SidecarWriter};
use crate::error::{EngineError, Result};
use crate::group::walk;
use crate::lock::{LockId, LockType};
use crate::partial::PartialRow;
use crate::spill::Spill;
use crate::table::Table;
use crate::transaction::apply::{FoundRow, apply_delete_of, apply_update_of};
use crate::transaction::new_keys::{NewRow, note_auto_increment, prepare_insert};
use crate::transaction::write_set::WriteSet;
use crate::xa::branches::{Held, PreparedXa, XaBranch};
use crate::xa::record::{Content, PreparedRecord, XaPart};
use binlog::Xid;
use binlog::event::RowsEvent;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::ColumnMask;

/// Prepares the transaction (`XA PREPARE`). From here on it holds all its locks itself and ends by
/// [`Engine::finish_xa`]. After an error it is rolled back.
pub(super) fn prepare_xa(
    rows: &mut RowAccess,
    branch: XaBranch,
    attached: bool,
    options: &CommitOptions<'_>,
) -> Result<CommitOutcome> {
    assert!(!rows.changes.has_temporary(), "an XA transaction uses no temporary table");
    if !rows.changes.writes.is_empty() {
        rows.changes.group.finish_xa(false);
        return log_prepare(rows, branch, attached, options);
    }
    let outcome = match options.gtid {
        GtidNext::Given(_) => rows.engine.committer.commit_empty(options)?,
        _ => CommitOutcome { seq: rows.engine.sequencer.visible(), gtid: None },
    };
    branch.prepared(PreparedXa { record: None, held: into_held(rows) }, attached);
    Ok(outcome)
}

/// Prepares the transaction with the events of a source, from `XA START` to the XA_PREPARE event,
/// or with the part of them that comes after what [`Transaction::receive`] was given.
pub(super) fn prepare_xa_received(
    rows: &mut RowAccess,
    branch: XaBranch,
    events: &[u8],
    options: &CommitOptions<'_>,
) -> Result<CommitOutcome> {
    rows.changes.receive(events)?;
    log_prepare(rows, branch, false, options)
}

fn log_prepare(
    rows: &mut RowAccess,
    branch: XaBranch,
    attached: bool,
    options: &CommitOptions<'_>,
) -> Result<CommitOutcome> {
    let _state = os::account::enter(os::account::State::Commit);
    let engine = rows.engine.clone();
    let options = &CommitOptions { binlog: options.binlog && !rows.changes.group.is_left_out(), ..*options };
    let (record, spill) = prepared_record(rows, branch.xid(), options.binlog)?;
    let record = Arc::new(record);
    branch.begin_prepare(&record);
    let parts = CommitParts {
        group: &[],
        spill: None,
        ddl: false,
        only_rows: false,
        replacements: &[],
        dictionary: &[],
        next_ids: None,
        xa: Some(XaPart::Prepares(&record)),
        options,
    };
    let logged =
        engine.committer.commit_writes(&mut WriteSet::new(false), &mut SidecarWriter::default(), parts);
    let outcome = logged?;
    // The commit that ends the transaction must come after this record for replicas that apply in
    // parallel.
    engine.sequencer.note_released(outcome.seq);
    let mut held = into_held(rows);
    held.images = spill.and_then(|spill| {
        spill.group.keep();
        spill.images
    });
    branch.prepared(PreparedXa { record: Some(record), held }, attached);
    engine.committer.settle_commit(outcome.seq, options.wait)?;
    Ok(outcome)
}

/// Returns the record of the transaction, whose group is complete. The content of a large
/// transaction goes to a file, which is durable when this returns.
fn prepared_record(
    rows: &mut RowAccess,
    xid: &Xid,
    binlogged: bool,
) -> Result<(PreparedRecord, Option<Spill>)> {
    let mut sidecar = Vec::new();
    rows.changes.sidecar.finish(&mut sidecar);
    let replacements = rows.changes.group.replacements();
    let replaced = !replacements.is_empty();
    let mut writer = SidecarWriter::default();
    replacements.iter().for_each(|replacement| writer.replacement(replacement));
    writer.finish(&mut sidecar);
    let is_large = rows.changes.group.len() + sidecar.len() > rows.engine.config.spill_bytes;
    let mut spill = rows.changes.group.take_spilled(is_large)?;
    let content = match &mut spill {
        None => Content::Here { group: rows.changes.group.take_bytes().into(), sidecar: sidecar.into() },
        Some(spill) => {
            let group_len = spill.group.len();
            Content::File(spill.group.finish(group_len, &sidecar)?)
        }
    };
    Ok((PreparedRecord::new(*xid, (binlogged, replaced), content), spill))
}

/// Takes out of a transaction what is kept while it is prepared. The transaction is over then.
fn into_held(rows: &mut RowAccess) -> Held {
    rows.close_snapshot();
    let engine = rows.engine.clone();
    if rows.tables.held {
        for writes in &rows.changes.writes.tables {
            let def = &writes.table.def;
            let id = LockId::metadata(&def.schema, &def.name);
            engine.locks.share(&mut rows.locks.owner, id, LockType::SharedWrite);
        }
    }
    let mut locks = std::mem::replace(&mut rows.locks.owner, engine.locks.owner());
    locks.set_works_alone();
    let writes = std::mem::take(&mut rows.changes.writes);
    let sidecar = std::mem::take(&mut rows.changes.sidecar);
    rows.release();
    Held { writes, sidecar, locks, images: None }
}

/// Makes the changes of an event group that was logged here, to the same rows, which are found by
/// key or by hidden row id.
fn change_again(rows: &mut RowAccess, group: &[u8], sidecar: &mut Sidecar<'_>) -> Result<()> {
    for event in walk::rows_events(group) {
        let event = event?;
        let gone =
            || EngineError::Corrupt(format!("a prepared transaction is about table {}", event.table_id));
        let table = rows.engine.catalog.table_by_id(event.table_id).ok_or_else(gone)?;
        rows.use_table_to_change(&table)?;
        event_again(rows, &table, &event, sidecar)?;
    }
    Ok(())
}

fn event_again(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    event: &RowsEvent<'_>,
    sidecar: &mut Sidecar<'_>,
) -> Result<()> {
    let none = ColumnMask::empty(0);
    let (before_mask, after_mask) = (event.before_mask(), event.after_mask());
    for change in event.iter(&table.layout) {
        let change = change.map_err(walk::malformed)?;
        let row_id = match table.primary {
            None => Some(sidecar.next_row_id(table.id)?),
            Some(_) => None,
        };
        let before = PartialRow {
            mask: before_mask.as_ref().unwrap_or(&none),
            image: change.before.unwrap_or_default(),
        };
        let after = PartialRow {
            mask: after_mask.as_ref().unwrap_or(&none),
            image: change.after.unwrap_or_default(),
        };
        let key = |row: PartialRow<'_>| match row_id {
            Some(row_id) => Ok(KeyBuf::from_slice(&row_id.to_be_bytes())),
            None => table.key_from_partial(row.mask, row.image),
        };
        match (change.before, change.after) {
            (None, Some(_)) => {
                let image = match after.mask.is_full() {
                    true => after.image,
                    false => sidecar.next_whole_row(table.id)?,
                };
                insert_again(rows, table, image, row_id, after.mask.is_full())?;
            }
            (Some(_), Some(_)) => apply_update_of(rows, table, &FoundRow(key(before)?), before, after)?,
            (Some(_), None) => apply_delete_of(rows, table, &FoundRow(key(before)?), before)?,
            (None, None) => {}
        }
    }
    Ok(())
}

fn insert_again(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    image: &[u8],
    row_id: Option<u64>,
    is_whole: bool,
) -> Result<()> {
    if let Some(row_id) = row_id {
        table.counters.row_id.fetch_max(row_id + 1, Ordering::Relaxed);
    }
    let NewRow { key, leaf, keys, over } = prepare_insert(rows, table, image, row_id)?;
    if !is_whole {
        rows.changes.sidecar.whole_row(table.id, image);
    }
    rows.record_change(table, row_id);
    note_auto_increment(table, image)?;
    rows.changes.stage_over(table, &key, over)?;
    rows.changes.stage_insert(table, &key, leaf, (image.to_vec(), None), keys);
    Ok(())
}
/// Makes the write set of a prepared transaction from its record in the log, and takes the locks
/// that it does not have yet.
pub(crate) fn hold_prepared(engine: &Arc<Engine>, record: &PreparedRecord, held: &mut Held) -> Result<()> {
    let (group, sidecar) = record.load(&engine.config)?;
    let mut transaction = Transaction::new(engine.clone(), Isolation::RepeatableRead, false);
    let rows = &mut transaction.rows;
    std::mem::swap(&mut rows.locks.owner, &mut held.locks);
    let changed = change_again(rows, &group, &mut Sidecar::parse(&sidecar)?);
    *held = into_held(rows);
    changed
}
