//! Named threads. Each opens its time account (see [`crate::account`]) before its first line runs and closes it after its last.

pub use std::thread::JoinHandle;

use crate::account;

/// Starts a thread called `name` (the kernel shows the first 15 bytes). The name is also what its time is accounted under, so
/// threads of one job share one name: `connection`, not `connection-17`.
///
/// # Panics
/// When the operating system has no thread to give; [`try_spawn`] returns that as an error.
pub fn spawn<F, T>(name: &str, run: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    try_spawn(name, run).unwrap_or_else(|error| panic!("cannot start thread {name}: {error}"))
}

/// As [`spawn`], with the refusal of the operating system as an error: for threads that a user's connection asks for.
pub fn try_spawn<F, T>(name: &str, run: F) -> std::io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let account_name: Box<str> = name.into();
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        account::open(&account_name);
        run()
    })
}

/// The number of processors this process may use; at least 1.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// Lets another thread that is ready run first.
pub fn yield_now() {
    std::thread::yield_now();
}
