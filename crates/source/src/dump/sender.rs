//! What is sent of a dump, event by event: in the form that the client takes, with its checksum
//! and, for a semi-synchronous replica, its acknowledgement.

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

/// One replica's end of a dump: where in the files it is, and how it takes events.
pub(super) struct Sender<'a> {
    pub files: &'a LogFiles,
    pub request: &'a DumpRequest,
    pub sink: &'a mut dyn DumpSink,
    pub generation: u64,
    /// The present group is one that the replica has.
    pub skipping: bool,
    /// Something was left out since the last event sent.
    pub skipped_any: bool,
    pub at: FilePosition,
    pub name: String,
    /// What the events of the present file end with.
    pub checksum: Checksum,
    /// What events end with that the client gets: what it wants, where the file's have one. What
    /// comes before the first format description is as the client wants it.
    pub sent_checksum: Checksum,
    scratch: Vec<u8>,
    for_mariadb: for_mariadb::Rewriter,
    /// The present event in MariaDB's form.
    rewritten: Vec<u8>,
    pub since_sent: Stopwatch,
    /// Its number among the semi-synchronous ones.
    pub semi_sync: Option<u64>,
    /// The end of the event that such a replica is to acknowledge.
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
    /// Begins a dump at a place. A semi-synchronous replica is counted as one until this is
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

    /// The event that says which file is sent, and from where on.
    pub(super) fn send_rotate(&mut self) -> Result<(), DumpEnd> {
        let rotate = events::fake_rotate(&self.name, self.at.pos, self.server_id(), self.sent_checksum);
        self.send_made_up(&rotate)
    }

    pub(super) fn server_id(&self) -> u32 {
        self.files.config.server_id
    }

    /// Tells a replica that goes by MariaDB's GTIDs how far it is.
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

    /// Leaves out an event that ends here: the replica has it.
    pub(super) fn pass_over(&mut self, end: FilePosition) -> Result<(), DumpEnd> {
        self.skipped_any = true;
        if let (Some(number), true) = (self.semi_sync, self.wanted == Some(end)) {
            self.files.semi_sync.acknowledge(number, end);
        }
        Ok(())
    }

    /// Sends an event in the form that the client takes. `end` is where it ends in the file, if it
    /// is the whole event or the last of its parts.
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

    /// Waits until the replica has acknowledged what was sent. What is committed meanwhile goes
    /// together, and is acknowledged together.
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

/// The checksum that the client wants events to end with.
pub(super) fn wanted(request: &DumpRequest) -> Checksum {
    if request.client.checksum == ChecksumWish::Crc32 { Checksum::Crc32 } else { Checksum::None }
}
