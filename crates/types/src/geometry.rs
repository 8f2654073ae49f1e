//! Geometries: MySQL's internal form (the SRID in four bytes, then WKB), WKB and WKT.

mod wkb;
mod wkt;

use crate::column::GeometryKind;
use crate::number;

/// Bytes of the SRID before the WKB.
const SRID_BYTES: usize = 4;
/// Bytes of a number of things in WKB.
const COUNT_BYTES: usize = 4;
/// Collections may be in collections so deep.
const MOST_DEPTH: usize = 64;
/// Points of a ring: a triangle, and the first one again.
const LEAST_OF_RING: usize = 4;
/// WKB's byte orders.
const BIG_ENDIAN: u8 = 0;
const LITTLE_ENDIAN: u8 = 1;
/// Bytes of a point's coordinates.
const POINT_BYTES: usize = 16;
/// Characters of a coordinate in a text that has no exponent.
const MOST_NUMBER_BYTES: usize = 25;
/// Bytes of a byte order and a kind.
const HEAD_BYTES: usize = 5;

/// A point's coordinates.
pub type Coordinates = [f64; 2];

/// A geometry.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// `POINT`
    Point(Coordinates),
    /// `LINESTRING`, of two points or more.
    LineString(Vec<Coordinates>),
    /// `POLYGON`: one closed ring or more.
    Polygon(Vec<Vec<Coordinates>>),
    /// The geometries that have others in them: `MULTIPOINT`, `MULTILINESTRING`, `MULTIPOLYGON`, of
    /// one kind and not empty, and `GEOMETRYCOLLECTION`.
    Several(GeometryKind, Vec<Geometry>),
}

/// The kind of what such a geometry holds; `None`: any.
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
    /// Its kind.
    pub fn kind(&self) -> GeometryKind {
        match self {
            Geometry::Point(_) => GeometryKind::Point,
            Geometry::LineString(_) => GeometryKind::LineString,
            Geometry::Polygon(_) => GeometryKind::Polygon,
            Geometry::Several(kind, _) => *kind,
        }
    }

    /// A line through these points, as far as they make one.
    pub fn line(points: Vec<Coordinates>) -> Option<Geometry> {
        (points.len() >= 2).then_some(Geometry::LineString(points))
    }

    /// A polygon with these rings, as far as they make one.
    pub fn polygon(rings: Vec<Vec<Coordinates>>) -> Option<Geometry> {
        let is_one = !rings.is_empty() && rings.iter().all(|ring| is_ring(ring));
        is_one.then_some(Geometry::Polygon(rings))
    }

    /// A multi-geometry or collection of these, as far as they may be in it.
    pub fn several(kind: GeometryKind, parts: Vec<Geometry>) -> Option<Geometry> {
        let fits = match kind_inside(kind) {
            Some(inside) => !parts.is_empty() && parts.iter().all(|part| part.kind() == inside),
            None => kind == GeometryKind::Collection,
        };
        fits.then_some(Geometry::Several(kind, parts))
    }

    /// The dimension: 0 of points, 1 of lines, 2 of areas, of a collection its parts' largest one;
    /// `None` of an empty collection.
    pub fn dimension(&self) -> Option<u8> {
        match self {
            Geometry::Point(_) => Some(0),
            Geometry::LineString(_) => Some(1),
            Geometry::Polygon(_) => Some(2),
            Geometry::Several(_, parts) => parts.iter().filter_map(Geometry::dimension).max(),
        }
    }

    /// Whether there is no point in it.
    pub fn is_empty(&self) -> bool {
        self.dimension().is_none()
    }

    /// How many bytes [`Geometry::to_stored`] makes.
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

    /// Reads MySQL's internal form: the SRID and the geometry.
    pub fn from_stored(bytes: &[u8]) -> Option<(u32, Geometry)> {
        let (srid, wkb) = bytes.split_first_chunk::<SRID_BYTES>()?;
        if wkb.first() != Some(&LITTLE_ENDIAN) {
            return None;
        }
        Some((u32::from_le_bytes(*srid), Geometry::from_wkb(wkb)?))
    }

    /// MySQL's internal form.
    pub fn to_stored(&self, srid: u32) -> Vec<u8> {
        let mut out = srid.to_le_bytes().to_vec();
        self.write_wkb(&mut out);
        out
    }

    /// Appends WKB, the lowest byte of each number first.
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

    /// The geometry in WKT, as MySQL writes it.
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

    /// Shows all points.
    pub fn visit_points(&self, f: &mut impl FnMut(&Coordinates)) {
        match self {
            Geometry::Point(point) => f(point),
            Geometry::LineString(points) => points.iter().for_each(f),
            Geometry::Polygon(rings) => rings.iter().flatten().for_each(f),
            Geometry::Several(_, parts) => parts.iter().for_each(|part| part.visit_points(f)),
        }
    }

    /// Changes all points.
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

/// As MySQL writes a coordinate: with an exponent where it is longer than others without.
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

    /// What MySQL 9.7 answers to `ST_AsText(ST_GeomFromText(...))`.
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
