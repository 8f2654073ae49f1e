//! What SET `gtid_next` does to a session, and what the session's transactions do to `gtid_next`.

use super::Transacting;
use crate::error::{Result, SqlError};
use crate::session::state::{NextGtid, parse_gtid_next as parse};
use engine::{GtidMode, GtidNext, GtidOwner};
use types::Value;

impl Transacting<'_> {
    /// Sets `gtid_next` to a value that [`SessionTransaction::check_next_gtid`] has let through. As
    /// in MySQL, the value is parsed here: the items before it in the same SET have been set by
    /// then.
    ///
    /// # Errors
    /// Returns 1774 for a malformed GTID, and 1781, 1782 and 6039 for a value that `gtid_mode` does
    /// not allow.
    ///
    /// [`SessionTransaction::check_next_gtid`]: crate::session::state::SessionTransaction
    pub fn set_gtid_next(&mut self, value: &Value) -> Result<()> {
        let text = String::from_utf8_lossy(&crate::expr::text_of(value)).into_owned();
        let next = parse(&text)?;
        let (owner, executed) = self.own(next)?;
        let text = match next {
            GtidNext::AutomaticTagged(tag) => format!("AUTOMATIC:{tag}"),
            _ => text,
        };
        self.settings.variables.set(&self.server.engine, "gtid_next", &Value::Bytes(text.into_bytes()))?;
        self.of.gtid = NextGtid { next, spent: false, executed, open: false, owner };
        self.show_owned_gtid();
        Ok(())
    }

    /// Takes the ownership that a value needs, if `gtid_mode` allows the value. Also returns
    /// whether the GTID has been executed already.
    fn own(&self, next: GtidNext) -> Result<(Option<GtidOwner>, bool)> {
        let engine = &self.server.engine;
        let owner = match next {
            GtidNext::Automatic => return Ok((None, false)),
            GtidNext::Anonymous => engine.own_anonymous().ok_or_else(anonymous_is_forbidden)?,
            GtidNext::AutomaticTagged(_) => engine.hold_tag().ok_or_else(tag_is_forbidden)?,
            GtidNext::Given(gtid) => {
                if engine.gtid_mode() == GtidMode::Off {
                    let text =
                        "@@SESSION.GTID_NEXT cannot be set to UUID:NUMBER when @@GLOBAL.GTID_MODE = OFF.";
                    return Err(SqlError::new(1781, text));
                }
                let connection = self.server.host.connection_id();
                let owner = engine.own_gtid(gtid, connection.into(), Some(&*self.server.interrupt))?;
                let executed = owner.is_none();
                return Ok((owner, executed));
            }
        };
        Ok((Some(owner), false))
    }

    /// Prepares `gtid_next` for a statement that begins or forms a transaction. Returns true if the
    /// statement is skipped.
    ///
    /// # Errors
    /// Returns 1837 when the GTID has been used already.
    pub fn check_gtid_next(&mut self) -> Result<bool> {
        if self.of.gtid.wants_owner() {
            self.of.gtid.owner = self.own(GtidNext::Anonymous)?.0;
            if self.of.gtid.settle() {
                self.settings.variables.set(&self.server.engine, "gtid_next", &Value::text("ANONYMOUS"))?;
            }
            self.show_owned_gtid();
        }
        self.of.gtid.check_not_spent()?;
        Ok(self.of.gtid.is_executed())
    }

    /// Leaves it open which GTID the next transaction gets, if `gtid_next` is AUTOMATIC: a
    /// FORMAT_DESCRIPTION event has come, and the GTID of the events behind it may follow. If none
    /// follows, the transaction is anonymous.
    ///
    /// # Errors
    /// Returns the errors of setting the variable.
    pub fn leave_gtid_open(&mut self) -> Result<()> {
        if self.of.gtid.next != GtidNext::Automatic || self.of.open.is_some() {
            return Ok(());
        }
        self.of.gtid.open = true;
        let text = Value::text("NOT_YET_DETERMINED");
        self.settings.variables.set(&self.server.engine, "gtid_next", &text).map(|_| ())
    }

    /// Updates `@@SESSION.gtid_owned`.
    fn show_owned_gtid(&mut self) {
        let owned = self.of.gtid.owned().unwrap_or_default();
        self.settings.variables.show_owned_gtid(&owned);
    }

    /// Ends the use of the GTID by a transaction that was committed or rolled back, and of what was
    /// said of the transaction's first commit.
    pub fn spend_gtid(&mut self) {
        self.settings.variables.forget_original();
        if self.of.gtid.spend() {
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
