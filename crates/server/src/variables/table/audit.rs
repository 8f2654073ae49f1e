//! The variables of the audit log, which have the names of those of MySQL Enterprise and of Percona
//! Server.

use crate::server::audit_log::StatementForm;
use crate::server::audit_log::filter::{List, Policy};
use crate::variables::definition::Guard;
use crate::variables::definition::Kind::{Bool, Enum, Text, UInt};
use crate::variables::definition::{Definition, global};

/// Why these variables are not MySQL's.
const EXTENSION: &str = "MySQL Community has no audit log; the name is that of MySQL Enterprise.";
/// As [`EXTENSION`], for those that MySQL Enterprise does not have.
const PERCONA: &str = "MySQL Community has no audit log; the name is that of Percona Server.";

/// AUDIT_ADMIN is needed too, so that an administrator of variables alone cannot hide from the log.
const ADMIN: Guard = Guard::GlobalWith("AUDIT_ADMIN", "SYSTEM_VARIABLES_ADMIN plus AUDIT_ADMIN, or SUPER");

/// The definitions, sorted by name.
pub const DEFINITIONS: &[Definition] = &[
    global("audit_log", Bool, "OFF")
        .guarded(ADMIN)
        .does(
            "Connections, commands and statements of clients are written to audit_log_file, as one object \
             of JSON a line.",
        )
        .differs(EXTENSION)
        .entered(|server, s| {
            let name = server.globals.named("audit_log_file");
            server.audit.turn(&server.disk, &server.log_opening(), name.text(), s.is_on())
        }),
    global("audit_log_buffer_size", UInt(4096, 1 << 30), "1048576")
        .guarded(ADMIN)
        .block(4096)
        .does("So many bytes of lines may wait for being written.")
        .differs(EXTENSION)
        .entered(|server, s| {
            server.audit.set_buffer_bytes(s.uint());
            Ok(())
        }),
    global("audit_log_exclude_accounts", Text, "")
        .guarded(ADMIN)
        .does(
            "Events of these accounts are not written. It is a list of user@host, separated by commas, and \
             has to be empty while audit_log_include_accounts is not.",
        )
        .differs(EXTENSION)
        .entered(|server, s| server.audit.set_list(List::ExcludeAccounts, s.text())),
    global("audit_log_exclude_commands", Text, "")
        .guarded(ADMIN)
        .does(
            "Commands of these classes are not written. A class is the name of a Com_ variable without \
             Com_, or the name of a command of the protocol such as init_db.",
        )
        .differs(PERCONA)
        .entered(|server, s| server.audit.set_list(List::ExcludeCommands, s.text())),
    global("audit_log_file", Text, "audit.log")
        .read_only()
        .does("The audit log is written to this file. A relative name is one in the data directory.")
        .differs(EXTENSION),
    global("audit_log_format", Enum(&["JSON"]), "JSON")
        .read_only()
        .kept("It tells the form of the lines, whose names are those of MySQL Enterprise's JSON format.")
        .differs(EXTENSION),
    global("audit_log_include_accounts", Text, "")
        .guarded(ADMIN)
        .does("If it is not empty, events of these accounts only are written.")
        .differs(EXTENSION)
        .entered(|server, s| server.audit.set_list(List::IncludeAccounts, s.text())),
    global("audit_log_include_commands", Text, "")
        .guarded(ADMIN)
        .does("If it is not empty, commands of these classes only are written.")
        .differs(PERCONA)
        .entered(|server, s| server.audit.set_list(List::IncludeCommands, s.text())),
    global("audit_log_policy", Enum(&Policy::WORDS), "ALL")
        .guarded(ADMIN)
        .does("Events of connections (LOGINS), of commands and statements (QUERIES), or both are written.")
        .differs("MySQL Community has no audit log; in MySQL Enterprise only the start can set it.")
        .entered(|server, s| {
            server.audit.set_policy(Policy::named(s.text()));
            Ok(())
        }),
    global("audit_log_rotate_on_size", UInt(0, u64::MAX), "0")
        .guarded(ADMIN)
        .does("A file of so many bytes is renamed, and a new one is begun; 0 is never.")
        .differs(EXTENSION)
        .entered(|server, s| {
            server.audit.set_rotate_on_size_bytes(s.uint());
            Ok(())
        }),
    global("audit_log_rotations", UInt(0, 999), "0")
        .guarded(ADMIN)
        .does("So many earlier files are kept, as NAME.1, NAME.2 and so on; with 0 no file is renamed.")
        .differs(PERCONA)
        .entered(|server, s| {
            server.audit.set_rotations(s.uint());
            Ok(())
        }),
    global("audit_log_statements", Enum(&["TEXT", "DIGEST"]), "TEXT")
        .guarded(ADMIN)
        .does("Of a statement its text without passwords is written, or its digest without all values.")
        .differs("It is this server's own.")
        .entered(|server, s| {
            let form = if s.text() == "DIGEST" { StatementForm::Digest } else { StatementForm::Text };
            server.audit.set_form(form);
            Ok(())
        }),
    global("audit_log_strategy", Enum(&["ASYNCHRONOUS", "PERFORMANCE"]), "ASYNCHRONOUS")
        .guarded(ADMIN)
        .does(
            "While the buffer is full, a session waits for room in it (ASYNCHRONOUS), or its event is lost \
             and counted in Audit_log_events_lost (PERFORMANCE).",
        )
        .differs("MySQL Enterprise has two further ones, in which sessions write the file themselves.")
        .entered(|server, s| {
            server.audit.set_waits_for_room(s.text() == "ASYNCHRONOUS");
            Ok(())
        }),
];
