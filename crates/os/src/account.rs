//! Time accounts: every thread is always in one named [`State`], and the wall and CPU time that it
//! spends in each state is counted.
//!
//! ```
//! use os::account::{State, enter};
//! // Until `waiting` is dropped, this thread's time goes to `log_sync`.
//! let waiting = enter(State::LogSync);
//! # drop(waiting);
//! ```
//!
//! **Wall time.** A switch of states reads the tick counter (`clock::ticks`), adds the span to the
//! state that ends, and notes where the next begins: two or three stores to memory that only this
//! thread writes, no lock, no system call.
//!
//! **CPU time.** Reading the kernel's per-thread CPU clock takes a system call, which is too
//! expensive for every switch. So it is read only on the edges of *blocking* states
//! ([`State::blocks`]), and only on some edges of those that a thread enters again and again
//! ([`is_sampled`]), since a short statement has several. The CPU time used between two readings is
//! shared out over the states that the thread was in, in proportion to their wall time. The wall
//! time of a blocking state counts only with the ratio of CPU time to wall time that was measured
//! in its spans whose edges were both read. A reader asks the kernel for a running thread's clock
//! and shares out the part since its last reading in the same way. So totals are exact and only the
//! split among states is an estimate.
//!
//! Accounts of threads that have ended are added up under the thread's name, so a server that
//! serves millions of connections keeps one row for them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::clock;

macro_rules! states {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $blocks:literal;)*) => {
        /// What a thread is doing. SQL and the metrics show the states by their names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum State { $($(#[$doc])* $variant,)* }

        impl State {
            /// All states, in the order of their numbers.
            pub const ALL: &'static [State] = &[$(State::$variant,)*];

            /// Returns the name shown to users: lower case with underscores.
            pub const fn name(self) -> &'static str {
                match self { $(State::$variant => $name,)* }
            }

            /// Reports whether the thread usually sleeps in the kernel in this state. The CPU clock
            /// is sampled at the edges of such a state.
            pub const fn blocks(self) -> bool {
                match self { $(State::$variant => $blocks,)* }
            }
        }
    };
}

