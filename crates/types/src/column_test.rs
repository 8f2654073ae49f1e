//! Conditions on columns that are decided on the bytes of a row image, without decoding it.
//!
//! A scan that keeps few of its rows decodes only those. The tests say of each image exactly what
//! the conditions say of its values.

use crate::collation;
use crate::like::like;
use crate::order_number::OrderNumber;
use crate::row::{RowError, RowLayout};
use std::cmp::Ordering;

/// A condition on one column. No test holds for NULL.
#[derive(Clone, Debug)]
pub struct ColumnTest {
    column: usize,
    accepts: Accepts,
}

#[derive(Clone, Debug)]
enum Accepts {
    /// The numbers from the first to the second, both included.
    Range(OrderNumber, u64, u64),
    /// The numbers that are not from the first to the second.
    Outside(OrderNumber, u64, u64),
    /// These numbers, which ascend.
    Numbers(OrderNumber, Vec<u64>),
    /// The numbers that compare in one of these ways with another column's.
    Column(OrderNumber, usize, [Ordering; 2]),
    /// The texts that compare in one of these ways with another column's in the collation.
    TextColumn { collation: u16, other: usize, wanted: [Ordering; 2] },
    /// The texts of which a part is equal to one of these in the collation, or those of which it is
    /// equal to none. Beside each text is its [`collation::order_prefix`].
    Texts { collation: u16, part: Part, texts: Vec<(Option<u64>, Vec<u8>)>, equal: bool },
    /// The texts that match a pattern of LIKE in the collation, or those that do not.
    Like { collation: u16, pattern: Vec<u8>, escape: Option<u8>, matches: bool },
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The whole text.
    Whole,
    /// Some characters of the text.
    Characters {
        /// The first character of the part. The text's first one has the number 0.
        first: usize,
        /// The number of characters.
        count: usize,
    },
    /// Some bytes of the text.
    Bytes {
        /// The first byte of the part. The text's first one has the number 0.
        first: usize,
        /// The number of bytes.
        count: usize,
    },
}

impl Part {
    /// Returns the part of a text, which may end within the part or before it.
    #[inline]
    fn of(self, text: &[u8]) -> &[u8] {
        match self {
            Part::Whole => text,
            Part::Bytes { first, count } => bytes_of(text, first, count),
            Part::Characters { first, count } => {
                if text.get(..first.saturating_add(count)).unwrap_or(text).is_ascii() {
                    return bytes_of(text, first, count);
                }
                let before = collation::char_prefix(collation::UTF8MB4_BIN, text, first);
                collation::char_prefix(collation::UTF8MB4_BIN, &text[before.len()..], count)
            }
        }
    }
}

fn bytes_of(text: &[u8], first: usize, count: usize) -> &[u8] {
    let rest = text.get(first..).unwrap_or_default();
    rest.get(..count).unwrap_or(rest)
}

/// A longer pattern makes no test, since a match of a test is never interrupted.
pub const MOST_PATTERN_BYTES: usize = 128;

impl ColumnTest {
    /// Makes a test that holds for the numbers from `low` to `high`, both included. Bounds beyond
    /// the numbers of 64 bits are allowed.
    pub fn range(column: usize, order: OrderNumber, low: i128, high: i128) -> ColumnTest {
        let most = i128::from(u64::MAX);
        let accepts = match low.max(0) <= high.min(most) {
            true => Accepts::Range(order, low.max(0) as u64, high.min(most) as u64),
            false => Accepts::Numbers(order, Vec::new()),
        };
        ColumnTest { column, accepts }
    }

    /// Makes one test of two that hold for ranges of the same column's numbers. `None` means that
    /// they are others.
    pub fn both(&self, other: &ColumnTest) -> Option<ColumnTest> {
        match (&self.accepts, &other.accepts) {
            (Accepts::Range(order, low, high), Accepts::Range(same, other_low, other_high))
                if self.column == other.column && order == same =>
            {
                let (low, high) = (*low.max(other_low), *high.min(other_high));
                Some(ColumnTest::range(self.column, *order, low.into(), high.into()))
            }
            _ => None,
        }
    }

