//! `binlog_group_commit_sync_delay` and its no-delay count: commits gather before the log is synced
//! for all of them at once (MySQL manual, 19.1.6.4).
//!
//! The first commit of a group begins the delay. The group goes on when the delay is over, or when
//! it has as many commits as the count says. By then the rows are unlocked and visible to others;
//! only the answer to the client is delayed. A replica's applier waits for no sync, and so for no
//! group either.
//!
//! Lock order: the mutex is a leaf, and it is not held while a commit waits for anything else.

use os::account::{State as Account, enter};
use os::clock::Stopwatch;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Default)]
struct Group {
    /// The number of groups that have gone on.
    number: u64,
    /// The number of commits in the present group.
    commits: u64,
    /// The number of groups since the last one that was delayed (`sync_binlog` above 1).
    undelayed: u64,
}

/// The settings of the delay and the group that is gathering.
#[derive(Default)]
pub(crate) struct GroupDelay {
    // The settings are loaded with relaxed ordering; commits notice a change soon.
    delay_us: AtomicU64,
    no_delay_count: AtomicU64,
    every: AtomicU64,
    group: Mutex<Group>,
    gone_on: Condvar,
}

impl GroupDelay {
    /// Sets `binlog_group_commit_sync_delay`, in microseconds. 0 turns the delay off.
    pub fn set_delay_us(&self, delay_us: u64) {
        self.delay_us.store(delay_us, Ordering::Relaxed);
    }

    /// Sets `binlog_group_commit_sync_no_delay_count`. 0 means that no number of commits ends the
    /// delay early.
    pub fn set_no_delay_count(&self, commits: u64) {
        self.no_delay_count.store(commits, Ordering::Relaxed);
    }

    /// Sets `sync_binlog`: one in `groups` groups is delayed.
    pub fn set_every(&self, groups: u64) {
        self.every.store(groups, Ordering::Relaxed);
    }

    /// Reports whether commits gather at all.
    pub fn is_on(&self) -> bool {
        self.delay_us.load(Ordering::Relaxed) > 0
    }

    /// Joins the group that is gathering, and returns when that group goes on.
    pub fn gather(&self) {
        if self.is_on() {
            self.join();
        }
    }

    fn join(&self) {
        let delay = Duration::from_micros(self.delay_us.load(Ordering::Relaxed));
        let no_delay_count = self.no_delay_count.load(Ordering::Relaxed);
        let _waiting = enter(Account::GroupCommitDelay);
        let mut group = self.group.lock();
        let mine = group.number;
        group.commits += 1;
        let begins = group.commits == 1;
        if begins && group.undelayed + 1 < self.every.load(Ordering::Relaxed) {
            group.undelayed += 1;
            return self.go_on(&mut group);
        }
        if group.commits == no_delay_count {
            group.undelayed = 0;
            return self.go_on(&mut group);
        }
        let since = Stopwatch::start();
        while group.number == mine {
            let left = since.remaining(delay);
            if left.is_zero() && begins {
                group.undelayed = 0;
                return self.go_on(&mut group);
            }
            // The first commit of the group ends the delay for all.
            if begins {
                self.gone_on.wait_for(&mut group, left);
            } else {
                self.gone_on.wait(&mut group);
            }
        }
    }

    fn go_on(&self, group: &mut Group) {
        group.number += 1;
        group.commits = 0;
        self.gone_on.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_full_group_goes_on_at_once() {
        let delay = Arc::new(GroupDelay::default());
        delay.set_delay_us(3_600_000_000);
        delay.set_no_delay_count(4);
        let commits: Vec<_> = (0..8)
            .map(|_| {
                let delay = Arc::clone(&delay);
                os::thread::spawn("commit", move || delay.gather())
            })
            .collect();
        commits.into_iter().for_each(|commit| commit.join().expect("goes on"));
        let group = delay.group.lock();
        assert_eq!((group.number, group.commits), (2, 0));
    }

    #[test]
    fn a_group_that_does_not_fill_goes_on_when_the_time_is_over() {
        let delay = GroupDelay::default();
        delay.gather();
        assert_eq!(delay.group.lock().number, 0, "off");
        delay.set_delay_us(1);
        delay.set_no_delay_count(2);
        delay.gather();
        assert_eq!(delay.group.lock().number, 1);
    }

    #[test]
    fn one_in_so_many_groups_is_delayed() {
        let delay = GroupDelay::default();
        delay.set_delay_us(3_600_000_000);
        delay.set_no_delay_count(1);
        delay.set_every(3);
        let delayed: Vec<bool> = (0..6)
            .map(|_| {
                delay.gather();
                delay.group.lock().undelayed == 0
            })
            .collect();
        assert_eq!(delayed, [false, false, true, false, false, true]);
    }
}
