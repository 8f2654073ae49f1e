//! The order of documents (manual, "Comparison and Ordering of JSON Values").

use super::node::Node;
use super::opaque::{Scalar, scalar_of};
use crate::Decimal;
use std::cmp::Ordering;

/// The kinds of values in their order. Values of one kind are compared with each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Null,
    Number,
    String,
    Object,
    Array,
    Bool,
    Date,
    Time,
    DateTime,
    Opaque,
}

enum Comparable<'n> {
    Null,
    Number(Number),
    String(&'n [u8]),
    Object(&'n [(Vec<u8>, Node)]),
    Array(&'n [Node]),
    Bool(bool),
    Date(i64),
    Time(i64),
    DateTime(i64),
    Opaque(u8, &'n [u8]),
}

#[derive(Clone, Copy)]
enum Number {
    Int(i128),
    Double(f64),
    Decimal(Decimal),
}

impl<'n> Comparable<'n> {
    fn of(node: &'n Node) -> Comparable<'n> {
        match node {
            Node::Null => Comparable::Null,
            Node::Bool(value) => Comparable::Bool(*value),
            Node::Int(n) => Comparable::Number(Number::Int(i128::from(*n))),
            Node::UInt(n) => Comparable::Number(Number::Int(i128::from(*n))),
            Node::Double(n) => Comparable::Number(Number::Double(*n)),
            Node::String(text) => Comparable::String(text),
            Node::Array(elements) => Comparable::Array(elements),
            Node::Object(members) => Comparable::Object(members),
            Node::Opaque(code, bytes) => match scalar_of(*code, bytes) {
                Some(Scalar::Decimal(n)) => Comparable::Number(Number::Decimal(n)),
                Some(Scalar::Date(_, packed)) => Comparable::Date(packed),
                Some(Scalar::Time(_, packed)) => Comparable::Time(packed),
                Some(Scalar::DateTime(_, packed)) => Comparable::DateTime(packed),
                None => Comparable::Opaque(*code, bytes),
            },
        }
    }

    fn rank(&self) -> Rank {
        match self {
            Comparable::Null => Rank::Null,
            Comparable::Number(_) => Rank::Number,
            Comparable::String(_) => Rank::String,
            Comparable::Object(_) => Rank::Object,
            Comparable::Array(_) => Rank::Array,
            Comparable::Bool(_) => Rank::Bool,
            Comparable::Date(_) => Rank::Date,
            Comparable::Time(_) => Rank::Time,
            Comparable::DateTime(_) => Rank::DateTime,
            Comparable::Opaque(..) => Rank::Opaque,
        }
    }
}

impl Number {
    fn cmp(self, other: Number) -> Ordering {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a.cmp(&b),
            (Number::Double(a), Number::Double(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (Number::Int(a), Number::Double(b)) => exact(a, b),
            (Number::Double(a), Number::Int(b)) => exact(b, a).reverse(),
            (Number::Decimal(a), b) => with_decimal(a, b),
            (a, Number::Decimal(b)) => with_decimal(b, a).reverse(),
        }
    }
}

/// Compares a whole number of 64 bits with a double, without losing a digit.
fn exact(whole: i128, double: f64) -> Ordering {
    match (whole as f64).partial_cmp(&double) {
        // Doubles of this size are whole numbers.
        Some(Ordering::Equal) => whole.cmp(&(double as i128)),
        Some(ordering) => ordering,
        None => Ordering::Equal,
    }
}

fn with_decimal(decimal: Decimal, other: Number) -> Ordering {
    match other {
        Number::Decimal(other) => decimal.cmp(&other),
        Number::Int(other) => match (i64::try_from(other), u64::try_from(other)) {
            (Ok(other), _) => decimal.cmp(&Decimal::from(other)),
            (_, Ok(other)) => decimal.cmp(&Decimal::from(other)),
            _ => Ordering::Equal,
        },
        Number::Double(other) => match Decimal::from_f64(other) {
            Some(other) => decimal.cmp(&other),
            None if other < 0.0 => Ordering::Greater,
            None => Ordering::Less,
        },
    }
}

impl Node {
    /// Compares two documents. The recursion is as deep as they are.
    pub fn compare(&self, other: &Node) -> Ordering {
        let (a, b) = (Comparable::of(self), Comparable::of(other));
        match (&a, &b) {
            (Comparable::Number(a), Comparable::Number(b)) => a.cmp(*b),
            (Comparable::String(a), Comparable::String(b)) => a.cmp(b),
            (Comparable::Bool(a), Comparable::Bool(b)) => a.cmp(b),
            (Comparable::Date(a), Comparable::Date(b))
            | (Comparable::Time(a), Comparable::Time(b))
            | (Comparable::DateTime(a), Comparable::DateTime(b)) => a.cmp(b),
            // Dates and points in time are compared with each other.
            (Comparable::Date(a), Comparable::DateTime(b)) => a.cmp(b),
            (Comparable::DateTime(a), Comparable::Date(b)) => a.cmp(b),
            (Comparable::Array(a), Comparable::Array(b)) => {
                let different = a.iter().zip(*b).map(|(a, b)| a.compare(b)).find(|order| order.is_ne());
                different.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (Comparable::Object(a), Comparable::Object(b)) => compare_objects(a, b),
            (Comparable::Opaque(a, of_a), Comparable::Opaque(b, of_b)) => {
                a.cmp(b).then_with(|| of_a.cmp(of_b))
            }
            _ => a.rank().cmp(&b.rank()),
        }
    }

    /// Appends bytes that are equal exactly for equal documents. They are the key of GROUP BY and
    /// DISTINCT.
    pub fn write_key(&self, out: &mut Vec<u8>) {
        let comparable = Comparable::of(self);
        out.push(comparable.rank() as u8);
        match comparable {
            Comparable::Null => {}
            Comparable::Number(number) => {
                let text = match number {
                    Number::Int(n) => n.to_string(),
                    Number::Double(n) => match Decimal::from_f64(n) {
                        Some(n) if n.to_f64() == self.double() => plain(&n.to_string()),
                        _ => format!("{n:e}"),
                    },
                    Number::Decimal(n) => plain(&n.to_string()),
                };
                out.extend_from_slice(text.as_bytes());
                out.push(0xff);
            }
            Comparable::String(text) => write_sized(text, out),
            Comparable::Bool(value) => out.push(u8::from(value)),
            Comparable::Date(n) | Comparable::Time(n) | Comparable::DateTime(n) => {
                out.extend_from_slice(&n.to_be_bytes());
            }
            Comparable::Opaque(code, bytes) => {
                out.push(code);
                write_sized(bytes, out);
            }
            Comparable::Array(elements) => {
                out.extend_from_slice(&(elements.len() as u64).to_be_bytes());
                elements.iter().for_each(|element| element.write_key(out));
            }
            Comparable::Object(members) => {
                out.extend_from_slice(&(members.len() as u64).to_be_bytes());
                for (name, value) in members {
                    write_sized(name, out);
                    value.write_key(out);
                }
            }
        }
    }

    /// Appends bytes that compare by memcmp as ORDER BY orders documents, none of which is a prefix
    /// of another document's bytes. Returns false when the document is an array or an object:
    /// MySQL's sorts order these by the number of their elements alone.
    pub fn write_order_key(&self, out: &mut Vec<u8>) -> bool {
        let comparable = Comparable::of(self);
        out.push(comparable.rank() as u8);
        match comparable {
            Comparable::Null => {}
            Comparable::Bool(value) => out.push(u8::from(value)),
            Comparable::Number(number) => write_number_order_key(number, out),
            Comparable::String(text) => write_escaped(text, out),
            Comparable::Date(n) | Comparable::Time(n) | Comparable::DateTime(n) => {
                out.extend_from_slice(&((n as u64) ^ 1 << 63).to_be_bytes());
            }
            Comparable::Opaque(code, bytes) => {
                out.push(code);
                write_escaped(bytes, out);
            }
            Comparable::Array(elements) => out.extend_from_slice(&(elements.len() as u64).to_be_bytes()),
            Comparable::Object(members) => out.extend_from_slice(&(members.len() as u64).to_be_bytes()),
        }
        !matches!(self, Node::Array(_) | Node::Object(_))
    }

    fn double(&self) -> f64 {
        match self {
            Node::Double(n) => *n,
            _ => 0.0,
        }
    }
}

/// Appends a sign, the place of the first digit, and the digits, so that numbers of all kinds are
/// in one order.
fn write_number_order_key(number: Number, out: &mut Vec<u8>) {
    const ZERO: u8 = 0x80;
    let text = match number {
        Number::Int(n) => n.to_string(),
        Number::Double(n) => format!("{n:e}"),
        Number::Decimal(n) => n.to_string(),
    };
    let (is_negative, text) = text.strip_prefix('-').map_or((false, &text[..]), |text| (true, text));
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    let zeros = digits().take_while(|digit| *digit == b'0').count();
    if zeros == whole.len() + fraction.len() {
        return out.push(ZERO);
    }
    let start = out.len();
    out.push(ZERO + 1);
    let before_point = whole.len() as i32 - zeros as i32 + exponent.parse::<i32>().unwrap_or(0);
    out.extend_from_slice(&((before_point + 0x8000) as u16).to_be_bytes());
    out.extend(digits().skip(zeros));
    while out.last() == Some(&b'0') {
        out.pop();
    }
    out.push(0);
    if is_negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// Appends bytes in a form in which 00 becomes 00 FF, and 00 00 ends the bytes.
fn write_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

/// Returns a decimal's text without zeros after its last digit, and without the sign of zero.
fn plain(text: &str) -> String {
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn write_sized(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Compares two objects: the one with fewer members comes first, then the first difference decides.
fn compare_objects(a: &[(Vec<u8>, Node)], b: &[(Vec<u8>, Node)]) -> Ordering {
    let by_name = |a: &[u8], b: &[u8]| a.len().cmp(&b.len()).then_with(|| a.cmp(b));
    let different = a
        .iter()
        .zip(b)
        .map(|((name, value), (other_name, other))| {
            by_name(name, other_name).then_with(|| value.compare(other))
        })
        .find(|order| order.is_ne());
    a.len().cmp(&b.len()).then(different.unwrap_or(Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse_node;

    #[test]
    fn order_keys_order_as_sorts_do() {
        // Each text comes before the next one.
        let ordered = [
            "null",
            "-1e300",
            "-18446744073709551616.0",
            "-100",
            "-99.5",
            "-1.5",
            "-1e-10",
            "0",
            "1e-10",
            "0.5",
            "1",
            "1.05",
            "9",
            "10",
            "9007199254740993",
            "18446744073709551615",
            "1e20",
            "1.5e300",
            "\"\"",
            "\"\\u0000\"",
            "\"a\"",
            "\"ab\"",
            "\"b\"",
            "{}",
            "{\"b\": 0}",
            "{\"a\": 0, \"b\": 1}",
            "[]",
            "[7]",
            "[1, 2]",
            "false",
            "true",
        ];
        let key = |text: &str| {
            let mut key = Vec::new();
            let is_scalar = parse_node(text.as_bytes()).expect("is JSON").write_order_key(&mut key);
            assert_eq!(is_scalar, !text.starts_with(['[', '{']), "{text}");
            key
        };
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!(key(a).cmp(&key(b)), i.cmp(&j), "{a} {b}");
                assert!(i == j || !key(a).starts_with(&key(b)), "{a} {b}");
            }
        }
        for (a, b) in [("0", "-0.0"), ("1", "1.0"), ("100", "1e2"), ("0.5", "5e-1"), ("[1]", "[2]")] {
            assert_eq!(key(a), key(b), "{a} {b}");
        }
    }

    #[test]
    fn kinds_and_values_have_an_order() {
        let ordered = [
            "null",
            "-1.5",
            "0",
            "0.5",
            "1",
            "9007199254740993",
            "18446744073709551615",
            "1e20",
            "\"\"",
            "\"a\"",
            "\"b\"",
            "{}",
            "{\"a\": 1}",
            "{\"b\": 0}",
            "{\"a\": 0, \"b\": 1}",
            "[]",
            "[1]",
            "[1, 2]",
            "[2]",
            "false",
            "true",
        ];
        let nodes = ordered.map(|text| parse_node(text.as_bytes()).expect("is JSON"));
        for (i, a) in nodes.iter().enumerate() {
            for (j, b) in nodes.iter().enumerate() {
                assert_eq!(a.compare(b), i.cmp(&j), "{} {}", ordered[i], ordered[j]);
                let key = |node: &Node| {
                    let mut key = Vec::new();
                    node.write_key(&mut key);
                    key
                };
                assert_eq!(key(a) == key(b), i == j, "{} {}", ordered[i], ordered[j]);
            }
        }
        let key = |text: &str| {
            let mut key = Vec::new();
            parse_node(text.as_bytes()).expect("is JSON").write_key(&mut key);
            key
        };
        assert_eq!(key("[1, 2.5]"), key("[1.0, 25e-1]"));
    }
}
