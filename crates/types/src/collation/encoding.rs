//! Single characters of any character set: their lengths, their code points, and how code points
//! are encoded.
//!
//! The tables come from what a real server answers (`scripts/charset-tables.py` describes their
//! formats). They are used without being unpacked. The tables for encoding are made when they are
//! first needed.

use super::charset::{Charset, Form};
use super::runs::{self, Run};
use std::sync::{LazyLock, OnceLock};

static SINGLE: &[u8] = include_bytes!("data/single.tables");
static MULTI: &[u8] = include_bytes!("data/multi.tables");
static MULTI_REVERSE: &[u8] = include_bytes!("data/multi.reverse");

const SINGLE_CHARSETS: usize = 25;
/// The entry that stands for no code point, or for no code.
const NONE: u16 = 0xffff;

/// Returns the weight of a byte in table `number` of the weights in `single.tables`.
#[inline]
pub(super) fn single_weight(number: u8, byte: u8) -> u8 {
    SINGLE[SINGLE_CHARSETS * 512 + usize::from(number) * 256 + usize::from(byte)]
}

fn u16_at(table: &[u8], index: usize) -> u16 {
    u16::from_le_bytes([table[2 * index], table[2 * index + 1]])
}

/// The layout of the two-byte codes of one character set of `multi.tables`.
pub(super) struct Multi {
    leads: (u8, u8),
    trails: (u8, u8),
    /// The number of planes: the first has the codes of two bytes, the second those that follow a
    /// byte 8F.
    planes: usize,
    has_weights: bool,
}

const fn multi(leads: (u8, u8), trails: (u8, u8), planes: usize, has_weights: bool) -> Multi {
    Multi { leads, trails, planes, has_weights }
}

/// The layouts, in the order of the character sets.
static MULTIS: [Multi; 9] = [
    multi((0xa1, 0xf9), (0x40, 0xfe), 1, false),
    multi((0x81, 0xfe), (0x40, 0xfe), 1, true),
    multi((0xa1, 0xf7), (0xa1, 0xfe), 1, false),
    multi((0x81, 0xfc), (0x40, 0xfc), 1, false),
    multi((0x81, 0xfc), (0x40, 0xfc), 1, false),
    multi((0x81, 0xfe), (0x41, 0xfe), 1, false),
    multi((0xa1, 0xfe), (0xa1, 0xfe), 2, false),
    multi((0xa1, 0xfe), (0xa1, 0xfe), 2, false),
    multi((0x81, 0xfe), (0x40, 0xfe), 1, false),
];

impl Multi {
    fn trail_count(&self) -> usize {
        usize::from(self.trails.1 - self.trails.0) + 1
    }
    /// Returns the number of codes in one plane.
    fn places(&self) -> usize {
        (usize::from(self.leads.1 - self.leads.0) + 1) * self.trail_count()
    }
    fn place(&self, lead: u8, trail: u8) -> Option<usize> {
        let is_in = |range: (u8, u8), byte: u8| (range.0..=range.1).contains(&byte);
        (is_in(self.leads, lead) && is_in(self.trails, trail)).then(|| {
            usize::from(lead - self.leads.0) * self.trail_count() + usize::from(trail - self.trails.0)
        })
    }
    fn code(&self, place: usize) -> u16 {
        let (lead, trail) = (place / self.trail_count(), place % self.trail_count());
        u16::from(self.leads.0 + lead as u8) << 8 | u16::from(self.trails.0 + trail as u8)
    }
    fn tables(&self) -> usize {
        self.places() * (self.planes + usize::from(self.has_weights))
    }
}

/// Returns the tables of a character set: its code points, plane after plane, then its weights.
fn multi_table(number: usize) -> &'static [u8] {
    let start: usize = MULTIS[..number].iter().map(Multi::tables).sum();
    &MULTI[2 * start..2 * (start + MULTIS[number].tables())]
}

/// Returns the weight of a two-byte code in gbk_chinese_ci.
pub(super) fn multi_weight(number: usize, lead: u8, trail: u8) -> Option<u16> {
    let multi = &MULTIS[number];
    let place = multi.place(lead, trail).filter(|_| multi.has_weights)?;
    Some(u16_at(multi_table(number), multi.places() * multi.planes + place)).filter(|&weight| weight != 0)
}

