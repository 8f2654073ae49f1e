//! The entries of both logs, and the form that they have in the logs' files.

use crate::client::connection_host::without_port;
use crate::client::secrets::without_secrets;
use crate::process::error_log::timestamp;
use crate::server::sessions::Shown;
use sql::EndedStatement;
use std::borrow::Cow;
use std::fmt::Write as _;

/// A client as both logs name it: `account[user] @ host [address]`.
pub(super) fn user_host(account: &str, shown: &Shown) -> String {
    let host = without_port(&shown.host);
    let ip = shown.ip.map_or_else(String::new, |ip| ip.to_string());
    format!("{account}[{}] @ {host} [{ip}]", shown.user)
}

/// Returns a statement's text as the logs have it: without passwords, and of PREPARE without the
/// text that is prepared.
pub(super) fn shown(text: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(text) if is_prepare(text) => {
            let name = text.split_ascii_whitespace().nth(1).unwrap_or_default();
            format!("PREPARE {name} FROM ...").into_bytes()
        }
        Ok(text) => without_secrets(Cow::Borrowed(text), false).into_owned().into_bytes(),
        Err(_) => text.to_vec(),
    }
}

fn is_prepare(text: &str) -> bool {
    text.split_ascii_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("PREPARE"))
}

/// A command of a client, as the general log has it.
pub(super) struct GeneralEntry<'e> {
    pub at_us: u64,
    pub user_host: &'e str,
    pub connection_id: u32,
    pub command: &'e str,
    pub argument: &'e [u8],
}

impl GeneralEntry<'_> {
    /// Returns the line of the log file up to the argument.
    pub fn line(&self) -> String {
        let at = timestamp(self.at_us);
        format!("{at}\t{:5} {}\t", self.connection_id, self.command)
    }
}

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
    pub fn lines(&self, names_schema: bool, with_extra: bool) -> Vec<u8> {
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
