//! Query events: `BEGIN` and the statements of DDL.

use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{QueryEvent, QueryStatus, flag};
use binlog::{Checksum, Xid};
use std::sync::LazyLock;

/// The value of `default_collation_for_utf8mb4`: utf8mb4_0900_ai_ci.
const DEFAULT_COLLATION_FOR_UTF8MB4: u16 = 255;

/// The session settings on which the meaning of a statement depends. They travel in its Query
/// event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionContext {
    /// The connection id.
    pub thread_id: u32,
    /// The bits `OPTION_AUTO_IS_NULL`, `NOT_AUTOCOMMIT`, `NO_FOREIGN_KEY_CHECKS` and
    /// `RELAXED_UNIQUE_CHECKS`, as in the event.
    pub flags2: u32,
    /// The bits of `sql_mode` as MySQL numbers them, and those of MariaDB below.
    pub sql_mode: u64,
    /// The default collation id of `character_set_client`.
    pub character_set_client: u16,
    /// The collation id of `collation_connection`.
    pub collation_connection: u16,
    /// The collation id of `collation_server`.
    pub collation_server: u16,
    /// `auto_increment_increment` and `auto_increment_offset`.
    pub auto_increment: (u16, u16),
    /// Whether `explicit_defaults_for_timestamp` is on.
    pub explicit_timestamps: bool,
    /// The number of `lc_time_names`. It is not sent when it is 0, which is en_US.
    pub lc_time_names: u16,
    /// `time_zone`. It is not sent when it is empty.
    pub time_zone: String,
    /// The time when the statement began, in microseconds of Unix time.
    pub timestamp_us: u64,
    /// The duration of the statement, in seconds.
    pub exec_time_s: u32,
}

impl Default for SessionContext {
    /// Returns MySQL's default settings.
    fn default() -> SessionContext {
        SessionContext {
            thread_id: 0,
            flags2: 0,
            sql_mode: 0x45a0_0020,
            character_set_client: 255,
            collation_connection: 255,
            collation_server: 255,
            auto_increment: (1, 1),
            explicit_timestamps: true,
            lc_time_names: 0,
            time_zone: String::new(),
            timestamp_us: 0,
            exec_time_s: 0,
        }
    }
}

impl SessionContext {
    /// The bit of MariaDB's EMPTY_STRING_IS_NULL in `sql_mode`. MariaDB's own bit is another mode
    /// in MySQL, so the mode has one here that neither server uses.
    pub const EMPTY_STRING_IS_NULL: u64 = 1 << 34;
    /// The bit of MariaDB's SIMULTANEOUS_ASSIGNMENT in `sql_mode`, which neither server uses.
    pub const SIMULTANEOUS_ASSIGNMENT: u64 = 1 << 35;

    /// Returns the bits of `sql_mode` that MySQL may have in an event. MySQL refuses others.
    fn mysql_mode(&self) -> u64 {
        self.sql_mode & !(SessionContext::EMPTY_STRING_IS_NULL | SessionContext::SIMULTANEOUS_ASSIGNMENT)
    }
}

/// What the statement of a Query event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryKind {
    /// A word of the group itself, such as BEGIN. It depends on no time.
    Group,
    /// A statement about rows. As in MySQL, its event does not say what
    /// `explicit_defaults_for_timestamp` is, because the variable cannot be set within a
    /// transaction, where such statements stand.
    Rows,
    /// A statement that may define columns.
    Definition,
}

/// Appends a Query event. `flags` are those of the event's header.
fn put_query(
    out: &mut Vec<u8>,
    base: EventBase,
    session: &SessionContext,
    schema: &str,
    kind: QueryKind,
    statement: &[u8],
    flags: u16,
) {
    let with_time = kind != QueryKind::Group;
    let micros = (session.timestamp_us % 1_000_000) as u32;
    let time_zone = session.time_zone.as_bytes();
    let status = QueryStatus {
        flags2: Some(session.flags2),
        sql_mode: Some(session.mysql_mode()),
        catalog: Some(b"std"),
        charset: Some((session.character_set_client, session.collation_connection, session.collation_server)),
        auto_increment: (session.auto_increment != (1, 1)).then_some(session.auto_increment),
        time_zone: (with_time && !time_zone.is_empty()).then_some(time_zone),
        microseconds: (with_time && micros != 0).then_some(micros),
        lc_time_names: (session.lc_time_names != 0).then_some(session.lc_time_names),
        explicit_defaults_for_timestamp: (kind == QueryKind::Definition)
            .then_some(session.explicit_timestamps),
        default_collation_for_utf8mb4: Some(DEFAULT_COLLATION_FOR_UTF8MB4),
        ..QueryStatus::default()
    };
    let mut status_vars = Vec::with_capacity(64);
    encode::write_status(&status, &mut status_vars);
    let query = QueryEvent {
        thread_id: session.thread_id,
        exec_time: session.exec_time_s,
        error_code: 0,
        status_vars: &status_vars,
        schema: schema.as_bytes(),
        statement,
    };
    let start = encode::query(base, &query, flags, out);
    finish_event(out, start, None, Checksum::None);
}

