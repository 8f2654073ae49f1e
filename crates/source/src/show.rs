//! SHOW BINLOG EVENTS and SHOW RELAYLOG EVENTS: the events of a file in words.

use std::path::Path;

use binlog::gtid::GtidSet;
use os::disk::{Disk, OpenMode};

use crate::error::Refusal;
use crate::events;
use crate::files::Binlog;

/// A row of SHOW BINLOG EVENTS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownEvent {
    /// File without directory.
    pub log_name: String,
    /// Where the event begins.
    pub pos: u64,
    /// Its type in MySQL's words.
    pub event_type: &'static str,
    /// Server that it comes from.
    pub server_id: u32,
    /// Where it ends, as it says itself.
    pub end_log_pos: u64,
    /// What it holds.
    pub info: String,
}

/// Which events to show.
#[derive(Debug, Clone, Default)]
pub struct ShowRange {
    /// `FROM pos`
    pub position: Option<u64>,
    /// `LIMIT offset`
    pub offset: u64,
    /// `LIMIT count`
    pub limit: Option<u64>,
}

impl Binlog {
    /// SHOW BINLOG EVENTS; without a file of the first one.
    pub fn events(&self, file: Option<&str>, range: &ShowRange) -> Result<Vec<ShownEvent>, Refusal> {
        let end = self.wait_caught_up()?;
        let (name, path, number) = {
            let files = self.files.lock();
            let number = match file {
                Some(name) => files.find(name),
                None => files.numbers().first().copied(),
            };
            let number = number.ok_or_else(|| refused("Could not find target log"))?;
            (files.name(number), files.path(number), number)
        };
        let readable = (number == end.file).then_some(end.pos);
        show_file(&*self.disk, &path, &name, readable, range)
    }
}

/// The events of one file, up to `readable` where only a part of it may be read.
pub fn show_file(
    disk: &dyn Disk,
    path: &Path,
    name: &str,
    readable: Option<u64>,
    range: &ShowRange,
) -> Result<Vec<ShownEvent>, Refusal> {
    let file = disk.open(path, OpenMode::Read).map_err(|_| refused("Could not open log file"))?;
    let len = file.len_bytes().map_err(|_| refused("Could not open log file"))?;
    let end = readable.unwrap_or(len).min(len);
    let mut pos = range.position.unwrap_or(4).max(4);
    if pos > end {
        return Err(refused("Invalid pos specified. Requested from pos is greater than actual file size."));
    }
    let (mut shown, mut passed) = (Vec::new(), 0);
    let mut has_checksums = true;
    while pos < end && range.limit.is_none_or(|limit| (shown.len() as u64) < limit) {
        let mut header = [0; events::HEADER_BYTES];
        let wrong = || refused("Wrong offset or I/O error");
        file.read_exact_at(&mut header, pos).map_err(|_| wrong())?;
        let size = events::size(&header) as u64;
        if size < events::HEADER_BYTES as u64 || pos + size > end {
            return Err(wrong());
        }
        let mut event = vec![0; size as usize];
        file.read_exact_at(&mut event, pos).map_err(|_| wrong())?;
        if events::kind(&event) == events::FORMAT_DESCRIPTION {
            has_checksums = events::format_has_checksums(&event);
        }
        passed += 1;
        if passed > range.offset {
            shown.push(describe(name, pos, &event, has_checksums));
        }
        pos += size;
    }
    Ok(shown)
}

fn refused(what: &str) -> Refusal {
    Refusal::new(1220, format!("Error when executing command SHOW BINLOG EVENTS: {what}"))
}

fn describe(name: &str, pos: u64, event: &[u8], has_checksum: bool) -> ShownEvent {
    let end = event.len()
        - if has_checksum { events::CHECKSUM_BYTES.min(event.len() - events::HEADER_BYTES) } else { 0 };
    let body = &event[events::HEADER_BYTES..end];
    let (event_type, info) = in_words(events::kind(event), body);
    ShownEvent {
        log_name: name.to_string(),
        pos,
        event_type,
        server_id: u32::from_le_bytes(event[5..9].try_into().expect("four bytes")),
        end_log_pos: u64::from(u32::from_le_bytes(event[13..17].try_into().expect("four bytes"))),
        info: info.unwrap_or_default(),
    }
}

