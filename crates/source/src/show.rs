//! The rows of SHOW BINLOG EVENTS and SHOW RELAYLOG EVENTS: the events of a file in words.

use std::io;
use std::path::Path;

use binlog::compressed::PayloadReader;
use binlog::event::{COMPRESSION_ZSTD, HEADER_LEN, TransactionPayload, UserVarValue, event_type};
use binlog::{Checksum, Event, Format};
use os::disk::{Disk, OpenMode};
use types::ColumnType;

use crate::error::Refusal;
use crate::events;
use crate::files::LogFiles;

/// A row of SHOW BINLOG EVENTS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownEvent {
    /// The file's name without its directory.
    pub log_name: String,
    /// The event's position in its file, in bytes.
    pub pos: u64,
    /// The event's type in MySQL's words.
    pub event_type: &'static str,
    /// The id of the server that wrote the event first.
    pub server_id: u32,
    /// The position of the event's end, in bytes, as the event itself says.
    pub end_log_pos: u64,
    /// The event's content in MySQL's words.
    pub info: String,
}

/// The range of events to show.
#[derive(Debug, Clone, Default)]
pub struct ShowRange {
    /// The `pos` of `FROM pos`.
    pub position: Option<u64>,
    /// The `offset` of `LIMIT offset`.
    pub offset: u64,
    /// The `count` of `LIMIT count`.
    pub limit: Option<u64>,
}

/// Returns the result of [`crate::Binlog::events`].
pub(crate) fn events_of_log(
    files: &LogFiles,
    file: Option<&str>,
    range: &ShowRange,
) -> Result<Vec<ShownEvent>, Refusal> {
    let end = files.wait_caught_up()?;
    let (name, path, number) = {
        let series = files.series.lock();
        let number = match file {
            Some(name) => series.find(name),
            None => series.numbers().first().copied(),
        };
        let number = number.ok_or_else(|| refused("Could not find target log"))?;
        (series.name(number), series.path(number), number)
    };
    let readable = (number == end.file).then_some(end.pos);
    show_file(&*files.disk, &path, &name, readable, range)
}

/// Returns the events of one file, up to `readable` if only a part of it may be read.
pub fn show_file(
    disk: &dyn Disk,
    path: &Path,
    name: &str,
    readable: Option<u64>,
    range: &ShowRange,
) -> Result<Vec<ShownEvent>, Refusal> {
    let file = disk.open(path, OpenMode::Read).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Refusal::new(29, format!("File './{name}' not found (OS errno 2 - No such file or directory)"))
        }
        _ => refused("Could not open log file"),
    })?;
    let len = file.len_bytes().map_err(|_| refused("Could not open log file"))?;
    let end = readable.unwrap_or(len).min(len);
    let mut pos = range.position.unwrap_or(4).max(4);
    if pos > end {
        return Err(refused("Invalid pos specified. Requested from pos is greater than actual file size."));
    }
    let mut shown = Shown { range, passed: 0, rows: Vec::new() };
    let mut format = Format::new(Checksum::Crc32);
    while pos < end && !shown.is_complete() {
        let mut header = [0; HEADER_LEN];
        let wrong = || refused("Wrong offset or I/O error");
        file.read_exact_at(&mut header, pos).map_err(|_| wrong())?;
        let size = events::size(&header) as u64;
        if size < HEADER_LEN as u64 || pos + size > end {
            return Err(wrong());
        }
        let mut event = vec![0; size as usize];
        file.read_exact_at(&mut event, pos).map_err(|_| wrong())?;
        if events::kind(&event) == event_type::FORMAT_DESCRIPTION {
            format = Format::new(events::checksum_of_format(&event).ok_or_else(wrong)?);
        }
        shown.take(|| describe(name, pos, &event, &format));
        pos += size;
        if let Ok((_, Event::TransactionPayload(payload))) = binlog::decode(&event, &format) {
            show_payload(name, pos, &payload, &mut shown);
        }
    }
    Ok(shown.rows)
}

/// The rows within a range.
struct Shown<'r> {
    range: &'r ShowRange,
    passed: u64,
    rows: Vec<ShownEvent>,
}

impl Shown<'_> {
    fn is_complete(&self) -> bool {
        self.range.limit.is_some_and(|limit| self.rows.len() as u64 >= limit)
    }

    fn take(&mut self, row: impl FnOnce() -> ShownEvent) {
        self.passed += 1;
        if self.passed > self.range.offset && !self.is_complete() {
            self.rows.push(row());
        }
    }
}

/// Adds the events in a payload that ends at `end`, which is the position that all of them have.
fn show_payload(name: &str, end: u64, payload: &TransactionPayload<'_>, shown: &mut Shown<'_>) {
    let Ok(mut events) = PayloadReader::new(payload) else { return };
    // A payload that cannot be decompressed has been shown by its size.
    while let Ok(Some(event)) = events.next_event() {
        let row =
            || ShownEvent { end_log_pos: end, ..describe(name, end, event, &Format::new(Checksum::None)) };
        shown.take(row);
    }
}

fn refused(what: &str) -> Refusal {
    Refusal::new(1220, format!("Error when executing command SHOW BINLOG EVENTS: {what}"))
}

