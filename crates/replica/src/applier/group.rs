//! Applying one event group at a time, from its first event to its commit.

mod gone_table;
mod progress;
mod savepoint_statement;
mod skip;
mod statements;
pub(super) mod turn;
mod undone;
mod xa;
mod xa_statement;

use std::sync::Arc;

use binlog::compressed::{self, PayloadReader, is_mariadb_compressed};
use binlog::event::{
    Event, FormatDescription, HEADER_LEN, Header, MariadbGtidEvent, QueryEvent, RotateEvent, RowsKind,
    TransactionPayload, decode_gtid, decode_rows, is_edge_of_group, rows_kind,
};
use binlog::gtid::GtidSet;
use binlog::{Checksum, group};
use engine::{LoggedTransaction, TableHold};
use sql::replicated::{LoggedContext, ReceivedStatements};

use super::job::ReadyGroup;
use super::loaded_files::LoadedFiles;
use super::reached::Reached;
use super::report::{self, GroupError};
use super::state::ResumePoint;
use crate::channel::Channel;
use crate::error::ThreadError;
use crate::event::{self, kind};
use crate::filter::Filters;
use crate::gtid::GroupHead;
use crate::relay::RelayPosition;
use gone_table::GoneTable;
use progress::{GroupProgress, Stage};
use turn::Turned;
use xa_statement::XaStatement;

/// The number of bytes in the body of an XID event.
const XID_BYTES: usize = 8;

/// The applier's state between two events. Its buffers are kept from group to group.
pub(super) struct Applier<'a> {
    progress: GroupProgress<'a>,
    /// The buffer for a compressed event's decompressed form.
    plain: Vec<u8>,
    /// The values from events before a statement that belong to that statement.
    logged: LoggedContext,
    /// The files of the group's LOAD DATA statements.
    loaded: LoadedFiles,
    statements: ReceivedStatements,
    /// The DROP TABLE of the open group, which is carried out at the group's end.
    gone: Option<GoneTable>,
    /// The error of an event that [`Applier::take_usual`] could not carry out, until it is
    /// returned.
    failed: Option<ThreadError>,
}

/// What became of an event that [`Applier::take_usual`] was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usual {
    /// It was taken, and its group goes on.
    Within,
    /// It was taken, and its group is complete.
    Complete,
    /// It could not be carried out, and [`Applier::failure`] returns the error.
    Failed,
    /// It is another event, or a damaged one, and nothing was done.
    Other,
}

