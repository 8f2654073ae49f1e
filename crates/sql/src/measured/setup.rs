//! What is measured, as the tables of settings in performance_schema say.

use super::names::{EventName, NAMES};
use crate::counters::STATEMENT_KINDS;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

/// The instruments beside those of statements, which follow on them.
const OTHERS: [&str; 2] = ["transaction", "error"];

const ENABLED: u8 = 1;
const TIMED: u8 = 2;

/// Which kinds of statements and what else is measured, and whether the time is. Relaxed: a change
/// counts for what begins a moment later.
pub struct Instruments {
    bits: Vec<AtomicU8>,
    /// The places of what a statement is before its kind is known.
    packet: usize,
    query: usize,
}

impl Default for Instruments {
    fn default() -> Instruments {
        let bits = (0..NAMES.len() + OTHERS.len()).map(|_| AtomicU8::new(ENABLED | TIMED)).collect();
        let place = |name: &str| usize::from(EventName::of(name).0);
        Instruments { bits, packet: place("abstract/new_packet"), query: place("abstract/Query") }
    }
}

/// An instrument as `setup_instruments` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instrument {
    /// Its name.
    pub name: String,
    /// Whether it measures.
    pub is_enabled: bool,
    /// Whether it measures time. `None` for what takes none.
    pub is_timed: Option<bool>,
}

impl Instruments {
    /// Returns all instruments.
    pub fn all(&self) -> impl Iterator<Item = Instrument> + '_ {
        self.bits.iter().enumerate().map(|(at, bits)| {
            let bits = bits.load(Ordering::Relaxed);
            let name = name_of(at);
            let is_timed = (name != "error").then_some(bits & TIMED != 0);
            Instrument { name, is_enabled: bits & ENABLED != 0, is_timed }
        })
    }

    /// Sets whether an instrument measures. A name that is none changes nothing.
    pub fn enable(&self, name: &str, on: bool) {
        self.set(name, ENABLED, on);
    }

    /// Sets whether an instrument measures time. A name that is none changes nothing.
    pub fn time(&self, name: &str, on: bool) {
        self.set(name, TIMED, on);
    }

    fn set(&self, name: &str, bit: u8, on: bool) {
        let Some(at) = (0..self.bits.len()).find(|at| name_of(*at) == name) else { return };
        match on {
            true => self.bits[at].fetch_or(bit, Ordering::Relaxed),
            false => self.bits[at].fetch_and(!bit, Ordering::Relaxed),
        };
    }

    /// Reports whether errors are counted.
    pub(super) fn counts_errors(&self) -> bool {
        self.bits.last().is_some_and(|bits| bits.load(Ordering::Relaxed) & ENABLED != 0)
    }

    /// Returns whether transactions are measured, and whether their time is.
    #[inline]
    pub(super) fn of_transaction(&self) -> (bool, bool) {
        let bits = self.bits.get(NAMES.len()).map_or(0, |bits| bits.load(Ordering::Relaxed));
        (bits & ENABLED != 0, bits & TIMED != 0)
    }

    /// Returns whether a statement of this kind is measured, and whether its time is. As in MySQL,
    /// the instruments of what it was before its kind was known have to be on, too.
    #[inline]
    pub(super) fn of_statement(&self, name: EventName) -> (bool, Timed) {
        let of = |at: usize| self.bits[at].load(Ordering::Relaxed);
        let mut bits = of(usize::from(name.0)) & of(self.packet);
        if usize::from(name.0) < STATEMENT_KINDS {
            bits &= of(self.query);
        }
        let timed = match (bits & TIMED != 0, of(self.packet) & TIMED != 0) {
            (true, _) => Timed::Whole,
            (false, true) => Timed::Begin,
            (false, false) => Timed::No,
        };
        (bits & ENABLED != 0, timed)
    }
}

/// What of a statement's time is measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Timed {
    /// Its beginning and its end.
    #[default]
    Whole,
    /// Its beginning only: when its kind was known, its time was of no interest any more.
    Begin,
    /// Nothing.
    No,
}

fn name_of(at: usize) -> String {
    match NAMES.get(at) {
        Some(_) => EventName(at as u16).shown(),
        None => OTHERS[at - NAMES.len()].to_owned(),
    }
}

/// Whether a thread is measured, and whether its events are kept when they have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadSettings {
    /// Whether it is measured.
    pub is_instrumented: bool,
    /// Whether its events are kept.
    pub has_history: bool,
}

