//! Sets of MySQL's GTIDs.

use super::error::GtidError;
use super::single::{GNO_MAX, Gtid, parse_gno};
use super::tsid::{Tag, Tsid};
use super::uuid::Uuid;
use crate::cursor::{Cursor, put_serialized_uint};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The transaction numbers from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The smallest number.
    pub first: u64,
    /// The largest number.
    pub last: u64,
}

/// A set of transactions by server and tag, such as `gtid_executed`.
///
/// Invariant: a server's intervals are in order, do not touch each other, and are not an empty
/// list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GtidSet {
    servers: BTreeMap<Tsid, Vec<Interval>>,
}

impl GtidSet {
    /// Reports whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Adds one transaction. This takes constant time when it follows the server's last one, as it
    /// nearly always does.
    pub fn add(&mut self, gtid: Gtid) {
        self.add_interval(gtid.tsid, Interval { first: gtid.gno, last: gtid.gno });
    }

    /// Adds a server's transactions of an interval.
    pub fn add_interval(&mut self, tsid: impl Into<Tsid>, new: Interval) {
        assert!(
            1 <= new.first && new.first <= new.last && new.last <= GNO_MAX,
            "an interval of numbers: {new:?}"
        );
        let tsid = tsid.into();
        let Some(intervals) = self.servers.get_mut(&tsid) else {
            self.servers.insert(tsid, vec![new]);
            return;
        };
        match intervals.last_mut() {
            Some(last) if last.first <= new.first && new.first <= last.last + 1 => {
                last.last = last.last.max(new.last);
                return;
            }
            Some(last) if new.first <= last.last => {}
            _ => {
                intervals.push(new);
                return;
            }
        }
        let from = intervals.partition_point(|interval| interval.last + 1 < new.first);
        let to = intervals.partition_point(|interval| interval.first <= new.last + 1);
        let mut merged = new;
        if from < to {
            merged.first = merged.first.min(intervals[from].first);
            merged.last = merged.last.max(intervals[to - 1].last);
        }
        intervals.splice(from..to, [merged]);
        debug_assert!(
            intervals.windows(2).all(|pair| pair[0].last + 1 < pair[1].first),
            "intervals are apart and in order"
        );
    }

    /// Reports whether a transaction is in the set.
    pub fn contains(&self, gtid: Gtid) -> bool {
        self.intervals(gtid.tsid).iter().any(|interval| (interval.first..=interval.last).contains(&gtid.gno))
    }

    /// Returns a server's intervals, in order.
    pub fn intervals(&self, tsid: impl Into<Tsid>) -> &[Interval] {
        self.servers.get(&tsid.into()).map_or(&[], Vec::as_slice)
    }

    /// Returns the largest number of a server's transactions. 0 means that it has none.
    pub fn last_gno(&self, tsid: impl Into<Tsid>) -> u64 {
        self.intervals(tsid).last().map_or(0, |interval| interval.last)
    }

