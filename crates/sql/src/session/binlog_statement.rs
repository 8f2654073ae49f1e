//! BINLOG: a client sends events of a binary log, as `mysqlbinlog` prints them, and the session
//! applies their rows.
//!
//! The text is one or several blocks of base64, and each block holds whole events. A
//! FORMAT_DESCRIPTION event has to come first; it stays in force for the session's later BINLOG
//! statements. Checksums are not verified, as in MySQL.

use super::{Session, bound, results};
use crate::base64::decode_four;
use crate::error::{Result, SqlError};
use crate::host::Rights;
use crate::memory::Charge;
use crate::sink::ResultSink;
use binlog::event::{Event, HEADER_LEN, Header, event_type};
use engine::StatementContext;

/// The offset of an event's length in its header.
const LENGTH_OFFSET: usize = 9;

/// Runs a BINLOG statement.
///
/// # Errors
/// Returns 1227 without the privilege, 1575 for text that is not base64, 1149 for bytes that are no
/// events, 1609 for row events before a FORMAT_DESCRIPTION event, 1730 for other events, 1782 where
/// the rows need a GTID and have none, and the errors of applying the rows.
pub(super) fn run(session: &mut Session, text: &[u8], sink: &mut dyn ResultSink) -> Result<()> {
    session.server.host.check_administers(
        "SUPER, BINLOG_ADMIN or REPLICATION_APPLIER",
        &["SUPER", "BINLOG_ADMIN", "REPLICATION_APPLIER"],
    )?;
    if text.is_empty() {
        return Err(SqlError::not_an_event());
    }
    let mut charge = Charge::new(&session.server.memory);
    charge.add(text.len())?;
    let blocks =
        decoded_blocks(text).ok_or_else(|| SqlError::new(1575, "Decoding of base64 string failed"))?;
    let mut rows = Vec::new();
    for block in &blocks {
        let mut rest = block.as_slice();
        while !rest.is_empty() {
            let event;
            (event, rest) = split_event(rest).ok_or_else(SqlError::not_an_event)?;
            if event_type_of(event) == event_type::FORMAT_DESCRIPTION {
                begin_format(session, event)?;
            } else {
                rows.push(without_checksum(session, event)?);
            }
        }
    }
    if !rows.is_empty() {
        apply(session, &rows)?;
    }
    results::ok(session, sink)
}

/// Applies row events in the session's transaction, as one statement.
fn apply(session: &mut Session, events: &[&[u8]]) -> Result<()> {
    session.transaction.xa.check_active()?;
    session.locks.check_writable(&session.server)?;
    if session.transacting().check_gtid_next()? {
        session.statement.row_count = 0;
        return Ok(());
    }
    let mut applier = session
        .server
        .host
        .row_events(&session.server.engine)?
        .ok_or_else(|| SqlError::not_supported("BINLOG statement"))?;
    // REPLICATION_APPLIER alone lets an account change no more than its other privileges do.
    let host = session.server.host.clone();
    let is_free = host.check_administers("SUPER or BINLOG_ADMIN", &["SUPER", "BINLOG_ADMIN"]).is_ok();
    let rights: Option<&dyn Rights> = if is_free { None } else { Some(&*host) };
    let mut transaction = session.transacting().take();
    let place = session.server.engine.enter_statement();
    let timestamp_us = session.context(&[], true).now_us;
    let savepoint = transaction.begin_statement(StatementContext { timestamp_us, rows_query: None });
    let mut applied = Ok(());
    for event in events {
        applied =
            session.server.check_interrupt().and_then(|()| applier.apply(&mut transaction, event, rights));
        if applied.is_err() {
            break;
        }
    }
    match &applied {
        Ok(()) => transaction.end_statement(),
        Err(_) => transaction.rollback_to(savepoint),
    }
    drop(place);
    bound::finish_statement(session, transaction, applied, true)
}