impl Default for ThreadSettings {
    fn default() -> ThreadSettings {
        ThreadSettings { is_instrumented: true, has_history: true }
    }
}

/// A row of `setup_actors`: the accounts of which new sessions get these settings. `%` stands for
/// every user or host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// Host, user and role.
    pub key: [String; 3],
    /// What their sessions get. The role does not count, as in MySQL.
    pub settings: ThreadSettings,
}

/// The rows of `setup_actors`.
pub struct Actors(Mutex<Vec<Actor>>);

impl Default for Actors {
    fn default() -> Actors {
        let everybody =
            Actor { key: ["%", "%", "%"].map(str::to_owned), settings: ThreadSettings::default() };
        Actors(Mutex::new(vec![everybody]))
    }
}

impl Actors {
    /// Returns the rows, the oldest first.
    pub fn all(&self) -> Vec<Actor> {
        self.0.lock().clone()
    }

    /// Adds a row. Returns false when there is one with its key.
    pub fn insert(&self, actor: Actor) -> bool {
        let mut all = self.0.lock();
        let is_new = !all.iter().any(|other| other.key == actor.key);
        if is_new {
            all.push(actor);
        }
        is_new
    }

    /// Changes the settings of a row, if it is still there.
    pub fn change(&self, key: &[String], change: impl FnOnce(&mut ThreadSettings)) {
        if let Some(actor) = self.0.lock().iter_mut().find(|actor| actor.key == key) {
            change(&mut actor.settings);
        }
    }

    /// Removes a row.
    pub fn remove(&self, key: &[String]) {
        self.0.lock().retain(|actor| actor.key != key);
    }

    /// Removes all rows.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// Returns what a new session of an account gets: the row with its user and host counts, else
    /// that of the user, of the host, and of everybody. Without any of these it is not measured.
    pub fn settings_of(&self, (user, host): (Option<&str>, Option<&str>)) -> ThreadSettings {
        let all = self.0.lock();
        let (user, host) = (user.unwrap_or("%"), host.unwrap_or("%"));
        let of = |user: &str, host: &str| all.iter().find(|actor| actor.key == [host, user, "%"]);
        let found =
            of(user, host).or_else(|| of(user, "%")).or_else(|| of("%", host)).or_else(|| of("%", "%"));
        let nothing = ThreadSettings { is_instrumented: false, has_history: false };
        found.map_or(nothing, |actor| actor.settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_that_says_most_about_an_account_counts() {
        let actors = Actors::default();
        let settings = |is_instrumented, has_history| ThreadSettings { is_instrumented, has_history };
        for (host, user, settings) in [
            ("%", "amy", settings(false, true)),
            ("here", "%", settings(true, false)),
            ("here", "joe", settings(false, false)),
        ] {
            let key = [host, user, "%"].map(str::to_owned);
            assert!(actors.insert(Actor { key: key.clone(), settings }));
            assert!(!actors.insert(Actor { key, settings }), "its key is there");
        }
        assert_eq!(actors.settings_of((Some("amy"), Some("here"))), settings(false, true));
        assert_eq!(actors.settings_of((Some("joe"), Some("here"))), settings(false, false));
        assert_eq!(actors.settings_of((Some("zed"), Some("here"))), settings(true, false));
        assert_eq!(actors.settings_of((Some("zed"), Some("there"))), settings(true, true));
        actors.clear();
        assert_eq!(actors.settings_of((Some("zed"), Some("there"))), settings(false, false));
    }

    #[test]
    fn a_statement_needs_the_instruments_of_what_it_was_before() {
        let instruments = Instruments::default();
        let select = EventName::of("sql/select");
        assert_eq!(instruments.of_statement(select), (true, Timed::Whole));
        instruments.time("statement/abstract/Query", false);
        assert_eq!(instruments.of_statement(select), (true, Timed::Begin));
        assert_eq!(instruments.of_statement(EventName::of("com/Ping")), (true, Timed::Whole));
        instruments.enable("statement/abstract/new_packet", false);
        assert!(!instruments.of_statement(EventName::of("com/Ping")).0);
        let error = instruments.all().find(|it| it.name == "error").expect("an instrument");
        assert_eq!((error.is_enabled, error.is_timed), (true, None));
        assert!(instruments.counts_errors());
        instruments.enable("error", false);
        assert!(!instruments.counts_errors());
    }
}
