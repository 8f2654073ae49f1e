//! The open group and the point that the applier has reached: the common beginning and end of
//! groups of every kind.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use binlog::gtid::GtidSet;
use binlog::{Checksum, DecodeError};
use engine::{ChannelChange, CommitOptions, GtidNext, PositionUpdate, Transaction};

use crate::applier::open_group::{OpenGroup, Points};
use crate::applier::report::{self, Place};
use crate::applier::state::ResumePoint;
use crate::channel::Channel;
use crate::error::ThreadError;
use crate::gtid::{GroupGtid, GroupHead};
use crate::relay::RelayPosition;

/// The progress of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// No group is open.
    Outside,
    /// The group's GTID event has come.
    Headed,
    /// BEGIN has come, or MariaDB's GTID event that stands for it.
    Open,
    /// The group is passed over, up to COMMIT if a transaction of several events has begun. It has
    /// been executed before, or `counted` says that `sql_replica_skip_counter` counts it.
    Skipping { in_transaction: bool, counted: bool },
}

/// The open group and the point that the applier has reached.
pub(super) struct GroupProgress<'a> {
    pub(super) channel: &'a Arc<Channel>,
    pub(super) open: OpenGroup,
    pub(super) stage: Stage,
    pub(super) head: GroupHead,
    pub(super) server_id: u32,
    pub(super) executed: GtidSet,
    /// The value of [`engine::Engine::gtid_owner_changes`] when `executed` was last brought up to
    /// date.
    owner_changes: u64,
    position_key: String,
    relay_file: (u64, String),
    /// The end in the relay log of the group that is being committed.
    relay_end: u64,
    pub(super) checksum: Checksum,
    /// The source's file, and below it the end of the last event in that file.
    pub(super) file: String,
    pub(super) pos: u64,
    /// The end of the last complete group.
    pub(super) done: ResumePoint,
}

impl<'a> GroupProgress<'a> {
    /// Builds the state that goes on at `resume`.
    pub(super) fn new(channel: &'a Arc<Channel>, resume: ResumePoint) -> GroupProgress<'a> {
        let filters = channel.filters.lock().clone();
        let mut open = OpenGroup::new(channel.engine.clone(), channel.apply.clone(), filters, false);
        // STOP REPLICA must wait neither for DDL nor for a row that a session has locked.
        open.hold().set_interrupt(channel.applier_stop.clone());
        GroupProgress {
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
            checksum: if resume.has_checksums { Checksum::Crc32 } else { Checksum::None },
            file: resume.file.clone(),
            pos: resume.pos,
            done: resume,
        }
    }

    /// Rolls an open group back.
    pub(super) fn abandon(&mut self) {
        self.stage = Stage::Outside;
        self.open.roll_back();
        self.open.events.clear();
    }

    /// Releases the tables that are held open over several groups, so that DDL on this server gets
    /// its turn.
    pub(super) fn release_tables(&mut self) {
        if self.open.transaction.is_none() {
            self.open.hold().release();
        }
    }

    pub(super) fn place(&self) -> Place<'_> {
        Place { file: &self.file, end_log_pos: self.pos }
    }

    pub(super) fn damaged(&self, error: DecodeError) -> ThreadError {
        report::damaged(&error, self.place())
    }

    /// Reports whether the group that has begun was executed before.
    pub(super) fn is_executed(&self) -> bool {
        match self.head.gtid {
            GroupGtid::Mysql(gtid) => self.executed.contains(gtid),
            GroupGtid::None | GroupGtid::Mariadb(_) => false,
        }
    }

    /// Waits for a session that owns the group's GTID, and adds what sessions have executed to
    /// `executed`.
    pub(super) fn mind_owners(&mut self) -> Result<(), ThreadError> {
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

    pub(super) fn begin_times(&self, timestamp_s: u32) {
        let times = &self.channel.times;
        times.applying_us.store(self.head.immediate_commit_us, Ordering::Relaxed);
        times.event_timestamp_s.store(timestamp_s.into(), Ordering::Relaxed);
    }

    /// Appends an event to the group in the form that the log keeps.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), ThreadError> {
        self.open.append(bytes).map(|_| ()).map_err(|error| self.damaged(error))
    }

    pub(super) fn options(&self) -> CommitOptions<'_> {
        let (gtid, mariadb_gtid) = match self.head.gtid {
            GroupGtid::Mysql(gtid) => (GtidNext::Given(gtid), None),
            // A transaction of MariaDB gets a GTID of this server where gtid_mode is ON.
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
            refused_from: None,
            wait: false,
            noted: None,
        }
    }

    /// Notes the end of the group in the relay log, which its commit record holds.
    pub(super) fn name_relay_end(&mut self, relay: RelayPosition) {
        self.relay_end = relay.pos;
        if self.relay_file.0 != relay.file {
            self.relay_file = (relay.file, self.channel.relay.name(relay.file));
        }
    }

    pub(super) fn commit(&mut self, relay: RelayPosition) -> Result<bool, ThreadError> {
        let events = std::mem::take(&mut self.open.events);
        let transaction = self.open.transaction.take();
        let committed = self.commit_rows(transaction, &events, relay);
        self.open.events = events;
        committed.map(|()| true)
    }

    pub(super) fn commit_rows(
        &mut self,
        transaction: Option<Box<Transaction>>,
        events: &[u8],
        relay: RelayPosition,
    ) -> Result<(), ThreadError> {
        self.name_relay_end(relay);
        let committed = match transaction {
            Some(mut transaction) => {
                let committed = transaction.commit_received_in_place(events, &self.options());
                self.open.hold().spend(transaction);
                committed
            }
            None => self.channel.engine.commit_empty(&self.options()),
        };
        committed.map_err(|error| report::commit(&error, self.place()))?;
        self.group_is_done(relay);
        Ok(())
    }

    pub(super) fn group_is_done(&mut self, relay: RelayPosition) {
        self.channel.times.visible_us.store(self.head.immediate_commit_us, Ordering::Relaxed);
        self.group_is_in_order(relay);
    }

    pub(super) fn group_is_in_order(&mut self, relay: RelayPosition) {
        if let GroupGtid::Mysql(gtid) = self.head.gtid {
            self.executed.add(gtid);
        }
        self.open.events.clear();
        self.open.end_statement();
        self.open.points = Points::default();
        self.stage = Stage::Outside;
        self.channel.applied_transactions.fetch_add(1, Ordering::Relaxed);
        self.done.last = std::mem::take(&mut self.head);
        self.mark_done(relay);
    }

    /// Notes that everything up to here is applied.
    pub(super) fn mark_done(&mut self, relay: RelayPosition) {
        assert!(
            relay >= self.done.relay,
            "applying goes on in the relay log: {relay:?} comes after {:?}",
            self.done.relay
        );
        self.done.relay = relay;
        self.done.has_checksums = self.checksum == Checksum::Crc32;
        self.done.pos = self.pos;
        if self.done.file != self.file {
            self.done.file.clone_from(&self.file);
        }
    }
}
