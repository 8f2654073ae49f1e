//! The binary log of a server, read over a connection as `mysqlbinlog --read-from-remote-server
//! --raw` reads it, and gathered into stretches of its files.

use std::io::{self, Read};

use binlog::boundary::{Boundaries, Edge};
use binlog::checksum::verify_checksum;
use binlog::event::{Event, FLAGS_OFFSET, Header, event_type, flag};
use binlog::gtid::{Gtid, GtidSet};
use binlog::{Checksum, Format};
use os::disk::{Disk, TempFile};
use protocol::client::{Client, ClientError};

use crate::error::{BackupError, Result};
use crate::log_file::without_place;
use crate::manifest::Place;

const COM_BINLOG_DUMP: u8 = 0x12;
/// The flag of a dump that ends where the log ends.
const BINLOG_DUMP_NON_BLOCK: u16 = 1;
const OK_HEADER: u8 = 0x00;
const EOF_HEADER: u8 = 0xFE;

/// A part of one of the server's files, in a temporary file that is a binary log file of its own.
pub(crate) struct Stretch {
    /// The name of the server's file.
    pub file: String,
    /// The offset of the first event.
    pub from: u64,
    /// The offset behind the last event that has come.
    to: u64,
    /// The offset behind the last event at which no transaction is open.
    pub whole_to: u64,
    content: TempFile,
    /// The length of the content up to `whole_to`.
    whole_bytes: u64,
    /// The GTIDs of the whole transactions.
    pub gtids: GtidSet,
}

/// The content of a stretch up to its last whole transaction.
pub(crate) struct Whole<'a> {
    content: &'a TempFile,
    at: u64,
    end: u64,
}

impl Read for Whole<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = bytes.len().min((self.end - self.at) as usize);
        self.content.read(&mut bytes[..count], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

fn unwritten(error: io::Error) -> BackupError {
    BackupError::Io(std::env::temp_dir().display().to_string(), error)
}

impl Stretch {
    fn begin(disk: &dyn Disk, file: &str, from: u64) -> Result<Stretch> {
        let mut content = TempFile::create(disk, &std::env::temp_dir(), "backup").map_err(unwritten)?;
        content.append(&binlog::MAGIC).map_err(unwritten)?;
        let whole_bytes = content.len_bytes();
        let (file, gtids) = (file.to_owned(), GtidSet::default());
        Ok(Stretch { file, from, to: from, whole_to: from, content, whole_bytes, gtids })
    }

    /// Returns the length of the whole transactions in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.whole_to - self.from
    }

    /// Returns the content up to the last whole transaction, and its length in bytes.
    pub fn whole(&self) -> (Whole<'_>, u64) {
        (Whole { content: &self.content, at: 0, end: self.whole_bytes }, self.whole_bytes)
    }
}

/// Gathers the events of a dump into stretches.
pub(crate) struct Gatherer<'a> {
    disk: &'a dyn Disk,
    open: Option<Stretch>,
    /// The stretches whose files have ended.
    done: Vec<Stretch>,
    /// The format of the next event: what its checksum is.
    format: Format,
    /// The format description event of the open file.
    description: Vec<u8>,
    boundaries: Boundaries,
    /// The GTID of the transaction that is open.
    gtid: Option<Gtid>,
}

