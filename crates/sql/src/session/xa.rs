//! XA transactions of a session: `XA START` to `XA PREPARE`, and the end of prepared ones, whoever
//! began them.
//!
//! States, refusals and their numbers are those of MySQL 9.7 (`testkit/tests/xa.rs` compares).

use super::Session;
use super::state::{
    Bound, RB_ROLLBACK, SessionXa, Stage, XaOfSession as Branch, inval, nota, outside, rolled_back,
};
use crate::ast::{Xa, XaStart};
use crate::error::{Result, SqlError};
use crate::host::{Privilege, VirtualTable};
use crate::schema_tables::column_meta;
use crate::sink::ResultSink;
use crate::temporary::check_no_xa;
use binlog::Xid;
use engine::XaFinish;
use types::{ColumnType, Value};

impl Session {
    /// The same of a statement about rows.
    pub(super) fn check_xa_allows(&self, bound: &Bound) -> Result<()> {
        if !self.xa.is_begun() || (bound.is_query() && !bound.reads_tables()) {
            return Ok(());
        }
        check_no_xa(bound.tables.iter().any(|table| table.is_temporary()))?;
        self.xa.check_active()
    }

    /// The session's transaction has been rolled back; one that is prepared is left to whoever
    /// finishes it.
    pub(super) fn leave_xa(&mut self) {
        if let Some(xid) = self.xa.leave() {
            self.server.engine.detach_xa(&xid);
        }
    }

    pub(super) fn run_xa(&mut self, xa: &Xa, sink: &mut dyn ResultSink) -> Result<()> {
        match xa {
            Xa::Start { xid, how } => self.xa_start(xid, *how)?,
            Xa::End { xid, suspend } => self.xa_end(xid, *suspend)?,
            Xa::Prepare(xid) => self.xa_prepare(xid)?,
            Xa::Commit { xid, one_phase } => self.xa_commit(xid, *one_phase)?,
            Xa::Rollback(xid) => self.xa_rollback(xid)?,
            Xa::Recover { convert_xid } => {
                let table = self.xa_recover(*convert_xid)?;
                self.statement.diagnostics.borrow_mut().clear();
                return self.send_table(&table, sink);
            }
        }
        self.statement.diagnostics.borrow_mut().clear();
        self.ok(sink)
    }

    fn xa_start(&mut self, xid: &Xid, how: XaStart) -> Result<()> {
        if self.xa.resume(xid, how)? {
            return Ok(());
        }
        if self.locks.has_tables() || self.is_in_transaction() {
            return Err(outside());
        }
        self.check_gtid_next()?;
        let place = self.server.engine.begin_xa(*xid)?;
        let mut transaction = self.new_transaction();
        transaction.set_xid(*xid);
        self.transaction.open = Some(transaction);
        self.transaction.explicit = true;
        self.xa = SessionXa(Some(Branch { xid: *xid, stage: Stage::Active, place: Some(place) }));
        Ok(())
    }

    /// A transaction was begun by a statement, or has used a table.
    fn is_in_transaction(&self) -> bool {
        self.transaction.explicit
            || self.transaction.open.as_ref().is_some_and(|transaction| !transaction.is_untouched())
    }

    fn xa_end(&mut self, xid: &Xid, suspend: bool) -> Result<()> {
        if suspend {
            return Err(inval());
        }
        self.xa.end(xid)
    }

    fn xa_prepare(&mut self, xid: &Xid) -> Result<()> {
        self.xa.check_preparable(xid)?;
        if self.transaction.open.as_ref().is_some_and(|transaction| transaction.has_changes()) {
            self.check_writable()?;
        }
        let is_executed = self.next_gtid.is_executed();
        let place = self.xa.0.take().and_then(|branch| branch.place);
        let transaction = self.transaction.open.take();
        self.spend_gtid();
        self.forget_transaction();
        let (Some(place), Some(transaction)) = (place, transaction) else { return Err(nota()) };
        if is_executed {
            transaction.rollback();
            return Ok(());
        }
        let attached = !self.settings.variables.kept_on("xa_detach_on_prepare");
        if let Err(error) = transaction.prepare_xa(place, attached, &self.commit_options()) {
            log::error!("XA PREPARE {xid}: {error}");
            return Err(rolled_back(RB_ROLLBACK));
        }
        if attached {
            self.xa = SessionXa(Some(Branch { xid: *xid, stage: Stage::Prepared, place: None }));
        }
        Ok(())
    }