impl<'a> Applier<'a> {
    /// Builds an applier that goes on at `resume`.
    pub fn new(channel: &'a Arc<Channel>, resume: ResumePoint) -> Applier<'a> {
        Applier {
            progress: GroupProgress::new(channel, resume),
            plain: Vec::new(),
            logged: LoggedContext::default(),
            loaded: LoadedFiles::default(),
            statements: ReceivedStatements::new(
                channel.engine.clone(),
                channel.temporary.clone(),
                channel.apply.variables(),
            ),
            gone: None,
            failed: None,
        }
    }

    /// Returns the filters that were in force when the applier started.
    pub fn filters(&self) -> &Arc<Filters> {
        self.progress.open.filters()
    }

    /// Returns all GTIDs that are executed on this server.
    pub fn executed(&self) -> &GtidSet {
        &self.progress.executed
    }

    /// Returns the checksum with which events from here on end.
    pub fn checksum(&self) -> Checksum {
        self.progress.checksum
    }

    /// Waits for the table whose metadata lock was not granted at once, if that was the last error.
    /// Returns true when the wait is over and the group can begin again, and false for another
    /// error.
    pub fn wait_if_blocked(&mut self) -> Result<bool, ThreadError> {
        self.progress.open.wait_if_blocked().map_err(|error| report::blocked(&error, self.progress.place()))
    }

    /// Reports whether no group is open.
    pub fn is_between_groups(&self) -> bool {
        self.progress.stage == Stage::Outside
    }

    /// Returns the end of the last complete group.
    pub fn resume_point(&self) -> ResumePoint {
        self.progress.done.clone()
    }

    /// Tells the thread that reads ahead where the last complete group ends.
    pub fn tell_reached(&self, reached: &Reached) {
        let done = &self.progress.done;
        reached.note(done.relay, done.has_checksums);
    }

    /// Returns the time when the source committed the last complete group, in microseconds of unix
    /// time.
    pub fn last_commit_us(&self) -> u64 {
        self.progress.done.last.immediate_commit_us
    }

    /// Releases the tables that are held open over several groups, so that DDL on this server gets
    /// its turn.
    pub fn release_tables(&mut self) {
        self.progress.release_tables();
    }

    /// Rolls an open group back.
    pub fn abandon_group(&mut self) {
        self.progress.abandon();
        self.logged = LoggedContext::default();
        if !self.loaded.is_empty() {
            self.loaded = LoadedFiles::default();
        }
    }

    /// Commits a prepared group in its turn; see [`GroupProgress::take_turn`].
    pub fn take_turn(
        &mut self,
        ready: ReadyGroup,
        events: &[u8],
        relay: RelayPosition,
        held: (&mut TableHold, bool),
        behind: Option<&LoggedTransaction>,
    ) -> Result<Turned, ThreadError> {
        self.progress.take_turn(ready, events, relay, held, behind)
    }

    /// Takes an event without its checksum; `relay` is the event's end in the relay log. Returns
    /// true when the event completes a group.
    pub fn take(&mut self, bytes: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        if let Some(end) = event::end_pos(bytes) {
            self.progress.pos = event::unwrap_pos(self.progress.pos, end);
        }
        match self.take_usual(bytes, relay) {
            Usual::Within => Ok(false),
            Usual::Complete => Ok(true),
            Usual::Failed => Err(self.failure()),
            Usual::Other if is_mariadb_compressed(event::kind_of(bytes)) => {
                self.take_compressed(bytes, relay)
            }
            Usual::Other => self.carry_out_other(bytes, relay),
        }
    }

    /// Takes an event in MariaDB's compressed form.
    fn take_compressed(&mut self, bytes: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let expanded = compressed::expand_mariadb(bytes, &mut plain);
        let taken = expanded
            .map_err(|error| self.progress.damaged(error))
            .and_then(|()| self.carry_out(&plain, relay));
        self.plain = plain;
        taken
    }

    /// Takes the events of a compressed transaction, one after the other.
    fn payload(
        &mut self,
        payload: &TransactionPayload<'_>,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        let mut events = PayloadReader::new(payload).map_err(|error| self.progress.damaged(error))?;
        let mut complete = false;
        while let Some(event) = events.next_event().map_err(|error| self.progress.damaged(error))? {
            if event::kind_of(event) == kind::TRANSACTION_PAYLOAD || complete {
                return Err(report::damaged(
                    &"a transaction payload holds more than a transaction",
                    self.progress.place(),
                ));
            }
            complete = self.carry_out(event, relay)?;
        }
        match complete {
            true => Ok(true),
            false => Err(report::damaged(
                &"a transaction payload ends within its transaction",
                self.progress.place(),
            )),
        }
    }

    /// Does what [`Applier::carry_out`] does for an event that nearly every transaction has, of
    /// which it decodes no more than it needs.
    #[inline]
    fn take_usual(&mut self, bytes: &[u8], relay: RelayPosition) -> Usual {
        let Some(header) = bytes.first_chunk::<HEADER_LEN>() else { return Usual::Other };
        match (self.progress.stage, event::kind_of(header)) {
            (_, kind::GTID) => self.take_gtid(bytes),
            (Stage::Headed, kind::QUERY) => self.take_begin(bytes),
            (Stage::Open, kind::TABLE_MAP) => match self.progress.open.known_table_map(bytes) {
                Some(taken) => self.taken(taken),
                None => Usual::Other,
            },
            (Stage::Open, kind::XID) => self.take_xid(bytes, relay),
            (Stage::Open, other) => match rows_kind(other) {
                Some(kind) => self.take_rows(bytes, kind),
                None => Usual::Other,
            },
            _ => Usual::Other,
        }
    }

    fn take_gtid(&mut self, bytes: &[u8]) -> Usual {
        let (Ok(header), Ok(gtid)) = (Header::decode(bytes), decode_gtid(bytes)) else {
            return Usual::Other;
        };
        let begun = self.begin_group(&header, GroupHead::of_mysql(&header, &gtid), None);
        self.done(begun, Usual::Within)
    }

    fn take_begin(&mut self, bytes: &[u8]) -> Usual {
        let is_begin = bytes.ends_with(b"BEGIN") && is_edge_of_group(bytes);
        if !is_begin || self.progress.channel.apply.skip_counter() > 0 {
            return Usual::Other;
        }
        let taken = self.progress.append(bytes);
        self.progress.stage = Stage::Open;
        self.done(taken, Usual::Within)
    }

    fn take_rows(&mut self, bytes: &[u8], (kind, version_2): (RowsKind, bool)) -> Usual {
        let Ok(rows) = decode_rows(bytes, kind, version_2) else { return Usual::Other };
        let taken = self.progress.open.rows(bytes, &rows);
        self.taken(taken)
    }

    fn take_xid(&mut self, bytes: &[u8], relay: RelayPosition) -> Usual {
        if bytes.len() < HEADER_LEN + XID_BYTES {
            return Usual::Other;
        }
        let committed = self.progress.append(bytes).and_then(|()| self.progress.commit(relay));
        self.done(committed.map(|_| ()), Usual::Complete)
    }

    /// Returns what became of an event within a group.
    #[inline]
    fn taken(&mut self, taken: Result<(), GroupError>) -> Usual {
        match taken {
            Ok(()) => Usual::Within,
            Err(_) => {
                let failed = self.inside(taken).map(|_| ());
                self.done(failed, Usual::Within)
            }
        }
    }

    /// Returns what became of an event that was carried out, and keeps its error.
    #[inline]
    fn done(&mut self, done: Result<(), ThreadError>, usual: Usual) -> Usual {
        match done {
            Ok(()) => usual,
            Err(error) => {
                self.failed = Some(error);
                Usual::Failed
            }
        }
    }

    /// Returns the error of the event that has just failed.
    #[cold]
    fn failure(&mut self) -> ThreadError {
        self.failed.take().expect("an event that has failed has left its error")
    }

    /// Carries out an event that is not compressed. Returns true when it completes a group.
    fn carry_out(&mut self, bytes: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        match self.take_usual(bytes, relay) {
            Usual::Within => Ok(false),
            Usual::Complete => Ok(true),
            Usual::Failed => Err(self.failure()),
            Usual::Other => self.carry_out_other(bytes, relay),
        }
    }

    /// Carries out an event that [`Applier::take_usual`] has left.
    fn carry_out_other(&mut self, bytes: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        let header = Header::decode(bytes).map_err(|error| self.progress.damaged(error))?;
        let event =
            binlog::event::decode_body(&header, bytes).map_err(|error| self.progress.damaged(error))?;
        if let Some(head) = GroupHead::of_event(&header, &event) {
            let mariadb = if let Event::MariadbGtid(gtid) = &event { Some(gtid) } else { None };
            self.begin_group(&header, head, mariadb)?;
            return self.begin_mariadb_xa(&header, bytes).map(|()| false);
        }
        match &event {
            Event::Rotate(rotate) => self.rotate(rotate, relay),
            Event::FormatDescription(format) => self.format(header.server_id, format, relay),
            Event::Incident(incident) => Err(report::incident(&String::from_utf8_lossy(incident.message))),
            _ if event::is_outside_groups(header.event_type) => Ok(self.pass_by(relay)),
            _ if matches!(self.progress.stage, Stage::Skipping { .. })
                || self.progress.skips_from_here(&header) =>
            {
                let ends = self.progress.pass_over(&event, relay)?;
                if ends {
                    self.logged = LoggedContext::default();
                }
                Ok(ends)
            }
            Event::Query(query) => self.query(&header, bytes, query, relay),
            Event::TransactionPayload(payload) => self.payload(payload, relay),
            Event::Xid(_) => {
                self.progress.append(bytes)?;
                self.progress.commit(relay)
            }
            Event::XaPrepare(event) => self.xa_prepare(event, bytes, relay),
            Event::TableMap(map) => {
                let taken = self.progress.open.table_map(bytes, map);
                self.inside(taken)
            }
            Event::Rows(rows) => {
                let taken = self.progress.open.rows(bytes, rows);
                self.inside(taken)
            }
            Event::PartialUpdate(rows) => {
                let taken = self.progress.open.partial_update(&header, rows);
                self.inside(taken)
            }
            Event::RowsQuery(_) => self.progress.append(bytes).map(|()| false),
            // MariaDB's annotations hold the statement's text, and the row events are enough.
            Event::MariadbAnnotate(_) => Ok(false),
            Event::Intvar(_) | Event::Rand(..) | Event::UserVar(_) => self.before_statement(&event),
            Event::BeginLoad(block) => self.load_block(block, true),
            Event::AppendBlock(block) => self.load_block(block, false),
            Event::DeleteFile(file_id) => {
                self.loaded.remove(*file_id);
                Ok(false)
            }
            Event::ExecuteLoad(load) => self.load(&header, load),
            _ => self.other(&header),
        }
    }

    /// Takes an event of a type that is passed over, or refuses it.
    fn other(&self, header: &Header) -> Result<bool, ThreadError> {
        match header.event_type {
            kind::IGNORABLE | kind::TRANSACTION_CONTEXT => Ok(false),
            other => Err(report::not_supported(&format!("an event of type {other}"), self.progress.place())),
        }
    }

    /// Converts the result of an event within a group.
    fn inside(&self, taken: Result<(), GroupError>) -> Result<bool, ThreadError> {
        taken.map(|()| false).map_err(|error| report::group(&error, self.progress.place()))
    }

    /// Takes a rotate event, which a new connection or a new file of the source brings. A group
    /// that has begun and not ended is sent again.
    fn rotate(&mut self, rotate: &RotateEvent<'_>, relay: RelayPosition) -> Result<bool, ThreadError> {
        self.abandon_group();
        if rotate.file != self.progress.file.as_bytes() {
            self.progress.file = String::from_utf8_lossy(rotate.file).into_owned();
            self.progress.pos = rotate.position;
        } else {
            // The copy at the head of a relay log file may be older than what has been applied.
            self.progress.pos = self.progress.pos.max(rotate.position);
        }
        self.progress.mark_done(relay);
        Ok(false)
    }

    fn format(
        &mut self,
        server_id: u32,
        format: &FormatDescription<'_>,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        self.progress.checksum = format.checksum;
        if format.created != 0 && server_id != self.progress.channel.settings.server_id {
            self.progress.channel.temporary.note_start(format.created);
        }
        Ok(self.pass_by(relay))
    }

    /// Passes an event about the file. The position moves behind it, or a replica that has applied
    /// everything would look as if something were still to come.
    fn pass_by(&mut self, relay: RelayPosition) -> bool {
        if self.progress.stage == Stage::Outside {
            self.progress.mark_done(relay);
        }
        false
    }

    fn begin_group(
        &mut self,
        header: &Header,
        head: GroupHead,
        mariadb: Option<&MariadbGtidEvent>,
    ) -> Result<(), ThreadError> {
        self.abandon_group();
        self.gone = None;
        self.progress.head = head;
        self.progress.mind_owners()?;
        self.progress.server_id = header.server_id;
        self.progress.begin_times(header.timestamp);
        self.progress.stage = match mariadb {
            _ if self.progress.is_executed() => Stage::Skipping { in_transaction: false, counted: false },
            Some(gtid) if self.progress.channel.apply.skip_counter() > 0 => {
                Stage::Skipping { in_transaction: !gtid.is_standalone(), counted: true }
            }
            Some(gtid) if !gtid.is_standalone() => {
                group::begin_from_mariadb(header, gtid, &mut self.progress.open.events);
                Stage::Open
            }
            _ => Stage::Headed,
        };
        Ok(())
    }

    /// Begins an XA transaction: MariaDB's GTID event of a prepared XA transaction stands for XA
    /// START.
    fn begin_mariadb_xa(&mut self, header: &Header, bytes: &[u8]) -> Result<(), ThreadError> {
        if header.event_type != kind::MARIADB_GTID || self.progress.stage != Stage::Open {
            return Ok(());
        }
        let xid = MariadbGtidEvent::prepared_xid(bytes).map_err(|error| self.progress.damaged(error))?;
        if let Some(xid) = xid {
            self.progress.open.events.clear();
            group::start_xa_from_mariadb(header, &xid, &mut self.progress.open.events);
        }
        Ok(())
    }

    fn query(
        &mut self,
        header: &Header,
        bytes: &[u8],
        query: &QueryEvent<'_>,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        if self.progress.stage == Stage::Outside {
            // The source writes no GTID events, so this query begins the group.
            self.progress.head = GroupHead::of_second(header.timestamp);
            self.progress.server_id = header.server_id;
            self.progress.begin_times(header.timestamp);
        }
        if let Some(statement) = XaStatement::of(query) {
            return self.xa_statement(statement, bytes, query, relay);
        }
        if (query.is_end() || query.statement == b"ROLLBACK")
            && let Some(gone) = self.gone.take()
        {
            return self.drop_gone(&gone, relay);
        }
        if query.statement == b"ROLLBACK" {
            return undone::roll_back_group(&mut self.progress, header, query, relay);
        }
        if !query.is_begin() && !query.is_end() {
            return self.filtered_query(header, bytes, query, relay);
        }
        self.progress.append(bytes)?;
        if query.is_end() {
            return self.progress.commit(relay);
        }
        self.progress.stage = Stage::Open;
        Ok(false)
    }
}
