//! Functions that make geometries of texts, of bytes and of other geometries.

use super::super::{Call, Function};
use super::argument::{
    ANY, COLLECTION, LINE_STRING, MULTI_LINE_STRING, MULTI_POINT, MULTI_POLYGON, PLANE, POINT, POLYGON,
    geometry, invalid, kind_of, parts, srid_argument, turned_in, unexpected,
};
use crate::error::{Result, SqlError};
use types::Value;
use types::geometry::{Coordinates, Geometry};

/// Returns the geometry that a text or WKB was read as, which has to be of this kind.
fn made<const KIND: u8>(call: &Call<'_>, geometry: Option<Geometry>, what: &str) -> Result<Value> {
    let mut geometry = geometry.ok_or_else(|| invalid(call))?;
    if call.is_given(2) {
        return Err(SqlError::not_supported(format!("options of {}()", call.name)));
    }
    let srid = srid_argument(call, 1)?;
    turned_in(call, srid, &mut geometry)?;
    if KIND != ANY && geometry.kind() != kind_of::<KIND>() {
        return Err(unexpected(call, what, geometry.kind()));
    }
    Ok(Value::Bytes(geometry.to_stored(srid)))
}

fn from_text<const KIND: u8>(call: &Call<'_>) -> Result<Value> {
    made::<KIND>(call, Geometry::from_wkt(&call.string(0)), "WKT")
}

fn from_wkb<const KIND: u8>(call: &Call<'_>) -> Result<Value> {
    let geometry = match &*call.values[0] {
        Value::Bytes(bytes) => Geometry::from_wkb(bytes),
        _ => None,
    };
    made::<KIND>(call, geometry, "WKB")
}

fn points_of(call: &Call<'_>, parts: Vec<Geometry>) -> Result<Vec<Coordinates>> {
    let point = |part| match part {
        Geometry::Point(point) => Ok(point),
        _ => Err(invalid(call)),
    };
    parts.into_iter().map(point).collect()
}

fn line_string(call: &Call<'_>) -> Result<Value> {
    let (srid, parts) = parts(call)?;
    let line = Geometry::line(points_of(call, parts)?).ok_or_else(|| invalid(call))?;
    Ok(Value::Bytes(line.to_stored(srid)))
}

fn polygon(call: &Call<'_>) -> Result<Value> {
    let (srid, parts) = parts(call)?;
    let ring = |part| match part {
        Geometry::LineString(points) => Ok(points),
        _ => Err(invalid(call)),
    };
    let rings = parts.into_iter().map(ring).collect::<Result<Vec<_>>>()?;
    let polygon = Geometry::polygon(rings).ok_or_else(|| invalid(call))?;
    Ok(Value::Bytes(polygon.to_stored(srid)))
}

fn several<const KIND: u8>(call: &Call<'_>) -> Result<Value> {
    let (srid, parts) = parts(call)?;
    let all = Geometry::several(kind_of::<KIND>(), parts).ok_or_else(|| invalid(call))?;
    Ok(Value::Bytes(all.to_stored(srid)))
}

const MOST_PARTS: usize = 65_535;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_geomfromtext", 1..=3, geometry::<ANY>, from_text::<ANY>),
    Function::new("st_pointfromtext", 1..=3, geometry::<POINT>, from_text::<POINT>),
    Function::new("st_linefromtext", 1..=3, geometry::<LINE_STRING>, from_text::<LINE_STRING>),
    Function::new("st_polyfromtext", 1..=3, geometry::<POLYGON>, from_text::<POLYGON>),
    Function::new("st_mpointfromtext", 1..=3, geometry::<MULTI_POINT>, from_text::<MULTI_POINT>),
    Function::new("st_mlinefromtext", 1..=3, geometry::<MULTI_LINE_STRING>, from_text::<MULTI_LINE_STRING>),
    Function::new("st_mpolyfromtext", 1..=3, geometry::<MULTI_POLYGON>, from_text::<MULTI_POLYGON>),
    Function::new("st_geomcollfromtext", 1..=3, geometry::<COLLECTION>, from_text::<COLLECTION>),
    Function::new("st_geomfromwkb", 1..=3, geometry::<ANY>, from_wkb::<ANY>),
    Function::new("st_pointfromwkb", 1..=3, geometry::<POINT>, from_wkb::<POINT>),
    Function::new("st_linefromwkb", 1..=3, geometry::<LINE_STRING>, from_wkb::<LINE_STRING>),
    Function::new("st_polyfromwkb", 1..=3, geometry::<POLYGON>, from_wkb::<POLYGON>),
    Function::new("st_mpointfromwkb", 1..=3, geometry::<MULTI_POINT>, from_wkb::<MULTI_POINT>),
    Function::new("st_mlinefromwkb", 1..=3, geometry::<MULTI_LINE_STRING>, from_wkb::<MULTI_LINE_STRING>),
    Function::new("st_mpolyfromwkb", 1..=3, geometry::<MULTI_POLYGON>, from_wkb::<MULTI_POLYGON>),
    Function::new("st_geomcollfromwkb", 1..=3, geometry::<COLLECTION>, from_wkb::<COLLECTION>),
    Function::new("point", 2..=2, geometry::<POINT>, |call| {
        let point = [call.double(0), call.double(1)];
        match point.iter().all(|number| number.is_finite()) {
            true => Ok(Value::Bytes(Geometry::Point(point).to_stored(PLANE))),
            false => Err(invalid(call)),
        }
    }),
    Function::new("linestring", 1..=MOST_PARTS, geometry::<LINE_STRING>, line_string),
    Function::new("polygon", 1..=MOST_PARTS, geometry::<POLYGON>, polygon),
    Function::new("multipoint", 1..=MOST_PARTS, geometry::<MULTI_POINT>, several::<MULTI_POINT>),
    Function::new(
        "multilinestring",
        1..=MOST_PARTS,
        geometry::<MULTI_LINE_STRING>,
        several::<MULTI_LINE_STRING>,
    ),
    Function::new("multipolygon", 1..=MOST_PARTS, geometry::<MULTI_POLYGON>, several::<MULTI_POLYGON>),
    Function::new("geomcollection", 0..=MOST_PARTS, geometry::<COLLECTION>, several::<COLLECTION>),
];
