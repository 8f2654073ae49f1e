//! Distances and areas on the ellipsoid of WGS 84. Distances are computed as in MySQL by the
//! formula of Andoyer and Lambert, whose error is of the second order of the flattening (some
//! metres in 1000 km).

use super::geodesic::{EQUATOR_RADIUS, FLATTENING};
use super::plane::Flat;
use geo::GeodesicArea;
use types::geometry::{Coordinates, Geometry};

/// The mean of the three half axes, in metres.
pub(super) const MEAN_RADIUS: f64 = EQUATOR_RADIUS * (3.0 - FLATTENING) / 3.0;

/// The radians of a degree, with the digits that the definition of the system has. The last digits
/// of MySQL's results depend on them.
const RADIANS: f64 = 0.017_453_292_519_943_278;

/// Converts longitude and latitude from degrees to radians.
pub(super) fn radians(point: Coordinates) -> Coordinates {
    point.map(|degrees| degrees * RADIANS)
}

/// Converts longitude and latitude from radians to degrees.
pub(super) fn degrees(point: Coordinates) -> Coordinates {
    point.map(|radians| radians / RADIANS)
}

/// Returns the metres between two points, whose coordinates are longitude and latitude in degrees.
pub(super) fn distance(first: Coordinates, second: Coordinates) -> f64 {
    if first == second {
        return 0.0;
    }
    let [first_longitude, first_latitude] = radians(first);
    let [second_longitude, second_latitude] = radians(second);
    let (sine1, cosine1) = first_latitude.sin_cos();
    let (sine2, cosine2) = second_latitude.sin_cos();
    let cosine = sine1 * sine2 + cosine1 * cosine2 * (second_longitude - first_longitude).cos();
    let cosine = cosine.clamp(-1.0, 1.0);
    // `angle` is the distance on a sphere. The rest computes how the flattening changes it.
    let angle = cosine.acos();
    let sine = angle.sin();
    let near = 1.0 - cosine;
    let far = 1.0 + cosine;
    let across = (sine1 - sine2).powi(2);
    let along = (sine1 + sine2).powi(2);
    let of_across = if near == 0.0 { 0.0 } else { (angle + 3.0 * sine) / near };
    let of_along = if far == 0.0 { 0.0 } else { (angle - 3.0 * sine) / far };
    EQUATOR_RADIUS * (angle - FLATTENING / 4.0 * (of_across * across + of_along * along))
}

/// Returns the distance between two points on a sphere, whose coordinates are in radians, by
/// haversines. The result has the unit of `radius`.
pub(super) fn distance_on_sphere(first: Coordinates, second: Coordinates, radius: f64) -> f64 {
    let [first_longitude, first_latitude] = first;
    let [second_longitude, second_latitude] = second;
    let haversine = |angle: f64| (angle / 2.0).sin().powi(2);
    let of_latitudes = haversine(second_latitude - first_latitude);
    let of_longitudes = haversine(second_longitude - first_longitude);
    let sum = of_latitudes + first_latitude.cos() * second_latitude.cos() * of_longitudes;
    radius * 2.0 * sum.min(1.0).sqrt().asin()
}

/// Returns the square metres of a polygon or several, whose edges are geodesics. Their rings may
/// turn either way.
pub(super) fn area(polygons: &Geometry) -> f64 {
    let of_ring = |ring: geo::LineString| geo::Polygon::new(ring, Vec::new()).geodesic_area_signed().abs();
    let of_polygon = |polygon: geo::Polygon| {
        let (outer, holes) = polygon.into_inner();
        of_ring(outer) - holes.into_iter().map(of_ring).sum::<f64>()
    };
    Flat::of(polygons).areas().0.into_iter().map(of_polygon).sum()
}
