//! An incremental backup: the binary log that the server has written since the last run, read over
//! a connection as `mysqlbinlog --read-from-remote-server --raw` reads it.

use std::io::Write;
use std::path::Path;

use binlog::event::{Event, Header, event_type, flag};
use binlog::gtid::GtidSet;
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
    let segments = Receiver { disk: &*disk, root, open: None, done: Vec::new(), number: manifest.logs.len() }
        .receive(&mut client, &end)?;
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
}

impl Receiver<'_> {
    fn receive(mut self, client: &mut Client, from: &Place) -> Result<Vec<Segment>> {
        client.query(
            "SET @source_binlog_checksum = @@global.binlog_checksum, @master_binlog_checksum = @@global.binlog_checksum",
        )?;
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
        let damaged = || BackupError::Damaged("the server sent an event that is damaged".to_owned());
        let header = Header::decode(event).map_err(|_| damaged())?;
        if header.event_size as usize != event.len() {
            return Err(damaged());
        }
        let is_made_up = header.flags & flag::ARTIFICIAL != 0 || header.log_pos == 0;
        match header.event_type {
            event_type::ROTATE if is_made_up => {
                let Ok(Event::Rotate(rotate)) = binlog::event::decode_body(&header, event) else {
                    return Err(damaged());
                };
                let name: Vec<u8> =
                    rotate.file.iter().copied().take_while(|byte| byte.is_ascii_graphic()).collect();
                self.begin(cut_to_number(&String::from_utf8_lossy(&name)), rotate.position)
            }
            event_type::HEARTBEAT | event_type::HEARTBEAT_V2 => Ok(()),
            kind => {
                let Some((segment, file)) = &mut self.open else { return Err(damaged()) };
                let path = self.root.join(&segment.stored.path);
                file.write_all(event).map_err(|error| BackupError::io(&path, error))?;
                // Before events from the middle of a file the server repeats the file's first one.
                if kind != event_type::FORMAT_DESCRIPTION || segment.from == 4 {
                    segment.to += event.len() as u64;
                }
                Ok(())
            }
        }
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

/// Returns a log file's name up to its number. What stands behind that is a checksum that happens
/// to be printable.
fn cut_to_number(name: &str) -> &str {
    const DIGITS: usize = 6;
    let Some(dot) = name.rfind('.') else { return name };
    let digits = name[dot + 1..].bytes().take_while(u8::is_ascii_digit).count();
    if digits >= DIGITS { &name[..dot + 1 + digits] } else { name }
}
