//! XA transactions of a source. Prepared ones are kept aside by the engine, with their locks, until
//! the source's XA COMMIT or XA ROLLBACK comes; what is received in between goes on.

use binlog::Xid;
use binlog::event::{QueryEvent, XaPrepareEvent};
use engine::{EngineError, XaFinish};

use super::{Applier, Stage};
use crate::applier::report;
use crate::error::ThreadError;
use crate::relay::RelayPosition;

/// A statement about an XA transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum XaStatement {
    Start,
    End,
    Finish { xid: Xid, commit: bool },
}

impl XaStatement {
    /// The statement as sources log it, `None` for any other.
    pub fn of(query: &QueryEvent<'_>) -> Option<XaStatement> {
        let text = std::str::from_utf8(query.statement.strip_prefix(b"XA ")?).ok()?;
        let (word, xid) = text.split_once(' ')?;
        let xid = xid.parse().ok()?;
        match word {
            "START" => Some(XaStatement::Start),
            "END" => Some(XaStatement::End),
            "COMMIT" => Some(XaStatement::Finish { xid, commit: true }),
            "ROLLBACK" => Some(XaStatement::Finish { xid, commit: false }),
            _ => None,
        }
    }
}

impl Applier<'_> {
    pub(super) fn xa_statement(
        &mut self,
        statement: XaStatement,
        bytes: &[u8],
        query: &QueryEvent<'_>,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        self.append(bytes)?;
        match statement {
            XaStatement::Start => self.stage = Stage::Open,
            XaStatement::End => {}
            XaStatement::Finish { xid, commit } => {
                self.name_relay_end(relay);
                let finish = XaFinish { commit, by_its_session: false, events: Some(&self.open.events) };
                let finished = self.channel.engine.finish_xa(&xid, &finish, &self.options());
                finished
                    .map_err(|error| self.xa_failed(&error, &String::from_utf8_lossy(query.statement)))?;
                self.group_is_done(relay);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The end of an XA transaction's events.
    pub(super) fn xa_prepare(
        &mut self,
        event: &XaPrepareEvent,
        bytes: &[u8],
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        self.append(bytes)?;
        if event.one_phase {
            return self.commit(relay);
        }
        self.name_relay_end(relay);
        let failed = |error: &EngineError| self.xa_failed(error, &format!("XA PREPARE {}", event.xid));
        let branch = self.channel.engine.begin_xa(event.xid).map_err(|error| failed(&error))?;
        let rows = self.open.transaction.take();
        let transaction = rows.unwrap_or_else(|| self.open.hold().begin_apply());
        let prepared = transaction.prepare_xa_received(branch, &self.open.events, &self.options());
        prepared.map_err(|error| report::commit(&error, self.place()))?;
        self.group_is_done(relay);
        Ok(true)
    }

    fn xa_failed(&self, error: &EngineError, statement: &str) -> ThreadError {
        let code = match error {
            EngineError::UnknownXid => 1397,
            EngineError::XidExists => 1440,
            error => return report::commit(error, self.place()),
        };
        report::query(code, &error.to_string(), "", statement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<XaStatement> {
        let statement = text.as_bytes();
        XaStatement::of(&QueryEvent {
            thread_id: 0,
            exec_time: 0,
            error_code: 0,
            status_vars: &[],
            schema: b"",
            statement,
        })
    }

    #[test]
    fn statements_are_told_apart() {
        let xid = Xid::new(b"a", b"b", 7).expect("short enough");
        assert_eq!(of("XA START X'61',X'62',7"), Some(XaStatement::Start));
        assert_eq!(of("XA END X'61',X'62',7"), Some(XaStatement::End));
        assert_eq!(of("XA COMMIT X'61',X'62',7"), Some(XaStatement::Finish { xid, commit: true }));
        assert_eq!(of("XA ROLLBACK X'61',X'62',7"), Some(XaStatement::Finish { xid, commit: false }));
        for other in ["BEGIN", "XA RECOVER", "XA COMMIT 'a'", "XAVIER X'61',X'62',7"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
