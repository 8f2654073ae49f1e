//! The types of columns, made from their definitions.

use super::column_type::{BINARY, ColumnType};
use super::number_form::NumberForm;
use super::shape::{GeometryKind, Shape};
use super::text_form::TextForm;
use super::type_code::TypeCode;
use crate::collation;

/// The number of bytes that the length of a geometry or a vector takes in a row.
const PREFIX_BYTES: u16 = 4;

impl ColumnType {
    /// Returns the type `TINYINT`.
    pub fn tinyint(unsigned: bool) -> ColumnType {
        ColumnType::new(TypeCode::Tiny, 0, unsigned, BINARY)
    }
    /// Returns the type `TINYINT(1)`, which `BOOL` also means.
    pub fn boolean() -> ColumnType {
        ColumnType::new(TypeCode::Tiny, 1, false, BINARY)
    }
    /// Returns the type `SMALLINT`.
    pub fn smallint(unsigned: bool) -> ColumnType {
        ColumnType::new(TypeCode::Short, 0, unsigned, BINARY)
    }
    /// Returns the type `MEDIUMINT`.
    pub fn mediumint(unsigned: bool) -> ColumnType {
        ColumnType::new(TypeCode::Int24, 0, unsigned, BINARY)
    }
    /// Returns the type `INT`.
    pub fn int(unsigned: bool) -> ColumnType {
        ColumnType::new(TypeCode::Long, 0, unsigned, BINARY)
    }
    /// Returns the type `BIGINT`.
    pub fn bigint(unsigned: bool) -> ColumnType {
        ColumnType::new(TypeCode::LongLong, 0, unsigned, BINARY)
    }
    /// Returns the type `FLOAT`.
    pub fn float() -> ColumnType {
        ColumnType::new(TypeCode::Float, 4, false, BINARY)
    }
    /// Returns the type `DOUBLE`.
    pub fn double() -> ColumnType {
        ColumnType::new(TypeCode::Double, 8, false, BINARY)
    }
    /// Returns the type `DECIMAL(precision, scale)`. The precision is 1 to 65, the scale at most 38
    /// and at most the precision. MySQL's columns have a scale of at most 30.
    pub fn decimal(precision: u8, scale: u8) -> ColumnType {
        let is_scale = scale <= crate::decimal::MAX_COLUMN_SCALE && scale <= precision;
        assert!((1..=65).contains(&precision) && is_scale, "DECIMAL out of range");
        ColumnType::new(TypeCode::NewDecimal, u16::from(precision) << 8 | u16::from(scale), false, BINARY)
    }
    /// Returns the type `CHAR(chars)` in the collation's character set, or `BINARY(chars)` for
    /// collation 63.
    pub fn char(chars: u32, collation: u16) -> ColumnType {
        let bytes = chars * u32::from(collation::max_bytes_per_char(collation));
        ColumnType::new(TypeCode::String, bytes.min(u32::from(u16::MAX)) as u16, false, collation)
    }
    /// Returns the type `VARCHAR(chars)`. The caller refuses more than 65535 bytes with error 1074
    /// ([`ColumnType::char_fits`]).
    pub fn varchar(chars: u32, collation: u16) -> ColumnType {
        let bytes = chars * u32::from(collation::max_bytes_per_char(collation));
        ColumnType::new(TypeCode::Varchar, bytes.min(u32::from(u16::MAX)) as u16, false, collation)
    }
    /// Returns the type of computed texts of at most so many characters that MySQL gives the type
    /// CHAR: clients are told of a CHAR, and columns that are made of the texts are VARCHAR.
    pub fn made_char(chars: u32, collation: u16) -> ColumnType {
        ColumnType { shape: Some(Shape::MadeChar), ..ColumnType::varchar(chars, collation) }
    }
    /// Reports whether a VARCHAR of this many characters has at most 65535 bytes.
    pub fn char_fits(chars: u32, collation: u16) -> bool {
        u64::from(chars) * u64::from(collation::max_bytes_per_char(collation)) <= 65535
    }
    /// Returns the type `BINARY(bytes)`.
    pub fn binary(bytes: u32) -> ColumnType {
        ColumnType::char(bytes, BINARY)
    }
    /// Returns the type `VARBINARY(bytes)`.
    pub fn varbinary(bytes: u32) -> ColumnType {
        ColumnType::varchar(bytes, BINARY)
    }
    /// Returns the type `TINYTEXT`.
    pub fn tinytext(collation: u16) -> ColumnType {
        ColumnType::new(TypeCode::Blob, 1, false, collation)
    }
    /// Returns the type `TEXT`.
    pub fn text(collation: u16) -> ColumnType {
        ColumnType::new(TypeCode::Blob, 2, false, collation)
    }
    /// Returns the type `MEDIUMTEXT`.
    pub fn mediumtext(collation: u16) -> ColumnType {
        ColumnType::new(TypeCode::Blob, 3, false, collation)
    }
    /// Returns the type `LONGTEXT`.
    pub fn longtext(collation: u16) -> ColumnType {
        ColumnType::new(TypeCode::Blob, 4, false, collation)
    }
    /// Returns the type of computed texts, of which the longest has so many bytes.
    pub fn computed_text(bytes: u32, collation: u16) -> ColumnType {
        ColumnType { shape: Some(Shape::MostBytes(bytes)), ..ColumnType::longtext(collation) }
    }
    /// Returns the type `TINYBLOB`.
    pub fn tinyblob() -> ColumnType {
        ColumnType::tinytext(BINARY)
    }
    /// Returns the type `BLOB`.
    pub fn blob() -> ColumnType {
        ColumnType::text(BINARY)
    }
    /// Returns the type `MEDIUMBLOB`.
    pub fn mediumblob() -> ColumnType {
        ColumnType::mediumtext(BINARY)
    }
    /// Returns the type `LONGBLOB`.
    pub fn longblob() -> ColumnType {
        ColumnType::longtext(BINARY)
    }
    /// Returns the type `DATE`.
    pub fn date() -> ColumnType {
        ColumnType::new(TypeCode::Date, 0, false, BINARY)
    }
    /// Returns the type `TIME(fsp)`.
    pub fn time(fsp: u8) -> ColumnType {
        assert!(fsp <= 6, "fractional digits out of range");
        ColumnType::new(TypeCode::Time2, u16::from(fsp), false, BINARY)
    }
    /// Returns the type `DATETIME(fsp)`.
    pub fn datetime(fsp: u8) -> ColumnType {
        assert!(fsp <= 6, "fractional digits out of range");
        ColumnType::new(TypeCode::Datetime2, u16::from(fsp), false, BINARY)
    }
    /// Returns the type `TIMESTAMP(fsp)`.
    pub fn timestamp(fsp: u8) -> ColumnType {
        assert!(fsp <= 6, "fractional digits out of range");
        ColumnType::new(TypeCode::Timestamp2, u16::from(fsp), false, BINARY)
    }
    /// Returns the type `YEAR`.
    pub fn year() -> ColumnType {
        ColumnType::new(TypeCode::Year, 0, true, BINARY)
    }
    /// Returns the type `BIT(bits)`, which has 1 to 64 bits.
    pub fn bit(bits: u8) -> ColumnType {
        assert!((1..=64).contains(&bits), "BIT out of range");
        ColumnType::new(TypeCode::Bit, u16::from(bits), true, BINARY)
    }
    /// Returns the type `ENUM(members)`.
    pub fn enumeration(members: Vec<String>, collation: u16) -> ColumnType {
        let bytes = if members.len() < 256 { 1 } else { 2 };
        let mut ty = ColumnType::new(TypeCode::Enum, bytes, false, collation);
        ty.members = Some(members.into());
        ty
    }
    /// Returns the type `SET(members)`, which has at most 64 members.
    pub fn set(members: Vec<String>, collation: u16) -> ColumnType {
        let bytes = members.len().div_ceil(8).max(1);
        let mut ty =
            ColumnType::new(TypeCode::Set, if bytes > 4 { 8 } else { bytes as u16 }, false, collation);
        ty.members = Some(members.into());
        ty
    }
    /// Returns the type `JSON`.
    pub fn json() -> ColumnType {
        ColumnType::new(TypeCode::Json, 4, false, BINARY)
    }

