//! The collations with one weight a character: `..._general_ci`, `latin1_swedish_ci`,
//! `ascii_general_ci`.

use super::tables;
use super::{Charset, SPACES_THEN_END, SPACES_THEN_LESS, SPACES_THEN_MORE};
use std::sync::LazyLock;

static GENERAL_CI: LazyLock<Vec<u16>> =
    LazyLock::new(|| tables::load_general(include_bytes!("general.weights")));

/// Weight of what is no character of the character set: byte by byte above all characters.
const INVALID: u32 = 0x1f_0000;
/// Weight of all characters over U+FFFF in `utf8mb4_general_ci`.
const SUPPLEMENTARY: u32 = 0xfffd;

/// The weights of a string, character by character.
pub(super) fn weights(charset: Charset, bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (&first, tail) = rest.split_first()?;
        if first < 0x80 {
            rest = tail;
            return Some(u32::from(first.to_ascii_uppercase()));
        }
        Some(match charset {
            Charset::Latin1 => {
                rest = tail;
                u32::from(latin1_swedish(first))
            }
            Charset::Ascii | Charset::Binary => {
                rest = tail;
                u32::from(first)
            }
            Charset::Utf8mb3 | Charset::Utf8mb4 => match super::uca::next_char(&mut rest) {
                Some(c) => general_ci(c),
                None => {
                    rest = tail;
                    INVALID + u32::from(first)
                }
            },
        })
    })
}

/// Appends the key of a PAD SPACE string: each weight in UTF-8's form (which orders as the weights
/// do), each `space` with the marker after it that `docs/formats/key.md` describes.
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

/// `latin1_swedish_ci`'s weight of a byte over 0x7f.
fn latin1_swedish(byte: u8) -> u8 {
    match byte {
        0xc0..=0xc3 | 0xe0..=0xe3 => b'A',
        0xc4 | 0xc6 | 0xe4 | 0xe6 => b'\\',
        0xc5 | 0xe5 => b'[',
        0xc7 | 0xe7 => b'C',
        0xc8..=0xcb | 0xe8..=0xeb => b'E',
        0xcc..=0xcf | 0xec..=0xef => b'I',
        0xd0 | 0xf0 => b'D',
        0xd1 | 0xf1 => b'N',
        0xd2..=0xd5 | 0xf2..=0xf5 => b'O',
        0xd6 | 0xf6 => b']',
        0xd9..=0xdb | 0xf9..=0xfb => b'U',
        0xdc | 0xdd | 0xfc | 0xfd => b'Y',
        0xd8 | 0xf8 => 0xd8,
        0xde | 0xfe => 0xde,
        _ => byte,
    }
}

/// `utf8mb4_general_ci`'s weight of a character.
fn general_ci(c: char) -> u32 {
    GENERAL_CI.get(c as usize).map_or(SUPPLEMENTARY, |&weight| u32::from(weight))
}