    /// Returns all servers and tags with their intervals, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Tsid, &[Interval])> + '_ {
        self.servers.iter().map(|(tsid, intervals)| (*tsid, intervals.as_slice()))
    }

    /// Returns the number of transactions in the set, or `u64::MAX` if there are more.
    pub fn count(&self) -> u64 {
        let intervals = self.servers.values().flatten();
        intervals.fold(0, |count, interval| count.saturating_add(interval.last - interval.first + 1))
    }

    /// Adds the transactions of `other`.
    pub fn union(&mut self, other: &GtidSet) {
        for (tsid, intervals) in other.iter() {
            for interval in intervals {
                self.add_interval(tsid, *interval);
            }
        }
    }

    /// Removes the transactions of `other`.
    pub fn subtract(&mut self, other: &GtidSet) {
        for (tsid, intervals) in other.iter() {
            let Some(mine) = self.servers.get_mut(&tsid) else { continue };
            for gone in intervals {
                *mine = mine.iter().flat_map(|kept| kept.without(*gone)).collect();
            }
            debug_assert!(mine.windows(2).all(|pair| pair[0].last < pair[1].first), "they stay in order");
            if mine.is_empty() {
                self.servers.remove(&tsid);
            }
        }
    }

    /// Reports whether `other` has all transactions of this set (`GTID_SUBSET(self, other)`).
    pub fn is_subset(&self, other: &GtidSet) -> bool {
        self.iter().all(|(tsid, intervals)| {
            let theirs = other.intervals(tsid);
            intervals
                .iter()
                .all(|mine| theirs.iter().any(|their| their.first <= mine.first && mine.last <= their.last))
        })
    }

    /// Appends the binary form of `PREVIOUS_GTIDS_LOG_EVENT` and `COM_BINLOG_DUMP_GTID`: the number
    /// of UUIDs, and for each its 16 bytes, the number of intervals, and their starts and
    /// (exclusive) ends, all u64 little endian.
    ///
    /// A set with tags has another form, that of MySQL 8.3: the number of UUIDs is between two
    /// bytes of 1, and each UUID is followed by its tag, after the tag's length as a serialized
    /// integer.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let is_tagged = self.servers.keys().any(|tsid| !tsid.tag.is_none());
        let count = self.servers.len() as u64;
        out.extend_from_slice(&if is_tagged { TAGGED | count << 8 } else { count }.to_le_bytes());
        for (tsid, intervals) in self.iter() {
            out.extend_from_slice(&tsid.uuid.0);
            if is_tagged {
                let tag = tsid.tag.as_str();
                put_serialized_uint(tag.len() as u64, out);
                out.extend_from_slice(tag.as_bytes());
            }
            out.extend_from_slice(&(intervals.len() as u64).to_le_bytes());
            for interval in intervals {
                out.extend_from_slice(&interval.first.to_le_bytes());
                out.extend_from_slice(&(interval.last + 1).to_le_bytes());
            }
        }
    }

    /// Reads the form that [`GtidSet::encode`] writes. Nothing may follow it.
    pub fn decode(bytes: &[u8]) -> Result<GtidSet, GtidError> {
        let mut at = 0;
        let mut set = GtidSet::default();
        let head = take_u64(bytes, &mut at)?;
        let is_tagged = head & TAGGED == TAGGED;
        let servers = match head >> 56 {
            0 => head,
            1 if is_tagged => (head & !TAGGED) >> 8,
            _ => return Err(GtidError::Damaged { offset: 0 }),
        };
        for _ in 0..servers {
            let uuid = Uuid(take(bytes, &mut at)?);
            let tag = if is_tagged { take_tag(bytes, &mut at)? } else { Tag::NONE };
            for _ in 0..take_u64(bytes, &mut at)? {
                let offset = at;
                let (first, end) = (take_u64(bytes, &mut at)?, take_u64(bytes, &mut at)?);
                if first == 0 || end <= first || end - 1 > GNO_MAX {
                    return Err(GtidError::Damaged { offset });
                }
                set.add_interval(Tsid { uuid, tag }, Interval { first, last: end - 1 });
            }
        }
        if at == bytes.len() { Ok(set) } else { Err(GtidError::Damaged { offset: at }) }
    }
}

/// The first and the last byte of the number of servers in a set with tags.
const TAGGED: u64 = 1 << 56 | 1;

fn take_tag(bytes: &[u8], at: &mut usize) -> Result<Tag, GtidError> {
    let damaged = GtidError::Damaged { offset: *at };
    let mut cursor = Cursor::at(bytes, *at);
    let text =
        cursor.serialized_uint().and_then(|len| cursor.take(usize::try_from(len).unwrap_or(usize::MAX)));
    let tag = text.ok().and_then(Tag::new).ok_or(damaged)?;
    *at = cursor.offset();
    Ok(tag)
}

