//! The connections that exist: their ids, what SHOW PROCESSLIST tells of them, and KILL.

use os::event::Event;
use parking_lot::Mutex;
use protocol::stream::{Encryption, Interrupter};
use sql::counters::Counters;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Longer statements are cut in SHOW FULL PROCESSLIST.
pub const MAX_SHOWN_BYTES: usize = 64 * 1024;

/// The user of a connection that has not logged in yet.
const UNAUTHENTICATED: &str = "unauthenticated user";

/// What a connection is doing, the Command column of SHOW PROCESSLIST.
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

/// The parts of an entry that are text.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// Host, with the port for TCP.
    pub host: String,
    /// The address of a client that came by TCP.
    pub ip: Option<IpAddr>,
    /// Account name as the client gave it, once it has been let in.
    pub user: String,
    /// `user@host` of the matched account.
    pub account: String,
    /// Current schema.
    pub schema: Option<String>,
    /// The statement that runs, or the last one when none does; cut where it is long.
    pub statement: String,
    /// A statement runs.
    pub is_running: bool,
    /// How the connection is encrypted, if it is.
    pub encryption: Option<Encryption>,
    /// What USER() gives, where that is not the user and the host: of an event.
    pub client: Option<&'static str>,
    /// The State column, where the activity does not tell it; else empty.
    pub state: &'static str,
}

/// One connection, as others see it.
pub struct SessionEntry {
    /// The connection's id.
    pub id: u32,
    /// Lock order: held alone and for a copy only.
    shown: Mutex<Shown>,
    /// An [`Activity`]. Relaxed, like the next three: each is told on its own.
    activity: AtomicU8,
    /// When the activity began, by the cheapest clock: every command begins two.
    since_ticks: AtomicU64,
    /// Number of the connection's transaction, or of the last one it had; 0: it had none.
    transaction_id: AtomicU64,
    /// The running statement is to end. Relaxed: it is polled.
    kill_query: Arc<AtomicBool>,
    /// Somebody wants it: not its time limit alone. Relaxed, as the one above.
    kill_asked: AtomicBool,
    /// The connection is to end.
    kill_connection: AtomicBool,
    /// Notified by KILL and by [`SessionEntry::wake`], for statements that wait.
    wakes: Event,
    interrupter: Option<Interrupter>,
    /// The counters of the connection's statements.
    counters: Arc<Counters>,
}

/// One line of SHOW PROCESSLIST.
#[derive(Debug, Clone)]
pub struct ProcessLine {
    /// The connection's id.
    pub id: u32,
    /// The texts.
    pub shown: Shown,
    /// The Command column of SHOW PROCESSLIST.
    pub activity: Activity,
    /// For how long, in seconds.
    pub time_s: u64,
}

impl SessionEntry {
    fn new(id: u32, host: String, interrupter: Option<Interrupter>) -> SessionEntry {
        SessionEntry {
            id,
            shown: Mutex::new(Shown { host, user: UNAUTHENTICATED.into(), ..Shown::default() }),
            activity: AtomicU8::new(Activity::Connect as u8),
            since_ticks: AtomicU64::new(os::clock::ticks()),
            transaction_id: AtomicU64::new(0),
            kill_query: Arc::default(),
            kill_asked: AtomicBool::new(false),
            kill_connection: AtomicBool::new(false),
            wakes: Event::new(),
            interrupter,
            counters: Arc::default(),
        }
    }

    /// Whether it is a client's: those have a socket, in which they are interrupted.
    pub fn is_of_client(&self) -> bool {
        self.interrupter.is_some()
    }

    /// What its statements have done, since it began or since FLUSH STATUS.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
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

    /// Notes the connection's transaction.
    pub fn set_transaction_id(&self, transaction_id: u64) {
        self.transaction_id.store(transaction_id, Ordering::Relaxed);
    }

    /// Number of the connection's transaction, or of the last one it had; 0: it had none.
    pub fn transaction_id(&self) -> u64 {
        self.transaction_id.load(Ordering::Relaxed)
    }

    /// What the connection does.
    pub fn activity(&self) -> Activity {
        ACTIVITIES[usize::from(self.activity.load(Ordering::Relaxed))].0
    }

    /// Changes the texts.
    pub fn show(&self, change: impl FnOnce(&mut Shown)) {
        change(&mut self.shown.lock());
    }

    /// How the connection is encrypted, if it is.
    pub fn encryption(&self) -> Option<Encryption> {
        self.shown.lock().encryption.clone()
    }

    /// Notes the statement that runs; its memory is used again by the next one.
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

    /// The texts.
    pub fn shown(&self) -> Shown {
        self.shown.lock().clone()
    }

    /// The line of SHOW PROCESSLIST.
    pub fn line(&self) -> ProcessLine {
        let since_ticks = self.since_ticks.load(Ordering::Relaxed);
        let ticks = os::clock::ticks().saturating_sub(since_ticks);
        let time_s = os::clock::ticks_to_ns(ticks) / 1_000_000_000;
        ProcessLine { id: self.id, shown: self.shown(), activity: self.activity(), time_s }
    }

    /// Asks the running statement to end, and the connection too unless `query_only`.
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

    /// Has the running statement end, as KILL QUERY and the time limit do.
    pub fn interrupt(&self) {
        self.kill_query.store(true, Ordering::Relaxed);
        self.wakes.notify_all();
    }

