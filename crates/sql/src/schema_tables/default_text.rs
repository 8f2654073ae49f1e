//! The defaults of columns, as they are shown.

use engine::{ColumnDef, ColumnDefault};
use types::{TypeCode, Value};

/// Returns an expression as information_schema shows it, escaped once more.
pub(super) fn escaped(expression: &str) -> String {
    expression.replace('\\', "\\\\").replace('\'', "\\'")
}

/// Returns the default of a column as SHOW COLUMNS shows it.
pub(crate) fn default_of(column: &ColumnDef) -> Value {
    match &column.default {
        None | Some(ColumnDefault::Null) => Value::Null,
        Some(ColumnDefault::Literal(bytes)) if column.ty.code == TypeCode::Bit => {
            let bits: u64 = String::from_utf8_lossy(bytes).parse().unwrap_or(0);
            Value::text(&format!("b'{bits:b}'"))
        }
        Some(ColumnDefault::Literal(bytes)) if column.ty.code == TypeCode::Timestamp2 => {
            Value::Bytes(crate::show::moment_in(bytes, &column.ty, None).into_owned())
        }
        Some(ColumnDefault::Literal(bytes)) if is_binary(column) && !bytes.is_empty() => {
            let digits = bytes.iter().map(|byte| format!("{byte:02X}"));
            Value::text(&format!("0x{}", digits.collect::<String>()))
        }
        Some(ColumnDefault::Literal(bytes)) => Value::Bytes(bytes.clone()),
        Some(ColumnDefault::CurrentTimestamp) => Value::text(&now_text(column)),
        Some(ColumnDefault::Expression(expression)) => Value::text(&escaped(expression)),
    }
}

/// Reports whether the column is BINARY or VARBINARY.
fn is_binary(column: &ColumnDef) -> bool {
    matches!(column.ty.code, TypeCode::String | TypeCode::Varchar)
        && column.ty.collation == types::collation::BINARY
}

/// Returns `CURRENT_TIMESTAMP` with the fractional digits of the column.
pub(super) fn now_text(column: &ColumnDef) -> String {
    match column.ty.fsp() {
        0 => "CURRENT_TIMESTAMP".to_owned(),
        fsp => format!("CURRENT_TIMESTAMP({fsp})"),
    }
}
