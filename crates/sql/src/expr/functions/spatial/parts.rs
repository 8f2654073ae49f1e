//! Functions that return parts of a geometry: its points, rings and parts. They are NULL for a
//! geometry that has no such parts.

use super::super::{Call, Function, integer, truth_value};
use super::argument::{ANY, geometry, is_geographic, not_on_ellipsoid_of, result, stored};
use crate::error::Result;
use types::geometry::Geometry;
use types::{GeometryKind, Value};

/// Returns a number of parts, or NULL.
fn count(count: Option<usize>) -> Value {
    count.map_or(Value::Null, |count| Value::Int(count as i64))
}

/// Returns the part whose number, counted from 1, is the second argument.
fn numbered<T: Clone>(call: &Call<'_>, parts: &[T]) -> Option<T> {
    let at = usize::try_from(call.integer(1)).ok()?.checked_sub(1)?;
    parts.get(at).cloned()
}

/// Returns a part of the first argument.
fn part(call: &Call<'_>, find: impl Fn(Geometry) -> Option<Geometry>) -> Result<Value> {
    let (srid, whole) = stored(call, 0)?;
    find(whole).map_or(Ok(Value::Null), |part| result(call, srid, &part))
}

/// Reports whether a line, or each of several, ends where it begins. `None` means that the geometry
/// is no line.
fn is_closed(geometry: &Geometry) -> Option<bool> {
    match geometry {
        Geometry::LineString(points) => Some(points.first() == points.last()),
        Geometry::Several(GeometryKind::MultiLineString, parts) => {
            Some(parts.iter().all(|part| is_closed(part) == Some(true)))
        }
        _ => None,
    }
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_dimension", 1..=1, integer::<10>, |call| {
        let (_, geometry) = stored(call, 0)?;
        Ok(geometry.dimension().map_or(Value::Null, |dimension| Value::Int(i64::from(dimension))))
    }),
    Function::new("st_startpoint", 1..=1, geometry::<ANY>, |call| {
        part(call, |whole| match whole {
            Geometry::LineString(points) => points.first().copied().map(Geometry::Point),
            _ => None,
        })
    }),
    Function::new("st_endpoint", 1..=1, geometry::<ANY>, |call| {
        part(call, |whole| match whole {
            Geometry::LineString(points) => points.last().copied().map(Geometry::Point),
            _ => None,
        })
    }),
    Function::new("st_pointn", 2..=2, geometry::<ANY>, |call| {
        part(call, |whole| match whole {
            Geometry::LineString(points) => numbered(call, &points).map(Geometry::Point),
            _ => None,
        })
    }),
    Function::new("st_numpoints", 1..=1, integer::<10>, |call| {
        Ok(count(match stored(call, 0)?.1 {
            Geometry::LineString(points) => Some(points.len()),
            _ => None,
        }))
    }),
    Function::new("st_isclosed", 1..=1, integer::<1>, |call| {
        let (srid, geometry) = stored(call, 0)?;
        if is_geographic(call, srid)? {
            return Err(not_on_ellipsoid_of(call, &geometry));
        }
        Ok(is_closed(&geometry).map_or(Value::Null, truth_value))
    }),
    Function::new("st_exteriorring", 1..=1, geometry::<ANY>, |call| {
        part(call, |whole| match whole {
            Geometry::Polygon(rings) => rings.into_iter().next().map(Geometry::LineString),
            _ => None,
        })
    }),
    Function::new("st_interiorringn", 2..=2, geometry::<ANY>, |call| {
        part(call, |whole| match whole {
            Geometry::Polygon(rings) => numbered(call, &rings[1..]).map(Geometry::LineString),
            _ => None,
        })
    }),
    Function::new("st_numinteriorring", 1..=1, integer::<10>, |call| {
        Ok(count(match stored(call, 0)?.1 {
            Geometry::Polygon(rings) => Some(rings.len() - 1),
            _ => None,
        }))
    }),
    Function::new("st_numgeometries", 1..=1, integer::<10>, |call| {
        Ok(count(match stored(call, 0)?.1 {
            Geometry::Several(_, parts) => Some(parts.len()),
            _ => None,
        }))
    }),
    Function::new("st_geometryn", 2..=2, geometry::<ANY>, |call| {
        part(call, |whole| match whole {
            Geometry::Several(_, parts) => numbered(call, &parts),
            _ => None,
        })
    }),
    Function::new("st_isempty", 1..=1, integer::<1>, |call| Ok(truth_value(stored(call, 0)?.1.is_empty()))),
];
