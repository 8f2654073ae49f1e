//! `gtid_next`: the GTID under which a session's next transaction is committed.
//!
//! Who sets a GTID owns it until its transaction has been committed or rolled back; another session
//! that sets the same one waits until then. A GTID that is set serves for one transaction; after
//! that the session must set another, or AUTOMATIC. Transactions whose GTID has been executed are
//! passed over in silence. `BEGIN; COMMIT` under a GTID commits an empty transaction, which is how
//! a replica is told to leave one out.

use super::Session;
use crate::error::{Result, SqlError};
use binlog::gtid::Gtid;
use engine::{GtidMode, GtidNext, GtidOwner};
use types::Value;

/// `gtid_next` of a session.
#[derive(Default)]
pub(super) struct NextGtid {
    /// What the next transaction gets.
    pub next: GtidNext,
    /// A transaction has had it.
    spent: bool,
    /// It was executed before.
    executed: bool,
    /// What the session owns for it.
    owner: Option<GtidOwner>,
}

impl NextGtid {
    /// `@@SESSION.gtid_owned`; `None`: nothing.
    fn owned(&self) -> Option<String> {
        match self.next {
            _ if self.owner.is_none() => None,
            GtidNext::Given(gtid) => Some(gtid.to_string()),
            GtidNext::Anonymous => Some("ANONYMOUS".to_string()),
            GtidNext::Automatic | GtidNext::AutomaticTagged(_) => None,
        }
    }

    /// The transactions that follow are to be passed over: they have been executed.
    pub fn is_executed(&self) -> bool {
        self.executed
    }

    /// The session owns a GTID, that is, and not the right to have none.
    pub fn is_owned(&self) -> bool {
        self.owner.is_some() && matches!(self.next, GtidNext::Given(_))
    }

    /// ANONYMOUS serves for any number of transactions, and is owned for each anew.
    fn wants_owner(&self) -> bool {
        self.next == GtidNext::Anonymous && self.owner.is_none()
    }

    /// A transaction has ended that had it, one way or the other. True: something was given back.
    fn spend(&mut self) -> bool {
        let was_owned = self.owned().is_some();
        if was_owned {
            self.owner = None;
        }
        self.spent = matches!(self.next, GtidNext::Given(_));
        was_owned
    }

    /// A GTID serves for one transaction.
    fn check_not_spent(&self) -> Result<()> {
        let GtidNext::Given(gtid) = self.next else { return Ok(()) };
        if !self.spent {
            return Ok(());
        }
        let message = format!(
            "When @@SESSION.GTID_NEXT is set to a GTID, you must explicitly set it to a different value after a COMMIT or ROLLBACK. \
             Please check GTID_NEXT variable manual page for detailed explanation. Current @@SESSION.GTID_NEXT is '{gtid}'."
        );
        Err(SqlError::new(1837, message))
    }
}

/// AUTOMATIC, AUTOMATIC:tag, ANONYMOUS or a GTID.
fn parse(text: &str) -> Result<GtidNext> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("AUTOMATIC") {
        return Ok(GtidNext::Automatic);
    }
    if text.eq_ignore_ascii_case("ANONYMOUS") {
        return Ok(GtidNext::Anonymous);
    }
    let malformed = || SqlError::new(1774, format!("Malformed GTID specification '{text}'."));
    match text.split_once(':') {
        Some((word, tag)) if word.trim().eq_ignore_ascii_case("AUTOMATIC") => {
            tag.parse().map(GtidNext::AutomaticTagged).map_err(|_| malformed())
        }
        _ => text.parse::<Gtid>().map(GtidNext::Given).map_err(|_| malformed()),
    }
}

/// Whether a value of `gtid_next` names a tag: the one of a GTID, or that of those to come.
pub(super) fn is_tagged(value: &Value) -> bool {
    match parse(&String::from_utf8_lossy(&crate::expr::text_of(value))) {
        Ok(GtidNext::AutomaticTagged(_)) => true,
        Ok(GtidNext::Given(gtid)) => !gtid.tsid.tag.is_none(),
        Ok(GtidNext::Automatic | GtidNext::Anonymous) | Err(_) => false,
    }
}

impl Session {
    /// SET gtid_next.
    pub(super) fn set_gtid_next(&mut self, value: &Value) -> Result<()> {
        let text = String::from_utf8_lossy(&crate::expr::text_of(value)).into_owned();
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
        let next = parse(&text)?;
        let (owner, executed) = self.own(next)?;
        let text = match next {
            GtidNext::AutomaticTagged(tag) => format!("AUTOMATIC:{tag}"),
            _ => text,
        };
        self.variables.set("gtid_next", &Value::Bytes(text.into_bytes()))?;
        self.next_gtid = NextGtid { next, spent: false, executed, owner };
        self.show_owned_gtid();
        Ok(())
    }

    /// What the session owns from now on, as far as `gtid_mode` allows it, and whether the GTID has
    /// been executed.
    fn own(&self, next: GtidNext) -> Result<(Option<GtidOwner>, bool)> {
        let owner = match next {
            GtidNext::Automatic => return Ok((None, false)),
            GtidNext::Anonymous => self.engine.own_anonymous().ok_or_else(anonymous_is_forbidden)?,
            GtidNext::AutomaticTagged(_) => self.engine.hold_tag().ok_or_else(tag_is_forbidden)?,
            GtidNext::Given(gtid) => {
                if self.engine.gtid_mode() == GtidMode::Off {
                    let text =
                        "@@SESSION.GTID_NEXT cannot be set to UUID:NUMBER when @@GLOBAL.GTID_MODE = OFF.";
                    return Err(SqlError::new(1781, text));
                }
                let connection = self.host.connection_id();
                let owner = self.engine.own_gtid(gtid, connection.into(), Some(&*self.interrupt))?;
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
        self.variables.show_owned_gtid(&self.next_gtid.owned().unwrap_or_default());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_can_be_set_to() {
        assert_eq!(parse("automatic"), Ok(GtidNext::Automatic));
        assert_eq!(parse(" ANONYMOUS "), Ok(GtidNext::Anonymous));
        let gtid = "11111111-2222-3333-4444-555555555555:7";
        assert_eq!(parse(gtid), Ok(GtidNext::Given(gtid.parse().expect("is one"))));
        let tag = "tag".parse().expect("is a tag");
        assert_eq!(parse("Automatic: TAG "), Ok(GtidNext::AutomaticTagged(tag)));
        assert_eq!(parse("automatic:1x").map_err(|error| error.code), Err(1774));
        assert_eq!(parse("7").map_err(|error| error.code), Err(1774));
        assert_eq!(parse(&format!("{gtid}-9")).map_err(|error| error.code), Err(1774));
    }
}
