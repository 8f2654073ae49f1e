//! Applying groups one after the other in one thread: the applier without workers, or one worker
//! while a single one is faster than all together ([`super::trials`]).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use os::account::{self, State};

use super::gate::{Gate, Passage};
use super::group::Applier;
use super::reading::{check, unreadable, wait_for_more};
use crate::channel::Channel;
use crate::error::ThreadError;
use crate::relay::{RelayReader, Step};

/// The number of transactions after which the shown position is brought up to date.
const SHOW_EVERY: u32 = 256;

/// The number of transactions after which the thread that reads ahead is told how far this one has
/// come.
const TELL_EVERY: u32 = 8;

/// The thread's situation between two groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CameTo {
    /// A group of this many bytes of the relay log is applied.
    Group(usize),
    /// There is nothing more for now, or the next group is not due.
    Pause,
}

/// Applies what the reader finds until the applier has to stop, UNTIL is reached, or `ends` returns
/// true.
pub(super) fn apply(
    channel: &Arc<Channel>,
    reader: &mut RelayReader,
    applier: &mut Applier<'_>,
    gate: &mut Gate<'_>,
    mut ends: impl FnMut(CameTo) -> bool,
) -> Result<(), ThreadError> {
    let (mut unshown, mut bytes) = (0, 0);
    let _state = account::enter(State::ApplyDecode);
    loop {
        if channel.applier_stop.load(Ordering::Acquire) || gate.is_reached(applier) {
            return Ok(());
        }
        if reader.step().map_err(unreadable)? == Step::End {
            unshown = 0;
            applier.release_tables();
            note_dry(channel, reader, applier)?;
            if applier.is_between_groups() && ends(CameTo::Pause) {
                return Ok(());
            }
            wait_for_more(reader);
            continue;
        }
        match gate.look(reader.event(), applier.checksum()) {
            Passage::Free => {}
            Passage::Closed => return Ok(()),
            Passage::NotBefore(due_us) => {
                show_done(channel, reader, applier)?;
                if !gate.wait(due_us) {
                    return Ok(());
                }
                // The event has been read and is applied before anything else, so `ends` cannot end
                // here.
                ends(CameTo::Pause);
            }
        }
        let position = reader.position();
        bytes += reader.event().len();
        let event = check(reader.event(), applier.checksum(), channel.settings.sql_verify_checksum)?;
        if !applier.take(event, position)? {
            continue;
        }
        unshown += 1;
        if unshown % TELL_EVERY == 0 {
            applier.tell_reached(&channel.reached);
        }
        if unshown >= SHOW_EVERY {
            show_done(channel, reader, applier)?;
            unshown = 0;
        }
        if ends(CameTo::Group(std::mem::take(&mut bytes))) {
            return show_done(channel, reader, applier);
        }
    }
}

/// Notes that everything received has been read: releases relay log files and shows the position.
pub(super) fn note_dry(
    channel: &Channel,
    reader: &RelayReader,
    applier: &Applier<'_>,
) -> Result<(), ThreadError> {
    reader.note_done(applier.resume_point().relay).map_err(unreadable)?;
    if applier.is_between_groups() {
        channel.times.applying_us.store(0, Ordering::Relaxed);
    }
    channel.applier.lock().show(&applier.resume_point());
    channel.applier_changed.notify_all();
    Ok(())
}

/// Shows the position, and releases relay log files and tables.
fn show_done(channel: &Channel, reader: &RelayReader, applier: &mut Applier<'_>) -> Result<(), ThreadError> {
    reader.note_done(applier.resume_point().relay).map_err(unreadable)?;
    applier.release_tables();
    channel.applier.lock().show(&applier.resume_point());
    Ok(())
}
