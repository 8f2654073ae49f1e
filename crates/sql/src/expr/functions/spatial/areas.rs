//! Unions and differences of areas. The `geo` library computes on a grid of about 2^30 cells in
//! each direction. The corners that it finds are then moved to their exact places: onto a given
//! corner, or to the point in which two edges cross.

use super::super::Call;
use super::crossings::{crossing, each_meeting, segments};
use super::plane::{Flat, contained};
use crate::error::Result;
use geo::bool_ops::OpType;
use geo::orient::Direction;
use geo::{BooleanOps, MultiPolygon, Orient};
use types::geometry::Coordinates;

/// The distance, as a fraction of the area's size, over which corners are moved. It is some cells
/// of the library's grid.
const NEAR: f64 = 1.0 / (1u64 << 27) as f64;

/// A polygon: its outer ring and its holes.
pub(super) type Rings = Vec<Vec<Coordinates>>;

/// The points that corners are moved to.
struct Places {
    /// The points, sorted by their first coordinate.
    points: Vec<Coordinates>,
    near: f64,
}

impl Places {
    /// Collects the corners of these polygons and the points in which their edges cross.
    fn of(call: &Call<'_>, polygons: &[&Rings]) -> Result<Places> {
        let rings: Vec<&Vec<Coordinates>> = polygons.iter().copied().flatten().collect();
        let mut points: Vec<Coordinates> = rings.iter().copied().flatten().copied().collect();
        let size = |axis: usize| {
            let numbers = points.iter().map(|point| point[axis]);
            let (least, largest) = numbers
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, largest), number| {
                    (least.min(number), largest.max(number))
                });
            largest - least
        };
        let near = size(0).max(size(1)) * NEAR;
        let all = rings.iter().enumerate().flat_map(|(path, ring)| segments(path, ring)).collect();
        each_meeting(call, all, |one, other, meeting| {
            points.extend(crossing(one.ends, other.ends, meeting));
            true
        })?;
        points.sort_by(|one, other| one[0].total_cmp(&other[0]));
        points.dedup();
        Ok(Places { points, near })
    }

    /// Returns the exact place of a corner.
    fn exact(&self, corner: Coordinates) -> Coordinates {
        let distance = |point: &Coordinates| (point[0] - corner[0]).hypot(point[1] - corner[1]);
        let start = self.points.partition_point(|point| point[0] < corner[0] - self.near);
        let candidates = self.points[start..].iter().take_while(|point| point[0] <= corner[0] + self.near);
        let nearest = candidates.min_by(|one, other| distance(one).total_cmp(&distance(other)));
        nearest.filter(|point| distance(point) <= self.near).copied().unwrap_or(corner)
    }

    fn ring(&self, ring: &geo::LineString) -> Option<Vec<Coordinates>> {
        let mut points: Vec<Coordinates> = ring.coords().map(|at| self.exact([at.x, at.y])).collect();
        points.dedup();
        (points.len() >= 4 && points.first() == points.last()).then_some(points)
    }

    /// Converts polygons of the library, and moves their corners to the exact places.
    ///
    /// # Errors
    /// Returns 1317 when the statement is interrupted.
    fn polygons(&self, call: &Call<'_>, found: &MultiPolygon) -> Result<Vec<Rings>> {
        let mut polygons = Vec::new();
        for polygon in found {
            call.ctx.check_interrupt()?;
            let Some(outer) = self.ring(polygon.exterior()) else { continue };
            let holes = polygon.interiors().iter().filter_map(|hole| self.ring(hole));
            polygons.push(std::iter::once(outer).chain(holes).collect());
        }
        Ok(polygons)
    }
}

fn in_library(polygons: &[Rings]) -> MultiPolygon {
    Flat { polygons: polygons.to_vec(), ..Flat::default() }.areas().orient(Direction::Default)
}

/// Combines two areas. The polygons of each must be valid together.
///
/// # Errors
/// Returns 1317 when the statement is interrupted, and 3037 when the library fails.
pub(super) fn combined(call: &Call<'_>, first: &[Rings], second: &[Rings], op: OpType) -> Result<Vec<Rings>> {
    match (first.is_empty(), second.is_empty(), op) {
        (_, true, OpType::Union | OpType::Difference | OpType::Xor) => return Ok(first.to_vec()),
        (true, _, OpType::Union | OpType::Xor) => return Ok(second.to_vec()),
        (true, _, _) | (_, true, _) => return Ok(Vec::new()),
        _ => {}
    }
    let places = Places::of(call, &first.iter().chain(second).collect::<Vec<_>>())?;
    let (first, second) = (in_library(first), in_library(second));
    let found = contained(call, || first.boolean_op(&second, op))?;
    places.polygons(call, &found)
}

/// Returns the union of these polygons, each of which is valid by itself.
///
/// # Errors
/// Returns 1317 when the statement is interrupted, and 3037 when the library fails.
pub(super) fn union(call: &Call<'_>, polygons: &[Rings]) -> Result<Vec<Rings>> {
    if polygons.len() < 2 {
        return Ok(polygons.to_vec());
    }
    let places = Places::of(call, &polygons.iter().collect::<Vec<_>>())?;
    let all = in_library(polygons);
    let found = contained(call, || geo::unary_union(&all))?;
    places.polygons(call, &found)
}
