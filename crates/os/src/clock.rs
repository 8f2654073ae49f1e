//! Wall time, monotonic time and sleep.
//!
//! `ticks` is the cheapest clock of the machine, for time accounts: the time stamp counter where
//! the processor says that it runs at one constant rate, the monotonic clock otherwise. Ticks have
//! no unit of their own. [`ticks_to_ns`] converts a span of ticks by the rate seen between the
//! process's first use of the clock and now.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Returns the microseconds since 1970-01-01 00:00:00 UTC by the wall clock, which may be set back
/// or forth while the process runs.
pub fn now_us() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, exclusive timespec for the call's duration.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut time) } != 0;
    // A machine whose wall clock is before 1970 is broken. The result 0 keeps every subtraction
    // from it defined.
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    if failed { 0 } else { seconds * 1_000_000 + time.tv_nsec as u64 / 1000 }
}

/// Returns the nanoseconds since an arbitrary start within this process. The result never goes
/// back.
pub fn monotonic_ns() -> u64 {
    origin().instant.elapsed().as_nanos() as u64
}

/// Suspends the calling thread for at least `duration`.
pub fn sleep(duration: Duration) {
    std::thread::sleep(duration);
}

/// Returns the CPU time that the calling thread has used, in nanoseconds. This is a system call,
/// which takes a few hundred nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    cpu_ns_of_clock(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// Returns the CPU time of the thread with kernel id `tid`, in nanoseconds. `None` when the thread
/// no longer runs.
pub(crate) fn cpu_ns_of_thread(tid: i32) -> Option<u64> {
    // Linux builds the id of a thread's CPU clock from the thread's kernel id: the complement
    // shifted by 3, with the bits "per thread" (4) and "sched" (2).
    cpu_ns_of_clock((!tid << 3) | 6)
}

fn cpu_ns_of_clock(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, exclusive timespec for the call's duration; for an invalid clock
    // id the call returns an error.
    let failed = unsafe { libc::clock_gettime(clock, &mut time) } != 0;
    (!failed).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Reads the cheapest clock (see the module's head). Two readings may differ by a few ticks the
/// wrong way when they were taken on different processors, so subtract with saturation.
#[inline]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if counter::ANSWER.load(std::sync::atomic::Ordering::Relaxed) == counter::CONSTANT {
        // SAFETY: RDTSC exists on every x86_64 processor and touches no memory.
        return unsafe { core::arch::x86_64::_rdtsc() };
    }
    ticks_otherwise()
}

/// Does what [`ticks`] does where the counter is not known to be constant: before the first answer,
/// and on machines without such a counter.
#[cold]
#[inline(never)]
fn ticks_otherwise() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if counter::is_constant() {
        // SAFETY: RDTSC exists on every x86_64 processor and touches no memory.
        return unsafe { core::arch::x86_64::_rdtsc() };
    }
    monotonic_ns()
}

/// Converts a span of [`ticks`] into nanoseconds.
pub fn ticks_to_ns(span_ticks: u64) -> u64 {
    let origin = origin();
    let elapsed_ns = origin.instant.elapsed().as_nanos();
    let elapsed_ticks = u128::from(ticks().saturating_sub(origin.ticks));
    if elapsed_ticks == 0 || elapsed_ns == 0 {
        return span_ticks;
    }
    (u128::from(span_ticks) * elapsed_ns / elapsed_ticks) as u64
}

/// Whether the time stamp counter runs at one constant rate.
#[cfg(target_arch = "x86_64")]
mod counter {
    use std::sync::atomic::{AtomicU8, Ordering};

    const NOT_ASKED: u8 = 0;
    const OTHER: u8 = 1;
    pub const CONSTANT: u8 = 2;

    /// What the processor has said. Accesses are relaxed: the answer is the same for every thread
    /// that asks, and it publishes nothing else.
    pub static ANSWER: AtomicU8 = AtomicU8::new(NOT_ASKED);

    pub fn is_constant() -> bool {
        let known = ANSWER.load(Ordering::Relaxed);
        if known != NOT_ASKED {
            return known == CONSTANT;
        }
        let extended = core::arch::x86_64::__cpuid(0x8000_0000).eax;
        // In the leaf about advanced power management, EDX bit 8 says that the counter's rate is
        // invariant.
        let constant =
            extended >= 0x8000_0007 && core::arch::x86_64::__cpuid(0x8000_0007).edx & (1 << 8) != 0;
        ANSWER.store(if constant { CONSTANT } else { OTHER }, Ordering::Relaxed);
        constant
    }
}

struct Origin {
    instant: Instant,
    ticks: u64,
}

fn origin() -> &'static Origin {
    static ORIGIN: OnceLock<Origin> = OnceLock::new();
    ORIGIN.get_or_init(|| Origin {
        instant: Instant::now(),
        #[cfg(target_arch = "x86_64")]
        // When ticks are those of the monotonic clock, they start at this very origin, so the first
        // reading is 0.
        // SAFETY: RDTSC exists on every x86_64 processor and touches no memory.
        ticks: if counter::is_constant() { unsafe { core::arch::x86_64::_rdtsc() } } else { 0 },
        #[cfg(not(target_arch = "x86_64"))]
        ticks: 0,
    })
}

/// Measures the time since it was started.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    started: Instant,
}

impl Stopwatch {
    /// Starts a stopwatch now.
    pub fn start() -> Stopwatch {
        Stopwatch { started: Instant::now() }
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the whole nanoseconds since the start.
    pub fn elapsed_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// Returns the whole microseconds since the start.
    pub fn elapsed_us(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }

    /// Returns the whole milliseconds since the start.
    pub fn elapsed_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// Returns how much of `limit` is left, zero when it has passed.
    pub fn remaining(&self, limit: Duration) -> Duration {
        limit.saturating_sub(self.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_time_and_ticks_advance_together() {
        let (before_ns, before_ticks) = (monotonic_ns(), ticks());
        sleep(Duration::from_millis(20));
        let (slept_ns, span) = (monotonic_ns() - before_ns, ticks().saturating_sub(before_ticks));
        let converted_ns = ticks_to_ns(span);
        // The two pairs of readings are not taken at the same instant, so only the order of
        // magnitude is compared.
        assert!(slept_ns >= 20_000_000);
        assert!(
            converted_ns > slept_ns / 4 && converted_ns < slept_ns * 4,
            "{converted_ns} against {slept_ns}"
        );
    }

    #[test]
    fn wall_clock_is_after_this_was_written() {
        assert!(now_us() > 1_700_000_000_000_000);
    }

    #[test]
    fn cpu_time_of_this_thread_by_both_ways() {
        // SAFETY: gettid has no preconditions.
        let tid = unsafe { libc::gettid() };
        let first = cpu_ns_of_thread(tid).expect("this thread runs");
        assert!(thread_cpu_ns() >= first);
        assert_eq!(cpu_ns_of_thread((1 << 28) - 1), None);
    }
}
