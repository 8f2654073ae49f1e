//! Which logs of clients' statements are on, and where they are written (`general_log`,
//! `slow_query_log`, `log_output` and the names of the files).
//!
//! `crate::query_log` makes the entries.

use super::log_file::{LogFile, LogOpening};
use sql::SqlError;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

/// A log that can be on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Log {
    /// `general_log`.
    General = 1,
    /// `slow_query_log`.
    Slow = 2,
}

/// The bit of `log_output` for FILE. Without any bit the logs are not written (`NONE`).
pub const TO_FILE: u8 = 1;
/// The bit of `log_output` for TABLE.
pub const TO_TABLE: u8 = 2;

/// The logs of a server.
#[derive(Debug, Default)]
pub struct QueryLogs {
    general: LogFile,
    slow: LogFile,
    /// The logs that are on, as bits of [`Log`]. Relaxed, as the outputs are: a change counts for
    /// statements that begin a moment later.
    on: AtomicU8,
    outputs: AtomicU8,
}

impl QueryLogs {
    /// Reports whether any log is on.
    #[inline]
    pub fn is_any_on(&self) -> bool {
        self.on.load(Ordering::Relaxed) != 0
    }

    /// Reports whether a log is on.
    #[inline]
    pub fn is_on(&self, log: Log) -> bool {
        self.on.load(Ordering::Relaxed) & log as u8 != 0
    }

    /// Returns the file of a log.
    pub fn file(&self, log: Log) -> &LogFile {
        match log {
            Log::General => &self.general,
            Log::Slow => &self.slow,
        }
    }

    /// Reports whether `log_output` has this bit.
    pub fn has_output(&self, output: u8) -> bool {
        self.outputs.load(Ordering::Relaxed) & output != 0
    }

    /// Turns a log on or off.
    ///
    /// # Errors
    /// Returns 29 when the log's file cannot be opened. The log stays as it was then.
    pub fn turn(&self, opening: &LogOpening<'_>, log: Log, on: bool) -> Result<(), SqlError> {
        match on {
            true if self.has_output(TO_FILE) => self.file(log).open(opening)?,
            true => {}
            false => self.file(log).close(),
        }
        match on {
            true => self.on.fetch_or(log as u8, Ordering::Relaxed),
            false => self.on.fetch_and(!(log as u8), Ordering::Relaxed),
        };
        Ok(())
    }

    /// Sets the file of a log. A relative name is one in the data directory.
    ///
    /// # Errors
    /// Returns 1231 for the name of an option file, as MySQL does, because a log that looks like
    /// one would be read at the next start. The same error comes when the log is on and the file
    /// cannot be opened. The log goes on with the file that it had then.
    pub fn set_path(&self, opening: &LogOpening<'_>, log: Log, path: &str) -> Result<(), SqlError> {
        let must_open = self.is_on(log) && self.has_output(TO_FILE);
        let refused = || {
            let variable = match log {
                Log::General => "general_log_file",
                Log::Slow => "slow_query_log_file",
            };
            SqlError::new(1231, format!("Variable '{variable}' can't be set to the value of '{path}'"))
        };
        let named = Path::new(path);
        let extension = named.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if ["cnf", "ini"].iter().any(|of_options| extension.eq_ignore_ascii_case(of_options)) {
            return Err(refused());
        }
        let path = opening.datadir.join(named);
        self.file(log).set_path(opening, &path, must_open).map_err(|_| refused())
    }

    /// Sets `log_output`: a list of FILE, TABLE and NONE.
    ///
    /// # Errors
    /// Returns 1231 for another word, and 29 when the file of a log that is on cannot be opened.
    pub fn set_outputs(&self, opening: &LogOpening<'_>, list: &str) -> Result<(), SqlError> {
        let wrong =
            || SqlError::new(1231, format!("Variable 'log_output' can't be set to the value of '{list}'"));
        let mut outputs = 0;
        for word in list.split(',') {
            outputs |= match word.trim().to_ascii_uppercase().as_str() {
                "FILE" => TO_FILE,
                "TABLE" => TO_TABLE,
                "NONE" => 0,
                _ => return Err(wrong()),
            };
        }
        // NONE has precedence over the others.
        if list.split(',').any(|word| word.trim().eq_ignore_ascii_case("NONE")) {
            outputs = 0;
        }
        self.outputs.store(outputs, Ordering::Relaxed);
        self.reopen(opening, &[Log::General, Log::Slow])
    }

    /// Opens the files of logs anew, after somebody has renamed them (`FLUSH LOGS`).
    ///
    /// # Errors
    /// Returns 29 when a file cannot be opened.
    pub fn reopen(&self, opening: &LogOpening<'_>, logs: &[Log]) -> Result<(), SqlError> {
        for &log in logs {
            self.file(log).close();
            if self.is_on(log) && self.has_output(TO_FILE) {
                self.file(log).open(opening)?;
            }
        }
        Ok(())
    }
}
