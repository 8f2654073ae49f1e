//! The rows of one window partition: in memory up to a bound, in a temporary file beyond it.
//!
//! The rows lie in blocks. A block that is in the file is decoded when one of its rows is asked
//! for, and the last few blocks that were asked for stay in memory. Window functions ask for rows
//! at a few places that move forward, so that each block is decoded once for each such place.

use crate::error::Result;
use crate::exec::spill::{
    RowCodec, Tape, TapeFile, TapeReader, damaged, read_bytes, table_bytes, write_bytes,
};
use crate::expr::Context;
use crate::memory::{Charge, growth, row_bytes};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Deref;
use std::rc::Rc;
use types::Value;

/// The size at which a block is complete, in bytes of memory and in rows.
const BLOCK_BYTES: usize = 32 << 10;
const BLOCK_ROWS: usize = 256;

type DecodedRows = Rc<Vec<Vec<Value>>>;

/// Some rows that follow one another.
struct Block {
    /// The index of the first row.
    first: usize,
    /// The rows, unless they are in the file.
    rows: Option<DecodedRows>,
    /// The index of the block in the file.
    in_file: usize,
}

/// The rows of one window partition, in the window's order, with their keys behind them.
pub(super) struct Part {
    blocks: Vec<Block>,
    /// The rows behind the last block.
    open: Vec<Vec<Value>>,
    open_bytes: usize,
    len: usize,
    /// The number of values of a row.
    width: usize,
    kept_bytes: usize,
    most_bytes: usize,
    charge: Charge,
    file: Option<InFile>,
    /// The number of blocks of the file that stay in memory.
    places: usize,
    /// The block that was asked for last.
    last: Cell<usize>,
}

/// The blocks in the file.
struct InFile {
    tape: Tape,
    codec: RowCodec,
    /// The row and the block that are being written.
    row: Vec<u8>,
    entry: Vec<u8>,
    blocks: usize,
    reader: RefCell<TapeReader>,
    decoded: RefCell<Decoded>,
}

/// The blocks that were asked for last, the latest at the end, each with its index and its bytes.
struct Decoded {
    blocks: VecDeque<(usize, DecodedRows, usize)>,
    charge: Charge,
}

/// A row of a partition.
pub(super) struct RowOfPart {
    rows: DecodedRows,
    at: usize,
}

impl Deref for RowOfPart {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.rows[self.at]
    }
}

