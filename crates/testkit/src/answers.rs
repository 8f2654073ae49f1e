//! The answers of servers to statements, as lines of text that can be compared.

use bench::instance::Settings;
use protocol::client::{Client, ClientError, ResultSet};

use crate::lines::lines_of;
use crate::server::same_as_mysql;

/// Returns the rows of a result as text, with commas between cells and spaces between rows.
fn rows_of(result: &ResultSet) -> String {
    let text = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "NULL".to_owned(),
    };
    let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(text).collect::<Vec<_>>().join(",");
    result.rows.iter().map(row).collect::<Vec<_>>().join(" ")
}

/// Returns the rows of a query as text, with tabs between columns. NULL is the text `NULL`.
///
/// # Panics
/// Panics when the query is refused.
pub fn rows(client: &mut Client, sql: &str) -> Vec<String> {
    lines_of(&client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")))
}

/// Returns the rows of a result as text, with all bytes that are not printable ASCII escaped, with
/// bars between cells and spaces between rows.
pub fn shown(result: &ResultSet) -> String {
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => bytes.escape_ascii().to_string(),
        None => "NULL".to_owned(),
    };
    let rows = result.rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("|"));
    rows.collect::<Vec<_>>().join(" ")
}

/// Runs a statement, and returns its text with the rows of its result or with its error.
///
/// # Panics
/// Panics when the connection is lost.
pub fn answer(client: &mut Client, statement: &str) -> String {
    let said = match client.query(statement) {
        Ok(result) => rows_of(&result),
        Err(ClientError::Server(e)) => {
            format!("{} ({}) {}", e.code, String::from_utf8_lossy(&e.state), e.message)
        }
        Err(e) => panic!("{statement}: {e}"),
    };
    format!("{statement}: {said}")
}

/// Does the work of [`answer`], and appends the rows of SHOW WARNINGS.
///
/// # Panics
/// Panics when the connection is lost.
pub fn answer_with_warnings(client: &mut Client, statement: &str) -> String {
    let said = answer(client, statement);
    let warnings = client.query("SHOW WARNINGS").expect("the connection is still there");
    if warnings.rows.is_empty() { said } else { format!("{said}\n    {}", rows_of(&warnings)) }
}

/// Returns the answers of Slipstream to these statements, which run in one session, with their
/// warnings. If MySQL is on the machine, it has to answer the same.
///
/// # Panics
/// Panics when the answers differ.
pub fn same_answers(test: &str, statements: &[&str]) -> Vec<String> {
    same_as_mysql(test, &Settings::default(), |server| {
        let mut client = server.connect();
        statements.iter().map(|statement| answer_with_warnings(&mut client, statement)).collect()
    })
}
