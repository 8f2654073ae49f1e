//! What SET gtid_next does to a session, and what its transactions do to it.
//!
//! What a session keeps of it is a [`NextGtid`].

use super::Session;
use super::state::{NextGtid, parse_gtid_next as parse};
use crate::error::{Result, SqlError};
use engine::{GtidMode, GtidNext, GtidOwner};
use types::Value;

impl Session {
    /// Refuses what gtid_next cannot be set to, or not now.
    pub(super) fn check_next_gtid(&self, value: &Value) -> Result<()> {
        self.check_no_transaction("gtid_next")?;
        if let Some(owned) = self.next_gtid.owned() {
            let message = format!(
                "@@SESSION.GTID_NEXT cannot be changed by a client that owns a GTID. The client owns {owned}. Ownership is released on COMMIT \
                 or ROLLBACK."
            );
            return Err(SqlError::new(1790, message));
        }
        if value.is_null() {
            return Err(SqlError::wrong_value_for_variable("gtid_next", "NULL"));
        }
        Ok(())
    }

    /// SET gtid_next to what [`Session::check_next_gtid`] has let through. Whether it is a GTID is
    /// looked at here, as by MySQL: what stands in front of it in the same SET is set by then.
    pub(super) fn set_gtid_next(&mut self, value: &Value) -> Result<()> {
        let text = String::from_utf8_lossy(&crate::expr::text_of(value)).into_owned();
        let next = parse(&text)?;
        let (owner, executed) = self.own(next)?;
        let text = match next {
            GtidNext::AutomaticTagged(tag) => format!("AUTOMATIC:{tag}"),
            _ => text,
        };
        self.settings.variables.set("gtid_next", &Value::Bytes(text.into_bytes()))?;
        self.next_gtid = NextGtid { next, spent: false, executed, owner };
        self.show_owned_gtid();
        Ok(())
    }

    /// What the session owns from now on, as far as `gtid_mode` allows it, and whether the GTID has
    /// been executed.
    fn own(&self, next: GtidNext) -> Result<(Option<GtidOwner>, bool)> {
        let owner = match next {
            GtidNext::Automatic => return Ok((None, false)),
            GtidNext::Anonymous => self.server.engine.own_anonymous().ok_or_else(anonymous_is_forbidden)?,
            GtidNext::AutomaticTagged(_) => self.server.engine.hold_tag().ok_or_else(tag_is_forbidden)?,
            GtidNext::Given(gtid) => {
                if self.server.engine.gtid_mode() == GtidMode::Off {
                    let text =
                        "@@SESSION.GTID_NEXT cannot be set to UUID:NUMBER when @@GLOBAL.GTID_MODE = OFF.";
                    return Err(SqlError::new(1781, text));
                }
                let connection = self.server.host.connection_id();
                let owner =
                    self.server.engine.own_gtid(gtid, connection.into(), Some(&*self.server.interrupt))?;
                let executed = owner.is_none();
                return Ok((owner, executed));
            }
        };
        Ok((Some(owner), false))
    }

    /// Before a statement that begins or makes a transaction. True: it is passed over.
    pub(super) fn check_gtid_next(&mut self) -> Result<bool> {
        if self.next_gtid.wants_owner() {
            self.next_gtid.owner = self.own(GtidNext::Anonymous)?.0;
            self.show_owned_gtid();
        }
        self.next_gtid.check_not_spent()?;
        Ok(self.next_gtid.is_executed())
    }

    /// `@@SESSION.gtid_owned`
    fn show_owned_gtid(&mut self) {
        self.settings.variables.show_owned_gtid(&self.next_gtid.owned().unwrap_or_default());
    }

    /// A client that owns a GTID or is in a transaction may not change what GTIDs are for.
    pub(super) fn check_gtid_setting(&self, name: &str) -> Result<()> {
        self.check_no_transaction(name)?;
        let Some(owned) = self.next_gtid.owned() else { return Ok(()) };
        let message = format!(
            "Variable {name} cannot be changed by a client that owns a GTID. The client owns {owned}. Ownership is released on COMMIT or \
             ROLLBACK."
        );
        Err(SqlError::new(3138, message))
    }

    fn check_no_transaction(&self, variable: &str) -> Result<()> {
        if self.transaction.is_begun() {
            let message =
                format!("The system variable {variable} cannot be set when there is an ongoing transaction.");
            return Err(SqlError::new(1766, message));
        }
        Ok(())
    }

    /// A transaction has ended that had it, one way or the other.
    pub(super) fn spend_gtid(&mut self) {
        if self.next_gtid.spend() {
            self.show_owned_gtid();
        }
    }
}

fn anonymous_is_forbidden() -> SqlError {
    SqlError::new(1782, "@@SESSION.GTID_NEXT cannot be set to ANONYMOUS when @@GLOBAL.GTID_MODE = ON.")
}

fn tag_is_forbidden() -> SqlError {
    let text = "@@SESSION.GTID_NEXT cannot be set to AUTOMATIC:<TAG> when @@GLOBAL.GTID_MODE = OFF or OFF_PERMISSIVE";
    SqlError::new(6039, text)
}
