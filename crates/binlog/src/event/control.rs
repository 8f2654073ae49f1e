//! Events about the log itself, and small events around statements: ROTATE, HEARTBEAT, INTVAR,
//! RAND, USER_VAR, ROWS_QUERY, INCIDENT, TRANSACTION_PAYLOAD, XA_PREPARE.

use super::{HEADER_LEN, Header};
use crate::cursor::{Cursor, DecodeError};
use crate::xid::Xid;

/// A ROTATE event: it says where the log continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotateEvent<'a> {
    /// The offset of the next event in the file.
    pub position: u64,
    /// The name of the file, without a directory.
    pub file: &'a [u8],
}

/// A HEARTBEAT event: the source is alive, and this is its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatEvent<'a> {
    /// The name of the source's binary log file.
    pub file: &'a [u8],
    /// The position in it.
    pub position: u64,
}

/// An INTVAR event: a number that the next statement uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntvarEvent {
    /// 1 = LAST_INSERT_ID, 2 = INSERT_ID (the next auto-increment value).
    pub kind: u8,
    /// The number.
    pub value: u64,
}

/// A USER_VAR event: a user variable that the next statement uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserVarEvent<'a> {
    /// The name of the variable, without the @.
    pub name: &'a [u8],
    /// The value of the variable. `None` for NULL.
    pub value: Option<UserVarValue<'a>>,
}

/// The value of a user variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserVarValue<'a> {
    /// The kind of the value: 0 string, 1 real, 2 integer, 4 decimal (`Item_result`).
    pub kind: u8,
    /// The id of the collation.
    pub collation: u32,
    /// The characters, the 8 bytes of a number, or precision, scale and a binary decimal.
    pub bytes: &'a [u8],
    /// Whether an integer is unsigned.
    pub unsigned: bool,
}

/// An INCIDENT event: something is missing from the log here, and a replica stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncidentEvent<'a> {
    /// The number of the incident: 1 = LOST_EVENTS.
    pub number: u16,
    /// The text that describes the incident.
    pub message: &'a [u8],
}

/// A TRANSACTION_PAYLOAD event: the events of a transaction, perhaps compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionPayload<'a> {
    /// The compression: 0 = zstd, 255 = none.
    pub compression: u64,
    /// The number of bytes of the decompressed events.
    pub uncompressed_len: u64,
    /// The events, which are compressed as `compression` says: whole events without checksums, one
    /// after the other.
    pub payload: &'a [u8],
}

/// An XA_PREPARE event, which ends an XA transaction's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XaPrepareEvent {
    /// Whether the transaction is committed, not only prepared (`XA COMMIT ... ONE PHASE`).
    pub one_phase: bool,
    /// The XID of the transaction.
    pub xid: Xid,
}

/// The value of `compression` for a payload that is not compressed.
pub const COMPRESSION_NONE: u64 = 255;
/// The value of `compression` for a zstd payload.
pub const COMPRESSION_ZSTD: u64 = 0;

pub(super) fn rotate(event: &[u8]) -> Result<RotateEvent<'_>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    Ok(RotateEvent { position: cursor.u64()?, file: cursor.rest() })
}

pub(super) fn heartbeat<'a>(header: &Header, event: &'a [u8]) -> HeartbeatEvent<'a> {
    HeartbeatEvent { file: Cursor::at(event, HEADER_LEN).rest(), position: u64::from(header.log_pos) }
}

/// Reads a HEARTBEAT_V2 event. It has fields of number, length and value: 1 is the file, 2 the
/// position (a length-encoded integer), 0 the end.
pub(super) fn heartbeat_v2(event: &[u8]) -> Result<HeartbeatEvent<'_>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let mut heartbeat = HeartbeatEvent { file: b"", position: 0 };
    while !cursor.is_empty() {
        match cursor.packed_int()? {
            0 => break,
            1 => heartbeat.file = cursor.packed_bytes()?,
            2 => heartbeat.position = Cursor::new(cursor.packed_bytes()?).packed_int()?,
            _ => drop(cursor.packed_bytes()?),
        }
    }
    Ok(heartbeat)
}

pub(super) fn intvar(event: &[u8]) -> Result<IntvarEvent, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    Ok(IntvarEvent { kind: cursor.u8()?, value: cursor.u64()? })
}

pub(super) fn rand(event: &[u8]) -> Result<(u64, u64), DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    Ok((cursor.u64()?, cursor.u64()?))
}

pub(super) fn user_var(event: &[u8]) -> Result<UserVarEvent<'_>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let len = cursor.u32()?;
    let name = cursor.take(len as usize)?;
    if cursor.u8()? != 0 {
        return Ok(UserVarEvent { name, value: None });
    }
    let (kind, collation, len) = (cursor.u8()?, cursor.u32()?, cursor.u32()?);
    let bytes = cursor.take(len as usize)?;
    let unsigned = !cursor.is_empty() && cursor.u8()? & 1 == 1;
    Ok(UserVarEvent { name, value: Some(UserVarValue { kind, collation, bytes, unsigned }) })
}

/// Returns the statement of a ROWS_QUERY event, which follows a byte that is not used.
pub(super) fn rows_query(event: &[u8]) -> Result<&[u8], DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    cursor.u8()?;
    Ok(cursor.rest())
}

pub(super) fn incident(event: &[u8]) -> Result<IncidentEvent<'_>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let number = cursor.u16()?;
    let len = cursor.u8()?;
    Ok(IncidentEvent { number, message: cursor.take(usize::from(len))? })
}

pub(super) fn transaction_payload(event: &[u8]) -> Result<TransactionPayload<'_>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let (mut compression, mut uncompressed_len, mut payload_len) = (COMPRESSION_NONE, None, None);
    loop {
        let field = cursor.packed_int()?;
        if field == 0 {
            break;
        }
        let mut value = Cursor::new(cursor.packed_bytes()?);
        match field {
            1 => payload_len = Some(value.packed_int()?),
            2 => compression = value.packed_int()?,
            3 => uncompressed_len = Some(value.packed_int()?),
            _ => {}
        }
    }
    let payload = match payload_len {
        Some(len) => cursor.take(usize::try_from(len).unwrap_or(usize::MAX))?,
        None => cursor.rest(),
    };
    let uncompressed_len = uncompressed_len.unwrap_or(payload.len() as u64);
    Ok(TransactionPayload { compression, uncompressed_len, payload })
}

/// Reads an XA_PREPARE event: one phase, format id, the lengths of the first and the second part,
/// both parts.
pub(super) fn xa_prepare(event: &[u8]) -> Result<XaPrepareEvent, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let (one_phase, format_id) = (cursor.u8()? != 0, cursor.u32()?);
    let (gtrid_len, bqual_len) = (cursor.u32()?, cursor.u32()?);
    let xid = xid(&mut cursor, format_id, (gtrid_len, bqual_len))?;
    Ok(XaPrepareEvent { one_phase, xid })
}

/// Reads the two parts of an XID.
pub(super) fn xid(
    cursor: &mut Cursor<'_>,
    format_id: u32,
    (gtrid_len, bqual_len): (u32, u32),
) -> Result<Xid, DecodeError> {
    let at = cursor.clone();
    let (gtrid, bqual) = (cursor.take(gtrid_len as usize)?, cursor.take(bqual_len as usize)?);
    // The event has the low half of the format id, as a signed number.
    Xid::new(gtrid, bqual, i64::from(format_id as i32)).ok_or_else(|| at.error("XID too long"))
}
