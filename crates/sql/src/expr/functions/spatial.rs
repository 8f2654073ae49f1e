//! Geometries from texts and bytes, and back. Of spatial reference systems these know the plane
//! (0), Web Mercator (3857) and WGS 84 (4326), whose first axis is the latitude.

use super::super::Expr;
use super::{Call, Coercibility, Function, double, long_text, system_text, text, unsigned};
use crate::error::{Result, SqlError};
use types::geometry::{Coordinates, Geometry};
use types::{ColumnType, GeometryKind, Value};

/// No system: a plane.
const PLANE: u32 = 0;
const WEB_MERCATOR: u32 = 3857;
const WGS_84: u32 = 4326;

/// The kinds by the numbers that functions' parameters have.
const ANY: u8 = GeometryKind::Geometry as u8;
const POINT: u8 = GeometryKind::Point as u8;
const LINE_STRING: u8 = GeometryKind::LineString as u8;
const POLYGON: u8 = GeometryKind::Polygon as u8;
const MULTI_POINT: u8 = GeometryKind::MultiPoint as u8;
const MULTI_LINE_STRING: u8 = GeometryKind::MultiLineString as u8;
const MULTI_POLYGON: u8 = GeometryKind::MultiPolygon as u8;
const COLLECTION: u8 = GeometryKind::Collection as u8;

fn kind_of<const KIND: u8>() -> GeometryKind {
    GeometryKind::from_number(u64::from(KIND)).unwrap_or(GeometryKind::Geometry)
}

fn geometry<const KIND: u8>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::geometry(kind_of::<KIND>(), None), Coercibility::Literal))
}

fn bytes(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::longblob(), Coercibility::Literal))
}

fn with_state(code: u16, state: &[u8; 5], message: String) -> SqlError {
    let mut error = SqlError::new(code, message);
    error.state = *state;
    error
}

/// Error 3037.
fn invalid(call: &Call<'_>) -> SqlError {
    with_state(3037, b"22023", format!("Invalid GIS data provided to function {}.", call.name))
}

/// Error 3516.
fn unexpected(call: &Call<'_>, expected: &str, found: GeometryKind) -> SqlError {
    let found = found.sql_name().to_ascii_uppercase();
    let text = format!("{expected} value is a geometry of unexpected type {found} in {}.", call.name);
    with_state(3516, b"22S01", text)
}

/// Whether the system's first axis is the second one of the stored coordinates: the latitude.
///
/// # Errors
/// 1235 for a system that is not known here.
fn is_geographic(srid: u32) -> Result<bool> {
    match srid {
        PLANE | WEB_MERCATOR => Ok(false),
        WGS_84 => Ok(true),
        _ => Err(SqlError::not_supported(format!("coordinates in the spatial reference system {srid}"))),
    }
}

/// The SRID that an argument gives.
fn srid_argument(call: &Call<'_>, at: usize) -> Result<u32> {
    if !call.is_given(at) {
        return Ok(PLANE);
    }
    u32::try_from(call.integer(at)).map_err(|_| SqlError::out_of_range("SRID", call.name))
}

/// The first axis of a text or WKB becomes the one that is stored first.
fn turned_in(call: &Call<'_>, srid: u32, geometry: &mut Geometry) -> Result<()> {
    if !is_geographic(srid)? {
        return Ok(());
    }
    let mut outside = None;
    geometry.for_each_point(&mut |point: &mut Coordinates| {
        let [latitude, longitude] = *point;
        if !(-90.0..=90.0).contains(&latitude) {
            outside = outside.or(Some((true, latitude)));
        } else if !(longitude > -180.0 && longitude <= 180.0) {
            outside = outside.or(Some((false, longitude)));
        }
        point.swap(0, 1);
    });
    match outside {
        None => Ok(()),
        Some((true, degrees)) => {
            let text = format!("Latitude {degrees:.6} is out of range in function {}.", call.name);
            Err(with_state(3617, b"22S03", format!("{text} It must be within [-90.000000, 90.000000].")))
        }
        Some((false, degrees)) => {
            let text = format!("Longitude {degrees:.6} is out of range in function {}.", call.name);
            Err(with_state(3616, b"22S02", format!("{text} It must be within (-180.000000, 180.000000].")))
        }
    }
}

