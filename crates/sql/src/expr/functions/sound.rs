//! `SOUNDEX()`, which describes the sound of a text by a letter and digits.

use super::Function;
use crate::error::Result;
use crate::expr::infer::aggregate_collations;
use crate::expr::value_type::{length_in, text_type};
use crate::expr::{Coercibility, Expr};
use types::{ColumnType, Value};

pub(super) const FUNCTIONS: &[Function] = &[Function::new("soundex", 1..=1, sound, |call| {
    let bytes = call.bytes(0);
    call.check_room(bytes.len())?;
    if call.is_binary(0) {
        let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic());
        return Ok(Value::Bytes(soundex(letters.map(|byte| char::from(*byte))).into_bytes()));
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(Value::Bytes(soundex(text.chars().filter(|c| is_letter(*c))).into_bytes()))
})];

/// The least number of characters of a result.
const LEAST_CHARS: usize = 4;

/// Returns the type of a text that is as long as the argument.
fn sound(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let (id, coercibility) = aggregate_collations(args.iter())?;
    let chars = length_in(&args[0].ty, id).max(LEAST_CHARS as u32);
    Ok((text_type(chars, id), coercibility))
}

/// Reports whether a character is a letter. Beyond ASCII, every character from the first accented
/// letter on counts.
fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c >= '\u{c0}'
}

/// Returns the first letter and the digits of the following letters, without those that sound like
/// the one before.
fn soundex(mut letters: impl Iterator<Item = char>) -> String {
    let Some(first) = letters.next() else { return String::new() };
    let mut sound = String::from(first.to_ascii_uppercase());
    let (mut last, mut chars) = (digit(first), 1);
    for digit in letters.map(digit) {
        if digit != '0' && digit != last {
            sound.push(digit);
            last = digit;
            chars += 1;
        }
    }
    sound.extend(std::iter::repeat_n('0', LEAST_CHARS.saturating_sub(chars)));
    sound
}

/// Returns the digit of a group of letters that sound alike. Vowels and letters beyond ASCII have
/// 0.
fn digit(letter: char) -> char {
    match letter.to_ascii_uppercase() {
        'B' | 'F' | 'P' | 'V' => '1',
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => '2',
        'D' | 'T' => '3',
        'L' => '4',
        'M' | 'N' => '5',
        'R' => '6',
        _ => '0',
    }
}
