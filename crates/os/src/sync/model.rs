//! The interface of `parking_lot` over the types of `shuttle`.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

pub use shuttle::hint::spin_loop;
pub use shuttle::sync::atomic;

/// The limit from which on a wait ends only by its notification.
pub(crate) const ENDLESS: Duration = Duration::from_secs(1);

/// A mutex. See `parking_lot::Mutex`.
#[derive(Debug, Default)]
pub struct Mutex<T>(shuttle::sync::Mutex<T>);

/// A guard of a mutex. See `parking_lot::MutexGuard`. `held` is `None` only while the guard's
/// thread waits on a condition.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    held: Option<shuttle::sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    /// Makes a free mutex.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(shuttle::sync::Mutex::new(value))
    }

    /// Takes the mutex.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, held: Some(self.0.lock().expect("a panic ends the model")) }
    }

    /// Takes the mutex if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let held = self.0.try_lock().ok()?;
        Some(MutexGuard { mutex: self, held: Some(held) })
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.held.as_ref().expect("not waiting")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.held.as_mut().expect("not waiting")
    }
}

/// A condition variable. See `parking_lot::Condvar`.
#[derive(Debug, Default)]
pub struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    /// Makes a condition variable that nobody waits on.
    pub const fn new() -> Condvar {
        Condvar(shuttle::sync::Condvar::new())
    }

    /// Waits for a notification.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.held.take().expect("not waiting");
        guard.held = Some(self.0.wait(held).expect("a panic ends the model"));
    }

    /// Waits for a notification. A short wait may also end without one.
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, timeout: Duration) {
        if timeout >= ENDLESS {
            return self.wait(guard);
        }
        drop(guard.held.take());
        shuttle::thread::yield_now();
        guard.held = guard.mutex.lock().held.take();
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// A lock for readers and writers. See `parking_lot::RwLock`.
#[derive(Debug, Default)]
pub struct RwLock<T>(shuttle::sync::RwLock<T>);

impl<T> RwLock<T> {
    /// Makes a free lock.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock(shuttle::sync::RwLock::new(value))
    }

    /// Takes the lock shared.
    pub fn read(&self) -> shuttle::sync::RwLockReadGuard<'_, T> {
        self.0.read().expect("a panic ends the model")
    }

    /// Takes the lock exclusively.
    pub fn write(&self) -> shuttle::sync::RwLockWriteGuard<'_, T> {
        self.0.write().expect("a panic ends the model")
    }
}
