//! The dump to a MariaDB replica by MariaDB's GTIDs (decision 0029).
//!
//! The n-th transaction of the binary log is `0-S-n`, where S is the server id in its events. n
//! counts all transactions that the log has ever had; those of purged files are counted by the
//! previous GTIDs at the head of the oldest file. A GTID event is held back until the next event
//! tells what it starts, because MariaDB's GTID event stands for the BEGIN too. A replica adds up
//! the lengths of the events that it gets to know its position in this server's files. So MariaDB's
//! event is made as long as the events that it stands for.

use binlog::compressed::PayloadReader;
use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{
    EVENT_SIZE_OFFSET, Event, Format, GtidEvent, HEADER_LEN, Header, LOG_POS_OFFSET, MariadbGtidEvent,
    event_type, mariadb_flag,
};
use binlog::gtid::{MariadbGtid, MariadbGtidState};
use binlog::{Checksum, Xid};
use os::disk::OpenMode;

use crate::dump::sender::Sender;
use crate::dump::sink::DumpEnd;
use crate::error::Refusal;
use crate::events::{self, HeadEvent};
use crate::mariadb_gtid::DOMAIN;
use crate::position::FilePosition;

/// The offset of the type in an event's header.
const TYPE_OFFSET: usize = 4;
/// The text that turns a statement into a comment.
const COMMENT: &[u8] = b"# ";

/// The state of a replica, and the group that it is being sent.
pub(super) struct ByMariadbGtid {
    /// The last transaction that the replica has, with all before it. `None` means that it has
    /// none.
    has: Option<MariadbGtid>,
    /// The number of the last transaction that the replica wants. `None` means that it wants all.
    until: Option<u64>,
    /// The last transaction that was met, or that the replica has. Number 0 means that there is
    /// none.
    last: MariadbGtid,
    /// The start of a group whose next event has not been seen yet.
    held: Option<Held>,
    /// True when the present XA transaction is committed at its end, and not only prepared. It is
    /// then sent as a plain transaction.
    one_phase: bool,
    /// The transactions that may be applied together: their common number, and the
    /// `sequence_number` of the first one.
    together: (u64, i64),
    /// True when more bytes have been sent than the file has.
    is_ahead: bool,
    /// The present file's format description, as it was sent.
    format: Vec<u8>,
    made: Vec<u8>,
}

/// A GTID event of the file that is held back.
struct Held {
    header: Header,
    gtid: GtidEvent,
    /// The offset in the file where the event begins.
    pos: u64,
}

/// The relation of a sent event to the events in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The event is a whole one of the file.
    Whole,
    /// The event is one of those in a compressed transaction, but not the last.
    Inner,
    /// The event is the last one of a compressed transaction.
    Last,
}

/// The kind of a group, which the event behind its GTID event tells.
#[derive(Debug, PartialEq, Eq)]
enum Start {
    Transaction,
    PreparesXa(Xid),
    /// The group ends an XA transaction, and has only one event.
    EndsXa(Xid),
    Statement,
}

impl Start {
    fn of(event: &[u8], checksum: Checksum) -> Option<Start> {
        if events::kind(event) != event_type::QUERY {
            return None;
        }
        let Ok((_, Event::Query(query))) = binlog::decode(event, &Format::new(checksum)) else { return None };
        let xid_behind = |word: &str| {
            let text = query.statement.strip_prefix(word.as_bytes())?;
            std::str::from_utf8(text).ok()?.parse().ok()
        };
        if query.statement == b"BEGIN" {
            Some(Start::Transaction)
        } else if let Some(xid) = xid_behind("XA START ") {
            Some(Start::PreparesXa(xid))
        } else if let Some(xid) = xid_behind("XA COMMIT ").or_else(|| xid_behind("XA ROLLBACK ")) {
            Some(Start::EndsXa(xid))
        } else {
            Some(Start::Statement)
        }
    }

