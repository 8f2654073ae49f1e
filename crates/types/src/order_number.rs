//! Numbers that order as the values of a column do, read straight from the stored bytes.
//!
//! A condition such as `quantity < 24` holds for a range of these numbers. So it is decided for a
//! row of a scan without making a [`Value`] of the column.

use crate::packed::{big_endian, encode_datetime2, little_endian, width};
use crate::{ColumnType, DateTime, Decimal, TypeCode, Value, packed};

/// How the bytes of a column become a number of 64 bits that orders as the column's values do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderNumber {
    /// The bytes are a little-endian unsigned number.
    Unsigned,
    /// The bytes are a little-endian signed number. The number counts from the least BIGINT.
    Signed,
    /// The bytes compare by memcmp as the values do.
    BigEndian,
}

/// The place of a value among the numbers of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The largest number whose value is not above this value. It may lie below 0, before all
    /// numbers, or above the largest one.
    pub floor: i128,
    /// Whether the value of that number equals this value.
    pub is_exact: bool,
}

impl Position {
    const BELOW_ALL: Position = Position { floor: -1, is_exact: false };
    const ABOVE_ALL: Position = Position { floor: u64::MAX as i128 + 1, is_exact: false };
}

impl OrderNumber {
    /// Returns how the bytes of the type are read, or `None` for a type whose values are more than
    /// a number of 64 bits.
    pub fn of(ty: &ColumnType) -> Option<OrderNumber> {
        match ty.code {
            TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong => {
                Some(if ty.unsigned { OrderNumber::Unsigned } else { OrderNumber::Signed })
            }
            TypeCode::Date => Some(OrderNumber::Unsigned),
            TypeCode::Datetime2 => Some(OrderNumber::BigEndian),
            TypeCode::NewDecimal => {
                matches!(width(ty), packed::Width::Fixed(1..=8)).then_some(OrderNumber::BigEndian)
            }
            _ => None,
        }
    }

    /// Returns the number of a packed value, which has at most eight bytes.
    #[inline]
    pub fn of_packed(self, bytes: &[u8]) -> u64 {
        match self {
            OrderNumber::BigEndian => big_endian(bytes),
            OrderNumber::Unsigned | OrderNumber::Signed => {
                let number = little_endian(bytes);
                if self == OrderNumber::Unsigned {
                    return number;
                }
                let unused = 64 - 8 * bytes.len() as u32;
                ((number << unused) as i64 >> unused) as u64 ^ 1 << 63
            }
        }
    }
}

/// Returns the place of a value among the numbers of a column. `None` means that the column is not
/// compared with such a value by its numbers.
pub fn position(ty: &ColumnType, value: &Value) -> Option<Position> {
    let order = OrderNumber::of(ty)?;
    match (ty.code, value) {
        (TypeCode::Date, _) => {
            let at = date_and_time(value)?;
            let number = of_bytes(order, ty, &Value::Date(at.date))?;
            Some(Position { floor: number, is_exact: at == DateTime::midnight(at.date) })
        }
        (TypeCode::Datetime2, _) => {
            let at = date_and_time(value)?;
            let mut bytes = Vec::with_capacity(8);
            encode_datetime2(&at, ty.fsp(), &mut bytes);
            let unit = 10u32.pow(6 - u32::from(ty.fsp()));
            let floor = i128::from(order.of_packed(&bytes));
            Some(Position { floor, is_exact: at.micros.is_multiple_of(unit) })
        }
        (TypeCode::NewDecimal, _) => {
            let number = match value {
                Value::Decimal(number) => *number,
                Value::Int(number) => Decimal::from(*number),
                Value::UInt(number) => Decimal::from(*number),
                _ => return None,
            };
            of_decimal(order, ty, &number)
        }
        (_, Value::Int(number)) => Some(of_integer(order, i128::from(*number))),
        (_, Value::UInt(number)) => Some(of_integer(order, i128::from(*number))),
        _ => None,
    }
}

fn date_and_time(value: &Value) -> Option<DateTime> {
    match value {
        Value::Date(date) => Some(DateTime::midnight(*date)),
        Value::DateTime(at) => Some(*at),
        _ => None,
    }
}

fn of_bytes(order: OrderNumber, ty: &ColumnType, value: &Value) -> Option<i128> {
    let mut bytes = Vec::with_capacity(8);
    packed::encode(ty, value, &mut bytes).ok()?;
    Some(i128::from(order.of_packed(&bytes)))
}

fn of_integer(order: OrderNumber, number: i128) -> Position {
    let first = if order == OrderNumber::Signed { i128::from(i64::MIN) } else { 0 };
    Position { floor: number - first, is_exact: true }
}

