//! XA transactions of a session: `XA START` to `XA PREPARE`, and the end of prepared ones, whoever
//! began them.
//!
//! States, refusals and their numbers are those of MySQL 9.7 (`testkit/tests/xa.rs` compares).

use super::Session;
use super::bound::Bound;
use crate::ast::{Xa, XaStart};
use crate::error::{Result, SqlError};
use crate::host::{Privilege, VirtualTable};
use crate::schema_tables::column_meta;
use crate::sink::ResultSink;
use binlog::Xid;
use engine::{XaBranch, XaFinish};
use types::{ColumnType, Value};

/// How far the session's XA transaction has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Active,
    Idle,
    /// With `xa_detach_on_prepare = OFF`: it is the session's still.
    Prepared,
    /// It was rolled back, for the reason that this error names.
    RollbackOnly(u16),
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Stage::Active => "ACTIVE",
            Stage::Idle => "IDLE",
            Stage::Prepared => "PREPARED",
            Stage::RollbackOnly(_) => "ROLLBACK ONLY",
        }
    }
}

/// The XA transaction that a session is in.
pub(super) struct SessionXa {
    xid: Xid,
    stage: Stage,
    /// `None`: it is prepared.
    branch: Option<XaBranch>,
}

const RB_TIMEOUT: u16 = 1613;
const RB_DEADLOCK: u16 = 1614;
const RB_ROLLBACK: u16 = 1402;

fn nota() -> SqlError {
    SqlError::new(1397, "XAER_NOTA: Unknown XID")
}

fn inval() -> SqlError {
    SqlError::new(1398, "XAER_INVAL: Invalid arguments (or unsupported command)")
}

fn outside() -> SqlError {
    SqlError::new(1400, "XAER_OUTSIDE: Some work is done outside global transaction")
}

fn rolled_back(code: u16) -> SqlError {
    let text = match code {
        RB_DEADLOCK => "XA_RBDEADLOCK: Transaction branch was rolled back: deadlock was detected",
        RB_TIMEOUT => "XA_RBTIMEOUT: Transaction branch was rolled back: took too long",
        _ => "XA_RBROLLBACK: Transaction branch was rolled back",
    };
    SqlError::new(code, text)
}

impl Session {
    /// Error 1399, which names the state of the session's XA transaction.
    fn rmfail(&self) -> SqlError {
        let state = self.xa.as_ref().map_or("NON-EXISTING", |xa| xa.stage.name());
        let text = "XAER_RMFAIL: The command cannot be executed when global transaction is in the";
        SqlError::new(1399, format!("{text}  {state} state"))
    }

    /// Refuses what ends transactions or begins others, within an XA transaction.
    pub(super) fn check_no_xa(&self) -> Result<()> {
        if self.xa.is_some() { Err(self.rmfail()) } else { Ok(()) }
    }

    /// Refuses what uses tables or savepoints, when the session's XA transaction is past that.
    pub(super) fn check_xa_active(&self) -> Result<()> {
        match self.xa.as_ref().map(|xa| xa.stage) {
            None | Some(Stage::Active) => Ok(()),
            Some(Stage::RollbackOnly(code)) => Err(rolled_back(code)),
            Some(Stage::Idle | Stage::Prepared) => Err(self.rmfail()),
        }
    }

    /// The same of a statement about rows.
    pub(super) fn check_xa_allows(&self, bound: &Bound) -> Result<()> {
        if self.xa.is_none() || (bound.is_query() && bound.steps().is_empty()) {
            return Ok(());
        }
        self.check_xa_active()
    }

    /// The transaction was rolled back by an error. An XA transaction stays, to be rolled back by
    /// its client.
    pub(super) fn note_xa_rolled_back(&mut self, error: &SqlError) {
        if let Some(xa) = &mut self.xa {
            xa.stage = Stage::RollbackOnly(match error.code {
                1205 => RB_TIMEOUT,
                1213 => RB_DEADLOCK,
                _ => RB_ROLLBACK,
            });
        }
    }

