//! The few bytes of an event that the receiver and the applier look at for every event, read in place.

pub use source::events::{
    CHECKSUM_BYTES, FLAG_ARTIFICIAL, FLAG_RELAY_LOG, HEADER_BYTES, MAGIC, append_format_description,
    fake_rotate, format_has_checksums, kind, size, timestamp,
};

/// FL_STANDALONE of MariaDB's GTID event: no COMMIT follows.
pub const MARIADB_FL_STANDALONE: u8 = 1;

macro_rules! kinds {
    ($($name:ident = $code:literal;)*) => { $(#[allow(missing_docs, reason = "MySQL's and MariaDB's names of event types")] pub const $name: u8 = $code;)* };
}
kinds! {
    QUERY = 2; STOP = 3; ROTATE = 4; INTVAR = 5; RAND = 13; USER_VAR = 14; FORMAT_DESCRIPTION = 15; XID = 16; TABLE_MAP = 19;
    WRITE_ROWS_V1 = 23; UPDATE_ROWS_V1 = 24; DELETE_ROWS_V1 = 25; INCIDENT = 26; HEARTBEAT = 27; IGNORABLE = 28; ROWS_QUERY = 29;
    WRITE_ROWS = 30; UPDATE_ROWS = 31; DELETE_ROWS = 32; GTID = 33; ANONYMOUS_GTID = 34; PREVIOUS_GTIDS = 35;
    TRANSACTION_CONTEXT = 36; VIEW_CHANGE = 37; XA_PREPARE = 38; PARTIAL_UPDATE_ROWS = 39; TRANSACTION_PAYLOAD = 40;
    HEARTBEAT_V2 = 41; GTID_TAGGED = 42;
    MARIADB_ANNOTATE_ROWS = 160; MARIADB_BINLOG_CHECKPOINT = 161; MARIADB_GTID = 162; MARIADB_GTID_LIST = 163;
    MARIADB_START_ENCRYPTION = 164; MARIADB_QUERY_COMPRESSED = 165;
}

/// Server that it comes from.
pub fn server_id(event: &[u8]) -> u32 {
    u32_at(event, 5)
}

/// End position in the source's file; 0 for artificial events.
pub fn log_pos(event: &[u8]) -> u32 {
    u32_at(event, 13)
}

/// LOG_EVENT_*_F.
pub fn flags(event: &[u8]) -> u16 {
    u16::from_le_bytes([event[17], event[18]])
}

fn u32_at(event: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(event[at..at + 4].try_into().expect("four bytes"))
}

/// Schema and text of a query event without its checksum; `None` when it is damaged.
pub fn query_parts(event: &[u8]) -> Option<QueryParts<'_>> {
    let body = &event[HEADER_BYTES..];
    let schema_bytes = usize::from(*body.get(8)?);
    let status_bytes = usize::from(u16::from_le_bytes(body.get(11..13)?.try_into().ok()?));
    let schema_at = 13 + status_bytes;
    let text_at = schema_at + schema_bytes + 1;
    Some(QueryParts {
        error_code: u16::from_le_bytes(body.get(9..11)?.try_into().ok()?),
        status: body.get(13..schema_at)?,
        schema: body.get(schema_at..text_at - 1)?,
        text: body.get(text_at..)?,
    })
}

/// A query event, taken apart.
#[derive(Debug, Clone, Copy)]
pub struct QueryParts<'a> {
    /// Error that the statement ended with on the source.
    pub error_code: u16,
    /// Status variables.
    pub status: &'a [u8],
    /// Current schema.
    pub schema: &'a [u8],
    /// The statement.
    pub text: &'a [u8],
}

/// Position and file that a rotate event without its checksum points at.
pub fn rotate_target(event: &[u8]) -> Option<(u64, &[u8])> {
    let (pos, file) = event[HEADER_BYTES..].split_at_checked(8)?;
    Some((u64::from_le_bytes(pos.try_into().ok()?), file))
}

/// File and position that a heartbeat event (of either version) without its checksum carries.
pub fn heartbeat_position(event: &[u8]) -> Option<(&[u8], u64)> {
    let body = &event[HEADER_BYTES..];
    if kind(event) == HEARTBEAT {
        return Some((body, log_pos(event).into()));
    }
    // Version 2 is a list of (type, length, value): 1 is the file's name, 2 the position, both lengths one byte here.
    let (mut at, mut file, mut pos) = (0, None, None);
    while let (Some(&kind), Some(&length)) = (body.get(at), body.get(at + 1)) {
        let value = body.get(at + 2..at + 2 + usize::from(length))?;
        match kind {
            0 => break,
            1 => file = Some(value),
            2 => pos = Some(packed_integer(value)?),
            _ => {}
        }
        at += 2 + usize::from(length);
    }
    Some((file?, pos?))
}

