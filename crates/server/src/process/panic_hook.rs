//! What happens after a panic: logged always; in a background thread it ends the process, because
//! what that thread does nobody else would do. A panic of a connection or of a replication thread
//! is that thread's alone: see [`os::panic`].

use std::backtrace::Backtrace;
use std::panic::PanicHookInfo;

/// `SLEEP` of this panics, in tests of this crate only.
#[cfg(test)]
pub const PANICS: std::time::Duration = std::time::Duration::from_millis(12_345_678);

/// The next event that is sent to a replica panics, in tests of this crate only. Relaxed: it is
/// told on its own.
#[cfg(test)]
pub static NEXT_EVENT_PANICS: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Panics when [`NEXT_EVENT_PANICS`] says so, once.
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
    // The main thread's ends the process by itself.
    if !os::panic::is_contained() && name != "main" {
        log::error!("a background thread is gone: the server ends, and recovers at its next start");
        std::process::abort();
    }
}
