//! The cells of the binary protocol: the parameters and rows of prepared statements.
//!
//! A [`Scalar`] only has the protocol's types. The server converts it to and from its own values.

use crate::column::field_type;
use crate::wire::{Malformed, Reader, put_lenenc_bytes};
use std::fmt::Write as _;

/// A date with an optional time of day, as the binary protocol sends it. It may be a date that does
/// not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateTimeParts {
    /// The year, 0 to 9999.
    pub year: u16,
    /// The month, 0 to 12.
    pub month: u8,
    /// The day of the month, 0 to 31.
    pub day: u8,
    /// The hour.
    pub hour: u8,
    /// The minute.
    pub minute: u8,
    /// The second.
    pub second: u8,
    /// The microseconds.
    pub micros: u32,
}

/// A TIME, as the binary protocol sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeParts {
    /// Whether the time is negative.
    pub negative: bool,
    /// The days.
    pub days: u32,
    /// The hours of the day.
    pub hours: u8,
    /// The minutes.
    pub minutes: u8,
    /// The seconds.
    pub seconds: u8,
    /// The microseconds.
    pub micros: u32,
}

/// One cell of the binary protocol.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar<'a> {
    /// NULL.
    Null,
    /// A value of any signed integer type.
    Int(i64),
    /// A value of any unsigned integer type.
    UInt(u64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// A string, BLOB, DECIMAL (as text), JSON (as text) or BIT.
    Bytes(&'a [u8]),
    /// DATE.
    Date(DateTimeParts),
    /// DATETIME or TIMESTAMP.
    DateTime(DateTimeParts),
    /// TIME.
    Time(TimeParts),
}

impl Scalar<'_> {
    /// Returns the type code and the unsigned flag that describe this cell when it is a parameter.
    pub fn parameter_type(&self) -> (u8, bool) {
        match self {
            Scalar::Null => (field_type::NULL, false),
            Scalar::Int(_) => (field_type::LONGLONG, false),
            Scalar::UInt(_) => (field_type::LONGLONG, true),
            Scalar::Float(_) => (field_type::FLOAT, false),
            Scalar::Double(_) => (field_type::DOUBLE, false),
            Scalar::Bytes(_) => (field_type::VAR_STRING, false),
            Scalar::Date(_) => (field_type::DATE, false),
            Scalar::DateTime(_) => (field_type::DATETIME, false),
            Scalar::Time(_) => (field_type::TIME, false),
        }
    }

    /// Appends the cell for a column or parameter of type `code`. NULL appends nothing, since a bit
    /// stands for it.
    ///
    /// Integers are cut to the width of `code`, which the caller has chosen wide enough.
    pub fn encode(&self, code: u8, out: &mut Vec<u8>) {
        match *self {
            Scalar::Null => {}
            Scalar::Int(v) => put_int(v as u64, code, out),
            Scalar::UInt(v) => put_int(v, code, out),
            Scalar::Float(v) => out.extend_from_slice(&v.to_le_bytes()),
            Scalar::Double(v) => out.extend_from_slice(&v.to_le_bytes()),
            Scalar::Bytes(v) => put_lenenc_bytes(out, v),
            Scalar::Date(v) => {
                put_datetime(&DateTimeParts { hour: 0, minute: 0, second: 0, micros: 0, ..v }, out)
            }
            Scalar::DateTime(v) => put_datetime(&v, out),
            Scalar::Time(v) => put_time(&v, out),
        }
    }

    /// Reads one cell of type `code`.
    pub fn decode<'a>(r: &mut Reader<'a>, code: u8, unsigned: bool) -> Result<Scalar<'a>, Malformed> {
        const WHAT: &str = "binary value";
        use field_type as t;
        let int = |signed: i64, mask: u64| {
            if unsigned { Scalar::UInt(signed as u64 & mask) } else { Scalar::Int(signed) }
        };
        Ok(match code {
            t::NULL => Scalar::Null,
            t::TINY | t::BOOL => int(i64::from(r.u8(WHAT)? as i8), 0xff),
            t::SHORT | t::YEAR => int(i64::from(r.u16(WHAT)? as i16), 0xffff),
            t::LONG | t::INT24 => int(i64::from(r.u32(WHAT)? as i32), 0xffff_ffff),
            t::LONGLONG => int(r.u64(WHAT)? as i64, u64::MAX),
            t::FLOAT => Scalar::Float(f32::from_bits(r.u32(WHAT)?)),
            t::DOUBLE => Scalar::Double(f64::from_bits(r.u64(WHAT)?)),
            t::DATE => Scalar::Date(read_datetime(r)?),
            t::DATETIME | t::TIMESTAMP => Scalar::DateTime(read_datetime(r)?),
            t::TIME => Scalar::Time(read_time(r)?),
            t::DECIMAL
            | t::NEWDECIMAL
            | t::VARCHAR
            | t::VAR_STRING
            | t::STRING
            | t::TINY_BLOB
            | t::MEDIUM_BLOB
            | t::LONG_BLOB
            | t::BLOB
            | t::ENUM
            | t::SET
            | t::BIT
            | t::JSON
            | t::GEOMETRY => Scalar::Bytes(r.lenenc_bytes(WHAT)?),
            _ => return Err(Malformed { what: "type code of a binary value" }),
        })
    }

    /// Appends the cell as the text protocol would show it. Returns false for NULL, which appends
    /// nothing.
    ///
    /// `decimals` is the column's number of fractional digits of seconds.
    pub fn put_text(&self, decimals: u8, out: &mut String) -> bool {
        match *self {
            Scalar::Null => return false,
            Scalar::Int(v) => put(out, format_args!("{v}")),
            Scalar::UInt(v) => put(out, format_args!("{v}")),
            Scalar::Float(v) => put(out, format_args!("{v}")),
            Scalar::Double(v) => put(out, format_args!("{v}")),
            Scalar::Bytes(v) => out.push_str(&String::from_utf8_lossy(v)),
            Scalar::Date(v) => put(out, format_args!("{:04}-{:02}-{:02}", v.year, v.month, v.day)),
            Scalar::DateTime(v) => {
                put(out, format_args!("{:04}-{:02}-{:02} ", v.year, v.month, v.day));
                put(out, format_args!("{:02}:{:02}:{:02}", v.hour, v.minute, v.second));
                put_fraction(v.micros, decimals, out);
            }
            Scalar::Time(v) => {
                let sign = if v.negative { "-" } else { "" };
                let hours = u64::from(v.days) * 24 + u64::from(v.hours);
                put(out, format_args!("{sign}{hours:02}:{:02}:{:02}", v.minutes, v.seconds));
                put_fraction(v.micros, decimals, out);
            }
        }
        true
    }
}

