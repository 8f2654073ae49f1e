//! Panics that end one piece of work and not the process.
//!
//! A thread that works for one client, or for one replication channel, runs its work within
//! [`contain`]: a panic in it becomes an error of that work. A panic in any other thread ends the
//! process, because nobody else would do that thread's work. So does a panic in the middle of a
//! change that others see and nobody could finish ([`Indivisible`]).

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// The number of calls of [`contain`] that the thread is in.
    static CONTAINED: Cell<u32> = const { Cell::new(0) };
}

/// The message of a contained panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panicked(pub String);

/// Runs `run`, and turns a panic in it into an error. What `run` has borrowed may then be half
/// changed: the caller throws it away, or knows that it is whole after every step.
///
/// # Errors
/// Returns the panic's message.
pub fn contain<T>(run: impl FnOnce() -> T) -> Result<T, Panicked> {
    let entered = Contained::enter();
    let outcome = catch_unwind(AssertUnwindSafe(run));
    drop(entered);
    outcome.map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Panicked(text.unwrap_or("no message").to_owned())
    })
}

/// Reports whether a panic of the calling thread would be contained.
pub fn is_contained() -> bool {
    CONTAINED.get() > 0
}

/// A value that, while it lives, marks panics of its thread as contained. It is for threads that a
/// thread within [`contain`] starts and joins.
pub(crate) struct Contained(());

impl Contained {
    pub(crate) fn enter() -> Contained {
        CONTAINED.set(CONTAINED.get() + 1);
        Contained(())
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        CONTAINED.set(CONTAINED.get() - 1);
    }
}

/// A change that must be finished, or else the process ends: others see its first half, or wait for
/// its end. If a contained panic drops it before [`Indivisible::finish`] was called, it ends the
/// process, as InnoDB's assertions do. Recovery then makes the change whole.
#[derive(Debug)]
pub struct Indivisible {
    what: &'static str,
    is_finished: Cell<bool>,
}

impl Indivisible {
    /// Begins the change. `what` names it for the error log.
    pub fn begin(what: &'static str) -> Indivisible {
        Indivisible { what, is_finished: Cell::new(false) }
    }

    /// Notes that the change is whole.
    pub fn finish(&self) {
        self.is_finished.set(true);
    }
}

impl Drop for Indivisible {
    fn drop(&mut self) {
        if !self.is_finished.get() {
            end_process_if_panicking(self.what);
        }
    }
}

/// Ends the process when a contained panic is under way: what the caller holds cannot be let go of
/// as it is. A panic that nobody contains ends the process anyway. `what` names the change for the
/// error log.
#[inline]
pub fn end_process_if_panicking(what: &str) {
    if std::thread::panicking() && is_contained() {
        end_process(what);
    }
}

#[cold]
fn end_process(what: &str) {
    eprintln!(
        "[ERROR] [Server] a panic in the middle of {what}: the server ends, and recovers at its next start."
    );
    std::process::abort();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contained_panic_is_an_error_with_its_words() {
        assert_eq!(contain(|| 5), Ok(5));
        assert!(!is_contained());
        let panicked = contain(|| -> u32 {
            assert!(is_contained());
            // Inner contained panics end by themselves.
            assert!(contain(|| panic!("inner")).is_err() && is_contained());
            panic!("outer {}", 1)
        });
        assert_eq!(panicked, Err(Panicked("outer 1".to_owned())));
        assert!(!is_contained());
    }

    #[test]
    fn threads_of_a_contained_one_hand_it_their_panics() {
        let panicked = contain(|| {
            let jobs: Vec<Box<dyn FnOnce() + Send>> =
                vec![Box::new(|| assert!(is_contained())), Box::new(|| panic!("of a job"))];
            crate::thread::run_all("job", jobs)
        });
        assert_eq!(panicked.unwrap_err(), Panicked("of a job".to_owned()));
    }

    #[test]
    fn what_is_finished_may_be_dropped_by_a_panic() {
        let panicked = contain(|| {
            let change = Indivisible::begin("a change");
            change.finish();
            panic!("behind it")
        });
        assert_eq!(panicked, Err::<(), _>(Panicked("behind it".to_owned())));
        // Without a panic, dropping an unfinished change does nothing.
        drop(Indivisible::begin("a change that was given up"));
    }
}
