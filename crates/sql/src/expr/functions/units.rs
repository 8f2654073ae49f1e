//! `FORMAT_BYTES()` and `FORMAT_PICO_TIME()`, which show numbers in the unit that suits them.

use super::{Call, Function, old_system_text, text};
use types::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("format_bytes", 1..=1, old_system_text::<11>, |call| Ok(in_unit(call, 4, &BYTES))),
    Function::new("format_pico_time", 1..=1, old_system_text::<11>, |call| Ok(in_unit(call, 3, &TIMES))),
];

/// Units with their sizes in the first unit, the smallest first.
type Units<const N: usize> = [(f64, &'static str); N];

const KIB: f64 = 1024.0;
const BYTES: Units<7> = [
    (1.0, "bytes"),
    (KIB, "KiB"),
    (KIB * KIB, "MiB"),
    (KIB * KIB * KIB, "GiB"),
    (KIB * KIB * KIB * KIB, "TiB"),
    (KIB * KIB * KIB * KIB * KIB, "PiB"),
    (KIB * KIB * KIB * KIB * KIB * KIB, "EiB"),
];

const SECOND: f64 = 1e12;
const TIMES: Units<8> = [
    (1.0, "ps"),
    (1e3, "ns"),
    (1e6, "us"),
    (1e9, "ms"),
    (SECOND, "s"),
    (60.0 * SECOND, "min"),
    (3600.0 * SECOND, "h"),
    (86_400.0 * SECOND, "d"),
];

/// Returns the number in the largest unit of which it has at least one. A number in the smallest
/// unit has no fraction and is at least `width` characters wide.
fn in_unit<const N: usize>(call: &Call<'_>, width: usize, units: &Units<N>) -> Value {
    /// From this count on, the number is shown as digits and a power of ten.
    const LARGE: f64 = 100_000.0;
    let number = call.double(0);
    let (size, unit) = units.iter().rev().find(|(size, _)| number.abs() >= *size).unwrap_or(&units[0]);
    if *size == 1.0 {
        return text(format!("{:width$} {unit}", number as i64));
    }
    let count = number / size;
    if count.abs() >= LARGE {
        return text(format!("{} {unit}", with_power(count)));
    }
    text(format!("{count:.2} {unit}"))
}

/// Returns the number as C's `%.2e` writes it: `8.67e+05`.
fn with_power(number: f64) -> String {
    let written = format!("{number:.2e}");
    let (digits, power) = written.split_once('e').unwrap_or((&written, "0"));
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
    format!("{digits}e{sign}{power:0>2}")
}