fn put(out: &mut String, args: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _infallible = out.write_fmt(args);
}

fn put_fraction(micros: u32, decimals: u8, out: &mut String) {
    if (1..=6).contains(&decimals) {
        let digits = format!("{micros:06}");
        out.push('.');
        out.push_str(&digits[..usize::from(decimals)]);
    }
}

fn put_int(value: u64, code: u8, out: &mut Vec<u8>) {
    let bytes = value.to_le_bytes();
    let width = match code {
        field_type::TINY | field_type::BOOL => 1,
        field_type::SHORT | field_type::YEAR => 2,
        field_type::LONG | field_type::INT24 => 4,
        _ => 8,
    };
    out.extend_from_slice(&bytes[..width]);
}

fn put_datetime(v: &DateTimeParts, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(0);
    if *v != DateTimeParts::default() {
        out.extend_from_slice(&v.year.to_le_bytes());
        out.extend_from_slice(&[v.month, v.day]);
        if (v.hour, v.minute, v.second, v.micros) != (0, 0, 0, 0) {
            out.extend_from_slice(&[v.hour, v.minute, v.second]);
        }
        if v.micros != 0 {
            out.extend_from_slice(&v.micros.to_le_bytes());
        }
    }
    out[start] = (out.len() - start - 1) as u8;
}

fn put_time(v: &TimeParts, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(0);
    if *v != TimeParts::default() {
        out.push(u8::from(v.negative));
        out.extend_from_slice(&v.days.to_le_bytes());
        out.extend_from_slice(&[v.hours, v.minutes, v.seconds]);
        if v.micros != 0 {
            out.extend_from_slice(&v.micros.to_le_bytes());
        }
    }
    out[start] = (out.len() - start - 1) as u8;
}

fn read_datetime(r: &mut Reader<'_>) -> Result<DateTimeParts, Malformed> {
    const WHAT: &str = "binary date";
    let len = usize::from(r.u8(WHAT)?);
    let mut r = Reader::new(r.take(len, WHAT)?);
    let mut v = DateTimeParts::default();
    if len >= 4 {
        v.year = r.u16(WHAT)?;
        v.month = r.u8(WHAT)?;
        v.day = r.u8(WHAT)?;
    }
    if len >= 7 {
        v.hour = r.u8(WHAT)?;
        v.minute = r.u8(WHAT)?;
        v.second = r.u8(WHAT)?;
    }
    if len >= 11 {
        v.micros = r.u32(WHAT)?;
    }
    if v.micros > 999_999 { Err(Malformed { what: WHAT }) } else { Ok(v) }
}

fn read_time(r: &mut Reader<'_>) -> Result<TimeParts, Malformed> {
    const WHAT: &str = "binary time";
    let len = usize::from(r.u8(WHAT)?);
    let mut r = Reader::new(r.take(len, WHAT)?);
    let mut v = TimeParts::default();
    if len >= 8 {
        v.negative = r.u8(WHAT)? != 0;
        v.days = r.u32(WHAT)?;
        v.hours = r.u8(WHAT)?;
        v.minutes = r.u8(WHAT)?;
        v.seconds = r.u8(WHAT)?;
    }
    if len >= 12 {
        v.micros = r.u32(WHAT)?;
    }
    if v.micros > 999_999 { Err(Malformed { what: WHAT }) } else { Ok(v) }
}

/// Returns the number of bytes of the null bitmap of a binary row with `columns` columns.
pub fn row_null_bitmap_bytes(columns: usize) -> usize {
    (columns + 7 + 2) / 8
}

