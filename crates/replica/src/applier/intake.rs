//! The workers' intake: it cuts the relay log into jobs, one after the other.
//!
//! A job is a run of whole groups. Under another policy than ROW, while other workers wait, it
//! holds only groups that depend on each other ([`super::policy`]). No job holds events between
//! groups, groups that are too large to be prepared, or what `sql_replica_skip_counter` counts.
//! These are applied when everything before them is applied.

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

/// The kind of the next thing in the relay log, which [`Intake::cut`] has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// The intake's job has groups, which a worker can take.
    Job,
    /// The reader's event must be applied when everything before it is, by
    /// [`Intake::apply_in_turn`].
    InTurn,
    /// Nothing is applied before this time, in microseconds of unix time. Everything before is to
    /// be shown.
    Delayed(u64),
    /// The relay log has no further event for now.
    Dry,
}

/// The intake of an applier with workers.
pub(super) struct Intake<'c> {
    channel: &'c Arc<Channel>,
    reader: RelayReader,
    gate: Gate<'c>,
    framer: Framer,
    dependencies: Dependencies,
    /// The checksum with which events from here on end.
    checksum: Checksum,
    /// The events so far of the group that is being read.
    open: Vec<u8>,
    /// The position in the relay log where `open` begins.
    open_start: RelayPosition,
    /// `Some` when the group in `open` is complete and begins the next job. The value says whether
    /// it holds only row events.
    parted: Option<bool>,
    /// The state of the reader's event that has been found but put nowhere yet.
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

    /// Returns the policy by which jobs wait for each other.
    pub fn policy(&self) -> Policy {
        self.dependencies.policy()
    }

    /// Fills `job`, which becomes job `number`, with the next groups in the relay log. An event
    /// that no job may hold comes by itself, with an empty job. `others_wait` says that other
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
                // `take` has left the event to be applied in turn.
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
                // There are no workers where there is an UNTIL condition, so nothing is closed
                // here.
                Passage::Free | Passage::Closed => Pending::Event,
            },
        };
        Ok(self.pending)
    }

    /// Puts the reader's event where it belongs. Returns false when it has to be applied in turn.
    fn take(&mut self, job: &mut Job, number: u64, others_wait: bool) -> bool {
        let (event, end) = (self.reader.event(), self.reader.position());
        let checksum_bytes = if self.checksum == Checksum::None { 0 } else { CHECKSUM_BYTES };
        // An event that is too short for its checksum is reported by the applier.
        let bare = event.len().checked_sub(checksum_bytes).filter(|&len| len >= HEADER_LEN);
        // The counter is set only while the applier does not run, so nothing is in flight then.
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

    /// Notes the commit time of the group that is being read, if no other group is under way. It is
    /// then the oldest that is not applied.
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

    /// Reports whether everything that was read is in a job, except a group that has only begun.
    /// Then [`Intake::apply_alone`] can go on.
    pub fn is_at_end_of_event(&self) -> bool {
        self.pending == Pending::Nothing && self.parted.is_none()
    }

    /// Applies what comes in one thread, as an applier without workers does, until `ends` returns
    /// true between two groups. Everything before must be on the pages.
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

    /// Applies, after [`Cut::InTurn`], the part of the group that has been read, the reader's
    /// event, and the rest of the group. Everything before must be on the pages.
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

/// Applies the events in `raw`, which begin at `start` in the relay log.
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
