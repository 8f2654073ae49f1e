//! One event group at a time: from its first event to the commit.

mod skip;
mod statements;
mod turn;
mod xa;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use binlog::compressed::{self, PayloadReader, is_mariadb_compressed};
use binlog::event::{
    Event, FormatDescription, Header, MariadbGtidEvent, QueryEvent, RotateEvent, TransactionPayload,
};
use binlog::gtid::GtidSet;
use binlog::{Checksum, DecodeError, group};
use engine::{ChannelChange, CommitOptions, GtidNext, PositionUpdate, Transaction};
use sql::replicated::{LoggedContext, ReceivedStatements};

use super::open_group::OpenGroup;
use super::report::{self, GroupError, Place};
use super::state::ResumePoint;
use crate::channel::Channel;
use crate::error::ThreadError;
use crate::event::{self, kind};
use crate::filter::Filters;
use crate::gtid::{GroupGtid, GroupHead};
use crate::relay::RelayPosition;
pub(in crate::applier) use turn::Turned;
use xa::XaStatement;

/// How far a group has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Between groups.
    Outside,
    /// Its GTID event came.
    Headed,
    /// BEGIN came, or MariaDB's GTID event that stands for it.
    Open,
    /// It is passed over, up to COMMIT if a transaction of several events has begun: it has been
    /// executed before, or it is `counted` by `sql_replica_skip_counter`.
    Skipping { in_transaction: bool, counted: bool },
}

/// The applier's state between two events. Buffers are kept from group to group.
pub(super) struct Applier<'a> {
    channel: &'a Arc<Channel>,
    open: OpenGroup,
    stage: Stage,
    head: GroupHead,
    server_id: u32,
    executed: GtidSet,
    /// What [`engine::Engine::gtid_owner_changes`] was when `executed` was looked at last.
    owner_changes: u64,
    position_key: String,
    relay_file: (u64, String),
    /// A compressed event as it is when decompressed.
    plain: Vec<u8>,
    /// What came before the next statement and belongs to it.
    logged: LoggedContext,
    statements: ReceivedStatements,
    /// The end of the group that is being committed, in the relay log.
    relay_end: u64,
    checksum: Checksum,
    /// The source's file and the end of the last event in it.
    file: String,
    pos: u64,
    /// The end of the last complete group.
    done: ResumePoint,
}

