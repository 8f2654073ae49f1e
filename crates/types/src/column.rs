//! Column types: what a column can hold and how it is described in a TABLE_MAP event and in DDL.

use crate::collation;
use std::sync::Arc;

/// The type byte of a column, as MySQL numbers them (`enum_field_types`, client protocol and TABLE_MAP event).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // MySQL's own names
pub enum TypeCode {
    Tiny = 1,
    Short = 2,
    Long = 3,
    Float = 4,
    Double = 5,
    Null = 6,
    /// Before 5.6.4: 4 bytes little endian, no fraction.
    Timestamp = 7,
    LongLong = 8,
    Int24 = 9,
    Date = 10,
    /// Before 5.6.4: 3 bytes little endian, decimal HHMMSS.
    Time = 11,
    /// Before 5.6.4: 8 bytes little endian, decimal YYYYMMDDHHMMSS.
    Datetime = 12,
    Year = 13,
    Varchar = 15,
    Bit = 16,
    Timestamp2 = 17,
    Datetime2 = 18,
    Time2 = 19,
    /// MariaDB's COMPRESSED blob.
    BlobCompressed = 140,
    /// MariaDB's COMPRESSED varchar.
    VarcharCompressed = 141,
    Vector = 242,
    Json = 245,
    NewDecimal = 246,
    Enum = 247,
    Set = 248,
    Blob = 252,
    String = 254,
    Geometry = 255,
}

impl TypeCode {
    /// The type with this number; the blob sizes are all [`TypeCode::Blob`], `VAR_STRING` is [`TypeCode::Varchar`].
    pub fn from_u8(code: u8) -> Option<TypeCode> {
        Some(match code {
            1 => TypeCode::Tiny,
            2 => TypeCode::Short,
            3 => TypeCode::Long,
            4 => TypeCode::Float,
            5 => TypeCode::Double,
            6 => TypeCode::Null,
            7 => TypeCode::Timestamp,
            8 => TypeCode::LongLong,
            9 => TypeCode::Int24,
            10 | 14 => TypeCode::Date,
            11 => TypeCode::Time,
            12 => TypeCode::Datetime,
            13 => TypeCode::Year,
            15 | 253 => TypeCode::Varchar,
            16 => TypeCode::Bit,
            17 => TypeCode::Timestamp2,
            18 => TypeCode::Datetime2,
            19 => TypeCode::Time2,
            140 => TypeCode::BlobCompressed,
            141 => TypeCode::VarcharCompressed,
            242 => TypeCode::Vector,
            245 => TypeCode::Json,
            246 => TypeCode::NewDecimal,
            247 => TypeCode::Enum,
            248 => TypeCode::Set,
            249..=252 => TypeCode::Blob,
            254 => TypeCode::String,
            255 => TypeCode::Geometry,
            _ => return None,
        })
    }
}

/// The type of a column.
///
/// `meta` depends on `code`:
///
/// | code | meta |
/// |---|---|
/// | NewDecimal | precision << 8 \| scale |
/// | Varchar, String | longest value in bytes |
/// | Enum, Set | bytes of the packed number |
/// | Bit | bits (1..=64) |
/// | Blob, Json, Geometry, Vector | bytes of the length prefix (1..=4) |
/// | Time2, Datetime2, Timestamp2 | fractional digits (0..=6) |
/// | Float, Double | bytes (4, 8) |
/// | Tiny | 1 for `tinyint(1)`, else 0 |
/// | others | 0 |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnType {
    /// What the column holds.
    pub code: TypeCode,
    /// See the table above.
    pub meta: u16,
    /// `UNSIGNED`, for the numbers.
    pub unsigned: bool,
    /// MySQL's collation id; 63 (`binary`) for everything that is not characters.
    pub collation: u16,
    /// The members of an ENUM or SET, in order.
    pub members: Option<Arc<[String]>>,
}