states! {
    /// Running, in no state that has a name of its own.
    Running = "running", false;
    /// A background thread with nothing to do.
    Idle = "idle", true;
    /// A connection's thread waiting for its client's next command.
    ClientWait = "client_wait", true;
    /// Sending to a client or a replica.
    NetworkSend = "network_send", true;
    /// Parsing a statement.
    Parse = "parse", false;
    /// Binding and planning a statement.
    Plan = "plan", false;
    /// Executing a statement's plan.
    Execute = "execute", false;
    /// Committing: encoding the event group, taking space in the log, applying the write set to
    /// pages.
    Commit = "commit", false;
    /// Waiting for a row lock.
    RowLockWait = "row_lock_wait", true;
    /// Waiting for earlier commits to become visible.
    CommitOrderWait = "commit_order_wait", true;
    /// Waiting, in a commit, for other commits to join before the log is synced.
    GroupCommitDelay = "group_commit_delay", true;
    /// Waiting for replicas to acknowledge a commit.
    ReplicaAckWait = "replica_ack_wait", true;
    /// Waiting for a latch on a page.
    LatchWait = "latch_wait", true;
    /// Reading a page that is not in the pool.
    PageRead = "page_read", true;
    /// Making frames free at the end of the LRU list: evicting, and choosing what to write.
    LruFlush = "lru_flush", false;
    /// Choosing and copying pages to write by age.
    ListFlush = "list_flush", false;
    /// The page cleaner's coordinator waiting for its workers.
    CleanerWait = "cleaner_wait", true;
    /// Writing a page to its tablespace.
    PageWrite = "page_write", true;
    /// Syncing a tablespace.
    PageSync = "page_sync", true;
    /// Waiting for a page free to be used.
    FreePageWait = "free_page_wait", true;
    /// Flushing a page in a foreground thread that found no free one.
    SinglePageFlush = "single_page_flush", true;
    /// Waiting for room in, or a write to, the doublewrite area.
    DoublewriteWait = "doublewrite_wait", true;
    /// Waiting for the log to be durable.
    LogSync = "log_sync", true;
    /// Waiting for the log to be written to its file.
    LogWriteWait = "log_write_wait", true;
    /// Waiting for room in the log buffer.
    LogBufferWait = "log_buffer_wait", true;
    /// Waiting for somebody to free space on a full disk.
    DiskFullWait = "disk_full_wait", true;
    /// Waiting for a checkpoint to free log space.
    LogSpaceWait = "log_space_wait", true;
    /// Writing to the log file.
    LogWrite = "log_write", true;
    /// Syncing the log file.
    LogFlush = "log_flush", true;
    /// Making a checkpoint.
    Checkpoint = "checkpoint", true;
    /// Removing deleted rows that no snapshot needs.
    Purge = "purge", false;
    /// Reading a table and sorting its keys for new indexes.
    IndexScan = "index_scan", false;
    /// Merging sorted keys into a new index.
    IndexBuild = "index_build", false;
    /// Putting changes of other sessions into a new index.
    IndexCatchUp = "index_catch_up", false;
    /// Writing or reading temporary files: those of an index build, and those of a query whose rows
    /// do not fit in its memory.
    SortFile = "sort_file", true;
    /// A receiver waiting for its source.
    SourceWait = "source_wait", true;
    /// A receiver writing the relay log.
    RelayLogWrite = "relay_log_write", true;
    /// An applier waiting for more of the relay log.
    RelayLogWait = "relay_log_wait", true;
    /// The applier's coordinator waiting for a worker to prepare a transaction.
    WorkerWait = "worker_wait", true;
    /// An applier decoding events.
    ApplyDecode = "apply_decode", false;
    /// An applier changing rows.
    ApplyRow = "apply_row", false;
    /// An applier committing a transaction.
    ApplyCommit = "apply_commit", false;
    /// Writing a binary log file.
    BinlogWrite = "binlog_write", true;
    /// Syncing a binary log file.
    BinlogSync = "binlog_sync", true;
    /// A dump session waiting for new events.
    BinlogWait = "binlog_wait", true;
    /// Sleeping for a set time.
    Sleep = "sleep", true;
}

/// The number of a thread's first spans of a blocking state whose edges are all read.
const ALWAYS_SAMPLED: u64 = 8;
/// One in this many of the later spans has its edges read.
const SAMPLED_ONE_IN: u64 = 32;

/// Reports whether the CPU clock is read on both edges of a thread's span number `number` in a
/// blocking state. Spans are counted from 1.
#[inline]
fn is_sampled(number: u64) -> bool {
    number <= ALWAYS_SAMPLED || number.is_multiple_of(SAMPLED_ONE_IN)
}

const STATES: usize = State::ALL.len();
const _: () = assert!(STATES <= 64, "a state is one bit of `Account::touched`");

/// Bit `n` is set when state number `n` blocks. A switch asks for two of them.
const BLOCKING: u64 = {
    let (mut bits, mut number) = (0, 0);
    while number < STATES {
        bits |= (State::ALL[number].blocks() as u64) << number;
        number += 1;
    }
    bits
};

/// The account of one thread. Only its own thread writes it, and everyone may read it. All accesses
/// are relaxed: each counter stands for itself, a reader may see one a switch older than another,
/// and nothing else is published through them.
struct Account {
    name: Box<str>,
    tid: i32,
    current: AtomicU8,
    /// The tick at which `current` was entered.
    since_ticks: AtomicU64,
    wall_ticks: [AtomicU64; STATES],
    switches: [AtomicU64; STATES],
    cpu_ns: [AtomicU64; STATES],
    /// The reading of the thread's CPU clock at the last sampled edge, in nanoseconds.
    cpu_sampled_ns: AtomicU64,
    /// The values of `wall_ticks` at the last sampled edge. The next sample is shared out by the
    /// differences.
    wall_sampled_ticks: [AtomicU64; STATES],
    /// Bit `n` is set when state number `n` was in force since the last sampled edge, so that an
    /// edge looks at few of them.
    touched: AtomicU64,
    /// For each blocking state, the CPU time that it used between edges that were both read, and
    /// its wall time there, in nanoseconds.
    exact: [(AtomicU64, AtomicU64); STATES],
    /// The number of page requests; see [`count_page_requests`].
    page_requests: AtomicU64,
}

