//! Simpler forms of geometries: convex hulls, and lines and rings with fewer points.

use super::super::{Call, Function};
use super::argument::{
    ANY, geometry, is_geographic, not_on_ellipsoid, not_on_ellipsoid_of, result, shown_kind, stored,
};
use super::plane::coordinate;
use crate::error::Result;
use crate::expr::functions::wrong_arguments;
use geo::kernels::{Kernel, Orientation, RobustKernel};
use types::Value;
use types::geometry::{Coordinates, Geometry};

/// Returns the corners of one half of the hull without the last one: those on the right of the way
/// through the sorted points.
fn half<'p>(points: impl Iterator<Item = &'p Coordinates>) -> Vec<Coordinates> {
    let mut kept: Vec<Coordinates> = Vec::new();
    for point in points {
        while let [.., before, last] = kept[..] {
            let turn = RobustKernel::orient2d(coordinate(before), coordinate(last), coordinate(*point));
            if turn == Orientation::CounterClockwise {
                break;
            }
            kept.pop();
        }
        kept.push(*point);
    }
    kept.pop();
    kept
}

fn convex_hull(call: &Call<'_>) -> Result<Value> {
    let (srid, found) = stored(call, 0)?;
    if is_geographic(call, srid)? {
        return Err(not_on_ellipsoid_of(call, &found));
    }
    let mut points: Vec<Coordinates> = Vec::new();
    found.visit_points(&mut |point| points.push(*point));
    points.sort_by(|one, other| one[0].total_cmp(&other[0]).then(one[1].total_cmp(&other[1])));
    points.dedup();
    call.ctx.check_interrupt()?;
    let hull = match points[..] {
        [] => return Ok(Value::Null),
        [point] => Geometry::Point(point),
        _ => {
            let mut ring = half(points.iter());
            ring.extend(half(points.iter().rev()));
            match ring[..] {
                [_, _] => Geometry::LineString(ring),
                _ => {
                    ring.extend(ring.first().copied());
                    Geometry::Polygon(vec![ring])
                }
            }
        }
    };
    result(call, srid, &hull)
}

/// Returns the square of a point's distance from a segment.
fn distance_squared(point: Coordinates, [from, to]: [Coordinates; 2]) -> f64 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let away = [point[0] - from[0], point[1] - from[1]];
    let length = along[0] * along[0] + along[1] * along[1];
    let part = if length == 0.0 { 0.0 } else { (away[0] * along[0] + away[1] * along[1]) / length };
    let part = part.clamp(0.0, 1.0);
    (away[0] - part * along[0]).powi(2) + (away[1] - part * along[1]).powi(2)
}

/// Removes the points of a line that are at most `most` away from the remaining line, by the
/// algorithm of Douglas and Peucker. A line of n points may take n^2 steps, so the statement can be
/// interrupted.
fn simplified(call: &Call<'_>, points: &[Coordinates], most: f64) -> Result<Vec<Coordinates>> {
    let mut is_kept = vec![false; points.len()];
    let mut open = vec![(0, points.len() - 1)];
    for end in [0, points.len() - 1] {
        is_kept[end] = true;
    }
    while let Some((from, to)) = open.pop() {
        call.ctx.check_interrupt()?;
        let ends = [points[from], points[to]];
        let mut farthest = (0, most * most);
        for (at, point) in points.iter().enumerate().take(to).skip(from + 1) {
            let distance = distance_squared(*point, ends);
            if distance > farthest.1 {
                farthest = (at, distance);
            }
        }
        if let (at @ 1.., _) = farthest {
            is_kept[at] = true;
            open.extend([(from, at), (at, to)]);
        }
    }
    Ok(points.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(point, _)| *point).collect())
}

/// Does the same as [`simplified`] for a ring. A ring may begin anywhere, so it is cut at the point
/// that is farthest from its first one. `None` means that no area is left.
fn simplified_ring(
    call: &Call<'_>,
    ring: &[Coordinates],
    most: f64,
    is_hole: bool,
) -> Result<Option<Vec<Coordinates>>> {
    // Outer rings turn to the left, holes to the right.
    let turns = ring.windows(2).map(|ends| {
        (ends[0][0] - ring[0][0]) * (ends[1][1] - ring[0][1])
            - (ends[1][0] - ring[0][0]) * (ends[0][1] - ring[0][1])
    });
    let mut ring = ring.to_vec();
    if (turns.sum::<f64>() < 0.0) != is_hole {
        ring.reverse();
    }

    let away = |point: &Coordinates| (point[0] - ring[0][0]).hypot(point[1] - ring[0][1]);
    let open = &ring[..ring.len() - 1];
    let far = (0..open.len()).max_by(|one, other| away(&open[*one]).total_cmp(&away(&open[*other])));
    let mut turned: Vec<Coordinates> = open.to_vec();
    turned.rotate_left(far.unwrap_or(0));
    turned.extend(turned.first().copied());
    let ring = simplified(call, &turned, most)?;
    Ok((ring.len() >= 4).then_some(ring))
}

/// Returns a simpler geometry. `None` means that nothing is left.
fn simpler(call: &Call<'_>, geometry: &Geometry, most: f64) -> Result<Option<Geometry>> {
    Ok(match geometry {
        Geometry::Point(_) => Some(geometry.clone()),
        Geometry::LineString(points) => Some(Geometry::LineString(simplified(call, points, most)?)),
        Geometry::Polygon(rings) => {
            let Some(outer) = simplified_ring(call, &rings[0], most, false)? else { return Ok(None) };
            let mut kept = vec![outer];
            for hole in &rings[1..] {
                kept.extend(simplified_ring(call, hole, most, true)?);
            }
            Some(Geometry::Polygon(kept))
        }
        Geometry::Several(kind, parts) => {
            let mut kept = Vec::with_capacity(parts.len());
            for part in parts {
                kept.extend(simpler(call, part, most)?);
            }
            (!kept.is_empty()).then_some(Geometry::Several(*kind, kept))
        }
    })
}

fn simplify(call: &Call<'_>) -> Result<Value> {
    let (srid, found) = stored(call, 0)?;
    let most = call.double(1);
    if most <= 0.0 || !most.is_finite() {
        return Err(wrong_arguments(call.name));
    }
    if is_geographic(call, srid)? {
        return Err(not_on_ellipsoid(call, &format!("{}, ...", shown_kind(&found))));
    }
    match simpler(call, &found, most)? {
        Some(simpler) => result(call, srid, &simpler),
        None => Ok(Value::Null),
    }
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_convexhull", 1..=1, geometry::<ANY>, convex_hull),
    Function::new("st_simplify", 2..=2, geometry::<ANY>, simplify),
];
