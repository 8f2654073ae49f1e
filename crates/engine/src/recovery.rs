//! Opening an existing data directory: from the checkpoint and the log to the state after the last commit in the log.
//!
//! 1. Every tablespace file found is opened (the pool has repaired torn pages from the doublewrite file by then).
//! 2. STRUCTURE records are replayed by page LSN: every tree is sound afterwards.
//! 3. The dictionary entries of COMMIT records are replayed by key, in log order; then the dictionary says which tables
//!    exist. Files of other spaces are removed, files of renamed tables moved: the part of a DDL statement that a crash
//!    cut off after its commit record, or the leftovers of one that has no commit record.
//! 4. The row changes of COMMIT records are replayed by key, in log order ([`crate::replay`]).
//! 5. Everything is flushed and a checkpoint made, as far as the participant lets it.
//!
//! Every step is idempotent: a crash in recovery begins it anew. There is nothing to roll back, and no snapshot exists.

use crate::Engine;
use crate::catalog::Catalog;
use crate::checkpoint::CheckpointState;
use crate::commit::position::CommitMark;
use crate::commit::record::CommitRecord;
use crate::commit::sidecar::Sidecar;
use crate::config::EngineConfig;
use crate::dictionary::{self, SYSTEM_FILE, SYSTEM_SPACE};
use crate::engine::{Parts, io_error, table_path};
use crate::error::{EngineError, Result};
use crate::table::{Counters, Table};
use btree::{Change, Tree};
use buffer::{Pool, RecordLsn, SpaceId};
use redo::{Log, Lsn, Record, kind};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Opens and recovers an existing data directory.
pub(crate) fn open(config: EngineConfig) -> Result<Arc<Engine>> {
    let (log, checkpoint, pool) = Engine::open_storage(&config)?;
    let state = CheckpointState::decode(&checkpoint.state)?;
    Engine::check_page_size(&state, config.page_size, &config.datadir.display().to_string())?;
    let end = log.current_lsn();
    let mut files = open_spaces(&config, &pool)?;
    replay_structure(&log, &pool, checkpoint.lsn, end)?;

    let dictionary = Tree::open(&pool, SYSTEM_SPACE, state.dictionary_root);
    let auto_increments: HashMap<u64, u64> = state.auto_increments.iter().copied().collect();
    let mut parts = Parts {
        log: log.clone(),
        pool: pool.clone(),
        dictionary,
        catalog: Catalog::default(),
        next_ids: Default::default(),
        replication: Default::default(),
        participant_state: Vec::new(),
        visible: end,
        recovery_start_lsn: checkpoint.lsn,
        last_checkpoint: checkpoint.lsn,
    };
    parts.take_state(state);
    replay_dictionary(&mut parts, checkpoint.lsn, end)?;
    open_tables(&config, &mut parts, &mut files, &auto_increments)?;
    remove_leftovers(&config, &pool, &files)?;

    let engine = Engine::assemble(config, parts);
    let commits = engine.replay_rows(checkpoint.lsn, end)?;
    for table in engine.catalog.all_tables() {
        engine.set_counters(&table)?;
    }
    log::info!("InnoDB: Recovered {commits} commits between LSN {} and {end}", checkpoint.lsn);
    engine.sharp_checkpoint()?;
    Ok(engine)
}

/// Calls `visit` for every record from the checkpoint to the log's end as recovery found it.
pub(crate) fn for_each_record(
    log: &Log,
    from: Lsn,
    end: Lsn,
    mut visit: impl FnMut(Record) -> Result<()>,
) -> Result<()> {
    let mut reader = log.read_from(from);
    while reader.lsn() < end {
        let Some(record) = reader.next(Some(Duration::from_secs(10)))? else {
            return Err(EngineError::Corrupt(format!(
                "the log ends at LSN {} before its end {end}",
                reader.lsn()
            )));
        };
        visit(record)?;
    }
    Ok(())
}

fn replay_structure(log: &Log, pool: &Arc<Pool>, from: Lsn, end: Lsn) -> Result<()> {
    for_each_record(log, from, end, |record| {
        if record.kind == kind::STRUCTURE {
            pool.replay(record.start_lsn, record.lsn, &record.payload)?;
        }
        Ok(())
    })
}

/// Step 3, and the replication state and ids that the records carry.
fn replay_dictionary(parts: &mut Parts, from: Lsn, end: Lsn) -> Result<()> {
    let log = parts.log.clone();
    for_each_record(&log, from, end, |record| {
        if record.kind != kind::COMMIT {
            return Ok(());
        }
        let commit = CommitRecord::parse(&record.payload)?;
        let sidecar = Sidecar::parse(commit.sidecar)?;
        for (key, value) in sidecar.dictionary()? {
            let place = RecordLsn::new(record.start_lsn, record.lsn);
            parts.dictionary.modify(&key, place, |_| match &value {
                Some(value) => Change::Put(value.into()),
                None => Change::Remove,
            })?;
        }
        if let Some(next) = sidecar.counters()? {
            parts.next_ids.raise(next);
        }
        parts.replication.advance(CommitMark {
            gtid: commit.header.gtid,
            mariadb_gtid: commit.header.mariadb_gtid,
            position: commit.position,
        });
        Ok(())
    })
}

