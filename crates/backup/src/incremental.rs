//! An incremental backup: the binary log that the server has written since the last run, read over
//! a connection as `mysqlbinlog --read-from-remote-server --raw` reads it.

use std::io::Write;
use std::path::Path;

use binlog::checksum::verify_checksum;
use binlog::event::{Event, Header, event_type, flag};
use binlog::gtid::GtidSet;
use binlog::{Checksum, Format};
use os::disk::Disk;
use protocol::client::{Client, ClientError};

use crate::command_line::BackupPlan;
use crate::error::{BackupError, Result};
use crate::full::one;
use crate::manifest::{Manifest, Place, Segment};
use crate::stored::{Sequential, Stored, sync_dirs_of, take_in};

const COM_BINLOG_DUMP: u8 = 0x12;
/// The flag of a dump that ends where the log ends.
const BINLOG_DUMP_NON_BLOCK: u16 = 1;
const OK_HEADER: u8 = 0x00;
const EOF_HEADER: u8 = 0xFE;
/// The directory of the segments in the backup's directory.
const LOGS: &str = "logs";

/// Adds to the backup what came since its last run. Returns what to tell the user.
pub(crate) fn run(plan: &BackupPlan) -> Result<String> {
    let disk = os::disk::real();
    let root = &*plan.to;
    let mut manifest = Manifest::read(&*disk, root)?;
    let Some(end) = manifest.end() else {
        let what = "the server had no binary log when the backup was made: a full backup is needed";
        return Err(BackupError::Refused(what.to_owned()));
    };
    let mut client = Client::connect(&plan.server)?;
    check_server(&mut client, &manifest)?;
    let segments = Receiver::new(&*disk, root, manifest.logs.len()).receive(&mut client, &end)?;
    let mut bytes = 0;
    for mut segment in segments {
        segment.stored = take_in(&*disk, root, &segment.stored.path, plan.compression)?;
        bytes += segment.to - segment.from;
        manifest.logs.push(segment);
    }
    sync_dirs_of(&*disk, root, manifest.logs.iter().map(|segment| &segment.stored))?;
    manifest.write(&*disk, root)?;
    let end = manifest.end().unwrap_or(end);
    Ok(format!("{}: {bytes} bytes of binary log up to {}:{}", root.display(), end.file, end.pos))
}

/// Checks that the server's log goes on from the backup's.
fn check_server(client: &mut Client, manifest: &Manifest) -> Result<()> {
    let uuid = one(client, "SELECT @@server_uuid")?;
    if uuid != manifest.server_uuid {
        let what = format!("the backup is of server {}, this is {uuid}", manifest.server_uuid);
        return Err(BackupError::Refused(what));
    }
    let sets = [manifest.gtid_executed.clone(), one(client, "SELECT @@GLOBAL.gtid_executed")?];
    if let [Ok(ours), Ok(theirs)] = sets.map(|text| text.parse::<GtidSet>())
        && !ours.is_subset(&theirs)
    {
        let what = "the server has reset its GTIDs since the backup: a full backup is needed";
        return Err(BackupError::Refused(what.to_owned()));
    }
    Ok(())
}

/// Takes the events of a dump into files.
struct Receiver<'a> {
    disk: &'a dyn Disk,
    root: &'a Path,
    open: Option<(Segment, Sequential)>,
    done: Vec<Segment>,
    /// The number of the next segment.
    number: usize,
    /// The format of the next event: what its checksum is.
    format: Format,
}

