//! Query events: `BEGIN` and the statements of DDL.

use super::{begin_event, end_event};
use crate::bytes::Put;

const QUERY_EVENT: u8 = 2;

/// Status variables of a Query event.
const Q_FLAGS2: u8 = 0;
const Q_SQL_MODE: u8 = 1;
const Q_CHARSET: u8 = 4;
const Q_TIME_ZONE: u8 = 5;
const Q_CATALOG_NZ: u8 = 6;
const Q_MICROSECONDS: u8 = 13;

/// The session settings under which a statement means what it means; they travel in its Query event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionContext {
    /// Connection id.
    pub thread_id: u32,
    /// `OPTION_AUTO_IS_NULL`, `NOT_AUTOCOMMIT`, `NO_FOREIGN_KEY_CHECKS`, `RELAXED_UNIQUE_CHECKS` bits as in the event.
    pub flags2: u32,
    /// `sql_mode` bits.
    pub sql_mode: u64,
    /// Default collation id of `character_set_client`.
    pub character_set_client: u16,
    /// `collation_connection`
    pub collation_connection: u16,
    /// `collation_server`
    pub collation_server: u16,
    /// `time_zone`; empty: not sent.
    pub time_zone: String,
    /// When the statement began, microseconds of Unix time.
    pub timestamp_us: u64,
    /// How long it took, seconds.
    pub exec_time_s: u32,
}

impl Default for SessionContext {
    /// MySQL's default settings.
    fn default() -> SessionContext {
        SessionContext {
            thread_id: 0,
            flags2: 0,
            sql_mode: 0x45a0_0020,
            character_set_client: 255,
            collation_connection: 255,
            collation_server: 255,
            time_zone: String::new(),
            timestamp_us: 0,
            exec_time_s: 0,
        }
    }
}

fn put_query(
    out: &mut Vec<u8>,
    timestamp_s: u32,
    server_id: u32,
    session: &SessionContext,
    schema: &str,
    status: &[u8],
    statement: &[u8],
) {
    let start = begin_event(out, QUERY_EVENT, timestamp_s, server_id);
    out.put_u32(session.thread_id);
    out.put_u32(session.exec_time_s);
    out.put_u8(schema.len() as u8);
    out.put_u16(0);
    out.put_u16(status.len() as u16);
    out.extend_from_slice(status);
    out.extend_from_slice(schema.as_bytes());
    out.put_u8(0);
    out.extend_from_slice(statement);
    end_event(out, start);
}

fn put_common_status(out: &mut Vec<u8>, session: &SessionContext) {
    out.put_u8(Q_FLAGS2);
    out.put_u32(session.flags2);
    out.put_u8(Q_SQL_MODE);
    out.put_u64(session.sql_mode);
    out.put_u8(Q_CATALOG_NZ);
    out.put_u8(3);
    out.extend_from_slice(b"std");
    out.put_u8(Q_CHARSET);
    out.put_u16(session.character_set_client);
    out.put_u16(session.collation_connection);
    out.put_u16(session.collation_server);
}

/// Appends the `BEGIN` of a transaction of row events.
pub(crate) fn put_begin(out: &mut Vec<u8>, timestamp_s: u32, server_id: u32) {
    let session = SessionContext::default();
    let mut status = Vec::with_capacity(32);
    put_common_status(&mut status, &session);
    put_query(out, timestamp_s, server_id, &session, "", &status, b"BEGIN");
}

/// Appends a statement. `schema` is the session's current schema, at most 255 bytes.
pub(crate) fn put_statement(
    out: &mut Vec<u8>,
    server_id: u32,
    session: &SessionContext,
    schema: &str,
    statement: &str,
) {
    let mut status = Vec::with_capacity(64);
    put_common_status(&mut status, session);
    if !session.time_zone.is_empty() {
        status.put_u8(Q_TIME_ZONE);
        status.put_u8(session.time_zone.len() as u8);
        status.extend_from_slice(session.time_zone.as_bytes());
    }
    let micros = (session.timestamp_us % 1_000_000) as u32;
    if micros != 0 {
        status.put_u8(Q_MICROSECONDS);
        status.extend_from_slice(&micros.to_le_bytes()[..3]);
    }
    let timestamp_s = (session.timestamp_us / 1_000_000) as u32;
    put_query(out, timestamp_s, server_id, session, schema, &status, statement.as_bytes());
}

/// Appends the `COMMIT` that ends a group without rows.
pub(crate) fn put_commit(out: &mut Vec<u8>, timestamp_s: u32, server_id: u32) {
    let session = SessionContext::default();
    let mut status = Vec::with_capacity(32);
    put_common_status(&mut status, &session);
    put_query(out, timestamp_s, server_id, &session, "", &status, b"COMMIT");
}
