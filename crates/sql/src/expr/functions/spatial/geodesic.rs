//! Geodesics on the ellipsoid of WGS 84, the shortest ways between two points, after Karney. Points
//! are longitude and latitude in degrees. Lengths are metres, and directions are degrees clockwise
//! from north.

use geographiclib_rs::{DirectGeodesic, Geodesic, InverseGeodesic};
use std::sync::LazyLock;
use types::geometry::Coordinates;

/// The ellipsoid's larger half axis, in metres.
pub(super) const EQUATOR_RADIUS: f64 = 6_378_137.0;
/// The part by which the smaller half axis is shorter.
pub(super) const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// A point within this many metres of an edge is on it.
pub(super) const ON_EDGE: f64 = 1e-6;

pub(super) static ELLIPSOID: LazyLock<Geodesic> = LazyLock::new(Geodesic::wgs84);

/// The geodesic from a point to another one.
pub(super) struct Way {
    /// Its length in metres.
    pub length: f64,
    /// Its direction at the first point.
    pub start: f64,
    /// Its direction at the second point.
    pub end: f64,
    /// How far apart two geodesics are at the second point that leave the first one in directions a
    /// radian apart, in metres, as if they went straight on from here.
    pub reduced: f64,
    /// How far apart two geodesics are at the second point that leave the first one side by side,
    /// as a part of how far they are apart there.
    pub scale: f64,
}

impl Way {
    pub fn between(from: Coordinates, to: Coordinates) -> Way {
        let (length, start, end, reduced, scale, _, _) = ELLIPSOID.inverse(from[1], from[0], to[1], to[0]);
        Way { length, start, end, reduced, scale }
    }
}

/// Returns the point at the end of a geodesic that leaves a point in a direction.
pub(super) fn ahead(from: Coordinates, direction: f64, length: f64) -> Coordinates {
    let (latitude, longitude) = ELLIPSOID.direct(from[1], from[0], direction, length);
    [longitude_in_range(longitude), latitude]
}

/// Returns the same meridian as a longitude above -180 and at most 180.
pub(super) fn longitude_in_range(longitude: f64) -> f64 {
    if longitude <= -180.0 {
        longitude + 360.0
    } else if longitude > 180.0 {
        longitude - 360.0
    } else {
        longitude
    }
}

/// Returns the degrees from one meridian to another, the shorter way: above -180 and at most 180.
pub(super) fn longitudes_between(from: f64, to: f64) -> f64 {
    longitude_in_range(to - from)
}

/// Reports whether a point is on the geodesic between two different points, its ends among them.
/// Edges along meridians and along the equator are known exactly. Elsewhere a point is on an edge
/// that is nearer than [`ON_EDGE`].
pub(super) fn is_on(ends: [Coordinates; 2], point: Coordinates) -> bool {
    const POLE: f64 = 90.0;
    if ends.contains(&point) {
        return true;
    }
    let is_between = |axis: usize| {
        let [one, other] = ends.map(|end| end[axis]);
        one.min(other) <= point[axis] && point[axis] <= one.max(other)
    };
    let is_same_meridian = |one: Coordinates, other: Coordinates| {
        one[0] == other[0] || one[1].abs() == POLE || other[1].abs() == POLE
    };
    let [from, to] = ends;
    if is_same_meridian(from, to) && is_same_meridian(from, point) && is_same_meridian(to, point) {
        return is_between(1);
    }
    if from[1] == 0.0 && to[1] == 0.0 && point[1] == 0.0 {
        let [east, of_point] = [to, point].map(|other| longitudes_between(from[0], other[0]));
        return of_point.signum() == east.signum() && of_point.abs() <= east.abs();
    }
    let (edge, way) = (Way::between(from, to), Way::between(from, point));
    let turn = (way.start - edge.start).to_radians();
    (turn.sin() * way.reduced).abs() < ON_EDGE && turn.cos() > 0.0 && way.length < edge.length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meridians_and_the_equator_are_edges_exactly() {
        let meridian = [[13.4, -20.0], [13.4, 31.0]];
        assert!(is_on(meridian, [13.4, 7.77]) && !is_on(meridian, [13.4, 31.1]));
        assert!(!is_on(meridian, [13.400_01, 7.77]));
        let equator = [[170.0, 0.0], [-160.0, 0.0]];
        assert!(
            is_on(equator, [180.0, 0.0]) && is_on(equator, [-160.5, 0.0]) && !is_on(equator, [169.0, 0.0])
        );
        let to_pole = [[50.0, 90.0], [20.0, 80.0]];
        assert!(is_on(to_pole, [20.0, 85.0]) && !is_on(to_pole, [50.0, 85.0]) && is_on(to_pole, [1.0, 90.0]));
    }

    #[test]
    fn points_of_a_geodesic_are_on_it() {
        let ends = [[10.0, 50.0], [-3.0, 41.0]];
        let way = Way::between(ends[0], ends[1]);
        for part in [0.001, 0.3, 0.9] {
            let point = ahead(ends[0], way.start, part * way.length);
            assert!(is_on(ends, point));
            assert!(!is_on(ends, [point[0], point[1] + 1e-9]));
        }
        let middle = [(ends[0][0] + ends[1][0]) / 2.0, (ends[0][1] + ends[1][1]) / 2.0];
        assert!(!is_on(ends, middle));
        assert!(!is_on(ends, ahead(ends[0], way.start, -1000.0)));
    }
}
