//! The server: the state that all its connections share.
//!
//! Each part of it has a file here or in the crate that it belongs to, and [`Server`] owns them.

pub mod audit_log;
pub mod clones;
pub mod event_scheduler;
pub mod file_kinds;
pub mod host_cache;
pub mod last_look;
pub mod log_file;
pub mod measuring;
pub mod query_logs;
pub mod replicas;
pub mod sessions;
pub mod setup;
pub mod status;
pub mod time_limits;
pub mod user_locks;

use crate::accounts::Accounts;
use crate::server::audit_log::AuditLog;
use crate::server::clones::Clones;
use crate::server::event_scheduler::EventScheduler;
use crate::server::host_cache::HostCache;
use crate::server::last_look::LastLook;
use crate::server::log_file::LogOpening;
use crate::server::query_logs::QueryLogs;
use crate::server::replicas::Replicas;
use crate::server::sessions::Sessions;
use crate::server::status::ServerStatus;
use crate::server::time_limits::TimeLimits;
use crate::server::user_locks::UserLocks;
use crate::variables::{Globals, Persisted};
use engine::Engine;
use os::disk::Disk;
use protocol::tls::ServerTls;
use replica::Channels;
use source::Binlog;
use sql::measured::Measured;
use sql::memory::Pool;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The state that all connections share.
pub struct Server {
    /// The storage engine.
    pub engine: Arc<Engine>,
    /// The disk that the data directory is on.
    pub disk: Arc<dyn Disk>,
    /// The data directory, absolute.
    pub datadir: PathBuf,
    /// Global values of system variables.
    pub globals: Globals,
    /// The global values that are kept for later starts.
    pub persisted: Persisted,
    /// The accounts and their rights.
    pub accounts: Accounts,
    /// True when every client may do everything (`--skip-grant-tables`).
    pub skip_grant_tables: AtomicBool,
    /// The certificate and the key for TLS. Without them the server does not speak TLS.
    pub tls: OnceLock<ServerTls>,
    /// The cache of the hosts that clients come from.
    pub hosts: HostCache,
    /// The connections.
    pub sessions: Sessions,
    /// The memory that the connections keep.
    pub memory: Arc<Pool>,
    /// The deadlines of running statements under `max_execution_time`.
    pub time_limits: TimeLimits,
    /// The locks of GET_LOCK().
    pub user_locks: UserLocks,
    /// The general log and the slow query log.
    pub query_logs: QueryLogs,
    /// The audit log.
    pub audit: AuditLog,
    /// What the statements of all connections took; `None` with `performance_schema=OFF`.
    pub measured: Option<Arc<Measured>>,
    /// Settings for what performance_schema does not measure.
    pub setup: setup::Setup,
    /// The server's own counters.
    pub status: ServerStatus,
    /// The event scheduler.
    pub events: EventScheduler,
    /// The latest clone.
    pub clones: Clones,
    /// The figures and the time of the last SHOW ENGINE INNODB STATUS.
    pub last_look: LastLook,
    /// The binary log; `None` with `--skip-log-bin`.
    pub binlog: Option<Arc<Binlog>>,
    /// The replication channels.
    pub replica: Channels,
    /// The number of sessions in WAIT_FOR_EXECUTED_GTID_SET.
    pub gtid_waiters: AtomicUsize,
    /// The replicas that have registered.
    pub replicas: Replicas,
    /// True when the server is stopping and takes no new connections. Relaxed: it may be seen a
    /// moment later.
    stopping: AtomicBool,
}

/// The parts from which a server is made.
pub struct Parts {
    /// The storage engine.
    pub engine: Arc<Engine>,
    /// The disk that the data directory is on.
    pub disk: Arc<dyn Disk>,
    /// The data directory, absolute.
    pub datadir: PathBuf,
    /// Global values of system variables.
    pub globals: Globals,
    /// The global values that are kept for later starts.
    pub persisted: Persisted,
    /// True when every client may do everything (`--skip-grant-tables`).
    pub skip_grant_tables: bool,
    /// The binary log; `None` with `--skip-log-bin`.
    pub binlog: Option<Arc<Binlog>>,
    /// The replication channels.
    pub replica: Channels,
}

impl Server {
    /// Builds a server without connections.
    pub fn new(parts: Parts) -> Arc<Server> {
        let measured = measuring::begin(&parts.globals);
        Arc::new(Server {
            measured,
            setup: setup::Setup::default(),
            engine: parts.engine,
            disk: parts.disk,
            datadir: parts.datadir,
            globals: parts.globals,
            persisted: parts.persisted,
            accounts: Accounts::default(),
            skip_grant_tables: AtomicBool::new(parts.skip_grant_tables),
            tls: OnceLock::new(),
            hosts: HostCache::default(),
            sessions: Sessions::default(),
            events: EventScheduler::default(),
            clones: Clones::default(),
            last_look: LastLook::default(),
            memory: Arc::default(),
            time_limits: TimeLimits::default(),
            user_locks: UserLocks::default(),
            query_logs: QueryLogs::default(),
            audit: AuditLog::default(),
            status: ServerStatus::default(),
            binlog: parts.binlog,
            replica: parts.replica,
            gtid_waiters: AtomicUsize::new(0),
            replicas: Replicas::default(),
            stopping: AtomicBool::new(false),
        })
    }

    /// Returns the binary log, unless an error has turned it off.
    pub fn open_binlog(&self) -> Option<&Arc<Binlog>> {
        self.binlog.as_ref().filter(|binlog| !binlog.is_turned_off())
    }

    /// Reports whether every client may do everything.
    pub fn grants_are_skipped(&self) -> bool {
        self.skip_grant_tables.load(Ordering::Relaxed)
    }

    /// Returns what it takes to open the file of the general log or of the slow query log, which
    /// begins with mysqld's three lines each time that it is opened.
    pub fn log_opening(&self) -> LogOpening<'_> {
        let program = std::env::current_exe();
        let program = program.map_or_else(|_| "slipstream".into(), |path| path.display().to_string());
        let header = format!(
            "{program}, Version: {} ({}). started with:\nTcp port: {}  Unix socket: {}\n\
             Time                 Id Command    Argument\n",
            self.globals.named("version").text(),
            self.globals.named("version_comment").text(),
            self.globals.named("port").uint(),
            self.globals.named("socket").text(),
        );
        LogOpening { disk: &*self.disk, datadir: &self.datadir, header }
    }

    /// Begins to stop the server, which takes no new connections from now on.
    pub fn begin_stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Reports whether the server is stopping.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