    /// Returns MariaDB's flags for the group.
    fn flags(&self) -> u8 {
        use mariadb_flag::{ALLOW_PARALLEL, COMPLETED_XA, DDL, PREPARED_XA, STANDALONE, TRANSACTIONAL};
        ALLOW_PARALLEL
            | match self {
                Start::Transaction => TRANSACTIONAL,
                Start::PreparesXa(_) => TRANSACTIONAL | PREPARED_XA,
                Start::EndsXa(_) => TRANSACTIONAL | STANDALONE | COMPLETED_XA,
                Start::Statement => STANDALONE | DDL,
            }
    }

    /// Reports whether MariaDB's GTID event stands for the first event of the group too.
    fn is_in_the_gtid_event(&self) -> bool {
        matches!(self, Start::Transaction | Start::PreparesXa(_))
    }
}

impl ByMariadbGtid {
    pub fn new(has: &MariadbGtidState, until: Option<&MariadbGtidState>) -> ByMariadbGtid {
        let has = has.get(DOMAIN).filter(|gtid| gtid.seq > 0);
        ByMariadbGtid {
            has,
            // A replica that wants to stop at a point of other domains only wants nothing of this
            // log.
            until: until.map(|until| until.get(DOMAIN).map_or(0, |gtid| gtid.seq)),
            last: has.unwrap_or(MariadbGtid { domain: DOMAIN, server_id: 0, seq: 0 }),
            held: None,
            one_phase: false,
            together: (0, 0),
            is_ahead: false,
            format: Vec::new(),
            made: Vec::new(),
        }
    }

    fn has(&self) -> u64 {
        self.has.map_or(0, |gtid| gtid.seq)
    }

    /// Sends the head of a file before which there are `before` transactions.
    pub fn send_head(
        &mut self,
        sender: &mut Sender<'_>,
        head: &[HeadEvent],
        before: u64,
    ) -> Result<(), DumpEnd> {
        let Some(format) = head.first() else { return Ok(()) };
        if before > self.last.seq.max(self.has()) {
            // The log had been turned off by an error before this file.
            return Err(DumpEnd::Refused(crate::mariadb_gtid::not_in_any_file()));
        }
        self.format = events::format_for_mariadb(&format.bytes, sender.sent_checksum);
        sender.send_made_up(&self.format)?;
        self.last.seq = before;
        // Until the first transaction is met that the replica lacks, its own state is the last one
        // known.
        if before >= self.has() { sender.send_gtid_list(self.last(), 0) } else { Ok(()) }
    }

    /// Returns the last transaction that was met, if there was one.
    fn last(&self) -> Option<MariadbGtid> {
        Some(self.last).filter(|gtid| gtid.seq > 0)
    }

    pub fn send(&mut self, sender: &mut Sender<'_>, event: &[u8]) -> Result<(), DumpEnd> {
        let end = FilePosition { file: sender.at.file, pos: sender.at.pos + event.len() as u64 };
        match events::kind(event) {
            event_type::GTID | event_type::GTID_TAGGED => self.meet(sender, event),
            event_type::ANONYMOUS_GTID => Err(DumpEnd::Refused(sender.anonymous_refused())),
            event_type::PREVIOUS_GTIDS => Ok(()),
            event_type::ROTATE | event_type::STOP => sender.deliver(event, Some(end)),
            _ if sender.skipping => sender.pass_over(end),
            event_type::TRANSACTION_PAYLOAD => self.send_payload(sender, event, end),
            _ => self.send_part(sender, event, end, Part::Whole),
        }
    }

    /// Takes the beginning of a transaction: leaves it out, or holds its first event back.
    fn meet(&mut self, sender: &mut Sender<'_>, event: &[u8]) -> Result<(), DumpEnd> {
        self.end_if_reached(sender)?;
        let decoded = binlog::decode(event, &Format::new(sender.checksum));
        let Ok((header, Event::Gtid(gtid))) = decoded else {
            return Err(sender.unreadable("a GTID event is damaged"));
        };
        self.last = MariadbGtid { domain: DOMAIN, server_id: header.server_id, seq: self.last.seq + 1 };
        sender.skipping = self.last.seq <= self.has();
        if self.has.is_some_and(|has| has.seq == self.last.seq && has != self.last) {
            return Err(self.not_in_the_log());
        }
        if sender.skipping {
            return sender.pass_over(sender.at);
        }
        let pos = sender.at.pos;
        if sender.skipped_any {
            sender.send_gtid_list(self.has, 0)?;
        }
        self.held = Some(Held { header, gtid, pos });
        Ok(())
    }