/// A number that the column cannot hold lies between two that it can, or outside all of them.
fn of_decimal(order: OrderNumber, ty: &ColumnType, number: &Decimal) -> Option<Position> {
    let largest = Decimal::largest(ty.precision(), ty.scale());
    if *number > largest {
        return Some(Position::ABOVE_ALL);
    }
    if *number < largest.negate() {
        return Some(Position::BELOW_ALL);
    }
    let cut = number.truncate(i32::from(ty.scale()));
    let at = of_bytes(order, ty, &Value::Decimal(cut))?;
    // Cutting digits off goes towards zero, so a number below zero may lie below the cut one.
    Some(match cut == *number {
        true => Position { floor: at, is_exact: true },
        false => Position { floor: at - i128::from(number.is_negative()), is_exact: false },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Date;

    fn number(ty: &ColumnType, value: &Value) -> i128 {
        of_bytes(OrderNumber::of(ty).unwrap(), ty, value).unwrap()
    }

    /// Returns values of the column and values that it is compared with, each in ascending order.
    fn samples() -> Vec<(ColumnType, Vec<Value>, Vec<Value>)> {
        let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
        let decimals = |texts: &[&str]| texts.iter().map(|text| decimal(text)).collect::<Vec<_>>();
        let date = |year, month, day| Date { year, month, day };
        let at =
            |date, second, micros| Value::DateTime(DateTime { date, hour: 23, minute: 59, second, micros });
        let ints: Vec<Value> = [-128, -1, 0, 1, 127].map(Value::Int).into();
        let dates = [date(0, 0, 0), date(1999, 12, 31), date(2000, 1, 1), date(9999, 12, 31)];
        vec![
            (
                ColumnType::tinyint(false),
                ints.clone(),
                [i64::MIN, -129, -1, 0, 5, 127, 128].map(Value::Int).into(),
            ),
            (ColumnType::bigint(true), [0, 7, u64::MAX].map(Value::UInt).into(), ints.clone()),
            (
                ColumnType::bigint(false),
                [i64::MIN, -3, i64::MAX].map(Value::Int).into(),
                vec![Value::Int(-3), Value::UInt(5), Value::UInt(u64::MAX)],
            ),
            (
                ColumnType::decimal(7, 2),
                decimals(&["-99999.99", "-1.50", "-0.01", "0.00", "0.01", "1.00", "99999.99"]),
                decimals(&["-100000", "-1.505", "-1.5", "-0.001", "0.000", "0.009", "0.01", "1", "1e9"]),
            ),
            (ColumnType::decimal(7, 2), decimals(&["-2.00", "3.00"]), ints),
            (
                ColumnType::date(),
                dates.map(Value::Date).into(),
                vec![Value::Date(dates[1]), at(dates[1], 59, 0), Value::Date(dates[2]), at(dates[3], 0, 0)],
            ),
            (
                ColumnType::datetime(2),
                vec![at(dates[0], 0, 0), at(dates[1], 0, 120_000), at(dates[1], 0, 130_000)],
                vec![Value::Date(dates[1]), at(dates[1], 0, 120_000), at(dates[1], 0, 125_000)],
            ),
        ]
    }

    #[test]
    fn a_position_says_how_each_value_of_the_column_compares() {
        use std::cmp::Ordering;
        let compare = |a: &Value, b: &Value| match (a, b) {
            (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
            (Value::Decimal(a), Value::Int(b)) => a.cmp(&Decimal::from(*b)),
            _ => match (date_and_time(a), date_and_time(b)) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => {
                    let wide = |value: &Value| match value {
                        Value::Int(n) => i128::from(*n),
                        Value::UInt(n) => i128::from(*n),
                        other => panic!("{other:?}"),
                    };
                    wide(a).cmp(&wide(b))
                }
            },
        };
        for (ty, stored, others) in samples() {
            for (value, other) in
                stored.iter().flat_map(|value| others.iter().map(move |other| (value, other)))
            {
                let at = position(&ty, other).unwrap();
                let place = match number(&ty, value).cmp(&at.floor) {
                    Ordering::Equal if at.is_exact => Ordering::Equal,
                    Ordering::Equal => Ordering::Less,
                    order => order,
                };
                assert_eq!(place, compare(value, other), "{}: {value:?} and {other:?}", ty.sql_name());
            }
        }
    }

    #[test]
    fn types_that_are_no_numbers_have_no_position() {
        for ty in [ColumnType::varchar(10, 255), ColumnType::double(), ColumnType::decimal(30, 2)] {
            assert_eq!(position(&ty, &Value::Int(1)), None, "{}", ty.sql_name());
        }
        assert_eq!(position(&ColumnType::int(false), &Value::text("1")), None);
    }
}
