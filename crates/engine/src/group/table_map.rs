//! TABLE_MAP events: the columns of the rows that follow, with the optional metadata of
//! `binlog_row_metadata`.

use crate::definition::TableDef;
use binlog::Checksum;
use binlog::encode::{self, EventBase, RowMetadata, TableMapSource, finish_event};
use std::sync::OnceLock;
use types::{ColumnMask, ColumnType};

/// A table's TABLE_MAP event, complete except for timestamp and server id.
#[derive(Debug)]
pub(crate) struct TableMaps {
    /// The event with `binlog_row_metadata = MINIMAL`.
    minimal: Vec<u8>,
    /// The event with `binlog_row_metadata = FULL`, which is made when it is asked for.
    full: OnceLock<Vec<u8>>,
}

impl TableMaps {
    pub fn new(table_id: u64, def: &TableDef) -> TableMaps {
        TableMaps { minimal: encode(table_id, def, RowMetadata::Minimal), full: OnceLock::new() }
    }

    pub fn minimal(&self) -> &[u8] {
        &self.minimal
    }

    pub fn full(&self, table_id: u64, def: &TableDef) -> &[u8] {
        self.full.get_or_init(|| encode_full(table_id, def))
    }
}

fn encode_full(table_id: u64, def: &TableDef) -> Vec<u8> {
    let names: Vec<&str> = def.columns.iter().map(|column| column.name.as_str()).collect();
    let visible: Vec<bool> = def.columns.iter().map(|column| !column.invisible).collect();
    let primary_key: Vec<(usize, u32)> =
        def.primary.iter().flatten().map(|part| (part.column, part.prefix.unwrap_or(0))).collect();
    encode(table_id, def, RowMetadata::Full { names: &names, primary_key: &primary_key, visible: &visible })
}

fn encode(table_id: u64, def: &TableDef, metadata: RowMetadata<'_>) -> Vec<u8> {
    let columns: Vec<ColumnType> = def.columns.iter().map(|column| column.ty.clone()).collect();
    let mut nullable = ColumnMask::empty(columns.len());
    for (at, _) in def.columns.iter().enumerate().filter(|(_, column)| column.nullable) {
        nullable.insert(at);
    }
    let source = TableMapSource {
        table_id,
        schema: &def.schema,
        table: &def.name,
        columns: &columns,
        nullable: &nullable,
        has_generated_key: def.has_generated_key(),
        metadata,
    };
    let mut out = Vec::new();
    let start = encode::table_map(EventBase { timestamp: 0, server_id: 0 }, &source, &mut out);
    finish_event(&mut out, start, None, Checksum::None);
    out
}
