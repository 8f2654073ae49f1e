//! The digests that statements have had, each once, with their sums.

use super::figures::Figures;
use super::histogram::Histogram;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const SHARDS: usize = 16;

/// A digest, in one schema.
pub struct DigestEntry {
    /// A small number, by which sessions find their part for this digest.
    pub(super) number: usize,
    /// The schema that was the current one.
    pub schema: Option<Arc<str>>,
    /// The digest's text. `None` stands for all digests for which there was no room.
    pub text: Option<Box<str>>,
    /// How long the statement took whose text is kept as a sample, in nanoseconds, and when it was
    /// seen, in ticks. Relaxed: they only say whether another text is worth a look.
    pub(super) sample_wait_ns: AtomicU64,
    pub(super) sample_ticks: AtomicU64,
    pub(super) sums: Mutex<DigestSums>,
}

/// The sums of a digest.
#[derive(Default, Clone)]
pub(super) struct DigestSums {
    pub figures: Figures,
    pub histogram: Histogram,
    pub first_seen_us: u64,
    pub last_seen_us: u64,
    pub sample: Vec<u8>,
    pub sample_seen_us: u64,
    pub sample_wait_ns: u64,
}

/// A digest's sums at one moment.
pub struct DigestRow {
    /// The schema that was the current one.
    pub schema: Option<Arc<str>>,
    /// The digest's text; `None` for the row of all digests for which there was no room.
    pub text: Option<String>,
    /// The sums.
    pub figures: Figures,
    /// How often statements took how long.
    pub histogram: Histogram,
    /// When the first and the last such statement was seen, in microseconds of Unix time.
    pub seen_us: (u64, u64),
    /// The text of one such statement.
    pub sample: Vec<u8>,
    /// When that statement was seen, in microseconds of Unix time.
    pub sample_seen_us: u64,
    /// How long that statement took, in nanoseconds.
    pub sample_wait_ns: u64,
}

impl DigestEntry {
    fn new(number: usize, schema: Option<&str>, text: Option<&str>) -> DigestEntry {
        DigestEntry {
            number,
            schema: schema.map(Arc::from),
            text: text.map(Box::from),
            sample_wait_ns: AtomicU64::new(0),
            sample_ticks: AtomicU64::new(0),
            sums: Mutex::default(),
        }
    }

    /// Reports whether it stands for all digests for which there was no room.
    pub fn is_rest(&self) -> bool {
        self.text.is_none()
    }

    /// Returns the sums as they are now. `None` means that no such statement has run.
    pub fn row(&self) -> Option<DigestRow> {
        let sums = self.sums.lock().clone();
        (sums.figures.count > 0).then(|| DigestRow {
            schema: self.schema.clone(),
            text: self.text.as_deref().map(str::to_owned),
            figures: sums.figures,
            histogram: sums.histogram,
            seen_us: (sums.first_seen_us, sums.last_seen_us),
            sample: sums.sample,
            sample_seen_us: sums.sample_seen_us,
            sample_wait_ns: sums.sample_wait_ns,
        })
    }

    fn clear(&self) {
        let mut sums = self.sums.lock();
        *sums = DigestSums::default();
        self.sample_wait_ns.store(0, Ordering::Relaxed);
        self.sample_ticks.store(0, Ordering::Relaxed);
    }
}

/// The digests with one hash; nearly always one.
type SameHash = Vec<Arc<DigestEntry>>;

/// All digests.
pub(super) struct Digests {
    shards: [Mutex<HashMap<u64, SameHash>>; SHARDS],
    hasher: RandomState,
    /// How many digests there are. Relaxed, because the limit may be missed by a few.
    count: AtomicUsize,
    next_number: AtomicUsize,
    most: usize,
    rest: Arc<DigestEntry>,
}

impl Digests {
    /// Makes room for `most` digests, one of which is that of the rest.
    pub fn new(most: usize) -> Digests {
        Digests {
            shards: Default::default(),
            hasher: RandomState::new(),
            count: AtomicUsize::new(1),
            next_number: AtomicUsize::new(1),
            most,
            rest: Arc::new(DigestEntry::new(0, None, None)),
        }
    }

    /// Returns the digest with this text in this schema; where there is no room, that of the rest.
    /// `None` means that no digests are kept at all.
    pub fn intern(&self, schema: Option<&str>, text: &str) -> Option<Arc<DigestEntry>> {
        if self.most == 0 {
            return None;
        }
        let hash = self.hasher.hash_one((schema, text));
        let mut shard = self.shards[hash as usize % SHARDS].lock();
        let is_it = |entry: &&Arc<DigestEntry>| {
            entry.text.as_deref() == Some(text) && entry.schema.as_deref() == schema
        };
        if let Some(known) = shard.get(&hash).and_then(|same| same.iter().find(is_it)) {
            return Some(known.clone());
        }
        if self.count.fetch_add(1, Ordering::Relaxed) >= self.most {
            self.count.fetch_sub(1, Ordering::Relaxed);
            return Some(self.rest.clone());
        }
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let made = Arc::new(DigestEntry::new(number, schema, Some(text)));
        shard.entry(hash).or_default().push(made.clone());
        Some(made)
    }

    /// Returns how many statements had no room for their digest.
    pub fn without_room(&self) -> u64 {
        self.rest.sums.lock().figures.count
    }

    /// Returns all digests, the first one first.
    pub fn all(&self) -> Vec<Arc<DigestEntry>> {
        let mut all: Vec<Arc<DigestEntry>> = vec![self.rest.clone()];
        for shard in &self.shards {
            all.extend(shard.lock().values().flatten().cloned());
        }
        all.sort_unstable_by_key(|entry| entry.number);
        all
    }

    /// Forgets all digests. Those that a plan or a session still holds keep their place.
    pub fn clear(&self) {
        self.rest.clear();
        for shard in &self.shards {
            shard.lock().retain(|_, same| {
                same.retain(|entry| {
                    entry.clear();
                    let is_held = Arc::strong_count(entry) > 1;
                    if !is_held {
                        self.count.fetch_sub(1, Ordering::Relaxed);
                    }
                    is_held
                });
                !same.is_empty()
            });
        }
    }

    /// Empties the histograms of all digests.
    pub fn clear_histograms(&self) {
        self.rest.sums.lock().histogram.clear();
        for shard in &self.shards {
            shard.lock().values().flatten().for_each(|entry| entry.sums.lock().histogram.clear());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_kept_once_and_those_beyond_the_limit_together() {
        let digests = Digests::new(3);
        let one = digests.intern(Some("a"), "SELECT ?").expect("digests are kept");
        let again = digests.intern(Some("a"), "SELECT ?").expect("digests are kept");
        assert!(Arc::ptr_eq(&one, &again));
        let elsewhere = digests.intern(None, "SELECT ?").expect("digests are kept");
        assert!(!Arc::ptr_eq(&one, &elsewhere) && !elsewhere.is_rest());
        assert!(digests.intern(Some("b"), "SELECT ?").expect("digests are kept").is_rest());
        assert!(Digests::new(0).intern(None, "SELECT ?").is_none());
        drop((one, again));
        digests.clear();
        assert!(!digests.intern(Some("c"), "DO ?").expect("digests are kept").is_rest(), "a place is free");
        assert!(digests.intern(Some("d"), "DO ?").expect("digests are kept").is_rest(), "one is still held");
        assert!(digests.all().iter().all(|entry| entry.row().is_none()), "no statement has run");
    }
}
