//! The applier with workers: groups are prepared ahead by many threads and committed in order by this one.
//!
//! The coordinator reads the relay log and cuts it into groups ([`super::framing`]); runs of groups go to the workers as jobs, and come back prepared
//! ([`super::job`]). It commits them in the order of the relay log, each completed in its turn (see [`engine::Prepared`]). What cannot
//! be prepared (DDL, statements, a row that an earlier group in flight inserts) is applied from its events by the same
//! [`Applier`] that a replica without workers has.
//!
//! Invariants:
//! - Commits are in the source's order, so readers only see states that the source had (`replica_preserve_commit_order=ON`).
//! - An event that is no part of a group of rows is taken when nothing is in flight.
//! - Nothing of a job in flight is visible or locked: stopping drops it, and it is read again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use binlog::Checksum;

use super::framing::{Framed, Framer};
use super::gate::{Gate, Passage};
use super::group::Applier;
use super::job::{self, Job};
use super::workers::{Ticket, Workers};
use super::{check, note_dry, show, unreadable, wait_for_more};
use crate::channel::Channel;
use crate::error::ThreadError;
use crate::event::CHECKSUM_BYTES;
use crate::relay::{RelayPosition, RelayReader, Step};

/// A group that grows beyond this is applied in turn, row by row as it is read.
pub(super) const LARGEST_PREPARED_BYTES: usize = 1 << 20;
/// Jobs in flight at most: the further ahead, the more rows are overtaken.
const LARGEST_IN_FLIGHT: usize = 32;

/// See the module's header.
pub(super) struct Coordinator<'a, 'c> {
    channel: &'c Arc<Channel>,
    applier: &'a mut Applier<'c>,
    workers: Workers,
    framer: Framer,
    filling: Job,
    in_flight: VecDeque<Arc<Ticket>>,
    limit: usize,
    /// Emptied jobs, for their memory.
    spare: Vec<Job>,
    /// Events go to the applier one by one until the group that is open there ends.
    in_turn: bool,
    gate: Gate<'c>,
}

impl<'a, 'c> Coordinator<'a, 'c> {
    pub fn new(
        channel: &'c Arc<Channel>,
        applier: &'a mut Applier<'c>,
        workers: usize,
        gate: Gate<'c>,
    ) -> Self {
        Coordinator {
            channel,
            workers: Workers::start(channel, applier.filters(), workers),
            applier,
            framer: Framer::new(),
            filling: Job::default(),
            in_flight: VecDeque::new(),
            limit: (2 * workers + 2).min(LARGEST_IN_FLIGHT),
            spare: Vec::new(),
            in_turn: false,
            gate,
        }
    }

    /// Applies until it is told to stop or cannot go on.
    pub fn run(&mut self, reader: &mut RelayReader) -> Result<(), ThreadError> {
        while !self.channel.applier_stop.load(Ordering::Acquire) {
            if self.in_flight.len() >= self.limit {
                self.commit_oldest()?;
                reader.note_done(self.applier.resume_point().relay).map_err(unreadable)?;
                continue;
            }
            match reader.step().map_err(unreadable)? {
                Step::Event => {
                    if let Passage::NotBefore(due_us) =
                        self.gate.look(reader.event(), self.applier.checksum())
                        && !self.hold_back(reader, due_us)?
                    {
                        return Ok(());
                    }
                    self.take(reader)?;
                }
                Step::End if self.in_flight.is_empty() => {
                    self.apply_filling_in_turn()?;
                    self.applier.release_tables();
                    note_dry(self.channel, reader, self.applier)?;
                    wait_for_more(reader);
                }
                Step::End => {
                    self.submit();
                    self.commit_oldest()?;
                }
            }
        }
        Ok(())
    }

    /// Completes what has come and waits with the next group; false: the applier is to stop before.
    fn hold_back(&mut self, reader: &RelayReader, due_us: u64) -> Result<bool, ThreadError> {
        self.submit();
        while !self.in_flight.is_empty() {
            self.commit_oldest()?;
        }
        self.applier.release_tables();
        reader.note_done(self.applier.resume_point().relay).map_err(unreadable)?;
        Ok(self.gate.wait(due_us))
    }

