//! The engine itself: the value that owns all parts, holds their settings and closes them.
//!
//! The parts are values that know nothing of the engine. Each part is given the parts below it when
//! the engine is put together ([`Engine::assemble`]). Code that works on several parts at once
//! stands above this file: transactions, XA, recovery, reports. The crates above call
//! [`crate::requests`].

mod parts;
pub(crate) mod threads;

use crate::apply::Pages;
use crate::background::Background;
use crate::catalog::Catalog;
use crate::checkpoint::{CheckpointState, Checkpointer};
use crate::commit::group_delay::GroupDelay;
use crate::commit::handed_keys::HandedKeys;
use crate::commit::hold::Gate;
use crate::commit::pipeline::Committer;
use crate::commit::position::ReplicationState;
use crate::commit::sequencer::Sequencer;
use crate::commit::sidecar::NextIds;
use crate::config::EngineConfig;
use crate::ddl::Ddl;
use crate::ddl::online::OnlineBuilds;
use crate::ddl::settings::DdlSettings;
use crate::dictionary::{SYSTEM_FILE, SYSTEM_SPACE};
use crate::dropped_rows::DroppedRows;
use crate::emptying::Emptying;
use crate::error::Result;
use crate::files::io_error;
use crate::group::filter::BinlogFilter;
use crate::gtid_owners::{GtidMode, GtidOwners};
use crate::lock::LockTable;
use crate::rows::Rows;
use crate::spill::SpillFiles;
use crate::status::Counters;
use crate::temporary_numbers::TemporaryNumbers;
use crate::version::purge::Purger;
use crate::version::queue::PurgeQueue;
use crate::version::snapshot::Snapshots;
use crate::version::store::VersionStore;
use crate::xa::branches::Branches;
use crate::xa::record::PreparedRecord;
use btree::Tree;
use buffer::{Pool, PoolConfig};
use parking_lot::Mutex;
use redo::{Log, LogConfig, Lsn};
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use types::words::WordSizes;

/// An open engine, shared by every session. [`Engine::close`] ends it in order. Dropping it without
/// that leaves recovery to the next open, as a crash does.
///
/// Lock order: metadata locks and row locks (a thread waits for them with no other lock held), then
/// [`Ddl::one`], then the sequencer; page latches are below all of them; the version store, the
/// purge queue, the next ids and the catalog are leaves.
pub struct Engine {
    pub(crate) config: Arc<EngineConfig>,
    pub(crate) log: Arc<Log>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) rows: Arc<Rows>,
    pub(crate) locks: Arc<LockTable>,
    pub(crate) snapshots: Arc<Snapshots>,
    pub(crate) sequencer: Arc<Sequencer>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) spills: Arc<SpillFiles>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) checkpointer: Checkpointer,
    pub(crate) purger: Purger,
    pub(crate) xa: Arc<Branches>,
    pub(crate) gtid_owners: Arc<GtidOwners>,
    pub(crate) ddl: Ddl,
    pub(crate) emptying: Arc<Emptying>,
    full_row_metadata: AtomicBool,
    next_xid: AtomicU64,
    recovery_start_lsn: Lsn,
    pub(crate) background: Arc<Background>,
}

/// The directory of the redo log inside the directory `log_home`. Crate `redo` writes its files
/// there.
pub(crate) const REDO_DIRECTORY: &str = "#innodb_redo";

/// The default limit of the memory for row versions, in bytes, when the buffer pool is small.
const MIN_VERSION_MEMORY_BYTES: u64 = 8 << 20;

impl Engine {
    pub(crate) fn log_config(config: &EngineConfig) -> LogConfig {
        LogConfig {
            capacity_bytes: config.redo_capacity_bytes,
            buffer_bytes: config.log_buffer_bytes,
            flush_at_trx_commit: config.flush_log_at_trx_commit,
            writer_threads: config.log_writer_threads,
            ..LogConfig::new(config.log_home())
        }
    }

    pub(crate) fn open_pool(config: &EngineConfig, log: &Arc<Log>) -> Result<Arc<Pool>> {
        let pool_config = PoolConfig {
            page_size: config.page_size as usize,
            options: config.pool.clone(),
            ..PoolConfig::new(&config.datadir, config.pool_bytes as usize)
        };
        Ok(Pool::open(config.disk.clone(), log.clone(), pool_config)?)
    }

