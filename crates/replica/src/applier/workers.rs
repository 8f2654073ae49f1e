//! The applier with workers: each takes jobs from the relay log to the pages, many at a time, in an
//! order that no reader can observe.
//!
//! A worker reads a job from the relay log ([`super::intake`]), *prepares* its groups from whatever
//! is committed at that moment ([`super::job`]), and waits for the job's turn ([`super::order`]).
//! In the turn it *orders* the groups: rows that were overtaken are done again, and the groups go
//! into the log ([`Turns`]). Then the turn passes to the next job, while this worker *completes*
//! its own, which means that it puts the rows on their pages. A group that cannot be prepared is
//! applied from its events in its turn, when everything before it is on the pages, by the same
//! [`Applier`] that a replica without workers has.
//!
//! Trials decide whether all workers do this, or one of them applies alone as if there were no
//! workers ([`super::trials`]).
//!
//! Invariants:
//! - Commits are in the source's order, and the engine shows the longest prefix that is on the
//!   pages. So readers only see states that the source had, whatever the workers do.
//! - A worker with groups in the log that are not complete waits for nothing, neither for a lock
//!   nor for another job. So every wait comes to an end.
//! - Nothing of a group whose turn has not come is visible, logged or locked. Stopping drops the
//!   group, and it is read again.
//!
//! Lock order: the inlet, then the turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use os::account::{self, State};
use os::clock::Stopwatch;
use parking_lot::{Mutex, MutexGuard};

use super::alone::{CameTo, note_dry};
use super::crew::Crew;
use super::group::Applier;
use super::group::turn::Turned;
use super::intake::{self, Cut, Intake};
use super::job::Job;
use super::open_group::OpenGroup;
use super::order::Order;
use super::policy::Policy;
use super::reading::{unreadable, wait_for_more};
use super::state::ResumePoint;
use super::trials::{Trials, Way};
use crate::channel::Channel;
use crate::error::{ThreadError, number};
use crate::filter::Filters;

/// The number of bytes after which a worker that applies alone looks at the clock, rarely enough
/// that the looks cost nothing.
const LOOK_EVERY_BYTES: usize = 4096;

/// The part of the work that one worker at a time does, in the order of the relay log.
pub(super) struct Turns<'a, 'c> {
    channel: &'c Arc<Channel>,
    pub applier: &'a mut Applier<'c>,
    /// The sequence number of the newest commit that was logged here and is completed elsewhere.
    last_seq: u64,
}

impl<'a, 'c> Turns<'a, 'c> {
    pub fn new(channel: &'c Arc<Channel>, applier: &'a mut Applier<'c>) -> Turns<'a, 'c> {
        Turns { channel, applier, last_seq: 0 }
    }

    /// Orders the job's groups, up to the first that would have to wait.
    pub fn order(&mut self, job: &mut Job, open: &mut OpenGroup) -> Result<(), ThreadError> {
        while !job.is_in_order() && self.order_next(job, open, false)? {}
        Ok(())
    }

    /// Orders the job's next group and waits for whatever it needs. None of the job's groups may be
    /// logged and not complete.
    pub fn order_waiting(&mut self, job: &mut Job, open: &mut OpenGroup) -> Result<(), ThreadError> {
        assert!(job.logged.is_empty(), "who waits has nothing that others wait for");
        self.channel.engine.log().free_check();
        let is_ordered = self.order_next(job, open, true)?;
        assert!(is_ordered, "it has waited");
        Ok(())
    }

    /// Orders the job's next group. Returns false when it would have to wait and `waits` is false.
    fn order_next(&mut self, job: &mut Job, open: &mut OpenGroup, waits: bool) -> Result<bool, ThreadError> {
        assert!(!job.is_in_order(), "a job's groups have one turn each");
        job.load_ahead();
        let group = &mut job.groups[job.next];
        let end = group.end();
        let ready = group.ready.take().filter(|_| self.applier.is_between_groups());
        let turned = match ready {
            Some(ready) => {
                let events = &job.events[ready.events.clone()];
                self.applier.take_turn(ready, events, end, (open.hold(), waits), job.logged.last())?
            }
            None => Turned::NotAsPrepared,
        };
        match turned {
            Turned::Logged(logged) => {
                if let Some(logged) = &logged {
                    assert!(logged.seq() > self.last_seq, "transactions are logged in the source's order");
                }
                self.last_seq = logged.as_ref().map_or(self.last_seq, |logged| logged.seq());
                job.logged.extend(logged);
            }
            Turned::Blocked(ready) => {
                group.ready = Some(ready);
                return Ok(false);
            }
            Turned::NotAsPrepared if waits => {
                open.hold().release();
                self.channel.engine.wait_visible(self.last_seq);
                let verify = self.channel.settings.sql_verify_checksum;
                let applied =
                    intake::apply_raw(self.applier, &job.raw[group.raw.clone()], group.start, verify);
                // The next group may wait for a row, or be DDL, so the tables are released. If the
                // next group is applied from its events too, it goes on with them.
                if applied.is_err() || job.groups.get(job.next + 1).is_none_or(|next| next.ready.is_some()) {
                    self.applier.release_tables();
                }
                applied?;
            }
            Turned::NotAsPrepared => return Ok(false),
        }
        if job.next == 0 {
            job.begun_us = self.applier.last_commit_us();
        }
        job.next += 1;
        Ok(true)
    }
}