/// Takes the next `N` bytes, and moves `at` past them.
fn take<const N: usize>(bytes: &[u8], at: &mut usize) -> Result<[u8; N], GtidError> {
    let taken =
        bytes.get(*at..).and_then(|rest| rest.first_chunk()).ok_or(GtidError::Damaged { offset: *at })?;
    *at += N;
    Ok(*taken)
}

fn take_u64(bytes: &[u8], at: &mut usize) -> Result<u64, GtidError> {
    take(bytes, at).map(u64::from_le_bytes)
}

impl Interval {
    /// Returns the pieces of this interval that are not in another one. There are at most two.
    fn without(self, gone: Interval) -> impl Iterator<Item = Interval> {
        let before = Interval { first: self.first, last: self.last.min(gone.first - 1) };
        let after = Interval { first: self.first.max(gone.last + 1), last: self.last };
        [before, after].into_iter().filter(|piece| piece.first <= piece.last)
    }
}

impl fmt::Display for GtidSet {
    /// Writes the set as MySQL prints it: `uuid:1-5:7:tag:1-3,` with a line feed between UUIDs.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = None;
        for (tsid, intervals) in self.iter() {
            if last != Some(tsid.uuid) {
                let parted = if last.is_some() { ",\n" } else { "" };
                write!(out, "{parted}{}", tsid.uuid)?;
            }
            last = Some(tsid.uuid);
            if !tsid.tag.is_none() {
                write!(out, ":{}", tsid.tag)?;
            }
            for interval in intervals {
                write!(out, ":{}", interval.first)?;
                if interval.last > interval.first {
                    write!(out, "-{}", interval.last)?;
                }
            }
        }
        Ok(())
    }
}

impl FromStr for GtidSet {
    type Err = GtidError;

    fn from_str(text: &str) -> Result<GtidSet, GtidError> {
        let mut set = GtidSet::default();
        for server in text.split(',').map(str::trim).filter(|server| !server.is_empty()) {
            let bad = || GtidError::Malformed(server.to_string());
            let mut parts = server.split(':').map(str::trim);
            let uuid: Uuid = parts.next().unwrap_or("").parse().map_err(|_| bad())?;
            let mut tsid = Tsid::from(uuid);
            let mut any = false;
            for part in parts {
                any = true;
                // A tag applies to all intervals up to the next tag.
                if part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
                    tsid.tag = part.parse().map_err(|_| bad())?;
                    continue;
                }
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                let interval = Interval {
                    first: parse_gno(first).ok_or_else(bad)?,
                    last: parse_gno(last).ok_or_else(bad)?,
                };
                // MySQL treats an interval that ends before it starts as empty.
                if interval.first <= interval.last {
                    set.add_interval(tsid, interval);
                }
            }
            if !any {
                return Err(bad());
            }
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
    const B: &str = "4e11fa47-71ca-11e1-9e33-c80aa9429562";

    fn set(text: &str) -> GtidSet {
        text.parse().expect("is a GTID set")
    }

    #[test]
    fn text_is_normalised_as_mysql_does() {
        assert_eq!(set(&format!("{B}:3, {A}:7:1-5:6:9-8")).to_string(), format!("{A}:1-7,\n{B}:3"));
        assert_eq!(set("").to_string(), "");
        for text in [A, "x:1", &format!("{A}:0"), &format!("{A}:1-"), &format!("{A}:9223372036854775807")] {
            assert!(text.parse::<GtidSet>().is_err(), "{text}");
        }
        let tagged = set(&format!("{A}:b:4:TAG:1-3:5, {A}:7:_x:2,{B}:tag:1"));
        assert_eq!(tagged.to_string(), format!("{A}:7:_x:2:b:4:tag:1-3:5,\n{B}:tag:1"));
        assert_eq!(set(&tagged.to_string()), tagged);
        assert!(format!("{A}:1a:1").parse::<GtidSet>().is_err());
    }

    #[test]
    fn operations_agree_with_a_set_of_numbers() {
        let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_121_u64);
        println!("SEED={seed}");
        let mut state = seed;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let uuid: Uuid = A.parse().expect("is a UUID");
        for _ in 0..300 {
            let mut sets = [GtidSet::default(), GtidSet::default()];
            let mut models = [std::collections::BTreeSet::new(), std::collections::BTreeSet::new()];
            for (set, model) in sets.iter_mut().zip(&mut models) {
                for _ in 0..random(12) {
                    let first = random(40) + 1;
                    let last = first + random(6);
                    set.add_interval(uuid, Interval { first, last });
                    model.extend(first..=last);
                }
            }
            let numbers = |set: &GtidSet| -> Vec<u64> {
                set.intervals(uuid).iter().flat_map(|interval| interval.first..=interval.last).collect()
            };
            let [left, right] = &sets;
            assert_eq!(numbers(left), models[0].iter().copied().collect::<Vec<_>>());
            assert!(left.intervals(uuid).windows(2).all(|pair| pair[0].last + 1 < pair[1].first));
            assert_eq!(left.is_subset(right), models[0].is_subset(&models[1]));
            let (mut union, mut difference) = (left.clone(), left.clone());
            union.union(right);
            difference.subtract(right);
            assert_eq!(numbers(&union), models[0].union(&models[1]).copied().collect::<Vec<_>>());
            assert_eq!(numbers(&difference), models[0].difference(&models[1]).copied().collect::<Vec<_>>());
            assert_eq!(left.count(), models[0].len() as u64);
            let mut bytes = Vec::new();
            left.encode(&mut bytes);
            assert_eq!(GtidSet::decode(&bytes).as_ref(), Ok(left));
        }
    }

