//! Relations of geometries, computed from what their interiors and boundaries share.

use super::super::{Call, Function, integer, truth_value};
use super::argument::{invalid, is_geographic, not_on_ellipsoid_of_both, two};
use super::caps::are_far_apart;
use super::chart::Chart;
use super::plane::{Flat, contained, coordinate, to_library};
use super::shared::{BOUNDARY, INSIDE, OUTSIDE, Shared};
use super::{globe, line_pairs, overlay, valid};
use crate::error::{Result, SqlError};
use geo::coordinate_position::CoordPos;
use geo::dimensions::Dimensions;
use geo::{CoordinatePosition, HasDimensions, Relate};
use std::borrow::Cow;
use types::geometry::{Coordinates, Geometry};
use types::{GeometryKind, Value};

fn dimension_of(dimensions: Dimensions) -> Option<u8> {
    match dimensions {
        Dimensions::Empty => None,
        Dimensions::ZeroDimensional => Some(0),
        Dimensions::OneDimensional => Some(1),
        Dimensions::TwoDimensional => Some(2),
    }
}

/// Returns what a point shares with a geometry. It avoids the graphs that the general way makes,
/// because most statements ask for points in polygons.
fn of_point(call: &Call<'_>, point: Coordinates, other: &Geometry, dimension: u8) -> Result<Shared> {
    let other = to_library(call, other)?;
    let position = contained(call, || other.coordinate_position(&coordinate(point)))?;
    let place = match position {
        CoordPos::Inside => INSIDE,
        CoordPos::OnBoundary => BOUNDARY,
        CoordPos::Outside => OUTSIDE,
    };
    let mut places = [[None; 3]; 3];
    places[INSIDE][place] = Some(0);
    // A geometry of points may consist of this point alone.
    let is_it =
        dimension == 0 && geo::CoordsIter::coords_iter(&other).all(|found| found == coordinate(point));
    places[OUTSIDE][INSIDE] = (!is_it).then_some(dimension);
    places[OUTSIDE][BOUNDARY] = dimension_of(other.boundary_dimensions());
    places[OUTSIDE][OUTSIDE] = Some(2);
    Ok(Shared { places, dimensions: [0, dimension], has_points_alone: false })
}

/// Returns a collection without parts that are contained in other parts. Other geometries stay as
/// they are.
///
/// # Errors
/// Returns 3037 for polygons that are not valid, and 1317 when the statement is interrupted.
fn whole<'g>(call: &Call<'_>, geometry: &'g Geometry) -> Result<Cow<'g, Geometry>> {
    if geometry.kind() == GeometryKind::Collection {
        return Ok(Cow::Owned(overlay::parts(call, geometry)?.into_geometry()));
    }
    Ok(Cow::Borrowed(geometry))
}

/// Returns what two geometries in the plane share.
fn in_plane(call: &Call<'_>, first: &Geometry, second: &Geometry, dimensions: [u8; 2]) -> Result<Shared> {
    let given = [first, second];
    let (first, second) = (whole(call, first)?, whole(call, second)?);
    let has_points = |geometry: &Geometry| {
        geometry.kind() == GeometryKind::Collection && !Flat::of(geometry).points.is_empty()
    };
    let are_points =
        |geometry: &Geometry| matches!(geometry.kind(), GeometryKind::Point | GeometryKind::MultiPoint);
    let has_points_alone =
        are_points(given[0]) && has_points(&second) || are_points(given[1]) && has_points(&first);
    let shared = match (&*first, &*second) {
        (Geometry::Point(point), _) => of_point(call, *point, &second, dimensions[1])?,
        (_, Geometry::Point(point)) => of_point(call, *point, &first, dimensions[0])?.turned(),
        _ => of_any(call, &first, &second, dimensions)?,
    };
    Ok(Shared { has_points_alone, ..shared })
}

/// Does the same as [`in_plane`] for geometries of which neither is a point.
fn of_any(call: &Call<'_>, first: &Geometry, second: &Geometry, dimensions: [u8; 2]) -> Result<Shared> {
    let flats = [first, second].map(Flat::of);
    let is_lines = |flat: &Flat| {
        let has_length = |line: &Vec<Coordinates>| line.iter().any(|point| *point != line[0]);
        flat.points.is_empty() && flat.polygons.is_empty() && flat.lines.iter().all(has_length)
    };
    let in_library = [to_library(call, first)?, to_library(call, second)?];
    if flats.iter().all(is_lines) {
        return line_pairs::shared(call, &flats[0].lines, &flats[1].lines);
    }
    // The library's answers are wrong for some collections whose parts have several dimensions.
    let is_mixed = |flat: &Flat| {
        [flat.points.is_empty(), flat.lines.is_empty(), flat.polygons.is_empty()]
            .iter()
            .filter(|empty| !**empty)
            .count()
            > 1
    };
    if flats.iter().any(is_mixed) {
        return Err(SqlError::not_supported("relations of collections of several dimensions"));
    }
    if !valid::are_areas(call, first)? || !valid::are_areas(call, second)? {
        return Err(invalid(call));
    }
    let matrix = contained(call, || in_library[0].relate(&in_library[1]))?;
    let positions = [CoordPos::Inside, CoordPos::OnBoundary, CoordPos::Outside];
    let places = positions.map(|first| positions.map(|second| dimension_of(matrix.get(first, second))));
    Ok(Shared { places, dimensions, has_points_alone: false })
}

