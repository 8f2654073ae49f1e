//! The state of a replication channel that its threads and the statements about it share.
//!
//! Lock order: `config`, then `receiver`, then `applier`, then the relay log's locks. No thread
//! holds a lock while it waits for the network, the disk or the engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use binlog::gtid::{GtidSet, MariadbGtidState};
use engine::Engine;
use os::disk::Disk;
use parking_lot::{Condvar, Mutex};
use sql::replicated::SourceTables;

use crate::applier::{ApplierState, ApplySettings, Reached};
use crate::channel_name::thread_name;
use crate::config::ChannelConfig;
use crate::filter::Filters;
use crate::info::{InfoFiles, Repository};
use crate::receiver::ReceiverState;
use crate::relay::RelayLog;
use crate::settings::ReplicaSettings;
use crate::status::{ReplicaStatus, Running, TransactionSeen};
use crate::times::CommitTimes;

/// A replication channel.
pub struct Channel {
    /// The channel's name in lower case; the default channel's is empty.
    pub(crate) name: String,
    pub(crate) engine: Arc<Engine>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) settings: ReplicaSettings,
    pub(crate) config: Mutex<ChannelConfig>,
    pub(crate) relay: Arc<RelayLog>,
    pub(crate) receiver: Mutex<ReceiverState>,
    /// Notified when the receiver has reached a state that a thread may wait for, or has to stop.
    pub(crate) receiver_changed: Condvar,
    pub(crate) applier: Mutex<ApplierState>,
    pub(crate) applier_changed: Condvar,
    /// True when the applier has to stop. Set under the `applier` lock, and read by the applier
    /// between events.
    pub(crate) applier_stop: Arc<AtomicBool>,
    /// How far the applier has come in the relay log, as it tells the thread that reads ahead.
    pub(crate) reached: Reached,
    pub(crate) times: CommitTimes,
    /// The number of transactions that were applied since the server's start. Relaxed: the number
    /// stands for itself.
    pub(crate) applied_transactions: AtomicU64,
    pub(crate) apply: Arc<ApplySettings>,
    /// The system variable `replica_parallel_workers`. Relaxed: a running applier looks at it
    /// between two groups.
    pub(crate) parallel_workers: AtomicU64,
    /// The system variable `rpl_semi_sync_replica_enabled`, which the next connection follows.
    pub(crate) semi_sync: AtomicBool,
    /// The filters that the next START REPLICA uses. No other lock is taken under this one.
    pub(crate) filters: Mutex<Arc<Filters>>,
    /// The temporary tables of the source's sessions.
    pub(crate) temporary: Arc<SourceTables>,
    /// The files of the repositories, which only the default channel has.
    pub(crate) info: Option<Arc<InfoFiles>>,
}

impl Channel {
    /// Returns the key under which the engine keeps the applied position. It changes with every
    /// CHANGE REPLICATION SOURCE that sets a position, so that a position of an earlier
    /// configuration is never taken for one of the present configuration.
    pub(crate) fn position_key(&self, config: &ChannelConfig) -> String {
        format!("{}#{}", self.name, config.position_epoch)
    }

    /// Returns the name of the channel's thread of kind `kind`.
    pub(crate) fn thread_name(&self, kind: &str) -> String {
        thread_name(kind, &self.name)
    }

    /// Reports whether STOP REPLICA IO_THREAD has been asked for.
    pub(crate) fn receiver_must_stop(&self) -> bool {
        self.receiver.lock().must_stop
    }

    /// Waits for at most `limit`. Returns true, and early, when the receiver has to stop.
    pub(crate) fn wait_unless_stopped(&self, limit: Duration) -> bool {
        let started = os::clock::Stopwatch::start();
        let mut state = self.receiver.lock();
        while !state.must_stop {
            let left = started.remaining(limit);
            if left.is_zero() || self.receiver_changed.wait_for(&mut state, left).timed_out() {
                break;
            }
        }
        state.must_stop
    }

    /// Waits for at most `limit`. Returns true, and early, when the applier has to stop.
    pub(crate) fn applier_pauses(&self, limit: Duration) -> bool {
        let started = os::clock::Stopwatch::start();
        let mut state = self.applier.lock();
        while !self.applier_stop.load(Ordering::Acquire) {
            let left = started.remaining(limit);
            if left.is_zero() || self.applier_changed.wait_for(&mut state, left).timed_out() {
                break;
            }
        }
        self.applier_stop.load(Ordering::Acquire)
    }

