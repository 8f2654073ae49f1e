//! Which statements are slow (MySQL's manual, "The Slow Query Log").

use super::entry::{SlowEntry, shown, user_host};
use super::table;
use crate::client::connection_host::ConnectionHost;
use crate::server::query_logs::{Log, TO_FILE, TO_TABLE};
use sql::EndedStatement;

/// Writes a statement that has ended into the slow query log, if it is slow.
pub(super) fn note(host: &ConnectionHost, statement: &EndedStatement<'_>) {
    if !is_slow(host, statement) {
        return;
    }
    let (server, entry) = (host.server(), host.entry());
    let entry = SlowEntry {
        at_us: os::clock::now_us(),
        user_host: user_host(&host.login_account().user, &entry.shown()),
        connection_id: entry.id,
        text: shown(statement.text),
        statement,
    };
    let logs = &server.query_logs;
    if logs.has_output(TO_FILE) {
        let with_extra = server.globals.named("log_slow_extra").is_on();
        logs.file(Log::Slow)
            .write_of_schema(statement.schema, |names_schema| entry.lines(names_schema, with_extra));
    }
    if logs.has_output(TO_TABLE) {
        table::put_slow(server, &entry);
    }
}

/// Reports whether a statement took `long_query_time` seconds or, with
/// `log_queries_not_using_indexes`, read a table without an index; and neither has too few rows
/// (`min_examined_row_limit`) nor is an administrative statement that is left out.
fn is_slow(host: &ConnectionHost, statement: &EndedStatement<'_>) -> bool {
    let (globals, variables) = (&host.server().globals, host.session_variables());
    let took_long = statement.took_us as f64 >= variables.named("long_query_time").double() * 1_000_000.0;
    let is_without_index = || {
        globals.named("log_queries_not_using_indexes").is_on()
            && statement.figure("Select_scan") + statement.figure("Select_full_join") > 0
    };
    (took_long || is_without_index())
        && statement.rows_examined() >= variables.named("min_examined_row_limit").uint()
        && (globals.named("log_slow_admin_statements").is_on() || !statement.is_administrative)
}
