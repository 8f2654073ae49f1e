//! Points along lines, and the Fréchet and Hausdorff distances of lines.

use super::super::{Call, Function, double};
use super::argument::{
    ANY, geometry, is_geographic, not_on_ellipsoid_of_both, out_of_range, shown_kind, stored, two,
    unexpected, with_state,
};
use super::geodesic::{Way, ahead};
use super::measure::distance_between;
use super::plane::Flat;
use super::units;
use crate::error::{Result, SqlError};
use types::geometry::{Coordinates, Geometry};
use types::{GeometryKind, Value};

/// The bytes of a point in a MULTIPOINT.
const POINT_BYTES: f64 = 21.0;

/// A line of an argument.
struct Line {
    srid: u32,
    points: Vec<Coordinates>,
    is_geographic: bool,
}

/// Returns the line of the first argument.
fn line(call: &Call<'_>) -> Result<Line> {
    let (srid, found) = stored(call, 0)?;
    let Geometry::LineString(points) = found else {
        return Err(unexpected(call, "LINESTRING", found.kind()));
    };
    Ok(Line { srid, points, is_geographic: is_geographic(call, srid)? })
}

/// Returns the point that has this part of a segment before it.
fn point_between(is_geographic: bool, from: Coordinates, to: Coordinates, part: f64) -> Coordinates {
    if part <= 0.0 {
        from
    } else if part >= 1.0 {
        to
    } else if is_geographic {
        let way = Way::between(from, to);
        ahead(from, way.start, part * way.length)
    } else {
        [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part]
    }
}

impl Line {
    fn lengths(&self) -> Vec<f64> {
        let between = distance_between(self.is_geographic);
        self.points.windows(2).map(|ends| between(ends[0], ends[1])).collect()
    }

    /// Returns the points at these distances from the beginning, which must ascend.
    fn points_at(&self, distances: impl Iterator<Item = f64>) -> Vec<Coordinates> {
        let lengths = self.lengths();
        let (mut segment, mut before) = (0, 0.0);
        let mut found = Vec::new();
        for distance in distances {
            while segment + 1 < lengths.len() && before + lengths[segment] < distance {
                before += lengths[segment];
                segment += 1;
            }
            let length = lengths[segment];
            let part = if length == 0.0 { 0.0 } else { (distance - before) / length };
            let [from, to] = [self.points[segment], self.points[segment + 1]];
            found.push(point_between(self.is_geographic, from, to, part));
        }
        found
    }
}

fn interpolate(call: &Call<'_>, several: bool) -> Result<Value> {
    let line = line(call)?;
    let part = call.double(1);
    if !(0.0..=1.0).contains(&part) {
        return Err(out_of_range(call, "Distance"));
    }
    let length: f64 = line.lengths().iter().sum();
    // The small addend keeps rounding from losing the last point.
    let count = if several && part > 0.0 { (1.0 / part + 1e-9).floor() } else { 1.0 };
    if !call.may_make((count * POINT_BYTES) as usize, call.name)? {
        return Ok(Value::Null);
    }
    let distances = (1..=count as usize).map(|at| (at as f64 * part).min(1.0) * length);
    let found = line.points_at(distances);
    let geometry = match several {
        true => Geometry::Several(GeometryKind::MultiPoint, found.into_iter().map(Geometry::Point).collect()),
        false => Geometry::Point(found[0]),
    };
    Ok(Value::Bytes(geometry.to_stored(line.srid)))
}

fn at_distance(call: &Call<'_>) -> Result<Value> {
    let line = line(call)?;
    let distance = call.double(1);
    let length: f64 = line.lengths().iter().sum();
    if !(0.0..=length).contains(&distance) {
        return Err(out_of_range(call, "Distance"));
    }
    let found = line.points_at(std::iter::once(distance));
    Ok(Value::Bytes(Geometry::Point(found[0]).to_stored(line.srid)))
}

/// Builds error 3704 or 3618: the function does not support geometries of these kinds.
fn not_for_kinds(call: &Call<'_>, is_geographic: bool, first: &Geometry, second: &Geometry) -> SqlError {
    if is_geographic {
        return not_on_ellipsoid_of_both(call, first, second);
    }
    let kinds = format!("{}, {}", shown_kind(first), shown_kind(second));
    let text =
        format!("{}({kinds}) has not been implemented for Cartesian spatial reference systems.", call.name);
    with_state(3704, b"22S00", text)
}

