//! The commands of the command phase, except those of prepared statements.

use super::admission::unreadable;
use super::{Connection, End, dump};
use crate::accounts::{Account, access_denied};
use crate::client::authenticate::{Authentication, Refusal};
use crate::client::connection_host::{ConnectionHost, password_expired};
use crate::client::login::{self, Arrival, Login};
use crate::client::secrets::without_secrets;
use crate::connection::packet_room::PacketRoom;
use crate::connection::wire_sink::{RowForm, definition};
use crate::query_log::{note_command, note_connection, note_refused};
use crate::server::sessions::{Activity, MAX_SHOWN_BYTES, ReplicaName};
use crate::sql_host::new_session;
use protocol::capability as cap;
use protocol::command as com;
use protocol::handshake::HandshakeResponse;
use protocol::packet::PacketError;
use protocol::response::{EOF_HEADER, OkPacket, put_eof};
use protocol::wire::Reader;
use source::dump::DumpEnd;
use sql::measured::EventName;
use sql::{AdminCommand, Host, ResultSink, SqlError};
use std::borrow::Cow;
use std::sync::Arc;

impl Connection<'_> {
    /// Carries out the command that has been read. `Some` ends the connection.
    pub(super) fn dispatch(&mut self) -> Result<Option<End>, PacketError> {
        let Some((&command, _)) = self.command.split_first() else {
            self.send_error(&unknown_command())?;
            return Ok(None);
        };
        self.entry.begin_statement();
        if self.host.is_sandboxed() && !is_left_to_the_sandboxed(command) {
            self.send_error(&password_expired())?;
            return Ok(None);
        }
        let measured = measured_name(command).filter(|_| self.entry.measured().is_some());
        let Some(name) = measured else { return self.carry_out(command) };
        self.refused = None;
        let since_ticks = os::clock::ticks();
        let done = self.carry_out(command)?;
        self.session.measure_command(name, since_ticks, self.refused.take().as_ref());
        Ok(done)
    }

    fn carry_out(&mut self, command: u8) -> Result<Option<End>, PacketError> {
        // Dump sessions and COM_QUIT end the connection. Every other command sends an answer, and
        // the connection goes on.
        match command {
            com::QUIT => {
                self.note("Quit", "");
                return Ok(Some(End::Quit));
            }
            com::QUERY => self.query()?,
            com::INIT_DB => self.init_db()?,
            com::FIELD_LIST => self.field_list()?,
            com::STATISTICS => self.statistics()?,
            com::PING => self.admin_command(|c| c.send_ok())?,
            com::DEBUG => self.debug()?,
            com::CLONE => self.send_error(&SqlError::new(1524, "Plugin 'clone' is not loaded"))?,
            com::SHUTDOWN => self.shutdown()?,
            com::SET_OPTION => self.set_option()?,
            com::RESET_CONNECTION => self.admin_command(|c| c.reset_connection())?,
            com::CHANGE_USER => return self.change_user(),
            com::STMT_PREPARE => self.stmt_prepare()?,
            com::STMT_EXECUTE => self.stmt_execute()?,
            com::STMT_SEND_LONG_DATA => self.stmt_send_long_data(),
            com::STMT_CLOSE => self.stmt_close(),
            com::STMT_RESET => self.stmt_reset()?,
            com::STMT_FETCH => self.stmt_fetch()?,
            com::REGISTER_SLAVE => self.register_replica()?,
            com::BINLOG_DUMP | com::BINLOG_DUMP_GTID => return self.binlog_dump().map(Some),
            _ => self.send_error(&unknown_command())?,
        }
        Ok(None)
    }

    /// Writes the command into the general log, if that is on.
    pub(super) fn note(&self, command: &str, argument: &str) {
        note_command(&self.host, command, || argument);
    }

    /// Returns the command's bytes after its first.
    pub(super) fn body(&self) -> &[u8] {
        self.command.get(1..).unwrap_or(&[])
    }

    fn admin_command(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<(), PacketError>,
    ) -> Result<(), PacketError> {
        self.server.status.admin_commands.add_one();
        run(self)
    }

    fn query(&mut self) -> Result<(), PacketError> {
        self.entry.set_activity(Activity::Query);
        self.server.status.questions.add_one();
        // The packet is taken out of `self` while the statement runs, and put back so that its
        // memory is used again.
        let command = std::mem::take(&mut self.command);
        let text = without_end(&command[1..]);
        let multi = self.capabilities & cap::MULTI_STATEMENTS != 0;
        self.host.statement_started(Some(&without_secrets(shown_text(text), multi)));
        let result = self.answer(RowForm::Text, None, |session, sink| {
            session.set_multi_statements(multi);
            session.execute(text, sink)
        });
        self.host.statement_started(None);
        assert!(self.command.is_empty(), "no other command is read while a statement runs");
        self.command = command;
        result
    }

    fn init_db(&mut self) -> Result<(), PacketError> {
        self.entry.counters().statements.count(EventName::of("sql/change_db").0);
        let name = String::from_utf8_lossy(self.body()).into_owned();
        self.note("Init DB", &name);
        if name.is_empty() {
            return self.send_error(&SqlError::new(1046, "No database selected"));
        }
        match self.change_schema(&name) {
            Ok(()) => self.send_ok(),
            Err(e) => self.send_error(&e),
        }
    }

    /// Carries out COM_FIELD_LIST: sends the columns of a table, each with NULL as its default,
    /// because command-line clients ignore the default.
    fn field_list(&mut self) -> Result<(), PacketError> {
        let mut r = Reader::new(self.body());
        self.entry.counters().statements.count(EventName::of("sql/show_fields").0);
        let table = String::from_utf8_lossy(r.nul_or_rest()).into_owned();
        let wildcard = String::from_utf8_lossy(r.nul_or_rest()).into_owned();
        note_command(&self.host, "Field List", || format!("{table} {wildcard}"));
        let columns = match self.session.columns_of(&table, &wildcard) {
            Ok(columns) => columns,
            Err(e) => return self.send_error(&e),
        };
        let (results, collation) = (self.session.results_collation(), self.session.names_collation());
        for meta in &columns {
            let column = definition(meta, results);
            self.channel.write_packet(|out| {
                column.encode(collation, out);
                out.push(0xfb);
            })?;
        }
        self.send_end()
    }

    /// Sends the packet that ends a list which is no result of its own.
    pub(super) fn send_end(&mut self) -> Result<(), PacketError> {
        let (status, capabilities) = (self.session.status(), self.capabilities);
        self.channel.write_packet(|out| {
            if capabilities & cap::DEPRECATE_EOF != 0 {
                OkPacket { status, ..OkPacket::default() }.encode(EOF_HEADER, capabilities, out);
            } else {
                put_eof(status, 0, out);
            }
        })
    }

    fn statistics(&mut self) -> Result<(), PacketError> {
        self.server.status.admin_commands.add_one();
        self.note("Statistics", "");
        let line = crate::show::status::statistics_line(self.server);
        self.channel.write_packet(|out| out.extend_from_slice(line.as_bytes()))
    }

    fn debug(&mut self) -> Result<(), PacketError> {
        if let Err(e) = self.host.require_admin("SUPER", &[]) {
            return self.send_error(&e);
        }
        crate::show::status::log_debug_information(self.server);
        self.send_end()
    }

    fn shutdown(&mut self) -> Result<(), PacketError> {
        // There have only ever been these levels: the default, and the one that writes all buffers,
        // which does the same.
        const LEVELS: [u8; 2] = [0, 16];
        if self.body().first().is_some_and(|level| !LEVELS.contains(level)) {
            return self.send_error(&SqlError::not_supported("this shutdown level"));
        }
        self.note("Shutdown", "");
        self.entry.counters().statements.count(EventName::of("sql/shutdown").0);
        let host = self.host.clone();
        self.answer(RowForm::Text, None, |session, sink: &mut dyn ResultSink| {
            host.admin(AdminCommand::Shutdown { restart: false }, session.status(), sink)
        })
    }

    fn set_option(&mut self) -> Result<(), PacketError> {
        match Reader::new(self.body()).u16("COM_SET_OPTION") {
            Ok(0) => self.capabilities |= cap::MULTI_STATEMENTS,
            Ok(1) => self.capabilities &= !cap::MULTI_STATEMENTS,
            Ok(_) => return self.send_error(&unknown_command()),
            Err(_) => return self.send_error(&malformed()),
        }
        self.send_end()
    }

    fn reset_connection(&mut self) -> Result<(), PacketError> {
        self.note("Reset Connection", "");
        self.forget_statements();
        self.session.reset();
        self.host.reset();
        self.send_ok()
    }

    fn change_user(&mut self) -> Result<Option<End>, PacketError> {
        self.entry.set_activity(Activity::ChangeUser);
        self.server.status.admin_commands.add_one();
        let response = match HandshakeResponse::decode_change_user(self.body(), self.capabilities) {
            Ok(response) => response,
            Err(_) => {
                self.send_error(&unknown_command())?;
                return Ok(Some(End::Lost));
            }
        };
        let login = match self.authenticate_again(&response) {
            Ok(login) => login,
            Err(refusal) => {
                self.count_for_host(refusal.counts_as());
                let e = match refusal {
                    Refusal::Packet(e) => unreadable(&e),
                    Refusal::Error(e, _) | Refusal::Bare(e) => e,
                };
                // MySQL closes the connection of a client that could not change its user.
                note_refused(self.server, self.entry, &e);
                self.send_error(&e)?;
                self.channel.flush()?;
                return Ok(Some(End::Lost));
            }
        };
        self.forget_statements();
        self.entry.show(|s| s.user = String::from_utf8_lossy(&response.user).into_owned());
        self.entry.set_attributes(&response.attributes, &self.server.status);
        self.host = Arc::new(ConnectionHost::new(self.server.clone(), self.entry.clone(), login));
        self.channel.set_room(Box::new(PacketRoom::new(&self.host.memory())));
        match new_session(&self.host, &response) {
            Ok(session) => self.session = session,
            Err(e) => {
                self.send_error(&e)?;
                return Ok(Some(End::Lost));
            }
        }
        note_command(&self.host, "Change user", || {
            format!("{} on {}", self.host.client(), String::from_utf8_lossy(&response.schema))
        });
        let entered = self.enter_schema(&response.schema);
        note_connection(&self.host, "change_user");
        match entered.and_then(|()| self.send_ok()) {
            Ok(()) => Ok(None),
            Err(PacketError::Closed) => Ok(Some(End::Lost)),
            Err(e) => Err(e),
        }
    }

    fn authenticate_again(&mut self, response: &HandshakeResponse) -> Result<Login, Refusal> {
        self.entry.show(|s| s.given_user = String::from_utf8_lossy(&response.user).into_owned());
        // Reads within a command wait for at most `net_read_timeout`.
        self.set_read_timeout(self.host.net_read_timeout())?;
        let user = String::from_utf8_lossy(&response.user).into_owned();
        if self.server.grants_are_skipped() {
            return Ok(Login::unchecked(Arc::new(Account { user, ..Account::default() })));
        }
        let mut authentication = Authentication {
            accounts: &self.server.accounts,
            host: &self.client_host,
            channel: &mut self.channel,
            nonce: self.nonce,
        };
        let proved = authentication.run_again(response)?;
        let arrival = Arrival {
            user: &user,
            host: &self.client_host.name(),
            capabilities: self.capabilities,
            stream: self.channel.stream(),
            with_password: proved.with_password,
        };
        login::let_in(self.server, proved.account, &arrival)
    }

    /// Returns the server UUID that a replica has set; empty when it has set none.
    fn uuid_of_replica(&self) -> String {
        let said = ["replica_uuid", "slave_uuid"].iter().find_map(|name| self.session.user_variable(name));
        let text = said
            .and_then(|uuid| uuid.text_bytes(None).map(|text| String::from_utf8_lossy(&text).into_owned()));
        text.filter(|uuid| uuid.len() == UUID_BYTES).unwrap_or_default()
    }

    /// Registers a replica, which SHOW REPLICAS lists as long as it is connected.
    fn register_replica(&mut self) -> Result<(), PacketError> {
        if self.host.require_static("REPLICATION SLAVE").is_err() {
            // MySQL's error for this command differs from that for the dump itself.
            let account = self.host.account();
            let with_password = !account.authentication_string.is_empty();
            return self.send_error(&access_denied(&account.user, &account.host, with_password));
        }
        match crate::server::replicas::RegisteredReplica::decode(self.body(), self.entry.id) {
            Ok(mut replica) => {
                if replica.source_id == 0 {
                    replica.source_id = self.server.globals.named("server_id").uint() as u32;
                }
                replica.server_uuid = self.uuid_of_replica();
                self.server.replicas.register(replica);
                self.send_ok()
            }
            Err(_) => self.send_error(&malformed()),
        }
    }

    /// Carries out COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID: sends events for as long as the client
    /// wants them. The connection ends with the dump.
    fn binlog_dump(&mut self) -> Result<End, PacketError> {
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
        let request = match dump::request(&self.session, by_gtid, self.body()) {
            Ok(request) => request,
            Err(refusal) => {
                self.send_error(&SqlError::new(refusal.code, refusal.message))?;
                return Ok(End::Quit);
            }
        };
        note_command(&self.host, if by_gtid { "Binlog Dump GTID" } else { "Binlog Dump" }, || {
            format!("{request:?}")
        });
        let replica = match self.uuid_of_replica() {
            uuid if uuid.is_empty() => ReplicaName::ServerId(request.server_id),
            uuid => ReplicaName::Uuid(uuid),
        };
        self.server.sessions.begin_dump(self.entry, &replica);
        binlog.wake_sessions();
        match dump::send_events(&binlog, &request, &mut self.channel, self.entry)? {
            DumpEnd::Complete => {
                let status = self.session.status();
                self.channel.write_packet(|out| put_eof(status, 0, out))?;
                Ok(End::Quit)
            }
            DumpEnd::Killed if self.entry.shown().is_replaced => {
                self.send_error(&SqlError::new(1236, REPLACED))?;
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
}

/// The words with which MySQL ends a dump to a replica that has come with another connection.
const REPLACED: &str =
    "A replica with the same server_uuid/server_id as this replica has connected to the source";

/// Returns the name by which performance_schema knows a command that is no statement.
fn measured_name(command: u8) -> Option<&'static str> {
    Some(match command {
        com::QUERY | com::STMT_PREPARE | com::STMT_EXECUTE | com::STMT_CLOSE => return None,
        com::QUIT => "com/Quit",
        com::INIT_DB => "com/Init DB",
        com::FIELD_LIST => "com/Field List",
        com::STATISTICS => "com/Statistics",
        com::PING => "com/Ping",
        com::DEBUG => "com/Debug",
        com::SHUTDOWN => "com/Shutdown",
        com::SET_OPTION => "com/Set option",
        com::RESET_CONNECTION => "com/Reset Connection",
        com::CHANGE_USER => "com/Change user",
        com::STMT_SEND_LONG_DATA => "com/Long Data",
        com::STMT_RESET => "com/Reset stmt",
        com::STMT_FETCH => "com/Fetch",
        com::REGISTER_SLAVE => "com/Register Replica",
        com::BINLOG_DUMP => "com/Binlog Dump",
        com::BINLOG_DUMP_GTID => "com/Binlog Dump GTID",
        _ => "com/Error",
    })
}

/// The length of a UUID as text, in bytes.
const UUID_BYTES: usize = 36;

/// Returns the text without the semicolons, blanks and NUL bytes that clients leave at its end.
fn without_end(mut text: &[u8]) -> &[u8] {
    while let Some((b';' | b' ' | b'\t' | b'\r' | b'\n' | 0, rest)) = text.split_last() {
        text = rest;
    }
    text
}

/// Returns a statement's text as others see it, which is only the beginning of a long text.
pub(super) fn shown_text(text: &[u8]) -> Cow<'_, str> {
    let shown = &text[..text.len().min(MAX_SHOWN_BYTES)];
    // The text is nearly always UTF-8, and this check is many times as fast.
    std::str::from_utf8(shown).map_or_else(|_| String::from_utf8_lossy(shown), Cow::Borrowed)
}

/// Reports whether a command is carried out although the password has expired. The statements in it
/// are still checked one by one.
fn is_left_to_the_sandboxed(command: u8) -> bool {
    matches!(
        command,
        com::QUERY
            | com::QUIT
            | com::PING
            | com::STMT_PREPARE
            | com::STMT_EXECUTE
            | com::STMT_CLOSE
            | com::STMT_SEND_LONG_DATA
    )
}

fn unknown_command() -> SqlError {
    SqlError::new(1047, "Unknown command")
}

/// Builds error 1835, which says that a packet is malformed.
pub(super) fn malformed() -> SqlError {
    SqlError::new(1835, "Malformed communication packet.")
}
