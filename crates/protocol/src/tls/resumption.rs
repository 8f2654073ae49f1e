//! The sessions of TLS that clients may take up again, which saves most of the next handshake.

use rustls::server::StoresServerSessions;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many sessions are kept at most.
pub(super) const MOST_SESSIONS: usize = 256;

/// What has become of the kept sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resumption {
    /// Sessions that clients asked for and that were here.
    pub hits: u64,
    /// Sessions that clients asked for in vain.
    pub misses: u64,
    /// Sessions that were forgotten to make room for others.
    pub overflows: u64,
    /// Sessions that are kept now.
    pub entries: u64,
}

/// The kept sessions. They are secrets.
#[derive(Default)]
struct Kept {
    sessions: HashMap<Vec<u8>, Vec<u8>>,
    /// The names of the sessions, the oldest one first.
    by_age: VecDeque<Vec<u8>>,
    figures: Resumption,
}

/// The sessions of a server.
#[derive(Default)]
pub(super) struct KeptSessions(Mutex<Kept>);

/// Leaves the sessions out, because they are secrets.
impl fmt::Debug for KeptSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeptSessions({:?})", self.figures())
    }
}

impl KeptSessions {
    /// Returns what has become of the sessions so far.
    pub fn figures(&self) -> Resumption {
        let kept = self.lock();
        Resumption { entries: kept.sessions.len() as u64, ..kept.figures }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // Whatever a thread did before it panicked, the map is a map of whole sessions.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn count(&mut self, found: Option<Vec<u8>>) -> Option<Vec<u8>> {
        match found {
            Some(_) => self.figures.hits += 1,
            None => self.figures.misses += 1,
        }
        found
    }
}

impl StoresServerSessions for KeptSessions {
    fn put(&self, name: Vec<u8>, session: Vec<u8>) -> bool {
        let mut kept = self.lock();
        if kept.sessions.insert(name.clone(), session).is_some() {
            return true;
        }
        kept.by_age.push_back(name);
        while kept.by_age.len() > MOST_SESSIONS {
            let oldest = kept.by_age.pop_front().expect("there are more than the most");
            kept.sessions.remove(&oldest);
            kept.figures.overflows += 1;
        }
        assert!(kept.by_age.len() == kept.sessions.len(), "each session has one age");
        true
    }

    fn get(&self, name: &[u8]) -> Option<Vec<u8>> {
        let mut kept = self.lock();
        let found = kept.sessions.get(name).cloned();
        kept.count(found)
    }

    fn take(&self, name: &[u8]) -> Option<Vec<u8>> {
        let mut kept = self.lock();
        let found = kept.sessions.remove(name);
        if found.is_some() {
            kept.by_age.retain(|other| other != name);
        }
        kept.count(found)
    }

    fn can_cache(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_session_makes_room() {
        let kept = KeptSessions::default();
        let name = |number: usize| number.to_le_bytes().to_vec();
        for number in 0..MOST_SESSIONS + 2 {
            assert!(kept.put(name(number), vec![7]));
        }
        assert_eq!((kept.get(&name(1)), kept.get(&name(2))), (None, Some(vec![7])));
        assert_eq!((kept.take(&name(3)), kept.take(&name(3))), (Some(vec![7]), None));
        assert!(kept.put(name(2), vec![8]), "a session may be replaced");
        assert_eq!(kept.get(&name(2)), Some(vec![8]));
        let entries = MOST_SESSIONS as u64 - 1;
        assert_eq!(kept.figures(), Resumption { hits: 3, misses: 2, overflows: 2, entries });
    }
}
