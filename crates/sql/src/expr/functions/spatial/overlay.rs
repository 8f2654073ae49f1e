//! Unions, intersections and differences of geometries of any kinds. They are computed for areas
//! first, then for the lines that are not in the areas, then for the points that are in neither.

use super::super::{Call, Function};
use super::areas::{self, Rings};
use super::argument::{ANY, geometry, invalid, is_geographic, not_on_ellipsoid_of_both, result, two};
use super::caps::are_far_apart;
use super::chart::Chart;
use super::crossings::{crossing, each_meeting, segments};
use super::lines::{Piece, cut, joined};
use super::plane::{Flat, contained, coordinate, to_library};
use super::valid;
use crate::error::Result;
use geo::bool_ops::OpType;
use geo::coordinate_position::CoordPos;
use geo::{CoordinatePosition, Distance, Euclidean};
use types::geometry::{Coordinates, Geometry};
use types::{GeometryKind, Value};

/// A point is on a line or an area if it is nearer to it than this fraction of its largest
/// coordinate.
const NEAR: f64 = 1e-12;

/// Returns the parts of a geometry, without what is contained in other parts.
///
/// # Errors
/// Returns 3037 for a polygon that is not valid, and 1317 when the statement is interrupted.
pub(super) fn parts(call: &Call<'_>, geometry: &Geometry) -> Result<Flat> {
    to_library(call, geometry)?;
    if !valid::are_areas(call, geometry)? {
        return Err(invalid(call));
    }
    let flat = Flat::of(geometry);
    let is_collection = geometry.kind() == GeometryKind::Collection;
    let polygons = if is_collection { areas::union(call, &flat.polygons)? } else { flat.polygons };
    let mut whole = Flat { polygons, ..Flat::default() };
    for line in flat.lines {
        let line = Flat { lines: vec![line], ..Flat::default() };
        whole.lines.extend(lines_outside(call, &line, &whole)?);
    }
    whole.points = points_outside(call, flat.points, &whole)?;
    Ok(whole)
}

/// Returns all lines and the rings of all polygons.
fn paths(flat: &Flat) -> Vec<&Vec<Coordinates>> {
    flat.lines.iter().chain(flat.polygons.iter().flatten()).collect()
}

/// Returns where the middle of a piece is in relation to the areas.
fn position(call: &Call<'_>, piece: &Piece, areas: &geo::MultiPolygon) -> Result<CoordPos> {
    call.ctx.check_interrupt()?;
    contained(call, || areas.coordinate_position(&coordinate(piece.middle())))
}

/// Returns the parts of the lines that are neither in the areas nor on the lines of `other`.
fn lines_outside(call: &Call<'_>, flat: &Flat, other: &Flat) -> Result<Vec<Vec<Coordinates>>> {
    let areas = other.areas();
    let mut kept = Vec::new();
    for piece in cut(call, &flat.lines, &paths(other))? {
        if !piece.is_shared && position(call, &piece, &areas)? == CoordPos::Outside {
            kept.push(piece);
        }
    }
    Ok(joined(kept))
}

/// Returns the parts of the lines that are in the areas of `other` or, with `on_lines`, on its
/// lines.
fn lines_inside(call: &Call<'_>, flat: &Flat, other: &Flat, on_lines: bool) -> Result<Vec<Vec<Coordinates>>> {
    let areas = other.areas();
    let paths = if on_lines { paths(other) } else { other.polygons.iter().flatten().collect() };
    let mut kept = Vec::new();
    for piece in cut(call, &flat.lines, &paths)? {
        if piece.is_shared || position(call, &piece, &areas)? != CoordPos::Outside {
            kept.push(piece);
        }
    }
    Ok(joined(kept))
}

