//! Reading decimal numbers from text.

use super::number::{Decimal, MAX_COLUMN_SCALE, MAX_DIGITS};

/// The result of [`Decimal::parse_prefix`].
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    /// The number. It is zero if the text has none.
    pub number: Decimal,
    /// The number of bytes of the text that were used. 0 means that the text does not start with a
    /// number.
    pub len: usize,
    /// Whether there are more than 65 digits before the point. `number` is then the largest
    /// possible one.
    pub overflow: bool,
    /// Whether nonzero digits at the end of the fraction were cut off.
    pub truncated: bool,
}

struct Digits {
    number: Decimal,
    /// The number of digits taken, not counting leading zeros of the integer part.
    count: usize,
    fraction: i32,
    overflow: bool,
    truncated: bool,
}

impl Digits {
    fn integer_digit(&mut self, digit: u8) {
        if self.count == 0 && digit == 0 {
            return;
        }
        if self.count == MAX_DIGITS {
            self.overflow = true;
            return;
        }
        self.push(digit);
    }

    fn fraction_digit(&mut self, digit: u8) {
        if self.count == MAX_DIGITS || self.fraction >= 72 {
            self.truncated |= digit != 0;
            return;
        }
        self.fraction += 1;
        if self.count > 0 || digit > 0 {
            self.push(digit);
        }
    }

    fn push(&mut self, digit: u8) {
        self.count += 1;
        self.number.append_digits(1, u64::from(digit)).expect("65 digits fit");
    }
}

pub(super) fn parse_prefix(text: &[u8]) -> Prefix {
    let start = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let mut at = start;
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let mut digits =
        Digits { number: Decimal::zero(0), count: 0, fraction: 0, overflow: false, truncated: false };
    let mut seen = false;
    while let Some(digit) = digit_at(text, at) {
        digits.integer_digit(digit);
        seen = true;
        at += 1;
    }
    if text.get(at) == Some(&b'.') && (seen || digit_at(text, at + 1).is_some()) {
        at += 1;
        while let Some(digit) = digit_at(text, at) {
            digits.fraction_digit(digit);
            seen = true;
            at += 1;
        }
    }
    if !seen {
        return Prefix { number: Decimal::zero(0), len: 0, overflow: false, truncated: false };
    }
    let (exponent, used) = parse_exponent(&text[at..]);
    place_point(digits, exponent, negative, at + used)
}

fn digit_at(text: &[u8], at: usize) -> Option<u8> {
    text.get(at).filter(|b| b.is_ascii_digit()).map(|b| b - b'0')
}

fn parse_exponent(text: &[u8]) -> (i32, usize) {
    if !matches!(text.first(), Some(b'e' | b'E')) {
        return (0, 0);
    }
    let negative = text.get(1) == Some(&b'-');
    let mut at = 1 + usize::from(matches!(text.get(1), Some(b'-' | b'+')));
    if digit_at(text, at).is_none() {
        return (0, 0);
    }
    let mut exponent = 0i32;
    while let Some(digit) = digit_at(text, at) {
        exponent = exponent.saturating_mul(10).saturating_add(i32::from(digit));
        at += 1;
    }
    (if negative { -exponent } else { exponent }, at)
}

fn place_point(digits: Digits, exponent: i32, negative: bool, len: usize) -> Prefix {
    let Digits { mut number, count, fraction, mut overflow, mut truncated } = digits;
    let mut scale = fraction.saturating_sub(exponent);
    if count == 0 {
        number = Decimal::zero(scale.clamp(0, i32::from(MAX_COLUMN_SCALE)) as u8);
        scale = i32::from(number.scale);
    }
    if scale < 0 {
        let shift = scale.unsigned_abs();
        if count as u32 + shift.min(100) > MAX_DIGITS as u32 {
            overflow = true;
        } else {
            let fits = super::magnitude::scale_up(&mut number.magnitude, shift);
            debug_assert!(fits);
        }
        scale = 0;
    }
    if overflow {
        number = Decimal::largest(MAX_DIGITS as u8, 0);
    } else if scale > i32::from(MAX_COLUMN_SCALE) {
        let (half, inexact) = super::magnitude::scale_down(
            &mut number.magnitude,
            (scale - i32::from(MAX_COLUMN_SCALE)).min(90) as u32,
        );
        if half {
            let fits = super::magnitude::multiply_add_small(&mut number.magnitude, 1, 1);
            debug_assert!(fits);
        }
        truncated |= inexact;
        number.scale = MAX_COLUMN_SCALE;
    } else {
        number.scale = scale as u8;
    }
    number.set_negative(negative);
    Prefix { number, len, overflow, truncated }
}

/// The error for a text that is no decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotADecimal;

impl Decimal {
    /// Returns the decimal that the double's shortest text stands for (as MySQL's
    /// `double2decimal`). `None` for infinities, NaN and numbers with more than 65 integer digits.
    pub fn from_f64(value: f64) -> Option<Decimal> {
        let text = format!("{value:e}");
        match Decimal::parse_prefix(text.as_bytes()) {
            Prefix { number, overflow: false, len, .. } if len == text.len() => Some(number),
            _ => None,
        }
    }

    /// Reads the longest prefix of `text`, after leading spaces, that is a decimal number (as
    /// MySQL's `str2my_decimal`).
    pub fn parse_prefix(text: &[u8]) -> Prefix {
        parse_prefix(text)
    }
}

impl std::str::FromStr for Decimal {
    type Err = NotADecimal;

    fn from_str(text: &str) -> Result<Decimal, NotADecimal> {
        let prefix = Decimal::parse_prefix(text.as_bytes());
        if prefix.len == 0 || prefix.len != text.len() || prefix.overflow {
            Err(NotADecimal)
        } else {
            Ok(prefix.number)
        }
    }
}
