//! The files `master.info` and `relay-log.info`, as MySQL 8.0 writes them: a value a line, the
//! first says how many there are.
//!
//! They follow what SHOW REPLICA STATUS shows: once a second, and at once when threads have been
//! stopped, when the configuration changes and when the server has recovered. The applier has no
//! part in it, so that a position in a FILE costs it as much as one in a TABLE: nothing. Each is
//! replaced whole, and synced.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use os::disk::Disk;
use parking_lot::{Condvar, Mutex};

use super::repository::{Place, Repository};
use crate::status::{Cell, ReplicaStatus};

/// How far a file may be behind what is shown.
const EVERY: Duration = Duration::from_secs(1);

/// What the repositories are, and the files' names, relative to the data directory.
#[derive(Debug, Clone)]
pub struct InfoSettings {
    /// `master_info_repository`
    pub connection: Place,
    /// `master_info_file`
    pub connection_file: String,
    /// `relay_log_info_repository`
    pub applier: Place,
    /// `relay_log_info_file`
    pub applier_file: String,
}

impl Default for InfoSettings {
    fn default() -> InfoSettings {
        InfoSettings {
            connection: Place::Table,
            connection_file: "master.info".to_string(),
            applier: Place::Table,
            applier_file: "relay-log.info".to_string(),
        }
    }
}

/// The files of the default channel; a server with others has tables.
pub(crate) struct InfoFiles {
    disk: Arc<dyn Disk>,
    connection: InfoFile,
    applier: InfoFile,
    /// Taken before the channel's locks, except that of statements. Held while a file is written,
    /// so that the later one stays.
    writing: Mutex<Writing>,
    /// The thread that writes is to look whether it has to end.
    changed: Condvar,
}

struct InfoFile {
    repository: Repository,
    path: PathBuf,
    /// The repository is this file. Relaxed: set by statements, one at a time, and who reads it
    /// late writes or shows it once more as it was.
    is_used: AtomicBool,
    /// What it holds; `None` is no file. Under `writing`, taken behind it.
    written: Mutex<Option<String>>,
}

#[derive(Default)]
struct Writing {
    /// The thread that writes is to end.
    ended: bool,
    /// The last attempt failed, and the log says so.
    failed: bool,
}

impl InfoFiles {
    /// What an earlier process left is replaced, or removed, with the first update.
    pub(crate) fn new(disk: Arc<dyn Disk>, datadir: &Path, settings: &InfoSettings) -> io::Result<InfoFiles> {
        let file = |repository, name: &str, place| -> io::Result<InfoFile> {
            let path = datadir.join(name);
            let written = disk.exists(&path)?.then(String::new).into();
            Ok(InfoFile { repository, path, is_used: (place == Place::File).into(), written })
        };
        let connection = file(Repository::Connection, &settings.connection_file, settings.connection)?;
        let applier = file(Repository::Applier, &settings.applier_file, settings.applier)?;
        Ok(InfoFiles { disk, connection, applier, writing: Mutex::default(), changed: Condvar::new() })
    }

    fn file(&self, repository: Repository) -> &InfoFile {
        match repository {
            Repository::Connection => &self.connection,
            Repository::Applier => &self.applier,
        }
    }

    /// The file that a repository is.
    pub(crate) fn path(&self, repository: Repository) -> Option<&Path> {
        let file = self.file(repository);
        file.is_used.load(Ordering::Relaxed).then_some(&*file.path)
    }

    /// What a repository is.
    pub(crate) fn place(&self, repository: Repository) -> Place {
        if self.path(repository).is_some() { Place::File } else { Place::Table }
    }

    /// Moves a repository, of a channel that shows this; it stays where it is when the file cannot
    /// be written or removed. By one statement at a time.
    pub(crate) fn move_to(
        &self,
        repository: Repository,
        place: Place,
        shown: impl FnOnce() -> Option<ReplicaStatus>,
    ) -> io::Result<()> {
        let _writing = self.writing.lock();
        let file = self.file(repository);
        let before = file.is_used.swap(place == Place::File, Ordering::Relaxed);
        file.update(&*self.disk, shown().as_ref())
            .inspect_err(|_| file.is_used.store(before, Ordering::Relaxed))
    }

    /// Brings the files up to what the named channel shows. That one cannot be written is no reason
    /// to stop anything: nothing reads it back.
    pub(crate) fn update(&self, channel: &str, shown: impl FnOnce() -> Option<ReplicaStatus>) {
        let mut writing = self.writing.lock();
        let shown = shown();
        let of_connection = self.connection.update(&*self.disk, shown.as_ref());
        let of_applier = self.applier.update(&*self.disk, shown.as_ref());
        let result = of_connection.and(of_applier);
        let failed_before = std::mem::replace(&mut writing.failed, result.is_err());
        if let (Err(error), false) = (result, failed_before) {
            log::warn!("the replication repositories of channel '{channel}': {error}");
        }
    }

    /// The thread that writes ends.
    pub(crate) fn end(&self) {
        self.writing.lock().ended = true;
        self.changed.notify_all();
    }

    /// Waits for the next time; false when there is none.
    pub(crate) fn wait(&self) -> bool {
        let _idle = os::account::enter(os::account::State::Idle);
        let mut writing = self.writing.lock();
        if !writing.ended {
            self.changed.wait_for(&mut writing, EVERY);
        }
        !writing.ended
    }
}

impl InfoFile {
    fn update(&self, disk: &dyn Disk, shown: Option<&ReplicaStatus>) -> io::Result<()> {
        let shown = shown.filter(|_| self.is_used.load(Ordering::Relaxed));
        let wanted = shown.map(|status| lines(self.repository, status));
        let mut written = self.written.lock();
        if wanted == *written {
            return Ok(());
        }
        match &wanted {
            Some(text) => disk.write_secret_atomically(&self.path, text.as_bytes())?,
            None => disk.remove(&self.path)?,
        }
        *written = wanted;
        Ok(())
    }
}

/// A file's text.
pub(super) fn lines(repository: Repository, status: &ReplicaStatus) -> String {
    let line = |(name, cell): (&str, Cell)| match (name, cell) {
        // In a file the words of an ENUM are numbers: STREAM is the first of its column, and so is
        // OFF.
        ("Require_table_primary_key_check" | "Assign_gtids_to_anonymous_transactions_type", _) => {
            "1\n".to_string()
        }
        ("Heartbeat", _) => format!("{:.3}\n", status.config.heartbeat_period_s),
        (_, Cell::Null) => "\n".to_string(),
        (_, Cell::Number(number)) => format!("{number}\n"),
        (_, Cell::Text(text)) => format!("{text}\n"),
    };
    repository.row(status).into_iter().map(line).collect()
}
