//! The 19 bytes that every event starts with, and the numbers of the event types.

use crate::cursor::DecodeError;

/// The number of bytes of an event header.
pub const HEADER_LEN: usize = 19;

/// The offset of the event's type in a header.
pub const TYPE_OFFSET: usize = 4;
/// The offset of `event_size` in a header.
pub const EVENT_SIZE_OFFSET: usize = 9;
/// The offset of `log_pos` in a header.
pub const LOG_POS_OFFSET: usize = 13;
/// The offset of `flags` in a header.
pub const FLAGS_OFFSET: usize = 17;

/// The header of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The Unix seconds when the statement began.
    pub timestamp: u32,
    /// The type of the event, one of [`event_type`].
    pub event_type: u8,
    /// The id of the server that wrote the event first.
    pub server_id: u32,
    /// The number of bytes of the event, header and checksum included.
    pub event_size: u32,
    /// The offset at which the event ends in its file, 0 if it is in no file.
    pub log_pos: u32,
    /// The flags, bits of [`flag`].
    pub flags: u16,
}

impl Header {
    /// Reads the header at the start of `bytes`.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<Header, DecodeError> {
        let Some(h) = bytes.first_chunk::<HEADER_LEN>() else {
            return Err(DecodeError { offset: bytes.len(), what: "event header cut short" });
        };
        let u32_at = |at: usize| u32::from_le_bytes([h[at], h[at + 1], h[at + 2], h[at + 3]]);
        Ok(Header {
            timestamp: u32_at(0),
            event_type: h[TYPE_OFFSET],
            server_id: u32_at(5),
            event_size: u32_at(EVENT_SIZE_OFFSET),
            log_pos: u32_at(LOG_POS_OFFSET),
            flags: u16::from_le_bytes([h[FLAGS_OFFSET], h[FLAGS_OFFSET + 1]]),
        })
    }

    /// Appends the header.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bytes());
    }

    /// Returns the header as bytes.
    #[inline]
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut header = [0; HEADER_LEN];
        header[..4].copy_from_slice(&self.timestamp.to_le_bytes());
        header[TYPE_OFFSET] = self.event_type;
        header[5..EVENT_SIZE_OFFSET].copy_from_slice(&self.server_id.to_le_bytes());
        header[EVENT_SIZE_OFFSET..LOG_POS_OFFSET].copy_from_slice(&self.event_size.to_le_bytes());
        header[LOG_POS_OFFSET..FLAGS_OFFSET].copy_from_slice(&self.log_pos.to_le_bytes());
        header[FLAGS_OFFSET..].copy_from_slice(&self.flags.to_le_bytes());
        header
    }
}

/// The flags of an event header.
#[allow(missing_docs)] // The names are those of MySQL.
pub mod flag {
    /// The file is still open (only on the FORMAT_DESCRIPTION event).
    pub const BINLOG_IN_USE: u16 = 0x1;
    pub const THREAD_SPECIFIC: u16 = 0x4;
    pub const SUPPRESS_USE: u16 = 0x8;
    /// The event was made up for the replica and is not in the file.
    pub const ARTIFICIAL: u16 = 0x20;
    pub const RELAY_LOG: u16 = 0x40;
    /// A reader that does not know the type may skip the event.
    pub const IGNORABLE: u16 = 0x80;
    pub const NO_FILTER: u16 = 0x100;
    pub const MTS_ISOLATE: u16 = 0x200;
    /// Old replicas must skip the event (MariaDB).
    pub const MARIADB_SKIP_REPLICATION: u16 = 0x8000;
}

