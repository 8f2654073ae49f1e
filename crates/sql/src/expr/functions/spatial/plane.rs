//! Converts geometries to those of the `geo` library, with the checks that its functions require.

use super::super::Call;
use super::argument::invalid;
use crate::error::Result;
use types::GeometryKind;
use types::geometry::{Coordinates, Geometry};

/// Coordinates up to this size can be multiplied and added without becoming infinite.
const LARGEST_COORDINATE: f64 = 1e100;

/// Converts a point to one of the library.
pub(super) fn coordinate([x, y]: Coordinates) -> geo::Coord {
    geo::Coord { x, y }
}

fn line(points: &[Coordinates]) -> geo::LineString {
    geo::LineString(points.iter().copied().map(coordinate).collect())
}

fn polygon(rings: &[Vec<Coordinates>]) -> geo::Polygon {
    let mut rings = rings.iter().map(|ring| line(ring));
    let exterior = rings.next().unwrap_or_else(|| geo::LineString(Vec::new()));
    geo::Polygon::new(exterior, rings.collect())
}

/// Returns the bits of a point. Both zeros have the same bits.
pub(super) fn bits(point: Coordinates) -> [u64; 2] {
    point.map(|number| (number + 0.0).to_bits())
}

/// The points, lines and polygons of a geometry and its parts.
#[derive(Default)]
pub(super) struct Flat {
    /// The points.
    pub points: Vec<Coordinates>,
    /// The lines.
    pub lines: Vec<Vec<Coordinates>>,
    /// The polygons, each as its rings.
    pub polygons: Vec<Vec<Vec<Coordinates>>>,
}

impl Flat {
    /// Collects the points, lines and polygons of a geometry.
    pub fn of(geometry: &Geometry) -> Flat {
        let mut flat = Flat::default();
        flat.add(geometry);
        flat
    }

    fn add(&mut self, geometry: &Geometry) {
        match geometry {
            Geometry::Point(point) => self.points.push(*point),
            Geometry::LineString(points) => self.lines.push(points.clone()),
            Geometry::Polygon(rings) => self.polygons.push(rings.clone()),
            Geometry::Several(_, parts) => parts.iter().for_each(|part| self.add(part)),
        }
    }

    /// Appends the points, lines and polygons of another geometry.
    pub fn append(&mut self, other: Flat) {
        self.points.extend(other.points);
        self.lines.extend(other.lines);
        self.polygons.extend(other.polygons);
    }

    /// Returns all parts as one geometry: the part itself if there is only one, a multi-geometry if
    /// all are of one kind, otherwise a collection.
    pub fn into_geometry(self) -> Geometry {
        let kind = match (self.points.len(), self.lines.len(), self.polygons.len()) {
            (2.., 0, 0) => GeometryKind::MultiPoint,
            (0, 2.., 0) => GeometryKind::MultiLineString,
            (0, 0, 2..) => GeometryKind::MultiPolygon,
            _ => GeometryKind::Collection,
        };
        let polygons = self.polygons.into_iter().map(Geometry::Polygon);
        let lines = self.lines.into_iter().map(Geometry::LineString);
        let mut parts: Vec<Geometry> =
            polygons.chain(lines).chain(self.points.into_iter().map(Geometry::Point)).collect();
        if parts.len() == 1 { parts.remove(0) } else { Geometry::Several(kind, parts) }
    }

    /// Converts the polygons to those of the library.
    pub fn areas(&self) -> geo::MultiPolygon {
        geo::MultiPolygon(self.polygons.iter().map(|rings| polygon(rings)).collect())
    }

    /// Converts the lines to those of the library.
    pub fn paths(&self) -> geo::MultiLineString {
        geo::MultiLineString(self.lines.iter().map(|points| line(points)).collect())
    }
}

/// Converts a geometry to one of the library.
///
/// # Errors
/// Returns 3037 for coordinates that are too large to compute with.
pub(super) fn to_library(call: &Call<'_>, geometry: &Geometry) -> Result<geo::Geometry> {
    let mut largest = 0.0f64;
    geometry.visit_points(&mut |point| largest = largest.max(point[0].abs()).max(point[1].abs()));
    if largest > LARGEST_COORDINATE {
        return Err(invalid(call));
    }
    Ok(converted(geometry))
}

fn converted(geometry: &Geometry) -> geo::Geometry {
    match geometry {
        Geometry::Point(point) => geo::Geometry::Point(geo::Point(coordinate(*point))),
        Geometry::LineString(points) => geo::Geometry::LineString(line(points)),
        Geometry::Polygon(rings) => geo::Geometry::Polygon(polygon(rings)),
        Geometry::Several(kind, parts) => {
            let flat = || Flat::of(geometry);
            match kind {
                GeometryKind::MultiPoint => {
                    let points = flat().points.into_iter().map(|point| geo::Point(coordinate(point)));
                    geo::Geometry::MultiPoint(geo::MultiPoint(points.collect()))
                }
                GeometryKind::MultiLineString => geo::Geometry::MultiLineString(flat().paths()),
                GeometryKind::MultiPolygon => geo::Geometry::MultiPolygon(flat().areas()),
                _ => {
                    let parts = parts.iter().map(converted).collect();
                    geo::Geometry::GeometryCollection(geo::GeometryCollection(parts))
                }
            }
        }
    }
}

/// Runs code of the library that may panic: with coordinates that are close to each other its
/// arithmetic can contradict itself.
///
/// # Errors
/// Returns 3037 when the code has panicked.
pub(super) fn contained<T>(call: &Call<'_>, run: impl FnOnce() -> T) -> Result<T> {
    os::panic::contain(run).map_err(|_| invalid(call))
}