impl Part {
    /// Creates an empty partition. Its rows are asked for at about `places` places at a time.
    pub fn new(width: usize, places: usize, ctx: &Context<'_>) -> Part {
        Part {
            blocks: Vec::new(),
            open: Vec::new(),
            open_bytes: 0,
            len: 0,
            width,
            kept_bytes: 0,
            most_bytes: table_bytes(ctx),
            charge: Charge::new(ctx.memory),
            file: None,
            places,
            last: Cell::new(0),
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends a row.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`], and 1 and 3 when the file cannot be created or
    /// written.
    pub fn push(&mut self, row: Vec<Value>, ctx: &Context<'_>) -> Result<()> {
        assert_eq!(row.len(), self.width, "all rows of a partition have as many values");
        let bytes = row_bytes(&row);
        self.charge.add(bytes)?;
        self.open_bytes += bytes;
        self.len += 1;
        growth::push(&mut self.open, row, &mut self.charge)?;
        if self.open_bytes >= BLOCK_BYTES || self.open.len() >= BLOCK_ROWS { self.close(ctx) } else { Ok(()) }
    }

    /// Makes a block of the open rows. It is called behind the last row.
    ///
    /// # Errors
    /// Returns the errors of [`Part::push`].
    pub fn close(&mut self, ctx: &Context<'_>) -> Result<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        assert!(self.open.len() <= self.len, "the open rows are the last ones of the partition");
        let mut block = Block { first: self.len - self.open.len(), rows: None, in_file: 0 };
        if self.kept_bytes + self.open_bytes <= self.most_bytes || self.blocks.is_empty() {
            self.kept_bytes += self.open_bytes;
            block.rows = Some(Rc::new(std::mem::take(&mut self.open)));
        } else {
            let file = self.file.get_or_insert_with(|| InFile::new(ctx));
            block.in_file = file.write(&self.open, ctx)?;
            self.open.clear();
            self.charge.take_away(self.open_bytes);
        }
        self.open_bytes = 0;
        assert!(
            self.blocks.last().is_none_or(|last| last.first < block.first),
            "a block begins behind those before it"
        );
        growth::push(&mut self.blocks, block, &mut self.charge)
    }

    /// Returns a row.
    ///
    /// # Errors
    /// Returns 2 when the file cannot be read, and 1034 when it is damaged.
    pub fn row(&self, at: usize) -> Result<RowOfPart> {
        debug_assert!(at < self.len, "only rows of the partition are asked for");
        let mut number = self.last.get();
        let is_in = |number: usize| {
            let ends_behind = self.blocks.get(number + 1).is_none_or(|next| at < next.first);
            self.blocks[number].first <= at && ends_behind
        };
        if !is_in(number) {
            number = self.blocks.partition_point(|block| block.first <= at) - 1;
            self.last.set(number);
        }
        let block = &self.blocks[number];
        let rows = match (&block.rows, &self.file) {
            (Some(rows), _) => rows.clone(),
            (None, Some(file)) => file.block(block.in_file, self.width, self.places)?,
            (None, None) => return Err(damaged()),
        };
        if at - block.first >= rows.len() {
            return Err(damaged());
        }
        Ok(RowOfPart { rows, at: at - block.first })
    }
}

impl InFile {
    fn new(ctx: &Context<'_>) -> InFile {
        ctx.counters.created_tmp_disk_tables.count();
        InFile {
            // A block is written where the partition ends it.
            tape: Tape::new(&TapeFile::default(), usize::MAX, Charge::new(ctx.memory)),
            codec: RowCodec::default(),
            row: Vec::new(),
            entry: Vec::new(),
            blocks: 0,
            reader: RefCell::new(TapeReader::new(Charge::new(ctx.memory))),
            decoded: RefCell::new(Decoded { blocks: VecDeque::new(), charge: Charge::new(ctx.memory) }),
        }
    }

    /// Writes a block, and returns its index.
    fn write(&mut self, rows: &[Vec<Value>], ctx: &Context<'_>) -> Result<usize> {
        for row in rows {
            self.row.clear();
            self.codec.write_row(row, &mut self.row);
            self.entry.clear();
            write_bytes(&self.row, &mut self.entry);
            self.tape.push(&[&self.entry], ctx)?;
        }
        self.tape.write_tail(ctx)?;
        self.blocks += 1;
        Ok(self.blocks - 1)
    }

    /// Returns the rows of a block, which it decodes unless they are among those that were asked
    /// for last.
    fn block(&self, number: usize, width: usize, places: usize) -> Result<DecodedRows> {
        let Decoded { blocks, charge } = &mut *self.decoded.borrow_mut();
        if let Some(at) = blocks.iter().rposition(|(known, ..)| *known == number)
            && let Some(found) = blocks.remove(at)
        {
            let rows = found.1.clone();
            blocks.push_back(found);
            return Ok(rows);
        }
        if blocks.len() >= places
            && let Some((_, _, bytes)) = blocks.pop_front()
        {
            charge.take_away(bytes);
        }
        let mut reader = self.reader.borrow_mut();
        reader.seek(number);
        if !reader.next_block(&self.tape)? {
            return Err(damaged());
        }
        let (mut rest, mut rows, mut bytes) = (reader.block(), Vec::new(), 0);
        while !rest.is_empty() {
            let written = read_bytes(&mut rest).ok_or_else(damaged)?;
            let mut row = vec![Value::Null; width];
            self.codec.read_row(written, &mut row)?;
            bytes += row_bytes(&row);
            rows.push(row);
        }
        charge.add(bytes)?;
        let rows = Rc::new(rows);
        blocks.push_back((number, rows.clone(), bytes));
        Ok(rows)
    }
}
