//! The types of functions whose texts have a length that follows from their arguments, as MySQL
//! computes it. A length that depends on a value is known where the argument is a constant.

use super::super::infer::aggregate_collations;
use super::super::value_type::{
    MOST_CHARS_OF_BLOB, announced_bytes, bytes_type, length_in, text_length, text_type,
};
use super::{Coercibility, Expr};
use crate::error::Result;
use crate::expr::{Node, arithmetic};
use types::{ColumnType, Value, collation};

type Inferred = Result<(ColumnType, Coercibility)>;

/// Returns an argument that is a constant integer.
fn constant(args: &[Expr], at: usize) -> Option<i64> {
    match &args.get(at)?.node {
        Node::Constant(value @ (Value::Int(_) | Value::UInt(_) | Value::Decimal(_))) => {
            i64::try_from(arithmetic::integer_of(&arithmetic::number(value))).ok()
        }
        _ => None,
    }
}

/// Returns a constant count, which is 0 where the argument is negative.
fn constant_count(args: &[Expr], at: usize) -> Option<u32> {
    constant(args, at).map(|count| u32::try_from(count.max(0)).unwrap_or(u32::MAX))
}

/// Returns the second argument, a length, if it is a constant that is not below zero.
fn length_asked_for(args: &[Expr]) -> Option<u32> {
    constant(args, 1).filter(|count| *count >= 0).and_then(|_| constant_count(args, 1))
}

/// Returns the type of a text of this many characters in the collation of the arguments `texts`.
fn text_of_chars(texts: &[Expr], chars: Option<u32>) -> Inferred {
    let (id, coercibility) = aggregate_collations(texts.iter())?;
    Ok((text_type(chars.unwrap_or(MOST_CHARS_OF_BLOB), id), coercibility))
}

/// Returns the collation of a result that is the first text with parts of others: that of the first
/// text, which MySQL converts the others to, unless bytes are among them.
fn collation_of_first(first: &Expr, others: &[Expr]) -> Result<(u16, Coercibility)> {
    let (id, coercibility) = aggregate_collations(std::iter::once(first))?;
    let is_of_its_characters =
        |other: &Expr| collation::charset_of(other.ty.collation) == collation::charset_of(id);
    match aggregate_collations(std::iter::once(first).chain(others)) {
        Ok((collation::BINARY, coercibility)) => Ok((collation::BINARY, coercibility)),
        Ok(_) => Ok((id, coercibility)),
        // Two collations of bytes do not mix. The first text's one is taken here.
        Err(_)
            if coercibility > Coercibility::Explicit
                && others
                    .iter()
                    .filter(|other| crate::expr::is_text(&other.ty))
                    .all(is_of_its_characters) =>
        {
            Ok((id, coercibility))
        }
        Err(error) => Err(error),
    }
}

/// Returns the number of characters, or of bytes of a byte string, that the first argument has at
/// most.
fn chars_of_first(args: &[Expr]) -> u32 {
    text_length(&args[0].ty)
}

/// LEFT(text, count) and RIGHT(text, count).
pub(super) fn end_of_first(args: &[Expr]) -> Inferred {
    let chars = chars_of_first(args);
    text_of_chars(&args[..1], Some(constant_count(args, 1).map_or(chars, |count| count.min(chars))))
}

/// SUBSTRING(text, start, count).
pub(super) fn part_of_first(args: &[Expr]) -> Inferred {
    let chars = chars_of_first(args);
    let behind_start = match constant(args, 1) {
        None => chars,
        Some(start @ 1..) => chars.saturating_sub(u32::try_from(start - 1).unwrap_or(u32::MAX)),
        Some(start) => chars.min(u32::try_from(start.unsigned_abs()).unwrap_or(u32::MAX)),
    };
    let count = constant_count(args, 2).unwrap_or(u32::MAX);
    text_of_chars(&args[..1], Some(behind_start.min(count)))
}

/// LPAD(text, count, padding) and RPAD(text, count, padding).
pub(super) fn padded(args: &[Expr]) -> Inferred {
    let (id, coercibility) = collation_of_first(&args[0], &args[2..])?;
    let ty = text_type(length_asked_for(args).unwrap_or(MOST_CHARS_OF_BLOB), id);
    Ok((ty, coercibility))
}

/// REPEAT(text, count). As with LPAD and RPAD, MySQL takes a count below zero for a very large one
/// here.
pub(super) fn repeated(args: &[Expr]) -> Inferred {
    let chars = length_asked_for(args).map(|count| chars_of_first(args).saturating_mul(count));
    text_of_chars(&args[..1], chars)
}

/// SPACE(count), whose characters are the connection's.
pub(super) fn spaces(args: &[Expr]) -> Inferred {
    text_of_chars(args, constant_count(args, 0))
}

/// REPLACE(text, from, to): MySQL leaves room for one `to` in the place of each character.
pub(super) fn replaced(args: &[Expr]) -> Inferred {
    let times = text_length(&args[2].ty).saturating_sub(1).max(1);
    let (id, coercibility) = collation_of_first(&args[0], &args[1..])?;
    Ok((text_type(chars_of_first(args).saturating_mul(times), id), coercibility))
}

/// INSERT(text, position, count, inserted).
pub(super) fn inserted(args: &[Expr]) -> Inferred {
    let (id, coercibility) = collation_of_first(&args[0], &args[3..])?;
    let chars = length_in(&args[0].ty, id).saturating_add(length_in(&args[3].ty, id));
    Ok((text_type(chars, id), coercibility))
}

