//! TABLE_MAP events: what the columns of the rows that follow are, with the optional metadata of
//! `binlog_row_metadata = MINIMAL`.

use crate::definition::TableDef;
use binlog::Checksum;
use binlog::encode::{self, EventBase, RowMetadata, TableMapSource, finish_event};
use types::{ColumnMask, ColumnType};

/// The event of a table, with timestamp and server id still to be filled in.
pub(crate) fn encode(table_id: u64, def: &TableDef) -> Vec<u8> {
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
        metadata: RowMetadata::Minimal,
    };
    let mut out = Vec::new();
    let start = encode::table_map(EventBase { timestamp: 0, server_id: 0 }, &source, &mut out);
    finish_event(&mut out, start, None, Checksum::None);
    out
}
