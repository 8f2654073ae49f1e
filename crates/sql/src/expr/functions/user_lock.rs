//! GET_LOCK() and the functions beside it. None of them is computed before the statement runs, and
//! each is computed for every row.

use super::{Call, Function, int, truth_value, unsigned};
use crate::error::{Result, SqlError};
use std::time::Duration;
use types::{Value, collation};

/// A name has at most so many characters.
const MAX_NAME_CHARS: usize = 64;
/// MySQL's messages show so much of a name.
const MAX_SHOWN_BYTES: usize = 192;
/// The last one that a name may hold.
const LAST_CHAR: char = '\u{ffff}';

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("get_lock", 2..=2, int, get_lock).varies(),
    Function::new("is_free_lock", 1..=1, int, |call| Ok(truth_value(owner(call)?.is_none()))).varies(),
    Function::new("is_used_lock", 1..=1, unsigned, |call| {
        Ok(owner(call)?.map_or(Value::Null, |id| Value::UInt(u64::from(id))))
    })
    .varies(),
    Function::new("release_lock", 1..=1, int, |call| {
        let name = name(call)?;
        let released = call.ctx.host.user_locks().and_then(|locks| locks.release(&name));
        Ok(released.map_or(Value::Null, truth_value))
    })
    .varies(),
    Function::new("release_all_locks", 0..=0, unsigned, |call| {
        Ok(Value::UInt(call.ctx.host.user_locks().map_or(0, |locks| locks.release_all())))
    })
    .varies(),
];

/// 1: the session has the lock; 0: the time was over.
fn get_lock(call: &Call<'_>) -> Result<Value> {
    let Some(locks) = call.ctx.host.user_locks() else { return Ok(truth_value(true)) };
    Ok(truth_value(locks.take(&name(call)?, timeout(call))?))
}

/// A negative time, and one that MySQL has no number for, waits for ever.
fn timeout(call: &Call<'_>) -> Option<Duration> {
    let seconds = call.integer(1);
    i32::try_from(seconds).ok().and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs)
}

/// The session that has the lock.
fn owner(call: &Call<'_>) -> Result<Option<u32>> {
    let name = name(call)?;
    Ok(call.ctx.host.user_locks().and_then(|locks| locks.owner(&name)))
}

/// The name that the first argument stands for, in small letters.
fn name(call: &Call<'_>) -> Result<String> {
    if call.values[0].is_null() {
        return Err(wrong_name("NULL"));
    }
    let written = call.bytes(0);
    // MySQL's names of three bytes a character have no room for others.
    let fits = |text: &&str| !text.is_empty() && text.chars().all(|c| c <= LAST_CHAR);
    let Some(text) = std::str::from_utf8(&written).ok().filter(fits) else {
        return Err(wrong_name(&shown(&written, call.is_binary(0))));
    };
    if text.chars().count() > MAX_NAME_CHARS {
        let shown = shown(&written, call.is_binary(0));
        let text = format!("User-level lock name '{shown}' should not exceed {MAX_NAME_CHARS} characters.");
        return Err(SqlError::new(4163, text));
    }
    Ok(collation::lower(collation::UTF8MB3_GENERAL_CI, text))
}

/// Error 3057.
fn wrong_name(shown: &str) -> SqlError {
    let text = format!(
        "Incorrect user-level lock name '{shown}'. The name is empty, NULL, or can not be expressed in \
         the current character-set."
    );
    SqlError::new(3057, text)
}

/// What a message says of a name: of bytes, those that are no printable ASCII as numbers.
fn shown(written: &[u8], is_binary: bool) -> String {
    let mut shown = String::new();
    let text = String::from_utf8_lossy(written);
    let pieces: &mut dyn Iterator<Item = String> = if is_binary {
        &mut written.iter().map(|byte| match byte {
            b' '..=b'~' => char::from(*byte).to_string(),
            _ => format!("\\x{byte:02X}"),
        })
    } else {
        &mut text.chars().map(|c| if c > LAST_CHAR { "?".to_owned() } else { c.to_string() })
    };
    for piece in pieces {
        if shown.len() + piece.len() > MAX_SHOWN_BYTES {
            break;
        }
        shown.push_str(&piece);
    }
    shown
}
