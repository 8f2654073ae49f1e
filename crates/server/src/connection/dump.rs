//! COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID: the connection becomes a stream of events.

use super::{Connection, End};
use crate::server::sessions::{Activity, SessionEntry};
use binlog::semi_sync;
use os::account::{State, enter};
use protocol::command as com;
use protocol::packet::{Channel, PacketError};
use protocol::response::put_eof;
use protocol::stream::Stream;
use source::dump::{Acknowledgement, Checksum, DumpClient, DumpEnd, DumpRequest, DumpSink};
use sql::SqlError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long an acknowledgement is waited for before the session looks whether it is to end.
const ACKNOWLEDGEMENT_LOOK: Duration = Duration::from_secs(1);

/// Sends events, each behind the byte of an OK packet.
struct EventSink<'a> {
    channel: &'a mut Channel<Stream>,
    entry: &'a Arc<SessionEntry>,
}

fn io_error(e: PacketError) -> io::Error {
    match e {
        PacketError::Io(e) => e,
        other => io::Error::other(other.to_string()),
    }
}

impl DumpSink for EventSink<'_> {
    fn send(&mut self, event: &[u8]) -> io::Result<()> {
        #[cfg(test)]
        crate::process::panic_hook::panic_if_asked();
        let write = |out: &mut Vec<u8>| {
            out.push(0);
            out.extend_from_slice(event);
        };
        self.channel.write_packet(write).map_err(io_error)
    }

    fn send_semi_sync(&mut self, event: &[u8], wants_ack: bool) -> io::Result<()> {
        #[cfg(test)]
        crate::process::panic_hook::panic_if_asked();
        let write = |out: &mut Vec<u8>| {
            out.push(0);
            out.extend_from_slice(&semi_sync::header(wants_ack));
            out.extend_from_slice(event);
        };
        self.channel.write_packet(write).map_err(io_error)?;
        if wants_ack {
            self.flush()?;
            // Both ends begin to count packets anew, with the acknowledgement.
            self.channel.reset_sequence();
        }
        Ok(())
    }

    fn read_acknowledgement(&mut self) -> io::Result<Option<Acknowledgement>> {
        match self.channel.read_packet() {
            Ok(packet) => Acknowledgement::decode(packet)
                .map(Some)
                .ok_or_else(|| io::Error::other("the replica sent something that is no acknowledgement")),
            Err(PacketError::Io(e))
                if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
            {
                Ok(None)
            }
            Err(e) => Err(io_error(e)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let _sending = enter(State::NetworkSend);
        self.channel.flush().map_err(io_error)
    }

    fn is_killed(&self) -> bool {
        self.entry.is_killed()
    }
}

impl Connection<'_> {
    pub(super) fn binlog_dump(&mut self) -> Result<End, PacketError> {
        let by_gtid = self.command.first() == Some(&com::BINLOG_DUMP_GTID);
        self.entry.set_activity(if by_gtid { Activity::BinlogDumpGtid } else { Activity::BinlogDump });
        if let Err(e) = self.host.require_static("REPLICATION SLAVE") {
            self.send_error(&e)?;
            return Ok(End::Quit);
        }
        let Some(binlog) = self.server.binlog.clone() else {
            self.send_error(&SqlError::new(1236, "Binary log is not open"))?;
            return Ok(End::Quit);
        };
        let request = match self.dump_request(by_gtid) {
            Ok(request) => request,
            Err(refusal) => {
                self.send_error(&SqlError::new(refusal.code, refusal.message))?;
                return Ok(End::Quit);
            }
        };
        log::info!("Start binlog_dump to connection {}, server id {}", self.entry.id, request.server_id);
        if request.client.semi_sync {
            log::info!("Start semi-sync binlog_dump to replica (server_id: {})", request.server_id);
            self.channel.stream().set_read_timeout(Some(ACKNOWLEDGEMENT_LOOK))?;
        }
        let mut sink = EventSink { channel: &mut self.channel, entry: self.entry };
        let end = binlog.dump(&request, &mut sink);
        match end {
            DumpEnd::Complete => {
                let status = self.session.status();
                self.channel.write_packet(|out| put_eof(status, 0, out))?;
                Ok(End::Quit)
            }
            DumpEnd::Killed => {
                self.send_error(&SqlError::new(1053, "Server shutdown in progress"))?;
                Ok(End::Quit)
            }
            DumpEnd::Refused(refusal) => {
                self.send_error(&SqlError::new(refusal.code, refusal.message))?;
                Ok(End::Quit)
            }
            DumpEnd::Disconnected(e) => {
                log::info!("binlog_dump to connection {} ended: {e}", self.entry.id);
                Ok(End::Lost)
            }
        }
    }

    /// The request in the packet, completed by the user variables that replicas set before it.
    fn dump_request(&mut self, by_gtid: bool) -> Result<DumpRequest, source::error::Refusal> {
        let user_variable = |names: [&str; 2]| {
            names
                .iter()
                .find_map(|name| self.session.user_variable(name))
                .map(|v| String::from_utf8_lossy(&v.text_bytes(None).unwrap_or_default()).into_owned())
        };
        let checksum = user_variable(["source_binlog_checksum", "master_binlog_checksum"]);
        let period = user_variable(["source_heartbeat_period", "master_heartbeat_period"]);
        let semi_sync = user_variable(["rpl_semi_sync_replica", "rpl_semi_sync_slave"]);
        let client = DumpClient {
            checksum: Checksum::from_variable(checksum.as_deref()),
            heartbeat_period_ns: period.and_then(|text| text.parse().ok()).unwrap_or(0),
            is_mariadb: self.session.user_variable("mariadb_slave_capability").is_some(),
            semi_sync: semi_sync.is_some_and(|text| text != "0"),
        };
        if by_gtid {
            return DumpRequest::from_dump_gtid(self.body(), client);
        }
        let mariadb_gtids = user_variable(["slave_connect_state"; 2]).filter(|_| client.is_mariadb);
        let until = user_variable(["slave_until_gtid"; 2]);
        let request = DumpRequest::from_dump(self.body(), client)?;
        match mariadb_gtids {
            Some(has) => request.by_mariadb_gtids(&has, until.as_deref()),
            None => Ok(request),
        }
    }
}
