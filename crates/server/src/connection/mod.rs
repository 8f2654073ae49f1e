//! One client's connection: its thread, from the greeting to the end.
//!
//! A panic in here ends the connection and nothing else: the thread's edge catches it and logs it
//! with the statement. Everything that the connection has is given back when its values are
//! dropped, by a panic as by an end: the session rolls its transaction back, its prepared
//! statements give back their places. What is in the middle of a change that others see ends the
//! process instead ([`os::panic::Indivisible`]).

mod command;
mod dump;
mod statement;
#[cfg(test)]
pub(crate) mod tests;

use crate::accounts::{Account, ClientHost};
use crate::authenticate::{Authentication, Refusal, new_nonce};
use crate::connection_host::ConnectionHost;
use crate::login::{self, Arrival, Login};
use crate::prepared::PreparedStatement;
use crate::server::Server;
use crate::sessions::{Activity, SessionEntry};
use crate::status::ServerStatus;
use crate::wire_sink::{RowForm, WireSink};
use os::account::{State, enter};
use os::clock::Stopwatch;
use os::panic::Panicked;
use protocol::auth::{NONCE_BYTES, plugin};
use protocol::capability as cap;
use protocol::handshake::{COLLATION_UTF8MB4_0900_AI_CI, FirstPacket, Greeting, HandshakeResponse};
use protocol::packet::{Channel, PacketError};
use protocol::response::{ErrPacket, OK_HEADER, OkPacket};
use protocol::stream::Stream;
use sql::{ResultSink, Session, SqlError};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// What the server can.
const CAPABILITIES: cap::Capabilities = cap::LONG_PASSWORD
    | cap::FOUND_ROWS
    | cap::LONG_FLAG
    | cap::CONNECT_WITH_DB
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

/// The longest packet before a client has proved itself, in bytes.
const MAX_LOGIN_PACKET_BYTES: usize = 64 * 1024;
/// A command buffer that grew past this is given back.
const KEEP_COMMAND_BYTES: usize = 1024 * 1024;

/// Starts the thread of a connection that has been accepted, and will be greeted with this version.
pub fn start(
    server: &Arc<Server>,
    stream: Stream,
    host: ClientHost,
    shown_host: String,
    version: &'static str,
) {
    server.status.connections.add_one();
    let interrupter = match stream.interrupter() {
        Ok(interrupter) => interrupter,
        Err(e) => {
            log::error!("cannot serve a new connection: {e}");
            return;
        }
    };
    let entry = server.sessions.add(shown_host, Some(interrupter));
    server.status.max_used_connections.raise_to(server.sessions.count() as u64);
    let (server_of_thread, entry_of_thread) = (server.clone(), entry.clone());
    // Whoever of the two is there takes it: the thread, or this one to say that there is none.
    let handed_over = Arc::new(parking_lot::Mutex::new(Some(stream)));
    let handed_to_thread = handed_over.clone();
    let started = os::thread::try_spawn("connection", move || {
        let (server, entry) = (server_of_thread, entry_of_thread);
        let stream = handed_to_thread.lock().take().expect("a thread that runs was started");
        if let Err(panic) = os::panic::contain(|| serve(&server, &entry, stream, host, version)) {
            log_panic(&entry, &panic);
            server.status.aborted_clients.add_one();
            server.replicas.forget(entry.id);
        }
        server.sessions.remove(entry.id);
    });
    match started {
        Ok(_) => server.status.threads_created.add_one(),
        Err(e) => {
            log::error!("Can't create thread to handle new connection: {e}");
            server.sessions.remove(entry.id);
            server.status.aborted_connects.add_one();
            if let Some(stream) = handed_over.lock().take() {
                let _gone = send_error(&mut Channel::new(stream, MAX_LOGIN_PACKET_BYTES), 0, &no_thread(&e));
            }
        }
    }
}

/// What a connection did that has panicked. Its literals stay out of the log: they may be passwords
/// and people's data.
fn log_panic(entry: &SessionEntry, panic: &Panicked) {
    let shown = entry.shown();
    let statement = match shown.is_running {
        true => sql::normalized(&shown.statement),
        false => "none".to_owned(),
    };
    log::error!(
        "connection {} of '{}'@'{}' to db '{}' has panicked and is closed: {}; its statement: {statement}",
        entry.id,
        shown.user,
        entry.host,
        shown.schema.as_deref().unwrap_or(""),
        panic.0
    );
}

/// A command that runs is counted in `Threads_running` as long as this lives.
struct Running<'a>(&'a ServerStatus);

