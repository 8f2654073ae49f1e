//! ST_TRANSFORM(), which converts between the spatial reference systems WGS 84 and Web Mercator.

use super::super::{Call, Function};
use super::argument::{ANY, PLANE, geometry, is_geographic, result, stored, with_state};
use super::ellipsoid::{degrees, radians};
use super::geodesic::EQUATOR_RADIUS;
use crate::error::Result;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};
use types::Value;
use types::geometry::Coordinates;

/// The largest latitude, in degrees, that has a place on the map.
const FARTHEST: f64 = 90.0 - 1e-10;

/// A point within this many radians of the meridian of 180 degrees is on it.
const ROUNDING: f64 = 1e-12;

fn to_map(point: &mut Coordinates) {
    let [longitude, latitude] = radians(*point);
    *point = [EQUATOR_RADIUS * longitude, EQUATOR_RADIUS * (FRAC_PI_4 + latitude / 2.0).tan().ln()];
}

fn from_map(point: &mut Coordinates) {
    let [x, y] = point.map(|metres| metres / EQUATOR_RADIUS);
    let longitude = if x.abs() > PI + ROUNDING { x - TAU * (x / TAU).round() } else { x };
    let latitude = FRAC_PI_2 - 2.0 * (-y).exp().atan();
    *point = degrees([longitude, latitude]);
}

fn transform(call: &Call<'_>) -> Result<Value> {
    let (from, mut found) = stored(call, 0)?;
    let to = call.integer(1) as u32;
    if from == to {
        return result(call, to, &found);
    }
    let was_geographic = is_geographic(call, from)?;
    is_geographic(call, to)?;
    if from == PLANE {
        return Err(with_state(3741, b"22S00", "Transformation from SRID 0 is not supported.".into()));
    }
    if to == PLANE {
        return Err(with_state(3742, b"22S00", "Transformation to SRID 0 is not supported.".into()));
    }
    let mut is_on_map = true;
    found.for_each_point(&mut |point: &mut Coordinates| {
        if was_geographic {
            is_on_map &= point[1].abs() < FARTHEST;
            to_map(point);
        } else {
            from_map(point);
        }
        is_on_map &= point.iter().all(|number| number.is_finite());
    });
    if is_on_map { result(call, to, &found) } else { Ok(Value::Null) }
}

pub(super) const FUNCTIONS: &[Function] = &[Function::new("st_transform", 2..=2, geometry::<ANY>, transform)];
