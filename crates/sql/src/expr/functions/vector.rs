//! Functions on vectors, which are stored as numbers of four bytes each, the lowest byte first.
//! Those whose names begin with `vec_` are MariaDB's.

use super::super::text_of;
use super::{Call, Coercibility, Function, ascii_text, double, integer, text, wrong_arguments};
use crate::error::{Result, SqlError};
use types::{ColumnType, TypeCode, Value, collation};

/// The most numbers that a vector can have.
const MOST_DIMENSIONS: usize = 16_383;
const FLOAT_BYTES: usize = 4;
/// The number of characters that MySQL announces for the text of the longest vector.
const TEXT_CHARS: u32 = 262_128;

/// Returns the numbers of an argument that is a vector or the bytes of one.
fn numbers(call: &Call<'_>) -> Result<Vec<f32>> {
    let refused = || wrong_arguments(call.name);
    let ty = &call.args[0].ty;
    let Value::Bytes(bytes) = &*call.values[0] else { return Err(refused()) };
    let (numbers, rest) = bytes.as_chunks::<FLOAT_BYTES>();
    let is_binary = ty.code == TypeCode::Vector || ty.collation == collation::BINARY;
    if !is_binary || numbers.is_empty() || !rest.is_empty() {
        return Err(refused());
    }
    Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

/// Returns pairs of the numbers of MariaDB's two vectors. `None` if the arguments are no two
/// vectors of one length, for which MariaDB's functions return NULL.
fn pairs(call: &Call<'_>) -> Option<Vec<(f32, f32)>> {
    let (Value::Bytes(a), Value::Bytes(b)) = (&*call.values[0], &*call.values[1]) else { return None };
    let is_vector = a.len() == b.len() && a.len().is_multiple_of(FLOAT_BYTES);
    let (a, b) = (a.as_chunks::<FLOAT_BYTES>().0, b.as_chunks::<FLOAT_BYTES>().0);
    if !is_vector || a.is_empty() {
        return None;
    }
    let of = |bytes: &[u8; FLOAT_BYTES]| f32::from_le_bytes(*bytes);
    Some(a.iter().zip(b).map(|(a, b)| (of(a), of(b))).collect())
}

/// Reads the text of a vector, such as `[1,2.5,-3e2]`.
fn parse(text: &str) -> Option<Vec<f32>> {
    let inside = text.trim_ascii().strip_prefix('[')?.strip_suffix(']')?;
    let numbers = inside.split(',').map(|number| parse_number(number.trim_ascii()));
    numbers.collect::<Option<Vec<f32>>>().filter(|numbers| numbers.len() <= MOST_DIMENSIONS)
}

fn parse_number(text: &str) -> Option<f32> {
    if !text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) {
        return None;
    }
    let (wide, number) = (text.parse::<f64>().ok()?, text.parse::<f32>().ok()?);
    // A number that is too small for all digits of a four-byte number is refused.
    (number.is_normal() || number == 0.0 && wide == 0.0).then_some(number)
}

