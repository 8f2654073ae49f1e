//! Derives the type of an expression from its operands' types, by MySQL's rules for results and for
//! collations.

use super::node::{Coercibility, Expr, Function, Node};
use super::value_type::{
    NumericClass, decimal_type, decimals_of_all, double_with, integer_digits, integer_type, is_char,
    is_number, is_text, is_time, length_in, length_in_char, long_text, made_of, made_year, numeric_class,
    of_union, scale_of, text_collation, text_type,
};
use crate::error::{Result, SqlError};
use types::collation::{self, Charset};
use types::{ColumnType, TypeCode, Value};

/// Returns the type of CASE, IF, COALESCE or UNION: one that holds the values of all items.
pub(crate) fn common_type(items: &[&Expr]) -> Result<(ColumnType, Coercibility)> {
    let mut real: Vec<&&Expr> = items.iter().filter(|item| item.ty.code != TypeCode::Null).collect();
    if real.is_empty() {
        real = items.iter().collect();
    }
    let first = &real[0].ty;
    let same = real.iter().all(|item| item.ty == *first);
    let (collation_id, coercibility) = aggregate_collations(real.iter().map(|item| **item))?;
    // Members of ENUM and SET become texts, even if all are of one type.
    let is_member = matches!(first.code, TypeCode::Enum | TypeCode::Set);
    if same && !first.is_integer() && first.code != TypeCode::Year && !is_member {
        // An exact number that is one of several has a sign.
        let unsigned = first.unsigned && first.code != TypeCode::NewDecimal;
        return Ok((made_of(ColumnType { unsigned, ..first.clone() }), coercibility));
    }
    let all = |test: fn(&ColumnType) -> bool| real.iter().all(|item| test(&item.ty));
    if all(|ty| ty.code == TypeCode::Year) {
        return Ok((made_year(), Coercibility::Numeric));
    }
    if all(|ty| ty.code == TypeCode::Bit) {
        let bits = real.iter().map(|item| item.ty.meta).max().unwrap_or(first.meta);
        return Ok((ColumnType { meta: bits, ..first.clone() }, coercibility));
    }
    if all(|ty| ty.is_integer() || matches!(ty.code, TypeCode::Year | TypeCode::Bit)) {
        return Ok((common_integer(&real), Coercibility::Numeric));
    }
    if all(is_number) {
        let class = real.iter().map(|item| numeric_class(&item.ty)).max().unwrap_or(NumericClass::Double);
        if class != NumericClass::Decimal {
            let types: Vec<&ColumnType> = real.iter().map(|item| &item.ty).collect();
            if is_float_of_all(&types) {
                let form = double_with(decimals_of_all(&types)).form;
                return Ok((ColumnType { form, ..ColumnType::float() }, Coercibility::Numeric));
            }
            return Ok((double_with(decimals_of_all(&types)), Coercibility::Numeric));
        }
        let digits = real.iter().map(|item| integer_digits(&item.ty)).max().unwrap_or(1);
        let scale = real.iter().map(|item| scale_of(&item.ty)).max().unwrap_or(0);
        return Ok((decimal_type(digits, scale), Coercibility::Numeric));
    }
    if all(ColumnType::is_temporal) {
        let fsp = real.iter().map(|item| item.ty.fsp()).max().unwrap_or(0);
        let ty = if all(is_time) { ColumnType::time(fsp) } else { ColumnType::datetime(fsp) };
        return Ok((ty, Coercibility::Numeric));
    }
    let is_unlimited = |ty: &ColumnType| ty.is_blob() && ty.most_bytes().is_none();
    if real.iter().any(|item| is_unlimited(&item.ty) || item.is_json()) {
        return Ok((ColumnType::longtext(collation_id), coercibility));
    }
    // Among bytes, a literal with an exponent has the length that is written.
    let length = if collation_id == collation::BINARY { length_in_char } else { length_in };
    let chars = real.iter().map(|item| length(&item.ty, collation_id)).max().unwrap_or(0);
    if real.iter().any(|item| item.ty.is_blob()) {
        return Ok((long_text(chars, collation_id), coercibility));
    }
    if all(is_char) {
        return Ok((ColumnType::made_char(chars, collation_id), coercibility));
    }
    Ok((text_type(chars, collation_id), coercibility))
}

/// Reports whether values of these types together are a FLOAT, of which one is among them. As in
/// MySQL, an INT makes a DOUBLE of a FLOAT, and a BIGINT does if it comes before the first FLOAT.
fn is_float_of_all(types: &[&ColumnType]) -> bool {
    let is_float = |ty: &ColumnType| ty.code == TypeCode::Float;
    let Some(first) = types.iter().position(|ty| is_float(ty)) else { return false };
    types.iter().enumerate().all(|(at, ty)| match ty.code {
        TypeCode::Float | TypeCode::Year => true,
        TypeCode::LongLong => at > first,
        _ => ty.is_integer() && ty.code != TypeCode::Long,
    })
}