/// The figures of one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateTime {
    /// The state.
    pub state: State,
    /// How often the state was entered.
    pub entered: u64,
    /// The wall time spent in the state, in nanoseconds.
    pub wall_ns: u64,
    /// The CPU time used in the state, in nanoseconds.
    pub cpu_ns: u64,
}

/// The account of one running thread, or of all ended threads of one name.
#[derive(Debug, Clone)]
pub struct ThreadTime {
    /// The name that the thread was started with.
    pub name: String,
    /// The kernel's id of a running thread. `None` for the sum over those that have ended.
    pub tid: Option<i32>,
    /// The state that a running thread is in now. `None` for the sum over those that have ended.
    pub current: Option<State>,
    /// The states that were ever entered, in the order of [`State::ALL`].
    pub states: Vec<StateTime>,
}

#[derive(Default)]
struct Registry {
    running: Vec<Arc<Account>>,
    ended: BTreeMap<Box<str>, Vec<StateTime>>,
    ended_page_requests: u64,
}

/// All accounts. The mutex is a leaf in every lock order: nothing else is locked while it is held.
static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { running: Vec::new(), ended: BTreeMap::new(), ended_page_requests: 0 });

thread_local! {
    /// This thread's account, or null before it is opened and after it is closed. It has no
    /// destructor, so that reaching it is one load.
    static CURRENT: Cell<*const Account> = const { Cell::new(std::ptr::null()) };
    /// Keeps the account alive, and closes it when the thread ends.
    static OWNER: RefCell<Option<Owner>> = const { RefCell::new(None) };
}

struct Owner(Arc<Account>);

impl Drop for Owner {
    fn drop(&mut self) {
        CURRENT.set(std::ptr::null());
        self.0.sample(clock::ticks());
        let totals = self.0.states(None);
        let mut registry = REGISTRY.lock();
        registry.running.retain(|account| !Arc::ptr_eq(account, &self.0));
        registry.ended_page_requests += self.0.page_requests.load(Ordering::Relaxed);
        add_up(registry.ended.entry(self.0.name.clone()).or_default(), &totals);
    }
}

impl Account {
    fn new(name: &str) -> Account {
        fn zeros() -> [AtomicU64; STATES] {
            [const { AtomicU64::new(0) }; STATES]
        }
        Account {
            name: name.into(),
            tid: tid_of_this_thread(),
            current: AtomicU8::new(State::Running as u8),
            since_ticks: AtomicU64::new(clock::ticks()),
            wall_ticks: zeros(),
            switches: zeros(),
            cpu_ns: zeros(),
            cpu_sampled_ns: AtomicU64::new(clock::thread_cpu_ns()),
            wall_sampled_ticks: zeros(),
            touched: AtomicU64::new(0),
            exact: [const { (AtomicU64::new(0), AtomicU64::new(0)) }; STATES],
            page_requests: AtomicU64::new(0),
        }
    }

    #[inline]
    fn current(&self) -> State {
        State::ALL[usize::from(self.current.load(Ordering::Relaxed))]
    }

    /// Ends the current state and begins `next`. Only the owning thread calls this. Returns the
    /// state that ended.
    #[inline]
    fn switch(&self, next: State) -> State {
        let previous = self.current();
        let now = clock::ticks();
        self.charge(previous, now);
        self.current.store(next as u8, Ordering::Relaxed);
        bump(&self.switches[next as usize], 1);
        let blocks = |state: State| BLOCKING >> state as u32 & 1;
        if blocks(previous) != blocks(next) {
            // The edge belongs to the span in the state of the two that blocks.
            let blocking = if blocks(next) == 1 { next } else { previous };
            let number = self.switches[blocking as usize].load(Ordering::Relaxed);
            if is_sampled(number) {
                return self.sampled_edge(previous, next, now);
            }
        }
        previous
    }

