//! The compressed protocol: after authentication the stream is sent and received in frames of its
//! own.
//!
//! A frame is a 3-byte length, a sequence number, the 3-byte length of the decompressed content (0:
//! it is not compressed) and the content, compressed by zlib or zstd. Frames and packets are
//! independent: a frame may hold a part of a packet, or many packets. Sequence numbers start anew
//! with each command.

use std::io::{self, Read, Write};

use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::packet::MAX_PAYLOAD_BYTES;

const HEADER_BYTES: usize = 7;
/// The number of bytes below which content is sent uncompressed, as by mysqld.
const SHORTEST_BYTES: usize = 50;
/// The level of zlib, as in mysqld.
const ZLIB_LEVEL: u32 = 6;

/// A way to compress a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// zlib.
    Zlib,
    /// zstd with this level.
    Zstd(u8),
}

/// One end of a compressed connection.
#[derive(Debug)]
pub(crate) struct Compression {
    algorithm: Algorithm,
    sequence: u8,
    /// The received part of the next frame. It is kept when a read is interrupted.
    frame: Vec<u8>,
    /// The content of the last frame. The bytes before `at` have been read.
    plain: Vec<u8>,
    at: usize,
}

impl Compression {
    pub fn new(algorithm: Algorithm) -> Compression {
        Compression { algorithm, sequence: 0, frame: Vec::new(), plain: Vec::new(), at: 0 }
    }

    /// Restarts the sequence numbers, because a new command begins.
    pub fn reset_sequence(&mut self) {
        self.sequence = 0;
    }

    /// Reads the content of frames, which come from the stream below.
    pub fn read(&mut self, stream: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
        while self.at == self.plain.len() {
            if !self.fill(stream, HEADER_BYTES)? {
                return Ok(0);
            }
            let number = |at: usize| {
                u32::from_le_bytes([self.frame[at], self.frame[at + 1], self.frame[at + 2], 0]) as usize
            };
            let (len, plain_len, sequence) = (number(0), number(4), self.frame[3]);
            if !self.fill(stream, HEADER_BYTES + len)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if sequence != self.sequence {
                return Err(damaged("its number is not the one that is due"));
            }
            self.sequence = self.sequence.wrapping_add(1);
            self.open(plain_len)?;
        }
        let taken = buf.len().min(self.plain.len() - self.at);
        buf[..taken].copy_from_slice(&self.plain[self.at..self.at + taken]);
        self.at += taken;
        Ok(taken)
    }

    /// Receives until the frame has `len` bytes. Returns false if the stream ends before the
    /// frame's first byte.
    fn fill(&mut self, stream: &mut impl Read, len: usize) -> io::Result<bool> {
        while self.frame.len() < len {
            let missing = (len - self.frame.len()) as u64;
            match stream.by_ref().take(missing).read_to_end(&mut self.frame) {
                Ok(0) if self.frame.is_empty() => return Ok(false),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn open(&mut self, plain_len: usize) -> io::Result<()> {
        self.plain.clear();
        self.at = 0;
        let body = &self.frame[HEADER_BYTES..];
        // One byte more than expected is read, to detect a frame that has too much content.
        let limit = plain_len as u64 + 1;
        match self.algorithm {
            _ if plain_len == 0 => {
                self.plain.extend_from_slice(body);
            }
            Algorithm::Zlib => {
                ZlibDecoder::new(body).take(limit).read_to_end(&mut self.plain)?;
            }
            Algorithm::Zstd(_) => {
                zstd::Decoder::with_buffer(body)?.take(limit).read_to_end(&mut self.plain)?;
            }
        }
        self.frame.clear();
        if plain_len != 0 && self.plain.len() != plain_len {
            return Err(damaged("it does not hold as much as it says"));
        }
        Ok(())
    }

    /// Writes all bytes, in as many frames as needed.
    pub fn write_all(&mut self, stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        for part in bytes.chunks(MAX_PAYLOAD_BYTES) {
            let packed = if part.len() < SHORTEST_BYTES { None } else { Some(self.pack(part)?) };
            let packed = packed.filter(|packed| packed.len() < part.len());
            let (body, plain_len) = packed.as_deref().map_or((part, 0), |packed| (packed, part.len()));
            let mut frame = Vec::with_capacity(HEADER_BYTES + body.len());
            frame.extend_from_slice(&(body.len() as u32).to_le_bytes()[..3]);
            frame.push(self.sequence);
            frame.extend_from_slice(&(plain_len as u32).to_le_bytes()[..3]);
            frame.extend_from_slice(body);
            self.sequence = self.sequence.wrapping_add(1);
            stream.write_all(&frame)?;
        }
        Ok(())
    }

    fn pack(&self, part: &[u8]) -> io::Result<Vec<u8>> {
        match self.algorithm {
            Algorithm::Zlib => {
                let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::new(ZLIB_LEVEL));
                encoder.write_all(part)?;
                encoder.finish()
            }
            Algorithm::Zstd(level) => zstd::bulk::compress(part, level.into()),
        }
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a compressed frame is damaged: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that returns one byte at a time, and sometimes says that there is nothing yet.
    struct Slow<'a>(&'a [u8], bool);

    impl Read for Slow<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let len = buf.len().min(1 + self.0.len() / 7);
            self.0.read(&mut buf[..len])
        }
    }

    #[test]
    fn what_is_written_comes_back_whatever_the_reads_are_like() {
        for algorithm in [Algorithm::Zlib, Algorithm::Zstd(3)] {
            let long: Vec<u8> = (0..MAX_PAYLOAD_BYTES + 1000).map(|i| (i / 3) as u8).collect();
            let parts = [&b"short"[..], &[7; 400], &long, b""];
            let (mut sender, mut wire) = (Compression::new(algorithm), Vec::new());
            parts.iter().for_each(|part| sender.write_all(&mut wire, part).unwrap());
            assert!(wire.len() < long.len() / 2);
            let (mut receiver, mut slow) = (Compression::new(algorithm), Slow(&wire, false));
            let (mut got, mut buf) = (Vec::new(), [0; 10_000]);
            loop {
                match receiver.read(&mut slow, &mut buf) {
                    Ok(0) => break,
                    Ok(len) => got.extend_from_slice(&buf[..len]),
                    Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
                }
            }
            assert!(got == parts.concat(), "{algorithm:?}");
        }
    }

    #[test]
    fn damage_is_an_error() {
        let mut wire = Vec::new();
        Compression::new(Algorithm::Zlib).write_all(&mut wire, &[1; 100]).unwrap();
        let read = |wire: &[u8]| Compression::new(Algorithm::Zlib).read(&mut &wire[..], &mut [0; 200]);
        assert_eq!(read(&wire).unwrap(), 100);
        for cut in 1..wire.len() {
            assert!(read(&wire[..cut]).is_err(), "cut to {cut}");
        }
        for (at, value) in [(3, 1), (4, 99), (4, 101), (HEADER_BYTES, 0)] {
            let mut damaged = wire.clone();
            damaged[at] = value;
            assert!(read(&damaged).is_err(), "byte {at}");
        }
    }
}
