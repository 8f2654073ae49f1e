//! The stream of events from the source. Each event is checked, searched for group boundaries and
//! appended to the relay log.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use binlog::Checksum;
use binlog::boundary::{Boundaries, Edge};
use binlog::event::{Event, Header, HeartbeatEvent};
use binlog::semi_sync::{self, Acknowledgement};
use engine::GtidMode;
use os::account::{State, enter};
use protocol::client::{Client, ClientError};

use super::connection::{Ended, Source};
use crate::channel::Channel;
use crate::error::{ThreadError, number};
use crate::event::{self, kind};
use crate::gtid::{GroupGtid, GroupHead};
use crate::relay::RelayWriter;

const OK_HEADER: u8 = 0x00;
const EOF_HEADER: u8 = 0xFE;

/// Receives until the connection ends or the receiver has to stop. Sets `news` when the source has
/// sent an event with which not every connection begins.
pub(super) fn follow(channel: &Arc<Channel>, source: &Source, client: &mut Client, news: &mut bool) -> Ended {
    let writer = match RelayWriter::open(&channel.relay) {
        Ok(writer) => writer,
        Err(error) => return write_failure(&error.to_string()),
    };
    let mut stream = Stream::new(channel, (source.semi_sync, source.has_checksums), writer);
    let ended = loop {
        if let Some(ended) = stream.receive_one(client) {
            break ended;
        }
    };
    *news = stream.has_news;
    match stream.publish() {
        Ok(()) => ended,
        Err(publish_failed) => publish_failed,
    }
}

fn write_failure(what: &str) -> Ended {
    Ended::Fatal(ThreadError::now(
        number::RELAY_LOG_WRITE_FAILURE,
        format!("Relay log write failure: could not queue event from source; {what}"),
    ))
}

/// The state of a stream of events.
pub(super) struct Stream<'a> {
    channel: &'a Channel,
    writer: RelayWriter,
    boundaries: Boundaries,
    /// The checksum with which the source's events end.
    checksum: Checksum,
    /// True when events have the header of semi-synchronous replication.
    semi_sync: bool,
    /// The checksum that a reader of the relay log expects at this point.
    relay_checksum: Checksum,
    /// The source's file, and below it the end of the last event in that file.
    file: String,
    pos: u64,
    /// The group that has begun. The default stands for none.
    open: GroupHead,
    /// The last complete group.
    last: GroupHead,
    /// The GTIDs of the groups completed since the last publication.
    complete: Vec<GroupGtid>,
    /// The file and the offset at which the last complete group ended.
    complete_pos: Option<(String, u64)>,
    file_changed: bool,
    /// True when an event has come that is not part of the head of a file.
    has_news: bool,
}

