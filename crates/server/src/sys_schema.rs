//! The schema `sys`: MySQL's views, functions and procedures over performance_schema and
//! information_schema, under MySQL's names.
//!
//! They are stored objects, as in MySQL, so that an account sees, uses, dumps, replaces and drops
//! them like any others. They are made without a trace in the binary log. A file in the data
//! directory tells which revision of them was made last. A server that brings another one makes
//! them anew at its start; otherwise it leaves alone what is there.
//!
//! The scripts beside this file are divided into parts by lines that begin with `==`:
//!
//! - `view NAME: COLUMNS` and the view's query.
//! - `pair NAME: COLUMNS` and the query of the view `x$NAME`, which shows numbers as they are. The
//!   view `NAME` shows the same columns for people. A word after a column says how: `time`,
//!   `bytes`, `path`, `statement`, or `wait` for a time that may not have ended. A column with the
//!   word `raw` is only in the first view.
//! - `function NAME` or `procedure NAME` and what follows the name in the CREATE statement.
//! - `statement` and a statement.

use crate::internal::session::InternalSession;
use crate::server::Server;
use std::sync::Arc;

const SCRIPTS: [&str; 9] = [
    include_str!("sys_schema/config.sql"),
    include_str!("sys_schema/functions.sql"),
    include_str!("sys_schema/statements.sql"),
    include_str!("sys_schema/accounts.sql"),
    include_str!("sys_schema/waits.sql"),
    include_str!("sys_schema/threads.sql"),
    include_str!("sys_schema/definitions.sql"),
    include_str!("sys_schema/tables.sql"),
    include_str!("sys_schema/procedures.sql"),
];

/// The file in the data directory with the revision that was made last.
const REVISION_FILE: &str = "sys_schema_revision";

const SQL_MODE: &str = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,\
                        ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

const DEFINER: &str = "DEFINER=`mysql.sys`@`localhost`";

/// Makes the schema unless this revision of it has been made in the data directory.
///
/// # Errors
/// Returns the errors of the statements that make it, and 1105 (`ER_UNKNOWN_ERROR`) if the file
/// with the revision cannot be read or written.
pub fn create(server: &Arc<Server>, session: &mut InternalSession) -> sql::Result<()> {
    let file = server.datadir.join(REVISION_FILE);
    let failed = |error: std::io::Error| sql::SqlError::new(1105, format!("{}: {error}", file.display()));
    let revision = revision();
    let is_there = server.disk.exists(&file).map_err(failed)?;
    if is_there && server.disk.read(&file).map_err(failed)? == revision.as_bytes() {
        return Ok(());
    }
    // The file is written after everything else, so that a crash in between costs nothing but the
    // same work again. Thus none of the statements needs to be durable on its own.
    let mode = server.engine.flush_log_at_trx_commit();
    server.engine.set_flush_log_at_trx_commit(0);
    let made = run(session);
    server.engine.set_flush_log_at_trx_commit(mode);
    made?;
    server.disk.write_atomically(&file, revision.as_bytes()).map_err(failed)
}

/// Returns a text that another revision of the scripts does not have.
fn revision() -> String {
    // FNV-1a, which stays the same whatever compiles this.
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let sum = SCRIPTS.iter().flat_map(|script| script.bytes()).fold(0xcbf2_9ce4_8422_2325, step);
    format!("{sum:016x}\n")
}

fn run(session: &mut InternalSession) -> sql::Result<()> {
    session
        .run("CREATE DATABASE IF NOT EXISTS sys DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci")?;
    session.run(&format!("SET SESSION sql_mode = '{SQL_MODE}'"))?;
    for part in SCRIPTS.iter().flat_map(|script| script.split("\n== ").skip(1)) {
        let (head, body) = part.split_once('\n').unwrap_or((part, ""));
        for statement in statements(head, body) {
            session.run(&statement).map_err(|mut error| {
                error.message = format!("sys, {head}: {}", error.message);
                error
            })?;
        }
    }
    session.run("SET SESSION sql_mode = ''")
}

/// Returns the statements of a part of a script.
fn statements(head: &str, body: &str) -> Vec<String> {
    let (kind, rest) = head.split_once(' ').unwrap_or((head, ""));
    let (name, columns) = rest.split_once(':').unwrap_or((rest, ""));
    match kind {
        "view" => vec![view(name, &names(columns), body)],
        "pair" => {
            let raw = format!("x${name}");
            let all: Vec<String> = columns.split(',').filter_map(shown).collect();
            let query = format!("SELECT {} FROM sys.`{raw}`", all.join(", "));
            let for_people: Vec<&str> = columns.split(',').filter(|column| shown(column).is_some()).collect();
            vec![view(&raw, &names(columns), body), view(name, &names(&for_people.join(",")), &query)]
        }
        "function" | "procedure" => vec![
            format!("DROP {kind} IF EXISTS sys.`{name}`"),
            format!("CREATE {DEFINER} {kind} sys.`{name}`{body}"),
        ],
        _ => vec![body.to_owned()],
    }
}

fn view(name: &str, columns: &[&str], query: &str) -> String {
    let columns: Vec<String> = columns.iter().map(|column| format!("`{column}`")).collect();
    let columns = columns.join(", ");
    format!("CREATE OR REPLACE {DEFINER} SQL SECURITY INVOKER VIEW sys.`{name}` ({columns}) AS {query}")
}

/// Returns the names in a list of columns.
fn names(columns: &str) -> Vec<&str> {
    columns.split(',').filter_map(|column| column.split_whitespace().next()).collect()
}

/// Returns the expression that shows a column of the list for people. `None` means that the column
/// is only in the view with the numbers.
fn shown(column: &str) -> Option<String> {
    let mut words = column.split_whitespace();
    let name = words.next().unwrap_or_default();
    let function = match words.next() {
        Some("time") => "format_pico_time",
        Some("bytes") => "format_bytes",
        Some("path") => "sys.format_path",
        Some("statement") => "sys.format_statement",
        Some("wait") => {
            let time = format!("format_pico_time(`{name}`)");
            let waits = "CONVERT('Still Waiting' USING utf8mb4)";
            return Some(format!("IF(`{name}` = 'Still Waiting', {waits}, {time})"));
        }
        Some("raw") => return None,
        _ => return Some(format!("`{name}`")),
    };
    Some(format!("{function}(`{name}`)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_two_views() {
        let made = statements("pair a: n, t time", "SELECT 1, 2");
        assert!(made[0].ends_with("VIEW sys.`x$a` (`n`, `t`) AS SELECT 1, 2"), "{}", made[0]);
        assert!(made[1].ends_with("SELECT `n`, format_pico_time(`t`) FROM sys.`x$a`"), "{}", made[1]);
    }

    #[test]
    fn every_part_makes_something_known() {
        for part in SCRIPTS.iter().flat_map(|script| script.split("\n== ").skip(1)) {
            let kind = part.split([' ', '\n']).next().unwrap();
            assert!(["view", "pair", "function", "procedure", "statement"].contains(&kind), "{kind}");
        }
    }
}
