//! Events, and how the bytes of one event are decoded.

mod control;
mod format_description;
mod gtid;
mod header;
mod load;
mod mariadb;
mod partial_rows;
mod query;
mod rows;
mod table_map;

use crate::cursor::DecodeError;
use crate::gtid::{GtidError, GtidSet, MariadbGtid};
pub use control::{
    COMPRESSION_NONE, COMPRESSION_ZSTD, HeartbeatEvent, IncidentEvent, IntvarEvent, RotateEvent,
    TransactionPayload, UserVarEvent, UserVarValue, XaPrepareEvent,
};
pub(crate) use format_description::SERVER_VERSION_LEN;
pub use format_description::{Format, FormatDescription, MARIADB_POST_HEADER_LENS, POST_HEADER_LENS};
pub use gtid::{
    FLAG_MAY_HAVE_SBR, GtidEvent, UNKNOWN_SERVER_VERSION, VERSION_OF_MARIADB, is_version_of_mariadb,
};
pub(crate) use gtid::{LOGICAL_TIMESTAMP_TYPECODE, NO_GTID, tagged_field};
pub use header::{
    EVENT_SIZE_OFFSET, FLAGS_OFFSET, HEADER_LEN, Header, LOG_POS_OFFSET, TYPE_OFFSET, event_type, flag,
};
pub use load::{ExecuteLoadQuery, LoadBlock};
pub use mariadb::{MariadbGtidEvent, mariadb_flag};
pub use partial_rows::{PartialAfter, PartialUpdate, PartialUpdateEvent};
pub use query::{QueryEvent, QueryStatus, flags2, is_edge_of_group, status_var};
pub use rows::{RowChange, RowsEvent, RowsIter, RowsKind, decode as decode_rows, rows_flag, rows_kind};
pub use table_map::{DUMMY_TABLE_ID, OptionalMetadata, TableMap, optional_field};
pub(crate) use table_map::{has_charset, is_numeric};

