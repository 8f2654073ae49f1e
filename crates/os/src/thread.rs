//! Named threads. Each opens its time account (see [`crate::account`]) before its function runs and
//! closes it afterwards.

#[cfg(not(feature = "model"))]
pub use std::thread::JoinHandle;

#[cfg(feature = "model")]
pub use model::JoinHandle;

#[cfg(not(feature = "model"))]
use crate::account;

/// The stack size in bytes of the threads that are started here. Only the part that a thread has
/// touched takes memory. It is this large for statements that nest as deeply as MySQL's may.
pub const STACK_BYTES: usize = 12 << 20;

/// Returns the bytes of the calling thread's stack that are left, not counting its guard.
#[inline]
pub fn stack_bytes_left() -> usize {
    thread_local! {
        static LOWEST: usize = lowest_stack_address();
    }
    let here = 0u8;
    (&raw const here as usize).saturating_sub(LOWEST.with(|lowest| *lowest))
}

/// Returns the lowest usable address of the calling thread's stack. Where `/proc` is missing, as in
/// a bare chroot, the system does not tell it for the process's first thread. It is then estimated
/// from half of the stack's limit, since that much can be relied on.
fn lowest_stack_address() -> usize {
    known_stack_end().unwrap_or_else(|| {
        let here = 0u8;
        (&raw const here as usize).saturating_sub(first_stack_bytes() / 2)
    })
}

/// Returns the number of bytes to which the first thread's stack may grow. At its top are the
/// arguments and the environment, for which the kernel allows a quarter of it.
fn first_stack_bytes() -> usize {
    /// The default of Linux, which is also used for a stack without a limit.
    const USUAL_BYTES: u64 = 8 << 20;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: getrlimit writes to the local variable that it is given, and to nothing else.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } == 0;
    if known { limit.rlim_cur.min(USUAL_BYTES) as usize } else { USUAL_BYTES as usize }
}

/// Returns the lowest usable address of the calling thread's stack, if the system tells it.
fn known_stack_end() -> Option<usize> {
    // SAFETY: the structure is plain data that pthread_getattr_np fills in, and what that has
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

/// Starts a thread called `name` (the kernel shows the first 15 bytes). The thread's time is
/// accounted under the same name, so threads of one job share one name: `connection`, not
/// `connection-17`.
///
/// # Panics
/// Panics when the operating system has no thread to give; [`try_spawn`] returns that as an error.
pub fn spawn<F, T>(name: &str, run: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    try_spawn(name, run).unwrap_or_else(|error| panic!("cannot start thread {name}: {error}"))
}

/// Starts a thread as [`spawn`] does, but returns the refusal of the operating system as an error.
/// This is for threads that a user's connection asks for.
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

/// Reports whether this is the calling thread's own handle, which it cannot join.
pub fn is_current<T>(handle: &JoinHandle<T>) -> bool {
    #[cfg(feature = "model")]
    return handle.thread().id() == shuttle::thread::current().id();
    #[cfg(not(feature = "model"))]
    return handle.thread().id() == std::thread::current().id();
}

fn builder(name: &str) -> std::thread::Builder {
    std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES)
}

/// Returns what a thread of this name does to run a job: it opens its account, and it contains
/// panics if the calling thread does.
fn as_thread<T>(name: &str, job: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let is_contained = crate::panic::is_contained();
    move || {
        let _contained = is_contained.then(crate::panic::Contained::enter);
        #[cfg(not(feature = "model"))]
        account::open(name);
        #[cfg(feature = "model")]
        let _ = name;
        job()
    }
}

/// Runs each job on a thread of its own and returns their results, in order, when all have ended.
/// (Under the model checker they run one after the other: such jobs share nothing that it checks.)
///
/// # Panics
/// Panics when a job panics, or the operating system has no thread to give.
pub fn run_all<F, T>(name: &str, jobs: Vec<F>) -> Vec<T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    if cfg!(feature = "model") {
        return jobs.into_iter().map(|job| job()).collect();
    }
    std::thread::scope(|scope| {
        let start = |job: F| builder(name).spawn_scoped(scope, as_thread(name, job));
        let threads: Vec<_> = jobs.into_iter().map(start).collect();
        let join = |thread: std::io::Result<std::thread::ScopedJoinHandle<'_, T>>| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => panic!("cannot start thread {name}: {error}"),
        };
        threads.into_iter().map(join).collect()
    })
}

/// Runs `own` on the calling thread and each of `others` on a thread of its own. Returns their
/// results, that of `own` first, when all have ended. Jobs for which the operating system has no
/// thread are left out. (Under the model checker only `own` runs.)
///
/// # Panics
/// Panics when a job panics.
pub fn run_beside<F, T>(name: &str, own: impl FnOnce() -> T, others: Vec<F>) -> Vec<T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    if cfg!(feature = "model") {
        return vec![own()];
    }
    std::thread::scope(|scope| {
        let start = |job: F| builder(name).spawn_scoped(scope, as_thread(name, job)).ok();
        let threads: Vec<_> = others.into_iter().filter_map(start).collect();
        let mut results = vec![own()];
        for thread in threads {
            results.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    })
}

/// Returns how often the calling thread had to leave its processor to another thread that could
/// run.
pub fn preemptions() -> u64 {
    // SAFETY: the structure is plain data, which getrusage fills in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    u64::try_from(usage.ru_nivcsw).unwrap_or(0)
}

/// Returns the number of processors that this process may use, at least 1.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// Lets the calling thread run before others, as far as the system supports it, for background
/// threads that many others wait for. Returns false when this user may not do that.
pub fn prefer() -> bool {
    // SAFETY: setpriority only takes numbers. On Linux a thread has a priority of its own, and 0
    // means the calling thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) == 0 }
}

/// Lets another thread that is ready run first.
pub fn yield_now() {
    #[cfg(feature = "model")]
    shuttle::thread::yield_now();
    #[cfg(not(feature = "model"))]
    std::thread::yield_now();
}

/// The threads of the model checker.
#[cfg(feature = "model")]
mod model {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A handle to a thread. See `std::thread::JoinHandle`.
    #[derive(Debug)]
    pub struct JoinHandle<T> {
        handle: shuttle::thread::JoinHandle<T>,
        is_finished: Arc<AtomicBool>,
    }

    impl<T> JoinHandle<T> {
        /// Waits for the thread's end.
        ///
        /// # Errors
        /// Returns the value that the thread panicked with.
        pub fn join(self) -> std::thread::Result<T> {
            self.handle.join()
        }

        /// Reports whether the thread has come to its end.
        pub fn is_finished(&self) -> bool {
            self.is_finished.load(Ordering::SeqCst)
        }

        /// Returns the thread.
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
