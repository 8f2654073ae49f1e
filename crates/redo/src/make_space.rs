//! Making space in the log, by a checkpoint or by a larger capacity, and waiting for it.

use std::time::Duration;

use os::account::{self, State};

use crate::checkpoint::{Checkpoint, Slot};
use crate::core::{Core, Counters};
use crate::space::Space;
use crate::{LogConfig, Lsn, RedoError};

/// How long a thread waits for space before it asks for it again.
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// Does the work of [`crate::Log::set_capacity`].
pub(crate) fn set_capacity(core: &Core, bytes: u64) {
    // The lock is needed because a checkpoint also lowers the capacity in force.
    let _checkpoint = core.checkpoint.lock();
    let space = &core.space;
    space.set_wanted(bytes);
    space.shrink(core.reserved());
    core.files.set_capacity(bytes.max(LogConfig::MIN_CAPACITY_BYTES));
    core.governor.notify_all();
    space.freed.notify_all();
    if space.used_bytes(core.reserved()) > space.soft_limit_bytes() {
        space.ask();
    }
}

/// Pokes the checkpointer when the log is filling, and waits while the log holds more bytes than
/// `limit` returns.
#[inline]
pub(crate) fn wait_below(core: &Core, limit: fn(&Space) -> u64) {
    let (space, end) = (&core.space, core.reserved());
    let used_bytes = space.used_bytes(end);
    if used_bytes <= space.soft_limit_bytes() {
        return;
    }
    space.poke(end);
    if used_bytes > limit(space) {
        wait_for_space(core, limit);
    }
}

#[cold]
fn wait_for_space(core: &Core, limit: fn(&Space) -> u64) {
    let _waiting = account::enter(State::LogSpaceWait);
    Counters::count(&core.counters.space_waits, 1);
    let space = &core.space;
    loop {
        let waiter = space.freed.prepare();
        let is_full = space.used_bytes(core.reserved()) > limit(space);
        if !is_full || core.is_stopped() || core.is_closing() {
            return;
        }
        space.ask();
        waiter.wait(Some(ASK_AGAIN));
    }
}

/// Does the work of [`crate::Log::write_checkpoint`].
pub(crate) fn write_checkpoint(core: &Core, lsn: Lsn, state: &[u8]) -> Result<(), RedoError> {
    let _making = account::enter(State::Checkpoint);
    let mut checkpoint = core.checkpoint.lock();
    let (oldest, end) = (core.space.checkpoint_lsn(), core.reserved());
    assert!(lsn >= oldest && lsn <= end, "checkpoint at {lsn}, the log is {oldest}..{end}");
    // The state may speak of anything that has happened by now, so all of that must be durable.
    core.wait_durable(end)?;
    let mut lives = core.lives.clone();
    lives.forget_before(lsn);
    let slot = Slot {
        sequence: checkpoint.sequence + 1,
        log_id: core.log_id,
        lives,
        checkpoint: Checkpoint { lsn, state: state.to_vec() },
    };
    // A failed write of a slot leaves the one before whole. A failed sync leaves in doubt which of
    // the two a crash would find, and the files between them must not be recycled. So both kinds of
    // failure end the log here.
    core.slots.write(&slot).map_err(|error| core.fail(&error.to_string()))?;
    checkpoint.sequence += 1;
    core.space.begin_at(lsn);
    core.space.shrink(core.reserved());
    let end = core.reserved();
    if core.files.retire_before(core.holds.floor(lsn, end, core.space.in_force_bytes())) {
        core.governor.notify_all();
    }
    core.space.freed.notify_all();
    Ok(())
}
