//! The attributes of a view's columns besides their types, which come from the columns that they
//! show.

use super::default_text::default_of;
use crate::sink::{ColumnMeta, column_flag};
use engine::{ColumnDef, Engine};
use types::{TypeCode, Value};

/// Reports whether a view's column may be NULL.
pub(crate) fn is_nullable(column: &ColumnMeta) -> bool {
    column.flags & column_flag::NOT_NULL == 0
}

/// Returns the default and the comment of a view's column, which are those of the column that it
/// shows. As in MySQL, an AUTO_INCREMENT column and an expression that cannot be NULL have the
/// type's zero.
pub(crate) fn default_and_comment(engine: &Engine, column: &ColumnMeta) -> (Value, Value) {
    match shown_column(engine, column) {
        Some(shown) if shown.auto_increment => (zero_of(column), Value::text(&shown.comment)),
        Some(shown) => (default_of(&shown), Value::text(&shown.comment)),
        None if is_nullable(column) => (Value::Null, Value::text("")),
        None => (zero_of(column), Value::text("")),
    }
}

/// Returns the stored column that a view's column shows, or `None` if it shows an expression.
fn shown_column(engine: &Engine, column: &ColumnMeta) -> Option<ColumnDef> {
    let table = engine.catalog().table(&column.schema, &column.org_table)?;
    table.def.columns.iter().find(|stored| stored.name.eq_ignore_ascii_case(&column.org_name)).cloned()
}

fn zero_of(column: &ColumnMeta) -> Value {
    let ty = &column.ty;
    let has_one = match ty.code {
        TypeCode::NewDecimal | TypeCode::Double | TypeCode::Float | TypeCode::Year => true,
        TypeCode::Date | TypeCode::Time2 | TypeCode::Datetime2 | TypeCode::Timestamp2 => true,
        TypeCode::Varchar | TypeCode::String => true,
        _ => ty.is_integer(),
    };
    let zero = has_one.then(|| types::convert::implicit_default(ty).ok()).flatten();
    zero.and_then(|zero| zero.text_bytes(Some(ty))).map_or(Value::Null, Value::Bytes)
}
