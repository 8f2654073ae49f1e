//! Lengths, areas, distances and centroids.

use super::super::{Call, Function, double};
use super::argument::{
    PLANE, POINT, check_latitude, check_longitude, geometry, invalid, is_geographic, not_on_ellipsoid_of,
    not_on_ellipsoid_of_both, out_of_range, result, shown_kind, stored, two, unexpected, with_state,
};
use super::plane::{Flat, contained, to_library};
use super::{ellipsoid, nearest, units};
use crate::error::{Result, SqlError};
use geo::{Area, Centroid, Distance, Euclidean};
use types::geometry::{Coordinates, Geometry};
use types::{GeometryKind, Value};

/// The radius of the earth, in metres, that MySQL takes where none is given.
const EARTH_RADIUS: f64 = 6_370_986.0;

fn area(call: &Call<'_>) -> Result<Value> {
    let (srid, found) = stored(call, 0)?;
    if !matches!(found.kind(), GeometryKind::Polygon | GeometryKind::MultiPolygon) {
        return Err(unexpected(call, "POLYGON/MULTIPOLYGON", found.kind()));
    }
    if is_geographic(call, srid)? {
        return Ok(Value::Double(ellipsoid::area(&found)));
    }
    // The rings of a polygon may turn either way, because their order tells which is the outer one.
    let area: f64 = Flat::of(&found).areas().0.iter().map(Area::unsigned_area).sum();
    if area.is_finite() { Ok(Value::Double(area)) } else { Err(out_of_range(call, "Result")) }
}

/// Returns the function that computes the distance between two points: the shortest way on the
/// ellipsoid, or in the plane.
pub(super) fn distance_between(is_geographic: bool) -> fn(Coordinates, Coordinates) -> f64 {
    if is_geographic { ellipsoid::distance } else { |[a, b], [c, d]| (c - a).hypot(d - b) }
}

fn length(call: &Call<'_>) -> Result<Value> {
    let (srid, found) = stored(call, 0)?;
    if !matches!(found.kind(), GeometryKind::LineString | GeometryKind::MultiLineString) {
        return Ok(Value::Null);
    }
    let between = distance_between(is_geographic(call, srid)?);
    let lines = Flat::of(&found).lines;
    let length = lines.iter().flat_map(|line| line.windows(2)).map(|ends| between(ends[0], ends[1])).sum();
    let length = units::in_unit(call, 1, srid, length)?;
    if length.is_finite() { Ok(Value::Double(length)) } else { Err(out_of_range(call, "Length")) }
}

fn distance(call: &Call<'_>) -> Result<Value> {
    let (srid, first, second) = two(call)?;
    let is_geographic = is_geographic(call, srid)?;
    // A wrong unit is an error even if the result is NULL.
    let factor = units::in_unit(call, 2, srid, 1.0)?;
    if first.is_empty() || second.is_empty() {
        return Ok(Value::Null);
    }
    let distance = if is_geographic {
        if first.dimension() == Some(0) && second.dimension() == Some(0) {
            least(call, &Flat::of(&first).points, &Flat::of(&second).points, ellipsoid::distance)?
        } else {
            let found = nearest::distance(call, &first, &second)?;
            found.ok_or_else(|| not_on_ellipsoid_of_both(call, &first, &second))?
        }
    } else {
        let (first, second) = (to_library(call, &first)?, to_library(call, &second)?);
        contained(call, || Euclidean.distance(&first, &second))?
    };
    if distance.is_finite() { Ok(Value::Double(distance * factor)) } else { Err(invalid(call)) }
}

/// Returns the least distance between one of `these` points and one of `those`.
fn least(
    call: &Call<'_>,
    these: &[Coordinates],
    those: &[Coordinates],
    distance: impl Fn(Coordinates, Coordinates) -> f64,
) -> Result<f64> {
    let mut least = f64::INFINITY;
    for this in these {
        call.ctx.check_interrupt()?;
        for that in those {
            least = least.min(distance(*this, *that));
        }
    }
    Ok(least)
}

/// Builds error 3704 or 3705: the function does not support geometries of these kinds.
pub(super) fn not_for_kinds(call: &Call<'_>, srid: u32, first: &Geometry, second: &Geometry) -> SqlError {
    let (code, systems) = if srid == PLANE { (3704, "Cartesian") } else { (3705, "projected") };
    let text = format!(
        "{}({}, {}) has not been implemented for {systems} spatial reference systems.",
        call.name,
        shown_kind(first),
        shown_kind(second)
    );
    with_state(code, b"22S00", text)
}

fn distance_on_sphere(call: &Call<'_>) -> Result<Value> {
    let (srid, first, second) = two(call)?;
    let is_geographic = is_geographic(call, srid)?;
    let are_points = [&first, &second]
        .iter()
        .all(|found| matches!(found.kind(), GeometryKind::Point | GeometryKind::MultiPoint));
    if !are_points || !(is_geographic || srid == PLANE) {
        return Err(match is_geographic {
            true => not_on_ellipsoid_of_both(call, &first, &second),
            false => not_for_kinds(call, srid, &first, &second),
        });
    }
    let (first, second) = (Flat::of(&first).points, Flat::of(&second).points);
    for [longitude, latitude] in first.iter().chain(&second) {
        check_longitude(call, *longitude)?;
        check_latitude(call, *latitude)?;
    }
    let mut radius = if is_geographic { ellipsoid::MEAN_RADIUS } else { EARTH_RADIUS };
    if call.is_given(2) {
        radius = call.double(2);
        if radius <= 0.0 {
            let text = format!(
                "Invalid radius provided to function {}: Radius must be greater than zero.",
                call.name
            );
            return Err(with_state(3706, b"22003", text));
        }
    }
    let radians = |point: Coordinates| {
        if is_geographic { ellipsoid::radians(point) } else { point.map(f64::to_radians) }
    };
    let between = |one, other| ellipsoid::distance_on_sphere(radians(one), radians(other), radius);
    let distance = least(call, &first, &second, between)?;
    if distance.is_finite() { Ok(Value::Double(distance)) } else { Err(out_of_range(call, "Result")) }
}

fn centroid(call: &Call<'_>) -> Result<Value> {
    let (srid, found) = stored(call, 0)?;
    if is_geographic(call, srid)? {
        return Err(not_on_ellipsoid_of(call, &found));
    }
    if found.is_empty() {
        return Ok(Value::Null);
    }
    let in_library = to_library(call, &found)?;
    if found.dimension() == Some(2) && in_library.unsigned_area() == 0.0 {
        return Err(invalid(call));
    }
    let center = contained(call, || in_library.centroid())?.ok_or_else(|| invalid(call))?;
    result(call, srid, &Geometry::Point([center.x(), center.y()]))
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_area", 1..=1, double, area),
    Function::new("st_length", 1..=2, double, length),
    Function::new("st_distance", 2..=3, double, distance),
    Function::new("st_distance_sphere", 2..=3, double, distance_on_sphere),
    Function::new("st_centroid", 1..=1, geometry::<POINT>, centroid),
];
