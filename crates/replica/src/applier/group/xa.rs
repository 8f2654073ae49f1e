//! XA transactions of a source. The engine keeps a prepared one aside with its locks until the
//! source's XA COMMIT or XA ROLLBACK comes. Transactions in between are applied meanwhile.

use binlog::event::{QueryEvent, XaPrepareEvent};
use engine::{EngineError, XaFinish};

use super::Applier;
use super::progress::Stage;
use super::xa_statement::XaStatement;
use crate::applier::report;
use crate::error::ThreadError;
use crate::relay::RelayPosition;

impl Applier<'_> {
    pub(super) fn xa_statement(
        &mut self,
        statement: XaStatement,
        bytes: &[u8],
        query: &QueryEvent<'_>,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        self.progress.append(bytes)?;
        match statement {
            XaStatement::Start => self.progress.stage = Stage::Open,
            XaStatement::End => {}
            XaStatement::Finish { xid, commit } => {
                self.progress.name_relay_end(relay);
                let finish =
                    XaFinish { commit, by_its_session: false, events: Some(&self.progress.open.events) };
                let finished =
                    self.progress.channel.engine.finish_xa(&xid, &finish, &self.progress.options());
                finished
                    .map_err(|error| self.xa_failed(&error, &String::from_utf8_lossy(query.statement)))?;
                self.progress.group_is_done(relay);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes the event that ends an XA transaction's events.
    pub(super) fn xa_prepare(
        &mut self,
        event: &XaPrepareEvent,
        bytes: &[u8],
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        self.progress.append(bytes)?;
        if event.one_phase {
            return self.progress.commit(relay);
        }
        self.progress.name_relay_end(relay);
        let failed = |error: &EngineError| self.xa_failed(error, &format!("XA PREPARE {}", event.xid));
        let branch = self.progress.channel.engine.begin_xa(event.xid).map_err(|error| failed(&error))?;
        let rows = self.progress.open.transaction.take();
        let transaction = rows.unwrap_or_else(|| self.progress.open.hold().begin_apply());
        let prepared =
            transaction.prepare_xa_received(branch, &self.progress.open.events, &self.progress.options());
        prepared.map_err(|error| report::commit(&error, self.progress.place()))?;
        self.progress.group_is_done(relay);
        Ok(true)
    }

    fn xa_failed(&self, error: &EngineError, statement: &str) -> ThreadError {
        let code = match error {
            EngineError::UnknownXid => 1397,
            EngineError::XidExists => 1440,
            error => return report::commit(error, self.progress.place()),
        };
        report::query(code, &error.to_string(), "", statement)
    }
}
