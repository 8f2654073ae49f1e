//! Functions that return geometries as texts and bytes, and that return or set their coordinates
//! and systems.

use super::super::{Call, Coercibility, Function, double, system_text, text, unsigned};
use super::argument::{
    ANY, bytes, check_latitude, check_longitude, geometry, is_geographic, out_of_range, result,
    srid_argument, stored, turned_out, unexpected, with_state,
};
use crate::error::Result;
use crate::expr::Expr;
use types::geometry::{Coordinates, Geometry};
use types::{ColumnType, Value, collation};

/// The text of a geometry.
fn shown(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::longtext(collation::UTF8MB4_0900_AI_CI), Coercibility::Literal))
}

/// Returns the type DOUBLE for one argument, and that of a changed geometry for two.
fn coordinate_type(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    if args.len() == 1 { double(args) } else { geometry::<ANY>(args) }
}

/// Returns a coordinate of a point by its axis, or with a second argument the point with that
/// coordinate.
fn coordinate(call: &Call<'_>, axis: usize) -> Result<Value> {
    let (srid, found) = stored(call, 0)?;
    let Geometry::Point(mut point) = found else {
        return Err(unexpected(call, "POINT", found.kind()));
    };
    let is_geographic = is_geographic(call, srid)?;
    let place = if is_geographic { 1 - axis } else { axis };
    if !call.is_given(1) {
        return Ok(Value::Double(point[place]));
    }
    let wanted = call.double(1);
    match (is_geographic, axis) {
        (true, 0) => check_latitude(call, wanted)?,
        (true, _) => check_longitude(call, wanted)?,
        (false, _) if !wanted.is_finite() => return Err(out_of_range(call, "Coordinate")),
        (false, _) => {}
    }
    point[place] = wanted;
    Ok(Value::Bytes(Geometry::Point(point).to_stored(srid)))
}

/// Does the same as [`coordinate`] for a point on the ellipsoid.
fn degrees(call: &Call<'_>, axis: usize) -> Result<Value> {
    let (srid, _) = stored(call, 0)?;
    if !is_geographic(call, srid)? {
        let text = format!(
            "Function {} is only defined for geographic spatial reference systems, but one of its arguments is in \
             SRID {srid}, which is not geographic.",
            call.name
        );
        return Err(with_state(3726, b"22S00", text));
    }
    coordinate(call, axis)
}

/// Returns the geometry in another system, with the same numbers.
fn with_srid(call: &Call<'_>, mut geometry: Geometry) -> Result<Value> {
    let srid = srid_argument(call, 1)?;
    if is_geographic(call, srid)? {
        let mut outside = None;
        geometry.for_each_point(&mut |[longitude, latitude]: &mut Coordinates| {
            if !(-90.0..=90.0).contains(latitude) {
                outside = outside.or(Some((true, *latitude)));
            } else if !(*longitude > -180.0 && *longitude <= 180.0) {
                outside = outside.or(Some((false, *longitude)));
            }
        });
        let head = format!("A parameter of function {} contains a geometry with", call.name);
        match outside {
            None => {}
            Some((true, degrees)) => {
                let text = format!(
                    "{head} latitude {degrees:.6}, which is out of range. It must be within [-90.000000, 90.000000]."
                );
                return Err(with_state(3732, b"22S03", text));
            }
            Some((false, degrees)) => {
                let text = format!(
                    "{head} longitude {degrees:.6}, which is out of range. It must be within (-180.000000, 180.000000]."
                );
                return Err(with_state(3731, b"22S02", text));
            }
        }
    }
    result(call, srid, &geometry)
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_astext", 1..=1, shown, |call| Ok(text(turned_out(call)?.to_wkt()))),
    Function::new("st_asbinary", 1..=1, bytes, |call| {
        let mut wkb = Vec::new();
        turned_out(call)?.write_wkb(&mut wkb);
        Ok(Value::Bytes(wkb))
    }),
    Function::new(
        "st_srid",
        1..=2,
        |args| if args.len() == 1 { unsigned(args) } else { geometry::<ANY>(args) },
        |call| {
            let (srid, geometry) = stored(call, 0)?;
            match call.is_given(1) {
                true => with_srid(call, geometry),
                false => Ok(Value::UInt(u64::from(srid))),
            }
        },
    ),
    Function::new("st_x", 1..=2, coordinate_type, |call| coordinate(call, 0)),
    Function::new("st_y", 1..=2, coordinate_type, |call| coordinate(call, 1)),
    Function::new("st_latitude", 1..=2, coordinate_type, |call| degrees(call, 0)),
    Function::new("st_longitude", 1..=2, coordinate_type, |call| degrees(call, 1)),
    Function::new("st_geometrytype", 1..=1, system_text::<20>, |call| {
        let (_, geometry) = stored(call, 0)?;
        Ok(text(geometry.kind().sql_name().to_ascii_uppercase()))
    }),
    Function::new("st_swapxy", 1..=1, geometry::<ANY>, |call| {
        let (srid, mut geometry) = stored(call, 0)?;
        geometry.for_each_point(&mut |point: &mut Coordinates| point.swap(0, 1));
        result(call, srid, &geometry)
    }),
];
