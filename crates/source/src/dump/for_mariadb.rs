//! QUERY events in a form that a MariaDB replica can take.
//!
//! MariaDB does not have MySQL's `utf8mb4_0900` collations, and stops at a statement that ran under
//! one. It gets the nearest collation that it has. The event keeps its length, so that positions
//! stay those of the file. Under such a collation two strings are equal that differ only in
//! trailing spaces.

use binlog::encode::{append_checksum, write_status};
use binlog::event::{Event, HEADER_LEN, event_type};
use binlog::{Checksum, Format};

use crate::events;

/// The first and the last of MySQL's collations of utf8mb4 that MariaDB does not have (manual,
/// "Supported Character Sets and Collations").
const FIRST_0900: u16 = 255;
const LAST_0900: u16 = 323;
/// The collations `utf8mb4_0900_as_cs` and `utf8mb4_0900_bin`.
const EXACT: [u16; 2] = [278, 309];
const UTF8MB4_BIN: u16 = 46;
const UTF8MB4_UNICODE_520_CI: u16 = 246;

/// The offset of the status variables in a QUERY event, behind the thread, the time, the length of
/// the schema, the error and the variables' own length.
const STATUS_AT: usize = HEADER_LEN + 4 + 4 + 1 + 2 + 2;

fn nearest(collation: u16) -> u16 {
    match collation {
        FIRST_0900..=LAST_0900 if EXACT.contains(&collation) => UTF8MB4_BIN,
        FIRST_0900..=LAST_0900 => UTF8MB4_UNICODE_520_CI,
        other => other,
    }
}

/// Replaces collations in QUERY events. Most events of a log have the same status variables (those
/// of BEGIN), so the last variables and their replacement are kept.
#[derive(Default)]
pub(super) struct Rewriter {
    status: Vec<u8>,
    rewritten: Vec<u8>,
}

impl Rewriter {
    /// Writes the event with other collations into `out`. Returns false when the event can be sent
    /// as it is.
    pub fn rewrite(&mut self, event: &[u8], checksum: Checksum, out: &mut Vec<u8>) -> bool {
        let Some(status) = status_vars(event) else { return false };
        if self.status != status || status.is_empty() {
            self.rewritten = rewritten(event, checksum).unwrap_or_else(|| status.to_vec());
            self.status = status.to_vec();
        }
        if self.rewritten == self.status {
            return false;
        }
        out.clear();
        out.extend_from_slice(&event[..event.len() - checksum.len_bytes()]);
        let Some(place) = out.get_mut(STATUS_AT..STATUS_AT + self.rewritten.len()) else { return false };
        place.copy_from_slice(&self.rewritten);
        if checksum == Checksum::Crc32 {
            append_checksum(out, 0);
        }
        true
    }
}

/// Returns the status variables of a QUERY event.
fn status_vars(event: &[u8]) -> Option<&[u8]> {
    if events::kind(event) != event_type::QUERY {
        return None;
    }
    let len = u16::from_le_bytes(*event.get(STATUS_AT - 2..)?.first_chunk()?);
    event.get(STATUS_AT..STATUS_AT + usize::from(len))
}

/// Returns the event's status variables with other collations. `None` means that they cannot be
/// read or replaced.
fn rewritten(event: &[u8], checksum: Checksum) -> Option<Vec<u8>> {
    let Ok((_, Event::Query(query))) = binlog::decode(event, &Format::new(checksum)) else { return None };
    let mut status = query.status().ok()?;
    status.charset = status.charset.map(|(a, b, c)| (nearest(a), nearest(b), nearest(c)));
    status.charset_database = status.charset_database.map(nearest);
    status.default_collation_for_utf8mb4 = status.default_collation_for_utf8mb4.map(nearest);
    let mut rewritten = Vec::new();
    write_status(&status, &mut rewritten);
    (rewritten.len() == query.status_vars.len()).then_some(rewritten)
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
        let (mut rewriter, mut out) = (Rewriter::default(), Vec::new());
        for (collation, becomes) in [(255, 246), (255, 246), (278, 46), (323, 246), (255, 246)] {
            assert!(rewriter.rewrite(&event(collation), Checksum::Crc32, &mut out), "{collation}");
            assert_eq!(out, event(becomes), "{collation}");
        }
        for _ in 0..2 {
            assert!(!rewriter.rewrite(&event(45), Checksum::Crc32, &mut out));
        }
        let mut cut = event(255);
        cut.truncate(30);
        assert!(!rewriter.rewrite(&cut, Checksum::Crc32, &mut out), "what cannot be read goes as it is");
    }
}