/// A TABLE_MAP event describes a column in a way that this crate does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnTypeError {
    /// A type byte that is no MySQL or MariaDB type of a stored column.
    UnknownType(u8),
    /// The metadata ends before the column's metadata does.
    MetadataTooShort(u8),
    /// Metadata that the type does not allow.
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

/// Collation id of `binary`.
const BINARY: u16 = collation::BINARY;

impl ColumnType {
    fn new(code: TypeCode, meta: u16, unsigned: bool, collation: u16) -> ColumnType {
        ColumnType { code, meta, unsigned, collation, members: None }
    }

    /// `TINYINT`
    pub fn tinyint(unsigned: bool) -> ColumnType {
        ColumnType::new(TypeCode::Tiny, 0, unsigned, BINARY)
    }
    /// `TINYINT(1)`, also `BOOL`
    pub fn boolean() -> ColumnType {
        ColumnType::new(TypeCode::Tiny, 1, false, BINARY)
    }
    /// `SMALLINT`
    pub fn smallint(unsigned: bool) -> ColumnType {
        ColumnType::new(TypeCode::Short, 0, unsigned, BINARY)
    }
    /// `MEDIUMINT`
    pub fn mediumint(unsigned: bool) -> ColumnType {
        ColumnType::new(TypeCode::Int24, 0, unsigned, BINARY)
    }
    /// `INT`
    pub fn int(unsigned: bool) -> ColumnType {
        ColumnType::new(TypeCode::Long, 0, unsigned, BINARY)
    }
    /// `BIGINT`
    pub fn bigint(unsigned: bool) -> ColumnType {
        ColumnType::new(TypeCode::LongLong, 0, unsigned, BINARY)
    }
    /// `FLOAT`
    pub fn float() -> ColumnType {
        ColumnType::new(TypeCode::Float, 4, false, BINARY)
    }
    /// `DOUBLE`
    pub fn double() -> ColumnType {
        ColumnType::new(TypeCode::Double, 8, false, BINARY)
    }
    /// `DECIMAL(precision, scale)`, precision 1..=65, scale at most 30 and at most the precision.
    pub fn decimal(precision: u8, scale: u8) -> ColumnType {
        assert!((1..=65).contains(&precision) && scale <= 30 && scale <= precision, "DECIMAL out of range");
        ColumnType::new(TypeCode::NewDecimal, u16::from(precision) << 8 | u16::from(scale), false, BINARY)
    }
    /// `CHAR(chars)` in the collation's character set (`BINARY(chars)` for collation 63).
    pub fn char(chars: u32, collation: u16) -> ColumnType {
        let bytes = chars * u32::from(collation::max_bytes_per_char(collation));
        ColumnType::new(TypeCode::String, bytes.min(u32::from(u16::MAX)) as u16, false, collation)
    }
    /// `VARCHAR(chars)`; the caller refuses what is over 65535 bytes (error 1074), see [`ColumnType::char_fits`].
    pub fn varchar(chars: u32, collation: u16) -> ColumnType {
        let bytes = chars * u32::from(collation::max_bytes_per_char(collation));
        ColumnType::new(TypeCode::Varchar, bytes.min(u32::from(u16::MAX)) as u16, false, collation)
    }
    /// Whether a VARCHAR of this many characters is at most 65535 bytes.
    pub fn char_fits(chars: u32, collation: u16) -> bool {
        u64::from(chars) * u64::from(collation::max_bytes_per_char(collation)) <= 65535
    }
    /// `BINARY(bytes)`
    pub fn binary(bytes: u32) -> ColumnType {
        ColumnType::char(bytes, BINARY)
    }
    /// `VARBINARY(bytes)`
    pub fn varbinary(bytes: u32) -> ColumnType {
        ColumnType::varchar(bytes, BINARY)
    }
    /// `TINYTEXT`
    pub fn tinytext(collation: u16) -> ColumnType {
        ColumnType::new(TypeCode::Blob, 1, false, collation)
    }
    /// `TEXT`
    pub fn text(collation: u16) -> ColumnType {
        ColumnType::new(TypeCode::Blob, 2, false, collation)
    }
    /// `MEDIUMTEXT`
    pub fn mediumtext(collation: u16) -> ColumnType {
        ColumnType::new(TypeCode::Blob, 3, false, collation)
    }
    /// `LONGTEXT`
    pub fn longtext(collation: u16) -> ColumnType {
        ColumnType::new(TypeCode::Blob, 4, false, collation)
    }
    /// `TINYBLOB`
    pub fn tinyblob() -> ColumnType {
        ColumnType::tinytext(BINARY)
    }
    /// `BLOB`
    pub fn blob() -> ColumnType {
        ColumnType::text(BINARY)
    }
    /// `MEDIUMBLOB`
    pub fn mediumblob() -> ColumnType {
        ColumnType::mediumtext(BINARY)
    }
    /// `LONGBLOB`
    pub fn longblob() -> ColumnType {
        ColumnType::longtext(BINARY)
    }
    /// `DATE`
    pub fn date() -> ColumnType {
        ColumnType::new(TypeCode::Date, 0, false, BINARY)
    }
    /// `TIME(fsp)`
    pub fn time(fsp: u8) -> ColumnType {
        assert!(fsp <= 6, "fractional digits out of range");
        ColumnType::new(TypeCode::Time2, u16::from(fsp), false, BINARY)
    }
    /// `DATETIME(fsp)`
    pub fn datetime(fsp: u8) -> ColumnType {
        assert!(fsp <= 6, "fractional digits out of range");
        ColumnType::new(TypeCode::Datetime2, u16::from(fsp), false, BINARY)
    }
    /// `TIMESTAMP(fsp)`
    pub fn timestamp(fsp: u8) -> ColumnType {
        assert!(fsp <= 6, "fractional digits out of range");
        ColumnType::new(TypeCode::Timestamp2, u16::from(fsp), false, BINARY)
    }
    /// `YEAR`
    pub fn year() -> ColumnType {
        ColumnType::new(TypeCode::Year, 0, true, BINARY)
    }
    /// `BIT(bits)`, 1..=64
    pub fn bit(bits: u8) -> ColumnType {
        assert!((1..=64).contains(&bits), "BIT out of range");
        ColumnType::new(TypeCode::Bit, u16::from(bits), true, BINARY)
    }
    /// `ENUM(members)`
    pub fn enumeration(members: Vec<String>, collation: u16) -> ColumnType {
        let bytes = if members.len() < 256 { 1 } else { 2 };
        let mut ty = ColumnType::new(TypeCode::Enum, bytes, false, collation);
        ty.members = Some(members.into());
        ty
    }
    /// `SET(members)`, at most 64 members
    pub fn set(members: Vec<String>, collation: u16) -> ColumnType {
        let bytes = members.len().div_ceil(8).max(1);
        let mut ty =
            ColumnType::new(TypeCode::Set, if bytes > 4 { 8 } else { bytes as u16 }, false, collation);
        ty.members = Some(members.into());
        ty
    }
    /// `JSON`
    pub fn json() -> ColumnType {
        ColumnType::new(TypeCode::Json, 4, false, BINARY)
    }

