//! The collations whose weights do not come from a table alone: German phone books, Thai, and
//! variants of `utf8mb3_general_ci`.

use super::case;
use super::ids::UTF8MB3_GENERAL_CI;

/// Returns the weights of latin1_german2_ci: an umlaut weighs as its vowel and E, and sharp S as
/// two S.
pub(super) fn german2(table: u8, bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.iter().flat_map(move |&byte| {
        let (first, second) = german2_weights(table, byte);
        [Some(first), second].into_iter().flatten().map(u32::from)
    })
}

fn german2_weights(table: u8, byte: u8) -> (u8, Option<u8>) {
    let second = match byte {
        0xc4 | 0xd6 | 0xdc | 0xe4 | 0xf6 | 0xfc => Some(b'E'),
        0xdf => Some(b'S'),
        _ => None,
    };
    (super::encoding::single_weight(table, byte), second)
}

/// Returns the weights of tis620_thai_ci: a vowel written before its consonant counts after it.
/// Tone marks and similar marks count after everything else, and the later they are in the string
/// the less.
pub(super) fn thai(bytes: &[u8]) -> Vec<u32> {
    let is_consonant = |byte: u8| (0xa1..=0xce).contains(&byte);
    let (mut weights, mut marks) = (Vec::with_capacity(bytes.len()), Vec::new());
    let (mut at, mut bias) = (0, 0xf8u8);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte < 0x80 || is_consonant(byte) {
            bias = bias.wrapping_sub(8);
        }
        match (byte, bytes.get(at)) {
            (0xe0..=0xe4, Some(&next)) if is_consonant(next) => {
                weights.extend([u32::from(next), u32::from(byte)]);
                at += 1;
            }
            (0xe7..=0xeb, _) => marks.push(u32::from(bias.wrapping_add(byte - 0xe5))),
            (0xec, _) => marks.push(u32::from(bias.wrapping_add(1))),
            _ => weights.push(u32::from(byte.to_ascii_lowercase())),
        }
    }
    weights.extend(marks);
    weights
}

/// Returns the weight of a character in variant `which` of utf8mb3_general_ci. `general` returns
/// the weights of utf8mb3_general_ci itself.
pub(super) fn general_variant(which: u8, c: char, general: impl Fn(char) -> u32) -> u32 {
    match (which, c) {
        (0, '\u{df}') => 0xdf,
        (0, _) => general(c),
        _ => {
            let mut lower = case::lower(UTF8MB3_GENERAL_CI, c.encode_utf8(&mut [0; 4]));
            lower.pop().map_or(0, u32::from)
        }
    }
}
