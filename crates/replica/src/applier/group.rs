//! One event group at a time: from its first event to the commit.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use binlog::gtid::GtidSet;
use engine::{ChannelChange, CommitOptions, GtidNext, PositionUpdate, Transaction};

use super::report::{self, Place};
use super::rows::{self, RowsEvent};
use super::state::ResumePoint;
use super::statement;
use super::tables::{Bound, TableCache};
use crate::channel::Channel;
use crate::error::ThreadError;
use crate::event::{self, HEADER_BYTES, QueryText};
use crate::gtid::{self, GroupGtid, GroupHead};
use crate::relay::RelayPosition;

/// How far a group has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Between groups.
    Outside,
    /// Its GTID event came.
    Headed,
    /// BEGIN came, or MariaDB's GTID event that stands for it.
    Open,
    /// It has been executed before: it is passed over.
    Skipping,
}

/// The applier's state between two events. Buffers are kept from group to group.
pub(super) struct Applier<'a> {
    channel: &'a Arc<Channel>,
    tables: TableCache,
    /// Tables that the present statement's row events are about: the source's table id, and the binding.
    in_use: Vec<(u64, Arc<Bound>)>,
    stage: Stage,
    head: GroupHead,
    server_id: u32,
    /// The events of the group as the commit record gets them.
    group: Vec<u8>,
    transaction: Option<Transaction>,
    executed: GtidSet,
    position_key: String,
    relay_file: (u64, String),
    has_checksums: bool,
    /// The source's file and the end of the last event in it.
    file: String,
    pos: u64,
    /// The end of the last complete group.
    done: ResumePoint,
}

impl<'a> Applier<'a> {
    /// Goes on where `resume` says.
    pub fn new(channel: &'a Arc<Channel>, resume: ResumePoint) -> Applier<'a> {
        Applier {
            channel,
            tables: TableCache::default(),
            in_use: Vec::new(),
            stage: Stage::Outside,
            head: GroupHead::default(),
            server_id: 0,
            group: Vec::new(),
            transaction: None,
            executed: channel.engine.gtid_executed(),
            position_key: Channel::position_key(&channel.config.lock()),
            relay_file: (0, String::new()),
            has_checksums: resume.has_checksums,
            file: resume.file.clone(),
            pos: resume.pos,
            done: resume,
        }
    }

    /// Events end with a CRC-32 from here on.
    pub fn has_checksums(&self) -> bool {
        self.has_checksums
    }

    /// No group is open.
    pub fn is_between_groups(&self) -> bool {
        self.stage == Stage::Outside
    }

    /// The end of the last complete group.
    pub fn resume_point(&self) -> ResumePoint {
        self.done.clone()
    }

    /// Rolls an open group back.
    pub fn abandon_group(&mut self) {
        self.stage = Stage::Outside;
        self.group.clear();
        self.in_use.clear();
        if let Some(transaction) = self.transaction.take() {
            transaction.rollback();
        }
    }

    /// Takes an event without its checksum; `relay` is its end in the relay log. True: a group is complete.
    pub fn take(&mut self, event: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        let kind = event::kind(event);
        let end = u64::from(event::log_pos(event));
        if end != 0 && event::flags(event) & (event::FLAG_ARTIFICIAL | event::FLAG_RELAY_LOG) == 0 {
            self.pos = event::unwrap_pos(self.pos, end);
        }
        match kind {
            event::ROTATE => self.rotate(event, relay),
            event::FORMAT_DESCRIPTION => self.format(event, relay),
            event::INCIDENT => {
                Err(report::incident(&String::from_utf8_lossy(&event[HEADER_BYTES.min(event.len())..])))
            }
            _ if event::is_outside_groups(kind) => Ok(false),
            event::GTID | event::ANONYMOUS_GTID | event::MARIADB_GTID => self.begin_group(event),
            event::GTID_TAGGED => Err(report::not_supported("a tagged GTID", self.place())),
            event::TRANSACTION_PAYLOAD => {
                Err(report::not_supported("binlog_transaction_compression", self.place()))
            }
            _ if self.stage == Stage::Skipping => self.pass_over(event, relay),
            event::QUERY => self.query(event, relay),
            event::XID => {
                self.append(event);
                self.commit(relay)
            }
            event::TABLE_MAP => self.table_map(event),
            event::WRITE_ROWS | event::UPDATE_ROWS | event::DELETE_ROWS => self.rows(event, false),
            event::WRITE_ROWS_V1 | event::UPDATE_ROWS_V1 | event::DELETE_ROWS_V1 => self.rows(event, true),
            event::ROWS_QUERY => {
                self.append(event);
                Ok(false)
            }
            event::MARIADB_ANNOTATE_ROWS | event::IGNORABLE | event::TRANSACTION_CONTEXT => Ok(false),
            // They go before a statement-format statement, which then stops the applier.
            event::INTVAR | event::RAND | event::USER_VAR => Ok(false),
            event::PARTIAL_UPDATE_ROWS => {
                Err(report::not_supported("binlog_row_value_options=PARTIAL_JSON", self.place()))
            }
            event::XA_PREPARE => Err(report::not_supported("XA PREPARE", self.place())),
            event::MARIADB_QUERY_COMPRESSED..=171 => {
                Err(report::not_supported("log_bin_compress", self.place()))
            }
            other => Err(report::not_supported(&format!("an event of type {other}"), self.place())),
        }
    }

    fn place(&self) -> Place<'_> {
        Place { file: &self.file, end_log_pos: self.pos }
    }

