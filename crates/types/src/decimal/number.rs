//! Decimal numbers: their digits, rounding, arithmetic, comparison and text.

use super::magnitude::{self, Magnitude};
use std::cmp::Ordering;
use std::fmt;

/// The most digits of a DECIMAL.
pub const MAX_DIGITS: usize = 65;
/// The most digits after the point (MySQL's `DECIMAL_MAX_SCALE`).
pub const MAX_SCALE: u8 = 30;
/// The most digits after the point of a number, and of a column of a MariaDB source. MySQL's
/// columns have at most [`MAX_SCALE`].
pub const MAX_COLUMN_SCALE: u8 = 38;

/// A decimal number: an integer of up to 65 digits and the place of the point. `1.0` and `1.00` are
/// equal and differ in their text.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    /// The digits as one integer: value = magnitude / 10^scale. Always below 10^65.
    pub(super) magnitude: Magnitude,
    pub(super) scale: u8,
    pub(super) negative: bool,
}

impl Decimal {
    /// Returns zero with this many digits after the point.
    pub fn zero(scale: u8) -> Decimal {
        Decimal { magnitude: [0; 4], scale: scale.min(MAX_COLUMN_SCALE), negative: false }
    }

    /// Returns the largest DECIMAL(precision, scale), all nines.
    pub fn largest(precision: u8, scale: u8) -> Decimal {
        let mut number = Decimal::zero(scale);
        for _ in 0..precision.min(MAX_DIGITS as u8) {
            number.append_digits(1, 9).expect("65 nines fit");
        }
        number
    }

    /// Returns the number's parts: its digits as one integer, least significant limb first; how
    /// many of the digits are after the point; and whether the number is below zero.
    pub fn parts(&self) -> ([u64; 4], u8, bool) {
        (self.magnitude, self.scale, self.negative)
    }

    /// Returns the number with these [`Decimal::parts`]. `None` for parts that no number has.
    pub fn from_parts(magnitude: [u64; 4], scale: u8, negative: bool) -> Option<Decimal> {
        let number = Decimal { magnitude, scale, negative };
        let is_minus_zero = negative && magnitude::is_zero(&magnitude);
        // 65 digits have 216 bits.
        (scale <= MAX_COLUMN_SCALE && magnitude[3] >> 24 == 0 && !is_minus_zero).then_some(number)
    }