impl<'a> Running<'a> {
    fn begin(status: &'a ServerStatus) -> Running<'a> {
        status.threads_running.add_one();
        Running(status)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.threads_running.subtract_one();
    }
}

/// A connection whose client has been let in.
struct Connection<'a> {
    server: &'a Arc<Server>,
    entry: &'a Arc<SessionEntry>,
    channel: Channel<Stream>,
    capabilities: cap::Capabilities,
    client_host: ClientHost,
    nonce: [u8; NONCE_BYTES],
    host: Arc<ConnectionHost>,
    session: Session,
    statements: BTreeMap<u32, PreparedStatement>,
    /// The present command's packet.
    command: Vec<u8>,
    /// The read timeout that is set on the socket.
    read_timeout: Option<Duration>,
    /// The write timeout that is set on the socket.
    write_timeout: Option<Duration>,
    /// Bytes that the server's counters have seen.
    counted: (u64, u64),
}

/// Why a connection ends.
enum End {
    /// COM_QUIT.
    Quit,
    /// The client went away, was killed or broke the protocol.
    Lost,
}

fn serve(
    server: &Arc<Server>,
    entry: &Arc<SessionEntry>,
    stream: Stream,
    client_host: ClientHost,
    version: &str,
) {
    let mut channel = Channel::new(stream, MAX_LOGIN_PACKET_BYTES);
    let connect_timeout = Duration::from_secs(server.globals.named("connect_timeout").uint());
    // For all of the handshake: who sends a byte now and then does not keep a place.
    let since = Stopwatch::start();
    channel.stream_mut().set_deadline(Some(Box::new(move || since.remaining(connect_timeout))));
    let limit = server.globals.named("max_connections").uint() as usize;
    let (place, connected) = server.sessions.take_place();
    // One more than the limit may come in, for an administrator (MySQL manual, max_connections).
    if connected > limit + 1 {
        server.status.max_connections_errors.add_one();
        drop(place);
        // The client may be gone; there is nobody else to tell.
        let _gone = send_error(&mut channel, 0, &too_many());
        return;
    }
    let admitted = admit(server, entry, &mut channel, (&client_host, version), connected > limit);
    let (nonce, response, login) = match admitted {
        Ok(admitted) => admitted,
        Err(refusal) => {
            server.status.aborted_connects.add_one();
            drop(place);
            refuse(server, entry, &mut channel, refusal);
            return;
        }
    };
    let host = Arc::new(ConnectionHost::new(server.clone(), entry.clone(), login));
    let session = match host.new_session(&response) {
        Ok(session) => session,
        Err(e) => {
            let _gone = send_error(&mut channel, response.capabilities, &e);
            return;
        }
    };
    channel.stream_mut().set_deadline(None);
    let mut connection = Connection {
        server,
        entry,
        channel,
        capabilities: response.capabilities,
        client_host,
        nonce,
        host,
        session,
        statements: BTreeMap::new(),
        command: Vec::new(),
        read_timeout: None,
        write_timeout: None,
        counted: (0, 0),
    };
    if let End::Lost = connection.run(&response.schema) {
        server.status.aborted_clients.add_one();
    }
    connection.count_bytes();
}

type Admitted = ([u8; NONCE_BYTES], HandshakeResponse, Login);

/// The connection phase up to the account; the OK packet is sent once the session exists.
fn admit(
    server: &Arc<Server>,
    entry: &Arc<SessionEntry>,
    channel: &mut Channel<Stream>,
    (client_host, version): (&ClientHost, &str),
    only_admin: bool,
) -> Result<Admitted, Refusal> {
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
        stream.accept_tls(tls, ahead).map_err(PacketError::Io)?;
        entry.show(|s| s.encryption = stream.encryption());
        first = HandshakeResponse::decode(channel.read_packet()?, capabilities);
    }
    let response = match first.map_err(|_| handshake_error())? {
        FirstPacket::Response(response) => response,
        FirstPacket::TlsRequest => return Err(handshake_error().into()),
        FirstPacket::TooOld => {
            let text = "Client does not support authentication protocol requested by server; consider upgrading \
                        MySQL client";
            return Err(SqlError::new(1251, text).into());
        }
    };
    if !channel.stream().is_secure() && server.globals.named("require_secure_transport").is_on() {
        let text = "Connections using insecure transport are prohibited while --require_secure_transport=ON.";
        return Err(SqlError::new(3159, text).into());
    }
    entry.show(|s| s.user = String::from_utf8_lossy(&response.user).into_owned());
    let user = String::from_utf8_lossy(&response.user).into_owned();
    if server.grants_are_skipped() {
        let account = Arc::new(Account { user, ..Account::default() });
        return Ok((nonce, response, Login::unchecked(account)));
    }
    let proved =
        Authentication { accounts: &server.accounts, host: client_host, channel, nonce }.run(&response)?;
    if only_admin && !proved.account.administers(&["CONNECTION_ADMIN"]) {
        server.status.max_connections_errors.add_one();
        return Err(too_many().into());
    }
    let arrival = Arrival {
        user: &user,
        host: &client_host.name(),
        capabilities: response.capabilities,
        stream: channel.stream(),
        with_password: proved.with_password,
    };
    let login = login::let_in(server, proved.account, &arrival)?;
    Ok((nonce, response, login))
}

