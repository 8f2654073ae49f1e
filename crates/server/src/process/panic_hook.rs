//! The effects of a panic. It is always logged. In a background thread it ends the process, because
//! no other thread would do that thread's work. A panic of a connection or of a replication thread
//! ends only that thread: see [`os::panic`].

use std::backtrace::Backtrace;
use std::panic::PanicHookInfo;

/// The duration for which `SLEEP` panics, in tests of this crate only.
#[cfg(test)]
pub const PANICS: std::time::Duration = std::time::Duration::from_millis(12_345_678);

/// True when the next event sent to a replica must panic, in tests of this crate only. Relaxed,
/// because nothing else depends on its order.
#[cfg(test)]
pub static NEXT_EVENT_PANICS: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Panics once when [`NEXT_EVENT_PANICS`] says so.
#[cfg(test)]
pub fn panic_if_asked() {
    let is_asked = NEXT_EVENT_PANICS.swap(false, std::sync::atomic::Ordering::Relaxed);
    assert!(!is_asked, "a test asks for a panic");
}

/// Installs the hook for the process.
pub fn install() {
    std::panic::set_hook(Box::new(after_panic));
}

fn after_panic(info: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("unnamed").to_owned();
    let backtrace = Backtrace::force_capture();
    log::error!("thread '{name}' has panicked: {info}\n{backtrace}");
    // A panic of the main thread ends the process anyway.
    if !os::panic::is_contained() && name != "main" {
        log::error!("a background thread is gone: the server ends, and recovers at its next start");
        std::process::abort();
    }
}