/// Tablespace files found, by space; and files that are no tablespace.
struct Files {
    spaces: HashMap<SpaceId, PathBuf>,
    broken: Vec<(PathBuf, String)>,
}

fn open_spaces(config: &EngineConfig, pool: &Arc<Pool>) -> Result<Files> {
    pool.open_space(&config.datadir.join(SYSTEM_FILE))?;
    let mut files = Files { spaces: HashMap::new(), broken: Vec::new() };
    for dir in list(config, &config.datadir)? {
        let is_dir = config.disk.is_dir(&dir).map_err(|error| io_error(&dir, error))?;
        if !is_dir || dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with('#')) {
            continue;
        }
        for path in list(config, &dir)? {
            if path.extension().is_none_or(|extension| extension != "ibd") {
                continue;
            }
            match pool.open_space(&path) {
                Ok(space) => {
                    files.spaces.insert(space, path);
                }
                Err(error @ buffer::BufferError::PageSize { .. }) => return Err(EngineError::from(error)),
                // A file cut off by a crash while it was being made; an error only if the dictionary knows it.
                Err(error) => files.broken.push((path, error.to_string())),
            }
        }
    }
    Ok(files)
}

fn list(config: &EngineConfig, dir: &Path) -> Result<Vec<PathBuf>> {
    config.disk.list(dir).map_err(|error| io_error(dir, error))
}

/// Builds the catalog from the dictionary, and puts the tables' files where their names say.
fn open_tables(
    config: &EngineConfig,
    parts: &mut Parts,
    files: &mut Files,
    auto_increments: &HashMap<u64, u64>,
) -> Result<()> {
    let objects = dictionary::load(&parts.dictionary)?;
    for (id, def) in objects.schemas {
        parts.next_ids.table = parts.next_ids.table.max(id + 1);
        let dir = config.datadir.join(dictionary::file_name(&def.name));
        config.disk.create_dir_all(&dir).map_err(|error| io_error(&dir, error))?;
        parts.catalog.put_schema(id, def);
    }
    for (placement, def) in objects.tables {
        let path = table_path(&config.datadir, &def.schema, &def.name);
        let Some(found) = files.spaces.remove(&placement.space) else {
            let broken = files.broken.iter().find(|(broken, _)| *broken == path);
            return Err(EngineError::Corrupt(match broken {
                Some((_, error)) => error.clone(),
                None => format!("{}: the file of table {} is missing", path.display(), def.qualified_name()),
            }));
        };
        if found != path {
            parts.pool.rename_space(placement.space, &path)?;
        }
        let next = &mut parts.next_ids;
        next.table = next.table.max(placement.id + 1);
        next.space = next.space.max(placement.space + 1);
        next.index = def.indexes.iter().map(|index| index.id + 1).fold(next.index, u32::max);
        let counters = Counters::default();
        let known = auto_increments.get(&placement.id).copied().unwrap_or(0).max(def.auto_increment);
        counters.auto_increment.store(known, Ordering::Relaxed);
        let table = Engine::build_table(&parts.pool, placement, def, Arc::new(counters));
        parts.catalog.put_table(Arc::new(table));
    }
    Ok(())
}

/// Removes the files that no table has.
fn remove_leftovers(config: &EngineConfig, pool: &Arc<Pool>, files: &Files) -> Result<()> {
    let mut dirs = HashSet::new();
    for (space, path) in &files.spaces {
        log::info!("InnoDB: Removing {}, which no table has", path.display());
        pool.drop_space(*space)?;
    }
    for (path, error) in &files.broken {
        log::info!("InnoDB: Removing {}: {error}", path.display());
        config.disk.remove(path).map_err(|error| io_error(path, error))?;
        dirs.extend(path.parent().map(Path::to_path_buf));
    }
    for dir in dirs {
        config.disk.sync_dir(&dir).map_err(|error| io_error(&dir, error))?;
    }
    Ok(())
}

impl Engine {
    /// Raises a table's counters past what its rows hold.
    pub(crate) fn set_counters(&self, table: &Table) -> Result<()> {
        if table.primary.is_none() {
            let last = table.clustered.last_key()?.unwrap_or_default();
            let next = <[u8; 8]>::try_from(last.as_slice()).map_or(1, |bytes| u64::from_be_bytes(bytes) + 1);
            table.counters.row_id.fetch_max(next, Ordering::Relaxed);
        }
        Ok(())
    }
}
