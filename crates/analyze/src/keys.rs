//! The columns by which a table's rows are told apart, and the 64-bit number of each row that a
//! change touches.
//!
//! A binary log has the primary key only with `binlog_row_metadata=FULL`. Otherwise a server is
//! asked, or the before images show it (MINIMAL and NOBLOB leave out what is not needed to find the
//! row), or a row is identified by all of its columns: its before image is the after image of the
//! previous change.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use binlog::event::{RowsEvent, TableMap};
use types::row::{RowError, RowLayout};
use types::{ColumnMask, key};

use crate::history::KeySource;

/// A unique key: its columns, each with its prefix length in characters (0 means the whole column).
pub type KeyColumns = Vec<(usize, u32)>;

/// The keys that tell a table's rows apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableKeys {
    /// The source of this knowledge.
    pub source: KeySource,
    /// The unique keys, the primary key first. An empty list stands for all columns.
    pub keys: Vec<KeyColumns>,
}

/// A table's name as `(schema, table)`.
pub type TableName = (Vec<u8>, Vec<u8>);

/// The keys that are known before a log is read.
#[derive(Debug, Default)]
pub struct KnownKeys {
    by_table: HashMap<TableName, TableKeys>,
}

impl KnownKeys {
    /// Adds the keys of a table that a server has told.
    pub fn add(&mut self, table: TableName, keys: Vec<KeyColumns>) {
        let source = if keys.is_empty() { KeySource::None } else { KeySource::Server };
        self.by_table.insert(table, TableKeys { source, keys });
    }

    /// Learns from a row event before the log is read, because its before images may show what
    /// identifies a row.
    pub fn learn(&mut self, map: &TableMap<'_>, event: &RowsEvent<'_>) {
        let Some(before) = event.before_mask() else { return };
        let name = (map.schema.to_vec(), map.table.to_vec());
        let known = self.by_table.get(&name);
        if known
            .is_some_and(|known| known.source != KeySource::BeforeImages && known.source != KeySource::None)
        {
            return;
        }
        if !before.is_full() {
            // The shortest image that was seen counts, because a session can change
            // `binlog_row_image`.
            let shorter = known
                .is_none_or(|known| known.keys.first().is_none_or(|columns| before.count() < columns.len()));
            if shorter {
                let keys = vec![before.iter().map(|column| (column, 0)).collect()];
                self.by_table.insert(name, TableKeys { source: KeySource::BeforeImages, keys });
            }
        } else if known.is_none() && event.after_mask().is_some_and(|after| !after.is_full()) {
            // The event has the whole row before, but after it only the changed columns. So nothing
            // shorter than the whole row would have found it.
            self.by_table.insert(name, TableKeys { source: KeySource::None, keys: Vec::new() });
        }
    }

    /// Returns the keys that tell the rows of a table map's table apart.
    pub fn of(&self, map: &TableMap<'_>) -> TableKeys {
        let known = self.by_table.get(&(map.schema.to_vec(), map.table.to_vec()));
        if let Some(known) = known
            && known.keys.iter().flatten().all(|(column, _)| *column < map.column_count())
            && matches!(known.source, KeySource::Server | KeySource::None)
        {
            return known.clone();
        }
        if let Ok(optional) = map.optional()
            && optional.column_names.is_some()
        {
            let key = optional.primary_key.filter(|columns| !columns.is_empty());
            let source = if key.is_some() { KeySource::Metadata } else { KeySource::None };
            return TableKeys { source, keys: key.into_iter().collect() };
        }
        known
            .filter(|known| known.keys.iter().flatten().all(|(column, _)| *column < map.column_count()))
            .cloned()
            .unwrap_or(TableKeys { source: KeySource::Unknown, keys: Vec::new() })
    }
}

/// The value of a row's column, as far as an image has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell<'a> {
    Absent,
    Null,
    Value(&'a [u8]),
}

/// The values of a row, as far as its images have them.
#[derive(Debug, Default)]
pub struct Row<'a> {
    cells: Vec<Cell<'a>>,
}

