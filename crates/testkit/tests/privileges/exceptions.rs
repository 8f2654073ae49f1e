//! Cells that are not MySQL's, each with its reason.

use crate::play::{Cell, PRIVILEGE_ERRORS};
use std::collections::BTreeSet;

/// Cells that are excused.
struct Exception {
    statement: &'static str,
    /// What the row's name begins with; empty is every row.
    row: &'static str,
    /// The error here; `None` is allowed.
    here: Option<u16>,
    /// MySQL's error.
    there: Option<u16>,
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        statement: "COM_STMT_PREPARE SHOW BINARY LOGS",
        row: "",
        here: None,
        there: Some(1227),
        reason: "statements for the server are checked when they are executed",
    },
    Exception {
        statement: "COM_BINLOG_DUMP_GTID",
        row: "",
        here: None,
        there: Some(1236),
        reason: "the name of a file says nothing in a dump by GTID, so that nothing looks for it",
    },
    Exception {
        statement: "DELETE FROM d.t WHERE id IN (SELECT id FROM d.u)",
        row: "",
        here: Some(1143),
        there: Some(1142),
        reason: "tables of subqueries are checked when the expression is, not before all expressions",
    },
    Exception {
        statement: "USE d",
        row: "a role with GRANT OPTION ON d.t",
        here: Some(1044),
        there: None,
        reason: "GRANT OPTION alone opens no schema; MySQL lets it when it comes by a role",
    },
    Exception {
        statement: "COM_INIT_DB d",
        row: "a role with GRANT OPTION ON d.t",
        here: Some(1044),
        there: None,
        reason: "GRANT OPTION alone opens no schema; MySQL lets it when it comes by a role",
    },
    Exception {
        statement: "SHOW CREATE DATABASE d",
        row: "a role with GRANT OPTION ON d.t",
        here: Some(1044),
        there: None,
        reason: "GRANT OPTION alone opens no schema; MySQL lets it when it comes by a role",
    },
];

/// Which exceptions were needed.
#[derive(Default)]
pub struct Excused {
    used: BTreeSet<usize>,
}

impl Excused {
    /// Whether a cell that differs is excused.
    pub fn excuses(&mut self, ours: &Cell, theirs: &Cell) -> bool {
        let (here, there) = (ours.answer.code(), theirs.answer.code());
        let is_past_the_check = there.is_none_or(|code| !PRIVILEGE_ERRORS.contains(&code));
        if ours.not_here.is_some() && here == ours.not_here && is_past_the_check {
            return true;
        }
        let is_meant = |it: &Exception| {
            it.statement == ours.statement
                && ours.account.starts_with(it.row)
                && (here, there) == (it.here, it.there)
        };
        let found = EXCEPTIONS.iter().position(is_meant);
        self.used.extend(found);
        found.is_some()
    }

    /// An exception that no cell needs any more is to be taken off the list.
    pub fn check_all_used(&self) {
        for (at, exception) in EXCEPTIONS.iter().enumerate() {
            let Exception { statement, reason, .. } = exception;
            assert!(self.used.contains(&at), "no cell needs the exception for {statement} ({reason})");
        }
    }
}
