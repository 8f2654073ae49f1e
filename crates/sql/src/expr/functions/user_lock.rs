//! GET_LOCK() and its relatives. None of them is computed before the statement runs, and each is
//! computed for every row.

use super::{Call, Function, integer, truth_value, unsigned};
use crate::error::{Result, SqlError};
use std::time::Duration;
use types::{Value, collation};

/// The most characters of a name.
const MAX_NAME_CHARS: usize = 64;
/// The most bytes of a name that MySQL's messages show.
const MAX_SHOWN_BYTES: usize = 192;
/// The last character that a name may contain.
const LAST_CHAR: char = '\u{ffff}';

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("get_lock", 2..=2, integer::<1>, get_lock).varies(),
    Function::new("is_free_lock", 1..=1, integer::<1>, |call| Ok(truth_value(owner(call)?.is_none())))
        .varies(),
    Function::new("is_used_lock", 1..=1, unsigned, |call| {
        Ok(owner(call)?.map_or(Value::Null, |id| Value::UInt(u64::from(id))))
    })
    .varies(),
    Function::new("release_lock", 1..=1, integer::<1>, |call| {
        let name = name(call)?;
        let released = call.ctx.host.user_locks().and_then(|locks| locks.release(&name));
        Ok(released.map_or(Value::Null, truth_value))
    })
    .varies(),
    Function::new("release_all_locks", 0..=0, unsigned, |call| {
        Ok(Value::UInt(call.ctx.host.user_locks().map_or(0, |locks| locks.release_all())))
    })
    .never_null()
    .varies(),
];

/// Computes GET_LOCK(): 1 when the session has the lock, 0 when the timeout has passed.
fn get_lock(call: &Call<'_>) -> Result<Value> {
    let Some(locks) = call.ctx.host.user_locks() else { return Ok(truth_value(true)) };
    Ok(truth_value(locks.take(&name(call)?, timeout(call))?))
}

/// Returns the timeout. A negative number, and one that is too large for MySQL's type, wait for
/// ever (`None`).
fn timeout(call: &Call<'_>) -> Option<Duration> {
    let seconds = call.integer(1);
    i32::try_from(seconds).ok().and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs)
}

/// Returns the connection that holds the lock.
fn owner(call: &Call<'_>) -> Result<Option<u32>> {
    let name = name(call)?;
    Ok(call.ctx.host.user_locks().and_then(|locks| locks.owner(&name)))
}

/// Returns the name that the first argument stands for, in lower case.
fn name(call: &Call<'_>) -> Result<String> {
    if call.values[0].is_null() {
        return Err(wrong_name("NULL"));
    }
    let written = call.bytes(0);
    // MySQL keeps names in a character set with at most three bytes a character, so other
    // characters are refused.
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

/// Builds error 3057, which says that a lock's name is empty, NULL or not in the character set.
fn wrong_name(shown: &str) -> SqlError {
    let text = format!(
        "Incorrect user-level lock name '{shown}'. The name is empty, NULL, or can not be expressed in \
         the current character-set."
    );
    SqlError::new(3057, text)
}

/// Returns a name as messages show it. Of a binary text, bytes that are not printable ASCII are
/// shown as numbers.
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
