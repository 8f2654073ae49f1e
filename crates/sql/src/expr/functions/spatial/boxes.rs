//! The smallest boxes around geometries, and functions on how they lie to each other.

use super::super::{Call, Function, integer, truth_value};
use super::argument::{
    ANY, POLYGON, geometry, is_geographic, not_on_ellipsoid_of, not_on_ellipsoid_of_both, result, stored, two,
};
use crate::error::Result;
use crate::expr::functions::wrong_arguments;
use types::geometry::Geometry;
use types::{GeometryKind, Value};

/// A range of numbers with both its ends, which may be equal.
#[derive(Clone, Copy, PartialEq)]
struct Span {
    least: f64,
    largest: f64,
}

impl Span {
    const NOTHING: Span = Span { least: f64::INFINITY, largest: f64::NEG_INFINITY };

    fn add(&mut self, number: f64) {
        self.least = self.least.min(number);
        self.largest = self.largest.max(number);
    }

    fn is_point(self) -> bool {
        self.least == self.largest
    }

    fn covers(self, other: Span) -> bool {
        self.least <= other.least && other.largest <= self.largest
    }

    fn meets(self, other: Span) -> bool {
        self.least <= other.largest && other.least <= self.largest
    }

    /// Reports whether the spans meet elsewhere than at an end. A span that is a point has no ends.
    fn meets_inside(self, other: Span) -> bool {
        match (self.is_point(), other.is_point()) {
            (true, true) => self.least == other.least,
            (true, false) => other.least < self.least && self.least < other.largest,
            (false, true) => other.meets_inside(self),
            (false, false) => self.least < other.largest && other.least < self.largest,
        }
    }
}

/// A rectangle along the axes, which may be a line or a point.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Box {
    sides: [Span; 2],
}

impl Box {
    /// Returns the smallest box around a geometry. `None` means that the geometry has no points.
    pub fn around(geometry: &Geometry) -> Option<Box> {
        let mut sides = [Span::NOTHING; 2];
        geometry.visit_points(&mut |point| {
            for (side, number) in sides.iter_mut().zip(point) {
                side.add(*number);
            }
        });
        (!geometry.is_empty()).then_some(Box { sides })
    }

    fn both(self, other: Box, holds: impl Fn(Span, Span) -> bool) -> bool {
        self.sides.iter().zip(&other.sides).all(|(one, other)| holds(*one, *other))
    }

    fn covers(self, other: Box) -> bool {
        self.both(other, Span::covers)
    }

    fn meets(self, other: Box) -> bool {
        self.both(other, Span::meets)
    }

    fn meets_inside(self, other: Box) -> bool {
        self.both(other, Span::meets_inside)
    }

    fn contains(self, other: Box) -> bool {
        self.covers(other) && self.meets_inside(other)
    }

    /// Returns for each axis whether the box has no extent along it.
    fn points(self) -> [bool; 2] {
        self.sides.map(Span::is_point)
    }

    fn overlaps(self, other: Box) -> bool {
        self.meets_inside(other) && !self.covers(other) && !other.covers(self)
    }

    /// Returns the corner with the least numbers and the one with the largest, each as x and y.
    pub fn corners(self) -> [[f64; 2]; 2] {
        let [x, y] = self.sides;
        [[x.least, y.least], [x.largest, y.largest]]
    }

    /// Returns the box as a polygon, a line or a point.
    fn to_geometry(self) -> Geometry {
        let [[left, low], [right, high]] = self.corners();
        match self.points() {
            [true, true] => Geometry::Point([left, low]),
            [true, false] | [false, true] => Geometry::LineString(vec![[left, low], [right, high]]),
            [false, false] => {
                let ring = vec![[left, low], [right, low], [right, high], [left, high], [left, low]];
                Geometry::Polygon(vec![ring])
            }
        }
    }
}

/// Computes a relation between the boxes of both arguments. It is NULL where one of them has no
/// points.
fn related(call: &Call<'_>, holds: impl Fn(Box, Box) -> bool) -> Result<Value> {
    let (srid, first, second) = two(call)?;
    // The box around geodesics is larger than the box around their ends.
    let are_points = first.dimension().max(second.dimension()) == Some(0);
    if is_geographic(call, srid)? && !(are_points && around_no_meridian(&first, &second)) {
        return Err(not_on_ellipsoid_of_both(call, &first, &second));
    }
    Ok(match (Box::around(&first), Box::around(&second)) {
        (Some(first), Some(second)) => truth_value(holds(first, second)),
        _ => Value::Null,
    })
}

/// Reports whether all points fit into half of the globe without the meridian of 180 degrees. The
/// smallest box around them is then the one of their numbers.
fn around_no_meridian(first: &Geometry, second: &Geometry) -> bool {
    let spans = [first, second].map(|geometry| Box::around(geometry).map(|around| around.sides[0]));
    spans.iter().flatten().all(|span| span.largest - span.least < 180.0)
}

fn equals(call: &Call<'_>) -> Result<Value> {
    let (_, first, second) = two(call)?;
    if first.is_empty() || second.is_empty() {
        return Ok(truth_value(first.is_empty() && second.is_empty()));
    }
    related(call, |first, second| first == second)
}

fn envelope(call: &Call<'_>) -> Result<Value> {
    let (srid, found) = stored(call, 0)?;
    if is_geographic(call, srid)? {
        return Err(not_on_ellipsoid_of(call, &found));
    }
    let empty = || Geometry::Several(GeometryKind::Collection, Vec::new());
    let around = Box::around(&found).map_or_else(empty, Box::to_geometry);
    result(call, srid, &around)
}

fn make_envelope(call: &Call<'_>) -> Result<Value> {
    let (srid, first, second) = two(call)?;
    let (Geometry::Point(one), Geometry::Point(other)) = (&first, &second) else {
        return Err(wrong_arguments(call.name));
    };
    if is_geographic(call, srid)? {
        return Err(not_on_ellipsoid_of_both(call, &first, &second));
    }
    let both = Geometry::LineString(vec![*one, *other]);
    let around = Box::around(&both).map_or(both, Box::to_geometry);
    result(call, srid, &around)
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("mbrcontains", 2..=2, integer::<1>, |call| related(call, Box::contains)),
    Function::new("mbrwithin", 2..=2, integer::<1>, |call| {
        related(call, |first, second| second.contains(first))
    }),
    Function::new("mbrcovers", 2..=2, integer::<1>, |call| related(call, Box::covers)),
    Function::new("mbrcoveredby", 2..=2, integer::<1>, |call| {
        related(call, |first, second| second.covers(first))
    }),
    Function::new("mbrintersects", 2..=2, integer::<1>, |call| related(call, Box::meets)),
    Function::new("mbrdisjoint", 2..=2, integer::<1>, |call| {
        related(call, |first, second| !first.meets(second))
    }),
    Function::new("mbrtouches", 2..=2, integer::<1>, |call| {
        related(call, |first, second| first.meets(second) && !first.meets_inside(second))
    }),
    Function::new("mbroverlaps", 2..=2, integer::<1>, |call| related(call, Box::overlaps)),
    Function::new("mbrequals", 2..=2, integer::<1>, equals),
    Function::new("st_envelope", 1..=1, geometry::<ANY>, envelope),
    Function::new("st_makeenvelope", 2..=2, geometry::<POLYGON>, make_envelope),
];
