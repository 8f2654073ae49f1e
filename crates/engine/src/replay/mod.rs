//! Replaying the row changes of commit records by key.
//!
//! Replay sets state: an insert puts the row whatever was there, a delete removes the row if it is
//! there, an update changes the columns that its event has. Pages may be at any state between the
//! checkpoint and the end of the log, so a row may be missing for an update. Then a later record
//! deletes or moves the row, and the update is skipped. A row that carries the record's sequence
//! number or a later one is left as it is. Since every later change of the row is replayed too, in
//! order, the rows converge. Overflow pages are gone through even for a row that is left, because
//! the row's page may have been written while its overflow pages were not.
//!
//! Secondary entries come from the sidecar, or from the full image of an inserted row, never from a
//! page. Overflow pages are rewritten in place if their LSN is older. Changes older than an index
//! are in the index's build already.
//!
//! # How it goes
//! The log is read in stretches. For each stretch, threads first gather the changes of a part of
//! its records each (`gather`). Then they put the changes of a range of keys each on the pages
//! (`apply`), in the order of keys, so that a leaf is looked for once and a row is written once
//! however often it changed. Meanwhile the next stretch is read.
//!
//! Only the changes of one entry must stay in the order of the log. One thread has all of them, in
//! that order. Nothing else needs an order: entries are set by exact key, and an overflow page
//! takes the newest of what it is given, by its LSN. A page whose changes of a stretch are done in
//! one go needs the log from the oldest of them on, and carries the newest one's LSN. Structure
//! records have all been replayed before, so an LSN that is ahead of some of the page's rows
//! misleads nobody, now or in a recovery after this one.

mod apply;
mod changes;
mod gather;
mod tables;
#[cfg(test)]
mod tests;

use crate::Engine;
use crate::commit::position::ReplicationState;
use crate::commit::record::{self, CommitRecord};
use crate::error::{EngineError, Result};
use crate::spill::SpillRef;
use buffer::RecordLsn;
use changes::Changes;
use gather::{Gather, Part};
use redo::{Batch, BatchRecord, Lsn, kind};
use std::ops::Range;
use tables::Tables;

/// The most bytes of log that are gathered at once. The more there are, the more changes meet on a
/// leaf. Two such stretches are in memory.
const MOST_STRETCH_BYTES: u64 = 128 << 20;
const LEAST_STRETCH_BYTES: u64 = 1 << 20;
/// The pool's size divided by this number is the size of a stretch.
const POOL_PART: u64 = 16;
/// The rows of a spilled commit that are gathered at once, as a multiple of the bytes that a
/// transaction keeps in memory.
const SPILLS_AT_ONCE: u64 = 16;
/// The number of commit records that are worth a thread.
const RECORDS_PER_THREAD: usize = 256;
const MOST_THREADS: usize = 8;

/// The work of one thread.
type Job<'j, T> = Box<dyn FnOnce() -> Result<T> + Send + 'j>;

/// Does all jobs at once. A single job needs no further thread.
fn do_all<T: Send>(mut jobs: Vec<Job<'_, T>>) -> Result<Vec<T>> {
    match jobs.pop() {
        Some(only) if jobs.is_empty() => only().map(|done| vec![done]),
        Some(last) => {
            jobs.push(last);
            os::thread::run_all("replay", jobs).into_iter().collect()
        }
        None => Ok(Vec::new()),
    }
}

/// The replay of rows, with the state that it needs throughout.
pub(crate) struct Replay<'e> {
    engine: &'e Engine,
    tables: Tables,
    /// The memory of changes that are on their pages by now, to be used again.
    spare: Vec<Changes<'static>>,
}

