//! Caps of the globe around geometries: the part of a sphere within an angle of an axis. They tell
//! quickly that geometries are far from each other.

use types::geometry::{Coordinates, Geometry};

/// A direction from the globe's center, of length 1.
pub(super) type Direction = [f64; 3];

/// The part by which a cap is larger than the points in it require, so that the geodesics between
/// them are in it as well. Geodesics differ from great circles by less than the flattening.
const SLACK: f64 = 0.01;
/// The largest error of an angle between directions, in radians.
const ROUNDING: f64 = 1e-9;

/// Returns the direction of a point's vertical.
pub(super) fn direction(point: Coordinates) -> Direction {
    let [longitude, latitude] = point.map(f64::to_radians);
    let (sine, cosine) = latitude.sin_cos();
    [cosine * longitude.cos(), cosine * longitude.sin(), sine]
}

pub(super) fn dot(one: Direction, other: Direction) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

pub(super) fn cross([a, b, c]: Direction, [x, y, z]: Direction) -> Direction {
    [b * z - c * y, c * x - a * z, a * y - b * x]
}

/// Returns the angle between two directions, in radians.
pub(super) fn angle(one: Direction, other: Direction) -> f64 {
    let across = cross(one, other);
    dot(across, across).sqrt().atan2(dot(one, other))
}

/// A cap of the globe.
#[derive(Clone, Copy)]
pub(super) struct Cap {
    axis: Direction,
    /// The angle from the axis to the edge, in radians.
    pub radius: f64,
}

impl Cap {
    /// Returns a small cap around all points of these geometries. `None` means that they have no
    /// points, or that the points are around the whole globe.
    pub fn around(geometries: &[&Geometry]) -> Option<Cap> {
        let (mut least, mut largest) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        let visit = |f: &mut dyn FnMut(Direction)| {
            for geometry in geometries {
                geometry.visit_points(&mut |point| f(direction(*point)));
            }
        };
        visit(&mut |found| {
            for axis in 0..3 {
                least[axis] = least[axis].min(found[axis]);
                largest[axis] = largest[axis].max(found[axis]);
            }
        });
        let middle = [0, 1, 2].map(|axis| (least[axis] + largest[axis]) / 2.0);
        let length = dot(middle, middle).sqrt();
        // So short a middle is between opposite points.
        if !(length.is_finite() && length > SLACK) {
            return None;
        }
        let axis = middle.map(|part| part / length);
        let mut radius = 0.0f64;
        visit(&mut |found| radius = radius.max(angle(axis, found)));
        Some(Cap { axis, radius })
    }

    /// Returns the longitude and latitude of the cap's middle.
    pub fn center(&self) -> Coordinates {
        let [x, y, z] = self.axis;
        [y.atan2(x).to_degrees(), z.atan2(x.hypot(y)).to_degrees()]
    }

    /// Reports whether nothing between the points of one cap is between those of the other.
    pub fn is_apart_from(&self, other: &Cap) -> bool {
        let reach = (self.radius + other.radius) * (1.0 + SLACK) + ROUNDING;
        angle(self.axis, other.axis) > reach
    }
}

/// Reports whether two geometries on the globe have nothing in common, as far as that is known
/// quickly.
pub(super) fn are_far_apart(first: &Geometry, second: &Geometry) -> bool {
    let caps = [first, second].map(|geometry| Cap::around(&[geometry]));
    matches!(caps, [Some(one), Some(other)] if one.is_apart_from(&other))
}