    /// A new connection, or a new file of the source: what was begun and not ended is sent again.
    fn rotate(&mut self, event: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        let (pos, file) =
            event::rotate_target(event).ok_or_else(|| report::damaged("a rotate event", self.place()))?;
        self.abandon_group();
        if file != self.file.as_bytes() {
            self.file = String::from_utf8_lossy(file).into_owned();
            self.pos = pos;
        } else {
            // The copy at the head of a relay log file may be older than what has been applied.
            self.pos = self.pos.max(pos);
        }
        self.mark_done(relay);
        Ok(false)
    }

    fn format(&mut self, event: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        // The event came here without its checksum: the algorithm is its last byte.
        self.has_checksums = event.last() == Some(&1);
        if self.stage == Stage::Outside {
            self.mark_done(relay);
        }
        Ok(false)
    }

    fn begin_group(&mut self, event: &[u8]) -> Result<bool, ThreadError> {
        self.abandon_group();
        self.head = gtid::read(event).ok_or_else(|| report::damaged("a GTID event", self.place()))?;
        self.server_id = event::server_id(event);
        let executed = match self.head.gtid {
            GroupGtid::Mysql(gtid) => self.executed.contains(gtid),
            GroupGtid::None | GroupGtid::Mariadb(_) => false,
        };
        let times = &self.channel.times;
        times.applying_us.store(self.head.immediate_commit_us, Ordering::Relaxed);
        times.event_timestamp_s.store(event::timestamp(event).into(), Ordering::Relaxed);
        let is_mariadb = matches!(self.head.gtid, GroupGtid::Mariadb(_));
        self.stage = match (executed, is_mariadb && !self.head.is_standalone) {
            (true, _) => Stage::Skipping,
            (false, true) => {
                statement::append_begin(&mut self.group, event);
                Stage::Open
            }
            (false, false) => Stage::Headed,
        };
        Ok(false)
    }

    fn pass_over(&mut self, event: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        let ends = match event::kind(event) {
            event::XID => true,
            event::QUERY => match event::query_text(event) {
                QueryText::Begin => {
                    self.head.is_standalone = false;
                    self.group.push(1);
                    false
                }
                QueryText::Commit | QueryText::Rollback => true,
                QueryText::Other => self.group.is_empty(),
            },
            _ => false,
        };
        if ends {
            self.abandon_group();
            self.mark_done(relay);
        }
        Ok(ends)
    }

    fn query(&mut self, event: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        match (event::query_text(event), self.stage) {
            (QueryText::Begin, _) => {
                if self.stage == Stage::Outside {
                    // A source that writes no GTID events.
                    self.head = GroupHead { original_server_version: 0, ..GroupHead::default() };
                    self.head.immediate_commit_us = u64::from(event::timestamp(event)) * 1_000_000;
                    self.head.original_commit_us = self.head.immediate_commit_us;
                }
                self.server_id = event::server_id(event);
                self.stage = Stage::Open;
                self.append(event);
                Ok(false)
            }
            (QueryText::Commit, _) => {
                self.append(event);
                self.commit(relay)
            }
            (QueryText::Rollback, _) => {
                if let Some(transaction) = self.transaction.take() {
                    transaction.rollback();
                }
                self.group.clear();
                self.commit(relay)
            }
            (QueryText::Other, Stage::Open) => {
                self.append(event);
                self.statement_in_transaction(event)?;
                Ok(false)
            }
            (QueryText::Other, _) => {
                self.server_id = event::server_id(event);
                self.append(event);
                self.ddl(event, relay)
            }
        }
    }

    fn table_map(&mut self, event: &[u8]) -> Result<bool, ThreadError> {
        let bound = self
            .tables
            .bind(&self.channel.engine, event)
            .map_err(|error| report::table_map(&error, self.place()))?;
        let source_id =
            rows::table_id(event).ok_or_else(|| report::damaged("a table map event", self.place()))?;
        let at = self.append(event);
        rows::set_table_id(&mut self.group[at..], bound.table.id);
        match self.in_use.iter_mut().find(|(id, _)| *id == source_id) {
            Some(entry) => entry.1 = bound,
            None => self.in_use.push((source_id, bound)),
        }
        Ok(false)
    }

