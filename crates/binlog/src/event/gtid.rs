//! GTID, ANONYMOUS_GTID and GTID_TAGGED events, which start the transactions in a MySQL binary log.

use super::HEADER_LEN;
use crate::cursor::{Cursor, DecodeError};
use crate::gtid::{Gtid, Tag, Tsid, Uuid};

/// A GTID, ANONYMOUS_GTID or GTID_TAGGED event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GtidEvent {
    /// The transaction's GTID. It is all zero for ANONYMOUS_GTID.
    pub gtid: Gtid,
    /// Whether the transaction may have logged statements: 1 if it does not only have row events
    /// (`FLAG_MAY_HAVE_SBR`).
    pub flags: u8,
    /// LOGICAL_CLOCK: the sequence number of the last transaction that this one must wait for. It
    /// can run in parallel with those after that one. 0 means that none is known.
    pub last_committed: i64,
    /// LOGICAL_CLOCK: this transaction's number in the file. 0 means that it is not known.
    pub sequence_number: i64,
    /// The time of the commit on the server that sent the event, in Unix microseconds. 0 before
    /// MySQL 8.0.
    pub immediate_commit_us: u64,
    /// The time of the commit on the server where the transaction ran first, in Unix microseconds.
    /// 0 if it is not known.
    pub original_commit_us: u64,
    /// The number of bytes of the transaction in the binary log, this event included. 0 before
    /// MySQL 8.0.2.
    pub transaction_length: u64,
    /// The version of the server that sent the event (such as 80040), 0 if it is not known.
    pub immediate_server_version: u32,
    /// The version of the server where the transaction ran first, 999999 (`UNKNOWN_SERVER_VERSION`)
    /// if it is not known.
    pub original_server_version: u32,
    /// The group of a group commit that waits for its other transactions, 0 if there is none.
    pub commit_group_ticket: u64,
}

/// The `original_server_version` that a replica of this server gives the transactions of a MariaDB
/// source, whose GTID events name no version. By it further replicas know whose dialect a statement
/// is in.
pub const VERSION_OF_MARIADB: u32 = 101_100;

/// Reports whether an `original_server_version` is a MariaDB server's. MySQL's versions are below
/// 10.0.0.
pub fn is_version_of_mariadb(version: u32) -> bool {
    (100_000..UNKNOWN_SERVER_VERSION).contains(&version)
}

/// The value of `original_server_version` when the version is not known.
pub const UNKNOWN_SERVER_VERSION: u32 = 999_999;
/// A bit of `flags`: the transaction may have statements.
pub const FLAG_MAY_HAVE_SBR: u8 = 1;
/// The type code in front of the logical timestamps.
pub(crate) const LOGICAL_TIMESTAMP_TYPECODE: u8 = 2;

/// The GTID that an ANONYMOUS_GTID event has.
pub(crate) const NO_GTID: Gtid = Gtid { tsid: Tsid { uuid: Uuid([0; 16]), tag: Tag::NONE }, gno: 0 };

const HAS_ORIGINAL_TIMESTAMP: u64 = 1 << 55;
const HAS_ORIGINAL_VERSION: u32 = 1 << 31;

impl GtidEvent {
    /// Makes an event that has a GTID and leaves everything else unknown.
    pub fn new(gtid: Gtid) -> GtidEvent {
        GtidEvent {
            gtid,
            flags: FLAG_MAY_HAVE_SBR,
            last_committed: 0,
            sequence_number: 0,
            immediate_commit_us: 0,
            original_commit_us: 0,
            transaction_length: 0,
            immediate_server_version: 0,
            original_server_version: UNKNOWN_SERVER_VERSION,
            commit_group_ticket: 0,
        }
    }
}

/// Reads a GTID or ANONYMOUS_GTID event. Older servers' events do not have the later fields.
pub(super) fn decode(event: &[u8]) -> Result<GtidEvent, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let flags = cursor.u8()?;
    let mut uuid = [0; 16];
    uuid.copy_from_slice(cursor.take(16)?);
    let gno = cursor.u64()?;
    let mut decoded = GtidEvent { flags, ..GtidEvent::new(Gtid::new(Uuid(uuid), gno)) };
    if cursor.is_empty() || cursor.u8()? != LOGICAL_TIMESTAMP_TYPECODE {
        return Ok(decoded);
    }
    decoded.last_committed = cursor.u64()? as i64;
    decoded.sequence_number = cursor.u64()? as i64;
    if cursor.remaining() < 7 {
        return Ok(decoded);
    }
    let immediate = cursor.uint(7)?;
    decoded.immediate_commit_us = immediate & !HAS_ORIGINAL_TIMESTAMP;
    decoded.original_commit_us = decoded.immediate_commit_us;
    if immediate & HAS_ORIGINAL_TIMESTAMP != 0 {
        decoded.original_commit_us = cursor.uint(7)?;
    }
    if cursor.is_empty() {
        return Ok(decoded);
    }
    decoded.transaction_length = cursor.packed_int()?;
    if cursor.remaining() < 4 {
        return Ok(decoded);
    }
    let immediate = cursor.u32()?;
    decoded.immediate_server_version = immediate & !HAS_ORIGINAL_VERSION;
    decoded.original_server_version = decoded.immediate_server_version;
    if immediate & HAS_ORIGINAL_VERSION != 0 {
        decoded.original_server_version = cursor.u32()?;
    }
    if cursor.remaining() >= 8 {
        decoded.commit_group_ticket = cursor.u64()?;
    }
    Ok(decoded)
}

