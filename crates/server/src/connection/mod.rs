//! One client's connection: its thread, from the greeting to the end.
//!
//! A panic in the thread ends only this connection: the thread's outermost function catches it and
//! logs it with the statement. Everything that the connection holds is released when its values are
//! dropped, after a panic as at a normal end: the session rolls its transaction back, and its
//! prepared statements give back their places. A panic in the middle of a change that others can
//! see ends the process instead ([`os::panic::Indivisible`]).

mod admission;
mod cells;
mod command;
mod dump;
mod packet_room;
mod prepared;
mod sent_columns;
mod statement;
mod stored_cells;
#[cfg(test)]
mod tests;
mod wire_sink;

use crate::accounts::ClientHost;
use crate::client::connection_host::ConnectionHost;
use crate::connection::packet_room::PacketRoom;
use crate::connection::prepared::PreparedStatement;
use crate::connection::sent_columns::SentColumns;
use crate::connection::wire_sink::{RowForm, WireSink};
use crate::process::allocator;
use crate::query_log::{note_command, note_connection};
use crate::server::Server;
use crate::server::host_cache::HostError;
use crate::server::sessions::{Activity, SessionEntry};
use crate::server::status::ServerStatus;
use crate::sql_host::new_session;
pub use admission::Origin;
use admission::{
    Admitted, GREETING, admit, broken_rule, is_timeout, no_thread, refuse, send_error, too_many, unreadable,
};
use os::account::{State, enter};
use os::clock::Stopwatch;
use os::panic::Panicked;
use protocol::auth::NONCE_BYTES;
use protocol::capability as cap;
use protocol::command as com;
use protocol::packet::{Channel, PacketError};
use protocol::response::{OK_HEADER, OkPacket};
use protocol::stream::Stream;
use sql::{Host, ResultSink, Session, SqlError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The longest packet before a client has authenticated, in bytes.
const MAX_LOGIN_PACKET_BYTES: usize = 64 * 1024;
/// The number of bytes from which on a command's memory is given back to the system afterwards. For
/// less memory, asking for it again would cost more than it saves.
const HUNGRY_BYTES: u64 = 32 << 20;

/// Starts the thread of a connection that has been accepted.
pub fn start(server: &Arc<Server>, stream: Stream, origin: Origin) {
    server.status.connections.add_one();
    let interrupter = match stream.interrupter() {
        Ok(interrupter) => interrupter,
        Err(e) => {
            log::error!("cannot serve a new connection: {e}");
            server.status.internal_errors.add_one();
            return;
        }
    };
    let entry = server.sessions.add(origin.shown(), Some(interrupter));
    server.status.note_connections(server.sessions.clients());
    let (server_of_thread, entry_of_thread) = (server.clone(), entry.clone());
    // The new thread takes the stream. If there is no new thread, this one takes it to say so.
    let handed_over = Arc::new(parking_lot::Mutex::new(Some(stream)));
    let handed_to_thread = handed_over.clone();
    let came = Stopwatch::start();
    let started = os::thread::try_spawn("connection", move || {
        let (server, entry) = (server_of_thread, entry_of_thread);
        entry.served_by_this_thread();
        if came.elapsed() > Duration::from_secs(server.globals.named("slow_launch_time").uint()) {
            server.status.slow_launch_threads.add_one();
        }
        let stream = handed_to_thread.lock().take().expect("a thread that runs was started");
        if let Err(panic) = os::panic::contain(|| serve(&server, &entry, stream, origin)) {
            log_panic(&entry, &panic);
            server.status.aborted_clients.add_one();
        }
        server.replicas.forget(entry.id);
        server.sessions.remove(entry.id);
    });
    match started {
        Ok(_) => server.status.threads_created.add_one(),
        Err(e) => {
            log::error!("Can't create thread to handle new connection: {e}");
            server.sessions.remove(entry.id);
            server.status.aborted_connects.add_one();
            server.status.internal_errors.add_one();
            if let Some(stream) = handed_over.lock().take() {
                let _gone = send_error(
                    &mut Channel::new(stream, MAX_LOGIN_PACKET_BYTES),
                    0,
                    GREETING,
                    &no_thread(&e),
                );
            }
        }
    }
}

/// Logs what a connection did whose thread has panicked. The statement's literals stay out of the
/// log, because they may be passwords and personal data.
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
        shown.host,
        shown.schema.as_deref().unwrap_or(""),
        panic.0
    );
}

/// Counts a running command in `Threads_running` as long as this value lives.
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
    /// The packet of the present command.
    command: Vec<u8>,
    /// The read timeout that the socket has now.
    read_timeout: Option<Duration>,
    /// The write timeout that the socket has now.
    write_timeout: Option<Duration>,
    /// The received and the sent bytes that the server's counters include already.
    counted: (u64, u64),
    /// The error that the present command was refused with.
    refused: Option<SqlError>,
}

/// The reason why a connection ends.
enum End {
    /// The client sent COM_QUIT.
    Quit,
    /// The client went away, was killed or broke the protocol.
    Lost,
}

