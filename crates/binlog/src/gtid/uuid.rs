//! The UUID of a server (`server_uuid`).

use super::error::GtidError;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A server's UUID: 16 bytes in the order in which they are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Uuid(pub [u8; 16]);

impl Ord for Uuid {
    /// Compares two UUIDs by their bytes, as numbers of 16 bytes: a set of GTIDs is searched for
    /// each transaction.
    #[inline]
    fn cmp(&self, other: &Uuid) -> Ordering {
        u128::from_be_bytes(self.0).cmp(&u128::from_be_bytes(other.0))
    }
}

impl PartialOrd for Uuid {
    #[inline]
    fn partial_cmp(&self, other: &Uuid) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The places of the dashes in the text form, as the number of bytes printed before each.
const DASHES_AFTER: [usize; 4] = [4, 6, 8, 10];

impl Uuid {
    /// Makes a version-4 UUID of 16 random bytes.
    pub fn from_random(mut bytes: [u8; 16]) -> Uuid {
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        Uuid(bytes)
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if DASHES_AFTER.contains(&at) {
                out.write_str("-")?;
            }
            write!(out, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl FromStr for Uuid {
    type Err = GtidError;

    /// Reads the forms that MySQL accepts: with dashes, without, and in braces with dashes.
    fn from_str(text: &str) -> Result<Uuid, GtidError> {
        let bad = || GtidError::Malformed(text.to_string());
        let bare = match text.strip_prefix('{') {
            Some(rest) => rest.strip_suffix('}').ok_or_else(bad)?,
            None => text,
        };
        let dashes_at = [8, 13, 18, 23];
        let dashed = bare.len() == 36 && dashes_at.iter().all(|&at| bare.as_bytes()[at] == b'-');
        if !dashed && bare.len() != 32 {
            return Err(bad());
        }
        let mut digits = bare.bytes().enumerate().filter(|(at, _)| !(dashed && dashes_at.contains(at)));
        let mut uuid = [0; 16];
        for byte in &mut uuid {
            for _ in 0..2 {
                let (_, digit) = digits.next().ok_or_else(bad)?;
                *byte = *byte << 4 | (digit as char).to_digit(16).ok_or_else(bad)? as u8;
            }
        }
        Ok(Uuid(uuid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_text_gives_the_same_uuid() {
        let text = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
        let uuid: Uuid = text.parse().expect("is a UUID");
        assert_eq!(uuid.to_string(), text);
        assert_eq!("3E11FA4771CA11E19E33C80AA9429562".parse(), Ok(uuid));
        assert_eq!("{3e11fa47-71ca-11e1-9e33-c80aa9429562}".parse(), Ok(uuid));
    }

    #[test]
    fn other_text_is_refused() {
        for text in
            ["", "3e11fa47", "3e11fa47-71ca-11e1-9e33-c80aa942956g", "{3e11fa47-71ca-11e1-9e33-c80aa9429562"]
        {
            assert!(text.parse::<Uuid>().is_err(), "{text}");
        }
        assert!("3e11fa47071ca-11e1-9e33-c80aa9429562".parse::<Uuid>().is_err(), "a digit stands for a dash");
        assert!("\u{e9}e11fa4771ca11e19e33c80aa942956".parse::<Uuid>().is_err(), "not ASCII");
    }
}
