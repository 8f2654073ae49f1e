//! The writing of TABLE_MAP events.

use super::frame::{EventBase, begin_event};
use crate::cursor::put_packed_int;
use crate::event::{event_type, has_charset, is_numeric, optional_field};
use types::column::write_table_map_column;
use types::{ColumnMask, ColumnType, TypeCode};

/// The facts about a table that a TABLE_MAP event tells.
#[derive(Clone, Copy, Debug)]
pub struct TableMapSource<'a> {
    /// The number by which row events name the table.
    pub table_id: u64,
    /// The table's schema, at most 255 bytes.
    pub schema: &'a str,
    /// The table's name, at most 255 bytes.
    pub table: &'a str,
    /// The columns' types.
    pub columns: &'a [ColumnType],
    /// The columns that may be NULL.
    pub nullable: &'a ColumnMask,
    /// Whether the first column is a generated invisible primary key. A MySQL replica leaves it out
    /// where its own table has none, and takes it for an ordinary column without this.
    pub has_generated_key: bool,
    /// How much optional metadata to write.
    pub metadata: RowMetadata<'a>,
}

/// The amount of optional metadata (`binlog_row_metadata`).
#[derive(Clone, Copy, Debug)]
pub enum RowMetadata<'a> {
    /// No optional metadata, as servers before 8.0.1 write it.
    None,
    /// Signedness and collations, and the kinds of geometries and dimensions of vectors.
    Minimal,
    /// All metadata.
    Full {
        /// The columns' names.
        names: &'a [&'a str],
        /// The primary key's columns, each with its prefix length in characters (0 for the whole
        /// column).
        primary_key: &'a [(usize, u32)],
        /// For each column whether it is visible (not `INVISIBLE`).
        visible: &'a [bool],
    },
}

/// MySQL's `TM_BIT_LEN_EXACT_F`: BIT columns take the bytes that their length needs.
const BIT_LEN_EXACT: u16 = 1;
/// MySQL's `TM_GENERATED_INVISIBLE_PK_F`.
const GENERATED_INVISIBLE_PK: u16 = 4;

/// Appends a TABLE_MAP event. The result for a table is always the same, so it can be kept and
/// copied.
pub fn table_map(base: EventBase, source: &TableMapSource<'_>, out: &mut Vec<u8>) -> usize {
    assert_eq!(source.columns.len(), source.nullable.columns(), "a nullable bit for each column");
    assert!(source.table_id < 1 << 48, "a table id has six bytes: {}", source.table_id);
    let start = begin_event(base, event_type::TABLE_MAP, 0, out);
    out.extend_from_slice(&source.table_id.to_le_bytes()[..6]);
    let generated_key = if source.has_generated_key { GENERATED_INVISIBLE_PK } else { 0 };
    out.extend_from_slice(&(BIT_LEN_EXACT | generated_key).to_le_bytes());
    for name in [source.schema, source.table] {
        assert!(name.len() <= 255, "a name of over 255 bytes");
        out.push(name.len() as u8);
        out.extend_from_slice(name.as_bytes());
        out.push(0);
    }
    let (mut types, mut metadata) = (Vec::new(), Vec::new());
    for column in source.columns {
        write_table_map_column(column, &mut types, &mut metadata);
    }
    assert_eq!(types.len(), source.columns.len(), "each column has one type byte");
    put_packed_int(types.len() as u64, out);
    out.extend_from_slice(&types);
    put_packed_int(metadata.len() as u64, out);
    out.extend_from_slice(&metadata);
    source.nullable.write_bitmap(out);
    if !matches!(source.metadata, RowMetadata::None) {
        write_minimal(source.columns, out);
    }
    if let RowMetadata::Full { names, primary_key, visible } = source.metadata {
        assert_eq!(source.columns.len(), visible.len(), "each column is visible or not");
        write_full(source.columns, names, primary_key, out);
        put_field(optional_field::COLUMN_VISIBILITY, &bits_from_high(visible), out);
    }
    start
}

fn put_field(number: u8, value: &[u8], out: &mut Vec<u8>) {
    out.push(number);
    put_packed_int(value.len() as u64, out);
    out.extend_from_slice(value);
}