/// The greatest length of a CHAR or BINARY column.
const MOST_CHARS_OF_CHAR: u32 = 255;

/// Reports whether all texts among the items are of type CHAR or BINARY. As in MySQL, a column of a
/// UNION that holds them and no other texts is of that type, too.
fn is_char_among_others(items: &[&Expr]) -> bool {
    let of_items = |test: fn(&ColumnType) -> bool| items.iter().any(|item| test(&item.ty));
    let is_other_text = |ty: &ColumnType| {
        let is_char = ty.code == TypeCode::String || ty.is_made_char();
        is_text(ty) && !is_char && !matches!(ty.code, TypeCode::Enum | TypeCode::Set)
    };
    of_items(|ty| ty.code == TypeCode::String && ty.text_form().is_none() || ty.is_made_char())
        && !of_items(|ty| ty.text_form().is_some())
        && !items.iter().any(|item| is_other_text(&item.ty))
}

/// Returns the type that holds the integers of all items: the largest type among them, or the next
/// larger one where it is unsigned and another one is not. It has the width of the widest item.
fn common_integer(items: &[&&Expr]) -> ColumnType {
    let rank = |ty: &ColumnType| match ty.code {
        TypeCode::Tiny => 0,
        TypeCode::Short | TypeCode::Year => 1,
        TypeCode::Int24 => 2,
        TypeCode::Long => 3,
        _ => 4,
    };
    let is_unsigned = |ty: &ColumnType| ty.unsigned || matches!(ty.code, TypeCode::Year | TypeCode::Bit);
    let unsigned = items.iter().all(|item| is_unsigned(&item.ty));
    let largest = items.iter().map(|item| rank(&item.ty)).max().unwrap_or(4);
    let needs_more = |ty: &ColumnType| is_unsigned(ty) && rank(ty) == largest && ty.code != TypeCode::Year;
    let is_larger = !unsigned && items.iter().any(|item| needs_more(&item.ty));
    let made = match largest + usize::from(is_larger) {
        0 => ColumnType::tinyint(unsigned),
        1 => ColumnType::smallint(unsigned),
        2 => ColumnType::mediumint(unsigned),
        3 => ColumnType::int(unsigned),
        4 => ColumnType::bigint(unsigned),
        _ => {
            let digits = items.iter().map(|item| integer_digits(&item.ty)).max().unwrap_or(20);
            return decimal_type(digits, 0);
        }
    };
    let width = items.iter().map(|item| item.ty.display_length()).max().unwrap_or(0);
    ColumnType { form: integer_type(u8::try_from(width).unwrap_or(u8::MAX), unsigned).form, ..made }
}

/// Returns the collation of a text that combines the operands, and how strongly it holds. An error
/// names no operation: [`of_operation`] adds the name.
pub(crate) fn aggregate_collations<'e>(
    items: impl Iterator<Item = &'e Expr> + Clone,
) -> Result<(u16, Coercibility)> {
    aggregate(items, Coercibility::Implicit)
}

/// Does the same as [`aggregate_collations`]. Where two operands have left the text without a
/// collation, only an operand that is at least as strong as `least` gives it one.
fn aggregate<'e>(
    items: impl Iterator<Item = &'e Expr> + Clone,
    least: Coercibility,
) -> Result<(u16, Coercibility)> {
    let mut result = (collation::UTF8MB4_0900_AI_CI, Coercibility::Null);
    // `mixed`: two of the operands so far have left the result without a collation.
    let (mut first, mut mixed) = (true, false);
    // All operands so far are known to have ASCII characters alone.
    let mut are_ascii = true;
    for item in items.clone() {
        let is_text = is_text(&item.ty) || item.ty.code == TypeCode::Bit;
        let (id, strength) = if is_text {
            (text_collation(&item.ty), item.coercibility)
        } else {
            (result.0, item.coercibility.max(Coercibility::Numeric))
        };
        let decides = strength < Coercibility::Numeric || result.1 == Coercibility::None;
        if first || strength < result.1 && !(mixed && strength > least) {
            if first || decides {
                result = (if is_text { id } else { result.0 }, strength);
            }
            (first, mixed) = (false, false);
        } else if strength == result.1 && id != result.0 && decides {
            let operands = [(result.0, are_ascii), (id, has_ascii_alone(item))];
            result = stronger_of_equal(operands, strength).ok_or_else(|| illegal_mix("", items.clone()))?;
            mixed = result.1 == Coercibility::None;
        }
        are_ascii &= has_ascii_alone(item);
    }
    if result.1 != Coercibility::None && result.0 != collation::BINARY {
        items.into_iter().try_for_each(|item| check_convertible(item, result.0))?;
    }
    Ok(result)
}

