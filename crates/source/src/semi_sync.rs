//! The source's side of semi-synchronous replication: a commit's client gets its answer when enough
//! replicas have acknowledged the commit (MySQL manual, "Semisynchronous Replication").
//!
//! The binary log's writer announces every group and its end. Dump sessions ask which event a
//! replica has to acknowledge, and hand in its acknowledgements. Commits wait. When no
//! acknowledgement comes within the timeout, all commits go on without one until a replica has
//! caught up.
//!
//! With AFTER_SYNC, a commit is not visible to other sessions either before it is acknowledged.
//! [`SemiSync::limit`] is the LSN up to which readers may see, and the engine keeps its visible
//! position there. Rows that are read under locks (`FOR UPDATE`) are seen earlier, when their locks
//! are free: unlike InnoDB, this engine does not hold row locks while it waits.
//!
//! Lock order: `state` before the engine's sequencer.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use engine::{CommitWaiter, Engine};
use os::account::{State as Account, enter};
use os::clock::Stopwatch;
use parking_lot::{Condvar, Mutex};
use redo::Lsn;

use crate::position::FilePosition;

/// A group that is not acknowledged yet.
struct Pending {
    lsn: Lsn,
    end: FilePosition,
    since: Stopwatch,
}

struct State {
    timeout: Duration,
    /// The system variable `rpl_semi_sync_source_wait_for_replica_count`.
    wanted: usize,
    /// The system variable `rpl_semi_sync_source_wait_no_replica`.
    waits_without_replicas: bool,
    after_sync: bool,
    /// False after the timeout has passed, until a replica has caught up.
    on: bool,
    /// The end of the binary log when semi-synchronous replication went off. A replica that has
    /// acknowledged it has caught up.
    off_at: FilePosition,
    /// True when the binary log has been turned off.
    has_no_log: bool,
    pending: VecDeque<Pending>,
    /// The LSN up to which every logged group is in `pending`, or was.
    seen: Lsn,
    /// The semi-synchronous dump sessions, with the position that each one's replica has
    /// acknowledged.
    replicas: BTreeMap<u64, FilePosition>,
    waiting: u64,
}

/// The figures that SHOW STATUS shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SemiSyncStatus {
    /// The status variable `Rpl_semi_sync_source_status`.
    pub on: bool,
    /// The status variable `Rpl_semi_sync_source_clients`.
    pub clients: u64,
    /// The status variable `Rpl_semi_sync_source_yes_tx`.
    pub acknowledged: u64,
    /// The status variable `Rpl_semi_sync_source_no_tx`.
    pub unacknowledged: u64,
    /// The status variable `Rpl_semi_sync_source_no_times`.
    pub switched_off: u64,
    /// The status variable `Rpl_semi_sync_source_tx_waits`.
    pub waits: u64,
    /// The status variable `Rpl_semi_sync_source_tx_wait_time`, in microseconds.
    pub wait_time_us: u64,
    /// The status variable `Rpl_semi_sync_source_wait_sessions`.
    pub waiting: u64,
}

/// The counters of [`SemiSyncStatus`]. They are relaxed, because each stands for itself.
#[derive(Default)]
struct Counters {
    acknowledged: AtomicU64,
    unacknowledged: AtomicU64,
    switched_off: AtomicU64,
    waits: AtomicU64,
    wait_time_us: AtomicU64,
}

/// The semi-synchronous replication of a source.
pub struct SemiSync {
    /// The system variable `rpl_semi_sync_source_enabled`. It is changed under `state`; a commit
    /// that does not see a change belongs to the time before it.
    enabled: AtomicBool,
    state: Mutex<State>,
    /// Notified when an acknowledgement has come, or commits need not wait any more.
    changed: Condvar,
    counters: Counters,
    engine: Weak<Engine>,
}