    /// Reads the CPU clock on an edge between a blocking state and one that is not. Returns the
    /// state that ended, so that a switch needs to keep nothing while this runs.
    #[cold]
    #[inline(never)]
    fn sampled_edge(&self, previous: State, next: State, now: u64) -> State {
        match next.blocks() {
            true => _ = self.sample(now),
            false => self.end_sampled(previous, now),
        }
        previous
    }

    /// Reads the CPU clock at the end of a span in a blocking state, at whose beginning it was read
    /// too.
    fn end_sampled(&self, previous: State, now: u64) {
        let (index, only) = (previous as usize, 1 << previous as usize);
        // The measurement is exact only if the thread was in this state alone: from a blocking
        // state to another one there is no edge.
        if self.touched.load(Ordering::Relaxed) != only {
            self.sample(now);
            return;
        }
        let wall = self.wall_ticks[index].load(Ordering::Relaxed)
            - self.wall_sampled_ticks[index].load(Ordering::Relaxed);
        let (used_ns, wall_ns) = (self.sample(now), clock::ticks_to_ns(wall));
        bump(&self.exact[index].0, used_ns);
        bump(&self.exact[index].1, wall_ns);
    }

    /// Returns the weight of a nanosecond of wall time in the state when CPU time is shared out, in
    /// units of 1/65536.
    fn weight(&self, index: usize) -> u64 {
        let (cpu, wall) = &self.exact[index];
        let (cpu, wall) = (cpu.load(Ordering::Relaxed), wall.load(Ordering::Relaxed));
        match wall {
            0 => 1 << 16,
            wall => ((u128::from(cpu) << 16) / u128::from(wall)).clamp(1, 1 << 16) as u64,
        }
    }

    /// Adds the wall time up to `now` to `state`.
    #[inline]
    fn charge(&self, state: State, now: u64) {
        let since = self.since_ticks.load(Ordering::Relaxed);
        bump(&self.wall_ticks[state as usize], now.saturating_sub(since));
        self.since_ticks.store(now, Ordering::Relaxed);
        self.touched.store(self.touched.load(Ordering::Relaxed) | 1 << state as usize, Ordering::Relaxed);
    }

    /// Reads the CPU clock and shares out the CPU time used since the last reading. Only the owning
    /// thread calls this. Returns that CPU time in nanoseconds.
    #[cold]
    #[inline(never)]
    fn sample(&self, now: u64) -> u64 {
        self.charge(self.current(), now);
        let cpu_now = clock::thread_cpu_ns();
        let used_ns = cpu_now.saturating_sub(self.cpu_sampled_ns.load(Ordering::Relaxed));
        self.share_out(used_ns, None, |index, share_ns| bump(&self.cpu_ns[index], share_ns));
        self.cpu_sampled_ns.store(cpu_now, Ordering::Relaxed);
        for index in bits(self.touched.load(Ordering::Relaxed)) {
            let wall = self.wall_ticks[index].load(Ordering::Relaxed);
            self.wall_sampled_ticks[index].store(wall, Ordering::Relaxed);
        }
        self.touched.store(0, Ordering::Relaxed);
        used_ns
    }

