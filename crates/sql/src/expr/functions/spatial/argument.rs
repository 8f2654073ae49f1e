//! What all functions on geometries share: the spatial reference systems, the errors that many of
//! them return, and the reading of arguments that are geometries.

use super::super::{Call, Coercibility};
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use types::geometry::{Coordinates, Geometry};
use types::{ColumnType, GeometryKind, TypeCode, Value};

/// The SRID of no system: a plane.
pub(super) const PLANE: u32 = 0;
pub(super) const WEB_MERCATOR: u32 = 3857;
pub(super) const WGS_84: u32 = 4326;

/// The kinds of geometries as numbers, which serve as const parameters of functions.
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

/// Builds error 3037, which tells the client that the function was given bytes which are no valid
/// geometry.
pub(super) fn invalid(call: &Call<'_>) -> SqlError {
    with_state(3037, b"22023", format!("Invalid GIS data provided to function {}.", call.name))
}

/// Builds error 3516: a geometry of the kind `found` is given to a function that does not accept
/// it. The message begins with `expected`, which is a list of kinds, or the format that was read.
pub(super) fn unexpected(call: &Call<'_>, expected: &str, found: GeometryKind) -> SqlError {
    let found = found.sql_name().to_ascii_uppercase();
    let text = format!("{expected} value is a geometry of unexpected type {found} in {}.", call.name);
    with_state(3516, b"22S01", text)
}

/// Reports whether the system's first axis, the latitude, is the second one of the stored
/// coordinates. MariaDB computes in the plane in every system.
///
/// # Errors
/// Returns 1235 for a system that this server does not know.
pub(super) fn is_geographic(call: &Call<'_>, srid: u32) -> Result<bool> {
    match srid {
        _ if call.ctx.variables.of_mariadb => Ok(false),
        PLANE | WEB_MERCATOR => Ok(false),
        WGS_84 => Ok(true),
        _ => Err(SqlError::not_supported(format!("coordinates in the spatial reference system {srid}"))),
    }
}

/// Returns the SRID that an argument gives, or that of the plane where it is not given.
pub(super) fn srid_argument(call: &Call<'_>, at: usize) -> Result<u32> {
    if !call.is_given(at) {
        return Ok(PLANE);
    }
    u32::try_from(call.integer(at)).map_err(|_| SqlError::out_of_range("SRID", call.name))
}

