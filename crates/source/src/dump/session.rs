//! One dump session.

mod mariadb;

use std::sync::Arc;
use std::time::Duration;

use binlog::Checksum;
use binlog::event::{HEADER_LEN, event_type};
use binlog::gtid::{Gtid, GtidSet};
use os::account::{State, enter};
use os::clock::Stopwatch;
use os::disk::{File, OpenMode};

use super::request::{Checksum as ChecksumWish, DumpRequest, DumpStart};
use super::{DumpEnd, DumpSink, for_mariadb};
use crate::error::Refusal;
use crate::events::{self, Beginning, HeadEvent};
use crate::files::{Binlog, FilePosition};
use crate::reading::Reading;
use crate::recent::Block;
use mariadb::ByMariadbGtid;

const BLOCK_BYTES: usize = 256 * 1024;
/// The pause of a session that has sent all there was, when the writer makes none because of others
/// that are semi-synchronous.
const REST: Duration = Duration::from_millis(2);
/// More than a GTID event can be long.
const LONGEST_GTID_EVENT_BYTES: usize = 512;
/// How long a session sleeps at most before it asks whether it was killed.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

pub(super) fn serve(
    binlog: &Binlog,
    request: &DumpRequest,
    sink: &mut dyn DumpSink,
) -> Result<DumpEnd, DumpEnd> {
    let start = find_start(binlog, request).map_err(DumpEnd::Refused)?;
    let mut reading = Reading::begin(binlog, start.file).map_err(DumpEnd::Refused)?;
    let generation = binlog.shared.lock().generation;
    let mut session = Session {
        binlog,
        request,
        sink,
        generation,
        skipping: false,
        skipped_any: false,
        at: start,
        name: String::new(),
        checksum: Checksum::None,
        sent_checksum: wanted(request),
        scratch: Vec::new(),
        for_mariadb: for_mariadb::Rewriter::default(),
        rewritten: Vec::new(),
        since_sent: Stopwatch::start(),
        semi_sync: request.client.semi_sync.then(|| binlog.semi_sync.join()),
        wanted: None,
        mariadb: match &request.start {
            DumpStart::MariadbGtids { has, until } => Some(ByMariadbGtid::new(has, until.as_ref())),
            DumpStart::Position { .. } | DumpStart::Gtids(_) => None,
        },
    };
    session.send_files(&mut reading)
}

fn find_start(binlog: &Binlog, request: &DumpRequest) -> Result<FilePosition, Refusal> {
    // What was committed before the request has to be in the dump, also in one that ends at the
    // end.
    let caught_up = binlog.wait_caught_up();
    if binlog.is_turned_off() {
        return Err(Binlog::not_open());
    }
    caught_up?;
    match &request.start {
        DumpStart::Position { file, pos } => find_position(binlog, file, *pos),
        DumpStart::Gtids(gtids) => binlog.find_by_gtids(gtids),
        DumpStart::MariadbGtids { has, .. } => binlog.find_by_mariadb_gtids(has),
    }
}

fn find_position(binlog: &Binlog, file: &str, pos: u64) -> Result<FilePosition, Refusal> {
    let files = binlog.files.lock();
    let number = if file.is_empty() { files.numbers().first().copied() } else { files.find(file) };
    let Some(number) = number else {
        return Err(Refusal::fatal_1236("Could not find first log file name in binary log index file"));
    };
    if pos < 4 {
        return Err(Refusal::fatal_1236("Client requested source to start replication from position < 4"));
    }
    let end = binlog.shared.lock().end;
    let len = if end.file == number {
        end.pos
    } else {
        files.len_bytes(number).map_err(|_| Refusal::fatal_1236("Could not open log file"))?
    };
    if pos > len {
        return Err(Refusal::fatal_1236(
            "Client requested source to start replication from position > file size",
        ));
    }
    Ok(FilePosition { file: number, pos })
}

/// What there is to send of the present file.
struct Readable {
    /// How far it can be read.
    end: u64,
    /// Nothing will follow.
    complete: bool,
    /// The next bytes, where they are in memory.
    recent: Option<Block>,
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.semi_sync {
            self.binlog.semi_sync.leave(number);
        }
    }
}