/// Appends one binary row: a header, the null bitmap (whose first two bits are unused), the cells.
///
/// `cell(i, out)` appends cell `i` and returns false for NULL.
#[inline]
pub fn put_binary_row(columns: usize, out: &mut Vec<u8>, mut cell: impl FnMut(usize, &mut Vec<u8>) -> bool) {
    let put = try_put_binary_row(columns, out, |i, out| Ok::<bool, std::convert::Infallible>(cell(i, out)));
    put.unwrap_or_else(|never| match never {})
}

/// Does what [`put_binary_row`] does, with cells that may fail. After an error the row is
/// incomplete.
#[inline]
pub fn try_put_binary_row<E>(
    columns: usize,
    out: &mut Vec<u8>,
    mut cell: impl FnMut(usize, &mut Vec<u8>) -> Result<bool, E>,
) -> Result<(), E> {
    let bitmap = out.len() + 1;
    out.resize(bitmap + row_null_bitmap_bytes(columns), 0);
    for i in 0..columns {
        let end = out.len();
        if !cell(i, out)? {
            debug_assert_eq!(out.len(), end, "NULL has a bit and no bytes");
            out[bitmap + (i + 2) / 8] |= 1 << ((i + 2) % 8);
        }
    }
    Ok(())
}

/// Calls `cell` with each cell of a binary row. `types` are the columns' type codes and unsigned
/// flags.
pub fn read_binary_row<'a>(
    payload: &'a [u8],
    types: impl ExactSizeIterator<Item = (u8, bool)>,
    mut cell: impl FnMut(usize, Scalar<'a>),
) -> Result<(), Malformed> {
    let mut r = Reader::new(payload);
    r.u8("binary row")?;
    let bitmap = r.take(row_null_bitmap_bytes(types.len()), "null bitmap of a binary row")?;
    for (i, (code, unsigned)) in types.enumerate() {
        if bitmap[(i + 2) / 8] & (1 << ((i + 2) % 8)) != 0 {
            cell(i, Scalar::Null);
        } else {
            cell(i, Scalar::decode(&mut r, code, unsigned)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<(Scalar<'static>, u8)> {
        let date = DateTimeParts { year: 2024, month: 2, day: 29, ..Default::default() };
        let at = DateTimeParts { hour: 23, minute: 59, second: 58, micros: 7, ..date };
        let time = TimeParts { negative: true, days: 34, hours: 22, minutes: 59, seconds: 59, micros: 0 };
        vec![
            (Scalar::Int(-5), field_type::TINY),
            (Scalar::Int(-500), field_type::SHORT),
            (Scalar::Int(-70_000), field_type::LONG),
            (Scalar::Int(i64::MIN), field_type::LONGLONG),
            (Scalar::UInt(u64::MAX), field_type::LONGLONG),
            (Scalar::UInt(200), field_type::TINY),
            (Scalar::Float(1.5), field_type::FLOAT),
            (Scalar::Double(-0.1), field_type::DOUBLE),
            (Scalar::Bytes(b"text"), field_type::VAR_STRING),
            (Scalar::Bytes(b""), field_type::BLOB),
            (Scalar::Null, field_type::LONG),
            (Scalar::Date(date), field_type::DATE),
            (Scalar::DateTime(at), field_type::DATETIME),
            (Scalar::DateTime(DateTimeParts { micros: 0, ..at }), field_type::TIMESTAMP),
            (Scalar::DateTime(DateTimeParts::default()), field_type::DATETIME),
            (Scalar::Time(time), field_type::TIME),
            (Scalar::Time(TimeParts { micros: 5, ..time }), field_type::TIME),
        ]
    }

    #[test]
    fn row_survives_the_round_trip_and_every_cut() {
        let samples = samples();
        let mut row = Vec::new();
        put_binary_row(samples.len(), &mut row, |i, out| {
            samples[i].0.encode(samples[i].1, out);
            samples[i].0 != Scalar::Null
        });
        let types = || samples.iter().map(|(v, code)| (*code, matches!(v, Scalar::UInt(_))));
        let mut seen = Vec::new();
        read_binary_row(&row, types(), |_, v| seen.push(v)).unwrap();
        assert_eq!(seen, samples.iter().map(|s| s.0).collect::<Vec<_>>());
        for cut in 0..row.len() {
            assert!(read_binary_row(&row[..cut], types(), |_, _| ()).is_err());
        }
    }

    #[test]
    fn text_is_that_of_the_text_protocol() {
        let text = |v: Scalar<'_>, decimals| {
            let mut out = String::new();
            v.put_text(decimals, &mut out).then_some(out)
        };
        let all: Vec<_> = samples().iter().map(|s| text(s.0, 0)).collect();
        assert_eq!(all[3].as_deref(), Some("-9223372036854775808"));
        assert_eq!(all[10], None);
        assert_eq!(all[11].as_deref(), Some("2024-02-29"));
        assert_eq!(all[15].as_deref(), Some("-838:59:59"));
        assert_eq!(text(samples()[12].0, 6).as_deref(), Some("2024-02-29 23:59:58.000007"));
    }
}
