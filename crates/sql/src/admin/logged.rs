//! The commit of a statement about accounts, and its results.

use crate::error::Result;
use crate::sink::VirtualTable;
use engine::{CommitOptions, DdlContext, Engine, SessionContext, Transaction};
use std::sync::Arc;

/// What committing a statement about accounts needs.
pub struct AccountsLog<'a> {
    /// The statement as it was written.
    pub text: &'a str,
    /// The session's current schema. An empty one means none.
    pub schema: &'a str,
    /// The session's settings.
    pub session: &'a SessionContext,
    /// The event group as it was received from a source, for this server's own log.
    pub group: Option<&'a [u8]>,
    /// The options of the commit, such as the GTID and the replication position.
    pub options: CommitOptions<'a>,
    /// Whether the statement comes from a MariaDB source.
    pub of_mariadb: bool,
}

impl AccountsLog<'_> {
    /// Commits the rows that the statement has changed, if any, and logs the statement as `text`.
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

/// The results of a statement about accounts.
#[derive(Debug, Default)]
pub struct AccountsChanged {
    /// Notes, each with its number and text.
    pub notes: Vec<(u16, String)>,
    /// Warnings, each with its number and text.
    pub warnings: Vec<(u16, String)>,
    /// The generated passwords, which are shown once.
    pub result: Option<VirtualTable>,
}
