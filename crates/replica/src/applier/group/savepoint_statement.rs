//! Statements about savepoints, in the form in which sources log them.

use binlog::event::QueryEvent;

/// A statement about a savepoint, with the savepoint's name as the source wrote it.
pub(super) enum SavepointStatement<'a> {
    /// SAVEPOINT.
    Set(&'a [u8]),
    /// ROLLBACK TO, which a source logs when the work behind the savepoint has changed a table
    /// without transactions. All other work that was rolled back is gone from the source's log.
    RollBackTo(&'a [u8]),
}

impl<'a> SavepointStatement<'a> {
    /// Returns the statement about a savepoint that a query event is, or `None`.
    pub fn of(query: &QueryEvent<'a>) -> Option<SavepointStatement<'a>> {
        let after = |text: &'a [u8], word: &str| -> Option<&'a [u8]> {
            let (head, rest) = text.trim_ascii_start().split_at_checked(word.len())?;
            let ends = rest.first().is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'`');
            (head.eq_ignore_ascii_case(word.as_bytes()) && ends).then(|| rest.trim_ascii())
        };
        if let Some(name) = after(query.statement, "SAVEPOINT") {
            return Some(SavepointStatement::Set(name));
        }
        let to = after(after(query.statement, "ROLLBACK")?, "TO")?;
        Some(SavepointStatement::RollBackTo(after(to, "SAVEPOINT").unwrap_or(to)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_about_savepoints_are_told_apart() {
        fn shown(statement: &str) -> String {
            let statement = statement.as_bytes();
            let query = QueryEvent {
                thread_id: 1,
                exec_time: 0,
                error_code: 0,
                status_vars: &[],
                schema: &[],
                statement,
            };
            let text = |name| String::from_utf8_lossy(name).into_owned();
            match SavepointStatement::of(&query) {
                Some(SavepointStatement::Set(name)) => format!("set {}", text(name)),
                Some(SavepointStatement::RollBackTo(name)) => format!("back {}", text(name)),
                None => "another".to_string(),
            }
        }
        for (statement, expected) in [
            ("SAVEPOINT `a b`", "set `a b`"),
            ("savepoint a ", "set a"),
            ("ROLLBACK TO `a b`", "back `a b`"),
            ("rollback to savepoint a", "back a"),
            ("ROLLBACK", "another"),
            ("SAVEPOINTS a", "another"),
            ("INSERT INTO t VALUES (1)", "another"),
        ] {
            assert_eq!(shown(statement), expected, "{statement}");
        }
    }
}
