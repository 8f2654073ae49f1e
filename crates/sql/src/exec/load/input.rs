//! The bytes of a file that is loaded, a piece at a time.

use crate::error::Result;

/// Where the file's bytes come from: a file of the server, or the client.
pub(crate) trait Input {
    /// Puts the next bytes, some 64 KB of them, into `into`, which is empty; none are the file's
    /// end.
    ///
    /// # Errors
    /// What keeps them from being read.
    fn read(&mut self, into: &mut Vec<u8>) -> Result<()>;
}

/// The file as it is looked at: byte by byte, and some bytes ahead.
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

    /// The bytes that are there and not taken yet: none only at the file's end.
    #[inline]
    pub fn ahead(&mut self) -> Result<&[u8]> {
        if self.at == self.buffer.len() {
            self.fill(1)?;
        }
        Ok(&self.buffer[self.at..])
    }

    /// The next byte; `None` at the file's end.
    #[inline]
    pub fn peek(&mut self) -> Result<Option<u8>> {
        if self.at == self.buffer.len() {
            self.fill(1)?;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    /// Takes the next byte.
    #[inline]
    pub fn next(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        self.at += usize::from(byte.is_some());
        Ok(byte)
    }

    /// Takes so many of the bytes that are there.
    #[inline]
    pub fn take(&mut self, bytes: usize) {
        self.at += bytes;
        assert!(self.at <= self.buffer.len(), "what is taken is there");
    }

    /// Takes these bytes if they come next.
    #[inline]
    pub fn takes(&mut self, wanted: &[u8]) -> Result<bool> {
        if self.buffer.len() - self.at < wanted.len() {
            self.fill(wanted.len())?;
        }
        let comes = self.buffer[self.at..].starts_with(wanted);
        self.at += if comes { wanted.len() } else { 0 };
        Ok(comes)
    }

    /// Makes so many bytes available, if the file has them.
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
