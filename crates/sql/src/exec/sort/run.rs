//! Sorted runs: entries of a key and a payload, in memory or on a tape.

use crate::error::{Result, SqlError};
use crate::exec::spill::{Tape, TapeReader};
use crate::expr::Context;
use crate::memory::{Charge, growth};

/// Lengths of key and payload (4 bytes each), key, payload.
const HEADER_BYTES: usize = 8;

/// The key and the payload of the entry at `at`.
fn entry_at(bytes: &[u8], at: usize) -> (&[u8], &[u8]) {
    let length = |at: usize| {
        let bytes: [u8; 4] = bytes[at..at + 4].try_into().expect("four bytes");
        u32::from_le_bytes(bytes) as usize
    };
    let (key_len, payload_len) = (length(at), length(at + 4));
    bytes[at + HEADER_BYTES..at + HEADER_BYTES + key_len + payload_len].split_at(key_len)
}

/// The bytes of the entry at `at`, if all of them are there.
fn entry_bytes(bytes: &[u8], at: usize) -> Option<usize> {
    let length = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let len = HEADER_BYTES.checked_add(length(at)?)?.checked_add(length(at + 4)?)?;
    (bytes.len() - at >= len).then_some(len)
}

/// Eight key bytes from `depth` on as a number that compares as they do; zeros behind the end.
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

/// Where an entry is, with the key bytes that are being compared.
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
    charge: Charge,
}

/// Below this many entries comparing whole keys costs less than fetching heads.
const FEW: usize = 12;
/// So many key bytes are compared in heads; keys that are equal so far are compared as a whole.
const MOST_DEPTH: usize = 64;

impl Buffer {
    pub fn new(charge: Charge) -> Buffer {
        Buffer { bytes: Vec::new(), places: Vec::new(), charge }
    }

    /// What the entries take.
    pub fn used_bytes(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<Place>()
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// As [`Charge::add`]; 1038 for one that is too long for a sort.
    pub fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<()> {
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| too_long());
        let (key_len, payload_len) = (length(key)?, length(payload)?);
        let place = Place { head: head(key, 0), at: self.bytes.len() };
        let mut header = [0; HEADER_BYTES];
        header[..4].copy_from_slice(&key_len.to_le_bytes());
        header[4..].copy_from_slice(&payload_len.to_le_bytes());
        for part in [&header[..], key, payload] {
            growth::append(&mut self.bytes, part, &mut self.charge)?;
        }
        growth::push(&mut self.places, place, &mut self.charge)
    }

    /// Sorts the entries; those with equal keys stay in the order in which they came.
    pub fn sort(&mut self) {
        sort_from(&self.bytes, &mut self.places, 0);
    }

    /// Keeps the first `len` of the sorted entries, in the order in which they came; returns the
    /// largest key.
    pub fn keep_first(&mut self, len: usize) -> Option<Vec<u8>> {
        self.places.truncate(len);
        let last = self.places.last().map(|place| entry_at(&self.bytes, place.at).0.to_vec());
        self.places.sort_unstable_by_key(|place| place.at);
        let mut end = 0;
        for place in &mut self.places {
            let (key, payload) = entry_at(&self.bytes, place.at);
            let len = HEADER_BYTES + key.len() + payload.len();
            place.head = head(key, 0);
            self.bytes.copy_within(place.at..place.at + len, end);
            place.at = end;
            end += len;
        }
        self.bytes.truncate(end);
        last
    }

    /// Writes the sorted entries to a tape.
    pub fn write_to(&self, tape: &mut Tape, ctx: &Context<'_>) -> Result<()> {
        for place in &self.places {
            ctx.check_interrupt()?;
            let (key, payload) = entry_at(&self.bytes, place.at);
            let entry = &self.bytes[place.at..place.at + HEADER_BYTES + key.len() + payload.len()];
            tape.push(&[entry], ctx)?;
        }
        Ok(())
    }

    /// Forgets all entries, and keeps the room.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }
}

/// Error 1038.
fn too_long() -> SqlError {
    SqlError::new(1038, "Out of sort memory, consider increasing server sort buffer size")
}

