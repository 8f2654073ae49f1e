//! What the workers are given: the relay log cut into jobs, one after the other.
//!
//! A job is a run of whole groups; by other policies than ROW, while workers wait, of such alone
//! that depend on each other ([`super::policy`]). Events that stand between groups, groups that are
//! too large to be prepared and what `sql_replica_skip_counter` counts are in no job: they are
//! applied when everything before them is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use binlog::Checksum;
use binlog::event::HEADER_LEN;

use super::alone::{self, CameTo};
use super::framing::{Framed, Framer};
use super::gate::{Gate, Passage};
use super::group::Applier;
use super::job::{Job, LARGEST_PREPARED_BYTES};
use super::policy::{Dependencies, Policy};
use super::reading::{check, unreadable, wait_for_more};
use crate::channel::Channel;
use crate::error::ThreadError;
use crate::event::{self, CHECKSUM_BYTES};
use crate::gtid::GroupHead;
use crate::relay::{RelayPosition, RelayReader, Step};

/// What [`Intake::cut`] has found to be next in the relay log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// The job has groups.
    Job,
    /// Something that is applied when everything before it is: [`Intake::apply_in_turn`].
    InTurn,
    /// Nothing before this time, in microseconds of unix time; everything before it is to be shown.
    Delayed(u64),
    /// The relay log has no further event for now.
    Dry,
}

/// See the module's header.
pub(super) struct Intake<'c> {
    channel: &'c Arc<Channel>,
    reader: RelayReader,
    gate: Gate<'c>,
    framer: Framer,
    dependencies: Dependencies,
    /// The checksum that events from here on end with.
    checksum: Checksum,
    /// The group that is being read.
    open: Vec<u8>,
    /// Where it begins.
    open_start: RelayPosition,
    /// It is complete and begins the next job; of rows alone, if that.
    parted: Option<bool>,
    /// The reader's event has been found, and the gate has let it pass, but it is nowhere yet.
    pending: Pending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    Nothing,
    Delayed(u64),
    Event,
    InTurn,
}

