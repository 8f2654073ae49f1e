//! The worker threads: each takes jobs from one queue and prepares them.
//!
//! A job is with one owner at a time: the coordinator that fills it in, the queue, the worker that took it, and again the coordinator. The hand-over
//! is through the queue's mutex and the job's own, so everything that a worker did is seen by whom the job goes back to.

use std::collections::VecDeque;
use std::sync::Arc;

use binlog::Checksum;
use os::account::{self, State};
use os::thread::JoinHandle;
use parking_lot::{Condvar, Mutex};

use super::job::Job;
use super::open_group::OpenGroup;
use crate::channel::Channel;
use crate::filter::Filters;

/// A job that was handed in.
pub(super) struct Ticket {
    checksum: Checksum,
    /// Filled again when the job is prepared.
    done: Mutex<Option<Job>>,
    is_done: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(Arc<Ticket>, Job)>,
    stop: bool,
}

struct Shared {
    /// Lock order: held alone.
    queue: Mutex<Queue>,
    /// A job is waiting, or the workers are to stop.
    work: Condvar,
    verify: bool,
}

/// The workers. The coordinator is one of them whenever it would have to wait.
pub(super) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    own: OpenGroup,
}

impl Workers {
    /// Starts one thread less than `count`, for the coordinator is a worker, too.
    pub fn start(channel: &Arc<Channel>, filters: &Arc<Filters>, count: usize) -> Workers {
        let open_group =
            || OpenGroup::new(channel.engine.clone(), channel.apply.clone(), filters.clone(), true);
        let verify = channel.settings.sql_verify_checksum;
        let shared = Arc::new(Shared { queue: Mutex::default(), work: Condvar::new(), verify });
        let start = |_| {
            let (shared, open) = (shared.clone(), open_group());
            os::thread::spawn(&channel.thread_name("replica_worker"), move || work(&shared, open))
        };
        let threads = (1..count).map(start).collect();
        Workers { shared, threads, own: open_group() }
    }

    /// Hands a job in, whose events end with `checksum`.
    pub fn submit(&self, job: Job, checksum: Checksum) -> Arc<Ticket> {
        let ticket = Arc::new(Ticket { checksum, done: Mutex::new(None), is_done: Condvar::new() });
        self.shared.queue.lock().waiting.push_back((ticket.clone(), job));
        self.shared.work.notify_one();
        ticket
    }

    /// The job, prepared. As long as it is not, this thread prepares what no worker has begun, the oldest first.
    pub fn finish(&mut self, ticket: &Arc<Ticket>) -> Job {
        loop {
            if let Some(job) = ticket.done.lock().take() {
                return job;
            }
            let oldest = self.shared.queue.lock().waiting.pop_front();
            let Some((other, job)) = oldest else { break };
            prepare(&other, job, &mut self.own, self.shared.verify);
        }
        let mut done = ticket.done.lock();
        let _waiting = done.is_none().then(|| account::enter(State::WorkerWait));
        loop {
            match done.take() {
                Some(job) => return job,
                None => ticket.is_done.wait(&mut done),
            }
        }
    }
}

impl Drop for Workers {
    /// Stops the workers; what they have not begun is dropped.
    fn drop(&mut self) {
        {
            let mut queue = self.shared.queue.lock();
            queue.stop = true;
            queue.waiting.clear();
        }
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // A worker that panicked has said so, and the job that it had is never finished.
            let _ = thread.join();
        }
    }
}

fn work(shared: &Shared, mut open: OpenGroup) {
    let _state = account::enter(State::ApplyDecode);
    while let Some((ticket, job)) = next(shared) {
        prepare(&ticket, job, &mut open, shared.verify);
    }
}

fn prepare(ticket: &Ticket, mut job: Job, open: &mut OpenGroup, verify: bool) {
    job.prepare(open, ticket.checksum, verify);
    *ticket.done.lock() = Some(job);
    ticket.is_done.notify_one();
}

fn next(shared: &Shared) -> Option<(Arc<Ticket>, Job)> {
    let mut queue = shared.queue.lock();
    loop {
        if queue.stop {
            return None;
        }
        if let Some(job) = queue.waiting.pop_front() {
            return Some(job);
        }
        let _idle = account::enter(State::Idle);
        shared.work.wait(&mut queue);
    }
}
