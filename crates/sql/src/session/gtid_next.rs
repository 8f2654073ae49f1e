//! `gtid_next`: the GTID under which a session's next transaction is committed.
//!
//! A GTID that is set serves for one transaction; after that the session must set another, or AUTOMATIC. Transactions whose GTID has
//! been executed are passed over in silence. `BEGIN; COMMIT` under a GTID commits an empty transaction, which is how a replica is told to
//! leave one out.

use super::Session;
use crate::error::{Result, SqlError};
use crate::host::VariableScope;
use binlog::gtid::Gtid;
use engine::GtidNext;
use types::Value;

/// `gtid_next` of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NextGtid {
    /// What the next transaction gets.
    pub next: GtidNext,
    /// A transaction has had it.
    spent: bool,
    /// It was executed before.
    executed: bool,
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

impl Session {
    /// SET gtid_next.
    pub(super) fn set_gtid_next(&mut self, value: &Value) -> Result<()> {
        let text = String::from_utf8_lossy(&crate::expr::text_of(value)).into_owned();
        if self.explicit || self.transaction.is_some() {
            let message = "The system variable gtid_next cannot be set when there is an ongoing transaction.";
            return Err(SqlError::new(1766, message));
        }
        let next = parse(&text)?;
        let mode = self.host.variable(VariableScope::Global, "gtid_mode")?;
        let mode = mode.map(|mode| String::from_utf8_lossy(&crate::expr::text_of(&mode)).into_owned());
        let text = match next {
            GtidNext::AutomaticTagged(tag) => format!("AUTOMATIC:{tag}"),
            _ => text,
        };
        match (next, mode.as_deref().unwrap_or("OFF")) {
            (GtidNext::Given(_), "OFF") => Err(SqlError::new(
                1781,
                "@@SESSION.GTID_NEXT cannot be set to UUID:NUMBER when @@GLOBAL.GTID_MODE = OFF.",
            )),
            (GtidNext::AutomaticTagged(_), "OFF" | "OFF_PERMISSIVE") => Err(SqlError::new(
                6039,
                "@@SESSION.GTID_NEXT cannot be set to AUTOMATIC:<TAG> when @@GLOBAL.GTID_MODE = OFF or OFF_PERMISSIVE",
            )),
            (GtidNext::Anonymous, "ON") => Err(SqlError::new(
                1782,
                "@@SESSION.GTID_NEXT cannot be set to ANONYMOUS when @@GLOBAL.GTID_MODE = ON.",
            )),
            _ => {
                self.variables.set("gtid_next", &Value::Bytes(text.into_bytes()))?;
                let executed = match next {
                    GtidNext::Given(gtid) => self.engine.gtid_executed().contains(gtid),
                    GtidNext::Automatic | GtidNext::AutomaticTagged(_) | GtidNext::Anonymous => false,
                };
                self.next_gtid = NextGtid { next, spent: false, executed };
                Ok(())
            }
        }
    }

    /// Before a statement that begins or makes a transaction. True: it is passed over.
    pub(super) fn check_gtid_next(&self) -> Result<bool> {
        if self.next_gtid.spent {
            let GtidNext::Given(gtid) = self.next_gtid.next else { return Ok(false) };
            let message = format!(
                "When @@SESSION.GTID_NEXT is set to a GTID, you must explicitly set it to a different value after a COMMIT or ROLLBACK. \
                 Please check GTID_NEXT variable manual page for detailed explanation. Current @@SESSION.GTID_NEXT is '{gtid}'."
            );
            return Err(SqlError::new(1837, message));
        }
        Ok(self.next_gtid.executed)
    }

    pub(super) fn next_gtid_is_executed(&self) -> bool {
        self.next_gtid.executed
    }

    /// A transaction has ended that had it, one way or the other.
    pub(super) fn spend_gtid(&mut self) {
        self.next_gtid.spent = matches!(self.next_gtid.next, GtidNext::Given(_));
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
