//! Writing a row of the tables of accounts as a statement. Its strings are bytes, which no
//! character set conversion changes.

use crate::internal::session::InternalSession;

/// Inserts a row with these cells into a table of the schema `mysql`.
pub(super) fn insert_row(
    session: &mut InternalSession,
    table: &str,
    cells: &[(&str, &[u8])],
) -> sql::Result<()> {
    let names: Vec<String> = cells.iter().map(|(name, _)| format!("`{name}`")).collect();
    let mut statement = format!("INSERT INTO mysql.{table} ({}) VALUES (", names.join(", ")).into_bytes();
    for (i, (_, value)) in cells.iter().enumerate() {
        statement.extend_from_slice(if i == 0 { b"" } else { b", " });
        statement.extend_from_slice(&quote(value));
    }
    statement.push(b')');
    session.run_bytes(&statement)
}

/// Returns a string literal of these bytes.
pub(super) fn quote(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for &b in bytes {
        match b {
            b'\'' | b'\\' => out.extend_from_slice(&[b'\\', b]),
            0 => out.extend_from_slice(b"\\0"),
            _ => out.push(b),
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_survive() {
        assert_eq!(quote(b"a'b\\c\0"), b"'a\\'b\\\\c\\0'");
    }
}