impl<'a> Receiver<'a> {
    fn new(disk: &'a dyn Disk, root: &'a Path, number: usize) -> Receiver<'a> {
        Receiver { disk, root, open: None, done: Vec::new(), number, format: Format::new(Checksum::Crc32) }
    }

    fn receive(mut self, client: &mut Client, from: &Place) -> Result<Vec<Segment>> {
        client.query(
            "SET @source_binlog_checksum = @@global.binlog_checksum, @master_binlog_checksum = @@global.binlog_checksum",
        )?;
        // Events end with this checksum until a format description event says what they end with.
        if one(client, "SELECT @source_binlog_checksum")?.eq_ignore_ascii_case("NONE") {
            self.format.checksum = Checksum::None;
        }
        let Ok(pos) = u32::try_from(from.pos) else {
            return Err(BackupError::Refused(format!("{} is longer than 4 GB", from.file)));
        };
        let mut request = pos.to_le_bytes().to_vec();
        request.extend_from_slice(&BINLOG_DUMP_NON_BLOCK.to_le_bytes());
        // Server id 0 is no replica's. A replica's session would end another one with the same id.
        request.extend_from_slice(&0u32.to_le_bytes());
        request.extend_from_slice(from.file.as_bytes());
        client.send_command(COM_BINLOG_DUMP, &request)?;
        loop {
            let packet = client.read_packet_checked().map_err(|error| refused(error, from))?;
            match packet.first() {
                Some(&OK_HEADER) => self.take(&packet[1..])?,
                Some(&EOF_HEADER) => break,
                _ => {
                    return Err(BackupError::Damaged("the server sent a packet that is no event".to_owned()));
                }
            }
        }
        self.close()?;
        Ok(self.done)
    }

    fn take(&mut self, event: &[u8]) -> Result<()> {
        let damaged = |what: &dyn std::fmt::Display| {
            BackupError::Damaged(format!("the server sent an event that is damaged: {what}"))
        };
        let header = Header::decode(event).map_err(|error| damaged(&error))?;
        if header.event_size as usize != event.len() {
            return Err(damaged(&"its length is wrong"));
        }
        let is_format = header.event_type == event_type::FORMAT_DESCRIPTION;
        if is_format || self.format.checksum == Checksum::Crc32 {
            verify_checksum(event).map_err(|error| damaged(&error))?;
        }
        let is_made_up = header.flags & flag::ARTIFICIAL != 0 || header.log_pos == 0;
        match header.event_type {
            event_type::ROTATE if is_made_up => {
                let Ok((_, Event::Rotate(rotate))) = binlog::decode(event, &self.format) else {
                    return Err(damaged(&"a rotate event is too short"));
                };
                let name = std::str::from_utf8(rotate.file).map_err(|error| damaged(&error))?;
                return self.begin(name, rotate.position);
            }
            event_type::HEARTBEAT | event_type::HEARTBEAT_V2 => return Ok(()),
            event_type::FORMAT_DESCRIPTION => match binlog::decode(event, &self.format) {
                Ok((_, Event::FormatDescription(format))) => self.format = format.format(),
                _ => return Err(damaged(&"a format description is too short")),
            },
            _ => {}
        }
        let Some((segment, file)) = &mut self.open else {
            return Err(damaged(&"it comes before the name of the file"));
        };
        let path = self.root.join(&segment.stored.path);
        file.write_all(event).map_err(|error| BackupError::io(&path, error))?;
        // Before events from the middle of a file the server repeats the file's first one.
        if !is_format || segment.from == 4 {
            segment.to += event.len() as u64;
        }
        Ok(())
    }

    /// Goes on with another file of the server.
    fn begin(&mut self, name: &str, from: u64) -> Result<()> {
        if self.open.as_ref().is_some_and(|(segment, _)| segment.file == name) {
            return Ok(());
        }
        self.close()?;
        let dir = self.root.join(LOGS);
        self.disk.create_dir_all(&dir).map_err(|error| BackupError::io(&dir, error))?;
        let stored = format!("{LOGS}/{:06}-{name}", self.number);
        self.number += 1;
        let path = self.root.join(&stored);
        let mut file = Sequential::create(self.disk, &path)?;
        file.write_all(&binlog::MAGIC).map_err(|error| BackupError::io(&path, error))?;
        let stored = Stored { path: stored, bytes: 0, sha256: String::new(), compressed: false };
        let segment = Segment { file: name.to_owned(), from, to: from, stored };
        self.open = Some((segment, file));
        Ok(())
    }

    /// Ends the open segment. One without events is dropped.
    fn close(&mut self) -> Result<()> {
        let Some((segment, file)) = self.open.take() else { return Ok(()) };
        let path = self.root.join(&segment.stored.path);
        if segment.to == segment.from {
            self.number -= 1;
            return self.disk.remove(&path).map_err(|error| BackupError::io(&path, error));
        }
        file.sync().map_err(|error| BackupError::io(&path, error))?;
        self.done.push(segment);
        Ok(())
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
        let disk = SimDisk::new(1);
        let name = "binlog.000003";
        let digits = |position: &u64| {
            let event = rotate(name, *position, Checksum::Crc32);
            event[event.len() - 4].is_ascii_digit()
        };
        let position = (4..).find(digits).expect("one position in 26 has such a checksum");
        for checksum in [Checksum::Crc32, Checksum::None] {
            let mut receiver = Receiver::new(&disk, Path::new("backup"), 0);
            receiver.format = Format::new(checksum);
            receiver.take(&rotate(name, position, checksum)).expect("the event is sound");
            let (segment, _) = receiver.open.expect("a file has begun");
            assert_eq!((&*segment.file, segment.from), (name, position), "{checksum:?}");
        }
    }

    #[test]
    fn a_damaged_event_is_refused() {
        let disk = SimDisk::new(1);
        let sound = rotate("binlog.000003", 4, Checksum::Crc32);
        for at in 0..sound.len() {
            let mut event = sound.clone();
            event[at] ^= 1;
            let taken = Receiver::new(&disk, Path::new("backup"), 0).take(&event);
            assert!(matches!(taken, Err(BackupError::Damaged(_))), "byte {at}");
        }
    }
}
