//! The progress of an attachment, in a schema of the new replica that is dropped at the
//! attachment's end.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::local::Local;
use crate::source::literal;

/// The schema that holds the progress.
pub const SCHEMA: &str = "slipstream_attach";

/// The progress of a table. It is known by the id that this server's engine has given the table,
/// because names change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableState {
    pub id: String,
    /// The columns in whose order the rows are read, as a list of quoted names.
    pub key: String,
    /// The key of the last row that is here, as expressions with commas between them.
    pub last_key: Option<String>,
    pub is_done: bool,
    pub rows: u64,
    pub bytes: u64,
}

/// Reports whether an attachment was begun here.
pub fn exists(local: &mut Local) -> Result<bool> {
    let find = format!("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{SCHEMA}'");
    Ok(local.one(&find)? != "0")
}

/// Creates the tables of a new attachment's progress. Those that an interrupted beginning has made
/// stay.
pub fn create(local: &mut Local) -> Result<()> {
    local.query(&format!("CREATE DATABASE IF NOT EXISTS {SCHEMA}"))?;
    local.query(&format!(
        "CREATE TABLE IF NOT EXISTS {SCHEMA}.facts (name VARCHAR(64) PRIMARY KEY, value LONGTEXT NOT NULL)"
    ))?;
    local.query(&format!(
        "CREATE TABLE IF NOT EXISTS {SCHEMA}.tables (table_id BIGINT UNSIGNED PRIMARY KEY, key_columns LONGTEXT NOT NULL, \
         last_key LONGTEXT, is_done BOOLEAN NOT NULL, copied_rows BIGINT UNSIGNED NOT NULL, \
         copied_bytes BIGINT UNSIGNED NOT NULL)"
    ))?;
    Ok(())
}

/// Stores a fact.
pub fn set(local: &mut Local, name: &str, value: &str) -> Result<()> {
    let value = literal(value);
    local.query(&format!("REPLACE INTO {SCHEMA}.facts VALUES ('{name}', {value})")).map(|_| ())
}

/// Returns a fact, which is empty when it is not known.
pub fn get(local: &mut Local, name: &str) -> Result<String> {
    local.one(&format!("SELECT value FROM {SCHEMA}.facts WHERE name = '{name}'"))
}

/// Returns the progress of each table, by its id.
pub fn tables(local: &mut Local) -> Result<BTreeMap<String, TableState>> {
    let list = format!(
        "SELECT table_id, key_columns, last_key, is_done, copied_rows, copied_bytes FROM {SCHEMA}.tables"
    );
    let found = local.query(&list)?;
    let tables = (0..found.rows.len()).map(|row| {
        let text = |column| found.cell(row, column).unwrap_or_default();
        let state = TableState {
            id: text(0),
            key: text(1),
            last_key: found.cell(row, 2),
            is_done: text(3) == "1",
            rows: text(4).parse().unwrap_or_default(),
            bytes: text(5).parse().unwrap_or_default(),
        };
        (state.id.clone(), state)
    });
    Ok(tables.collect())
}

/// Drops the progress, because the attachment is over.
pub fn drop(local: &mut Local) -> Result<()> {
    local.query(&format!("DROP DATABASE {SCHEMA}")).map(|_| ())
}

impl TableState {
    /// Builds the progress of a table of which nothing is here.
    pub fn new(id: &str) -> TableState {
        let (id, key) = (id.to_owned(), String::new());
        TableState { id, key, last_key: None, is_done: false, rows: 0, bytes: 0 }
    }

    /// Stores the progress of the table.
    pub fn store(&self, local: &mut Local) -> Result<()> {
        let is_number = self.id.bytes().all(|byte| byte.is_ascii_digit());
        assert!(is_number && !self.id.is_empty(), "'{}' is no id of a table", self.id);
        let last_key = self.last_key.as_deref().map_or("NULL".to_owned(), literal);
        let sql = format!(
            "REPLACE INTO {SCHEMA}.tables VALUES ({}, {}, {last_key}, {}, {}, {})",
            self.id,
            literal(&self.key),
            u8::from(self.is_done),
            self.rows,
            self.bytes
        );
        local.query(&sql).map(|_| ())
    }
}
