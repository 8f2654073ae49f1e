//! The request of a dump: COM_BINLOG_DUMP or COM_BINLOG_DUMP_GTID, and the session variables that
//! were set before it.

use binlog::gtid::{GtidSet, MariadbGtidState};

use crate::error::Refusal;

const BINLOG_DUMP_NON_BLOCK: u16 = 1;

/// The point at which a dump starts.
#[derive(Debug, Clone, PartialEq)]
pub enum DumpStart {
    /// The dump starts at a position. An empty file name is the first present file.
    Position {
        /// The name of the file.
        file: String,
        /// The offset in the file.
        pos: u64,
    },
    /// The dump starts with the first transaction that is not in this set.
    Gtids(GtidSet),
    /// The dump starts with the first transaction behind a point in MariaDB's GTIDs, and has
    /// MariaDB's events.
    MariadbGtids {
        /// The state that the replica has (`@slave_connect_state`).
        has: MariadbGtidState,
        /// The state at which the replica wants to stop (`@slave_until_gtid`).
        until: Option<MariadbGtidState>,
    },
}

/// The checksums that a client accepts (`@source_binlog_checksum`, `@master_binlog_checksum`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// The client has not said which it accepts, as before MySQL 5.6.
    Unaware,
    /// The client accepts no checksums.
    None,
    /// The client accepts CRC-32.
    Crc32,
}

impl Checksum {
    /// Parses the value of the session variable, which is `None` if it was not set.
    pub fn from_variable(value: Option<&str>) -> Checksum {
        match value {
            None => Checksum::Unaware,
            Some(v) if v.eq_ignore_ascii_case("NONE") => Checksum::None,
            Some(_) => Checksum::Crc32,
        }
    }
}

/// The properties that a client tells in user variables before the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DumpClient {
    /// The checksums that the client accepts.
    pub checksum: Checksum,
    /// The time in nanoseconds without an event after which a heartbeat is sent; 0 means never.
    pub heartbeat_period_ns: u64,
    /// True when the client is MariaDB's (`@mariadb_slave_capability`). It gets QUERY events
    /// without the collations that MariaDB does not have.
    pub is_mariadb: bool,
    /// True when the client acknowledges what it has received (`@rpl_semi_sync_replica`).
    pub semi_sync: bool,
}

/// A dump command.
#[derive(Debug, Clone, PartialEq)]
pub struct DumpRequest {
    /// The point at which the dump starts.
    pub start: DumpStart,
    /// True when the dump ends at the end of the log, and does not wait for more.
    pub non_blocking: bool,
    /// The replica's server id.
    pub server_id: u32,
    /// The client's properties.
    pub client: DumpClient,
}

impl DumpRequest {
    /// Decodes the body of a COM_BINLOG_DUMP packet.
    pub fn from_dump(body: &[u8], client: DumpClient) -> Result<DumpRequest, Refusal> {
        let mut reader = Reader(body);
        let pos = u64::from(reader.u32()?);
        let flags = reader.u16()?;
        let server_id = reader.u32()?;
        let file = file_name(reader.0);
        Ok(DumpRequest::new(DumpStart::Position { file, pos }, flags, server_id, client))
    }

    /// Returns the same request, but with start and stop by MariaDB's GTIDs: `has` and `until` are
    /// a replica's `@slave_connect_state` and `@slave_until_gtid`.
    pub fn by_mariadb_gtids(self, has: &str, until: Option<&str>) -> Result<DumpRequest, Refusal> {
        let parse = |text: &str, what: &str| {
            text.parse().map_err(|_| {
                Refusal::new(1105, format!("Out of memory or malformed slave request when obtaining {what}"))
            })
        };
        let has = parse(has, "start position from GTID state")?;
        let until = until.map(|until| parse(until, "UNTIL position sent from slave")).transpose()?;
        Ok(DumpRequest { start: DumpStart::MariadbGtids { has, until }, ..self })
    }

    /// Decodes the body of a COM_BINLOG_DUMP_GTID packet.
    pub fn from_dump_gtid(body: &[u8], client: DumpClient) -> Result<DumpRequest, Refusal> {
        let mut reader = Reader(body);
        let flags = reader.u16()?;
        let server_id = reader.u32()?;
        let name_bytes = reader.u32()? as usize;
        reader.take(name_bytes)?;
        reader.take(8)?;
        let set_bytes = reader.u32()? as usize;
        let set = reader.take(set_bytes)?;
        let gtids = GtidSet::decode(set).map_err(|_| malformed())?;
        Ok(DumpRequest::new(DumpStart::Gtids(gtids), flags, server_id, client))
    }

    fn new(start: DumpStart, flags: u16, server_id: u32, client: DumpClient) -> DumpRequest {
        // Only a replica, which has a server id, waits for events that do not exist yet.
        let non_blocking = flags & BINLOG_DUMP_NON_BLOCK != 0 || server_id == 0;
        DumpRequest { start, non_blocking, server_id, client }
    }
}

fn file_name(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn malformed() -> Refusal {
    Refusal { code: 1835, state: "HY000", message: "Malformed communication packet.".to_string() }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Refusal> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn u16(&mut self) -> Result<u16, Refusal> {
        Ok(u16::from_le_bytes(self.take(2)?.try_into().expect("two bytes")))
    }

    fn u32(&mut self) -> Result<u32, Refusal> {
        Ok(u32::from_le_bytes(self.take(4)?.try_into().expect("four bytes")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: DumpClient =
        DumpClient { checksum: Checksum::Crc32, heartbeat_period_ns: 5, is_mariadb: false, semi_sync: false };

    #[test]
    fn reads_the_packets_that_replicas_send() {
        let mut body = vec![4, 1, 0, 0, 1, 0, 7, 0, 0, 0];
        body.extend_from_slice(b"binlog.000002");
        let request = DumpRequest::from_dump(&body, CLIENT).expect("is well formed");
        assert_eq!(request.start, DumpStart::Position { file: "binlog.000002".into(), pos: 260 });
        assert!(request.non_blocking);
        assert_eq!(request.server_id, 7);
        assert!(DumpRequest::from_dump(&body[..9], CLIENT).is_err());
    }

    #[test]
    fn reads_a_gtid_request() {
        let gtids: GtidSet = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5".parse().expect("is a GTID set");
        let mut encoded = Vec::new();
        gtids.encode(&mut encoded);
        let mut body = vec![0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
        body.extend_from_slice(&(encoded.len() as u32).to_le_bytes());
        body.extend_from_slice(&encoded);
        let request = DumpRequest::from_dump_gtid(&body, CLIENT).expect("is well formed");
        assert_eq!(request.start, DumpStart::Gtids(gtids));
        for cut in 0..body.len() {
            assert_eq!(DumpRequest::from_dump_gtid(&body[..cut], CLIENT).expect_err("is cut").code, 1835);
        }
    }
}
