//! The file of a log, which begins with mysqld's three lines each time that it is opened.

use crate::process::version::VERSION;
use crate::server::Server;
use os::disk::{File, OpenMode};
use parking_lot::Mutex;
use sql::SqlError;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A log's file, which may be closed.
#[derive(Default)]
pub struct LogFile(Mutex<State>);

#[derive(Default)]
struct State {
    path: PathBuf,
    file: Option<Arc<dyn File>>,
    /// The schema of the entry that was written last, for logs that tell when it changes.
    schema: Option<String>,
}

impl std::fmt::Debug for LogFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LogFile").field(&self.0.lock().path).finish()
    }
}

impl State {
    fn open(&mut self, server: &Server) -> Result<(), SqlError> {
        let opened = server.disk.open(&self.path, OpenMode::Append);
        self.file = Some(opened.map_err(|error| cannot_open(&self.path, &error))?);
        self.schema = None;
        self.append(header(server).as_bytes());
        Ok(())
    }

    fn append(&self, bytes: &[u8]) {
        let Some(file) = &self.file else { return };
        let written = file.len_bytes().and_then(|end| file.write_all_at(bytes, end));
        if let Err(error) = written {
            log::error!("cannot write to the log file '{}': {error}", self.path.display());
        }
    }
}

impl LogFile {
    /// Sets the file's path and closes the present file. The new one is opened if it `must_open`.
    ///
    /// # Errors
    /// Returns 29 when the file cannot be opened. The present file stays open then.
    pub fn set_path(&self, server: &Server, path: &Path, must_open: bool) -> Result<(), SqlError> {
        let mut next = State { path: path.to_owned(), ..State::default() };
        if must_open {
            next.open(server)?;
        }
        *self.0.lock() = next;
        Ok(())
    }

    /// Opens the file if it is not open. A log whose path is not known yet is opened when it is.
    ///
    /// # Errors
    /// Returns 29 when the file cannot be opened.
    pub fn open(&self, server: &Server) -> Result<(), SqlError> {
        let mut state = self.0.lock();
        match state.file.is_some() || state.path.as_os_str().is_empty() {
            true => Ok(()),
            false => state.open(server),
        }
    }

    /// Closes the file.
    pub fn close(&self) {
        let mut state = self.0.lock();
        state.file = None;
    }

    /// Appends an entry.
    pub fn write(&self, entry: &[u8]) {
        self.0.lock().append(entry);
    }

    /// Appends an entry that `entry` makes. It is told whether the schema is another one than that
    /// of the entry before.
    pub fn write_of_schema(&self, schema: Option<&str>, entry: impl FnOnce(bool) -> Vec<u8>) {
        let mut state = self.0.lock();
        let is_another = schema.is_some() && state.schema.as_deref() != schema;
        if is_another {
            state.schema = schema.map(str::to_owned);
        }
        state.append(&entry(is_another));
    }
}

/// Builds error 29: the file of a log cannot be opened.
fn cannot_open(path: &Path, error: &io::Error) -> SqlError {
    let number = error.raw_os_error().unwrap_or(0);
    SqlError::new(29, format!("File '{}' not found (OS errno {number} - {error})", path.display()))
}

/// The lines that a file begins with, and goes on with each time that it is opened.
fn header(server: &Server) -> String {
    let global = |name: &str| server.globals.named(name);
    format!(
        "{}, Version: {VERSION} ({}). started with:\nTcp port: {}  Unix socket: {}\n\
         Time                 Id Command    Argument\n",
        std::env::current_exe().map_or_else(|_| "slipstream".into(), |path| path.display().to_string()),
        global("version_comment").text(),
        global("port").uint(),
        global("socket").text(),
    )
}
