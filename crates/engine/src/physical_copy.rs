//! A physical copy of the data directory while the engine works (decision 0064): the files look as
//! if the server had crashed at one place of the log, and recovery makes them whole.
//!
//! **In.** A directory that does not exist, and a [`CopyWatch`] that is told of the progress.
//! **Out.** The directory, and in a [`CopyEnd`] the place of the log that it stands for.
//!
//! Invariants:
//! - The log and the spill files are held from before the checkpoint is read until they are copied.
//! - Every page is read after that checkpoint was durable, and before the end of the log is taken.
//! - Between the last look at the flushed spaces and the taking of the end, none is flushed: a tree
//!   that a record before the end names was flushed before and is copied.
//! - The system tablespace gets its name last, after the checkpoint slot was written. So an
//!   unfinished copy is no data directory, and no server starts on it.

use crate::checkpoint::CheckpointState;
use crate::config::EngineConfig;
use crate::dictionary::{SYSTEM_FILE, SYSTEM_SPACE};
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::files::{aside, io_error};
use crate::spill;
use binlog::gtid::GtidSet;
use buffer::{BufferError, FlushNotes, SpaceId};
use os::disk::{File, OpenMode};
use redo::{LogCopy, Lsn};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How many bytes of files are copied before the log is looked at again.
const BETWEEN_LOG_BYTES: u64 = 4 << 20;
/// How many times files are looked for before DDL has to wait for the last ones.
const ROUNDS: usize = 8;
/// How long DDL statements that are in their last part are waited for at a time.
const DDL_WAIT: Duration = Duration::from_millis(20);

/// The stages of a copy, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStage {
    /// The files that were there at the beginning are copied.
    Files,
    /// Files that came since, or that have pages which the log does not describe, are copied.
    Pages,
    /// The rest of the log and the spill files are copied.
    Log,
    /// Everything is made durable.
    Sync,
}

/// What a copy tells of its progress, and asks.
pub trait CopyWatch: Sync {
    /// Is told that a stage begins, in which about `estimate` bytes are to be copied.
    fn begins(&self, stage: CopyStage, estimate: u64);
    /// Is told that so many bytes were copied in a stage.
    fn copied(&self, stage: CopyStage, bytes: u64);
    /// Is told that the end of the log is about to be taken, perhaps more than once.
    fn about_to_end(&self) {}
    /// Reports whether the copy is to end with [`EngineError::Interrupted`].
    fn is_interrupted(&self) -> bool;
}

/// The place of the log that a copy stands for.
#[derive(Debug, Clone)]
pub struct CopyEnd {
    /// The copy has exactly the commits whose records end at or before this position.
    pub lsn: Lsn,
    /// The GTIDs of these commits, and of all that were executed before them.
    pub gtid_executed: GtidSet,
}

/// Does the work of [`Engine::copy_to`].
pub(crate) fn copy(
    engine: &Engine,
    dir: &Path,
    beside: &[(&str, Vec<u8>)],
    watch: &dyn CopyWatch,
) -> Result<CopyEnd> {
    let disk = &engine.config.disk;
    let flushes = engine.pool.note_flushes().ok_or(EngineError::CopyRunning)?;
    if disk.exists(dir).map_err(|error| io_error(dir, error))? {
        return Err(io_error(dir, std::io::ErrorKind::AlreadyExists.into()));
    }
    disk.create_dir_all(dir).map_err(|error| io_error(dir, error))?;
    let put = |(name, bytes): &(&str, Vec<u8>)| {
        let path = dir.join(name);
        disk.write_atomically(&path, bytes).map_err(|error| io_error(&path, error))
    };
    let put = beside.iter().try_for_each(put);
    let copied = put.and_then(|()| begin(engine, dir, watch, flushes)).and_then(Copying::run);
    if copied.is_err()
        && let Err(error) = disk.remove_dir_all(dir)
    {
        log::warn!("InnoDB: {}: the unfinished copy stays there: {error}", dir.display());
    }
    copied
}

fn begin<'e>(
    engine: &'e Engine,
    dir: &'e Path,
    watch: &'e dyn CopyWatch,
    flushes: FlushNotes,
) -> Result<Copying<'e>> {
    // A recent checkpoint leaves less of the log to copy, and to replay.
    engine.checkpoint()?;
    let executed_before = engine.sequencer.replication(|state| state.executed.clone());
    let spills = engine.spills.hold();
    let log = engine.log.copy_to(&engine.config.disk, dir)?;
    Ok(Copying {
        engine,
        dir,
        watch,
        flushes,
        _spills: spills,
        log,
        files: BTreeMap::new(),
        since_log_bytes: 0,
        executed_before,
    })
}