/// Returns the number of bytes of the character that a string begins with. `None` means that it
/// begins with no character.
pub(super) fn char_len(charset: Charset, bytes: &[u8]) -> Option<usize> {
    let lead = *bytes.first()?;
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    let len = match charset {
        Charset::Utf8mb3 | Charset::Utf8mb4 => {
            let mut rest = bytes;
            super::uca::next_char(&mut rest)?;
            bytes.len() - rest.len()
        }
        Charset::Ucs2 => 2,
        Charset::Utf16 | Charset::Utf16le => {
            let high = if charset == Charset::Utf16 { lead } else { at(1) };
            let low = if charset == Charset::Utf16 { at(2) } else { at(3) };
            match high {
                0xd8..=0xdb if low & 0xfc == 0xdc => 4,
                0xd8..=0xdf => return None,
                _ => 2,
            }
        }
        Charset::Utf32 => 4,
        _ if lead < 0x80 => 1,
        Charset::Big5 if lead >= 0xa1 && matches!(at(1), 0x40..=0x7e | 0xa1..=0xfe) => 2,
        Charset::Gbk if lead >= 0x81 && matches!(at(1), 0x40..=0x7e | 0x80..=0xfe) => 2,
        Charset::Gb2312 if (0xa1..=0xf7).contains(&lead) && at(1) >= 0xa1 => 2,
        Charset::Sjis | Charset::Cp932 => match lead {
            0xa1..=0xdf => 1,
            0x81..=0x9f | 0xe0..=0xfc if matches!(at(1), 0x40..=0x7e | 0x80..=0xfc) => 2,
            _ => return None,
        },
        Charset::Euckr if lead >= 0x81 && matches!(at(1), 0x41..=0x5a | 0x61..=0x7a | 0x81..=0xfe) => 2,
        Charset::Ujis | Charset::Eucjpms => match lead {
            0x8e if matches!(at(1), 0xa1..=0xdf) => 2,
            0x8f if at(1) >= 0xa1 && at(2) >= 0xa1 => 3,
            0xa1..=0xfe if at(1) >= 0xa1 => 2,
            0x80..=0x9f if charset == Charset::Eucjpms && !matches!(lead, 0x8e | 0x8f) => 1,
            _ => return None,
        },
        Charset::Gb18030 if (0x81..=0xfe).contains(&lead) => match at(1) {
            0x40..=0x7e | 0x80..=0xfe => 2,
            0x30..=0x39 if (0x81..=0xfe).contains(&at(2)) && at(3).is_ascii_digit() => 4,
            _ => return None,
        },
        _ => return (charset.max_bytes_per_char() == 1).then_some(1),
    };
    (len <= bytes.len()).then_some(len)
}

/// Returns the code point of one character.
pub(super) fn decode(charset: Charset, bytes: &[u8]) -> Option<u32> {
    match (charset.form(), bytes) {
        (Form::Single(number), &[byte]) => {
            Some(u16_at(SINGLE, number * 256 + usize::from(byte))).filter(|&c| c != NONE).map(u32::from)
        }
        (Form::Multi(_), &[byte @ 0..=0x7f]) => Some(u32::from(byte)),
        (Form::Multi(number), _) => decode_multi(charset, number, bytes),
        (Form::Wide, _) => decode_wide(charset, bytes),
        _ => None,
    }
}

fn decode_multi(charset: Charset, number: usize, bytes: &[u8]) -> Option<u32> {
    let multi = &MULTIS[number];
    let at = |plane: usize, lead, trail| {
        let place = multi.place(lead, trail)?;
        Some(u16_at(multi_table(number), plane * multi.places() + place))
            .filter(|&c| c != NONE)
            .map(u32::from)
    };
    match *bytes {
        // These are the katakana of half width, which are one byte, or one byte after an 8E.
        [byte @ 0xa1..=0xdf] if matches!(charset, Charset::Sjis | Charset::Cp932) => {
            Some(0xff61 + u32::from(byte - 0xa1))
        }
        [0x8e, byte @ 0xa1..=0xdf] if multi.planes == 2 => Some(0xff61 + u32::from(byte - 0xa1)),
        [0x8f, lead, trail] => at(1, lead, trail),
        [lead, trail] => at(0, lead, trail),
        [..] if bytes.len() == 4 => {
            let number = four_byte_number(bytes)?;
            runs::key_of(&FOUR_BYTE_BY_NUMBER, number)
        }
        _ => None,
    }
}

fn decode_wide(charset: Charset, bytes: &[u8]) -> Option<u32> {
    let unit = |high: u8, low: u8| u32::from(high) << 8 | u32::from(low);
    let units = match (charset, bytes) {
        (Charset::Utf32, &[a, b, c, d]) => return Some(u32::from_be_bytes([a, b, c, d])),
        (Charset::Utf16le, &[b, a]) => return Some(unit(a, b)),
        (Charset::Ucs2 | Charset::Utf16, &[a, b]) => return Some(unit(a, b)),
        (Charset::Utf16le, &[b, a, d, c]) | (Charset::Utf16, &[a, b, c, d]) => [unit(a, b), unit(c, d)],
        _ => return None,
    };
    Some(0x1_0000 + ((units[0] & 0x3ff) << 10) + (units[1] & 0x3ff))
}

/// Returns the number of a four-byte code of gb18030, counted from 81308130 on.
pub(super) fn four_byte_number(bytes: &[u8]) -> Option<u32> {
    let &[a, b, c, d] = bytes else { return None };
    let digit = |byte: u8, low: u8| byte.checked_sub(low).map(u32::from);
    Some(digit(a, 0x81)? * 12_600 + digit(b, 0x30)? * 1260 + digit(c, 0x81)? * 10 + digit(d, 0x30)?)
}

/// The mapping of code points to the numbers of four-byte codes.
static FOUR_BYTE: LazyLock<Vec<Run>> = LazyLock::new(|| runs::gb18030(0));
static FOUR_BYTE_BY_NUMBER: LazyLock<Vec<Run>> = LazyLock::new(|| {
    let mut by_number = FOUR_BYTE.clone();
    by_number.sort_by_key(|run| run.value);
    by_number
});