    /// Makes a test that holds for the numbers below `low` and for those above `high`.
    pub fn outside(column: usize, order: OrderNumber, low: i128, high: i128) -> ColumnTest {
        let most = i128::from(u64::MAX);
        let accepts = match low.max(0) <= high.min(most) {
            true => Accepts::Outside(order, low.max(0) as u64, high.min(most) as u64),
            false => Accepts::Range(order, 0, u64::MAX),
        };
        ColumnTest { column, accepts }
    }

    /// Makes a test that holds for each of these numbers.
    pub fn one_of(column: usize, order: OrderNumber, mut numbers: Vec<u64>) -> ColumnTest {
        numbers.sort_unstable();
        ColumnTest { column, accepts: Accepts::Numbers(order, numbers) }
    }

    /// Makes a test that holds if the column compares with another one, whose values are stored in
    /// the same way, as one of two orderings says.
    pub fn column(column: usize, order: OrderNumber, other: usize, wanted: [Ordering; 2]) -> ColumnTest {
        ColumnTest { column, accepts: Accepts::Column(order, other, wanted) }
    }

    /// Makes a test that holds if the text of the column compares with the text of another one, in
    /// a collation, as one of two orderings says. The layout must say of both columns that their
    /// bytes are those of the values ([`RowLayout::is_plain_text`]).
    pub fn text_column(column: usize, collation: u16, other: usize, wanted: [Ordering; 2]) -> ColumnTest {
        ColumnTest { column, accepts: Accepts::TextColumn { collation, other, wanted } }
    }

    /// Makes a test that holds for the texts of which a part is equal to one of `texts` in a
    /// collation, or for those of which it is equal to none of them. The layout must say of the
    /// column that its bytes are the value's ([`RowLayout::is_plain_text`]).
    pub fn texts(column: usize, part: Part, collation: u16, texts: Vec<Vec<u8>>, equal: bool) -> ColumnTest {
        let texts = texts.into_iter().map(|text| (collation::order_prefix(collation, &text), text)).collect();
        ColumnTest { column, accepts: Accepts::Texts { collation, part, texts, equal } }
    }

    /// Makes a test that holds for the texts that match a pattern of LIKE in a collation, or for
    /// those that do not. The pattern has at most [`MOST_PATTERN_BYTES`], and the layout must say
    /// of the column that its texts are short ([`RowLayout::is_short_text`]).
    pub fn like(
        column: usize,
        collation: u16,
        (pattern, escape): (Vec<u8>, Option<u8>),
        matches: bool,
    ) -> ColumnTest {
        assert!(pattern.len() <= MOST_PATTERN_BYTES, "a match takes few steps for each character");
        ColumnTest { column, accepts: Accepts::Like { collation, pattern, escape, matches } }
    }

    /// Returns the column, and numbers of which none is left out that the test holds for, both
    /// included. `None` means that the test says nothing about the numbers of a single column.
    pub fn numbers(&self) -> Option<(usize, (u64, u64))> {
        let (least, greatest) = match &self.accepts {
            Accepts::Range(_, low, high) => (*low, *high),
            Accepts::Numbers(_, numbers) => {
                (*numbers.first().unwrap_or(&u64::MAX), *numbers.last().unwrap_or(&0))
            }
            Accepts::Outside(..)
            | Accepts::Column(..)
            | Accepts::TextColumn { .. }
            | Accepts::Texts { .. }
            | Accepts::Like { .. } => {
                return None;
            }
        };
        Some((self.column, (least, greatest)))
    }

    /// Reports whether the test holds for a full image.
    ///
    /// # Errors
    /// Returns an error with the place if the image ends within a value.
    #[inline]
    pub fn holds(&self, layout: &RowLayout, image: &[u8]) -> Result<bool, RowError> {
        let Some(packed) = layout.find(image, self.column)? else { return Ok(false) };
        Ok(match &self.accepts {
            Accepts::Range(order, low, high) => (*low..=*high).contains(&order.of_packed(packed)),
            Accepts::Outside(order, low, high) => !(*low..=*high).contains(&order.of_packed(packed)),
            Accepts::Numbers(order, numbers) => numbers.binary_search(&order.of_packed(packed)).is_ok(),
            Accepts::Column(order, other, wanted) => match layout.find(image, *other)? {
                None => false,
                Some(other) => wanted.contains(&order.of_packed(packed).cmp(&order.of_packed(other))),
            },
            Accepts::TextColumn { collation, other, wanted } => match layout.find(image, *other)? {
                None => false,
                Some(other) => wanted.contains(&collation::compare_utf8mb4(*collation, packed, other)),
            },
            Accepts::Texts { collation, part, texts, equal } => {
                is_one_of(part.of(packed), texts, *collation) == *equal
            }
            Accepts::Like { collation, pattern, escape, matches } => {
                like(packed, pattern, *escape, *collation) == *matches
            }
        })
    }
}

