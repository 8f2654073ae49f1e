//! Statements about XA transactions, in the form in which sources log them.

use binlog::Xid;
use binlog::event::QueryEvent;

/// A statement about an XA transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum XaStatement {
    Start,
    End,
    Finish { xid: Xid, commit: bool },
}

impl XaStatement {
    /// Parses a statement in the form in which sources log it. `None` means that it is another
    /// statement.
    pub fn of(query: &QueryEvent<'_>) -> Option<XaStatement> {
        let text = std::str::from_utf8(query.statement.strip_prefix(b"XA ")?).ok()?;
        let (word, xid) = text.split_once(' ')?;
        let xid = xid.parse().ok()?;
        match word {
            "START" => Some(XaStatement::Start),
            "END" => Some(XaStatement::End),
            "COMMIT" => Some(XaStatement::Finish { xid, commit: true }),
            "ROLLBACK" => Some(XaStatement::Finish { xid, commit: false }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<XaStatement> {
        let statement = text.as_bytes();
        XaStatement::of(&QueryEvent {
            thread_id: 0,
            exec_time: 0,
            error_code: 0,
            status_vars: &[],
            schema: b"",
            statement,
        })
    }

    #[test]
    fn statements_are_told_apart() {
        let xid = Xid::new(b"a", b"b", 7).expect("short enough");
        assert_eq!(of("XA START X'61',X'62',7"), Some(XaStatement::Start));
        assert_eq!(of("XA END X'61',X'62',7"), Some(XaStatement::End));
        assert_eq!(of("XA COMMIT X'61',X'62',7"), Some(XaStatement::Finish { xid, commit: true }));
        assert_eq!(of("XA ROLLBACK X'61',X'62',7"), Some(XaStatement::Finish { xid, commit: false }));
        for other in ["BEGIN", "XA RECOVER", "XA COMMIT 'a'", "XAVIER X'61',X'62',7"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