impl SemiSync {
    pub(crate) fn new(engine: Weak<Engine>) -> SemiSync {
        let state = State {
            timeout: Duration::from_secs(10),
            wanted: 1,
            waits_without_replicas: true,
            after_sync: true,
            on: false,
            off_at: FilePosition::default(),
            has_no_log: false,
            pending: VecDeque::new(),
            seen: 0,
            replicas: BTreeMap::new(),
            waiting: 0,
        };
        SemiSync {
            enabled: AtomicBool::new(false),
            state: Mutex::new(state),
            changed: Condvar::new(),
            counters: Counters::default(),
            engine,
        }
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Acquire)
    }

    /// Changes a setting, which sessions that wait follow at once.
    fn set(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        change(&mut state);
        self.settle(&mut state);
    }

    /// Switches off for ever, because there is no binary log any more.
    pub(crate) fn turn_off(&self) {
        self.state.lock().has_no_log = true;
        self.set_enabled(false);
    }

    /// Sets `rpl_semi_sync_source_enabled`.
    pub fn set_enabled(&self, enabled: bool) {
        self.set(|state| {
            let enabled = enabled && !state.has_no_log;
            self.enabled.store(enabled, Ordering::Release);
            state.on = enabled;
            state.off_at = FilePosition::default();
            state.pending.clear();
        });
    }

    /// Sets `rpl_semi_sync_source_timeout`, in milliseconds.
    pub fn set_timeout_ms(&self, timeout_ms: u64) {
        self.set(|state| state.timeout = Duration::from_millis(timeout_ms));
    }

    /// Sets `rpl_semi_sync_source_wait_for_replica_count`.
    pub fn set_wanted(&self, replicas: u64) {
        self.set(|state| state.wanted = replicas as usize);
    }

    /// Sets `rpl_semi_sync_source_wait_no_replica`.
    pub fn set_waits_without_replicas(&self, waits: bool) {
        self.set(|state| state.waits_without_replicas = waits);
    }

    /// Sets `rpl_semi_sync_source_wait_point`: true means AFTER_SYNC, and false AFTER_COMMIT.
    pub fn set_after_sync(&self, after_sync: bool) {
        self.set(|state| state.after_sync = after_sync);
    }

    /// Notes that a group is at the end of the binary log, where no dump session has seen it yet.
    pub(crate) fn logged(&self, lsn: Lsn, end: FilePosition) {
        if self.is_enabled() {
            let mut state = self.state.lock();
            if !state.on {
                // While waiting is off, replicas are asked only for the newest group.
                state.pending.clear();
            }
            assert!(
                state.pending.back().is_none_or(|last| last.lsn < lsn && last.end < end),
                "transactions are logged in the order of their commits: LSN {lsn} at {end:?}"
            );
            state.pending.push_back(Pending { lsn, end, since: Stopwatch::start() });
        }
    }

    /// Notes that the writer has reached `lsn`, and checks whether a commit has waited for too
    /// long.
    pub(crate) fn reached(&self, lsn: Lsn) {
        if !self.is_enabled() {
            return;
        }
        let mut state = self.state.lock();
        assert!(state.seen <= lsn, "the writer was at LSN {} and is at {lsn}", state.seen);
        let timeout = state.timeout;
        let is_late = |first: &Pending| first.since.elapsed() >= timeout;
        let has_waited = state.on && state.pending.front().is_some_and(is_late);
        if has_waited {
            log::warn!("Timeout waiting for reply of binlog, semi-sync up to LSN {}.", state.seen);
            self.switch_off(&mut state);
        }
        if state.seen != lsn || has_waited {
            state.seen = lsn;
            self.settle(&mut state);
        }
    }

    fn switch_off(&self, state: &mut State) {
        assert!(state.on, "semi-synchronous replication is switched off once");
        state.on = false;
        self.counters.switched_off.fetch_add(1, Ordering::Relaxed);
        log::info!("Semi-sync replication switched OFF.");
        let newest = state.pending.pop_back();
        state.off_at = newest.as_ref().map_or(state.off_at, |newest| newest.end);
        state.pending.clear();
        state.pending.extend(newest);
    }

    /// Removes from `pending` the groups that enough replicas have acknowledged, and wakes all that
    /// wait.
    fn settle(&self, state: &mut State) {
        if let Some(acknowledged) = state.acknowledged() {
            while state.pending.front().is_some_and(|first| first.end <= acknowledged) {
                state.pending.pop_front();
            }
            if !state.on && self.is_enabled() && acknowledged >= state.off_at {
                log::info!("Semi-sync replication switched ON.");
                state.on = true;
            }
        } else if state.on && !state.waits_without_replicas {
            self.switch_off(state);
        }
        if let Some(engine) = self.engine.upgrade() {
            engine.limit_visibility(self.limit(state));
        }
        self.changed.notify_all();
    }

    /// Returns the LSN up to which readers may see.
    fn limit(&self, state: &State) -> Lsn {
        if !self.is_enabled() || !state.on || !state.after_sync {
            return Lsn::MAX;
        }
        state.pending.front().map_or(state.seen, |first| first.lsn - 1)
    }

    /// Begins anew with the binary log (RESET BINARY LOGS AND GTIDS), in which positions mean
    /// something else.
    pub(crate) fn start_anew(&self) {
        self.set(|state| {
            state.pending.clear();
            state.off_at = FilePosition::default();
            state.replicas.values_mut().for_each(|acknowledged| *acknowledged = FilePosition::default());
        });
    }

    /// Adds a semi-synchronous replica, and returns the number of its session.
    pub(crate) fn join(&self) -> u64 {
        let mut state = self.state.lock();
        let session = state.replicas.last_key_value().map_or(1, |(last, _)| last + 1);
        let taken = state.replicas.insert(session, FilePosition::default());
        assert!(taken.is_none(), "session {session} is another replica's");
        session
    }

    /// Removes a semi-synchronous replica.
    pub(crate) fn leave(&self, session: u64) {
        self.set(|state| {
            state.replicas.remove(&session);
        });
    }

    /// Returns the end of the event that a replica has to acknowledge which gets everything up to
    /// `readable`. `None` means that it has to acknowledge none.
    pub(crate) fn wanted_up_to(&self, readable: FilePosition) -> Option<FilePosition> {
        if !self.is_enabled() {
            return None;
        }
        let state = self.state.lock();
        let count = state.pending.partition_point(|pending| pending.end <= readable);
        count.checked_sub(1).map(|at| state.pending[at].end)
    }

    /// Notes that a replica has received everything up to `end`.
    pub(crate) fn acknowledge(&self, session: u64, end: FilePosition) {
        self.set(|state| {
            if let Some(acknowledged) = state.replicas.get_mut(&session) {
                *acknowledged = end.max(*acknowledged);
            }
        });
    }

    /// Returns the figures that SHOW STATUS shows.
    pub fn status(&self) -> SemiSyncStatus {
        let state = self.state.lock();
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SemiSyncStatus {
            on: state.on,
            clients: state.replicas.len() as u64,
            acknowledged: of(&self.counters.acknowledged),
            unacknowledged: of(&self.counters.unacknowledged),
            switched_off: of(&self.counters.switched_off),
            waits: of(&self.counters.waits),
            wait_time_us: of(&self.counters.wait_time_us),
            waiting: state.waiting,
        }
    }
}

