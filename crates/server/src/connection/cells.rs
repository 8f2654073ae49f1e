//! Conversion of values to the cells of rows, and of parameters to values.

use protocol::column::field_type as t;
use protocol::scalar::{DateTimeParts, Scalar, TimeParts};
use protocol::wire::put_lenenc_int;
use types::{ColumnType, Date, DateTime, Time, Value};

/// Appends the cell of a text row. NULL is the byte 0xFB.
pub fn put_text_cell(value: &Value, ty: &ColumnType, out: &mut Vec<u8>) {
    if value.is_null() {
        out.push(0xfb);
        return;
    }
    put_as_text(value, ty, out);
}

/// Appends a value's text with its length in front.
fn put_as_text(value: &Value, ty: &ColumnType, out: &mut Vec<u8>) {
    if let Value::Bytes(bytes) = value {
        put_lenenc_int(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
        return;
    }
    let start = out.len();
    out.push(0);
    value.to_text(Some(ty), out);
    let len = out.len() - start - 1;
    if len <= 250 {
        out[start] = len as u8;
        return;
    }
    // The length of a long cell takes more bytes than the one that was left for it.
    let mut head = Vec::with_capacity(9);
    put_lenenc_int(&mut head, len as u64);
    out.splice(start..=start, head);
}

/// Appends the cell of a binary row for a column whose type code in the result is `code`. Returns
/// false for NULL.
pub fn put_binary_cell(value: &Value, ty: &ColumnType, code: u8, out: &mut Vec<u8>) -> bool {
    if value.is_null() {
        return false;
    }
    match scalar_for(value, code) {
        Some(scalar) => scalar.encode(code, out),
        None => put_as_text(value, ty, out),
    }
    true
}

/// Returns the value in the form that a type code has in binary rows. `None` means that it is sent
/// as text.
fn scalar_for(value: &Value, code: u8) -> Option<Scalar<'static>> {
    Some(match code {
        t::TINY | t::SHORT | t::LONG | t::INT24 | t::LONGLONG | t::YEAR => match value {
            Value::Int(v) => Scalar::Int(*v),
            Value::UInt(v) => Scalar::UInt(*v),
            Value::Year(v) => Scalar::UInt(u64::from(*v)),
            other => Scalar::Int(number_of(other) as i64),
        },
        t::FLOAT => Scalar::Float(match value {
            Value::Float(v) => *v,
            other => number_of(other) as f32,
        }),
        t::DOUBLE => Scalar::Double(match value {
            Value::Double(v) => *v,
            other => number_of(other),
        }),
        t::DATE | t::DATETIME | t::TIMESTAMP => match value {
            Value::Date(date) => Scalar::Date(date_parts(date)),
            Value::DateTime(at) => Scalar::DateTime(datetime_parts(at)),
            Value::Timestamp { .. } => match value.clone().in_zone(types::Zone::UTC) {
                Value::DateTime(at) => Scalar::DateTime(datetime_parts(&at)),
                _ => return None,
            },
            _ => return None,
        },
        t::TIME => match value {
            Value::Time(time) => Scalar::Time(TimeParts {
                negative: time.negative,
                days: u32::from(time.hours) / 24,
                hours: (time.hours % 24) as u8,
                minutes: time.minutes,
                seconds: time.seconds,
                micros: time.micros,
            }),
            _ => return None,
        },
        _ => return None,
    })
}

/// Returns the number in a value whose form is not that of its column.
fn number_of(value: &Value) -> f64 {
    match value {
        Value::Int(v) => *v as f64,
        Value::UInt(v) => *v as f64,
        Value::Float(v) => f64::from(*v),
        Value::Double(v) => *v,
        Value::Decimal(v) => v.to_f64(),
        other => {
            let text = other.text_bytes(None).unwrap_or_default();
            String::from_utf8_lossy(&text).trim().parse().unwrap_or(0.0)
        }
    }
}

fn date_parts(date: &Date) -> DateTimeParts {
    DateTimeParts { year: date.year, month: date.month, day: date.day, ..DateTimeParts::default() }
}

