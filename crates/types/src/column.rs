//! Column types: what a column can hold and how it is described in a TABLE_MAP event and in DDL.

mod display;
mod number_form;
mod shape;
mod table_map;
mod text_form;

pub use number_form::NumberForm;
pub use shape::{GeometryKind, Shape};
pub use table_map::ColumnTypeError;
pub use text_form::TextForm;

use crate::collation;
use std::sync::Arc;

/// The type byte of a column, as MySQL numbers them (`enum_field_types`, client protocol and
/// TABLE_MAP event).
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
    /// The type with this number; the blob sizes are all [`TypeCode::Blob`], `VAR_STRING` is
    /// [`TypeCode::Varchar`].
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
    /// How a value is written, where its column says more than its type: ZEROFILL, `FLOAT(M,D)` and
    /// `DOUBLE(M,D)`, and of a BINARY(n) the text that MariaDB's UUID, INET4 and INET6 have.
    pub form: Option<NumberForm>,
    /// Which geometries a column holds, or how many numbers a vector has.
    pub shape: Option<Shape>,
}

/// Collation id of `binary`.
const BINARY: u16 = collation::BINARY;

impl ColumnType {
    fn new(code: TypeCode, meta: u16, unsigned: bool, collation: u16) -> ColumnType {
        ColumnType { code, meta, unsigned, collation, members: None, form: None, shape: None }
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
    /// `VARCHAR(chars)`; the caller refuses what is over 65535 bytes (error 1074), see
    /// [`ColumnType::char_fits`].
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

    /// `UUID`, `INET4` or `INET6`
    pub fn of_text(form: TextForm) -> ColumnType {
        ColumnType { form: Some(NumberForm::of_text(form)), ..ColumnType::binary(form.bytes() as u32) }
    }
    /// The text that the values have, of a column of UUID, INET4 or INET6.
    pub fn text_form(&self) -> Option<TextForm> {
        self.form.and_then(NumberForm::text)
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
    /// The BLOBs, TEXTs, JSON and GEOMETRY: what can be off-page and cannot be indexed without a
    /// prefix.
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
            TypeCode::Vector => self.dimensions().map_or(u64::from(u32::MAX), |n| 4 * u64::from(n)),
            TypeCode::Blob | TypeCode::Json | TypeCode::Geometry | TypeCode::BlobCompressed => {
                (1u64 << (8 * self.meta.clamp(1, 4))) - 1
            }
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
}
