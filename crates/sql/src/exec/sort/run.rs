//! Sorted runs, in memory or on a tape. An entry of a run is a key and a payload.

use super::key::{self, EQUAL_REST_BYTES, Key, KeyBuffer, KeyOrder, MOST_CUT_BYTES};
use crate::error::{Result, SqlError};
use crate::exec::spill::{Tape, TapeReader};
use crate::expr::Context;
use crate::memory::{Charge, growth};
use std::cmp::Ordering;

/// The bytes in front of an entry's key: the lengths of the key's start and tail and of the
/// payload, 4 bytes each.
const HEADER_BYTES: usize = 12;

/// Returns the three lengths of the entry that begins at the byte `at`. `None` means that they are
/// not there.
#[inline]
fn lengths_at(bytes: &[u8], at: usize) -> Option<[usize; 3]> {
    let header = bytes.get(at..)?.first_chunk::<HEADER_BYTES>()?;
    let (lengths, _) = header.as_chunks::<4>();
    Some([0, 1, 2].map(|which| u32::from_le_bytes(lengths[which]) as usize))
}

/// Returns the key and the payload of the entry that begins at the byte `at`.
#[inline]
fn entry_at(bytes: &[u8], at: usize) -> (Key<'_>, &[u8]) {
    let [start, tail, payload] = lengths_at(bytes, at).expect("an entry has its lengths");
    let (start, behind) = bytes[at + HEADER_BYTES..].split_at(start);
    let (tail, behind) = behind.split_at(tail);
    (Key { start, tail }, &behind[..payload])
}

/// Returns the length of the entry that begins at the byte `at`, or `None` if the entry is not
/// complete.
fn entry_bytes(bytes: &[u8], at: usize) -> Option<usize> {
    let len = lengths_at(bytes, at)?.into_iter().try_fold(HEADER_BYTES, usize::checked_add)?;
    (bytes.len() - at >= len).then_some(len)
}

/// Returns the bytes of the entry that begins at the byte `at`.
fn whole_entry_at(bytes: &[u8], at: usize) -> &[u8] {
    let len = entry_bytes(bytes, at).expect("an entry is complete");
    &bytes[at..at + len]
}

/// Returns the eight key bytes from `depth` on as a number that compares as they do. Bytes behind
/// the end of the key count as 0.
#[inline]
pub(super) fn head(key: &[u8], depth: usize) -> u64 {
    let rest = key.get(depth..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(bytes)
        }
    }
}

/// The position of an entry, with the key bytes that are currently compared.
#[derive(Debug, Clone, Copy)]
struct Place {
    head: u64,
    at: usize,
}

/// Entries in memory, which can be sorted.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    places: Vec<Place>,
    order: KeyOrder,
    /// The first allocation for entries, in bytes.
    first_bytes: usize,
    charge: Charge,
}

/// Runs of at most this many entries with equal heads are sorted by whole keys, which costs less
/// than fetching heads.
const FEW: usize = 12;
/// The number of leading key bytes that are compared by heads. Keys that are equal so far are
/// compared as a whole.
const MOST_DEPTH: usize = 64;
/// The most bytes of tails for which the rests of keys are made. A buffer has no more entries than
/// that. It bounds the memory for the rests, which is two to three times as much and is not
/// charged.
const MOST_TAIL_BYTES: usize = 4 << 20;

/// The first allocation for entries, in bytes. It holds what a short query sorts, so that these
/// entries are not moved while the buffer grows.
const FIRST_BYTES: usize = 64 << 10;

impl Buffer {
    /// Creates a buffer that its owner empties when it uses `most_bytes`.
    pub fn new(most_bytes: usize, order: KeyOrder, charge: Charge) -> Buffer {
        let first_bytes = FIRST_BYTES.min(most_bytes);
        Buffer { bytes: Vec::new(), places: Vec::new(), order, first_bytes, charge }
    }

