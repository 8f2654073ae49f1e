//! MariaDB's own events.

use super::HEADER_LEN;
use crate::cursor::{Cursor, DecodeError};
use crate::gtid::MariadbGtid;
use crate::xid::Xid;

/// The flags of a MariaDB GTID event.
#[allow(missing_docs)] // The names are those of MariaDB.
pub mod mariadb_flag {
    /// The next event is the whole group (DDL), and no COMMIT follows.
    pub const STANDALONE: u8 = 1;
    pub const GROUP_COMMIT_ID: u8 = 2;
    pub const TRANSACTIONAL: u8 = 4;
    pub const ALLOW_PARALLEL: u8 = 8;
    pub const WAITED: u8 = 16;
    pub const DDL: u8 = 32;
    pub const PREPARED_XA: u8 = 64;
    pub const COMPLETED_XA: u8 = 128;
}

/// A MariaDB GTID event, which also stands for BEGIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MariadbGtidEvent {
    /// The GTID of the transaction. Its server id is that of the event header.
    pub gtid: MariadbGtid,
    /// The flags, bits of [`mariadb_flag`].
    pub flags: u8,
    /// The number that transactions have in common if they were committed together, 0 for none.
    pub commit_id: u64,
}

impl MariadbGtidEvent {
    /// Reports whether the group is one event without a COMMIT.
    pub fn is_standalone(&self) -> bool {
        self.flags & mariadb_flag::STANDALONE != 0
    }

    /// Reads from the event's bytes the XID of the XA transaction that the group prepares. The
    /// event then stands for its XA START. `None` means that the group prepares none.
    pub fn prepared_xid(event: &[u8]) -> Result<Option<Xid>, DecodeError> {
        let mut cursor = Cursor::at(event, HEADER_LEN);
        cursor.take(8 + 4)?;
        let flags = cursor.u8()?;
        if flags & mariadb_flag::PREPARED_XA == 0 {
            return Ok(None);
        }
        if flags & mariadb_flag::GROUP_COMMIT_ID != 0 {
            cursor.u64()?;
        }
        let format_id = cursor.u32()?;
        let lengths = (u32::from(cursor.u8()?), u32::from(cursor.u8()?));
        super::control::xid(&mut cursor, format_id, lengths).map(Some)
    }
}

pub(super) fn gtid(event: &[u8], server_id: u32) -> Result<MariadbGtidEvent, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let (seq, domain) = (cursor.u64()?, cursor.u32()?);
    let flags = cursor.u8()?;
    let commit_id = if flags & mariadb_flag::GROUP_COMMIT_ID != 0 { cursor.u64()? } else { 0 };
    Ok(MariadbGtidEvent { gtid: MariadbGtid { domain, server_id, seq }, flags, commit_id })
}

/// Reads MariaDB's GTID list at the start of a file: the last GTID of each domain and server before
/// the file.
pub(super) fn gtid_list(event: &[u8]) -> Result<Vec<MariadbGtid>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let count = (cursor.u32()? & 0x0fff_ffff) as usize;
    if cursor.remaining() < count.saturating_mul(16) {
        return Err(cursor.error("GTID list ends early"));
    }
    (0..count)
        .map(|_| Ok(MariadbGtid { domain: cursor.u32()?, server_id: cursor.u32()?, seq: cursor.u64()? }))
        .collect()
}

pub(super) fn checkpoint(event: &[u8]) -> Result<&[u8], DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let len = cursor.u32()?;
    cursor.take(len as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_xid_of_a_prepared_transaction_is_in_its_gtid_event() {
        // The event is that of MariaDB 10.11 for XA START X'61',X'62',7 GTID 0-9-3.
        let mut event = vec![0; HEADER_LEN];
        event.extend_from_slice(&[
            3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x4c, 7, 0, 0, 0, 1, 1, b'a', b'b', 1, 0xff,
        ]);
        let xid = MariadbGtidEvent::prepared_xid(&event).unwrap().expect("it prepares one");
        assert_eq!(xid.to_string(), "X'61',X'62',7");
        assert!(!gtid(&event, 9).unwrap().is_standalone());
        for len in HEADER_LEN..HEADER_LEN + 21 {
            assert!(MariadbGtidEvent::prepared_xid(&event[..len]).is_err(), "{len}");
        }
        event[HEADER_LEN + 12] = 0x8d;
        assert_eq!(MariadbGtidEvent::prepared_xid(&event), Ok(None));
        event[HEADER_LEN + 12] = 0x4e;
        let with_commit_id = [&event[..HEADER_LEN + 13], &[0; 8], &event[HEADER_LEN + 13..]].concat();
        assert_eq!(MariadbGtidEvent::prepared_xid(&with_commit_id), Ok(Some(xid)));
    }
}
