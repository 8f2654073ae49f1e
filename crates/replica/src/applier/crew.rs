//! How many of the workers work at once: as many as there are processors, one more so that none of
//! these waits for one that is not running, and one for each that waits for the disk or for a lock.
//! More of them would only take the processors' caches from each other.
//!
//! While one of them applies alone ([`super::trials`]) those at work wait for the relay log, and
//! nobody in line looks whether there is room.

use std::time::Duration;

use os::account::{self, State, Watch};
use parking_lot::{Condvar, Mutex};

use super::order::Order;

/// How soon it is found that somebody at work has begun to wait.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

#[derive(Default)]
struct AtWork {
    watches: Vec<Watch>,
    /// One applies alone.
    alone: bool,
}

/// See the module's header. Lock order: the line, then those at work.
pub(super) struct Crew {
    limit: usize,
    at_work: Mutex<AtWork>,
    /// A worker has left, or no longer applies alone.
    left: Condvar,
    /// The worker that holds the mutex is the next to go to work, and looks whether it may.
    line: Mutex<()>,
}

impl Crew {
    pub fn new() -> Crew {
        let (at_work, left, line) = Default::default();
        Crew { limit: os::thread::processors() + 1, at_work, left, line }
    }

    /// Waits until the calling thread may go to work, or everything has ended.
    pub fn go_to_work(&self, order: &Order) {
        let _waiting = account::enter(State::WorkerWait);
        let _line = self.line.lock();
        let mut at_work = self.at_work.lock();
        while running(&at_work.watches) >= self.limit && !order.has_ended() {
            match at_work.alone {
                true => self.left.wait(&mut at_work),
                false => drop(self.left.wait_for(&mut at_work, LOOK_AGAIN)),
            }
        }
        at_work.watches.push(Watch::of_this_thread());
    }

    /// Between two jobs: lets another go on with the work if there are too many.
    pub fn make_room(&self, order: &Order) {
        let mut at_work = self.at_work.lock();
        if running(&at_work.watches) <= self.limit {
            return;
        }
        at_work.watches.retain(|watch| !watch.is_of_this_thread());
        drop(at_work);
        self.go_to_work(order);
    }

    /// The calling thread applies alone until what this returns is dropped.
    pub fn alone(&self) -> Alone<'_> {
        self.at_work.lock().alone = true;
        Alone(self)
    }
}

/// See [`Crew::alone`].
pub(super) struct Alone<'c>(&'c Crew);

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.0.at_work.lock().alone = false;
        self.0.left.notify_all();
    }
}

fn running(at_work: &[Watch]) -> usize {
    at_work.iter().filter(|watch| !waits(watch.state())).count()
}

/// A thread in this state leaves its processor to others, and they can do something.
fn waits(state: State) -> bool {
    state.blocks() && !matches!(state, State::CommitOrderWait | State::WorkerWait)
}
