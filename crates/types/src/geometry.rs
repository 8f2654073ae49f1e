//! Geometries: MySQL's internal form (the SRID in four bytes, then WKB), WKB and WKT.

mod wkb;
mod wkt;

use crate::column::GeometryKind;
use crate::number;

/// The number of bytes of the SRID in front of the WKB.
const SRID_BYTES: usize = 4;
/// The number of bytes of a count in WKB.
const COUNT_BYTES: usize = 4;
/// The most levels to which collections may be nested.
const MOST_DEPTH: usize = 64;
/// The least number of points of a ring: a triangle, and its first point again.
const LEAST_OF_RING: usize = 4;
/// The bytes that stand for the two byte orders in WKB.
const BIG_ENDIAN: u8 = 0;
const LITTLE_ENDIAN: u8 = 1;
/// The number of bytes of a point's coordinates.
const POINT_BYTES: usize = 16;
/// The most characters of a coordinate's text. A longer text is written with an exponent.
const MOST_NUMBER_BYTES: usize = 25;
/// The number of bytes of a byte order and a kind.
const HEAD_BYTES: usize = 5;

/// The coordinates of a point.
pub type Coordinates = [f64; 2];

/// A geometry.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// `POINT`
    Point(Coordinates),
    /// `LINESTRING`, with at least two points.
    LineString(Vec<Coordinates>),
    /// `POLYGON`, with at least one closed ring.
    Polygon(Vec<Vec<Coordinates>>),
    /// A geometry that consists of others: `MULTIPOINT`, `MULTILINESTRING` and `MULTIPOLYGON`,
    /// which have parts of one kind and are not empty, and `GEOMETRYCOLLECTION`.
    Several(GeometryKind, Vec<Geometry>),
}

/// Returns the kind of the parts of such a geometry. `None` means any kind.
fn kind_inside(kind: GeometryKind) -> Option<GeometryKind> {
    match kind {
        GeometryKind::MultiPoint => Some(GeometryKind::Point),
        GeometryKind::MultiLineString => Some(GeometryKind::LineString),
        GeometryKind::MultiPolygon => Some(GeometryKind::Polygon),
        _ => None,
    }
}

fn is_ring(points: &[Coordinates]) -> bool {
    points.len() >= LEAST_OF_RING && points.first() == points.last()
}

impl Geometry {
    /// Returns the kind of the geometry.
    pub fn kind(&self) -> GeometryKind {
        match self {
            Geometry::Point(_) => GeometryKind::Point,
            Geometry::LineString(_) => GeometryKind::LineString,
            Geometry::Polygon(_) => GeometryKind::Polygon,
            Geometry::Several(kind, _) => *kind,
        }
    }

    /// Returns a line through these points, or `None` when they are fewer than two.
    pub fn line(points: Vec<Coordinates>) -> Option<Geometry> {
        (points.len() >= 2).then_some(Geometry::LineString(points))
    }

    /// Returns a polygon with these rings, or `None` when there is no ring or one of them is not
    /// closed.
    pub fn polygon(rings: Vec<Vec<Coordinates>>) -> Option<Geometry> {
        let is_one = !rings.is_empty() && rings.iter().all(|ring| is_ring(ring));
        is_one.then_some(Geometry::Polygon(rings))
    }

    /// Returns a multi-geometry or collection of these parts, or `None` when it may not have such
    /// parts.
    pub fn several(kind: GeometryKind, parts: Vec<Geometry>) -> Option<Geometry> {
        let fits = match kind_inside(kind) {
            Some(inside) => !parts.is_empty() && parts.iter().all(|part| part.kind() == inside),
            None => kind == GeometryKind::Collection,
        };
        fits.then_some(Geometry::Several(kind, parts))
    }

    /// Returns the dimension: 0 for points, 1 for lines, 2 for areas, and for a collection the
    /// largest of its parts. `None` for an empty collection.
    pub fn dimension(&self) -> Option<u8> {
        match self {
            Geometry::Point(_) => Some(0),
            Geometry::LineString(_) => Some(1),
            Geometry::Polygon(_) => Some(2),
            Geometry::Several(_, parts) => parts.iter().filter_map(Geometry::dimension).max(),
        }
    }

    /// Reports whether the geometry has no points.
    pub fn is_empty(&self) -> bool {
        self.dimension().is_none()
    }

    /// Returns the number of bytes that [`Geometry::to_stored`] makes.
    pub fn stored_bytes(&self) -> usize {
        SRID_BYTES + self.wkb_bytes()
    }