    /// Makes a new data directory. The first checkpoint becomes durable last, and a creation that a
    /// crash cut off before that is begun again from the start.
    pub(crate) fn create(config: EngineConfig) -> Result<Arc<Engine>> {
        let redo_dir = config.log_home().join(REDO_DIRECTORY);
        if config.disk.exists(&redo_dir).map_err(|error| io_error(&redo_dir, error))? {
            config.disk.remove_dir_all(&redo_dir).map_err(|error| io_error(&redo_dir, error))?;
        }
        let system = config.datadir.join(SYSTEM_FILE);
        if config.disk.exists(&system).map_err(|error| io_error(&system, error))? {
            config.disk.remove(&system).map_err(|error| io_error(&system, error))?;
        }
        let log = Log::create(config.disk.clone(), Engine::log_config(&config))?;
        let pool = Engine::open_pool(&config, &log)?;
        pool.create_space(SYSTEM_SPACE, &config.datadir.join(SYSTEM_FILE))?;
        let dictionary = Tree::create(&pool, SYSTEM_SPACE)?;
        let parts = Parts {
            recovery_start_lsn: log.current_lsn(),
            visible: log.current_lsn(),
            log,
            pool,
            dictionary,
            catalog: Catalog::default(),
            next_ids: NextIds { table: 1, index: 1, space: 1 },
            replication: ReplicationState::default(),
            prepared: Vec::new(),
            participant_state: Vec::new(),
            last_checkpoint: 0,
        };
        let engine = Engine::assemble(config, parts);
        engine.sharp_checkpoint()?;
        Ok(engine)
    }

    pub(crate) fn assemble(config: EngineConfig, parts: Parts) -> Arc<Engine> {
        assert!(
            parts.last_checkpoint <= parts.visible,
            "the checkpoint at {} is not behind the newest commit at {}",
            parts.last_checkpoint,
            parts.visible
        );
        let config = Arc::new(config);
        let sequencer = Arc::new(Sequencer::new(config.server_uuid, parts.visible, parts.replication));
        sequencer.set_gives_gtids(config.gtid_mode);
        let versions = VersionStore::new((config.pool_bytes / 4).max(MIN_VERSION_MEMORY_BYTES));
        versions.set_limit_bytes(config.version_memory_limit_bytes);
        let rows = Arc::new(Rows {
            pool: parts.pool.clone(),
            versions,
            dropped: DroppedRows::new(config.conditions.clone()),
        });
        let catalog = Arc::new(parts.catalog);
        let locks = Arc::new(LockTable::new());
        let snapshots = Arc::new(Snapshots::new());
        let purge_queue = Arc::new(PurgeQueue::default());
        let counters = Arc::new(Counters::default());
        let spills = Arc::new(SpillFiles::new(config.clone()));
        let next_ids = Arc::new(Mutex::new(parts.next_ids));
        let xa = Arc::new(Branches::default());
        let committer = Arc::new(Committer {
            config: config.clone(),
            log: parts.log.clone(),
            catalog: catalog.clone(),
            pages: Pages {
                log: parts.log.clone(),
                dictionary: parts.dictionary,
                rows: rows.clone(),
                purge_queue: purge_queue.clone(),
            },
            snapshots: snapshots.clone(),
            sequencer: sequencer.clone(),
            gate: Arc::new(Gate::new(sequencer.clone())),
            waiter: OnceLock::new(),
            counters: counters.clone(),
            builds: OnlineBuilds::default(),
            group_delay: GroupDelay::default(),
            flush_log_at_trx_commit: AtomicU8::new(config.flush_log_at_trx_commit),
            xa_logging: os::sync::Mutex::default(),
            handed_keys: config.log_bin.then(HandedKeys::new),
        });
        let floor = if config.log_bin { parts.recovery_start_lsn } else { Lsn::MAX };
        let checkpointer = Checkpointer {
            committer: committer.clone(),
            branches: xa.clone(),
            spills: spills.clone(),
            next_ids: next_ids.clone(),
            checkpointing: Mutex::new(()),
            last_checkpoint: AtomicU64::new(parts.last_checkpoint),
            participant: Mutex::new(None),
            participant_floor: AtomicU64::new(floor),
            recovered_participant_state: parts.participant_state,
        };
        let purger = Purger {
            catalog: catalog.clone(),
            rows: rows.clone(),
            snapshots: snapshots.clone(),
            sequencer: sequencer.clone(),
            purge_queue,
        };
        let emptying = Arc::new(Emptying::default());
        catalog.all_tables().iter().for_each(|table| emptying.note(table));
        let ddl = Ddl {
            config: config.clone(),
            log: parts.log.clone(),
            pool: parts.pool.clone(),
            rows: rows.clone(),
            catalog: catalog.clone(),
            locks: locks.clone(),
            snapshots: snapshots.clone(),
            sequencer: sequencer.clone(),
            committer: committer.clone(),
            next_ids,
            settings: DdlSettings::default(),
            temporary: TemporaryNumbers::default(),
            emptying: emptying.clone(),
            one: Mutex::new(()),
        };
        let mode = if config.gtid_mode { GtidMode::On } else { GtidMode::Off };
        let engine = Arc::new(Engine {
            log: parts.log,
            pool: parts.pool,
            catalog,
            rows,
            ddl,
            emptying,
            locks,
            snapshots,
            gtid_owners: Arc::new(GtidOwners::new(mode, sequencer.clone())),
            sequencer,
            counters,
            spills,
            committer,
            checkpointer,
            purger,
            xa,
            full_row_metadata: AtomicBool::new(false),
            next_xid: AtomicU64::new(1),
            recovery_start_lsn: parts.recovery_start_lsn,
            background: Arc::default(),
            config,
        });
        let as_any: Arc<dyn Any + Send + Sync> = engine.clone();
        engine.rows.dropped.set_engine(Arc::downgrade(&as_any));
        engine
    }