    /// Digits in all of a DECIMAL.
    pub fn precision(&self) -> u8 {
        (self.meta >> 8) as u8
    }
    /// Digits after the point of a DECIMAL.
    pub fn scale(&self) -> u8 {
        self.meta as u8
    }
    /// Fractional second digits of a temporal type.
    pub fn fsp(&self) -> u8 {
        match self.code {
            TypeCode::Time2 | TypeCode::Datetime2 | TypeCode::Timestamp2 => self.meta as u8,
            _ => 0,
        }
    }
    /// Longest value in characters (bytes for the binary collation); 0 for types without a length.
    pub fn chars(&self) -> u32 {
        match self.code {
            TypeCode::Varchar | TypeCode::String => {
                u32::from(self.meta) / u32::from(collation::max_bytes_per_char(self.collation))
            }
            _ => 0,
        }
    }
    /// CHAR, VARCHAR, the TEXTs, ENUM and SET: values are characters in a character set.
    pub fn is_character(&self) -> bool {
        match self.code {
            TypeCode::Varchar | TypeCode::String | TypeCode::Blob => self.collation != BINARY,
            TypeCode::Enum | TypeCode::Set => true,
            _ => false,
        }
    }
    /// The BLOBs, TEXTs, JSON and GEOMETRY: what can be off-page and cannot be indexed without a prefix.
    pub fn is_blob(&self) -> bool {
        matches!(
            self.code,
            TypeCode::Blob
                | TypeCode::Json
                | TypeCode::Geometry
                | TypeCode::Vector
                | TypeCode::BlobCompressed
        )
    }
    /// TINYINT to BIGINT (not YEAR, not BIT).
    pub fn is_integer(&self) -> bool {
        matches!(
            self.code,
            TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong
        )
    }
    /// DATE, TIME, DATETIME, TIMESTAMP (not YEAR).
    pub fn is_temporal(&self) -> bool {
        matches!(
            self.code,
            TypeCode::Date
                | TypeCode::Time
                | TypeCode::Time2
                | TypeCode::Datetime
                | TypeCode::Datetime2
                | TypeCode::Timestamp
                | TypeCode::Timestamp2
        )
    }
    /// Range of an integer type as (smallest, largest).
    pub fn integer_range(&self) -> (i64, u64) {
        let bits = match self.code {
            TypeCode::Tiny => 8,
            TypeCode::Short => 16,
            TypeCode::Int24 => 24,
            TypeCode::Long => 32,
            _ => 64,
        };
        if self.unsigned {
            (0, u64::MAX >> (64 - bits))
        } else {
            (i64::MIN >> (64 - bits), u64::MAX >> (65 - bits))
        }
    }

