//! The bytes of a loaded file, one piece at a time.

use crate::error::Result;

/// The source of the file's bytes: a file of the server, or the client.
pub(crate) trait Input {
    /// Puts the next bytes, about 64 KB, into the empty `into`. No bytes mean that the file has
    /// ended.
    ///
    /// # Errors
    /// Returns the error that keeps the bytes from being read.
    fn read(&mut self, into: &mut Vec<u8>) -> Result<()>;
}

/// A buffered view of the file, which can be read byte by byte and looked at some bytes ahead.
pub(super) struct Bytes<'i> {
    input: &'i mut dyn Input,
    buffer: Vec<u8>,
    at: usize,
    piece: Vec<u8>,
    has_ended: bool,
}

impl<'i> Bytes<'i> {
    pub fn new(input: &'i mut dyn Input) -> Bytes<'i> {
        Bytes { input, buffer: Vec::new(), at: 0, piece: Vec::new(), has_ended: false }
    }

    /// Returns the bytes that are buffered and not taken yet. They are empty only at the end of the
    /// file.
    #[inline]
    pub fn ahead(&mut self) -> Result<&[u8]> {
        if self.at == self.buffer.len() {
            self.fill(1)?;
        }
        Ok(&self.buffer[self.at..])
    }

    /// Returns the next byte without taking it, or `None` at the end of the file.
    #[inline]
    pub fn peek(&mut self) -> Result<Option<u8>> {
        if self.at == self.buffer.len() {
            self.fill(1)?;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    /// Takes the next byte. Returns `None` at the end of the file.
    #[inline]
    pub fn next(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        self.at += usize::from(byte.is_some());
        Ok(byte)
    }

    /// Takes this many of the buffered bytes.
    #[inline]
    pub fn take(&mut self, bytes: usize) {
        self.at += bytes;
        assert!(self.at <= self.buffer.len(), "what is taken is there");
    }

    /// Takes these bytes if they come next. Returns whether they did.
    #[inline]
    pub fn takes(&mut self, wanted: &[u8]) -> Result<bool> {
        if self.buffer.len() - self.at < wanted.len() {
            self.fill(wanted.len())?;
        }
        let comes = self.buffer[self.at..].starts_with(wanted);
        self.at += if comes { wanted.len() } else { 0 };
        Ok(comes)
    }

    /// Reads until at least `wanted` bytes are buffered, or the file has ended.
    #[cold]
    pub fn fill(&mut self, wanted: usize) -> Result<()> {
        while !self.has_ended && self.buffer.len() - self.at < wanted {
            self.piece.clear();
            self.input.read(&mut self.piece)?;
            self.has_ended = self.piece.is_empty();
            match self.at == self.buffer.len() {
                true => std::mem::swap(&mut self.buffer, &mut self.piece),
                false => {
                    self.buffer.drain(..self.at);
                    self.buffer.extend_from_slice(&self.piece);
                }
            }
            self.at = 0;
        }
        Ok(())
    }
}
