//! The applier: one thread that reads the relay log and commits its transactions in the engine, in
//! order; or workers ([`workers`]).
//!
//! A group is decoded once, row by row as it is read: each row goes to the engine's write set, and
//! the event is copied, without checksum and with our own table id, behind the group that the
//! commit record will hold. At its end one call commits rows, group and position. No sync is waited
//! for.
//!
//! Invariants: at most one group is open. Whatever interrupts it (a new connection's rotate event,
//! a GTID event, STOP REPLICA, an error) rolls it back whole, and it is read again from its start.
//! A group whose GTID has been executed is passed over.

mod alone;
mod conversion;
mod crew;
mod followed;
mod framing;
mod gate;
mod group;
mod intake;
mod job;
mod open_group;
mod order;
mod partial_rows;
mod policy;
mod report;
mod retries;
mod rows;
mod settings;
#[cfg(test)]
mod simulation;
mod skipped_errors;
mod state;
mod statement;
mod tables;
mod trials;
mod virtual_columns;
mod workers;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use binlog::Checksum;
use binlog::event::HEADER_LEN;

use crate::channel::Channel;
use crate::error::{ThreadError, number};
use crate::event::{self, kind};
use crate::gtid::GroupHead;
use crate::relay::{RelayError, RelayReader};
use gate::Gate;
use group::Applier;
use intake::Intake;
pub use policy::Policy;
use retries::Retries;
pub use settings::{ApplySettings, TypeConversions};
pub use skipped_errors::SkippedErrors;
pub use state::{ApplierState, ResumePoint};

/// How long the applier sleeps at most before it looks whether it is to stop; it is woken before.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// The thread's body. Returns when it is told to stop or cannot go on; the reason is in the
/// channel's state.
pub fn run(channel: &Arc<Channel>) {
    log::info!("Replica SQL thread initialized, starting replication");
    let mut resume = channel.applier.lock().resume.clone();
    let mut retries = Retries::default();
    let applied = os::panic::contain(|| {
        loop {
            match apply_from(channel, &mut resume) {
                Err(Stopped::Blocked) => {}
                // STOP REPLICA, while it waited for a lock: of a table, or of a row.
                Err(Stopped::Error(error)) if error.number == number::QUERY_INTERRUPTED => break Ok(()),
                Err(Stopped::Error(error)) => {
                    let at = resume.as_ref().map(|resume| resume.relay).unwrap_or_default();
                    if !retries.again(channel, &error, at) {
                        break Err(error);
                    }
                }
                Ok(()) => break Ok(()),
            }
        }
    });
    let ended = applied.unwrap_or_else(|panic| Err(ThreadError::panicked(&panic)));
    let mut state = channel.applier.lock();
    if let Some(resume) = &resume {
        show(&mut state, resume);
    }
    state.resume = resume;
    state.running = false;
    if let Err(error) = ended {
        log::error!("Replica SQL for channel '{}': {error}", channel.name);
        state.error = Some(error);
    }
    drop(state);
    channel.times.applying_us.store(0, Ordering::Relaxed);
    log::info!("Replica SQL thread exiting, replication stopped");
    channel.applier_changed.notify_all();
}

/// Why applying ended that was not told to.
enum Stopped {
    /// This.
    Error(ThreadError),
    /// A table that a group needs was in DDL's hands while others were held for it. It is free now,
    /// and the group is to be begun again.
    Blocked,
}

/// Applies from `resume` on, which is then where to go on. Returns when it is told to stop or
/// cannot go on.
fn apply_from(channel: &Arc<Channel>, resume: &mut Option<ResumePoint>) -> Result<(), Stopped> {
    loop {
        let (mut reader, mut applier) = open(channel, resume.clone()).map_err(Stopped::Error)?;
        let mut gate = Gate::new(channel);
        // UNTIL is looked at after every group, which is there where groups are applied one after
        // the other.
        let stays = gate.has_until();
        // A panic leaves the applier with the last complete group, as an error does.
        let ended = os::panic::contain(|| match if stays { 0 } else { channel.workers() } {
            0 => {
                let ends = |_| channel.workers() > 0 && !stays;
                alone::apply(channel, &mut reader, &mut applier, &mut gate, ends)
            }
            count => {
                let intake = Intake::new(channel, reader, gate, applier.checksum(), channel.apply.policy());
                workers::run(channel, intake, &mut applier, count)
            }
        });
        let ended = ended.unwrap_or_else(|panic| Err(ThreadError::panicked(&panic)));
        applier.abandon_group();
        applier.release_tables();
        *resume = Some(applier.resume_point());
        match ended {
            Err(_) if applier.wait_if_blocked().map_err(Stopped::Error)? => return Err(Stopped::Blocked),
            Err(error) => return Err(Stopped::Error(error)),
            Ok(()) if stays || channel.applier_stop.load(Ordering::Acquire) => return Ok(()),
            // There are to be more workers, or fewer.
            Ok(()) => {}
        }
    }
}