/// Error 1135: the system gives no thread for a new connection.
fn no_thread(error: &std::io::Error) -> SqlError {
    let number = error.raw_os_error().unwrap_or(0);
    let text = format!(
        "Can't create a new thread (errno {number}); if you are not out of available memory, you can consult the \
         manual for a possible OS-dependent bug"
    );
    SqlError::new(1135, text)
}

fn too_many() -> SqlError {
    SqlError::new(1040, "Too many connections")
}

fn handshake_error() -> SqlError {
    SqlError::new(1043, "Bad handshake")
}

fn refuse(server: &Server, entry: &SessionEntry, channel: &mut Channel<Stream>, refusal: Refusal) {
    match refusal {
        Refusal::Error(e) => {
            if e.code == 1045 {
                log::info!("{}", e.message);
            }
            // Errors of the connection phase carry their SQLSTATE; the client has announced the 4.1
            // protocol by now.
            let _gone = send_error(channel, cap::PROTOCOL_41, &e);
        }
        Refusal::Packet(e) => {
            if let Some(told) = broken_rule(&e) {
                let _gone = send_error(channel, cap::PROTOCOL_41, &told);
            }
            if !server.is_stopping() {
                log::info!("Got an error reading communication packets of connection {}: {e}", entry.id);
            }
        }
    }
}

/// What a client is told that has broken the rules of packets.
fn broken_rule(e: &PacketError) -> Option<SqlError> {
    match e {
        PacketError::TooLarge { .. } => {
            Some(SqlError::new(1153, "Got a packet bigger than 'max_allowed_packet' bytes"))
        }
        PacketError::OutOfOrder { .. } => Some(SqlError::new(1156, "Got packets out of order")),
        PacketError::Io(_) | PacketError::Closed => None,
    }
}

fn send_error(
    channel: &mut Channel<Stream>,
    capabilities: cap::Capabilities,
    e: &SqlError,
) -> Result<(), PacketError> {
    let packet = ErrPacket { code: e.code, state: e.state, message: e.message.clone() };
    channel.write_packet(|out| packet.encode(capabilities, out))?;
    channel.flush()
}

