//! Merges sorted runs with a tree of losers, which has one reader per run.

use super::key::Key;
use super::run::RunReader;
use crate::error::Result;
use crate::exec::spill::{Tape, TapeFile, damaged};
use crate::expr::Context;
use crate::memory::Charge;

/// Delivers the entries of several runs in the order of their keys. Of equal keys, the one in the
/// earlier run comes first.
#[derive(Debug)]
pub(super) struct Merge {
    readers: Vec<RunReader>,
    /// `losers[0]` is the reader with the smallest entry. Each other node holds the reader that
    /// lost the comparison at that node.
    losers: Vec<u32>,
    /// Whether the smallest entry has been delivered already.
    is_given: bool,
    /// The head of the entry that was delivered last.
    last_head: u64,
    /// Whether some of the runs are in a file, which may be damaged.
    reads_file: bool,
}

/// Marks a node that no reader has reached yet.
const NOBODY: u32 = u32::MAX;

impl Merge {
    pub fn new(mut readers: Vec<RunReader>) -> Result<Merge> {
        assert!(readers.len() < NOBODY as usize, "each reader has a number");
        readers.iter_mut().try_for_each(RunReader::start)?;
        let losers = vec![NOBODY; readers.len().max(1)];
        let reads_file = readers.iter().any(RunReader::is_in_file);
        let mut merge = Merge { readers, losers, is_given: false, last_head: 0, reads_file };
        for reader in 0..merge.readers.len() as u32 {
            merge.enter(reader);
        }
        assert!(
            merge.readers.is_empty() || !merge.losers.contains(&NOBODY),
            "each node of the tree has one of the readers"
        );
        Ok(merge)
    }

    fn is_before(&self, a: u32, b: u32) -> bool {
        self.readers[a as usize].is_before(&self.readers[b as usize], a < b)
    }

    /// Lets a reader climb the tree for the first time. It stays at the first node that no reader
    /// has reached yet.
    fn enter(&mut self, mut reader: u32) {
        let mut node = (reader as usize + self.readers.len()) / 2;
        while node > 0 {
            if self.losers[node] == NOBODY {
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

    /// Reports whether some of the runs are in a file.
    pub fn reads_file(&self) -> bool {
        self.reads_file
    }

    /// Reports whether there is one run only, and it is in memory, so that nothing is merged.
    #[inline]
    pub fn has_only_run_in_memory(&self) -> bool {
        matches!(&self.readers[..], [only] if !only.is_in_file())
    }

    /// Returns the key and the payload of the next entry of the only run, which is in memory. It
    /// comes in place of [`Merge::next`].
    #[inline]
    pub fn next_of_only_run(&mut self) -> Option<(Key<'_>, &[u8])> {
        self.readers.first_mut()?.pass_in_memory()
    }

    /// Moves to the next entry and returns its reader, or `None` when all entries have been
    /// delivered.
    ///
    /// # Errors
    /// Returns 2 when the file cannot be read, and 1034 when it is damaged: the entries of a run
    /// have to come in order.
    pub fn next(&mut self) -> Result<Option<&RunReader>> {
        if self.readers.is_empty() {
            return Ok(None);
        }
        if self.is_given {
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
        self.is_given = true;
        let winner = &self.readers[self.losers[0] as usize];
        if winner.is_done() {
            return Ok(None);
        }
        if winner.head() < self.last_head {
            assert!(self.reads_file, "runs in memory are sorted, and merged in order");
            return Err(damaged());
        }
        self.last_head = winner.head();
        Ok(Some(winner))
    }
}

/// Merges runs into one run on a new tape, which gets no more than `most` entries.
pub(super) fn merge_to_tape(
    runs: Vec<RunReader>,
    most: Option<usize>,
    file: &TapeFile,
    block_bytes: usize,
    ctx: &Context<'_>,
) -> Result<Tape> {
    let mut tape = Tape::new(file, block_bytes, Charge::new(ctx.memory));
    let mut merge = Merge::new(runs)?;
    let mut entries = 0;
    while most.is_none_or(|most| entries < most) {
        ctx.check_interrupt()?;
        let Some(next) = merge.next()? else { break };
        next.copy_to(&mut tape, ctx)?;
        entries += 1;
    }
    tape.finish(ctx)?;
    Ok(tape)
}
