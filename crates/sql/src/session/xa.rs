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

/// An XA transaction that a session is in.
struct Branch {
    xid: Xid,
    stage: Stage,
    /// Its place among the engine's XA transactions; `None`: it is prepared.
    place: Option<XaBranch>,
}

/// The XA state of a session: the transaction that it is in, if any, and what that allows. Its rows
/// are in the session's transaction.
#[derive(Default)]
pub(super) struct SessionXa(Option<Branch>);

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

impl SessionXa {
    /// The session is in an XA transaction.
    pub fn is_begun(&self) -> bool {
        self.0.is_some()
    }

    fn stage(&self) -> Option<Stage> {
        self.0.as_ref().map(|branch| branch.stage)
    }

    /// The stage of the session's XA transaction if it is this one.
    fn stage_of(&self, xid: &Xid) -> Option<Stage> {
        self.0.as_ref().filter(|branch| branch.xid == *xid).map(|branch| branch.stage)
    }

    /// Error 1399, which names the state of the session's XA transaction.
    fn rmfail(&self) -> SqlError {
        let state = self.stage().map_or("NON-EXISTING", Stage::name);
        let text = "XAER_RMFAIL: The command cannot be executed when global transaction is in the";
        SqlError::new(1399, format!("{text}  {state} state"))
    }

    /// Refuses what ends transactions or begins others, within an XA transaction.
    pub fn check_none(&self) -> Result<()> {
        if self.is_begun() { Err(self.rmfail()) } else { Ok(()) }
    }

    /// Refuses what uses tables or savepoints, when the session's XA transaction is past that.
    pub fn check_active(&self) -> Result<()> {
        match self.stage() {
            None | Some(Stage::Active) => Ok(()),
            Some(Stage::RollbackOnly(code)) => Err(rolled_back(code)),
            Some(Stage::Idle | Stage::Prepared) => Err(self.rmfail()),
        }
    }

    /// XA START of what was ended here. False: a new one is to be begun.
    fn resume(&mut self, xid: &Xid, how: XaStart) -> Result<bool> {
        match &mut self.0 {
            Some(branch) if branch.stage == Stage::Idle && how == XaStart::Resume => {
                if branch.xid != *xid {
                    return Err(nota());
                }
                branch.stage = Stage::Active;
                Ok(true)
            }
            _ if how != XaStart::New => Err(inval()),
            Some(_) => Err(self.rmfail()),
            None => Ok(false),
        }
    }

    /// XA END.
    fn end(&mut self, xid: &Xid) -> Result<()> {
        match &mut self.0 {
            Some(branch) if matches!(branch.stage, Stage::Active | Stage::RollbackOnly(_)) => {
                if branch.xid != *xid {
                    return Err(nota());
                }
                if let Stage::RollbackOnly(code) = branch.stage {
                    return Err(rolled_back(code));
                }
                branch.stage = Stage::Idle;
                Ok(())
            }
            _ => Err(self.rmfail()),
        }
    }

    /// Refuses XA PREPARE of what is not ended here.
    fn check_preparable(&self, xid: &Xid) -> Result<()> {
        match &self.0 {
            Some(branch) if branch.stage != Stage::Idle => Err(self.rmfail()),
            Some(branch) if branch.xid != *xid => Err(nota()),
            Some(_) => Ok(()),
            None => Err(self.rmfail()),
        }
    }

    /// The transaction was rolled back by an error. An XA transaction stays, to be rolled back by
    /// its client.
    pub fn note_rolled_back(&mut self, error: &SqlError) {
        if let Some(branch) = &mut self.0 {
            branch.stage = Stage::RollbackOnly(match error.code {
                1205 => RB_TIMEOUT,
                1213 => RB_DEADLOCK,
                _ => RB_ROLLBACK,
            });
        }
    }

    /// The session leaves it. The XID of one that is prepared and left to whoever finishes it.
    fn leave(&mut self) -> Option<Xid> {
        self.0.take().filter(|branch| branch.stage == Stage::Prepared).map(|branch| branch.xid)
    }
}

impl Session {
    /// The same of a statement about rows.
    pub(super) fn check_xa_allows(&self, bound: &Bound) -> Result<()> {
        if !self.xa.is_begun() || (bound.is_query() && bound.steps().is_empty()) {
            return Ok(());
        }
        self.xa.check_active()
    }

    /// The session's transaction has been rolled back; one that is prepared is left to whoever
    /// finishes it.
    pub(super) fn leave_xa(&mut self) {
        if let Some(xid) = self.xa.leave() {
            self.engine.detach_xa(&xid);
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
        if self.locked_tables.is_some() || self.is_in_transaction() {
            return Err(outside());
        }
        self.check_gtid_next()?;
        let place = self.engine.begin_xa(*xid)?;
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
        let attached = !self.variables.kept_on("xa_detach_on_prepare");
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
