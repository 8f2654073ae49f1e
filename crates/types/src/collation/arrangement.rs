//! The rules by which some languages rearrange the weights of the Unicode Collation Algorithm for
//! characters that the language does not name one by one.

use super::charset::Charset;
use super::tables::Reader;
use super::transcode::to_utf8mb4;
use super::uca;
use super::version::Version;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// What a language does with the weights of characters that are not in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// The weights stay.
    Plain,
    /// Capital letters come before small ones.
    CapitalsFirst,
    /// Kana come after Latin letters, then the Chinese characters of JIS X 0208 in its order, then
    /// everything else.
    Japanese,
    /// Chinese characters come before Latin letters, in an order of their own.
    Chinese,
    /// Every primary weight has one plain weight on the second level.
    TwoLevels,
}

/// The weight of Latin letters and everything behind them.
const LETTERS: RangeInclusive<u16> = 0x1c47..=0x54a3;
/// The weights of Greek letters and everything behind them.
const BEHIND_LATIN: RangeInclusive<u16> = 0x1fb6..=0x54a3;
const KANA: RangeInclusive<u16> = 0x3d5a..=0x3d8b;
/// The first weights of characters that have two weights by rule, the second of which follows from
/// the code point.
const LEADS: RangeInclusive<u16> = 0xfb00..=0xfffc;
/// Among these, those of Chinese characters.
const HAN_LEADS: RangeInclusive<u16> = 0xfb40..=0xfbbf;

/// The weights of Chinese characters in a language, by code point; 0 means that there is none.
struct Han(Vec<u16>);

impl Han {
    fn new(weights: impl Iterator<Item = (u32, u16)>) -> Han {
        let mut by_code = Vec::new();
        for (code, weight) in weights {
            let code = code as usize;
            if by_code.len() <= code {
                by_code.resize(code + 1, 0);
            }
            by_code[code] = weight;
        }
        Han(by_code)
    }

    fn weight(&self, code: u32) -> Option<u16> {
        self.0.get(code as usize).copied().filter(|weight| *weight != 0)
    }
}

/// JIS X 0208 has its Chinese characters in rows 16 to 84, which `ujis` stores with these bytes.
static JAPANESE_HAN: LazyLock<Han> = LazyLock::new(|| {
    let codes = (0xb0..=0xf4u8).flat_map(|lead| (0xa1..=0xfeu8).map(move |trail| [lead, trail]));
    let characters = codes.filter_map(|code| {
        let text = to_utf8mb4(Charset::Ujis, &code);
        std::str::from_utf8(&text).ok()?.chars().next().filter(|c| *c > '\u{3000}')
    });
    Han::new(characters.map(u32::from).zip(*BEHIND_LATIN.end() + 1..))
});

/// `collation-tailorings.py` describes the format.
static CHINESE_HAN: LazyLock<Han> = LazyLock::new(|| {
    let mut reader = Reader(include_bytes!("data/han.order"));
    let (mut code, mut weight) = (0, *LETTERS.start());
    let count = reader.varint();
    Han::new((0..count).map(|_| {
        let number = reader.varint();
        if number & 1 == 1 {
            weight += reader.varint() as u16;
        }
        let zigzag = number >> 1;
        let gap = if zigzag & 1 == 0 { (zigzag >> 1) as i32 } else { -((zigzag >> 1) as i32) - 1 };
        code += gap;
        weight += 1;
        (code as u32, weight - 1)
    }))
});

/// The secondary weight of a character without an accent.
const NO_ACCENT: u16 = 0x20;

impl Arrangement {
    /// Appends the weights on a level (0..=3) of the character `c`, whose UTF-8 is `bytes`.
    pub(super) fn push_weights(
        self,
        version: Version,
        (c, bytes): (char, &[u8]),
        level: usize,
        out: &mut Vec<u16>,
    ) {
        let plain = uca::level_weights(version, bytes, level.min(2));
        match (self, level) {
            // Only kana have weights on the fourth level.
            (_, 3) => {}
            (Arrangement::TwoLevels, 1) => {
                each_unit(uca::level_weights(version, bytes, 0), |_, _| out.push(NO_ACCENT));
            }
            (Arrangement::CapitalsFirst, 2) => out.extend(plain.map(capital_first)),
            (Arrangement::Japanese, 0) => match JAPANESE_HAN.weight(u32::from(c)) {
                Some(weight) => out.push(weight),
                None => each_unit(plain, |first, second| push_japanese(first, second, out)),
            },
            (Arrangement::Chinese, 0) => each_unit(plain, |first, second| push_chinese(first, second, out)),
            _ => out.extend(plain),
        }
    }
}

/// Calls `each` with each primary weight, or with the two that a character has by rule.
fn each_unit(mut weights: impl Iterator<Item = u16>, mut each: impl FnMut(u16, Option<u16>)) {
    while let Some(first) = weights.next() {
        each(first, if LEADS.contains(&first) { weights.next() } else { None });
    }
}

/// Returns the tertiary weight that brings capital letters, and kana that are not small, forward.
fn capital_first(weight: u16) -> u16 {
    match weight {
        0x8..=0xc | 0xe | 0x11 | 0x12 | 0x1d => 0x100 | weight,
        _ => 0x300 | weight,
    }
}

fn push_japanese(first: u16, second: Option<u16>, out: &mut Vec<u16>) {
    /// The weight before those that come behind the Chinese characters.
    const BEHIND_HAN: u16 = 0xfb86;
    match first {
        _ if KANA.contains(&first) => out.push(first - KANA.start() + BEHIND_LATIN.start()),
        _ if BEHIND_LATIN.contains(&first) => out.extend([BEHIND_HAN, first]),
        _ => out.extend([first].into_iter().chain(second)),
    }
}

fn push_chinese(first: u16, second: Option<u16>, out: &mut Vec<u16>) {
    let Some(second) = second else {
        return out.push(match first {
            _ if LETTERS.contains(&first) => first + 0xa17d,
            0xfffd => 0xf65f,
            _ => first,
        });
    };
    let code = u32::from(first & 0x3f) << 15 | u32::from(second & 0x7fff);
    let own = CHINESE_HAN.weight(code).filter(|_| HAN_LEADS.contains(&first));
    match (own, first) {
        (Some(weight), _) => out.push(weight),
        (None, 0xfb00) => out.extend([0xf621, second]),
        (None, 0xfb40 | 0xfb41) => out.extend([first - 0xfb40 + 0xbdbf, second]),
        (None, 0xfb80) => out.extend([0xbdc1, second]),
        (None, 0xfb84 | 0xfb85) => out.extend([first - 0xfb84 + 0xbdc2, second]),
        (None, _) => out.extend([first - 0x59e, second]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_characters_have_the_weights_of_their_language() {
        let count = |han: &Han| han.0.iter().filter(|weight| **weight != 0).count();
        assert_eq!((count(&JAPANESE_HAN), JAPANESE_HAN.weight(0x4e9c)), (6355, Some(0x54a4)));
        assert_eq!((count(&CHINESE_HAN), CHINESE_HAN.weight(0x963f)), (41_231, Some(0x1c47)));
        assert_eq!(CHINESE_HAN.weight(u32::from('中')), Some(0xb820));
    }
}
