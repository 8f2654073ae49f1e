//! `gtid_next`: the GTID under which a session's next transaction is committed.
//!
//! A session that sets a GTID owns it until its transaction is committed or rolled back. Another
//! session that sets the same GTID waits until then. A GTID serves for one transaction: after that,
//! the session has to set another one, or AUTOMATIC. Transactions whose GTID has been executed
//! already are skipped silently. `BEGIN; COMMIT` under a GTID commits an empty transaction, which
//! is how a replica is made to skip one.

use crate::error::{Result, SqlError};
use binlog::gtid::Gtid;
use engine::{GtidNext, GtidOwner};
use types::Value;

/// The state of a session's `gtid_next`.
#[derive(Default)]
pub(crate) struct NextGtid {
    /// The GTID that the next transaction gets.
    pub next: GtidNext,
    /// Whether a transaction has used the GTID.
    pub spent: bool,
    /// Whether the GTID had been executed before.
    pub executed: bool,
    /// Whether a FORMAT_DESCRIPTION event has left it open what `next` is, which is AUTOMATIC till
    /// then. The next transaction that needs to know is anonymous.
    pub open: bool,
    /// The ownership of the GTID. `None` means that the session owns nothing.
    pub owner: Option<GtidOwner>,
}

impl NextGtid {
    /// Returns the value of `@@SESSION.gtid_owned`, or `None` if the session owns nothing.
    pub fn owned(&self) -> Option<String> {
        match self.next {
            _ if self.owner.is_none() => None,
            GtidNext::Given(gtid) => Some(gtid.to_string()),
            GtidNext::Anonymous => Some("ANONYMOUS".to_string()),
            GtidNext::Automatic | GtidNext::AutomaticTagged(_) => None,
        }
    }

    /// Asserts that the parts of the state agree with each other.
    #[inline]
    pub fn assert_sound(&self) {
        assert!(!self.executed || self.owner.is_none(), "nobody owns a GTID that has been executed");
        assert!(!self.open || self.next == GtidNext::Automatic, "what was left open has not been decided");
    }

    /// Reports whether the next transaction is skipped because its GTID has been executed.
    pub fn is_executed(&self) -> bool {
        self.executed
    }

    /// Reports whether the session owns a GTID. Owning the right to anonymous transactions does not
    /// count.
    pub fn is_owned(&self) -> bool {
        self.owner.is_some() && matches!(self.next, GtidNext::Given(_))
    }

    /// Reports whether ownership has to be taken for the next transaction. ANONYMOUS serves for any
    /// number of transactions, and each takes it anew.
    pub fn wants_owner(&self) -> bool {
        (self.open || self.next == GtidNext::Anonymous) && self.owner.is_none()
    }

    /// Makes the next transaction anonymous, if that was open.
    pub fn settle(&mut self) -> bool {
        let was_open = std::mem::take(&mut self.open);
        if was_open {
            assert_eq!(self.next, GtidNext::Automatic, "only AUTOMATIC can be left open");
            self.next = GtidNext::Anonymous;
        }
        was_open
    }

    /// Ends the use of the GTID by a transaction that was committed or rolled back. Returns true if
    /// ownership was given up.
    pub fn spend(&mut self) -> bool {
        let was_owned = self.owned().is_some();
        if was_owned {
            self.owner = None;
        }
        self.spent = matches!(self.next, GtidNext::Given(_));
        was_owned
    }

    /// Checks that the GTID has not been used by a transaction.
    ///
    /// # Errors
    /// Returns 1837 (`ER_GTID_NEXT_TYPE_UNDEFINED_GTID`) when it has.
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

/// Parses a value of `gtid_next`: AUTOMATIC, AUTOMATIC:tag, ANONYMOUS or a GTID.
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

/// Reports whether a value of `gtid_next` names a tag, of a given GTID or of automatic ones.
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
