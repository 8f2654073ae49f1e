//! Sums of decimals. Those of up to 38 digits are added, and before that computed from columns and
//! constants, as integers of 128 bits, which takes a fraction of the time of longer ones.

use super::{Expr, Node};
use crate::ast::BinaryOp;
use types::decimal::MAX_SCALE;
use types::{Decimal, TypeCode, Value};

/// The powers of ten that have at most 64 bits.
const POWERS_OF_TEN: [i64; 19] = {
    let mut powers = [1; 19];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// Multiplies. `None` if the product is too long. A product of numbers that have 64 bits, as most
/// have, is one instruction.
#[inline]
fn product(a: i128, b: i128) -> Option<i128> {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => Some(i128::from(a) * i128::from(b)),
        _ => a.checked_mul(b),
    }
}

/// A decimal in units of its last digit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Small {
    units: i128,
    scale: u8,
}

impl Small {
    /// Returns the value of an expression of decimals and integers that adds, subtracts and
    /// multiplies. `None` for NULL, for other expressions, and for numbers that are too long. It is
    /// the value that [`Expr::eval`] returns, which raises no warning and no error then.
    pub fn of(expr: &Expr, row: &[Value]) -> Option<Small> {
        match &expr.node {
            Node::Slot(slot) => Small::of_value(&row[*slot]),
            Node::Constant(value) => Small::of_value(value),
            Node::Arithmetic { op, operands } if expr.ty.code == TypeCode::NewDecimal => {
                let (a, b) = (Small::of(&operands[0], row)?, Small::of(&operands[1], row)?);
                match op {
                    BinaryOp::Add => a.plus(b),
                    // A difference that is refused is left to the evaluator.
                    BinaryOp::Subtract => {
                        a.minus(b).filter(|difference| !expr.ty.unsigned || difference.units >= 0)
                    }
                    BinaryOp::Multiply => a.times(b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    #[inline]
    fn of_value(value: &Value) -> Option<Small> {
        match value {
            Value::Decimal(number) => Some(Small { units: number.units()?, scale: number.scale() }),
            Value::Int(number) => Some(Small { units: i128::from(*number), scale: 0 }),
            Value::UInt(number) => Some(Small { units: i128::from(*number), scale: 0 }),
            _ => None,
        }
    }

    /// Returns the units of a number with more digits after the point.
    #[inline]
    fn in_scale(self, scale: u8) -> Option<i128> {
        debug_assert!(scale >= self.scale, "digits are added, not dropped");
        match scale - self.scale {
            0 => Some(self.units),
            more => match POWERS_OF_TEN.get(usize::from(more)) {
                Some(power) => product(self.units, i128::from(*power)),
                None => self.units.checked_mul(10i128.checked_pow(u32::from(more))?),
            },
        }
    }

    #[inline]
    fn plus(self, other: Small) -> Option<Small> {
        let scale = self.scale.max(other.scale);
        let units = self.in_scale(scale)?.checked_add(other.in_scale(scale)?)?;
        Some(Small { units, scale })
    }

    #[inline]
    fn minus(self, other: Small) -> Option<Small> {
        // A product may be the least integer, whose opposite is none.
        self.plus(Small { units: other.units.checked_neg()?, ..other })
    }

    #[inline]
    fn times(self, other: Small) -> Option<Small> {
        let scale = self.scale + other.scale;
        let units = product(self.units, other.units)?;
        (scale <= MAX_SCALE).then_some(Small { units, scale })
    }
}

/// A sum of decimals. It has as many digits after the point as the number that has the most.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DecimalSum {
    /// The sum of most of the numbers that are short.
    small: Option<Small>,
    /// The sum of the others.
    long: Option<Decimal>,
    /// Whether `long` has lost digits, because a sum has no more of them.
    is_rounded: bool,
}

impl DecimalSum {
    /// Adds a short number.
    #[inline]
    pub fn add_small(&mut self, number: Small) {
        let sum = match self.small {
            Some(small) => small.plus(number),
            None => Some(number),
        };
        match sum {
            Some(sum) => self.small = Some(sum),
            None => self.add_long(&Decimal::of_units(number.units, number.scale)),
        }
    }

    /// Adds a number. A sum that is too long is the largest decimal.
    pub fn add(&mut self, number: &Decimal) {
        match number.units() {
            Some(units) => self.add_small(Small { units, scale: number.scale() }),
            None => self.add_long(number),
        }
    }

    /// Adds what another sum has.
    pub fn merge(&mut self, other: &DecimalSum) {
        if let Some(small) = other.small {
            self.add_small(small);
        }
        if let Some(long) = &other.long {
            self.add_long(long);
        }
        self.is_rounded |= other.is_rounded;
    }

    fn add_long(&mut self, number: &Decimal) {
        let (sum, is_exact) = plus(self.long, number);
        self.long = Some(sum);
        self.is_rounded |= !is_exact;
    }

    /// Returns the sum with a number taken away. `None` if no decimal is that, or if digits are
    /// lost that would be needed.
    pub fn without(&self, number: &Decimal) -> Option<DecimalSum> {
        let mut whole = *self;
        if let Some(Small { units, scale }) = whole.small.take() {
            whole.add_long(&Decimal::of_units(units, scale));
        }
        let total = whole.long.filter(|_| !whole.is_rounded)?;
        let rest = total.sub(number)?;
        let is_exact = rest.scale() == total.scale().max(number.scale());
        is_exact.then_some(DecimalSum { small: None, long: Some(rest), is_rounded: false })
    }

    /// Returns the sum. `None` if nothing was added.
    pub fn total(&self) -> Option<Decimal> {
        match self.small {
            Some(Small { units, scale }) => Some(plus(self.long, &Decimal::of_units(units, scale)).0),
            None => self.long,
        }
    }
}

/// Returns a sum with a number added, which is the largest decimal where it is too long, and
/// whether it has all its digits.
fn plus(sum: Option<Decimal>, number: &Decimal) -> (Decimal, bool) {
    let Some(before) = sum else { return (*number, true) };
    match before.add(number) {
        Some(sum) => (sum, sum.scale() == before.scale().max(number.scale())),
        None => (Decimal::largest(65, 0), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse_prefix(text.as_bytes()).number
    }

    #[test]
    fn numbers_beyond_the_bounds_are_left_to_decimals() {
        let small = |units, scale| Small { units, scale };
        let least = small(-1 << 64, 0).times(small(1 << 63, 0)).expect("an integer of 128 bits");
        assert_eq!(least.units, i128::MIN);
        assert!(small(0, 0).minus(least).is_none());
        assert!(least.plus(small(-1, 0)).is_none() && least.plus(small(1, 1)).is_none());
        assert!(small(1, 20).times(small(1, 11)).is_none(), "more than 30 digits after the point");
        let sum = small(15, 1).minus(small(25, 2)).expect("both are short");
        assert_eq!((sum.units, sum.scale), (125, 2));
    }

    #[test]
    fn short_and_long_numbers_add_up_to_what_decimals_do() {
        let long = "9".repeat(45) + ".125";
        let near_bound = i128::MAX.to_string();
        let numbers = ["1.5", "-0.25", &long, &near_bound, "1", &near_bound, "-7.000001", "0.000", &long];
        let (mut sum, mut expected) = (DecimalSum::default(), decimal("0"));
        for text in numbers {
            sum.add(&decimal(text));
            expected = expected.add(&decimal(text)).expect("fewer than 65 digits");
            let total = sum.total().expect("something was added");
            assert_eq!((total, total.scale()), (expected, expected.scale()), "{text}");
        }
        let rest = sum.without(&decimal(&long)).and_then(|sum| sum.total());
        assert_eq!(rest, expected.sub(&decimal(&long)));
        assert_eq!(DecimalSum::default().total(), None);
    }

    #[test]
    fn a_number_is_not_taken_from_a_sum_that_has_lost_digits() {
        let long = "9".repeat(35) + "." + &"9".repeat(30);
        let mut sum = DecimalSum::default();
        sum.add(&decimal(&long));
        sum.add(&decimal("-0.000000000000000000000000000001"));
        assert!(sum.without(&decimal("1.5")).is_some(), "no digit is lost yet");
        sum.add(&decimal("1.5"));
        assert!(sum.without(&decimal(&long)).is_none(), "66 digits were rounded to 65");
        let mut other = DecimalSum::default();
        other.merge(&sum);
        assert!(other.without(&decimal("1.5")).is_none());
    }
}