    /// Splits `used_ns` over the states by their weighted wall time since the last sample. `open`
    /// is the current state with the ticks of its running span.
    fn share_out(&self, used_ns: u64, open: Option<(State, u64)>, mut give: impl FnMut(usize, u64)) {
        let open_bit = open.map_or(0, |(current, _)| 1 << current as usize);
        let touched = self.touched.load(Ordering::Relaxed) | open_bit;
        let span_of = |index: usize| {
            let wall = self.wall_ticks[index].load(Ordering::Relaxed);
            let sampled = self.wall_sampled_ticks[index].load(Ordering::Relaxed);
            let open_ticks =
                open.map_or(0, |(current, ticks)| if current as usize == index { ticks } else { 0 });
            wall.saturating_sub(sampled) + open_ticks
        };
        let share_of = |index: usize| u128::from(span_of(index)) * u128::from(self.weight(index));
        let total: u128 = bits(touched).map(share_of).sum();
        if total == 0 {
            return;
        }
        for index in bits(touched) {
            give(index, (u128::from(used_ns) * share_of(index) / total) as u64);
        }
    }

    /// Returns the figures counted so far. `open` is the current state with the ticks it has run,
    /// and the CPU time in nanoseconds since the last sample.
    fn states(&self, open: Option<(State, u64, u64)>) -> Vec<StateTime> {
        let mut cpu: [u64; STATES] = std::array::from_fn(|index| self.cpu_ns[index].load(Ordering::Relaxed));
        if let Some((current, open_ticks, used_ns)) = open {
            self.share_out(used_ns, Some((current, open_ticks)), |index, share_ns| cpu[index] += share_ns);
        }
        let time_of = |&state: &State| {
            let index = state as usize;
            let open_ticks = open.map_or(0, |(current, ticks, _)| if current == state { ticks } else { 0 });
            let wall_ticks = self.wall_ticks[index].load(Ordering::Relaxed) + open_ticks;
            StateTime {
                state,
                entered: self.switches[index].load(Ordering::Relaxed),
                wall_ns: clock::ticks_to_ns(wall_ticks),
                cpu_ns: cpu[index],
            }
        };
        State::ALL.iter().map(time_of).filter(|time| time.entered > 0 || time.wall_ns > 0).collect()
    }

    fn thread_time(&self) -> ThreadTime {
        let current = self.current();
        let open_ticks = clock::ticks().saturating_sub(self.since_ticks.load(Ordering::Relaxed));
        let sampled_ns = self.cpu_sampled_ns.load(Ordering::Relaxed);
        let cpu_now = clock::cpu_ns_of_thread(self.tid).unwrap_or(sampled_ns);
        let used_ns = cpu_now.saturating_sub(sampled_ns);
        ThreadTime {
            name: self.name.to_string(),
            tid: Some(self.tid),
            current: Some(current),
            states: self.states(Some((current, open_ticks, used_ns))),
        }
    }
}

/// Returns the numbers of the bits that are set.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (mask != 0).then_some(mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        lowest
    })
}

/// Adds to a counter that only this thread writes, so that no locked instruction is needed.
#[inline]
fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

fn add_up(totals: &mut Vec<StateTime>, more: &[StateTime]) {
    for time in more {
        match totals.iter_mut().find(|total| total.state == time.state) {
            Some(total) => {
                total.entered += time.entered;
                total.wall_ns += time.wall_ns;
                total.cpu_ns += time.cpu_ns;
            }
            None => totals.push(*time),
        }
    }
    totals.sort_by_key(|total| total.state);
}

/// Opens the calling thread's account under `name`. [`crate::thread::spawn`] does this for its
/// threads, and `main` for its own. A thread that was started otherwise gets an account called
/// `foreign` by its first [`enter`].
#[cfg(not(feature = "model"))]
pub fn open(name: &str) {
    open_account(name);
}

/// Opens the calling thread's account, and returns it. Returns null when the thread can no longer
/// have one.
#[cold]
fn open_account(name: &str) -> *const Account {
    let account = Arc::new(Account::new(name));
    let pointer = Arc::as_ptr(&account);
    // A thread gets no account any more while its locals are being destroyed. Its last moments are
    // not counted.
    let kept = OWNER.try_with(|owner| {
        REGISTRY.lock().running.push(Arc::clone(&account));
        owner.replace(Some(Owner(account)))
    });
    if kept.is_err() {
        return std::ptr::null();
    }
    CURRENT.set(pointer);
    pointer
}

