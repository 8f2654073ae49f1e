//! The reading of WKB.

use super::{
    BIG_ENDIAN, COUNT_BYTES, Coordinates, Geometry, HEAD_BYTES, LITTLE_ENDIAN, MOST_DEPTH, POINT_BYTES,
};
use crate::column::GeometryKind;

impl Geometry {
    /// Reads WKB. Returns `None` unless all the bytes are one geometry.
    pub fn from_wkb(bytes: &[u8]) -> Option<Geometry> {
        let mut reader = Wkb { rest: bytes, big: false };
        let geometry = reader.geometry(MOST_DEPTH)?;
        reader.rest.is_empty().then_some(geometry)
    }
}

/// The unread rest of a WKB, and the byte order of the geometry that is being read.
struct Wkb<'b> {
    rest: &'b [u8],
    big: bool,
}

impl Wkb<'_> {
    fn geometry(&mut self, depth: usize) -> Option<Geometry> {
        let (order, rest) = self.rest.split_first()?;
        self.rest = rest;
        self.big = match *order {
            BIG_ENDIAN => true,
            LITTLE_ENDIAN => false,
            _ => return None,
        };
        match GeometryKind::from_number(u64::from(self.number()?))? {
            GeometryKind::Geometry => None,
            GeometryKind::Point => Some(Geometry::Point(self.point()?)),
            GeometryKind::LineString => Geometry::line(self.points()?),
            GeometryKind::Polygon => {
                let count = self.count(COUNT_BYTES)?;
                let rings = (0..count).map(|_| self.points()).collect::<Option<Vec<_>>>()?;
                Geometry::polygon(rings)
            }
            kind => {
                let depth = depth.checked_sub(1)?;
                let count = self.count(HEAD_BYTES)?;
                let parts = (0..count).map(|_| self.geometry(depth)).collect::<Option<Vec<_>>>()?;
                Geometry::several(kind, parts)
            }
        }
    }

    fn number(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(if self.big { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) })
    }

    /// Reads the number of things that take at least `bytes` bytes each. Returns `None` if the rest
    /// is too short for that many.
    fn count(&mut self, bytes: usize) -> Option<usize> {
        let count = self.number()? as usize;
        (count <= self.rest.len() / bytes).then_some(count)
    }

    fn points(&mut self) -> Option<Vec<Coordinates>> {
        let count = self.count(POINT_BYTES)?;
        (0..count).map(|_| self.point()).collect()
    }

    fn point(&mut self) -> Option<Coordinates> {
        Some([self.coordinate()?, self.coordinate()?])
    }

    fn coordinate(&mut self) -> Option<f64> {
        let (bytes, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        let number = if self.big { f64::from_be_bytes(*bytes) } else { f64::from_le_bytes(*bytes) };
        number.is_finite().then_some(number)
    }
}
