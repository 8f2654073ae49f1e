//! What two geometries have in common, and the relations that follow from it.

/// The interior, the boundary or the outside of a geometry.
pub(super) const INSIDE: usize = 0;
/// As [`INSIDE`].
pub(super) const BOUNDARY: usize = 1;
/// As [`INSIDE`].
pub(super) const OUTSIDE: usize = 2;

/// What two geometries share: the dimensions of what each place of the first has in common with
/// each place of the second one, `None` of nothing.
pub(super) struct Shared {
    /// By the place in the first geometry, then in the second one.
    pub places: [[Option<u8>; 3]; 3],
    /// The dimensions of both geometries.
    pub dimensions: [u8; 2],
    /// One is of points only, and the other has points of its own beside lines and areas.
    pub has_points_alone: bool,
}

impl Shared {
    /// The same, the second geometry first.
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

    /// Nothing of points that are to touch points.
    pub fn touches(&self) -> Option<bool> {
        (self.dimensions != [0, 0] && !self.has_points_alone)
            .then(|| self.meets() && !self.has(INSIDE, INSIDE))
    }

    /// Nothing of an area that crosses, and of points that are crossed.
    pub fn crosses(&self) -> Option<bool> {
        match self.dimensions {
            [2, _] | [_, 0] => None,
            [1, 1] => Some(self.places[INSIDE][INSIDE] == Some(0)),
            _ => Some(self.has(INSIDE, INSIDE) && self.has(INSIDE, OUTSIDE)),
        }
    }

    /// Nothing of geometries of different dimensions.
    pub fn overlaps(&self) -> Option<bool> {
        let [first, second] = self.dimensions;
        (first == second).then(|| {
            self.places[INSIDE][INSIDE] == Some(first)
                && self.places[INSIDE][OUTSIDE] == Some(first)
                && self.places[OUTSIDE][INSIDE] == Some(first)
        })
    }
}