    /// Appends bytes that compare by memcmp as the numbers do, none of which is a prefix of another
    /// number's bytes. Equal numbers of different scales have the same bytes: a sign, the place of
    /// the point, and two digits in each byte.
    pub fn write_order_key(&self, out: &mut Vec<u8>) {
        const ZERO: u8 = 0x80;
        if self.is_zero() {
            return out.push(ZERO);
        }
        let start = out.len();
        out.push(ZERO + 1);
        let mut buffer = [0; MAX_DIGITS + 12];
        let count = self.digits(&mut buffer);
        let digits = &buffer[buffer.len() - count..];
        let first = digits.iter().position(|&digit| digit != 0).unwrap_or(0);
        let last = digits.iter().rposition(|&digit| digit != 0).map_or(first, |last| last + 1);
        // This is the number of digits before the point, counted from the first one that is not
        // zero. Below zero it is the negated number of zeros after the point.
        let before_point = count as i16 - i16::from(self.scale) - first as i16;
        out.push((before_point + 0x80) as u8);
        for pair in digits[first..last].chunks(2) {
            out.push(pair[0] * 10 + pair.get(1).copied().unwrap_or(0) + 1);
        }
        out.push(0);
        if self.negative {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }

    /// Appends bytes that two numbers share exactly if they are equal, whatever their scales are.
    /// None is a prefix of another number's bytes.
    pub fn write_equality_key(&self, out: &mut Vec<u8>) {
        let (mut digits, mut scale) = (self.magnitude, self.scale);
        if let [low, 0, 0, 0] = &mut digits {
            while scale > 0 && low.is_multiple_of(10) {
                (*low, scale) = (*low / 10, scale - 1);
            }
        } else {
            while scale > 0 {
                let mut shorter = digits;
                if magnitude::divide_small(&mut shorter, 10) != 0 {
                    break;
                }
                (digits, scale) = (shorter, scale - 1);
            }
        }
        let limbs = digits.iter().rposition(|limb| *limb != 0).map_or(0, |last| last + 1);
        let is_negative = self.negative && limbs > 0;
        out.extend_from_slice(&[scale, limbs as u8 | u8::from(is_negative) << 7]);
        digits[..limbs].iter().for_each(|limb| out.extend_from_slice(&limb.to_le_bytes()));
    }

    /// Returns the number of digits after the point.
    #[inline]
    pub fn scale(&self) -> u8 {
        self.scale
    }
    /// Reports whether the number is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }
    /// Reports whether the number is zero.
    pub fn is_zero(&self) -> bool {
        magnitude::is_zero(&self.magnitude)
    }

    /// Returns the number with the opposite sign.
    pub fn negate(&self) -> Decimal {
        Decimal { negative: !self.negative && !self.is_zero(), ..*self }
    }
    /// Returns the number without its sign.
    pub fn abs(&self) -> Decimal {
        Decimal { negative: false, ..*self }
    }

    pub(super) fn set_negative(&mut self, negative: bool) {
        self.negative = negative && !self.is_zero();
    }

    /// Appends `count` (at most 19) digits at the end of the digits. The scale stays the same.
    pub(super) fn append_digits(&mut self, count: u32, digits: u64) -> Option<()> {
        let mut magnitude = self.magnitude;
        magnitude::multiply_add_small(&mut magnitude, magnitude::power_of_ten(count), digits).then_some(())?;
        self.magnitude = magnitude;
        Some(())
    }

    /// Writes the digits (0..=9, at least scale + 1 of them) to the end of `buffer`, and returns
    /// how many they are.
    pub(super) fn digits(&self, buffer: &mut [u8; MAX_DIGITS + 12]) -> usize {
        let mut rest = self.magnitude;
        let mut at = buffer.len();
        let least = usize::from(self.scale) + 1;
        while !magnitude::is_zero(&rest) {
            let mut group = magnitude::divide_small(&mut rest, 1_000_000_000_000_000_000);
            let last = magnitude::is_zero(&rest);
            for _ in 0..18 {
                if last && group == 0 {
                    break;
                }
                at -= 1;
                buffer[at] = (group % 10) as u8;
                group /= 10;
            }
        }
        while buffer.len() - at < least {
            at -= 1;
            buffer[at] = 0;
        }
        buffer.len() - at
    }

    /// Returns the number of significant digits of the magnitude (0 for zero).
    fn digit_count(&self) -> usize {
        let mut buffer = [0; MAX_DIGITS + 12];
        let count = Decimal { scale: 0, ..*self }.digits(&mut buffer);
        if self.is_zero() { 0 } else { count }
    }

    /// Returns the number of digits before the point, without leading zeros.
    pub fn integer_digits(&self) -> usize {
        self.digit_count().saturating_sub(usize::from(self.scale))
    }

    /// Returns the number with exactly `scale` digits after the point. A larger scale than now adds
    /// zeros (`None` if that needs more than 65 digits), a smaller one rounds.
    pub fn with_scale(&self, scale: u8) -> Option<Decimal> {
        if scale <= self.scale {
            return Some(self.round(i32::from(scale)));
        }
        let mut magnitude = self.magnitude;
        magnitude::scale_up(&mut magnitude, u32::from(scale - self.scale)).then_some(())?;
        let number = Decimal { magnitude, scale, negative: self.negative };
        (number.digit_count() <= MAX_DIGITS).then_some(number)
    }

    /// Rounds half away from zero to `scale` digits after the point (before it, if `scale` is
    /// negative). A scale above the number's own changes nothing.
    pub fn round(&self, scale: i32) -> Decimal {
        self.cut(scale, true)
    }
    /// Cuts off the digits after `scale` (`TRUNCATE()`).
    pub fn truncate(&self, scale: i32) -> Decimal {
        self.cut(scale, false)
    }

    fn cut(&self, scale: i32, rounding: bool) -> Decimal {
        let drop = i32::from(self.scale) - scale;
        if drop <= 0 {
            return *self;
        }
        let mut magnitude = self.magnitude;
        let (half, _) = magnitude::scale_down(&mut magnitude, drop.min(90) as u32);
        if rounding && half {
            let fits = magnitude::multiply_add_small(&mut magnitude, 1, 1);
            debug_assert!(fits, "a shortened number has room for a carry");
        }
        if scale < 0 && !magnitude::scale_up(&mut magnitude, scale.unsigned_abs().min(90)) {
            return *self;
        }
        let mut number = Decimal { magnitude, scale: scale.max(0) as u8, negative: false };
        number.set_negative(self.negative);
        number
    }

    /// Returns the smallest integer not below the number (`CEILING()`).
    pub fn ceil(&self) -> Decimal {
        self.to_integer(!self.negative)
    }
    /// Returns the largest integer not above the number (`FLOOR()`).
    pub fn floor(&self) -> Decimal {
        self.to_integer(self.negative)
    }

    fn to_integer(self, away_from_zero: bool) -> Decimal {
        let mut magnitude = self.magnitude;
        let (_, inexact) = magnitude::scale_down(&mut magnitude, u32::from(self.scale));
        if inexact && away_from_zero {
            let fits = magnitude::multiply_add_small(&mut magnitude, 1, 1);
            debug_assert!(fits);
        }
        let mut number = Decimal { magnitude, scale: 0, negative: false };
        number.set_negative(self.negative);
        number
    }

    /// Returns the number in units of its last digit, if they have at most 127 bits: 1.50 has 150.
    #[inline]
    pub fn units(&self) -> Option<i128> {
        let [low, high, 0, 0] = self.magnitude else { return None };
        let digits = i128::try_from(u128::from(high) << 64 | u128::from(low)).ok()?;
        Some(if self.negative { -digits } else { digits })
    }

    /// Returns the number with these [`Decimal::units`].
    ///
    /// # Panics
    /// When the scale is above that of any number.
    #[inline]
    pub fn of_units(units: i128, scale: u8) -> Decimal {
        assert!(scale <= MAX_COLUMN_SCALE, "a number has at most {MAX_COLUMN_SCALE} digits after the point");
        Decimal::of_digits(units.unsigned_abs(), scale, units < 0)
    }

    /// Returns the digits as one integer, if it has at most 64 bits.
    #[inline]
    fn in_one_limb(&self) -> Option<u64> {
        let [low, rest @ ..] = self.magnitude;
        (rest == [0; 3]).then_some(low)
    }

    /// Returns the number with these digits, which are at most 39, and so always fit.
    #[inline]
    pub(super) fn of_digits(digits: u128, scale: u8, negative: bool) -> Decimal {
        let magnitude = [digits as u64, (digits >> 64) as u64, 0, 0];
        Decimal { magnitude, scale, negative: negative && digits != 0 }
    }

    /// Returns the magnitudes of both numbers with the larger scale of the two. `None` if one then
    /// does not fit into 256 bits.
    fn align(&self, other: &Decimal) -> Option<(Magnitude, Magnitude, u8)> {
        let scale = self.scale.max(other.scale);
        let (mut a, mut b) = (self.magnitude, other.magnitude);
        let fits = magnitude::scale_up(&mut a, u32::from(scale - self.scale))
            && magnitude::scale_up(&mut b, u32::from(scale - other.scale));
        fits.then_some((a, b, scale))
    }

    /// Returns the sum, with the larger scale of the two. `None` on overflow (error 1690).
    pub fn add(&self, other: &Decimal) -> Option<Decimal> {
        if let (Some(a), Some(b), true) = (self.in_one_limb(), other.in_one_limb(), self.scale == other.scale)
        {
            let signed =
                |limb: u64, negative: bool| if negative { -i128::from(limb) } else { i128::from(limb) };
            let sum = signed(a, self.negative) + signed(b, other.negative);
            return Some(Decimal::of_digits(sum.unsigned_abs(), self.scale, sum < 0));
        }
        let Some((a, b, scale)) = self.align(other) else {
            // The aligned numbers would have more than 77 digits, so digits of the fraction are
            // given up.
            let scale = self.scale.min(other.scale);
            return self.round(i32::from(scale)).add(&other.round(i32::from(scale)));
        };
        let (magnitude, negative) = if self.negative == other.negative {
            (magnitude::add(&a, &b)?, self.negative)
        } else if magnitude::compare(&a, &b) != Ordering::Less {
            (magnitude::subtract(&a, &b), self.negative)
        } else {
            (magnitude::subtract(&b, &a), other.negative)
        };
        let mut sum = Decimal { magnitude, scale, negative: false };
        sum.set_negative(negative);
        sum.limit()
    }

    /// Returns the difference. `None` on overflow.
    pub fn sub(&self, other: &Decimal) -> Option<Decimal> {
        self.add(&other.negate())
    }

    /// Returns the product, with the sum of the scales but at most 30, or the larger of the two
    /// scales if that is more. `None` on overflow.
    pub fn mul(&self, other: &Decimal) -> Option<Decimal> {
        let sum_of_scales = self.scale + other.scale;
        if let (Some(a), Some(b), true) =
            (self.in_one_limb(), other.in_one_limb(), sum_of_scales <= MAX_SCALE)
        {
            let product = u128::from(a) * u128::from(b);
            return Some(Decimal::of_digits(product, sum_of_scales, self.negative != other.negative));
        }
        let mut product = magnitude::multiply(&self.magnitude, &other.magnitude);
        let mut scale = self.scale + other.scale;
        let limit = MAX_SCALE.max(self.scale).max(other.scale);
        let excess = scale.saturating_sub(limit);
        let needed = decimal_digits(&product).saturating_sub(MAX_DIGITS + 11).min(usize::from(scale)) as u8;
        let drop = excess.max(needed);
        if drop > 0 {
            let (half, _) = magnitude::scale_down(&mut product, u32::from(drop));
            if half {
                let fits = magnitude::multiply_add_small(&mut product, 1, 1);
                debug_assert!(fits);
            }
            scale -= drop;
        }
        let mut number = Decimal { magnitude: magnitude::narrow(&product)?, scale, negative: false };
        number.set_negative(self.negative != other.negative);
        number.limit()
    }

    /// Returns the quotient with `scale_increment` (MySQL's `div_precision_increment`) more digits
    /// after the point than the dividend, at most 30 or those of the dividend. `None` if the
    /// divisor is zero or the quotient overflows; [`Decimal::is_zero`] of the divisor distinguishes
    /// these cases.
    pub fn div(&self, other: &Decimal, scale_increment: u8) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let scale = self.scale.saturating_add(scale_increment).min(MAX_SCALE.max(self.scale));
        let mut dividend = magnitude::widen(&self.magnitude);
        let shift = u32::from(scale - self.scale) + u32::from(other.scale);
        magnitude::scale_up(&mut dividend, shift).then_some(())?;
        let (mut quotient, remainder) = magnitude::divide(&dividend, &other.magnitude);
        let twice = magnitude::add(&remainder, &remainder);
        if twice.is_none_or(|twice| magnitude::compare(&twice, &other.magnitude) != Ordering::Less) {
            magnitude::multiply_add_small(&mut quotient, 1, 1).then_some(())?;
        }
        let mut number = Decimal { magnitude: magnitude::narrow(&quotient)?, scale, negative: false };
        number.set_negative(self.negative != other.negative);
        number.limit()
    }

