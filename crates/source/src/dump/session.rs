//! One dump session: its beginning, one file after the other, and the waiting at the end.

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
use super::sender::{Sender, wanted};
use super::sink::{DumpEnd, DumpSink};
use crate::error::Refusal;
use crate::events::{self, Beginning, HeadEvent};
use crate::files::{LogFiles, Shared};
use crate::position::FilePosition;
use crate::reading::Reading;
use crate::recent::Block;
use crate::{find, mariadb_gtid};
use mariadb::ByMariadbGtid;

const BLOCK_BYTES: usize = 256 * 1024;
/// The pause of a session that has sent everything, for when the writer makes no pauses because of
/// other sessions that are semi-synchronous.
const REST: Duration = Duration::from_millis(2);
/// A number of bytes that no GTID event exceeds.
const LONGEST_GTID_EVENT_BYTES: usize = 512;
/// The longest sleep of a session before it asks whether it was killed.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

pub(super) fn serve(
    files: &LogFiles,
    request: &DumpRequest,
    sink: &mut dyn DumpSink,
) -> Result<DumpEnd, DumpEnd> {
    let start = find_start(files, request).map_err(DumpEnd::Refused)?;
    let mut reading = Reading::begin(files, start.file).map_err(DumpEnd::Refused)?;
    let mariadb = match &request.start {
        DumpStart::MariadbGtids { has, until } => Some(ByMariadbGtid::new(has, until.as_ref())),
        DumpStart::Position { .. } | DumpStart::Gtids(_) => None,
    };
    Session { sender: Sender::new(files, request, sink, start), mariadb }.send_files(&mut reading)
}

fn find_start(files: &LogFiles, request: &DumpRequest) -> Result<FilePosition, Refusal> {
    // Everything that was committed before the request has to be in the dump, also in one that ends
    // at the end of the log.
    let caught_up = files.wait_caught_up();
    if files.is_turned_off() {
        return Err(not_open());
    }
    caught_up?;
    match &request.start {
        DumpStart::Position { file, pos } => find::by_position(files, file, *pos),
        DumpStart::Gtids(gtids) => find::by_gtids(files, gtids),
        DumpStart::MariadbGtids { has, .. } => mariadb_gtid::find_file(files, has),
    }
}

/// The part of the present file that can be sent.
struct Readable {
    /// The offset up to which the file can be read.
    end: u64,
    /// True when nothing will follow in the file.
    complete: bool,
    /// The next bytes, if they are in memory.
    recent: Option<Block>,
}

/// A session, which sends the files one after the other.
struct Session<'a> {
    sender: Sender<'a>,
    /// The state of a session that reads by MariaDB's GTIDs.
    mariadb: Option<ByMariadbGtid>,
}

