//! The order in which workers do what must be done in the source's order.
//!
//! Every job has a number. Its *turn* comes when the jobs before it have had theirs; it is
//! *complete* when all its rows are on their pages, and *shown* when all jobs before it are
//! complete, too.
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
    /// The job whose turn it is.
    turn: u64,
    /// All jobs before this one are complete.
    complete: u64,
    /// Of `complete` and those after it: where applying goes on behind the job, once it is
    /// complete.
    completed: VecDeque<Option<ResumePoint>>,
    /// Of `complete` and those after it, as far as they have had their turn: when the source
    /// committed their first groups.
    begun_us: VecDeque<u64>,
    /// Nothing more is to be done.
    ended: Option<Result<(), ThreadError>>,
}

/// See the module's header.
pub(super) struct Order {
    progress: Mutex<Progress>,
    /// One for each job that can be under way, by its number: its turn has come, or everything has
    /// ended.
    turns: Vec<Condvar>,
    /// Everything that was given out is complete, or everything has ended.
    caught_up: Condvar,
}

impl Order {
    /// For as many jobs under way as there are `workers`. Numbers begin with 0.
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

    /// Waits for a job's turn; false: everything has ended.
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

    /// The job, whose first group the source committed at `begun_us`, has had its turn.
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

    /// Everything of a job is on its pages, and applying goes on from `resume` behind it.
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
        channel.applier.lock().show(&resume);
        self.caught_up.notify_all();
    }

    /// Waits until all jobs before `job` are complete; false: everything has ended.
    pub fn wait_until_complete(&self, job: u64) -> bool {
        let mut progress = self.progress.lock();
        let mut waiting = None;
        while progress.ended.is_none() && progress.complete < job {
            waiting.get_or_insert_with(|| account::enter(State::WorkerWait));
            self.caught_up.wait(&mut progress);
        }
        progress.ended.is_none()
    }

    /// All jobs before `job` are complete.
    #[cfg(test)]
    pub fn is_complete(&self, job: u64) -> bool {
        self.progress.lock().complete >= job
    }

    /// Ends everything; the first reason counts.
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

    /// How everything ended.
    pub fn outcome(self) -> Result<(), ThreadError> {
        self.progress.into_inner().ended.unwrap_or(Ok(()))
    }
}

/// Notes a commit time; 0 is none: where all that was read had been executed before.
fn note(time: &AtomicU64, commit_us: u64) {
    if commit_us > 0 {
        time.store(commit_us, Ordering::Relaxed);
    }
}
