//! How a statement about accounts is committed, and what comes of it.

use crate::error::Result;
use crate::sink::VirtualTable;
use engine::{CommitOptions, DdlContext, Engine, SessionContext, Transaction};
use std::sync::Arc;

/// How a statement about accounts is committed.
pub struct AccountsLog<'a> {
    /// The statement as it was written.
    pub text: &'a str,
    /// The session's current schema; empty: none.
    pub schema: &'a str,
    /// The session's settings.
    pub session: &'a SessionContext,
    /// The event group as it was received from a source, for this server's own log.
    pub group: Option<&'a [u8]>,
    /// GTID, position and so on.
    pub options: CommitOptions<'a>,
    /// The statement is a MariaDB source's.
    pub of_mariadb: bool,
}

impl AccountsLog<'_> {
    /// Commits the rows that the statement changed, if any, and the statement as `text`.
    pub(crate) fn commit(
        &self,
        engine: &Arc<Engine>,
        transaction: Option<Box<Transaction>>,
        text: &str,
    ) -> Result<()> {
        let mut context = DdlContext::new(text, self.schema, self.session);
        context.received_group = self.group;
        context.options = self.options;
        match transaction {
            Some(mut transaction) => transaction.commit_as_statement(&context)?,
            None => engine.log_statement(&context)?,
        };
        Ok(())
    }
}

/// What a statement about accounts came to.
#[derive(Debug, Default)]
pub struct AccountsChanged {
    /// What did not matter: code and message.
    pub notes: Vec<(u16, String)>,
    /// What is told as a warning.
    pub warnings: Vec<(u16, String)>,
    /// Passwords that were made, to be shown once.
    pub result: Option<VirtualTable>,
}