impl<'a> Applier<'a> {
    /// Goes on where `resume` says.
    pub fn new(channel: &'a Arc<Channel>, resume: ResumePoint) -> Applier<'a> {
        let filters = channel.filters.lock().clone();
        let mut open = OpenGroup::new(channel.engine.clone(), channel.apply.clone(), filters, false);
        // STOP REPLICA waits neither for DDL nor for a row that somebody has locked.
        open.hold().set_interrupt(channel.applier_stop.clone());
        Applier {
            channel,
            open,
            stage: Stage::Outside,
            head: GroupHead::default(),
            server_id: 0,
            owner_changes: channel.engine.gtid_owner_changes(),
            executed: channel.engine.gtid_executed(),
            position_key: channel.position_key(&channel.config.lock()),
            relay_file: (0, String::new()),
            relay_end: 0,
            plain: Vec::new(),
            logged: LoggedContext::default(),
            statements: ReceivedStatements::new(channel.engine.clone()),
            checksum: if resume.has_checksums { Checksum::Crc32 } else { Checksum::None },
            file: resume.file.clone(),
            pos: resume.pos,
            done: resume,
        }
    }

    /// The filters that were in force when it started.
    pub fn filters(&self) -> &Arc<Filters> {
        self.open.filters()
    }

    /// Everything that is executed here.
    pub fn executed(&self) -> &GtidSet {
        &self.executed
    }

    /// What events end with from here on.
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// Lets the tables go that were held open over several groups, so that DDL here gets its turn.
    pub fn release_tables(&mut self) {
        if self.open.transaction.is_none() {
            self.open.hold().release();
        }
    }

    /// After an error: true, if it was that a table was not to be had at once. It has been waited
    /// for, and the group can begin again.
    pub fn wait_if_blocked(&mut self) -> Result<bool, ThreadError> {
        self.open.wait_if_blocked().map_err(|error| report::blocked(&error, self.place()))
    }

    /// No group is open.
    pub fn is_between_groups(&self) -> bool {
        self.stage == Stage::Outside
    }

    /// The end of the last complete group.
    pub fn resume_point(&self) -> ResumePoint {
        self.done.clone()
    }

    /// When the source committed the last group that is complete, in microseconds of unix time.
    pub fn last_commit_us(&self) -> u64 {
        self.done.last.immediate_commit_us
    }

    /// Rolls an open group back.
    pub fn abandon_group(&mut self) {
        self.stage = Stage::Outside;
        self.open.roll_back();
        self.open.events.clear();
        self.logged = LoggedContext::default();
    }

    /// Takes an event without its checksum; `relay` is its end in the relay log. True: a group is
    /// complete.
    pub fn take(&mut self, bytes: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        if let Some(end) = event::end_pos(bytes) {
            self.pos = event::unwrap_pos(self.pos, end);
        }
        if !is_mariadb_compressed(event::kind_of(bytes)) {
            return self.carry_out(bytes, relay);
        }
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let expanded = compressed::expand_mariadb(bytes, &mut plain);
        let taken =
            expanded.map_err(|error| self.damaged(error)).and_then(|()| self.carry_out(&plain, relay));
        self.plain = plain;
        taken
    }

    /// The events of a compressed transaction, one after the other.
    fn payload(
        &mut self,
        payload: &TransactionPayload<'_>,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        let mut events = PayloadReader::new(payload).map_err(|error| self.damaged(error))?;
        let mut complete = false;
        while let Some(event) = events.next_event().map_err(|error| self.damaged(error))? {
            if event::kind_of(event) == kind::TRANSACTION_PAYLOAD || complete {
                return Err(report::damaged(
                    &"a transaction payload holds more than a transaction",
                    self.place(),
                ));
            }
            complete = self.carry_out(event, relay)?;
        }
        match complete {
            true => Ok(true),
            false => Err(report::damaged(&"a transaction payload ends within its transaction", self.place())),
        }
    }

    /// Takes an event that is not compressed.
    fn carry_out(&mut self, bytes: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        let header = Header::decode(bytes).map_err(|error| self.damaged(error))?;
        let event = binlog::event::decode_body(&header, bytes).map_err(|error| self.damaged(error))?;
        if let Some(head) = GroupHead::of_event(&header, &event) {
            self.begin_group(&header, head, &event)?;
            return self.begin_mariadb_xa(&header, bytes).map(|()| false);
        }
        match &event {
            Event::Rotate(rotate) => self.rotate(rotate, relay),
            Event::FormatDescription(format) => self.format(format, relay),
            Event::Incident(incident) => Err(report::incident(&String::from_utf8_lossy(incident.message))),
            _ if event::is_outside_groups(header.event_type) => Ok(self.pass_by(relay)),
            _ if matches!(self.stage, Stage::Skipping { .. }) || self.skips_from_here(&header) => {
                self.pass_over(&event, relay)
            }
            Event::Query(query) => self.query(&header, bytes, query, relay),
            Event::TransactionPayload(payload) => self.payload(payload, relay),
            Event::Xid(_) => {
                self.append(bytes)?;
                self.commit(relay)
            }
            Event::XaPrepare(event) => self.xa_prepare(event, bytes, relay),
            Event::TableMap(map) => {
                let taken = self.open.table_map(bytes, map);
                self.inside(taken)
            }
            Event::Rows(rows) => {
                let taken = self.open.rows(bytes, rows);
                self.inside(taken)
            }
            Event::PartialUpdate(rows) => {
                let taken = self.open.partial_update(&header, rows);
                self.inside(taken)
            }
            Event::RowsQuery(_) => self.append(bytes).map(|()| false),
            // MariaDB's annotations say again what the rows say.
            Event::MariadbAnnotate(_) => Ok(false),
            Event::Intvar(_) | Event::Rand(..) | Event::UserVar(_) => self.before_statement(&event),
            _ => self.other(&header),
        }
    }

    /// An event of a type that is passed over, or not carried out.
    fn other(&self, header: &Header) -> Result<bool, ThreadError> {
        match header.event_type {
            kind::IGNORABLE | kind::TRANSACTION_CONTEXT => Ok(false),
            other => Err(report::not_supported(&format!("an event of type {other}"), self.place())),
        }
    }

    fn place(&self) -> Place<'_> {
        Place { file: &self.file, end_log_pos: self.pos }
    }

