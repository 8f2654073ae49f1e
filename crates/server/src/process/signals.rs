//! Signals: SIGTERM and SIGINT stop the server, and SIGHUP flushes its logs.
//!
//! All three are blocked in every thread, because the mask is set before the first thread starts
//! and is inherited. One thread waits for them, so that no handler interrupts anything.

use std::io;

/// The request that a signal stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// The server must stop gracefully.
    Stop,
    /// The logs must be flushed and opened again.
    FlushLogs,
}

/// The blocked signals. They must be blocked before any other thread starts, so that all threads
/// inherit the mask.
pub struct Signals {
    set: libc::sigset_t,
}

impl Signals {
    /// Blocks the signals in this thread and in all threads that it starts from now on.
    pub fn block() -> io::Result<Signals> {
        // SAFETY: sigset_t is plain data, and sigemptyset makes all of it valid before it is read.
        let set = unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
                libc::sigaddset(&mut set, signal);
            }
            set
        };
        // SAFETY: both pointers are valid for the call; a null old set is allowed.
        match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) } {
            0 => Ok(Signals { set }),
            e => Err(io::Error::from_raw_os_error(e)),
        }
    }

    /// Waits for the next signal.
    pub fn wait(&self) -> io::Result<Request> {
        let mut signal = 0;
        // SAFETY: both pointers are valid for the call.
        match unsafe { libc::sigwait(&self.set, &mut signal) } {
            0 if signal == libc::SIGHUP => Ok(Request::FlushLogs),
            0 => Ok(Request::Stop),
            e => Err(io::Error::from_raw_os_error(e)),
        }
    }
}

/// Asks this process to stop, as SIGTERM from outside would (the statement SHUTDOWN).
pub fn raise_stop() {
    // SAFETY: kill takes no pointers; the process may always signal itself.
    let sent = unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
    assert_eq!(sent, 0, "a process can signal itself");
}