    /// Stops the engine's threads, flushes everything and makes a last checkpoint, so that the next
    /// open has nothing to replay. No transaction may be running.
    pub fn close(&self) -> Result<()> {
        self.background.stop_threads();
        while self.purge()? > 0 {}
        self.pool.stop();
        self.sharp_checkpoint()?;
        self.log.close()?;
        Ok(())
    }

    /// Returns the options that the engine was opened with.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// Returns the catalog of schemas, tables and other objects.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns the redo log.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// Returns the buffer pool.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    pub(crate) fn next_xid(&self) -> u64 {
        self.next_xid.fetch_add(1, Ordering::Relaxed)
    }

    /// Sets `binlog_group_commit_sync_delay`, in microseconds.
    pub fn set_group_commit_delay_us(&self, delay_us: u64) {
        self.committer.group_delay.set_delay_us(delay_us);
    }

    /// Sets `binlog_group_commit_sync_no_delay_count`, a number of commits.
    pub fn set_group_commit_no_delay_count(&self, commits: u64) {
        self.committer.group_delay.set_no_delay_count(commits);
    }

    /// Sets `sync_binlog`, which here only says which commit groups are delayed: one in `groups`.
    /// The binary log itself needs no sync.
    pub fn set_sync_binlog(&self, groups: u64) {
        self.committer.group_delay.set_every(groups);
    }

    /// Returns `log_bin`: whether the server writes a binary log.
    pub fn log_bin(&self) -> bool {
        self.config.log_bin
    }

    /// Returns the filter that says which schemas the binary log records.
    pub fn binlog_filter(&self) -> &BinlogFilter {
        &self.config.binlog_filter
    }

    pub(crate) fn full_row_metadata(&self) -> bool {
        self.full_row_metadata.load(Ordering::Relaxed)
    }

    /// Sets whether `binlog_row_metadata` is FULL, for transactions that begin from here on.
    pub fn set_full_row_metadata(&self, full: bool) {
        self.full_row_metadata.store(full, Ordering::Relaxed);
    }

    /// Sets `innodb_flush_log_at_trx_commit`: 0, 1 or 2.
    pub fn set_flush_log_at_trx_commit(&self, mode: u8) {
        self.committer.flush_log_at_trx_commit.store(mode, Ordering::Relaxed);
        self.log.set_flush_at_trx_commit(mode);
    }

    /// Sets `innodb_redo_log_capacity`, in bytes.
    pub fn set_redo_capacity(&self, bytes: u64) {
        self.log.set_capacity(bytes);
    }

    /// Returns `innodb_flush_log_at_trx_commit`: 0, 1 or 2.
    pub fn flush_log_at_trx_commit(&self) -> u8 {
        self.committer.flush_log_at_trx_commit.load(Ordering::Relaxed)
    }

    /// Returns how many bytes of memory older versions of rows may take before the engine gives up
    /// the oldest snapshots (`slipstream_version_memory_limit`).
    pub fn version_memory_limit(&self) -> u64 {
        self.rows.versions.limit_bytes()
    }

    /// Sets `slipstream_version_memory_limit`, in bytes. 0 means a quarter of the pool, and 8 MB at
    /// least.
    pub fn set_version_memory_limit(&self, bytes: u64) {
        self.rows.versions.set_limit_bytes(bytes);
    }

    /// Sets `innodb_fill_factor`: the percentage of each page that a sorted index build fills, 10
    /// to 100.
    pub fn set_fill_factor(&self, percent: u8) {
        self.ddl.settings.fill_factor.store(percent.clamp(10, 100), Ordering::Relaxed);
    }

    /// Sets `innodb_online_alter_log_max_size`: how many bytes of other sessions' changes an index
    /// build remembers until the index is complete.
    pub fn set_online_alter_log_max_bytes(&self, bytes: u64) {
        self.ddl.settings.online_alter_log_max_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Returns what the server's variables say about the words of new FULLTEXT indexes.
    pub fn word_sizes(&self) -> WordSizes {
        *self.ddl.settings.word_sizes.lock()
    }

    /// Changes what [`Engine::word_sizes`] returns: `innodb_ft_min_token_size`,
    /// `innodb_ft_max_token_size`, `ngram_token_size` and `innodb_ft_enable_stopword`.
    pub fn change_word_sizes(&self, change: impl FnOnce(&mut WordSizes)) {
        change(&mut self.ddl.settings.word_sizes.lock());
    }

    /// Sets `innodb_thread_concurrency`: how many statements may run at once. 0 means any number.
    pub fn set_thread_concurrency(&self, limit: u32) {
        self.locks.concurrency.set_limit(limit);
    }

    /// Takes a place for a statement that is about to run, waiting for one if need be. See
    /// [`Engine::set_thread_concurrency`].
    pub fn enter_statement(&self) -> crate::concurrency::Place<'_> {
        self.locks.concurrency.enter()
    }

    /// Sets `innodb_deadlock_detect`.
    pub fn set_deadlock_detect(&self, on: bool) {
        self.locks.set_deadlock_detect(on);
    }

    /// Sets `innodb_print_all_deadlocks`.
    pub fn set_print_all_deadlocks(&self, on: bool) {
        self.locks.set_print_all_deadlocks(on);
    }

    /// Returns the report of the latest deadlock. `None` means that there has been none.
    pub fn latest_deadlock(&self) -> Option<crate::lock::DeadlockReport> {
        self.locks.latest_deadlock()
    }

    /// Returns the sequence number of the newest commit that readers see.
    pub fn visible_lsn(&self) -> Lsn {
        self.sequencer.visible()
    }

    /// Returns the log position that recovery began from. [`Engine::commit_stream`] can read the
    /// commits from there on.
    pub fn recovery_start_lsn(&self) -> Lsn {
        self.recovery_start_lsn
    }

    /// Waits until readers see the commit with this sequence number and all commits before it.
    pub fn wait_visible(&self, seq: Lsn) {
        self.sequencer.wait_visible(seq);
    }

    /// Returns how many threads wait for a commit, or for all commits, to become visible.
    pub fn visibility_waits(&self) -> usize {
        self.sequencer.waiting()
    }

    /// Returns how many lock waits are going on (`Innodb_row_lock_current_waits`).
    pub fn lock_waits(&self) -> u64 {
        self.locks.current_waits.load(Ordering::Relaxed)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.background.stop_threads();
        self.pool.stop();
    }
}

/// The parts that an engine is put together from.
pub(crate) struct Parts {
    pub log: Arc<Log>,
    pub pool: Arc<Pool>,
    pub dictionary: Tree,
    pub catalog: Catalog,
    pub next_ids: NextIds,
    pub replication: ReplicationState,
    /// The prepared XA transactions, in the order of their records.
    pub prepared: Vec<PreparedRecord>,
    pub participant_state: Vec<u8>,
    pub visible: Lsn,
    pub recovery_start_lsn: Lsn,
    pub last_checkpoint: Lsn,
}

impl Parts {
    /// Takes over the state that a checkpoint held, except the tables.
    pub fn take_state(&mut self, state: CheckpointState) {
        self.next_ids.raise(state.next_ids);
        self.replication = state.replication;
        self.prepared = state.prepared;
        self.participant_state = state.participant;
    }
}
