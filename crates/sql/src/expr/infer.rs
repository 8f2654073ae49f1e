//! The type of an expression from its operands' types, by MySQL's rules for results and for
//! collations.

use super::node::{Coercibility, Expr};
use super::value_type::{
    NumericClass, decimal_type, integer_digits, is_number, is_text, numeric_class, scale_of, text_collation,
    text_length, text_type,
};
use crate::error::{Result, SqlError};
use types::collation::{self, Charset};
use types::{ColumnType, TypeCode};

/// The type of CASE, IF, COALESCE, UNION: one that holds the values of all.
pub(crate) fn common_type(items: &[&Expr]) -> Result<(ColumnType, Coercibility)> {
    let mut real: Vec<&&Expr> = items.iter().filter(|item| item.ty.code != TypeCode::Null).collect();
    if real.is_empty() {
        real = items.iter().collect();
    }
    let first = &real[0].ty;
    let same = real.iter().all(|item| item.ty == *first);
    let (collation_id, coercibility) = aggregate_collations(real.iter().map(|item| **item))?;
    if same {
        return Ok((ColumnType { collation: first.collation, ..first.clone() }, coercibility));
    }
    let all = |test: fn(&ColumnType) -> bool| real.iter().all(|item| test(&item.ty));
    if all(|ty| ty.is_integer() || matches!(ty.code, TypeCode::Year | TypeCode::Bit)) {
        let unsigned = real.iter().all(|item| item.ty.unsigned);
        let mixed =
            real.iter().any(|item| item.ty.unsigned && item.ty.code == TypeCode::LongLong) && !unsigned;
        return Ok((
            if mixed { decimal_type(20, 0) } else { ColumnType::bigint(unsigned) },
            Coercibility::Numeric,
        ));
    }
    if all(is_number) {
        let class = real.iter().map(|item| numeric_class(&item.ty)).max().unwrap_or(NumericClass::Double);
        if class != NumericClass::Decimal {
            return Ok((ColumnType::double(), Coercibility::Numeric));
        }
        let digits = real.iter().map(|item| integer_digits(&item.ty)).max().unwrap_or(1);
        let scale = real.iter().map(|item| scale_of(&item.ty)).max().unwrap_or(0);
        return Ok((decimal_type(digits, scale), Coercibility::Numeric));
    }
    if all(ColumnType::is_temporal) {
        let fsp = real.iter().map(|item| item.ty.fsp()).max().unwrap_or(0);
        let is_time = |ty: &ColumnType| matches!(ty.code, TypeCode::Time | TypeCode::Time2);
        let ty = if all(is_time) { ColumnType::time(fsp) } else { ColumnType::datetime(fsp) };
        return Ok((ty, Coercibility::Numeric));
    }
    let chars = real.iter().map(|item| text_length(&item.ty)).max().unwrap_or(0);
    Ok((text_type(chars, collation_id), coercibility))
}

/// The collation of a text put together of the operands, and how strongly it holds.
pub(crate) fn aggregate_collations<'e>(items: impl Iterator<Item = &'e Expr>) -> Result<(u16, Coercibility)> {
    let mut result = (collation::UTF8MB4_0900_AI_CI, Coercibility::Null);
    let mut first = true;
    for item in items {
        let (id, strength) = if is_text(&item.ty) {
            (text_collation(&item.ty), item.coercibility)
        } else {
            (result.0, item.coercibility.max(Coercibility::Numeric))
        };
        if first || strength < result.1 {
            if strength < Coercibility::Numeric || first {
                result = (if is_text(&item.ty) { id } else { result.0 }, strength);
            }
            first = false;
        } else if strength == result.1 && id != result.0 && strength < Coercibility::Numeric {
            result = stronger_of_equal(result.0, id, strength)?;
        }
    }
    Ok(result)
}

/// Two collations of the same strength: binary wins, then Unicode over the others, then `_bin`.
fn stronger_of_equal(a: u16, b: u16, strength: Coercibility) -> Result<(u16, Coercibility)> {
    let illegal = || {
        SqlError::new(
            1267,
            format!(
                "Illegal mix of collations ({},{}) and ({},{}) for operation '='",
                collation::name(a),
                strength_name(strength),
                collation::name(b),
                strength_name(strength)
            ),
        )
    };
    if a == collation::BINARY || b == collation::BINARY {
        return Ok((collation::BINARY, strength));
    }
    if strength == Coercibility::Explicit {
        return Err(illegal());
    }
    let (charset_a, charset_b) = (collation::charset_of(a), collation::charset_of(b));
    if charset_a != charset_b {
        let rank = |charset: Charset| match charset {
            Charset::Utf8mb3 | Charset::Ucs2 => 1,
            _ if charset.is_unicode() => 2,
            _ => 0,
        };
        return match rank(charset_a).cmp(&rank(charset_b)) {
            std::cmp::Ordering::Less => Ok((b, strength)),
            std::cmp::Ordering::Greater => Ok((a, strength)),
            std::cmp::Ordering::Equal => Err(illegal()),
        };
    }
    match () {
        _ if a == charset_a.bin_collation() => Ok((a, strength)),
        _ if b == charset_a.bin_collation() => Ok((b, strength)),
        _ if strength >= Coercibility::Literal => Ok((a, strength)),
        _ => Err(illegal()),
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
    }
}

/// The collation in which two operands compare, when they compare as text.
pub(crate) fn comparison_collation(a: &Expr, b: &Expr) -> Result<u16> {
    if !is_text(&a.ty) || !is_text(&b.ty) {
        let text = if is_text(&a.ty) { a } else { b };
        return Ok(if is_text(&text.ty) { text_collation(&text.ty) } else { collation::UTF8MB4_0900_AI_CI });
    }
    aggregate_collations([a, b].into_iter()).map(|(id, _)| id)
}