/// Puts the calling thread into `state` until the guard is dropped, which puts the thread back into
/// the state it was in.
#[inline]
pub fn enter(state: State) -> Guard {
    Guard { previous: set(state), _not_send: std::marker::PhantomData }
}

/// Puts the calling thread into `state` for good, and returns the state it was in.
#[inline]
pub fn set(state: State) -> State {
    if cfg!(feature = "model") {
        // All threads of a model are one thread of the system, and time does not pass in it.
        return State::Running;
    }
    let mut pointer = CURRENT.get();
    if pointer.is_null() {
        pointer = open_account("foreign");
        if pointer.is_null() {
            return State::Running;
        }
    }
    // SAFETY: a non-null CURRENT points into the Arc that this thread's OWNER holds; OWNER's drop
    // clears CURRENT first.
    unsafe { (*pointer).switch(state) }
}

/// A view of what a thread is doing, for other threads.
pub struct Watch(Option<Arc<Account>>);

impl Watch {
    /// Returns a view of the calling thread.
    pub fn of_this_thread() -> Watch {
        if CURRENT.get().is_null() {
            open_account("foreign");
        }
        Watch(OWNER.try_with(|owner| owner.borrow().as_ref().map(|owner| owner.0.clone())).ok().flatten())
    }

    /// Reports whether this is a view of the calling thread.
    pub fn is_of_this_thread(&self) -> bool {
        self.0.as_ref().is_some_and(|account| std::ptr::eq(Arc::as_ptr(account), CURRENT.get()))
    }

    /// Returns the times of the thread's states. A thread without an account has none.
    pub fn times(&self) -> Vec<StateTime> {
        self.0.as_ref().map_or_else(Vec::new, |account| account.thread_time().states)
    }

    /// Returns what the thread is doing now. A thread without an account counts as running.
    pub fn state(&self) -> State {
        self.0.as_ref().map_or(State::Running, |account| account.current())
    }
}

/// Returns how long the calling thread has been in a state so far, in nanoseconds, without the span
/// that it may be in now. A thread without an account has been nowhere.
pub fn wall_ns_of_this_thread(state: State) -> u64 {
    clock::ticks_to_ns(wall_ticks_of_this_thread(state))
}

/// As [`wall_ns_of_this_thread`], in ticks, which cost less.
pub fn wall_ticks_of_this_thread(state: State) -> u64 {
    let pointer = CURRENT.get();
    if pointer.is_null() {
        return 0;
    }
    // SAFETY: as in `set`, a non-null CURRENT points into the Arc that this thread's OWNER holds.
    unsafe { &(*pointer).wall_ticks[state as usize] }.load(Ordering::Relaxed)
}

/// Returns the kernel's id of the calling thread, by which its account is found in a snapshot.
pub fn tid_of_this_thread() -> i32 {
    // SAFETY: gettid has no preconditions.
    unsafe { libc::gettid() }
}

/// Counts requests for pages of the buffer pool. They are counted for each thread, since a counter
/// that threads share would be too slow for so many requests. Requests of a thread without an
/// account are not counted.
#[inline]
pub fn count_page_requests(requests: u64) {
    let pointer = CURRENT.get();
    if !pointer.is_null() {
        // SAFETY: a non-null CURRENT points into the Arc that this thread's OWNER holds, as in
        // `set`.
        bump(unsafe { &(*pointer).page_requests }, requests);
    }
}

/// Returns the number of page requests of all threads so far.
pub fn page_requests() -> u64 {
    let registry = REGISTRY.lock();
    let running = registry.running.iter().map(|account| account.page_requests.load(Ordering::Relaxed));
    registry.ended_page_requests + running.sum::<u64>()
}

/// A guard that restores the thread's previous state when it is dropped.
#[must_use = "the state ends when the guard is dropped"]
#[derive(Debug)]
pub struct Guard {
    previous: State,
    /// The state belongs to one thread, so the guard must stay on it.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        set(self.previous);
    }
}

