//! Named threads. Each opens its time account (see [`crate::account`]) before its first line runs
//! and closes it after its last.

#[cfg(not(feature = "model"))]
pub use std::thread::JoinHandle;

#[cfg(feature = "model")]
pub use model::JoinHandle;

#[cfg(not(feature = "model"))]
use crate::account;

/// The stack of the threads that are started here. Only what a thread has touched of it is memory.
/// It is this large for statements that nest as deeply as MySQL's may.
pub const STACK_BYTES: usize = 12 << 20;

/// Bytes of the calling thread's stack that are left, less its guard.
#[inline]
pub fn stack_bytes_left() -> usize {
    thread_local! {
        static LOWEST: usize = lowest_stack_address();
    }
    let here = 0u8;
    (&raw const here as usize).saturating_sub(LOWEST.with(|lowest| *lowest))
}

/// Where the calling thread's stack ends. Where `/proc` is missing, as in a bare chroot, the system
/// does not say it of the first thread; its limit does, as far as that can be relied on.
fn lowest_stack_address() -> usize {
    known_stack_end().unwrap_or_else(|| {
        let here = 0u8;
        (&raw const here as usize).saturating_sub(first_stack_bytes() / 2)
    })
}

/// What the first thread's stack may grow to. At its top are the arguments and the environment, for
/// which the kernel allows a quarter of it.
fn first_stack_bytes() -> usize {
    /// Linux's own default, for a stack without a limit too.
    const USUAL_BYTES: u64 = 8 << 20;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: getrlimit writes to the local variable that it is given, and to nothing else.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } == 0;
    if known { limit.rlim_cur.min(USUAL_BYTES) as usize } else { USUAL_BYTES as usize }
}

/// Where the system says that the calling thread's stack ends.
fn known_stack_end() -> Option<usize> {
    // SAFETY: the structure is plain data that pthread_getattr_np fills in, and what it has
    // allocated is given back; the other two calls take what it has filled in, and write to the
    // three local variables.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return None;
        }
        let (mut lowest, mut bytes, mut guard) = (std::ptr::null_mut(), 0, 0);
        let known = libc::pthread_attr_getstack(&raw const attributes, &raw mut lowest, &raw mut bytes);
        libc::pthread_attr_getguardsize(&raw const attributes, &raw mut guard);
        libc::pthread_attr_destroy(&raw mut attributes);
        (known == 0).then(|| lowest as usize + guard)
    }
}

/// Starts a thread called `name` (the kernel shows the first 15 bytes). The name is also what its
/// time is accounted under, so threads of one job share one name: `connection`, not
/// `connection-17`.
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

/// As [`spawn`], with the refusal of the operating system as an error: for threads that a user's
/// connection asks for.
pub fn try_spawn<F, T>(name: &str, run: F) -> std::io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    #[cfg(feature = "model")]
    return model::spawn(name, run);
    #[cfg(not(feature = "model"))]
    spawn_real(name, run)
}

#[cfg(not(feature = "model"))]
fn spawn_real<F, T>(name: &str, run: F) -> std::io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let account_name: Box<str> = name.into();
    std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(move || {
        account::open(&account_name);
        run()
    })
}

/// Whether this is the calling thread's own handle, which it cannot join.
pub fn is_current<T>(handle: &JoinHandle<T>) -> bool {
    #[cfg(feature = "model")]
    return handle.thread().id() == shuttle::thread::current().id();
    #[cfg(not(feature = "model"))]
    return handle.thread().id() == std::thread::current().id();
}

/// Runs each job on a thread of its own and returns when all have ended, with their results in
/// order. (Under the model checker one after the other: what runs in parallel here shares nothing
/// that it checks.)
///
/// # Panics
/// When a job panics, or the operating system has no thread to give.
pub fn run_all<F, T>(name: &str, jobs: Vec<F>) -> Vec<T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    if cfg!(feature = "model") {
        return jobs.into_iter().map(|job| job()).collect();
    }
    let is_contained = crate::panic::is_contained();
    std::thread::scope(|scope| {
        let start = |job: F| {
            let run = move || {
                let _contained = is_contained.then(crate::panic::Contained::enter);
                #[cfg(not(feature = "model"))]
                account::open(name);
                job()
            };
            std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn_scoped(scope, run)
        };
        let threads: Vec<_> = jobs.into_iter().map(start).collect();
        let join = |thread: std::io::Result<std::thread::ScopedJoinHandle<'_, T>>| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => panic!("cannot start thread {name}: {error}"),
        };
        threads.into_iter().map(join).collect()
    })
}

/// The number of processors this process may use; at least 1.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// Lets the calling thread run before others, as far as the system goes: for background threads
/// that many others wait for. False when this user may not do that.
pub fn prefer() -> bool {
    // SAFETY: setpriority only takes numbers. On Linux a thread has a priority of its own, and 0
    // means the calling one.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) == 0 }
}

/// Lets another thread that is ready run first.
pub fn yield_now() {
    #[cfg(feature = "model")]
    shuttle::thread::yield_now();
    #[cfg(not(feature = "model"))]
    std::thread::yield_now();
}

/// Threads of the model checker.
#[cfg(feature = "model")]
mod model {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// See `std::thread::JoinHandle`.
    #[derive(Debug)]
    pub struct JoinHandle<T> {
        handle: shuttle::thread::JoinHandle<T>,
        is_finished: Arc<AtomicBool>,
    }

    impl<T> JoinHandle<T> {
        /// Waits for the thread's end.
        ///
        /// # Errors
        /// What the thread panicked with.
        pub fn join(self) -> std::thread::Result<T> {
            self.handle.join()
        }

        /// Whether the thread has come to its end.
        pub fn is_finished(&self) -> bool {
            self.is_finished.load(Ordering::SeqCst)
        }

        /// The thread.
        pub fn thread(&self) -> &shuttle::thread::Thread {
            self.handle.thread()
        }
    }

    pub(super) fn spawn<F, T>(name: &str, run: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let is_finished = Arc::new(AtomicBool::new(false));
        let finished = Arc::clone(&is_finished);
        let run = move || {
            let value = run();
            finished.store(true, Ordering::SeqCst);
            value
        };
        let handle = shuttle::thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(JoinHandle { handle, is_finished })
    }
}
