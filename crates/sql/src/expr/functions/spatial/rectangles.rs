//! Rectangles along the axes, and how they lie to each other.

use types::geometry::Geometry;

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

    pub fn is_point(self) -> bool {
        self.least == self.largest
    }

    pub fn covers(self, other: Span) -> bool {
        self.least <= other.least && other.largest <= self.largest
    }

    pub fn meets(self, other: Span) -> bool {
        self.least <= other.largest && other.least <= self.largest
    }

    /// Reports whether the spans meet elsewhere than at an end. A span that is a point has no ends.
    pub fn meets_inside(self, other: Span) -> bool {
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
    pub fn turned_towards(self, other: Box) -> Box {
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

    pub fn both(self, other: Box, holds: impl Fn(Span, Span) -> bool) -> bool {
        self.sides.iter().zip(&other.sides).all(|(one, other)| holds(*one, *other))
    }

    pub fn covers(self, other: Box) -> bool {
        self.both(other, Span::covers)
    }

    pub fn meets(self, other: Box) -> bool {
        self.both(other, Span::meets)
    }

    pub fn meets_inside(self, other: Box) -> bool {
        self.both(other, Span::meets_inside)
    }

    pub fn contains(self, other: Box) -> bool {
        self.covers(other) && self.meets_inside(other)
    }

    /// Returns for each axis whether the box has no extent along it.
    pub fn points(self) -> [bool; 2] {
        self.sides.map(Span::is_point)
    }

    pub fn overlaps(self, other: Box) -> bool {
        self.meets_inside(other) && !self.covers(other) && !other.covers(self)
    }

    /// Returns the corner with the least numbers and the one with the largest, each as x and y.
    pub fn corners(self) -> [[f64; 2]; 2] {
        let [x, y] = self.sides;
        [[x.least, y.least], [x.largest, y.largest]]
    }

    /// Returns the box as a polygon, a line or a point.
    pub fn to_geometry(self) -> Geometry {
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
