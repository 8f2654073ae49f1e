//! COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID, which turn the connection into a stream of events.

use crate::server::sessions::SessionEntry;
use binlog::semi_sync;
use os::account::{State, enter};
use protocol::packet::{Channel, PacketError};
use protocol::stream::Stream;
use source::Binlog;
use source::dump::{Acknowledgement, Checksum, DumpClient, DumpEnd, DumpRequest, DumpSink};
use source::error::Refusal;
use sql::Session;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The time for which a session waits for an acknowledgement before it looks whether it must end.
const ACKNOWLEDGEMENT_LOOK: Duration = Duration::from_secs(1);

/// A sink that sends events to a client, each behind the header byte of an OK packet.
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

/// Sends the requested events until the client, the server or an error ends the dump.
pub(super) fn send_events(
    binlog: &Binlog,
    request: &DumpRequest,
    channel: &mut Channel<Stream>,
    entry: &Arc<SessionEntry>,
) -> Result<DumpEnd, PacketError> {
    log::info!("Start binlog_dump to connection {}, server id {}", entry.id, request.server_id);
    if request.client.semi_sync {
        log::info!("Start semi-sync binlog_dump to replica (server_id: {})", request.server_id);
        channel.stream().set_read_timeout(Some(ACKNOWLEDGEMENT_LOOK))?;
    }
    Ok(binlog.dump(request, &mut EventSink { channel, entry }))
}

/// Decodes the request in a command's `body`, and completes it with the user variables that
/// replicas set before it.
pub(super) fn request(session: &Session, by_gtid: bool, body: &[u8]) -> Result<DumpRequest, Refusal> {
    let user_variable = |names: [&str; 2]| {
        names
            .iter()
            .find_map(|name| session.user_variable(name))
            .map(|v| String::from_utf8_lossy(&v.text_bytes(None).unwrap_or_default()).into_owned())
    };
    let checksum = user_variable(["source_binlog_checksum", "master_binlog_checksum"]);
    let period = user_variable(["source_heartbeat_period", "master_heartbeat_period"]);
    let semi_sync = user_variable(["rpl_semi_sync_replica", "rpl_semi_sync_slave"]);
    let client = DumpClient {
        checksum: Checksum::from_variable(checksum.as_deref()),
        heartbeat_period_ns: period.and_then(|text| text.parse().ok()).unwrap_or(0),
        is_mariadb: session.user_variable("mariadb_slave_capability").is_some(),
        semi_sync: semi_sync.is_some_and(|text| text != "0"),
    };
    if by_gtid {
        return DumpRequest::from_dump_gtid(body, client);
    }
    let mariadb_gtids = user_variable(["slave_connect_state"; 2]).filter(|_| client.is_mariadb);
    let until = user_variable(["slave_until_gtid"; 2]);
    let request = DumpRequest::from_dump(body, client)?;
    match mariadb_gtids {
        Some(has) => request.by_mariadb_gtids(&has, until.as_deref()),
        None => Ok(request),
    }
}
