//! The present connections: their ids, their lines in SHOW PROCESSLIST, and KILL.

use super::status::ServerStatus;
use engine::Isolation;
use os::event::Event;
use parking_lot::Mutex;
use protocol::stream::{Encryption, Interrupter};
use sql::counters::Counters;
use sql::measured::{AccountName, Measured, MeasuredSession};
use sql::{RunningPlan, TransactionKind};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The largest number of bytes of a statement that SHOW FULL PROCESSLIST shows.
pub const MAX_SHOWN_BYTES: usize = 64 * 1024;

/// The user of a connection that has not logged in yet.
const UNAUTHENTICATED: &str = "unauthenticated user";

/// The activity of a connection, which is the Command column of SHOW PROCESSLIST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are MySQL's command names")]
pub enum Activity {
    Connect,
    Sleep,
    Query,
    Prepare,
    Execute,
    BinlogDump,
    BinlogDumpGtid,
    ChangeUser,
    Daemon,
}

const ACTIVITIES: [(Activity, &str); 9] = [
    (Activity::Connect, "Connect"),
    (Activity::Sleep, "Sleep"),
    (Activity::Query, "Query"),
    (Activity::Prepare, "Prepare"),
    (Activity::Execute, "Execute"),
    (Activity::BinlogDump, "Binlog Dump"),
    (Activity::BinlogDumpGtid, "Binlog Dump GTID"),
    (Activity::ChangeUser, "Change user"),
    (Activity::Daemon, "Daemon"),
];

/// The name by which a source knows a replica again that comes with another connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplicaName {
    /// The UUID that the replica has told.
    Uuid(String),
    /// The server id of a replica that has told no UUID.
    ServerId(u32),
}

/// The parts of an entry that others see.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// The client's host, with the port for TCP.
    pub host: String,
    /// The address of a client that came by TCP.
    pub ip: Option<IpAddr>,
    /// The user name that the client gave, once it has been let in.
    pub user: String,
    /// `user@host` of the matched account.
    pub account: String,
    /// The user name that the client has given, whether or not it is let in.
    pub given_user: String,
    /// The current schema.
    pub schema: Option<String>,
    /// The running statement, or the last one when none runs. A long one is cut.
    pub statement: String,
    /// True while a statement runs.
    pub is_running: bool,
    /// The encryption of the connection, if there is one.
    pub encryption: Option<Encryption>,
    /// The value of USER() where it differs from user and host, as for an event.
    pub client: Option<&'static str>,
    /// The replica that the connection sends the binary log to.
    pub replica: Option<ReplicaName>,
    /// True when the same replica has come with another connection, which ends this one.
    pub is_replaced: bool,
    /// The State column where the activity does not determine it; otherwise empty.
    pub state: &'static str,
}

/// One connection, as other connections see it.
pub struct SessionEntry {
    /// The connection's id.
    pub id: u32,
    /// The texts that other connections see. The lock is held only for a copy or a change, and no
    /// other lock is taken under it.
    shown: Mutex<Shown>,
    /// The kernel's id of the thread that serves the connection; 0 before it runs. Relaxed: it is
    /// written once.
    os_id: AtomicI32,
    /// The number of an [`Activity`]. Relaxed, like the next three fields, because each stands for
    /// itself.
    activity: AtomicU8,
    /// The time when the activity began, by the cheapest clock, because every command begins two
    /// activities.
    since_ticks: AtomicU64,
    /// The number of the connection's present or last transaction; 0 means that it had none.
    transaction_id: AtomicU64,
    /// The time when that transaction began, by the cheapest clock.
    transaction_since_ticks: AtomicU64,
    /// The kind of that transaction: its isolation level, and [`READ_ONLY`] if it is READ ONLY.
    transaction_kind: AtomicU8,
    /// True when the running statement must end. Relaxed, because it is polled.
    kill_query: Arc<AtomicBool>,
    /// True when KILL asked the running statement to end, and not only the time limit. Relaxed,
    /// like `kill_query`.
    kill_asked: AtomicBool,
    /// True when the connection must end.
    kill_connection: AtomicBool,
    /// Notified by KILL and by [`SessionEntry::wake`], for statements that wait.
    wakes: Event,
    interrupter: Option<Interrupter>,
    /// The plan of the statement that runs, if it was sent as a text and has a plan. The lock is
    /// held only to take or replace it.
    plan: Mutex<Option<RunningPlan>>,
    /// The counters of the connection's statements.
    counters: Arc<Counters>,
    /// What measures the connection's statements, once it has been let in.
    measured: OnceLock<Arc<MeasuredSession>>,
    /// What the client said of itself, as names and values. The lock is held only for a copy or a
    /// change.
    attributes: Mutex<Vec<(String, String)>>,
}

