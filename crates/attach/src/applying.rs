//! The applier of the new replica, which goes on to a point of the source's log and stands there.

use std::time::Duration;

use os::clock::{Stopwatch, sleep};

use crate::error::{AttachError, Result};
use crate::local::Local;
use crate::log_place::LogPlace;
use crate::moment::Moment;
use crate::source::literal_text;

/// The interval at which a condition is checked that is waited for.
pub const POLL: Duration = Duration::from_millis(20);

/// Applies the log up to a moment or behind it, and stops the applier there. Returns false when
/// that took longer than `within`.
pub fn apply(local: &mut Local, target: &Moment, within: Option<Duration>) -> Result<bool> {
    local.query("START REPLICA SQL_THREAD")?;
    let waited = Stopwatch::start();
    let mut is_reached = false;
    while !is_reached && within.is_none_or(|within| waited.elapsed() < within) {
        is_reached = target.is_applied(local)?;
        if !is_reached {
            check_replication(local)?;
            sleep(POLL);
        }
    }
    local.query("STOP REPLICA SQL_THREAD").map(|_| is_reached)
}

/// Applies the log up to a place and not further. The applier stands still before and after, and
/// the place is the end of a transaction.
///
/// # Errors
/// Returns an error also when the applier is further already.
pub fn apply_exactly(local: &mut Local, place: &LogPlace) -> Result<()> {
    let (file, position) = (literal_text(&place.file), place.position);
    let until = format!("UNTIL SOURCE_LOG_FILE = {file}, SOURCE_LOG_POS = {position}");
    local.query(&format!("START REPLICA SQL_THREAD {until}"))?;
    loop {
        let status = local.replica_status()?;
        if status.applied.is_at_or_behind(place) {
            break;
        }
        // The applier may have come there and stopped while its status was read.
        if !status.is_applying && !local.replica_status()?.applied.is_at_or_behind(place) {
            let why = status.error.unwrap_or_else(|| format!("the applier stopped before {place}"));
            return Err(AttachError::Stopped(why));
        }
        check_replication(local)?;
        sleep(POLL);
    }
    local.query("STOP REPLICA SQL_THREAD")?;
    let applied = local.replica_status()?.applied;
    match place.is_at_or_behind(&applied) {
        true => Ok(()),
        false => Err(AttachError::Stopped(format!("the applier went to {applied}, beyond {place}"))),
    }
}

/// Checks that neither the receiver nor the applier has stopped with an error.
pub fn check_replication(local: &mut Local) -> Result<()> {
    let status = local.replica_status()?;
    match status.error {
        Some(why) if !status.is_applying || !status.is_receiving => Err(AttachError::Stopped(why)),
        _ => Ok(()),
    }
}
