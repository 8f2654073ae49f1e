//! The cells of rows that go to the client as they are stored.
//!
//! In: a stored row, and the number of a column of the result. Out: the cell's bytes, which are
//! those that the decoded value would have. Texts and integers are not decoded: a text's bytes are
//! its value's, and the binary form of an integer is the one in which it is stored.

use crate::connection::cells::{put_binary_cell, put_text_cell};
use crate::connection::sent_columns::ColumnForm;
use protocol::column::field_type as t;
use protocol::scalar::try_put_binary_row;
use protocol::wire::put_lenenc_int;
use sql::StoredRow;
use types::row::RowError;
use types::{TypeCode, Value};

/// Appends the cell of a text row.
///
/// # Errors
/// Returns an error for a damaged row.
pub fn put_stored_text(row: &StoredRow<'_>, at: usize, out: &mut Vec<u8>) -> Result<(), RowError> {
    let column = row.columns[at];
    if row.layout.is_plain_text(column) {
        match row.layout.find(row.image, column)? {
            Some(text) => put_text(text, out),
            None => out.push(0xfb),
        }
        return Ok(());
    }
    put_text_cell(&row.layout.decode(row.image, column)?, &row.layout.types()[column], out);
    Ok(())
}

/// Appends the cell of a binary row. Returns false for NULL.
///
/// # Errors
/// Returns an error for a damaged row.
pub fn put_stored_binary(
    row: &StoredRow<'_>,
    at: usize,
    (ty, code): &ColumnForm,
    out: &mut Vec<u8>,
) -> Result<bool, RowError> {
    let column = row.columns[at];
    let stored = if row.layout.is_plain_text(column) || has_binary_form(ty.code, *code) {
        row.layout.find(row.image, column)?
    } else {
        let value = row.layout.decode(row.image, column)?;
        return Ok(!matches!(value, Value::Null) && put_binary_cell(&value, ty, *code, out));
    };
    let Some(bytes) = stored else { return Ok(false) };
    match has_binary_form(ty.code, *code) {
        true => out.extend_from_slice(bytes),
        false => put_text(bytes, out),
    }
    Ok(true)
}

/// Appends a binary row of one column.
///
/// # Errors
/// Returns an error for a damaged row.
pub fn put_stored_binary_row(
    row: &StoredRow<'_>,
    form: &ColumnForm,
    out: &mut Vec<u8>,
) -> Result<(), RowError> {
    let column = row.columns[0];
    if row.layout.is_plain_text(column)
        && let Some(text) = row.layout.find(row.image, column)?
        && text.len() <= MOST_SHORT_BYTES
    {
        // A header, a bitmap without NULL, the length, the text.
        out.extend_from_slice(&[0, 0, text.len() as u8]);
        out.extend_from_slice(text);
        return Ok(());
    }
    try_put_binary_row(1, out, |at, out| put_stored_binary(row, at, form, out))
}

/// The length of the longest text whose length takes one byte.
const MOST_SHORT_BYTES: usize = 250;

/// Reports whether a value of the type is stored in the bytes that a type code has in binary rows.
fn has_binary_form(ty: TypeCode, code: u8) -> bool {
    matches!(
        (ty, code),
        (TypeCode::Tiny, t::TINY)
            | (TypeCode::Short, t::SHORT)
            | (TypeCode::Long, t::LONG)
            | (TypeCode::LongLong, t::LONGLONG)
    )
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    put_lenenc_int(out, text.len() as u64);
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::row::RowLayout;
    use types::{ColumnType, Date};

    #[test]
    fn stored_cells_are_those_of_the_decoded_values() {
        let mut medium = ColumnType::int(false);
        medium.code = TypeCode::Int24;
        let mut tiny = ColumnType::int(true);
        tiny.code = TypeCode::Tiny;
        let types = [
            ColumnType::int(false),
            ColumnType::bigint(true),
            medium,
            tiny,
            ColumnType::varchar(300, 255),
            ColumnType::date(),
            ColumnType::double(),
        ];
        let layout = RowLayout::new(&types);
        let day = Date::new(2024, 2, 29).expect("it exists");
        let full = [
            Value::Int(-70_000),
            Value::UInt(u64::MAX),
            Value::Int(-3),
            Value::UInt(255),
            Value::Bytes("é".repeat(130).into_bytes()),
            Value::Date(day),
            Value::Double(-0.5),
        ];
        let with_nulls = full.iter().enumerate().map(|(at, value)| match at % 2 {
            0 => Value::Null,
            _ => value.clone(),
        });
        let empty_text = full.clone().map(|value| match value {
            Value::Bytes(_) => Value::text(""),
            value => value,
        });
        for values in [full.to_vec(), with_nulls.collect(), vec![Value::Null; 7], empty_text.to_vec()] {
            let mut image = Vec::new();
            layout.encode(&values, &mut image).expect("the values have the types");
            let row = StoredRow { layout: &layout, image: &image, columns: &[0, 1, 2, 3, 4, 5, 6] };
            assert_eq!(row.values().as_ref(), Ok(&values));
            for (at, (value, ty)) in values.iter().zip(&types).enumerate() {
                let (mut stored, mut decoded) = (Vec::new(), Vec::new());
                put_stored_text(&row, at, &mut stored).expect("the row is whole");
                put_text_cell(value, ty, &mut decoded);
                assert_eq!(stored, decoded, "column {at} as text");
                let form = (ty.clone(), ty.protocol_code());
                let (mut stored, mut decoded) = (Vec::new(), Vec::new());
                let is_there = put_stored_binary(&row, at, &form, &mut stored).expect("the row is whole");
                assert_eq!(is_there, put_binary_cell(value, ty, form.1, &mut decoded));
                assert_eq!(stored, decoded, "column {at} in binary form");
            }
            for (at, ty) in types.iter().enumerate() {
                let form = (ty.clone(), ty.protocol_code());
                let only = StoredRow { columns: &[at], ..row };
                let (mut whole, mut cells) = (Vec::new(), Vec::new());
                put_stored_binary_row(&only, &form, &mut whole).expect("the row is whole");
                let put = |_, out: &mut Vec<u8>| put_stored_binary(&only, 0, &form, out);
                try_put_binary_row(1, &mut cells, put).expect("the row is whole");
                assert_eq!(whole, cells, "a row of column {at} alone");
            }
            for len in 0..image.len() {
                let short = StoredRow { image: &image[..len], ..row };
                let _no_panic = put_stored_text(&short, 6, &mut Vec::new());
                let form = (types[6].clone(), types[6].protocol_code());
                let _no_panic = put_stored_binary(&short, 6, &form, &mut Vec::new());
            }
        }
    }
}
