//! `AES_ENCRYPT()` and `AES_DECRYPT()` (MySQL's manual, "Encryption and Compression Functions").

mod key;
mod modes;

use super::{Call, Function};
use crate::error::{Result, SqlError};
use crate::expr::value_type::{announced_bytes, bytes_type, text_length};
use crate::expr::{Coercibility, Expr, text_of};
use crate::host::VariableScope;
use modes::{BLOCK_BYTES, Block, Feedback};
use types::{ColumnType, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("aes_encrypt", 2..=6, padded, |call| run(call, true)).sees_nulls(),
    Function::new("aes_decrypt", 2..=6, no_longer, |call| run(call, false)).sees_nulls(),
];

/// Returns a type for the bytes of the first argument, padded to whole blocks.
fn padded(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let blocks = announced_bytes(&args[0].ty) / BLOCK_BYTES as u64 + 1;
    Ok((bytes_type(blocks * BLOCK_BYTES as u64), Coercibility::Literal))
}

/// Returns a type for as many bytes as the first argument has characters, which is what MySQL
/// announces.
fn no_longer(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((bytes_type(u64::from(text_length(&args[0].ty))), Coercibility::Literal))
}

/// The value of `block_encryption_mode`.
struct Mode {
    key_bytes: usize,
    feedback: Feedback,
}

impl Mode {
    /// Returns the session's mode, which the variable holds as a text such as `aes-256-cfb8`.
    fn of_session(call: &Call<'_>) -> Result<Mode> {
        let value = call.ctx.host.variable(VariableScope::Session, "block_encryption_mode")?;
        let value = value.unwrap_or_else(|| Value::text("aes-128-ecb"));
        let written = text_of(&value);
        let written = String::from_utf8_lossy(&written);
        let mut parts = written.split('-').skip(1);
        let key_bytes = match parts.next() {
            Some("256") => 32,
            Some("192") => 24,
            _ => 16,
        };
        let feedback = match parts.next() {
            Some("cbc") => Feedback::Cbc,
            Some("cfb1") => Feedback::Cfb1,
            Some("cfb8") => Feedback::Cfb8,
            Some("cfb128") => Feedback::Cfb128,
            Some("ofb") => Feedback::Ofb,
            _ => Feedback::Ecb,
        };
        Ok(Mode { key_bytes, feedback })
    }
}

fn run(call: &Call<'_>, encrypts: bool) -> Result<Value> {
    let mode = Mode::of_session(call)?;
    if mode.feedback.needs_start() && !call.is_given(2) {
        return Err(SqlError::wrong_argument_count(call.name));
    }
    if call.values[0].is_null() || call.values[1].is_null() {
        return Ok(Value::Null);
    }
    let start = start_of(call, mode.feedback)?;
    let key = key::of_call(call, mode.key_bytes, encrypts)?;
    let bytes = call.stored(0);
    call.check_room(bytes.len() + BLOCK_BYTES)?;
    let cipher = modes::Cipher::new(&key);
    let goes_on = || call.ctx.check_interrupt();
    if encrypts {
        return modes::encrypt(&cipher, mode.feedback, start, &bytes, &goes_on).map(Value::Bytes);
    }
    let plain = modes::decrypt(&cipher, mode.feedback, start, &bytes, &goes_on)?;
    Ok(plain.map_or(Value::Null, Value::Bytes))
}

/// Returns the initialization vector. A mode that has none gets zeros, and warns if one is given.
///
/// # Errors
/// Returns 1882 for an initialization vector that is too short or NULL.
fn start_of(call: &Call<'_>, feedback: Feedback) -> Result<Block> {
    if !feedback.needs_start() {
        // A call with a key derivation function has to have an argument in this place, so it gives
        // no warning.
        if call.values.len() == 3 {
            call.ctx.warn(1618, "<IV> option ignored");
        }
        return Ok(Block::default());
    }
    let given = call.stored(2);
    let block = given.get(..BLOCK_BYTES).filter(|_| !call.values[2].is_null());
    block.map(Block::clone_from_slice).ok_or_else(|| {
        let text = format!(
            "The initialization vector supplied to {} is too short. Must be at least {BLOCK_BYTES} bytes long",
            call.name
        );
        SqlError::new(1882, text)
    })
}
