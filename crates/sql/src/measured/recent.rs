//! The latest statements and transactions of a session.

use super::digests::DigestEntry;
use super::figures::Sample;
use super::names::EventName;
use super::setup::Timed;
use std::sync::Arc;

/// How a statement has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of its error; 0 without one.
    pub error_code: u16,
    /// The SQLSTATE that the client got. `None` means that it got a result set.
    pub sqlstate: Option<[u8; 5]>,
    /// The error's text, or what an OK said.
    pub message: String,
}

/// A statement that runs or has run.
#[derive(Clone)]
pub struct Event {
    /// Its number among the session's events.
    pub number: u64,
    /// The number of the session's last event when it ended.
    pub end_number: u64,
    /// The number of the transaction that it began in; 0 for none.
    pub transaction: u64,
    /// Its number among all statements of the server.
    pub statement_id: u64,
    /// Its kind.
    pub name: EventName,
    /// When it began and ended, in ticks. It still runs where there is no end.
    pub ticks: (u64, Option<u64>),
    /// What of its time is measured.
    pub timed: Timed,
    /// Its text, cut to `performance_schema_max_sql_text_length`. `None` for commands without one.
    pub text: Option<Vec<u8>>,
    /// Its digest.
    pub digest: Option<Arc<DigestEntry>>,
    /// The current schema.
    pub schema: Option<Arc<str>>,
    /// How it has ended.
    pub outcome: Outcome,
    /// What it took.
    pub sample: Sample,
    /// False when it is only measured and not shown.
    pub is_shown: bool,
    /// False when it is forgotten as soon as the next one begins.
    pub is_kept: bool,
}

impl Default for Event {
    fn default() -> Event {
        Event {
            number: 0,
            end_number: 0,
            transaction: 0,
            statement_id: 0,
            name: EventName(0),
            ticks: (0, None),
            timed: Timed::Whole,
            text: None,
            digest: None,
            schema: None,
            outcome: Outcome::default(),
            sample: Sample::default(),
            is_shown: true,
            is_kept: true,
        }
    }
}

impl Event {
    /// Sets the text, whose memory is used again. A text that is longer than `most_bytes` ends with
    /// three points, as in MySQL.
    pub(super) fn set_text(&mut self, text: Option<&[u8]>, most_bytes: usize) {
        let Some(text) = text else {
            self.text = None;
            return;
        };
        let kept = self.text.get_or_insert_default();
        kept.clear();
        if text.len() <= most_bytes {
            return kept.extend_from_slice(text);
        }
        let room = most_bytes.saturating_sub(3);
        let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let end = (0..=room).rev().find(|at| !is_inside(*at)).unwrap_or(0);
        kept.extend_from_slice(&text[..end]);
        kept.extend_from_slice(&b"..."[..most_bytes.min(3)]);
    }
}

/// What is known of an event that is kept.
pub(super) trait Kept: Default + Clone {
    /// Reports whether it has ended.
    fn has_ended(&self) -> bool;

    /// Reports whether it is kept when the next one begins.
    fn is_kept(&self) -> bool;
}

impl Kept for Event {
    fn has_ended(&self) -> bool {
        self.ticks.1.is_some()
    }

    fn is_kept(&self) -> bool {
        self.is_kept
    }
}

/// The latest events of one kind of a session, of which one may still run.
#[derive(Default)]
pub(super) struct Recent<E> {
    events: Vec<E>,
    /// The place of the latest one.
    at: usize,
}

impl<E: Kept> Recent<E> {
    /// Returns the place for a new event, which replaces the oldest one. Beside the latest event
    /// `most` others are kept.
    #[inline]
    pub fn begin(&mut self, most: usize) -> &mut E {
        if self.events.get(self.at).is_some_and(|latest| !latest.is_kept()) {
            return &mut self.events[self.at];
        }
        if self.events.len() <= most {
            self.events.push(E::default());
            self.at = self.events.len() - 1;
        } else {
            self.at = if self.at + 1 >= self.events.len() { 0 } else { self.at + 1 };
        }
        &mut self.events[self.at]
    }

    /// Returns the latest event.
    pub fn latest(&mut self) -> Option<&mut E> {
        self.events.get_mut(self.at)
    }

    /// Returns the events that have ended, the oldest first, at most `most`.
    pub fn ended(&self, most: usize) -> Vec<E> {
        let (new, old) = self.events.split_at((self.at + 1).min(self.events.len()));
        let ended = old.iter().chain(new).filter(|event| event.has_ended() && event.is_kept());
        let all: Vec<&E> = ended.collect();
        all[all.len().saturating_sub(most)..].iter().map(|event| (*event).clone()).collect()
    }

    /// Forgets all events but the one that runs.
    pub fn clear_ended(&mut self) {
        let running = self.latest().filter(|event| !event.has_ended()).cloned();
        self.events = running.into_iter().collect();
        self.at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_statements_are_kept() {
        let mut recent = Recent::<Event>::default();
        for number in 1..=7 {
            *recent.begin(2) = Event { number, ticks: (0, Some(1)), ..Event::default() };
        }
        let numbers = |recent: &Recent<Event>| recent.ended(2).iter().map(|e| e.number).collect::<Vec<_>>();
        assert_eq!(numbers(&recent), [6, 7]);
        *recent.begin(2) = Event { number: 8, ..Event::default() };
        assert_eq!(numbers(&recent), [6, 7], "one that runs is not among those that have ended");
        // One that is not kept takes no place of those that are.
        *recent.begin(2) = Event { number: 9, ticks: (0, Some(1)), is_kept: false, ..Event::default() };
        assert_eq!(numbers(&recent), [7]);
        *recent.begin(2) = Event { number: 8, ..Event::default() };
        assert_eq!(numbers(&recent), [7]);
        recent.clear_ended();
        assert_eq!(numbers(&recent), [0; 0]);
        assert_eq!(recent.latest().map(|event| event.number), Some(8));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let mut event = Event::default();
        let mut cut = |text: &str, most| {
            event.set_text(Some(text.as_bytes()), most);
            String::from_utf8(event.text.clone().unwrap_or_default()).expect("characters are whole")
        };
        assert_eq!(cut("SELECT 1", 8), "SELECT 1");
        assert_eq!(cut("SELECT 12", 8), "SELEC...");
        assert_eq!(cut("ääää", 6), "ä...");
        assert_eq!(cut("abcdef", 2), "..");
    }
}
