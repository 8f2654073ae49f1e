//! The reading of numbers and strings from the bytes of events, with every access checked.

/// The error for bytes that are no event, or not the event that they say they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The byte offset in the bytes that were to be decoded (the event, unless said otherwise).
    pub offset: usize,
    /// What is wrong at `offset`, in a few words.
    pub what: &'static str,
}

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.what, self.offset)
    }
}

impl std::error::Error for DecodeError {}

/// A position in bytes.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Makes a cursor at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }
    /// Makes a cursor at an offset, so that errors name offsets in the whole of `bytes`.
    pub fn at(bytes: &'a [u8], offset: usize) -> Cursor<'a> {
        Cursor { bytes, at: offset.min(bytes.len()) }
    }

    /// Returns the offset of the next byte.
    #[inline]
    pub fn offset(&self) -> usize {
        self.at
    }
    /// Reports whether no bytes are left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }
    /// Returns the number of bytes left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }
    /// Makes an error at this place.
    #[cold]
    pub fn error(&self, what: &'static str) -> DecodeError {
        DecodeError { offset: self.at, what }
    }

    /// Takes the next `len` bytes.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        match self.bytes[self.at..].get(..len) {
            Some(bytes) => {
                self.at += len;
                Ok(bytes)
            }
            None => Err(self.error("event ends early")),
        }
    }
    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.bytes[self.at..].first_chunk::<N>() {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.error("event ends early")),
        }
    }
    /// Takes all bytes that are left.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    /// Takes one byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(self.array::<1>()?[0])
    }
    /// Takes a number of two bytes, little endian.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(self.array()?))
    }
    /// Takes a number of four bytes, little endian.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array()?))
    }
    /// Takes a number of eight bytes, little endian.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array()?))
    }
    /// Takes a number of `width` (at most 8) bytes, little endian.
    #[inline]
    pub fn uint(&mut self, width: usize) -> Result<u64, DecodeError> {
        let mut wide = [0; 8];
        wide[..width].copy_from_slice(self.take(width)?);
        Ok(u64::from_le_bytes(wide))
    }
    /// Takes a length-encoded integer (the "packed integer" of the client protocol).
    #[inline]
    pub fn packed_int(&mut self) -> Result<u64, DecodeError> {
        match self.u8()? {
            small @ 0..=250 => Ok(u64::from(small)),
            252 => Ok(u64::from(self.u16()?)),
            253 => self.uint(3),
            254 => self.u64(),
            _ => Err(self.error("no length-encoded integer")),
        }
    }
    /// Takes bytes that follow their length-encoded length.
    pub fn packed_bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let len = self.packed_int()?;
        self.take(usize::try_from(len).unwrap_or(usize::MAX))
    }
    /// Takes the bytes up to a zero byte, and skips that.
    pub fn null_terminated(&mut self) -> Result<&'a [u8], DecodeError> {
        let len = self.bytes[self.at..].iter().position(|&byte| byte == 0);
        let bytes = self.take(len.ok_or(self.error("no zero byte at the end of a name"))?)?;
        self.at += 1;
        Ok(bytes)
    }
    /// Takes an integer in the form of MySQL's `mysql::serialization` library: the number of one
    /// bits at the low end of the first byte is the number of further bytes.
    pub fn serialized_uint(&mut self) -> Result<u64, DecodeError> {
        let first = *self.bytes.get(self.at).ok_or(self.error("event ends early"))?;
        let extra = first.trailing_ones() as usize;
        if extra == 8 {
            self.at += 1;
            return self.u64();
        }
        Ok(self.uint(1 + extra)? >> (extra + 1))
    }
    /// Takes a signed integer in the form of [`Cursor::serialized_uint`] (zigzag).
    pub fn serialized_int(&mut self) -> Result<i64, DecodeError> {
        let zigzag = self.serialized_uint()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }
}

/// Appends a length-encoded integer.
pub fn put_packed_int(value: u64, out: &mut Vec<u8>) {
    match value {
        0..=250 => out.push(value as u8),
        251..=0xffff => {
            out.push(252);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(253);
            out.extend_from_slice(&(value as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(254);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Appends an integer in the form of MySQL's `mysql::serialization` library; see
/// [`Cursor::serialized_uint`].
pub fn put_serialized_uint(value: u64, out: &mut Vec<u8>) {
    let bits = 64 - value.leading_zeros().min(63) as usize;
    let extra = (bits - 1) / 7;
    if extra >= 8 {
        out.push(0xff);
        out.extend_from_slice(&value.to_le_bytes());
        return;
    }
    let ones = (1u64 << extra) - 1;
    // With seven further bytes the first byte has no bit of the value.
    let shifted = u128::from(value) << (extra + 1) | u128::from(ones);
    out.extend_from_slice(&shifted.to_le_bytes()[..=extra]);
}

/// Appends a signed integer in the form of [`put_serialized_uint`] (zigzag).
pub fn put_serialized_int(value: i64, out: &mut Vec<u8>) {
    put_serialized_uint((value << 1 ^ value >> 63) as u64, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_round_trip() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut out = Vec::new();
                put_packed_int(value, &mut out);
                let mut cursor = Cursor::new(&out);
                assert_eq!(cursor.packed_int(), Ok(value));
                assert!(cursor.is_empty());
                out.clear();
                put_serialized_uint(value, &mut out);
                put_serialized_int(value as i64, &mut out);
                let mut cursor = Cursor::new(&out);
                assert_eq!(cursor.serialized_uint(), Ok(value));
                assert_eq!(cursor.serialized_int(), Ok(value as i64));
                assert!(cursor.is_empty());
            }
        }
        // These are zigzag numbers, and bytes of a GTID_TAGGED_LOG_EVENT that MySQL 9.7 wrote:
        // 0x94, 190, 90704.
        assert_eq!(Cursor::new(&[0x04]).serialized_int(), Ok(1));
        assert_eq!(Cursor::new(&[0x02]).serialized_int(), Ok(-1));
        for (bytes, value) in [(&[0x51, 0x02][..], 0x94), (&[0xf9, 0x02], 190), (&[0x83, 0x12, 0x0b], 90704)]
        {
            assert_eq!(Cursor::new(bytes).serialized_uint(), Ok(value));
        }
    }

    #[test]
    fn short_input_is_an_error() {
        let mut cursor = Cursor::new(&[1, 2, 3]);
        assert_eq!(cursor.u32(), Err(DecodeError { offset: 0, what: "event ends early" }));
        assert!(cursor.null_terminated().is_err());
        assert!(Cursor::new(&[252, 1]).packed_int().is_err());
        assert!(Cursor::new(&[254]).serialized_uint().is_ok());
        assert!(Cursor::new(&[0xff, 1]).serialized_uint().is_err());
        assert!(Cursor::new(&[]).serialized_uint().is_err());
    }
}