/// Reports whether a text is equal to one of some others, beside which their
/// [`collation::order_prefix`] is. It is a function of its own, because other tests of each row
/// would pay for its room.
#[inline(never)]
fn is_one_of(text: &[u8], others: &[(Option<u64>, Vec<u8>)], collation: u16) -> bool {
    let prefix = collation::order_prefix(collation, text);
    others.iter().any(|(of_other, other)| {
        *of_other == prefix
            && (**other == *text || collation::compare_utf8mb4(collation, text, other) == Ordering::Equal)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ColumnType, Value};

    #[test]
    fn tests_hold_for_the_rows_that_they_say() {
        const UTF8MB4_0900_AI_CI: u16 = 255;
        let text = ColumnType::varchar(20, UTF8MB4_0900_AI_CI);
        let types = [text.clone(), ColumnType::int(false), text, ColumnType::int(false)];
        let layout = RowLayout::new(&types);
        let image = |first: Value, a: Value, b: Value| {
            let mut image = Vec::new();
            layout.encode(&[first, a, Value::text("xyz"), b], &mut image).unwrap();
            image
        };
        let plain = image(Value::text("Été"), Value::Int(-5), Value::Int(3));
        let nulls = image(Value::Null, Value::Null, Value::Int(3));
        let number = |n: i64| (n as u64 ^ 1 << 63) as i128;
        let signed = OrderNumber::Signed;
        let holds = |test: ColumnTest| {
            let of_nulls = test.holds(&layout, &nulls).unwrap();
            (test.holds(&layout, &plain).unwrap(), of_nulls)
        };
        assert_eq!(holds(ColumnTest::range(1, signed, number(-5), number(0))), (true, false));
        assert_eq!(holds(ColumnTest::range(1, signed, number(-4), i128::MAX)), (false, false));
        assert_eq!(holds(ColumnTest::range(3, signed, -1, number(3))), (true, true));
        assert_eq!(holds(ColumnTest::range(3, signed, number(4), number(3))), (false, false));
        let both = |a: ColumnTest, b: ColumnTest| a.both(&b);
        let from = |column, n| ColumnTest::range(column, signed, number(n), i128::MAX);
        let until = |column, n| ColumnTest::range(column, signed, i128::MIN, number(n));
        assert_eq!(both(from(1, -5), until(1, -5)).map(holds), Some((true, false)));
        assert_eq!(both(from(1, -5), until(1, -6)).map(holds), Some((false, false)));
        assert_eq!(both(until(3, 9), from(3, 4)).map(holds), Some((false, false)));
        assert_eq!(both(until(3, 9), from(3, 3)).map(holds), Some((true, true)));
        assert!(both(from(1, -5), until(3, 9)).is_none());
        assert_eq!(holds(ColumnTest::outside(1, signed, number(-5), number(-5))), (false, false));
        assert_eq!(holds(ColumnTest::outside(3, signed, number(4), number(9))), (true, true));
        assert_eq!(holds(ColumnTest::outside(3, signed, -9, -1)), (true, true));
        let numbers = [7, 3].map(|n| number(n) as u64).to_vec();
        assert_eq!(holds(ColumnTest::one_of(3, signed, numbers)), (true, true));
        let less = [Ordering::Less; 2];
        assert_eq!(holds(ColumnTest::column(1, signed, 3, less)), (true, false));
        assert_eq!(holds(ColumnTest::column(3, signed, 1, less)), (false, false));
        let texts = |texts: &[&str], equal| {
            let texts = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
            ColumnTest::texts(0, Part::Whole, UTF8MB4_0900_AI_CI, texts, equal)
        };
        let part = |first, count, text: &str| {
            let part = Part::Characters { first, count };
            ColumnTest::texts(0, part, UTF8MB4_0900_AI_CI, vec![text.as_bytes().to_vec()], true)
        };
        assert_eq!(holds(texts(&["x", "ete"], true)), (true, false));
        assert_eq!(holds(texts(&["x", "ete"], false)), (false, false));
        assert_eq!(holds(texts(&["x"], false)), (true, false));
        assert_eq!(holds(part(0, 2, "ÉT")), (true, false));
        assert_eq!(holds(part(1, 1, "T")), (true, false));
        assert_eq!(holds(part(1, 9, "te")), (true, false));
        assert_eq!(holds(part(3, 1, "")), (true, false));
        assert_eq!(holds(part(0, 2, "ete")), (false, false));
        let like = |pattern: &str, matches| {
            ColumnTest::like(0, UTF8MB4_0900_AI_CI, (pattern.as_bytes().to_vec(), Some(b'\\')), matches)
        };
        assert_eq!(holds(like("%E", true)), (true, false));
        assert_eq!(holds(like("%E", false)), (false, false));
        assert_eq!(holds(like("%x%", false)), (true, false));
    }

    #[test]
    fn parts_of_texts_begin_and_end_at_characters() {
        for (text, first, count) in [("aébc", 1, 2), ("abc", 1, 1), ("ab", 1, 9), ("ab", 9, 1), ("ü", 0, 0)]
        {
            let expected: String = text.chars().skip(first).take(count).collect();
            assert_eq!(Part::Characters { first, count }.of(text.as_bytes()), expected.as_bytes(), "{text}");
        }
        assert_eq!(Part::Characters { first: 1, count: usize::MAX }.of(b"abc"), b"bc");
        assert_eq!(Part::Bytes { first: 1, count: 2 }.of(b"\xff\xfe\xfd\xfc"), b"\xfe\xfd");
        assert_eq!(Part::Bytes { first: 3, count: usize::MAX }.of(b"ab"), b"");
    }

    #[test]
    fn two_columns_of_texts_compare_in_the_collation() {
        const UTF8MB4_0900_AI_CI: u16 = 255;
        let text = ColumnType::varchar(20, UTF8MB4_0900_AI_CI);
        let layout = RowLayout::new(&[text.clone(), ColumnType::int(false), text]);
        let holds = |a: Value, b: Value, wanted: [Ordering; 2]| {
            let mut image = Vec::new();
            layout.encode(&[a, Value::Int(1), b], &mut image).unwrap();
            ColumnTest::text_column(0, UTF8MB4_0900_AI_CI, 2, wanted).holds(&layout, &image).unwrap()
        };
        let (equal, differs) = ([Ordering::Equal; 2], [Ordering::Less, Ordering::Greater]);
        let less = [Ordering::Less; 2];
        assert!(holds(Value::text("Été"), Value::text("ete"), equal));
        assert!(!holds(Value::text("Été"), Value::text("ete"), differs));
        assert!(holds(Value::text("a"), Value::text("B"), less));
        assert!(!holds(Value::text("B"), Value::text("a"), less));
        assert!(holds(Value::text(""), Value::text("a"), differs));
        for wanted in [equal, differs, less] {
            assert!(!holds(Value::Null, Value::text("a"), wanted));
            assert!(!holds(Value::text("a"), Value::Null, wanted));
        }
    }

    #[test]
    fn an_image_that_ends_within_a_value_is_an_error() {
        let layout = RowLayout::new(&[ColumnType::varchar(20, 255), ColumnType::int(false)]);
        let mut image = Vec::new();
        layout.encode(&[Value::text("abc"), Value::Int(1)], &mut image).unwrap();
        let test = ColumnTest::range(1, OrderNumber::Signed, 0, i128::MAX);
        for len in 0..image.len() {
            assert!(test.holds(&layout, &image[..len]).is_err(), "{len} bytes");
        }
        assert_eq!(test.holds(&layout, &image), Ok(true));
    }
}