/// Appends a character as the character set stores it. Returns false if the character set does not
/// have it.
pub(super) fn encode(charset: Charset, c: char, out: &mut Vec<u8>) -> bool {
    let point = c as u32;
    match charset.form() {
        Form::Raw if charset == Charset::Ascii && !c.is_ascii() => return false,
        Form::Utf8 if charset == Charset::Utf8mb3 && point > 0xffff => return false,
        Form::Raw | Form::Utf8 => {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Form::Wide => return encode_wide(charset, c, out),
        Form::Single(number) => match single_byte(number, point) {
            Some(byte) => out.push(byte),
            None => return false,
        },
        Form::Multi(_) if c.is_ascii() => out.push(point as u8),
        Form::Multi(number) => match reverse(number).get(point as usize) {
            Some(&code) if code != NONE => push_code(code, out),
            _ => return charset == Charset::Gb18030 && push_four_bytes(point, out),
        },
    }
    true
}

fn encode_wide(charset: Charset, c: char, out: &mut Vec<u8>) -> bool {
    match charset {
        Charset::Ucs2 if c > '\u{ffff}' => return false,
        Charset::Utf32 => out.extend_from_slice(&(c as u32).to_be_bytes()),
        _ => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let bytes = if charset == Charset::Utf16le { unit.to_le_bytes() } else { unit.to_be_bytes() };
                out.extend_from_slice(&bytes);
            }
        }
    }
    true
}

/// Returns the byte of a code point. If several bytes have it, an ASCII one is taken, otherwise the
/// last one.
fn single_byte(number: usize, point: u32) -> Option<u8> {
    static REVERSE: [OnceLock<Vec<(u16, u8)>>; SINGLE_CHARSETS] =
        [const { OnceLock::new() }; SINGLE_CHARSETS];
    if point < 0x100 && u32::from(u16_at(SINGLE, number * 256 + point as usize)) == point {
        return Some(point as u8);
    }
    let point = u16::try_from(point).ok().filter(|&point| point != NONE)?;
    let reverse = REVERSE[number].get_or_init(|| {
        let mut pairs: Vec<_> =
            (0..=255).map(|b| (u16_at(SINGLE, number * 256 + usize::from(b)), b)).collect();
        pairs.sort_unstable();
        pairs
    });
    let end = reverse.partition_point(|pair| pair.0 <= point);
    end.checked_sub(1).map(|at| reverse[at]).filter(|pair| pair.0 == point).map(|pair| pair.1)
}

/// Returns the codes by code point. A code of three bytes is kept without its 8F and the highest
/// bit of the next byte.
fn reverse(number: usize) -> &'static [u16] {
    static REVERSE: [OnceLock<Box<[u16]>>; 9] = [const { OnceLock::new() }; 9];
    REVERSE[number].get_or_init(|| {
        let (multi, table) = (&MULTIS[number], multi_table(number));
        let mut codes = vec![NONE; 0x1_0000];
        // The order is from the highest code to the lowest, so that the lowest code of a code point
        // stays.
        for place in (0..multi.planes * multi.places()).rev() {
            let (plane, place_in_plane) = (place / multi.places(), place % multi.places());
            let (point, code) = (u16_at(table, place), multi.code(place_in_plane));
            if point != NONE {
                codes[usize::from(point)] = if plane == 1 { code & 0x7fff } else { code };
            }
        }
        for index in 0..0x3f {
            let half_width = match number {
                3 | 4 => 0xa1 + index,
                6 | 7 => 0x8ea1 + index,
                _ => break,
            };
            codes[0xff61 + usize::from(index)] = half_width;
        }
        for (point, code) in exceptions(number) {
            codes[usize::from(point)] = code;
        }
        codes.into_boxed_slice()
    })
}

/// Returns the code points whose code is not their lowest one, with that code.
fn exceptions(number: usize) -> Vec<(u16, u16)> {
    let mut reader = super::tables::Reader(MULTI_REVERSE);
    let mut pairs = Vec::new();
    for _ in 0..=number {
        let count = reader.varint();
        pairs = (0..count).map(|_| (reader.u16(), reader.u16())).collect();
    }
    pairs
}

fn push_code(code: u16, out: &mut Vec<u8>) {
    match code {
        0..0x100 => out.push(code as u8),
        0x100..0x8000 => {
            out.push(0x8f);
            out.extend_from_slice(&(code | 0x8000).to_be_bytes());
        }
        _ => out.extend_from_slice(&code.to_be_bytes()),
    }
}

fn push_four_bytes(point: u32, out: &mut Vec<u8>) -> bool {
    let Some(number) = runs::value_of(&FOUR_BYTE, point) else { return false };
    let (a, b, c, d) = (number / 12_600, number / 1260 % 10, number / 10 % 126, number % 10);
    out.extend([0x81 + a as u8, 0x30 + b as u8, 0x81 + c as u8, 0x30 + d as u8]);
    true
}
