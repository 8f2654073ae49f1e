//! The description of a column's type in a TABLE_MAP event: how it is written and read.

use super::column_type::{BINARY, ColumnType};
use super::type_code::TypeCode;
use crate::decimal::MAX_COLUMN_SCALE;

/// The error for a description of a column in a TABLE_MAP event that this crate does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnTypeError {
    /// The type byte is that of no MySQL or MariaDB type of a stored column.
    UnknownType(u8),
    /// The metadata ends before those of the column with this type byte are complete.
    MetadataTooShort(u8),
    /// The type does not allow this metadata. The fields are the type byte and the metadata.
    BadMetadata(u8, u16),
}

impl std::fmt::Display for ColumnTypeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ColumnTypeError::UnknownType(code) => write!(f, "unknown column type {code}"),
            ColumnTypeError::MetadataTooShort(code) => {
                write!(f, "metadata of column type {code} is cut short")
            }
            ColumnTypeError::BadMetadata(code, meta) => {
                write!(f, "column type {code} has impossible metadata {meta:#x}")
            }
        }
    }
}

impl std::error::Error for ColumnTypeError {}

/// Appends the type byte and the metadata of a column in the form of a TABLE_MAP event.
pub fn write_table_map_column(column: &ColumnType, types: &mut Vec<u8>, metadata: &mut Vec<u8>) {
    match column.code {
        TypeCode::Enum | TypeCode::Set => {
            types.push(TypeCode::String as u8);
            metadata.extend_from_slice(&[column.code as u8, column.meta as u8]);
        }
        TypeCode::String => {
            types.push(TypeCode::String as u8);
            let high = ((column.meta & 0x300) >> 4) as u8;
            metadata.extend_from_slice(&[TypeCode::String as u8 ^ high, column.meta as u8]);
        }
        TypeCode::NewDecimal => {
            types.push(column.code as u8);
            metadata.extend_from_slice(&[column.precision(), column.scale()]);
        }
        TypeCode::Varchar | TypeCode::VarcharCompressed => {
            types.push(column.code as u8);
            metadata.extend_from_slice(&column.meta.to_le_bytes());
        }
        TypeCode::Bit => {
            types.push(column.code as u8);
            metadata.extend_from_slice(&[(column.meta % 8) as u8, (column.meta / 8) as u8]);
        }
        code => {
            types.push(code as u8);
            if table_map_meta_len(code) == 1 {
                metadata.push(column.meta as u8);
            }
        }
    }
}

/// Reads one column's type from a TABLE_MAP event: its type byte, and the metadata of this column
/// and of those after it. Returns the type and the number of metadata bytes that it takes.
/// Signedness, collation and members are only in the optional metadata, so character types get
/// collation 63.
pub fn read_table_map_column(type_byte: u8, metadata: &[u8]) -> Result<(ColumnType, usize), ColumnTypeError> {
    let code = TypeCode::from_u8(type_byte).ok_or(ColumnTypeError::UnknownType(type_byte))?;
    let len = table_map_meta_len(code);
    let bytes = metadata.get(..len).ok_or(ColumnTypeError::MetadataTooShort(type_byte))?;
    let little = match *bytes {
        [] => 0,
        [a] => u16::from(a),
        [a, b, ..] => u16::from_le_bytes([a, b]),
    };
    let bad = ColumnTypeError::BadMetadata(type_byte, little);
    let (code, meta) = match code {
        TypeCode::NewDecimal => {
            let (precision, scale) = (bytes[0], bytes[1]);
            if precision == 0 || precision > 65 || scale > MAX_COLUMN_SCALE || scale > precision {
                return Err(bad);
            }
            (code, u16::from(precision) << 8 | u16::from(scale))
        }
        TypeCode::String => string_from_table_map(bytes[0], bytes[1]).ok_or(bad)?,
        TypeCode::Enum | TypeCode::Set => {
            (code, Some(little).filter(|n| matches!(n & 0xff, 1..=4 | 8)).ok_or(bad)? & 0xff)
        }
        TypeCode::Bit => {
            let bits = u16::from(bytes[0]) + 8 * u16::from(bytes[1]);
            if bits == 0 || bits > 64 || bytes[0] > 7 {
                return Err(bad);
            }
            (code, bits)
        }
        TypeCode::Blob
        | TypeCode::Json
        | TypeCode::Geometry
        | TypeCode::Vector
        | TypeCode::BlobCompressed => {
            if !(1..=4).contains(&little) {
                return Err(bad);
            }
            (code, little)
        }
        TypeCode::Time2 | TypeCode::Datetime2 | TypeCode::Timestamp2 if little > 6 => return Err(bad),
        _ => (code, little),
    };
    Ok((ColumnType::new(code, meta, false, BINARY), len))
}

/// Returns the number of metadata bytes of a type in a TABLE_MAP event.
fn table_map_meta_len(code: TypeCode) -> usize {
    match code {
        TypeCode::NewDecimal
        | TypeCode::Varchar
        | TypeCode::VarcharCompressed
        | TypeCode::Bit
        | TypeCode::Enum
        | TypeCode::Set
        | TypeCode::String => 2,
        TypeCode::Float
        | TypeCode::Double
        | TypeCode::Blob
        | TypeCode::BlobCompressed
        | TypeCode::Json
        | TypeCode::Geometry
        | TypeCode::Vector
        | TypeCode::Time2
        | TypeCode::Datetime2
        | TypeCode::Timestamp2 => 1,
        _ => 0,
    }
}

/// Returns the type and length that STRING's two metadata bytes stand for. They hold the real type
/// (STRING, ENUM, SET) and the length. Bits 4 and 5 of the first byte, inverted, are bits 8 and 9
/// of the length (MySQL bug 37426).
fn string_from_table_map(first: u8, second: u8) -> Option<(TypeCode, u16)> {
    let (real, length) = if first & 0x30 != 0x30 {
        (first | 0x30, u16::from(second) | (u16::from((first & 0x30) ^ 0x30) << 4))
    } else {
        (first, u16::from(second))
    };
    match TypeCode::from_u8(real)? {
        TypeCode::Enum if matches!(length, 1 | 2) => Some((TypeCode::Enum, length)),
        TypeCode::Set if matches!(length, 1..=4 | 8) => Some((TypeCode::Set, length)),
        TypeCode::String | TypeCode::Varchar => Some((TypeCode::String, length)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_map_round_trip() {
        let members = vec!["a".to_string(), "b'c".to_string()];
        let all = [
            ColumnType::tinyint(false),
            ColumnType::bigint(false),
            ColumnType::float(),
            ColumnType::double(),
            ColumnType::decimal(65, 30),
            ColumnType::char(60, 63),
            ColumnType::char(255, 255),
            ColumnType::varchar(120, 255),
            ColumnType::longblob(),
            ColumnType::time(3),
            ColumnType::datetime(6),
            ColumnType::timestamp(0),
            ColumnType::year(),
            ColumnType::bit(64),
            ColumnType::bit(3),
            ColumnType::enumeration(members.clone(), 255),
            ColumnType::set(members, 255),
            ColumnType::json(),
        ];
        for ty in all {
            let (mut types, mut metadata) = (Vec::new(), Vec::new());
            write_table_map_column(&ty, &mut types, &mut metadata);
            let (back, used) = read_table_map_column(types[0], &metadata).unwrap();
            assert_eq!((back.code, back.meta, used), (ty.code, ty.meta, metadata.len()), "{}", ty.sql_name());
        }
    }
}
