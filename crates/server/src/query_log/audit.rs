//! The events of the audit log: connections, commands and statements.

use super::audit_record::{Event, Record, Statement};
use super::entry::shown;
use crate::accounts::Account;
use crate::client::connection_host::{ConnectionHost, without_port};
use crate::server::Server;
use crate::server::audit_log::StatementForm;
use crate::server::sessions::SessionEntry;
use crate::server::status::StatementKind;
use sql::{EndedStatement, SqlError, StatementOrigin};
use std::net::IpAddr;

/// The class of a text that could not be understood.
const NOT_UNDERSTOOD: &str = "error";
/// The class of a statement that no counter of SHOW STATUS counts.
const OTHER: &str = "other";

/// Notes a connection of a client that has been let in: `connect`, `change_user` or `disconnect`.
pub fn note_connection(host: &ConnectionHost, event: &'static str) {
    let (server, entry, account) = (host.server(), host.entry(), host.login_account());
    if server.audit.takes(|filter| filter.takes_connection(&account.user, &account.host)) {
        let event = Event::Connection { event, status: 0 };
        put(server, entry, (&account.user, &account.host), &event);
    }
}

/// Notes that a client was not let in. The account is not known, so that the filters see the names
/// that the client gave.
pub fn note_refused(server: &Server, entry: &SessionEntry, error: &SqlError) {
    if !server.audit.is_on() {
        return;
    }
    let known = entry.shown();
    let (user, host) = (known.given_user.as_str(), without_port(&known.host));
    if server.audit.takes(|filter| filter.takes_connection(user, host)) {
        put(server, entry, (user, host), &Event::Connection { event: "connect", status: error.code });
    }
}

/// Notes that a client of the web page has proved its account, or was refused. A browser proves its
/// account with each request, so that an account which is let in again from the same address is
/// noted once an hour.
pub fn note_page(server: &Server, ip: IpAddr, user: &str, proved: Result<&Account, &SqlError>) {
    if !server.audit.is_on() {
        return;
    }
    let address = ip.to_string();
    let (account, status) = match proved {
        Ok(account) => ((account.user.as_str(), account.host.as_str()), 0),
        Err(error) => ((user, address.as_str()), error.code),
    };
    let is_old = status == 0 && !server.audit.is_new_reader((account.0, account.1, ip));
    if is_old || !server.audit.takes(|filter| filter.takes_connection(account.0, account.1)) {
        return;
    }
    let record = Record {
        at_us: os::clock::now_us(),
        id: server.audit.next_id(),
        connection_id: 0,
        account,
        login_user: user,
        ip: Some(ip),
        is_encrypted: false,
        is_page: true,
        schema: None,
        attributes: &[],
    };
    server.audit.put(record.line(&Event::Connection { event: "connect", status }).as_bytes());
}

/// Notes a command that is no statement. Those of connections are events of their own.
pub fn note_command(host: &ConnectionHost, command: &str, argument: &[u8]) {
    if matches!(command, "Connect" | "Change user") {
        return;
    }
    let class = command.to_ascii_lowercase().replace(' ', "_");
    let argument = String::from_utf8_lossy(argument);
    let text = match host.server().audit.form() {
        StatementForm::Text if !argument.is_empty() => Some(&*argument),
        _ => None,
    };
    note(host, &class, || Event::Command { command, class: &class, text });
}

/// Notes a statement that has ended.
pub fn note_statement(host: &ConnectionHost, statement: &EndedStatement<'_>) {
    let class = StatementKind::of(&String::from_utf8_lossy(statement.text)).name().unwrap_or(OTHER);
    let form = host.server().audit.form();
    let text = match form {
        StatementForm::Text => String::from_utf8_lossy(&shown(statement.text)).into_owned(),
        StatementForm::Digest => String::new(),
    };
    let digest = (form == StatementForm::Digest).then(|| statement.digest());
    note(host, class, || {
        Event::Statement(Statement {
            command: match statement.origin {
                StatementOrigin::Execute => "Execute",
                StatementOrigin::Query | StatementOrigin::Prepare => "Query",
            },
            class,
            schema: statement.schema,
            text: &text,
            digest: digest.as_ref(),
            status: statement.error_code,
            took_us: statement.took_us,
            rows_sent: statement.rows_sent,
            rows_examined: statement.rows_examined(),
            rows_affected: statement.rows_affected,
        })
    });
}

/// Notes a text that was refused before it was understood. The text is left out: where a password
/// stands in it cannot be told.
pub fn note_not_understood(host: &ConnectionHost, status: u16, took_us: u64) {
    note(host, NOT_UNDERSTOOD, || {
        Event::Statement(Statement {
            command: "Query",
            class: NOT_UNDERSTOOD,
            status,
            took_us,
            ..Statement::default()
        })
    });
}

fn note<'e>(host: &ConnectionHost, class: &str, event: impl FnOnce() -> Event<'e>) {
    let (server, account) = (host.server(), host.login_account());
    if server.audit.takes(|filter| filter.takes_command(&account.user, &account.host, class)) {
        put(server, host.entry(), (&account.user, &account.host), &event());
    }
}

fn put(server: &Server, entry: &SessionEntry, account: (&str, &str), event: &Event<'_>) {
    let (known, attributes) = (entry.shown(), entry.attributes());
    let record = Record {
        at_us: os::clock::now_us(),
        id: server.audit.next_id(),
        connection_id: entry.id,
        account,
        login_user: &known.given_user,
        ip: known.ip,
        is_encrypted: known.encryption.is_some(),
        is_page: false,
        schema: known.schema.as_deref(),
        attributes: &attributes,
    };
    server.audit.put(record.line(event).as_bytes());
}
