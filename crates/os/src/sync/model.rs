//! `parking_lot`'s interface over `shuttle`'s types.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

pub use shuttle::hint::spin_loop;
pub use shuttle::sync::atomic;

/// A wait with at least this limit ends by its notification alone.
pub(crate) const ENDLESS: Duration = Duration::from_secs(1);

/// See `parking_lot::Mutex`.
#[derive(Debug, Default)]
pub struct Mutex<T>(shuttle::sync::Mutex<T>);

/// See `parking_lot::MutexGuard`. `None` only while its thread waits on a condition.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    held: Option<shuttle::sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    /// A free mutex.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(shuttle::sync::Mutex::new(value))
    }

    /// Takes it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, held: Some(self.0.lock().expect("a panic ends the model")) }
    }

    /// Takes it if it is free.
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

/// See `parking_lot::Condvar`.
#[derive(Debug, Default)]
pub struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    /// One that nobody waits on.
    pub const fn new() -> Condvar {
        Condvar(shuttle::sync::Condvar::new())
    }

    /// Waits for a notification.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.held.take().expect("not waiting");
        guard.held = Some(self.0.wait(held).expect("a panic ends the model"));
    }

    /// Waits for a notification; a short wait may also end without one.
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

/// See `parking_lot::RwLock`.
#[derive(Debug, Default)]
pub struct RwLock<T>(shuttle::sync::RwLock<T>);

impl<T> RwLock<T> {
    /// A free lock.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock(shuttle::sync::RwLock::new(value))
    }

    /// Takes it shared.
    pub fn read(&self) -> shuttle::sync::RwLockReadGuard<'_, T> {
        self.0.read().expect("a panic ends the model")
    }

    /// Takes it exclusively.
    pub fn write(&self) -> shuttle::sync::RwLockWriteGuard<'_, T> {
        self.0.write().expect("a panic ends the model")
    }
}