    /// Returns the type `UUID`, `INET4` or `INET6`.
    pub fn of_text(form: TextForm) -> ColumnType {
        ColumnType { form: Some(NumberForm::of_text(form)), ..ColumnType::binary(form.bytes() as u32) }
    }

    /// Returns the type `GEOMETRY`, `POINT` and so on, with or without the attribute `SRID`.
    pub fn geometry(kind: GeometryKind, srid: Option<u32>) -> ColumnType {
        let shape = srid.map_or(Shape::Geometry(kind), |srid| Shape::GeometryInSrs(kind, srid));
        let made = ColumnType::new(TypeCode::Geometry, PREFIX_BYTES, false, BINARY);
        ColumnType { shape: Some(shape), ..made }
    }

    /// Returns the type `VECTOR(dimensions)`.
    pub fn vector(dimensions: u32) -> ColumnType {
        let made = ColumnType::new(TypeCode::Vector, PREFIX_BYTES, false, BINARY);
        ColumnType { shape: Some(Shape::Vector(dimensions)), ..made }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_named_and_take_no_room() {
        assert_eq!(size_of::<Option<Shape>>(), 8);
        for (number, kind) in GeometryKind::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(kind.number()), number);
            assert_eq!(GeometryKind::from_number(number as u64), Some(kind));
            assert_eq!(GeometryKind::from_sql_name(kind.sql_name()), Some(kind));
        }
        assert_eq!(GeometryKind::from_number(8), None);
        let point = ColumnType::geometry(GeometryKind::Point, Some(4326));
        assert_eq!((point.sql_name().as_str(), point.srid()), ("point", Some(4326)));
        let vector = ColumnType::vector(3);
        assert_eq!((vector.sql_name().as_str(), vector.max_bytes()), ("vector(3)", 12));
    }
}
