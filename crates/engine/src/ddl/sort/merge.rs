//! Merging sorted runs with a tree of losers over one reader for each run.
//!
//! The readers' buffers together stay within the sort buffer. When there are more runs than can be
//! read at once, groups of them are merged into longer runs first.

use super::file::TempFile;
use super::run::{ENTRY_HEADER_LEN, Run, RunSource, SortLimits, Sorted, entry_at, head, put_entry};
use crate::error::Result;
use std::sync::Arc;

/// The smallest number of bytes that a reader reads at once. A run is on flash, and mostly in the
/// page cache. Reading it in such pieces costs much less than one more pass of merging because
/// fewer runs can be read at once.
const READ_BYTES: usize = 4 << 10;
const MIN_FAN_IN: usize = 8;
/// The number of bytes of the pieces in which a merged run is written.
const WRITE_BYTES: usize = 256 << 10;

/// Reads one run, an entry at a time.
struct Reader {
    run: Run,
    buffer: Vec<u8>,
    /// The byte offset of the current entry in the buffer.
    at: usize,
    /// The length of the current entry in bytes, 0 before the first.
    len: usize,
    /// The first bytes of the current key, which are compared before the key itself.
    head: u64,
    is_done: bool,
    read_bytes: usize,
}

impl Reader {
    fn new(mut run: Run, read_bytes: usize) -> Reader {
        let buffer = match &mut run.source {
            RunSource::Memory(bytes) => {
                run.at = run.end;
                std::mem::take(bytes)
            }
            RunSource::File(_) => Vec::new(),
        };
        Reader { run, buffer, at: 0, len: 0, head: 0, is_done: false, read_bytes }
    }

    /// Makes sure that `needed` bytes from `at` on are in the buffer. Returns false when the run
    /// ends before that.
    fn ensure(&mut self, needed: usize) -> Result<bool> {
        if self.buffer.len() - self.at >= needed {
            return Ok(true);
        }
        let RunSource::File(file) = &self.run.source else { return Ok(false) };
        self.buffer.drain(..self.at);
        self.at = 0;
        let have = self.buffer.len();
        let wanted = (needed - have).max(self.read_bytes).min((self.run.end - self.run.at) as usize);
        self.buffer.resize(have + wanted, 0);
        file.read(&mut self.buffer[have..], self.run.at)?;
        self.run.at += wanted as u64;
        Ok(self.buffer.len() >= needed)
    }

    fn advance(&mut self) -> Result<()> {
        self.at += self.len;
        self.len = 0;
        if !self.ensure(ENTRY_HEADER_LEN)? {
            self.is_done = true;
            return Ok(());
        }
        let length = |at: usize| usize::from(u16::from_le_bytes([self.buffer[at], self.buffer[at + 1]]));
        self.len = ENTRY_HEADER_LEN + length(self.at) + length(self.at + 2);
        self.ensure(self.len)?;
        self.head = head(self.entry().0, 0);
        Ok(())
    }

    fn entry(&self) -> (&[u8], &[u8]) {
        entry_at(&self.buffer, self.at)
    }
}

/// The entries of several runs, in key order.
pub(in crate::ddl) struct Merge {
    readers: Vec<Reader>,
    /// The tree of losers. `losers[0]` is the reader with the smallest entry; every other node has
    /// the loser of the match that was played there.
    losers: Vec<u32>,
    /// Whether the winner's entry has been given out.
    given: bool,
}

impl Merge {
    /// Merges the entries that several sorters have collected.
    pub fn new(sorted: Vec<Sorted>) -> Result<Merge> {
        let limits = sorted.first().map(|sorted| sorted.limits.clone());
        let mut runs: Vec<Run> = sorted.into_iter().flat_map(|sorted| sorted.runs).collect();
        let Some(limits) = limits else { return Merge::of_runs(runs, READ_BYTES) };
        let fan_in = (limits.buffer_bytes / READ_BYTES).max(MIN_FAN_IN);
        while runs.len() > fan_in {
            let mut longer = Vec::with_capacity(runs.len().div_ceil(fan_in));
            let mut rest = runs.into_iter().peekable();
            while rest.peek().is_some() {
                let group: Vec<Run> = rest.by_ref().take(fan_in).collect();
                longer.push(merge_to_file(group, &limits)?);
            }
            runs = longer;
        }
        let read_bytes = (limits.buffer_bytes / runs.len().max(1)).clamp(READ_BYTES, WRITE_BYTES);
        Merge::of_runs(runs, read_bytes)
    }

    fn of_runs(runs: Vec<Run>, read_bytes: usize) -> Result<Merge> {
        let mut readers: Vec<Reader> = runs.into_iter().map(|run| Reader::new(run, read_bytes)).collect();
        for reader in &mut readers {
            reader.advance()?;
        }
        let losers = vec![u32::MAX; readers.len().max(1)];
        let mut merge = Merge { readers, losers, given: false };
        for reader in 0..merge.readers.len() as u32 {
            merge.enter(reader);
        }
        Ok(merge)
    }

    /// Plays a reader up the tree for the first time. It stays at the first node that no reader has
    /// reached yet.
    fn enter(&mut self, mut reader: u32) {
        let mut node = (reader as usize + self.readers.len()) / 2;
        while node > 0 {
            if self.losers[node] == u32::MAX {
                self.losers[node] = reader;
                return;
            }
            if self.is_before(self.losers[node], reader) {
                std::mem::swap(&mut self.losers[node], &mut reader);
            }
            node /= 2;
        }
        self.losers[0] = reader;
    }

    fn is_before(&self, a: u32, b: u32) -> bool {
        let (left, right) = (&self.readers[a as usize], &self.readers[b as usize]);
        if left.is_done || right.is_done {
            return !left.is_done;
        }
        if left.head != right.head {
            return left.head < right.head;
        }
        (left.entry().0, a) < (right.entry().0, b)
    }

    /// Returns the next entry's key and value.
    pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.readers.is_empty() {
            return Ok(None);
        }
        if self.given {
            let mut winner = self.losers[0];
            self.readers[winner as usize].advance()?;
            let mut node = (winner as usize + self.readers.len()) / 2;
            while node > 0 {
                if self.is_before(self.losers[node], winner) {
                    std::mem::swap(&mut self.losers[node], &mut winner);
                }
                node /= 2;
            }
            self.losers[0] = winner;
        }
        self.given = true;
        let winner = &self.readers[self.losers[0] as usize];
        Ok(if winner.is_done { None } else { Some(winner.entry()) })
    }
}

fn merge_to_file(group: Vec<Run>, limits: &SortLimits) -> Result<Run> {
    let mut file = TempFile::create(&*limits.disk, &limits.tmpdir)?;
    let mut merge = Merge::of_runs(group, READ_BYTES)?;
    let (mut pending, mut end) = (Vec::with_capacity(WRITE_BYTES), 0);
    while let Some((key, value)) = merge.next()? {
        put_entry(&mut pending, key, value);
        if pending.len() >= WRITE_BYTES {
            end = file.append(&pending)? + pending.len() as u64;
            pending.clear();
        }
    }
    if !pending.is_empty() {
        end = file.append(&pending)? + pending.len() as u64;
    }
    Ok(Run { source: RunSource::File(Arc::new(file)), at: 0, end })
}