/// Brings the coordinates of a text or WKB, whose order is that of the system's axes, into the
/// order in which they are stored.
pub(super) fn turned_in(call: &Call<'_>, srid: u32, geometry: &mut Geometry) -> Result<()> {
    if !is_geographic(call, srid)? {
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

/// Builds error 3617, which tells the client that a latitude is out of range.
fn latitude_outside(call: &Call<'_>, degrees: f64) -> SqlError {
    let text = format!("Latitude {degrees:.6} is out of range in function {}.", call.name);
    with_state(3617, b"22S03", format!("{text} It must be within [-90.000000, 90.000000]."))
}

/// Builds error 3616, which tells the client that a longitude is out of range.
fn longitude_outside(call: &Call<'_>, degrees: f64) -> SqlError {
    let text = format!("Longitude {degrees:.6} is out of range in function {}.", call.name);
    with_state(3616, b"22S02", format!("{text} It must be within (-180.000000, 180.000000]."))
}

/// Checks that a number of degrees is a latitude.
///
/// # Errors
/// Returns 3617 when it is out of range.
pub(super) fn check_latitude(call: &Call<'_>, degrees: f64) -> Result<()> {
    if (-90.0..=90.0).contains(&degrees) { Ok(()) } else { Err(latitude_outside(call, degrees)) }
}

/// Checks that a number of degrees is a longitude.
///
/// # Errors
/// Returns 3616 when it is out of range.
pub(super) fn check_longitude(call: &Call<'_>, degrees: f64) -> Result<()> {
    if degrees > -180.0 && degrees <= 180.0 { Ok(()) } else { Err(longitude_outside(call, degrees)) }
}

/// Returns the name of a geometry's kind as errors show it.
pub(super) fn shown_kind(geometry: &Geometry) -> String {
    geometry.kind().sql_name().to_ascii_uppercase()
}

/// Builds error 3618: the function does not support geometries on the ellipsoid. `kinds` are the
/// kinds of the arguments.
pub(super) fn not_on_ellipsoid(call: &Call<'_>, kinds: &str) -> SqlError {
    let text =
        format!("{}({kinds}) has not been implemented for geographic spatial reference systems.", call.name);
    with_state(3618, b"22S00", text)
}

/// Builds error 3618 for one geometry.
pub(super) fn not_on_ellipsoid_of(call: &Call<'_>, geometry: &Geometry) -> SqlError {
    not_on_ellipsoid(call, &shown_kind(geometry))
}

/// Builds error 3618 for two geometries.
pub(super) fn not_on_ellipsoid_of_both(call: &Call<'_>, first: &Geometry, second: &Geometry) -> SqlError {
    not_on_ellipsoid(call, &format!("{}, {}", shown_kind(first), shown_kind(second)))
}

/// Builds error 1690. `what` is the first word of MySQL's message.
pub(super) fn out_of_range(call: &Call<'_>, what: &str) -> SqlError {
    SqlError::out_of_range(what, call.name)
}

/// About how many bytes are kept for each byte of a geometry that is combined with another one: its
/// edges and their meetings, in more than one form.
pub(super) const BYTES_AT_WORK: usize = 32;

/// Returns the geometries of the first two arguments and the SRID that they share.
///
/// # Errors
/// Returns 3033 when their SRIDs differ, 3037 for bytes that are no geometry, and the errors of
/// charging memory.
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

/// Builds error 3033, which tells the client that the SRIDs of two arguments differ.
fn different_systems(call: &Call<'_>, first: u32, second: u32) -> SqlError {
    let text = format!(
        "Binary geometry function {} given two geometries of different srids: {first} and {second}, which should have \
         been identical.",
        call.name
    );
    SqlError::new(3033, text)
}

/// Returns a geometry as a result. It is NULL, with a warning, when it is longer than
/// `max_allowed_packet`.
pub(super) fn result(call: &Call<'_>, srid: u32, geometry: &Geometry) -> Result<Value> {
    if !call.may_make(geometry.stored_bytes(), call.name)? {
        return Ok(Value::Null);
    }
    Ok(Value::Bytes(geometry.to_stored(srid)))
}

/// Returns the geometry of an argument and its SRID.
///
/// # Errors
/// Returns 3037 for bytes that are no geometry, and the errors of charging memory.
pub(super) fn stored(call: &Call<'_>, at: usize) -> Result<(u32, Geometry)> {
    // The geometry is there as it was read and in another form.
    const COPIES: usize = 4;
    match &*call.values[at] {
        Value::Bytes(bytes) => {
            call.check_room(bytes.len().saturating_mul(COPIES))?;
            Geometry::from_stored(bytes).ok_or_else(|| invalid(call))
        }
        _ => Err(invalid(call)),
    }
}

/// Does the same as [`stored`] for the first argument, with the coordinates in the order of the
/// system's axes.
pub(super) fn turned_out(call: &Call<'_>) -> Result<Geometry> {
    let (srid, mut geometry) = stored(call, 0)?;
    if is_geographic(call, srid)? {
        geometry.for_each_point(&mut |point: &mut Coordinates| point.swap(0, 1));
    }
    Ok(geometry)
}

/// Returns the geometries of all arguments, which must have the same SRID.
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

/// Builds error 3064: an argument has a type that the function does not take. `argument` is MySQL's
/// name for it.
pub(super) fn wrong_type(function: &str, argument: &str) -> SqlError {
    SqlError::new(3064, format!("Incorrect type for argument {argument} in function {function}."))
}

/// Builds error 1411: an argument has a value that the function does not take. `what` is MySQL's
/// name for it.
pub(super) fn wrong_value(function: &str, what: &str, value: &str) -> SqlError {
    SqlError::new(1411, format!("Incorrect {what} value: '{value}' for function {function}"))
}

/// Reports whether an argument consists of characters.
pub(super) fn is_text(call: &Call<'_>, at: usize) -> bool {
    let ty = &call.args[at].ty;
    matches!(&*call.values[at], Value::Bytes(_)) && ty.is_character() && ty.code != TypeCode::Geometry
}