struct Session<'a> {
    binlog: &'a Binlog,
    request: &'a DumpRequest,
    sink: &'a mut dyn DumpSink,
    generation: u64,
    /// The present group is one that the replica has.
    skipping: bool,
    /// Something was left out since the last event sent.
    skipped_any: bool,
    at: FilePosition,
    name: String,
    /// What the events of the present file end with.
    checksum: Checksum,
    /// What events end with that the client gets: what it wants, where the file's have one. What
    /// comes before the first format description is as the client wants it.
    sent_checksum: Checksum,
    scratch: Vec<u8>,
    for_mariadb: for_mariadb::Rewriter,
    /// The present event in MariaDB's form.
    rewritten: Vec<u8>,
    since_sent: Stopwatch,
    /// Its number among the semi-synchronous ones.
    semi_sync: Option<u64>,
    /// The end of the event that such a replica is to acknowledge.
    wanted: Option<FilePosition>,
    /// It goes by MariaDB's GTIDs.
    mariadb: Option<ByMariadbGtid>,
}

impl Session<'_> {
    fn send_files(&mut self, reading: &mut Reading<'_>) -> Result<DumpEnd, DumpEnd> {
        loop {
            self.send_file()?;
            let Some(next) = reading.advance() else { return Ok(DumpEnd::Killed) };
            self.at = FilePosition { file: next, pos: 4 };
        }
    }

    /// Sends what is in the present file, waiting for more while it is the newest. Returns when it
    /// is complete and sent.
    fn send_file(&mut self) -> Result<(), DumpEnd> {
        let file = {
            let files = self.binlog.files.lock();
            self.name = files.name(self.at.file);
            files.open_file(self.at.file, OpenMode::Read)
        };
        let file = file.map_err(|_| DumpEnd::Refused(Refusal::fatal_1236("Could not open log file")))?;
        self.send_head(&file)?;
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        loop {
            let Readable { end, complete, recent } = self.readable(&file)?;
            if self.at.pos >= end {
                if complete {
                    return Ok(());
                }
                self.at_end()?;
                continue;
            }
            self.wanted = match self.semi_sync {
                Some(_) => self.binlog.semi_sync.wanted_up_to(FilePosition { pos: end, ..self.at }),
                None => None,
            };
            match recent.as_ref().and_then(|block| block.from(self.at)) {
                Some(events) => self.send_events(events)?,
                None => self.send_from_file(&file, end, &mut block)?,
            };
        }
    }

    /// The fake rotate event that names the file, and its format description.
    fn send_head(&mut self, file: &Arc<dyn File>) -> Result<(), DumpEnd> {
        let head = events::read_head(&**file).map_err(|what| self.unreadable(&what))?;
        let head_end = head.iter().map(HeadEvent::end).max().unwrap_or(4);
        if self.mariadb.is_some() {
            self.at.pos = self.at.pos.max(head_end);
        }
        self.send_rotate()?;
        let first = head.first().ok_or_else(|| self.unreadable("there is no format description event"))?;
        self.checksum = events::checksum_of_head(&head).map_err(|what| self.unreadable(&what))?;
        if self.request.client.checksum == ChecksumWish::Unaware && self.checksum == Checksum::Crc32 {
            return Err(DumpEnd::Refused(Refusal::fatal_1236(
                "Replica can not handle replication events with the checksum that source is configured to log",
            )));
        }
        if self.checksum == Checksum::None || wanted(self.request) == Checksum::None {
            self.sent_checksum = Checksum::None;
        } else {
            self.sent_checksum = Checksum::Crc32;
        }
        if self.mariadb.is_some() {
            return self.send_head_for_mariadb(&head);
        }
        let from = match &self.request.start {
            DumpStart::Gtids(has)
                if self.first_gtid(file, head_end).is_some_and(|gtid| has.contains(gtid)) =>
            {
                Beginning::Later
            }
            DumpStart::Position { .. } if self.at.pos > 4 => Beginning::Within,
            _ => Beginning::First,
        };
        let format = events::format_for_client(&first.bytes, from, self.sent_checksum);
        self.send_made_up(&format)?;
        self.at.pos = self.at.pos.max(first.end());
        Ok(())
    }

    /// The event that says which file is sent, and from where on.
    fn send_rotate(&mut self) -> Result<(), DumpEnd> {
        let rotate = events::fake_rotate(&self.name, self.at.pos, self.server_id(), self.sent_checksum);
        self.send_made_up(&rotate)
    }

    fn server_id(&self) -> u32 {
        self.binlog.config.server_id
    }

    /// The GTID of the file's first transaction, if it is there already.
    fn first_gtid(&self, file: &Arc<dyn File>, pos: u64) -> Option<Gtid> {
        let mut event = vec![0; LONGEST_GTID_EVENT_BYTES];
        let got = file.read_at(&mut event, pos).ok()?;
        event.truncate(got);
        let size = self.event_size(&event).ok()??;
        events::gtid_of(&event[..size], self.checksum)
    }

    fn send_made_up(&mut self, event: &[u8]) -> Result<(), DumpEnd> {
        self.since_sent = Stopwatch::start();
        let sent = match self.semi_sync {
            Some(_) => self.sink.send_semi_sync(event, false),
            None => self.sink.send(event),
        };
        sent.map_err(DumpEnd::Disconnected)
    }

    fn readable(&self, file: &Arc<dyn File>) -> Result<Readable, DumpEnd> {
        let shared = self.binlog.shared.lock();
        if shared.generation != self.generation {
            return Err(DumpEnd::Refused(Refusal::fatal_1236(
                "Could not find first log file name in binary log index file",
            )));
        }
        if shared.end.file == self.at.file {
            let recent = shared.recent.find(self.at);
            return Ok(Readable { end: shared.end.pos, complete: false, recent });
        }
        drop(shared);
        let len = file.len_bytes().map_err(|error| self.unreadable(&error.to_string()))?;
        Ok(Readable { end: len, complete: true, recent: None })
    }

    /// Reads and sends the next block of the file.
    fn send_from_file(
        &mut self,
        file: &Arc<dyn File>,
        end: u64,
        block: &mut Vec<u8>,
    ) -> Result<usize, DumpEnd> {
        let mut want = ((end - self.at.pos) as usize).min(BLOCK_BYTES);
        loop {
            block.resize(want, 0);
            file.read_exact_at(block, self.at.pos).map_err(|error| self.unreadable(&error.to_string()))?;
            let sent = self.send_events(block)?;
            if sent > 0 {
                return Ok(sent);
            }
            // One event larger than the block: read it whole.
            let size = if block.len() >= HEADER_LEN { events::size(block) } else { 0 };
            if size <= want || (end - self.at.pos) < size as u64 {
                return Err(self.unreadable("an event is longer than the file"));
            }
            want = size;
        }
    }

    /// Sends the whole events of some bytes; returns how many bytes these have.
    fn send_events(&mut self, bytes: &[u8]) -> Result<usize, DumpEnd> {
        // Here, not in the sink: a switch of states is what an event costs otherwise.
        let _sending = enter(State::NetworkSend);
        let mut sent = 0;
        while let Some(size) = self.event_size(&bytes[sent..])? {
            self.send_event(&bytes[sent..sent + size])?;
            self.at.pos += size as u64;
            sent += size;
        }
        if sent > 0 {
            self.since_sent = Stopwatch::start();
        }
        Ok(sent)
    }

    /// Size of the event at the front, if it is all there.
    fn event_size(&self, bytes: &[u8]) -> Result<Option<usize>, DumpEnd> {
        if bytes.len() < HEADER_LEN {
            return Ok(None);
        }
        let size = events::size(bytes);
        if size < HEADER_LEN {
            return Err(self.unreadable("bogus data in log event"));
        }
        Ok((size <= bytes.len()).then_some(size))
    }

    fn send_event(&mut self, event: &[u8]) -> Result<(), DumpEnd> {
        if self.mariadb.is_some() {
            return self.with_mariadb(|mariadb, session| mariadb.send(session, event));
        }
        let end = FilePosition { file: self.at.file, pos: self.at.pos + event.len() as u64 };
        if let DumpStart::Gtids(has) = &self.request.start {
            self.skipping = leaves_out(event, self.checksum, has, self.skipping)
                .map_err(|()| DumpEnd::Refused(self.anonymous_refused()))?;
            if self.skipping {
                return self.pass_over(end);
            }
            if self.skipped_any {
                self.send_heartbeat()?;
            }
        }
        self.deliver(event, Some(end))
    }

    /// Leaves out an event that ends here: the replica has it.
    fn pass_over(&mut self, end: FilePosition) -> Result<(), DumpEnd> {
        self.skipped_any = true;
        if let (Some(number), true) = (self.semi_sync, self.wanted == Some(end)) {
            self.binlog.semi_sync.acknowledge(number, end);
        }
        Ok(())
    }

    /// Sends an event in the form that the client takes. `end` is where it ends in the file, if it
    /// is the whole event or the last of its parts.
    fn deliver(&mut self, event: &[u8], end: Option<FilePosition>) -> Result<(), DumpEnd> {
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
            if self.sink.is_killed() || self.binlog.shared.lock().stop {
                return Err(DumpEnd::Killed);
            }
            let Some(told) = self.sink.read_acknowledgement().map_err(DumpEnd::Disconnected)? else {
                continue;
            };
            if self.binlog.shared.lock().generation != self.generation {
                return Err(DumpEnd::Killed);
            }
            if told.file == self.name && told.pos >= end.pos {
                self.binlog.semi_sync.acknowledge(number, end);
                return Ok(());
            }
            log::warn!("A replica acknowledged {} {}, not {} {}", told.file, told.pos, self.name, end.pos);
        }
    }

    fn anonymous_refused(&self) -> Refusal {
        Refusal::fatal_1236(format!(
            "Cannot replicate anonymous transaction when AUTO_POSITION = 1, at file {}, position {}.",
            self.name, self.at.pos
        ))
    }

    /// Everything has been sent: ends, or waits for more.
    fn at_end(&mut self) -> Result<(), DumpEnd> {
        self.with_mariadb(|mariadb, session| mariadb.at_end(session))?;
        if self.skipped_any {
            self.send_heartbeat()?;
        }
        self.sink.flush().map_err(DumpEnd::Disconnected)?;
        if self.request.non_blocking {
            return Err(DumpEnd::Complete);
        }
        if self.semi_sync.is_none() && self.binlog.semi_sync.is_enabled() {
            let _state = enter(State::BinlogWait);
            os::clock::sleep(REST);
        }
        let period = Duration::from_nanos(self.request.client.heartbeat_period_ns);
        loop {
            if self.sink.is_killed() {
                return Err(DumpEnd::Killed);
            }
            if !period.is_zero() && self.since_sent.elapsed() >= period {
                self.send_heartbeat()?;
                self.sink.flush().map_err(DumpEnd::Disconnected)?;
            }
            let sleep = if period.is_zero() {
                LONGEST_SLEEP
            } else {
                self.since_sent.remaining(period).min(LONGEST_SLEEP)
            };
            let mut shared = self.binlog.shared.lock();
            let moved =
                |shared: &crate::files::Shared| shared.end > self.at || shared.generation != self.generation;
            if shared.stop && !moved(&shared) {
                return Err(DumpEnd::Killed);
            }
            if shared.turned_off && !moved(&shared) {
                return Err(DumpEnd::Refused(Binlog::not_open()));
            }
            if !moved(&shared) {
                let _state = enter(State::BinlogWait);
                self.binlog.changed.wait_for(&mut shared, sleep.max(Duration::from_millis(1)));
            }
            if moved(&shared) {
                return Ok(());
            }
        }
    }

    fn send_heartbeat(&mut self) -> Result<(), DumpEnd> {
        self.skipped_any = false;
        self.with_mariadb(|mariadb, session| mariadb.before_heartbeat(session))?;
        let event = events::heartbeat(&self.name, self.at.pos, self.server_id(), self.sent_checksum);
        self.send_made_up(&event)
    }

    fn unreadable(&self, what: &str) -> DumpEnd {
        log::error!("Binary log dump: file '{}', position {}: {what}", self.name, self.at.pos);
        DumpEnd::Refused(Refusal::fatal_1236(format!(
            "log event entry could not be read; the event at '{}' position {}: {what}",
            self.name, self.at.pos
        )))
    }
}

fn wanted(request: &DumpRequest) -> Checksum {
    if request.client.checksum == ChecksumWish::Crc32 { Checksum::Crc32 } else { Checksum::None }
}

/// Whether the event belongs to a group that the replica has. `Err`: a transaction without a GTID
/// cannot be sent by GTID.
fn leaves_out(event: &[u8], checksum: Checksum, has: &GtidSet, skipping: bool) -> Result<bool, ()> {
    match events::kind(event) {
        event_type::GTID | event_type::GTID_TAGGED => {
            Ok(events::gtid_of(event, checksum).is_some_and(|gtid| has.contains(gtid)))
        }
        event_type::ANONYMOUS_GTID => Err(()),
        event_type::FORMAT_DESCRIPTION
        | event_type::ROTATE
        | event_type::STOP
        | event_type::PREVIOUS_GTIDS => Ok(false),
        _ => Ok(skipping),
    }
}