impl<'e> Replay<'e> {
    pub fn new(engine: &'e Engine) -> Replay<'e> {
        Replay { engine, tables: Tables::new(&engine.catalog, &engine.pool), spare: Vec::new() }
    }

    /// Replays the rows of all commits between two positions, and their changes of the replication
    /// state. Returns how many commits there were.
    pub fn commits(&mut self, from: Lsn, end: Lsn, replication: &mut ReplicationState) -> Result<u64> {
        let pool_bytes = self.engine.config.pool_bytes;
        let most = (pool_bytes / POOL_PART).clamp(LEAST_STRETCH_BYTES, MOST_STRETCH_BYTES) as usize;
        let mut reader = self.engine.log.read_from(from);
        let (mut batch, mut next) = (Batch::default(), Batch::default());
        let mut commits = 0;
        let mut more = reader.next_batch(end, most, &mut batch)?;
        while more {
            let is_last = reader.lsn() >= end;
            let mut jobs: Vec<Job<'_, u64>> =
                vec![Box::new(|| self.batch(&batch)), Box::new(|| advance(replication, &batch).map(|()| 0))];
            if !is_last {
                jobs.push(Box::new(|| Ok(reader.next_batch(end, most, &mut next).map(u64::from)?)));
            }
            commits += do_all(jobs)?[0];
            std::mem::swap(&mut batch, &mut next);
            more = !is_last;
        }
        Ok(commits)
    }

    fn batch(&mut self, batch: &Batch) -> Result<u64> {
        let (mut commits, mut from) = (0, 0);
        for (at, record) in batch.records(0..batch.len()).enumerate() {
            if record.kind != kind::COMMIT {
                continue;
            }
            commits += 1;
            // A spilled commit is replayed alone, between those before and those after it, because
            // it may be of any size.
            if record::is_spilled(record.payload) {
                self.records(batch, from..at)?;
                let spill = CommitRecord::parse(record.payload)?.spill;
                if let Some(spill) = spill {
                    self.spilled(&spill, RecordLsn::new(record.start_lsn, record.lsn))?;
                }
                from = at + 1;
            }
        }
        self.records(batch, from..batch.len())?;
        Ok(commits)
    }

    /// Replays a commit from its spill file. The file is read once for each of several parts of the
    /// rows, so that only the rows of that part are in memory.
    pub fn spilled(&mut self, spill: &SpillRef, place: RecordLsn) -> Result<()> {
        let config = &self.engine.config;
        let group = spill.open(config)?;
        let sidecar = group.sidecar()?;
        // The checksum is checked first, so that damage is reported with the file before any of it
        // is taken for an event.
        group.for_each_run(|_| Ok::<(), EngineError>(()))?;
        let threads = os::thread::processors().min(MOST_THREADS) as u64;
        let part_bytes = (config.spill_bytes as u64 * SPILLS_AT_ONCE / threads).max(1);
        let of = group.len_bytes().div_ceil(part_bytes).max(1);
        for first in (0..of).step_by(threads as usize) {
            let numbers = first..of.min(first + threads);
            self.spare.resize_with((numbers.end - first) as usize, Changes::default);
            let (tables, group, sidecar) = (&self.tables, &group, sidecar.as_slice());
            let job = |(number, spare): (u64, Changes<'static>)| -> Job<'_, Changes<'static>> {
                Box::new(move || {
                    let mut gather = Gather::new(tables, spare);
                    let gathered = gather.spilled_part((group, sidecar), place, Part { number, of });
                    gathered.map_err(|error| at_record(place.start, error))?;
                    Ok(gather.finish())
                })
            };
            let gathered = do_all(numbers.zip(self.spare.drain(..)).map(job).collect())?;
            self.apply(&gathered)?;
            self.spare.extend(gathered.into_iter().map(|changes| changes.anew(&[])));
        }
        Ok(())
    }

    /// Replays a part of a batch.
    fn records(&mut self, batch: &Batch, range: Range<usize>) -> Result<()> {
        let threads = os::thread::processors().min(MOST_THREADS).min(1 + range.len() / RECORDS_PER_THREAD);
        let edge = |part| range.start + range.len() * part / threads;
        self.spare.resize_with(threads, Changes::default);
        let (tables, spare) = (&self.tables, &mut self.spare);
        let part = |(part, spare): (usize, Changes<'static>)| -> Job<'_, Changes<'_>> {
            let records = edge(part)..edge(part + 1);
            let gather = Gather::new(tables, spare.anew(batch.bytes()));
            Box::new(move || gather_records(gather, batch.records(records)))
        };
        let gathered = do_all(spare.drain(..).enumerate().map(part).collect())?;
        self.apply(&gathered)?;
        self.spare.extend(gathered.into_iter().map(|changes| changes.anew(&[])));
        Ok(())
    }

    /// Puts changes on the pages, with as many threads as there are parts.
    fn apply(&self, parts: &[Changes<'_>]) -> Result<()> {
        let (tables, pool) = (&self.tables, &self.engine.pool);
        let job = |range: Range<(u32, u64)>| -> Job<'_, ()> {
            Box::new(move || apply::apply(tables, pool, &apply::in_order(parts, &range)))
        };
        do_all(ranges(parts).into_iter().map(job).collect()).map(|_| ())
    }
}

/// Applies the changes that the commits of a batch make to the replication state.
fn advance(replication: &mut ReplicationState, batch: &Batch) -> Result<()> {
    let commits = batch.records(0..batch.len()).filter(|record| record.kind == kind::COMMIT);
    for record in commits.filter(|record| record::has_mark(record.payload)) {
        let marked = CommitRecord::parse(record.payload).and_then(|commit| commit.mark());
        replication.advance(marked.map_err(|error| at_record(record.start_lsn, error))?);
    }
    Ok(())
}

fn gather_records<'b>(
    mut gather: Gather<'_, 'b>,
    records: impl Iterator<Item = BatchRecord<'b>>,
) -> Result<Changes<'b>> {
    for record in records.filter(|record| record.kind == kind::COMMIT) {
        let place = RecordLsn::new(record.start_lsn, record.lsn);
        gather.record(record.payload, place).map_err(|error| at_record(place.start, error))?;
    }
    Ok(gather.finish())
}

fn at_record(start_lsn: Lsn, error: EngineError) -> EngineError {
    EngineError::Corrupt(format!("commit record at LSN {start_lsn}: {error}"))
}

/// Divides the places of changes into as many ranges as there are parts, each with about as many
/// changes.
fn ranges(parts: &[Changes<'_>]) -> Vec<Range<(u32, u64)>> {
    /// The number of changes of each part that are looked at.
    const SAMPLES: usize = 512;
    let mut samples = Vec::new();
    for changes in parts.iter().filter(|_| parts.len() > 1) {
        let step = changes.all.len() / SAMPLES + 1;
        samples.extend(changes.all.iter().step_by(step).map(changes::Change::place));
    }
    samples.sort_unstable();
    let mut edges: Vec<(u32, u64)> = (1..parts.len())
        .filter_map(|part| samples.get(part * samples.len() / parts.len()).copied())
        .collect();
    edges.dedup();
    // No tree has the last number, so the last range includes every tree.
    edges.push((u32::MAX, 0));
    let begins = std::iter::once((0, 0)).chain(edges.iter().copied());
    begins.zip(&edges).map(|(from, to)| from..*to).collect()
}

#[cfg(test)]
impl Replay<'_> {
    /// Replays one record, which may be damaged.
    pub fn payload(&self, payload: &[u8], place: RecordLsn) -> Result<()> {
        let mut gather = Gather::new(&self.tables, Changes::default().anew(payload));
        gather.record(payload, place)?;
        self.apply(&[gather.finish()])
    }
}