    fn wkb_bytes(&self) -> usize {
        let bytes_of = |points: &Vec<Coordinates>| COUNT_BYTES + points.len() * POINT_BYTES;
        HEAD_BYTES
            + match self {
                Geometry::Point(_) => POINT_BYTES,
                Geometry::LineString(points) => bytes_of(points),
                Geometry::Polygon(rings) => COUNT_BYTES + rings.iter().map(bytes_of).sum::<usize>(),
                Geometry::Several(_, parts) => {
                    COUNT_BYTES + parts.iter().map(Geometry::wkb_bytes).sum::<usize>()
                }
            }
    }

    /// Reads MySQL's internal form, and returns the SRID and the geometry.
    pub fn from_stored(bytes: &[u8]) -> Option<(u32, Geometry)> {
        let (srid, wkb) = bytes.split_first_chunk::<SRID_BYTES>()?;
        if wkb.first() != Some(&LITTLE_ENDIAN) {
            return None;
        }
        Some((u32::from_le_bytes(*srid), Geometry::from_wkb(wkb)?))
    }

    /// Returns MySQL's internal form.
    pub fn to_stored(&self, srid: u32) -> Vec<u8> {
        let mut out = srid.to_le_bytes().to_vec();
        self.write_wkb(&mut out);
        out
    }

    /// Appends WKB, with the lowest byte of each number first.
    pub fn write_wkb(&self, out: &mut Vec<u8>) {
        out.push(LITTLE_ENDIAN);
        out.extend_from_slice(&u32::from(self.kind().number()).to_le_bytes());
        let put_count =
            |count: usize, out: &mut Vec<u8>| out.extend_from_slice(&(count as u32).to_le_bytes());
        let put_points = |points: &[Coordinates], out: &mut Vec<u8>| {
            for number in points.iter().flatten() {
                out.extend_from_slice(&number.to_le_bytes());
            }
        };
        match self {
            Geometry::Point(point) => put_points(&[*point], out),
            Geometry::LineString(points) => {
                put_count(points.len(), out);
                put_points(points, out);
            }
            Geometry::Polygon(rings) => {
                put_count(rings.len(), out);
                for ring in rings {
                    put_count(ring.len(), out);
                    put_points(ring, out);
                }
            }
            Geometry::Several(_, parts) => {
                put_count(parts.len(), out);
                parts.iter().for_each(|part| part.write_wkb(out));
            }
        }
    }

