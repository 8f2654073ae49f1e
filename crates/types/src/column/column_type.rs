//! The type of a column, and the properties that follow from it.

use super::number_form::NumberForm;
use super::shape::{GeometryKind, Shape};
use super::text_form::TextForm;
use super::type_code::TypeCode;
use crate::collation;
use std::sync::Arc;

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
    /// The kind of values that the column holds.
    pub code: TypeCode,
    /// What the type code alone does not say, according to the table of [`ColumnType`].
    pub meta: u16,
    /// Whether the numbers are `UNSIGNED`.
    pub unsigned: bool,
    /// MySQL's collation id. It is 63 (`binary`) for all types whose values are not characters.
    pub collation: u16,
    /// The members of an ENUM or SET, in order. `None` for other types.
    pub members: Option<Arc<[String]>>,
    /// How values are written, where the type alone does not determine that: ZEROFILL, `FLOAT(M,D)`
    /// and `DOUBLE(M,D)`, and MariaDB's UUID, INET4 and INET6, which are a BINARY(n) with a text.
    pub form: Option<NumberForm>,
    /// The kind of geometries that a column holds, or the number of dimensions of a vector.
    pub shape: Option<Shape>,
}

/// The collation id of `binary`.
pub(super) const BINARY: u16 = collation::BINARY;

impl ColumnType {
    pub(super) fn new(code: TypeCode, meta: u16, unsigned: bool, collation: u16) -> ColumnType {
        ColumnType { code, meta, unsigned, collation, members: None, form: None, shape: None }
    }

    /// Returns the text form of the values of a UUID, INET4 or INET6 column.
    pub fn text_form(&self) -> Option<TextForm> {
        self.form.and_then(NumberForm::text)
    }

    /// Returns the type without ZEROFILL, since the results of computations with a column are not
    /// filled with zeros.
    pub fn without_zerofill(self) -> ColumnType {
        let form = self.form.and_then(NumberForm::without_zerofill);
        ColumnType { form, ..self }
    }

    /// Returns the precision of a DECIMAL, the number of all its digits.
    pub fn precision(&self) -> u8 {
        (self.meta >> 8) as u8
    }
    /// Returns the scale of a DECIMAL, the number of digits after the point.
    pub fn scale(&self) -> u8 {
        self.meta as u8
    }
    /// Returns the number of fractional digits of a temporal type's seconds.
    pub fn fsp(&self) -> u8 {
        match self.code {
            TypeCode::Time2 | TypeCode::Datetime2 | TypeCode::Timestamp2 => self.meta as u8,
            _ => 0,
        }
    }
    /// Returns the length of the longest value in characters (in bytes for the binary collation), 0
    /// for types without a length.
    pub fn chars(&self) -> u32 {
        match self.code {
            TypeCode::Varchar | TypeCode::String => {
                u32::from(self.meta) / u32::from(collation::max_bytes_per_char(self.collation))
            }
            _ => 0,
        }
    }
    /// Reports whether values are characters in a character set: those of CHAR, VARCHAR, the TEXTs,
    /// ENUM and SET.
    pub fn is_character(&self) -> bool {
        match self.code {
            TypeCode::Varchar | TypeCode::String | TypeCode::Blob => self.collation != BINARY,
            TypeCode::Enum | TypeCode::Set => true,
            _ => false,
        }
    }
    /// Reports whether the type is one of the BLOBs and TEXTs, JSON, GEOMETRY or VECTOR, whose
    /// values can be off-page and cannot be indexed without a prefix.
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
    /// Reports whether the type is one of TINYINT to BIGINT (not YEAR, not BIT).
    pub fn is_integer(&self) -> bool {
        matches!(
            self.code,
            TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong
        )
    }
    /// Reports whether the type is DATE, TIME, DATETIME or TIMESTAMP (not YEAR).
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
    /// Returns the range of an integer type as (smallest, largest).
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

    /// Returns the length of the longest value in bytes, as the column's character set stores it,
    /// without a length prefix.
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
            TypeCode::Blob if let Some(bytes) = self.most_bytes() => u64::from(bytes),
            TypeCode::Vector => self.dimensions().map_or(u64::from(u32::MAX), |n| 4 * u64::from(n)),
            TypeCode::Blob | TypeCode::Json | TypeCode::Geometry | TypeCode::BlobCompressed => {
                (1u64 << (8 * self.meta.clamp(1, 4))) - 1
            }
        }
    }

    /// Returns the column's type byte in a result set, where temporal types have the codes without
    /// the `2`.
    pub fn protocol_code(&self) -> u8 {
        match self.code {
            TypeCode::Timestamp2 => TypeCode::Timestamp as u8,
            TypeCode::Datetime2 => TypeCode::Datetime as u8,
            TypeCode::Time2 => TypeCode::Time as u8,
            TypeCode::Varchar if self.is_made_char() => TypeCode::String as u8,
            TypeCode::Varchar | TypeCode::VarcharCompressed => 253,
            TypeCode::Enum | TypeCode::Set => TypeCode::String as u8,
            TypeCode::BlobCompressed => TypeCode::Blob as u8,
            code => code as u8,
        }
    }

    /// Returns the length in bytes of the longest of computed texts that no VARCHAR can hold.
    /// `None` for other types, and where nothing but the type limits the length.
    pub fn most_bytes(&self) -> Option<u32> {
        match self.shape {
            Some(Shape::MostBytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// Reports whether the type is that of computed texts to which MySQL gives the type CHAR
    /// ([`ColumnType::made_char`]).
    pub fn is_made_char(&self) -> bool {
        self.shape == Some(Shape::MadeChar)
    }

    /// Returns the kind of geometries that a GEOMETRY column holds.
    pub fn geometry_kind(&self) -> GeometryKind {
        match self.shape {
            Some(Shape::Geometry(kind) | Shape::GeometryInSrs(kind, _)) => kind,
            _ => GeometryKind::Geometry,
        }
    }

    /// Returns the attribute `SRID`.
    pub fn srid(&self) -> Option<u32> {
        match self.shape {
            Some(Shape::GeometryInSrs(_, srid)) => Some(srid),
            _ => None,
        }
    }

    /// Returns the number of dimensions of a VECTOR.
    pub fn dimensions(&self) -> Option<u32> {
        match self.shape {
            Some(Shape::Vector(dimensions)) => Some(dimensions),
            _ => None,
        }
    }
}
