//! What a session tells of its statements, put into the logs that are on.

use super::{Log, note_command, slow};
use crate::client::connection_host::ConnectionHost;
use crate::client::secrets::without_secrets;
use sql::{EndedStatement, StatementLog, StatementOrigin};
use std::borrow::Cow;

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

/// Returns a statement's text as the logs have it: without passwords, and of PREPARE without the
/// text that is prepared.
pub(super) fn shown(text: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(text) if is_prepare(text) => {
            let name = text.split_ascii_whitespace().nth(1).unwrap_or_default();
            format!("PREPARE {name} FROM ...").into_bytes()
        }
        Ok(text) => without_secrets(Cow::Borrowed(text), false).into_owned().into_bytes(),
        Err(_) => text.to_vec(),
    }
}

fn is_prepare(text: &str) -> bool {
    text.split_ascii_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("PREPARE"))
}
