//! A chunk of a table's rows, which is read at the source and loaded here.

use crate::definitions::{Column, Table};
use crate::error::{AttachError, Result};
use crate::local::Local;
use crate::source::{Source, quoted};
use crate::state::TableState;

/// The approximate size of a chunk, in bytes.
const CHUNK_BYTES: usize = 2 << 20;
/// The number of rows in the first chunk of a table, and below it the largest number in any.
const FIRST_ROWS: u64 = 500;
const MOST_ROWS: u64 = 50_000;

/// The way in which the rows of a table are read and loaded.
pub struct Reader {
    table: Table,
    columns: Vec<Column>,
    /// The indexes of the columns in whose order the rows are read. Without any, all rows are read
    /// at once.
    key: Vec<usize>,
    rows: u64,
}

impl Reader {
    /// Builds the reader for a table, by its present definition.
    pub fn new(source: &mut Source, table: Table) -> Result<Reader> {
        let columns = table.columns(source)?;
        let mut key: Vec<(u64, usize)> = Vec::new();
        key.extend(columns.iter().enumerate().filter_map(|(at, column)| Some((column.key_part()?, at))));
        key.sort_unstable();
        // The rows are read in the order of the key only if all of its parts can be used.
        let parts = source.one(&format!(
            "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} \
             AND INDEX_NAME = 'PRIMARY'",
            crate::source::literal(&table.schema),
            crate::source::literal(&table.name)
        ))?;
        let is_whole = parts == key.len().to_string();
        let key: Vec<usize> = if is_whole { key.into_iter().map(|(_, at)| at).collect() } else { Vec::new() };
        assert!(key.iter().all(|at| *at < columns.len()), "the key's columns are among those that are read");
        Ok(Reader { table, columns, key, rows: FIRST_ROWS })
    }

    /// Reads the next chunk and loads it here, together with the table's new progress. The source's
    /// session must hold the table's definition and name.
    pub fn copy(&mut self, source: &mut Source, local: &mut Local, state: &mut TableState) -> Result<()> {
        let key = self.key_names().join(", ");
        if state.key != key {
            // The table's rows were read in another order, or not at all yet.
            *state = TableState { key, ..TableState::new(&state.id) };
        }
        local.query("BEGIN")?;
        // The rows are loaded while they are read.
        let mut loading = local.begin_load(self.load("REPLACE"))?;
        let (count, last) = self.read(source, state, |cells| loading.put(|out| put_row(cells, out)))?;
        let bytes = loading.end()?;
        state.rows += count;
        state.bytes += bytes as u64;
        state.is_done = self.key.is_empty() || count < self.rows;
        state.last_key = last.or(state.last_key.take());
        assert!(state.is_done || state.last_key.is_some(), "the next chunk begins behind a known key");
        state.store(local)?;
        local.query("COMMIT")?;
        self.settle_rows(bytes);
        Ok(())
    }

    /// Sets the number of rows in the next chunk, after one of this size.
    fn settle_rows(&mut self, bytes: usize) {
        let wanted = self.rows * CHUNK_BYTES as u64 / (bytes as u64).max(1);
        self.rows = wanted.clamp(self.rows / 4, self.rows * 4).clamp(1, MOST_ROWS);
        assert!((1..=MOST_ROWS).contains(&self.rows), "a chunk has rows, and not too many");
    }

    /// Reads the next chunk and passes its rows to `row`. Returns their number, and the key of the
    /// last one if there may be more behind it.
    fn read(
        &self,
        source: &mut Source,
        state: &TableState,
        mut row: impl FnMut(&[Option<&[u8]>]),
    ) -> Result<(u64, Option<String>)> {
        let (mut count, mut last) = (0, None);
        source.rows(&self.select(state), |cells| {
            row(cells);
            count += 1;
            let bound = |at: &usize| self.columns[*at].bound(cells[*at].unwrap_or_default());
            if count == self.rows {
                last = Some(self.key.iter().map(bound).collect::<Vec<_>>().join(","));
            }
        })?;
        Ok((count, last))
    }