impl State {
    /// Returns the position that the wanted number of replicas has acknowledged. `None` means that
    /// there are fewer replicas.
    fn acknowledged(&self) -> Option<FilePosition> {
        let mut positions: Vec<FilePosition> = self.replicas.values().copied().collect();
        positions.sort_unstable_by(|a, b| b.cmp(a));
        positions.get(self.wanted.checked_sub(1)?).copied()
    }

    fn is_acknowledged(&self, lsn: Lsn) -> bool {
        self.seen >= lsn && self.pending.front().is_none_or(|first| first.lsn > lsn)
    }
}

impl CommitWaiter for SemiSync {
    fn wait(&self, seq: Lsn, is_visible: bool) {
        if !self.is_enabled() {
            return;
        }
        let mut state = self.state.lock();
        if state.after_sync == is_visible {
            return;
        }
        let _state = enter(Account::ReplicaAckWait);
        let clock = Stopwatch::start();
        state.waiting += 1;
        let mut has_waited = false;
        while self.is_enabled() && state.on && !state.is_acknowledged(seq) {
            has_waited = true;
            self.changed.wait(&mut state);
        }
        assert!(state.waiting > 0, "a thread that stops waiting was counted");
        state.waiting -= 1;
        let in_time = state.on && self.is_enabled();
        let counter = if in_time { &self.counters.acknowledged } else { &self.counters.unacknowledged };
        counter.fetch_add(1, Ordering::Relaxed);
        if has_waited {
            self.counters.waits.fetch_add(1, Ordering::Relaxed);
            self.counters.wait_time_us.fetch_add(clock.elapsed().as_micros() as u64, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(pos: u64) -> FilePosition {
        FilePosition { file: 1, pos }
    }

    fn enabled() -> SemiSync {
        let semi_sync = SemiSync::new(Weak::new());
        semi_sync.set_enabled(true);
        semi_sync
    }

    fn log(semi_sync: &SemiSync, lsn: Lsn, pos: u64) {
        semi_sync.logged(lsn, at(pos));
        semi_sync.reached(lsn);
    }

    fn limit(semi_sync: &SemiSync) -> Lsn {
        semi_sync.limit(&semi_sync.state.lock())
    }

    #[test]
    fn as_many_as_are_wanted_have_to_acknowledge() {
        let semi_sync = enabled();
        semi_sync.set_wanted(2);
        let replicas = [semi_sync.join(), semi_sync.join(), semi_sync.join()];
        log(&semi_sync, 100, 10);
        log(&semi_sync, 200, 20);
        assert_eq!(limit(&semi_sync), 99);
        semi_sync.acknowledge(replicas[0], at(20));
        assert!(!semi_sync.state.lock().is_acknowledged(100));
        semi_sync.acknowledge(replicas[2], at(10));
        assert!(semi_sync.state.lock().is_acknowledged(100) && !semi_sync.state.lock().is_acknowledged(200));
        assert_eq!(limit(&semi_sync), 199);
        semi_sync.acknowledge(replicas[1], at(20));
        assert!(semi_sync.state.lock().is_acknowledged(200));
        assert_eq!(limit(&semi_sync), 200);
        semi_sync.set_after_sync(false);
        assert_eq!(limit(&semi_sync), Lsn::MAX);
    }

    #[test]
    fn a_replica_is_asked_for_the_last_group_that_it_gets() {
        let semi_sync = enabled();
        assert_eq!(semi_sync.wanted_up_to(at(50)), None);
        for n in 1..=3 {
            log(&semi_sync, n * 100, n * 10);
        }
        for (readable, wanted) in [(9, None), (10, Some(10)), (25, Some(20)), (99, Some(30))] {
            assert_eq!(semi_sync.wanted_up_to(at(readable)), wanted.map(at), "{readable}");
        }
        semi_sync.set_enabled(false);
        assert_eq!(semi_sync.wanted_up_to(at(99)), None);
    }

    #[test]
    fn nobody_waits_after_the_timeout_until_a_replica_has_caught_up() {
        let semi_sync = enabled();
        let replica = semi_sync.join();
        semi_sync.set_timeout_ms(0);
        log(&semi_sync, 100, 10);
        assert!(!semi_sync.status().on && semi_sync.status().switched_off == 1);
        assert_eq!(limit(&semi_sync), Lsn::MAX);
        semi_sync.wait(100, false);
        assert_eq!(semi_sync.status().unacknowledged, 1);
        semi_sync.set_timeout_ms(1_000_000);
        log(&semi_sync, 200, 20);
        log(&semi_sync, 300, 30);
        assert_eq!(semi_sync.wanted_up_to(at(30)), Some(at(30)));
        semi_sync.acknowledge(replica, at(5));
        assert!(!semi_sync.status().on);
        semi_sync.acknowledge(replica, at(30));
        assert!(semi_sync.status().on);
        semi_sync.wait(300, false);
        assert_eq!(semi_sync.status().acknowledged, 1);
    }

    #[test]
    fn positions_of_before_a_reset_acknowledge_nothing() {
        let semi_sync = enabled();
        let replica = semi_sync.join();
        log(&semi_sync, 100, 1000);
        semi_sync.acknowledge(replica, at(1000));
        semi_sync.start_anew();
        log(&semi_sync, 200, 10);
        assert!(!semi_sync.state.lock().is_acknowledged(200));
        semi_sync.acknowledge(replica, at(10));
        assert!(semi_sync.state.lock().is_acknowledged(200));
    }

    #[test]
    fn without_replicas_it_waits_or_not_as_it_is_told() {
        let semi_sync = enabled();
        semi_sync.set_waits_without_replicas(false);
        assert!(!semi_sync.status().on);
        let replica = semi_sync.join();
        semi_sync.acknowledge(replica, at(0));
        assert!(semi_sync.status().on);
        semi_sync.leave(replica);
        assert!(!semi_sync.status().on);
    }
}
