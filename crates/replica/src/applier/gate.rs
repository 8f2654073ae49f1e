//! The settings that hold the applier back on purpose: `SOURCE_DELAY` and `START REPLICA UNTIL`.
//!
//! Both are checked where a group begins, before anything of it is applied. A delay counts from the
//! source's commit of the group, by the source's clock. The positions of UNTIL are compared with
//! the end of the last applied group.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use binlog::Checksum;
use binlog::boundary::{Boundaries, Edge};
use binlog::event::{HEADER_LEN, Header};

use super::group::Applier;
use crate::channel::Channel;
use crate::event::{self, CHECKSUM_BYTES, kind};
use crate::gtid::GroupHead;
use crate::until::{Reached, UntilCondition};

/// The longest sleep before a waiting applier looks whether it has to stop.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// The gate's answer for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passage {
    /// The event is applied.
    Free,
    /// The event's group is applied when this server's clock reaches this time, in microseconds of
    /// unix time.
    NotBefore(u64),
    /// The applier stops before the event.
    Closed,
}

/// The gate that every event passes before it is applied.
pub(super) struct Gate<'c> {
    channel: &'c Arc<Channel>,
    delay_us: u64,
    until: Option<UntilCondition>,
    boundaries: Boundaries,
}

impl<'c> Gate<'c> {
    /// Builds a gate for the channel's present configuration.
    pub fn new(channel: &'c Arc<Channel>) -> Gate<'c> {
        let delay_us = u64::from(channel.config.lock().delay_s) * 1_000_000;
        let until = channel.applier.lock().until.clone();
        Gate { channel, delay_us, until, boundaries: Boundaries::default() }
    }

    /// Reports whether there is an UNTIL condition, which must be checked after every group.
    pub fn has_until(&self) -> bool {
        self.until.is_some()
    }

    /// Reports whether the applier is between two groups and has reached the point where it has to
    /// stop.
    #[inline]
    pub fn is_reached(&self, applier: &Applier<'_>) -> bool {
        self.until.as_ref().is_some_and(|until| self.has_reached(until, applier))
    }

    fn has_reached(&self, until: &UntilCondition, applier: &Applier<'_>) -> bool {
        if !applier.is_between_groups() {
            return false;
        }
        let at = applier.resume_point();
        let reached = Reached {
            source_file: &at.file,
            source_pos: at.pos,
            relay_file: &self.channel.relay.name(at.relay.file),
            relay_pos: at.relay.pos,
            executed: applier.executed(),
        };
        let stops = until.is_reached(&reached) || until.is_missed(applier.executed());
        if stops {
            log::info!("Replica SQL thread stopped because it reached its UNTIL position {}", at.pos);
        }
        stops
    }

    /// Decides about the next event, given in the form that the relay log has.
    #[inline]
    pub fn look(&mut self, event: &[u8], checksum: Checksum) -> Passage {
        if self.delay_us == 0 && self.until.is_none() {
            return Passage::Free;
        }
        self.look_closely(event, checksum)
    }

    fn look_closely(&mut self, event: &[u8], checksum: Checksum) -> Passage {
        let checksum_bytes = if checksum == Checksum::None { 0 } else { CHECKSUM_BYTES };
        let Some(len) = event.len().checked_sub(checksum_bytes).filter(|&len| len >= HEADER_LEN) else {
            return Passage::Free;
        };
        let bare = &event[..len];
        if event::kind_of(event) == kind::ROTATE {
            // Behind a rotate event, the source sends a group that had begun from its start again.
            self.boundaries.restart();
        }
        if !matches!(self.boundaries.feed(bare), Edge::Begin | Edge::Whole) {
            return Passage::Free;
        }
        // An event that cannot be read is reported where it is applied.
        let timestamp = Header::decode(bare).map_or(0, |header| header.timestamp);
        let head = GroupHead::read(bare).ok().flatten().unwrap_or_else(|| GroupHead::of_second(timestamp));
        if self.until.as_ref().is_some_and(|until| until.excludes(head.gtid)) {
            return Passage::Closed;
        }
        if self.delay_us == 0 {
            return Passage::Free;
        }
        let skew_us = self.channel.receiver.lock().clock_skew_us;
        let due_us = (head.immediate_commit_us + self.delay_us).saturating_add_signed(-skew_us);
        if due_us <= os::clock::now_us() {
            return Passage::Free;
        }
        let times = &self.channel.times;
        times.applying_us.store(head.immediate_commit_us, Ordering::Relaxed);
        times.event_timestamp_s.store(timestamp.into(), Ordering::Relaxed);
        Passage::NotBefore(due_us)
    }

    /// Waits until `due_us`. Returns false when the applier has to stop before.
    pub fn wait(&self, due_us: u64) -> bool {
        let mut state = self.channel.applier.lock();
        assert!(state.delayed_until_us.is_none(), "one thread waits for the delay");
        state.delayed_until_us = Some(due_us);
        let goes_on = loop {
            if self.channel.applier_stop.load(Ordering::Acquire) {
                break false;
            }
            let left_us = due_us.saturating_sub(os::clock::now_us());
            if left_us == 0 {
                break true;
            }
            let sleep = Duration::from_micros(left_us).min(LONGEST_SLEEP);
            let _idle = os::account::enter(os::account::State::RelayLogWait);
            self.channel.applier_changed.wait_for(&mut state, sleep);
        };
        state.delayed_until_us = None;
        goes_on
    }
}