/// The source of jobs: the relay log, from which one worker at a time cuts.
struct Inlet<'c> {
    intake: Intake<'c>,
    /// The number of the next job.
    next: u64,
    trials: Trials,
    clock: Stopwatch,
}

/// The state that an applier's threads share.
struct Shared<'a, 'c> {
    channel: &'c Arc<Channel>,
    inlet: Mutex<Inlet<'c>>,
    /// The number of workers that wait for the inlet. Relaxed: it only influences the size of jobs.
    waiting: AtomicUsize,
    turns: Mutex<Turns<'a, 'c>>,
    order: Order,
    crew: Crew,
    /// The value of `replica_parallel_workers` with which the workers were started.
    workers: usize,
    policy: Policy,
    filters: Arc<Filters>,
}

/// Applies with this number of workers until the applier has to stop, cannot go on, or the number
/// or the policy changes.
pub(super) fn run<'c>(
    channel: &'c Arc<Channel>,
    intake: Intake<'c>,
    applier: &mut Applier<'c>,
    workers: usize,
) -> Result<(), ThreadError> {
    let shared = Shared::new(channel, intake, applier, workers);
    let worker = |_| {
        let (shared, open) = (&shared, shared.open_group());
        move || shared.work(open)
    };
    {
        let _waiting = account::enter(State::WorkerWait);
        os::thread::run_all(&channel.thread_name("replica_worker"), (0..workers).map(worker).collect());
    }
    shared.order.outcome()
}

/// Ends all other workers when a thread panics, because they would wait for it.
struct Leaving<'s>(&'s Order);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Ok(()));
        }
    }
}

impl<'a, 'c> Shared<'a, 'c> {
    fn new(
        channel: &'c Arc<Channel>,
        intake: Intake<'c>,
        applier: &'a mut Applier<'c>,
        workers: usize,
    ) -> Shared<'a, 'c> {
        Shared {
            channel,
            policy: intake.policy(),
            filters: applier.filters().clone(),
            inlet: Mutex::new(Inlet { intake, next: 0, trials: Trials::new(), clock: Stopwatch::start() }),
            waiting: AtomicUsize::new(0),
            turns: Mutex::new(Turns::new(channel, applier)),
            order: Order::new(workers),
            crew: Crew::new(),
            workers,
        }
    }

    /// Builds the open group in which a worker prepares and orders groups.
    fn open_group(&self) -> OpenGroup {
        let (engine, settings) = (self.channel.engine.clone(), self.channel.apply.clone());
        let mut open = OpenGroup::new(engine, settings, self.filters.clone(), true);
        // STOP REPLICA must wait neither for DDL nor for a row that a session has locked.
        open.hold().set_interrupt(self.channel.applier_stop.clone());
        open
    }
}

