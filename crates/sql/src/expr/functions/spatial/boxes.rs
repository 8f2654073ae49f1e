//! The smallest boxes around geometries, and functions on how they lie to each other.

use super::super::{Call, Function, integer, truth_value};
use super::argument::{
    ANY, POLYGON, geometry, is_geographic, not_on_ellipsoid_of, not_on_ellipsoid_of_both, result, stored, two,
};
use super::globe_boxes::box_on_globe;
use crate::error::Result;
use crate::expr::functions::wrong_arguments;
use types::geometry::Geometry;
use types::{GeometryKind, Value};

/// A range of numbers with both its ends, which may be equal.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub least: f64,
    pub largest: f64,
}

impl Span {
    pub const NOTHING: Span = Span { least: f64::INFINITY, largest: f64::NEG_INFINITY };

    pub fn add(&mut self, number: f64) {
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
    pub sides: [Span; 2],
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

    /// Returns a box of longitudes and latitudes with the same longitudes by other numbers, which
    /// are those of `other` as far as both have meridians in common.
    fn turned_towards(self, other: Box) -> Box {
        const ROUND: f64 = 360.0;
        let [longitudes, latitudes] = self.sides;
        let turned = [0.0, -ROUND, ROUND].map(|by| {
            let longitudes = Span { least: longitudes.least + by, largest: longitudes.largest + by };
            Box { sides: [longitudes, latitudes] }
        });
        let of_other = other.sides[0];
        let ways: [fn(Span, Span) -> bool; 4] =
            [|one, other| other.covers(one), Span::covers, Span::meets_inside, Span::meets];
        let fits = ways.iter().find_map(|way| turned.iter().find(|turned| way(turned.sides[0], of_other)));
        *fits.unwrap_or(&self)
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
    let is_geographic = is_geographic(call, srid)?;
    let around = if is_geographic { box_on_globe } else { Box::around };
    Ok(match [&first, &second].map(around) {
        [Some(first), Some(second)] if is_geographic => {
            truth_value(holds(first, second.turned_towards(first)))
        }
        [Some(first), Some(second)] => truth_value(holds(first, second)),
        _ => Value::Null,
    })
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
