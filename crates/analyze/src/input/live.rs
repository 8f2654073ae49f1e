//! A running source: its binary log over the wire, as `mysqlbinlog --read-from-remote-server` reads
//! it, and its keys.

use std::collections::HashMap;

use binlog::event::{Event, Header, event_type, flag};
use binlog::{Checksum, Format};
use protocol::client::{Client, ConnectOptions};

use crate::error::AnalyzeError;
use crate::keys::{KeyColumns, KnownKeys, TableName};
use crate::recorder::Recorder;

const COM_BINLOG_DUMP: u8 = 0x12;
/// The flag of a dump that ends where the log ends.
const BINLOG_DUMP_NON_BLOCK: u16 = 1;
const OK_HEADER: u8 = 0x00;
const EOF_HEADER: u8 = 0xFE;

/// A source, and the position in its log where to begin.
pub struct Live {
    client: Client,
    checksum: Checksum,
    file: String,
    pos: u32,
}

impl Live {
    /// Connects to the source, and finds its first file if none is named.
    pub fn connect(options: &ConnectOptions, from: Option<(String, u32)>) -> Result<Live, AnalyzeError> {
        let mut client = Client::connect(options)?;
        client.query("SET @source_binlog_checksum = @@global.binlog_checksum, @master_binlog_checksum = @@global.binlog_checksum")?;
        let checksum = client.query("SELECT @master_binlog_checksum")?.cell(0, 0).unwrap_or_default();
        let checksum = if checksum.eq_ignore_ascii_case("CRC32") { Checksum::Crc32 } else { Checksum::None };
        if client.is_mariadb() {
            client.query("SET @mariadb_slave_capability=4")?;
        }
        let (file, pos) = match from {
            Some(from) => from,
            None => {
                let first = client.query("SHOW BINARY LOGS")?.cell(0, 0);
                let what = || AnalyzeError::Stream("the source has no binary log".to_string());
                (first.ok_or_else(what)?, 4)
            }
        };
        Ok(Live { client, checksum, file, pos })
    }

    /// Takes everything that the source's log has now.
    pub fn follow(mut self, recorder: &mut Recorder) -> Result<(), AnalyzeError> {
        let mut request = self.pos.to_le_bytes().to_vec();
        request.extend_from_slice(&BINLOG_DUMP_NON_BLOCK.to_le_bytes());
        // Server id 0 is no replica's. A replica's session would end another one with the same id.
        request.extend_from_slice(&0u32.to_le_bytes());
        request.extend_from_slice(self.file.as_bytes());
        self.client.send_command(COM_BINLOG_DUMP, &request)?;
        recorder.set_checksum(self.checksum);
        let mut file = String::new();
        while !recorder.is_full() {
            let packet = self.client.read_packet_checked()?;
            match packet.first() {
                Some(&OK_HEADER) => take(&packet[1..], &mut file, recorder)?,
                Some(&EOF_HEADER) => break,
                _ => {
                    return Err(AnalyzeError::Stream(
                        "the source sent a packet that is no event".to_string(),
                    ));
                }
            }
        }
        Ok(())
    }
}

fn take(event: &[u8], file: &mut String, recorder: &mut Recorder) -> Result<(), AnalyzeError> {
    let wrong = |error, file: &str| AnalyzeError::Event { file: file.to_owned(), pos: 0, error };
    let header = Header::decode(event).map_err(|error| wrong(error, file))?;
    if header.event_type == event_type::ROTATE {
        // The rotate event in the file and the one that is made up for the next file say the same.
        if header.flags & flag::ARTIFICIAL == 0 && header.log_pos != 0 {
            return Ok(());
        }
        let format = Format::new(recorder.checksum());
        let (_, decoded) = binlog::decode(event, &format).map_err(|error| wrong(error, file))?;
        if let Event::Rotate(rotate) = decoded {
            let name = String::from_utf8_lossy(rotate.file);
            if name != *file {
                *file = name.into_owned();
                recorder.begin_file(file);
            }
        }
        return Ok(());
    }
    let pos = u64::from(header.log_pos).saturating_sub(event.len() as u64);
    recorder.take(event, pos)
}

/// A table as a server's information_schema describes it.
#[derive(Default)]
struct ServerTable {
    /// The names of the columns, in their order.
    columns: Vec<Vec<u8>>,
    /// The unique keys with their names.
    keys: Vec<(String, KeyColumns)>,
}

/// Reads the unique keys of all tables of a server.
pub fn keys_of(options: &ConnectOptions) -> Result<KnownKeys, AnalyzeError> {
    let mut client = Client::connect(options)?;
    let mut tables: HashMap<TableName, ServerTable> = HashMap::new();
    let columns = client.query(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'sys', 'mysql') \
         ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION",
    )?;
    for row in columns.rows {
        let [Some(schema), Some(table), Some(column)] = row.as_slice() else { continue };
        tables.entry((schema.clone(), table.clone())).or_default().columns.push(column.clone());
    }
    let indexes = client.query(
        "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS \
         WHERE NON_UNIQUE = 0 AND TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'sys', 'mysql') \
         ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX",
    )?;
    for row in indexes.rows {
        let [Some(schema), Some(table), Some(index), Some(column), prefix] = row.as_slice() else { continue };
        let Some(ServerTable { columns, keys }) = tables.get_mut(&(schema.clone(), table.clone())) else {
            continue;
        };
        let Some(at) = columns.iter().position(|name| name == column) else { continue };
        let prefix = prefix.as_ref().and_then(|text| String::from_utf8_lossy(text).parse().ok()).unwrap_or(0);
        let index = String::from_utf8_lossy(index).into_owned();
        match keys.last_mut() {
            Some((name, columns)) if *name == index => columns.push((at, prefix)),
            _ => keys.push((index, vec![(at, prefix)])),
        }
    }
    let mut known = KnownKeys::default();
    for (table, ServerTable { mut keys, .. }) in tables {
        keys.sort_by_key(|(name, _)| name != "PRIMARY");
        known.add(table, keys.into_iter().map(|(_, columns)| columns).collect());
    }
    Ok(known)
}
