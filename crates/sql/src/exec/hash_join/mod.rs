//! Hash join: one table of a join is read once into a hash table, and its rows are found by the
//! values of some of its columns.
//!
//! In: the rows that the table's access delivers, or those of a derived table. Out: the rows whose
//! keys equal those of the current row, in the order in which they were read. A row with NULL in
//! its key is never found.
//!
//! The table has `join_buffer_size` in memory ([`kept`]). What does not fit is in files. Where the
//! rows of the tables before it may wait, both sides are spread over parts by their keys, and each
//! part is joined for itself when all rows have come ([`parts`]). Elsewhere, and for a part that
//! nothing can spread, the table's rows lie in the order of their hashes and are looked up in the
//! file ([`by_hash`](super::by_hash)).

mod build;
mod kept;
mod key;
mod parts;

use super::Run;
use super::by_hash::Position;
use super::reader::Reader;
use super::run::rest_holds;
use super::spill::{RowCodec, Rows, Tape, hash_of};
use crate::error::Result;
use crate::expr::Context;
use crate::plan::{Answered, Source, TableStep};
pub(super) use build::Waiting;
use build::{Beyond, Builder};
use kept::{END, Kept};
use key::put_key;
use parts::{Pair, WaitingRows, for_each_row};
use std::cell::Cell;
use std::sync::Arc;
use types::Value;

/// After this many rows it is estimated whether a table will have room in memory.
const FIRST_ROWS: u64 = 4096;

/// The rows of a table, by their keys.
pub(super) struct HashTable {
    kept: Arc<Kept>,
    beyond: Beyond,
    codec: RowCodec,
    /// The number of rows that the table has, kept or not.
    rows_read: u64,
    rows_kept: u64,
    /// The key that was looked up last, whose memory is used again.
    key: Cell<Vec<u8>>,
}

/// A hash table that is in memory as a whole, for further threads.
#[derive(Clone)]
pub(super) struct SharedTable {
    kept: Arc<Kept>,
    codec: RowCodec,
    rows_read: u64,
}

impl SharedTable {
    /// Returns the hash table for a thread.
    pub fn table(&self) -> HashTable {
        let SharedTable { kept, codec, rows_read } = self.clone();
        let rows_kept = kept.len() as u64;
        HashTable { kept, beyond: Beyond::None, codec, rows_read, rows_kept, key: Cell::default() }
    }
}

/// The rows of a key that are still to be read.
pub(super) enum Found {
    /// The next row in memory, or [`END`].
    Kept(u32),
    InFile(Position),
}

/// A hash table that is being filled with the rows of a step.
struct Filling<'s> {
    builder: Builder,
    codec: RowCodec,
    step: &'s TableStep,
    key: Vec<u8>,
    row: Vec<u8>,
    rows_read: u64,
    rows_kept: u64,
}

impl Filling<'_> {
    /// Adds the row if its conditions hold, of which some are answered, and no part of its key is
    /// NULL.
    fn add(&mut self, run: &Run<'_, '_>, answered: Answered, row: &[Value]) -> Result<()> {
        self.rows_read += 1;
        let Some(lookup) = &self.step.hash else { return Ok(()) };
        let is_kept = rest_holds(&lookup.conditions, answered, row, run.ctx)?
            && put_key(&lookup.keys, |key| key.own, row, &mut self.key);
        if !is_kept {
            return Ok(());
        }
        self.rows_kept += 1;
        self.row.clear();
        for column in self.step.kept() {
            self.codec.write(&row[self.step.base + column], &mut self.row);
        }
        self.builder.push(&self.key, hash_of(&self.key), &self.row, run.ctx)?;
        if self.rows_read == FIRST_ROWS
            && let Some(estimate) = &self.step.estimate
        {
            self.builder.expect(estimate.read / FIRST_ROWS as f64, run.ctx);
        }
        Ok(())
    }

    fn finish(self, ctx: &Context<'_>) -> Result<HashTable> {
        let Filling { builder, codec, rows_read, rows_kept, .. } = self;
        let (kept, beyond) = builder.finish(ctx)?;
        assert!(rows_kept <= rows_read, "only rows that were read are kept");
        assert!(
            kept.len() as u64 <= rows_kept
                && (!matches!(beyond, Beyond::None) || kept.len() as u64 == rows_kept),
            "the rows that are kept are in memory as long as no file has any"
        );
        Ok(HashTable { kept: Arc::new(kept), beyond, codec, rows_read, rows_kept, key: Cell::default() })
    }
}

