//! Opening an existing data directory: from the checkpoint and the log to the state after the last
//! commit in the log.
//!
//! 1. Every tablespace file found is opened. The pool has repaired torn pages from the doublewrite
//!    file by then.
//! 2. STRUCTURE records are replayed by page LSN, so that every tree is sound afterwards. Their
//!    positions were noted when the log's end was looked for.
//! 3. The dictionary entries of COMMIT records, noted meanwhile, are replayed by key, in log order.
//!    Then the dictionary says which tables exist. Files of other spaces are removed and files of
//!    renamed tables moved: this finishes a DDL statement that a crash cut off after its commit
//!    record, and clears away the leftovers of one that has no commit record.
//! 4. The row changes of COMMIT records are replayed by key, in log order, and the replication
//!    state follows ([`crate::replay`]).
//! 5. Prepared transactions get their write sets and their locks back ([`crate::xa`]).
//! 6. If there is a checkpointer, it has the pages flushed while the server is at work already.
//!    Otherwise, and also when commits had spilled, the pages are flushed now and a checkpoint is
//!    made, as far as the participant lets it.
//!
//! Every step is idempotent: after a crash in recovery, recovery begins anew. There is nothing to
//! roll back, and no snapshot exists.

use crate::Engine;
use crate::catalog::Catalog;
use crate::checkpoint::CheckpointState;
use crate::commit::record::{self, CommitRecord};
use crate::commit::sidecar::Sidecar;
use crate::config::EngineConfig;
use crate::definition::Object;
use crate::dictionary::{self, Objects, SYSTEM_FILE, SYSTEM_SPACE};
use crate::engine::Parts;
use crate::error::{EngineError, Result};
use crate::files::{aside, file_name, io_error, table_path};
use crate::replay::Replay;
use crate::spill::SpilledCommit;
use crate::table::{Counters, Table};
use crate::xa::XaRunner;
use crate::xa::record::{PreparedRecord, XaNote};
use binlog::Xid;
use btree::{Change, Tree};
use buffer::{Pool, RecordLsn, SpaceId};
use redo::{Batch, BatchRecord, Log, Lsn, Opened, kind};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Opens and recovers an existing data directory. `None` means that its creation was never
/// finished.
pub(crate) fn open(config: &EngineConfig) -> Result<Option<Arc<Engine>>> {
    let Storage { log: Opened { log, checkpoint, noted }, pool } = match open_storage(config) {
        Err(EngineError::Redo(redo::RedoError::Missing(_))) => return Ok(None),
        opened => opened?,
    };
    if checkpoint.state.is_empty() {
        log.close()?;
        return Ok(None);
    }
    let mut state = CheckpointState::decode(&checkpoint.state)?;
    let mut spilled = std::mem::take(&mut state.spilled);
    // Commits and prepared transactions after the checkpoint are found in the log.
    spilled.retain(|commit| commit.seq <= checkpoint.lsn);
    state.prepared.retain(|record| record.prepared_at() <= checkpoint.lsn);
    state.check_page_size(config.page_size, &config.datadir.display().to_string())?;
    let end = log.current_lsn();
    let mut files = open_spaces(config, &pool)?;
    let dictionary = Tree::open(&pool, SYSTEM_SPACE, state.dictionary_root);
    let auto_increments: HashMap<u64, u64> = state.auto_increments.iter().copied().collect();
    let mut parts = Parts {
        log: log.clone(),
        pool: pool.clone(),
        dictionary,
        catalog: Catalog::default(),
        next_ids: Default::default(),
        replication: Default::default(),
        prepared: Vec::new(),
        participant_state: Vec::new(),
        visible: end,
        recovery_start_lsn: checkpoint.lsn,
        last_checkpoint: checkpoint.lsn,
    };
    parts.take_state(state);
    for commit in &spilled {
        parts.replication.advance(commit.mark.clone());
    }
    let listed = spilled.len();
    replay_structure_and_dictionary(&mut parts, &mut spilled, noted)?;
    let objects = dictionary::load(&parts.dictionary)?;
    // Leftovers are removed first, because one may have the name that a table's file is to get.
    remove_leftovers(config, &pool, &objects, &mut files)?;
    settle_files(config, &pool, &objects, &files)?;
    open_tables(config, &mut parts, objects, &files, &auto_increments)?;

    let (prepared, ended): (Vec<_>, Vec<_>) =
        std::mem::take(&mut parts.prepared).into_iter().partition(|record| record.finished_at() == Lsn::MAX);
    let engine = Engine::assemble(config.clone(), parts);
    let files = prepared.iter().chain(&ended).filter_map(PreparedRecord::file);
    adopt_spilled(&engine, &spilled, &files.map(|file| file.number).collect())?;
    let mut replay = Replay::new(&engine);
    for commit in &spilled[..listed] {
        replay.spilled(&commit.spill, RecordLsn::new(commit.start_lsn, commit.seq))?;
    }
    // Nobody else wants the replication state yet, so its mutex may be held for long.
    let in_log = engine.sequencer.change_replication(|state| replay.commits(checkpoint.lsn, end, state))?;
    let commits = in_log + listed as u64;
    for table in engine.catalog.all_tables() {
        set_counters(&table)?;
    }
    ended.into_iter().for_each(|record| engine.xa.note_ended(Arc::new(record)));
    if !prepared.is_empty() {
        log::info!("Found {} prepared transaction(s) in InnoDB", prepared.len());
    }
    let xa = XaRunner { engine: &engine };
    prepared.into_iter().try_for_each(|record| xa.adopt_prepared(record))?;
    log::info!("InnoDB: Recovered {commits} commits between LSN {} and {end}", checkpoint.lsn);
    if !config.background || !spilled.is_empty() {
        engine.sharp_checkpoint()?;
    }
    Ok(Some(engine))
}

