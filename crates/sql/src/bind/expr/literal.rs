//! Binding of literals.

use super::result_type::expr_text_type;
use crate::ast::{Literal, Written};
use crate::error::{Result, SqlError};
use crate::expr::{self, Coercibility, Expr, Node};
use crate::variables::{LiteralCollations, Variables};
use types::collation::{self, Charset};
use types::convert::DateModes;
use types::temporal::parse;
use types::{ColumnType, DateTime, Decimal, NumberForm, Value, Zone};

pub(in crate::bind) fn literal(
    variables: &Variables,
    collations: LiteralCollations,
    literal: &Literal,
) -> Result<Expr> {
    let value = match literal {
        Literal::Null => {
            let mut null = Expr::constant(Value::Null);
            null.coercibility = Coercibility::Null;
            return Ok(null);
        }
        Literal::Text(bytes, introducer) => {
            return text_literal(collations, bytes, introducer.as_deref());
        }
        Literal::Bytes(bytes, Some(charset)) => return introduced(bytes, charset),
        Literal::Bytes(bytes, None) => return Ok(bytes_constant(bytes, false)),
        Literal::HexText(bytes) => return introduced(bytes, "binary"),
        Literal::Bits(bytes) => return Ok(bytes_constant(bytes, true)),
        Literal::Date(text) => match datetime_literal(text, variables.sql_mode.dates()) {
            Some(read) if !read.has_time && !read.trailing_garbage => {
                return Ok(temporal(Value::Date(read.value.date), ColumnType::date()));
            }
            _ => return Err(wrong_literal("DATE", text)),
        },
        Literal::Time(text) => match time_literal(text) {
            Some(time) => {
                let ty = ColumnType::time(expr::fraction_digits(text));
                return Ok(temporal(Value::Time(time), ty));
            }
            None => return Err(wrong_literal("TIME", text)),
        },
        Literal::Timestamp(text) => match datetime_literal(text, variables.sql_mode.dates()) {
            Some(read) if read.has_time && !read.trailing_garbage => {
                let at = read.in_zone(variables.zone);
                let ty = ColumnType::datetime(expr::fraction_digits(text));
                return Ok(temporal(Value::DateTime(at), ty));
            }
            _ => return Err(wrong_literal("DATETIME", text)),
        },
        Literal::Bool(value) => return Ok(truth(*value)),
        Literal::Integer(_) | Literal::Decimal(_) | Literal::Float(..) => {
            plain_value(literal).expect("a number")
        }
    };
    if let Literal::Float(_, written) = literal {
        return Ok(float_constant(value, written));
    }
    let digits = match &value {
        Value::Int(n) => Some(n.unsigned_abs()),
        Value::UInt(n) => Some(*n),
        _ => None,
    };
    let mut constant = Expr::constant(value);
    if let Some(number) = digits {
        let digits = number.checked_ilog10().unwrap_or(0) + 1;
        constant.ty = expr::integer_of_digits(digits, constant.ty.unsigned);
    }
    constant.coercibility = Coercibility::Numeric;
    Ok(constant)
}

/// Returns the constant of `x'1F'`, or of `b'101'` with `of_bits`.
fn bytes_constant(bytes: &[u8], of_bits: bool) -> Expr {
    let ty = ColumnType::varbinary(bytes.len().min(65_535) as u32);
    let node = Node::HexLiteral(Value::Bytes(bytes.to_vec()), of_bits);
    Expr { node, ty, nullable: false, coercibility: Coercibility::Literal }
}

/// Returns the constant of a literal like `DATE '...'`.
fn temporal(value: Value, ty: ColumnType) -> Expr {
    Expr { ty, coercibility: Coercibility::Numeric, ..Expr::constant(value) }
}

/// Returns a number with an exponent, which is announced with as many characters as are written.
fn float_constant(value: Value, written: &Written) -> Expr {
    let width = u8::try_from(written.0.len()).unwrap_or(u8::MAX);
    let ty = ColumnType { form: Some(NumberForm::new(width, None, false)), ..ColumnType::double() };
    Expr { ty, coercibility: Coercibility::Numeric, ..Expr::constant(value) }
}