    /// Returns how many workers the applier has to have; 0 means that it does everything itself.
    /// One worker counts as none, because there is nothing to schedule then.
    pub(crate) fn workers(&self) -> usize {
        match self.parallel_workers.load(Ordering::Relaxed) {
            1 => 0,
            workers => workers as usize,
        }
    }

    /// Notes a heartbeat of the source and its time.
    pub(crate) fn heard_from_source(&self) {
        let mut state = self.receiver.lock();
        state.last_heard_us = os::clock::now_us();
        state.last_heartbeat_us = state.last_heard_us;
        state.heartbeats += 1;
    }

    /// Returns the applied position: that of the last commit, or the one where the configuration
    /// starts.
    pub(crate) fn applied_position(&self) -> (String, u64) {
        let config = self.config.lock();
        match self.engine.replica_position(&self.position_key(&config)) {
            Some(position) if !position.source_log_file.is_empty() => {
                (position.source_log_file, position.source_log_pos)
            }
            _ => (config.log_file.clone(), config.log_pos),
        }
    }

    /// Returns the file and the position from which to receive.
    pub(crate) fn resume_position(&self) -> (String, u64) {
        let received = {
            let state = self.receiver.lock();
            (state.received.file.clone(), state.received.pos)
        };
        if received.0.is_empty() { self.applied_position() } else { received }
    }

    /// Returns MariaDB's GTID state up to which transactions have been applied.
    pub(crate) fn mariadb_applied(&self) -> MariadbGtidState {
        let config = self.config.lock();
        let mut state: MariadbGtidState = config.gtid_slave_pos.parse().unwrap_or_default();
        if let Some(position) = self.engine.replica_position(&self.position_key(&config)) {
            merge(&mut state, &position.mariadb_gtid_state.parse().unwrap_or_default());
        }
        state
    }

    /// Returns MariaDB's GTID state from which to receive, in text.
    pub(crate) fn mariadb_resume_position(&self) -> String {
        let mut state = self.mariadb_applied();
        merge(&mut state, &self.receiver.lock().received.mariadb);
        state.to_string()
    }

    /// Returns the GTIDs that the source need not send.
    pub(crate) fn executed_and_received(&self) -> GtidSet {
        let mut set = self.engine.gtid_executed();
        set.union(&self.receiver.lock().received.gtids);
        set
    }

    /// Returns what SHOW REPLICA STATUS shows. `None` means that this is the default channel and
    /// that it has no source.
    pub(crate) fn shown(&self) -> Option<ReplicaStatus> {
        let is_there = !self.name.is_empty() || self.config.lock().is_configured();
        is_there.then(|| self.status())
    }

    /// Writes what has changed to those repositories that are files.
    pub(crate) fn update_info_files(&self) {
        if let Some(files) = &self.info {
            files.update(&self.name, || self.shown());
        }
    }

    /// Returns the place of the connection's repository, for SHOW REPLICA STATUS.
    fn info_file(&self) -> String {
        let file = self.info.as_ref().and_then(|files| files.path(Repository::Connection));
        file.map_or("mysql.slave_master_info".to_string(), |path| path.display().to_string())
    }