/// An event, which borrows from the bytes that it was decoded from.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// The first event of a file, which says how to read the others.
    FormatDescription(FormatDescription<'a>),
    /// The start of a transaction that has a GTID.
    Gtid(GtidEvent),
    /// The start of a transaction without a GTID.
    AnonymousGtid(GtidEvent),
    /// The GTIDs of all files before this one, encoded; see [`Event::previous_gtids`].
    PreviousGtids(&'a [u8]),
    /// A statement.
    Query(QueryEvent<'a>),
    /// The table of the following row events.
    TableMap(TableMap<'a>),
    /// Changes of rows.
    Rows(RowsEvent<'a>),
    /// Updated rows, whose JSON documents may be given by their differences.
    PartialUpdate(PartialUpdateEvent<'a>),
    /// The COMMIT of a transaction in InnoDB, with its number.
    Xid(u64),
    /// The end of an XA transaction that is prepared, or committed in one phase.
    XaPrepare(XaPrepareEvent),
    /// The log continues in another file.
    Rotate(RotateEvent<'a>),
    /// The server was shut down.
    Stop,
    /// The source is alive.
    Heartbeat(HeartbeatEvent<'a>),
    /// The LAST_INSERT_ID or INSERT_ID of the next statement.
    Intvar(IntvarEvent),
    /// The seeds of RAND() in the next statement.
    Rand(u64, u64),
    /// A user variable that the next statement uses.
    UserVar(UserVarEvent<'a>),
    /// The first block of a file that the transaction loads.
    BeginLoad(LoadBlock<'a>),
    /// A further block of a file that the transaction loads.
    AppendBlock(LoadBlock<'a>),
    /// The file with this number is not loaded.
    DeleteFile(u32),
    /// The LOAD DATA statement of the file.
    ExecuteLoad(Box<ExecuteLoadQuery<'a>>),
    /// The statement that the following row events come from.
    RowsQuery(&'a [u8]),
    /// The events of a transaction in one event, perhaps compressed.
    TransactionPayload(TransactionPayload<'a>),
    /// Something is missing from the log.
    Incident(IncidentEvent<'a>),
    /// The start of a transaction in a MariaDB log.
    MariadbGtid(MariadbGtidEvent),
    /// The last GTIDs before this MariaDB file.
    MariadbGtidList(Vec<MariadbGtid>),
    /// The statement that the following row events come from.
    MariadbAnnotate(&'a [u8]),
    /// The name of the oldest file that MariaDB's recovery needs.
    MariadbCheckpoint(&'a [u8]),
    /// The rest of this MariaDB file is encrypted.
    MariadbStartEncryption,
    /// The body of an event whose type is not decoded.
    Unknown(&'a [u8]),
}

impl Event<'_> {
    /// Returns the set of a PREVIOUS_GTIDS event. `None` for other events.
    pub fn previous_gtids(&self) -> Option<Result<GtidSet, GtidError>> {
        match self {
            Event::PreviousGtids(encoded) => Some(GtidSet::decode(encoded)),
            _ => None,
        }
    }
}

/// Decodes an event. `bytes` is exactly the event, including its checksum if the format has one.
/// The checksum is not verified here: [`crate::checksum::verify_checksum`] does that once, where
/// the event enters.
#[inline]
pub fn decode<'a>(bytes: &'a [u8], format: &Format) -> Result<(Header, Event<'a>), DecodeError> {
    let header = Header::decode(bytes)?;
    if header.event_size as usize != bytes.len() {
        return Err(DecodeError {
            offset: EVENT_SIZE_OFFSET,
            what: "event size is not the size of the event",
        });
    }
    if header.event_type == event_type::FORMAT_DESCRIPTION {
        return Ok((header, Event::FormatDescription(format_description::decode(bytes)?)));
    }
    let end = bytes
        .len()
        .checked_sub(format.checksum.len_bytes())
        .filter(|&end| end >= HEADER_LEN)
        .ok_or(DecodeError { offset: bytes.len(), what: "event too short for its checksum" })?;
    Ok((header, decode_body(&header, &bytes[..end])?))
}

/// Decodes an event without checksum, whatever its `event_size` says.
#[inline]
pub fn decode_body<'a>(header: &Header, event: &'a [u8]) -> Result<Event<'a>, DecodeError> {
    if let Some((kind, version_2)) = rows_kind(header.event_type) {
        return rows::decode(event, kind, version_2).map(Event::Rows);
    }
    let body = || event.get(HEADER_LEN..).unwrap_or_default();
    Ok(match header.event_type {
        event_type::QUERY => Event::Query(query::decode(event)?),
        event_type::TABLE_MAP => Event::TableMap(table_map::decode(event)?),
        event_type::XID => Event::Xid(cursor_at_body(event).u64()?),
        event_type::GTID => Event::Gtid(decode_gtid(event)?),
        event_type::ANONYMOUS_GTID => Event::AnonymousGtid(gtid::decode(event)?),
        event_type::GTID_TAGGED => Event::Gtid(gtid::numbered(gtid::decode_tagged(event)?)?),
        event_type::FORMAT_DESCRIPTION => Event::FormatDescription(format_description::decode(event)?),
        event_type::PREVIOUS_GTIDS => Event::PreviousGtids(body()),
        event_type::XA_PREPARE => Event::XaPrepare(control::xa_prepare(event)?),
        event_type::ROTATE => Event::Rotate(control::rotate(event)?),
        event_type::STOP => Event::Stop,
        event_type::HEARTBEAT => Event::Heartbeat(control::heartbeat(header, event)),
        event_type::HEARTBEAT_V2 => Event::Heartbeat(control::heartbeat_v2(event)?),
        event_type::INTVAR => Event::Intvar(control::intvar(event)?),
        event_type::RAND => {
            let (seed1, seed2) = control::rand(event)?;
            Event::Rand(seed1, seed2)
        }
        event_type::USER_VAR => Event::UserVar(control::user_var(event)?),
        event_type::BEGIN_LOAD_QUERY => Event::BeginLoad(load::block(event)?),
        event_type::APPEND_BLOCK => Event::AppendBlock(load::block(event)?),
        event_type::DELETE_FILE => Event::DeleteFile(load::deleted(event)?),
        event_type::EXECUTE_LOAD_QUERY => Event::ExecuteLoad(Box::new(load::execute(event)?)),
        event_type::ROWS_QUERY => Event::RowsQuery(control::rows_query(event)?),
        event_type::TRANSACTION_PAYLOAD => Event::TransactionPayload(control::transaction_payload(event)?),
        event_type::INCIDENT => Event::Incident(control::incident(event)?),
        event_type::MARIADB_GTID => Event::MariadbGtid(mariadb::gtid(event, header.server_id)?),
        event_type::MARIADB_GTID_LIST => Event::MariadbGtidList(mariadb::gtid_list(event)?),
        event_type::MARIADB_ANNOTATE_ROWS => Event::MariadbAnnotate(body()),
        event_type::MARIADB_BINLOG_CHECKPOINT => Event::MariadbCheckpoint(mariadb::checkpoint(event)?),
        event_type::MARIADB_START_ENCRYPTION => Event::MariadbStartEncryption,
        event_type::PARTIAL_UPDATE_ROWS => {
            Event::PartialUpdate(PartialUpdateEvent(rows::decode(event, RowsKind::Update, true)?))
        }
        event_type::MARIADB_QUERY_COMPRESSED..=event_type::MARIADB_DELETE_ROWS_COMPRESSED => {
            let what = "compressed event: set log_bin_compress=OFF on the source";
            return Err(DecodeError { offset: 4, what });
        }
        _ => Event::Unknown(body()),
    })
}

/// Decodes a GTID event without checksum, as [`decode_body`] does.
#[inline]
pub fn decode_gtid(event: &[u8]) -> Result<GtidEvent, DecodeError> {
    gtid::numbered(gtid::decode(event)?)
}

fn cursor_at_body(event: &[u8]) -> crate::cursor::Cursor<'_> {
    crate::cursor::Cursor::at(event, HEADER_LEN)
}
