//! INNODB_COLUMNS and INNODB_VIRTUAL of information_schema: columns by the numbers that InnoDB has
//! for their types.

use super::definition::{Definition, Dictionary, Rows};
use super::innodb::all_tables;
use crate::error::Result;
use crate::lexical::LexMode;
use crate::parse::parse_expression;
use engine::{ColumnDef, Table};
use types::collation;
use types::{ColumnType, TypeCode, Value};

pub(super) const TABLES: &[Definition] = &[
    Definition { name: "INNODB_COLUMNS", fill: columns },
    Definition { name: "INNODB_VIRTUAL", fill: virtual_columns },
];

/// The numbers of InnoDB's main types (`MTYPE`).
mod main_type {
    pub const VARCHAR: u64 = 1;
    pub const CHAR: u64 = 2;
    pub const FIXED_BINARY: u64 = 3;
    pub const BINARY: u64 = 4;
    pub const BLOB: u64 = 5;
    pub const INT: u64 = 6;
    pub const FLOAT: u64 = 9;
    pub const DOUBLE: u64 = 10;
    /// VARCHAR in another collation than latin1_swedish_ci.
    pub const VARCHAR_OF_MYSQL: u64 = 12;
    /// CHAR in another collation than latin1_swedish_ci.
    pub const CHAR_OF_MYSQL: u64 = 13;
    pub const GEOMETRY: u64 = 14;
}

/// The bits of `PRTYPE` beside MySQL's number of the type and the number of the collation.
mod precise_type {
    pub const NOT_NULL: u64 = 256;
    pub const UNSIGNED: u64 = 512;
    pub const BINARY: u64 = 1024;
    /// VARCHAR whose length takes two bytes.
    pub const LONG_VARCHAR: u64 = 4096;
    pub const VIRTUAL: u64 = 8192;
    pub const COLLATION_SHIFT: u32 = 16;
}

const LATIN1_SWEDISH_CI: u16 = 8;

/// The longest VARCHAR whose length takes one byte, in bytes.
const SHORT_VARCHAR_BYTES: u64 = 255;

/// Returns each column with its `POS`: a stored column's position among the stored ones, and for a
/// virtual one its position among all in the lower 16 bits and its number among the virtual ones,
/// which begins at 1, above them.
fn positions<'t>(table: &'t Table) -> Vec<(&'t ColumnDef, u64)> {
    let (mut stored, mut virtuals) = (0, 0);
    let place = |(at, column): (usize, &'t ColumnDef)| {
        if column.is_virtual() {
            virtuals += 1;
            return (column, virtuals << 16 | at as u64);
        }
        stored += 1;
        (column, stored - 1)
    };
    table.def.columns.iter().enumerate().map(place).collect()
}

/// Returns the number of the collation that a type's `PRTYPE` has, if it has one.
fn collation_of(ty: &ColumnType) -> Option<u16> {
    match ty.code {
        TypeCode::Varchar | TypeCode::VarcharCompressed | TypeCode::String | TypeCode::Blob => {
            Some(ty.collation)
        }
        TypeCode::BlobCompressed | TypeCode::Bit | TypeCode::Vector => Some(collation::BINARY),
        TypeCode::Json => Some(collation::UTF8MB4_BIN),
        TypeCode::NewDecimal | TypeCode::Time2 | TypeCode::Datetime2 | TypeCode::Timestamp2 => {
            Some(LATIN1_SWEDISH_CI)
        }
        _ => None,
    }
}

fn main_type(ty: &ColumnType) -> u64 {
    let of_latin1 = ty.collation == LATIN1_SWEDISH_CI;
    match ty.code {
        TypeCode::Varchar | TypeCode::VarcharCompressed if !ty.is_character() => main_type::BINARY,
        TypeCode::Varchar | TypeCode::VarcharCompressed if of_latin1 => main_type::VARCHAR,
        TypeCode::Varchar | TypeCode::VarcharCompressed => main_type::VARCHAR_OF_MYSQL,
        TypeCode::String if !ty.is_character() => main_type::FIXED_BINARY,
        TypeCode::String if of_latin1 => main_type::CHAR,
        TypeCode::String => main_type::CHAR_OF_MYSQL,
        TypeCode::Blob | TypeCode::BlobCompressed | TypeCode::Json | TypeCode::Vector => main_type::BLOB,
        TypeCode::Geometry => main_type::GEOMETRY,
        TypeCode::Float => main_type::FLOAT,
        TypeCode::Double => main_type::DOUBLE,
        TypeCode::NewDecimal
        | TypeCode::Bit
        | TypeCode::Time2
        | TypeCode::Datetime2
        | TypeCode::Timestamp2 => main_type::FIXED_BINARY,
        _ => main_type::INT,
    }
}

