//! The identifiers (XIDs) of XA transaction branches.

use std::fmt;
use std::str::FromStr;

/// The most bytes of a global transaction id, and of a branch qualifier.
pub const MAX_XID_PART_BYTES: usize = 64;

/// The identifier of an XA transaction branch: a global transaction id, a branch qualifier, and the
/// id of their format.
///
/// Its text is that of MySQL's binary log: `X'6774',X'6271',1`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Xid {
    format_id: i64,
    gtrid_len: u8,
    bqual_len: u8,
    /// The global transaction id, then the branch qualifier. The bytes behind them are zero.
    data: [u8; 2 * MAX_XID_PART_BYTES],
}

impl Xid {
    /// Makes an XID. `None` means that one of the parts is too long.
    pub fn new(gtrid: &[u8], bqual: &[u8], format_id: i64) -> Option<Xid> {
        if gtrid.len() > MAX_XID_PART_BYTES || bqual.len() > MAX_XID_PART_BYTES {
            return None;
        }
        let mut data = [0; 2 * MAX_XID_PART_BYTES];
        data[..gtrid.len()].copy_from_slice(gtrid);
        data[gtrid.len()..][..bqual.len()].copy_from_slice(bqual);
        Some(Xid { format_id, gtrid_len: gtrid.len() as u8, bqual_len: bqual.len() as u8, data })
    }

    /// Returns the id of the format of the other parts. It is 1 by default.
    pub fn format_id(&self) -> i64 {
        self.format_id
    }

    /// Returns the global transaction id.
    pub fn gtrid(&self) -> &[u8] {
        &self.data[..usize::from(self.gtrid_len)]
    }

    /// Returns the branch qualifier.
    pub fn bqual(&self) -> &[u8] {
        &self.data[usize::from(self.gtrid_len)..][..usize::from(self.bqual_len)]
    }

    /// Returns the bytes of both parts, one after the other.
    pub fn data(&self) -> &[u8] {
        &self.data[..usize::from(self.gtrid_len) + usize::from(self.bqual_len)]
    }
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("X'")?;
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
    f.write_str("'")
}

impl fmt::Display for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, self.gtrid())?;
        f.write_str(",")?;
        write_hex(f, self.bqual())?;
        write!(f, ",{}", self.format_id)
    }
}

impl fmt::Debug for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error for a text that is not that of an [`Xid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedXid;

/// Reads the bytes of `X'...'`.
fn read_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(['X', 'x'])?.strip_prefix('\'')?.strip_suffix('\'')?;
    if digits.len() % 2 != 0 || !digits.is_ascii() {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect()
}

impl FromStr for Xid {
    type Err = MalformedXid;

    fn from_str(text: &str) -> Result<Xid, MalformedXid> {
        let mut parts = text.split(',').map(str::trim);
        let mut read = || {
            let (gtrid, bqual) = (read_hex(parts.next()?)?, read_hex(parts.next()?)?);
            let format_id = parts.next()?.parse().ok()?;
            parts.next().is_none().then(|| Xid::new(&gtrid, &bqual, format_id))?
        };
        read().ok_or(MalformedXid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_mysqls_and_is_read_back() {
        for (gtrid, bqual, format_id, text) in [
            (&b"a"[..], &b""[..], 1, "X'61',X'',1"),
            (b"\x00\xff", b"b", 3, "X'00ff',X'62',3"),
            (b"", b"", 2_147_483_647, "X'',X'',2147483647"),
        ] {
            let xid = Xid::new(gtrid, bqual, format_id).expect("short enough");
            assert_eq!(xid.to_string(), text);
            assert_eq!(text.parse(), Ok(xid));
            assert_eq!((xid.gtrid(), xid.bqual(), xid.format_id()), (gtrid, bqual, format_id));
        }
        for wrong in ["", "X'61'", "X'61',X''", "X'6',X'',1", "X'61',X'',1,", "X'6\u{e9}',X'',1", "'a','',1"]
        {
            assert_eq!(wrong.parse::<Xid>(), Err(MalformedXid), "{wrong}");
        }
    }

    #[test]
    fn parts_have_64_bytes_at_most() {
        assert!(Xid::new(&[7; 64], &[8; 64], 1).is_some());
        assert!(Xid::new(&[7; 65], &[], 1).is_none() && Xid::new(&[], &[8; 65], 1).is_none());
        // The place where one part ends and the other begins matters.
        assert_ne!(Xid::new(b"ab", b"", 1), Xid::new(b"a", b"b", 1));
    }
}
