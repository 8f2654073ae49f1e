//! What the general log says of the commands of connections.

use super::audit;
use super::entry::{GeneralEntry, user_host};
use super::table;
use crate::client::connection_host::ConnectionHost;
use crate::server::Server;
use crate::server::query_logs::{Log, TO_FILE, TO_TABLE};
use crate::server::sessions::SessionEntry;
use sql::SqlError;
use std::sync::Arc;

/// Writes a command of a connection that has been let in, which is no statement, into the general
/// log and the audit log, as far as these are on. `argument` is only asked for then.
pub fn note_command<A: AsRef<[u8]>>(host: &ConnectionHost, command: &str, argument: impl FnOnce() -> A) {
    if !host.server().audit.is_on() {
        return note_general(host, command, argument);
    }
    let argument = argument();
    audit::note_command(host, command, argument.as_ref());
    note_general(host, command, || argument);
}

/// Writes a command or a statement of a connection into the general log, if that is on.
/// `argument` is only asked for then.
pub(super) fn note_general<A: AsRef<[u8]>>(
    host: &ConnectionHost,
    command: &str,
    argument: impl FnOnce() -> A,
) {
    let server = host.server();
    if !server.query_logs.is_on(Log::General) || host.session_variables().is_on("sql_log_off") {
        return;
    }
    let (entry, argument) = (host.entry(), argument());
    write_general(
        server,
        &GeneralEntry {
            at_us: os::clock::now_us(),
            user_host: &user_host(&host.login_account().user, &entry.shown()),
            connection_id: entry.id,
            command,
            argument: argument.as_ref(),
        },
    );
}

/// Writes that a client was not let in into the audit log and, after a wrong password, into the
/// general log, as far as these are on.
pub fn note_refused(server: &Arc<Server>, entry: &SessionEntry, error: &SqlError) {
    audit::note_refused(server, entry, error);
    if error.code == 1045 && server.query_logs.is_on(Log::General) {
        let shown = entry.shown();
        write_general(
            server,
            &GeneralEntry {
                at_us: os::clock::now_us(),
                user_host: &user_host(&shown.user, &shown),
                connection_id: entry.id,
                command: "Connect",
                argument: error.message.as_bytes(),
            },
        );
    }
}

/// Writes a command of a client into the general log.
fn write_general(server: &Arc<Server>, entry: &GeneralEntry<'_>) {
    if server.query_logs.has_output(TO_FILE) {
        server
            .query_logs
            .file(Log::General)
            .write(&[entry.line().as_bytes(), entry.argument, b"\n"].concat());
    }
    if server.query_logs.has_output(TO_TABLE) {
        table::put_general(server, entry);
    }
}
