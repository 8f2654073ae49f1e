//! The files `master.info` and `relay-log.info`, as MySQL 8.0 writes them: one value per line, of
//! which the first is the number of lines.
//!
//! The files follow what SHOW REPLICA STATUS shows: once a second, and at once when threads have
//! been stopped, when the configuration changes and when the server has recovered. The applier
//! takes no part in writing them, so a position in a FILE costs it as little as one in a TABLE:
//! nothing. Each file is replaced as a whole, and synced.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use os::disk::Disk;
use parking_lot::{Condvar, Mutex};

use super::repository::{Place, Repository};
use crate::status::{Cell, ReplicaStatus};

/// The longest time by which a file may be behind what is shown.
const EVERY: Duration = Duration::from_secs(1);

/// The places of the repositories, and the files' names relative to the data directory.
#[derive(Debug, Clone)]
pub struct InfoSettings {
    /// The system variable `master_info_repository`.
    pub connection: Place,
    /// The option `master_info_file`.
    pub connection_file: String,
    /// The system variable `relay_log_info_repository`.
    pub applier: Place,
    /// The option `relay_log_info_file`.
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

/// The files of the default channel. A server with further channels has tables only.
pub(crate) struct InfoFiles {
    disk: Arc<dyn Disk>,
    connection: InfoFile,
    applier: InfoFile,
    /// Taken before the channel's locks, except the lock of statements. It is held while a file is
    /// written, so that the newest text is the one that stays.
    writing: Mutex<Writing>,
    /// Notified when the writing thread has to look whether it must end.
    changed: Condvar,
}

struct InfoFile {
    repository: Repository,
    path: PathBuf,
    /// True when the repository is this file. Relaxed: one statement at a time sets it, and a
    /// thread that sees the old value writes or shows the file as it was once more.
    is_used: AtomicBool,
    /// The text of the file; `None` means that there is no file. Taken under `writing`.
    written: Mutex<Option<String>>,
}

#[derive(Default)]
struct Writing {
    /// True when the writing thread has to end.
    ended: bool,
    /// True when the last attempt failed, which the error log then says already.
    failed: bool,
}

impl InfoFiles {
    /// Returns the files of a server that starts. The first update replaces or removes files that
    /// an earlier process left.
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

    /// Returns the path of the file that a repository is. `None` means that it is a table.
    pub(crate) fn path(&self, repository: Repository) -> Option<&Path> {
        let file = self.file(repository);
        file.is_used.load(Ordering::Relaxed).then_some(&*file.path)
    }

    /// Returns the place of a repository.
    pub(crate) fn place(&self, repository: Repository) -> Place {
        if self.path(repository).is_some() { Place::File } else { Place::Table }
    }

    /// Moves a repository to `place` and writes or removes its file. When that fails, the
    /// repository stays where it was. Only one statement may do this at a time.
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

    /// Brings the files up to what the named channel shows. When a file cannot be written, only a
    /// warning is logged, because nothing reads the files back.
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

    /// Makes the writing thread end.
    pub(crate) fn end(&self) {
        self.writing.lock().ended = true;
        self.changed.notify_all();
    }

    /// Waits until the files are to be written again. Returns false when the thread has to end.
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

/// Returns the text of a repository's file.
pub(super) fn lines(repository: Repository, status: &ReplicaStatus) -> String {
    let line = |(name, cell): (&str, Cell)| match (name, cell) {
        // In a file an ENUM is written as a number. STREAM and OFF are the first words of their
        // columns.
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
