//! Where event groups (transactions) begin and end in a stream of events, told from headers and the few bytes that decide.

use crate::event::{self, QueryText};

/// What an event is to the group it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// Belongs to no group: format descriptions, rotations, heartbeats.
    Outside,
    /// The first event of a group: a GTID event, or BEGIN where the source writes no GTID events.
    Begin,
    /// Neither first nor last.
    Inside,
    /// The last event of a group.
    End,
    /// A group of its own.
    Whole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// A GTID event came; what it belongs to follows.
    AfterGtid,
    /// BEGIN came (or MariaDB's GTID event that stands for it).
    InTransaction,
}

/// Follows a stream of events.
#[derive(Debug, Clone)]
pub struct Boundaries {
    state: State,
}

impl Default for Boundaries {
    fn default() -> Boundaries {
        Boundaries { state: State::Outside }
    }
}

impl Boundaries {
    /// The connection was lost: what follows begins at a boundary.
    pub fn restart(&mut self) {
        self.state = State::Outside;
    }

    /// A group has begun and not ended.
    pub fn is_inside(&self) -> bool {
        self.state != State::Outside
    }

    /// Takes the next event, without its checksum.
    pub fn feed(&mut self, event: &[u8]) -> Edge {
        let kind = event::kind(event);
        match kind {
            event::GTID | event::ANONYMOUS_GTID | event::GTID_TAGGED => self.begin(State::AfterGtid),
            event::MARIADB_GTID => {
                let standalone = event::mariadb_gtid_flags(event) & event::MARIADB_FL_STANDALONE != 0;
                self.begin(if standalone { State::AfterGtid } else { State::InTransaction })
            }
            event::QUERY | event::MARIADB_QUERY_COMPRESSED => self.query(event),
            event::XID | event::XA_PREPARE | event::TRANSACTION_PAYLOAD => self.end(),
            _ if event::is_outside_groups(kind) => Edge::Outside,
            _ if self.state == State::Outside => {
                // A statement's INTVAR, RAND or USER_VAR before a query without BEGIN (very old sources).
                self.begin(State::AfterGtid)
            }
            _ => Edge::Inside,
        }
    }

    fn begin(&mut self, state: State) -> Edge {
        self.state = state;
        Edge::Begin
    }

    fn end(&mut self) -> Edge {
        let whole = self.state == State::Outside;
        self.state = State::Outside;
        if whole { Edge::Whole } else { Edge::End }
    }

    fn query(&mut self, event: &[u8]) -> Edge {
        match (event::query_text(event), self.state) {
            (QueryText::Begin, State::Outside) => self.begin(State::InTransaction),
            (QueryText::Begin, _) => {
                self.state = State::InTransaction;
                Edge::Inside
            }
            (QueryText::Commit | QueryText::Rollback, _) => self.end(),
            (QueryText::Other, State::InTransaction) => Edge::Inside,
            (QueryText::Other, _) => self.end(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::tests::{bare, query};

    fn edges(events: &[Vec<u8>]) -> Vec<Edge> {
        let mut boundaries = Boundaries::default();
        events.iter().map(|event| boundaries.feed(event)).collect()
    }

    #[test]
    fn a_mysql_transaction_and_a_ddl() {
        let events = [
            bare(event::ROTATE, &[]),
            bare(event::GTID, &[0; 42]),
            query("BEGIN"),
            bare(event::TABLE_MAP, &[]),
            bare(event::XID, &[0; 8]),
            bare(event::ANONYMOUS_GTID, &[0; 42]),
            query("CREATE TABLE t (a INT)"),
        ];
        use Edge::*;
        assert_eq!(edges(&events), [Outside, Begin, Inside, Inside, End, Begin, End]);
    }

    #[test]
    fn a_mariadb_transaction_and_a_ddl() {
        let events = [
            bare(event::MARIADB_GTID, &[0; 19]),
            bare(event::TABLE_MAP, &[]),
            query("COMMIT"),
            bare(event::MARIADB_GTID, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
            query("DROP TABLE t"),
        ];
        use Edge::*;
        assert_eq!(edges(&events), [Begin, Inside, End, Begin, End]);
    }

    #[test]
    fn without_gtid_events_begin_opens_a_group() {
        let events = [
            query("BEGIN"),
            query("INSERT INTO t VALUES (1)"),
            bare(event::XID, &[0; 8]),
            query("DROP TABLE t"),
        ];
        use Edge::*;
        assert_eq!(edges(&events), [Begin, Inside, End, Whole]);
    }
}