    fn rows(&mut self, event: &[u8], is_v1: bool) -> Result<bool, ThreadError> {
        let parsed =
            RowsEvent::parse(event, is_v1).ok_or_else(|| report::damaged("a row event", self.place()))?;
        if parsed.is_dummy() {
            self.in_use.clear();
            return Ok(false);
        }
        let Some((_, bound)) = self.in_use.iter().find(|(id, _)| *id == parsed.table_id) else {
            return Err(report::damaged("a row event without its table map event", self.place()));
        };
        let bound = bound.clone();
        let mut transaction = match self.transaction.take() {
            Some(transaction) => transaction,
            None => self.channel.engine.begin_apply(),
        };
        let applied = rows::apply(&mut transaction, &bound.table, &parsed);
        self.transaction = Some(transaction);
        if let Err(error) = applied {
            return Err(report::row_event(
                event::kind(event),
                bound.table.qualified_name(),
                &error,
                self.place(),
            ));
        }
        let at = self.group.len();
        rows::append_v2(&mut self.group, event, is_v1);
        rows::set_table_id(&mut self.group[at..], bound.table.id);
        if parsed.ends_statement {
            self.in_use.clear();
        }
        Ok(false)
    }

    /// Copies an event behind the group: with no end position. Returns where it is.
    fn append(&mut self, event: &[u8]) -> usize {
        let at = self.group.len();
        rows::append_bare(&mut self.group, event);
        at
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
            original_server_version: (self.head.original_server_version != 0)
                .then_some(self.head.original_server_version),
            position: Some(PositionUpdate {
                channel: &self.position_key,
                source_log_file: &self.file,
                source_log_pos: self.pos,
                relay_log_file: &self.relay_file.1,
                relay_log_pos: self.done.relay.pos,
                change: ChannelChange::Advance,
            }),
            binlog: self.channel.settings.log_replica_updates,
            wait: false,
        }
    }

    fn name_relay_file(&mut self, relay: RelayPosition) {
        if self.relay_file.0 != relay.file {
            self.relay_file = (relay.file, self.channel.relay.name(relay.file));
        }
    }

    fn commit(&mut self, relay: RelayPosition) -> Result<bool, ThreadError> {
        self.name_relay_file(relay);
        self.done.relay = relay;
        let committed = match self.transaction.take() {
            Some(transaction) => transaction.commit_received(&self.group, &self.options()),
            None => self.channel.engine.commit_empty(&self.options()),
        };
        committed.map_err(|error| report::commit(&error, self.place()))?;
        self.group_is_done(relay);
        Ok(true)
    }

    fn statement_in_transaction(&mut self, event: &[u8]) -> Result<(), ThreadError> {
        let parts =
            event::query_parts(event).ok_or_else(|| report::damaged("a query event", self.place()))?;
        statement::in_transaction(&parts).map_err(|error| error.at(self.place()))
    }

    fn ddl(&mut self, event: &[u8], relay: RelayPosition) -> Result<bool, ThreadError> {
        let parts =
            event::query_parts(event).ok_or_else(|| report::damaged("a query event", self.place()))?;
        self.name_relay_file(relay);
        self.done.relay = relay;
        self.head.immediate_commit_us =
            self.head.immediate_commit_us.max(u64::from(event::timestamp(event)) * 1_000_000);
        if self.head.original_commit_us == 0 {
            self.head.original_commit_us = self.head.immediate_commit_us;
        }
        let done = statement::ddl(
            &self.channel.engine,
            &parts,
            event::timestamp(event),
            &self.group,
            &self.options(),
        );
        done.map_err(|error| error.at(self.place()))?;
        self.tables.clear();
        self.group_is_done(relay);
        Ok(true)
    }

    fn group_is_done(&mut self, relay: RelayPosition) {
        if let GroupGtid::Mysql(gtid) = self.head.gtid {
            self.executed.add(gtid);
        }
        self.channel.times.visible_us.store(self.head.immediate_commit_us, Ordering::Relaxed);
        self.group.clear();
        self.in_use.clear();
        self.stage = Stage::Outside;
        self.head = GroupHead::default();
        self.mark_done(relay);
    }

    /// Everything up to here is applied.
    fn mark_done(&mut self, relay: RelayPosition) {
        self.done.relay = relay;
        self.done.has_checksums = self.has_checksums;
        self.done.pos = self.pos;
        if self.done.file != self.file {
            self.done.file.clone_from(&self.file);
        }
    }
}
