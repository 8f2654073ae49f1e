//! The writing of row events.

use super::frame::{EventBase, begin_event};
use crate::cursor::put_packed_int;
use crate::event::{RowsKind, event_type};
use types::ColumnMask;

/// Appends the start of a row event of version 2: everything but the rows. The caller appends the
/// partial images, for each row the before-image (Update, Delete) and then the after-image (Write,
/// Update), and finishes the event.
///
/// `before` has the columns of the before-images (not used for Write), `after` those of the
/// after-images (not used for Delete). Both are of the table's number of columns. `flags` are bits
/// of [`crate::event::rows_flag`].
pub fn rows(
    base: EventBase,
    kind: RowsKind,
    table_id: u64,
    flags: u16,
    before: &ColumnMask,
    after: &ColumnMask,
    out: &mut Vec<u8>,
) -> usize {
    let event_type = match kind {
        RowsKind::Write => event_type::WRITE_ROWS,
        RowsKind::Update => event_type::UPDATE_ROWS,
        RowsKind::Delete => event_type::DELETE_ROWS,
    };
    assert!(table_id < 1 << 48, "a table id has six bytes: {table_id}");
    assert!(
        kind != RowsKind::Update || before.columns() == after.columns(),
        "both images are of one table's columns"
    );
    let start = begin_event(base, event_type, 0, out);
    out.extend_from_slice(&table_id.to_le_bytes()[..6]);
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&2u16.to_le_bytes()); // There is no extra data.
    let first = if kind == RowsKind::Write { after } else { before };
    put_packed_int(first.columns() as u64, out);
    write_mask(first, out);
    if kind == RowsKind::Update {
        write_mask(after, out);
    }
    start
}

/// Appends a bitmap as MySQL writes it: if it has all columns, the bits beyond the last column are
/// set too.
fn write_mask(mask: &ColumnMask, out: &mut Vec<u8>) {
    mask.write_bitmap(out);
    let used = mask.columns() % 8;
    if used != 0
        && mask.is_full()
        && let Some(last) = out.last_mut()
    {
        *last |= 0xff << used;
    }
}
