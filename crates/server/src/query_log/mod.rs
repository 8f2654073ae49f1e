//! The general log and the slow query log: what clients send, and which of their statements took
//! long, in files, in tables of `mysql`, or in both (`log_output`).
//!
//! In: the commands of connections ([`note_command`]), and what sessions tell of statements
//! ([`sql::StatementLog`], which `statements` implements). Out: lines of two files (`file`) and
//! rows of `mysql.general_log` and `mysql.slow_log` (`table`).
//!
//! A log that cannot be written stops nobody: the error log says so. Passwords are in neither log,
//! except with `log_raw` in the general one.

mod file;
mod slow;
mod statements;
mod table;

use crate::client::connection_host::ConnectionHost;
use crate::server::Server;
use crate::server::sessions::Shown;
use file::LogFile;
use sql::SqlError;
use std::path::Path;
use std::sync::Arc;
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

/// The bits of `log_output`; without any the logs are not written (`NONE`).
const TO_FILE: u8 = 1;
const TO_TABLE: u8 = 2;

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

    fn file(&self, log: Log) -> &LogFile {
        match log {
            Log::General => &self.general,
            Log::Slow => &self.slow,
        }
    }

    fn has_output(&self, output: u8) -> bool {
        self.outputs.load(Ordering::Relaxed) & output != 0
    }

    /// Turns a log on or off.
    ///
    /// # Errors
    /// Returns 29 when the log's file cannot be opened. The log stays as it was then.
    pub fn turn(&self, server: &Server, log: Log, on: bool) -> Result<(), SqlError> {
        match on {
            true if self.has_output(TO_FILE) => self.file(log).open(server)?,
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
    /// Returns 1231 when the log is on and the file cannot be opened. The log goes on with the file
    /// that it had then.
    pub fn set_path(&self, server: &Server, log: Log, path: &str) -> Result<(), SqlError> {
        let must_open = self.is_on(log) && self.has_output(TO_FILE);
        self.file(log).set_path(server, &server.datadir.join(Path::new(path)), must_open).map_err(|_| {
            let variable = match log {
                Log::General => "general_log_file",
                Log::Slow => "slow_query_log_file",
            };
            SqlError::new(1231, format!("Variable '{variable}' can't be set to the value of '{path}'"))
        })
    }

    /// Sets `log_output`: a list of FILE, TABLE and NONE.
    ///
    /// # Errors
    /// Returns 1231 for another word, and 29 when the file of a log that is on cannot be opened.
    pub fn set_outputs(&self, server: &Server, list: &str) -> Result<(), SqlError> {
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
        self.reopen(server, &[Log::General, Log::Slow])
    }

    /// Opens the files of logs anew, after somebody has renamed them (`FLUSH LOGS`).
    ///
    /// # Errors
    /// Returns 29 when a file cannot be opened.
    pub fn reopen(&self, server: &Server, logs: &[Log]) -> Result<(), SqlError> {
        for &log in logs {
            self.file(log).close();
            if self.is_on(log) && self.has_output(TO_FILE) {
                self.file(log).open(server)?;
            }
        }
        Ok(())
    }

    /// Writes a command of a client into the general log.
    fn write_general(&self, server: &Arc<Server>, entry: &GeneralEntry<'_>) {
        if self.has_output(TO_FILE) {
            self.general.write(&[entry.line().as_bytes(), entry.argument, b"\n"].concat());
        }
        if self.has_output(TO_TABLE) {
            table::put_general(server, entry);
        }
    }
}

/// A command of a client, as the general log has it.
struct GeneralEntry<'e> {
    at_us: u64,
    user_host: &'e str,
    connection_id: u32,
    command: &'e str,
    argument: &'e [u8],
}

impl GeneralEntry<'_> {
    /// Returns the line of the log file up to the argument.
    fn line(&self) -> String {
        let at = crate::process::error_log::timestamp(self.at_us);
        format!("{at}\t{:5} {}\t", self.connection_id, self.command)
    }
}

/// A client as both logs name it: `account[user] @ host [address]`.
fn user_host(account: &str, shown: &Shown) -> String {
    let host = crate::client::connection_host::without_port(&shown.host);
    let ip = shown.ip.map_or_else(String::new, |ip| ip.to_string());
    format!("{account}[{}] @ {host} [{ip}]", shown.user)
}

/// Writes a command of a connection that has been let in into the general log, if that is on.
/// `argument` is only asked for then.
pub fn note_command<A: AsRef<[u8]>>(host: &ConnectionHost, command: &str, argument: impl FnOnce() -> A) {
    let server = host.server();
    if !server.query_logs.is_on(Log::General) || host.session_variables().is_on("sql_log_off") {
        return;
    }
    let (entry, argument) = (host.entry(), argument());
    server.query_logs.write_general(
        server,
        &GeneralEntry {
            at_us: os::clock::now_us(),
            user_host: &user_host(&host.login_account().user, &entry.shown()),
            connection_id: entry.id,
            command,
            argument: argument.as_ref(),
        },
    );
}

/// Writes into the general log, if that is on, that a client was not let in.
pub fn note_refused(server: &Arc<Server>, entry: &crate::server::sessions::SessionEntry, error: &SqlError) {
    if server.query_logs.is_on(Log::General) {
        let shown = entry.shown();
        server.query_logs.write_general(
            server,
            &GeneralEntry {
                at_us: os::clock::now_us(),
                user_host: &user_host(&shown.user, &shown),
                connection_id: entry.id,
                command: "Connect",
                argument: error.message.as_bytes(),
            },
        );
    }
}
