//! TABLE_MAP events, which say what table a table id of the following row events means, and what
//! its columns are.

use super::HEADER_LEN;
use crate::cursor::{Cursor, DecodeError};
use types::column::{ColumnTypeError, read_table_map_column};
use types::{ColumnType, TypeCode};

/// A TABLE_MAP event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableMap<'a> {
    /// The number by which row events name the table. It has 6 bytes.
    pub table_id: u64,
    /// The flags, which readers do not use.
    pub flags: u16,
    /// The table's schema.
    pub schema: &'a [u8],
    /// The table's name.
    pub table: &'a [u8],
    /// The type bytes, one for each column.
    pub types: &'a [u8],
    /// The metadata of the types, see [`types::column::read_table_map_column`].
    pub metadata: &'a [u8],
    /// The columns that may be NULL: bit i is set if column i may be.
    pub nullable: &'a [u8],
    /// The optional metadata, undecoded; see [`TableMap::optional`].
    pub optional_metadata: &'a [u8],
}

/// The metadata that `binlog_row_metadata` MINIMAL or FULL adds (MySQL 8.0.1 and later, MariaDB
/// 10.5 and later).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionalMetadata<'a> {
    /// For each numeric column, in order, whether it is unsigned.
    pub unsigned: Option<Vec<bool>>,
    /// The collation of most character columns.
    pub default_charset: Option<u16>,
    /// The character columns (counted among themselves) with another collation than the default
    /// one.
    pub charset_exceptions: Vec<(usize, u16)>,
    /// The collation of each character column.
    pub column_charsets: Option<Vec<u16>>,
    /// The names of all columns.
    pub column_names: Option<Vec<&'a [u8]>>,
    /// The members of each SET column in order.
    pub set_members: Vec<Vec<&'a [u8]>>,
    /// The members of each ENUM column in order.
    pub enum_members: Vec<Vec<&'a [u8]>>,
    /// The columns of the primary key with their prefix lengths in characters (0 for the whole
    /// column).
    pub primary_key: Option<Vec<(usize, u32)>>,
    /// The collation of most ENUM and SET columns.
    pub enum_and_set_default_charset: Option<u16>,
    /// The ENUM and SET columns (counted among themselves) with another collation than the default
    /// one.
    pub enum_and_set_charset_exceptions: Vec<(usize, u16)>,
    /// The collation of each ENUM and SET column.
    pub enum_and_set_column_charsets: Option<Vec<u16>>,
    /// For each column whether it is visible.
    pub visible: Option<Vec<bool>>,
}

/// The numbers of the optional metadata fields.
#[allow(missing_docs)] // The names are those of MySQL.
pub mod optional_field {
    pub const SIGNEDNESS: u8 = 1;
    pub const DEFAULT_CHARSET: u8 = 2;
    pub const COLUMN_CHARSET: u8 = 3;
    pub const COLUMN_NAME: u8 = 4;
    pub const SET_STR_VALUE: u8 = 5;
    pub const ENUM_STR_VALUE: u8 = 6;
    pub const GEOMETRY_TYPE: u8 = 7;
    pub const SIMPLE_PRIMARY_KEY: u8 = 8;
    pub const PRIMARY_KEY_WITH_PREFIX: u8 = 9;
    pub const ENUM_AND_SET_DEFAULT_CHARSET: u8 = 10;
    pub const ENUM_AND_SET_COLUMN_CHARSET: u8 = 11;
    pub const COLUMN_VISIBILITY: u8 = 12;
    pub const VECTOR_DIMENSIONALITY: u8 = 13;
}

/// Reports whether the signedness bitmap has a bit for columns of this type.
pub(crate) fn is_numeric(code: TypeCode) -> bool {
    matches!(
        code,
        TypeCode::Tiny
            | TypeCode::Short
            | TypeCode::Int24
            | TypeCode::Long
            | TypeCode::LongLong
            | TypeCode::Float
            | TypeCode::Double
            | TypeCode::NewDecimal
            | TypeCode::Year
    )
}

/// Reports whether the charset fields count columns of this type.
pub(crate) fn has_charset(code: TypeCode) -> bool {
    matches!(
        code,
        TypeCode::Varchar
            | TypeCode::String
            | TypeCode::Blob
            | TypeCode::VarcharCompressed
            | TypeCode::BlobCompressed
            | TypeCode::Vector
    )
}