/// The log and the pool as recovery finds them.
pub(crate) struct Storage {
    /// The opened log, with notes of the records for which [`comes_before_rows`] is true.
    pub log: redo::Opened,
    pub pool: Arc<Pool>,
}

/// Opens the log and the pool of an existing data directory.
pub(crate) fn open_storage(config: &EngineConfig) -> Result<Storage> {
    let wanted = &mut comes_before_rows;
    let opened = Log::open_noting(config.disk.clone(), Engine::log_config(config), wanted)?;
    let pool = Engine::open_pool(config, &opened.log)?;
    Ok(Storage { log: opened, pool })
}

/// The number of log bytes that are read at once when records are looked at one by one.
const BATCH_BYTES: usize = 4 << 20;

/// Reports whether recovery wants to look at a record before rows are replayed, by the record's
/// kind and the first bytes of its payload.
pub(crate) fn comes_before_rows(kind: u8, head: &[u8]) -> bool {
    kind == kind::STRUCTURE || kind == kind::COMMIT && !record::is_plain(head)
}

/// Calls `visit` for every record of a stretch of the log.
pub(crate) fn for_each_record(
    log: &Log,
    stretch: Range<Lsn>,
    mut visit: impl FnMut(BatchRecord<'_>) -> Result<()>,
) -> Result<()> {
    let mut reader = log.read_from(stretch.start);
    let mut batch = Batch::default();
    while reader.next_batch(stretch.end, BATCH_BYTES, &mut batch)? {
        batch.records(0..batch.len()).try_for_each(&mut visit)?;
    }
    Ok(())
}

/// Runs steps 2 and 3, and raises the ids that the records carry, from the stretches of the log
/// that have such records. The dictionary's entries, which are few, wait until every tree is sound.
fn replay_structure_and_dictionary(
    parts: &mut Parts,
    spilled: &mut Vec<SpilledCommit>,
    stretches: Vec<Range<Lsn>>,
) -> Result<()> {
    let (log, pool) = (parts.log.clone(), parts.pool.clone());
    let mut entries = Vec::new();
    let mut replay = |record: BatchRecord<'_>| {
        if !comes_before_rows(record.kind, record.payload) {
            return Ok(());
        }
        if record.kind == kind::STRUCTURE {
            return Ok(pool.replay(record.start_lsn, record.lsn, record.payload)?);
        }
        let commit = CommitRecord::parse(record.payload)?;
        if let Some(spill) = commit.spill {
            // A spilled commit has rows only.
            let (start_lsn, seq, mark) = (record.start_lsn, record.lsn, commit.mark()?);
            spilled.push(SpilledCommit { spill, start_lsn, seq, mark, applied_lsn: None });
        }
        let sidecar = Sidecar::parse(commit.sidecar)?;
        match sidecar.xa()? {
            Some(XaNote::Prepared(note)) => parts.prepared.push(PreparedRecord::found(note, record.lsn)),
            Some(XaNote::Finished { xid, .. }) => note_finished(&mut parts.prepared, &xid, record.lsn),
            None => {}
        }
        let place = RecordLsn::new(record.start_lsn, record.lsn);
        entries.extend(sidecar.dictionary()?.into_iter().map(|entry| (place, entry)));
        if let Some(next) = sidecar.counters()? {
            parts.next_ids.raise(next);
        }
        Ok(())
    };
    stretches.into_iter().try_for_each(|stretch| for_each_record(&log, stretch, &mut replay))?;
    for (place, (key, value)) in entries {
        parts.dictionary.modify(&key, place, |_| match &value {
            Some(value) => Change::Put(value.into()),
            None => Change::Remove,
        })?;
    }
    Ok(())
}