fn open(
    channel: &Arc<Channel>,
    resume: Option<ResumePoint>,
) -> Result<(RelayReader, Applier<'_>), ThreadError> {
    let reader = match &resume {
        Some(resume) => RelayReader::at(&channel.relay, resume.relay),
        None => RelayReader::from_start(&channel.relay),
    };
    let reader = reader.map_err(unreadable)?;
    let resume = resume.unwrap_or_else(|| {
        let (file, pos) = channel.applied_position();
        // Every relay log begins with a format description of ours, which says that checksums
        // follow.
        ResumePoint { relay: reader.position(), has_checksums: true, file, pos, last: GroupHead::default() }
    });
    Ok((reader, Applier::new(channel, resume)))
}

/// Everything that was received has been read.
fn note_dry(channel: &Channel, reader: &RelayReader, applier: &Applier<'_>) -> Result<(), ThreadError> {
    reader.note_done(applier.resume_point().relay).map_err(unreadable)?;
    if applier.is_between_groups() {
        channel.times.applying_us.store(0, Ordering::Relaxed);
    }
    show(&mut channel.applier.lock(), &applier.resume_point());
    channel.applier_changed.notify_all();
    Ok(())
}

fn wait_for_more(reader: &RelayReader) {
    let _idle = os::account::enter(os::account::State::RelayLogWait);
    reader.wait(LONGEST_SLEEP);
}

fn show(state: &mut ApplierState, at: &ResumePoint) {
    if state.exec_file != at.file {
        state.exec_file.clone_from(&at.file);
    }
    state.exec_pos = at.pos;
    if state.last_applied != at.last {
        state.last_applied = at.last;
        state.last_applied_us = os::clock::now_us();
    }
}

/// The event without its checksum, which is verified. A format description keeps it: it always has
/// one, and says so itself.
fn check(event: &[u8], checksum: Checksum, verify: bool) -> Result<&[u8], ThreadError> {
    let is_format = event::kind_of(event) == kind::FORMAT_DESCRIPTION;
    if checksum == Checksum::None && !is_format {
        return Ok(event);
    }
    if verify && binlog::checksum::verify_checksum(event).is_err() {
        return Err(unreadable_because("Event crc check failed! Most likely there is event corruption."));
    }
    if is_format {
        return Ok(event);
    }
    let end = event.len().checked_sub(event::CHECKSUM_BYTES).filter(|&end| end >= HEADER_LEN);
    end.map(|end| &event[..end]).ok_or_else(|| unreadable_because("the event is too short for its checksum"))
}

fn unreadable(error: RelayError) -> ThreadError {
    unreadable_because(&error.to_string())
}

/// MySQL's text, with the cause behind it.
fn unreadable_because(cause: &str) -> ThreadError {
    ThreadError::now(
        number::RELAY_LOG_READ_FAILURE,
        format!(
            "Relay log read failure: Could not parse relay log event entry. The possible reasons are: the source's binary log is \
             corrupted (you can check this by running 'mysqlbinlog' on the binary log), the replica's relay log is corrupted (you can \
             check this by running 'mysqlbinlog' on the relay log), a network problem, the server was unable to fetch a keyring key \
             required to open an encrypted relay log file, or a bug in the source's or replica's MySQL code. If you want to check the \
             source's binary log or replica's relay log, you will be able to know their names by issuing 'SHOW REPLICA STATUS' on this \
             replica. ({cause})"
        ),
    )
}