    /// The interruption by a time limit is over, unless KILL has asked for one too; true when it
    /// has not.
    pub fn end_interrupt(&self) -> bool {
        let by_kill = self.kill_asked.load(Ordering::Relaxed);
        self.kill_query.store(by_kill, Ordering::Relaxed);
        !by_kill
    }

    /// The running statement is to end.
    pub fn is_killed(&self) -> bool {
        self.kill_query.load(Ordering::Relaxed)
    }

    /// The flag that [`SessionEntry::is_killed`] reads, for waits inside the engine.
    pub fn kill_flag(&self) -> Arc<AtomicBool> {
        self.kill_query.clone()
    }

    /// The connection is to end.
    pub fn is_connection_killed(&self) -> bool {
        self.kill_connection.load(Ordering::Relaxed)
    }

    /// A new statement begins: KILL QUERY of an earlier one does not count for it.
    pub fn begin_statement(&self) {
        if !self.is_connection_killed() {
            self.kill_asked.store(false, Ordering::Relaxed);
            self.kill_query.store(false, Ordering::Relaxed);
        }
    }

    /// Sleeps; true when KILL ended it early.
    pub fn sleep(&self, duration: Duration) -> bool {
        let _sleeping = os::account::enter(os::account::State::Sleep);
        matches!(self.wait_for(Some(duration), || false), Waited::Killed)
    }

    /// Waits until something is so, of which [`SessionEntry::wake`] tells; `None` waits for ever.
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

    /// What the connection's statement waits for may be so now.
    pub fn wake(&self) {
        self.wakes.notify_all();
    }
}

/// How a wait has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// What was waited for is so.
    UntilSo,
    /// The time was over.
    TimedOut,
    /// By KILL, or by the statement's time limit.
    Killed,
}

/// The Command column's word for an activity.
pub fn activity_name(activity: Activity) -> &'static str {
    ACTIVITIES[activity as usize].1
}

/// All connections.
#[derive(Default)]
pub struct Sessions {
    /// Lock order: held alone and for a look-up or a copy only.
    entries: Mutex<BTreeMap<u32, Arc<SessionEntry>>>,
    /// What the statements of connections have done that have ended. It is added to with the
    /// entries locked, so that nothing is counted twice or not at all.
    ended: Counters,
    last_id: AtomicU32,
    /// Connections that count against max_connections. Acquire and release, so that who was told of
    /// a refusal finds the refused one's place free again.
    admitted: AtomicUsize,
}

/// A connection's place under `max_connections`; given back when dropped.
pub struct Place<'a>(&'a Sessions);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let before = self.0.admitted.fetch_sub(1, Ordering::AcqRel);
        assert!(before > 0, "a place that is given back was taken");
    }
}

impl Sessions {
    /// Adds a connection; ids begin at 8, as the first ones are background threads' in MySQL.
    pub fn add(&self, host: String, interrupter: Option<Interrupter>) -> Arc<SessionEntry> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed).wrapping_add(8);
        let entry = Arc::new(SessionEntry::new(id, host, interrupter));
        self.entries.lock().insert(id, entry.clone());
        entry
    }

    /// Adds a thread of the server's own that SHOW PROCESSLIST tells of. The one of the server's
    /// start has the id 5, as in MySQL.
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
        entries.insert(id, entry.clone());
        entry
    }

    /// An entry that is in no list, for the server's own sessions.
    pub fn detached(&self) -> Arc<SessionEntry> {
        Arc::new(SessionEntry::new(0, "localhost".into(), None))
    }

    /// Takes a place; the second part is how many are taken now.
    pub fn take_place(&self) -> (Place<'_>, usize) {
        let before = self.admitted.fetch_add(1, Ordering::AcqRel);
        (Place(self), before + 1)
    }

    /// Removes a connection that has ended.
    pub fn remove(&self, id: u32) {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.remove(&id) {
            self.ended.add_all(&entry.counters.figures());
        }
    }

    /// What the statements of all connections have done, in the order of [`Counters::NAMES`].
    pub fn counted(&self) -> Vec<u64> {
        let total = Counters::default();
        let entries = self.entries.lock();
        total.add_all(&self.ended.figures());
        entries.values().for_each(|entry| total.add_all(&entry.counters.figures()));
        total.figures()
    }

    /// FLUSH STATUS of a connection, by its own thread: what it has counted goes to the others',
    /// and begins anew.
    pub fn flush_counters(&self, entry: &SessionEntry) {
        let entries = self.entries.lock();
        if entries.contains_key(&entry.id) {
            self.ended.add_all(&entry.counters.figures());
            entry.counters.reset();
        }
    }

    /// A connection by its id.
    pub fn get(&self, id: u64) -> Option<Arc<SessionEntry>> {
        let id = u32::try_from(id).ok()?;
        self.entries.lock().get(&id).cloned()
    }

    /// All connections, by id.
    pub fn all(&self) -> Vec<Arc<SessionEntry>> {
        self.entries.lock().values().cloned().collect()
    }

    /// Number of connections, with the threads of the server's own.
    pub fn count(&self) -> usize {
        self.entries.lock().len()
    }

    /// Number of connections of clients.
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
        let killer = os::thread::spawn("killer", move || other.kill(true));
        assert!(entry.sleep(Duration::from_secs(600)));
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