/// Notes that a prepared transaction has ended. Its file is still needed, because the binary log
/// may have to be made again from it.
fn note_finished(prepared: &mut Vec<PreparedRecord>, xid: &Xid, seq: Lsn) {
    let at = prepared.iter().rposition(|record| record.xid == *xid && record.finished_at() == Lsn::MAX);
    let Some(at) = at else { return };
    prepared[at].set_finished(seq);
    if prepared[at].file().is_none() {
        prepared.remove(at);
    }
}

/// Keeps the spill files of commits until the checkpoint that ends recovery is durable, and those
/// of prepared transactions, and removes those of transactions that never committed.
fn adopt_spilled(engine: &Engine, commits: &[SpilledCommit], of_prepared: &HashSet<u64>) -> Result<()> {
    for number in crate::spill::list(&engine.config)? {
        engine.spills.note_used(number);
        if !of_prepared.contains(&number) && !commits.iter().any(|commit| commit.spill.number == number) {
            crate::spill::remove(&engine.config, number);
        }
    }
    // Recovery ends with everything on disk. If listed commits were replayed once more from their
    // files, they would bring rows back that later commits deleted. Commits in the log are replayed
    // together with what follows them.
    let applied = |commit: &SpilledCommit| SpilledCommit { applied_lsn: Some(0), ..commit.clone() };
    engine.sequencer.adopt_spilled(commits.iter().map(applied).collect());
    Ok(())
}

/// The tablespace files found, by space, and the files that are no tablespace.
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
                // A crash cut this file off while it was being made. That is an error only if the
                // dictionary knows the file.
                Err(error) => files.broken.push((path, error.to_string())),
            }
        }
    }
    Ok(files)
}

fn list(config: &EngineConfig, dir: &Path) -> Result<Vec<PathBuf>> {
    config.disk.list(dir).map_err(|error| io_error(dir, error))
}

/// Removes the files that no table has.
fn remove_leftovers(
    config: &EngineConfig,
    pool: &Arc<Pool>,
    objects: &Objects,
    files: &mut Files,
) -> Result<()> {
    let used: HashSet<SpaceId> = objects.tables.iter().map(|(placement, _)| placement.space).collect();
    let paths: HashSet<PathBuf> =
        objects.tables.iter().map(|(_, def)| table_path(&config.datadir, &def.schema, &def.name)).collect();
    for (space, path) in files.spaces.extract_if(|space, _| !used.contains(space)) {
        log::info!("InnoDB: Removing {}, which no table has", path.display());
        pool.drop_space(space)?;
    }
    // A broken file with a table's name is kept to be looked at, unless the table's space is found
    // elsewhere.
    for (path, error) in &files.broken {
        if paths.contains(path) && used.iter().any(|space| !files.spaces.contains_key(space)) {
            continue;
        }
        log::info!("InnoDB: Removing {}: {error}", path.display());
        config.disk.remove(path).map_err(|error| io_error(path, error))?;
        if let Some(dir) = path.parent() {
            config.disk.sync_dir(dir).map_err(|error| io_error(dir, error))?;
        }
    }
    Ok(())
}

