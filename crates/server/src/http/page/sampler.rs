//! The thread that takes a sample of the server's figures every ten seconds.

use super::history::{BETWEEN_SAMPLES, History, STATES, Sample};
use crate::server::Server;
use os::account::{State, ThreadTime, enter};
use os::clock::monotonic_ns;
use os::event::Event;
use os::thread::JoinHandle;
use parking_lot::Mutex;
use replica::status::ReplicaStatus;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The part that the thread shares with the one that ends it.
#[derive(Default)]
struct Ending {
    /// SeqCst, as [`Event`] asks for.
    is_wanted: AtomicBool,
    wanted: Event,
}

/// The thread.
pub struct Sampler {
    thread: JoinHandle<()>,
    ending: Arc<Ending>,
}

impl Sampler {
    /// Starts the thread, which takes its first sample at once.
    ///
    /// # Errors
    /// Returns an error when the system has no thread.
    pub fn start(server: &Arc<Server>, history: &Arc<Mutex<History>>) -> io::Result<Sampler> {
        let ending = Arc::<Ending>::default();
        let (server, history, its_ending) = (server.clone(), history.clone(), ending.clone());
        let thread = os::thread::try_spawn("http_sampler", move || run(&server, &history, &its_ending))?;
        Ok(Sampler { thread, ending })
    }

    /// Ends the thread.
    pub fn stop(self) {
        self.ending.is_wanted.store(true, Ordering::SeqCst);
        self.ending.wanted.notify_all();
        if self.thread.join().is_err() {
            log::error!("the thread that samples figures for the web page has panicked");
        }
    }
}

/// The time between two looks at the lag, of which a sample keeps the largest one.
const BETWEEN_LAGS: Duration = Duration::from_secs(1);

fn run(server: &Server, history: &Mutex<History>, ending: &Ending) {
    let mut due_ns = monotonic_ns();
    loop {
        let Some(lag_us) = wait_until(due_ns, server, ending) else { return };
        let mut now = take(server, &server.replica.statuses(), &os::account::snapshot());
        now.lag_us = now.lag_us.max(lag_us);
        history.lock().add(now);
        // After a machine has slept, the next sample is due from then on.
        due_ns = (due_ns + BETWEEN_SAMPLES.as_nanos() as u64).max(now.at_ns);
    }
}

/// Waits until a sample is due, and returns the largest lag that was known meanwhile. `None` means
/// that the thread has to end.
fn wait_until(due_ns: u64, server: &Server, ending: &Ending) -> Option<Option<u64>> {
    let mut lag_us = None;
    loop {
        let waiter = ending.wanted.prepare();
        if ending.is_wanted.load(Ordering::SeqCst) {
            return None;
        }
        let left = Duration::from_nanos(due_ns.saturating_sub(monotonic_ns()));
        if left.is_zero() {
            return Some(lag_us);
        }
        {
            let _waiting = enter(State::Idle);
            waiter.wait(Some(left.min(BETWEEN_LAGS)));
        }
        lag_us = lag_us.max(largest_lag(&server.replica.statuses()));
    }
}

/// Returns the largest lag, in microseconds. `None` means that there is no channel or that the lag
/// of one cannot be known.
fn largest_lag(channels: &[ReplicaStatus]) -> Option<u64> {
    let lags: Option<Vec<u64>> = channels.iter().map(|channel| channel.lag_us).collect();
    lags.and_then(|lags| lags.into_iter().max())
}

/// Takes a sample. `channels` and `threads` were read just now.
pub fn take(server: &Server, channels: &[ReplicaStatus], threads: &[ThreadTime]) -> Sample {
    let log = server.engine.log().status();
    let pool = server.engine.pool().status();
    let mut states_us = [0; STATES];
    for time in threads.iter().flat_map(|thread| &thread.states) {
        states_us[time.state as usize] += time.wall_ns / 1000;
    }
    Sample {
        at_ns: monotonic_ns(),
        lag_us: largest_lag(channels),
        applied: channels.iter().map(|channel| channel.applied_transactions).sum(),
        commits: server.engine.commits(),
        statements: server.status.questions.get(),
        log_bytes: log.written_bytes,
        page_bytes: pool.pages_written * pool.page_size,
        connections: server.sessions.clients() as u64,
        running: server.status.threads_running.get(),
        checkpoint_age_bytes: log.current_lsn.saturating_sub(log.checkpoint_lsn),
        dirty_bytes: pool.pages_dirty * pool.page_size,
        states_us,
    }
}