    /// Returns the bytes that the entries use.
    pub fn used_bytes(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<Place>()
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// Returns 1038 (`ER_OUT_OF_SORTMEMORY`) when the key or the payload is longer than a 4-byte
    /// length can say, and the errors of [`Charge::add`].
    pub fn push(&mut self, key: Key<'_>, payload: &[u8]) -> Result<()> {
        let mut header = [[0; 4]; 3];
        for (place, part) in header.iter_mut().zip([key.start, key.tail, payload]) {
            *place = u32::try_from(part.len()).map_err(|_| too_long())?.to_le_bytes();
        }
        let place = Place { head: head(key.start, 0), at: self.bytes.len() };
        if self.bytes.capacity() == 0 {
            growth::reserve(&mut self.bytes, self.first_bytes, &mut self.charge)?;
        }
        let parts = [header.as_flattened(), key.start, key.tail, payload];
        let bytes = parts.iter().fold(0usize, |bytes, part| bytes.saturating_add(part.len()));
        growth::reserve(&mut self.bytes, bytes, &mut self.charge)?;
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        growth::push(&mut self.places, place, &mut self.charge)
    }

    /// Appends an entry whose only key is a text, which goes to its place at once. Returns false,
    /// and appends nothing, if such a key would not be cut short.
    ///
    /// # Errors
    /// Returns the errors of [`Buffer::push`].
    pub fn push_text(&mut self, text: &[u8], payload: [&[u8]; 2]) -> Result<bool> {
        let at = self.bytes.len();
        let payload_len = payload[0].len() + payload[1].len();
        let payload_bytes = u32::try_from(payload_len).map_err(|_| too_long())?;
        if self.bytes.capacity() == 0 {
            growth::reserve(&mut self.bytes, self.first_bytes, &mut self.charge)?;
        }
        let most_bytes = HEADER_BYTES + MOST_CUT_BYTES + text.len() + payload_len;
        growth::reserve(&mut self.bytes, most_bytes, &mut self.charge)?;
        self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
        let Some(start_len) = key::write_cut_text(self.order, text, &mut self.bytes) else {
            self.bytes.truncate(at);
            return Ok(false);
        };
        let key = at + HEADER_BYTES;
        let tail_len = self.bytes.len() - key - start_len;
        payload.iter().for_each(|part| self.bytes.extend_from_slice(part));
        assert!(self.bytes.len() - at <= most_bytes, "an entry takes no more than was charged for it");
        let tail_bytes = u32::try_from(tail_len).map_err(|_| too_long())?;
        let lengths = [start_len as u32, tail_bytes, payload_bytes];
        for (place, len) in self.bytes[at..key].as_chunks_mut::<4>().0.iter_mut().zip(lengths) {
            *place = len.to_le_bytes();
        }
        let place = Place { head: head(&self.bytes[key..key + start_len], 0), at };
        growth::push(&mut self.places, place, &mut self.charge)?;
        Ok(true)
    }

    /// Sorts the entries. Those with equal keys keep the order in which they came.
    pub fn sort(&mut self) {
        sort_entries(&self.bytes, self.order, &mut self.places);
        debug_assert!(
            self.places.is_sorted_by(|a, b| {
                let key = |place: &Place| entry_at(&self.bytes, place.at).0;
                self.order.compare(key(a), key(b)).then(a.at.cmp(&b.at)).is_lt()
            }),
            "entries with equal keys stay in the order in which they came"
        );
    }

    /// Keeps the first `len` of the sorted entries and puts them back into the order in which they
    /// came. Returns the largest key among them.
    pub fn keep_first(&mut self, len: usize) -> Option<KeyBuffer> {
        assert!(len <= self.places.len(), "only entries that are there are kept");
        self.places.truncate(len);
        let last = self.places.last().map(|place| KeyBuffer::of(entry_at(&self.bytes, place.at).0));
        self.places.sort_unstable_by_key(|place| place.at);
        let mut end = 0;
        for place in &mut self.places {
            let len = whole_entry_at(&self.bytes, place.at).len();
            assert!(end <= place.at, "an entry moves to the front, over none that stays");
            place.head = head(entry_at(&self.bytes, place.at).0.start, 0);
            self.bytes.copy_within(place.at..place.at + len, end);
            place.at = end;
            end += len;
        }
        self.bytes.truncate(end);
        assert_eq!(last.is_some(), len > 0, "the largest key is that of one of the kept entries");
        last
    }

    /// Writes the sorted entries to a tape.
    pub fn write_to(&self, tape: &mut Tape, ctx: &Context<'_>) -> Result<()> {
        for place in &self.places {
            ctx.check_interrupt()?;
            tape.push(&[whole_entry_at(&self.bytes, place.at)], ctx)?;
        }
        Ok(())
    }

    /// Removes all entries, but keeps the capacity.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }
}

/// Builds error 1038 (`ER_OUT_OF_SORTMEMORY`) for an entry that is too long for a sort.
fn too_long() -> SqlError {
    SqlError::new(1038, "Out of sort memory, consider increasing server sort buffer size")
}

/// Sorts entries whose heads are the first bytes of their keys.
fn sort_entries(bytes: &[u8], order: KeyOrder, places: &mut [Place]) {
    let key = |at: usize| entry_at(bytes, at).0;
    let by_tails = |group: &mut [Place]| {
        if group.iter().any(|place| !key(place.at).tail.is_empty()) {
            sort_by_tails(bytes, order, group);
        }
    };
    let compare = |a, b| order.compare(key(a), key(b));
    sort_by_heads(places, (0, MOST_DEPTH), &|at| key(at).start, &compare, &by_tails);
}

/// Sorts places by the bytes that stand for them. These are equal before `depth`, none of them is a
/// prefix of another, and the heads have to be those from `depth` on. From `most_depth` on, and
/// where few are equal so far, `compare` compares two of them to their ends; `settle` sorts places
/// with the same bytes.
fn sort_by_heads<'b>(
    places: &mut [Place],
    (depth, most_depth): (usize, usize),
    bytes_of: &impl Fn(usize) -> &'b [u8],
    compare: &impl Fn(usize, usize) -> Ordering,
    settle: &impl Fn(&mut [Place]),
) {
    places.sort_unstable_by(|a, b| a.head.cmp(&b.head).then(a.at.cmp(&b.at)));
    let mut rest = places;
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|place| place.head == first.head).count();
        let (group, after) = rest.split_at_mut(same);
        rest = after;
        if same == 1 {
            continue;
        }
        // Bytes that end within these heads are equal, since none are a prefix of others.
        if group.iter().all(|place| bytes_of(place.at).len() <= depth + 8) {
            settle(group);
        } else if same > FEW && depth + 8 < most_depth {
            group.iter_mut().for_each(|place| place.head = head(bytes_of(place.at), depth + 8));
            sort_by_heads(group, (depth + 8, most_depth), bytes_of, compare, settle);
        } else {
            group.sort_unstable_by(|a, b| compare(a.at, b.at).then(a.at.cmp(&b.at)));
        }
    }
}