/// Reports whether a point is on a line or in an area, or as near to one as rounding may bring it.
fn is_on(
    call: &Call<'_>,
    point: Coordinates,
    areas: &geo::MultiPolygon,
    paths: &geo::MultiLineString,
) -> Result<bool> {
    call.ctx.check_interrupt()?;
    let at = geo::Point(coordinate(point));
    let near = NEAR * point[0].abs().max(point[1].abs()).max(f64::MIN_POSITIVE);
    contained(call, || {
        (!areas.0.is_empty() && Euclidean.distance(&at, areas) <= near)
            || (!paths.0.is_empty() && Euclidean.distance(&at, paths) <= near)
    })
}

/// Returns the points, each once, that are not in the areas, lines and points of `other`.
fn points_outside(call: &Call<'_>, points: Vec<Coordinates>, other: &Flat) -> Result<Vec<Coordinates>> {
    let (areas, paths) = (other.areas(), other.paths());
    let mut kept: Vec<Coordinates> = Vec::new();
    for point in points {
        if !kept.contains(&point) && !other.points.contains(&point) && !is_on(call, point, &areas, &paths)? {
            kept.push(point);
        }
    }
    Ok(kept)
}

/// Returns the points that both geometries have in common.
fn points_of_both(call: &Call<'_>, first: &Flat, second: &Flat) -> Result<Vec<Coordinates>> {
    let mut found = Vec::new();
    for (one, other) in [(first, second), (second, first)] {
        let (areas, paths) = (other.areas(), other.paths());
        for point in &one.points {
            if other.points.contains(point) || is_on(call, *point, &areas, &paths)? {
                found.push(*point);
            }
        }
    }
    let of_first = paths(first);
    let both = of_first.iter().copied().chain(paths(second)).enumerate();
    let all = both.flat_map(|(at, path)| segments(at, path)).collect();
    each_meeting(call, all, |one, other, meeting| {
        if (one.path < of_first.len()) != (other.path < of_first.len()) {
            found.extend(crossing(one.ends, other.ends, meeting));
        }
        true
    })?;
    Ok(found)
}

/// Returns the edges that two areas have in common and that are outside of the areas already found.
fn shared_edges(
    call: &Call<'_>,
    first: &[Rings],
    second: &[Rings],
    found: &Flat,
) -> Result<Vec<Vec<Coordinates>>> {
    let rings: Vec<Vec<Coordinates>> = first.iter().flatten().cloned().collect();
    let (areas, nothing) = (found.areas(), geo::MultiLineString(Vec::new()));
    let mut kept = Vec::new();
    for piece in cut(call, &rings, &second.iter().flatten().collect::<Vec<_>>())? {
        if piece.is_shared && !is_on(call, piece.middle(), &areas, &nothing)? {
            kept.push(piece);
        }
    }
    Ok(joined(kept))
}

fn union(call: &Call<'_>, first: &Flat, second: &Flat) -> Result<Flat> {
    let polygons = areas::combined(call, &first.polygons, &second.polygons, OpType::Union)?;
    let mut whole = Flat { polygons, ..Flat::default() };
    let only = |flat: &Flat| Flat { polygons: flat.polygons.clone(), ..Flat::default() };
    whole.lines = lines_outside(call, first, &only(second))?;
    whole.lines.extend(lines_outside(call, second, first)?);
    let points = first.points.iter().chain(&second.points).copied().collect();
    whole.points = points_outside(call, points, &whole)?;
    Ok(whole)
}

fn intersection(call: &Call<'_>, first: &Flat, second: &Flat) -> Result<Flat> {
    let polygons = areas::combined(call, &first.polygons, &second.polygons, OpType::Intersection)?;
    let mut both = Flat { polygons, ..Flat::default() };
    let edges = shared_edges(call, &first.polygons, &second.polygons, &both)?;
    both.lines = lines_inside(call, first, second, true)?;
    both.lines.extend(lines_inside(call, second, first, false)?);
    both.lines.extend(edges);
    both.points = points_outside(call, points_of_both(call, first, second)?, &both)?;
    Ok(both)
}

