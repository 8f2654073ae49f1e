//! Updates that hold only the differences of JSON documents. They are logged as updates that hold
//! whole documents, so that what a replica of this server receives does not depend on the source's
//! settings, and recovery need not know the previous document.

use std::sync::Arc;

use binlog::event::{Header, PartialAfter, PartialUpdateEvent, RowsKind};
use engine::{PartialRow, Table, Transaction};
use types::ColumnMask;
use types::json::{JsonDiffError, apply_diffs};
use types::row::RowLayout;

use super::report::GroupError;
use super::rows::{Done, check_columns, incompatible};

/// The number of bytes of the length in front of a document.
const LENGTH_BYTES: usize = 4;

/// Carries the event out, and appends the equivalent row event with whole documents to `out`.
pub(super) fn apply(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    header: &Header,
    event: &PartialUpdateEvent<'_>,
    out: &mut Vec<u8>,
) -> Result<(), GroupError> {
    rewrite(transaction, table, header, event, (out, true))
}

/// Returns the equivalent row event with whole documents, without carrying it out.
pub(super) fn whole_event(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    header: &Header,
    event: &PartialUpdateEvent<'_>,
) -> Result<Vec<u8>, GroupError> {
    let mut out = Vec::new();
    rewrite(transaction, table, header, event, (&mut out, false))?;
    Ok(out)
}

fn rewrite(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    header: &Header,
    event: &PartialUpdateEvent<'_>,
    (out, carries_out): (&mut Vec<u8>, bool),
) -> Result<(), GroupError> {
    let refused = |error| GroupError::Row(RowsKind::Update, table.qualified_name().to_string(), error);
    let named = table.def.named_columns();
    let lacks_hidden = event.0.columns == named && named < table.columns();
    if !lacks_hidden {
        check_columns(table, &event.0).map_err(refused)?;
    }
    let none = ColumnMask::empty(table.columns());
    let ours = |mask: Option<ColumnMask>| mask.map(|mask| with_columns(&mask, table.columns()));
    let (before_mask, after_mask) = (ours(event.0.before_mask()), ours(event.0.after_mask()));
    let (before_mask, after_mask) =
        (before_mask.as_ref().unwrap_or(&none), after_mask.as_ref().unwrap_or(&none));
    let mut done = Done::behind(out, header, table, event.0.flags);
    let layout = lacks_hidden.then(|| RowLayout::new(&table.layout.types()[..named]));
    for row in event.rows(layout.as_ref().unwrap_or(&table.layout))? {
        let before = PartialRow { mask: before_mask, image: row.before };
        let (found, current) = transaction.find_current(table, before).map_err(refused)?;
        let image = whole(table, &current, after_mask, &row.after)?;
        let after = PartialRow { mask: after_mask, image: &image };
        if carries_out {
            transaction.apply_update_of(table, &found, before, after).map_err(refused)?;
        }
        done.row(RowsKind::Update, (before_mask, after_mask), &[row.before, &image]);
    }
    done.finish(event.0.ends_statement());
    Ok(())
}

/// Returns a mask of the same columns in a table with so many columns. Images with these columns
/// are the same.
fn with_columns(mask: &ColumnMask, columns: usize) -> ColumnMask {
    let mut ours = ColumnMask::empty(columns);
    mask.iter().for_each(|column| ours.insert(column));
    ours
}

/// Returns the after image with whole documents.
fn whole(
    table: &Table,
    current: &[u8],
    mask: &ColumnMask,
    after: &PartialAfter<'_>,
) -> Result<Vec<u8>, GroupError> {
    if after.differences.is_empty() {
        return Ok(after.image.to_vec());
    }
    let mut image = after.image[..mask.count().div_ceil(8)].to_vec();
    let mut refused = None;
    let walked = table.layout.walk_partial(mask, after.image, |column, packed| {
        let Some(packed) = packed else { return };
        if !after.differences.contains(column) {
            image.extend_from_slice(packed);
            return;
        }
        match changed(&table.layout, current, column, packed) {
            Ok(document) => {
                image.extend_from_slice(&(document.len() as u32).to_le_bytes());
                image.extend(document);
            }
            Err(error) => refused = refused.or(Some((column, error))),
        }
    });
    let name = table.qualified_name().to_string();
    if let Err(error) = walked {
        return Err(GroupError::Row(RowsKind::Update, name, incompatible(table, error.to_string())));
    }
    match refused {
        None => Ok(image),
        Some((column, error)) => Err(GroupError::Json(name, column, error)),
    }
}

/// Returns the document of a column of the current row after these differences.
fn changed(
    layout: &RowLayout,
    current: &[u8],
    column: usize,
    differences: &[u8],
) -> Result<Vec<u8>, JsonDiffError> {
    let document = layout.get_raw(current, column).ok().flatten().ok_or(JsonDiffError::DoesNotFit)?;
    let behind_length = |packed: &[u8]| packed.get(LENGTH_BYTES..).map(<[u8]>::to_vec);
    let document = behind_length(document).ok_or(JsonDiffError::DoesNotFit)?;
    let differences = behind_length(differences).ok_or(JsonDiffError::Corrupted)?;
    apply_diffs(&document, &differences)
}