/// Returns what two geometries on the ellipsoid share.
///
/// # Errors
/// Returns 3618 for geometries that are too large for a chart, and those of [`in_plane`].
fn on_ellipsoid(call: &Call<'_>, first: &Geometry, second: &Geometry, dimensions: [u8; 2]) -> Result<Shared> {
    if let Some(shared) = globe::shared(call, first, second, dimensions)? {
        return Ok(shared);
    }
    let (one, other) = (near_part(first, second), near_part(second, first));
    let (Some(one), Some(other)) = (one, other) else { return Ok(Shared::apart(dimensions)) };
    let (of_first, of_second) = (one.is_part, other.is_part);
    let chart = Chart::of(call, [&one.geometry, &other.geometry])?;
    let (_, [one, other]) = chart.ok_or_else(|| not_on_ellipsoid_of_both(call, first, second))?;
    let mut shared = in_plane(call, &one, &other, dimensions)?;
    if of_first {
        shared.places[INSIDE][OUTSIDE] = Some(dimensions[0]);
    }
    if of_second {
        shared.places[OUTSIDE][INSIDE] = Some(dimensions[1]);
    }
    Ok(shared)
}

/// What may meet another geometry.
struct NearPart<'g> {
    geometry: Cow<'g, Geometry>,
    /// Whether the geometry has other parts, too.
    is_part: bool,
}

/// Returns the parts of a geometry on the globe that are not clearly apart from another geometry.
/// `None` means that there are none. A collection has all its parts, because it takes more to know
/// whether points in it are alone.
fn near_part<'g>(geometry: &'g Geometry, other: &Geometry) -> Option<NearPart<'g>> {
    let all = NearPart { geometry: Cow::Borrowed(geometry), is_part: false };
    let Geometry::Several(kind, parts) = geometry else {
        let is_alone = other.kind() != GeometryKind::Collection;
        return Some(all).filter(|_| !is_alone || !are_far_apart(geometry, other));
    };
    let is_collection = |kind: GeometryKind| kind == GeometryKind::Collection;
    if is_collection(*kind) || is_collection(other.kind()) {
        return Some(all);
    }
    let near: Vec<Geometry> = parts.iter().filter(|part| !are_far_apart(part, other)).cloned().collect();
    if near.len() == parts.len() {
        return Some(all);
    }
    let geometry = Cow::Owned(Geometry::Several(*kind, near));
    Some(NearPart { geometry, is_part: true }).filter(|near| !near.geometry.is_empty())
}

/// Computes a relation of the two arguments. It is NULL where one has no points, or where the
/// relation is not defined for their dimensions.
fn related(call: &Call<'_>, holds: impl Fn(&Shared) -> Option<bool>) -> Result<Value> {
    let (srid, first, second) = two(call)?;
    let is_geographic = is_geographic(call, srid)?;
    let (Some(of_first), Some(of_second)) = (first.dimension(), second.dimension()) else {
        return Ok(Value::Null);
    };
    let dimensions = [of_first, of_second];
    // A relation that is not defined is NULL before any error of the geometries is found.
    if holds(&Shared { places: [[None; 3]; 3], dimensions, has_points_alone: false }).is_none() {
        return Ok(Value::Null);
    }
    let shared = if is_geographic {
        on_ellipsoid(call, &first, &second, dimensions)?
    } else {
        in_plane(call, &first, &second, dimensions)?
    };
    Ok(holds(&shared).map_or(Value::Null, truth_value))
}

fn equals(call: &Call<'_>) -> Result<Value> {
    let (_, first, second) = two(call)?;
    if first.is_empty() || second.is_empty() {
        return Ok(truth_value(first.is_empty() && second.is_empty()));
    }
    related(call, |shared| Some(shared.is_within() && shared.contains()))
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_contains", 2..=2, integer::<1>, |call| related(call, |shared| Some(shared.contains()))),
    Function::new("st_within", 2..=2, integer::<1>, |call| related(call, |shared| Some(shared.is_within()))),
    Function::new("st_intersects", 2..=2, integer::<1>, |call| related(call, |shared| Some(shared.meets()))),
    Function::new("st_disjoint", 2..=2, integer::<1>, |call| related(call, |shared| Some(!shared.meets()))),
    Function::new("st_touches", 2..=2, integer::<1>, |call| related(call, Shared::touches)),
    Function::new("st_crosses", 2..=2, integer::<1>, |call| related(call, Shared::crosses)),
    Function::new("st_overlaps", 2..=2, integer::<1>, |call| related(call, Shared::overlaps)),
    Function::new("st_equals", 2..=2, integer::<1>, equals),
];
