//! Locates points on the ellipsoid in areas whose edges are geodesics. A point is in a ring when
//! the meridian from it to the north pole crosses the ring an odd number of times.

use super::super::Call;
use super::geodesic::{ON_EDGE, Way, longitudes_between};
use super::plane::Flat;
use super::shared::{BOUNDARY, INSIDE, OUTSIDE, Shared};
use crate::error::Result;
use types::geometry::{Coordinates, Geometry};

/// Where an edge passes the meridian from a point to the north.
enum Passing {
    On,
    North,
    Elsewhere,
}

fn passing(point: Coordinates, edge: [Coordinates; 2]) -> Passing {
    if edge.contains(&point) {
        return Passing::On;
    }
    let [from, to] = edge.map(|end| longitudes_between(point[0], end[0]));
    if from == 0.0 && to == 0.0 {
        let between = edge[0][1].min(edge[1][1])..=edge[0][1].max(edge[1][1]);
        return if between.contains(&point[1]) { Passing::On } else { Passing::Elsewhere };
    }
    if (from <= 0.0) == (to <= 0.0) || (from - to).abs() > 180.0 {
        return Passing::Elsewhere;
    }
    let [west, east] = if from <= 0.0 { edge } else { [edge[1], edge[0]] };
    if from.min(to) == 0.0 {
        return if west[1] > point[1] { Passing::North } else { Passing::Elsewhere };
    }
    let (way, edge) = (Way::between(west, point), Way::between(west, east));
    let aside = (way.start - edge.start).to_radians().sin() * way.reduced;
    if aside.abs() < ON_EDGE {
        Passing::On
    } else if aside > 0.0 {
        Passing::North
    } else {
        Passing::Elsewhere
    }
}

/// Reports whether a ring stays away from the poles and goes round neither. Only then its inside is
/// the part without a pole.
fn is_off_poles(ring: &[Coordinates]) -> bool {
    let turns = ring.windows(2).map(|ends| longitudes_between(ends[0][0], ends[1][0]));
    let around: f64 = turns.clone().sum();
    let is_unclear = turns.into_iter().any(|turn| turn.abs() == 180.0);
    around.abs() < 180.0 && !is_unclear && ring.iter().all(|point| point[1].abs() < 90.0)
}

fn place_in_ring(point: Coordinates, ring: &[Coordinates]) -> usize {
    let mut crossed = 0;
    for ends in ring.windows(2).filter(|ends| ends[0] != ends[1]) {
        match passing(point, [ends[0], ends[1]]) {
            Passing::On => return BOUNDARY,
            Passing::North => crossed += 1,
            Passing::Elsewhere => {}
        }
    }
    if crossed % 2 == 1 { INSIDE } else { OUTSIDE }
}

fn place_in_polygon(point: Coordinates, rings: &[Vec<Coordinates>]) -> usize {
    let place = place_in_ring(point, &rings[0]);
    if place != INSIDE {
        return place;
    }
    let in_holes = rings[1..].iter().map(|hole| place_in_ring(point, hole));
    match in_holes.into_iter().find(|place| *place != OUTSIDE) {
        Some(INSIDE) => OUTSIDE,
        Some(_) => BOUNDARY,
        None => INSIDE,
    }
}

/// Returns which places of the polygons have a point in them. `None` means that a pole is in the
/// way.
fn places(
    call: &Call<'_>,
    points: &[Coordinates],
    polygons: &[Vec<Vec<Coordinates>>],
) -> Result<Option<[bool; 3]>> {
    let is_clear = polygons.iter().flatten().all(|ring| is_off_poles(ring));
    if !is_clear || points.iter().any(|point| point[1].abs() == 90.0) {
        return Ok(None);
    }
    let mut found = [false; 3];
    for point in points {
        let mut best = OUTSIDE;
        for rings in polygons {
            call.ctx.check_interrupt()?;
            best = best.min(place_in_polygon(*point, rings));
        }
        found[best] = true;
    }
    Ok(Some(found))
}

/// Returns what two geometries on the ellipsoid share, for points with points or points with areas.
/// `None` means that this server cannot compute it.
///
/// # Errors
/// Returns 1317 when the statement is interrupted.
pub(super) fn shared(
    call: &Call<'_>,
    first: &Geometry,
    second: &Geometry,
    dimensions: [u8; 2],
) -> Result<Option<Shared>> {
    let (one, other) = (Flat::of(first), Flat::of(second));
    let mut places = [[None; 3]; 3];
    places[OUTSIDE][OUTSIDE] = Some(2);
    match dimensions {
        [0, 0] => {
            let is_in = |point, others: &[Coordinates]| others.contains(point);
            for point in &one.points {
                call.ctx.check_interrupt()?;
                let place = if is_in(point, &other.points) { INSIDE } else { OUTSIDE };
                places[INSIDE][place] = Some(0);
            }
            for point in &other.points {
                call.ctx.check_interrupt()?;
                if !is_in(point, &one.points) {
                    places[OUTSIDE][INSIDE] = Some(0);
                }
            }
        }
        [0, 2] | [2, 0] => {
            let (points, areas) = if dimensions[0] == 0 { (one, other) } else { (other, one) };
            if !areas.points.is_empty() || !areas.lines.is_empty() {
                return Ok(None);
            }
            let Some(found) = self::places(call, &points.points, &areas.polygons)? else { return Ok(None) };
            places[OUTSIDE][INSIDE] = Some(2);
            places[OUTSIDE][BOUNDARY] = Some(1);
            for (place, is_there) in found.iter().enumerate() {
                places[INSIDE][place] = is_there.then_some(0);
            }
        }
        _ => return Ok(None),
    }
    let shared = |dimensions| Shared { places, dimensions, has_points_alone: false };
    Ok(Some(if dimensions == [2, 0] { shared([0, 2]).turned() } else { shared(dimensions) }))
}