    #[test]
    fn tags_have_numbers_of_their_own() {
        let mut executed = set(&format!("{A}:1-3:tag:1-2"));
        assert!(executed.contains(format!("{A}:tag:2").parse().expect("is a GTID")));
        assert!(!executed.contains(format!("{A}:tag:3").parse().expect("is a GTID")));
        assert!(!executed.contains(format!("{A}:gat:1").parse().expect("is a GTID")));
        assert!(!set(&format!("{A}:tag:3")).is_subset(&executed));
        executed.subtract(&set(&format!("{A}:2:tag:1-9")));
        assert_eq!(executed.to_string(), format!("{A}:1:3"));
    }

    #[test]
    fn a_set_with_tags_is_encoded_as_mysql_does() {
        // This is the previous GTIDs event of a MySQL 9.7.4, without two of its servers.
        let text =
            "11111111-2222-3333-4444-555555555555:zz:7,\n6f8c83a5-e633-11f1-ad76-02fc00000001:1-10:tag_a:1-2";
        let encoded: Vec<u8> = [
            "0103000000000001",
            "11111111222233334444555555555555047a7a0100000000000000",
            "07000000000000000800000000000000",
            "6f8c83a5e63311f1ad7602fc00000001000100000000000000",
            "01000000000000000b00000000000000",
            "6f8c83a5e63311f1ad7602fc000000010a7461675f610100000000000000",
            "01000000000000000300000000000000",
        ]
        .concat()
        .as_bytes()
        .chunks(2)
        .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).expect("ASCII"), 16).expect("a digit"))
        .collect();
        assert_eq!(GtidSet::decode(&encoded).expect("is a set").to_string(), text);
        let mut again = Vec::new();
        set(text).encode(&mut again);
        assert_eq!(again, encoded);
        for len in 0..encoded.len() {
            assert!(GtidSet::decode(&encoded[..len]).is_err(), "cut to {len}");
        }
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let mut bytes = Vec::new();
        set(&format!("{A}:1-5:7")).encode(&mut bytes);
        for len in 0..bytes.len() {
            assert!(GtidSet::decode(&bytes[..len]).is_err(), "cut to {len}");
        }
        bytes.push(0);
        assert_eq!(GtidSet::decode(&bytes), Err(GtidError::Damaged { offset: bytes.len() - 1 }));
    }
}
