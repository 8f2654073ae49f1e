//! The gnomonic projection of the ellipsoid, after Karney: a plane that touches the ellipsoid in a
//! point, on which geodesics are straight lines but for a small part of the flattening.

use super::geodesic::{ELLIPSOID, EQUATOR_RADIUS, Way, longitude_in_range};
use geographiclib_rs::{GeodesicLine, geodesic_capability as wanted};
use types::geometry::Coordinates;

/// A geodesic has this scale, or a larger one, from the center to each point that has a place.
const LEAST_SCALE: f64 = 1e-3;

/// The projection around a center.
pub(super) struct Gnomonic {
    /// The center's longitude and latitude.
    pub center: Coordinates,
}

impl Gnomonic {
    /// Returns the place of a point in metres to the east and to the north of the center. `None`
    /// means that the point is on the other half of the globe.
    pub fn place(&self, point: Coordinates) -> Option<Coordinates> {
        let way = Way::between(self.center, point);
        let distance = way.reduced / way.scale;
        let (sine, cosine) = way.start.to_radians().sin_cos();
        (way.scale >= LEAST_SCALE).then_some([distance * sine, distance * cosine])
    }

    /// Returns the longitude and latitude of a place.
    pub fn point(&self, [east, north]: Coordinates) -> Coordinates {
        const STEPS: usize = 10;
        // The error after a step is about the square of the step.
        const ENOUGH: f64 = 1e-10 * EQUATOR_RADIUS;
        let [longitude, latitude] = self.center;
        let capabilities =
            wanted::STANDARD | wanted::DISTANCE_IN | wanted::REDUCEDLENGTH | wanted::GEODESICSCALE;
        let direction = east.atan2(north).to_degrees();
        let line =
            GeodesicLine::new(&ELLIPSOID, latitude, longitude, direction, Some(capabilities), None, None);
        let distance = east.hypot(north);
        let is_near = distance <= EQUATOR_RADIUS;
        let mut length = EQUATOR_RADIUS * (distance / EQUATOR_RADIUS).atan();
        let (mut point, mut is_near_enough) = (self.center, false);
        for _ in 0..STEPS {
            let (_, latitude, longitude, _, _, reduced, scale, _, _) =
                line._gen_position(false, length, capabilities);
            point = [longitude_in_range(longitude), latitude];
            if is_near_enough {
                break;
            }
            let step = match is_near {
                true => (reduced - distance * scale) * scale,
                false => (reduced / distance - scale) * reduced,
            };
            length -= step;
            is_near_enough = step.abs() < ENOUGH;
        }
        point
    }
}

#[cfg(test)]
mod tests {
    use super::super::geodesic::ahead;
    use super::*;
    use os::random::{Rng, test_seed};

    #[test]
    fn points_come_back() {
        let mut rng = Rng::new(test_seed("points_come_back"));
        let mut part = || rng.below(1 << 30) as f64 / f64::from(1 << 30);
        for _ in 0..2000 {
            let gnomonic = Gnomonic { center: [part() * 360.0 - 180.0, part() * 180.0 - 90.0] };
            let far = part() * part() * 8e6;
            let point = ahead(gnomonic.center, part() * 360.0, far);
            let place = gnomonic.place(point).expect("the point is on this half");
            let again = gnomonic.point(place);
            assert!(Way::between(point, again).length < 1e-6, "{point:?} {again:?}");
        }
        assert_eq!(Gnomonic { center: [0.0, 0.0] }.place([120.0, 5.0]), None);
    }
}
