//! The server: what all its connections share.
//!
//! Each part of it has a file here or in the crate that it is of; [`Server`] owns them.

pub mod event_scheduler;
pub mod host_cache;
pub mod last_look;
pub mod replicas;
pub mod sessions;
pub mod status;
pub mod time_limits;
pub mod user_locks;

use crate::accounts::Accounts;
use crate::query_log::QueryLogs;
use crate::server::event_scheduler::EventScheduler;
use crate::server::host_cache::HostCache;
use crate::server::last_look::LastLook;
use crate::server::replicas::Replicas;
use crate::server::sessions::Sessions;
use crate::server::status::ServerStatus;
use crate::server::time_limits::TimeLimits;
use crate::server::user_locks::UserLocks;
use crate::variables::Globals;
use engine::Engine;
use os::disk::Disk;
use protocol::tls::ServerTls;
use replica::Channels;
use source::Binlog;
use sql::memory::Pool;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// What all connections share.
pub struct Server {
    /// The storage engine.
    pub engine: Arc<Engine>,
    /// The disk that the data directory is on.
    pub disk: Arc<dyn Disk>,
    /// The data directory, absolute.
    pub datadir: PathBuf,
    /// Global values of system variables.
    pub globals: Globals,
    /// The accounts, and what each may do.
    pub accounts: Accounts,
    /// Whether everybody may do everything (`--skip-grant-tables`).
    pub skip_grant_tables: AtomicBool,
    /// The certificate and key that TLS is spoken with. Without them no TLS is spoken.
    pub tls: OnceLock<ServerTls>,
    /// The hosts that clients come from.
    pub hosts: HostCache,
    /// The connections.
    pub sessions: Sessions,
    /// What the connections keep in memory.
    pub memory: Arc<Pool>,
    /// `max_execution_time` of the statements that run.
    pub time_limits: TimeLimits,
    /// The locks of GET_LOCK().
    pub user_locks: UserLocks,
    /// The general log and the slow query log.
    pub query_logs: QueryLogs,
    /// The counters that are the server's own.
    pub status: ServerStatus,
    /// What runs the events.
    pub events: EventScheduler,
    /// When SHOW ENGINE INNODB STATUS was last asked for, and what it counted.
    pub last_look: LastLook,
    /// The binary log; `None` with `--skip-log-bin`.
    pub binlog: Option<Arc<Binlog>>,
    /// The replication channels.
    pub replica: Channels,
    /// Sessions in WAIT_FOR_EXECUTED_GTID_SET.
    pub gtid_waiters: AtomicUsize,
    /// Replicas that have introduced themselves.
    pub replicas: Replicas,
    /// The end has begun, and no new connections are taken. Relaxed: it may be seen a moment later.
    stopping: AtomicBool,
}

/// The parts that a server is made of.
pub struct Parts {
    /// The storage engine.
    pub engine: Arc<Engine>,
    /// The disk that the data directory is on.
    pub disk: Arc<dyn Disk>,
    /// The data directory, absolute.
    pub datadir: PathBuf,
    /// Global values of system variables.
    pub globals: Globals,
    /// Whether everybody may do everything (`--skip-grant-tables`).
    pub skip_grant_tables: bool,
    /// The binary log; `None` with `--skip-log-bin`.
    pub binlog: Option<Arc<Binlog>>,
    /// The replication channels.
    pub replica: Channels,
}

impl Server {
    /// A server without connections yet.
    pub fn new(parts: Parts) -> Arc<Server> {
        Arc::new(Server {
            engine: parts.engine,
            disk: parts.disk,
            datadir: parts.datadir,
            globals: parts.globals,
            accounts: Accounts::default(),
            skip_grant_tables: AtomicBool::new(parts.skip_grant_tables),
            tls: OnceLock::new(),
            hosts: HostCache::default(),
            sessions: Sessions::default(),
            events: EventScheduler::default(),
            last_look: LastLook::default(),
            memory: Arc::default(),
            time_limits: TimeLimits::default(),
            user_locks: UserLocks::default(),
            query_logs: QueryLogs::default(),
            status: ServerStatus::default(),
            binlog: parts.binlog,
            replica: parts.replica,
            gtid_waiters: AtomicUsize::new(0),
            replicas: Replicas::default(),
            stopping: AtomicBool::new(false),
        })
    }

    /// The binary log, unless an error has turned it off.
    pub fn open_binlog(&self) -> Option<&Arc<Binlog>> {
        self.binlog.as_ref().filter(|binlog| !binlog.is_turned_off())
    }

    /// Whether everybody may do everything.
    pub fn grants_are_skipped(&self) -> bool {
        self.skip_grant_tables.load(Ordering::Relaxed)
    }

    /// Begins the end: no new connections are taken from now on.
    pub fn begin_stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Whether the end has begun.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
