//! Reads the events of a server's binary log from its files.

use binlog::event::Event;
use binlog::reader::EventReader;
use binlog::{Checksum, Format, Header};

use crate::server::Server;

/// An event, and the kind of its checksum, which the format description of its file tells.
pub struct FileEvent {
    /// All bytes of the event.
    pub bytes: Vec<u8>,
    /// The kind of checksum at the end of the event.
    pub checksum: Checksum,
}

impl FileEvent {
    /// Returns the type of the event ([`binlog::event::event_type`]).
    pub fn kind(&self) -> u8 {
        self.bytes[4]
    }

    /// Returns the header and the decoded body.
    pub fn decode(&self) -> (Header, Event<'_>) {
        binlog::decode(&self.bytes, &Format::new(self.checksum)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the bytes after the header, without the checksum.
    pub fn body(&self) -> &[u8] {
        &self.bytes[binlog::event::HEADER_LEN..self.bytes.len() - self.checksum.len_bytes()]
    }
}

/// Returns every event of every file, in order. Checksums are verified.
pub fn of(server: &Server) -> Vec<FileEvent> {
    let files = server.rows("SHOW BINARY LOGS");
    let names = files.iter().map(|row| row.split('\t').next().unwrap_or_default());
    names.flat_map(|name| of_file(server, name)).collect()
}

/// Returns every event of one file.
pub fn of_file(server: &Server, name: &str) -> Vec<FileEvent> {
    let path = server.datadir().join(name);
    let bytes = os::disk::real().read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut events, mut checksum) = (Vec::new(), Checksum::Crc32);
    for event in EventReader::of_file(&bytes).unwrap_or_else(|error| panic!("{name}: {error}")) {
        let event = event.unwrap_or_else(|error| panic!("{name}: {error}"));
        let decoded = binlog::decode(event.bytes, &Format::new(Checksum::Crc32));
        if let Ok((_, Event::FormatDescription(format))) = decoded {
            checksum = format.checksum;
        } else if checksum == Checksum::Crc32 {
            binlog::checksum::verify_checksum(event.bytes)
                .unwrap_or_else(|_| panic!("{name}, position {}: wrong checksum", event.offset));
        }
        events.push(FileEvent { bytes: event.bytes.to_vec(), checksum });
    }
    events
}