    /// Returns everything that SHOW REPLICA STATUS shows.
    pub(crate) fn status(&self) -> ReplicaStatus {
        let mut config = self.config.lock().clone();
        let relay_end = self.relay.end();
        let relay_read = self.relay.read_position();
        let (exec_file, exec_pos) = self.shown_exec_position();
        let applied_mariadb = self.mariadb_applied();
        let mut status = ReplicaStatus {
            channel: self.name.clone(),
            relay_file: self.relay.name(relay_read.file),
            relay_pos: relay_read.pos,
            relay_space_bytes: self.relay.space_bytes(),
            executed_gtid_set: self.engine.gtid_executed().to_string(),
            gtid_slave_pos: applied_mariadb.to_string(),
            exec_file,
            exec_pos,
            skip_counter: self.apply.skip_counter(),
            info_file: self.info_file(),
            open_temporary_tables: self.temporary.count(),
            ..ReplicaStatus::default()
        };
        let skew_us;
        {
            let receiver = self.receiver.lock();
            status.io_state.clone_from(&receiver.io_state);
            status.io_running = receiver.running;
            status.io_error.clone_from(&receiver.error);
            status.read_file.clone_from(&receiver.read_file);
            status.read_pos = receiver.read_pos;
            if let (true, Some(login)) = (receiver.running != Running::No, &receiver.login) {
                config.user.clone_from(&login.user);
            }
            status.source_server_id = receiver.source_server_id;
            status.source_uuid.clone_from(&receiver.source_uuid);
            let received = &receiver.received;
            status.retrieved_gtid_set = if config.use_gtid == crate::config::UseGtid::No {
                received.gtids.to_string()
            } else {
                received.mariadb.to_string()
            };
            skew_us = receiver.clock_skew_us;
            status.last_queued =
                TransactionSeen::of(&receiver.last_queued, receiver.last_queued_us, receiver.last_queued_us);
            status.queueing = TransactionSeen::of(&receiver.queueing, receiver.last_heard_us, 0);
            status.heartbeats = receiver.heartbeats;
            status.last_heartbeat_us = receiver.last_heartbeat_us;
        }
        if status.read_file.is_empty() {
            (status.read_file, status.read_pos) = (status.exec_file.clone(), status.exec_pos);
        }
        {
            let applier = self.applier.lock();
            status.sql_running = if applier.running { Running::Yes } else { Running::No };
            status.sql_state = applier.state_text(relay_read >= relay_end);
            status.sql_error.clone_from(&applier.error);
            status.transaction_retries = applier.transaction_retries;
            status.until.clone_from(&applier.until);
            let last = &applier.last_applied;
            status.last_applied = TransactionSeen::of(last, applier.last_applied_us, applier.last_applied_us);
            status.remaining_delay_s = applier
                .delayed_until_us
                .map(|due_us| due_us.saturating_sub(os::clock::now_us()).div_ceil(1_000_000));
        }
        let source_now_us = os::clock::now_us().saturating_add_signed(skew_us);
        let caught_up = relay_read >= relay_end;
        status.seconds_behind = self.seconds_behind(&status, caught_up, source_now_us);
        status.lag_us = self.lag_us(&status, caught_up, source_now_us);
        status.caught_up = caught_up && self.times.applying_us.load(Ordering::Relaxed) == 0;
        status.applying.immediate_commit_us = self.times.applying_us.load(Ordering::Relaxed);
        status.applied_transactions = self.applied_transactions.load(Ordering::Relaxed);
        status.workers = self.parallel_workers.load(Ordering::Relaxed);
        status.config = config;
        status.filters = self.filters.lock().clone();
        status
    }

    fn shown_exec_position(&self) -> (String, u64) {
        let applier = self.applier.lock();
        if applier.exec_file.is_empty() {
            drop(applier);
            return self.applied_position();
        }
        (applier.exec_file.clone(), applier.exec_pos)
    }

    /// Returns the age in seconds of the event that is being applied, as MySQL computes it.
    fn seconds_behind(&self, status: &ReplicaStatus, caught_up: bool, source_now_us: u64) -> Option<u64> {
        if status.sql_running == Running::No {
            return None;
        }
        if caught_up {
            return (status.io_running == Running::Yes).then_some(0);
        }
        let timestamp_s = self.times.event_timestamp_s.load(Ordering::Relaxed);
        if timestamp_s == 0 { Some(0) } else { Some((source_now_us / 1_000_000).saturating_sub(timestamp_s)) }
    }

    /// Returns the age, in microseconds, of the oldest transaction that the source has committed
    /// and readers here do not see. When nothing is pending, it is 0 with a live connection, and
    /// `None` without one, because it cannot be known then.
    fn lag_us(&self, status: &ReplicaStatus, caught_up: bool, source_now_us: u64) -> Option<u64> {
        let applying = self.times.applying_us.load(Ordering::Relaxed);
        if caught_up && applying == 0 {
            return (status.io_running == Running::Yes).then_some(0);
        }
        Some(source_now_us.saturating_sub(self.pending_since_us()?).max(1))
    }

    /// Returns the time when the source committed the oldest transaction that readers here do not
    /// see, or one shortly before it. It is meaningful only while a transaction is pending.
    pub(crate) fn pending_since_us(&self) -> Option<u64> {
        let CommitTimes { applying_us, visible_us, first_received_us, .. } = &self.times;
        let times = [applying_us, visible_us, first_received_us].map(|time| time.load(Ordering::Relaxed));
        times.into_iter().find(|&us| us != 0)
    }
}

fn merge(into: &mut MariadbGtidState, newer: &MariadbGtidState) {
    for gtid in newer.iter() {
        into.update(gtid);
    }
}