/// Reports whether the characters of an operand are known to be ASCII, which any other character
/// set has, too (MySQL's repertoire). Of a literal with an introducer MySQL does not know it.
fn has_ascii_alone(item: &Expr) -> bool {
    if !is_text(&item.ty) {
        return true;
    }
    match (&item.node, collation::charset_of(text_collation(&item.ty))) {
        (_, Charset::Ascii) => true,
        (Node::Constant(Value::Bytes(text)), Charset::Utf8mb4) => text.is_ascii(),
        _ => false,
    }
}

/// Reports whether a text that is no constant is compared in a character set that need not have its
/// characters, because COLLATE is written behind another operand.
fn is_not_convertible(text: &Expr, wanted: u16) -> bool {
    let (charset, own) = (collation::charset_of(wanted), text_collation(&text.ty));
    let is_kept = collation::charset_of(own) == charset || charset.is_unicode() || has_ascii_alone(text);
    text.coercibility == Coercibility::Implicit && !is_kept && ![own, wanted].contains(&collation::BINARY)
}

/// Checks that the character set of the other operands has the characters of a literal.
///
/// # Errors
/// Returns 3854 (`ER_CANNOT_CONVERT_STRING`).
fn check_convertible(item: &Expr, wanted: u16) -> Result<()> {
    let (charset, own) = (collation::charset_of(wanted), text_collation(&item.ty));
    match &item.node {
        Node::Recollate(literal) => check_convertible(literal, wanted),
        Node::Constant(Value::Bytes(text))
            if is_text(&item.ty)
                && own != collation::BINARY
                && collation::charset_of(own) != charset
                && collation::from_utf8mb4(wanted, text).is_none() =>
        {
            let written = collation::from_utf8mb4_lossy(own, text);
            Err(not_convertible(&written, collation::charset_of(own).name(), charset.name()))
        }
        _ => Ok(()),
    }
}

/// Builds error 3854, which tells the client that bytes of one character set are no characters of
/// another.
pub(super) fn not_convertible(bytes: &[u8], from: &str, to: &str) -> SqlError {
    /// The bytes that the message shows.
    const SHOWN_BYTES: usize = 6;
    let is_shown_as_code = |byte: u8| !(b' '..0x7f).contains(&byte);
    let shown: String = bytes
        .iter()
        .take(SHOWN_BYTES)
        .map(|byte| match is_shown_as_code(*byte) {
            true => format!("\\x{byte:02X}"),
            false => char::from(*byte).to_string(),
        })
        .collect();
    let more = if bytes.len() > SHOWN_BYTES { "..." } else { "" };
    SqlError::new(3854, format!("Cannot convert string '{shown}{more}' from {from} to {to}"))
}

/// Returns the winner of two collations of the same strength: `binary` first, then utf32 and
/// utf8mb4, then the other Unicode character sets, then those of texts that are not all ASCII, then
/// `_bin`. Beside each collation is whether its texts have ASCII characters alone. `None` means
/// that a text cannot have both.
fn stronger_of_equal(
    [(a, a_is_ascii), (b, b_is_ascii)]: [(u16, bool); 2],
    strength: Coercibility,
) -> Option<(u16, Coercibility)> {
    if a == collation::BINARY || b == collation::BINARY {
        return Some((collation::BINARY, strength));
    }
    if strength == Coercibility::Explicit {
        return None;
    }
    let (charset_a, charset_b) = (collation::charset_of(a), collation::charset_of(b));
    if charset_a != charset_b {
        let rank = |charset: Charset| match charset {
            Charset::Utf32 | Charset::Utf8mb4 => 2,
            _ if charset.is_unicode() => 1,
            _ => 0,
        };
        return match rank(charset_a).cmp(&rank(charset_b)) {
            std::cmp::Ordering::Less => Some((b, strength)),
            std::cmp::Ordering::Greater => Some((a, strength)),
            std::cmp::Ordering::Equal if b_is_ascii && !a_is_ascii => Some((a, strength)),
            std::cmp::Ordering::Equal if a_is_ascii && !b_is_ascii => Some((b, strength)),
            // Each of utf32 and utf8mb4 holds the other: the first one stays.
            std::cmp::Ordering::Equal if rank(charset_a) == 2 => Some((a, strength)),
            std::cmp::Ordering::Equal => None,
        };
    }
    let bytes = charset_a.bin_collation();
    Some(match () {
        _ if is_of_bytes(a) && is_of_bytes(b) => return None,
        _ if is_of_bytes(a) => (a, strength),
        _ if is_of_bytes(b) => (b, strength),
        _ => (bytes, Coercibility::None),
    })
}