/// The geometry of an argument, with its SRID.
fn stored(call: &Call<'_>, at: usize) -> Result<(u32, Geometry)> {
    match &*call.values[at] {
        Value::Bytes(bytes) => Geometry::from_stored(bytes).ok_or_else(|| invalid(call)),
        _ => Err(invalid(call)),
    }
}

/// As [`stored`], with the first axis first.
fn turned_out(call: &Call<'_>) -> Result<Geometry> {
    let (srid, mut geometry) = stored(call, 0)?;
    if is_geographic(srid)? {
        geometry.for_each_point(&mut |point: &mut Coordinates| point.swap(0, 1));
    }
    Ok(geometry)
}

/// What a text or WKB makes, of this kind.
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

/// A coordinate of a point, by its axis.
fn coordinate(call: &Call<'_>, axis: usize) -> Result<Value> {
    match turned_out(call)? {
        Geometry::Point(point) => Ok(Value::Double(point[axis])),
        other => Err(unexpected(call, "POINT", other.kind())),
    }
}

/// A coordinate of a point on the globe.
fn degrees(call: &Call<'_>, axis: usize) -> Result<Value> {
    let (srid, _) = stored(call, 0)?;
    if !is_geographic(srid)? {
        let text = format!(
            "Function {} is only defined for geographic spatial reference systems, but one of its arguments is in \
             SRID {srid}, which is not geographic.",
            call.name
        );
        return Err(with_state(3726, b"22S00", text));
    }
    coordinate(call, axis)
}

/// The geometries of all arguments, which have the same SRID.
fn parts(call: &Call<'_>) -> Result<(u32, Vec<Geometry>)> {
    let mut srid = None;
    let mut parts = Vec::with_capacity(call.values.len());
    for at in 0..call.values.len() {
        let (own, geometry) = stored(call, at)?;
        if *srid.get_or_insert(own) != own {
            let first = srid.unwrap_or(PLANE);
            let text = format!(
                "Binary geometry function {} given two geometries of different srids: {first} and {own}, which should \
                 have been identical.",
                call.name
            );
            return Err(SqlError::new(3033, text));
        }
        parts.push(geometry);
    }
    Ok((srid.unwrap_or(PLANE), parts))
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
    Function::new("st_astext", 1..=1, long_text, |call| Ok(text(turned_out(call)?.to_wkt()))),
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
                true => Ok(Value::Bytes(geometry.to_stored(srid_argument(call, 1)?))),
                false => Ok(Value::UInt(u64::from(srid))),
            }
        },
    ),
    Function::new("st_x", 1..=1, double, |call| coordinate(call, 0)),
    Function::new("st_y", 1..=1, double, |call| coordinate(call, 1)),
    Function::new("st_latitude", 1..=1, double, |call| degrees(call, 0)),
    Function::new("st_longitude", 1..=1, double, |call| degrees(call, 1)),
    Function::new("st_geometrytype", 1..=1, system_text::<20>, |call| {
        let (_, geometry) = stored(call, 0)?;
        Ok(text(geometry.kind().sql_name().to_ascii_uppercase()))
    }),
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

/// The name in the table of another name of a function here.
pub(super) fn canonical_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "st_geometryfromtext" => "st_geomfromtext",
        "st_linestringfromtext" => "st_linefromtext",
        "st_polygonfromtext" => "st_polyfromtext",
        "st_multipointfromtext" => "st_mpointfromtext",
        "st_multilinestringfromtext" => "st_mlinefromtext",
        "st_multipolygonfromtext" => "st_mpolyfromtext",
        "st_geometrycollectionfromtext" | "st_geomcollfromtxt" => "st_geomcollfromtext",
        "st_geometryfromwkb" => "st_geomfromwkb",
        "st_linestringfromwkb" => "st_linefromwkb",
        "st_polygonfromwkb" => "st_polyfromwkb",
        "st_aswkt" => "st_astext",
        "st_aswkb" => "st_asbinary",
        "geometrycollection" => "geomcollection",
        _ => return None,
    })
}
