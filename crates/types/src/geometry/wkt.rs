//! The reading of WKT.

use super::{Coordinates, Geometry, MOST_DEPTH};
use crate::column::GeometryKind;

impl Geometry {
    /// Reads WKT. Returns `None` unless the whole text is one geometry.
    pub fn from_wkt(text: &str) -> Option<Geometry> {
        let mut reader = Wkt { rest: text };
        let geometry = reader.geometry(MOST_DEPTH)?;
        reader.skip_spaces();
        reader.rest.is_empty().then_some(geometry)
    }
}

/// The unread rest of a WKT.
struct Wkt<'t> {
    rest: &'t str,
}

impl Wkt<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    }

    fn eat(&mut self, symbol: char) -> Option<()> {
        self.skip_spaces();
        self.rest = self.rest.strip_prefix(symbol)?;
        Some(())
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let is_there = self.rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        if is_there {
            self.rest = &self.rest[word.len()..];
        }
        is_there
    }

    fn geometry(&mut self, depth: usize) -> Option<Geometry> {
        self.skip_spaces();
        let end = self.rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let kind = GeometryKind::from_sql_name(word)?;
        self.rest = rest;
        match kind {
            GeometryKind::Geometry => None,
            GeometryKind::Point => {
                let points = self.points()?;
                <[Coordinates; 1]>::try_from(points).ok().map(|[point]| Geometry::Point(point))
            }
            GeometryKind::LineString => Geometry::line(self.points()?),
            GeometryKind::Polygon => Geometry::polygon(self.list(Self::points)?),
            GeometryKind::MultiPoint => {
                let parts = self.list(|wkt| Some(Geometry::Point(wkt.point_of_several()?)))?;
                Geometry::several(kind, parts)
            }
            GeometryKind::MultiLineString => {
                let parts = self.list(|wkt| Geometry::line(wkt.points()?))?;
                Geometry::several(kind, parts)
            }
            GeometryKind::MultiPolygon => {
                let parts = self.list(|wkt| Geometry::polygon(wkt.list(Self::points)?))?;
                Geometry::several(kind, parts)
            }
            GeometryKind::Collection => {
                let depth = depth.checked_sub(1)?;
                if self.eat_word("EMPTY") || self.is_empty_list() {
                    return Geometry::several(kind, Vec::new());
                }
                let parts = self.list(|wkt| wkt.geometry(depth))?;
                Geometry::several(kind, parts)
            }
        }
    }

    /// Reads `()`. Reads nothing, and returns false, if the text continues otherwise.
    fn is_empty_list(&mut self) -> bool {
        let start = self.rest;
        if self.eat('(').and_then(|()| self.eat(')')).is_some() {
            return true;
        }
        self.rest = start;
        false
    }

    fn list<T>(&mut self, mut part: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.eat('(')?;
        let mut parts = vec![part(self)?];
        while self.eat(',').is_some() {
            parts.push(part(self)?);
        }
        self.eat(')')?;
        Some(parts)
    }

    fn points(&mut self) -> Option<Vec<Coordinates>> {
        self.list(Self::point)
    }

    /// Reads a point of a MULTIPOINT, which may have parentheses of its own.
    fn point_of_several(&mut self) -> Option<Coordinates> {
        if self.eat('(').is_none() {
            return self.point();
        }
        let point = self.point()?;
        self.eat(')')?;
        Some(point)
    }

    fn point(&mut self) -> Option<Coordinates> {
        Some([self.coordinate()?, self.coordinate()?])
    }

    fn coordinate(&mut self) -> Option<f64> {
        self.skip_spaces();
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        number.parse().ok().filter(|number: &f64| number.is_finite())
    }
}