    /// An event within a group has been taken.
    fn inside(&self, taken: Result<(), GroupError>) -> Result<bool, ThreadError> {
        taken.map(|()| false).map_err(|error| report::group(&error, self.place()))
    }

    fn damaged(&self, error: DecodeError) -> ThreadError {
        report::damaged(&error, self.place())
    }

    /// A new connection, or a new file of the source: what was begun and not ended is sent again.
    fn rotate(&mut self, rotate: &RotateEvent<'_>, relay: RelayPosition) -> Result<bool, ThreadError> {
        self.abandon_group();
        if rotate.file != self.file.as_bytes() {
            self.file = String::from_utf8_lossy(rotate.file).into_owned();
            self.pos = rotate.position;
        } else {
            // The copy at the head of a relay log file may be older than what has been applied.
            self.pos = self.pos.max(rotate.position);
        }
        self.mark_done(relay);
        Ok(false)
    }

    fn format(&mut self, format: &FormatDescription<'_>, relay: RelayPosition) -> Result<bool, ThreadError> {
        self.checksum = format.checksum;
        Ok(self.pass_by(relay))
    }

    /// An event that says something about the file. The position moves on behind it, or a replica
    /// that has everything would look as if something were still to come.
    fn pass_by(&mut self, relay: RelayPosition) -> bool {
        if self.stage == Stage::Outside {
            self.mark_done(relay);
        }
        false
    }

    fn begin_group(
        &mut self,
        header: &Header,
        head: GroupHead,
        event: &Event<'_>,
    ) -> Result<(), ThreadError> {
        self.abandon_group();
        self.head = head;
        self.mind_owners()?;
        self.server_id = header.server_id;
        self.begin_times(header.timestamp);
        self.stage = match event {
            _ if self.is_executed() => Stage::Skipping { in_transaction: false, counted: false },
            Event::MariadbGtid(gtid) if self.channel.apply.skip_counter() > 0 => {
                Stage::Skipping { in_transaction: !gtid.is_standalone(), counted: true }
            }
            Event::MariadbGtid(gtid) if !gtid.is_standalone() => {
                group::begin_from_mariadb(header, gtid, &mut self.open.events);
                Stage::Open
            }
            _ => Stage::Headed,
        };
        Ok(())
    }

    /// MariaDB's GTID event of a prepared XA transaction stands for its XA START.
    fn begin_mariadb_xa(&mut self, header: &Header, bytes: &[u8]) -> Result<(), ThreadError> {
        if header.event_type != kind::MARIADB_GTID || self.stage != Stage::Open {
            return Ok(());
        }
        let xid = MariadbGtidEvent::prepared_xid(bytes).map_err(|error| self.damaged(error))?;
        if let Some(xid) = xid {
            self.open.events.clear();
            group::start_xa_from_mariadb(header, &xid, &mut self.open.events);
        }
        Ok(())
    }

    /// The group that has begun was applied before.
    fn is_executed(&self) -> bool {
        match self.head.gtid {
            GroupGtid::Mysql(gtid) => self.executed.contains(gtid),
            GroupGtid::None | GroupGtid::Mariadb(_) => false,
        }
    }

    /// Waits for a session that owns the group's GTID, and takes notice of what sessions have
    /// executed.
    fn mind_owners(&mut self) -> Result<(), ThreadError> {
        let GroupGtid::Mysql(gtid) = self.head.gtid else { return Ok(()) };
        let engine = &self.channel.engine;
        let changes = engine.gtid_owner_changes();
        if changes != self.owner_changes {
            let disowned = engine.wait_disowned(gtid, &self.channel.applier_stop);
            disowned.map_err(|error| report::commit(&error, self.place()))?;
            self.owner_changes = changes;
            self.executed.union(&engine.gtid_executed());
        }
        Ok(())
    }

    fn begin_times(&self, timestamp_s: u32) {
        let times = &self.channel.times;
        times.applying_us.store(self.head.immediate_commit_us, Ordering::Relaxed);
        times.event_timestamp_s.store(timestamp_s.into(), Ordering::Relaxed);
    }

