//! How long the threads of sessions were in each state, by account, user and host.

use super::levels::Sums;
use os::account::{State, StateTime, Watch};
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// How often a state was entered, and the time in it.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateSum {
    /// How often it was entered.
    pub entered: u64,
    /// The wall time in it, in nanoseconds.
    pub wall_ns: u64,
}

/// Sums by state. States that were not entered are not there.
#[derive(Default, Clone, Debug, PartialEq, Eq)]
pub struct StateSums(BTreeMap<State, StateSum>);

impl StateSums {
    fn of(times: &[StateTime]) -> StateSums {
        let sum = |time: &StateTime| StateSum { entered: time.entered, wall_ns: time.wall_ns };
        StateSums(times.iter().map(|time| (time.state, sum(time))).collect())
    }

    /// Returns what is in these sums and was not in earlier ones.
    fn since(&self, before: &StateSums) -> StateSums {
        let more = |(state, now): (&State, &StateSum)| {
            let before = before.0.get(state).copied().unwrap_or_default();
            let entered = now.entered.saturating_sub(before.entered);
            let wall_ns = now.wall_ns.saturating_sub(before.wall_ns);
            (entered > 0 || wall_ns > 0).then_some((*state, StateSum { entered, wall_ns }))
        };
        StateSums(self.0.iter().filter_map(more).collect())
    }

    /// Returns the states with their sums.
    pub fn all(&self) -> impl Iterator<Item = (State, StateSum)> + '_ {
        self.0.iter().map(|(state, sum)| (*state, *sum))
    }
}

impl Sums for StateSums {
    fn merge(&mut self, other: &StateSums) {
        for (state, more) in &other.0 {
            let sum = self.0.entry(*state).or_default();
            sum.entered += more.entered;
            sum.wall_ns += more.wall_ns;
        }
    }
}

/// What the thread of a session has waited since its account began, or since it was emptied.
pub(super) struct ThreadWaits {
    watch: Watch,
    before: Mutex<StateSums>,
}

impl ThreadWaits {
    /// Begins to measure the calling thread.
    pub fn of_this_thread() -> ThreadWaits {
        let watch = Watch::of_this_thread();
        let before = StateSums::of(&watch.times());
        ThreadWaits { watch, before: Mutex::new(before) }
    }

    pub fn sums(&self) -> StateSums {
        StateSums::of(&self.watch.times()).since(&self.before.lock())
    }

    /// Returns the sums and begins anew.
    pub fn take(&self) -> StateSums {
        let mut before = self.before.lock();
        let now = StateSums::of(&self.watch.times());
        let taken = now.since(&before);
        *before = now;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(of: &[(State, u64, u64)]) -> StateSums {
        StateSums(
            of.iter()
                .map(|(state, entered, wall_ns)| (*state, StateSum { entered: *entered, wall_ns: *wall_ns }))
                .collect(),
        )
    }

    #[test]
    fn what_was_before_does_not_count_and_idle_states_are_left_out() {
        let before = sums(&[(State::LogFlush, 2, 10), (State::ClientWait, 5, 50)]);
        let mut now = sums(&[(State::LogFlush, 3, 15), (State::ClientWait, 5, 50), (State::PageRead, 1, 7)]);
        let since = now.since(&before);
        assert_eq!(since, sums(&[(State::LogFlush, 1, 5), (State::PageRead, 1, 7)]));
        now.merge(&since);
        assert_eq!(
            now,
            sums(&[(State::LogFlush, 4, 20), (State::ClientWait, 5, 50), (State::PageRead, 2, 14)])
        );
    }

    #[test]
    fn a_thread_that_begins_anew_has_waited_nothing() {
        let waits = ThreadWaits::of_this_thread();
        let guard = os::account::enter(State::RowLockWait);
        drop(guard);
        let entered = |sums: &StateSums| sums.all().find(|(state, _)| *state == State::RowLockWait);
        assert_eq!(entered(&waits.sums()).map(|(_, sum)| sum.entered), Some(1));
        assert_eq!(entered(&waits.take()).map(|(_, sum)| sum.entered), Some(1));
        assert_eq!(entered(&waits.sums()), None);
    }
}
