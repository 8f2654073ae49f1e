//! The file of a log, which begins with mysqld's three lines each time that it is opened.

use os::disk::{Disk, File, OpenMode};
use parking_lot::Mutex;
use sql::SqlError;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What it takes to open a log's file.
pub struct LogOpening<'s> {
    /// The disk that the file is on.
    pub disk: &'s dyn Disk,
    /// The data directory, in which relative names are.
    pub datadir: &'s Path,
    /// The lines that are written when the file is opened.
    pub header: String,
}

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
    fn open(&mut self, opening: &LogOpening<'_>) -> Result<(), SqlError> {
        assert!(self.path.is_absolute() || self.path.starts_with(opening.datadir), "the file has its place");
        let opened = opening.disk.open(&self.path, OpenMode::Append);
        self.file = Some(opened.map_err(|error| cannot_open(&self.path, &error))?);
        self.schema = None;
        self.append(opening.header.as_bytes());
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
    pub fn set_path(&self, opening: &LogOpening<'_>, path: &Path, must_open: bool) -> Result<(), SqlError> {
        let mut next = State { path: path.to_owned(), ..State::default() };
        if must_open {
            next.open(opening)?;
        }
        *self.0.lock() = next;
        Ok(())
    }

    /// Opens the file if it is not open. A log whose path is not known yet is opened when it is.
    ///
    /// # Errors
    /// Returns 29 when the file cannot be opened.
    pub fn open(&self, opening: &LogOpening<'_>) -> Result<(), SqlError> {
        let mut state = self.0.lock();
        match state.file.is_some() || state.path.as_os_str().is_empty() {
            true => Ok(()),
            false => state.open(opening),
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
pub(super) fn cannot_open(path: &Path, error: &io::Error) -> SqlError {
    let number = error.raw_os_error().unwrap_or(0);
    SqlError::new(29, format!("File '{}' not found (OS errno {number} - {error})", path.display()))
}
