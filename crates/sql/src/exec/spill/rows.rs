//! The rows of a table that a query materializes: a derived table, the source of an INSERT, the
//! rows of an UPDATE. They are in memory up to a bound, and in a temporary file beyond it.

use super::room::{BLOCK_BYTES, table_bytes};
use super::row::{RowCodec, damaged, read_bytes, write_number};
use super::tape::{Tape, TapeFile, TapeReader};
use crate::error::Result;
use crate::expr::Context;
use crate::memory::{Charge, growth};
use types::Value;

/// A list of rows with the same number of values each. They can be read any number of times, in the
/// order in which they came.
#[derive(Debug)]
pub(crate) struct Rows {
    codec: RowCodec,
    columns: usize,
    len: u64,
    /// The first rows, which stay in memory.
    first: Vec<u8>,
    /// The rows behind those in `first`, once `first` is full.
    rest: Option<Tape>,
    most_bytes: usize,
    /// The row that is being written, and its encoded length.
    scratch: Vec<u8>,
    length: Vec<u8>,
    /// The charge for the capacity of `first`.
    charge: Charge,
}

impl Rows {
    /// Creates an empty list for rows of this many columns.
    pub fn new(columns: usize, ctx: &Context<'_>) -> Rows {
        ctx.counters.created_tmp_tables.count();
        Rows::uncounted(columns, ctx)
    }

    /// As [`Rows::new`], for rows that MySQL would not put into a temporary table.
    pub fn uncounted(columns: usize, ctx: &Context<'_>) -> Rows {
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

    /// Creates an empty list that keeps no row in memory, for rows behind those that the caller
    /// keeps there.
    pub fn in_file(columns: usize, ctx: &Context<'_>) -> Rows {
        Rows { most_bytes: 0, ..Rows::uncounted(columns, ctx) }
    }

    /// Appends a row.
    ///
    /// # Errors
    /// Returns the errors of [`Tape::push`].
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
            let block_bytes = BLOCK_BYTES.min(table_bytes(ctx).max(1024));
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

    /// Returns the number of values of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns a cursor in front of the first row.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { rows: self, at: 0, rest: None, read: 0 }
    }
}

/// A position between the rows.
#[derive(Debug)]
pub(crate) struct Cursor<'r> {
    rows: &'r Rows,
    /// The offset in bytes, in `Rows::first` or in the current block of the rest.
    at: usize,
    /// The reader of the rest. `None` means that the cursor is still in `Rows::first`.
    rest: Option<TapeReader>,
    /// The number of rows that have been read.
    read: u64,
}

impl Cursor<'_> {
    /// Reads the next row into `row`, which has as many values as each row has. Returns false when
    /// there is no further row.
    ///
    /// # Errors
    /// Returns the errors of [`TapeReader::next_block`], and 1034 when the file is damaged.
    pub fn next(&mut self, row: &mut [Value], ctx: &Context<'_>) -> Result<bool> {
        assert_eq!(row.len(), self.rows.columns, "a row is read as it was written");
        let bytes = loop {
            let block = self.rest.as_ref().map_or(&self.rows.first[..], TapeReader::block);
            if self.at < block.len() {
                break &block[self.at..];
            }
            let Some(tape) = &self.rows.rest else {
                assert_eq!(self.read, self.rows.len, "as many rows are read as were written");
                return Ok(false);
            };
            let rest = self.rest.get_or_insert_with(|| TapeReader::new(Charge::new(ctx.memory)));
            self.at = 0;
            if !rest.next_block(tape)? {
                // A damaged file may have lost rows.
                return if self.read == self.rows.len { Ok(false) } else { Err(damaged()) };
            }
        };
        let mut rest = bytes;
        let written = read_bytes(&mut rest).ok_or_else(damaged)?;
        self.rows.codec.read_row(written, row)?;
        self.at += bytes.len() - rest.len();
        self.read += 1;
        Ok(true)
    }
}
