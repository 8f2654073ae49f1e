//! What a session tells of its statements, put into the logs that are on.

use super::entry::shown;
use super::general::note_command;
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
        note_command(self, command, || match self.server().globals.named("log_raw").is_on() {
            true => text.to_vec(),
            false => shown(text),
        });
    }

    fn ended(&self, statement: &EndedStatement<'_>) {
        if self.server().query_logs.is_on(Log::Slow) {
            slow::note(self, statement);
        }
    }
}