fn serve(server: &Arc<Server>, entry: &Arc<SessionEntry>, stream: Stream, origin: Origin) {
    let mut channel = Channel::new(stream, MAX_LOGIN_PACKET_BYTES);
    let connect_timeout = Duration::from_secs(server.globals.named("connect_timeout").uint());
    // The limit holds for the whole handshake, so that a client which sends a byte now and then
    // does not keep a place.
    let since = Stopwatch::start();
    let left = move |own_time| since.remaining(connect_timeout.saturating_add(own_time));
    channel.stream_mut().set_deadline(Some(Box::new(left)));
    let limit = server.globals.named("max_connections").uint() as usize;
    let (place, connected) = server.sessions.take_place();
    // One connection more than the limit may come in, for an administrator (MySQL manual,
    // max_connections).
    if connected > limit + 1 {
        server.status.max_connections_errors.add_one();
        drop(place);
        // A failure is ignored: the client may be gone, and nobody else needs the message.
        let _gone = send_error(&mut channel, 0, GREETING, &too_many());
        return;
    }
    let admitted = match admit(server, entry, &mut channel, &origin, connected > limit) {
        Ok(admitted) => admitted,
        Err(refusal) => {
            drop(place);
            refuse(server, entry, &mut channel, refusal, origin.peer);
            return;
        }
    };
    let Admitted { host: client_host, nonce, response, login } = admitted;
    let host = Arc::new(ConnectionHost::new(server.clone(), entry.clone(), login));
    let session = match new_session(&host, &response) {
        Ok(session) => session,
        Err(e) => {
            let _gone = send_error(&mut channel, response.capabilities, GREETING, &e);
            return;
        }
    };
    channel.stream_mut().set_deadline(None);
    channel.set_room(Box::new(PacketRoom::new(&host.memory())));
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
        refused: None,
    };
    if connection.begin(&response.schema).is_err() {
        server.status.aborted_connects.add_one();
    } else if let End::Lost = connection.run() {
        server.status.aborted_clients.add_one();
    }
    note_connection(&connection.host, "disconnect");
    connection.count_bytes();
}

