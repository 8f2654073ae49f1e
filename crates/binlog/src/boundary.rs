//! The boundaries of event groups (transactions) in a stream of events, found by the headers and
//! the few bytes that decide.

use crate::event::{self, Event, Header, event_type as kind};

/// The place of an event in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// The event belongs to no group, as format descriptions, rotations and heartbeats.
    Outside,
    /// The event is the first of a group: a GTID event, or BEGIN if the source writes no GTID
    /// events.
    Begin,
    /// The event is neither the first nor the last of its group.
    Inside,
    /// The event is the last of a group.
    End,
    /// The event is a group of its own.
    Whole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// The last event was a GTID event, whose transaction follows.
    AfterGtid,
    /// The last events were BEGIN (or MariaDB's GTID event that stands for it), and perhaps others
    /// of its transaction.
    InTransaction,
}

/// Follows a stream of events and finds the groups.
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
    /// Starts again after the connection was lost: the next event is at a boundary.
    pub fn restart(&mut self) {
        self.state = State::Outside;
    }

    /// Reports whether a group has begun and not ended.
    pub fn is_inside(&self) -> bool {
        self.state != State::Outside
    }

    /// Takes the next event, without its checksum, and returns its place in its group.
    pub fn feed(&mut self, bytes: &[u8]) -> Edge {
        let Ok(Header { event_type: kind, .. }) = Header::decode(bytes) else { return Edge::Outside };
        match kind {
            kind::GTID | kind::ANONYMOUS_GTID | kind::GTID_TAGGED => self.begin(State::AfterGtid),
            kind::MARIADB_GTID => {
                let standalone =
                    matches!(decode(bytes), Some(Event::MariadbGtid(gtid)) if gtid.is_standalone());
                self.begin(if standalone { State::AfterGtid } else { State::InTransaction })
            }
            kind::QUERY | kind::MARIADB_QUERY_COMPRESSED => self.query(bytes),
            kind::XID | kind::XA_PREPARE | kind::TRANSACTION_PAYLOAD => self.end(),
            _ if is_outside_groups(kind) => Edge::Outside,
            _ if self.state == State::Outside => {
                // Very old sources write a statement's INTVAR, RAND or USER_VAR before a query
                // without BEGIN.
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

    fn query(&mut self, bytes: &[u8]) -> Edge {
        let (begins, ends) = match decode(bytes) {
            Some(Event::Query(query)) => {
                (query.is_begin() || query.statement.starts_with(b"XA START"), query.is_end())
            }
            _ => (false, false),
        };
        match self.state {
            State::Outside if begins => self.begin(State::InTransaction),
            _ if begins => {
                self.state = State::InTransaction;
                Edge::Inside
            }
            State::InTransaction if !ends => Edge::Inside,
            _ => self.end(),
        }
    }
}

/// Reports whether events of this type are between groups.
pub fn is_outside_groups(kind: u8) -> bool {
    matches!(
        kind,
        kind::STOP
            | kind::ROTATE
            | kind::FORMAT_DESCRIPTION
            | kind::HEARTBEAT
            | kind::HEARTBEAT_V2
            | kind::PREVIOUS_GTIDS
            | kind::INCIDENT
            | kind::VIEW_CHANGE
            | kind::MARIADB_BINLOG_CHECKPOINT
            | kind::MARIADB_GTID_LIST
            | kind::MARIADB_START_ENCRYPTION
    )
}

fn decode(bytes: &[u8]) -> Option<Event<'_>> {
    let header = Header::decode(bytes).ok()?;
    event::decode_body(&header, bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Checksum;
    use crate::encode::{self, EventBase, finish_event};
    use crate::event::QueryEvent;

    const BASE: EventBase = EventBase { timestamp: 0, server_id: 1 };

    fn bare(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut event = Vec::new();
        let start = encode::begin_event(BASE, kind, 0, &mut event);
        event.extend_from_slice(body);
        finish_event(&mut event, start, None, Checksum::None);
        event
    }

    fn query(text: &str) -> Vec<u8> {
        let statement = text.as_bytes();
        let query = QueryEvent {
            thread_id: 7,
            exec_time: 0,
            error_code: 0,
            status_vars: &[],
            schema: b"s",
            statement,
        };
        let mut event = Vec::new();
        let start = encode::query(BASE, &query, 0, &mut event);
        finish_event(&mut event, start, None, Checksum::None);
        event
    }

    fn edges(events: &[Vec<u8>]) -> Vec<Edge> {
        let mut boundaries = Boundaries::default();
        events.iter().map(|event| boundaries.feed(event)).collect()
    }

    #[test]
    fn a_mysql_transaction_and_a_ddl() {
        let events = [
            bare(kind::ROTATE, &[]),
            bare(kind::GTID, &[0; 42]),
            query("BEGIN"),
            bare(kind::TABLE_MAP, &[]),
            bare(kind::XID, &[0; 8]),
            bare(kind::ANONYMOUS_GTID, &[0; 42]),
            query("CREATE TABLE t (a INT)"),
        ];
        use Edge::*;
        assert_eq!(edges(&events), [Outside, Begin, Inside, Inside, End, Begin, End]);
    }

    #[test]
    fn a_mariadb_transaction_and_a_ddl() {
        let events = [
            bare(kind::MARIADB_GTID, &[0; 19]),
            bare(kind::TABLE_MAP, &[]),
            query("COMMIT"),
            bare(kind::MARIADB_GTID, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
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
            bare(kind::XID, &[0; 8]),
            query("DROP TABLE t"),
        ];
        use Edge::*;
        assert_eq!(edges(&events), [Begin, Inside, End, Whole]);
    }
}