/// Appends the `BEGIN` of a transaction of row events.
pub(crate) fn put_begin(out: &mut Vec<u8>, base: EventBase) {
    /// The encoded event, without its time and its server.
    static BEGIN: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let (mut event, base) = (Vec::new(), EventBase { timestamp: 0, server_id: 0 });
        put_query(
            &mut event,
            base,
            &SessionContext::default(),
            "",
            QueryKind::Group,
            b"BEGIN",
            flag::SUPPRESS_USE,
        );
        event
    });
    let start = out.len();
    out.extend_from_slice(&BEGIN);
    set_base(&mut out[start..], base);
}

/// Sets the time and the server in the header of an event that was encoded before and has no
/// checksum.
pub(crate) fn set_base(event: &mut [u8], base: EventBase) {
    event[..4].copy_from_slice(&base.timestamp.to_le_bytes());
    event[5..9].copy_from_slice(&base.server_id.to_le_bytes());
}

/// Appends a statement. `schema` is the session's current schema, which has at most 255 bytes.
pub(crate) fn put_statement(
    out: &mut Vec<u8>,
    server_id: u32,
    session: &SessionContext,
    schema: &str,
    (kind, statement): (QueryKind, &[u8]),
) {
    let base = EventBase { timestamp: (session.timestamp_us / 1_000_000) as u32, server_id };
    put_query(out, base, session, schema, kind, statement, 0);
}

/// Appends a statement about an XA transaction: `XA START`, `XA END`, `XA COMMIT` or `XA ROLLBACK`.
pub(crate) fn put_xa(out: &mut Vec<u8>, base: EventBase, words: &str, xid: &Xid) {
    let statement = format!("{words} {xid}");
    put_query(
        out,
        base,
        &SessionContext::default(),
        "",
        QueryKind::Group,
        statement.as_bytes(),
        flag::SUPPRESS_USE,
    );
}

/// Appends the `COMMIT` that ends a group without rows.
pub(crate) fn put_commit(out: &mut Vec<u8>, base: EventBase) {
    put_query(out, base, &SessionContext::default(), "", QueryKind::Group, b"COMMIT", flag::SUPPRESS_USE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use binlog::event::{Event, Header, decode_body};

    #[test]
    fn a_begin_is_what_it_would_be_if_it_were_encoded() {
        for base in [
            EventBase { timestamp: 0x0102_0304, server_id: 0x0506_0708 },
            EventBase { timestamp: 7, server_id: 9 },
        ] {
            let (mut copied, mut encoded) = (vec![1], vec![1]);
            put_begin(&mut copied, base);
            put_query(
                &mut encoded,
                base,
                &SessionContext::default(),
                "",
                QueryKind::Group,
                b"BEGIN",
                flag::SUPPRESS_USE,
            );
            assert_eq!(copied, encoded);
        }
    }

    #[test]
    fn only_definitions_say_what_explicit_defaults_for_timestamp_is() {
        let session = SessionContext { timestamp_us: 5, ..SessionContext::default() };
        for (kind, expected) in [(QueryKind::Rows, None), (QueryKind::Definition, Some(true))] {
            let mut out = Vec::new();
            put_statement(&mut out, 1, &session, "d", (kind, b"/* words */ INSERT INTO t VALUES (1)"));
            let header = Header::decode(&out).expect("an event");
            let Ok(Event::Query(query)) = decode_body(&header, &out) else { panic!("no query event") };
            let status = query.status().expect("its status");
            assert_eq!(status.explicit_defaults_for_timestamp, expected, "{kind:?}");
            assert_eq!(status.microseconds, Some(5), "{kind:?}");
        }
    }
}