impl<'c> Intake<'c> {
    pub fn new(
        channel: &'c Arc<Channel>,
        reader: RelayReader,
        gate: Gate<'c>,
        checksum: Checksum,
        policy: Policy,
    ) -> Intake<'c> {
        let dependencies = Dependencies::new(policy, &channel.engine);
        Intake {
            channel,
            reader,
            gate,
            framer: Framer::default(),
            dependencies,
            checksum,
            open: Vec::new(),
            open_start: RelayPosition::default(),
            parted: None,
            pending: Pending::Nothing,
        }
    }

    pub fn reader(&self) -> &RelayReader {
        &self.reader
    }

    pub fn gate(&self) -> &Gate<'c> {
        &self.gate
    }

    /// The policy by which jobs wait for each other.
    pub fn policy(&self) -> Policy {
        self.dependencies.policy()
    }

    /// Fills `job`, which becomes job `number`, with the groups that come next in the relay log. An
    /// event outside of groups comes by itself, with an empty job. `others_wait` says that other
    /// workers want a job.
    pub fn cut(&mut self, job: &mut Job, number: u64, others_wait: bool) -> Result<Cut, ThreadError> {
        job.clear();
        job.checksum = self.checksum;
        if let Some(of_rows) = self.parted.take() {
            job.push(&self.open, self.open_start, of_rows);
            self.open.clear();
        }
        while !job.is_full() && self.parted.is_none() {
            let found = match self.pending {
                Pending::Nothing => self.next_event()?,
                pending => pending,
            };
            match found {
                Pending::Event if self.take(job, number, others_wait) => {}
                // `take` has left it to be applied in turn.
                Pending::Event | Pending::InTurn if job.is_empty() => return Ok(Cut::InTurn),
                Pending::Delayed(due_us) if job.is_empty() => {
                    self.pending = Pending::Event;
                    return Ok(Cut::Delayed(due_us));
                }
                Pending::Nothing if job.is_empty() => return Ok(Cut::Dry),
                _ => break,
            }
        }
        job.waits_for = self.dependencies.take();
        Ok(Cut::Job)
    }

    fn next_event(&mut self) -> Result<Pending, ThreadError> {
        self.pending = match self.reader.step().map_err(unreadable)? {
            Step::End => Pending::Nothing,
            Step::Event => match self.gate.look(self.reader.event(), self.checksum) {
                Passage::NotBefore(due_us) => Pending::Delayed(due_us),
                // There are no workers where there is a condition to stop at.
                Passage::Free | Passage::Closed => Pending::Event,
            },
        };
        Ok(self.pending)
    }

    /// Puts the reader's event where it belongs; false: it is to be applied in turn.
    fn take(&mut self, job: &mut Job, number: u64, others_wait: bool) -> bool {
        let (event, end) = (self.reader.event(), self.reader.position());
        let checksum_bytes = if self.checksum == Checksum::None { 0 } else { CHECKSUM_BYTES };
        // Too short for its checksum: the applier says so.
        let bare = event.len().checked_sub(checksum_bytes).filter(|&len| len >= HEADER_LEN);
        // The counter is set while the applier does not run: nothing is in flight then.
        let skips = self.channel.apply.skip_counter() > 0;
        let framed = bare.filter(|_| !skips).map_or(Framed::Outside, |len| self.framer.take(&event[..len]));
        if let Framed::Inside { begins: true } | Framed::Complete { begins: true, .. } = framed {
            self.open.clear();
            self.open_start = RelayPosition { file: end.file, pos: end.pos - event.len() as u64 };
        }
        let fits = self.open.len() + event.len() <= LARGEST_PREPARED_BYTES;
        if framed == Framed::Outside || !fits || self.open_start.file != end.file {
            self.pending = Pending::InTurn;
            return false;
        }
        debug_assert_eq!(
            self.open_start.pos + (self.open.len() + event.len()) as u64,
            end.pos,
            "a group's events follow each other in the relay log"
        );
        self.open.extend_from_slice(event);
        self.note_begun(checksum_bytes);
        self.pending = Pending::Nothing;
        if let Framed::Complete { of_rows, .. } = framed {
            if !self.dependencies.add(number, &self.open, checksum_bytes, others_wait) {
                self.parted = Some(of_rows);
                return true;
            }
            job.push(&self.open, self.open_start, of_rows);
            self.open.clear();
        }
        true
    }

    /// The group that is being read is the oldest that is not applied, if nothing else is under
    /// way.
    fn note_begun(&self, checksum_bytes: usize) {
        let applying_us = &self.channel.times.applying_us;
        if applying_us.load(Ordering::Relaxed) > 0 {
            return;
        }
        let first = event::split(&self.open).next().map_or(&[][..], |(event, _)| event);
        let bare = &first[..first.len().saturating_sub(checksum_bytes)];
        if let Ok(Some(head)) = GroupHead::read(bare) {
            applying_us.store(head.immediate_commit_us, Ordering::Relaxed);
        }
    }

    /// Whether everything that was read is in a job, but for a group that has only begun:
    /// [`Intake::apply_alone`] can go on.
    pub fn is_at_end_of_event(&self) -> bool {
        self.pending == Pending::Nothing && self.parted.is_none()
    }

    /// Applies what comes, as one thread does that has no workers, until `ends` says so between two
    /// groups. Everything before must be on the pages.
    pub fn apply_alone(
        &mut self,
        applier: &mut Applier<'_>,
        ends: impl FnMut(CameTo) -> bool,
    ) -> Result<(), ThreadError> {
        assert!(self.is_at_end_of_event(), "every event is applied once");
        self.framer.reset();
        let begun = std::mem::take(&mut self.open);
        apply_raw(applier, &begun, self.open_start, self.channel.settings.sql_verify_checksum)?;
        let applied = alone::apply(self.channel, &mut self.reader, applier, &mut self.gate, ends);
        self.checksum = applier.checksum();
        applied
    }

    /// After [`Cut::InTurn`]: applies what has come of the group that is being read, the reader's
    /// event, and what follows up to the end of the group. Everything before must be on the pages.
    pub fn apply_in_turn(&mut self, applier: &mut Applier<'_>) -> Result<(), ThreadError> {
        let verify = self.channel.settings.sql_verify_checksum;
        self.framer.reset();
        let open = std::mem::take(&mut self.open);
        apply_raw(applier, &open, self.open_start, verify)?;
        self.pending = Pending::Nothing;
        loop {
            let event = check(self.reader.event(), self.checksum, verify)?;
            applier.take(event, self.reader.position())?;
            self.checksum = applier.checksum();
            if applier.is_between_groups() {
                return Ok(());
            }
            while self.reader.step().map_err(unreadable)? == Step::End {
                if self.channel.applier_stop.load(Ordering::Acquire) {
                    return Ok(());
                }
                wait_for_more(&self.reader);
            }
        }
    }
}

/// Applies events that begin at `start` in the relay log.
pub(super) fn apply_raw(
    applier: &mut Applier<'_>,
    raw: &[u8],
    start: RelayPosition,
    verify: bool,
) -> Result<(), ThreadError> {
    for (event, end) in event::split(raw) {
        let end = RelayPosition { file: start.file, pos: start.pos + end as u64 };
        applier.take(check(event, applier.checksum(), verify)?, end)?;
    }
    Ok(())
}
