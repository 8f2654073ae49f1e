//! CHAR columns that are read with the spaces up to their full length, as the mode
//! PAD_CHAR_TO_FULL_LENGTH has it.
//!
//! Rows have these columns without the spaces. Whether a statement sees the spaces is decided when
//! it is bound, so that reading a row costs nothing more in any other mode.

use crate::expr::functions::{PADDED, fill_with_spaces};
use crate::expr::{Expr, Node, text_length};
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
            fill_up(&mut row[*column], *chars);
        }
    }
}

/// Adds the spaces to the value of a CHAR column with this type. Other values stay as they are.
pub(crate) fn pad(value: &mut Value, ty: &ColumnType) {
    if is_padded(ty) {
        fill_up(value, text_length(ty) as usize);
    }
}

/// Takes away the spaces of a value of a CHAR column with this type, whose rows have none. Other
/// values stay as they are.
pub(crate) fn unpad(value: &mut Value, ty: &ColumnType) {
    if let (Value::Bytes(text), true) = (value, is_padded(ty)) {
        let kept = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
        text.truncate(kept);
    }
}

/// Makes an expression read its CHAR columns with the spaces, for rows that no table's reader has
/// filled: a row that is being written, and the row in its way.
pub(crate) fn pad_columns(expr: &mut Expr) {
    expr.for_children_mut(&mut pad_columns);
    if matches!(expr.node, Node::Slot(_) | Node::InsertedValue(_)) && is_padded(&expr.ty) {
        let column = std::mem::replace(expr, Expr::constant(Value::Null));
        let (ty, nullable, coercibility) = (column.ty.clone(), column.nullable, column.coercibility);
        *expr =
            Expr { node: Node::Call { function: &PADDED, args: vec![column] }, ty, nullable, coercibility };
    }
}

fn fill_up(value: &mut Value, chars: usize) {
    if let Value::Bytes(text) = value {
        fill_with_spaces(text, chars);
    }
}