/// Returns the accounts of all running threads, in the order in which they started, then the sums
/// over ended threads by name.
pub fn snapshot() -> Vec<ThreadTime> {
    let registry = REGISTRY.lock();
    let running = registry.running.iter().map(|account| account.thread_time());
    let ended = registry.ended.iter().map(|(name, states)| ThreadTime {
        name: name.to_string(),
        tid: None,
        current: None,
        states: states.clone(),
    });
    running.chain(ended).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread;
    use std::sync::mpsc;
    use std::time::Duration;

    fn time_of(name: &str, state: State) -> Option<StateTime> {
        let all = snapshot();
        let thread = all.iter().find(|thread| thread.name == name)?;
        thread.states.iter().find(|time| time.state == state).copied()
    }

    #[test]
    fn a_running_thread_and_then_its_sum_are_seen() {
        let (go, wait) = mpsc::channel::<()>();
        let (ready, started) = mpsc::channel();
        let handle = thread::spawn("account-test", move || {
            let outer = enter(State::RowLockWait);
            clock::sleep(Duration::from_millis(10));
            drop(outer);
            let _idle = enter(State::Idle);
            ready.send(()).expect("the test listens");
            wait.recv().expect("the test sends");
        });
        started.recv().expect("the thread starts");
        let all = snapshot();
        let running = all.iter().find(|thread| thread.name == "account-test").expect("it is running");
        assert_eq!(running.current, Some(State::Idle));
        assert!(time_of("account-test", State::RowLockWait).expect("entered").wall_ns >= 5_000_000);
        go.send(()).expect("the thread waits");
        handle.join().expect("no panic");
        let ended = time_of("account-test", State::RowLockWait).expect("summed up");
        assert_eq!(ended.entered, 1);
        assert!(ended.wall_ns >= 5_000_000);
        assert!(snapshot().iter().any(|thread| thread.name == "account-test" && thread.tid.is_none()));
    }

    #[test]
    fn cpu_time_goes_to_the_state_that_used_it() {
        let handle = thread::spawn("account-cpu", || {
            let parse = enter(State::Parse);
            let started = clock::thread_cpu_ns();
            while clock::thread_cpu_ns() - started < 20_000_000 {
                std::hint::spin_loop();
            }
            drop(parse);
            let _idle = enter(State::Idle);
            clock::sleep(Duration::from_millis(5));
        });
        handle.join().expect("no panic");
        let parse = time_of("account-cpu", State::Parse).expect("entered");
        let idle = time_of("account-cpu", State::Idle).expect("entered");
        assert!(parse.cpu_ns > 10 * idle.cpu_ns, "parse {parse:?}, idle {idle:?}");
    }

    #[test]
    fn spans_whose_edges_are_not_read_get_what_the_others_had() {
        let handle = thread::spawn("account-some", || {
            for _ in 0..200 {
                let waiting = enter(State::ClientWait);
                clock::sleep(Duration::from_micros(300));
                drop(waiting);
                let _parse = enter(State::Parse);
                let started = clock::thread_cpu_ns();
                while clock::thread_cpu_ns() - started < 200_000 {
                    std::hint::spin_loop();
                }
            }
            clock::thread_cpu_ns()
        });
        let used_ns = handle.join().expect("no panic");
        let all: u64 =
            State::ALL.iter().filter_map(|&state| time_of("account-some", state)).map(|t| t.cpu_ns).sum();
        assert!(all >= used_ns - used_ns / 100, "{all} of {used_ns} ns are somebody's");
        let parse = time_of("account-some", State::Parse).expect("entered");
        let wait = time_of("account-some", State::ClientWait).expect("entered");
        assert_eq!((parse.entered, wait.entered), (200, 200));
        assert!(wait.wall_ns > 40_000_000);
        assert!(parse.cpu_ns > 4 * wait.cpu_ns, "parse {parse:?}, wait {wait:?}");
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = State::ALL.iter().map(|state| state.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STATES);
    }
}