/// The numbers of the event types. The names are those of MySQL and MariaDB without `_EVENT`.
#[allow(missing_docs)]
pub mod event_type {
    pub const START_V3: u8 = 1;
    pub const QUERY: u8 = 2;
    pub const STOP: u8 = 3;
    pub const ROTATE: u8 = 4;
    pub const INTVAR: u8 = 5;
    pub const APPEND_BLOCK: u8 = 9;
    pub const DELETE_FILE: u8 = 11;
    pub const RAND: u8 = 13;
    pub const USER_VAR: u8 = 14;
    pub const FORMAT_DESCRIPTION: u8 = 15;
    pub const XID: u8 = 16;
    pub const BEGIN_LOAD_QUERY: u8 = 17;
    pub const EXECUTE_LOAD_QUERY: u8 = 18;
    pub const TABLE_MAP: u8 = 19;
    pub const WRITE_ROWS_V1: u8 = 23;
    pub const UPDATE_ROWS_V1: u8 = 24;
    pub const DELETE_ROWS_V1: u8 = 25;
    pub const INCIDENT: u8 = 26;
    pub const HEARTBEAT: u8 = 27;
    pub const IGNORABLE: u8 = 28;
    pub const ROWS_QUERY: u8 = 29;
    pub const WRITE_ROWS: u8 = 30;
    pub const UPDATE_ROWS: u8 = 31;
    pub const DELETE_ROWS: u8 = 32;
    pub const GTID: u8 = 33;
    pub const ANONYMOUS_GTID: u8 = 34;
    pub const PREVIOUS_GTIDS: u8 = 35;
    pub const TRANSACTION_CONTEXT: u8 = 36;
    pub const VIEW_CHANGE: u8 = 37;
    pub const XA_PREPARE: u8 = 38;
    pub const PARTIAL_UPDATE_ROWS: u8 = 39;
    pub const TRANSACTION_PAYLOAD: u8 = 40;
    pub const HEARTBEAT_V2: u8 = 41;
    pub const GTID_TAGGED: u8 = 42;
    pub const MARIADB_ANNOTATE_ROWS: u8 = 160;
    pub const MARIADB_BINLOG_CHECKPOINT: u8 = 161;
    pub const MARIADB_GTID: u8 = 162;
    pub const MARIADB_GTID_LIST: u8 = 163;
    pub const MARIADB_START_ENCRYPTION: u8 = 164;
    pub const MARIADB_QUERY_COMPRESSED: u8 = 165;
    pub const MARIADB_WRITE_ROWS_COMPRESSED_V1: u8 = 166;
    pub const MARIADB_UPDATE_ROWS_COMPRESSED_V1: u8 = 167;
    pub const MARIADB_DELETE_ROWS_COMPRESSED_V1: u8 = 168;
    pub const MARIADB_WRITE_ROWS_COMPRESSED: u8 = 169;
    pub const MARIADB_UPDATE_ROWS_COMPRESSED: u8 = 170;
    pub const MARIADB_DELETE_ROWS_COMPRESSED: u8 = 171;

    /// Returns the type's name as `SHOW BINLOG EVENTS` and `mysqlbinlog` write it.
    pub fn name(event_type: u8) -> &'static str {
        match event_type {
            START_V3 => "Start_v3",
            QUERY => "Query",
            STOP => "Stop",
            ROTATE => "Rotate",
            INTVAR => "Intvar",
            APPEND_BLOCK => "Append_block",
            DELETE_FILE => "Delete_file",
            RAND => "RAND",
            USER_VAR => "User var",
            FORMAT_DESCRIPTION => "Format_desc",
            XID => "Xid",
            BEGIN_LOAD_QUERY => "Begin_load_query",
            EXECUTE_LOAD_QUERY => "Execute_load_query",
            TABLE_MAP => "Table_map",
            WRITE_ROWS_V1 => "Write_rows_v1",
            UPDATE_ROWS_V1 => "Update_rows_v1",
            DELETE_ROWS_V1 => "Delete_rows_v1",
            INCIDENT => "Incident",
            HEARTBEAT => "Heartbeat",
            HEARTBEAT_V2 => "Heartbeat_v2",
            IGNORABLE => "Ignorable",
            ROWS_QUERY => "Rows_query",
            WRITE_ROWS => "Write_rows",
            UPDATE_ROWS => "Update_rows",
            DELETE_ROWS => "Delete_rows",
            GTID => "Gtid",
            ANONYMOUS_GTID => "Anonymous_Gtid",
            PREVIOUS_GTIDS => "Previous_gtids",
            TRANSACTION_CONTEXT => "Transaction_context",
            VIEW_CHANGE => "View_change",
            XA_PREPARE => "XA_prepare",
            PARTIAL_UPDATE_ROWS => "Update_rows_partial",
            TRANSACTION_PAYLOAD => "Transaction_payload",
            GTID_TAGGED => "Gtid_tagged_log_event",
            MARIADB_ANNOTATE_ROWS => "Annotate_rows",
            MARIADB_BINLOG_CHECKPOINT => "Binlog_checkpoint",
            MARIADB_GTID => "Gtid",
            MARIADB_GTID_LIST => "Gtid_list",
            MARIADB_START_ENCRYPTION => "Start_encryption",
            MARIADB_QUERY_COMPRESSED => "Query_compressed",
            MARIADB_WRITE_ROWS_COMPRESSED_V1 => "Write_rows_compressed_v1",
            MARIADB_UPDATE_ROWS_COMPRESSED_V1 => "Update_rows_compressed_v1",
            MARIADB_DELETE_ROWS_COMPRESSED_V1 => "Delete_rows_compressed_v1",
            MARIADB_WRITE_ROWS_COMPRESSED => "Write_rows_compressed",
            MARIADB_UPDATE_ROWS_COMPRESSED => "Update_rows_compressed",
            MARIADB_DELETE_ROWS_COMPRESSED => "Delete_rows_compressed",
            _ => "Unknown",
        }
    }
}
