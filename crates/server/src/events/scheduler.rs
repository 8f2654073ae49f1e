//! The scheduler's thread. It lives as long as the server, and runs events as long as there is a
//! daemon ([`crate::server::event_scheduler`]).

use super::queue::{Due, Queue};
use super::worker;
use crate::server::Server;
use crate::server::sessions::{Activity, SessionEntry};
use crate::variables::begin_events;
use os::account::{State, enter};
use sql::SqlError;
use std::sync::Arc;
use std::time::Duration;

/// The longest wait, because the scheduler is not told when the wall clock is set.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Starts the thread, and begins to run events if `event_scheduler` says so.
pub fn open(server: &Arc<Server>) {
    let of_thread = server.clone();
    os::thread::spawn("event_scheduler", move || run(&of_thread));
    begin_events(server);
}

fn run(server: &Arc<Server>) {
    while let Some(entry) = server.events.daemon() {
        if let Err(panic) = os::panic::contain(|| serve(server, &entry)) {
            log::error!("the event scheduler has panicked and is stopped: {}", panic.0);
        }
        server.events.ended(&server.sessions, &entry);
    }
}

fn now_s() -> i64 {
    (os::clock::now_us() / 1_000_000) as i64
}

/// Runs events until the daemon is told to end.
fn serve(server: &Arc<Server>, entry: &Arc<SessionEntry>) {
    let mut queue = Queue::default();
    while !entry.is_killed() && !server.is_stopping() {
        let seen = server.events.changes();
        let now_s = now_s();
        let events = server.engine.catalog().all_objects(engine::ObjectKind::Event);
        queue.refresh(events, now_s, |def| sql::timing_of(&server.engine, def));
        match queue.take_due(now_s) {
            Some(due) => {
                if let Err(error) = begin(server, entry, due, now_s) {
                    log::error!(target: "MY-010045", "Event Scheduler: Unable to schedule event: {}", error.message);
                    log::info!(
                        "Event Scheduler: Serious error during getting next event to execute. Stopping"
                    );
                    return;
                }
            }
            None => wait(server, entry, queue.next_s(), seen),
        }
    }
}

/// Waits until the next event is due, or until events have changed.
fn wait(server: &Server, entry: &SessionEntry, next_s: Option<i64>, seen: u64) {
    let (state, timeout) = match next_s {
        None => ("Waiting on empty queue", LONGEST_WAIT),
        Some(next_s) => {
            let next_us = next_s.max(0) as u64 * 1_000_000;
            let left = Duration::from_micros(next_us.saturating_sub(os::clock::now_us()));
            ("Waiting for next activation", left.min(LONGEST_WAIT))
        }
    };
    entry.show(|shown| shown.state = state);
    let _waiting = enter(State::Idle);
    entry.wait_for(Some(timeout), || server.events.changes() != seen);
}

/// Notes in the dictionary that an event runs, and starts it.
///
/// # Errors
/// Returns 1290 (`ER_OPTION_PREVENTS_STATEMENT`) on a server that is `super_read_only`, and the
/// errors of the dictionary.
fn begin(server: &Arc<Server>, entry: &Arc<SessionEntry>, due: Due, now_s: i64) -> sql::Result<()> {
    if server.globals.named("super_read_only").is_on() {
        return Err(SqlError::option_prevents("--super-read-only"));
    }
    entry.set_activity(Activity::Daemon);
    entry.show(|shown| shown.state = "Waiting for global read lock");
    let Due { event, is_last } = due;
    match sql::note_event_run(&server.engine, &event, (now_s, is_last), entry.kill_flag()) {
        Ok(true) => {}
        Ok(false) => return Ok(()),
        // A scheduler that was stopped by SET GLOBAL, or with the server, has not failed.
        Err(_) if entry.is_killed() => return Ok(()),
        Err(error) => return Err(error),
    }
    if is_last {
        let drops = if sql::event_timing::is_dropped_at_end(&event.def) { "Dropping." } else { "" };
        log::info!("Event Scheduler: Last execution of {}.{}. {drops}", event.def.schema, event.def.name);
    }
    server.events.unless_stopped(entry, || worker::start(server, event, is_last));
    Ok(())
}
