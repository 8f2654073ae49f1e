//! The order in which workers do what must be done in the source's order.
//!
//! Every job has a number. Its *turn* comes when all jobs before it have had theirs. It is
//! *complete* when all its rows are on their pages, and *shown* when all jobs before it are
//! complete too.
//!
//! Lock order: the mutex, then the channel's `applier`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use os::account::{self, State};
use parking_lot::{Condvar, Mutex};

use super::state::ResumePoint;
use crate::channel::Channel;
use crate::error::ThreadError;

#[derive(Default)]
struct Progress {
    /// The number of the job whose turn it is.
    turn: u64,
    /// The number of the first job that is not complete. All jobs before it are complete.
    complete: u64,
    /// For job `complete` and those after it, the point where applying goes on behind the job.
    /// `None` means that the job is not complete.
    completed: VecDeque<Option<ResumePoint>>,
    /// For job `complete` and those after it that have had their turn, the time when the source
    /// committed the first group, in microseconds of unix time.
    begun_us: VecDeque<u64>,
    /// The way in which everything ended; `None` while there is work to do.
    ended: Option<Result<(), ThreadError>>,
}

/// The order of the jobs, which all workers share.
pub(super) struct Order {
    progress: Mutex<Progress>,
    /// One condition variable for each job that can be under way, by its number. It is notified
    /// when the job's turn has come, or everything has ended.
    turns: Vec<Condvar>,
    /// Notified when jobs have become complete, or everything has ended.
    caught_up: Condvar,
}

impl Order {
    /// Builds the order for `workers` jobs under way at once. Jobs are numbered from 0.
    pub fn new(workers: usize) -> Order {
        assert!(workers > 0, "somebody takes the turns");
        Order {
            progress: Mutex::default(),
            turns: (0..workers).map(|_| Condvar::new()).collect(),
            caught_up: Condvar::new(),
        }
    }

    fn turn_of(&self, job: u64) -> &Condvar {
        &self.turns[(job % self.turns.len() as u64) as usize]
    }

    /// Waits for a job's turn. Returns false when everything has ended.
    pub fn wait_for_turn(&self, job: u64) -> bool {
        let mut progress = self.progress.lock();
        assert!(progress.turn <= job, "turn {job} has been passed, {} is on", progress.turn);
        let mut waiting = None;
        while progress.ended.is_none() && progress.turn != job {
            waiting.get_or_insert_with(|| account::enter(State::CommitOrderWait));
            self.turn_of(job).wait(&mut progress);
        }
        progress.ended.is_none()
    }

    /// Notes that the job, whose first group the source committed at `begun_us`, has had its turn.
    pub fn pass_turn(&self, channel: &Channel, job: u64, begun_us: u64) {
        let mut progress = self.progress.lock();
        assert_eq!(progress.turn, job, "turns are passed by whom they have come to");
        progress.turn += 1;
        progress.begun_us.push_back(begun_us);
        let begun = progress.turn - progress.complete;
        assert_eq!(progress.begun_us.len() as u64, begun, "jobs that have begun and are not complete");
        if progress.complete == job {
            note(&channel.times.applying_us, begun_us);
        }
        self.turn_of(job + 1).notify_one();
    }

    /// Notes that all rows of a job are on their pages, and that applying goes on at `resume`
    /// behind it.
    pub fn complete(&self, channel: &Channel, job: u64, resume: ResumePoint) {
        let mut guard = self.progress.lock();
        let progress = &mut *guard;
        assert!((progress.complete..progress.turn).contains(&job), "a job is complete once, after its turn");
        let at = (job - progress.complete) as usize;
        if progress.completed.len() <= at {
            progress.completed.resize(at + 1, None);
        }
        assert!(progress.completed[at].is_none(), "a job is complete once");
        progress.completed[at] = Some(resume);
        let mut last = None;
        while let Some(Some(_)) = progress.completed.front() {
            last = progress.completed.pop_front().flatten();
            progress.begun_us.pop_front();
            progress.complete += 1;
        }
        assert!(progress.completed.len() <= progress.begun_us.len(), "what is complete had begun");
        let Some(resume) = last else { return };
        let visible_us = resume.last.immediate_commit_us;
        let oldest_us = progress.begun_us.front().copied().filter(|&us| us > 0).unwrap_or(visible_us);
        note(&channel.times.visible_us, visible_us);
        note(&channel.times.applying_us, oldest_us);
        channel.reached.note(resume.relay, resume.has_checksums);
        channel.applier.lock().show(&resume);
        self.caught_up.notify_all();
    }

    /// Waits until all jobs before `job` are complete. Returns false when everything has ended.
    pub fn wait_until_complete(&self, job: u64) -> bool {
        let mut progress = self.progress.lock();
        let mut waiting = None;
        while progress.ended.is_none() && progress.complete < job {
            waiting.get_or_insert_with(|| account::enter(State::WorkerWait));
            self.caught_up.wait(&mut progress);
        }
        progress.ended.is_none()
    }

    /// Reports whether all jobs before `job` are complete.
    #[cfg(test)]
    pub fn is_complete(&self, job: u64) -> bool {
        self.progress.lock().complete >= job
    }

    /// Ends everything. The first reason counts.
    pub fn end(&self, how: Result<(), ThreadError>) {
        let mut progress = self.progress.lock();
        progress.ended.get_or_insert(how);
        for turn in &self.turns {
            turn.notify_all();
        }
        self.caught_up.notify_all();
    }

    pub fn has_ended(&self) -> bool {
        self.progress.lock().ended.is_some()
    }

    /// Returns the way in which everything ended.
    pub fn outcome(self) -> Result<(), ThreadError> {
        self.progress.into_inner().ended.unwrap_or(Ok(()))
    }
}

/// Stores a commit time. 0 means that there is none, because every group read was executed before.
fn note(time: &AtomicU64, commit_us: u64) {
    if commit_us > 0 {
        time.store(commit_us, Ordering::Relaxed);
    }
}