    /// Reads all rows of a table from a session with a snapshot, and loads them in the place of
    /// those that are here. A row may be there several times. `finish` is called with the numbers
    /// of rows and bytes in the transaction that loads the last rows.
    pub fn replace_all(
        &self,
        source: &mut Source,
        local: &mut Local,
        finish: impl FnOnce(&mut Local, u64, u64) -> Result<()>,
    ) -> Result<()> {
        // A copy that was interrupted has left rows.
        while local.changed(&format!("DELETE FROM {} LIMIT {MOST_ROWS}", self.table.quoted()))? > 0 {}
        if self.table.is_versioned {
            local.query(&format!("DELETE HISTORY FROM {}", self.table.quoted()))?;
        }
        let (mut text, mut failed) = (Vec::with_capacity(CHUNK_BYTES), None);
        let (mut rows, mut bytes, mut loaded) = (0, 0, 0);
        source.rows(&self.select_all(), |cells| {
            put_row(cells, &mut text);
            rows += 1;
            if text.len() >= CHUNK_BYTES && failed.is_none() {
                bytes += text.len() as u64;
                match local.load(&self.load(""), &text) {
                    Ok(count) => loaded += count,
                    Err(error) => failed = Some(error),
                }
                text.clear();
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        bytes += text.len() as u64;
        local.query("BEGIN")?;
        if !text.is_empty() {
            loaded += local.load(&self.load(""), &text)?;
        }
        if loaded != rows {
            let table = self.table.quoted();
            return Err(AttachError::Unfit(format!(
                "{loaded} of the {rows} rows of {table} could be loaded"
            )));
        }
        finish(local, rows, bytes)?;
        local.query("COMMIT").map(|_| ())
    }

    /// Reports whether the table is read in chunks, in the order of its primary key.
    pub fn has_chunks(&self) -> bool {
        self.table.has_chunks() && !self.key.is_empty()
    }

    /// Passes all rows to `row`, each in the form for LOAD DATA.
    pub fn each_row(&self, session: &mut Source, mut row: impl FnMut(&[u8])) -> Result<()> {
        let mut text = Vec::new();
        session.rows(&self.select_all(), |cells| {
            text.clear();
            put_row(cells, &mut text);
            row(&text);
        })
    }

    /// Reads the next chunk behind a key, in the form for LOAD DATA. Returns it with the key of its
    /// last row, which is `None` for the last chunk.
    pub fn next_chunk(
        &mut self,
        source: &mut Source,
        after: Option<&str>,
    ) -> Result<(Vec<u8>, Option<String>)> {
        let state = TableState { last_key: after.map(str::to_owned), ..TableState::new("") };
        let mut text = Vec::with_capacity(CHUNK_BYTES);
        let (_, last) = self.read(source, &state, |cells| put_row(cells, &mut text))?;
        self.settle_rows(text.len());
        Ok((text, last))
    }

    /// Reads the rows between two keys, the second one included, in the form for LOAD DATA.
    pub fn between(&self, session: &mut Source, after: Option<&str>, upto: Option<&str>) -> Result<Vec<u8>> {
        let key = self.key_names().join(", ");
        let sql = format!("{}{} ORDER BY {key}", self.select_all(), self.range(after, upto));
        let mut text = Vec::with_capacity(CHUNK_BYTES);
        session.rows(&sql, |cells| put_row(cells, &mut text))?;
        Ok(text)
    }

    /// Puts rows in the place of those between two keys, in one transaction.
    pub fn replace_between(
        &self,
        local: &mut Local,
        after: Option<&str>,
        upto: Option<&str>,
        rows: &[u8],
    ) -> Result<()> {
        local.query("BEGIN")?;
        local.query(&format!("DELETE FROM {}{}", self.table.quoted(), self.range(after, upto)))?;
        if !rows.is_empty() {
            local.load(&self.load("REPLACE"), rows)?;
        }
        local.query("COMMIT").map(|_| ())
    }

    /// Returns the values of the key in a row in the form for LOAD DATA.
    pub fn key_of(&self, row: &[u8]) -> String {
        let fields: Vec<&[u8]> = row.split(|byte| *byte == b'\t').collect();
        let value =
            |at: &usize| String::from_utf8_lossy(fields.get(*at).copied().unwrap_or_default()).into_owned();
        self.key.iter().map(value).collect::<Vec<_>>().join(",")
    }

    fn key_names(&self) -> Vec<String> {
        self.key.iter().map(|at| quoted(&self.columns[*at].name)).collect()
    }

    /// Returns the condition that a key lies between two others, the second one included. The
    /// bounds of the first column alone are there for planners that make no range of the rest.
    fn range(&self, after: Option<&str>, upto: Option<&str>) -> String {
        assert!(!self.key.is_empty(), "only a table with a key is read in parts");
        let key = self.key_names();
        let values = |bound: Option<&str>| -> Option<Vec<String>> {
            bound.map(|bound| bound.split(',').map(str::to_owned).collect())
        };
        let mut parts = Vec::new();
        if let Some(after) = values(after) {
            let after: Vec<&str> = after.iter().map(String::as_str).collect();
            parts.push(format!("{} >= {} AND ({})", key[0], after[0], behind(&key, &after)));
        }
        if let Some(upto) = values(upto) {
            let upto: Vec<&str> = upto.iter().map(String::as_str).collect();
            parts.push(format!("{} <= {} AND NOT ({})", key[0], upto[0], behind(&key, &upto)));
        }
        if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) }
    }

    fn select_all(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(Column::read).collect();
        let history = if self.table.is_versioned { " FOR SYSTEM_TIME ALL" } else { "" };
        format!("SELECT {} FROM {}{history}", columns.join(", "), self.table.quoted())
    }

    fn select(&self, state: &TableState) -> String {
        let mut sql = self.select_all();
        if self.key.is_empty() {
            return sql;
        }
        let key = self.key_names();
        if let Some(last) = &state.last_key {
            sql += &format!(" WHERE {}", behind(&key, &last.split(',').collect::<Vec<_>>()));
        }
        sql + &format!(" ORDER BY {} LIMIT {}", key.join(", "), self.rows)
    }

    /// Returns the statement that loads rows. With REPLACE as the word, they replace those that
    /// have their keys.
    fn load(&self, word: &str) -> String {
        let (mut targets, mut documents) = (Vec::new(), Vec::new());
        for (at, column) in self.columns.iter().enumerate() {
            let name = quoted(&column.name);
            if column.is_document() {
                targets.push(format!("@d{at}"));
                documents.push(format!("{name} = CONVERT(@d{at} USING utf8mb4)"));
            } else {
                targets.push(name);
            }
        }
        let set = if documents.is_empty() { String::new() } else { format!(" SET {}", documents.join(", ")) };
        format!(
            "LOAD DATA LOCAL INFILE 'rows' {word} INTO TABLE {} CHARACTER SET binary ({}){set}",
            self.table.quoted(),
            targets.join(", ")
        )
    }
}

/// Returns the condition that a key of several columns is greater than these values, in a form for
/// which an index is used.
fn behind(key: &[String], values: &[&str]) -> String {
    assert!(values.len() >= key.len(), "each column of the key has a value");
    let alternative = |at: usize| {
        let equal = (0..at).map(|before| format!("{} = {}", key[before], values[before]));
        let parts: Vec<String> = equal.chain([format!("{} > {}", key[at], values[at])]).collect();
        format!("({})", parts.join(" AND "))
    };
    (0..key.len()).map(alternative).collect::<Vec<_>>().join(" OR ")
}

/// Appends a row in the form for LOAD DATA.
fn put_row(cells: &[Option<&[u8]>], out: &mut Vec<u8>) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        put_field(*cell, out);
    }
    out.push(b'\n');
}