/// A copy under way.
struct Copying<'e> {
    engine: &'e Engine,
    dir: &'e Path,
    watch: &'e dyn CopyWatch,
    flushes: FlushNotes,
    _spills: spill::SpillHold,
    log: LogCopy,
    /// The copies of tablespace files. They get their names at the end.
    files: BTreeMap<SpaceId, Arc<dyn File>>,
    since_log_bytes: u64,
    executed_before: GtidSet,
}

/// What is true of the source at the end of the log that was taken.
struct Taken {
    end: CopyEnd,
    /// The replication state, encoded.
    replication: Vec<u8>,
    paths: Vec<(SpaceId, PathBuf)>,
}

impl Copying<'_> {
    fn run(mut self) -> Result<CopyEnd> {
        let spaces = self.engine.pool.logged_spaces();
        let bytes = spaces.iter().filter_map(|(space, _)| self.engine.pool.space_bytes(*space)).sum();
        self.watch.begins(CopyStage::Files, bytes);
        self.copy_files(CopyStage::Files, spaces.iter().map(|(space, _)| *space).collect())?;
        self.watch.begins(CopyStage::Pages, 0);
        for _ in 0..ROUNDS {
            let wanted = self.wanted_files();
            if wanted.is_empty() {
                break;
            }
            self.copy_files(CopyStage::Pages, wanted)?;
        }
        let taken = self.take_end()?;
        self.finish(taken)
    }

    /// Returns the spaces that have no copy, or were flushed since they were copied.
    fn wanted_files(&self) -> BTreeSet<SpaceId> {
        let mut wanted = self.flushes.take();
        let open = self.engine.pool.logged_spaces();
        wanted.retain(|space| open.iter().any(|(open, _)| open == space));
        wanted.extend(open.iter().map(|(space, _)| *space).filter(|space| !self.files.contains_key(space)));
        wanted
    }

    fn copy_files(&mut self, stage: CopyStage, spaces: BTreeSet<SpaceId>) -> Result<()> {
        for space in spaces {
            match self.copy_file(stage, space) {
                // It was dropped meanwhile. The log says so, or nothing in the log names it.
                Err(EngineError::Pages(btree::TreeError::Buffer(BufferError::NoSuchSpace(_)))) => {}
                copied => copied?,
            }
        }
        Ok(())
    }

    fn copy_file(&mut self, stage: CopyStage, space: SpaceId) -> Result<()> {
        let path = self.unnamed(space);
        let opened = self.engine.config.disk.open(&path, OpenMode::OpenOrCreate);
        let to = opened.map_err(|error| io_error(&path, error))?;
        let mut copy = self.engine.pool.copy_space(space, to.clone())?;
        self.files.insert(space, to);
        while let Some(bytes) = copy.step()? {
            self.watch.copied(stage, bytes);
            self.since_log_bytes += bytes;
            if self.since_log_bytes >= BETWEEN_LOG_BYTES {
                self.follow_log()?;
            }
        }
        self.follow_log()
    }

    /// Copies what the log has got, so that the copy is never far behind it.
    fn follow_log(&mut self) -> Result<()> {
        if self.watch.is_interrupted() {
            return Err(EngineError::Interrupted);
        }
        self.since_log_bytes = 0;
        let before = self.log.copied_lsn();
        self.log.advance()?;
        self.watch.copied(CopyStage::Log, self.log.copied_lsn() - before);
        Ok(())
    }

    /// Returns the path of a file's copy until it gets its name. Recovery would pass over it.
    fn unnamed(&self, space: SpaceId) -> PathBuf {
        self.dir.join(format!("#copy-{space}"))
    }

    /// Copies the last files while no DDL statement commits, and takes the end of the log.
    fn take_end(&mut self) -> Result<Taken> {
        let engine = self.engine;
        let _one = loop {
            match engine.ddl.one.try_lock_for(DDL_WAIT) {
                Some(one) => break one,
                // A statement that copies a table may be in its last part for long.
                None => self.follow_log()?,
            }
        };
        let mut wanted = self.wanted_files();
        loop {
            self.copy_files(CopyStage::Pages, wanted)?;
            self.watch.about_to_end();
            let (lsn, gtid_executed, replication) = engine.sequencer.end_of_log(&engine.log);
            // An index build flushes its pages outside the last part of its statement, and then
            // logs that they can be reached.
            wanted = self.wanted_files();
            if wanted.is_empty() {
                let paths = engine.pool.logged_spaces();
                return Ok(Taken { end: CopyEnd { lsn, gtid_executed }, replication, paths });
            }
        }
    }

    /// Copies everything else, and makes the copy durable.
    fn finish(mut self, taken: Taken) -> Result<CopyEnd> {
        let Taken { end, replication, paths } = taken;
        if !self.executed_before.is_subset(&end.gtid_executed) {
            // The log still has the commits whose GTIDs were forgotten.
            return Err(EngineError::CopyUnusable("GTIDs were reset while the copy was made".to_owned()));
        }
        self.watch.begins(CopyStage::Log, end.lsn.saturating_sub(self.log.copied_lsn()));
        self.follow_log_to(end.lsn)?;
        self.copy_spill_files()?;
        self.watch.begins(CopyStage::Sync, 0);
        self.name_files(&paths)?;
        let state = CheckpointState::with_replication(&self.log.checkpoint().state, &replication)?;
        let (disk, dir) = (self.engine.config.disk.clone(), self.dir);
        let (unnamed, system) = (self.unnamed(SYSTEM_SPACE), dir.join(SYSTEM_FILE));
        self.log.finish(end.lsn, state)?;
        disk.rename(&unnamed, &system).map_err(|error| io_error(&system, error))?;
        let parent = dir.parent().unwrap_or(Path::new(""));
        for synced in [dir, parent] {
            disk.sync_dir(synced).map_err(|error| io_error(synced, error))?;
        }
        Ok(end)
    }

    fn follow_log_to(&mut self, end: Lsn) -> Result<()> {
        self.engine.log.wait_durable(end)?;
        let before = self.log.copied_lsn();
        self.log.advance_to(end)?;
        self.watch.copied(CopyStage::Log, self.log.copied_lsn() - before);
        Ok(())
    }

    /// Copies the spill files. Those that no commit before the end of the log names are removed by
    /// the recovery of the copy.
    fn copy_spill_files(&mut self) -> Result<()> {
        let config = self.engine.config.clone();
        for number in spill::list(&config)? {
            let from = spill::path_of(&config.datadir, number);
            let file = match config.disk.open(&from, OpenMode::Read) {
                // The file of a transaction that was rolled back: those of commits are held.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                opened => opened.map_err(|error| io_error(&from, error))?,
            };
            let to = spill::path_of(self.dir, number);
            copy_bytes(&config, &*file, &to, |bytes| {
                self.watch.copied(CopyStage::Log, bytes);
                if self.watch.is_interrupted() { Err(EngineError::Interrupted) } else { Ok(()) }
            })?;
        }
        Ok(())
    }

    /// Syncs the tablespace files, and gives all except the system's their names. Files of spaces
    /// that are gone are removed.
    fn name_files(&mut self, paths: &[(SpaceId, PathBuf)]) -> Result<()> {
        let disk = &self.engine.config.disk;
        let (mut taken, mut dirs) = (HashSet::new(), BTreeSet::new());
        for (space, path) in paths {
            let Some(file) = self.files.remove(space) else { continue };
            file.sync_data().map_err(|error| io_error(file.path(), error))?;
            if *space == SYSTEM_SPACE {
                continue;
            }
            let inside = path.strip_prefix(&self.engine.config.datadir).unwrap_or(path);
            let mut to = self.dir.join(inside);
            // The names may be of different moments. Recovery moves files to where they belong.
            if !taken.insert(to.clone()) {
                to = aside(&to, *space);
            }
            let parent = to.parent().unwrap_or(self.dir).to_owned();
            disk.create_dir_all(&parent).map_err(|error| io_error(&parent, error))?;
            disk.rename(&self.unnamed(*space), &to).map_err(|error| io_error(&to, error))?;
            dirs.insert(parent);
        }
        for space in self.files.keys() {
            let gone = self.unnamed(*space);
            disk.remove(&gone).map_err(|error| io_error(&gone, error))?;
        }
        dirs.iter().try_for_each(|dir| disk.sync_dir(dir).map_err(|error| io_error(dir, error)))
    }
}

/// Copies a file that nobody writes any more, durably. `copied` is called for each piece.
fn copy_bytes(
    config: &EngineConfig,
    from: &dyn File,
    to: &Path,
    mut copied: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    let wrong = |error| io_error(to, error);
    let dir = to.parent().unwrap_or(Path::new(""));
    config.disk.create_dir_all(dir).map_err(wrong)?;
    let file = config.disk.open(to, OpenMode::CreateNew).map_err(wrong)?;
    let (mut piece, mut at) = (vec![0; 1 << 20], 0);
    loop {
        let got = from.read_at(&mut piece, at).map_err(|error| io_error(from.path(), error))?;
        if got == 0 {
            break;
        }
        file.write_all_at(&piece[..got], at).map_err(wrong)?;
        file.write_back(at, got as u64);
        at += got as u64;
        copied(got as u64)?;
    }
    file.sync_data().map_err(wrong)?;
    config.disk.sync_dir(dir).map_err(wrong)
}
