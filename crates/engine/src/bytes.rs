//! Reading and writing the engine's own small records (commit header and sidecar, dictionary,
//! checkpoint state): little-endian numbers, LEB128 variable-length numbers, length-prefixed bytes.

use crate::error::{EngineError, Result};
use smallvec::SmallVec;

/// The encoded key of a tree entry. A key of up to 32 bytes needs no allocation.
pub(crate) type KeyBuf = SmallVec<[u8; 32]>;

/// The operations that append fields to a buffer.
pub(crate) trait Put {
    fn put_u8(&mut self, value: u8);
    fn put_u16(&mut self, value: u16);
    fn put_u32(&mut self, value: u32);
    fn put_u64(&mut self, value: u64);
    /// Appends a number in LEB128: seven bits in each byte, the lowest bits first.
    fn put_varint(&mut self, value: u64);
    /// Appends the number of the bytes as a variable-length number, then the bytes.
    fn put_bytes(&mut self, bytes: &[u8]);
    fn put_str(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }
    fn put_bool(&mut self, value: bool) {
        self.put_u8(u8::from(value));
    }
}

impl Put for Vec<u8> {
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }
    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_le_bytes());
    }
    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }
    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }
    fn put_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.push(value as u8);
    }
    fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_varint(bytes.len() as u64);
        self.extend_from_slice(bytes);
    }
}

/// A reader that takes fields off the front of some bytes. Its errors name what was being read.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], what: &'static str) -> Reader<'a> {
        Reader { rest: bytes, what }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[cold]
    fn cut_short(&self) -> EngineError {
        EngineError::Corrupt(format!("{} is cut short", self.what))
    }

    /// Returns how many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Builds the error which says that this record holds an impossible value.
    pub fn impossible(&self, field: &str) -> EngineError {
        EngineError::Corrupt(format!("{} holds an impossible {field}", self.what))
    }

    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        if len > self.rest.len() {
            return Err(self.cut_short());
        }
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        Ok(taken)
    }

    /// Takes all bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(|| self.cut_short())?;
        self.rest = rest;
        Ok(*taken)
    }

    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }
    #[inline]
    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }
    #[inline]
    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }
    #[inline]
    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }
    pub fn bool(&mut self) -> Result<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.impossible("truth value")),
        }
    }

    pub fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.impossible("number"))
    }

    /// Reads a count of items that take at least one byte each.
    pub fn count(&mut self) -> Result<usize> {
        let count = self.varint()?;
        if count > self.rest.len() as u64 {
            return Err(self.cut_short());
        }
        Ok(count as usize)
    }

    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.count()?;
        self.take(len)
    }

    pub fn string(&mut self) -> Result<String> {
        let bytes = self.bytes()?;
        String::from_utf8(bytes.to_vec()).map_err(|_| self.impossible("text"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read() {
        let mut bytes = Vec::new();
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            bytes.put_varint(value);
        }
        bytes.put_str("text");
        bytes.put_bool(true);
        let mut reader = Reader::new(&bytes, "test");
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(reader.varint().unwrap(), value);
        }
        assert_eq!(reader.string().unwrap(), "text");
        assert!(reader.bool().unwrap());
        assert!(reader.is_empty() && reader.u8().is_err());
    }

    #[test]
    fn oversized_numbers_and_counts_are_errors() {
        assert!(Reader::new(&[0xff; 11], "test").varint().is_err());
        assert!(Reader::new(&[0x7f, 1], "test").bytes().is_err());
    }
}
