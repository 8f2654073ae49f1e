//! The errors and warnings that statements have raised, by their numbers.

use super::levels::Sums;
use std::collections::BTreeMap;

/// The conditions with one number that a statement has raised and handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// The number of the error or warning.
    pub code: u16,
    /// How often it was raised and not handled.
    pub raised: u64,
    /// How often a handler of a stored program has handled it as an error.
    pub handled: u64,
}

/// The sums of the conditions with one number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErrorFigures {
    /// How often they were raised and not handled.
    pub raised: u64,
    /// How often they were handled.
    pub handled: u64,
    /// When the first and the last one was seen, in microseconds of Unix time.
    pub seen_us: (u64, u64),
}

impl ErrorFigures {
    /// Adds other sums.
    pub fn merge(&mut self, other: &ErrorFigures) {
        let is_first = self.raised + self.handled == 0;
        self.raised += other.raised;
        self.handled += other.handled;
        let first_us = if is_first { other.seen_us.0 } else { self.seen_us.0.min(other.seen_us.0) };
        self.seen_us = (first_us, self.seen_us.1.max(other.seen_us.1));
    }
}

/// Sums by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorSums(BTreeMap<u16, ErrorFigures>);

impl ErrorSums {
    /// Adds the conditions of a statement.
    pub fn add(&mut self, conditions: &Conditions, now_us: u64) {
        let Conditions { code, raised, handled } = *conditions;
        self.0.entry(code).or_default().merge(&ErrorFigures { raised, handled, seen_us: (now_us, now_us) });
    }

    /// Reports whether there was no condition.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the numbers that there were, with their sums.
    pub fn all(&self) -> impl Iterator<Item = (u16, ErrorFigures)> + '_ {
        self.0.iter().map(|(code, figures)| (*code, *figures))
    }
}

impl Sums for ErrorSums {
    fn merge(&mut self, other: &ErrorSums) {
        for (code, figures) in &other.0 {
            self.0.entry(*code).or_default().merge(figures);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::levels::{Level, Levels};
    use super::*;

    fn sums(raised: u64, now_us: u64) -> ErrorSums {
        let mut sums = ErrorSums::default();
        sums.add(&Conditions { code: 1062, raised, handled: 1 }, now_us);
        sums
    }

    #[test]
    fn sums_go_up_when_they_are_emptied() {
        let errors = Levels::<ErrorSums>::default();
        let account = (Some("amy".to_owned()), Some("here".to_owned()));
        errors.add_ended(Some(&account), &sums(2, 20));
        let open = || vec![(account.clone(), sums(1, 10))];
        let figures = |sums: &ErrorSums| sums.all().next().map(|(_, figures)| figures);
        let both = ErrorFigures { raised: 3, handled: 2, seen_us: (10, 20) };
        assert_eq!(figures(&errors.by_account(open())[&account]), Some(both));
        errors.clear(Level::Account);
        let rest = ErrorFigures { raised: 1, handled: 1, seen_us: (10, 10) };
        assert_eq!(figures(&errors.by_account(open())[&account]), Some(rest));
        assert_eq!(figures(&errors.by_user(open())[&account.0]), Some(both));
        errors.clear(Level::User);
        assert_eq!(figures(&errors.by_user(open())[&account.0]), Some(rest));
        assert_eq!(figures(&errors.by_host(open())[&account.1]), Some(both));
        errors.clear(Level::Host);
        assert_eq!(figures(&errors.by_host(open())[&account.1]), Some(rest));
        assert_eq!(figures(&errors.sums(open())), Some(both));
        errors.clear(Level::All);
        assert!(errors.sums(Vec::new()).is_empty());
    }
}