impl<'c> Shared<'_, 'c> {
    fn work(&self, mut open: OpenGroup) {
        let _leaving = Leaving(&self.order);
        let _state = account::enter(State::ApplyDecode);
        let mut job = Job::default();
        self.crew.go_to_work(&self.order);
        loop {
            match self.apply_job(&mut job, &mut open) {
                Ok(true) => self.crew.make_room(&self.order),
                Ok(false) => break self.order.end(Ok(())),
                Err(error) => break self.order.end(Err(error)),
            }
        }
        // Groups in the log must get to their pages, whatever else happened.
        if let Err(error) = job.complete(&mut open) {
            log::error!("Replica worker: {error}");
        }
    }

    /// Takes the next job from the relay log to the pages. Returns false when everything has to
    /// end.
    fn apply_job(&self, job: &mut Job, open: &mut OpenGroup) -> Result<bool, ThreadError> {
        let Some(number) = self.next_job(job)? else { return Ok(false) };
        if job.waits_for.is_some_and(|before| !self.order.wait_until_complete(before + 1)) {
            return Ok(false);
        }
        job.prepare(open, self.channel.settings.sql_verify_checksum);
        if !self.order.wait_for_turn(number) || self.must_end() {
            return Ok(false);
        }
        self.bring_to_pages(job, open, number)?;
        Ok(true)
    }

    /// Takes a job through its turn, which has come, and to the pages.
    fn bring_to_pages(&self, job: &mut Job, open: &mut OpenGroup, number: u64) -> Result<(), ThreadError> {
        let resume = self.take_turn(job, open)?;
        assert!(job.is_in_order(), "a job that has had its turn is in order");
        self.order.pass_turn(self.channel, number, job.begun_us);
        self.complete(job, open)?;
        assert!(job.logged.is_empty(), "a job that is complete is on its pages");
        self.order.complete(self.channel, number, resume);
        Ok(())
    }

    fn must_end(&self) -> bool {
        self.channel.applier_stop.load(Ordering::Acquire)
            || self.channel.workers() != self.workers
            || self.channel.apply.policy() != self.policy
            || self.order.has_ended()
    }

    /// Cuts the next job and returns its number. `None` means that everything has to end.
    fn next_job(&self, job: &mut Job) -> Result<Option<u64>, ThreadError> {
        let mut guard = self.lock_inlet();
        let Inlet { intake, next, trials, clock } = &mut *guard;
        loop {
            if self.must_end() {
                return Ok(None);
            }
            if self.goes_alone(trials) && intake.is_at_end_of_event() {
                if !self.order.wait_until_complete(*next) {
                    return Ok(None);
                }
                self.apply_alone(intake, trials, clock)?;
                continue;
            }
            let cut = match intake.cut(job, *next, self.waiting.load(Ordering::Relaxed) > 0) {
                Ok(cut) => cut,
                Err(error) => {
                    // The jobs before the error are sound and are completed first.
                    self.order.wait_until_complete(*next);
                    return Err(error);
                }
            };
            if cut == Cut::Job {
                assert_eq!(job.next, 0, "no group of a job that has just been cut is in order");
                trials.add(job.raw.len(), clock.elapsed());
                *next += 1;
                return Ok(Some(*next - 1));
            }
            if !self.order.wait_until_complete(*next) {
                return Ok(None);
            }
            let mut turns = self.turns.lock();
            let applier = &mut *turns.applier;
            match cut {
                Cut::InTurn => {
                    intake.apply_in_turn(applier)?;
                    applier.release_tables();
                    self.channel.applier.lock().show(&applier.resume_point());
                }
                Cut::Delayed(due_us) => {
                    trials.pause();
                    let done = applier.resume_point().relay;
                    intake.reader().note_done(done).map_err(unreadable)?;
                    drop(turns);
                    if !intake.gate().wait(due_us) {
                        return Ok(None);
                    }
                }
                Cut::Dry | Cut::Job => {
                    trials.pause();
                    note_dry(self.channel, intake.reader(), applier)?;
                    drop(turns);
                    wait_for_more(intake.reader());
                }
            }
        }
    }

    fn lock_inlet(&self) -> MutexGuard<'_, Inlet<'c>> {
        self.inlet.try_lock().unwrap_or_else(|| {
            let _waiting = account::enter(State::WorkerWait);
            self.waiting.fetch_add(1, Ordering::Relaxed);
            let inlet = self.inlet.lock();
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            inlet
        })
    }

    /// Applies without the other workers as long as that is faster. Everything that was given out
    /// must be complete.
    fn apply_alone(
        &self,
        intake: &mut Intake<'c>,
        trials: &mut Trials,
        clock: &Stopwatch,
    ) -> Result<(), ThreadError> {
        let _alone = self.crew.alone();
        let mut unmeasured = 0;
        intake.apply_alone(self.turns.lock().applier, |came_to| {
            match came_to {
                CameTo::Pause => trials.pause(),
                CameTo::Group(bytes) => {
                    unmeasured += bytes;
                    if unmeasured < LOOK_EVERY_BYTES {
                        return false;
                    }
                    trials.add(std::mem::take(&mut unmeasured), clock.elapsed());
                }
            }
            !self.goes_alone(trials) || self.must_end()
        })
    }

    fn goes_alone(&self, trials: &Trials) -> bool {
        trials.way() == Way::Alone && self.channel.apply.is_adaptive()
    }

    /// Orders all groups of a job whose turn has come. Returns the point where applying goes on
    /// behind it.
    fn take_turn(&self, job: &mut Job, open: &mut OpenGroup) -> Result<ResumePoint, ThreadError> {
        let mut turns = self.turns.lock();
        self.channel.engine.log().free_check();
        turns.order(job, open)?;
        while !job.is_in_order() {
            self.complete(job, open)?;
            turns.order_waiting(job, open)?;
            turns.order(job, open)?;
        }
        let resume = turns.applier.resume_point();
        self.channel.relay.note_done(resume.relay).map_err(|error| unreadable(error.into()))?;
        Ok(resume)
    }

    fn complete(&self, job: &mut Job, open: &mut OpenGroup) -> Result<(), ThreadError> {
        job.complete(open).map_err(|error| {
            ThreadError::now(number::ERROR_ON_WRITE, format!("Error in Xid_log_event: '{error}'"))
        })
    }
}