impl Connection<'_> {
    /// Ends the connection phase: enters the schema that the client wants to begin in, and sends
    /// the OK packet.
    fn begin(&mut self, schema: &[u8]) -> Result<(), PacketError> {
        self.set_timeouts()?;
        note_command(&self.host, "Connect", || {
            let schema = String::from_utf8_lossy(schema);
            format!("{} on {schema} using {}", self.host.client(), self.transport())
        });
        let entered = self.enter_schema(schema);
        note_connection(&self.host, "connect");
        entered?;
        if let Some(ip) = self.client_host.ip() {
            self.server.hosts.let_in(ip);
        }
        self.send_ok()?;
        self.channel.flush()
    }

    /// Runs the command phase.
    fn run(&mut self) -> End {
        let init_connect = self.server.globals.named("init_connect").text().to_owned();
        if !init_connect.is_empty()
            && !self.host.is_sandboxed()
            && !self.host.account().administers(&["CONNECTION_ADMIN"])
        {
            let mut ignored = crate::internal::row_collector::RowCollector::default();
            if let Err(e) = self.session.execute(init_connect.as_bytes(), &mut ignored) {
                return self.init_connect_failed(&e);
            }
        }
        loop {
            match self.read_command() {
                Ok(()) => {}
                Err(e) => return self.gone(&e),
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
            self.give_memory_back();
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

    /// Gives memory back to the system after a command that used much, so that an idle connection
    /// does not keep it from others.
    fn give_memory_back(&self) {
        if self.host.memory().take_most_bytes() >= HUNGRY_BYTES {
            allocator::give_back();
        }
    }

    /// Makes the schema of the handshake the current one, or tells the client why that is not
    /// possible.
    fn enter_schema(&mut self, schema: &[u8]) -> Result<(), PacketError> {
        if !schema.is_empty() {
            let name = String::from_utf8_lossy(schema).into_owned();
            if let Err(e) = self.change_schema(&name) {
                self.count_for_host(HostError::of(&e));
                self.send_error(&e)?;
                return Err(PacketError::Closed);
            }
        }
        Ok(())
    }

    /// Answers the client's first command with error 1184, because `init_connect` failed.
    fn init_connect_failed(&mut self, error: &SqlError) -> End {
        self.count_for_host(Some(HostError::InitConnect));
        let shown = self.entry.shown();
        let aborted = format!(
            "Aborted connection {} to db: '{}' user: '{}' host: '{}' (init_connect command failed",
            self.entry.id,
            shown.schema.as_deref().unwrap_or("unconnected"),
            shown.user,
            self.client_host.name()
        );
        log::warn!("{aborted}; diagnostics area: MY-{:06} - {})", error.code, error.message);
        match self.read_command() {
            Ok(()) => {
                // A failure is ignored: the client may be gone, and nobody else needs the message.
                let _gone = self.send_error(&SqlError::new(1184, format!("{aborted})")));
                End::Lost
            }
            Err(e) => self.gone(&e),
        }
    }

    fn count_for_host(&self, error: Option<HostError>) {
        if let (Some(ip), Some(error)) = (self.client_host.ip(), error) {
            self.server.hosts.count(ip, error, os::clock::now_us());
        }
    }

    /// Makes a schema the current one.
    fn change_schema(&mut self, name: &str) -> Result<(), SqlError> {
        self.session.change_schema(name)
    }

    /// How the client is connected, in the general log's words.
    fn transport(&self) -> &'static str {
        match self.channel.stream().encryption() {
            Some(_) => "SSL/TLS",
            None if self.client_host.ip().is_none() => "Socket",
            None => "TCP/IP",
        }
    }

    /// Counts the command that has ended in `Slow_queries` if it took `long_query_time`.
    fn count_if_slow(&self, took_ticks: u64) {
        let is_statement = matches!(self.command.first(), Some(&(com::QUERY | com::STMT_EXECUTE)));
        // A tick is a nanosecond or less, so most statements need no conversion of their time.
        let is_long = |took_ns: u64| took_ns / 1000 >= self.host.long_query_time_us();
        if is_statement && is_long(took_ticks) && is_long(os::clock::ticks_to_ns(took_ticks)) {
            self.server.status.slow_queries.add_one();
        }
    }

    /// Waits for the next command. As in MySQL, `wait_timeout` holds for each read of it.
    fn read_command(&mut self) -> Result<(), PacketError> {
        let took_ticks = self.entry.set_activity(Activity::Sleep);
        self.count_if_slow(took_ticks);
        self.channel.set_max_packet_bytes(self.host.max_allowed_packet_bytes());
        self.set_timeouts()?;
        self.channel.done_with(&mut self.command);
        self.channel.reset_sequence();
        let _waiting = enter(State::ClientWait);
        self.channel.read_packet_into(&mut self.command)
    }

    fn set_read_timeout(&mut self, timeout: Duration) -> Result<(), PacketError> {
        if self.read_timeout != Some(timeout) {
            self.channel.stream().set_read_timeout(Some(timeout))?;
            self.read_timeout = Some(timeout);
        }
        Ok(())
    }

    /// Sets the timeouts of the session's variables for idle clients, and for clients that do not
    /// read.
    fn set_timeouts(&mut self) -> Result<(), PacketError> {
        self.set_read_timeout(self.host.wait_timeout(self.capabilities & cap::INTERACTIVE != 0))?;
        let write = Some(self.host.net_write_timeout());
        if write != self.write_timeout {
            self.channel.stream().set_write_timeout(write)?;
            self.write_timeout = write;
        }
        Ok(())
    }

    /// Ends a connection whose next command could not be read.
    fn gone(&mut self, e: &PacketError) -> End {
        let told = match e {
            PacketError::Io(io) if is_timeout(io) && !self.channel.has_header() => {
                let text = "The client was disconnected by the server because of inactivity. See wait_timeout and \
                            interactive_timeout for configuring this behavior.";
                SqlError::new(4031, text)
            }
            e => unreadable(e),
        };
        self.tell_last(&told);
        // A client that closes the connection is not worth a note.
        if !matches!(e, PacketError::Closed) {
            self.note_lost(e);
        }
        End::Lost
    }

    /// Ends a connection that broke while its client was sent an answer. A client that does not
    /// read gets no further message, because sending it would wait for the client again.
    fn lost(&mut self, e: &PacketError) -> End {
        if let Some(told) = broken_rule(e) {
            self.tell_last(&told);
        }
        self.note_lost(e);
        End::Lost
    }

    /// Tells the client why its connection ends, if it can still be reached.
    fn tell_last(&mut self, error: &SqlError) {
        // A failure is ignored: the client may be gone, and nobody else needs the message.
        let _gone = self.send_error(error);
    }

    fn note_lost(&self, e: &PacketError) {
        let shown = self.entry.shown();
        log::info!(
            "Aborted connection {} to db: '{}' user: '{}' host: '{}' ({e})",
            self.entry.id,
            shown.schema.as_deref().unwrap_or("unconnected"),
            shown.user,
            shown.host
        );
    }

    fn count_bytes(&mut self) {
        let now = (self.channel.received_bytes(), self.channel.sent_bytes());
        assert!(now.0 >= self.counted.0 && now.1 >= self.counted.1, "a channel's counters only grow");
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
        let collation = self.session.names_collation();
        self.refused = Some(e.clone());
        send_error(&mut self.channel, self.capabilities, collation, e)
    }

    /// Runs a command that writes its results into a sink, and sends its error if it fails. `sent`
    /// has the columns' definitions that an earlier execution of the same statement has sent.
    fn answer(
        &mut self,
        form: RowForm,
        sent: Option<&mut SentColumns>,
        run: impl FnOnce(&mut Session, &mut dyn ResultSink) -> sql::Result<()>,
    ) -> Result<(), PacketError> {
        let host = self.host.clone();
        let changes = move || host.take_state_changes();
        let results = self.session.results_collation();
        let mut sink = WireSink::new(&mut self.channel, self.capabilities, form, results, sent, &changes);
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