    /// Returns the remainder of the integer division (`MOD`), with the dividend's sign. `None` if
    /// the divisor is zero.
    pub fn rem(&self, other: &Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let scale = self.scale.max(other.scale);
        let mut dividend = magnitude::widen(&self.magnitude);
        let mut divisor = magnitude::widen(&other.magnitude);
        let fits = magnitude::scale_up(&mut dividend, u32::from(scale - self.scale))
            && magnitude::scale_up(&mut divisor, u32::from(scale - other.scale));
        debug_assert!(fits, "65 + 38 digits fit in 512 bits");
        let magnitude = match magnitude::narrow(&divisor) {
            Some(divisor) => magnitude::divide(&dividend, &divisor).1,
            None => magnitude::narrow(&dividend)?, // The divisor is the larger one.
        };
        let mut number = Decimal { magnitude, scale, negative: false };
        number.set_negative(self.negative);
        number.limit()
    }

    /// Gives up digits of the fraction until the number has at most 65 digits. `None` if its
    /// integer part has more.
    fn limit(self) -> Option<Decimal> {
        if is_zero_above_128_bits(&self.magnitude) {
            return Some(self);
        }
        let digits = self.digit_count();
        if digits <= MAX_DIGITS {
            return Some(self);
        }
        let drop = digits - MAX_DIGITS;
        if drop > usize::from(self.scale) {
            return None;
        }
        Some(self.round(i32::from(self.scale) - drop as i32))
    }