fn in_words(kind: u8, body: &[u8]) -> (&'static str, Option<String>) {
    match kind {
        2 => ("Query", query(body)),
        3 => ("Stop", None),
        4 => (
            "Rotate",
            body.get(8..).map(|file| format!("{};pos={}", text(file), number(body, 0, 8).unwrap_or(0))),
        ),
        5 => ("Intvar", intvar(body)),
        13 => ("RAND", None),
        14 => ("User var", None),
        15 => (
            "Format_desc",
            body.get(2..52).map(|version| {
                format!(
                    "Server ver: {}, Binlog ver: {}",
                    text(version).trim_end_matches('\0'),
                    number(body, 0, 2).unwrap_or(0)
                )
            }),
        ),
        16 => ("Xid", number(body, 0, 8).map(|xid| format!("COMMIT /* xid={xid} */"))),
        19 => ("Table_map", table_map(body)),
        23 => ("Write_rows_v1", rows(body)),
        24 => ("Update_rows_v1", rows(body)),
        25 => ("Delete_rows_v1", rows(body)),
        26 => ("Incident", None),
        27 | 41 => ("Heartbeat", None),
        29 => ("Rows_query", body.get(1..).map(|query| format!("# {}", text(query)))),
        30 => ("Write_rows", rows(body)),
        31 => ("Update_rows", rows(body)),
        32 => ("Delete_rows", rows(body)),
        33 => ("Gtid", gtid(body)),
        34 => ("Anonymous_Gtid", Some("SET @@SESSION.GTID_NEXT= 'ANONYMOUS'".to_string())),
        35 => ("Previous_gtids", GtidSet::decode(body).ok().map(|set| set.to_string())),
        38 => ("XA_prepare", None),
        39 => ("Update_rows_partial", rows(body)),
        40 => ("Transaction_payload", None),
        160 => ("Annotate_rows", Some(text(body))),
        161 => ("Binlog_checkpoint", None),
        162 => ("Gtid", mariadb_gtid(body)),
        163 => ("Gtid_list", None),
        _ => ("Unknown", None),
    }
}

fn number(body: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let mut value = [0; 8];
    value[..bytes].copy_from_slice(body.get(at..at + bytes)?);
    Some(u64::from_le_bytes(value))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn query(body: &[u8]) -> Option<String> {
    let schema_bytes = usize::from(*body.get(8)?);
    let status_bytes = number(body, 11, 2)? as usize;
    let schema_at = 13 + status_bytes;
    let schema = text(body.get(schema_at..schema_at + schema_bytes)?);
    let query = text(body.get(schema_at + schema_bytes + 1..)?);
    let is_control = matches!(query.as_str(), "BEGIN" | "COMMIT" | "ROLLBACK");
    Some(if schema.is_empty() || is_control { query } else { format!("use `{schema}`; {query}") })
}

fn intvar(body: &[u8]) -> Option<String> {
    let name = if body.first()? == &1 { "LAST_INSERT_ID" } else { "INSERT_ID" };
    Some(format!("{name}={}", number(body, 1, 8)?))
}

fn table_map(body: &[u8]) -> Option<String> {
    let id = number(body, 0, 6)?;
    let schema_bytes = usize::from(*body.get(8)?);
    let schema = text(body.get(9..9 + schema_bytes)?);
    let table_at = 9 + schema_bytes + 1;
    let table_bytes = usize::from(*body.get(table_at)?);
    let table = text(body.get(table_at + 1..table_at + 1 + table_bytes)?);
    Some(format!("table_id: {id} ({schema}.{table})"))
}

fn rows(body: &[u8]) -> Option<String> {
    let id = number(body, 0, 6)?;
    let ends_statement = number(body, 6, 2)? & 1 != 0;
    Some(format!("table_id: {id}{}", if ends_statement { " flags: STMT_END_F" } else { "" }))
}

fn gtid(body: &[u8]) -> Option<String> {
    let uuid = binlog::gtid::Uuid(body.get(1..17)?.try_into().ok()?);
    Some(format!("SET @@SESSION.GTID_NEXT= '{uuid}:{}'", number(body, 17, 8)?))
}

fn mariadb_gtid(body: &[u8]) -> Option<String> {
    Some(format!("GTID {}-{}", number(body, 8, 4)?, number(body, 0, 8)?))
}