fn write_minimal(columns: &[ColumnType], out: &mut Vec<u8>) {
    let signedness: Vec<bool> =
        columns.iter().filter(|ty| is_numeric(ty.code)).map(|ty| ty.unsigned).collect();
    if !signedness.is_empty() {
        put_field(optional_field::SIGNEDNESS, &bits_from_high(&signedness), out);
    }
    let collations: Vec<u16> =
        columns.iter().filter(|ty| has_charset(ty.code)).map(|ty| ty.collation).collect();
    write_collations(&collations, optional_field::DEFAULT_CHARSET, optional_field::COLUMN_CHARSET, out);
    let of_code = |code: TypeCode| columns.iter().filter(move |ty| ty.code == code);
    let mut value = Vec::new();
    for ty in of_code(TypeCode::Geometry) {
        put_packed_int(u64::from(ty.geometry_kind().number()), &mut value);
    }
    if !value.is_empty() {
        put_field(optional_field::GEOMETRY_TYPE, &value, out);
    }
    value.clear();
    for ty in of_code(TypeCode::Vector) {
        put_packed_int(ty.dimensions().map_or(0, u64::from), &mut value);
    }
    if !value.is_empty() {
        put_field(optional_field::VECTOR_DIMENSIONALITY, &value, out);
    }
}

/// Packs bits into bytes, with the highest bit of a byte first.
fn bits_from_high(bits: &[bool]) -> Vec<u8> {
    let mut bytes = vec![0u8; bits.len().div_ceil(8)];
    for (i, _) in bits.iter().enumerate().filter(|(_, set)| **set) {
        bytes[i / 8] |= 0x80 >> (i % 8);
    }
    bytes
}

/// Writes one default and the exceptions to it, or one collation for each column, whichever has
/// fewer numbers.
fn write_collations(collations: &[u16], default_field: u8, each_field: u8, out: &mut Vec<u8>) {
    let Some(default) = most_frequent(collations) else { return };
    let exceptions: Vec<(usize, u16)> =
        collations.iter().copied().enumerate().filter(|&(_, collation)| collation != default).collect();
    let mut value = Vec::new();
    if 2 * exceptions.len() < collations.len() {
        put_packed_int(u64::from(default), &mut value);
        for (at, collation) in exceptions {
            put_packed_int(at as u64, &mut value);
            put_packed_int(u64::from(collation), &mut value);
        }
        put_field(default_field, &value, out);
    } else {
        collations.iter().for_each(|&collation| put_packed_int(u64::from(collation), &mut value));
        put_field(each_field, &value, out);
    }
}

fn most_frequent(collations: &[u16]) -> Option<u16> {
    let count = |of: u16| collations.iter().filter(|&&collation| collation == of).count();
    collations.iter().copied().max_by_key(|&collation| (count(collation), collation))
}

fn write_full(columns: &[ColumnType], names: &[&str], primary_key: &[(usize, u32)], out: &mut Vec<u8>) {
    assert_eq!(columns.len(), names.len(), "a name for each column");
    let mut value = Vec::new();
    for name in names {
        put_string(name, &mut value);
    }
    put_field(optional_field::COLUMN_NAME, &value, out);
    let named: Vec<u16> = columns
        .iter()
        .filter(|ty| matches!(ty.code, TypeCode::Enum | TypeCode::Set))
        .map(|ty| ty.collation)
        .collect();
    write_collations(
        &named,
        optional_field::ENUM_AND_SET_DEFAULT_CHARSET,
        optional_field::ENUM_AND_SET_COLUMN_CHARSET,
        out,
    );
    for (code, field) in
        [(TypeCode::Set, optional_field::SET_STR_VALUE), (TypeCode::Enum, optional_field::ENUM_STR_VALUE)]
    {
        value.clear();
        for ty in columns.iter().filter(|ty| ty.code == code) {
            let members = ty.members.as_deref().unwrap_or_default();
            put_packed_int(members.len() as u64, &mut value);
            members.iter().for_each(|member| put_string(member, &mut value));
        }
        if !value.is_empty() {
            put_field(field, &value, out);
        }
    }
    write_primary_key(primary_key, out);
}

fn put_string(text: &str, out: &mut Vec<u8>) {
    put_packed_int(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

fn write_primary_key(primary_key: &[(usize, u32)], out: &mut Vec<u8>) {
    if primary_key.is_empty() {
        return;
    }
    let mut value = Vec::new();
    let with_prefix = primary_key.iter().any(|&(_, prefix)| prefix != 0);
    for &(column, prefix) in primary_key {
        put_packed_int(column as u64, &mut value);
        if with_prefix {
            put_packed_int(u64::from(prefix), &mut value);
        }
    }
    let field = if with_prefix {
        optional_field::PRIMARY_KEY_WITH_PREFIX
    } else {
        optional_field::SIMPLE_PRIMARY_KEY
    };
    put_field(field, &value, out);
}
