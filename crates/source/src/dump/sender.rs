//! Sending a dump, event by event, in the form that the client takes: with its checksum and, for a
//! semi-synchronous replica, its acknowledgement.

use binlog::Checksum;
use binlog::gtid::MariadbGtid;
use os::account::{State, enter};
use os::clock::Stopwatch;

use super::for_mariadb;
use super::request::{Checksum as ChecksumWish, DumpRequest};
use super::sink::{DumpEnd, DumpSink};
use crate::error::Refusal;
use crate::events;
use crate::files::LogFiles;
use crate::position::FilePosition;

/// The server's end of a dump to one replica: its position in the files, and the form of the
/// events.
pub(super) struct Sender<'a> {
    pub files: &'a LogFiles,
    pub request: &'a DumpRequest,
    pub sink: &'a mut dyn DumpSink,
    pub generation: u64,
    /// True when the replica has the present group already.
    pub skipping: bool,
    /// True when an event was left out since the last one that was sent.
    pub skipped_any: bool,
    pub at: FilePosition,
    pub name: String,
    /// The checksum with which the events of the present file end.
    pub checksum: Checksum,
    /// The checksum with which sent events end: the one that the client wants, if the file's events
    /// have one. Events before the first format description have the one that the client wants.
    pub sent_checksum: Checksum,
    scratch: Vec<u8>,
    for_mariadb: for_mariadb::Rewriter,
    /// The buffer for the present event in MariaDB's form.
    rewritten: Vec<u8>,
    pub since_sent: Stopwatch,
    /// The number of the session among the semi-synchronous ones.
    pub semi_sync: Option<u64>,
    /// The end of the event that a semi-synchronous replica has to acknowledge.
    pub wanted: Option<FilePosition>,
}

impl Drop for Sender<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.semi_sync {
            self.files.semi_sync.leave(number);
        }
    }
}

impl<'a> Sender<'a> {
    /// Begins a dump at a position. A semi-synchronous replica counts as one until this value is
    /// dropped.
    pub(super) fn new(
        files: &'a LogFiles,
        request: &'a DumpRequest,
        sink: &'a mut dyn DumpSink,
        at: FilePosition,
    ) -> Sender<'a> {
        Sender {
            files,
            request,
            sink,
            generation: files.shared.lock().generation,
            skipping: false,
            skipped_any: false,
            at,
            name: String::new(),
            checksum: Checksum::None,
            sent_checksum: wanted(request),
            scratch: Vec::new(),
            for_mariadb: for_mariadb::Rewriter::default(),
            rewritten: Vec::new(),
            since_sent: Stopwatch::start(),
            semi_sync: request.client.semi_sync.then(|| files.semi_sync.join()),
            wanted: None,
        }
    }

    /// Sends the event that says which file is sent, and from which position on.
    pub(super) fn send_rotate(&mut self) -> Result<(), DumpEnd> {
        let rotate = events::fake_rotate(&self.name, self.at.pos, self.server_id(), self.sent_checksum);
        self.send_made_up(&rotate)
    }

    pub(super) fn server_id(&self) -> u32 {
        self.files.config.server_id
    }

    /// Sends a replica that reads by MariaDB's GTIDs the state that it has reached.
    pub(super) fn send_gtid_list(&mut self, last: Option<MariadbGtid>, flags: u32) -> Result<(), DumpEnd> {
        self.skipped_any = false;
        let list =
            events::gtid_list(last.as_slice(), flags, self.at.pos, self.server_id(), self.sent_checksum);
        self.send_made_up(&list)
    }

    pub(super) fn send_made_up(&mut self, event: &[u8]) -> Result<(), DumpEnd> {
        self.since_sent = Stopwatch::start();
        let sent = match self.semi_sync {
            Some(_) => self.sink.send_semi_sync(event, false),
            None => self.sink.send(event),
        };
        sent.map_err(DumpEnd::Disconnected)
    }

    /// Leaves out an event that ends at `end`, because the replica has it.
    pub(super) fn pass_over(&mut self, end: FilePosition) -> Result<(), DumpEnd> {
        self.skipped_any = true;
        if let (Some(number), true) = (self.semi_sync, self.wanted == Some(end)) {
            self.files.semi_sync.acknowledge(number, end);
        }
        Ok(())
    }

    /// Sends an event in the form that the client takes. `end` is the event's end in the file, if
    /// this is the whole event or the last of its parts.
    pub(super) fn deliver(&mut self, event: &[u8], end: Option<FilePosition>) -> Result<(), DumpEnd> {
        let is_rewritten = self.request.client.is_mariadb
            && self.for_mariadb.rewrite(event, self.checksum, &mut self.rewritten);
        let wanted = self.semi_sync.map(|number| (number, self.wanted.filter(|wanted| end == Some(*wanted))));
        let event = if is_rewritten { &self.rewritten } else { event };
        let event = if self.sent_checksum == self.checksum {
            event
        } else {
            events::without_checksum(event, &mut self.scratch);
            &self.scratch
        };
        let sent = match wanted {
            None => self.sink.send(event),
            Some((_, end)) => self.sink.send_semi_sync(event, end.is_some()),
        };
        sent.map_err(DumpEnd::Disconnected)?;
        match wanted {
            Some((number, Some(end))) => self.take_acknowledgement(number, end),
            _ => Ok(()),
        }
    }

    /// Waits until the replica has acknowledged what was sent. Groups that are committed meanwhile
    /// are sent together, and acknowledged together.
    fn take_acknowledgement(&mut self, number: u64, end: FilePosition) -> Result<(), DumpEnd> {
        let _state = enter(State::ReplicaAckWait);
        loop {
            if self.sink.is_killed() || self.files.shared.lock().stop {
                return Err(DumpEnd::Killed);
            }
            let Some(told) = self.sink.read_acknowledgement().map_err(DumpEnd::Disconnected)? else {
                continue;
            };
            if self.files.shared.lock().generation != self.generation {
                return Err(DumpEnd::Killed);
            }
            if told.file == self.name && told.pos >= end.pos {
                self.files.semi_sync.acknowledge(number, end);
                return Ok(());
            }
            log::warn!("A replica acknowledged {} {}, not {} {}", told.file, told.pos, self.name, end.pos);
        }
    }

    pub(super) fn anonymous_refused(&self) -> Refusal {
        Refusal::fatal_1236(format!(
            "Cannot replicate anonymous transaction when AUTO_POSITION = 1, at file {}, position {}.",
            self.name, self.at.pos
        ))
    }

    pub(super) fn unreadable(&self, what: &str) -> DumpEnd {
        log::error!("Binary log dump: file '{}', position {}: {what}", self.name, self.at.pos);
        DumpEnd::Refused(Refusal::fatal_1236(format!(
            "log event entry could not be read; the event at '{}' position {}: {what}",
            self.name, self.at.pos
        )))
    }
}

/// Returns the checksum with which the client wants events to end.
pub(super) fn wanted(request: &DumpRequest) -> Checksum {
    if request.client.checksum == ChecksumWish::Crc32 { Checksum::Crc32 } else { Checksum::None }
}
