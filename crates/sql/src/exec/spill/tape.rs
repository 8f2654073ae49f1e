//! Tapes: entries that are written one after the other and read from the beginning.
//!
//! The last entries of a tape are in memory, those before in blocks of a temporary file, which
//! several tapes share. A block consists of whole entries, so that a reader needs one block in
//! memory at a time. What the bytes of an entry mean is up to its writer: a tape gives back the
//! bytes of each block.

use super::row::damaged;
use crate::error::{Result, SqlError};
use crate::expr::Context;
use crate::memory::{Charge, growth};
use os::disk::TempFile;
use std::cell::RefCell;
use std::io::{Error, ErrorKind};
use std::path::Path;
use std::rc::Rc;

/// A temporary file under `tmpdir` that several tapes write to. It is deleted with the last of
/// them.
#[derive(Debug, Clone, Default)]
pub(crate) struct TapeFile(Rc<RefCell<Option<TempFile>>>);

impl TapeFile {
    /// Appends a block and returns its offset. The file is created for the first block.
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

/// Formats an I/O error as in MySQL's messages: the operating system's error number and its
/// description.
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

/// The position and the length of a block in the file, in bytes.
#[derive(Debug, Clone, Copy)]
struct Block {
    at: u64,
    len: usize,
}

/// A list of entries, partly in the file and partly in memory.
#[derive(Debug)]
pub(crate) struct Tape {
    file: TapeFile,
    blocks: Vec<Block>,
    /// The entries behind the last block.
    tail: Vec<u8>,
    /// The length at which the tail is written to the file as a block.
    block_bytes: usize,
    /// Whether all entries have come.
    is_finished: bool,
    /// The charge for the capacity of `tail` and for the list of blocks.
    charge: Charge,
}

impl Tape {
    /// Creates an empty tape. It keeps at most `block_bytes` in memory, or one entry that is
    /// longer.
    pub fn new(file: &TapeFile, block_bytes: usize, charge: Charge) -> Tape {
        let (blocks, tail) = (Vec::new(), Vec::new());
        Tape { file: file.clone(), blocks, tail, block_bytes, is_finished: false, charge }
    }

    /// Appends an entry, which is given in parts.
    ///
    /// # Errors
    /// Returns 1 when the file cannot be created and 3 when it cannot be written (a full disk, for
    /// example), and the errors of [`Charge::add`].
    pub fn push(&mut self, parts: &[&[u8]], ctx: &Context<'_>) -> Result<()> {
        assert!(!self.is_finished, "nothing is written behind the end of a tape");
        for part in parts {
            growth::append(&mut self.tail, part, &mut self.charge)?;
        }
        if self.tail.len() >= self.block_bytes { self.write_tail(ctx) } else { Ok(()) }
    }

    /// Writes the tail to the file, so that no entry is left in memory.
    ///
    /// # Errors
    /// Returns the errors of [`Tape::push`].
    pub fn write_tail(&mut self, ctx: &Context<'_>) -> Result<()> {
        if self.tail.is_empty() {
            return Ok(());
        }
        let at = self.file.append(&self.tail, ctx)?;
        assert!(
            self.blocks.last().is_none_or(|last| last.at + last.len as u64 <= at),
            "a block lies behind those before it"
        );
        growth::push(&mut self.blocks, Block { at, len: self.tail.len() }, &mut self.charge)?;
        self.tail.clear();
        if self.tail.capacity() > self.block_bytes.saturating_mul(2) {
            // A long entry has made the tail larger than it has to be.
            self.charge.take_away(self.tail.capacity());
            self.tail = Vec::new();
        }
        Ok(())
    }

    /// Writes the tail, as [`Tape::write_tail`] does, and frees its memory. Nothing may be written
    /// afterwards.
    ///
    /// # Errors
    /// Returns the errors of [`Tape::push`].
    pub fn finish(&mut self, ctx: &Context<'_>) -> Result<()> {
        self.write_tail(ctx)?;
        self.charge.take_away(self.tail.capacity());
        self.tail = Vec::new();
        self.is_finished = true;
        Ok(())
    }

    /// Reports whether the next entry will be the first one of its block.
    pub fn begins_block(&self) -> bool {
        self.tail.is_empty()
    }

    /// Reports whether the tape has no entries.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.tail.is_empty()
    }
}

/// Reads a tape from the beginning, one block at a time.
#[derive(Debug)]
pub(crate) struct TapeReader {
    /// The index of the block that is read next.
    next: usize,
    block: Vec<u8>,
    /// The charge for the capacity of `block`.
    charge: Charge,
}

impl TapeReader {
    /// Creates a reader at the beginning of a tape. `charge` accounts for the block that it has in
    /// memory.
    pub fn new(charge: Charge) -> TapeReader {
        TapeReader { next: 0, block: Vec::new(), charge }
    }

    /// Reads the next block, which consists of whole entries. Returns false when there is no
    /// further block. `tape` has to be the same at each call.
    ///
    /// # Errors
    /// Returns 2 when the file cannot be read, and the errors of [`Charge::add`].
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

    /// Goes to a block, which [`TapeReader::next_block`] then reads.
    pub fn seek(&mut self, block: usize) {
        self.next = block;
    }

    fn make_room(&mut self, len: usize) -> Result<()> {
        if len > self.block.capacity() {
            self.charge.add(len)?;
            self.charge.take_away(self.block.capacity());
            self.block = Vec::with_capacity(len);
        }
        Ok(())
    }

    /// Returns the bytes of the block that was read last.
    pub fn block(&self) -> &[u8] {
        &self.block
    }
}