    /// Sends an event of a plain or a compressed group. The event in the file ends at `end`.
    fn send_part(
        &mut self,
        sender: &mut Sender<'_>,
        event: &[u8],
        end: FilePosition,
        part: Part,
    ) -> Result<(), DumpEnd> {
        if let Some(held) = self.held.take() {
            let start = Start::of(event, sender.checksum);
            self.one_phase = match &start {
                // Prepared transactions are not compressed.
                Some(Start::PreparesXa(xid)) => part != Part::Whole || is_one_phase(sender, &held, xid)?,
                _ => false,
            };
            let said =
                start.as_ref().filter(|start| start.is_in_the_gtid_event()).map(|_| (event.len(), end));
            let start = start.filter(|_| !self.one_phase).unwrap_or(Start::Transaction);
            self.make_gtid_event(&held, &start, said, sender.checksum);
            sender.deliver(&self.made, None)?;
            if said.is_some() {
                return Ok(());
            }
        }
        let end = Some(end).filter(|_| part != Part::Inner);
        if self.one_phase && self.make_plain(event, sender.checksum) {
            return sender.deliver(&self.made, end);
        }
        sender.deliver(event, end)
    }

    /// Builds MariaDB's GTID event in place of the held one. Where it stands for the next event
    /// too, it gets the length of both and the end of that event.
    fn make_gtid_event(
        &mut self,
        held: &Held,
        start: &Start,
        said: Option<(usize, FilePosition)>,
        checksum: Checksum,
    ) {
        let mut event = MariadbGtidEvent { gtid: self.last, flags: start.flags(), commit_id: 0 };
        if *start == Start::Transaction {
            event.commit_id = self.commit_id(&held.gtid);
            event.flags |= mariadb_flag::GROUP_COMMIT_ID;
        }
        let xid = match start {
            Start::PreparesXa(xid) | Start::EndsXa(xid) => Some(xid),
            Start::Transaction | Start::Statement => None,
        };
        let own_len = held.header.event_size as usize;
        let len = own_len + said.map_or(0, |(len, _)| len);
        let end_pos = said.map_or(held.pos + own_len as u64, |(_, end)| end.pos);
        let base = EventBase { timestamp: held.header.timestamp, server_id: held.header.server_id };
        self.made.clear();
        encode::mariadb_gtid(base, &event, xid, len - checksum.len_bytes(), &mut self.made);
        let made_len = self.made.len() + checksum.len_bytes();
        self.is_ahead |= made_len > len;
        finish_event(&mut self.made, 0, Some(end_pos.saturating_sub(made_len as u64)), checksum);
    }

    /// Returns the number by which MariaDB's workers know transactions that were committed
    /// together. None of these depends on another one of them.
    fn commit_id(&mut self, gtid: &GtidEvent) -> u64 {
        let (id, first) = self.together;
        let joins = id > 0 && gtid.sequence_number > first && gtid.last_committed < first;
        if !joins {
            self.together = (self.last.seq, gtid.sequence_number);
        }
        self.together.0
    }

    /// Builds the form that an event of a one-phase XA transaction has in a plain transaction.
    /// Returns false when the event stays as it is.
    fn make_plain(&mut self, event: &[u8], checksum: Checksum) -> bool {
        let kind = events::kind(event);
        let body_end = event.len() - checksum.len_bytes();
        self.made.clear();
        self.made.extend_from_slice(&event[..body_end]);
        match kind {
            // No reader uses its number, so the event is filled up to its length.
            event_type::XA_PREPARE => {
                self.made[HEADER_LEN..].fill(0);
                self.made[TYPE_OFFSET] = event_type::XID;
            }
            event_type::QUERY => {
                let Ok((_, Event::Query(query))) = binlog::decode(event, &Format::new(checksum)) else {
                    return false;
                };
                if !query.statement.starts_with(b"XA END ") {
                    return false;
                }
                let at = body_end - query.statement.len();
                self.made[at..at + COMMENT.len()].copy_from_slice(COMMENT);
            }
            _ => return false,
        }
        if checksum == Checksum::Crc32 {
            encode::append_checksum(&mut self.made, 0);
        }
        true
    }

