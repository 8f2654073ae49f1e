//! The collations of East Asian character sets, with one weight for each character.
//!
//! A weight is a number. Weights order as the bytes of MySQL's weights do, which have one byte,
//! two, three (`ujis`) or four (`gb18030`).

use super::charset::{Charset, Form};
use super::encoding;
use super::general::INVALID;
use super::runs::{self, Run};
use std::sync::LazyLock;

/// The weights of gb18030_chinese_ci that are not the codes themselves, by code. Four-byte codes
/// are numbered above the two-byte ones.
static GB18030: LazyLock<Vec<Run>> = LazyLock::new(|| runs::gb18030(1));

/// Returns the weights of a string. `ascii` is the table in `single.tables` for its single bytes.
pub(super) fn weights(charset: Charset, ascii: u8, bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        if first < 0x80 {
            rest = &rest[1..];
            return Some(u32::from(encoding::single_weight(ascii, first)));
        }
        let Some(len) = encoding::char_len(charset, rest) else {
            rest = &rest[1..];
            return Some(INVALID + u32::from(first));
        };
        let (head, tail) = rest.split_at(len);
        rest = tail;
        Some(weight(charset, head))
    })
}

/// Returns the number that MySQL has for a weight of gb18030_chinese_ci. It takes four bytes where
/// the weight is that of a four-byte code, or the place of a Chinese character in its list.
pub(super) fn gb18030_number(weight: u32) -> u32 {
    const FOUR_BYTES: u32 = 0x1_0000;
    const CHINESE: u32 = 0x1a_0000;
    match weight {
        ..FOUR_BYTES => weight,
        FOUR_BYTES..CHINESE => weight - FOUR_BYTES + 0xff00_0000,
        _ => weight - CHINESE + 0xffa0_0000,
    }
}

/// Returns the weight of a character that is not ASCII.
fn weight(charset: Charset, bytes: &[u8]) -> u32 {
    let number = match charset.form() {
        Form::Multi(number) => number,
        _ => unreachable!("only character sets of several bytes weigh so"),
    };
    let two = |lead: u8, trail: u8| u32::from(lead) << 8 | u32::from(trail);
    let is_euc_of_japan = matches!(charset, Charset::Ujis | Charset::Eucjpms);
    // The codes that follow 8F come between those that begin with 8E and those that begin with A1
    // or more.
    let above_three_bytes =
        |weight: u32| if is_euc_of_japan && weight >= 0x9000 { weight + 0x1_0000 } else { weight };
    match *bytes {
        [byte] => above_three_bytes(two(byte, 0)),
        [_, lead, trail] => 0x8f00 + two(lead, trail),
        [lead, trail] if charset == Charset::Gb18030 => {
            let code = two(lead, trail);
            runs::value_of(&GB18030, code).unwrap_or(code)
        }
        [lead, trail] => match encoding::multi_weight(number, lead, trail) {
            Some(weight) => u32::from(weight),
            None => above_three_bytes(two(lead, trail)),
        },
        _ => {
            let code = 0x1_0000 + encoding::four_byte_number(bytes).unwrap_or(0);
            runs::value_of(&GB18030, code).unwrap_or(code)
        }
    }
}