/// Moves the tables' files to the paths that their names say. Names may have been swapped, so a
/// file that stands in the place of another is moved out of the way first.
fn settle_files(config: &EngineConfig, pool: &Arc<Pool>, objects: &Objects, files: &Files) -> Result<()> {
    for schema in &objects.schemas {
        let dir = config.datadir.join(file_name(&schema.1.name));
        config.disk.create_dir_all(&dir).map_err(|error| io_error(&dir, error))?;
    }
    config.disk.sync_dir(&config.datadir).map_err(|error| io_error(&config.datadir, error))?;
    let misplaced: Vec<(SpaceId, PathBuf)> = objects
        .tables
        .iter()
        .map(|(placement, def)| (placement.space, table_path(&config.datadir, &def.schema, &def.name)))
        .filter(|(space, path)| files.spaces.get(space).is_some_and(|found| found != path))
        .collect();
    // Otherwise a move would replace the file that stands in another's place.
    let places: HashSet<&PathBuf> = misplaced.iter().map(|(_, path)| path).collect();
    for (space, _) in &misplaced {
        let found = &files.spaces[space];
        if places.contains(found) {
            pool.rename_space(*space, &aside(found, *space))?;
        }
    }
    for (space, path) in &misplaced {
        pool.rename_space(*space, path)?;
    }
    Ok(())
}

/// Builds the catalog from the dictionary.
fn open_tables(
    config: &EngineConfig,
    parts: &mut Parts,
    objects: Objects,
    files: &Files,
    auto_increments: &HashMap<u64, u64>,
) -> Result<()> {
    for (id, def) in objects.schemas {
        parts.next_ids.table = parts.next_ids.table.max(id + 1);
        parts.catalog.put_schema(id, def);
    }
    for (id, def) in objects.objects {
        parts.next_ids.table = parts.next_ids.table.max(id + 1);
        parts.catalog.put_object(Arc::new(Object { id, def }));
    }
    for (placement, def) in objects.tables {
        if !files.spaces.contains_key(&placement.space) {
            let path = table_path(&config.datadir, &def.schema, &def.name);
            let broken = files.broken.iter().find(|(broken, _)| *broken == path);
            return Err(EngineError::Corrupt(match broken {
                Some((_, error)) => error.clone(),
                None => format!("{}: the file of table {} is missing", path.display(), def.qualified_name()),
            }));
        }
        let next = &mut parts.next_ids;
        next.table = next.table.max(placement.id + 1);
        next.space = next.space.max(placement.space + 1);
        next.index = def.index_ids().map(|id| id + 1).fold(next.index, u32::max);
        let counters = Counters::default();
        let known = auto_increments.get(&placement.id).copied().unwrap_or(0).max(def.auto_increment);
        counters.auto_increment.store(known, Ordering::Relaxed);
        let table = Table::open(&parts.pool, placement, def, Arc::new(counters));
        parts.catalog.put_table(Arc::new(table));
    }
    Ok(())
}

/// Raises a table's counters past the values in its rows.
fn set_counters(table: &Table) -> Result<()> {
    if table.primary.is_none() {
        let last = table.clustered.last_key()?.unwrap_or_default();
        let next = <[u8; 8]>::try_from(last.as_slice()).map_or(1, |bytes| u64::from_be_bytes(bytes) + 1);
        table.counters.row_id.fetch_max(next, Ordering::Relaxed);
    }
    Ok(())
}