    /// Returns the nearest integer as an i64. `None` if it is out of range.
    pub fn to_i64(&self) -> Option<i64> {
        let whole = self.round(0);
        let low = i128::from(whole.magnitude[0]);
        magnitude::is_zero(&whole.magnitude[1..]).then_some(())?;
        i64::try_from(if whole.negative { -low } else { low }).ok()
    }
    /// Returns the nearest integer as a u64. `None` if it is out of range.
    pub fn to_u64(&self) -> Option<u64> {
        let whole = self.round(0);
        (magnitude::is_zero(&whole.magnitude[1..]) && !whole.negative).then_some(whole.magnitude[0])
    }
    /// Returns the nearest double.
    pub fn to_f64(&self) -> f64 {
        self.to_string().parse().expect("a decimal's text is a float literal")
    }
}

fn is_zero_above_128_bits(magnitude: &Magnitude) -> bool {
    magnitude[2] == 0 && magnitude[3] == 0
}

fn decimal_digits(wide: &magnitude::Wide) -> usize {
    let mut rest = *wide;
    let mut digits = 0;
    while !magnitude::is_zero(&rest[1..]) {
        magnitude::divide_small(&mut rest, 1_000_000_000_000_000_000);
        digits += 18;
    }
    digits + rest[0].checked_ilog10().map_or(0, |log| log as usize + 1)
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Decimal {
        Decimal { magnitude: [value.unsigned_abs(), 0, 0, 0], scale: 0, negative: value < 0 }
    }
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Decimal {
        Decimal { magnitude: [value, 0, 0, 0], scale: 0, negative: false }
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        if self.negative != other.negative {
            return other.negative.cmp(&self.negative);
        }
        let scale = self.scale.max(other.scale);
        let (mut a, mut b) = (magnitude::widen(&self.magnitude), magnitude::widen(&other.magnitude));
        let fits = magnitude::scale_up(&mut a, u32::from(scale - self.scale))
            && magnitude::scale_up(&mut b, u32::from(scale - other.scale));
        debug_assert!(fits, "65 + 38 digits fit in 512 bits");
        let order = magnitude::compare(&a, &b);
        if self.negative { order.reverse() } else { order }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; MAX_DIGITS + 12];
        let count = self.digits(&mut buffer);
        let mut text = [0u8; MAX_DIGITS + 15];
        let mut len = 0;
        let mut push = |byte| {
            text[len] = byte;
            len += 1;
        };
        if self.negative {
            push(b'-');
        }
        for (i, digit) in buffer[buffer.len() - count..].iter().enumerate() {
            if i + usize::from(self.scale) == count {
                push(b'.');
            }
            push(b'0' + digit);
        }
        f.write_str(std::str::from_utf8(&text[..len]).expect("digits are ASCII"))
    }
}
