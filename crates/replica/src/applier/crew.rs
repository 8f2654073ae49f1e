//! The limit on the workers that work at once: as many as there are processors, one more so that no
//! processor waits for a worker that is not running, and one for each worker that waits for the
//! disk or for a lock. More of them would only displace each other's data from the processors'
//! caches.
//!
//! While one worker applies alone ([`super::trials`]), the others at work wait for the relay log,
//! and no worker in line looks whether there is room.

use std::time::Duration;

use os::account::{self, State, Watch};
use parking_lot::{Condvar, Mutex};

use super::order::Order;

/// The interval at which a worker in line looks whether a working one has begun to wait.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

#[derive(Default)]
struct AtWork {
    watches: Vec<Watch>,
    /// True while one worker applies alone.
    alone: bool,
}

/// The workers of an applier, and which of them work. Lock order: `line`, then `at_work`.
pub(super) struct Crew {
    limit: usize,
    at_work: Mutex<AtWork>,
    /// Notified when a worker has left, or no longer applies alone.
    left: Condvar,
    /// The queue for work. The worker that holds the mutex goes next, and looks whether there is
    /// room.
    line: Mutex<()>,
}

impl Crew {
    pub fn new() -> Crew {
        let (at_work, left, line) = Default::default();
        Crew { limit: os::thread::processors() + 1, at_work, left, line }
    }

    /// Waits until the calling thread may go to work, or until the applier's order has ended.
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

    /// Lets another worker take over between two jobs, if too many work.
    pub fn make_room(&self, order: &Order) {
        let mut at_work = self.at_work.lock();
        if running(&at_work.watches) <= self.limit {
            return;
        }
        at_work.watches.retain(|watch| !watch.is_of_this_thread());
        drop(at_work);
        self.go_to_work(order);
    }

    /// Marks the calling thread as the one that applies alone, until the returned value is dropped.
    pub fn alone(&self) -> Alone<'_> {
        self.at_work.lock().alone = true;
        Alone(self)
    }
}

/// The mark of [`Crew::alone`], which ends when this value is dropped.
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

/// Reports whether a thread in this state leaves its processor to other workers that can go on.
/// Workers that wait for each other do not count.
fn waits(state: State) -> bool {
    state.blocks() && !matches!(state, State::CommitOrderWait | State::WorkerWait)
}
