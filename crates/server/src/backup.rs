//! `slipstream backup`: the signals that end a run which follows the server's log.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::process::signals::{Request, Signals};

/// Runs `slipstream backup` with the words that follow it.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(::backup::main(words, stop_on_signals))
}

/// Makes SIGTERM and SIGINT set a flag from now on, instead of ending the process.
fn stop_on_signals() -> io::Result<&'static AtomicBool> {
    static STOP: AtomicBool = AtomicBool::new(false);
    let signals = Signals::block()?;
    os::thread::try_spawn("signals", move || {
        // SIGHUP, with which a terminal says that it is gone, is passed over.
        while !matches!(signals.wait(), Ok(Request::Stop) | Err(_)) {}
        // Relaxed: the flag guards no other data.
        STOP.store(true, Ordering::Relaxed);
    })?;
    Ok(&STOP)
}
