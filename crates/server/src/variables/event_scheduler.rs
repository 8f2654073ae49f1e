//! What `event_scheduler` and the variables of read-only servers change when they are set.

use super::Setting;
use crate::server::Server;
use sql::SqlError;

/// The value of `event_scheduler` that only the start of a server sets.
const DISABLED: &str = "DISABLED";

/// Begins what `event_scheduler` says. Where grant tables are skipped there are no definers, and
/// the scheduler is disabled, as in MySQL.
pub fn begin_events(server: &Server) {
    if server.grants_are_skipped() {
        server.globals.set_named("event_scheduler", Setting::Text(DISABLED.to_owned()));
    }
    follow_variables(server);
}

/// `event_scheduler`, `read_only` or `super_read_only` has been set.
pub fn follow_variables(server: &Server) {
    match server.globals.named("event_scheduler").text() {
        "ON" => server.events.start(&server.sessions),
        _ => server.events.stop(&server.sessions),
    }
}

/// SET GLOBAL event_scheduler: error 1231 for DISABLED, which is for the start of a server alone;
/// 1290 where the server was started so.
pub fn check_setting(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    if setting.text() == DISABLED {
        return Err(SqlError::wrong_value_for_variable("event_scheduler", DISABLED));
    }
    match server.globals.named("event_scheduler").text() {
        DISABLED => Err(SqlError::option_prevents("--event-scheduler=DISABLED or --skip-grant-tables")),
        _ => Ok(()),
    }
}