impl Session<'_> {
    fn send_files(&mut self, reading: &mut Reading<'_>) -> Result<DumpEnd, DumpEnd> {
        loop {
            self.send_file()?;
            let Some(next) = reading.advance() else { return Ok(DumpEnd::Killed) };
            self.sender.at = FilePosition { file: next, pos: 4 };
        }
    }

    /// Sends the events of the present file, and waits for more while it is the newest. Returns
    /// when the file is complete and sent.
    fn send_file(&mut self) -> Result<(), DumpEnd> {
        let file = {
            let series = self.sender.files.series.lock();
            self.sender.name = series.name(self.sender.at.file);
            series.open_file(self.sender.at.file, OpenMode::Read)
        };
        let file = file.map_err(|_| DumpEnd::Refused(Refusal::fatal_1236("Could not open log file")))?;
        self.send_head(&file)?;
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        loop {
            let Readable { end, complete, recent } = self.readable(&file)?;
            if self.sender.at.pos >= end {
                if complete {
                    return Ok(());
                }
                self.at_end()?;
                continue;
            }
            self.sender.wanted = match self.sender.semi_sync {
                Some(_) => {
                    self.sender.files.semi_sync.wanted_up_to(FilePosition { pos: end, ..self.sender.at })
                }
                None => None,
            };
            match recent.as_ref().and_then(|block| block.from(self.sender.at)) {
                Some(events) => self.send_events(events)?,
                None => self.send_from_file(&file, end, &mut block)?,
            };
        }
    }

    /// Sends the fake rotate event that names the file, and the file's format description.
    fn send_head(&mut self, file: &Arc<dyn File>) -> Result<(), DumpEnd> {
        let head = events::read_head(&**file).map_err(|what| self.sender.unreadable(&what))?;
        let head_end = head.iter().map(HeadEvent::end).max().unwrap_or(4);
        if self.mariadb.is_some() {
            self.sender.at.pos = self.sender.at.pos.max(head_end);
        }
        self.sender.send_rotate()?;
        let first =
            head.first().ok_or_else(|| self.sender.unreadable("there is no format description event"))?;
        self.sender.checksum =
            events::checksum_of_head(&head).map_err(|what| self.sender.unreadable(&what))?;
        if self.sender.request.client.checksum == ChecksumWish::Unaware
            && self.sender.checksum == Checksum::Crc32
        {
            return Err(DumpEnd::Refused(Refusal::fatal_1236(
                "Replica can not handle replication events with the checksum that source is configured to log",
            )));
        }
        if self.sender.checksum == Checksum::None || wanted(self.sender.request) == Checksum::None {
            self.sender.sent_checksum = Checksum::None;
        } else {
            self.sender.sent_checksum = Checksum::Crc32;
        }
        if let Some(mariadb) = &mut self.mariadb {
            let before = events::previous_gtids_of(&head).map_err(|what| self.sender.unreadable(&what))?;
            return mariadb.send_head(&mut self.sender, &head, before.count());
        }
        let from = match &self.sender.request.start {
            DumpStart::Gtids(has)
                if self.first_gtid(file, head_end).is_some_and(|gtid| has.contains(gtid)) =>
            {
                Beginning::Later
            }
            DumpStart::Position { .. } if self.sender.at.pos > 4 => Beginning::Within,
            _ => Beginning::First,
        };
        let format = events::format_for_client(&first.bytes, from, self.sender.sent_checksum);
        self.sender.send_made_up(&format)?;
        self.sender.at.pos = self.sender.at.pos.max(first.end());
        Ok(())
    }

    /// Returns the GTID of the file's first transaction, if it is there already.
    fn first_gtid(&self, file: &Arc<dyn File>, pos: u64) -> Option<Gtid> {
        let mut event = vec![0; LONGEST_GTID_EVENT_BYTES];
        let got = file.read_at(&mut event, pos).ok()?;
        event.truncate(got);
        let size = self.event_size(&event).ok()??;
        events::gtid_of(&event[..size], self.sender.checksum)
    }

    fn readable(&self, file: &Arc<dyn File>) -> Result<Readable, DumpEnd> {
        let shared = self.sender.files.shared.lock();
        if shared.generation != self.sender.generation {
            return Err(DumpEnd::Refused(Refusal::fatal_1236(
                "Could not find first log file name in binary log index file",
            )));
        }
        if shared.end.file == self.sender.at.file {
            let recent = shared.recent.find(self.sender.at);
            return Ok(Readable { end: shared.end.pos, complete: false, recent });
        }
        drop(shared);
        let len = file.len_bytes().map_err(|error| self.sender.unreadable(&error.to_string()))?;
        Ok(Readable { end: len, complete: true, recent: None })
    }

    /// Reads and sends the next block of the file.
    fn send_from_file(
        &mut self,
        file: &Arc<dyn File>,
        end: u64,
        block: &mut Vec<u8>,
    ) -> Result<usize, DumpEnd> {
        let mut want = ((end - self.sender.at.pos) as usize).min(BLOCK_BYTES);
        loop {
            block.resize(want, 0);
            file.read_exact_at(block, self.sender.at.pos)
                .map_err(|error| self.sender.unreadable(&error.to_string()))?;
            let sent = self.send_events(block)?;
            if sent > 0 {
                return Ok(sent);
            }
            // A single event is larger than the block, so it is read whole.
            let size = if block.len() >= HEADER_LEN { events::size(block) } else { 0 };
            if size <= want || (end - self.sender.at.pos) < size as u64 {
                return Err(self.sender.unreadable("an event is longer than the file"));
            }
            want = size;
        }
    }

    /// Sends the whole events in `bytes`, and returns how many bytes they have.
    fn send_events(&mut self, bytes: &[u8]) -> Result<usize, DumpEnd> {
        // The state is entered here and not in the sink, because per event the switch of states
        // would be most of the cost.
        let _sending = enter(State::NetworkSend);
        let mut sent = 0;
        while let Some(size) = self.event_size(&bytes[sent..])? {
            self.send_event(&bytes[sent..sent + size])?;
            self.sender.at.pos += size as u64;
            sent += size;
        }
        if sent > 0 {
            self.sender.since_sent = Stopwatch::start();
        }
        Ok(sent)
    }

    /// Returns the size of the event at the front, if all of it is there.
    fn event_size(&self, bytes: &[u8]) -> Result<Option<usize>, DumpEnd> {
        if bytes.len() < HEADER_LEN {
            return Ok(None);
        }
        let size = events::size(bytes);
        if size < HEADER_LEN {
            return Err(self.sender.unreadable("bogus data in log event"));
        }
        Ok((size <= bytes.len()).then_some(size))
    }

    fn send_event(&mut self, event: &[u8]) -> Result<(), DumpEnd> {
        if let Some(mariadb) = &mut self.mariadb {
            return mariadb.send(&mut self.sender, event);
        }
        let end = FilePosition { file: self.sender.at.file, pos: self.sender.at.pos + event.len() as u64 };
        if let DumpStart::Gtids(has) = &self.sender.request.start {
            self.sender.skipping = leaves_out(event, self.sender.checksum, has, self.sender.skipping)
                .map_err(|()| DumpEnd::Refused(self.sender.anonymous_refused()))?;
            if self.sender.skipping {
                return self.sender.pass_over(end);
            }
            if self.sender.skipped_any {
                self.send_heartbeat()?;
            }
        }
        self.sender.deliver(event, Some(end))
    }

    /// Ends the dump or waits for more, when everything has been sent.
    fn at_end(&mut self) -> Result<(), DumpEnd> {
        if let Some(mariadb) = &mut self.mariadb {
            mariadb.at_end(&mut self.sender)?;
        }
        if self.sender.skipped_any {
            self.send_heartbeat()?;
        }
        self.sender.sink.flush().map_err(DumpEnd::Disconnected)?;
        if self.sender.request.non_blocking {
            return Err(DumpEnd::Complete);
        }
        if self.sender.semi_sync.is_none() && self.sender.files.semi_sync.is_enabled() {
            let _state = enter(State::BinlogWait);
            os::clock::sleep(REST);
        }
        let period = Duration::from_nanos(self.sender.request.client.heartbeat_period_ns);
        loop {
            if self.sender.sink.is_killed() {
                return Err(DumpEnd::Killed);
            }
            if !period.is_zero() && self.sender.since_sent.elapsed() >= period {
                self.send_heartbeat()?;
                self.sender.sink.flush().map_err(DumpEnd::Disconnected)?;
            }
            let sleep = if period.is_zero() {
                LONGEST_SLEEP
            } else {
                self.sender.since_sent.remaining(period).min(LONGEST_SLEEP)
            };
            let mut shared = self.sender.files.shared.lock();
            let moved =
                |shared: &Shared| shared.end > self.sender.at || shared.generation != self.sender.generation;
            if shared.stop && !moved(&shared) {
                return Err(DumpEnd::Killed);
            }
            if shared.turned_off && !moved(&shared) {
                return Err(DumpEnd::Refused(not_open()));
            }
            if !moved(&shared) {
                let _state = enter(State::BinlogWait);
                self.sender.files.changed.wait_for(&mut shared, sleep.max(Duration::from_millis(1)));
            }
            if moved(&shared) {
                return Ok(());
            }
        }
    }

    fn send_heartbeat(&mut self) -> Result<(), DumpEnd> {
        self.sender.skipped_any = false;
        if let Some(mariadb) = &mut self.mariadb {
            mariadb.before_heartbeat(&mut self.sender)?;
        }
        let event = events::heartbeat(
            &self.sender.name,
            self.sender.at.pos,
            self.sender.server_id(),
            self.sender.sent_checksum,
        );
        self.sender.send_made_up(&event)
    }
}

/// Reports whether the event belongs to a group that the replica has.
///
/// # Errors
/// Returns an error for a transaction without a GTID, which cannot be sent by GTID.
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

fn not_open() -> Refusal {
    Refusal::fatal_1236("Binary log is not open")
}
