//! CHECKSUM TABLE: the number that MySQL computes for the same rows.
//!
//! A table's checksum is the sum of its rows' CRC-32s, so that the order of the rows does not
//! count. A row's is computed over the record in which MySQL's server layer keeps it: the bits that
//! say which columns are NULL, then each column's bytes at their full length. A NULL has the bytes
//! of its column's default there. The columns that MySQL hides behind functional key parts are left
//! out, so the number of a table that has them is another one.

use super::Session;
use crate::error::Result;
use engine::{ColumnDef, Direction, IndexRef, KeyRange, LockMode, Table, Transaction};
use std::sync::Arc;
use types::{ColumnType, TypeCode, collation, convert, packed};

/// Returns the checksum of a table's rows as the session's transaction sees them.
///
/// # Errors
/// Returns the errors of reading the table, and of KILL.
pub(super) fn of_table(session: &mut Session, table: &Arc<Table>) -> Result<u64> {
    let mut transaction = session.transacting().take();
    let summed = sum_rows(&mut transaction, table);
    if session.transaction.explicit || !session.settings.variables.autocommit {
        session.transaction.open = Some(transaction);
    }
    summed
}

fn sum_rows(transaction: &mut Transaction, table: &Arc<Table>) -> Result<u64> {
    let record = Record::of(table);
    let all = KeyRange::all();
    let mut scan = transaction.scan(table, IndexRef::Primary, all, Direction::Forward, LockMode::Snapshot)?;
    let (mut sum, mut bytes) = (0u32, Vec::new());
    while let Some(row) = scan.next(transaction)? {
        transaction.check_interrupt()?;
        record.write(table, &row.image, &mut bytes)?;
        sum = sum.wrapping_add(crc32fast::hash(&bytes));
    }
    Ok(u64::from(sum))
}

/// What the records of a table have in common.
struct Record {
    /// The bytes of each column where it is NULL.
    defaults: Vec<Vec<u8>>,
    /// The bit of each column that may be NULL, counted from the first byte's lowest.
    null_bits: Vec<Option<usize>>,
    /// The bytes in front of the columns for a row without a NULL. The bits that belong to no
    /// column are set.
    null_bytes: Vec<u8>,
}

impl Record {
    fn of(table: &Table) -> Record {
        let columns = &table.def.columns;
        // A table whose columns all have a fixed length and that does not ask for
        // ROW_FORMAT=DYNAMIC has a bit in front, which once said that a row was deleted.
        let is_dynamic = table.def.options.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("ROW_FORMAT") && value.eq_ignore_ascii_case("DYNAMIC")
        });
        let varies = columns.iter().any(|column| column.ty.code == TypeCode::Varchar || column.ty.is_blob());
        let mut bits = usize::from(!(is_dynamic || varies));
        let mut null_bits = vec![None; columns.len()];
        // The bits of virtual columns come after those of all others.
        for of_virtual in [false, true] {
            for (at, column) in columns.iter().enumerate() {
                if column.nullable && column.is_virtual() == of_virtual {
                    null_bits[at] = Some(bits);
                    bits += 1;
                }
            }
        }
        let mut null_bytes = vec![0xff; bits.div_ceil(8)];
        null_bits.iter().flatten().for_each(|bit| null_bytes[bit / 8] &= !(1 << (bit % 8)));
        // When the last byte has a bit for each of eight columns, MySQL sets all of them.
        if bits % 8 == 0 {
            null_bytes.last_mut().into_iter().for_each(|byte| *byte = 0xff);
        }
        Record { defaults: columns.iter().map(default_bytes).collect(), null_bits, null_bytes }
    }

    /// Writes a row's record over `out`.
    ///
    /// # Errors
    /// Returns an error when the image is no row of the table.
    fn write(&self, table: &Table, image: &[u8], out: &mut Vec<u8>) -> Result<()> {
        assert_eq!(self.defaults.len(), table.columns(), "each column has bytes for NULL");
        out.clear();
        out.extend_from_slice(&self.null_bytes);
        table.layout.walk(image, |at, value| match (value, self.null_bits[at]) {
            (Some(packed), _) => append_full(&table.def.columns[at].ty, packed, out),
            (None, bit) => {
                bit.into_iter().for_each(|bit| out[bit / 8] |= 1 << (bit % 8));
                out.extend_from_slice(&self.defaults[at]);
            }
        })?;
        Ok(())
    }
}

/// Returns the bytes of a column that is NULL: those of its default if that is a literal, else
/// those of zero or of the empty text; JSON's null for a document.
fn default_bytes(column: &ColumnDef) -> Vec<u8> {
    let mut bytes = Vec::new();
    if column.ty.code == TypeCode::Json {
        return b"null".to_vec();
    }
    if column.ty.is_blob() {
        return bytes;
    }
    let given =
        column.default_literal().and_then(|literal| convert::to_column(&literal, &column.ty, false).ok());
    let value = match given {
        Some((value, _)) => Some(value),
        None if column.ty.code == TypeCode::Enum => None,
        None => convert::implicit_default(&column.ty).ok(),
    };
    let mut packed = Vec::new();
    match value.map(|value| packed::encode(&column.ty, &value, &mut packed)) {
        Some(Ok(())) => append_full(&column.ty, &packed, &mut bytes),
        _ => {
            if let packed::Width::Fixed(len) = packed::width(&column.ty) {
                bytes.resize(usize::from(len), 0);
            }
        }
    }
    bytes
}

/// Appends the bytes that a packed value has in MySQL's record. CHAR and BINARY are filled up to
/// their full length; a document is its text.
fn append_full(ty: &ColumnType, packed: &[u8], out: &mut Vec<u8>) {
    match ty.code {
        TypeCode::Json => match packed::decode(ty, packed) {
            Ok(document) => document.to_text(Some(ty), out),
            Err(_) => out.extend_from_slice(packed),
        },
        TypeCode::String => {
            let payload = packed::payload(ty, packed);
            out.extend_from_slice(payload);
            let is_binary = ty.collation == collation::BINARY;
            let fill = if is_binary { b"\0" } else { collation::charset_of(ty.collation).space() };
            let missing = (ty.max_bytes() as usize).saturating_sub(payload.len());
            out.extend(fill.iter().cycle().take(missing));
        }
        _ => out.extend_from_slice(packed::payload(ty, packed)),
    }
}
