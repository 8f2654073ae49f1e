//! An event that many threads can wait for and that one system call wakes them all by (Linux's
//! futex).
//!
//! The waiter's pattern, which loses no wake-up:
//!
//! ```
//! # use os::event::Event; use std::sync::atomic::{AtomicBool, Ordering}; use std::time::Duration;
//! # let (event, done) = (Event::new(), AtomicBool::new(true));
//! loop {
//!     let waiter = event.prepare();          // counted from here on
//!     if done.load(Ordering::SeqCst) {       // look after `prepare`, never before only
//!         break;
//!     }
//!     // It returns at once if there was a notification since `prepare`.
//!     waiter.wait(Some(Duration::from_secs(1)));
//! }
//! ```
//!
//! The notifier changes the condition first and calls [`Event::notify_all`] then. When the
//! condition is a `SeqCst` store or read-modify-write, the notifier may ask [`Event::has_waiters`]
//! and skip the call: either it sees the waiter, or the waiter sees the condition.

use std::time::Duration;

use crate::sync::atomic::{AtomicU32, Ordering};

/// An event. See the module's head. Wake-ups may be spurious.
#[derive(Debug, Default)]
pub struct Event {
    /// A number that grows by one with each notification. `SeqCst` together with `waiters`: the
    /// notifier writes `epoch` then reads `waiters`, the waiter writes `waiters` then (in the
    /// kernel) reads `epoch`; at least one sees the other.
    epoch: AtomicU32,
    waiters: AtomicU32,
    #[cfg(feature = "model")]
    kernel: model::Kernel,
}

impl Event {
    /// Makes an event that nobody waits for.
    pub const fn new() -> Event {
        Event {
            epoch: AtomicU32::new(0),
            waiters: AtomicU32::new(0),
            #[cfg(feature = "model")]
            kernel: model::Kernel::new(),
        }
    }

    /// Counts the caller as a waiter and notes the epoch: any later notification ends the caller's
    /// wait.
    pub fn prepare(&self) -> Waiter<'_> {
        self.waiters.fetch_add(1, Ordering::SeqCst);
        Waiter { event: self, epoch: self.epoch.load(Ordering::SeqCst) }
    }

    /// Reports whether a thread is between `prepare` and the end of its wait.
    #[inline]
    pub fn has_waiters(&self) -> bool {
        self.waiters.load(Ordering::SeqCst) > 0
    }

    /// Wakes every waiter.
    pub fn notify_all(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        if self.has_waiters() {
            self.wake();
        }
    }
}

/// A counted waiter. It may be dropped without waiting.
#[derive(Debug)]
pub struct Waiter<'a> {
    event: &'a Event,
    epoch: u32,
}

impl Waiter<'_> {
    /// Sleeps until a notification after [`Event::prepare`], or until `timeout` has passed. `None`
    /// means that the wait has no limit.
    pub fn wait(self, timeout: Option<Duration>) {
        self.event.sleep(self.epoch, timeout);
    }
}

#[cfg(not(feature = "model"))]
impl Event {
    fn wake(&self) {
        futex(&self.epoch, libc::FUTEX_WAKE, i32::MAX as u32, None);
    }

    /// Sleeps while the epoch is `seen`.
    fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        futex(&self.epoch, libc::FUTEX_WAIT, seen, timeout);
    }
}

/// A replacement, for the model checker, of the kernel's handling of the word of an event.
#[cfg(feature = "model")]
mod model {
    use super::{Duration, Event, Ordering};
    use crate::sync::{Condvar, ENDLESS, Mutex};

    #[derive(Debug, Default)]
    pub struct Kernel {
        queue: Mutex<()>,
        woken: Condvar,
    }

    impl Kernel {
        pub const fn new() -> Kernel {
            Kernel { queue: Mutex::new(()), woken: Condvar::new() }
        }
    }

    impl Event {
        pub(super) fn wake(&self) {
            let _queue = self.kernel.queue.lock();
            self.kernel.woken.notify_all();
        }

        /// Looks at the word and joins the queue in one step, as the kernel does.
        pub(super) fn sleep(&self, seen: u32, timeout: Option<Duration>) {
            let mut queue = self.kernel.queue.lock();
            if self.epoch.load(Ordering::SeqCst) == seen {
                self.kernel.woken.wait_for(&mut queue, timeout.unwrap_or(ENDLESS));
            }
        }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.event.waiters.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(not(feature = "model"))]
fn futex(word: &AtomicU32, operation: i32, value: u32, timeout: Option<Duration>) {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().min(i32::MAX as u64) as libc::time_t,
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout_pointer = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word is a live, aligned u32 for the call's duration, the timeout null or a live
    // timespec. Every error (the word has changed, a signal, the timeout) means "look again", which
    // every caller does.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            value,
            timeout_pointer,
        );
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::thread;

    #[test]
    fn all_waiters_are_woken_and_none_is_lost() {
        for _ in 0..200 {
            let shared = Arc::new((Event::new(), AtomicBool::new(false)));
            let waiters: Vec<_> = (0..4)
                .map(|_| {
                    let shared = Arc::clone(&shared);
                    thread::spawn("event-test", move || {
                        loop {
                            let waiter = shared.0.prepare();
                            if shared.1.load(Ordering::SeqCst) {
                                break;
                            }
                            waiter.wait(None);
                        }
                    })
                })
                .collect();
            shared.1.store(true, Ordering::SeqCst);
            shared.0.notify_all();
            for waiter in waiters {
                waiter.join().expect("no panic");
            }
            assert!(!shared.0.has_waiters());
        }
    }

    #[test]
    fn a_wait_ends_by_its_timeout() {
        let event = Event::new();
        event.prepare().wait(Some(Duration::from_millis(1)));
        assert!(!event.has_waiters());
    }
}
