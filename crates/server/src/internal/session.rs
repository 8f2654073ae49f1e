//! The sessions that the server runs for itself.

use crate::internal::host::InternalHost;
use crate::internal::row_collector::RowCollector;
use crate::server::Server;
use sql::admin::AccountsLog;
use sql::{Session, SessionInit};
use std::sync::Arc;
use types::collation::UTF8MB4_0900_AI_CI;

/// A session that may do everything and leaves no trace in the binary log.
pub struct InternalSession {
    session: Session,
}

impl InternalSession {
    /// Opens a new session.
    pub fn new(server: &Arc<Server>) -> sql::Result<InternalSession> {
        let host = Arc::new(InternalHost::new(server.clone()));
        let init = SessionInit {
            collation: UTF8MB4_0900_AI_CI,
            found_rows: false,
            multi_statements: false,
            ps_multi_results: false,
            schema: None,
        };
        let session = Session::new(server.engine.clone(), host, init)?;
        let mut session = InternalSession { session };
        session.run("SET SESSION sql_log_bin = 0, sql_mode = ''")?;
        Ok(session)
    }

    /// Runs a statement and drops its result.
    pub fn run(&mut self, text: &str) -> sql::Result<()> {
        self.run_bytes(text.as_bytes())
    }

    /// Runs a statement, given in bytes, and drops its result.
    pub fn run_bytes(&mut self, text: &[u8]) -> sql::Result<()> {
        self.session.execute(text, &mut RowCollector::default())
    }

    /// Commits the session's changes as the changes of this statement about accounts.
    pub fn commit_accounts(&mut self, log: &AccountsLog<'_>, text: &str) -> sql::Result<()> {
        self.session.commit_accounts(log, text)
    }

    /// Runs a statement and returns its rows.
    pub fn rows(&mut self, text: &str) -> sql::Result<RowCollector> {
        let mut rows = RowCollector::default();
        self.session.execute(text.as_bytes(), &mut rows)?;
        Ok(rows)
    }
}
