//! The connection phase, from the greeting to the account, and the answers to clients that are not
//! let in.

use crate::accounts::{Account, ClientHost};
use crate::client::authenticate::{Authentication, Refusal, new_nonce};
use crate::client::login::{self, Arrival, Login};
use crate::client::peer;
use crate::query_log::note_refused;
use crate::server::Server;
use crate::server::sessions::SessionEntry;
use protocol::auth::{NONCE_BYTES, plugin};
use protocol::capability as cap;
use protocol::handshake::{COLLATION_UTF8MB4_0900_AI_CI, FirstPacket, Greeting, HandshakeResponse};
use protocol::packet::{Channel, PacketError};
use protocol::response::ErrPacket;
use protocol::stream::Stream;
use sql::SqlError;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// The server's capabilities in the protocol.
const CAPABILITIES: cap::Capabilities = cap::LONG_PASSWORD
    | cap::FOUND_ROWS
    | cap::LONG_FLAG
    | cap::CONNECT_WITH_DB
    | cap::LOCAL_FILES
    | cap::IGNORE_SPACE
    | cap::PROTOCOL_41
    | cap::INTERACTIVE
    | cap::TRANSACTIONS
    | cap::SECURE_CONNECTION
    | cap::MULTI_STATEMENTS
    | cap::MULTI_RESULTS
    | cap::PS_MULTI_RESULTS
    | cap::PLUGIN_AUTH
    | cap::CONNECT_ATTRS
    | cap::PLUGIN_AUTH_LENENC_CLIENT_DATA
    | cap::CAN_HANDLE_EXPIRED_PASSWORDS
    | cap::SESSION_TRACK
    | cap::DEPRECATE_EOF;

/// A client whose account is known. Its OK packet is sent once it has a session.
pub(super) struct Admitted {
    pub host: ClientHost,
    pub nonce: [u8; NONCE_BYTES],
    pub response: HandshakeResponse,
    pub login: Login,
}

/// The two ends of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// The client's address. `None` means the Unix socket.
    pub peer: Option<SocketAddr>,
    /// The version with which the client is greeted. `None` means `@@version`.
    pub version: Option<&'static str>,
}

impl Origin {
    /// Returns the client's host as others see it while its name is not known.
    pub(super) fn shown(&self) -> String {
        match self.peer {
            None => "localhost".into(),
            Some(peer) => format!("{}:{}", peer.ip().to_canonical(), peer.port()),
        }
    }
}

/// Finds out which account a client wants to use, and lets it in if it may. With `only_admin` only
/// an administrator is let in.
pub(super) fn admit(
    server: &Arc<Server>,
    entry: &Arc<SessionEntry>,
    channel: &mut Channel<Stream>,
    origin: &Origin,
    only_admin: bool,
) -> Result<Admitted, Refusal> {
    let host = match origin.peer {
        None => ClientHost::Local,
        Some(peer) => {
            let host = peer::host_of(server, peer.ip().to_canonical()).map_err(Refusal::Bare)?;
            entry.show(|s| {
                s.host = format!("{}:{}", host.name(), peer.port());
                s.ip = Some(peer.ip().to_canonical());
            });
            host
        }
    };
    let (nonce, response) = {
        let own = server.globals.named("version");
        shake_hands(server, entry, channel, origin.version.unwrap_or(own.text()))?
    };
    if !channel.stream().is_secure() && server.globals.named("require_secure_transport").is_on() {
        let text = "Connections using insecure transport are prohibited while --require_secure_transport=ON.";
        return Err(SqlError::new(3159, text).into());
    }
    entry.set_attributes(&response.attributes, &server.status);
    let user = String::from_utf8_lossy(&response.user).into_owned();
    entry.show(|s| s.given_user.clone_from(&user));
    if server.grants_are_skipped() {
        entry.show(|s| s.user.clone_from(&user));
        let login = Login::unchecked(Arc::new(Account { user, ..Account::default() }));
        return Ok(Admitted { host, nonce, response, login });
    }
    let proved = Authentication { accounts: &server.accounts, host: &host, channel, nonce }.run(&response)?;
    if only_admin && !proved.account.administers(&["CONNECTION_ADMIN"]) {
        server.status.max_connections_errors.add_one();
        return Err(too_many().into());
    }
    let arrival = Arrival {
        user: &user,
        host: &host.name(),
        capabilities: response.capabilities,
        stream: channel.stream(),
        with_password: proved.with_password,
    };
    let login = login::let_in(server, proved.account, &arrival)?;
    entry.show(|s| s.user = user);
    Ok(Admitted { host, nonce, response, login })
}

