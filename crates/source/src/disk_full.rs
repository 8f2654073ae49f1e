//! Waiting for space on a full disk, as MySQL does, until the server has to stop.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use os::account::{State, enter};

/// The time between two checks whether there is space again.
const LOOK: Duration = Duration::from_millis(100);
/// The number of checks after which the log reports the full disk again.
const LOOKS_PER_REPORT: u64 = 600;

/// Calls `act`, which writes a file, again and again while there is no space for the file, until
/// the server has to stop.
pub(crate) fn wait_for_space<T>(
    file: &str,
    stopping: &AtomicBool,
    mut act: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let mut looks = 0u64;
    loop {
        match act() {
            Err(error)
                if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
                    && !stopping.load(Ordering::Acquire) =>
            {
                if looks.is_multiple_of(LOOKS_PER_REPORT) {
                    log::error!(
                        "Disk is full writing '{file}' ({error}). Waiting for someone to free space..."
                    );
                }
                looks += 1;
                let _waiting = enter(State::DiskFullWait);
                os::clock::sleep(LOOK);
            }
            done => return done,
        }
    }
}
