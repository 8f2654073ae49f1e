//! Geohashes, whose bits halve longitude and latitude in turn; five bits make a character.

use super::super::{Call, Function, double, old_system_text, text};
use super::argument::{
    PLANE, POINT, WGS_84, geometry, invalid, is_geographic, is_text, out_of_range, srid_argument, with_state,
    wrong_type, wrong_value,
};
use super::rounding::rounded;
use crate::error::Result;
use types::geometry::Geometry;
use types::{TypeCode, Value};

/// The characters, each at the index that its five bits are.
const CHARACTERS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
/// The most characters of a geohash.
const MOST_CHARACTERS: i64 = 100;
/// The most decimals of a coordinate that mean anything.
const MOST_DECIMALS: u32 = 15;

/// The range in which a coordinate is known to be.
#[derive(Clone, Copy)]
struct Span {
    least: f64,
    largest: f64,
}

const LONGITUDES: Span = Span { least: -180.0, largest: 180.0 };
const LATITUDES: Span = Span { least: -90.0, largest: 90.0 };

impl Span {
    fn middle(self) -> f64 {
        (self.least + self.largest) / 2.0
    }

    /// Keeps the upper half or the lower one.
    fn halve(&mut self, upper: bool) {
        let middle = self.middle();
        *(if upper { &mut self.least } else { &mut self.largest }) = middle;
    }

    /// Returns the number with the fewest decimals that is in the span, as long as its decimals
    /// mean anything.
    fn shown(self) -> f64 {
        let mut width = self.largest - self.least;
        let mut decimals = 0;
        while width <= 0.1 && decimals <= MOST_DECIMALS {
            decimals += 1;
            width *= 10.0;
        }
        loop {
            let shown = rounded(self.middle(), decimals);
            if (self.least..=self.largest).contains(&shown) {
                return shown + 0.0;
            }
            if decimals >= MOST_DECIMALS {
                return self.middle();
            }
            decimals += 1;
        }
    }
}

fn encoded(longitude: f64, latitude: f64, characters: usize) -> Vec<u8> {
    let mut spans = [LONGITUDES, LATITUDES];
    let (mut hash, mut axis) = (Vec::with_capacity(characters), 0);
    while hash.len() < characters {
        let mut bits = 0;
        for _ in 0..5 {
            let upper = [longitude, latitude][axis] >= spans[axis].middle();
            spans[axis].halve(upper);
            bits = bits * 2 + usize::from(upper);
            axis = 1 - axis;
        }
        hash.push(CHARACTERS[bits]);
        if spans[0].middle() == longitude && spans[1].middle() == latitude {
            break;
        }
    }
    hash
}

fn decoded(hash: &[u8]) -> Option<[Span; 2]> {
    let mut spans = [LONGITUDES, LATITUDES];
    let mut axis = 0;
    for character in hash {
        let bits = CHARACTERS.iter().position(|known| *known == character.to_ascii_lowercase())?;
        for bit in (0..5).rev() {
            spans[axis].halve(bits >> bit & 1 == 1);
            axis = 1 - axis;
        }
    }
    (!hash.is_empty()).then_some(spans)
}

/// Returns the spans of an argument that is a geohash. `function` is the name that errors show.
fn spans(call: &Call<'_>, function: &str) -> Result<[Span; 2]> {
    if !is_text(call, 0) {
        return Err(wrong_type(function, "geohash"));
    }
    let hash = call.bytes(0);
    decoded(&hash).ok_or_else(|| wrong_value(function, "geohash", &String::from_utf8_lossy(&hash)))
}

fn geohash(call: &Call<'_>) -> Result<Value> {
    let [longitude, latitude] =
        if call.values.len() == 3 { [call.double(0), call.double(1)] } else { point(call)? };
    let most = call.integer(call.values.len() - 1);
    if !(1..=MOST_CHARACTERS).contains(&most) {
        return Err(out_of_range(call, "max geohash length"));
    }
    if !(-180.0..=180.0).contains(&longitude) {
        return Err(out_of_range(call, "longitude"));
    }
    if !(-90.0..=90.0).contains(&latitude) {
        return Err(out_of_range(call, "latitude"));
    }
    Ok(text(encoded(longitude, latitude, most as usize)))
}

/// Returns the coordinates of the first argument, which has to be a point.
fn point(call: &Call<'_>) -> Result<[f64; 2]> {
    let wrong_type = || wrong_type(call.name, "point");
    let Value::Bytes(bytes) = &*call.values[0] else { return Err(wrong_type()) };
    if is_text(call, 0) && call.args[0].ty.code != TypeCode::Geometry && !call.is_binary(0) {
        return Err(wrong_type());
    }
    let (srid, found) = Geometry::from_stored(bytes).ok_or_else(|| invalid(call))?;
    let Geometry::Point(point) = found else { return Err(wrong_type()) };
    if !matches!(srid, PLANE | WGS_84) {
        let text = format!("Function {} is only defined for SRID 0 and SRID 4326.", call.name);
        return Err(with_state(3682, b"22S00", text));
    }
    Ok(point)
}

fn point_from(call: &Call<'_>) -> Result<Value> {
    let [longitude, latitude] = spans(call, call.name)?.map(Span::shown);
    let srid = srid_argument(call, 1)?;
    is_geographic(call, srid)?;
    Ok(Value::Bytes(Geometry::Point([longitude, latitude]).to_stored(srid)))
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_geohash", 2..=3, old_system_text::<100>, geohash),
    Function::new("st_latfromgeohash", 1..=1, double, |call| {
        Ok(Value::Double(spans(call, "ST_LATFROMGEOHASH")?[1].shown()))
    }),
    Function::new("st_longfromgeohash", 1..=1, double, |call| {
        Ok(Value::Double(spans(call, "ST_LONGFROMGEOHASH")?[0].shown()))
    }),
    Function::new("st_pointfromgeohash", 2..=2, geometry::<POINT>, point_from),
];
