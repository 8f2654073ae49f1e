//! Functions on how the smallest boxes around geometries lie to each other.

use super::super::{Call, Function, integer, truth_value};
use super::argument::{
    ANY, POLYGON, geometry, is_geographic, not_on_ellipsoid_of, not_on_ellipsoid_of_both, result, stored, two,
};
use super::globe_boxes::box_on_globe;
use super::rectangles::Box;
use crate::error::Result;
use crate::expr::functions::wrong_arguments;
use types::geometry::Geometry;
use types::{GeometryKind, Value};

/// Computes a relation between the boxes of both arguments. It is NULL where one of them has no
/// points.
fn related(call: &Call<'_>, holds: impl Fn(Box, Box) -> bool) -> Result<Value> {
    let (srid, first, second) = two(call)?;
    let is_geographic = is_geographic(call, srid)?;
    let around = if is_geographic { box_on_globe } else { Box::around };
    Ok(match [&first, &second].map(around) {
        [Some(first), Some(second)] if is_geographic => {
            truth_value(holds(first, second.turned_towards(first)))
        }
        [Some(first), Some(second)] => truth_value(holds(first, second)),
        _ => Value::Null,
    })
}

fn equals(call: &Call<'_>) -> Result<Value> {
    let (_, first, second) = two(call)?;
    if first.is_empty() || second.is_empty() {
        return Ok(truth_value(first.is_empty() && second.is_empty()));
    }
    related(call, |first, second| first == second)
}

fn envelope(call: &Call<'_>) -> Result<Value> {
    let (srid, found) = stored(call, 0)?;
    if is_geographic(call, srid)? {
        return Err(not_on_ellipsoid_of(call, &found));
    }
    let empty = || Geometry::Several(GeometryKind::Collection, Vec::new());
    let around = Box::around(&found).map_or_else(empty, Box::to_geometry);
    result(call, srid, &around)
}

fn make_envelope(call: &Call<'_>) -> Result<Value> {
    let (srid, first, second) = two(call)?;
    let (Geometry::Point(one), Geometry::Point(other)) = (&first, &second) else {
        return Err(wrong_arguments(call.name));
    };
    if is_geographic(call, srid)? {
        return Err(not_on_ellipsoid_of_both(call, &first, &second));
    }
    let both = Geometry::LineString(vec![*one, *other]);
    let around = Box::around(&both).map_or(both, Box::to_geometry);
    result(call, srid, &around)
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("mbrcontains", 2..=2, integer::<1>, |call| related(call, Box::contains)),
    Function::new("mbrwithin", 2..=2, integer::<1>, |call| {
        related(call, |first, second| second.contains(first))
    }),
    Function::new("mbrcovers", 2..=2, integer::<1>, |call| related(call, Box::covers)),
    Function::new("mbrcoveredby", 2..=2, integer::<1>, |call| {
        related(call, |first, second| second.covers(first))
    }),
    Function::new("mbrintersects", 2..=2, integer::<1>, |call| related(call, Box::meets)),
    Function::new("mbrdisjoint", 2..=2, integer::<1>, |call| {
        related(call, |first, second| !first.meets(second))
    }),
    Function::new("mbrtouches", 2..=2, integer::<1>, |call| {
        related(call, |first, second| first.meets(second) && !first.meets_inside(second))
    }),
    Function::new("mbroverlaps", 2..=2, integer::<1>, |call| related(call, Box::overlaps)),
    Function::new("mbrequals", 2..=2, integer::<1>, equals),
    Function::new("st_envelope", 1..=1, geometry::<ANY>, envelope),
    Function::new("st_makeenvelope", 2..=2, geometry::<POLYGON>, make_envelope),
];
