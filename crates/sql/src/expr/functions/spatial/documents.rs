//! GeoJSON documents of geometries.

use super::argument::PLANE;
use super::rectangles::Box;
use super::rounding::rounded;
use types::GeometryKind;
use types::geometry::{Coordinates, Geometry};
use types::json::Node;

fn string(text: &str) -> Node {
    Node::String(text.as_bytes().to_vec())
}

fn object(members: Vec<(&str, Node)>) -> Node {
    Node::object(members.into_iter().map(|(name, value)| (name.as_bytes().to_vec(), value)).collect())
}

/// How a document names the spatial reference system.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SystemName {
    None,
    Short,
    Long,
}

/// The settings with which a document is written.
pub(super) struct Writer {
    /// The most digits behind the points of the coordinates.
    pub decimals: u32,
    /// Whether the document has the box around the geometry.
    pub has_box: bool,
    pub system: SystemName,
}

/// Returns the document that a stored geometry is among JSON documents. `None` if the bytes are no
/// geometry.
pub(crate) fn document_of(stored: &[u8]) -> Option<Node> {
    let (srid, geometry) = Geometry::from_stored(stored)?;
    let writer = Writer { decimals: u32::MAX, has_box: false, system: SystemName::Long };
    Some(writer.document(srid, &geometry))
}

impl Writer {
    /// Returns the document of a geometry in this spatial reference system.
    pub fn document(&self, srid: u32, geometry: &Geometry) -> Node {
        let authority = if srid == PLANE { "MySQL" } else { "EPSG" };
        let system = match self.system {
            SystemName::None => None,
            SystemName::Short => Some(format!("{authority}:{srid}")),
            SystemName::Long => Some(format!("urn:ogc:def:crs:{authority}::{srid}")),
        };
        let mut members = self.members(geometry);
        if let Some(system) = system {
            let properties = object(vec![("name", string(&system))]);
            members.push(("crs", object(vec![("type", string("name")), ("properties", properties)])));
        }
        object(members)
    }

    fn point(&self, point: &Coordinates) -> Node {
        Node::Array(point.iter().map(|number| Node::Double(rounded(*number, self.decimals))).collect())
    }

    fn points(&self, points: &[Coordinates]) -> Node {
        Node::Array(points.iter().map(|point| self.point(point)).collect())
    }

    fn coordinates(&self, geometry: &Geometry) -> Node {
        match geometry {
            Geometry::Point(point) => self.point(point),
            Geometry::LineString(points) => self.points(points),
            Geometry::Polygon(rings) => Node::Array(rings.iter().map(|ring| self.points(ring)).collect()),
            Geometry::Several(_, parts) => {
                Node::Array(parts.iter().map(|part| self.coordinates(part)).collect())
            }
        }
    }

    fn members(&self, geometry: &Geometry) -> Vec<(&'static str, Node)> {
        let mut members = vec![("type", string(type_name(geometry.kind())))];
        if let (true, Some(around)) = (self.has_box, Box::around(geometry)) {
            let numbers = around.corners().into_iter().flatten();
            let numbers = numbers.map(|number| Node::Double(rounded(number, self.decimals)));
            members.push(("bbox", Node::Array(numbers.collect())));
        }
        match geometry {
            Geometry::Several(GeometryKind::Collection, parts) => {
                let parts = parts.iter().map(|part| object(self.members(part)));
                members.push(("geometries", Node::Array(parts.collect())));
            }
            _ => members.push(("coordinates", self.coordinates(geometry))),
        }
        members
    }
}

/// The names of geometries in documents.
pub(super) const TYPE_NAMES: [(&str, GeometryKind); 7] = [
    ("Point", GeometryKind::Point),
    ("LineString", GeometryKind::LineString),
    ("Polygon", GeometryKind::Polygon),
    ("MultiPoint", GeometryKind::MultiPoint),
    ("MultiLineString", GeometryKind::MultiLineString),
    ("MultiPolygon", GeometryKind::MultiPolygon),
    ("GeometryCollection", GeometryKind::Collection),
];

fn type_name(kind: GeometryKind) -> &'static str {
    TYPE_NAMES.iter().find(|(_, named)| *named == kind).map_or("", |(name, _)| name)
}