/// Greets the client and reads its answer, after a change to TLS if the client wants that.
fn shake_hands(
    server: &Server,
    entry: &SessionEntry,
    channel: &mut Channel<Stream>,
    version: &str,
) -> Result<([u8; NONCE_BYTES], HandshakeResponse), Refusal> {
    let nonce = new_nonce();
    let tls = server.tls.get();
    let capabilities = CAPABILITIES | if tls.is_some() { cap::SSL } else { 0 };
    let greeting = Greeting {
        server_version: version.into(),
        connection_id: entry.id,
        nonce,
        capabilities,
        collation: COLLATION_UTF8MB4_0900_AI_CI,
        status: cap::STATUS_AUTOCOMMIT,
        plugin: plugin::CACHING_SHA2.into(),
    };
    channel.write_packet(|out| greeting.encode(out))?;
    channel.flush()?;
    let mut first = HandshakeResponse::decode(channel.read_packet()?, capabilities);
    if let (Ok(FirstPacket::TlsRequest), Some(tls)) = (&first, tls) {
        let (stream, ahead) = channel.stream_and_rest();
        server.status.tls_accepts.add_one();
        if let Err(e) = stream.accept_tls(tls, ahead) {
            log::info!("No TLS with connection {}: {e}", entry.id);
            return Err(handshake_error().into());
        }
        server.status.tls_finished_accepts.add_one();
        entry.show(|s| s.encryption = stream.encryption());
        first = HandshakeResponse::decode(channel.read_packet()?, capabilities);
    }
    match first.map_err(|_| handshake_error())? {
        FirstPacket::Response(response) => Ok((nonce, response)),
        FirstPacket::TlsRequest => Err(handshake_error().into()),
        FirstPacket::TooOld => Err(Refusal::Bare(handshake_error())),
    }
}

/// Builds error 1135, which says that the system has no thread for a new connection.
pub(super) fn no_thread(error: &io::Error) -> SqlError {
    let number = error.raw_os_error().unwrap_or(0);
    let text = format!(
        "Can't create a new thread (errno {number}); if you are not out of available memory, you can consult the \
         manual for a possible OS-dependent bug"
    );
    SqlError::new(1135, text)
}

/// Builds error 1040, which says that there are too many connections.
pub(super) fn too_many() -> SqlError {
    SqlError::new(1040, "Too many connections")
}

fn handshake_error() -> SqlError {
    SqlError::new(1043, "Bad handshake")
}

/// Counts a client that is not let in, for the server and for its host, and tells it the reason.
pub(super) fn refuse(
    server: &Arc<Server>,
    entry: &SessionEntry,
    channel: &mut Channel<Stream>,
    refusal: Refusal,
    peer: Option<SocketAddr>,
) {
    if let (Some(peer), Some(error)) = (peer, refusal.counts_as()) {
        server.hosts.count(peer.ip().to_canonical(), error, os::clock::now_us());
    }
    server.status.aborted_connects.add_one();
    // Errors of the connection phase carry their SQLSTATE if the client has announced the 4.1
    // protocol by then.
    let (capabilities, told) = match refusal {
        Refusal::Bare(e) => {
            note_refused(server, entry, &e);
            (0, e)
        }
        Refusal::Error(e, _) => {
            if e.code == 1045 {
                log::info!("{}", e.message);
            }
            note_refused(server, entry, &e);
            (cap::PROTOCOL_41, e)
        }
        Refusal::Packet(e) => {
            if !server.is_stopping() {
                log::info!("Got an error reading communication packets of connection {}: {e}", entry.id);
            }
            (cap::PROTOCOL_41, unreadable(&e))
        }
    };
    // The client may be gone, and no one else is to be told.
    let _gone = send_error(channel, capabilities, GREETING, &told);
}

/// Returns the error for a client whose packet cannot be read.
pub(super) fn unreadable(e: &PacketError) -> SqlError {
    match e {
        PacketError::Io(io) if is_timeout(io) => {
            SqlError::new(1159, "Got timeout reading communication packets")
        }
        e => broken_rule(e)
            .unwrap_or_else(|| SqlError::new(1158, "Got an error reading communication packets")),
    }
}

/// Reports whether the time for a read or a write is over.
pub(super) fn is_timeout(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Returns the error for a client that has broken the rules of packets. `None` means that the error
/// is another one.
pub(super) fn broken_rule(e: &PacketError) -> Option<SqlError> {
    match e {
        PacketError::TooLarge { .. } => {
            Some(SqlError::new(1153, "Got a packet bigger than 'max_allowed_packet' bytes"))
        }
        PacketError::OutOfOrder { .. } => Some(SqlError::new(1156, "Got packets out of order")),
        PacketError::NoRoom(told) => Some(SqlError::new(told.code, told.message.clone())),
        PacketError::Io(_) | PacketError::Closed => None,
    }
}

/// The collation of messages to a client that has no session, which is the one that the greeting
/// names.
pub(super) const GREETING: u16 = COLLATION_UTF8MB4_0900_AI_CI as u16;

/// Sends the client an error, in the character set of a collation.
pub(super) fn send_error(
    channel: &mut Channel<Stream>,
    capabilities: cap::Capabilities,
    collation_id: u16,
    e: &SqlError,
) -> Result<(), PacketError> {
    let packet = ErrPacket { code: e.code, state: e.state, message: e.message.clone() };
    channel.write_packet(|out| packet.encode(capabilities, collation_id, out))?;
    channel.flush()
}