/// Sorts entries whose keys are cut short and have equal starts. They stand in the order in which
/// they came. If there are more than a few, the rest of each key is made once, because comparing
/// two texts takes about as long as making one.
fn sort_by_tails(bytes: &[u8], order: KeyOrder, group: &mut [Place]) {
    debug_assert!(group.is_sorted_by_key(|place| place.at), "equal heads are in the order of their coming");
    let key = |place: &Place| entry_at(bytes, place.at).0;
    let tail_bytes: usize = group.iter().map(|place| key(place).tail.len()).sum();
    if group.len() <= FEW || tail_bytes > MOST_TAIL_BYTES {
        group.sort_unstable_by(|a, b| order.compare(key(a), key(b)).then(a.at.cmp(&b.at)));
        return;
    }
    let (mut rests, mut bounds) = (Vec::with_capacity(2 * tail_bytes), Vec::with_capacity(group.len() + 1));
    bounds.push(0);
    for place in &*group {
        order.write_rest(key(place), &mut rests);
        bounds.push(rests.len());
    }
    let rest = |number: usize| &rests[bounds[number]..bounds[number + 1]];
    // The rests begin with what the starts have of the texts, which is equal.
    let depth = EQUAL_REST_BYTES;
    let place = |at: usize| Place { head: head(rest(at), depth), at };
    let mut sorted: Vec<Place> = (0..group.len()).map(place).collect();
    let compare = |a, b| rest(a).cmp(rest(b));
    sort_by_heads(&mut sorted, (depth, depth + MOST_DEPTH), &rest, &compare, &|_| {});
    let before = group.to_vec();
    for (place, from) in group.iter_mut().zip(sorted) {
        *place = before[from.at];
    }
}

/// Where the entries of a run are, and the position of the current one.
#[derive(Debug)]
pub(super) enum Run {
    Memory {
        buffer: Buffer,
        /// The index of the current entry among the buffer's places.
        at: usize,
    },
    File {
        tape: Tape,
        reader: TapeReader,
        /// The offset of the current entry in the current block, in bytes.
        at: usize,
    },
}

