//! What a session tells of its statements, put into the logs that are on.

use super::audit;
use super::entry::shown;
use super::general::note_general;
use super::slow;
use crate::client::connection_host::ConnectionHost;
use crate::server::query_logs::Log;
use sql::{EndedStatement, StatementLog, StatementOrigin};

impl StatementLog for ConnectionHost {
    fn begins(&self, origin: StatementOrigin, text: &[u8]) {
        let command = match origin {
            StatementOrigin::Query => "Query",
            StatementOrigin::Prepare => "Prepare",
            StatementOrigin::Execute => "Execute",
        };
        if origin == StatementOrigin::Prepare && self.server().audit.is_on() {
            audit::note_command(self, command, &shown(text));
        }
        note_general(self, command, || match self.server().globals.named("log_raw").is_on() {
            true => text.to_vec(),
            false => shown(text),
        });
    }

    fn ended(&self, statement: &EndedStatement<'_>) {
        if self.server().query_logs.is_on(Log::Slow) {
            slow::note(self, statement);
        }
        if self.server().audit.is_on() {
            audit::note_statement(self, statement);
        }
    }

    fn not_understood(&self, error_code: u16, took_us: u64) {
        if self.server().audit.is_on() {
            audit::note_not_understood(self, error_code, took_us);
        }
    }
}