/// The bit of a transaction that is READ ONLY.
const READ_ONLY: u8 = 1 << 7;
/// The flag of a transaction of a session with `unique_checks = OFF`.
const NO_UNIQUE_CHECKS: u8 = 1 << 6;
/// The flag of a transaction of a session with `foreign_key_checks = OFF`.
const NO_FOREIGN_KEY_CHECKS: u8 = 1 << 5;
/// All flags beside the isolation level.
const FLAGS: u8 = READ_ONLY | NO_UNIQUE_CHECKS | NO_FOREIGN_KEY_CHECKS;

/// The greatest number of bytes of a client's attributes that are kept, which is MySQL's default.
const MAX_ATTRIBUTE_BYTES: usize = 512;

/// One line of SHOW PROCESSLIST.
#[derive(Debug, Clone)]
pub struct ProcessLine {
    /// The connection's id.
    pub id: u32,
    /// The texts of the line.
    pub shown: Shown,
    /// The Command column of SHOW PROCESSLIST.
    pub activity: Activity,
    /// The time since the activity began, in seconds.
    pub time_s: u64,
    /// The kernel's id of the connection's thread.
    pub os_id: Option<i32>,
}

impl SessionEntry {
    fn new(id: u32, host: String, interrupter: Option<Interrupter>) -> SessionEntry {
        SessionEntry {
            id,
            shown: Mutex::new(Shown { host, user: UNAUTHENTICATED.into(), ..Shown::default() }),
            os_id: AtomicI32::new(0),
            activity: AtomicU8::new(Activity::Connect as u8),
            since_ticks: AtomicU64::new(os::clock::ticks()),
            transaction_id: AtomicU64::new(0),
            transaction_since_ticks: AtomicU64::new(0),
            transaction_kind: AtomicU8::new(0),
            kill_query: Arc::default(),
            kill_asked: AtomicBool::new(false),
            kill_connection: AtomicBool::new(false),
            wakes: Event::new(),
            interrupter,
            plan: Mutex::default(),
            counters: Arc::default(),
            measured: OnceLock::new(),
            attributes: Mutex::default(),
        }
    }

    /// Notes that the calling thread serves the connection.
    pub fn served_by_this_thread(&self) {
        self.os_id.store(os::account::tid_of_this_thread(), Ordering::Relaxed);
    }

