//! QUERY events as a MariaDB replica can take them.
//!
//! MariaDB does not have MySQL's `utf8mb4_0900` collations and stops at a statement that was run under one. It gets the nearest that it has;
//! the event keeps its length, so that positions stay those of the file. Two strings that differ in trailing spaces only are equal there.

use binlog::encode::{append_checksum, write_status};
use binlog::event::{Event, HEADER_LEN, event_type};
use binlog::{Checksum, Format};

use crate::events;

/// The first and the last of MySQL's collations of utf8mb4 that MariaDB does not have (manual, "Supported Character Sets and Collations").
const FIRST_0900: u16 = 255;
const LAST_0900: u16 = 323;
/// `utf8mb4_0900_as_cs` and `utf8mb4_0900_bin`.
const EXACT: [u16; 2] = [278, 309];
const UTF8MB4_BIN: u16 = 46;
const UTF8MB4_UNICODE_520_CI: u16 = 246;

/// Where the status variables of a QUERY event begin: after thread, time, length of the schema, error and their length.
const STATUS_AT: usize = HEADER_LEN + 4 + 4 + 1 + 2 + 2;

fn nearest(collation: u16) -> u16 {
    match collation {
        FIRST_0900..=LAST_0900 if EXACT.contains(&collation) => UTF8MB4_BIN,
        FIRST_0900..=LAST_0900 => UTF8MB4_UNICODE_520_CI,
        other => other,
    }
}

/// The event with other collations, in `out`; false: it can go as it is.
pub(super) fn rewrite(event: &[u8], checksum: Checksum, out: &mut Vec<u8>) -> bool {
    if events::kind(event) != event_type::QUERY {
        return false;
    }
    let Ok((_, Event::Query(query))) = binlog::decode(event, &Format::new(checksum)) else {
        return false;
    };
    let Ok(mut status) = query.status() else { return false };
    let before = status.clone();
    status.charset = status.charset.map(|(a, b, c)| (nearest(a), nearest(b), nearest(c)));
    status.charset_database = status.charset_database.map(nearest);
    status.default_collation_for_utf8mb4 = status.default_collation_for_utf8mb4.map(nearest);
    if status == before {
        return false;
    }
    let mut rewritten = Vec::new();
    write_status(&status, &mut rewritten);
    if rewritten.len() != query.status_vars.len() {
        return false;
    }
    out.clear();
    out.extend_from_slice(&event[..event.len() - checksum.len_bytes()]);
    out[STATUS_AT..STATUS_AT + rewritten.len()].copy_from_slice(&rewritten);
    if checksum == Checksum::Crc32 {
        append_checksum(out, 0);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::CHECKSUM_BYTES;
    use binlog::encode::{self, EventBase};
    use binlog::event::{QueryEvent, QueryStatus};

    fn event(collation: u16) -> Vec<u8> {
        let status = QueryStatus {
            flags2: Some(1),
            charset: Some((collation, 45, collation)),
            microseconds: Some(7),
            default_collation_for_utf8mb4: Some(collation),
            ..QueryStatus::default()
        };
        let mut status_vars = Vec::new();
        write_status(&status, &mut status_vars);
        let query = QueryEvent {
            thread_id: 3,
            exec_time: 0,
            error_code: 0,
            status_vars: &status_vars,
            schema: b"s",
            statement: b"CREATE TABLE t (a INT)",
        };
        let mut out = Vec::new();
        encode::query(EventBase { timestamp: 5, server_id: 1 }, &query, 0, &mut out);
        let size = (out.len() + CHECKSUM_BYTES) as u32;
        out[9..13].copy_from_slice(&size.to_le_bytes());
        append_checksum(&mut out, 0);
        out
    }

    #[test]
    fn only_collations_that_mariadb_does_not_have_become_others() {
        let mut out = Vec::new();
        for (collation, becomes) in [(255, 246), (278, 46), (323, 246)] {
            assert!(rewrite(&event(collation), Checksum::Crc32, &mut out), "{collation}");
            assert_eq!(out, event(becomes), "{collation}");
        }
        assert!(!rewrite(&event(45), Checksum::Crc32, &mut out));
        let mut cut = event(255);
        cut.truncate(30);
        assert!(!rewrite(&cut, Checksum::Crc32, &mut out), "what cannot be read goes as it is");
    }
}
