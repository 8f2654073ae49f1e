//! What types of GEOMETRY, VECTOR, BLOB and TEXT say beyond their type code: the kind of geometry
//! and its spatial reference system, the number of dimensions, and the length of computed values.

/// The kind of geometries that a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeometryKind {
    /// `GEOMETRY`, which means any kind.
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
    /// All kinds, in the order of their numbers in WKB and in TABLE_MAP events. 0 stands for any
    /// kind.
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

    /// Returns the kind with this number.
    pub fn from_number(number: u64) -> Option<GeometryKind> {
        GeometryKind::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the kind's number in WKB, 0 for any kind.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the type's name in SQL, as MySQL shows it.
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

    /// Returns the kind that a word of SQL names.
    pub fn from_sql_name(word: &str) -> Option<GeometryKind> {
        let is_named = |kind: &GeometryKind| word.eq_ignore_ascii_case(kind.sql_name());
        if word.eq_ignore_ascii_case("geometrycollection") {
            return Some(GeometryKind::Collection);
        }
        GeometryKind::ALL.into_iter().find(is_named)
    }
}

/// What a type of GEOMETRY, VECTOR, BLOB, TEXT or VARCHAR says beyond its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Geometries in any spatial reference system.
    Geometry(GeometryKind),
    /// Geometries with this SRID only. The number is the SRID.
    GeometryInSrs(GeometryKind, u32),
    /// Vectors with at most this many dimensions.
    Vector(u32),
    /// Computed texts or bytes, of which the longest has this many bytes. No stored column has this
    /// shape.
    MostBytes(u32),
    /// Computed texts in a VARCHAR that clients are told is a CHAR. No stored column has this
    /// shape.
    MadeChar,
}
