//! CLONE LOCAL DATA DIRECTORY: a physical copy of the data directory, made while the server works.

use crate::client::connection_host::ConnectionHost;
use crate::datadir;
use crate::server::Server;
use crate::server::sessions::SessionEntry;
use crate::show::result_table::send_ok;
use engine::{CopyStage, CopyWatch, EngineError};
use redo::{Lsn, RedoError};
use sql::{ResultSink, SqlError};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The interval at which the writer of the binary log is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// Carries out the statement.
///
/// # Errors
/// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) without BACKUP_ADMIN, errors about the path as
/// MySQL does (1525, 1007, 3632, 1006), 3634 (`ER_CLONE_TOO_MANY_CONCURRENT_CLONES`) while another
/// clone runs, 1317 after KILL, and errors of files.
pub fn local(host: &ConnectionHost, dir: &str, status: u16, sink: &mut dyn ResultSink) -> sql::Result<()> {
    host.require_dynamic("BACKUP_ADMIN", &["BACKUP_ADMIN"])?;
    let server = host.server();
    let path = checked_path(server, dir)?;
    if !server.clones.begin(host.entry().id, dir) {
        return Err(SqlError::from(EngineError::CopyRunning));
    }
    match copy(server, host.entry(), &path) {
        Ok(()) => send_ok(status, sink),
        Err(error) => {
            server.clones.fail(error.code, &error.message);
            Err(error)
        }
    }
}

/// Checks where the copy is to be, in MySQL's order.
fn checked_path(server: &Server, dir: &str) -> sql::Result<PathBuf> {
    let path = Path::new(dir);
    if !path.is_absolute() {
        return Err(SqlError::new(1525, format!("Incorrect path value: '{dir}'")));
    }
    let path = without_dots(path);
    let wrong = |error: io::Error| cannot_make(dir, &error);
    if server.disk.exists(&path).map_err(wrong)? {
        return Err(SqlError::new(1007, format!("Can't create database '{dir}'; database exists")));
    }
    if path.starts_with(without_dots(&server.datadir)) {
        let text = format!("Path is within the current data directory '{dir}'");
        return Err(SqlError::new(3632, text));
    }
    Ok(path)
}

/// Returns the path without `.` and `..`.
fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

/// Returns the number and the text of an error as MySQL shows them. The disk's errors name their
/// place, which MySQL's messages have already.
fn reason_of(error: &io::Error) -> String {
    let (number, text) = match error.kind() {
        io::ErrorKind::NotFound => (2, "No such file or directory"),
        io::ErrorKind::PermissionDenied => (13, "Permission denied"),
        io::ErrorKind::AlreadyExists => (17, "File exists"),
        io::ErrorKind::NotADirectory => (20, "Not a directory"),
        io::ErrorKind::StorageFull => (28, "No space left on device"),
        io::ErrorKind::ReadOnlyFilesystem => (30, "Read-only file system"),
        _ => return format!("errno: {} - {error}", error.raw_os_error().unwrap_or(5)),
    };
    format!("errno: {number} - {text}")
}

fn cannot_make(dir: &str, error: &io::Error) -> SqlError {
    let reason = reason_of(error);
    SqlError::new(1006, format!("Can't create database '{}/' ({reason})", dir.trim_end_matches('/')))
}

fn disk_full(path: &Path) -> SqlError {
    let reason = reason_of(&io::ErrorKind::StorageFull.into());
    SqlError::new(1026, format!("Error writing file '{}' ({reason})", path.display()))
}

fn copy(server: &Server, entry: &SessionEntry, path: &Path) -> sql::Result<()> {
    let watch = Watch { server, entry };
    let beside = [datadir::format_file()];
    let copied = server.engine.copy_to(path, &beside, &watch).map_err(|error| match error {
        EngineError::Io(place, error) if Path::new(&place) == path => cannot_make(&place, &error),
        EngineError::Io(place, error) => {
            let reason = reason_of(&error);
            SqlError::new(1026, format!("Error writing file '{place}' ({reason})"))
        }
        EngineError::Redo(RedoError::DiskFull(_)) => disk_full(path),
        error if error.is_disk_full() => disk_full(path),
        error => SqlError::from(error),
    });
    let end = copied.and_then(|end| Ok((binlog_place(&watch, end.lsn)?, end)));
    if let Some(binlog) = &server.binlog {
        binlog.end_places();
    }
    let (place, end) = end?;
    server.clones.complete(&end, place);
    Ok(())
}

/// Waits until the writer of the binary log has passed the end of the copy, and returns the place
/// in the binary log that belongs to it.
fn binlog_place(watch: &Watch<'_>, lsn: Lsn) -> sql::Result<Option<(String, u64)>> {
    let Some(binlog) = watch.server.open_binlog() else { return Ok(None) };
    while !binlog.is_turned_off() && !watch.server.is_stopping() {
        if let Some(place) = binlog.place_at(lsn) {
            return Ok(Some(place));
        }
        if watch.entry.sleep(LOOK_INTERVAL) {
            return Err(SqlError::interrupted());
        }
    }
    Ok(None)
}

/// The connection's watch over its copy.
struct Watch<'s> {
    server: &'s Server,
    entry: &'s SessionEntry,
}

impl CopyWatch for Watch<'_> {
    fn begins(&self, stage: CopyStage, estimate: u64) {
        self.server.clones.enter(stage, estimate);
    }

    fn copied(&self, stage: CopyStage, bytes: u64) {
        self.server.clones.copied(stage, bytes);
    }

    fn about_to_end(&self) {
        if let Some(binlog) = &self.server.binlog {
            binlog.begin_places();
        }
    }

    fn is_interrupted(&self) -> bool {
        self.entry.is_killed() || self.server.is_stopping()
    }
}