    /// Sends the events of a compressed transaction one by one.
    fn send_payload(
        &mut self,
        sender: &mut Sender<'_>,
        event: &[u8],
        end: FilePosition,
    ) -> Result<(), DumpEnd> {
        let damaged = |sender: &Sender<'_>| sender.unreadable("a compressed transaction is damaged");
        let Ok((_, Event::TransactionPayload(payload))) =
            binlog::decode(event, &Format::new(sender.checksum))
        else {
            return Err(damaged(sender));
        };
        self.is_ahead = true;
        let mut reader = PayloadReader::new(&payload).map_err(|_| damaged(sender))?;
        let mut unpacked = Vec::new();
        let mut next = reader.next_event().map_err(|_| damaged(sender))?.map(<[u8]>::to_vec);
        while let Some(part) = next {
            next = reader.next_event().map_err(|_| damaged(sender))?.map(<[u8]>::to_vec);
            in_file(&part, end.pos, sender.checksum, &mut unpacked);
            self.send_part(sender, &unpacked, end, if next.is_none() { Part::Last } else { Part::Inner })?;
        }
        Ok(())
    }

    /// Checks, when everything has been sent, whether the dump has to end, and tells the replica
    /// its position if transactions were left out.
    pub fn at_end(&mut self, sender: &mut Sender<'_>) -> Result<(), DumpEnd> {
        if self.last.seq < self.has() {
            return Err(self.not_in_the_log());
        }
        self.end_if_reached(sender)?;
        if sender.skipped_any { sender.send_gtid_list(self.last(), 0) } else { Ok(()) }
    }

    /// Ends the dump, with a message to the replica, when it wants no more.
    fn end_if_reached(&mut self, sender: &mut Sender<'_>) -> Result<(), DumpEnd> {
        if self.until.is_none_or(|until| self.last.seq < until) {
            return Ok(());
        }
        sender.send_gtid_list(self.last(), encode::MARIADB_LIST_UNTIL_REACHED)?;
        sender.sink.flush().map_err(DumpEnd::Disconnected)?;
        Err(DumpEnd::Complete)
    }

    /// Corrects the replica's position before a heartbeat, which must not be behind it.
    pub fn before_heartbeat(&mut self, sender: &mut Sender<'_>) -> Result<(), DumpEnd> {
        if !std::mem::take(&mut self.is_ahead) {
            return Ok(());
        }
        sender.send_rotate()?;
        // A rotate event makes a replica forget the format, so it is sent again.
        sender.send_made_up(&self.format)
    }

    fn not_in_the_log(&self) -> DumpEnd {
        let gtid = self.has.unwrap_or(self.last);
        DumpEnd::Refused(Refusal::fatal_1236(format!(
            "Error: connecting slave requested to start from GTID {gtid}, which is not in the master's binlog"
        )))
    }
}

/// Writes an event of a compressed transaction, which has no checksum, as an event of the file that
/// ends at `end_pos`.
fn in_file(event: &[u8], end_pos: u64, checksum: Checksum, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(event);
    let size = (event.len() + checksum.len_bytes()) as u32;
    out[EVENT_SIZE_OFFSET..EVENT_SIZE_OFFSET + 4].copy_from_slice(&size.to_le_bytes());
    out[LOG_POS_OFFSET..LOG_POS_OFFSET + 4].copy_from_slice(&(end_pos as u32).to_le_bytes());
    if checksum == Checksum::Crc32 {
        encode::append_checksum(out, 0);
    }
}

