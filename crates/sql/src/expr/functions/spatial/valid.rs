//! Decides whether geometries are what their kinds promise (ST_IsValid), and whether they meet
//! themselves (ST_IsSimple).

use super::super::{Call, Function, integer, truth_value};
use super::argument::{ANY, BYTES_AT_WORK, geometry, invalid, is_geographic, not_on_ellipsoid_of, stored};
use super::chart::Chart;
use super::crossings::{Meeting, Segment, each_meeting, is_joint, segments};
use super::plane::{Flat, bits, contained, coordinate, to_library};
use crate::error::Result;
use geo::coordinate_position::CoordPos;
use geo::dimensions::Dimensions;
use geo::{BoundingRect, CoordinatePosition, HasDimensions, Intersects, Relate};
use std::collections::{HashMap, HashSet};
use types::geometry::{Coordinates, Geometry};
use types::{GeometryKind, Value};

type Ring = Vec<Coordinates>;

/// Returns the segments of several paths, and the number of segments that each path has.
fn all_segments(paths: &[&[Coordinates]]) -> (Vec<Segment>, Vec<usize>) {
    let mut all = Vec::new();
    let mut counts = Vec::with_capacity(paths.len());
    for (path, points) in paths.iter().enumerate() {
        let before = all.len();
        all.extend(segments(path, points));
        counts.push(all.len() - before);
    }
    (all, counts)
}

/// A graph of rings that touch each other in points. Rings and points are its nodes, and a cycle
/// separates a part of the inside from the rest.
#[derive(Default)]
struct Touches {
    known: HashSet<(usize, [u64; 2])>,
    points: HashMap<[u64; 2], usize>,
    /// For each node another one of its component, or itself (a union-find forest).
    towards: Vec<usize>,
}

impl Touches {
    fn of_rings(rings: usize) -> Touches {
        Touches { towards: (0..rings).collect(), ..Touches::default() }
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.towards[node] != node {
            self.towards[node] = self.towards[self.towards[node]];
            node = self.towards[node];
        }
        node
    }

    /// Notes that a ring has this point in common with another ring, and returns false when that
    /// closes a cycle.
    fn add(&mut self, ring: usize, point: Coordinates) -> bool {
        let point = bits(point);
        if !self.known.insert((ring, point)) {
            return true;
        }
        let next = self.towards.len();
        let node = *self.points.entry(point).or_insert(next);
        if node == next {
            self.towards.push(next);
        }
        let (one, other) = (self.root(ring), self.root(node));
        self.towards[one] = other;
        one != other
    }
}

/// Reports whether the rings of a polygon meet themselves and each other only as they may.
fn rings_keep_apart(call: &Call<'_>, rings: &[Ring]) -> Result<bool> {
    let paths: Vec<&[Coordinates]> = rings.iter().map(Vec::as_slice).collect();
    let (all, counts) = all_segments(&paths);
    if counts.iter().any(|count| *count < 3) {
        return Ok(false);
    }
    let mut touches = Touches::of_rings(rings.len());
    let mut apart = true;
    each_meeting(call, all, |one, other, meeting| {
        apart = if one.path == other.path {
            is_joint(one, other, meeting, counts[one.path], true)
        } else {
            match meeting {
                Meeting::Point(point) => touches.add(one.path, point) && touches.add(other.path, point),
                _ => false,
            }
        };
        apart
    })?;
    Ok(apart)
}

/// Returns where `ring`, which at most touches the polygon `around`, lies in relation to it. `None`
/// means that both have the same ring.
fn place_of(ring: &Ring, around: &geo::Polygon) -> Option<CoordPos> {
    let places = ring.iter().map(|point| around.coordinate_position(&coordinate(*point)));
    places.into_iter().find(|place| *place != CoordPos::OnBoundary)
}