/// Takes a FORMAT_DESCRIPTION event, which says how later events end. As in MySQL, a session whose
/// `gtid_next` is AUTOMATIC has to be told the GTID of its next transaction from then on.
fn begin_format(session: &mut Session, event: &[u8]) -> Result<()> {
    let header = Header::decode(event).map_err(|_| SqlError::not_an_event())?;
    match binlog::event::decode_body(&header, event) {
        Ok(Event::FormatDescription(format)) => session.client.events_checksum = Some(format.checksum),
        _ => return Err(SqlError::not_an_event()),
    }
    session.transacting().leave_gtid_open()
}

/// Returns a row event without its checksum.
///
/// # Errors
/// Returns 1730 for an event of another type, and 1609 where the session knows no format.
fn without_checksum<'e>(session: &Session, event: &'e [u8]) -> Result<&'e [u8]> {
    let kind = event_type_of(event);
    if !is_about_rows(kind) {
        let text = format!(
            "Only Format_description_log_event and row events are allowed in BINLOG statements (but {} was provided)",
            event_type::name(kind)
        );
        return Err(SqlError::new(1730, text));
    }
    let Some(checksum) = session.client.events_checksum else {
        let text = format!(
            "The BINLOG statement of type `{}` was not preceded by a format description BINLOG statement.",
            event_type::name(kind)
        );
        return Err(SqlError::new(1609, text));
    };
    let end = event.len() - checksum.len_bytes().min(event.len());
    if end < HEADER_LEN { Err(SqlError::not_an_event()) } else { Ok(&event[..end]) }
}

fn is_about_rows(kind: u8) -> bool {
    use event_type::*;
    matches!(
        kind,
        TABLE_MAP
            | ROWS_QUERY
            | WRITE_ROWS_V1
            | UPDATE_ROWS_V1
            | DELETE_ROWS_V1
            | WRITE_ROWS
            | UPDATE_ROWS
            | DELETE_ROWS
            | PARTIAL_UPDATE_ROWS
    )
}

/// Splits the first event off, by the length in its header. Returns `None` for bytes that are no
/// whole event.
fn split_event(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = bytes.get(LENGTH_OFFSET..LENGTH_OFFSET + 4)?;
    let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
    if length < HEADER_LEN { None } else { bytes.split_at_checked(length) }
}

fn event_type_of(event: &[u8]) -> u8 {
    assert!(event.len() >= HEADER_LEN, "an event has a header");
    event[4]
}

/// Decodes blocks of base64, of which each but the last ends in padding. Space between the digits
/// is passed over. Returns `None` for a text that is not base64.
fn decoded_blocks(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut blocks = vec![Vec::new()];
    let mut digits = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    while let Some(first) = digits.next() {
        let four = [first, digits.next()?, digits.next()?, digits.next()?];
        let padding = decode_four(four, blocks.last_mut().expect("there is one from the beginning"))?;
        if padding > 0 {
            blocks.push(Vec::new());
        }
    }
    Some(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_with_their_padding() {
        let decoded = |text: &str| decoded_blocks(text.as_bytes());
        assert_eq!(decoded("QUJD"), Some(vec![b"ABC".to_vec()]));
        assert_eq!(decoded("QU\nI=\n QUJD\n"), Some(vec![b"AB".to_vec(), b"ABC".to_vec()]));
        assert_eq!(decoded("QQ==QQ=="), Some(vec![b"A".to_vec(), b"A".to_vec(), Vec::new()]));
        assert_eq!(decoded(" "), Some(vec![Vec::new()]));
        for wrong in ["a", "AAA", "!!!!", "A===", "====", "Q=Q=", "QUJD="] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_event_is_as_long_as_its_header_says() {
        let mut bytes = vec![0; HEADER_LEN + 5];
        assert_eq!(split_event(&bytes), None, "no event has no bytes");
        bytes[LENGTH_OFFSET] = (HEADER_LEN + 2) as u8;
        let (event, rest) = split_event(&bytes).expect("there are enough bytes");
        assert_eq!((event.len(), rest.len()), (HEADER_LEN + 2, 3));
        bytes[LENGTH_OFFSET + 3] = 255;
        assert_eq!(split_event(&bytes), None, "it would be longer than the bytes");
    }
}
