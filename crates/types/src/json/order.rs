//! Which of two documents comes first (manual, "Comparison and Ordering of JSON Values").

use super::node::Node;
use super::opaque::{Scalar, scalar_of};
use crate::Decimal;
use std::cmp::Ordering;

/// Kinds of values in their order; values of one kind are compared with each other.
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

impl Number {
    /// The nearest double, and behind it the decimal that tells numbers apart that share one: a
    /// double is the shortest decimal that is read as it.
    fn write_order_key(self, out: &mut Vec<u8>) {
        let whole = |n: i128| match (i64::try_from(n), u64::try_from(n)) {
            (Ok(n), _) => Some(Decimal::from(n)),
            (_, Ok(n)) => Some(Decimal::from(n)),
            _ => None,
        };
        let (nearest, decimal) = match self {
            Number::Int(n) => (n as f64, whole(n)),
            // From here on doubles are whole numbers, and their shortest decimals need not be.
            Number::Double(n) if n.abs() >= 9_007_199_254_740_992.0 && n.abs() < 1.8e19 => {
                (n, whole(n as i128))
            }
            Number::Double(n) => (n, Decimal::from_f64(n)),
            Number::Decimal(n) => (n.to_f64(), Some(n)),
        };
        // -0 equals 0.
        let bits = if nearest == 0.0 { 0 } else { nearest.to_bits() };
        let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
        out.extend_from_slice(&ordered.to_be_bytes());
        decimal.unwrap_or_else(|| Decimal::from(0i64)).write_order_key(out);
    }
}

/// A whole number of 64 bits beside a double, of which no digit is lost.
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
    /// The order of two documents. The recursion is as deep as they are.
    pub fn compare(&self, other: &Node) -> Ordering {
        let (a, b) = (Comparable::of(self), Comparable::of(other));
        match (&a, &b) {
            (Comparable::Number(a), Comparable::Number(b)) => a.cmp(*b),
            (Comparable::String(a), Comparable::String(b)) => a.cmp(b),
            (Comparable::Bool(a), Comparable::Bool(b)) => a.cmp(b),
            (Comparable::Date(a), Comparable::Date(b))
            | (Comparable::Time(a), Comparable::Time(b))
            | (Comparable::DateTime(a), Comparable::DateTime(b)) => a.cmp(b),
            // Points in time are compared with each other whether they have a time of day or not.
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

    /// Appends bytes that are equal exactly for documents that are: the key of GROUP BY and
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

    /// Appends bytes that compare by memcmp as ORDER BY has documents, of which none is the
    /// beginning of another. As in MySQL, arrays and objects are ordered by their lengths alone,
    /// and a date is before a time, a time before a date with a time.
    pub fn write_order_key(&self, out: &mut Vec<u8>) {
        let comparable = Comparable::of(self);
        out.push(comparable.rank() as u8);
        match comparable {
            Comparable::Null => {}
            Comparable::Number(number) => number.write_order_key(out),
            Comparable::String(text) => write_ended(text, out),
            Comparable::Bool(value) => out.push(u8::from(value)),
            Comparable::Date(n) | Comparable::Time(n) | Comparable::DateTime(n) => {
                out.extend_from_slice(&(n as u64 ^ 1 << 63).to_be_bytes());
            }
            Comparable::Opaque(code, bytes) => {
                out.push(code);
                write_ended(bytes, out);
            }
            Comparable::Array(elements) => {
                out.extend_from_slice(&(elements.len() as u64).to_be_bytes());
            }
            Comparable::Object(members) => {
                out.extend_from_slice(&(members.len() as u64).to_be_bytes());
            }
        }
    }

    fn double(&self) -> f64 {
        match self {
            Node::Double(n) => *n,
            _ => 0.0,
        }
    }
}

/// A decimal without zeros behind its last digit, and without the sign of zero.
fn plain(text: &str) -> String {
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Bytes with an end that is before every byte: a zero among them is followed by 0xff.
fn write_ended(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

fn write_sized(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// An object with fewer members comes first, then the first difference decides.
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
        // ORDER BY looks at lengths of arrays and objects alone.
        let is_scalar = |node: &&Node| node.is_scalar();
        let keys = nodes.iter().filter(is_scalar).map(|node| {
            let mut key = Vec::new();
            node.write_order_key(&mut key);
            key
        });
        assert!(keys.is_sorted_by(|a, b| a < b));
        let order_key = |text: &str| {
            let mut key = Vec::new();
            parse_node(text.as_bytes()).expect("is JSON").write_order_key(&mut key);
            key
        };
        assert_eq!(order_key("1"), order_key("1.0"));
        assert!(order_key("[9]") < order_key("[1, 2]"));
        assert!(order_key("\"a\"") < order_key("\"a\\u0000\""));
        let key = |text: &str| {
            let mut key = Vec::new();
            parse_node(text.as_bytes()).expect("is JSON").write_key(&mut key);
            key
        };
        assert_eq!(key("[1, 2.5]"), key("[1.0, 25e-1]"));
    }
}