impl HashTable {
    /// Reads the table of a step. `rows` are the rows of a derived table; other tables are read
    /// through `row`.
    pub fn of(
        run: &mut Run<'_, '_>,
        step: &TableStep,
        rows: Option<&Rows>,
        waiting: Waiting,
        row: &mut [Value],
    ) -> Result<HashTable> {
        let mut made = Filling {
            builder: Builder::new(waiting, 0, run.ctx),
            codec: RowCodec::default(),
            step,
            key: Vec::new(),
            row: Vec::new(),
            rows_read: 0,
            rows_kept: 0,
        };
        match (&step.source, rows) {
            (Source::Stored { table, access }, _) => {
                let mut reader = Reader::open(run, table, access, run.lock_for(step.lock), row)?;
                while !made.builder.has_given_up() && reader.read_into(run, step, row)? {
                    if let Some(padding) = &step.padding {
                        padding.fill(&mut row[step.base..]);
                    }
                    made.add(run, reader.answered(step), row)?;
                }
            }
            (Source::Subquery(call), _) => {
                let rows = call.rows(row, run.ctx)?;
                let mut add = |found: &[Value]| {
                    run.on_row()?;
                    row[step.base..step.base + step.columns].clone_from_slice(found);
                    made.add(run, Answered::NONE, row)?;
                    Ok(true)
                };
                rows.for_each(&mut add, run.ctx)?;
            }
            (Source::JsonTable(table), _) => {
                let (found, _charge) = super::json_table::rows(run, table, step.columns, row)?;
                for found in &found {
                    run.on_row()?;
                    row[step.base..step.base + step.columns].clone_from_slice(found);
                    made.add(run, Answered::NONE, row)?;
                }
            }
            (_, Some(rows)) => {
                let mut cursor = rows.cursor();
                while !made.builder.has_given_up()
                    && cursor.next(&mut row[step.base..step.base + step.columns], run.ctx)?
                {
                    run.on_row()?;
                    made.add(run, Answered::NONE, row)?;
                }
            }
            (_, None) => {}
        }
        // What the table does not keep of its rows belongs to none of those that are found.
        step.needed.iter().for_each(|column| row[step.base + column] = Value::Null);
        made.finish(run.ctx)
    }

    /// Returns the table for further threads. `None` means that it is not in memory as a whole.
    pub fn shared(&self) -> Option<SharedTable> {
        let HashTable { kept, beyond, codec, rows_read, .. } = self;
        matches!(beyond, Beyond::None).then(|| SharedTable {
            kept: kept.clone(),
            codec: codec.clone(),
            rows_read: *rows_read,
        })
    }

    /// Returns the number of rows that were read, and of those that are kept.
    pub fn sizes(&self) -> (u64, u64) {
        (self.rows_read, self.rows_kept)
    }

    /// Has the current row wait if what it looks for may be in a part that is not in memory.
    /// Returns whether it waits. `tables` are those that have filled the row so far.
    ///
    /// # Errors
    /// Returns 1 and 3 when a temporary file cannot be created or written.
    #[inline]
    pub fn has_wait(
        &self,
        step: &TableStep,
        tables: &[TableStep],
        row: &[Value],
        run: &Run<'_, '_>,
    ) -> Result<bool> {
        let (Beyond::Parts(parts), Some(lookup)) = (&self.beyond, &step.hash) else { return Ok(false) };
        let mut key = self.key.take();
        let hash = put_key(&lookup.keys, |key| key.other, row, &mut key).then(|| hash_of(&key));
        let waits = hash.filter(|hash| parts.has(*hash));
        if let Some(hash) = waits {
            run.ctx.check_interrupt()?;
            parts.wait((&key, hash), tables, row, run.ctx)?;
        }
        self.key.set(key);
        Ok(waits.is_some())
    }

