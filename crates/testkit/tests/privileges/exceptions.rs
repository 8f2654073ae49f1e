//! The cells that differ from MySQL's, each with its reason.

use crate::play::{Cell, PRIVILEGE_ERRORS};
use std::collections::BTreeSet;

/// Cells that may differ, with the reason.
struct Exception {
    statements: &'static [&'static str],
    /// The beginning of the rows' names. An empty text stands for every row.
    row: &'static str,
    /// The number of Slipstream's error. `None` means that the statement is allowed.
    here: Option<u16>,
    /// The number of MySQL's error. `None` means that the statement is allowed.
    there: Option<u16>,
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        statements: &["COM_STMT_PREPARE SHOW BINARY LOGS"],
        row: "",
        here: None,
        there: Some(1227),
        reason: "statements for the server are checked when they are executed",
    },
    Exception {
        statements: &["COM_BINLOG_DUMP_GTID"],
        row: "",
        here: None,
        there: Some(1236),
        reason: "the name of a file says nothing in a dump by GTID, so that nothing looks for it",
    },
    Exception {
        statements: &["DELETE FROM d.t WHERE id IN (SELECT id FROM d.u)"],
        row: "",
        here: Some(1143),
        there: Some(1142),
        reason: "tables of subqueries are checked when the expression is, not before all expressions",
    },
    Exception {
        statements: &["USE d"],
        row: "a role with GRANT OPTION ON d.t",
        here: Some(1044),
        there: None,
        reason: "GRANT OPTION alone opens no schema; MySQL lets it when it comes by a role",
    },
    Exception {
        statements: &["COM_INIT_DB d"],
        row: "a role with GRANT OPTION ON d.t",
        here: Some(1044),
        there: None,
        reason: "GRANT OPTION alone opens no schema; MySQL lets it when it comes by a role",
    },
    Exception {
        statements: &["SHOW CREATE DATABASE d"],
        row: "a role with GRANT OPTION ON d.t",
        here: Some(1044),
        there: None,
        reason: "GRANT OPTION alone opens no schema; MySQL lets it when it comes by a role",
    },
    Exception {
        statements: &["USE d", "COM_INIT_DB d", "SHOW CREATE DATABASE d"],
        row: "a role by GRANT",
        here: None,
        there: Some(1044),
        reason: FUNCTIONS_OF_ROLES,
    },
    Exception {
        statements: &["SHOW TABLE STATUS FROM d", "SHOW TABLES FROM d", "SHOW TRIGGERS FROM d"],
        row: "a role by GRANT",
        here: None,
        there: Some(1044),
        reason: FUNCTIONS_OF_ROLES,
    },
    Exception {
        statements: &[
            "SHOW DATABASES LIKE '_'",
            "SELECT schema_name FROM information_schema.schemata WHERE schema_name IN ('d', 'e', 'mysql') ORDER BY 1",
        ],
        row: "a role by GRANT",
        here: None,
        there: None,
        reason: FUNCTIONS_OF_ROLES,
    },
    Exception {
        statements: &["SHOW CREATE FUNCTION d.f", "SHOW CREATE PROCEDURE d.p"],
        row: "a role by GRANT",
        here: None,
        there: Some(1305),
        reason: ROUTINES_OF_ROLES,
    },
    Exception {
        statements: &[
            "SELECT routine_name, routine_definition IS NULL FROM information_schema.routines WHERE routine_schema = \
             'd' ORDER BY 1",
            "SELECT specific_name FROM information_schema.parameters WHERE specific_schema = 'd' ORDER BY 1",
        ],
        row: "a role by GRANT",
        here: None,
        there: None,
        reason: ROUTINES_OF_ROLES,
    },
    Exception {
        statements: &["INSERT INTO d.t SELECT id + 10, v FROM d.u"],
        row: "",
        here: Some(1142),
        there: Some(1142),
        reason: FIRST_OF_TWO,
    },
    Exception {
        statements: &["UPDATE d.t SET v = (SELECT MAX(v) FROM d.u)"],
        row: "",
        here: Some(1143),
        there: Some(1142),
        reason: FIRST_OF_TWO,
    },
    Exception {
        statements: &["UPDATE d.t SET v = 2 ORDER BY id LIMIT 1", "UPDATE d.t SET v = 5 ORDER BY id LIMIT 1"],
        row: "",
        here: Some(1143),
        there: Some(1143),
        reason: FIRST_OF_TWO,
    },
];

const FUNCTIONS_OF_ROLES: &str = "a privilege on a function opens its schema; MySQL looks at procedures only where it \
                                  comes by a role";
const ROUTINES_OF_ROLES: &str =
    "who may execute or alter a routine sees it; MySQL does not look at roles there";
const FIRST_OF_TWO: &str = "two privileges are missing, and another one is told";

/// The exceptions that were needed in a run.
#[derive(Default)]
pub struct Excused {
    /// The positions of the used exceptions, and their statements.
    used: BTreeSet<(usize, &'static str)>,
}

impl Excused {
    /// Reports whether a cell that differs is excused.
    pub fn excuses(&mut self, ours: &Cell, theirs: &Cell) -> bool {
        let (here, there) = (ours.answer.code(), theirs.answer.code());
        let is_past_the_check = there.is_none_or(|code| !PRIVILEGE_ERRORS.contains(&code));
        if ours.not_here.is_some() && here == ours.not_here && is_past_the_check {
            return true;
        }
        let is_meant = |it: &Exception| {
            it.statements.contains(&ours.statement)
                && ours.account.starts_with(it.row)
                && (here, there) == (it.here, it.there)
        };
        let found = EXCEPTIONS.iter().position(is_meant);
        self.used.extend(found.map(|at| (at, ours.statement)));
        found.is_some()
    }

    /// Checks that every exception was needed by a cell. One that was not has to be removed from
    /// the list.
    pub fn check_all_used(&self) {
        for (at, exception) in EXCEPTIONS.iter().enumerate() {
            let Exception { statements, reason, .. } = exception;
            for statement in *statements {
                assert!(
                    self.used.contains(&(at, *statement)),
                    "no cell needs the exception for {statement} ({reason})"
                );
            }
        }
    }
}