fn difference(call: &Call<'_>, first: &Flat, second: &Flat) -> Result<Flat> {
    let polygons = areas::combined(call, &first.polygons, &second.polygons, OpType::Difference)?;
    let lines = lines_outside(call, first, second)?;
    let points = points_outside(call, first.points.clone(), second)?;
    Ok(Flat { points, lines, polygons })
}

fn symmetric_difference(call: &Call<'_>, first: &Flat, second: &Flat) -> Result<Flat> {
    let polygons = areas::combined(call, &first.polygons, &second.polygons, OpType::Xor)?;
    let mut lines = lines_outside(call, first, second)?;
    lines.extend(lines_outside(call, second, first)?);
    let mut points = points_outside(call, first.points.clone(), second)?;
    points.extend(points_outside(call, second.points.clone(), first)?);
    Ok(Flat { points, lines, polygons })
}

/// How two geometries are combined.
struct Overlay {
    combine: fn(&Call<'_>, &Flat, &Flat) -> Result<Flat>,
    /// Whether the result has what is only in the first geometry, and what is only in the second.
    keeps: [bool; 2],
}

const UNION: Overlay = Overlay { combine: union, keeps: [true, true] };
const INTERSECTION: Overlay = Overlay { combine: intersection, keeps: [false, false] };
const DIFFERENCE: Overlay = Overlay { combine: difference, keeps: [true, false] };
const SYMMETRIC_DIFFERENCE: Overlay = Overlay { combine: symmetric_difference, keeps: [true, true] };

impl Overlay {
    fn in_plane(&self, call: &Call<'_>, first: &Geometry, second: &Geometry) -> Result<Geometry> {
        let found = (self.combine)(call, &parts(call, first)?, &parts(call, second)?)?;
        Ok(found.into_geometry())
    }

    /// Combines geometries on the ellipsoid.
    ///
    /// # Errors
    /// Returns 3618 for geometries that are too large for a chart, and those of
    /// [`Overlay::in_plane`].
    fn on_ellipsoid(&self, call: &Call<'_>, first: &Geometry, second: &Geometry) -> Result<Geometry> {
        let too_large = || not_on_ellipsoid_of_both(call, first, second);
        if first.dimension().max(second.dimension()) <= Some(0) {
            // Points are equal or not, wherever they are.
            return self.in_plane(call, first, second);
        }
        if !are_far_apart(first, second) {
            let (chart, [first, second]) = Chart::of(call, [first, second])?.ok_or_else(too_large)?;
            return Ok(chart.on_ellipsoid(&self.in_plane(call, &first, &second)?));
        }
        let mut all = Flat::default();
        for (geometry, is_kept) in [first, second].into_iter().zip(self.keeps) {
            let (chart, [on_chart]) = Chart::of(call, [geometry])?.ok_or_else(too_large)?;
            let whole = parts(call, &on_chart)?;
            if is_kept {
                all.append(Flat::of(&chart.on_ellipsoid(&whole.into_geometry())));
            }
        }
        Ok(all.into_geometry())
    }
}

fn overlaid(call: &Call<'_>, overlay: &Overlay) -> Result<Value> {
    let (srid, first, second) = two(call)?;
    let found = match is_geographic(call, srid)? {
        true => overlay.on_ellipsoid(call, &first, &second)?,
        false => overlay.in_plane(call, &first, &second)?,
    };
    result(call, srid, &found)
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_union", 2..=2, geometry::<ANY>, |call| overlaid(call, &UNION)),
    Function::new("st_intersection", 2..=2, geometry::<ANY>, |call| overlaid(call, &INTERSECTION)),
    Function::new("st_difference", 2..=2, geometry::<ANY>, |call| overlaid(call, &DIFFERENCE)),
    Function::new("st_symdifference", 2..=2, geometry::<ANY>, |call| overlaid(call, &SYMMETRIC_DIFFERENCE)),
];
