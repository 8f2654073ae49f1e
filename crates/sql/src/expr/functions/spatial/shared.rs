//! What two geometries have in common, and the relations that follow from it.

/// The index in [`Shared::places`] of a geometry's interior.
pub(super) const INSIDE: usize = 0;
/// The index in [`Shared::places`] of a geometry's boundary.
pub(super) const BOUNDARY: usize = 1;
/// The index in [`Shared::places`] of what is outside of a geometry.
pub(super) const OUTSIDE: usize = 2;

/// The dimensions of what each place of the first geometry has in common with each place of the
/// second one (the DE-9IM matrix). `None` means that they have nothing in common.
pub(super) struct Shared {
    /// The dimensions, indexed by the place in the first geometry, then by that in the second one.
    pub places: [[Option<u8>; 3]; 3],
    /// The dimensions of both geometries.
    pub dimensions: [u8; 2],
    /// Whether one geometry consists of points, and the other one is a collection with points of
    /// its own.
    pub has_points_alone: bool,
}

impl Shared {
    /// Returns what geometries of these dimensions share that have nothing in common.
    pub fn apart(dimensions: [u8; 2]) -> Shared {
        let mut places = [[None; 3]; 3];
        places[INSIDE][OUTSIDE] = Some(dimensions[0]);
        places[OUTSIDE][INSIDE] = Some(dimensions[1]);
        places[OUTSIDE][OUTSIDE] = Some(2);
        Shared { places, dimensions, has_points_alone: false }
    }

    /// Returns the same with the second geometry first.
    pub fn turned(self) -> Shared {
        let of = |first: usize, second: usize| self.places[second][first];
        let places = [0, 1, 2].map(|first| [0, 1, 2].map(|second| of(first, second)));
        let [first, second] = self.dimensions;
        Shared { places, dimensions: [second, first], ..self }
    }

    pub fn has(&self, first: usize, second: usize) -> bool {
        self.places[first][second].is_some()
    }

    pub fn meets(&self) -> bool {
        let places = [INSIDE, BOUNDARY];
        places.iter().any(|first| places.iter().any(|second| self.has(*first, *second)))
    }

    pub fn is_within(&self) -> bool {
        self.has(INSIDE, INSIDE) && !self.has(INSIDE, OUTSIDE) && !self.has(BOUNDARY, OUTSIDE)
    }

    pub fn contains(&self) -> bool {
        self.has(INSIDE, INSIDE) && !self.has(OUTSIDE, INSIDE) && !self.has(OUTSIDE, BOUNDARY)
    }

    /// Reports whether the geometries touch. `None` means that the relation is not defined, because
    /// points cannot touch points.
    pub fn touches(&self) -> Option<bool> {
        (self.dimensions != [0, 0] && !self.has_points_alone)
            .then(|| self.meets() && !self.has(INSIDE, INSIDE))
    }

    /// Reports whether the first geometry crosses the second. `None` means that the relation is not
    /// defined, because the first is an area or the second consists of points.
    pub fn crosses(&self) -> Option<bool> {
        match self.dimensions {
            [2, _] | [_, 0] => None,
            [1, 1] => Some(self.places[INSIDE][INSIDE] == Some(0)),
            _ => Some(self.has(INSIDE, INSIDE) && self.has(INSIDE, OUTSIDE)),
        }
    }

    /// Reports whether the geometries overlap. `None` means that the relation is not defined,
    /// because their dimensions differ.
    pub fn overlaps(&self) -> Option<bool> {
        let [first, second] = self.dimensions;
        (first == second).then(|| {
            self.places[INSIDE][INSIDE] == Some(first)
                && self.places[INSIDE][OUTSIDE] == Some(first)
                && self.places[OUTSIDE][INSIDE] == Some(first)
        })
    }
}