impl Connection<'_> {
    /// The command phase.
    fn run(&mut self, schema: &[u8]) -> End {
        if self.set_timeouts().is_err() || self.enter_schema(schema).is_err() {
            return End::Lost;
        }
        let init_connect = self.server.globals.named("init_connect").text().to_owned();
        if !init_connect.is_empty()
            && !self.host.is_sandboxed()
            && !self.host.account().administers(&["CONNECTION_ADMIN"])
        {
            let mut ignored = crate::row_collector::RowCollector::default();
            if let Err(e) = self.session.execute(init_connect.as_bytes(), &mut ignored) {
                log::warn!(
                    "Aborted connection {}: init_connect command failed: {}",
                    self.entry.id,
                    e.message
                );
                return End::Lost;
            }
        }
        loop {
            match self.read_command() {
                Ok(()) => {}
                Err(PacketError::Closed) => return End::Lost,
                Err(e) => return self.lost(&e),
            }
            self.server.status.queries.add_one();
            let running = Running::begin(&self.server.status);
            let outcome = self.dispatch();
            drop(running);
            let sent = outcome.and_then(|end| {
                let _sending = enter(State::NetworkSend);
                self.channel.flush().map(|()| end)
            });
            self.host.answered();
            self.count_bytes();
            match sent {
                Ok(None) if self.entry.is_connection_killed() => return End::Lost,
                Ok(None) if self.session.wants_to_close() => return End::Quit,
                Ok(None) => {}
                Ok(Some(end)) => return end,
                Err(e) => return self.lost(&e),
            }
        }
    }

    /// Makes the schema of the handshake the current one, and sends the OK packet that ends the
    /// handshake.
    fn enter_schema(&mut self, schema: &[u8]) -> Result<(), PacketError> {
        if !schema.is_empty() {
            let name = String::from_utf8_lossy(schema).into_owned();
            if let Err(e) = self.change_schema(&name) {
                send_error(&mut self.channel, self.capabilities, &e)?;
                return Err(PacketError::Closed);
            }
        }
        self.send_ok()?;
        self.channel.flush()
    }

    /// Makes a schema the current one.
    fn change_schema(&mut self, name: &str) -> Result<(), SqlError> {
        self.session.change_schema(name)
    }

    /// Waits for the next command, at most `wait_timeout`.
    fn read_command(&mut self) -> Result<(), PacketError> {
        self.entry.set_activity(Activity::Sleep);
        self.channel.set_max_packet_bytes(self.host.max_allowed_packet_bytes());
        self.set_timeouts()?;
        if self.command.capacity() > KEEP_COMMAND_BYTES {
            self.command = Vec::new();
        }
        self.channel.reset_sequence();
        let _waiting = enter(State::ClientWait);
        if !self.channel.await_packet()? {
            // From its first byte on a command is no idle client's.
            let timeout = Some(self.host.net_read_timeout());
            self.channel.stream().set_read_timeout(timeout)?;
            self.read_timeout = timeout;
        }
        let packet = self.channel.read_packet()?;
        self.command.clear();
        self.command.extend_from_slice(packet);
        Ok(())
    }

    /// Sets what the session's variables say of idle clients, and of those that do not read.
    fn set_timeouts(&mut self) -> Result<(), PacketError> {
        let read = Some(self.host.wait_timeout(self.capabilities & cap::INTERACTIVE != 0));
        if read != self.read_timeout {
            self.channel.stream().set_read_timeout(read)?;
            self.read_timeout = read;
        }
        let write = Some(self.host.net_write_timeout());
        if write != self.write_timeout {
            self.channel.stream().set_write_timeout(write)?;
            self.write_timeout = write;
        }
        Ok(())
    }

    /// Tells the client, if it can still hear, why its connection ends.
    fn lost(&mut self, e: &PacketError) -> End {
        let told = match e {
            PacketError::TooLarge { .. } | PacketError::OutOfOrder { .. } => broken_rule(e),
            PacketError::Io(io)
                if matches!(io.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
            {
                let text = "The client was disconnected by the server because of inactivity. See wait_timeout and \
                            interactive_timeout for configuring this behavior.";
                Some(SqlError::new(4031, text))
            }
            PacketError::Io(_) | PacketError::Closed => None,
        };
        if let Some(error) = told {
            // The client may be gone; there is nobody else to tell.
            let _gone = send_error(&mut self.channel, self.capabilities, &error);
        }
        let shown = self.entry.shown();
        log::info!(
            "Aborted connection {} to db: '{}' user: '{}' host: '{}' ({e})",
            self.entry.id,
            shown.schema.as_deref().unwrap_or("unconnected"),
            shown.user,
            self.entry.host
        );
        End::Lost
    }

    fn count_bytes(&mut self) {
        let now = (self.channel.received_bytes(), self.channel.sent_bytes());
        self.server.status.bytes_received.add(now.0 - self.counted.0);
        self.server.status.bytes_sent.add(now.1 - self.counted.1);
        self.counted = now;
    }

    fn send_ok(&mut self) -> Result<(), PacketError> {
        let capabilities = self.capabilities;
        let changes = match capabilities & cap::SESSION_TRACK {
            0 => Vec::new(),
            _ => self.host.take_state_changes(),
        };
        let ok = OkPacket { status: self.session.status(), changes, ..OkPacket::default() };
        self.channel.write_packet(|out| ok.encode(OK_HEADER, capabilities, out))
    }

    fn send_error(&mut self, e: &SqlError) -> Result<(), PacketError> {
        send_error(&mut self.channel, self.capabilities, e)
    }

    /// Runs something that answers into a sink, and sends its error if it has one.
    fn answer(
        &mut self,
        form: RowForm,
        run: impl FnOnce(&mut Session, &mut dyn ResultSink) -> sql::Result<()>,
    ) -> Result<(), PacketError> {
        let host = self.host.clone();
        let changes = move || host.take_state_changes();
        let collation = self.session.results_collation();
        let mut sink = WireSink::new(&mut self.channel, self.capabilities, form, collation, &changes);
        let result = run(&mut self.session, &mut sink);
        if result.is_err() {
            sink.take_back_incomplete();
        }
        if let Some(broken) = sink.into_broken() {
            return Err(broken);
        }
        match result {
            Ok(()) => Ok(()),
            Err(e) => self.send_error(&e),
        }
    }
}
