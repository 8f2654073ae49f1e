//! The tables that row events are about: each TABLE_MAP event is bound to a table of ours, once for every different event.

use std::sync::Arc;

use engine::{Engine, Table};

use crate::event::HEADER_BYTES;

/// Bindings that are kept; a source with more tables in use at once binds some again.
const KEPT: usize = 256;

/// A table map event bound to a table.
#[derive(Debug)]
pub struct Bound {
    /// The source's number for the table.
    source_id: u64,
    /// The event's body behind that number.
    map: Vec<u8>,
    /// Ours.
    pub table: Arc<Table>,
}

/// Why a table map event cannot be bound.
#[derive(Debug, PartialEq, Eq)]
pub enum BindError {
    /// The event is damaged.
    Damaged,
    /// We have no such table.
    NoSuchTable(String, String),
    /// The table has another number of columns.
    ColumnCount {
        /// `schema.table`
        table: String,
        /// The source's.
        theirs: usize,
        /// Ours.
        ours: usize,
    },
    /// A column has another type.
    ColumnType {
        /// `schema.table`
        table: String,
        /// Which, counted from 0.
        column: usize,
        /// The source's type.
        theirs: String,
        /// Ours.
        ours: String,
    },
}

/// Recently used bindings, the last used one first.
#[derive(Debug, Default)]
pub struct TableCache {
    bound: Vec<Arc<Bound>>,
}

impl TableCache {
    /// Forgets everything: a definition may have changed.
    pub fn clear(&mut self) {
        self.bound.clear();
    }

    /// The binding of a TABLE_MAP event (without checksum).
    pub fn bind(&mut self, engine: &Engine, event: &[u8]) -> Result<Arc<Bound>, BindError> {
        let (id, map) = event[HEADER_BYTES..].split_at_checked(6).ok_or(BindError::Damaged)?;
        let source_id = number(id);
        if let Some(at) = self.bound.iter().position(|b| b.source_id == source_id && b.map == map) {
            let current = engine.catalog().table_by_id(self.bound[at].table.id);
            if current.is_some_and(|current| Arc::ptr_eq(&current, &self.bound[at].table)) {
                self.bound[..=at].rotate_right(1);
                return Ok(self.bound[0].clone());
            }
            self.bound.remove(at);
        }
        let bound = Arc::new(bind(engine, source_id, map)?);
        self.bound.truncate(KEPT - 1);
        self.bound.insert(0, bound.clone());
        Ok(bound)
    }
}

fn number(bytes: &[u8]) -> u64 {
    let mut value = [0; 8];
    value[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(value)
}

fn bind(engine: &Engine, source_id: u64, map: &[u8]) -> Result<Bound, BindError> {
    let parsed = Map::parse(map).ok_or(BindError::Damaged)?;
    let table = engine
        .catalog()
        .table(&parsed.schema, &parsed.table)
        .ok_or_else(|| BindError::NoSuchTable(parsed.schema.clone(), parsed.table.clone()))?;
    let ours = table.columns();
    if ours != parsed.types.len() {
        return Err(BindError::ColumnCount {
            table: table.qualified_name().to_string(),
            theirs: parsed.types.len(),
            ours,
        });
    }
    let mut metadata = parsed.metadata;
    for (column, &their_type) in parsed.types.iter().enumerate() {
        let (mut our_type, mut our_metadata) = (Vec::new(), Vec::new());
        table.column_type(column).write_table_map(&mut our_type, &mut our_metadata);
        let theirs = metadata.split_at_checked(our_metadata.len());
        match theirs {
            Some((theirs, rest)) if our_type == [their_type] && our_metadata == theirs => metadata = rest,
            _ => {
                let known = theirs.map(|(theirs, _)| theirs).unwrap_or_default();
                return Err(BindError::ColumnType {
                    table: table.qualified_name().to_string(),
                    column,
                    theirs: type_name(their_type, known),
                    ours: table.column_type(column).sql_name(),
                });
            }
        }
    }
    Ok(Bound { source_id, map: map.to_vec(), table })
}

/// The part of a TABLE_MAP event that says what the columns are.
struct Map<'a> {
    schema: String,
    table: String,
    types: &'a [u8],
    metadata: &'a [u8],
}

impl<'a> Map<'a> {
    /// Reads the event's body behind the table id.
    fn parse(map: &'a [u8]) -> Option<Map<'a>> {
        let mut rest = map.get(2..)?;
        let schema = take_name(&mut rest)?;
        let table = take_name(&mut rest)?;
        let columns = take_length(&mut rest)?;
        let types = take(&mut rest, columns)?;
        let metadata_bytes = take_length(&mut rest)?;
        let metadata = take(&mut rest, metadata_bytes)?;
        take(&mut rest, columns.div_ceil(8))?;
        Some(Map { schema, table, types, metadata })
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

fn take_name(rest: &mut &[u8]) -> Option<String> {
    let length = usize::from(take(rest, 1)?[0]);
    let name = take(rest, length)?;
    take(rest, 1)?;
    String::from_utf8(name.to_vec()).ok()
}

/// A length-encoded integer.
pub(super) fn take_length(rest: &mut &[u8]) -> Option<usize> {
    let width = match take(rest, 1)?[0] {
        0xFC => 2,
        0xFD => 3,
        0xFE => 8,
        small => return Some(small.into()),
    };
    usize::try_from(number(take(rest, width)?)).ok()
}

/// A column type of a TABLE_MAP event, in the words of MySQL's conversion errors.
fn type_name(code: u8, metadata: &[u8]) -> String {
    let length = || if metadata.len() >= 2 { u16::from_le_bytes([metadata[0], metadata[1]]) } else { 0 };
    match code {
        1 => "tinyint".to_string(),
        2 => "smallint".to_string(),
        3 => "int".to_string(),
        4 => "float".to_string(),
        5 => "double".to_string(),
        8 => "bigint".to_string(),
        9 => "mediumint".to_string(),
        10 | 14 => "date".to_string(),
        7 | 17 => "timestamp".to_string(),
        11 | 19 => "time".to_string(),
        12 | 18 => "datetime".to_string(),
        13 => "year".to_string(),
        15 | 253 => format!("varchar({}(bytes))", length()),
        16 => "bit".to_string(),
        245 => "json".to_string(),
        246 => match metadata {
            [precision, scale, ..] => format!("decimal({precision},{scale})"),
            _ => "decimal".to_string(),
        },
        252 => match metadata.first() {
            Some(1) => "tinyblob".to_string(),
            Some(3) => "mediumblob".to_string(),
            Some(4) => "longblob".to_string(),
            _ => "blob".to_string(),
        },
        254 => match metadata.first() {
            Some(247) => "enum".to_string(),
            Some(248) => "set".to_string(),
            _ => "char".to_string(),
        },
        255 => "geometry".to_string(),
        other => format!("type {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_table_map_and_refuses_a_cut_one() {
        let mut map = vec![1, 0, 2];
        map.extend_from_slice(b"db\0\x01t\0");
        map.extend_from_slice(&[2, 3, 15, 2, 40, 0, 0]);
        let parsed = Map::parse(&map).expect("is whole");
        assert_eq!((parsed.schema.as_str(), parsed.table.as_str()), ("db", "t"));
        assert_eq!((parsed.types, parsed.metadata), (&[3, 15][..], &[40, 0][..]));
        for cut in 0..map.len() {
            assert!(Map::parse(&map[..cut]).is_none(), "cut at {cut}");
        }
        assert_eq!(type_name(15, &[40, 0]), "varchar(40(bytes))");
    }
}
