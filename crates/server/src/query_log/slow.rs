//! Which statements are slow, and what the slow query log says of them (MySQL's manual, "The Slow
//! Query Log").

use super::statements::shown;
use super::{TO_FILE, TO_TABLE, table, user_host};
use crate::client::connection_host::ConnectionHost;
use crate::process::error_log::timestamp;
use sql::EndedStatement;
use std::fmt::Write as _;

/// What the slow query log keeps of a statement.
pub(super) struct SlowEntry<'e> {
    /// When the statement ended, in microseconds of Unix time.
    pub at_us: u64,
    pub user_host: String,
    pub connection_id: u32,
    /// The text, without passwords.
    pub text: Vec<u8>,
    pub statement: &'e EndedStatement<'e>,
}

/// Writes a statement that has ended into the slow query log, if it is slow.
pub(super) fn note(host: &ConnectionHost, statement: &EndedStatement<'_>) {
    if !is_slow(host, statement) {
        return;
    }
    let (server, entry) = (host.server(), host.entry());
    let entry = SlowEntry {
        at_us: os::clock::now_us(),
        user_host: user_host(&host.login_account().user, &entry.shown()),
        connection_id: entry.id,
        text: shown(statement.text),
        statement,
    };
    let logs = &server.query_logs;
    if logs.has_output(TO_FILE) {
        let with_extra = server.globals.named("log_slow_extra").is_on();
        logs.slow.write_of_schema(statement.schema, |names_schema| entry.lines(names_schema, with_extra));
    }
    if logs.has_output(TO_TABLE) {
        table::put_slow(server, &entry);
    }
}

/// Reports whether a statement took `long_query_time` seconds or, with
/// `log_queries_not_using_indexes`, read a table without an index; and neither has too few rows
/// (`min_examined_row_limit`) nor is an administrative statement that is left out.
fn is_slow(host: &ConnectionHost, statement: &EndedStatement<'_>) -> bool {
    let (globals, variables) = (&host.server().globals, host.session_variables());
    let took_long = statement.took_us as f64 >= variables.named("long_query_time").double() * 1_000_000.0;
    let is_without_index = || {
        globals.named("log_queries_not_using_indexes").is_on()
            && statement.figure("Select_scan") + statement.figure("Select_full_join") > 0
    };
    (took_long || is_without_index())
        && statement.rows_examined() >= variables.named("min_examined_row_limit").uint()
        && (globals.named("log_slow_admin_statements").is_on() || !is_administrative(statement.text))
}

/// Reports whether a statement is one of those that `log_slow_admin_statements` is about.
fn is_administrative(text: &[u8]) -> bool {
    let words: Vec<String> = text
        .split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
        .take(3)
        .map(|word| String::from_utf8_lossy(word).to_ascii_uppercase())
        .collect();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    match word(0) {
        "ALTER" | "ANALYZE" | "CHECK" | "OPTIMIZE" | "REPAIR" => {
            ["TABLE", "LOCAL", "NO_WRITE_TO_BINLOG"].contains(&word(1))
        }
        "CREATE" => {
            word(1) == "INDEX" || ["UNIQUE", "FULLTEXT", "SPATIAL"].contains(&word(1)) && word(2) == "INDEX"
        }
        "DROP" => word(1) == "INDEX",
        _ => false,
    }
}

/// The names of [`SlowEntry::extra`]'s figures, and those of SHOW STATUS that they are.
const EXTRA: &[(&str, &str)] = &[
    ("Read_first", "Handler_read_first"),
    ("Read_last", "Handler_read_last"),
    ("Read_key", "Handler_read_key"),
    ("Read_next", "Handler_read_next"),
    ("Read_prev", "Handler_read_prev"),
    ("Read_rnd", "Handler_read_rnd"),
    ("Read_rnd_next", "Handler_read_rnd_next"),
    ("Sort_merge_passes", "Sort_merge_passes"),
    ("Sort_range_count", "Sort_range"),
    ("Sort_rows", "Sort_rows"),
    ("Sort_scan_count", "Sort_scan"),
    ("Created_tmp_disk_tables", "Created_tmp_disk_tables"),
    ("Created_tmp_tables", "Created_tmp_tables"),
];

/// Microseconds as seconds with six decimals.
fn seconds(us: u64) -> String {
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

impl SlowEntry<'_> {
    /// The entry's lines in the log file.
    fn lines(&self, names_schema: bool, with_extra: bool) -> Vec<u8> {
        let statement = self.statement;
        let mut lines = format!(
            "# Time: {}\n# User@Host: {}  Id: {:5}\n\
             # Query_time: {}  Lock_time: {} Rows_sent: {}  Rows_examined: {}",
            timestamp(self.at_us),
            self.user_host,
            self.connection_id,
            seconds(statement.took_us),
            seconds(statement.lock_wait_us),
            statement.rows_sent,
            statement.rows_examined(),
        );
        if with_extra {
            lines.push_str(&self.extra());
        }
        lines.push('\n');
        if let (true, Some(schema)) = (names_schema, statement.schema) {
            lines.push_str(&format!("use {schema};\n"));
        }
        lines.push_str(&format!("SET timestamp={};\n", statement.timestamp_s));
        let mut lines = lines.into_bytes();
        lines.extend_from_slice(&self.text);
        lines.extend_from_slice(b";\n");
        lines
    }

    /// What `log_slow_extra` adds to the third line. The bytes of the connection are not counted
    /// for each statement, and are left out.
    fn extra(&self) -> String {
        let statement = self.statement;
        let is_killed = matches!(statement.error_code, 1317 | 3024);
        let killed = if is_killed { statement.error_code } else { 0 };
        let mut extra =
            format!(" Thread_id: {} Errno: {} Killed: {killed}", self.connection_id, statement.error_code);
        for (name, figure) in EXTRA {
            // Writing into a string does not fail.
            let _ = write!(extra, " {name}: {}", statement.figure(figure));
        }
        let began = timestamp(self.at_us.saturating_sub(statement.took_us));
        extra + &format!(" Start: {began} End: {}", timestamp(self.at_us))
    }
}

#[cfg(test)]
mod tests {
    use super::is_administrative;

    #[test]
    fn administrative_statements_are_told_by_their_first_words() {
        for text in
            ["alter table t add a int", "ANALYZE  NO_WRITE_TO_BINLOG TABLE t", "create unique index i"]
        {
            assert!(is_administrative(text.as_bytes()), "{text}");
        }
        for text in ["alter user u", "create table t(a int)", "drop table t", "select 1", ""] {
            assert!(!is_administrative(text.as_bytes()), "{text}");
        }
    }
}
