//! What all functions of geometries share: spatial reference systems, the errors that many of them
//! raise, and arguments that are geometries.

use super::super::{Call, Coercibility};
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use types::geometry::{Coordinates, Geometry};
use types::{ColumnType, GeometryKind, TypeCode, Value};

/// No system: a plane.
pub(super) const PLANE: u32 = 0;
pub(super) const WEB_MERCATOR: u32 = 3857;
pub(super) const WGS_84: u32 = 4326;

/// The kinds by the numbers that functions' parameters have.
pub(super) const ANY: u8 = GeometryKind::Geometry as u8;
pub(super) const POINT: u8 = GeometryKind::Point as u8;
pub(super) const LINE_STRING: u8 = GeometryKind::LineString as u8;
pub(super) const POLYGON: u8 = GeometryKind::Polygon as u8;
pub(super) const MULTI_POINT: u8 = GeometryKind::MultiPoint as u8;
pub(super) const MULTI_LINE_STRING: u8 = GeometryKind::MultiLineString as u8;
pub(super) const MULTI_POLYGON: u8 = GeometryKind::MultiPolygon as u8;
pub(super) const COLLECTION: u8 = GeometryKind::Collection as u8;

pub(super) fn kind_of<const KIND: u8>() -> GeometryKind {
    GeometryKind::from_number(u64::from(KIND)).unwrap_or(GeometryKind::Geometry)
}

pub(super) fn geometry<const KIND: u8>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::geometry(kind_of::<KIND>(), None), Coercibility::Literal))
}

pub(super) fn bytes(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::longblob(), Coercibility::Literal))
}

pub(super) fn with_state(code: u16, state: &[u8; 5], message: String) -> SqlError {
    let mut error = SqlError::new(code, message);
    error.state = *state;
    error
}

/// Error 3037.
pub(super) fn invalid(call: &Call<'_>) -> SqlError {
    with_state(3037, b"22023", format!("Invalid GIS data provided to function {}.", call.name))
}

/// Error 3516.
pub(super) fn unexpected(call: &Call<'_>, expected: &str, found: GeometryKind) -> SqlError {
    let found = found.sql_name().to_ascii_uppercase();
    let text = format!("{expected} value is a geometry of unexpected type {found} in {}.", call.name);
    with_state(3516, b"22S01", text)
}

/// Whether the system's first axis is the second one of the stored coordinates: the latitude.
///
/// # Errors
/// 1235 for a system that is not known here.
pub(super) fn is_geographic(srid: u32) -> Result<bool> {
    match srid {
        PLANE | WEB_MERCATOR => Ok(false),
        WGS_84 => Ok(true),
        _ => Err(SqlError::not_supported(format!("coordinates in the spatial reference system {srid}"))),
    }
}

/// The SRID that an argument gives.
pub(super) fn srid_argument(call: &Call<'_>, at: usize) -> Result<u32> {
    if !call.is_given(at) {
        return Ok(PLANE);
    }
    u32::try_from(call.integer(at)).map_err(|_| SqlError::out_of_range("SRID", call.name))
}

/// The first axis of a text or WKB becomes the one that is stored first.
pub(super) fn turned_in(call: &Call<'_>, srid: u32, geometry: &mut Geometry) -> Result<()> {
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
        Some((true, degrees)) => Err(latitude_outside(call, degrees)),
        Some((false, degrees)) => Err(longitude_outside(call, degrees)),
    }
}

/// Error 3617.
fn latitude_outside(call: &Call<'_>, degrees: f64) -> SqlError {
    let text = format!("Latitude {degrees:.6} is out of range in function {}.", call.name);
    with_state(3617, b"22S03", format!("{text} It must be within [-90.000000, 90.000000]."))
}

/// Error 3616.
fn longitude_outside(call: &Call<'_>, degrees: f64) -> SqlError {
    let text = format!("Longitude {degrees:.6} is out of range in function {}.", call.name);
    with_state(3616, b"22S02", format!("{text} It must be within (-180.000000, 180.000000]."))
}

/// That a latitude is one.
///
/// # Errors
/// 3617.
pub(super) fn check_latitude(call: &Call<'_>, degrees: f64) -> Result<()> {
    if (-90.0..=90.0).contains(&degrees) { Ok(()) } else { Err(latitude_outside(call, degrees)) }
}

/// That a longitude is one.
///
/// # Errors
/// 3616.
pub(super) fn check_longitude(call: &Call<'_>, degrees: f64) -> Result<()> {
    if degrees > -180.0 && degrees <= 180.0 { Ok(()) } else { Err(longitude_outside(call, degrees)) }
}

/// The name of a kind as errors show it.
pub(super) fn shown_kind(geometry: &Geometry) -> String {
    geometry.kind().sql_name().to_ascii_uppercase()
}