    /// Longest value in bytes, without any length prefix, as the column's character set stores it.
    pub fn max_bytes(&self) -> u64 {
        match self.code {
            TypeCode::Tiny | TypeCode::Year => 1,
            TypeCode::Short => 2,
            TypeCode::Int24 | TypeCode::Date | TypeCode::Time => 3,
            TypeCode::Long | TypeCode::Float | TypeCode::Timestamp => 4,
            TypeCode::LongLong | TypeCode::Double | TypeCode::Datetime => 8,
            TypeCode::Null => 0,
            TypeCode::Bit => u64::from(self.meta.div_ceil(8)),
            TypeCode::Timestamp2 => 4 + u64::from(self.meta.div_ceil(2)),
            TypeCode::Datetime2 => 5 + u64::from(self.meta.div_ceil(2)),
            TypeCode::Time2 => 3 + u64::from(self.meta.div_ceil(2)),
            TypeCode::NewDecimal => crate::decimal::binary_len(self.precision(), self.scale()) as u64,
            TypeCode::Enum
            | TypeCode::Set
            | TypeCode::Varchar
            | TypeCode::String
            | TypeCode::VarcharCompressed => u64::from(self.meta),
            TypeCode::Blob
            | TypeCode::Json
            | TypeCode::Geometry
            | TypeCode::Vector
            | TypeCode::BlobCompressed => (1u64 << (8 * self.meta.clamp(1, 4))) - 1,
        }
    }

    /// The column's type byte in a result set (the temporal types without their `2`).
    pub fn protocol_code(&self) -> u8 {
        match self.code {
            TypeCode::Timestamp2 => TypeCode::Timestamp as u8,
            TypeCode::Datetime2 => TypeCode::Datetime as u8,
            TypeCode::Time2 => TypeCode::Time as u8,
            TypeCode::Varchar | TypeCode::VarcharCompressed => 253,
            TypeCode::Enum | TypeCode::Set => TypeCode::String as u8,
            TypeCode::BlobCompressed => TypeCode::Blob as u8,
            code => code as u8,
        }
    }

