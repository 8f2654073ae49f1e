//! Finding the groups in a stream of events without looking at their rows.

use binlog::event::{Event, Header};

use crate::event::{self, kind};

/// What an event is to the framing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framed {
    /// Part of a group of row events that is not complete.
    Inside,
    /// The last event of such a group.
    Complete,
    /// Anything else: it is applied in its turn, with what has come of its group.
    InTurn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Outside,
    /// MySQL's GTID event came.
    Headed,
    /// BEGIN came, or MariaDB's GTID event that stands for it.
    Open,
}

/// Groups that begin with a GTID event and hold row events alone can be prepared ahead; all others are applied in turn.
#[derive(Debug)]
pub(super) struct Framer {
    stage: Stage,
}

impl Framer {
    /// Between groups.
    pub fn new() -> Framer {
        Framer { stage: Stage::Outside }
    }

    /// Takes an event without its checksum. After [`Framed::InTurn`] it is between groups again.
    pub fn take(&mut self, bytes: &[u8]) -> Framed {
        let kind = event::kind_of(bytes);
        let (framed, stage) = match (self.stage, kind) {
            (Stage::Outside, kind::GTID | kind::ANONYMOUS_GTID | kind::GTID_TAGGED) => {
                (Framed::Inside, Stage::Headed)
            }
            (Stage::Outside, kind::MARIADB_GTID) if opens_a_transaction(bytes) => {
                (Framed::Inside, Stage::Open)
            }
            (Stage::Headed, kind::QUERY) if is_query(bytes, |query| query.is_begin()) => {
                (Framed::Inside, Stage::Open)
            }
            (Stage::Open, kind::TABLE_MAP | kind::ROWS_QUERY | kind::MARIADB_ANNOTATE_ROWS) => {
                (Framed::Inside, Stage::Open)
            }
            (Stage::Open, kind) if is_rows(kind) => (Framed::Inside, Stage::Open),
            // A whole transaction, compressed.
            (Stage::Headed, kind::TRANSACTION_PAYLOAD) => (Framed::Complete, Stage::Outside),
            (Stage::Open, kind::XID) => (Framed::Complete, Stage::Outside),
            (Stage::Open, kind::QUERY) if is_query(bytes, |query| query.statement == b"COMMIT") => {
                (Framed::Complete, Stage::Outside)
            }
            _ => (Framed::InTurn, Stage::Outside),
        };
        self.stage = stage;
        framed
    }

    /// Forgets a group that has begun.
    pub fn reset(&mut self) {
        self.stage = Stage::Outside;
    }
}

fn is_rows(kind: u8) -> bool {
    matches!(
        kind,
        kind::WRITE_ROWS_V1
            | kind::UPDATE_ROWS_V1
            | kind::DELETE_ROWS_V1
            | kind::WRITE_ROWS
            | kind::UPDATE_ROWS
            | kind::DELETE_ROWS
            | kind::MARIADB_WRITE_ROWS_COMPRESSED_V1..=kind::MARIADB_DELETE_ROWS_COMPRESSED
    )
}

fn decoded(bytes: &[u8]) -> Option<Event<'_>> {
    binlog::event::decode_body(&Header::decode(bytes).ok()?, bytes).ok()
}

fn opens_a_transaction(bytes: &[u8]) -> bool {
    matches!(decoded(bytes), Some(Event::MariadbGtid(gtid)) if !gtid.is_standalone())
}

fn is_query(bytes: &[u8], what: impl Fn(&binlog::event::QueryEvent<'_>) -> bool) -> bool {
    matches!(decoded(bytes), Some(Event::Query(query)) if what(&query))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::tests::{bare, query};

    #[test]
    fn groups_of_rows_are_found_and_everything_else_waits_for_its_turn() {
        let mut framer = Framer::new();
        let gtid = bare(kind::ANONYMOUS_GTID, &[0; 42]);
        for _ in 0..2 {
            assert_eq!(framer.take(&gtid), Framed::Inside);
            assert_eq!(framer.take(&query("BEGIN")), Framed::Inside);
            assert_eq!(framer.take(&bare(kind::TABLE_MAP, &[])), Framed::Inside);
            assert_eq!(framer.take(&bare(kind::UPDATE_ROWS, &[])), Framed::Inside);
            assert_eq!(framer.take(&bare(kind::XID, &[0; 8])), Framed::Complete);
        }
        for text in ["COMMIT", "ROLLBACK", "INSERT INTO t VALUES (1)"] {
            assert_eq!(framer.take(&gtid), Framed::Inside);
            assert_eq!(framer.take(&query("BEGIN")), Framed::Inside);
            let expected = if text == "COMMIT" { Framed::Complete } else { Framed::InTurn };
            assert_eq!(framer.take(&query(text)), expected, "{text}");
        }
        assert_eq!(framer.take(&gtid), Framed::Inside);
        assert_eq!(framer.take(&query("CREATE TABLE t (a int)")), Framed::InTurn);
        assert_eq!(framer.take(&query("BEGIN")), Framed::InTurn, "a source without GTID events");
        assert_eq!(framer.take(&bare(kind::ROTATE, &[])), Framed::InTurn);
        assert_eq!(framer.take(&gtid), Framed::Inside);
        assert_eq!(framer.take(&bare(kind::TRANSACTION_PAYLOAD, &[])), Framed::Complete);
    }
}