    fn xa_commit(&mut self, xid: &Xid, one_phase: bool) -> Result<()> {
        match (self.xa.stage_of(xid), one_phase) {
            (None, _) => self.finish_others_xa(xid, true),
            (Some(Stage::RollbackOnly(code)), _) => {
                self.rollback_transaction();
                Err(rolled_back(code))
            }
            (Some(Stage::Idle), true) => {
                // Its number is taken until it has been committed.
                let _place = self.xa.0.take();
                self.commit_transaction()
            }
            (Some(Stage::Prepared), false) => self.finish_own_xa(xid, true),
            (Some(_), _) => Err(self.xa.rmfail()),
        }
    }

    fn xa_rollback(&mut self, xid: &Xid) -> Result<()> {
        match self.xa.stage_of(xid) {
            None => self.finish_others_xa(xid, false),
            Some(Stage::Idle | Stage::RollbackOnly(_)) => {
                self.rollback_transaction();
                Ok(())
            }
            Some(Stage::Prepared) => self.finish_own_xa(xid, false),
            Some(Stage::Active) => Err(self.xa.rmfail()),
        }
    }

    /// Finishes a prepared transaction that no session has, or another had.
    fn finish_others_xa(&mut self, xid: &Xid, commit: bool) -> Result<()> {
        if self.xa.is_begun() || self.is_in_transaction() {
            return Err(self.xa.rmfail());
        }
        if self.check_gtid_next()? {
            self.spend_gtid();
            return Ok(());
        }
        self.finish_xa(xid, commit, false)
    }

    fn finish_own_xa(&mut self, xid: &Xid, commit: bool) -> Result<()> {
        self.finish_xa(xid, commit, true)?;
        self.xa = SessionXa::default();
        Ok(())
    }

    fn finish_xa(&mut self, xid: &Xid, commit: bool, by_its_session: bool) -> Result<()> {
        if self.server.engine.is_prepared(xid) {
            self.check_writable()?;
        }
        let finish = XaFinish { commit, by_its_session, events: None };
        self.server.engine.finish_xa(xid, &finish, &self.commit_options())?;
        self.spend_gtid();
        Ok(())
    }

    fn xa_recover(&self, convert_xid: bool) -> Result<VirtualTable> {
        let allowed = self.server.host.check_privilege(Privilege::XaRecoverAdmin, None, None);
        allowed.map_err(|_| {
            let text =
                "XAER_RMERR: Fatal error occurred in the transaction branch - check your data for consistency";
            SqlError::new(1401, text)
        })?;
        let number = |name| column_meta(name, ColumnType::bigint(false), true);
        let columns = vec![
            number("formatID"),
            number("gtrid_length"),
            number("bqual_length"),
            column_meta("data", ColumnType::varbinary(258), true),
        ];
        let data = |xid: &Xid| match convert_xid {
            false => xid.data().to_vec(),
            true => {
                let digits = xid.data().iter().map(|byte| format!("{byte:02X}"));
                format!("0x{}", digits.collect::<String>()).into_bytes()
            }
        };
        let row = |xid: &Xid| {
            vec![
                Value::Int(xid.format_id()),
                Value::Int(xid.gtrid().len() as i64),
                Value::Int(xid.bqual().len() as i64),
                Value::Bytes(data(xid)),
            ]
        };
        Ok(VirtualTable { columns, rows: self.server.engine.prepared_xids().iter().map(row).collect() })
    }
}
