//! `LOAD_FILE()`, and the decision which of the server's files statements may read.

use super::{Call, Function};
use crate::error::{Result, SqlError};
use crate::expr::{Coercibility, text_of};
use crate::host::{Host, VariableScope};
use os::disk::OpenMode;
use std::path::{Path, PathBuf};
use types::{ColumnType, Value};

pub(super) const FUNCTIONS: &[Function] =
    &[Function::new("load_file", 1..=1, |_| Ok((ColumnType::longblob(), Coercibility::Literal)), load)
        .varies()];

/// Computes LOAD_FILE(), which is NULL where the file does not exist or the account may not read
/// it.
fn load(call: &Call<'_>) -> Result<Value> {
    let host = call.ctx.host;
    if call.values[0].is_null() || host.check_file_access().is_err() {
        return Ok(Value::Null);
    }
    let written = call.string(0);
    let path = PathBuf::from(setting(host, "datadir")?).join(&written);
    if written.is_empty() || !may_read(host, &path)? {
        return Ok(Value::Null);
    }
    let Ok(found) = std::fs::metadata(&path) else { return Ok(Value::Null) };
    if !found.is_file() {
        let text = format!("The file '{written}' must be in the database directory or be readable by all");
        return Err(SqlError::new(1085, text));
    }
    let length = usize::try_from(found.len()).unwrap_or(usize::MAX);
    if !call.may_make(length, call.name)? {
        return Ok(Value::Null);
    }
    let Ok(file) = os::disk::real().open(&path, OpenMode::Read) else { return Ok(Value::Null) };
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        call.ctx.check_interrupt()?;
        match file.read_at(&mut bytes[filled..], filled as u64) {
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(_) => return Ok(Value::Null),
        }
    }
    bytes.truncate(filled);
    Ok(Value::Bytes(bytes))
}

/// Reports whether `secure_file_priv` allows a file, which is given with its directory.
///
/// # Errors
/// Returns the errors of reading the variable.
pub(crate) fn may_read(host: &dyn Host, path: &Path) -> Result<bool> {
    let allowed = setting(host, "secure_file_priv")?;
    let is_below = || {
        // A symbolic link counts as the file that it leads to.
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let allowed = std::fs::canonicalize(&allowed).unwrap_or_else(|_| PathBuf::from(&allowed));
        real.starts_with(allowed)
    };
    Ok(!allowed.eq_ignore_ascii_case("NULL") && (allowed.is_empty() || is_below()))
}

/// Returns the value of a global variable as text.
///
/// # Errors
/// Returns the errors of the host.
pub(crate) fn setting(host: &dyn Host, name: &str) -> Result<String> {
    let value = host.variable(VariableScope::Global, name)?;
    Ok(value.map_or_else(String::new, |value| String::from_utf8_lossy(&text_of(&value)).into_owned()))
}