impl<'a> Gatherer<'a> {
    pub fn new(disk: &'a dyn Disk, checksum: Checksum) -> Gatherer<'a> {
        Gatherer {
            disk,
            open: None,
            done: Vec::new(),
            format: Format::new(checksum),
            description: Vec::new(),
            boundaries: Boundaries::default(),
            gtid: None,
        }
    }

    /// Returns the stretch that grows.
    pub fn open(&self) -> Option<&Stretch> {
        self.open.as_ref()
    }

    /// Reports whether a stretch has ended since the last call of [`Gatherer::take_done`].
    pub fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    /// Returns the stretches that have ended since the last call, but for those without an event.
    pub fn take_done(&mut self) -> Vec<Stretch> {
        std::mem::take(&mut self.done)
    }

    /// Ends the open stretch behind its last whole transaction, and goes on with another one.
    pub fn cut(&mut self) -> Result<()> {
        let Some(old) = self.open.take() else { return Ok(()) };
        let mut new = Stretch::begin(self.disk, &old.file, old.whole_to)?;
        let mut description = self.description.clone();
        if !description.is_empty() {
            description[FLAGS_OFFSET] &= !(flag::BINLOG_IN_USE as u8);
            new.content.append(&without_place(description)).map_err(unwritten)?;
            new.whole_bytes = new.content.len_bytes();
        }
        let mut piece = vec![0; 1 << 20];
        let mut rest = Whole { content: &old.content, at: old.whole_bytes, end: old.content.len_bytes() };
        loop {
            match rest.read(&mut piece).map_err(unwritten)? {
                0 => break,
                got => new.content.append(&piece[..got]).map_err(unwritten)?,
            };
        }
        new.to = old.to;
        assert!(new.whole_to <= new.to, "transactions that are not whole come behind those that are");
        self.done.extend(Some(old).filter(|old| old.len_bytes() > 0));
        self.open = Some(new);
        Ok(())
    }

    /// Takes an event as the server sent it.
    pub fn take(&mut self, event: &[u8]) -> Result<()> {
        let header = Header::decode(event).map_err(damaged)?;
        if header.event_size as usize != event.len() {
            return Err(damaged("its length is wrong"));
        }
        let is_format = header.event_type == event_type::FORMAT_DESCRIPTION;
        if is_format || self.format.checksum == Checksum::Crc32 {
            verify_checksum(event).map_err(damaged)?;
        }
        let is_made_up = header.flags & flag::ARTIFICIAL != 0 || header.log_pos == 0;
        match header.event_type {
            event_type::ROTATE if is_made_up => {
                let Ok((_, Event::Rotate(rotate))) = binlog::decode(event, &self.format) else {
                    return Err(damaged("a rotate event is too short"));
                };
                let name = std::str::from_utf8(rotate.file).map_err(damaged)?;
                return self.begin(name, rotate.position);
            }
            event_type::HEARTBEAT | event_type::HEARTBEAT_V2 => return Ok(()),
            event_type::FORMAT_DESCRIPTION => match binlog::decode(event, &self.format) {
                Ok((_, Event::FormatDescription(format))) => {
                    self.format = format.format();
                    self.description = event.to_vec();
                }
                _ => return Err(damaged("a format description is too short")),
            },
            _ => {}
        }
        let Some(stretch) = &mut self.open else {
            return Err(damaged("it comes before the name of the file"));
        };
        stretch.content.append(event).map_err(unwritten)?;
        // Before events from the middle of a file the server repeats the file's first one.
        if !is_format || stretch.from == 4 {
            stretch.to += event.len() as u64;
        }
        let checksum_bytes = self.format.checksum.len_bytes();
        let bare = &event[..event.len().saturating_sub(checksum_bytes)];
        if self.boundaries.feed(bare) == Edge::Begin {
            self.gtid = match binlog::event::decode_body(&header, bare) {
                Ok(Event::Gtid(event)) => Some(event.gtid),
                _ => None,
            };
        }
        if !self.boundaries.is_inside() {
            self.gtid.take().into_iter().for_each(|gtid| stretch.gtids.add(gtid));
            stretch.whole_to = stretch.to;
            stretch.whole_bytes = stretch.content.len_bytes();
        }
        Ok(())
    }

    /// Goes on with another file of the server.
    fn begin(&mut self, name: &str, from: u64) -> Result<()> {
        if self.open.as_ref().is_some_and(|stretch| stretch.file == name) {
            return Ok(());
        }
        // A file ends with a whole transaction, or with what the server has of one for ever.
        if let Some(stretch) = &mut self.open {
            stretch.whole_to = stretch.to;
            stretch.whole_bytes = stretch.content.len_bytes();
        }
        self.end();
        assert!(self.open.is_none(), "one stretch is open at a time");
        self.open = Some(Stretch::begin(self.disk, name, from)?);
        Ok(())
    }

    /// Ends the open stretch behind its last whole transaction.
    pub fn end(&mut self) {
        self.boundaries.restart();
        self.gtid = None;
        self.done.extend(self.open.take().filter(|stretch| stretch.len_bytes() > 0));
    }
}

fn damaged(what: impl std::fmt::Display) -> BackupError {
    BackupError::Damaged(format!("the server sent an event that is damaged: {what}"))
}

/// A dump of the log from a place on.
pub(crate) struct Dump<'a> {
    client: Client,
    from: Place,
    /// What has come.
    pub gathered: Gatherer<'a>,
}