/// Checks that the event has a number that a transaction can have, as GTID and GTID_TAGGED events
/// must.
pub(super) fn numbered(event: GtidEvent) -> Result<GtidEvent, DecodeError> {
    match Gtid::in_range(event.gtid.tsid, event.gtid.gno) {
        Some(_) => Ok(event),
        None => Err(DecodeError { offset: HEADER_LEN, what: "the number of a GTID is out of range" }),
    }
}

/// The numbers of the fields of GTID_TAGGED.
pub(crate) mod tagged_field {
    pub const FLAGS: u64 = 0;
    pub const UUID: u64 = 1;
    pub const GNO: u64 = 2;
    pub const TAG: u64 = 3;
    pub const LAST_COMMITTED: u64 = 4;
    pub const SEQUENCE_NUMBER: u64 = 5;
    pub const IMMEDIATE_COMMIT_US: u64 = 6;
    /// Present when it differs from the immediate time.
    pub const ORIGINAL_COMMIT_US: u64 = 7;
    pub const TRANSACTION_LENGTH: u64 = 8;
    pub const IMMEDIATE_SERVER_VERSION: u64 = 9;
    /// Present when it differs from the immediate version.
    pub const ORIGINAL_SERVER_VERSION: u64 = 10;
    pub const COMMIT_GROUP_TICKET: u64 = 11;
}

/// Reads a GTID_TAGGED event, which has the same fields in MySQL's `mysql::serialization` format,
/// with a number in front of each.
pub(super) fn decode_tagged(event: &[u8]) -> Result<GtidEvent, DecodeError> {
    use tagged_field as field;
    let mut cursor = Cursor::at(event, HEADER_LEN);
    if cursor.serialized_uint()? != 1 {
        return Err(cursor.error("unknown serialization version of a tagged GTID event"));
    }
    cursor.serialized_uint()?; // The size of the message.
    cursor.serialized_uint()?; // The last field that a reader must know.
    let mut decoded = GtidEvent { flags: 0, ..GtidEvent::new(NO_GTID) };
    let mut original_seen = (false, false);
    while !cursor.is_empty() {
        match cursor.serialized_uint()? {
            field::FLAGS => decoded.flags = cursor.serialized_uint()? as u8,
            field::UUID => {
                for byte in &mut decoded.gtid.tsid.uuid.0 {
                    *byte = cursor.serialized_uint()? as u8;
                }
            }
            field::GNO => decoded.gtid.gno = cursor.serialized_int()? as u64,
            field::TAG => {
                let len = usize::try_from(cursor.serialized_uint()?).unwrap_or(usize::MAX);
                let tag = Tag::new(cursor.take(len)?);
                decoded.gtid.tsid.tag = tag.ok_or(cursor.error("malformed tag of a GTID"))?;
            }
            field::LAST_COMMITTED => decoded.last_committed = cursor.serialized_int()?,
            field::SEQUENCE_NUMBER => decoded.sequence_number = cursor.serialized_int()?,
            field::IMMEDIATE_COMMIT_US => decoded.immediate_commit_us = cursor.serialized_uint()?,
            field::ORIGINAL_COMMIT_US => {
                decoded.original_commit_us = cursor.serialized_uint()?;
                original_seen.0 = true;
            }
            field::TRANSACTION_LENGTH => decoded.transaction_length = cursor.serialized_uint()?,
            field::IMMEDIATE_SERVER_VERSION => {
                decoded.immediate_server_version = cursor.serialized_uint()? as u32;
            }
            field::ORIGINAL_SERVER_VERSION => {
                decoded.original_server_version = cursor.serialized_uint()? as u32;
                original_seen.1 = true;
            }
            field::COMMIT_GROUP_TICKET => decoded.commit_group_ticket = cursor.serialized_uint()?,
            _ => break, // Fields of later versions may be ignored.
        }
    }
    if !original_seen.0 {
        decoded.original_commit_us = decoded.immediate_commit_us;
    }
    if !original_seen.1 {
        decoded.original_server_version = decoded.immediate_server_version;
    }
    Ok(decoded)
}
