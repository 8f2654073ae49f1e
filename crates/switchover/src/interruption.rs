//! SIGINT and SIGTERM during a switchover. They are blocked from its first change on, and looked
//! for where everything can still be put back, so that no server is left read-only by the way.

use std::io;

const SIGNALS: [libc::c_int; 2] = [libc::SIGINT, libc::SIGTERM];

/// The signals that ask for an end, which are blocked from now on.
pub struct Interruption(());

impl Interruption {
    /// Blocks the signals. The command runs in one thread.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn block() -> io::Result<Interruption> {
        // SAFETY: sigset_t is plain data, and sigemptyset makes all of it valid before it is read.
        let set = unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in SIGNALS {
                libc::sigaddset(&raw mut set, signal);
            }
            set
        };
        // SAFETY: both pointers are valid for the call; a null old set is allowed.
        match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) } {
            0 => Ok(Interruption(())),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Reports whether one of the signals has come.
    pub fn has_come(&self) -> bool {
        // SAFETY: sigset_t is plain data, and sigpending makes all of it valid before it is read.
        // After an error of sigpending the set is empty.
        unsafe {
            let mut pending: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut pending);
            libc::sigpending(&raw mut pending);
            SIGNALS.iter().any(|signal| libc::sigismember(&raw const pending, *signal) == 1)
        }
    }
}
