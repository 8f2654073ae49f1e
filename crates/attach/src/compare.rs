//! Compares the rows of a table in two sessions whose snapshots are of the same point of the log.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use crate::chunk::Reader;
use crate::error::Result;
use crate::source::Source;

/// The largest number of keys that a difference names.
const NAMED: usize = 3;

/// A difference between the rows of a table on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The keys between which the rows lie, the second one included, as expressions. `None` means
    /// no bound. A table that is not read in chunks has no bounds.
    pub after: Option<String>,
    pub upto: Option<String>,
    /// The number of rows that only the source has, and that of rows that are only here. A row that
    /// was changed is in both.
    pub only_there: u64,
    pub only_here: u64,
    /// Some of the keys of these rows.
    keys: Vec<String>,
}

impl Difference {
    /// Builds the difference of a table that is not here at all.
    pub fn of_missing_table() -> Difference {
        Difference { after: None, upto: None, only_there: 0, only_here: 0, keys: Vec::new() }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Difference::of_missing_table() {
            return f.write_str("it is not here");
        }
        let (there, here) = (self.only_there, self.only_here);
        write!(f, "{there} rows are only at the source, and {here} are only here")?;
        match self.keys.as_slice() {
            [] => Ok(()),
            keys => write!(f, ", among them those with the keys {}", keys.join("; ")),
        }
    }
}

/// Finds the differences of a table, chunk by chunk where it has chunks. `tell` is called with the
/// number of bytes of each chunk.
pub fn differences(
    reader: &mut Reader,
    there: &mut Source,
    here: &mut Source,
    mut tell: impl FnMut(u64),
) -> Result<Vec<Difference>> {
    if !reader.has_chunks() {
        let (theirs, ours) = (Digest::of(reader, there)?, Digest::of(reader, here)?);
        tell(theirs.bytes);
        return Ok(theirs.difference(&ours).into_iter().collect());
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let (theirs, upto) = reader.next_chunk(there, after.as_deref())?;
        let ours = reader.between(here, after.as_deref(), upto.as_deref())?;
        tell(theirs.len() as u64);
        if theirs != ours {
            found.extend(of_chunks(reader, &theirs, &ours, (after.clone(), upto.clone())));
        }
        match upto {
            Some(last) => after = Some(last),
            None => return Ok(found),
        }
    }
}

/// Compares two chunks, whatever the order of their rows is.
fn of_chunks(
    reader: &Reader,
    theirs: &[u8],
    ours: &[u8],
    (after, upto): (Option<String>, Option<String>),
) -> Option<Difference> {
    assert_ne!(theirs, ours, "only chunks that differ are taken apart");
    let mut counts: BTreeMap<&[u8], i64> = BTreeMap::new();
    for (text, step) in [(theirs, 1), (ours, -1)] {
        for row in text.split(|byte| *byte == b'\n').filter(|row| !row.is_empty()) {
            *counts.entry(row).or_default() += step;
        }
    }
    counts.retain(|_, count| *count != 0);
    let mut keys: Vec<String> = counts.keys().map(|row| reader.key_of(row)).collect();
    keys.dedup();
    keys.truncate(NAMED);
    let sum = |of: fn(&i64) -> bool| {
        counts.values().filter(|count| of(count)).map(|count| count.unsigned_abs()).sum()
    };
    let (only_there, only_here) = (sum(|count| *count > 0), sum(|count| *count < 0));
    (!counts.is_empty()).then_some(Difference { after, upto, only_there, only_here, keys })
}

/// What is kept of rows that come in no order: their number, and the sums of two hashes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Digest {
    rows: u64,
    sums: [u64; 2],
    bytes: u64,
}

impl Digest {
    fn of(reader: &Reader, session: &mut Source) -> Result<Digest> {
        let mut digest = Digest::default();
        reader.each_row(session, |row| digest.add(row))?;
        Ok(digest)
    }

    fn add(&mut self, row: &[u8]) {
        self.rows += 1;
        self.bytes += row.len() as u64;
        for (seed, sum) in self.sums.iter_mut().enumerate() {
            let mut hasher = DefaultHasher::new();
            hasher.write_usize(seed);
            hasher.write(row);
            *sum = sum.wrapping_add(hasher.finish());
        }
    }

    /// Returns the difference from the digest of what is here. Its numbers of rows are the least
    /// that there can be.
    fn difference(&self, here: &Digest) -> Option<Difference> {
        let at_least = |more: u64, less: u64| more.saturating_sub(less).max(u64::from(more == less));
        (self != here).then(|| Difference {
            after: None,
            upto: None,
            only_there: at_least(self.rows, here.rows),
            only_here: at_least(here.rows, self.rows),
            keys: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(rows: &[&str]) -> Digest {
        let mut digest = Digest::default();
        rows.iter().for_each(|row| digest.add(row.as_bytes()));
        digest
    }

    #[test]
    fn digests_differ_by_rows_and_not_by_their_order() {
        let one = digest(&["a", "b", "b"]);
        assert_eq!(one.difference(&digest(&["b", "a", "b"])), None);
        let counts = |other: &[&str]| {
            let found = one.difference(&digest(other)).expect("they differ");
            (found.only_there, found.only_here)
        };
        assert_eq!(counts(&["a", "b"]), (1, 0));
        assert_eq!(counts(&["a", "a", "b"]), (1, 1));
        assert_eq!(counts(&["a", "b", "b", "c", "c"]), (0, 2));
    }
}
