//! Bells, by which a background thread is woken and stopped.

use std::time::Duration;

use os::account::{State, enter};
use parking_lot::{Condvar, Mutex};

#[derive(Debug, Default)]
struct Orders {
    running: bool,
    stop: bool,
    rung: bool,
}

/// A bell: what a background thread shares with the threads that want something of it. The mutex is
/// a leaf in the lock order.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    orders: Mutex<Orders>,
    event: Condvar,
}

impl Bell {
    /// Resets the bell for a thread that is about to be started.
    pub fn begin(&self) {
        *self.orders.lock() = Orders { running: true, stop: false, rung: false };
    }

    /// Asks the thread for a round now. Returns false when no thread runs.
    pub fn ring(&self) -> bool {
        let mut orders = self.orders.lock();
        if orders.running && !orders.rung {
            orders.rung = true;
            self.event.notify_one();
        }
        orders.running
    }

    /// Asks the thread to end. From then on [`Bell::ring`] returns false.
    pub fn stop(&self) {
        let mut orders = self.orders.lock();
        orders.stop = true;
        orders.running = false;
        self.event.notify_one();
    }

    /// Waits until the bell is rung, but at most for `patience`. Returns false when the thread has
    /// to end.
    pub fn wait(&self, patience: Duration) -> bool {
        let _idle = enter(State::Idle);
        let mut orders = self.orders.lock();
        if !orders.rung && !orders.stop {
            self.event.wait_for(&mut orders, patience);
        }
        orders.rung = false;
        !orders.stop
    }
}