/// Reports whether the XA transaction that begins with a GTID event is committed at its end. Its
/// last event tells that, in the byte in front of its XID.
fn is_one_phase(sender: &Sender<'_>, held: &Held, xid: &Xid) -> Result<bool, DumpEnd> {
    let behind = 12 + xid.data().len() + sender.checksum.len_bytes();
    let at = (held.pos + held.gtid.transaction_length).saturating_sub(behind as u64 + 1);
    let mut flag = [0];
    let read = sender
        .files
        .series
        .lock()
        .open_file(sender.at.file, OpenMode::Read)
        .and_then(|file| file.read_exact_at(&mut flag, at));
    read.map_err(|error| sender.unreadable(&error.to_string()))?;
    Ok(flag[0] != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::CHECKSUM_BYTES;
    use binlog::event::QueryEvent;

    fn query(statement: &str) -> Vec<u8> {
        let query = QueryEvent {
            thread_id: 3,
            exec_time: 0,
            error_code: 0,
            status_vars: &[],
            schema: b"",
            statement: statement.as_bytes(),
        };
        let mut out = Vec::new();
        let start = encode::query(EventBase { timestamp: 5, server_id: 1 }, &query, 0, &mut out);
        finish_event(&mut out, start, Some(1000), Checksum::Crc32);
        out
    }

    fn sender() -> ByMariadbGtid {
        ByMariadbGtid::new(&"0-7-41".parse().expect("is a state"), None)
    }

    fn held(sequence_number: i64, last_committed: i64) -> Held {
        let gtid = binlog::gtid::Gtid::new(binlog::gtid::Uuid([1; 16]), 9);
        let gtid = GtidEvent { sequence_number, last_committed, ..GtidEvent::new(gtid) };
        let header = Header {
            timestamp: 5,
            event_type: event_type::GTID,
            server_id: 7,
            event_size: 85,
            log_pos: 0,
            flags: 0,
        };
        Held { header, gtid, pos: 900 }
    }

    #[test]
    fn the_event_is_as_long_as_what_it_stands_for() {
        let xid = Xid::new(&[b'g'; 64], &[b'b'; 64], 7).expect("short enough");
        let cases = [
            ("BEGIN".to_string(), 0x0e),
            (format!("XA START {xid}"), 0x4c),
            ("XA COMMIT X'61',X'',1".to_string(), 0x8d),
            ("CREATE TABLE t (a INT)".to_string(), 0x29),
        ];
        for (statement, flags) in cases {
            let (event, mut sender) = (query(&statement), sender());
            let start = Start::of(&event, Checksum::Crc32).expect("it is a statement");
            let is_said = start.is_in_the_gtid_event();
            let end = FilePosition { file: 1, pos: 985 + event.len() as u64 };
            sender.make_gtid_event(
                &held(1, 0),
                &start,
                is_said.then_some((event.len(), end)),
                Checksum::Crc32,
            );
            let len = 85 + if is_said { event.len() } else { 0 };
            assert_eq!((sender.made.len(), sender.is_ahead), (len, false), "{statement}");
            let (header, made) =
                binlog::decode(&sender.made, &Format::new(Checksum::Crc32)).expect("decodes");
            let Event::MariadbGtid(made) = made else { panic!("{made:?}") };
            assert_eq!((made.gtid.to_string().as_str(), made.flags), ("0-7-41", flags), "{statement}");
            assert_eq!(u64::from(header.log_pos), 900 + len as u64);
            let prepared =
                MariadbGtidEvent::prepared_xid(&sender.made[..len - CHECKSUM_BYTES]).expect("decodes");
            assert_eq!(prepared, (flags == 0x4c).then_some(xid));
        }
    }

    #[test]
    fn a_long_number_makes_the_replica_count_more() {
        let xid = Xid::new(&[b'g'; 64], &[b'b'; 64], 7).expect("short enough");
        let mut sender = sender();
        sender.make_gtid_event(&held(1, 0), &Start::EndsXa(xid), None, Checksum::Crc32);
        assert!(sender.is_ahead && sender.made.len() > 85);
    }

    #[test]
    fn who_depends_on_none_of_the_others_has_their_number() {
        let mut sender = sender();
        let mut ids = Vec::new();
        for (number, depends_on) in [(1, 0), (2, 0), (3, 0), (4, 2), (5, 3), (6, 3), (7, 4), (1, 0), (2, 1)] {
            sender.last.seq += 1;
            ids.push(sender.commit_id(&held(number, depends_on).gtid) - 41);
        }
        assert_eq!(ids, [1, 1, 1, 4, 4, 4, 7, 8, 9]);
    }
}
