//! `innodb_thread_concurrency`: the limit on the statements that are inside the engine at once.
//!
//! A statement takes a place before it runs. It gives the place back when it ends, and also while
//! it waits for a lock, because the holder of that lock may need a place to release it. Without a
//! limit nothing is counted.
//!
//! Lock order: the mutex is a leaf. A session that waits for a place holds only what it holds
//! between statements, and any session that waits for one of those locks has given its own place
//! back.

use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

thread_local! {
    /// Whether this thread has a place.
    static HAS_PLACE: Cell<bool> = const { Cell::new(false) };
}

/// The gate at which statements take and give back their places.
#[derive(Debug, Default)]
pub(crate) struct ThreadConcurrency {
    /// The number of places. 0 means no limit.
    limit: AtomicU32,
    inside: Mutex<u32>,
    left: Condvar,
    /// The number of times that a statement had to wait for a place.
    pub waits: AtomicU64,
}

/// A place inside the engine, which is given back when this value is dropped.
#[derive(Debug)]
pub struct Place<'e> {
    gate: Option<&'e ThreadConcurrency>,
}

impl ThreadConcurrency {
    pub fn set_limit(&self, limit: u32) {
        let _inside = self.inside.lock();
        self.limit.store(limit, Ordering::Relaxed);
        self.left.notify_all();
    }

    /// Takes a place, waiting for one if need be. A thread that has a place already gets no second
    /// one.
    pub fn enter(&self) -> Place<'_> {
        if self.limit.load(Ordering::Relaxed) == 0 || HAS_PLACE.get() {
            return Place { gate: None };
        }
        self.take();
        Place { gate: Some(self) }
    }

    fn take(&self) {
        let mut inside = self.inside.lock();
        let may_enter = |inside: u32| {
            let limit = self.limit.load(Ordering::Relaxed);
            limit == 0 || inside < limit
        };
        if !may_enter(*inside) {
            self.waits.fetch_add(1, Ordering::Relaxed);
            let _state = os::account::enter(os::account::State::Idle);
            while !may_enter(*inside) {
                self.left.wait(&mut inside);
            }
        }
        *inside += 1;
        HAS_PLACE.set(true);
    }

    fn leave(&self) {
        let mut inside = self.inside.lock();
        assert!(*inside > 0, "a statement leaves that has no place inside");
        *inside -= 1;
        drop(inside);
        HAS_PLACE.set(false);
        self.left.notify_one();
    }

    /// Runs `wait` without the place that the thread may have, and takes a place again afterwards.
    pub fn outside<R>(&self, wait: impl FnOnce() -> R) -> R {
        if !HAS_PLACE.get() {
            return wait();
        }
        self.leave();
        let result = wait();
        self.take();
        result
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(gate) = self.gate {
            gate.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn no_more_than_the_limit_are_inside() {
        let gate = Arc::new(ThreadConcurrency::default());
        gate.set_limit(2);
        let (now, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let work = || {
            let (gate, now, most) = (gate.clone(), now.clone(), most.clone());
            os::thread::spawn("worker", move || {
                for _ in 0..200 {
                    let place = gate.enter();
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    os::thread::yield_now();
                    now.fetch_sub(1, Ordering::SeqCst);
                    drop(place);
                }
            })
        };
        let workers: Vec<_> = (0..6).map(|_| work()).collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(most.load(Ordering::SeqCst), 2);
        assert_eq!(*gate.inside.lock(), 0);
    }

    #[test]
    fn who_waits_for_something_else_makes_room() {
        let gate = Arc::new(ThreadConcurrency::default());
        gate.set_limit(1);
        let place = gate.enter();
        gate.outside(|| {
            let other = {
                let gate = gate.clone();
                os::thread::spawn("other", move || drop(gate.enter()))
            };
            other.join().unwrap();
        });
        assert_eq!(*gate.inside.lock(), 1);
        drop(place);
        assert_eq!(*gate.inside.lock(), 0);
    }
}
