//! `gtid_next`: the GTID under which a session's next transaction is committed.
//!
//! Who sets a GTID owns it until its transaction has been committed or rolled back; another session
//! that sets the same one waits until then. A GTID that is set serves for one transaction; after
//! that the session must set another, or AUTOMATIC. Transactions whose GTID has been executed are
//! passed over in silence. `BEGIN; COMMIT` under a GTID commits an empty transaction, which is how
//! a replica is told to leave one out.

use crate::error::{Result, SqlError};
use binlog::gtid::Gtid;
use engine::{GtidNext, GtidOwner};
use types::Value;

/// `gtid_next` of a session.
#[derive(Default)]
pub(crate) struct NextGtid {
    /// What the next transaction gets.
    pub next: GtidNext,
    /// A transaction has had it.
    pub spent: bool,
    /// It was executed before.
    pub executed: bool,
    /// What the session owns for it.
    pub owner: Option<GtidOwner>,
}

impl NextGtid {
    /// `@@SESSION.gtid_owned`; `None`: nothing.
    pub fn owned(&self) -> Option<String> {
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
    pub fn wants_owner(&self) -> bool {
        self.next == GtidNext::Anonymous && self.owner.is_none()
    }

    /// A transaction has ended that had it, one way or the other. True: something was given back.
    pub fn spend(&mut self) -> bool {
        let was_owned = self.owned().is_some();
        if was_owned {
            self.owner = None;
        }
        self.spent = matches!(self.next, GtidNext::Given(_));
        was_owned
    }

    /// A GTID serves for one transaction.
    pub fn check_not_spent(&self) -> Result<()> {
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
pub(crate) fn parse(text: &str) -> Result<GtidNext> {
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
pub(crate) fn is_tagged(value: &Value) -> bool {
    match parse(&String::from_utf8_lossy(&crate::expr::text_of(value))) {
        Ok(GtidNext::AutomaticTagged(_)) => true,
        Ok(GtidNext::Given(gtid)) => !gtid.tsid.tag.is_none(),
        Ok(GtidNext::Automatic | GtidNext::Anonymous) | Err(_) => false,
    }
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