impl<'a> Dump<'a> {
    /// Asks the server for its log from a place on. A dump that does not follow the log ends where
    /// the log ends; one that follows gets a heartbeat after each so many milliseconds of silence.
    pub fn begin(
        disk: &'a dyn Disk,
        mut client: Client,
        from: &Place,
        heartbeat_ms: Option<u64>,
    ) -> Result<Dump<'a>> {
        client.query(
            "SET @source_binlog_checksum = @@global.binlog_checksum, @master_binlog_checksum = @@global.binlog_checksum",
        )?;
        if let Some(ms) = heartbeat_ms {
            let ns = ms * 1_000_000;
            client.query(&format!("SET @source_heartbeat_period = {ns}, @master_heartbeat_period = {ns}"))?;
        }
        // Events end with this checksum until a format description event says what they end with.
        let none = client.query("SELECT @source_binlog_checksum = 'NONE'")?.cell(0, 0);
        let checksum = if none.as_deref() == Some("1") { Checksum::None } else { Checksum::Crc32 };
        let Ok(pos) = u32::try_from(from.pos) else {
            return Err(BackupError::Refused(format!("{} is longer than 4 GB", from.file)));
        };
        let mut request = pos.to_le_bytes().to_vec();
        let flags = if heartbeat_ms.is_some() { 0 } else { BINLOG_DUMP_NON_BLOCK };
        request.extend_from_slice(&flags.to_le_bytes());
        // A session ends another one with the same server id. That of a dump that ends is 0, which
        // is no replica's; a dump that follows needs a number, which hardly any server has.
        let server_id = if heartbeat_ms.is_some() { os::random::u64() as u32 | 1 << 31 } else { 0 };
        request.extend_from_slice(&server_id.to_le_bytes());
        request.extend_from_slice(from.file.as_bytes());
        client.send_command(COM_BINLOG_DUMP, &request)?;
        Ok(Dump { client, from: from.clone(), gathered: Gatherer::new(disk, checksum) })
    }

    /// Takes the next event. Returns false when the dump has ended.
    pub fn take_next(&mut self) -> Result<bool> {
        let packet = self.client.read_packet_checked().map_err(|error| refused(error, &self.from))?;
        match packet.first() {
            Some(&OK_HEADER) => self.gathered.take(&packet[1..]).map(|()| true),
            Some(&EOF_HEADER) => Ok(false),
            _ => Err(BackupError::Damaged("the server sent a packet that is no event".to_owned())),
        }
    }

    /// Reports whether the next event has come already.
    pub fn has_more(&self) -> bool {
        self.client.has_buffered_input()
    }
}

/// Says what it means when the server cannot send its log from a place on.
fn refused(error: ClientError, from: &Place) -> BackupError {
    match error {
        ClientError::Server(error) if error.code == 1236 => BackupError::Refused(format!(
            "the server's binary log does not go on from {}:{}, so a full backup is needed: {}",
            from.file, from.pos, error.message
        )),
        error => BackupError::Server(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use binlog::checksum::crc32;
    use os::sim::SimDisk;

    fn disk() -> SimDisk {
        let disk = SimDisk::new(1);
        disk.create_dir_all(&std::env::temp_dir()).expect("a directory");
        disk
    }

    /// Returns the event by which a server says that the log goes on in a file.
    fn rotate(name: &str, position: u64, checksum: Checksum) -> Vec<u8> {
        let len = binlog::event::HEADER_LEN + 8 + name.len() + checksum.len_bytes();
        let mut event = vec![0; 4];
        event.push(event_type::ROTATE);
        event.extend_from_slice(&1u32.to_le_bytes());
        event.extend_from_slice(&u32::try_from(len).expect("it is short").to_le_bytes());
        event.extend_from_slice(&0u32.to_le_bytes());
        event.extend_from_slice(&flag::ARTIFICIAL.to_le_bytes());
        event.extend_from_slice(&position.to_le_bytes());
        event.extend_from_slice(name.as_bytes());
        if checksum == Checksum::Crc32 {
            let crc = crc32(&event);
            event.extend_from_slice(&crc.to_le_bytes());
        }
        event
    }

    /// The name of a log file ends where its checksum begins, even if that looks like more of the
    /// name.
    #[test]
    fn a_files_name_ends_before_the_checksum() {
        let disk = disk();
        let name = "binlog.000003";
        let digits = |position: &u64| {
            let event = rotate(name, *position, Checksum::Crc32);
            event[event.len() - 4].is_ascii_digit()
        };
        let position = (4..).find(digits).expect("one position in 26 has such a checksum");
        for checksum in [Checksum::Crc32, Checksum::None] {
            let mut gathered = Gatherer::new(&disk, checksum);
            gathered.take(&rotate(name, position, checksum)).expect("the event is sound");
            let stretch = gathered.open().expect("a file has begun");
            assert_eq!((&*stretch.file, stretch.from), (name, position), "{checksum:?}");
        }
    }

    #[test]
    fn a_damaged_event_is_refused() {
        let disk = disk();
        let sound = rotate("binlog.000003", 4, Checksum::Crc32);
        for at in 0..sound.len() {
            let mut event = sound.clone();
            event[at] ^= 1;
            let taken = Gatherer::new(&disk, Checksum::Crc32).take(&event);
            assert!(matches!(taken, Err(BackupError::Damaged(_))), "byte {at}");
        }
    }
}
