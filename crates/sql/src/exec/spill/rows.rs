//! The rows of a table that a query makes: a derived table, the source of an INSERT, a UNION before
//! its order. In memory up to a bound, and behind it in a file.

use super::room::{BLOCK_BYTES, table_bytes};
use super::row::{RowCodec, damaged, read_bytes, write_number};
use super::tape::{Tape, TapeFile, TapeReader};
use crate::error::Result;
use crate::expr::Context;
use crate::memory::{Charge, growth};
use types::Value;

/// Rows of as many values each, which are read in the order in which they came, any number of
/// times.
#[derive(Debug)]
pub(crate) struct Rows {
    codec: RowCodec,
    columns: usize,
    len: u64,
    /// The first rows. They stay here.
    first: Vec<u8>,
    /// The rows that found no room there.
    rest: Option<Tape>,
    most_bytes: usize,
    /// The row that is being written, and its length.
    scratch: Vec<u8>,
    length: Vec<u8>,
    /// Of the first rows.
    charge: Charge,
}

impl Rows {
    /// No rows, of so many columns.
    pub fn new(columns: usize, ctx: &Context<'_>) -> Rows {
        ctx.counters.created_tmp_tables.count();
        Rows {
            codec: RowCodec::default(),
            columns,
            len: 0,
            first: Vec::new(),
            rest: None,
            most_bytes: table_bytes(ctx),
            scratch: Vec::new(),
            length: Vec::new(),
            charge: Charge::new(ctx.memory),
        }
    }

    /// Appends a row.
    ///
    /// # Errors
    /// As [`Tape::push`].
    pub fn push(&mut self, row: &[Value], ctx: &Context<'_>) -> Result<()> {
        assert_eq!(row.len(), self.columns, "all rows have as many values");
        self.scratch.clear();
        self.codec.write_row(row, &mut self.scratch);
        self.len += 1;
        self.length.clear();
        write_number(self.scratch.len() as u64, &mut self.length);
        if self.rest.is_none() && self.first.len() + self.scratch.len() > self.most_bytes {
            ctx.counters.created_tmp_disk_tables.count();
            let charge = Charge::new(ctx.memory);
            let block_bytes = BLOCK_BYTES.min(self.most_bytes.max(1024));
            self.rest = Some(Tape::new(&TapeFile::default(), block_bytes, charge));
        }
        match &mut self.rest {
            Some(rest) => rest.push(&[&self.length, &self.scratch], ctx),
            None => {
                growth::append(&mut self.first, &self.length, &mut self.charge)?;
                growth::append(&mut self.first, &self.scratch, &mut self.charge)
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reads them from the first on.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { rows: self, at: 0, rest: None }
    }
}

/// A place among rows.
#[derive(Debug)]
pub(crate) struct Cursor<'r> {
    rows: &'r Rows,
    /// In the first rows, or in the block of the rest.
    at: usize,
    /// Reads the rest, from when the first rows are through.
    rest: Option<TapeReader>,
}

impl Cursor<'_> {
    /// Reads the next row into as many values as the rows have; false: there is none.
    ///
    /// # Errors
    /// As [`TapeReader::next_block`].
    pub fn next(&mut self, row: &mut [Value], ctx: &Context<'_>) -> Result<bool> {
        assert_eq!(row.len(), self.rows.columns, "a row is read as it was written");
        let bytes = loop {
            let block = self.rest.as_ref().map_or(&self.rows.first[..], TapeReader::block);
            if self.at < block.len() {
                break &block[self.at..];
            }
            let Some(tape) = &self.rows.rest else { return Ok(false) };
            let rest = self.rest.get_or_insert_with(|| TapeReader::new(Charge::new(ctx.memory)));
            self.at = 0;
            if !rest.next_block(tape)? {
                return Ok(false);
            }
        };
        let mut rest = bytes;
        let written = read_bytes(&mut rest).ok_or_else(damaged)?;
        self.rows.codec.read_row(written, row)?;
        self.at += bytes.len() - rest.len();
        Ok(true)
    }
}
