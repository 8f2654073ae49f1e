//! Finding event groups in a stream of events without looking at their rows.

use binlog::boundary::{Boundaries, Edge};
use binlog::event::{Event, Header};

use crate::event::{self, kind};

/// The place of an event in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framed {
    /// The event is part of a group that is not complete, and its first event if it `begins` one.
    Inside { begins: bool },
    /// The event is the last of a group. `of_rows` means that the group holds only row events
    /// behind its GTID.
    Complete { begins: bool, of_rows: bool },
    /// The event is no part of a group. A group that has begun is sent again.
    Outside,
}

/// The state of a stream of events. Only groups of rows can be prepared ahead; all others are
/// applied in turn.
#[derive(Debug, Default)]
pub(super) struct Framer {
    boundaries: Boundaries,
    of_rows: bool,
}

impl Framer {
    /// Takes an event without its checksum and returns its place in a group.
    pub fn take(&mut self, bytes: &[u8]) -> Framed {
        let kind = event::kind_of(bytes);
        let edge = self.boundaries.feed(bytes);
        match edge {
            Edge::Outside => {
                self.boundaries.restart();
                Framed::Outside
            }
            Edge::Begin => {
                self.of_rows = matches!(
                    kind,
                    kind::GTID | kind::ANONYMOUS_GTID | kind::GTID_TAGGED | kind::MARIADB_GTID
                );
                Framed::Inside { begins: true }
            }
            Edge::Inside => {
                self.of_rows = self.of_rows && can_be_inside(kind, bytes);
                Framed::Inside { begins: false }
            }
            Edge::End => Framed::Complete { begins: false, of_rows: self.of_rows && can_end(kind, bytes) },
            Edge::Whole => Framed::Complete { begins: true, of_rows: false },
        }
    }

    /// Forgets a group that has begun.
    pub fn reset(&mut self) {
        self.boundaries.restart();
    }
}

fn can_be_inside(kind: u8, bytes: &[u8]) -> bool {
    match kind {
        kind::TABLE_MAP | kind::ROWS_QUERY | kind::MARIADB_ANNOTATE_ROWS => true,
        kind::WRITE_ROWS_V1 | kind::UPDATE_ROWS_V1 | kind::DELETE_ROWS_V1 => true,
        kind::WRITE_ROWS | kind::UPDATE_ROWS | kind::DELETE_ROWS => true,
        kind::MARIADB_WRITE_ROWS_COMPRESSED_V1..=kind::MARIADB_DELETE_ROWS_COMPRESSED => true,
        kind::QUERY => is_query(bytes, |query| query.is_begin()),
        _ => false,
    }
}

fn can_end(kind: u8, bytes: &[u8]) -> bool {
    match kind {
        // TRANSACTION_PAYLOAD is a whole compressed transaction.
        kind::XID | kind::TRANSACTION_PAYLOAD => true,
        kind::QUERY => is_query(bytes, |query| query.statement == b"COMMIT"),
        _ => false,
    }
}

fn is_query(bytes: &[u8], what: impl Fn(&binlog::event::QueryEvent<'_>) -> bool) -> bool {
    let event = Header::decode(bytes).and_then(|header| binlog::event::decode_body(&header, bytes));
    matches!(event, Ok(Event::Query(query)) if what(&query))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::tests::{bare, query};

    const BEGINS: Framed = Framed::Inside { begins: true };
    const INSIDE: Framed = Framed::Inside { begins: false };

    fn complete(of_rows: bool) -> Framed {
        Framed::Complete { begins: false, of_rows }
    }

    #[test]
    fn groups_are_found_and_those_of_rows_told_from_others() {
        let mut framer = Framer::default();
        let gtid = bare(kind::ANONYMOUS_GTID, &[0; 42]);
        for _ in 0..2 {
            assert_eq!(framer.take(&gtid), BEGINS);
            assert_eq!(framer.take(&query("BEGIN")), INSIDE);
            assert_eq!(framer.take(&bare(kind::TABLE_MAP, &[])), INSIDE);
            assert_eq!(framer.take(&bare(kind::UPDATE_ROWS, &[])), INSIDE);
            assert_eq!(framer.take(&bare(kind::XID, &[0; 8])), complete(true));
        }
        for text in ["COMMIT", "ROLLBACK"] {
            assert_eq!(framer.take(&gtid), BEGINS);
            assert_eq!(framer.take(&query("BEGIN")), INSIDE);
            assert_eq!(framer.take(&query(text)), complete(text == "COMMIT"), "{text}");
        }
        for other in [query("INSERT INTO t VALUES (1)"), bare(kind::INTVAR, &[0; 9])] {
            assert_eq!(framer.take(&gtid), BEGINS);
            assert_eq!(framer.take(&query("BEGIN")), INSIDE);
            assert_eq!(framer.take(&other), INSIDE);
            assert_eq!(framer.take(&bare(kind::XID, &[0; 8])), complete(false));
        }
        assert_eq!(framer.take(&gtid), BEGINS);
        assert_eq!(framer.take(&query("CREATE TABLE t (a int)")), complete(false));
        assert_eq!(framer.take(&query("BEGIN")), BEGINS, "a source without GTID events");
        assert_eq!(framer.take(&bare(kind::ROTATE, &[])), Framed::Outside);
        assert_eq!(framer.take(&gtid), BEGINS);
        assert_eq!(framer.take(&bare(kind::TRANSACTION_PAYLOAD, &[])), complete(true));
    }
}
