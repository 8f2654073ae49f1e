//! A small applier, which passes the events of a group to an apply transaction, as crate `replica`
//! does.
#![allow(dead_code)] // Each test file uses only some of the functions.

use binlog::{Checksum, Event, Format};
use engine::{CommitOptions, CommitOutcome, Engine, EngineError, PartialRow, Transaction};
use std::sync::Arc;

/// Splits a group into its events, each with its header.
pub fn events(group: &[u8]) -> Vec<&[u8]> {
    let mut events = Vec::new();
    let mut rest = group;
    while !rest.is_empty() {
        let size = u32::from_le_bytes(rest[9..13].try_into().unwrap()) as usize;
        let (event, after) = rest.split_at(size);
        events.push(event);
        rest = after;
    }
    events
}

/// Applies a group whose table ids are this engine's. A group that cannot be applied leaves nothing
/// behind.
pub fn apply(
    engine: &Arc<Engine>,
    format: &Format,
    group: &[u8],
    options: &CommitOptions<'_>,
) -> Result<CommitOutcome, EngineError> {
    change_rows(engine.begin_apply(), format, group)?.commit_received(group, options)
}

/// Passes the rows of a group to a transaction.
pub fn change_rows(
    mut txn: Box<Transaction>,
    format: &Format,
    group: &[u8],
) -> Result<Box<Transaction>, EngineError> {
    let engine = txn.engine().clone();
    let mut rest = group;
    while !rest.is_empty() {
        let size = u32::from_le_bytes(rest[9..13].try_into().unwrap()) as usize;
        let (event, after) = rest.split_at(size);
        rest = after;
        let Event::Rows(rows) = binlog::decode(event, format).unwrap().1 else { continue };
        let table = engine.catalog().table_by_id(rows.table_id).expect("same ids on both sides");
        let (before_mask, after_mask) = (rows.before_mask(), rows.after_mask());
        let before_mask = before_mask.as_ref();
        let after_mask = after_mask.as_ref();
        for change in rows.iter(&table.layout) {
            let change = change.unwrap();
            let before = before_mask.zip(change.before).map(|(mask, image)| PartialRow { mask, image });
            let after = after_mask.zip(change.after).map(|(mask, image)| PartialRow { mask, image });
            match (before, after) {
                (None, Some(after)) => txn.apply_insert(&table, after)?,
                (Some(before), Some(after)) => txn.apply_update(&table, before, after)?,
                (Some(before), None) => txn.apply_delete(&table, before)?,
                (None, None) => unreachable!("a row change has an image"),
            }
        }
    }
    Ok(txn)
}

/// Returns the format of the events in a group.
pub fn format() -> Format {
    Format::new(Checksum::None)
}