/// Reports whether the holes of a polygon are inside it, and none is in another hole. The rings
/// must only touch.
fn holes_are_in_it(call: &Call<'_>, rings: &[Ring]) -> Result<bool> {
    if rings.len() == 1 {
        return Ok(true);
    }
    let areas: Vec<geo::Polygon> = rings.iter().flat_map(area_of).collect();
    let boxes: Vec<Option<geo::Rect>> = areas.iter().map(BoundingRect::bounding_rect).collect();
    for (hole, ring) in rings.iter().enumerate().skip(1) {
        if place_of(ring, &areas[0]) != Some(CoordPos::Inside) {
            return Ok(false);
        }
        for other in (1..rings.len()).filter(|other| *other != hole) {
            call.ctx.check_interrupt()?;
            let near = boxes[hole].zip(boxes[other]).is_some_and(|(one, other)| one.intersects(&other));
            if near && place_of(ring, &areas[other]) != Some(CoordPos::Outside) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn area_of(ring: &Ring) -> Vec<geo::Polygon> {
    Flat { polygons: vec![vec![ring.clone()]], ..Flat::default() }.areas().0
}

/// Reports whether several polygons, each of which is valid, have no area and no line in common.
fn polygons_keep_apart(call: &Call<'_>, polygons: &[Vec<Ring>]) -> Result<bool> {
    let rings = polygons.iter().flatten().map(Vec::as_slice).collect::<Vec<_>>();
    let owners: Vec<usize> =
        polygons.iter().enumerate().flat_map(|(at, rings)| vec![at; rings.len()]).collect();
    let (all, _) = all_segments(&rings);
    let mut apart = true;
    each_meeting(call, all, |one, other, meeting| {
        apart = owners[one.path] == owners[other.path] || matches!(meeting, Meeting::Point(_));
        apart
    })?;
    if !apart {
        return Ok(false);
    }
    let areas = Flat { polygons: polygons.to_vec(), ..Flat::default() }.areas().0;
    let boxes: Vec<Option<geo::Rect>> = areas.iter().map(BoundingRect::bounding_rect).collect();
    for (at, one) in areas.iter().enumerate() {
        for (other_at, other) in areas.iter().enumerate().skip(at + 1) {
            call.ctx.check_interrupt()?;
            let near = boxes[at].zip(boxes[other_at]).is_some_and(|(one, other)| one.intersects(&other));
            if near && contained(call, || one.relate(other))?.matches("T********").unwrap_or(true) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Reports whether the polygons of a geometry are valid.
pub(super) fn are_areas(call: &Call<'_>, geometry: &Geometry) -> Result<bool> {
    match geometry {
        Geometry::Point(_) | Geometry::LineString(_) => Ok(true),
        Geometry::Polygon(rings) => Ok(rings_keep_apart(call, rings)? && holes_are_in_it(call, rings)?),
        Geometry::Several(kind, parts) => {
            for part in parts {
                if !are_areas(call, part)? {
                    return Ok(false);
                }
            }
            if *kind != GeometryKind::MultiPolygon {
                return Ok(true);
            }
            to_library(call, geometry)?;
            polygons_keep_apart(call, &Flat::of(geometry).polygons)
        }
    }
}

fn is_valid(call: &Call<'_>, geometry: &Geometry) -> Result<bool> {
    let has_length = |line: &Ring| line.iter().any(|point| *point != line[0]);
    Ok(Flat::of(geometry).lines.iter().all(has_length) && are_areas(call, geometry)?)
}

/// Reports whether two neighbouring points are equal.
fn stands_still(points: &[Coordinates]) -> bool {
    points.windows(2).any(|ends| ends[0] == ends[1])
}

/// Reports whether lines meet only in points where two of them end, and no line meets itself.
fn lines_are_simple(call: &Call<'_>, lines: &[Ring]) -> Result<bool> {
    if lines.iter().any(|line| stands_still(line)) {
        return Ok(false);
    }
    let paths: Vec<&[Coordinates]> = lines.iter().map(Vec::as_slice).collect();
    let (all, counts) = all_segments(&paths);
    let is_closed = |path: usize| lines[path].first() == lines[path].last();
    let is_end = |path: usize, point: Coordinates| {
        !is_closed(path) && [lines[path].first(), lines[path].last()].contains(&Some(&point))
    };
    let mut is_simple = true;
    each_meeting(call, all, |one, other, meeting| {
        is_simple = if one.path == other.path {
            is_joint(one, other, meeting, counts[one.path], is_closed(one.path))
        } else {
            matches!(meeting, Meeting::Point(point) if is_end(one.path, point) && is_end(other.path, point))
        };
        is_simple
    })?;
    Ok(is_simple)
}

/// The matrices of what parts of a collection must not have in common: the interiors of any two
/// parts, and, for two lines, the interior of one and an end of the other.
const WRONG: [&str; 3] = ["T********", "*T*******", "***T*****"];

/// Reports whether parts of a collection meet only as they may.
fn parts_are_simple(call: &Call<'_>, parts: &[Geometry]) -> Result<bool> {
    for part in parts {
        if !are_areas(call, part)? {
            return Err(invalid(call));
        }
    }
    let found = parts.iter().map(|part| to_library(call, part)).collect::<Result<Vec<_>>>()?;
    for (at, one) in found.iter().enumerate() {
        for other in &found[at + 1..] {
            call.ctx.check_interrupt()?;
            let shared = contained(call, || one.relate(other))?;
            let are_lines = [one, other].iter().all(|part| part.dimensions() == Dimensions::OneDimensional);
            let wrong = if are_lines { &WRONG[..] } else { &WRONG[..1] };
            if wrong.iter().any(|what| shared.matches(what).unwrap_or(true)) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn is_simple(call: &Call<'_>, geometry: &Geometry) -> Result<bool> {
    match geometry {
        Geometry::Point(_) => Ok(true),
        Geometry::Polygon(_) | Geometry::Several(GeometryKind::MultiPolygon, _) => {
            Ok(!Flat::of(geometry).polygons.iter().flatten().any(|ring| stands_still(ring)))
        }
        Geometry::LineString(points) => lines_are_simple(call, std::slice::from_ref(points)),
        Geometry::Several(GeometryKind::MultiPoint, _) => {
            let points = Flat::of(geometry).points;
            Ok(points.iter().map(|point| bits(*point)).collect::<HashSet<_>>().len() == points.len())
        }
        Geometry::Several(GeometryKind::MultiLineString, _) => {
            lines_are_simple(call, &Flat::of(geometry).lines)
        }
        Geometry::Several(_, parts) => {
            for part in parts {
                if !is_simple(call, part)? {
                    return Ok(false);
                }
            }
            parts_are_simple(call, parts)
        }
    }
}

/// Returns the first argument, on a chart if it is on the ellipsoid.
///
/// # Errors
/// Returns 3037 for bytes that are no geometry, and 3618 for a geometry on the ellipsoid that is
/// too large for a chart.
fn flat_argument(call: &Call<'_>) -> Result<Geometry> {
    let (srid, found) = stored(call, 0)?;
    if !is_geographic(call, srid)? || found.dimension() <= Some(0) {
        return Ok(found);
    }
    call.check_room(found.stored_bytes().saturating_mul(BYTES_AT_WORK))?;
    let chart = Chart::of(call, [&found])?;
    let (_, [on_chart]) = chart.ok_or_else(|| not_on_ellipsoid_of(call, &found))?;
    Ok(on_chart)
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_isvalid", 1..=1, integer::<1>, |call| {
        let found = flat_argument(call)?;
        is_valid(call, &found).map(truth_value)
    }),
    Function::new("st_validate", 1..=1, geometry::<ANY>, |call| {
        let found = flat_argument(call)?;
        Ok(if is_valid(call, &found)? { call.values[0].clone().into_owned() } else { Value::Null })
    }),
    Function::new("st_issimple", 1..=1, integer::<1>, |call| {
        let found = flat_argument(call)?;
        is_simple(call, &found).map(truth_value)
    }),
];