    /// Keeps what the client says of itself, as far as there is room for it, and counts that.
    pub fn set_attributes(&self, attributes: &[(Vec<u8>, Vec<u8>)], status: &ServerStatus) {
        // Lengths of less than 251 bytes stand before names and values in one byte.
        let sent_bytes: usize = attributes.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
        status.longest_attributes.raise_to(sent_bytes as u64);
        let mut left = MAX_ATTRIBUTE_BYTES;
        let fits = |(name, value): &&(Vec<u8>, Vec<u8>)| {
            let rest = left.checked_sub(name.len() + value.len());
            left = rest.unwrap_or(0);
            rest.is_some()
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let kept = attributes.iter().take_while(fits).map(|(name, value)| (text(name), text(value)));
        let kept: Vec<_> = kept.collect();
        if kept.len() < attributes.len() {
            status.lost_attributes.add_one();
        }
        *self.attributes.lock() = kept;
    }

    /// Returns what the client has said of itself, as names and values.
    pub fn attributes(&self) -> Vec<(String, String)> {
        self.attributes.lock().clone()
    }

    /// Notes the plan of the statement that runs. `None` means that it has ended.
    pub fn set_plan(&self, plan: Option<RunningPlan>) {
        // The old plan is dropped once the lock is free.
        let _old = std::mem::replace(&mut *self.plan.lock(), plan);
    }

    /// Returns the plan of the statement that runs.
    pub fn plan(&self) -> Option<RunningPlan> {
        self.plan.lock().clone()
    }

    /// Reports whether the connection is a client's. Only these have a socket, through which they
    /// are interrupted.
    pub fn is_of_client(&self) -> bool {
        self.interrupter.is_some()
    }

    /// Returns the counters of the connection's statements since it began, or since FLUSH STATUS.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// Measures the connection's statements from now on, as those of the account with this user and
    /// host.
    pub fn measure(&self, measured: &Arc<Measured>, account: AccountName) {
        match self.measured.get() {
            Some(session) => session.change_account(account),
            None => {
                self.measured
                    .get_or_init(|| Arc::new(MeasuredSession::new(measured.clone(), account, self.id)));
            }
        }
    }

    /// Returns what measures the connection's statements.
    pub fn measured(&self) -> Option<&Arc<MeasuredSession>> {
        self.measured.get()
    }

    /// Notes what the connection does from now on. Returns how long it did what it did before, in
    /// ticks.
    pub fn set_activity(&self, activity: Activity) -> u64 {
        let now = os::clock::ticks();
        let since = self.since_ticks.load(Ordering::Relaxed);
        self.activity.store(activity as u8, Ordering::Relaxed);
        self.since_ticks.store(now, Ordering::Relaxed);
        now.saturating_sub(since)
    }

    /// Notes that the connection has begun a transaction with this number and of this kind.
    pub fn set_transaction(&self, transaction_id: u64, kind: TransactionKind) {
        let flags = [
            (kind.read_only, READ_ONLY),
            (!kind.unique_checks, NO_UNIQUE_CHECKS),
            (!kind.foreign_key_checks, NO_FOREIGN_KEY_CHECKS),
        ];
        let flags: u8 = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum();
        let kind = kind.isolation as u8 | flags;
        self.transaction_kind.store(kind, Ordering::Relaxed);
        self.transaction_since_ticks.store(os::clock::ticks(), Ordering::Relaxed);
        self.transaction_id.store(transaction_id, Ordering::Relaxed);
    }

    /// Reports whether the connection's present or last transaction checks unique keys, and whether
    /// it checks foreign keys.
    pub fn transaction_checks(&self) -> (bool, bool) {
        let kind = self.transaction_kind.load(Ordering::Relaxed);
        (kind & NO_UNIQUE_CHECKS == 0, kind & NO_FOREIGN_KEY_CHECKS == 0)
    }

    /// Returns the isolation level of the connection's present or last transaction in MySQL's
    /// words, and whether the transaction is READ ONLY.
    pub fn transaction_kind(&self) -> (&'static str, bool) {
        let kind = self.transaction_kind.load(Ordering::Relaxed);
        let words = [
            (Isolation::ReadUncommitted, "READ UNCOMMITTED"),
            (Isolation::ReadCommitted, "READ COMMITTED"),
            (Isolation::RepeatableRead, "REPEATABLE READ"),
            (Isolation::Serializable, "SERIALIZABLE"),
        ];
        let is_it = |(isolation, _): &&(Isolation, &str)| *isolation as u8 == kind & !FLAGS;
        let (_, word) = words.iter().find(is_it).expect("a level of isolation was noted");
        (word, kind & READ_ONLY != 0)
    }

    /// Returns how long ago the connection's present or last transaction began, in microseconds.
    pub fn transaction_age_us(&self) -> u64 {
        let since = self.transaction_since_ticks.load(Ordering::Relaxed);
        os::clock::ticks_to_ns(os::clock::ticks().saturating_sub(since)) / 1000
    }

    /// Returns how long ago the connection's activity began, in microseconds.
    pub fn activity_age_us(&self) -> u64 {
        let since = self.since_ticks.load(Ordering::Relaxed);
        os::clock::ticks_to_ns(os::clock::ticks().saturating_sub(since)) / 1000
    }

    /// Returns the number of the connection's present or last transaction; 0 means that it had
    /// none.
    pub fn transaction_id(&self) -> u64 {
        self.transaction_id.load(Ordering::Relaxed)
    }

    /// Returns the connection's activity.
    pub fn activity(&self) -> Activity {
        ACTIVITIES[usize::from(self.activity.load(Ordering::Relaxed))].0
    }

    /// Changes the texts.
    pub fn show(&self, change: impl FnOnce(&mut Shown)) {
        change(&mut self.shown.lock());
    }

    /// Returns the encryption of the connection, if there is one.
    pub fn encryption(&self) -> Option<Encryption> {
        self.shown.lock().encryption.clone()
    }

    /// Notes the running statement. Its memory is used again by the next one.
    pub fn show_statement(&self, text: Option<&str>) {
        let mut shown = self.shown.lock();
        match text {
            None => shown.is_running = false,
            Some(text) => {
                shown.is_running = true;
                let mut end = text.len().min(MAX_SHOWN_BYTES);
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                shown.statement.clear();
                shown.statement.push_str(&text[..end]);
            }
        }
    }

    /// Returns a copy of the texts.
    pub fn shown(&self) -> Shown {
        self.shown.lock().clone()
    }

    /// Returns the line of SHOW PROCESSLIST.
    pub fn line(&self) -> ProcessLine {
        let since_ticks = self.since_ticks.load(Ordering::Relaxed);
        let ticks = os::clock::ticks().saturating_sub(since_ticks);
        let time_s = os::clock::ticks_to_ns(ticks) / 1_000_000_000;
        let os_id = self.os_id.load(Ordering::Relaxed);
        ProcessLine {
            id: self.id,
            shown: self.shown(),
            activity: self.activity(),
            time_s,
            os_id: (os_id > 0).then_some(os_id),
        }
    }

    /// Asks the running statement to end, and also the connection unless `query_only`.
    pub fn kill(&self, query_only: bool) {
        if !query_only {
            self.kill_connection.store(true, Ordering::Relaxed);
        }
        self.kill_asked.store(true, Ordering::Relaxed);
        self.interrupt();
        if !query_only && let Some(interrupter) = &self.interrupter {
            interrupter.interrupt();
        }
    }

    /// Makes the running statement end, as KILL QUERY and the time limit do.
    pub fn interrupt(&self) {
        self.kill_query.store(true, Ordering::Relaxed);
        self.wakes.notify_all();
    }

    /// Takes the interruption by a time limit back, unless KILL has asked for one too. Returns true
    /// when KILL has not.
    pub fn end_interrupt(&self) -> bool {
        let by_kill = self.kill_asked.load(Ordering::Relaxed);
        self.kill_query.store(by_kill, Ordering::Relaxed);
        !by_kill
    }

    /// Reports whether the running statement must end.
    pub fn is_killed(&self) -> bool {
        self.kill_query.load(Ordering::Relaxed)
    }

    /// Returns the flag that [`SessionEntry::is_killed`] reads, for waits inside the engine.
    pub fn kill_flag(&self) -> Arc<AtomicBool> {
        self.kill_query.clone()
    }

    /// Reports whether the connection must end.
    pub fn is_connection_killed(&self) -> bool {
        self.kill_connection.load(Ordering::Relaxed)
    }

    /// Notes that a new statement begins, to which a KILL QUERY of an earlier one does not apply.
    pub fn begin_statement(&self) {
        if !self.is_connection_killed() {
            self.kill_asked.store(false, Ordering::Relaxed);
            self.kill_query.store(false, Ordering::Relaxed);
        }
    }

    /// Sleeps. Returns true when KILL has ended the sleep early.
    pub fn sleep(&self, duration: Duration) -> bool {
        let _sleeping = os::account::enter(os::account::State::Sleep);
        let waited = self.shown_as("User sleep", || self.wait_for(Some(duration), || false));
        matches!(waited, Waited::Killed)
    }

    /// Runs `wait` while others see this State of the connection.
    pub fn shown_as<T>(&self, state: &'static str, wait: impl FnOnce() -> T) -> T {
        let put = |state| std::mem::replace(&mut self.shown.lock().state, state);
        let before = put(state);
        let waited = wait();
        let own = put(before);
        assert_eq!(own, state, "a connection waits for one thing at a time");
        waited
    }

    /// Waits until `is_so` holds, which [`SessionEntry::wake`] announces. Without a timeout it
    /// waits for ever.
    pub fn wait_for(&self, timeout: Option<Duration>, is_so: impl Fn() -> bool) -> Waited {
        let watch = os::clock::Stopwatch::start();
        loop {
            let waiter = self.wakes.prepare();
            if is_so() {
                return Waited::UntilSo;
            }
            if self.is_killed() {
                return Waited::Killed;
            }
            let left = timeout.map(|timeout| watch.remaining(timeout));
            if left.is_some_and(|left| left.is_zero()) {
                return Waited::TimedOut;
            }
            waiter.wait(left);
        }
    }

    /// Wakes the connection's statement, because the condition that it waits for may hold now.
    pub fn wake(&self) {
        self.wakes.notify_all();
    }
}

/// The way in which a wait has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// The condition holds.
    UntilSo,
    /// The time was over before the condition held.
    TimedOut,
    /// KILL or the statement's time limit ended the wait.
    Killed,
}