fn describe(name: &str, pos: u64, event: &[u8], format: &Format) -> ShownEvent {
    let info = match binlog::decode(event, format) {
        Ok((_, decoded)) => in_words(&decoded),
        Err(error) => error.to_string(),
    };
    ShownEvent {
        log_name: name.to_string(),
        pos,
        event_type: event_type::name(events::kind(event)),
        server_id: u32::from_le_bytes(event[5..9].try_into().expect("four bytes")),
        end_log_pos: u64::from(u32::from_le_bytes(event[13..17].try_into().expect("four bytes"))),
        info,
    }
}

/// Returns the text that MySQL shows of an event, which is empty for most kinds.
fn in_words(event: &Event<'_>) -> String {
    match event {
        Event::Query(query) => {
            let statement = text(query.statement);
            let is_control = matches!(query.statement, b"BEGIN" | b"COMMIT" | b"ROLLBACK");
            if query.schema.is_empty() || is_control {
                statement
            } else {
                format!("use `{}`; {statement}", text(query.schema))
            }
        }
        Event::Rotate(rotate) => format!("{};pos={}", text(rotate.file), rotate.position),
        Event::Intvar(intvar) => {
            let name = if intvar.kind == 1 { "LAST_INSERT_ID" } else { "INSERT_ID" };
            format!("{name}={}", intvar.value)
        }
        Event::Rand(seed1, seed2) => format!("rand_seed1={seed1},rand_seed2={seed2}"),
        Event::UserVar(var) => format!("@`{}`={}", text(var.name), value_in_words(var.value.as_ref())),
        Event::FormatDescription(description) => format!(
            "Server ver: {}, Binlog ver: {}",
            text(description.server_version),
            description.binlog_version
        ),
        Event::Xid(xid) => format!("COMMIT /* xid={xid} */"),
        Event::TableMap(map) => {
            format!("table_id: {} ({}.{})", map.table_id, text(map.schema), text(map.table))
        }
        Event::Rows(rows) => {
            let flags = if rows.ends_statement() { " flags: STMT_END_F" } else { "" };
            format!("table_id: {}{flags}", rows.table_id)
        }
        Event::Incident(incident) => format!("#{} ({})", incident.number, text(incident.message)),
        Event::BeginLoad(block) | Event::AppendBlock(block) => {
            format!(";file_id={};block_len={}", block.file_id, block.bytes.len())
        }
        Event::DeleteFile(file_id) => format!(";file_id={file_id}"),
        Event::ExecuteLoad(load) => {
            let (statement, file_id) = (text(load.query.statement), load.file_id);
            match load.query.schema.is_empty() {
                true => format!("{statement} ;file_id={file_id}"),
                false => format!("use `{}`; {statement} ;file_id={file_id}", text(load.query.schema)),
            }
        }
        Event::RowsQuery(statement) => format!("# {}", text(statement)),
        Event::Gtid(gtid) => format!("SET @@SESSION.GTID_NEXT= '{}'", gtid.gtid),
        Event::AnonymousGtid(_) => "SET @@SESSION.GTID_NEXT= 'ANONYMOUS'".to_string(),
        Event::TransactionPayload(payload) => {
            let kind = if payload.compression == COMPRESSION_ZSTD { "ZSTD" } else { "NONE" };
            format!("compression='{kind}', decompressed_size={} bytes", payload.uncompressed_len)
        }
        Event::PreviousGtids(_) => match event.previous_gtids() {
            Some(Ok(set)) => set.to_string(),
            _ => String::new(),
        },
        Event::MariadbAnnotate(statement) => text(statement),
        Event::MariadbCheckpoint(file) => text(file),
        Event::MariadbGtid(event) if event.is_standalone() => format!("GTID {}", event.gtid),
        Event::MariadbGtid(event) => format!("BEGIN GTID {}", event.gtid),
        Event::MariadbGtidList(list) => {
            let list: Vec<String> = list.iter().map(ToString::to_string).collect();
            format!("[{}]", list.join(","))
        }
        _ => String::new(),
    }
}

/// Returns a user variable's value as MySQL shows it.
fn value_in_words(value: Option<&UserVarValue<'_>>) -> String {
    const REAL: u8 = 1;
    const INTEGER: u8 = 2;
    const DECIMAL: u8 = 4;
    let Some(value) = value else { return "NULL".to_string() };
    let number = || value.bytes.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    match value.kind {
        REAL => f64::from_bits(number()).to_string(),
        INTEGER if value.unsigned => number().to_string(),
        INTEGER => (number() as i64).to_string(),
        DECIMAL => decimal_in_words(value.bytes).unwrap_or_default(),
        _ => {
            let collation = u16::try_from(value.collation).unwrap_or(types::collation::BINARY);
            let digits: String = value.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            let charset = types::collation::charset_of(collation).name();
            format!("_{charset} 0x{digits} COLLATE {}", types::collation::name(collation))
        }
    }
}

/// Returns the text of a decimal: precision and scale, 1 byte each, then the digits in the form of
/// a column.
fn decimal_in_words(bytes: &[u8]) -> Option<String> {
    let [precision, scale, digits @ ..] = bytes else { return None };
    let fits =
        (1..=65).contains(precision) && *scale <= types::decimal::MAX_COLUMN_SCALE && scale <= precision;
    let ty = fits.then(|| ColumnType::decimal(*precision, *scale))?;
    let bytes = types::packed::decode(&ty, digits).ok()?.text_bytes(None)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
