//! Numbers of schemas. Whole numbers are compared exactly, all others as floating point.

use types::Decimal;
use types::json::Node;

#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Whole(i128),
    Double(f64),
}

impl Number {
    /// Returns a value as a number. `None` means that it is no number.
    pub fn of(node: &Node) -> Option<Number> {
        match node {
            Node::Int(n) => Some(Number::Whole(i128::from(*n))),
            Node::UInt(n) => Some(Number::Whole(i128::from(*n))),
            Node::Double(n) => Some(Number::Double(*n)),
            node => node.as_decimal().map(|decimal| Number::of_decimal(&decimal)),
        }
    }

    fn of_decimal(decimal: &Decimal) -> Number {
        let written = decimal.to_string();
        let whole = written.parse::<i128>().ok();
        let fits = |n: &i128| (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(n);
        whole.filter(fits).map_or_else(|| Number::Double(written.parse().unwrap_or(0.0)), Number::Whole)
    }

    pub fn double(self) -> f64 {
        match self {
            Number::Whole(n) => n as f64,
            Number::Double(n) => n,
        }
    }

    pub fn is_less(self, other: Number) -> bool {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => a < b,
            (a, b) => a.double() < b.double(),
        }
    }

    pub fn is_same(self, other: Number) -> bool {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => a == b,
            (a, b) => a.double() == b.double(),
        }
    }

    /// Reports whether the number is a multiple of `other`, which has to be above 0.
    pub fn is_multiple_of(self, other: Number) -> bool {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => a % b == 0,
            (a, b) => {
                let (a, b) = (a.double().abs(), b.double());
                let rest = a - (a / b).floor() * b;
                rest <= 0.0
            }
        }
    }
}