    fn take(&mut self, reader: &RelayReader) -> Result<(), ThreadError> {
        let (event, end) = (reader.event(), reader.position());
        // It is set while the applier does not run: nothing is in flight then.
        let skips = self.channel.apply.skip_counter() > 0;
        if self.in_turn || skips {
            return self.apply_in_turn(event, end);
        }
        // Too short for its checksum: the applier says so.
        let checksum_bytes = if self.applier.checksum() == Checksum::None { 0 } else { CHECKSUM_BYTES };
        let bare = event.len().checked_sub(checksum_bytes).filter(|&len| len >= binlog::event::HEADER_LEN);
        let framed = bare.map_or(Framed::InTurn, |len| self.framer.take(&event[..len]));
        let fits = self.filling.open_bytes() + event.len() <= LARGEST_PREPARED_BYTES;
        let in_one_file = self.filling.open_file().is_none_or(|file| file == end.file);
        if framed == Framed::InTurn || !fits || !in_one_file {
            self.framer.reset();
            self.apply_open_in_turn()?;
            return self.apply_in_turn(event, end);
        }
        self.filling.push(event, end);
        if framed == Framed::Complete {
            self.filling.end_group(end);
            if self.filling.is_full() {
                self.submit();
            }
        }
        Ok(())
    }

    /// Hands the job that is being filled to the workers; a group in it that is not complete stays.
    fn submit(&mut self) {
        if self.filling.groups.is_empty() {
            return;
        }
        let open = self.filling.take_open();
        let mut job = std::mem::replace(&mut self.filling, self.spare.pop().unwrap_or_default());
        if let Some((raw, start)) = open {
            self.filling.reopen(&raw, start);
        }
        job.events.reserve(job.raw.len());
        self.in_flight.push_back(self.workers.submit(job, self.applier.checksum()));
    }

    /// Commits the groups of the oldest job in flight.
    fn commit_oldest(&mut self) -> Result<(), ThreadError> {
        let Some(ticket) = self.in_flight.pop_front() else { return Ok(()) };
        let mut job = self.workers.finish(&ticket);
        for group in std::mem::take(&mut job.groups) {
            let committed = match group.ready {
                Some(ready) => {
                    let events = ready.events.clone();
                    self.applier.commit_ready(ready, &job.events[events], group.end)?
                }
                None => false,
            };
            if !committed {
                self.apply_raw(&job.raw[group.raw], group.start)?;
            }
        }
        self.applier.release_tables();
        show(&mut self.channel.applier.lock(), &self.applier.resume_point());
        job.clear();
        self.spare.push(job);
        Ok(())
    }

    /// Applies everything in flight, then what is in the job being filled, complete or not.
    fn apply_open_in_turn(&mut self) -> Result<(), ThreadError> {
        let open = self.filling.take_open();
        self.submit();
        while !self.in_flight.is_empty() {
            self.commit_oldest()?;
        }
        match open {
            Some((raw, start)) => self.apply_raw(&raw, start),
            None => Ok(()),
        }
    }

    /// Applies complete groups that are too few to be worth a worker's while.
    fn apply_filling_in_turn(&mut self) -> Result<(), ThreadError> {
        let open = self.filling.take_open();
        for group in std::mem::take(&mut self.filling.groups) {
            let raw = self.filling.raw[group.raw].to_vec();
            self.apply_raw(&raw, group.start)?;
        }
        self.filling.clear();
        if let Some((raw, start)) = open {
            self.filling.reopen(&raw, start);
        }
        Ok(())
    }

    /// Applies events that begin at `start` in the relay log.
    fn apply_raw(&mut self, raw: &[u8], start: RelayPosition) -> Result<(), ThreadError> {
        for (event, end) in job::split(raw) {
            let end = RelayPosition { file: start.file, pos: start.pos + end as u64 };
            self.apply_in_turn(event, end)?;
        }
        Ok(())
    }

    fn apply_in_turn(&mut self, event: &[u8], end: RelayPosition) -> Result<(), ThreadError> {
        let checksum = self.applier.checksum();
        let checked = check(event, checksum, self.channel.settings.sql_verify_checksum)?;
        self.applier.take(checked, end)?;
        self.in_turn = !self.applier.is_between_groups();
        Ok(())
    }
}