    /// The `column length` of a result set's column definition (MySQL's display width; bytes for characters, counted
    /// in the result's utf8mb4).
    pub fn display_length(&self) -> u32 {
        let fraction = |fsp: u16| if fsp == 0 { 0 } else { u32::from(fsp) + 1 };
        match self.code {
            TypeCode::Tiny if self.meta == 1 => 1,
            TypeCode::Tiny => 4 - u32::from(self.unsigned),
            TypeCode::Short => 6 - u32::from(self.unsigned),
            TypeCode::Int24 => 9 - u32::from(self.unsigned),
            TypeCode::Long => 11 - u32::from(self.unsigned),
            TypeCode::LongLong => 20,
            TypeCode::Float => 12,
            TypeCode::Double => 22,
            TypeCode::Year => 4,
            TypeCode::Null => 0,
            TypeCode::Bit => u32::from(self.meta),
            TypeCode::Date => 10,
            TypeCode::Time | TypeCode::Time2 => 10 + fraction(self.meta),
            TypeCode::Datetime | TypeCode::Timestamp => 19,
            TypeCode::Datetime2 | TypeCode::Timestamp2 => 19 + fraction(self.meta),
            TypeCode::NewDecimal => {
                u32::from(self.precision()) + u32::from(self.scale() > 0) + u32::from(!self.unsigned)
            }
            TypeCode::Varchar | TypeCode::String | TypeCode::VarcharCompressed
                if self.collation != BINARY =>
            {
                self.chars() * 4
            }
            TypeCode::Enum => self
                .members
                .iter()
                .flat_map(|m| m.iter())
                .map(|m| m.chars().count() as u32 * 4)
                .max()
                .unwrap_or(0),
            TypeCode::Set => self
                .members
                .iter()
                .flat_map(|m| m.iter())
                .map(|m| (m.chars().count() as u32 + 1) * 4)
                .sum::<u32>()
                .saturating_sub(4),
            TypeCode::Json => u32::MAX,
            TypeCode::Blob if self.collation != BINARY && self.meta < 4 => {
                let factor = 4 / u32::from(collation::max_bytes_per_char(self.collation));
                (self.max_bytes() as u32).saturating_mul(factor)
            }
            _ => self.max_bytes() as u32,
        }
    }

    /// The type as `SHOW COLUMNS` and `SHOW CREATE TABLE` write it, e.g. `int unsigned`, `varchar(120)`; without
    /// character set and collation.
    pub fn sql_name(&self) -> String {
        let unsigned = if self.unsigned { " unsigned" } else { "" };
        let fraction = if self.meta == 0 { String::new() } else { format!("({})", self.meta) };
        let binary = self.collation == BINARY;
        match self.code {
            TypeCode::Tiny if self.meta == 1 && !self.unsigned => "tinyint(1)".into(),
            TypeCode::Tiny => format!("tinyint{unsigned}"),
            TypeCode::Short => format!("smallint{unsigned}"),
            TypeCode::Int24 => format!("mediumint{unsigned}"),
            TypeCode::Long => format!("int{unsigned}"),
            TypeCode::LongLong => format!("bigint{unsigned}"),
            TypeCode::Float => format!("float{unsigned}"),
            TypeCode::Double => format!("double{unsigned}"),
            TypeCode::NewDecimal => format!("decimal({},{}){unsigned}", self.precision(), self.scale()),
            TypeCode::Null => "null".into(),
            TypeCode::Timestamp | TypeCode::Timestamp2 => format!("timestamp{fraction}"),
            TypeCode::Datetime | TypeCode::Datetime2 => format!("datetime{fraction}"),
            TypeCode::Time | TypeCode::Time2 => format!("time{fraction}"),
            TypeCode::Date => "date".into(),
            TypeCode::Year => "year".into(),
            TypeCode::Bit => format!("bit({})", self.meta),
            TypeCode::Varchar | TypeCode::VarcharCompressed if binary => format!("varbinary({})", self.meta),
            TypeCode::Varchar | TypeCode::VarcharCompressed => format!("varchar({})", self.chars()),
            TypeCode::String if binary => format!("binary({})", self.meta),
            TypeCode::String => format!("char({})", self.chars()),
            TypeCode::Blob | TypeCode::BlobCompressed => {
                let size = ["tiny", "", "medium", "long"][usize::from(self.meta.clamp(1, 4)) - 1];
                format!("{size}{}", if binary { "blob" } else { "text" })
            }
            TypeCode::Json => "json".into(),
            TypeCode::Geometry => "geometry".into(),
            TypeCode::Vector => "vector".into(),
            TypeCode::Enum => format!("enum({})", quoted_members(self.members.as_deref())),
            TypeCode::Set => format!("set({})", quoted_members(self.members.as_deref())),
        }
    }