impl<'a> Row<'a> {
    /// Builds a row of which nothing is known.
    pub fn absent(columns: usize) -> Row<'a> {
        Row { cells: vec![Cell::Absent; columns] }
    }

    /// Takes over the values of an image.
    pub fn take(&mut self, layout: &RowLayout, mask: &ColumnMask, image: &'a [u8]) -> Result<(), RowError> {
        let cells = &mut self.cells;
        layout.walk_partial(mask, image, |column, packed| {
            cells[column] = packed.map_or(Cell::Null, Cell::Value);
        })?;
        Ok(())
    }

    /// Returns a copy of the row, to which a change's after image is then added.
    pub fn copy(&self) -> Row<'a> {
        Row { cells: self.cells.clone() }
    }

    /// Appends the row's number by each key. A NULL in a key that is not the first cannot collide
    /// with other rows, and gives no number.
    pub fn numbers(&self, table: u32, keys: &[KeyColumns], layout: &RowLayout, out: &mut Vec<u64>) {
        let mut bytes = Vec::with_capacity(64);
        if keys.is_empty() {
            for cell in &self.cells {
                match cell {
                    Cell::Absent => bytes.push(2),
                    Cell::Null => bytes.push(0),
                    Cell::Value(packed) => {
                        bytes.push(1);
                        bytes.extend_from_slice(packed);
                    }
                }
            }
            out.push(number(table, 0, &bytes));
            return;
        }
        for (nth, columns) in keys.iter().enumerate() {
            bytes.clear();
            let mut has_null = false;
            for &(column, prefix) in columns {
                has_null |= self.cells[column] == Cell::Null;
                self.write_part(column, prefix, layout, &mut bytes);
            }
            if nth == 0 || !has_null {
                out.push(number(table, nth as u32, &bytes));
            }
        }
    }

    /// Appends a part of a key, so that values which are equal by the column's type and collation
    /// give equal bytes.
    fn write_part(&self, column: usize, prefix: u32, layout: &RowLayout, out: &mut Vec<u8>) {
        let packed = match self.cells[column] {
            // An insert that leaves a key column out gives the column its default.
            Cell::Absent => return out.push(2),
            Cell::Null => None,
            Cell::Value(packed) => Some(packed),
        };
        let start = out.len();
        let prefix = (prefix != 0).then_some(prefix);
        if key::encode_raw(&layout.types()[column], packed, true, prefix, out).is_err() {
            out.truncate(start);
            out.extend_from_slice(packed.unwrap_or_default());
        }
    }

    /// Returns the values of the first key in words, or of the row's first columns if there is no
    /// key.
    pub fn describe(&self, keys: &[KeyColumns], names: Option<&[String]>, layout: &RowLayout) -> String {
        const SHOWN: usize = 3;
        let columns: Vec<usize> = match keys.first() {
            Some(columns) => columns.iter().map(|(column, _)| *column).collect(),
            None => (0..self.cells.len().min(SHOWN)).collect(),
        };
        let part = |column: usize| {
            let name =
                names.and_then(|names| names.get(column).cloned()).unwrap_or(format!("@{}", column + 1));
            format!("{name}={}", self.value_text(column, layout))
        };
        let text = columns.into_iter().map(part).collect::<Vec<_>>().join(", ");
        if keys.is_empty() && self.cells.len() > SHOWN { format!("{text}, ...") } else { text }
    }

    fn value_text(&self, column: usize, layout: &RowLayout) -> String {
        const LONGEST: usize = 40;
        let ty = &layout.types()[column];
        match self.cells[column] {
            Cell::Absent => "?".to_string(),
            Cell::Null => "NULL".to_string(),
            Cell::Value(packed) => match types::packed::decode(ty, packed) {
                Ok(value) => {
                    let text = value.text_bytes(Some(ty)).unwrap_or_default();
                    let text = String::from_utf8_lossy(&text).into_owned();
                    let short: String = text.chars().take(LONGEST).collect();
                    if short.len() < text.len() { format!("{short}...") } else { text }
                }
                Err(_) => "?".to_string(),
            },
        }
    }
}

fn number(table: u32, key: u32, bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u32(table);
    hasher.write_u32(key);
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::ColumnType;
    use types::collation::UTF8MB4_0900_AI_CI;

    fn numbers(keys: &[KeyColumns], image: &[u8]) -> Vec<u64> {
        let layout = RowLayout::new(&[ColumnType::varchar(10, UTF8MB4_0900_AI_CI), ColumnType::int(false)]);
        let mut row = Row::absent(2);
        row.take(&layout, &ColumnMask::full(2), image).unwrap();
        let mut out = Vec::new();
        row.numbers(7, keys, &layout, &mut out);
        out
    }

    #[test]
    fn keys_are_equal_where_the_columns_are() {
        let by_text: &[KeyColumns] = &[vec![(0, 0)]];
        let (upper, lower) = (b"\0\x01A\x05\0\0\0", b"\0\x01a\x06\0\0\0");
        assert_eq!(numbers(by_text, upper), numbers(by_text, lower), "the collation ignores case");
        assert_ne!(numbers(&[], upper), numbers(&[], lower), "all columns, byte by byte");
        assert_ne!(numbers(&[vec![(1, 0)]], upper), numbers(&[vec![(1, 0)]], lower));
    }

    #[test]
    fn a_null_in_a_unique_key_is_in_nobodys_way() {
        let keys: &[KeyColumns] = &[vec![(1, 0)], vec![(0, 0)]];
        assert_eq!(numbers(keys, b"\0\x01A\x05\0\0\0").len(), 2);
        assert_eq!(numbers(keys, b"\x01\x05\0\0\0").len(), 1);
    }
}
