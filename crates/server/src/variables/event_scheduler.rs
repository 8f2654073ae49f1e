//! The effects of setting `event_scheduler` and the variables of read-only servers.

use super::Setting;
use crate::server::Server;
use sql::SqlError;

/// The value of `event_scheduler` that only the start of a server can set.
const DISABLED: &str = "DISABLED";

/// Starts the event scheduler if `event_scheduler` is ON. As in MySQL it is disabled where grant
/// tables are skipped, because there are no definers then.
pub fn begin_events(server: &Server) {
    if server.grants_are_skipped() {
        server.globals.set_named("event_scheduler", Setting::Text(DISABLED.to_owned()));
    }
    follow_variables(server);
}

/// Starts or stops the event scheduler after `event_scheduler`, `read_only` or `super_read_only`
/// has been set.
pub fn follow_variables(server: &Server) {
    match server.globals.named("event_scheduler").text() {
        "ON" => server.events.start(&server.sessions),
        _ => server.events.stop(&server.sessions),
    }
}

/// Checks the value of SET GLOBAL event_scheduler.
///
/// # Errors
/// Returns 1231 (`ER_WRONG_VALUE_FOR_VAR`) for the value DISABLED, which only the start of a server
/// can set, and 1290 (`ER_OPTION_PREVENTS_STATEMENT`) where the server was started with DISABLED.
pub fn check_setting(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    if setting.text() == DISABLED {
        return Err(SqlError::wrong_value_for_variable("event_scheduler", DISABLED));
    }
    match server.globals.named("event_scheduler").text() {
        DISABLED => Err(SqlError::option_prevents("--event-scheduler=DISABLED or --skip-grant-tables")),
        _ => Ok(()),
    }
}