/// The table id that stands for "no table". The last rows event of a statement without rows has it.
pub const DUMMY_TABLE_ID: u64 = 0x00ff_ffff;

#[inline]
pub(super) fn decode(event: &[u8]) -> Result<TableMap<'_>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let table_id = cursor.uint(6)?;
    let flags = cursor.u16()?;
    let schema_len = cursor.u8()?;
    let schema = cursor.take(usize::from(schema_len))?;
    cursor.u8()?;
    let table_len = cursor.u8()?;
    let table = cursor.take(usize::from(table_len))?;
    cursor.u8()?;
    let columns = cursor.packed_int()?;
    if columns > 4096 {
        return Err(cursor.error("table has over 4096 columns"));
    }
    let types = cursor.take(columns as usize)?;
    let metadata = cursor.packed_bytes()?;
    let nullable = cursor.take((columns as usize).div_ceil(8))?;
    Ok(TableMap {
        table_id,
        flags,
        schema,
        table,
        types,
        metadata,
        nullable,
        optional_metadata: cursor.rest(),
    })
}

impl<'a> TableMap<'a> {
    /// Returns how many columns the table has.
    pub fn column_count(&self) -> usize {
        self.types.len()
    }

    /// Reports whether a column may be NULL.
    pub fn is_nullable(&self, column: usize) -> bool {
        self.nullable.get(column / 8).is_some_and(|byte| byte >> (column % 8) & 1 == 1)
    }

    /// Returns the columns' types, with the signedness, collations and members of the optional
    /// metadata. Without it, numbers count as signed and characters as bytes.
    pub fn columns(&self) -> Result<Vec<ColumnType>, DecodeError> {
        let mut columns = self.plain_columns()?;
        let optional = self.optional_for(&columns)?;
        let mut unsigned = optional.unsigned.iter().flatten();
        let mut characters = 0;
        let mut named = 0;
        let (mut enums, mut sets) = (optional.enum_members.iter(), optional.set_members.iter());
        for ty in &mut columns {
            if is_numeric(ty.code) {
                ty.unsigned = unsigned.next().copied().unwrap_or(ty.code == TypeCode::Year);
            }
            if has_charset(ty.code) {
                ty.collation = optional.collation(characters).unwrap_or(ty.collation);
                characters += 1;
            }
            if matches!(ty.code, TypeCode::Enum | TypeCode::Set) {
                ty.collation = optional.enum_and_set_collation(named).unwrap_or(ty.collation);
                named += 1;
                let members = if ty.code == TypeCode::Enum { enums.next() } else { sets.next() };
                ty.members =
                    members.map(|all| all.iter().map(|m| String::from_utf8_lossy(m).into_owned()).collect());
            }
        }
        Ok(columns)
    }

    /// Returns the columns' types as far as the type bytes and the metadata determine them.
    fn plain_columns(&self) -> Result<Vec<ColumnType>, DecodeError> {
        let mut columns = Vec::with_capacity(self.types.len());
        let mut at = 0;
        for &type_byte in self.types {
            match read_table_map_column(type_byte, &self.metadata[at..]) {
                Ok((ty, used)) => {
                    columns.push(ty);
                    at += used;
                }
                Err(ColumnTypeError::UnknownType(_)) => {
                    return Err(DecodeError { offset: at, what: "unknown column type in a table map" });
                }
                Err(_) => return Err(DecodeError { offset: at, what: "bad column metadata in a table map" }),
            }
        }
        Ok(columns)
    }