/// Reports whether a collation compares the bytes of texts, as those do whose names end in `_bin`.
fn is_of_bytes(id: u16) -> bool {
    id == collation::charset_of(id).bin_collation() || collation::name(id).ends_with("_bin")
}

/// Builds error 1267, 1270 or 1271: the collations of the operands cannot be combined.
fn illegal_mix<'e>(operation: &str, items: impl Iterator<Item = &'e Expr>) -> SqlError {
    let name = |item: &Expr| {
        let id = if is_text(&item.ty) { text_collation(&item.ty) } else { collation::UTF8MB4_0900_AI_CI };
        format!("({},{})", collation::name(id), strength_name(item.coercibility))
    };
    let names: Vec<String> = items.map(name).collect();
    let (code, which) = match &names[..] {
        [a, b] => (1267, format!(" {a} and {b}")),
        [a, b, c] => (1270, format!(" {a}, {b}, {c}")),
        _ => (1271, String::new()),
    };
    SqlError::new(code, format!("Illegal mix of collations{which} for operation '{operation}'"))
}

/// Completes the error of [`aggregate_collations`] with the name of the operation, as MySQL gives
/// it.
pub(crate) fn of_operation(error: SqlError, operation: &str) -> SqlError {
    match (error.code, error.message.strip_suffix("for operation ''")) {
        (1267 | 1270 | 1271, Some(mix)) => {
            SqlError { message: format!("{mix}for operation '{operation}'"), ..error }
        }
        _ => error,
    }
}

fn strength_name(strength: Coercibility) -> &'static str {
    match strength {
        Coercibility::Explicit => "EXPLICIT",
        Coercibility::Implicit => "IMPLICIT",
        Coercibility::SystemConstant => "SYSCONST",
        Coercibility::Literal => "COERCIBLE",
        Coercibility::Numeric => "NUMERIC",
        Coercibility::Null => "IGNORABLE",
        Coercibility::None => "NONE",
    }
}

/// Returns the collation in which the operands of an operation are compared, as far as they are
/// texts.
pub(crate) fn comparison_collation<'e>(
    operation: &str,
    operands: impl Iterator<Item = &'e Expr> + Clone,
) -> Result<u16> {
    let mut texts = operands.clone().filter(|operand| is_text(&operand.ty));
    let all_texts = texts.clone();
    match (texts.next(), texts.next()) {
        (None, _) => return Ok(collation::UTF8MB4_0900_AI_CI),
        (Some(only), None) => return Ok(text_collation(&only.ty)),
        _ => {}
    }
    match aggregate(all_texts.clone(), Coercibility::Explicit)
        .map_err(|error| of_operation(error, operation))?
    {
        (_, Coercibility::None) => Err(illegal_mix(operation, operands)),
        // A third operand gives the others its collation in MySQL.
        (id, _)
            if all_texts.clone().count() == 2
                && all_texts.into_iter().any(|text| is_not_convertible(text, id)) =>
        {
            Err(illegal_mix(operation, operands))
        }
        (id, _) => Ok(id),
    }
}

/// Returns the type of a column of UNION, which must have a collation that it can be compared in.
pub(crate) fn united_type(items: &[&Expr]) -> Result<(ColumnType, Coercibility)> {
    let mut real = items.iter().filter(|item| item.ty.code != TypeCode::Null);
    if let (Some(only), None) = (real.next(), real.next())
        && matches!(only.ty.code, TypeCode::Enum | TypeCode::Set)
    {
        // As in MySQL, a column of members stays one beside NULLs.
        return Ok((only.ty.clone(), only.coercibility));
    }
    match common_type(items).map_err(|error| of_operation(error, "UNION"))? {
        (ty, Coercibility::None) if is_text(&ty) => {
            Err(SqlError::new(1271, "Illegal mix of collations for operation 'UNION'"))
        }
        (ty, coercibility) if ty.code == TypeCode::Varchar && is_char_among_others(items) => {
            let chars = items.iter().map(|item| length_in_char(&item.ty, ty.collation)).max().unwrap_or(0);
            let is_short = chars <= MOST_CHARS_OF_CHAR;
            Ok((if is_short { ColumnType::char(chars, ty.collation) } else { ty }, coercibility))
        }
        // A UNION of NULLs alone has empty bytes for its type.
        (ty, coercibility) if ty.code == TypeCode::Null => Ok((ColumnType::varbinary(0), coercibility)),
        (ty, coercibility) => Ok((of_union(ty), coercibility)),
    }
}

/// Returns the type of a function's result, and how strongly its collation holds.
pub(crate) fn function_type(function: &Function, args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    (function.infer)(args).map_err(|error| of_operation(error, function.name))
}
