//! Statements about accounts: definitions as others, which the server around the session carries
//! out and commits with what the binary log gets of them.

use super::Session;
use crate::admin::{AccountsLog, AdminCommand};
use crate::error::Result;
use crate::expr::Level;
use crate::sink::ResultSink;

impl Session {
    /// Commits what is open, changes accounts, and answers; `text` is the statement.
    pub(super) fn change_accounts(
        &mut self,
        command: &AdminCommand,
        text: &[u8],
        sink: &mut dyn ResultSink,
    ) -> Result<()> {
        self.check_writable()?;
        self.commit_transaction()?;
        self.check_session_writable()?;
        if self.check_gtid_next()? {
            return self.ok(sink);
        }
        let text = String::from_utf8_lossy(text);
        let schema = self.schema.as_deref().unwrap_or_default();
        let now_us = self.variables.timestamp_us.unwrap_or_else(os::clock::now_us);
        let mut options = self.commit_options();
        options.binlog &= self.engine.binlog_filter().allows(schema);
        let session = self.session_context(now_us);
        let log =
            AccountsLog { text: &text, schema, session: &session, group: None, options, of_mariadb: false };
        let changed = {
            let timeout_ms = Some(self.variables.lock_wait_timeout_s * 1000);
            let _pass = self.engine.enter_ddl(timeout_ms, Some(&self.interrupt))?;
            self.host.change_accounts(command, &log)
        };
        self.spend_gtid();
        let changed = changed?;
        let told = [(Level::Note, changed.notes), (Level::Warning, changed.warnings)];
        for (level, (code, message)) in
            told.into_iter().flat_map(|(level, told)| told.into_iter().map(move |one| (level, one)))
        {
            self.statement.diagnostics.borrow_mut().push(level, code, message);
        }
        match &changed.result {
            Some(table) => self.send_table(table, sink),
            None => self.ok(sink),
        }
    }

    /// Commits the session's transaction, whose rows are those of accounts, as the statement that
    /// changed them; `text` is what the binary log gets.
    ///
    /// # Errors
    /// MySQL's number and wording; nothing is committed then.
    pub fn commit_accounts(&mut self, log: &AccountsLog<'_>, text: &str) -> Result<()> {
        let transaction = self.transaction.open.take();
        let committed = log.commit(&self.engine, transaction, text);
        self.forget_transaction();
        committed
    }
}