    /// Looks up the rows whose keys equal the key of the tables before.
    pub fn find(&self, step: &TableStep, row: &[Value], run: &Run<'_, '_>) -> Result<Found> {
        run.ctx.check_interrupt()?;
        let Some(lookup) = &step.hash else { return Ok(Found::Kept(END)) };
        let mut key = self.key.take();
        let found = match put_key(&lookup.keys, |key| key.other, row, &mut key) {
            false => Found::Kept(END),
            true => match (&self.beyond, hash_of(&key)) {
                (Beyond::Sorted(rows), hash) => Found::InFile(rows.find(key.clone(), hash)),
                (Beyond::None | Beyond::Parts(_) | Beyond::GivenUp, hash) => {
                    Found::Kept(self.kept.find(&key, hash))
                }
            },
        };
        self.key.set(key);
        Ok(found)
    }

    /// Puts the next row of those that were found into the table's slots. Returns false behind the
    /// last one.
    #[inline]
    pub fn next_into(
        &self,
        found: &mut Found,
        step: &TableStep,
        row: &mut [Value],
        run: &Run<'_, '_>,
    ) -> Result<bool> {
        match found {
            Found::Kept(END) => Ok(false),
            Found::Kept(at) => {
                run.on_row()?;
                let (written, next) = self.kept.row(*at);
                *at = next;
                self.read(written, step, row)?;
                Ok(true)
            }
            Found::InFile(position) => {
                run.on_row()?;
                let Beyond::Sorted(rows) = &self.beyond else { return Ok(false) };
                rows.next(position, |written| self.read(written, step, row))
            }
        }
    }

    /// Decodes a row into the table's slots.
    fn read(&self, mut written: &[u8], step: &TableStep, row: &mut [Value]) -> Result<()> {
        for column in step.kept() {
            self.codec.read(&mut written, &mut row[step.base + column])?;
        }
        Ok(())
    }

    /// Gives up what is in memory, and returns the parts for which rows wait. `None` means that no
    /// row waits.
    ///
    /// # Errors
    /// Returns 3 when a temporary file cannot be written.
    pub fn into_waiting(self, ctx: &Context<'_>) -> Result<Option<WaitingParts>> {
        let Beyond::Parts(parts) = self.beyond else { return Ok(None) };
        drop(self.kept);
        let (pairs, of_waiting) = parts.into_pairs(ctx)?;
        Ok(Some(WaitingParts { pairs, own: self.codec, of_waiting }))
    }
}

/// The parts of a join for which rows wait.
pub(super) struct WaitingParts {
    pairs: Vec<Pair>,
    /// Decodes the rows of the table.
    own: RowCodec,
    /// Decodes the rows that wait.
    of_waiting: RowCodec,
}

impl WaitingParts {
    /// Returns the hash table of the next part and the rows that wait for it, or `None` if no part
    /// is left. The table may have parts itself, for which rows wait again.
    ///
    /// # Errors
    /// Returns 1, 2 and 3 when a temporary file cannot be created, read or written, and 1317 when
    /// the statement is killed.
    pub fn next(&mut self, ctx: &Context<'_>) -> Result<Option<(HashTable, (Tape, u64))>> {
        let Some(Pair { own, waiting, level }) = self.pairs.pop() else { return Ok(None) };
        let mut builder = Builder::new(Waiting::Allowed, level, ctx);
        let mut rows = 0;
        for_each_row(&own, ctx, |key, hash, row| {
            rows += 1;
            builder.push(key, hash, row, ctx)
        })?;
        let (kept, beyond) = builder.finish(ctx)?;
        let codec = self.own.clone();
        let kept = Arc::new(kept);
        let (rows_read, rows_kept) = (rows, rows);
        Ok(Some((HashTable { kept, beyond, codec, rows_read, rows_kept, key: Cell::default() }, waiting)))
    }

    /// Reads rows that wait.
    pub fn rows<'w>(&'w self, waiting: &'w (Tape, u64), ctx: &Context<'_>) -> WaitingRows<'w> {
        WaitingRows::of(waiting, &self.of_waiting, ctx)
    }
}
