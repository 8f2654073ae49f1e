//! The collations with one weight for each character: the `..._general_ci` collations of Unicode,
//! and nearly all those of the character sets of one byte.

use super::encoding::single_weight;
use super::padding::{SPACES_THEN_END, SPACES_THEN_LESS, SPACES_THEN_MORE};
use super::tables;
use std::sync::LazyLock;

static GENERAL_CI: LazyLock<Vec<u16>> =
    LazyLock::new(|| tables::load_general(include_bytes!("general.weights")));

/// The weight of a byte that belongs to no character is this plus the byte, so it is above those of
/// all characters.
pub(super) const INVALID: u32 = 0x1f_0000;
/// The weight of all characters above U+FFFF in `utf8mb4_general_ci`.
const SUPPLEMENTARY: u32 = 0xfffd;

/// Returns the weights of a UTF-8 string, character by character.
pub(super) fn weights(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (&first, tail) = rest.split_first()?;
        if first < 0x80 {
            rest = tail;
            return Some(u32::from(first.to_ascii_uppercase()));
        }
        Some(match super::uca::next_char(&mut rest) {
            Some(c) => general_ci(c),
            None => {
                rest = tail;
                INVALID + u32::from(first)
            }
        })
    })
}

/// Returns the weights of a UTF-8 string in a variant of `..._general_ci`.
pub(super) fn variant_weights(which: u8, bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        Some(match super::uca::next_char(&mut rest) {
            Some(c) => super::special::general_variant(which, c, general_ci),
            None => {
                rest = &rest[1..];
                INVALID + u32::from(first)
            }
        })
    })
}

/// Returns the weights of a string with one byte for each character, by table number `table`.
#[inline]
pub(super) fn single_weights(table: u8, bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.iter().map(move |&byte| u32::from(single_weight(table, byte)))
}

/// Returns the weight of a space.
pub(super) fn single_space(table: u8) -> u32 {
    u32::from(single_weight(table, b' '))
}

/// Appends the key of a PAD SPACE string: each weight in UTF-8's form (which orders as the weights
/// do), each `space` followed by the marker that `docs/formats/key.md` describes.
pub(super) fn write_key(weights: impl Iterator<Item = u32>, space: u32, out: &mut Vec<u8>) {
    let mut spaces = 0;
    for weight in weights {
        if weight == space {
            spaces += 1;
            continue;
        }
        let marker = if weight < space { SPACES_THEN_LESS } else { SPACES_THEN_MORE };
        for _ in 0..std::mem::take(&mut spaces) {
            push_weight(space, out);
            out.push(marker);
        }
        push_weight(weight, out);
    }
    push_weight(space, out);
    out.push(SPACES_THEN_END);
}

/// Appends the weights of a string in UTF-8's form, without those of spaces at its end.
pub(super) fn write_open_key(weights: impl Iterator<Item = u32>, space: u32, out: &mut Vec<u8>) {
    let mut end = out.len();
    for weight in weights {
        push_weight(weight, out);
        if weight != space {
            end = out.len();
        }
    }
    out.truncate(end);
}

fn push_weight(weight: u32, out: &mut Vec<u8>) {
    match weight {
        0..0x80 => out.push(weight as u8),
        0x80..0x800 => out.extend_from_slice(&[0xc0 | (weight >> 6) as u8, 0x80 | (weight & 63) as u8]),
        0x800..0x1_0000 => {
            let (high, middle, low) = (weight >> 12, weight >> 6 & 63, weight & 63);
            out.extend_from_slice(&[0xe0 | high as u8, 0x80 | middle as u8, 0x80 | low as u8]);
        }
        _ => {
            out.push(0xf0 | (weight >> 18) as u8);
            out.extend([12, 6, 0].map(|shift| 0x80 | (weight >> shift & 63) as u8));
        }
    }
}

/// Appends the key of a NO PAD string: each weight plus one in UTF-8's form, then zero.
pub(super) fn write_unpadded_key(weights: impl Iterator<Item = u32>, out: &mut Vec<u8>) {
    weights.for_each(|weight| push_weight(weight + 1, out));
    out.push(0);
}

/// Returns the weight of a character in `utf8mb4_general_ci`.
fn general_ci(c: char) -> u32 {
    GENERAL_CI.get(c as usize).map_or(SUPPLEMENTARY, |&weight| u32::from(weight))
}
