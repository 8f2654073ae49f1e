//! The rows of a result as lines of text.

use protocol::client::ResultSet;

/// Returns the rows of a result as text, with tabs between columns. NULL is the text `NULL`.
pub fn lines_of(result: &ResultSet) -> Vec<String> {
    let text = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "NULL".to_owned(),
    };
    result.rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join("\t")).collect()
}
