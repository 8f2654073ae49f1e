//! TABLE_MAP events: what the columns of the rows that follow are.
//!
//! The optional metadata is what `binlog_row_metadata = MINIMAL` writes: the signedness of the numeric columns and the
//! collations of the character columns.

use super::{TABLE_MAP_EVENT, begin_event, end_event, put_lenenc};
use crate::definition::TableDef;

/// Flag: BIT columns take `(bits + 7) / 8` bytes.
const BIT_LEN_EXACT: u16 = 1;

const SIGNEDNESS: u8 = 1;
const DEFAULT_CHARSET: u8 = 2;
const COLUMN_CHARSET: u8 = 3;

/// The event of a table, with timestamp and server id still to be filled in.
pub(crate) fn encode(table_id: u64, def: &TableDef) -> Vec<u8> {
    let mut out = Vec::new();
    let start = begin_event(&mut out, TABLE_MAP_EVENT, 0, 0);
    out.extend_from_slice(&table_id.to_le_bytes()[..6]);
    out.extend_from_slice(&BIT_LEN_EXACT.to_le_bytes());
    for name in [&def.schema, &def.name] {
        out.push(name.len() as u8);
        out.extend_from_slice(name.as_bytes());
        out.push(0);
    }
    put_lenenc(&mut out, def.columns.len() as u64);
    let mut metadata = Vec::new();
    for column in &def.columns {
        column.ty.write_table_map(&mut out, &mut metadata);
    }
    put_lenenc(&mut out, metadata.len() as u64);
    out.extend_from_slice(&metadata);
    let mut nullable = vec![0u8; def.columns.len().div_ceil(8)];
    for (at, _) in def.columns.iter().enumerate().filter(|(_, column)| column.nullable) {
        nullable[at / 8] |= 1 << (at % 8);
    }
    out.extend_from_slice(&nullable);
    put_signedness(&mut out, def);
    put_charsets(&mut out, def);
    end_event(&mut out, start);
    out
}

fn put_field(out: &mut Vec<u8>, kind: u8, value: &[u8]) {
    if !value.is_empty() {
        out.push(kind);
        put_lenenc(out, value.len() as u64);
        out.extend_from_slice(value);
    }
}

/// One bit for each numeric column, most significant first: set when unsigned.
fn put_signedness(out: &mut Vec<u8>, def: &TableDef) {
    let mut bits = Vec::new();
    let numeric = def.columns.iter().filter(|column| is_numeric(&column.ty));
    for (at, column) in numeric.enumerate() {
        if at % 8 == 0 {
            bits.push(0u8);
        }
        if column.ty.unsigned {
            *bits.last_mut().expect("just pushed") |= 0x80 >> (at % 8);
        }
    }
    put_field(out, SIGNEDNESS, &bits);
}

fn is_numeric(ty: &types::ColumnType) -> bool {
    use types::TypeCode::{Double, Float, NewDecimal, Year};
    ty.is_integer() || matches!(ty.code, NewDecimal | Float | Double | Year)
}

/// The collations of the character columns: one default, or one for each where they differ.
fn put_charsets(out: &mut Vec<u8>, def: &TableDef) {
    use types::TypeCode::{Blob, String, Varchar};
    let is_character =
        |column: &&crate::definition::ColumnDef| matches!(column.ty.code, Blob | String | Varchar);
    let collations: Vec<u16> =
        def.columns.iter().filter(is_character).map(|column| column.ty.collation).collect();
    let mut value = Vec::new();
    match collations.split_first() {
        None => {}
        Some((first, rest)) if rest.iter().all(|other| other == first) => {
            put_lenenc(&mut value, u64::from(*first));
            put_field(out, DEFAULT_CHARSET, &value);
        }
        Some(_) => {
            for collation in collations {
                put_lenenc(&mut value, u64::from(collation));
            }
            put_field(out, COLUMN_CHARSET, &value);
        }
    }
}