    fn query(
        &mut self,
        header: &Header,
        bytes: &[u8],
        query: &QueryEvent<'_>,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        if self.stage == Stage::Outside {
            // A source that writes no GTID events.
            self.head = GroupHead::of_second(header.timestamp);
            self.server_id = header.server_id;
            self.begin_times(header.timestamp);
        }
        if let Some(statement) = XaStatement::of(query) {
            return self.xa_statement(statement, bytes, query, relay);
        }
        if query.statement == b"ROLLBACK" {
            self.open.roll_back();
            self.open.events.clear();
            return self.commit(relay);
        }
        if !query.is_begin() && !query.is_end() {
            return self.filtered_query(header, bytes, query, relay);
        }
        self.append(bytes)?;
        if query.is_end() {
            return self.commit(relay);
        }
        self.stage = Stage::Open;
        Ok(false)
    }

    /// Copies an event behind the group, in the form that the log keeps.
    fn append(&mut self, bytes: &[u8]) -> Result<(), ThreadError> {
        self.open.append(bytes).map(|_| ()).map_err(|error| self.damaged(error))
    }

    fn options(&self) -> CommitOptions<'_> {
        let (gtid, mariadb_gtid) = match self.head.gtid {
            GroupGtid::Mysql(gtid) => (GtidNext::Given(gtid), None),
            // A MariaDB transaction gets a GTID of ours where gtid_mode is ON.
            GroupGtid::Mariadb(gtid) => (GtidNext::Automatic, Some(gtid)),
            GroupGtid::None => (GtidNext::Anonymous, None),
        };
        CommitOptions {
            gtid,
            mariadb_gtid,
            server_id: Some(self.server_id),
            original_commit_us: Some(self.head.original_commit_us),
            original_server_version: self.head.original_server_version,
            position: Some(PositionUpdate {
                channel: &self.position_key,
                source_log_file: &self.file,
                source_log_pos: self.pos,
                relay_log_file: &self.relay_file.1,
                relay_log_pos: self.relay_end,
                change: ChannelChange::Advance,
            }),
            binlog: self.channel.settings.log_replica_updates,
            compression: self.channel.apply.transaction_compression(),
            wait: false,
        }
    }

    /// What goes into the commit record is the end of its own group.
    fn name_relay_end(&mut self, relay: RelayPosition) {
        self.relay_end = relay.pos;
        if self.relay_file.0 != relay.file {
            self.relay_file = (relay.file, self.channel.relay.name(relay.file));
        }
    }

    fn commit(&mut self, relay: RelayPosition) -> Result<bool, ThreadError> {
        let events = std::mem::take(&mut self.open.events);
        let transaction = self.open.transaction.take();
        let committed = self.commit_rows(transaction, &events, relay);
        self.open.events = events;
        committed.map(|()| true)
    }

    fn commit_rows(
        &mut self,
        transaction: Option<Box<Transaction>>,
        events: &[u8],
        relay: RelayPosition,
    ) -> Result<(), ThreadError> {
        self.name_relay_end(relay);
        let committed = match transaction {
            Some(transaction) => transaction.commit_received(events, &self.options()),
            None => self.channel.engine.commit_empty(&self.options()),
        };
        committed.map_err(|error| report::commit(&error, self.place()))?;
        self.group_is_done(relay);
        Ok(())
    }

    fn group_is_done(&mut self, relay: RelayPosition) {
        self.channel.times.visible_us.store(self.head.immediate_commit_us, Ordering::Relaxed);
        self.group_is_in_order(relay);
    }

    fn group_is_in_order(&mut self, relay: RelayPosition) {
        if let GroupGtid::Mysql(gtid) = self.head.gtid {
            self.executed.add(gtid);
        }
        self.open.events.clear();
        self.open.end_statement();
        self.stage = Stage::Outside;
        self.done.last = std::mem::take(&mut self.head);
        self.mark_done(relay);
    }

    /// Everything up to here is applied.
    fn mark_done(&mut self, relay: RelayPosition) {
        self.done.relay = relay;
        self.done.has_checksums = self.checksum == Checksum::Crc32;
        self.done.pos = self.pos;
        if self.done.file != self.file {
            self.done.file.clone_from(&self.file);
        }
    }
}
