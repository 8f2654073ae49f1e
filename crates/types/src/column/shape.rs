//! What columns of GEOMETRY and VECTOR say beyond their type code: the kind of geometry and its
//! spatial reference system, and the number of dimensions.

use super::{BINARY, ColumnType, TypeCode};

/// The geometries that a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeometryKind {
    /// `GEOMETRY`: of any kind.
    Geometry,
    /// `POINT`
    Point,
    /// `LINESTRING`
    LineString,
    /// `POLYGON`
    Polygon,
    /// `MULTIPOINT`
    MultiPoint,
    /// `MULTILINESTRING`
    MultiLineString,
    /// `MULTIPOLYGON`
    MultiPolygon,
    /// `GEOMETRYCOLLECTION`
    Collection,
}

impl GeometryKind {
    /// All of them, in the order of their numbers in WKB and in TABLE_MAP events; 0 is any.
    pub const ALL: [GeometryKind; 8] = [
        GeometryKind::Geometry,
        GeometryKind::Point,
        GeometryKind::LineString,
        GeometryKind::Polygon,
        GeometryKind::MultiPoint,
        GeometryKind::MultiLineString,
        GeometryKind::MultiPolygon,
        GeometryKind::Collection,
    ];

    /// The kind with this number.
    pub fn from_number(number: u64) -> Option<GeometryKind> {
        GeometryKind::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Its number in WKB; 0 for any.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The type's name in SQL, as MySQL shows it.
    pub fn sql_name(self) -> &'static str {
        match self {
            GeometryKind::Geometry => "geometry",
            GeometryKind::Point => "point",
            GeometryKind::LineString => "linestring",
            GeometryKind::Polygon => "polygon",
            GeometryKind::MultiPoint => "multipoint",
            GeometryKind::MultiLineString => "multilinestring",
            GeometryKind::MultiPolygon => "multipolygon",
            GeometryKind::Collection => "geomcollection",
        }
    }

    /// The kind that a word of SQL names.
    pub fn from_sql_name(word: &str) -> Option<GeometryKind> {
        let is_named = |kind: &GeometryKind| word.eq_ignore_ascii_case(kind.sql_name());
        if word.eq_ignore_ascii_case("geometrycollection") {
            return Some(GeometryKind::Collection);
        }
        GeometryKind::ALL.into_iter().find(is_named)
    }
}

/// What a column of GEOMETRY or VECTOR says beyond its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Geometries in any spatial reference system.
    Geometry(GeometryKind),
    /// Geometries with this SRID only.
    GeometryInSrs(GeometryKind, u32),
    /// Vectors of at most so many numbers.
    Vector(u32),
}

/// Bytes that the length of a geometry or a vector takes in a row.
const PREFIX_BYTES: u16 = 4;

impl ColumnType {
    /// `GEOMETRY`, `POINT` and so on, with the attribute `SRID` or without.
    pub fn geometry(kind: GeometryKind, srid: Option<u32>) -> ColumnType {
        let shape = srid.map_or(Shape::Geometry(kind), |srid| Shape::GeometryInSrs(kind, srid));
        let made = ColumnType::new(TypeCode::Geometry, PREFIX_BYTES, false, BINARY);
        ColumnType { shape: Some(shape), ..made }
    }

    /// `VECTOR(dimensions)`
    pub fn vector(dimensions: u32) -> ColumnType {
        let made = ColumnType::new(TypeCode::Vector, PREFIX_BYTES, false, BINARY);
        ColumnType { shape: Some(Shape::Vector(dimensions)), ..made }
    }

    /// The geometries that a column of GEOMETRY holds.
    pub fn geometry_kind(&self) -> GeometryKind {
        match self.shape {
            Some(Shape::Geometry(kind) | Shape::GeometryInSrs(kind, _)) => kind,
            _ => GeometryKind::Geometry,
        }
    }

    /// The attribute `SRID`.
    pub fn srid(&self) -> Option<u32> {
        match self.shape {
            Some(Shape::GeometryInSrs(_, srid)) => Some(srid),
            _ => None,
        }
    }

    /// The dimensions of a VECTOR.
    pub fn dimensions(&self) -> Option<u32> {
        match self.shape {
            Some(Shape::Vector(dimensions)) => Some(dimensions),
            _ => None,
        }
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
