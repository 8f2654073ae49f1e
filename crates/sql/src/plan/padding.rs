//! CHAR columns that are read with the spaces up to their full length, as the mode
//! PAD_CHAR_TO_FULL_LENGTH has it.
//!
//! Rows have these columns without the spaces. Whether a statement sees the spaces is decided when
//! it is bound, so that reading a row costs nothing more in any other mode.

use crate::expr::text_length;
use engine::Table;
use types::collation::BINARY;
use types::{ColumnType, TypeCode, Value};

/// The columns of a table that get spaces once a row is read.
#[derive(Debug)]
pub(crate) struct Padding {
    /// The position of each column, and the number of characters that it is filled up to.
    columns: Vec<(usize, usize)>,
}

/// Reports whether the values of a column have another form with the mode than without it.
pub(crate) fn is_padded(ty: &ColumnType) -> bool {
    ty.code == TypeCode::String && ty.collation != BINARY && ty.text_form().is_none()
}

impl Padding {
    /// Returns the padding of those columns that are needed. `None` if none of them is a CHAR.
    pub fn of(table: &Table, needed: &[usize]) -> Option<Box<Padding>> {
        let padded = needed.iter().filter(|column| is_padded(table.column_type(**column)));
        let columns: Vec<(usize, usize)> =
            padded.map(|column| (*column, text_length(table.column_type(*column)) as usize)).collect();
        (!columns.is_empty()).then(|| Box::new(Padding { columns }))
    }

    /// Adds the spaces to a row of the table that was just read.
    pub fn fill(&self, row: &mut [Value]) {
        for (column, chars) in &self.columns {
            if let Value::Bytes(text) = &mut row[*column] {
                // Texts are kept in utf8mb4, where each character has one byte that does not go on
                // with another one.
                let has = text.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
                text.resize(text.len() + chars.saturating_sub(has), b' ');
            }
        }
    }
}