/// Writes a number as C's `%.5e` does.
fn write_number(number: f32, out: &mut String) {
    if !number.is_finite() {
        out.push_str(if number.is_nan() {
            "nan"
        } else if number > 0.0 {
            "inf"
        } else {
            "-inf"
        });
        return;
    }
    let text = format!("{number:.5e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    out.push_str(&format!("{digits}e{sign}{exponent:0>2}"));
}

/// The most bytes of one of MySQL's messages.
const MOST_MESSAGE_BYTES: usize = 511;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "to_vector",
        1..=1,
        |_| Ok((ColumnType::vector(MOST_DIMENSIONS as u32), Coercibility::Literal)),
        |call| {
            let Value::Bytes(written) = &*call.values[0] else { return Err(wrong_arguments(call.name)) };
            let written = String::from_utf8_lossy(written);
            match parse(&written) {
                Some(numbers) => {
                    Ok(Value::Bytes(numbers.iter().flat_map(|number| number.to_le_bytes()).collect()))
                }
                None => {
                    let mut text = format!(
                        "Data cannot be converted to a valid vector: '{written:.MOST_MESSAGE_BYTES$}'"
                    );
                    text.truncate(text.floor_char_boundary(MOST_MESSAGE_BYTES));
                    Err(SqlError::new(6138, text))
                }
            }
        },
    ),
    Function::new("from_vector", 1..=1, ascii_text::<TEXT_CHARS>, |call| {
        let mut out = String::from("[");
        for (at, number) in numbers(call)?.into_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write_number(number, &mut out);
        }
        out.push(']');
        Ok(text(out))
    }),
    Function::new(
        "vec_fromtext",
        1..=1,
        |_| Ok((ColumnType::vector(MOST_DIMENSIONS as u32), Coercibility::Literal)),
        |call| {
            let numbers = parse(&String::from_utf8_lossy(&call.bytes(0)));
            let bytes = |numbers: Vec<f32>| numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            Ok(numbers.map_or(Value::Null, |numbers| Value::Bytes(bytes(numbers))))
        },
    ),
    Function::new("vec_totext", 1..=1, ascii_text::<TEXT_CHARS>, |call| {
        let shown = |number: f32| text_of(&Value::Float(number)).into_owned();
        let numbers: Vec<Vec<u8>> = numbers(call)?.into_iter().map(shown).collect();
        let inside = String::from_utf8_lossy(&numbers.join(&b","[..])).into_owned();
        Ok(text(format!("[{inside}]")))
    }),
    Function::new("vec_distance_euclidean", 2..=2, double, |call| {
        let squares = |pairs: Vec<(f32, f32)>| pairs.into_iter().map(|(a, b)| f64::from((a - b) * (a - b)));
        Ok(pairs(call).map_or(Value::Null, |pairs| Value::Double(squares(pairs).sum::<f64>().sqrt())))
    }),
    Function::new("vec_distance_cosine", 2..=2, double, |call| {
        let Some(pairs) = pairs(call) else { return Ok(Value::Null) };
        let (mut product, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
        for (a, b) in pairs {
            product += f64::from(a * b);
            of_a += f64::from(a * a);
            of_b += f64::from(b * b);
        }
        let distance = 1.0 - product / (of_a * of_b).sqrt();
        Ok(if distance.is_finite() { Value::Double(distance) } else { Value::Null })
    }),
    Function::new("vector_dim", 1..=1, integer::<10>, |call| Ok(Value::Int(numbers(call)?.len() as i64))),
];

/// A function that refuses a text on its way into a VECTOR column, which takes bytes alone.
/// Statements cannot write its name.
pub(crate) static TEXT_FOR_VECTOR: Function = Function::new(
    "text for a vector",
    1..=1,
    |args| Ok((args[0].ty.clone(), Coercibility::Literal)),
    |call| Err(no_vector(call.bytes(0).len())),
);

/// Builds the error for a text of `bytes` bytes that is to be a vector.
pub(crate) fn no_vector(bytes: usize) -> SqlError {
    let problem = types::convert::Problem::NoVector(format!("string, size: {bytes}"));
    SqlError::new(problem.code(), problem.message("", 0))
}

/// Returns the name in the table of a function that is known by another name.
pub(super) fn canonical_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "string_to_vector" => "to_vector",
        "vector_to_string" => "from_vector",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These are the answers of MySQL 9.7.
    #[test]
    fn texts_of_vectors() {
        let shown = |text: &str| {
            parse(text).map(|numbers| {
                let mut out = String::new();
                for number in numbers {
                    write_number(number, &mut out);
                    out.push(' ');
                }
                out
            })
        };
        assert_eq!(shown(" [ 1 , 2.5,-3e2]").as_deref(), Some("1.00000e+00 2.50000e+00 -3.00000e+02 "));
        assert_eq!(
            shown("[1234567,0.00001234,3.4e38,-0.0,+1,.5,5.]").as_deref(),
            Some("1.23457e+06 1.23400e-05 3.40000e+38 -0.00000e+00 1.00000e+00 5.00000e-01 5.00000e+00 ")
        );
        let wrong = [
            "", "[]", "[ ]", "1,2", "[1,2", "[1,,2]", "[1,2,]", "[1 2]", "[1e50]", "[nan]", "[inf]",
            "[1e-45]",
        ];
        for text in wrong {
            assert_eq!(shown(text), None, "{text}");
        }
        assert_eq!(shown("[1] x"), None);
    }
}