/// Reads a run from its beginning, one entry at a time.
#[derive(Debug)]
pub(super) struct RunReader {
    run: Run,
    order: KeyOrder,
    /// The first eight bytes of the current entry's key, as a number.
    head: u64,
    is_done: bool,
}

impl RunReader {
    /// Creates a reader for sorted entries in memory.
    pub fn of_buffer(buffer: Buffer) -> RunReader {
        let order = buffer.order;
        RunReader { run: Run::Memory { buffer, at: 0 }, order, head: 0, is_done: false }
    }

    /// Creates a reader for sorted entries on a tape.
    pub fn of_tape(tape: Tape, order: KeyOrder, ctx: &Context<'_>) -> RunReader {
        let reader = TapeReader::new(Charge::new(ctx.memory));
        RunReader { run: Run::File { tape, reader, at: 0 }, order, head: 0, is_done: false }
    }

    /// Moves to the first entry.
    pub fn start(&mut self) -> Result<()> {
        if let Run::File { tape, reader, .. } = &mut self.run {
            self.is_done = !reader.next_block(tape)?;
        }
        self.note()
    }

    /// Moves to the next entry.
    pub fn advance(&mut self) -> Result<()> {
        assert!(!self.is_done, "a run is not read beyond its end");
        match &mut self.run {
            Run::Memory { at, .. } => *at += 1,
            Run::File { tape, reader, at } => {
                // The call that moved to this entry has checked its lengths already.
                *at += whole_entry_at(reader.block(), *at).len();
                if *at >= reader.block().len() {
                    *at = 0;
                    self.is_done = !reader.next_block(tape)?;
                }
            }
        }
        self.note()
    }

    fn note(&mut self) -> Result<()> {
        match &self.run {
            Run::Memory { buffer, at } => match buffer.places.get(*at) {
                // Sorting may have left the bytes of another depth in the place's head.
                Some(place) => self.head = head(entry_at(&buffer.bytes, place.at).0.start, 0),
                None => self.is_done = true,
            },
            Run::File { reader, at, .. } if !self.is_done => {
                if entry_bytes(reader.block(), *at).is_none() {
                    return Err(crate::exec::spill::damaged());
                }
                self.head = head(entry_at(reader.block(), *at).0.start, 0);
            }
            Run::File { .. } => {}
        }
        Ok(())
    }

    /// Returns the key and the payload of the current entry of a run in memory, and moves to the
    /// next one. `None` means that the run is at its end.
    #[inline]
    pub fn pass_in_memory(&mut self) -> Option<(Key<'_>, &[u8])> {
        let Run::Memory { buffer, at } = &mut self.run else { return None };
        let place = buffer.places.get(*at)?;
        *at += 1;
        Some(entry_at(&buffer.bytes, place.at))
    }

    /// Returns the key and the payload of the current entry. The run must not be at its end.
    pub fn entry(&self) -> (Key<'_>, &[u8]) {
        debug_assert!(!self.is_done, "there is no entry behind the last one");
        match &self.run {
            Run::Memory { buffer, at } => entry_at(&buffer.bytes, buffer.places[*at].at),
            Run::File { reader, at, .. } => entry_at(reader.block(), *at),
        }
    }

    /// Reports whether the entries are in a file.
    pub fn is_in_file(&self) -> bool {
        matches!(self.run, Run::File { .. })
    }

    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Returns the first eight bytes of the current entry's key as a number. The run must not be at
    /// its end.
    #[inline]
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Reports whether this run's current entry sorts before the other run's. Of equal keys, the
    /// one in the earlier run does: `is_earlier` says that this run is the earlier one.
    #[inline]
    pub fn is_before(&self, other: &RunReader, is_earlier: bool) -> bool {
        if self.is_done || other.is_done {
            return !self.is_done;
        }
        if self.head != other.head {
            return self.head < other.head;
        }
        match self.order.compare(self.entry().0, other.entry().0) {
            Ordering::Equal => is_earlier,
            ordering => ordering.is_lt(),
        }
    }

    /// Appends the current entry to a tape.
    pub fn copy_to(&self, tape: &mut Tape, ctx: &Context<'_>) -> Result<()> {
        let entry = match &self.run {
            Run::Memory { buffer, at } => whole_entry_at(&buffer.bytes, buffer.places[*at].at),
            Run::File { reader, at, .. } => whole_entry_at(reader.block(), *at),
        };
        tape.push(&[entry], ctx)
    }
}
