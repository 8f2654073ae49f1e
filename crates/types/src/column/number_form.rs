//! The form in which the values of a column are written: ZEROFILL, the digits of `FLOAT(M,D)` and
//! `DOUBLE(M,D)`, and a text for bytes.

use super::TextForm;
use std::num::NonZeroU16;

/// The form of a column's values, in two bytes: eight bits of width, five bits of decimals, one for
/// ZEROFILL, one for bytes that have a text (the width then says which text), and one that is
/// always set. The bits of ZEROFILL and of a text together say that an integer is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberForm(NonZeroU16);

/// The value of the five bits when the form does not limit the decimals.
const ANY_DECIMALS: u16 = 31;
const ZEROFILL: u16 = 1 << 13;
const TEXT: u16 = 1 << 14;
const SET: u16 = 1 << 15;
const KEPT: u16 = ZEROFILL | TEXT;

impl NumberForm {
    /// Makes a form of this width, with decimals (at most 30) or without, and with ZEROFILL or
    /// without.
    pub fn new(width: u8, decimals: Option<u8>, zerofill: bool) -> NumberForm {
        assert!(decimals.is_none_or(|decimals| u16::from(decimals) < ANY_DECIMALS), "decimals out of range");
        let decimals = decimals.map_or(ANY_DECIMALS, u16::from);
        let zerofill = if zerofill { ZEROFILL } else { 0 };
        let bits = SET | zerofill | decimals << 8 | u16::from(width);
        NumberForm(NonZeroU16::new(bits).unwrap_or(NonZeroU16::MAX))
    }

    /// Makes the form of bytes that have a text.
    pub fn of_text(form: TextForm) -> NumberForm {
        let bits = SET | TEXT | ANY_DECIMALS << 8 | u16::from(form.chars());
        NumberForm(NonZeroU16::new(bits).unwrap_or(NonZeroU16::MAX))
    }

    /// Makes the form of an integer of which a column has the very type, however few characters
    /// `width` has room for. `is_column` says that the integer comes from such a column, so that
    /// clients are told of the width and computations do not know it.
    pub fn of_kept(width: u8, is_column: bool) -> NumberForm {
        let decimals = if is_column { 0 } else { ANY_DECIMALS << 8 };
        NumberForm(NonZeroU16::new(SET | KEPT | decimals | u16::from(width)).unwrap_or(NonZeroU16::MAX))
    }

    /// Reports whether the form is one of [`NumberForm::of_kept`].
    pub fn is_kept(self) -> bool {
        self.0.get() & KEPT == KEPT
    }

    /// Reports whether the form is one of [`NumberForm::of_kept`] for an integer of a column.
    pub fn is_kept_in_column(self) -> bool {
        self.is_kept() && self.0.get() >> 8 & ANY_DECIMALS == 0
    }

    /// Returns the text that the bytes have.
    pub fn text(self) -> Option<TextForm> {
        let is_text = self.0.get() & KEPT == TEXT;
        TextForm::ALL.into_iter().find(|form| is_text && form.chars() == self.width())
    }

    /// Returns the number of characters that ZEROFILL fills, or the M of `FLOAT(M,D)`.
    pub fn width(self) -> u8 {
        self.0.get() as u8
    }

    /// Returns the D of `FLOAT(M,D)` and `DOUBLE(M,D)`: values are rounded to this many decimals.
    pub fn decimals(self) -> Option<u8> {
        let decimals = self.0.get() >> 8 & ANY_DECIMALS;
        (decimals != ANY_DECIMALS && !self.is_kept()).then_some(decimals as u8)
    }

    /// Reports whether numbers are filled with zeros (ZEROFILL).
    pub fn zerofill(self) -> bool {
        self.0.get() & KEPT == ZEROFILL
    }

    /// Reports whether values are written in another way than without the form: a width alone
    /// changes nothing.
    pub fn changes_text(self) -> bool {
        self.zerofill() || self.decimals().is_some() || self.text().is_some()
    }

    /// Returns the form without ZEROFILL. `None` means that nothing else is left of it.
    pub(super) fn without_zerofill(self) -> Option<NumberForm> {
        match (self.zerofill(), self.decimals()) {
            (false, _) => Some(self),
            (true, Some(decimals)) => Some(NumberForm::new(self.width(), Some(decimals), false)),
            (true, None) => None,
        }
    }

    /// Fills the text of a number with zeros, as far as ZEROFILL asks for it. The text is in `out`
    /// from `start` on.
    pub(crate) fn fill(self, start: usize, out: &mut Vec<u8>) {
        let missing = usize::from(self.width()).saturating_sub(out.len() - start);
        if self.zerofill() && missing > 0 {
            out.splice(start..start, std::iter::repeat_n(b'0', missing));
        }
    }

    /// Returns a value rounded to the column's decimals, as MySQL rounds it, and the greatest value
    /// that fits the column.
    pub(crate) fn round(self, number: f64) -> (f64, f64) {
        let Some(decimals) = self.decimals() else { return (number, f64::MAX) };
        let unit = 10f64.powi(i32::from(decimals));
        let largest = 10f64.powi(i32::from(self.width()) - i32::from(decimals)) - 1.0 / unit;
        if !number.is_finite() {
            return (number, largest);
        }
        let whole = number.floor();
        (whole + ((number - whole) * unit).round_ties_even() / unit, largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_and_filled() {
        let form = NumberForm::new(7, Some(3), true);
        let is_near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        let (rounded, largest) = form.round(1.23456);
        assert!(is_near(rounded, 1.235) && is_near(largest, 9999.999), "{rounded} {largest}");
        assert!(is_near(form.round(-1.23456).0, -1.235));
        assert_eq!(form.round(f64::INFINITY).0, f64::INFINITY);
        let plain = NumberForm::new(255, None, false);
        assert_eq!((plain.width(), plain.decimals(), plain.zerofill()), (255, None, false));
        assert_eq!((form.width(), form.decimals(), form.zerofill()), (7, Some(3), true));
        assert_eq!(size_of::<Option<NumberForm>>(), 2);
        let kept = [false, true].map(|is_column| NumberForm::of_kept(36, is_column));
        assert!(kept.iter().all(|kept| kept.is_kept() && !kept.changes_text() && kept.width() == 36));
        assert_eq!(kept.map(NumberForm::is_kept_in_column), [false, true]);
        assert!(!form.is_kept() && !plain.is_kept());
        let mut text = b"a2.5".to_vec();
        form.fill(1, &mut text);
        assert_eq!(text, b"a00002.5");
        form.fill(1, &mut text);
        assert_eq!(text, b"a00002.5");
    }
}