    /// Appends the type byte and the metadata of this column as a TABLE_MAP event has them.
    pub fn write_table_map(&self, types: &mut Vec<u8>, metadata: &mut Vec<u8>) {
        match self.code {
            TypeCode::Enum | TypeCode::Set => {
                types.push(TypeCode::String as u8);
                metadata.extend_from_slice(&[self.code as u8, self.meta as u8]);
            }
            TypeCode::String => {
                types.push(TypeCode::String as u8);
                let high = ((self.meta & 0x300) >> 4) as u8;
                metadata.extend_from_slice(&[TypeCode::String as u8 ^ high, self.meta as u8]);
            }
            TypeCode::NewDecimal => {
                types.push(self.code as u8);
                metadata.extend_from_slice(&[self.precision(), self.scale()]);
            }
            TypeCode::Varchar | TypeCode::VarcharCompressed => {
                types.push(self.code as u8);
                metadata.extend_from_slice(&self.meta.to_le_bytes());
            }
            TypeCode::Bit => {
                types.push(self.code as u8);
                metadata.extend_from_slice(&[(self.meta % 8) as u8, (self.meta / 8) as u8]);
            }
            code => {
                types.push(code as u8);
                if table_map_meta_len(code) == 1 {
                    metadata.push(self.meta as u8);
                }
            }
        }
    }

    /// Reads one column of a TABLE_MAP event: its type byte and the metadata from here on. Returns the type and the
    /// metadata bytes used. Signedness, collation and members are not part of it (optional metadata has them);
    /// characters are given collation 63.
    pub fn from_table_map(type_byte: u8, metadata: &[u8]) -> Result<(ColumnType, usize), ColumnTypeError> {
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
                if precision == 0 || precision > 65 || scale > 30.max(precision.min(38)) || scale > precision
                {
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
}

/// Metadata bytes of a type in a TABLE_MAP event.
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

/// STRING's two metadata bytes: the real type (STRING, ENUM, SET) and the length; bits 4 and 5 of the first byte,
/// inverted, are bits 8 and 9 of the length (MySQL bug 37426).
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

fn quoted_members(members: Option<&[String]>) -> String {
    let quoted: Vec<String> =
        members.unwrap_or_default().iter().map(|m| format!("'{}'", m.replace('\'', "''"))).collect();
    quoted.join(",")
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
            ty.write_table_map(&mut types, &mut metadata);
            let (back, used) = ColumnType::from_table_map(types[0], &metadata).unwrap();
            assert_eq!((back.code, back.meta, used), (ty.code, ty.meta, metadata.len()), "{}", ty.sql_name());
        }
    }

    #[test]
    fn names() {
        assert_eq!(ColumnType::int(true).sql_name(), "int unsigned");
        assert_eq!(ColumnType::varchar(120, 255).sql_name(), "varchar(120)");
        assert_eq!(ColumnType::mediumtext(255).sql_name(), "mediumtext");
        assert_eq!(ColumnType::enumeration(vec!["it's".into()], 255).sql_name(), "enum('it''s')");
        assert_eq!(ColumnType::int(false).integer_range(), (-2147483648, 2147483647));
        assert_eq!(ColumnType::bigint(true).integer_range(), (0, u64::MAX));
    }
}