fn datetime_parts(at: &DateTime) -> DateTimeParts {
    DateTimeParts {
        hour: at.hour,
        minute: at.minute,
        second: at.second,
        micros: at.micros,
        ..date_parts(&at.date)
    }
}

/// Returns the value of a parameter. As in MySQL, a date or time that does not exist becomes NULL.
pub fn parameter_value(scalar: Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Int(v) => Value::Int(v),
        Scalar::UInt(v) => Value::UInt(v),
        Scalar::Float(v) => Value::Float(v),
        Scalar::Double(v) => Value::Double(v),
        Scalar::Bytes(v) => Value::Bytes(v.to_vec()),
        Scalar::Date(v) => date_of(&v).map_or(Value::Null, Value::Date),
        Scalar::DateTime(v) => datetime_of(&v).map_or(Value::Null, Value::DateTime),
        Scalar::Time(v) => {
            let hours = u64::from(v.days) * 24 + u64::from(v.hours);
            let hours = u16::try_from(hours).unwrap_or(u16::MAX);
            let time = Time::new(v.negative, hours, v.minutes, v.seconds, v.micros);
            Value::Time(time.unwrap_or_else(|| Time::largest(v.negative)))
        }
    }
}

fn date_of(v: &DateTimeParts) -> Option<Date> {
    let zero = (v.year, v.month, v.day) == (0, 0, 0);
    if zero { Some(Date::default()) } else { Date::new(v.year, v.month, v.day) }
}

fn datetime_of(v: &DateTimeParts) -> Option<DateTime> {
    let date = date_of(v)?;
    let in_range = v.hour < 24 && v.minute < 60 && v.second < 60 && v.micros < 1_000_000;
    in_range.then_some(DateTime { date, hour: v.hour, minute: v.minute, second: v.second, micros: v.micros })
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::wire::Reader;

    #[test]
    fn text_cells_of_every_length_carry_their_length() {
        let ty = ColumnType::varchar(1000, 255);
        for len in [0, 1, 250, 251, 252, 70_000] {
            let mut out = vec![9];
            put_text_cell(&Value::Bytes(vec![b'x'; len]), &ty, &mut out);
            let mut r = Reader::new(&out[1..]);
            assert_eq!(r.lenenc_bytes("t").unwrap().len(), len);
            assert_eq!(r.remaining(), 0);
        }
        let mut out = Vec::new();
        put_text_cell(&Value::Null, &ty, &mut out);
        assert_eq!(out, [0xfb]);
    }

    #[test]
    fn parameters_come_back_as_the_cells_that_they_were() {
        let at = DateTimeParts { year: 2024, month: 2, day: 29, hour: 1, minute: 2, second: 3, micros: 4 };
        let day = DateTimeParts { year: 2024, month: 2, day: 29, ..DateTimeParts::default() };
        let time = TimeParts { negative: true, days: 3, hours: 4, minutes: 5, seconds: 6, micros: 7 };
        let cases = [
            (Scalar::Int(-3), ColumnType::int(false)),
            (Scalar::UInt(u64::MAX), ColumnType::bigint(true)),
            (Scalar::Double(1.5), ColumnType::double()),
            (Scalar::Float(2.5), ColumnType::float()),
            (Scalar::DateTime(at), ColumnType::datetime(6)),
            (Scalar::Date(day), ColumnType::date()),
            (Scalar::Time(time), ColumnType::time(6)),
            (Scalar::Bytes(b"text"), ColumnType::varchar(10, 255)),
        ];
        for (scalar, ty) in cases {
            let (mut out, code) = (Vec::new(), ty.protocol_code());
            assert!(put_binary_cell(&parameter_value(scalar), &ty, code, &mut out));
            let back = Scalar::decode(&mut Reader::new(&out), code, ty.unsigned).unwrap();
            assert_eq!(back, scalar);
        }
        let no_day = Scalar::Date(DateTimeParts { month: 13, ..day });
        assert_eq!(parameter_value(no_day), Value::Null);
        assert!(!put_binary_cell(&Value::Null, &ColumnType::int(false), t::LONG, &mut Vec::new()));
    }
}