    /// Returns the geometry in WKT, as MySQL writes it.
    pub fn to_wkt(&self) -> String {
        let mut out = Vec::new();
        self.write_wkt(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn write_wkt(&self, out: &mut Vec<u8>) {
        let name = match self.kind() {
            GeometryKind::Collection => "GEOMETRYCOLLECTION".to_owned(),
            kind => kind.sql_name().to_ascii_uppercase(),
        };
        out.extend_from_slice(name.as_bytes());
        match self {
            Geometry::Several(GeometryKind::Collection, parts) if parts.is_empty() => {
                out.extend_from_slice(b" EMPTY");
            }
            Geometry::Several(GeometryKind::Collection, parts) => {
                write_list(parts, out, |part, out| part.write_wkt(out));
            }
            _ => self.write_coordinates(out),
        }
    }

    fn write_coordinates(&self, out: &mut Vec<u8>) {
        match self {
            Geometry::Point(point) => write_list(&[*point], out, write_point),
            Geometry::LineString(points) => write_list(points, out, write_point),
            Geometry::Polygon(rings) => {
                write_list(rings, out, |ring, out| write_list(ring, out, write_point))
            }
            Geometry::Several(_, parts) => write_list(parts, out, |part, out| part.write_coordinates(out)),
        }
    }

    /// Calls `f` with each point.
    pub fn visit_points(&self, f: &mut impl FnMut(&Coordinates)) {
        match self {
            Geometry::Point(point) => f(point),
            Geometry::LineString(points) => points.iter().for_each(f),
            Geometry::Polygon(rings) => rings.iter().flatten().for_each(f),
            Geometry::Several(_, parts) => parts.iter().for_each(|part| part.visit_points(f)),
        }
    }

    /// Calls `f` with each point, to change it.
    pub fn for_each_point(&mut self, f: &mut impl FnMut(&mut Coordinates)) {
        match self {
            Geometry::Point(point) => f(point),
            Geometry::LineString(points) => points.iter_mut().for_each(f),
            Geometry::Polygon(rings) => rings.iter_mut().flatten().for_each(f),
            Geometry::Several(_, parts) => parts.iter_mut().for_each(|part| part.for_each_point(f)),
        }
    }
}

fn write_list<T>(parts: &[T], out: &mut Vec<u8>, mut write: impl FnMut(&T, &mut Vec<u8>)) {
    out.push(b'(');
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(part, out);
    }
    out.push(b')');
}

fn write_point([x, y]: &Coordinates, out: &mut Vec<u8>) {
    write_number(*x, out);
    out.push(b' ');
    write_number(*y, out);
}

/// Appends a coordinate as MySQL writes it: with an exponent if the text without one is too long.
fn write_number(number: f64, out: &mut Vec<u8>) {
    let start = out.len();
    number::write_f64(number, out);
    if out.len() - start > MOST_NUMBER_BYTES {
        out.truncate(start);
        out.extend_from_slice(format!("{number:e}").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of `ST_AsText(ST_GeomFromText(...))` in MySQL 9.7.
    const TEXTS: [(&str, &str); 9] = [
        ("point(1 2)", "POINT(1 2)"),
        (" LineString (0 0,1 1, 2.5 3e1)", "LINESTRING(0 0,1 1,2.5 30)"),
        (
            "polygon((0 0,4 0,4 4,0 4,0 0),(1 1,2 1,2 2,1 2,1 1))",
            "POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,2 1,2 2,1 2,1 1))",
        ),
        ("multipoint(1 1,(2 2))", "MULTIPOINT((1 1),(2 2))"),
        ("multilinestring((0 0,1 1),(2 2,3 3))", "MULTILINESTRING((0 0,1 1),(2 2,3 3))"),
        (
            "multipolygon(((0 0,4 0,4 4,0 0)),((0 0,1 0,1 1,0 0)))",
            "MULTIPOLYGON(((0 0,4 0,4 4,0 0)),((0 0,1 0,1 1,0 0)))",
        ),
        (
            "geometrycollection(point(1 1),linestring(0 0,1 1))",
            "GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))",
        ),
        ("geometrycollection empty", "GEOMETRYCOLLECTION EMPTY"),
        ("geomcollection()", "GEOMETRYCOLLECTION EMPTY"),
    ];

    #[test]
    fn texts_and_bytes_come_back() {
        for (written, shown) in TEXTS {
            let geometry = Geometry::from_wkt(written).unwrap_or_else(|| panic!("{written}"));
            assert_eq!(geometry.to_wkt(), shown);
            let stored = geometry.to_stored(4326);
            assert_eq!(stored.len(), geometry.stored_bytes(), "{written}");
            assert_eq!(Geometry::from_stored(&stored), Some((4326, geometry)), "{written}");
            for cut in 0..stored.len() {
                assert_eq!(Geometry::from_stored(&stored[..cut]), None, "{written} {cut}");
            }
        }
    }

    #[test]
    fn what_is_no_geometry() {
        let wrong = [
            "",
            "foo",
            "point(1)",
            "point(1 2",
            "point(1 2) x",
            "point(1 2,3 4)",
            "linestring(1 1)",
            "polygon((0 0,1 1,2 2))",
            "polygon((0 0,1 1,2 2,5 5))",
            "geometry(1 1)",
            "point(1e400 1)",
        ];
        for text in wrong {
            assert_eq!(Geometry::from_wkt(text), None, "{text}");
        }
        let deep = format!("{}point(1 1){}", "geometrycollection(".repeat(1000), ")".repeat(1000));
        assert_eq!(Geometry::from_wkt(&deep), None);
        let mut bytes = Vec::new();
        for _ in 0..1000 {
            bytes.extend_from_slice(&[1, 7, 0, 0, 0, 1, 0, 0, 0]);
        }
        assert_eq!(Geometry::from_wkb(&bytes), None);
        assert_eq!(Geometry::from_wkb(&[1, 2, 0, 0, 0, 255, 255, 255, 255]), None, "no room is taken for it");
    }

    #[test]
    fn the_highest_byte_may_be_first() {
        let mut bytes = vec![0, 0, 0, 0, 1];
        bytes.extend_from_slice(&1f64.to_be_bytes());
        bytes.extend_from_slice(&2f64.to_be_bytes());
        assert_eq!(Geometry::from_wkb(&bytes), Some(Geometry::Point([1.0, 2.0])));
    }
}