/// Reads the date and time of `DATE '...'` or `TIMESTAMP '...'`. `None` if the text is none, or
/// if sql_mode refuses its zeros.
fn datetime_literal(text: &[u8], modes: DateModes) -> Option<parse::Parsed<DateTime>> {
    parse::datetime_with(text, modes.allow_invalid).filter(|read| !modes.refuses(&read.value.date))
}

fn text_literal(collations: LiteralCollations, bytes: &[u8], introducer: Option<&str>) -> Result<Expr> {
    match introducer {
        None => {
            let id = collations.connection;
            Ok(match collations.loses_characters() {
                true => text_constant(&collation::with_question_marks(id, bytes), id),
                false => text_constant(bytes, id),
            })
        }
        // The bytes are restored to the client's character set, in which they were sent, and
        // then read in the character set of the introducer.
        Some(charset) => introduced(&collation::from_utf8mb4_lossy(collations.client, bytes), charset),
    }
}

/// Reads the time of `TIME '...'`. `None` if a part of the text is left over or the text has an
/// offset.
fn time_literal(text: &[u8]) -> Option<types::Time> {
    let has_offset = parse::datetime(text).is_some_and(|read| read.offset_seconds.is_some());
    let is_blank = text.iter().all(u8::is_ascii_whitespace);
    let read = parse::time(text, Zone::UTC).filter(|_| !has_offset && !is_blank)?;
    (!read.trailing_garbage && !read.value.out_of_range).then_some(read.value.time)
}

/// Builds `TRUE` or `FALSE`: a number whose type has one digit, by which JSON tells it from 1 and
/// 0.
fn truth(value: bool) -> Expr {
    let constant = Expr::constant(Value::Int(i64::from(value)));
    Expr { ty: expr::truth_type(), coercibility: Coercibility::Numeric, ..constant }
}

/// Builds the constant of a text. The bytes are in utf8mb4 whatever the collation is.
fn text_constant(bytes: &[u8], id: u16) -> Expr {
    let counted_as = if id == collation::BINARY { id } else { collation::UTF8MB4_BIN };
    let chars = collation::char_count(counted_as, bytes) as u32;
    let node = Node::Constant(Value::Bytes(bytes.to_vec()));
    Expr { node, ty: expr_text_type(chars, id), nullable: false, coercibility: Coercibility::Literal }
}

/// Binds a literal with an introducer, such as `_latin1 x'E9'`: converts its bytes from that
/// character set.
fn introduced(bytes: &[u8], charset: &str) -> Result<Expr> {
    let known = Charset::from_name(charset)
        .ok_or_else(|| SqlError::new(1115, format!("Unknown character set: '{charset}'")))?;
    let id = known.default_collation();
    // UTF-16 and UTF-32 allow the zero bytes in front to be left out.
    let unit = usize::from(known.min_bytes_per_char());
    let missing = bytes.len().next_multiple_of(unit) - bytes.len();
    let bytes = &[&vec![0; missing], bytes].concat()[..];
    let text = collation::to_utf8mb4(id, bytes);
    if !collation::is_well_formed(id, bytes) {
        let shown: String = bytes.iter().take(6).map(|byte| format!("{byte:02X}")).collect();
        return Err(SqlError::new(1300, format!("Invalid {} character string: '{shown}'", known.name())));
    }
    Ok(text_constant(&text, id))
}

/// Returns the value of a literal that is NULL, a number, a truth value, or a text without an
/// introducer. `None` for other literals.
pub(super) fn plain_value(literal: &Literal) -> Option<Value> {
    Some(match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Int(i64::from(*value)),
        Literal::Integer(n) => match i64::try_from(*n) {
            Ok(n) => Value::Int(n),
            Err(_) => Value::UInt(*n),
        },
        Literal::Decimal(digits) => Value::Decimal(Decimal::parse_prefix(digits.as_bytes()).number),
        Literal::Float(n, _) => Value::Double(*n),
        Literal::Text(bytes, None) => Value::Bytes(bytes.clone()),
        _ => return None,
    })
}

fn wrong_literal(kind: &str, text: &[u8]) -> SqlError {
    SqlError::new(1525, format!("Incorrect {kind} value: '{}'", String::from_utf8_lossy(text)))
}