/// ELT(number, text, ...): the longest of the texts.
pub(super) fn longest_behind_first(args: &[Expr]) -> Inferred {
    let (id, coercibility) = aggregate_collations(args[1..].iter())?;
    let chars = args[1..].iter().map(|arg| length_in(&arg.ty, id)).max().unwrap_or(0);
    Ok((text_type(chars, id), coercibility))
}

/// MAKE_SET(bits, text, ...): all texts, with commas between them.
pub(super) fn set_behind_first(args: &[Expr]) -> Inferred {
    let (id, coercibility) = aggregate_collations(args[1..].iter())?;
    let texts = args[1..].iter().fold(0u32, |sum, arg| sum.saturating_add(length_in(&arg.ty, id)));
    Ok((text_type(texts.saturating_add(args.len() as u32 - 2), id), coercibility))
}

/// CONCAT_WS(separator, text, ...).
pub(super) fn joined_by_first(args: &[Expr]) -> Inferred {
    let (id, coercibility) = aggregate_collations(args.iter())?;
    let texts = args[1..].iter().fold(0u32, |sum, arg| sum.saturating_add(length_in(&arg.ty, id)));
    let separators = length_in(&args[0].ty, id).saturating_mul(args.len() as u32 - 2);
    Ok((text_type(texts.saturating_add(separators), id), coercibility))
}

/// QUOTE(text): each character may be escaped, and there are two quotes.
pub(super) fn quoted(args: &[Expr]) -> Inferred {
    text_of_chars(args, Some(chars_of_first(args).saturating_mul(2).saturating_add(2)))
}

/// FORMAT(number, decimals): the number with its separators, its sign and thirty decimals.
pub(super) fn formatted(args: &[Expr]) -> Inferred {
    const MOST_DECIMALS: u32 = 30;
    const POINT_AND_SIGN: u32 = 2;
    let chars = chars_of_first(args);
    let all = chars.saturating_add(chars / 3).saturating_add(MOST_DECIMALS + POINT_AND_SIGN);
    Ok((text_type(all, collation::UTF8MB4_0900_AI_CI), Coercibility::Literal))
}

/// SHA2(text, bits).
pub(super) fn digits_of_sha2(args: &[Expr]) -> Inferred {
    let bits = match constant(args, 1) {
        Some(0) => 256,
        Some(bits @ (224 | 256 | 384)) => bits as u32,
        _ => 512,
    };
    Ok((ColumnType::varchar(bits / 4, collation::UTF8MB4_0900_AI_CI), Coercibility::Literal))
}

/// HEX(text) or HEX(number): two digits for each byte, or those of 64 bits.
pub(super) fn hex_digits(args: &[Expr]) -> Inferred {
    const OF_A_NUMBER: u64 = 16;
    let is_text = super::super::is_text(&args[0].ty) || args[0].ty.is_temporal() || args[0].is_json();
    let chars = if is_text { announced_bytes(&args[0].ty).saturating_mul(2) } else { OF_A_NUMBER };
    let chars = u32::try_from(chars).unwrap_or(u32::MAX);
    Ok((text_type(chars, collation::UTF8MB4_0900_AI_CI), Coercibility::Literal))
}

/// UNHEX(digits): half as many bytes as the argument may have.
pub(super) fn bytes_of_digits(args: &[Expr]) -> Inferred {
    Ok((bytes_type(announced_bytes(&args[0].ty).div_ceil(2)), Coercibility::Literal))
}

/// TO_BASE64(text): four digits for three bytes, and a line break behind each line of 76 but the
/// last.
pub(super) fn base64_digits(args: &[Expr]) -> Inferred {
    const LINE: u64 = 76;
    let digits = announced_bytes(&args[0].ty).div_ceil(3).saturating_mul(4);
    let chars = u32::try_from(digits + digits.saturating_sub(1) / LINE).unwrap_or(u32::MAX);
    Ok((text_type(chars, collation::UTF8MB4_0900_AI_CI), Coercibility::Literal))
}

/// FROM_BASE64(digits): three bytes for four bytes of the argument.
pub(super) fn bytes_of_base64(args: &[Expr]) -> Inferred {
    Ok((bytes_type(announced_bytes(&args[0].ty) / 4 * 3), Coercibility::Literal))
}

/// DATE_FORMAT(date, format), TIME_FORMAT and FROM_UNIXTIME: the longest texts of the parts of a
/// format that is a literal, and ten characters for each of another one.
pub(super) fn shown_by_second(args: &[Expr]) -> Inferred {
    const FOR_EACH: u32 = 10;
    let format = &args[1];
    let chars = match &format.node {
        Node::Constant(Value::Bytes(format)) => length_of_format(format),
        _ => text_length(&format.ty).saturating_mul(FOR_EACH),
    };
    // Whatever the collation of the format is, the text is in that of the connection.
    Ok((text_type(chars, collation::UTF8MB4_0900_AI_CI), Coercibility::Numeric))
}

/// Returns the most characters of a date that is shown by a format.
fn length_of_format(format: &[u8]) -> u32 {
    let text = String::from_utf8_lossy(format);
    let mut signs = text.chars();
    let mut chars = 0;
    while let Some(sign) = signs.next() {
        let of_part = match (sign, if sign == '%' { signs.next() } else { None }) {
            (_, Some('M' | 'W')) => 64,
            (_, Some('a' | 'b')) => 32,
            (_, Some('r')) => 11,
            (_, Some('T')) => 8,
            (_, Some('H' | 'k')) => 7,
            (_, Some('f')) => 6,
            (_, Some('D' | 'Y' | 'x' | 'X')) => 4,
            (_, Some('j')) => 3,
            (_, Some(of_two)) if "uUvVymdhiIlpSsce".contains(of_two) => 2,
            _ => 1,
        };
        chars += of_part;
    }
    chars
}
