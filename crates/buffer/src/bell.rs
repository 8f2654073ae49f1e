//! How a background thread is woken and stopped.

use std::time::Duration;

use os::account::{State, enter};
use parking_lot::{Condvar, Mutex};

#[derive(Debug, Default)]
struct Orders {
    running: bool,
    stop: bool,
    rung: bool,
}

/// What a background thread and those who want something of it share. The mutex is a leaf in the
/// lock order.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    orders: Mutex<Orders>,
    event: Condvar,
}

impl Bell {
    /// The thread is about to be started.
    pub fn begin(&self) {
        *self.orders.lock() = Orders { running: true, stop: false, rung: false };
    }

    /// Asks for a round now; false when no thread runs.
    pub fn ring(&self) -> bool {
        let mut orders = self.orders.lock();
        if orders.running && !orders.rung {
            orders.rung = true;
            self.event.notify_one();
        }
        orders.running
    }

    /// Asks the thread to end; from here on [`Bell::ring`] says that none runs.
    pub fn stop(&self) {
        let mut orders = self.orders.lock();
        orders.stop = true;
        orders.running = false;
        self.event.notify_one();
    }

    /// Waits for the bell, or for `patience`; false when it is time to end.
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
