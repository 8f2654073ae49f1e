//! The writing of row events.

use super::frame::EventBase;
use crate::cursor::put_packed_int;
use crate::event::{HEADER_LEN, Header, RowsKind, event_type};
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
    // The parts of fixed length are appended as one, because each appending looks for room.
    const FIXED_LEN: usize = HEADER_LEN + 10;
    let start = out.len();
    let EventBase { timestamp, server_id } = base;
    let header = Header { timestamp, event_type, server_id, event_size: 0, log_pos: 0, flags: 0 };
    let mut fixed = [0; FIXED_LEN];
    fixed[..HEADER_LEN].copy_from_slice(&header.to_bytes());
    fixed[HEADER_LEN..HEADER_LEN + 6].copy_from_slice(&table_id.to_le_bytes()[..6]);
    fixed[HEADER_LEN + 6..HEADER_LEN + 8].copy_from_slice(&flags.to_le_bytes());
    // There is no extra data.
    fixed[HEADER_LEN + 8..].copy_from_slice(&2u16.to_le_bytes());
    out.extend_from_slice(&fixed);
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
#[inline]
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