/// Sorts places whose keys are equal in their first `depth` bytes, and whose heads are of that
/// depth.
fn sort_from(bytes: &[u8], places: &mut [Place], depth: usize) {
    let key = |place: &Place| entry_at(bytes, place.at).0;
    places.sort_unstable_by(|a, b| a.head.cmp(&b.head).then(a.at.cmp(&b.at)));
    let mut rest = places;
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|place| place.head == first.head).count();
        let (group, after) = rest.split_at_mut(same);
        rest = after;
        if same == 1 || group.iter().all(|place| key(place).len() <= depth + 8) {
            // No key is the beginning of another: those that end here are equal.
            continue;
        }
        if same > FEW && depth + 8 < MOST_DEPTH {
            group.iter_mut().for_each(|place| place.head = head(key(place), depth + 8));
            sort_from(bytes, group, depth + 8);
        } else {
            group.sort_unstable_by(|a, b| key(a).cmp(key(b)).then(a.at.cmp(&b.at)));
        }
    }
}

/// A run that is read from its beginning.
#[derive(Debug)]
pub(super) enum Run {
    Memory {
        buffer: Buffer,
        /// Which place is the entry at hand.
        at: usize,
    },
    File {
        tape: Tape,
        reader: TapeReader,
        /// Where in the block the entry at hand is.
        at: usize,
    },
}

/// Reads a run, an entry at a time.
#[derive(Debug)]
pub(super) struct RunReader {
    run: Run,
    /// The first bytes of the key at hand.
    head: u64,
    is_done: bool,
}

impl RunReader {
    /// Of sorted entries in memory.
    pub fn of_buffer(buffer: Buffer) -> RunReader {
        RunReader { run: Run::Memory { buffer, at: 0 }, head: 0, is_done: false }
    }

    pub fn of_tape(tape: Tape, ctx: &Context<'_>) -> RunReader {
        let reader = TapeReader::new(Charge::new(ctx.memory));
        RunReader { run: Run::File { tape, reader, at: 0 }, head: 0, is_done: false }
    }

    /// Goes to the first entry.
    pub fn start(&mut self) -> Result<()> {
        if let Run::File { tape, reader, .. } = &mut self.run {
            self.is_done = !reader.next_block(tape)?;
        }
        self.note()
    }

    /// Goes to the next one.
    pub fn advance(&mut self) -> Result<()> {
        match &mut self.run {
            Run::Memory { at, .. } => *at += 1,
            Run::File { tape, reader, at } => {
                // It was looked at when it was gone to.
                let (key, payload) = entry_at(reader.block(), *at);
                *at += HEADER_BYTES + key.len() + payload.len();
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
                // Sorting has left the heads of other depths there.
                Some(place) => self.head = head(entry_at(&buffer.bytes, place.at).0, 0),
                None => self.is_done = true,
            },
            Run::File { reader, at, .. } if !self.is_done => {
                if entry_bytes(reader.block(), *at).is_none() {
                    return Err(crate::exec::spill::damaged());
                }
                self.head = head(entry_at(reader.block(), *at).0, 0);
            }
            Run::File { .. } => {}
        }
        Ok(())
    }

    /// Key and payload of the entry at hand; there is one unless the run is done.
    pub fn entry(&self) -> (&[u8], &[u8]) {
        match &self.run {
            Run::Memory { buffer, at } => entry_at(&buffer.bytes, buffer.places[*at].at),
            Run::File { reader, at, .. } => entry_at(reader.block(), *at),
        }
    }

    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether its entry comes before another's; where the keys are equal the earlier run's does.
    #[inline]
    pub fn is_before(&self, other: &RunReader, is_earlier: bool) -> bool {
        if self.is_done || other.is_done {
            return !self.is_done;
        }
        if self.head != other.head {
            return self.head < other.head;
        }
        match self.entry().0.cmp(other.entry().0) {
            std::cmp::Ordering::Equal => is_earlier,
            ordering => ordering.is_lt(),
        }
    }

    /// Puts the entry at hand on a tape.
    pub fn copy_to(&self, tape: &mut Tape, ctx: &Context<'_>) -> Result<()> {
        let (key, payload) = self.entry();
        let length = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
        tape.push(&[&length(key), &length(payload), key, payload], ctx)
    }
}
