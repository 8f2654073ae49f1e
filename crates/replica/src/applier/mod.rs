//! The applier: one thread that reads the relay log and commits its transactions in the engine in
//! order, or several workers ([`workers`]).
//!
//! A group is decoded once, row by row as it is read. Each row goes to the engine's write set, and
//! the event is copied, without checksum and with this server's table id, to the group that the
//! commit record will hold. At the group's end one call commits rows, group and position. The
//! applier waits for no sync.
//!
//! Invariants: at most one group is open. Whatever interrupts it (a new connection's rotate event,
//! a GTID event, STOP REPLICA, an error) rolls it back as a whole, and it is read again from its
//! start. A group whose GTID is executed already is passed over.
//!
//! The modules build on each other: `open_group` brings the rows of a group to the engine; `group`
//! takes a group from its first event to its commit; `alone` does that with one group after the
//! other, as far as the `gate` lets it; `job`, `intake`, `order` and `workers` do it with many at a
//! time. `read_ahead` brings pages into the buffer pool before any of these want them.

mod alone;
mod bind_error;
mod coming;
mod computed;
mod conversion;
mod crew;
mod exec_mode;
mod followed;
mod framing;
mod gate;
mod group;
mod intake;
mod job;
mod loaded_files;
mod open_group;
mod order;
mod partial_rows;
mod policy;
mod reached;
mod read_ahead;
mod reading;
mod report;
mod retries;
mod rows;
mod session_rows;
mod settings;
#[cfg(test)]
mod simulation;
mod skipped_errors;
mod state;
mod statement;
mod tables;
mod trials;
mod type_conversions;
mod virtual_columns;
mod workers;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::channel::Channel;
use crate::error::{ThreadError, number};
use crate::gtid::GroupHead;
use crate::relay::RelayReader;
pub use exec_mode::ExecMode;
use gate::Gate;
use group::Applier;
use intake::Intake;
pub use policy::Policy;
pub use reached::Reached;
use read_ahead::ReadAhead;
use reading::unreadable;
use retries::Retries;
pub use session_rows::SessionRows;
pub use settings::ApplySettings;
pub use skipped_errors::SkippedErrors;
pub use state::{ApplierState, ResumePoint};
pub use type_conversions::TypeConversions;

/// Runs the applier; it is the body of its thread. It returns when it has to stop or cannot go on,
/// and leaves the reason in the channel's state.
pub fn run(channel: &Arc<Channel>) {
    log::info!("Replica SQL thread initialized, starting replication");
    let mut resume = channel.applier.lock().resume.clone();
    let mut retries = Retries::default();
    let read_ahead = ReadAhead::start(channel);
    let applied = os::panic::contain(|| {
        loop {
            match apply_from(channel, &mut resume) {
                Err(Stopped::Blocked) => {}
                // STOP REPLICA came while the applier waited for the lock of a table or a row.
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
    drop(read_ahead);
    let ended = applied.unwrap_or_else(|panic| Err(ThreadError::panicked(&panic)));
    let mut state = channel.applier.lock();
    if let Some(resume) = &resume {
        state.show(resume);
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

/// The reason why applying ended without being told to.
enum Stopped {
    /// The applier's thread ends with this error.
    Error(ThreadError),
    /// A DDL statement held a table that a group needed while other tables were held for the group.
    /// The table is free now, and the group has to begin again.
    Blocked,
}

/// Applies from `resume` on, and sets it to the point where to go on. Returns when the applier has
/// to stop or cannot go on.
fn apply_from(channel: &Arc<Channel>, resume: &mut Option<ResumePoint>) -> Result<(), Stopped> {
    loop {
        let (mut reader, mut applier) = open(channel, resume.clone()).map_err(Stopped::Error)?;
        let mut gate = Gate::new(channel);
        // UNTIL has to be checked after every group, which only applying one after the other
        // allows.
        let stays = gate.has_until();
        // A panic leaves the applier at the last complete group, as an error does.
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
            // The number of workers has been changed.
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
        // Every relay log begins with a format description of this server, which says that
        // checksums follow.
        ResumePoint { relay: reader.position(), has_checksums: true, file, pos, last: GroupHead::default() }
    });
    channel.reached.note(resume.relay, resume.has_checksums);
    Ok((reader, Applier::new(channel, resume)))
}