/// Returns the discrete Fréchet distance: the shortest leash for two who walk along the lines from
/// corner to corner and never back.
fn frechet(
    call: &Call<'_>,
    one: &[Coordinates],
    other: &[Coordinates],
    distance: impl Fn(Coordinates, Coordinates) -> f64,
) -> Result<f64> {
    let mut row: Vec<f64> = Vec::with_capacity(other.len());
    for (at, point) in one.iter().enumerate() {
        call.ctx.check_interrupt()?;
        let mut diagonal = f64::INFINITY;
        for (other_at, other_point) in other.iter().enumerate() {
            let above = if at == 0 { f64::INFINITY } else { row[other_at] };
            let left = if other_at == 0 { f64::INFINITY } else { row[other_at - 1] };
            let reached = above.min(left).min(diagonal);
            let way = distance(*point, *other_point);
            let leash = if at == 0 && other_at == 0 { way } else { way.max(reached) };
            diagonal = above;
            match row.get_mut(other_at) {
                Some(place) => *place = leash,
                None => row.push(leash),
            }
        }
    }
    Ok(row.last().copied().unwrap_or(0.0))
}

/// Returns the largest distance from one of `these` points to the nearest of `those`.
fn farthest(
    call: &Call<'_>,
    these: &[Coordinates],
    those: &[Coordinates],
    distance: impl Fn(Coordinates, Coordinates) -> f64,
) -> Result<f64> {
    let mut most = 0.0f64;
    for point in these {
        call.ctx.check_interrupt()?;
        most = most.max(those.iter().map(|other| distance(*point, *other)).fold(f64::INFINITY, f64::min));
    }
    Ok(most)
}

/// Returns the points of both arguments, part by part, in the order in which MySQL takes them:
/// first the points whose distances are measured, then those that they are measured from. `None`
/// means that the function does not support these kinds.
fn hausdorff_parts(first: &Geometry, second: &Geometry) -> Option<[Vec<Vec<Coordinates>>; 2]> {
    use GeometryKind::{LineString, MultiLineString, MultiPoint, Point};
    let parts = |geometry: &Geometry| {
        let flat = Flat::of(geometry);
        if flat.lines.is_empty() { vec![flat.points] } else { flat.lines }
    };
    let both = [parts(first), parts(second)];
    match (first.kind(), second.kind()) {
        (Point | MultiPoint, MultiPoint) | (LineString | MultiLineString, LineString | MultiLineString)
            if (first.kind(), second.kind()) != (MultiLineString, LineString) =>
        {
            Some(both)
        }
        (MultiPoint, Point) | (MultiLineString, LineString) => {
            let [first, second] = both;
            Some([second, first])
        }
        _ => None,
    }
}

fn far_apart(call: &Call<'_>, is_frechet: bool) -> Result<Value> {
    let (srid, first, second) = two(call)?;
    let is_geographic = is_geographic(call, srid)?;
    let factor = units::in_unit(call, 2, srid, 1.0)?;
    if first.is_empty() || second.is_empty() {
        return Ok(Value::Null);
    }
    let distance = distance_between(is_geographic);
    let found = match (is_frechet, &first, &second) {
        (true, Geometry::LineString(one), Geometry::LineString(other)) => {
            frechet(call, one, other, distance)?
        }
        (true, _, _) => return Err(not_for_kinds(call, is_geographic, &first, &second)),
        (false, _, _) => {
            let parts = hausdorff_parts(&first, &second);
            let [these, those] = parts.ok_or_else(|| not_for_kinds(call, is_geographic, &first, &second))?;
            let mut most = 0.0f64;
            for (part, other) in these.iter().flat_map(|part| those.iter().map(move |other| (part, other))) {
                most = most.max(farthest(call, part, other, distance)?);
            }
            most
        }
    };
    if found.is_finite() { Ok(Value::Double(found * factor)) } else { Err(out_of_range(call, "Result")) }
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_lineinterpolatepoint", 2..=2, geometry::<ANY>, |call| interpolate(call, false)),
    Function::new("st_lineinterpolatepoints", 2..=2, geometry::<ANY>, |call| interpolate(call, true)),
    Function::new("st_pointatdistance", 2..=2, geometry::<ANY>, at_distance),
    Function::new("st_frechetdistance", 2..=3, double, |call| far_apart(call, true)),
    Function::new("st_hausdorffdistance", 2..=3, double, |call| far_apart(call, false)),
];
