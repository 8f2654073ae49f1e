//! The least distance between geometries on the ellipsoid.

use super::super::Call;
use super::caps::{Direction, angle, are_far_apart, cross, direction, dot};
use super::chart::Chart;
use super::ellipsoid;
use super::geodesic::{ELLIPSOID, EQUATOR_RADIUS, Way, longitude_in_range};
use super::plane::{Flat, contained, to_library};
use crate::error::Result;
use geo::Intersects;
use geographiclib_rs::DirectGeodesic;
use types::geometry::{Coordinates, Geometry};

/// The part by which angles between verticals may differ from distances on the ellipsoid.
const UNCERTAIN: f64 = 0.03;
/// The formula of Andoyer and Lambert has few digits below so many metres.
const SHORT: f64 = 1000.0;

/// An edge, with what its distance on a sphere is computed from. A single point is an edge between
/// equal ends.
struct Edge {
    ends: [Coordinates; 2],
    directions: [Direction; 2],
    /// The direction that is at a right angle to the edge, and those that bound what is beside it.
    /// `None` for an edge without a length.
    sides: Option<[Direction; 3]>,
}

impl Edge {
    fn new(ends: [Coordinates; 2]) -> Edge {
        let directions = ends.map(direction);
        let [from, to] = directions;
        let normal = cross(from, to);
        let length = dot(normal, normal).sqrt();
        let sides = (length > 0.0).then(|| {
            let normal = normal.map(|part| part / length);
            [normal, cross(normal, from), cross(to, normal)]
        });
        Edge { ends, directions, sides }
    }

    /// Returns about the angle between a direction and the nearest one of the edge, in radians.
    fn angle_to(&self, point: Direction) -> f64 {
        match &self.sides {
            Some([normal, start, end]) if dot(*start, point) >= 0.0 && dot(*end, point) >= 0.0 => {
                dot(*normal, point).abs().min(1.0).asin()
            }
            _ => angle(self.directions[0], point).min(angle(self.directions[1], point)),
        }
    }

    /// Returns the distance of a point in metres.
    fn distance_to(&self, point: Coordinates) -> f64 {
        const STEPS: usize = 16;
        const ENOUGH: f64 = 1e-4;
        let [from, to] = self.ends;
        let at_ends = ellipsoid::distance(from, point).min(ellipsoid::distance(to, point));
        let edge = Way::between(from, to);
        let (mut place, mut along, mut length) = (from, edge.start, 0.0);
        for _ in 0..STEPS {
            // On a sphere this step would lead to where the way to the point is at a right angle.
            let way = Way::between(place, point);
            let far = way.length / EQUATOR_RADIUS;
            let turn = (way.start - along).to_radians();
            let step = EQUATOR_RADIUS * (far.sin() * turn.cos()).atan2(far.cos());
            let next = (length + step).clamp(0.0, edge.length);
            if (next - length).abs() < ENOUGH {
                break;
            }
            length = next;
            let (latitude, longitude, azimuth) = ELLIPSOID.direct(from[1], from[0], edge.start, length);
            (place, along) = ([longitude_in_range(longitude), latitude], azimuth);
        }
        let exact = Way::between(place, point).length;
        let aside = if exact < SHORT { exact } else { ellipsoid::distance(place, point) };
        if length == 0.0 || length == edge.length { at_ends } else { aside.min(at_ends) }
    }
}

fn edges(flat: &Flat) -> Vec<Edge> {
    let paths = flat.lines.iter().chain(flat.polygons.iter().flatten());
    let edges = paths.flat_map(|path| path.windows(2)).map(|ends| [ends[0], ends[1]]);
    edges.chain(flat.points.iter().map(|point| [*point, *point])).map(Edge::new).collect()
}

/// Calls `f` with each corner of one geometry and each edge of the other.
fn each_pair(
    call: &Call<'_>,
    first: &[Edge],
    second: &[Edge],
    mut f: impl FnMut(&Edge, usize, &Edge),
) -> Result<()> {
    for (these, those) in [(first, second), (second, first)] {
        for this in these {
            call.ctx.check_interrupt()?;
            for that in those {
                f(this, 0, that);
                f(this, 1, that);
            }
        }
    }
    Ok(())
}

/// Returns the least distance between two geometries that have points, in metres. `None` means that
/// they are too large for this server to find out whether they meet.
///
/// # Errors
/// Returns 1317 when the statement is interrupted, and 3037 when the library fails.
pub(super) fn distance(call: &Call<'_>, first: &Geometry, second: &Geometry) -> Result<Option<f64>> {
    if !are_far_apart(first, second) {
        let Some((_, [one, other])) = Chart::of(call, [first, second])? else { return Ok(None) };
        let (one, other) = (to_library(call, &one)?, to_library(call, &other)?);
        if contained(call, || one.intersects(&other))? {
            return Ok(Some(0.0));
        }
    }
    let (first, second) = (edges(&Flat::of(first)), edges(&Flat::of(second)));
    let mut least = f64::INFINITY;
    each_pair(call, &first, &second, |this, end, that| {
        least = least.min(that.angle_to(this.directions[end]));
    })?;
    let enough = least * (1.0 + UNCERTAIN) + f64::EPSILON;
    let mut nearest = f64::INFINITY;
    each_pair(call, &first, &second, |this, end, that| {
        if that.angle_to(this.directions[end]) <= enough {
            nearest = nearest.min(that.distance_to(this.ends[end]));
        }
    })?;
    Ok(Some(nearest))
}
