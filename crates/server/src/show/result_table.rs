//! Results that the server itself makes: those of SHOW and of virtual tables.

use sql::{ColumnMeta, EndOfRows, OkInfo, ResultSink, VirtualTable, column_flag};
use types::{ColumnType, DateTime, Value, Zone};

/// The id of the collation utf8mb4_0900_ai_ci.
const UTF8MB4: u16 = 255;

/// Returns a text column of up to `chars` characters.
pub fn text_column(name: &str, chars: u32) -> ColumnMeta {
    column(name, ColumnType::varchar(chars, UTF8MB4), 0)
}

/// Makes a column one that is never NULL.
pub fn not_null(column: ColumnMeta) -> ColumnMeta {
    ColumnMeta { flags: column.flags | column_flag::NOT_NULL, ..column }
}

/// Returns a column of unsigned numbers.
pub fn number_column(name: &str) -> ColumnMeta {
    column(name, ColumnType::bigint(true), column_flag::UNSIGNED | column_flag::BINARY)
}

/// Returns a column of counts, which are signed, as in performance_schema.
pub fn count_column(name: &str) -> ColumnMeta {
    column(name, ColumnType::bigint(false), column_flag::BINARY)
}

/// Returns a column of times in seconds, which are shown in the session's time zone.
pub fn timestamp_column(name: &str) -> ColumnMeta {
    column(name, ColumnType::timestamp(0), 0)
}

/// Returns a time, given in microseconds of Unix time, with a precision of seconds.
pub fn timestamp_value(at_us: u64) -> Value {
    Value::Timestamp { seconds: (at_us / 1_000_000) as i64, micros: 0 }
}

/// Returns a column of times with microseconds.
pub fn time_column(name: &str) -> ColumnMeta {
    column(name, ColumnType::datetime(6), 0)
}

/// Returns a time in UTC, given in microseconds of unix time. 0 becomes MySQL's zero date, which
/// stands for "never".
pub fn time_value(at_us: u64) -> Value {
    Value::DateTime(match at_us {
        0 => DateTime::default(),
        _ => DateTime::from_unix((at_us / 1_000_000) as i64, (at_us % 1_000_000) as u32, Zone::UTC),
    })
}

/// Returns a column with this type and these flags.
pub fn column(name: &str, ty: ColumnType, flags: u16) -> ColumnMeta {
    ColumnMeta {
        schema: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.into(),
        org_name: name.into(),
        ty,
        flags,
        decimals: 0,
    }
}

/// Returns the text as a value, or NULL.
pub fn text_or_null(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::text)
}

/// Sends a whole result.
pub fn send(table: &VirtualTable, status: u16, sink: &mut dyn ResultSink) -> sql::Result<()> {
    sink.columns(&table.columns)?;
    for row in &table.rows {
        assert_eq!(row.len(), table.columns.len(), "a row has a value for each column of the result");
        sink.row(row)?;
    }
    sink.end_rows(EndOfRows { warnings: 0, status })
}

/// Sends an OK packet without further information.
pub fn send_ok(status: u16, sink: &mut dyn ResultSink) -> sql::Result<()> {
    sink.ok(&mut OkInfo { status, ..OkInfo::default() })
}
