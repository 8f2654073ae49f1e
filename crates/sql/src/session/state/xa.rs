//! The XA transaction that a session is in: its stages, and what each of them allows.

use crate::ast::XaStart;
use crate::error::{Result, SqlError};
use binlog::Xid;
use engine::XaBranch;

/// The stage of a session's XA transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Active,
    Idle,
    /// Prepared, but still the session's, because `xa_detach_on_prepare` is OFF.
    Prepared,
    /// Rolled back, for the reason that this error number names.
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
pub(crate) struct XaOfSession {
    pub xid: Xid,
    pub stage: Stage,
    /// The transaction's place among the engine's XA transactions. `None` means that it is
    /// prepared.
    pub place: Option<XaBranch>,
}

/// The XA state of a session: its XA transaction, if any. The rows of that are in the session's
/// transaction.
#[derive(Default)]
pub(crate) struct SessionXa(pub Option<XaOfSession>);

const RB_TIMEOUT: u16 = 1613;
const RB_DEADLOCK: u16 = 1614;
pub(crate) const RB_ROLLBACK: u16 = 1402;

pub(crate) fn nota() -> SqlError {
    SqlError::new(1397, "XAER_NOTA: Unknown XID")
}

pub(crate) fn inval() -> SqlError {
    SqlError::new(1398, "XAER_INVAL: Invalid arguments (or unsupported command)")
}

pub(crate) fn outside() -> SqlError {
    SqlError::new(1400, "XAER_OUTSIDE: Some work is done outside global transaction")
}

pub(crate) fn rolled_back(code: u16) -> SqlError {
    let text = match code {
        RB_DEADLOCK => "XA_RBDEADLOCK: Transaction branch was rolled back: deadlock was detected",
        RB_TIMEOUT => "XA_RBTIMEOUT: Transaction branch was rolled back: took too long",
        _ => "XA_RBROLLBACK: Transaction branch was rolled back",
    };
    SqlError::new(code, text)
}

impl SessionXa {
    /// Reports whether the session is in an XA transaction.
    pub fn is_begun(&self) -> bool {
        self.0.is_some()
    }

    /// Asserts that an XA transaction whose rows may still change is the session's open one, and
    /// that one which is prepared has left its place among the engine's.
    #[inline]
    pub fn assert_at_rest(&self, is_open: bool) {
        let Some(branch) = &self.0 else { return };
        let is_open_stage = matches!(branch.stage, Stage::Active | Stage::Idle);
        assert!(is_open || !is_open_stage, "an XA transaction is open until it is prepared");
        assert_eq!(branch.place.is_none(), branch.stage == Stage::Prepared, "it has a place until then");
    }

    fn stage(&self) -> Option<Stage> {
        self.0.as_ref().map(|branch| branch.stage)
    }

    /// Returns the stage of the session's XA transaction if it has this XID.
    pub fn stage_of(&self, xid: &Xid) -> Option<Stage> {
        self.0.as_ref().filter(|branch| branch.xid == *xid).map(|branch| branch.stage)
    }

    /// Builds error 1399 (`ER_XAER_RMFAIL`), which names the state of the session's XA transaction.
    pub fn rmfail(&self) -> SqlError {
        let state = self.stage().map_or("NON-EXISTING", Stage::name);
        let text = "XAER_RMFAIL: The command cannot be executed when global transaction is in the";
        SqlError::new(1399, format!("{text}  {state} state"))
    }

    /// Refuses a statement that ends or begins a transaction, within an XA transaction.
    pub fn check_none(&self) -> Result<()> {
        if self.is_begun() { Err(self.rmfail()) } else { Ok(()) }
    }

    /// Refuses a statement that uses tables or savepoints, when the XA transaction has left the
    /// stage ACTIVE.
    pub fn check_active(&self) -> Result<()> {
        match self.stage() {
            None | Some(Stage::Active) => Ok(()),
            Some(Stage::RollbackOnly(code)) => Err(rolled_back(code)),
            Some(Stage::Idle | Stage::Prepared) => Err(self.rmfail()),
        }
    }

    /// Resumes the XA transaction that XA END has ended, for XA START ... RESUME. Returns false if
    /// a new one is to be begun.
    pub fn resume(&mut self, xid: &Xid, how: XaStart) -> Result<bool> {
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

    /// Ends the statements of the XA transaction, for XA END.
    pub fn end(&mut self, xid: &Xid) -> Result<()> {
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

    /// Checks that XA PREPARE finds the XA transaction in the stage IDLE.
    pub fn check_preparable(&self, xid: &Xid) -> Result<()> {
        match &self.0 {
            Some(branch) if branch.stage != Stage::Idle => Err(self.rmfail()),
            Some(branch) if branch.xid != *xid => Err(nota()),
            Some(_) => Ok(()),
            None => Err(self.rmfail()),
        }
    }

    /// Notes that an error has rolled the transaction back. An XA transaction stays until its
    /// client rolls it back.
    pub fn note_rolled_back(&mut self, error: &SqlError) {
        if let Some(branch) = &mut self.0 {
            branch.stage = Stage::RollbackOnly(match error.code {
                1205 => RB_TIMEOUT,
                1213 => RB_DEADLOCK,
                _ => RB_ROLLBACK,
            });
        }
    }

    /// Leaves the XA transaction. Returns the XID of a prepared one, which any session may finish.
    pub fn leave(&mut self) -> Option<Xid> {
        self.0.take().filter(|branch| branch.stage == Stage::Prepared).map(|branch| branch.xid)
    }
}
