//! Entries that are written one after the other and read from the beginning: the last of them in
//! memory, those before in blocks of a temporary file, which several tapes share.
//!
//! A block has whole entries, so that a reader has one block in memory. An entry is its owner's
//! affair: a tape gives back the bytes of each block.

use super::row::damaged;
use crate::error::{Result, SqlError};
use crate::expr::Context;
use crate::memory::{Charge, growth};
use os::disk::TempFile;
use std::cell::RefCell;
use std::io::{Error, ErrorKind};
use std::path::Path;
use std::rc::Rc;

/// A temporary file under `tmpdir` that tapes write to. It goes with the last of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct TapeFile(Rc<RefCell<Option<TempFile>>>);

impl TapeFile {
    /// Writes a block; the file is made for the first.
    fn append(&self, block: &[u8], ctx: &Context<'_>) -> Result<u64> {
        let mut file = self.0.borrow_mut();
        let file = match &mut *file {
            Some(file) => file,
            empty => {
                let config = ctx.engine.config();
                let made = TempFile::create(&*config.disk, &config.tmpdir, "spill");
                let made = made.map_err(|error| cannot_create(&config.tmpdir, &error))?;
                ctx.counters.created_tmp_files.count();
                empty.insert(made)
            }
        };
        file.append(block).map_err(|error| cannot_write(file.path(), &error))
    }

    fn read(&self, block: &mut [u8], at: u64) -> Result<()> {
        let file = self.0.borrow();
        let file = file.as_ref().ok_or_else(damaged)?;
        file.read(block, at).map_err(|error| cannot_read(file.path(), &error))
    }
}

/// The system's number of an error, as MySQL shows it, and its words.
fn shown(error: &Error) -> String {
    let (number, words) = match error.kind() {
        ErrorKind::NotFound => (2, "No such file or directory"),
        ErrorKind::PermissionDenied => (13, "Permission denied"),
        ErrorKind::StorageFull => (28, "No space left on device"),
        ErrorKind::ReadOnlyFilesystem => (30, "Read-only file system"),
        ErrorKind::QuotaExceeded => (122, "Disk quota exceeded"),
        _ => (error.raw_os_error().unwrap_or(5), "Input/output error"),
    };
    format!("OS errno {number} - {words}")
}

fn cannot_create(dir: &Path, error: &Error) -> SqlError {
    let path = dir.join("#sql-spill");
    SqlError::new(1, format!("Can't create/write to file '{}' ({})", path.display(), shown(error)))
}

fn cannot_write(path: &Path, error: &Error) -> SqlError {
    SqlError::new(3, format!("Error writing file '{}' ({})", path.display(), shown(error)))
}

fn cannot_read(path: &Path, error: &Error) -> SqlError {
    SqlError::new(2, format!("Error reading file '{}' ({})", path.display(), shown(error)))
}

/// A block in the file.
#[derive(Debug, Clone, Copy)]
struct Block {
    at: u64,
    len: usize,
}

/// Entries, and where they are.
#[derive(Debug)]
pub(crate) struct Tape {
    file: TapeFile,
    blocks: Vec<Block>,
    /// Behind the blocks.
    tail: Vec<u8>,
    /// From so many bytes on the tail goes to the file.
    block_bytes: usize,
    /// Of the tail's room and the list of blocks.
    charge: Charge,
}

impl Tape {
    /// An empty one. `block_bytes` is what it has in memory, but for an entry that is longer.
    pub fn new(file: &TapeFile, block_bytes: usize, charge: Charge) -> Tape {
        Tape { file: file.clone(), blocks: Vec::new(), tail: Vec::new(), block_bytes, charge }
    }

    /// Appends an entry, given in parts.
    ///
    /// # Errors
    /// 1 and 3 when the file cannot be made or written, as where the disk is full; those of
    /// [`Charge::add`].
    pub fn push(&mut self, parts: &[&[u8]], ctx: &Context<'_>) -> Result<()> {
        for part in parts {
            growth::append(&mut self.tail, part, &mut self.charge)?;
        }
        if self.tail.len() >= self.block_bytes { self.write_tail(ctx) } else { Ok(()) }
    }

    /// Has everything in the file, and nothing in memory.
    ///
    /// # Errors
    /// As [`Tape::push`].
    pub fn write_tail(&mut self, ctx: &Context<'_>) -> Result<()> {
        if self.tail.is_empty() {
            return Ok(());
        }
        let at = self.file.append(&self.tail, ctx)?;
        growth::push(&mut self.blocks, Block { at, len: self.tail.len() }, &mut self.charge)?;
        self.tail.clear();
        if self.tail.capacity() > self.block_bytes.saturating_mul(2) {
            // Of a long entry.
            self.charge.take_away(self.tail.capacity());
            self.tail = Vec::new();
        }
        Ok(())
    }

    /// As [`Tape::write_tail`], when nothing more is written: the tail's memory is free again.
    ///
    /// # Errors
    /// As [`Tape::push`].
    pub fn finish(&mut self, ctx: &Context<'_>) -> Result<()> {
        self.write_tail(ctx)?;
        self.charge.take_away(self.tail.capacity());
        self.tail = Vec::new();
        Ok(())
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.tail.is_empty()
    }
}

/// Reads a tape, block by block.
#[derive(Debug)]
pub(crate) struct TapeReader {
    /// The next block.
    next: usize,
    block: Vec<u8>,
    /// Of the block's room.
    charge: Charge,
}

impl TapeReader {
    /// At the beginning; `charge` is for the block that it has in memory.
    pub fn new(charge: Charge) -> TapeReader {
        TapeReader { next: 0, block: Vec::new(), charge }
    }

    /// Reads the next block with its whole entries; false: there is none. `tape` is the same each
    /// time.
    ///
    /// # Errors
    /// 2 when the file cannot be read; those of [`Charge::add`].
    pub fn next_block(&mut self, tape: &Tape) -> Result<bool> {
        let at = self.next;
        self.next += 1;
        self.block.clear();
        match tape.blocks.get(at) {
            Some(block) => {
                self.make_room(block.len)?;
                self.block.resize(block.len, 0);
                tape.file.read(&mut self.block, block.at)?;
                Ok(true)
            }
            None if at == tape.blocks.len() && !tape.tail.is_empty() => {
                self.make_room(tape.tail.len())?;
                self.block.extend_from_slice(&tape.tail);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn make_room(&mut self, len: usize) -> Result<()> {
        if len > self.block.capacity() {
            self.charge.add(len)?;
            self.charge.take_away(self.block.capacity());
            self.block = Vec::with_capacity(len);
        }
        Ok(())
    }

    /// The block that was read last.
    pub fn block(&self) -> &[u8] {
        &self.block
    }
}