/// Returns MySQL's number of the type, as a field has it.
fn number_of_field(ty: &ColumnType) -> u64 {
    let code = match ty.code {
        TypeCode::Time2 => TypeCode::Time,
        TypeCode::Datetime2 => TypeCode::Datetime,
        TypeCode::Timestamp2 => TypeCode::Timestamp,
        TypeCode::Enum | TypeCode::Set => TypeCode::String,
        code => code,
    };
    code as u64
}

fn precise_type(column: &ColumnDef) -> u64 {
    let ty = &column.ty;
    let mut bits =
        number_of_field(ty) | u64::from(collation_of(ty).unwrap_or(0)) << precise_type::COLLATION_SHIFT;
    if !column.nullable {
        bits |= precise_type::NOT_NULL;
    }
    if ty.unsigned || matches!(ty.code, TypeCode::Year | TypeCode::Bit | TypeCode::Enum | TypeCode::Set) {
        bits |= precise_type::UNSIGNED;
    }
    if !ty.is_character() {
        bits |= precise_type::BINARY;
    }
    if ty.code == TypeCode::Varchar && ty.max_bytes() > SHORT_VARCHAR_BYTES {
        bits |= precise_type::LONG_VARCHAR;
    }
    if column.is_virtual() {
        bits |= precise_type::VIRTUAL;
    }
    bits
}

/// Returns `LEN`: the bytes of the longest value, or for BLOB and its kin the bytes of a length and
/// a pointer.
fn len(ty: &ColumnType) -> u64 {
    const POINTER_BYTES: u64 = 8;
    const LONG_LENGTH_BYTES: u64 = 4;
    match ty.code {
        TypeCode::Blob | TypeCode::BlobCompressed => u64::from(ty.meta) + POINTER_BYTES,
        TypeCode::Json | TypeCode::Geometry | TypeCode::Vector => LONG_LENGTH_BYTES + POINTER_BYTES,
        TypeCode::Enum | TypeCode::Set => u64::from(ty.meta),
        _ => ty.max_bytes(),
    }
}

/// Returns the hexadecimal digits of a packed value's bytes as InnoDB stores the value in a page.
fn as_in_innodb(ty: &ColumnType, packed: &[u8]) -> String {
    let mut bytes = types::packed::payload(ty, packed).to_vec();
    match ty.code {
        TypeCode::Enum | TypeCode::Set | TypeCode::Date => bytes.reverse(),
        _ if ty.is_integer() => bytes.reverse(),
        TypeCode::String => {
            let (charset, longest) = (collation::charset_of(ty.collation), ty.max_bytes() as usize);
            let shortest = longest / usize::from(charset.max_bytes_per_char().max(1))
                * usize::from(charset.min_bytes_per_char());
            let space = if ty.collation == collation::BINARY { &[0][..] } else { charset.space() };
            while bytes.len() < shortest {
                bytes.extend_from_slice(space);
            }
        }
        _ => {}
    }
    let is_signed = ty.code == TypeCode::Date || ty.is_integer() && !ty.unsigned;
    if let Some(first) = bytes.first_mut().filter(|_| is_signed) {
        *first ^= 0x80;
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn columns(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in all_tables(dictionary)? {
        for (column, position) in positions(&table) {
            let added = table.def.column(&column.name).and_then(|at| table.value_where_lacking(at));
            rows.push(vec![
                Value::UInt(table.id),
                Value::text(&column.name),
                Value::UInt(position),
                Value::UInt(main_type(&column.ty)),
                Value::UInt(precise_type(column)),
                Value::UInt(len(&column.ty)),
                Value::UInt(u64::from(added.is_some())),
                added.flatten().map_or(Value::Null, |packed| Value::text(&as_in_innodb(&column.ty, packed))),
            ])?;
        }
    }
    Ok(())
}

/// Returns the positions of the columns that a generated column is computed from, each once.
fn bases(table: &Table, column: &ColumnDef) -> Vec<usize> {
    let Some(generated) = &column.generated else { return Vec::new() };
    let Ok(expression) = parse_expression(generated.expression.as_bytes(), LexMode::default()) else {
        return Vec::new();
    };
    let mut named = Vec::new();
    expression.put_named_columns(&mut named);
    let mut bases: Vec<usize> = named.iter().filter_map(|column| table.def.column(column.name)).collect();
    bases.sort_unstable();
    bases
}

fn virtual_columns(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in all_tables(dictionary)? {
        for (column, position) in positions(&table).into_iter().filter(|(column, _)| column.is_virtual()) {
            for base in bases(&table, column) {
                rows.push(vec![Value::UInt(table.id), Value::UInt(position), Value::UInt(base as u64)])?;
            }
        }
    }
    Ok(())
}