/// Appends a field in the form for LOAD DATA, with the separators of fields and lines escaped.
fn put_field(cell: Option<&[u8]>, out: &mut Vec<u8>) {
    let Some(bytes) = cell else { return out.extend_from_slice(b"\\N") };
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| escaped(*byte).is_some()) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(escaped(rest[at]).expect("the byte was found for that"));
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Returns what stands for a byte that is not written as it is.
fn escaped(byte: u8) -> Option<&'static [u8]> {
    match byte {
        b'\\' => Some(b"\\\\"),
        b'\t' => Some(b"\\t"),
        b'\n' => Some(b"\\n"),
        0 => Some(b"\\0"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_compared_part_by_part() {
        let key = ["`a`".to_owned(), "`b`".to_owned()];
        assert_eq!(behind(&key[..1], &["1"]), "(`a` > 1)");
        assert_eq!(behind(&key, &["1", "x'41'"]), "(`a` > 1) OR (`a` = 1 AND `b` > x'41')");
    }

    #[test]
    fn fields_are_escaped() {
        let field = |bytes: &[u8]| {
            let mut out = Vec::new();
            put_field(Some(bytes), &mut out);
            out
        };
        assert_eq!(field(b"a\tb\nc\\N\0"), b"a\\tb\\nc\\\\N\\0");
        let mut null = Vec::new();
        put_field(None, &mut null);
        assert_eq!(null, b"\\N");
    }
}
