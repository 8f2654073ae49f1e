//! Bit operations on byte strings: `&`, `|`, `^`, `<<`, `>>` and `~` of BINARY, VARBINARY and BLOB
//! values, whose result is as long as the operand. Statements cannot write the names of these
//! functions: an operator is bound as a call of one where [`operator_on_bytes`] says so.

use super::super::value_type::bytes_type;
use super::{Call, Coercibility, Expr, Function};
use crate::ast::BinaryOp;
use crate::error::{Result, SqlError};
use crate::expr::Node;
use types::{ColumnType, TypeCode, Value, collation};

/// Reports whether the operand is a byte string, and not a literal such as `x'0F'`, which is a
/// number unless something else makes it bytes.
pub(crate) fn is_byte_string(operand: &Expr) -> bool {
    is_of_bytes(&operand.ty) && !matches!(operand.node, Node::HexLiteral(..))
}

fn is_of_bytes(ty: &ColumnType) -> bool {
    let is_string = matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob);
    is_string && ty.collation == collation::BINARY && ty.text_form().is_none()
}

/// Returns the function that an operator is on these operands. `None` means that the operator works
/// on 64-bit integers. As in MySQL both operands of `&`, `|` and `^` must be bytes, and one of them
/// may be a literal; a shift asks for its first operand alone.
pub(crate) fn operator_on_bytes(op: BinaryOp, operands: &[Expr; 2]) -> Option<&'static Function> {
    let is_shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
    // A parameter is of the type of the operand beside it.
    let may_be_bytes = |operand: &Expr| {
        is_of_bytes(&operand.ty)
            || matches!(operand.node, Node::Parameter(_))
            || operand.ty.code == TypeCode::Null
    };
    let are_bytes = match is_shift {
        true => is_byte_string(&operands[0]),
        false => operands.iter().any(is_byte_string) && operands.iter().all(may_be_bytes),
    };
    let function = match op {
        BinaryOp::BitAnd => &AND,
        BinaryOp::BitOr => &OR,
        BinaryOp::BitXor => &XOR,
        BinaryOp::ShiftLeft => &SHIFT_LEFT,
        BinaryOp::ShiftRight => &SHIFT_RIGHT,
        _ => return None,
    };
    are_bytes.then_some(function)
}

static AND: Function = Function::new("bytes &", 2..=2, longest, |call| combined(call, |a, b| a & b));
static OR: Function = Function::new("bytes |", 2..=2, longest, |call| combined(call, |a, b| a | b));
static XOR: Function = Function::new("bytes ^", 2..=2, longest, |call| combined(call, |a, b| a ^ b));

static SHIFT_LEFT: Function =
    Function::new("bytes <<", 2..=2, like_operand, |call| shifted(call, shift_left));
static SHIFT_RIGHT: Function =
    Function::new("bytes >>", 2..=2, like_operand, |call| shifted(call, shift_right));

/// The operator `~` on bytes.
pub(crate) static NOT: Function = Function::new("bytes ~", 1..=1, like_operand, |call| {
    let bytes = call.bytes(0);
    call.check_room(bytes.len())?;
    Ok(Value::Bytes(bytes.iter().map(|byte| !byte).collect()))
});

/// Returns the type of the longer operand's bytes.
fn longest(operands: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let bytes =
        operands.iter().filter(|operand| is_of_bytes(&operand.ty)).map(|operand| operand.ty.max_bytes());
    Ok((bytes_type(bytes.max().unwrap_or(0)), Coercibility::Implicit))
}

fn like_operand(operands: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    longest(&operands[..1])
}

/// Applies an operation to each pair of bytes of the operands.
fn combined(call: &Call<'_>, operation: fn(u8, u8) -> u8) -> Result<Value> {
    let (a, b) = (call.bytes(0), call.bytes(1));
    if a.len() != b.len() {
        return Err(lengths_differ());
    }
    call.check_room(a.len())?;
    Ok(Value::Bytes(a.iter().zip(b.iter()).map(|(a, b)| operation(*a, *b)).collect()))
}

/// Shifts the operand by a number of bits that it has. `shift` writes the bytes that are not zero.
fn shifted(call: &Call<'_>, shift: fn(&[u8], usize, &mut [u8])) -> Result<Value> {
    let bytes = call.bytes(0);
    call.check_room(bytes.len())?;
    let mut out = vec![0; bytes.len()];
    let bits = usize::try_from(call.bits(1)).unwrap_or(usize::MAX);
    if bits / 8 < bytes.len() {
        shift(&bytes, bits, &mut out);
    }
    Ok(Value::Bytes(out))
}

fn shift_left(bytes: &[u8], bits: usize, out: &mut [u8]) {
    let (whole, rest) = (bits / 8, bits % 8);
    for (at, place) in out.iter_mut().enumerate() {
        let byte = |at: usize| u16::from(bytes.get(at).copied().unwrap_or(0));
        let pair = byte(at + whole) << 8 | byte(at + whole + 1);
        *place = (pair << rest >> 8) as u8;
    }
}

fn shift_right(bytes: &[u8], bits: usize, out: &mut [u8]) {
    let (whole, rest) = (bits / 8, bits % 8);
    for (at, place) in out.iter_mut().enumerate().skip(whole) {
        let before = if at > whole { u16::from(bytes[at - whole - 1]) } else { 0 };
        let pair = before << 8 | u16::from(bytes[at - whole]);
        *place = (pair >> rest) as u8;
    }
}

/// Builds error 3513 (`ER_INVALID_BITWISE_OPERANDS_SIZE`).
pub(crate) fn lengths_differ() -> SqlError {
    SqlError::new(3513, "Binary operands of bitwise operators must be of equal length")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_shift_is_one_of_the_whole_string() {
        // The shift by each number of bits of a number of 24 bits is that of its three bytes.
        for bits in 0..24u32 {
            let number = 0x00c3_5a81u32;
            let bytes = |n: u32| n.to_be_bytes()[1..].to_vec();
            let (mut left, mut right) = (vec![0; 3], vec![0; 3]);
            super::shift_left(&bytes(number), bits as usize, &mut left);
            super::shift_right(&bytes(number), bits as usize, &mut right);
            assert_eq!(left, bytes((number << bits) & 0x00ff_ffff), "{bits}");
            assert_eq!(right, bytes(number >> bits), "{bits}");
        }
    }
}
