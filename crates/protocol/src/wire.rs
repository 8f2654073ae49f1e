//! The basic data types of the protocol: little-endian integers, length-encoded integers and
//! strings.

use std::fmt;

/// The error for a packet that does not have the form that its place in the protocol demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// The part of the packet that was being read.
    pub what: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Malformed communication packet ({})", self.what)
    }
}

impl std::error::Error for Malformed {}

/// Reads a packet's payload from front to back, and checks the bounds of every read.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Makes a reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes }
    }

    /// Returns the number of bytes that are left.
    pub fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Takes all bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }

    /// Returns the next byte without taking it.
    pub fn peek(&self) -> Option<u8> {
        self.bytes.first().copied()
    }

    /// Takes the next `len` bytes. `what` names them in the error.
    pub fn take(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        if len > self.bytes.len() {
            return Err(Malformed { what });
        }
        let (head, tail) = self.bytes.split_at(len);
        self.bytes = tail;
        Ok(head)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Malformed> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N, what)?);
        Ok(out)
    }

    /// Takes one byte.
    pub fn u8(&mut self, what: &'static str) -> Result<u8, Malformed> {
        Ok(self.array::<1>(what)?[0])
    }

    /// Takes a number of two bytes, little endian.
    pub fn u16(&mut self, what: &'static str) -> Result<u16, Malformed> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    /// Takes a number of three bytes, little endian.
    pub fn u24(&mut self, what: &'static str) -> Result<u32, Malformed> {
        let [a, b, c] = self.array(what)?;
        Ok(u32::from_le_bytes([a, b, c, 0]))
    }

    /// Takes a number of four bytes, little endian.
    pub fn u32(&mut self, what: &'static str) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// Takes a number of eight bytes, little endian.
    pub fn u64(&mut self, what: &'static str) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// Takes a length-encoded integer. The NULL marker 0xFB and 0xFF are malformed here.
    pub fn lenenc_int(&mut self, what: &'static str) -> Result<u64, Malformed> {
        match self.u8(what)? {
            first @ 0..=0xfa => Ok(u64::from(first)),
            0xfc => Ok(u64::from(self.u16(what)?)),
            0xfd => Ok(u64::from(self.u24(what)?)),
            0xfe => self.u64(what),
            _ => Err(Malformed { what }),
        }
    }

    /// Takes a length-encoded string.
    pub fn lenenc_bytes(&mut self, what: &'static str) -> Result<&'a [u8], Malformed> {
        let len = self.lenenc_int(what)?;
        let len = usize::try_from(len).map_err(|_| Malformed { what })?;
        self.take(len, what)
    }

    /// Takes a length-encoded string, or returns `None` for the NULL marker 0xFB (as a text row's
    /// cell may be).
    pub fn nullable_bytes(&mut self, what: &'static str) -> Result<Option<&'a [u8]>, Malformed> {
        if self.peek() == Some(0xfb) {
            self.bytes = &self.bytes[1..];
            return Ok(None);
        }
        self.lenenc_bytes(what).map(Some)
    }

    /// Takes a string that ends with a NUL byte, and returns it without the NUL.
    pub fn nul_bytes(&mut self, what: &'static str) -> Result<&'a [u8], Malformed> {
        let len = self.bytes.iter().position(|&b| b == 0).ok_or(Malformed { what })?;
        let out = &self.bytes[..len];
        self.bytes = &self.bytes[len + 1..];
        Ok(out)
    }

    /// Takes a string that ends with a NUL byte or with the packet.
    pub fn nul_or_rest(&mut self) -> &'a [u8] {
        match self.bytes.iter().position(|&b| b == 0) {
            Some(len) => {
                let out = &self.bytes[..len];
                self.bytes = &self.bytes[len + 1..];
                out
            }
            None => self.rest(),
        }
    }
}

/// Appends a length-encoded integer.
#[inline]
pub fn put_lenenc_int(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0xfa => out.push(value as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&(value as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Appends a length-encoded string.
pub fn put_lenenc_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_lenenc_int(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a string with a NUL at its end. A NUL inside the string ends it early, as it would for
/// the reader.
pub fn put_nul_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let len = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    out.extend_from_slice(&bytes[..len]);
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenenc_int_survives_the_round_trip_at_every_width() {
        for value in [0, 1, 250, 251, 252, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, u64::MAX] {
            let mut out = Vec::new();
            put_lenenc_int(&mut out, value);
            let mut reader = Reader::new(&out);
            assert_eq!(reader.lenenc_int("t"), Ok(value));
            assert_eq!(reader.remaining(), 0);
        }
    }

    #[test]
    fn truncated_input_is_an_error_at_every_cut() {
        let mut out = Vec::new();
        put_lenenc_bytes(&mut out, &[7; 300]);
        for cut in 0..out.len() {
            assert!(Reader::new(&out[..cut]).lenenc_bytes("t").is_err());
        }
        assert!(
            Reader::new(&[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).lenenc_bytes("t").is_err()
        );
        assert!(Reader::new(b"no end").nul_bytes("t").is_err());
    }

    #[test]
    fn null_cell_is_told_from_an_empty_one() {
        let mut reader = Reader::new(&[0xfb, 0x00]);
        assert_eq!(reader.nullable_bytes("t"), Ok(None));
        assert_eq!(reader.nullable_bytes("t"), Ok(Some(&b""[..])));
    }
}