/// A length-encoded integer.
fn packed_integer(bytes: &[u8]) -> Option<u64> {
    let width = match bytes.first()? {
        0xFC => 2,
        0xFD => 3,
        0xFE => 8,
        &small => return Some(small.into()),
    };
    let mut value = [0; 8];
    value[..width].copy_from_slice(bytes.get(1..1 + width)?);
    Some(u64::from_le_bytes(value))
}

/// The 32 bits that an event says of its end, made whole by what is known of the position before it.
pub fn unwrap_pos(before: u64, end: u64) -> u64 {
    let high = before & !0xFFFF_FFFF;
    let whole = high | end;
    if whole < before { whole + (1 << 32) } else { whole }
}

/// Types that stand between groups.
pub fn is_outside_groups(kind: u8) -> bool {
    matches!(
        kind,
        STOP | ROTATE
            | FORMAT_DESCRIPTION
            | HEARTBEAT
            | HEARTBEAT_V2
            | PREVIOUS_GTIDS
            | INCIDENT
            | VIEW_CHANGE
            | MARIADB_BINLOG_CHECKPOINT
            | MARIADB_GTID_LIST
            | MARIADB_START_ENCRYPTION
    )
}

/// The checksum behind the event is its own.
pub fn checksum_is_right(event: &[u8]) -> bool {
    let Some(split) = event.len().checked_sub(CHECKSUM_BYTES).filter(|&at| at >= HEADER_BYTES) else {
        return false;
    };
    let written = u32_at(event, split);
    crc32fast::hash(&event[..split]) == written
}

/// FLAGS2 of MariaDB's GTID event; 0 when the event is too short to have any.
pub fn mariadb_gtid_flags(event: &[u8]) -> u8 {
    event.get(HEADER_BYTES + 12).copied().unwrap_or(0)
}

/// What a query event's text is to the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryText {
    /// BEGIN (also XA START, which opens a group the same way).
    Begin,
    /// COMMIT (also XA COMMIT, a group of its own).
    Commit,
    /// ROLLBACK, but not to a savepoint.
    Rollback,
    /// Anything else.
    Other,
}

/// Looks at the text of a query event without its checksum.
pub fn query_text(event: &[u8]) -> QueryText {
    let body = &event[HEADER_BYTES..];
    if kind(event) != QUERY || body.len() < 13 {
        return QueryText::Other;
    }
    let status_bytes = usize::from(u16::from_le_bytes([body[11], body[12]]));
    let text_at = 13 + status_bytes + usize::from(body[8]) + 1;
    match body.get(text_at..) {
        Some(b"BEGIN") => QueryText::Begin,
        Some(b"COMMIT") => QueryText::Commit,
        Some(b"ROLLBACK") => QueryText::Rollback,
        Some(text) if text.starts_with(b"XA START") => QueryText::Begin,
        _ => QueryText::Other,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An event with this body and nothing in its header but type and size.
    pub(crate) fn bare(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut event = vec![0; HEADER_BYTES];
        event[4] = kind;
        event[9..13].copy_from_slice(&((HEADER_BYTES + body.len()) as u32).to_le_bytes());
        event.extend_from_slice(body);
        event
    }

    /// A query event in schema `s` with two bytes of status variables.
    pub(crate) fn query(text: &str) -> Vec<u8> {
        let mut body = vec![0; 13];
        body[8] = 1;
        body[11] = 2;
        body.extend_from_slice(&[0, 0]);
        body.extend_from_slice(b"s\0");
        body.extend_from_slice(text.as_bytes());
        bare(QUERY, &body)
    }

    #[test]
    fn positions_beyond_4_gb_are_made_whole() {
        assert_eq!(unwrap_pos(4, 1000), 1000);
        assert_eq!(unwrap_pos(0xFFFF_FF00, 0x10), 0x1_0000_0010);
        assert_eq!(unwrap_pos(0x1_0000_0010, 0x20), 0x1_0000_0020);
    }

    #[test]
    fn cut_events_are_no_query() {
        let event = query("DROP TABLE t");
        let parts = query_parts(&event).expect("is whole");
        assert_eq!((parts.schema, parts.text), (&b"s"[..], &b"DROP TABLE t"[..]));
        for cut in HEADER_BYTES..event.len() - "DROP TABLE t".len() {
            assert!(query_parts(&event[..cut]).is_none(), "cut at {cut}");
        }
    }

    #[test]
    fn checksums_tell_a_flipped_bit() {
        let mut event = query("BEGIN");
        let sum = crc32fast::hash(&event);
        event.extend_from_slice(&sum.to_le_bytes());
        assert!(checksum_is_right(&event));
        event[25] ^= 4;
        assert!(!checksum_is_right(&event));
        assert!(!checksum_is_right(&event[..10]));
    }
}
