//! The file of a LOAD DATA: one of the server, or one that the client sends.

use super::Session;
use crate::error::{Result, SqlError};
use crate::exec::{Input, no_local_files};
use crate::expr::functions::file::{may_read, setting};
use crate::sink::{ClientFile, ResultSink};
use os::disk::{File, OpenMode};
use std::os::unix::fs::FileTypeExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many bytes of a file are read at once.
const PIECE_BYTES: usize = 64 << 10;

/// Calls `run` with the bytes of a file.
///
/// # Errors
/// Returns the errors of opening the file and of `run`.
pub(super) fn with_input<T>(
    session: &Session,
    (path, is_local): (&[u8], bool),
    sink: &mut dyn ResultSink,
    run: impl FnOnce(&mut dyn Input) -> Result<T>,
) -> Result<T> {
    if !is_local {
        let mut file = ServerFile::open(session, path)?;
        return run(&mut file);
    }
    let client = sink.client_file().ok_or_else(no_local_files)?;
    client.request(path)?;
    let mut input = SentFile { client, has_ended: false };
    let outcome = run(&mut input);
    // The client sends the whole file even if the statement has failed, so the rest is read and
    // dropped.
    let mut rest = Vec::new();
    while !input.has_ended {
        rest.clear();
        input.read(&mut rest)?;
    }
    outcome
}

/// A file of the server.
struct ServerFile {
    file: Arc<dyn File>,
    shown: String,
    offset: u64,
    interrupt: Arc<AtomicBool>,
}

impl ServerFile {
    fn open(session: &Session, written: &[u8]) -> Result<ServerFile> {
        let path = resolved(session, written)?;
        let shown = path.display().to_string();
        let failed = |code: u16, what: &str, error: &std::io::Error| {
            let (number, words) = (error.raw_os_error().unwrap_or_default(), words(error));
            SqlError::new(code, format!("{what} '{shown}' (OS errno {number} - {words})"))
        };
        let found = std::fs::metadata(&path).map_err(|error| failed(13, "Can't get stat of", &error))?;
        if found.file_type().is_fifo() {
            return Err(SqlError::not_supported("LOAD DATA from a named pipe"));
        }
        if !found.is_file() {
            let text = format!("The file '{shown}' must be in the database directory or be readable by all");
            return Err(SqlError::new(1085, text));
        }
        let file = os::disk::real().open(&path, OpenMode::Read).map_err(|error| {
            let (number, words) = (error.raw_os_error().unwrap_or_default(), words(&error));
            match error.kind() {
                std::io::ErrorKind::NotFound => {
                    SqlError::new(29, format!("File '{shown}' not found (OS errno {number} - {words})"))
                }
                _ => SqlError::new(13, format!("Can't get stat of '{shown}' (OS errno {number} - {words})")),
            }
        })?;
        Ok(ServerFile { file, shown, offset: 0, interrupt: session.server.interrupt.clone() })
    }
}

impl Input for ServerFile {
    fn read(&mut self, into: &mut Vec<u8>) -> Result<()> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(SqlError::interrupted());
        }
        into.resize(PIECE_BYTES, 0);
        let got = self.file.read_at(into, self.offset).map_err(|error| {
            let number = error.raw_os_error().unwrap_or_default();
            let text = format!("Error reading file '{}' (OS errno {number} - {})", self.shown, words(&error));
            SqlError::new(2, text)
        })?;
        into.truncate(got);
        self.offset += got as u64;
        Ok(())
    }
}

/// A file that the client sends.
struct SentFile<'c> {
    client: &'c mut dyn ClientFile,
    has_ended: bool,
}

impl Input for SentFile<'_> {
    fn read(&mut self, into: &mut Vec<u8>) -> Result<()> {
        if self.has_ended {
            return Ok(());
        }
        self.client.next_piece(into).inspect_err(|_| self.has_ended = true)?;
        self.has_ended = into.is_empty();
        Ok(())
    }
}

/// Returns the absolute path of a file. A name without a directory is in the directory of the
/// current schema, a relative path in the data directory.
///
/// # Errors
/// Returns 1290 for a place that `secure_file_priv` does not allow.
fn resolved(session: &Session, written: &[u8]) -> Result<PathBuf> {
    let host = &*session.server.host;
    let written = String::from_utf8_lossy(written).into_owned();
    let mut base = PathBuf::from(setting(host, "datadir")?);
    if !written.contains('/') {
        base.push(session.settings.schema.as_deref().unwrap_or_default());
    }
    let path = plain(&base.join(&written));
    if !may_read(host, &path)? {
        let text = "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement";
        return Err(SqlError::new(1290, text));
    }
    Ok(path)
}

/// Returns a path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// Returns the operating system's description of an error, without its number.
fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