impl<'a> Stream<'a> {
    /// Builds the state at the beginning of a stream. Its events have the header of
    /// semi-synchronous replication, and end with a checksum, as the two flags say.
    pub fn new(
        channel: &'a Channel,
        (semi_sync, has_checksums): (bool, bool),
        writer: RelayWriter,
    ) -> Stream<'a> {
        Stream {
            channel,
            writer,
            boundaries: Boundaries::default(),
            semi_sync,
            checksum: if has_checksums { Checksum::Crc32 } else { Checksum::None },
            // Every relay log file begins with a format description of this server, which announces
            // checksums.
            relay_checksum: Checksum::Crc32,
            file: String::new(),
            pos: 4,
            open: GroupHead::default(),
            last: GroupHead::default(),
            complete: Vec::new(),
            complete_pos: None,
            file_changed: false,
            has_news: false,
        }
    }

    /// Receives one packet. `Some` means that the stream has ended.
    fn receive_one(&mut self, client: &mut Client) -> Option<Ended> {
        // Events that arrived together are published together, and always before the receiver waits
        // for another packet.
        if !client.has_buffered_input() {
            if let Err(ended) = self.publish() {
                return Some(ended);
            }
            if self.channel.receiver_must_stop() {
                return Some(Ended::Stopped);
            }
        }
        let waiting = (!client.has_buffered_input()).then(|| enter(State::SourceWait));
        let packet = client.read_packet_checked();
        drop(waiting);
        let packet = match packet {
            Ok(packet) => packet,
            Err(error) => return Some(self.read_failed(error)),
        };
        match packet.first() {
            Some(&OK_HEADER) => {}
            Some(&EOF_HEADER) => return Some(Ended::lost("the source ended the dump")),
            _ => return Some(Ended::lost("the source sent a packet that is no event")),
        }
        if !self.semi_sync {
            return self.take(&packet[1..]).err();
        }
        let Some((event, wants_ack)) = semi_sync::strip(&packet[1..]) else {
            return Some(write_failure("Missing magic number for semi-sync packet"));
        };
        let taken = self.take(event).and_then(|()| if wants_ack { self.publish() } else { Ok(()) });
        if let Err(ended) = taken {
            return Some(ended);
        }
        let told = if wants_ack { self.acknowledge(client) } else { Ok(()) };
        told.err().map(|error| self.read_failed(error))
    }

    /// Tells the source that everything up to here is in the relay log.
    fn acknowledge(&self, client: &mut Client) -> Result<(), ClientError> {
        let acknowledgement = Acknowledgement { file: self.file.clone(), pos: self.pos };
        client.write_first_packet(&acknowledgement.encode())
    }

    fn read_failed(&self, error: ClientError) -> Ended {
        if self.channel.receiver_must_stop() {
            return Ended::Stopped;
        }
        match error {
            ClientError::Server(error) if error.code == 1236 => Ended::Fatal(ThreadError::now(
                number::SOURCE_FATAL_ERROR_READING_BINLOG,
                format!(
                    "Got fatal error 1236 from source when reading data from binary log: '{}'",
                    error.message
                ),
            )),
            ClientError::Server(error) => {
                Ended::lost(format!("Error reading packet from server: {} ({})", error.message, error.code))
            }
            other => Ended::lost(format!("Error reading packet from server: {other}")),
        }
    }

    /// Takes one event.
    pub fn take(&mut self, event: &[u8]) -> Result<(), Ended> {
        if !event::is_whole(event) {
            return Err(write_failure("the event's length is wrong"));
        }
        let kind = event::kind_of(event);
        // A format description event itself says what it and the events behind it end with.
        if kind == kind::FORMAT_DESCRIPTION {
            self.checksum = source::events::checksum_of_format(event)
                .ok_or_else(|| write_failure("a format description event is damaged"))?;
        }
        let has_checksum = self.checksum == Checksum::Crc32 || kind == kind::FORMAT_DESCRIPTION;
        if has_checksum && binlog::checksum::verify_checksum(event).is_err() {
            return Err(write_failure(
                "Replication event checksum verification failed while reading from network.",
            ));
        }
        let bare = &event[..event.len() - if has_checksum { event::CHECKSUM_BYTES } else { 0 }];
        self.has_news |= !matches!(kind, kind::FORMAT_DESCRIPTION | kind::ROTATE);
        match kind {
            kind::FORMAT_DESCRIPTION => {
                self.relay_checksum = self.checksum;
                self.advance(event);
                self.writer.append_format(event).map_err(|e| write_failure(&e.to_string()))
            }
            kind::ROTATE | kind::HEARTBEAT | kind::HEARTBEAT_V2 => self.steer(event, bare),
            // The source stops. Its position does not move, so that a new connection asks for what
            // comes next.
            kind::STOP => Ok(()),
            _ => self.append(event, bare),
        }
    }

    /// Takes an event about the source's position: a rotate event or a heartbeat.
    fn steer(&mut self, event: &[u8], bare: &[u8]) -> Result<(), Ended> {
        let decoded = Header::decode(bare).and_then(|header| binlog::event::decode_body(&header, bare));
        match decoded {
            Ok(Event::Rotate(rotate)) => {
                if event::timestamp(event) == 0 {
                    self.boundaries.restart();
                }
                self.rotate(rotate.file, rotate.position, event::server_id(event))
            }
            Ok(Event::Heartbeat(heartbeat)) => self.heartbeat(&heartbeat, event::server_id(event)),
            _ => Err(write_failure("a rotate or heartbeat event is damaged")),
        }
    }

    /// Notes that the source goes on in this file. The relay log always gets the rotate event in
    /// the form that a sender makes up, which says where to go on whatever the source's own
    /// checksum setting is.
    pub fn rotate(&mut self, file: &[u8], pos: u64, server_id: u32) -> Result<(), Ended> {
        self.file = String::from_utf8_lossy(file).into_owned();
        self.pos = pos;
        self.file_changed = true;
        if !self.boundaries.is_inside() {
            self.complete_pos = Some((self.file.clone(), pos));
        }
        let here = source::events::fake_rotate(&self.file, pos, server_id, self.relay_checksum);
        let at_head = source::events::fake_rotate(&self.file, pos, server_id, Checksum::Crc32);
        self.writer.append_rotate(&here, at_head).map_err(|e| write_failure(&e.to_string()))
    }

    fn advance(&mut self, event: &[u8]) {
        if let Some(end) = event::end_pos(event) {
            self.pos = event::unwrap_pos(self.pos, end);
        }
    }

    /// Takes a heartbeat, which says how far the source has searched its log. Events that a GTID
    /// dump left out move the position too.
    fn heartbeat(&mut self, heartbeat: &HeartbeatEvent<'_>, server_id: u32) -> Result<(), Ended> {
        self.channel.heard_from_source();
        if self.boundaries.is_inside() {
            return Ok(());
        }
        let moved_on = heartbeat.file != self.file.as_bytes() || heartbeat.position > self.pos;
        if heartbeat.position == 0 || !moved_on {
            return Ok(());
        }
        self.rotate(heartbeat.file, heartbeat.position, server_id)
    }

    fn append(&mut self, event: &[u8], bare: &[u8]) -> Result<(), Ended> {
        let edge = self.boundaries.feed(bare);
        if edge == Edge::Begin {
            self.open = self.group_begins(bare)?;
        }
        self.advance(event);
        self.writer.append(event).map_err(|e| write_failure(&e.to_string()))?;
        match edge {
            Edge::End | Edge::Whole => self.group_ended(),
            Edge::Outside if !self.boundaries.is_inside() => {
                self.note_complete();
                Ok(())
            }
            Edge::Outside | Edge::Begin | Edge::Inside => Ok(()),
        }
    }

    /// Refuses what MySQL's receiver refuses under this server's `gtid_mode`. MySQL's errors 13149
    /// (3114) and 13150 (3115) end the receiver with 13122.
    fn check_gtid_mode(&self, first_kind: u8) -> Result<(), Ended> {
        let what = match (first_kind, self.channel.engine.gtid_mode()) {
            (kind::ANONYMOUS_GTID, GtidMode::On) => "anonymous transaction when @@GLOBAL.GTID_MODE = ON",
            (kind::GTID | kind::GTID_TAGGED, GtidMode::Off) => {
                "GTID-transaction when @@GLOBAL.GTID_MODE = OFF"
            }
            _ => return Ok(()),
        };
        Err(write_failure(&format!("Cannot replicate {what}, at file {}, position {}.", self.file, self.pos)))
    }

    fn group_begins(&self, bare: &[u8]) -> Result<GroupHead, Ended> {
        self.check_gtid_mode(event::kind_of(bare))?;
        let head = GroupHead::read(bare)
            .map_err(|error| write_failure(&format!("the first event of a group: {error}")))?;
        let head = head.unwrap_or_else(|| GroupHead::of_second(event::timestamp(bare)));
        let first = &self.channel.times.first_received_us;
        let _already_known =
            first.compare_exchange(0, head.immediate_commit_us, Ordering::Relaxed, Ordering::Relaxed);
        Ok(head)
    }

    fn note_complete(&mut self) {
        match &mut self.complete_pos {
            Some((_, pos)) if !self.file_changed => *pos = self.pos,
            _ => {
                self.complete_pos = Some((self.file.clone(), self.pos));
                self.file_changed = false;
            }
        }
    }

    fn group_ended(&mut self) -> Result<(), Ended> {
        self.last = std::mem::take(&mut self.open);
        self.complete.push(self.last.gtid);
        self.note_complete();
        let channel = self.channel;
        match self.writer.end_of_group(&|| channel.receiver_must_stop()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Ended::Stopped),
            Err(error) => Err(write_failure(&error.to_string())),
        }
    }

    /// Publishes what has arrived so far to the applier and the status.
    pub fn publish(&mut self) -> Result<(), Ended> {
        let mut state = self.channel.receiver.lock();
        state.last_heard_us = os::clock::now_us();
        if state.read_file != self.file {
            state.read_file.clone_from(&self.file);
        }
        state.read_pos = self.pos;
        if let Some((file, pos)) = self.complete_pos.take() {
            state.received.file = file;
            state.received.pos = pos;
        }
        state.queueing = self.open;
        if !self.complete.is_empty() {
            (state.last_queued, state.last_queued_us) = (self.last, state.last_heard_us);
        }
        state.received.has_groups |= !self.complete.is_empty();
        for gtid in self.complete.drain(..) {
            match gtid {
                GroupGtid::None => {}
                GroupGtid::Mysql(gtid) => state.received.gtids.add(gtid),
                GroupGtid::Mariadb(gtid) => state.received.mariadb.update(gtid),
            }
        }
        drop(state);
        self.writer.flush().map_err(|error| write_failure(&error.to_string()))
    }
}
