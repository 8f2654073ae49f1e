//! How far an attachment is, in a schema of the new replica that goes with the attachment's end.

use crate::error::Result;
use crate::local::Local;
use crate::source::literal;

/// The schema that has it.
const SCHEMA: &str = "slipstream_attach";

/// How far a table is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableState {
    pub schema: String,
    pub name: String,
    /// [`crate::definitions::Table::identity`] of the table that the rest is about.
    pub identity: String,
    /// The key of the last row that is here, as expressions with commas between them.
    pub last_key: Option<String>,
    pub is_done: bool,
    pub rows: u64,
    pub bytes: u64,
}

/// Whether an attachment was begun here.
pub fn exists(local: &mut Local) -> Result<bool> {
    let find = format!("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{SCHEMA}'");
    Ok(local.one(&find)? != "0")
}

/// Begins one.
pub fn create(local: &mut Local) -> Result<()> {
    local.query(&format!("CREATE DATABASE IF NOT EXISTS {SCHEMA}"))?;
    local.query(&format!(
        "CREATE TABLE {SCHEMA}.facts (name VARCHAR(64) PRIMARY KEY, value LONGTEXT NOT NULL)"
    ))?;
    local.query(&format!(
        "CREATE TABLE {SCHEMA}.tables (table_schema VARCHAR(64) NOT NULL COLLATE utf8mb4_bin, \
         table_name VARCHAR(64) NOT NULL COLLATE utf8mb4_bin, identity VARCHAR(64) NOT NULL, last_key LONGTEXT, \
         is_done BOOLEAN NOT NULL, copied_rows BIGINT UNSIGNED NOT NULL, copied_bytes BIGINT UNSIGNED NOT NULL, \
         PRIMARY KEY (table_schema, table_name))"
    ))?;
    Ok(())
}

/// Remembers a fact.
pub fn set(local: &mut Local, name: &str, value: &str) -> Result<()> {
    let value = literal(value);
    local.query(&format!("REPLACE INTO {SCHEMA}.facts VALUES ('{name}', {value})")).map(|_| ())
}

/// A fact; empty when it is not known.
pub fn get(local: &mut Local, name: &str) -> Result<String> {
    local.one(&format!("SELECT value FROM {SCHEMA}.facts WHERE name = '{name}'"))
}

/// How far each table is.
pub fn tables(local: &mut Local) -> Result<Vec<TableState>> {
    let list = format!(
        "SELECT table_schema, table_name, identity, last_key, is_done, copied_rows, copied_bytes \
         FROM {SCHEMA}.tables ORDER BY 1, 2"
    );
    let found = local.query(&list)?;
    let tables = (0..found.rows.len()).map(|row| {
        let text = |column| found.cell(row, column).unwrap_or_default();
        TableState {
            schema: text(0),
            name: text(1),
            identity: text(2),
            last_key: found.cell(row, 3),
            is_done: text(4) == "1",
            rows: text(5).parse().unwrap_or_default(),
            bytes: text(6).parse().unwrap_or_default(),
        }
    });
    Ok(tables.collect())
}

/// The attachment is over.
pub fn drop(local: &mut Local) -> Result<()> {
    local.query(&format!("DROP DATABASE {SCHEMA}")).map(|_| ())
}

impl TableState {
    /// A table of which nothing is here.
    pub fn new(schema: &str, name: &str, identity: String) -> TableState {
        let (schema, name) = (schema.to_owned(), name.to_owned());
        TableState { schema, name, identity, last_key: None, is_done: false, rows: 0, bytes: 0 }
    }

    /// Remembers how far the table is.
    pub fn store(&self, local: &mut Local) -> Result<()> {
        let last_key = self.last_key.as_deref().map_or("NULL".to_owned(), literal);
        let sql = format!(
            "REPLACE INTO {SCHEMA}.tables VALUES ({}, {}, {}, {last_key}, {}, {}, {})",
            literal(&self.schema),
            literal(&self.name),
            literal(&self.identity),
            u8::from(self.is_done),
            self.rows,
            self.bytes
        );
        local.query(&sql).map(|_| ())
    }

    /// The table is not at the source any more.
    pub fn forget(&self, local: &mut Local) -> Result<()> {
        let (schema, name) = (literal(&self.schema), literal(&self.name));
        let sql =
            format!("DELETE FROM {SCHEMA}.tables WHERE table_schema = {schema} AND table_name = {name}");
        local.query(&sql).map(|_| ())
    }
}