    /// The session's transaction has been rolled back; one that is prepared is left to whoever
    /// finishes it.
    pub(super) fn leave_xa(&mut self) {
        if let Some(xa) = self.xa.take()
            && xa.stage == Stage::Prepared
        {
            self.engine.detach_xa(&xa.xid);
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
        match &mut self.xa {
            Some(xa) if xa.stage == Stage::Idle && how == XaStart::Resume => {
                if xa.xid != *xid {
                    return Err(nota());
                }
                xa.stage = Stage::Active;
                return Ok(());
            }
            _ if how != XaStart::New => return Err(inval()),
            Some(_) => return Err(self.rmfail()),
            None => {}
        }
        if self.locked_tables.is_some() || self.is_in_transaction() {
            return Err(outside());
        }
        self.check_gtid_next()?;
        let branch = self.engine.begin_xa(*xid)?;
        let mut transaction = self.new_transaction();
        transaction.set_xid(*xid);
        self.transaction.open = Some(transaction);
        self.transaction.explicit = true;
        self.xa = Some(SessionXa { xid: *xid, stage: Stage::Active, branch: Some(branch) });
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
        match &mut self.xa {
            Some(xa) if matches!(xa.stage, Stage::Active | Stage::RollbackOnly(_)) => {
                if xa.xid != *xid {
                    return Err(nota());
                }
                if let Stage::RollbackOnly(code) = xa.stage {
                    return Err(rolled_back(code));
                }
                xa.stage = Stage::Idle;
                Ok(())
            }
            _ => Err(self.rmfail()),
        }
    }

    fn xa_prepare(&mut self, xid: &Xid) -> Result<()> {
        match &self.xa {
            Some(xa) if xa.stage != Stage::Idle => return Err(self.rmfail()),
            Some(xa) if xa.xid != *xid => return Err(nota()),
            Some(_) => {}
            None => return Err(self.rmfail()),
        }
        if self.transaction.open.as_ref().is_some_and(|transaction| transaction.has_changes()) {
            self.check_writable()?;
        }
        let is_executed = self.next_gtid.is_executed();
        let branch = self.xa.take().and_then(|xa| xa.branch);
        let transaction = self.transaction.open.take();
        self.spend_gtid();
        self.forget_transaction();
        let (Some(branch), Some(transaction)) = (branch, transaction) else { return Err(nota()) };
        if is_executed {
            transaction.rollback();
            return Ok(());
        }
        let attached = !self.variables.kept_on("xa_detach_on_prepare");
        if let Err(error) = transaction.prepare_xa(branch, attached, &self.commit_options()) {
            log::error!("XA PREPARE {xid}: {error}");
            return Err(rolled_back(RB_ROLLBACK));
        }
        if attached {
            self.xa = Some(SessionXa { xid: *xid, stage: Stage::Prepared, branch: None });
        }
        Ok(())
    }

    fn xa_commit(&mut self, xid: &Xid, one_phase: bool) -> Result<()> {
        let own = self.xa.as_ref().filter(|xa| xa.xid == *xid);
        match (own.map(|xa| xa.stage), one_phase) {
            (None, _) => self.finish_others_xa(xid, true),
            (Some(Stage::RollbackOnly(code)), _) => {
                self.rollback_transaction();
                Err(rolled_back(code))
            }
            (Some(Stage::Idle), true) => {
                // Its number is taken until it has been committed.
                let _branch = self.xa.take();
                self.commit_transaction()
            }
            (Some(Stage::Prepared), false) => self.finish_own_xa(xid, true),
            (Some(_), _) => Err(self.rmfail()),
        }
    }

    fn xa_rollback(&mut self, xid: &Xid) -> Result<()> {
        let own = self.xa.as_ref().filter(|xa| xa.xid == *xid);
        match own.map(|xa| xa.stage) {
            None => self.finish_others_xa(xid, false),
            Some(Stage::Idle | Stage::RollbackOnly(_)) => {
                self.rollback_transaction();
                Ok(())
            }
            Some(Stage::Prepared) => self.finish_own_xa(xid, false),
            Some(Stage::Active) => Err(self.rmfail()),
        }
    }

    /// Finishes a prepared transaction that no session has, or another had.
    fn finish_others_xa(&mut self, xid: &Xid, commit: bool) -> Result<()> {
        if self.xa.is_some() || self.is_in_transaction() {
            return Err(self.rmfail());
        }
        if self.check_gtid_next()? {
            self.spend_gtid();
            return Ok(());
        }
        self.finish_xa(xid, commit, false)
    }

    fn finish_own_xa(&mut self, xid: &Xid, commit: bool) -> Result<()> {
        self.finish_xa(xid, commit, true)?;
        self.xa = None;
        Ok(())
    }

    fn finish_xa(&mut self, xid: &Xid, commit: bool, by_its_session: bool) -> Result<()> {
        if self.engine.is_prepared(xid) {
            self.check_writable()?;
        }
        let finish = XaFinish { commit, by_its_session, events: None };
        self.engine.finish_xa(xid, &finish, &self.commit_options())?;
        self.spend_gtid();
        Ok(())
    }

    fn xa_recover(&self, convert_xid: bool) -> Result<VirtualTable> {
        let allowed = self.host.check_privilege(Privilege::XaRecoverAdmin, None, None);
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
        Ok(VirtualTable { columns, rows: self.engine.prepared_xids().iter().map(row).collect() })
    }
}