/// Error 3618: `kinds` are the kinds of the arguments.
pub(super) fn not_on_ellipsoid(call: &Call<'_>, kinds: &str) -> SqlError {
    let text =
        format!("{}({kinds}) has not been implemented for geographic spatial reference systems.", call.name);
    with_state(3618, b"22S00", text)
}

/// Error 3618 of one geometry.
pub(super) fn not_on_ellipsoid_of(call: &Call<'_>, geometry: &Geometry) -> SqlError {
    not_on_ellipsoid(call, &shown_kind(geometry))
}

/// Error 3618 of two geometries.
pub(super) fn not_on_ellipsoid_of_both(call: &Call<'_>, first: &Geometry, second: &Geometry) -> SqlError {
    not_on_ellipsoid(call, &format!("{}, {}", shown_kind(first), shown_kind(second)))
}

/// Error 1690: `what` is the first word of MySQL's message.
pub(super) fn out_of_range(call: &Call<'_>, what: &str) -> SqlError {
    SqlError::out_of_range(what, call.name)
}

/// About so many bytes are kept for each byte of a geometry that is looked at with another one:
/// its edges and their meetings, in more than one form.
pub(super) const BYTES_AT_WORK: usize = 32;

/// The geometries of the first two arguments, and their SRID.
///
/// # Errors
/// 3033 when they differ in it, 3037; the memory's.
pub(super) fn two(call: &Call<'_>) -> Result<(u32, Geometry, Geometry)> {
    for value in &call.values[..2] {
        if let Value::Bytes(bytes) = &**value {
            call.check_room(bytes.len().saturating_mul(BYTES_AT_WORK))?;
        }
    }
    let (first_srid, first) = stored(call, 0)?;
    let (second_srid, second) = stored(call, 1)?;
    if first_srid != second_srid {
        return Err(different_systems(call, first_srid, second_srid));
    }
    Ok((first_srid, first, second))
}

/// Error 3033.
fn different_systems(call: &Call<'_>, first: u32, second: u32) -> SqlError {
    let text = format!(
        "Binary geometry function {} given two geometries of different srids: {first} and {second}, which should have \
         been identical.",
        call.name
    );
    SqlError::new(3033, text)
}

/// A geometry as a result, NULL and a warning when it is longer than a packet may be.
pub(super) fn result(call: &Call<'_>, srid: u32, geometry: &Geometry) -> Result<Value> {
    if !call.may_make(geometry.stored_bytes(), call.name)? {
        return Ok(Value::Null);
    }
    Ok(Value::Bytes(geometry.to_stored(srid)))
}

/// The geometry of an argument, with its SRID.
///
/// # Errors
/// 3037; the memory's.
pub(super) fn stored(call: &Call<'_>, at: usize) -> Result<(u32, Geometry)> {
    // Read, and once more in another form.
    const COPIES: usize = 4;
    match &*call.values[at] {
        Value::Bytes(bytes) => {
            call.check_room(bytes.len().saturating_mul(COPIES))?;
            Geometry::from_stored(bytes).ok_or_else(|| invalid(call))
        }
        _ => Err(invalid(call)),
    }
}

/// As [`stored`], with the first axis first.
pub(super) fn turned_out(call: &Call<'_>) -> Result<Geometry> {
    let (srid, mut geometry) = stored(call, 0)?;
    if is_geographic(srid)? {
        geometry.for_each_point(&mut |point: &mut Coordinates| point.swap(0, 1));
    }
    Ok(geometry)
}

/// The geometries of all arguments, which have the same SRID.
pub(super) fn parts(call: &Call<'_>) -> Result<(u32, Vec<Geometry>)> {
    let mut srid = None;
    let mut parts = Vec::with_capacity(call.values.len());
    for at in 0..call.values.len() {
        let (own, geometry) = stored(call, at)?;
        if *srid.get_or_insert(own) != own {
            return Err(different_systems(call, srid.unwrap_or(PLANE), own));
        }
        parts.push(geometry);
    }
    Ok((srid.unwrap_or(PLANE), parts))
}

/// Error 3064: an argument is of a type that it cannot be; `argument` is MySQL's name of it.
pub(super) fn wrong_type(function: &str, argument: &str) -> SqlError {
    SqlError::new(3064, format!("Incorrect type for argument {argument} in function {function}."))
}

/// Error 1411: `what` is MySQL's name of the argument.
pub(super) fn wrong_value(function: &str, what: &str, value: &str) -> SqlError {
    SqlError::new(1411, format!("Incorrect {what} value: '{value}' for function {function}"))
}

/// Whether an argument is characters.
pub(super) fn is_text(call: &Call<'_>, at: usize) -> bool {
    let ty = &call.args[at].ty;
    matches!(&*call.values[at], Value::Bytes(_)) && ty.is_character() && ty.code != TypeCode::Geometry
}