/// Returns the Command column's word for an activity.
pub fn activity_name(activity: Activity) -> &'static str {
    ACTIVITIES[activity as usize].1
}

/// All connections.
#[derive(Default)]
pub struct Sessions {
    /// The connections by id. The lock is held alone, except for `shown`, and only for a look-up or
    /// a copy.
    entries: Mutex<BTreeMap<u32, Arc<SessionEntry>>>,
    /// The counters of connections that have ended. They are added to while `entries` is locked, so
    /// that nothing is counted twice or not at all.
    ended: Counters,
    last_id: AtomicU32,
    /// The number of connections that count against max_connections. Acquire and release, so that a
    /// client which was told of a refusal finds the refused connection's place free again.
    admitted: AtomicUsize,
}

/// A connection's place under `max_connections`, which is given back when this value is dropped.
pub struct Place<'a>(&'a Sessions);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let before = self.0.admitted.fetch_sub(1, Ordering::AcqRel);
        assert!(before > 0, "a place that is given back was taken");
    }
}

impl Sessions {
    /// Adds a connection. Ids begin at 8, because in MySQL background threads have the first ones.
    pub fn add(&self, host: String, interrupter: Option<Interrupter>) -> Arc<SessionEntry> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed).wrapping_add(8);
        let entry = Arc::new(SessionEntry::new(id, host, interrupter));
        let before = self.entries.lock().insert(id, entry.clone());
        assert!(before.is_none(), "connection {id} has an id of its own");
        entry
    }

    /// Adds a thread of the server itself that SHOW PROCESSLIST lists. The one that starts with the
    /// server has the id 5, as in MySQL.
    pub fn add_daemon(&self, name: &str) -> Arc<SessionEntry> {
        let mut entries = self.entries.lock();
        let id = match self.last_id.load(Ordering::Relaxed) {
            0 if !entries.contains_key(&5) => 5,
            _ => self.last_id.fetch_add(1, Ordering::Relaxed).wrapping_add(8),
        };
        let entry = Arc::new(SessionEntry::new(id, "localhost".into(), None));
        entry.show(|shown| {
            shown.user = name.to_owned();
            shown.account = format!("{name}@localhost");
        });
        entry.set_activity(Activity::Daemon);
        let before = entries.insert(id, entry.clone());
        assert!(before.is_none(), "thread {id} has an id of its own");
        entry
    }

    /// Returns an entry that is in no list, for the server's own sessions.
    pub fn detached(&self) -> Arc<SessionEntry> {
        Arc::new(SessionEntry::new(0, "localhost".into(), None))
    }

    /// Takes a place. The second part of the result is the number of places that are taken now.
    pub fn take_place(&self) -> (Place<'_>, usize) {
        let before = self.admitted.fetch_add(1, Ordering::AcqRel);
        (Place(self), before + 1)
    }

    /// Removes a connection that has ended.
    pub fn remove(&self, id: u32) {
        let mut entries = self.entries.lock();
        let entry = entries.remove(&id).unwrap_or_else(|| panic!("connection {id} ends once"));
        self.ended.add_all(&entry.counters.figures());
        self.ended.statements.add_all(&entry.counters.statements);
        entry.counters.uses.give();
        if let Some(measured) = entry.measured() {
            measured.finish();
        }
    }

    /// Calls `read` with what measures the statements of all connections. None of them ends
    /// meanwhile, so that nothing is counted twice or not at all.
    pub fn with_measured<T>(&self, read: impl FnOnce(&[(u32, Arc<MeasuredSession>)]) -> T) -> T {
        let entries = self.entries.lock();
        let of = |entry: &Arc<SessionEntry>| Some((entry.id, entry.measured()?.clone()));
        let all: Vec<_> = entries.values().filter_map(of).collect();
        read(&all)
    }

    /// Returns the counters of all connections' statements, in the order of [`Counters::NAMES`].
    pub fn counted(&self) -> Vec<u64> {
        let total = Counters::default();
        let entries = self.entries.lock();
        total.add_all(&self.ended.figures());
        entries.values().for_each(|entry| total.add_all(&entry.counters.figures()));
        total.figures()
    }

    /// Adds what connections have done with the rows of tables to the numbers of the tables.
    pub fn give_uses(&self) {
        self.entries.lock().values().for_each(|entry| entry.counters.uses.give());
    }

    /// Returns how many statements of each kind all connections have begun, by the places of
    /// [`sql::measured::NAMES`].
    pub fn counted_statements(&self) -> Vec<u64> {
        let total = Counters::default();
        let entries = self.entries.lock();
        total.statements.add_all(&self.ended.statements);
        entries.values().for_each(|entry| total.statements.add_all(&entry.counters.statements));
        total.statements.figures()
    }

    /// Carries out FLUSH STATUS of a connection, in its own thread: adds its counters to those of
    /// ended connections, and resets them.
    pub fn flush_counters(&self, entry: &SessionEntry) {
        let entries = self.entries.lock();
        if entries.contains_key(&entry.id) {
            self.ended.add_all(&entry.counters.figures());
            self.ended.statements.add_all(&entry.counters.statements);
            entry.counters.reset();
        }
    }

    /// Returns the connection with this id.
    pub fn get(&self, id: u64) -> Option<Arc<SessionEntry>> {
        let id = u32::try_from(id).ok()?;
        self.entries.lock().get(&id).cloned()
    }

    /// Notes that `entry` sends the binary log to this replica from now on, and ends the older
    /// connections that do so. A replica that comes again has lost its older connection, which
    /// would otherwise count for semi-synchronous replication until something is sent to it. The
    /// caller wakes the dumps.
    pub fn begin_dump(&self, entry: &SessionEntry, replica: &ReplicaName) {
        entry.show(|shown| shown.replica = Some(replica.clone()));
        let older = |other: &Arc<SessionEntry>| {
            other.id != entry.id && other.shown().replica.as_ref() == Some(replica)
        };
        for other in self.all().iter().filter(|other| older(other)) {
            log::info!("connection {} replaces {} to the same replica {replica:?}", entry.id, other.id);
            other.show(|shown| shown.is_replaced = true);
            // The dump ends with an error to its client, so its socket stays open.
            other.kill(true);
        }
    }

    /// Returns all connections, by id.
    pub fn all(&self) -> Vec<Arc<SessionEntry>> {
        self.entries.lock().values().cloned().collect()
    }

    /// Returns the number of connections, including the server's own threads.
    pub fn count(&self) -> usize {
        self.entries.lock().len()
    }

    /// Returns the number of clients' connections.
    pub fn clients(&self) -> usize {
        self.entries.lock().values().filter(|entry| entry.is_of_client()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kill_ends_a_sleep_and_counts_for_one_statement() {
        let sessions = Sessions::default();
        let entry = sessions.add("localhost".into(), None);
        entry.begin_statement();
        assert!(!entry.sleep(Duration::from_millis(1)));
        let other = sessions.get(u64::from(entry.id)).unwrap();
        let killer = os::thread::spawn("killer", move || {
            while other.shown().state != "User sleep" {
                std::thread::yield_now();
            }
            other.kill(true);
        });
        assert!(entry.sleep(Duration::from_secs(600)));
        assert_eq!(entry.shown().state, "");
        killer.join().unwrap();
        entry.begin_statement();
        assert!(!entry.is_killed() && !entry.is_connection_killed());
        entry.kill(false);
        entry.begin_statement();
        assert!(entry.is_killed() && entry.is_connection_killed());
        sessions.remove(entry.id);
        assert!(sessions.all().is_empty());
    }
}
