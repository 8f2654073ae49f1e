//! The engine's own threads: the checkpointer, purge, and the one that deletes the rows of dropped
//! partitions. The log and the pool have threads of their
//! own.
//!
//! None of these threads keeps the engine alive. An engine that nobody else holds any more is
//! dropped, and its threads end.

use crate::Engine;
use crate::background::{Background, CHECKPOINT_PERIOD, EMPTYING_PERIOD, PURGE_PERIOD};
use crate::emptying::Emptied;
use os::thread::JoinHandle;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Starts the engine's threads, unless the engine's options turn them off.
pub(crate) fn start(engine: &Arc<Engine>) {
    if !engine.config.background {
        return;
    }
    engine.pool.start_cleaners();
    let background = engine.background.clone();
    engine.log.on_space_needed(Box::new(move || {
        *background.space_needed.lock() = true;
        background.wake.notify_all();
    }));
    let mut threads = engine.background.threads.lock();
    threads.push(spawn(engine, "checkpointer", Background::wait_for_checkpoint, |engine, is_urgent| {
        match engine.checkpointer.round(is_urgent, || engine.background.is_stopping()) {
            Ok(()) => Duration::ZERO,
            Err(error) => {
                log::error!("InnoDB: Checkpoint failed: {error}");
                CHECKPOINT_PERIOD
            }
        }
    }));
    threads.push(spawn(
        engine,
        "purge",
        |_| (),
        |engine, ()| {
            let _state = os::account::enter(os::account::State::Purge);
            match engine.purge() {
                Ok(0) => PURGE_PERIOD,
                Ok(_) => Duration::ZERO,
                Err(error) => {
                    log::error!("InnoDB: Purge failed: {error}");
                    CHECKPOINT_PERIOD
                }
            }
        },
    ));
    threads.push(spawn(
        engine,
        "drop_partition",
        |_| (),
        |engine, ()| {
            let _state = os::account::enter(os::account::State::Purge);
            let took = os::clock::Stopwatch::start();
            match engine.delete_dropped_rows() {
                // Half of the time is the applier's and the sessions'.
                Ok(Emptied::GoesOn) => took.elapsed(),
                Ok(Emptied::Done) => EMPTYING_PERIOD,
                Ok(Emptied::Waits) => CHECKPOINT_PERIOD,
                Err(error) => {
                    log::error!("InnoDB: The rows of dropped partitions cannot be deleted: {error}");
                    CHECKPOINT_PERIOD
                }
            }
        },
    ));
}

/// Spawns a thread that waits for work and does a round of it, until the engine stops or is
/// dropped. Each round says how long to pause after it. The thread holds the engine only during a
/// round: two threads that held it while they rest would keep the engine alive for each other.
fn spawn<W>(
    engine: &Arc<Engine>,
    name: &str,
    wait: impl Fn(&Background) -> W + Send + 'static,
    round: impl Fn(&Arc<Engine>, W) -> Duration + Send + 'static,
) -> JoinHandle<()> {
    let (weak, background) = (Arc::downgrade(engine), engine.background.clone());
    os::thread::spawn(name, move || {
        while !background.stop.load(Ordering::Acquire) {
            let work = wait(&background);
            let Some(engine) = weak.upgrade() else { return };
            let pause = round(&engine, work);
            drop(engine);
            if !pause.is_zero() {
                let _state = os::account::enter(os::account::State::Idle);
                os::clock::sleep(pause);
            }
        }
    })
}