    /// Decodes the optional metadata.
    pub fn optional(&self) -> Result<OptionalMetadata<'a>, DecodeError> {
        self.optional_for(&self.plain_columns()?)
    }

    fn optional_for(&self, columns: &[ColumnType]) -> Result<OptionalMetadata<'a>, DecodeError> {
        use optional_field::*;
        let mut optional = OptionalMetadata::default();
        let mut cursor = Cursor::new(self.optional_metadata);
        while !cursor.is_empty() {
            let field = cursor.u8()?;
            let mut value = Cursor::new(cursor.packed_bytes()?);
            match field {
                SIGNEDNESS => {
                    let count = columns.iter().filter(|ty| is_numeric(ty.code)).count();
                    optional.unsigned = Some(bits_from_high(&mut value, count)?);
                }
                DEFAULT_CHARSET => {
                    optional.default_charset = Some(value.packed_int()? as u16);
                    optional.charset_exceptions = pairs(&mut value)?;
                }
                COLUMN_CHARSET => optional.column_charsets = Some(numbers(&mut value)?),
                COLUMN_NAME => optional.column_names = Some(strings(&mut value)?),
                SET_STR_VALUE => optional.set_members = member_lists(&mut value)?,
                ENUM_STR_VALUE => optional.enum_members = member_lists(&mut value)?,
                SIMPLE_PRIMARY_KEY => {
                    let columns: Vec<u16> = numbers(&mut value)?;
                    optional.primary_key =
                        Some(columns.into_iter().map(|column| (usize::from(column), 0)).collect());
                }
                PRIMARY_KEY_WITH_PREFIX => {
                    let mut columns = Vec::new();
                    while !value.is_empty() {
                        columns.push((value.packed_int()? as usize, value.packed_int()? as u32));
                    }
                    optional.primary_key = Some(columns);
                }
                ENUM_AND_SET_DEFAULT_CHARSET => {
                    optional.enum_and_set_default_charset = Some(value.packed_int()? as u16);
                    optional.enum_and_set_charset_exceptions = pairs(&mut value)?;
                }
                ENUM_AND_SET_COLUMN_CHARSET => {
                    optional.enum_and_set_column_charsets = Some(numbers(&mut value)?);
                }
                COLUMN_VISIBILITY => optional.visible = Some(bits_from_high(&mut value, columns.len())?),
                _ => {} // GEOMETRY_TYPE, VECTOR_DIMENSIONALITY and fields of later versions.
            }
        }
        Ok(optional)
    }
}

impl OptionalMetadata<'_> {
    /// Returns the collation of the n-th character column.
    fn collation(&self, nth: usize) -> Option<u16> {
        pick(nth, &self.column_charsets, self.default_charset, &self.charset_exceptions)
    }
    /// Returns the collation of the n-th ENUM or SET column.
    fn enum_and_set_collation(&self, nth: usize) -> Option<u16> {
        pick(
            nth,
            &self.enum_and_set_column_charsets,
            self.enum_and_set_default_charset,
            &self.enum_and_set_charset_exceptions,
        )
    }
}

fn pick(
    nth: usize,
    each: &Option<Vec<u16>>,
    default: Option<u16>,
    exceptions: &[(usize, u16)],
) -> Option<u16> {
    match each {
        Some(each) => each.get(nth).copied(),
        None => exceptions.iter().find(|(at, _)| *at == nth).map(|(_, id)| *id).or(default),
    }
}

/// Reads a bitmap whose first bit is the highest of its first byte.
fn bits_from_high(value: &mut Cursor<'_>, count: usize) -> Result<Vec<bool>, DecodeError> {
    let bytes = value.take(count.div_ceil(8))?;
    Ok((0..count).map(|i| bytes[i / 8] >> (7 - i % 8) & 1 == 1).collect())
}

fn pairs(value: &mut Cursor<'_>) -> Result<Vec<(usize, u16)>, DecodeError> {
    let mut pairs = Vec::new();
    while !value.is_empty() {
        pairs.push((value.packed_int()? as usize, value.packed_int()? as u16));
    }
    Ok(pairs)
}

fn numbers(value: &mut Cursor<'_>) -> Result<Vec<u16>, DecodeError> {
    let mut numbers = Vec::new();
    while !value.is_empty() {
        numbers.push(value.packed_int()? as u16);
    }
    Ok(numbers)
}

fn strings<'a>(value: &mut Cursor<'a>) -> Result<Vec<&'a [u8]>, DecodeError> {
    let mut strings = Vec::new();
    while !value.is_empty() {
        strings.push(value.packed_bytes()?);
    }
    Ok(strings)
}

fn member_lists<'a>(value: &mut Cursor<'a>) -> Result<Vec<Vec<&'a [u8]>>, DecodeError> {
    let mut lists = Vec::new();
    while !value.is_empty() {
        let count = value.packed_int()?;
        let mut members = Vec::new();
        for _ in 0..count {
            members.push(value.packed_bytes()?);
        }
        lists.push(members);
    }
    Ok(lists)
}
