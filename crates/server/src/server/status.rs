//! The counters behind SHOW STATUS that belong to the server itself.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter. Its operations are relaxed, because each counter stands for itself.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one to the counter.
    pub fn add_one(&self) {
        self.add(1);
    }

    /// Adds a number to the counter.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// Subtracts a number from the counter.
    pub fn subtract(&self, n: u64) {
        let before = self.0.fetch_sub(n, Ordering::Relaxed);
        assert!(before >= n, "what is taken away was added");
    }

    /// Subtracts one from the counter.
    pub fn subtract_one(&self) {
        let before = self.0.fetch_sub(1, Ordering::Relaxed);
        assert!(before > 0, "what is taken away was added");
    }

    /// Adds one, unless the counter has reached `limit`, for which it returns false.
    pub fn add_one_below(&self, limit: u64) -> bool {
        let more = |n: u64| (n < limit).then_some(n + 1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Raises the counter to `n` when it is lower. Returns false when it is not.
    pub fn raise_to(&self, n: u64) -> bool {
        self.0.fetch_max(n, Ordering::Relaxed) < n
    }

    /// Returns the value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// The classes of statements for the audit log: the name behind `Com_`, and the words with which
/// such a statement starts.
const KINDS: &[(&str, &str)] = &[
    ("alter_db", "ALTER DATABASE"),
    ("alter_db", "ALTER SCHEMA"),
    ("alter_table", "ALTER TABLE"),
    ("alter_user", "ALTER USER"),
    ("analyze", "ANALYZE"),
    ("begin", "BEGIN"),
    ("begin", "START TRANSACTION"),
    ("call_procedure", "CALL"),
    ("change_db", "USE"),
    ("change_replication_source", "CHANGE MASTER"),
    ("change_replication_source", "CHANGE REPLICATION"),
    ("check", "CHECK"),
    ("checksum", "CHECKSUM"),
    ("clone", "CLONE"),
    ("commit", "COMMIT"),
    ("create_db", "CREATE DATABASE"),
    ("create_db", "CREATE SCHEMA"),
    ("create_index", "CREATE INDEX"),
    ("create_index", "CREATE UNIQUE"),
    ("create_table", "CREATE TABLE"),
    ("create_table", "CREATE TEMPORARY"),
    ("create_user", "CREATE USER"),
    ("dealloc_sql", "DEALLOCATE"),
    ("delete", "DELETE"),
    ("do", "DO"),
    ("drop_db", "DROP DATABASE"),
    ("drop_db", "DROP SCHEMA"),
    ("drop_index", "DROP INDEX"),
    ("drop_table", "DROP TABLE"),
    ("drop_user", "DROP USER"),
    ("execute_sql", "EXECUTE"),
    ("explain_other", "EXPLAIN"),
    ("flush", "FLUSH"),
    ("grant", "GRANT"),
    ("insert", "INSERT"),
    ("kill", "KILL"),
    ("load", "LOAD"),
    ("lock_tables", "LOCK"),
    ("optimize", "OPTIMIZE"),
    ("prepare_sql", "PREPARE"),
    ("purge", "PURGE"),
    ("release_savepoint", "RELEASE"),
    ("rename_table", "RENAME TABLE"),
    ("rename_user", "RENAME USER"),
    ("replace", "REPLACE"),
    ("replica_start", "START REPLICA"),
    ("replica_start", "START SLAVE"),
    ("replica_stop", "STOP REPLICA"),
    ("replica_stop", "STOP SLAVE"),
    ("reset", "RESET"),
    ("revoke", "REVOKE"),
    ("rollback", "ROLLBACK"),
    ("savepoint", "SAVEPOINT"),
    ("select", "SELECT"),
    ("set_option", "SET"),
    ("show_binlog_events", "SHOW BINLOG"),
    ("show_binlogs", "SHOW BINARY"),
    ("show_charsets", "SHOW CHARACTER"),
    ("show_collations", "SHOW COLLATION"),
    ("show_create_table", "SHOW CREATE"),
    ("show_databases", "SHOW DATABASES"),
    ("show_engine_status", "SHOW ENGINE"),
    ("show_fields", "SHOW COLUMNS"),
    ("show_fields", "SHOW FIELDS"),
    ("show_grants", "SHOW GRANTS"),
    ("show_keys", "SHOW INDEX"),
    ("show_keys", "SHOW KEYS"),
    ("show_processlist", "SHOW PROCESSLIST"),
    ("show_replica_status", "SHOW REPLICA"),
    ("show_replica_status", "SHOW SLAVE"),
    ("show_status", "SHOW STATUS"),
    ("show_table_status", "SHOW TABLE"),
    ("show_tables", "SHOW TABLES"),
    ("show_variables", "SHOW VARIABLES"),
    ("show_warnings", "SHOW WARNINGS"),
    ("shutdown", "SHUTDOWN"),
    ("truncate", "TRUNCATE"),
    ("unlock_tables", "UNLOCK"),
    ("update", "UPDATE"),
];

/// The class of a statement for the audit log. `None` inside means that its words begin no
/// statement of a known class.
#[derive(Debug, Clone, Copy)]
pub struct StatementKind(Option<usize>);

impl StatementKind {
    /// Returns the name behind `Com_`. `None` means that the class is unknown.
    pub fn name(self) -> Option<&'static str> {
        self.0.map(|kind| KINDS[kind].0)
    }

    /// Finds the kind of a statement by its first words.
    pub fn of(text: &str) -> StatementKind {
        StatementKind(kind_of(text))
    }
}

/// The counters of the whole server.
#[derive(Debug)]
pub struct ServerStatus {
    /// The time of the server's start, in microseconds of Unix time.
    pub started_us: u64,
    /// The statements of clients (`Questions`), without COM_PING and the like.
    pub questions: Counter,
    /// All commands of clients (`Queries`).
    pub queries: Counter,
    /// Attempts to connect.
    pub connections: Counter,
    /// Attempts to connect that failed.
    pub aborted_connects: Counter,
    /// Logins to locked accounts.
    pub locked_connects: Counter,
    /// Connections that ended without COM_QUIT.
    pub aborted_clients: Counter,
    /// The largest number of connections at one time.
    pub max_used_connections: Counter,
    /// When there were that many, in microseconds of Unix time.
    pub max_used_connections_us: Counter,
    /// Failures to accept a connection.
    pub accept_errors: Counter,
    /// Connections that the server could not serve for reasons of its own.
    pub internal_errors: Counter,
    /// The most bytes of attributes that a client has sent of itself.
    pub longest_attributes: Counter,
    /// Clients whose attributes were cut.
    pub lost_attributes: Counter,
    /// Clients that began TLS.
    pub tls_accepts: Counter,
    /// Clients that began TLS and got it.
    pub tls_finished_accepts: Counter,
    /// Connections that were refused because there were too many.
    pub max_connections_errors: Counter,
    /// Bytes that were read from clients.
    pub bytes_received: Counter,
    /// Bytes that were sent to clients.
    pub bytes_sent: Counter,
    /// The number of threads that run a command now.
    pub threads_running: Counter,
    /// Threads that were started for connections.
    pub threads_created: Counter,
    /// Threads of connections that ran later than slow_launch_time after their connections came.
    pub slow_launch_threads: Counter,
    /// FLUSH TABLES of all tables.
    pub flush_commands: Counter,
    /// Lists of connections by SHOW PROCESSLIST or from information_schema, where
    /// performance_schema has a better one.
    pub process_lists: Counter,
    /// The number of foreign keys that were made to columns which do not tell rows apart.
    pub unsafe_foreign_keys: Counter,
    /// The time at which the latest of them was made, in microseconds since 1970. 0 means never.
    pub unsafe_foreign_key_us: Counter,
    /// The time of the last of them, in microseconds of unix time.
    pub process_list_us: Counter,
    /// Statements that took longer than long_query_time.
    pub slow_queries: Counter,
    /// SELECTs that `max_execution_time` has ended.
    pub max_execution_time_exceeded: Counter,
    /// SELECTs that had a limit by `max_execution_time`.
    pub max_execution_time_set: Counter,
    /// The number of prepared statements now.
    pub prepared_statements: Counter,
    /// Commands that are no statements: COM_PING, COM_CHANGE_USER and the like
    /// (`Com_admin_commands`).
    pub admin_commands: Counter,
    /// COM_STMT_PREPARE commands (`Com_stmt_prepare`).
    pub stmt_prepare: Counter,
    /// COM_STMT_EXECUTE commands (`Com_stmt_execute`).
    pub stmt_execute: Counter,
    /// COM_STMT_CLOSE commands (`Com_stmt_close`).
    pub stmt_close: Counter,
    /// COM_STMT_FETCH commands (`Com_stmt_fetch`).
    pub stmt_fetch: Counter,
    /// COM_STMT_RESET commands (`Com_stmt_reset`).
    pub stmt_reset: Counter,
    /// COM_STMT_SEND_LONG_DATA commands (`Com_stmt_send_long_data`).
    pub stmt_send_long_data: Counter,
}

impl Default for ServerStatus {
    fn default() -> Self {
        ServerStatus {
            started_us: os::clock::now_us(),
            questions: Counter::default(),
            queries: Counter::default(),
            connections: Counter::default(),
            aborted_connects: Counter::default(),
            locked_connects: Counter::default(),
            aborted_clients: Counter::default(),
            max_used_connections: Counter::default(),
            max_used_connections_us: Counter::default(),
            accept_errors: Counter::default(),
            internal_errors: Counter::default(),
            longest_attributes: Counter::default(),
            lost_attributes: Counter::default(),
            tls_accepts: Counter::default(),
            tls_finished_accepts: Counter::default(),
            max_connections_errors: Counter::default(),
            bytes_received: Counter::default(),
            bytes_sent: Counter::default(),
            threads_running: Counter::default(),
            threads_created: Counter::default(),
            slow_launch_threads: Counter::default(),
            flush_commands: Counter::default(),
            process_lists: Counter::default(),
            unsafe_foreign_keys: Counter::default(),
            unsafe_foreign_key_us: Counter::default(),
            process_list_us: Counter::default(),
            slow_queries: Counter::default(),
            max_execution_time_exceeded: Counter::default(),
            max_execution_time_set: Counter::default(),
            prepared_statements: Counter::default(),
            admin_commands: Counter::default(),
            stmt_prepare: Counter::default(),
            stmt_execute: Counter::default(),
            stmt_close: Counter::default(),
            stmt_fetch: Counter::default(),
            stmt_reset: Counter::default(),
            stmt_send_long_data: Counter::default(),
        }
    }
}

impl ServerStatus {
    /// Carries out FLUSH STATUS: resets the counters that do not count since the start of the
    /// server.
    pub fn flush(&self, connections: usize) {
        for counter in [
            &self.aborted_clients,
            &self.locked_connects,
            &self.slow_queries,
            &self.max_execution_time_exceeded,
            &self.max_execution_time_set,
        ] {
            counter.reset();
        }
        self.max_used_connections.reset();
        self.note_connections(connections);
    }

    /// Notes that so many connections are there.
    pub fn note_connections(&self, connections: usize) {
        if self.max_used_connections.raise_to(connections as u64) {
            self.max_used_connections_us.raise_to(os::clock::now_us());
        }
    }

    /// Returns name and value of all counters, unsorted.
    pub fn list(&self, connections: usize) -> Vec<(String, String)> {
        let uptime_s = os::clock::now_us().saturating_sub(self.started_us) / 1_000_000;
        let out: Vec<(String, u64)> = [
            ("Aborted_clients", self.aborted_clients.get()),
            ("Aborted_connects", self.aborted_connects.get()),
            ("Locked_connects", self.locked_connects.get()),
            ("Bytes_received", self.bytes_received.get()),
            ("Bytes_sent", self.bytes_sent.get()),
            ("Com_admin_commands", self.admin_commands.get()),
            ("Com_stmt_close", self.stmt_close.get()),
            ("Com_stmt_execute", self.stmt_execute.get()),
            ("Com_stmt_fetch", self.stmt_fetch.get()),
            ("Com_stmt_prepare", self.stmt_prepare.get()),
            ("Com_stmt_reset", self.stmt_reset.get()),
            ("Com_stmt_send_long_data", self.stmt_send_long_data.get()),
            ("Connection_errors_max_connections", self.max_connections_errors.get()),
            ("Connections", self.connections.get()),
            ("Deprecated_use_fk_on_non_standard_key_count", self.unsafe_foreign_keys.get()),
            ("Deprecated_use_fk_on_non_standard_key_last_timestamp", self.unsafe_foreign_key_us.get()),
            ("Deprecated_use_i_s_processlist_count", self.process_lists.get()),
            ("Deprecated_use_i_s_processlist_last_timestamp", self.process_list_us.get()),
            ("Flush_commands", self.flush_commands.get()),
            ("Max_execution_time_exceeded", self.max_execution_time_exceeded.get()),
            ("Max_execution_time_set", self.max_execution_time_set.get()),
            // Setting a limit cannot fail: the thread that watches the limits runs from the first
            // limit on.
            ("Max_execution_time_set_failed", 0),
            ("Max_used_connections", self.max_used_connections.get()),
            ("Prepared_stmt_count", self.prepared_statements.get()),
            ("Queries", self.queries.get()),
            ("Questions", self.questions.get()),
            ("Slow_launch_threads", self.slow_launch_threads.get()),
            ("Slow_queries", self.slow_queries.get()),
            ("Threads_cached", 0),
            ("Threads_connected", connections as u64),
            ("Threads_created", self.threads_created.get()),
            ("Threads_running", self.threads_running.get()),
            ("Uptime", uptime_s),
            ("Uptime_since_flush_status", uptime_s),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        out.into_iter().map(|(name, value)| (name, value.to_string())).collect()
    }
}

impl ServerStatus {
    /// Counts foreign keys to columns that do not tell rows apart.
    pub fn note_unsafe_foreign_keys(&self, count: u64) {
        self.unsafe_foreign_keys.add(count);
        self.unsafe_foreign_key_us.raise_to(os::clock::now_us());
    }

    /// Counts a list of connections.
    pub fn note_process_list(&self) {
        self.process_lists.add_one();
        self.process_list_us.raise_to(os::clock::now_us());
    }
}

/// Returns the index in [`KINDS`] of a statement's kind.
fn kind_of(text: &str) -> Option<usize> {
    let bytes = skip_blanks(text.as_bytes());
    let start = |prefix: &str| {
        bytes.len() >= prefix.len()
            && bytes[..prefix.len()].eq_ignore_ascii_case(prefix.as_bytes())
            && bytes.get(prefix.len()).is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_')
    };
    let first = bytes.first()?.to_ascii_uppercase();
    let same_letter = &BY_LETTER.get(usize::from(first.checked_sub(b'A')?))?[..];
    same_letter.iter().copied().find(|kind| {
        let words = KINDS[*kind].1;
        match words.split_once(' ') {
            None => start(words),
            Some((one, two)) => start(one) && second_word_is(&bytes[one.len()..], two),
        }
    })
}

/// The indexes in [`KINDS`] of the kinds that begin with each letter, because every statement is
/// looked up.
static BY_LETTER: LazyLock<[Vec<usize>; 26]> = LazyLock::new(|| {
    std::array::from_fn(|letter| {
        let begins = |kind: &usize| KINDS[*kind].1.as_bytes()[0] == b'A' + letter as u8;
        (0..KINDS.len()).filter(begins).collect()
    })
});

fn second_word_is(rest: &[u8], word: &str) -> bool {
    let mut rest = skip_blanks(rest);
    // In SHOW FULL ... and SHOW GLOBAL ... the word after the modifier tells the kind.
    for modifier in ["FULL ", "GLOBAL ", "SESSION "] {
        if rest.len() > modifier.len() && rest[..modifier.len()].eq_ignore_ascii_case(modifier.as_bytes()) {
            rest = skip_blanks(&rest[modifier.len()..]);
        }
    }
    rest.len() >= word.len()
        && rest[..word.len()].eq_ignore_ascii_case(word.as_bytes())
        && rest.get(word.len()).is_none_or(|b| !b.is_ascii_alphanumeric())
}

/// Returns the text without leading white space, comments and opening parentheses.
fn skip_blanks(mut bytes: &[u8]) -> &[u8] {
    loop {
        let trimmed = bytes.trim_ascii_start();
        let trimmed = trimmed.strip_prefix(b"(").unwrap_or(trimmed);
        let after_comment = trimmed
            .strip_prefix(b"/*")
            .filter(|rest| !rest.starts_with(b"!"))
            .and_then(|rest| rest.windows(2).position(|w| w == b"*/").map(|end| &rest[end + 2..]));
        let next = after_comment.unwrap_or(trimmed);
        if next.len() == bytes.len() {
            return bytes;
        }
        bytes = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_classed_by_their_words() {
        let of = |text: &str| StatementKind::of(text).name();
        for (text, wanted) in [
            ("select 1", Some("select")),
            (" /* hint */ (SELECT 2)", Some("select")),
            ("SELECTED", None),
            ("start transaction", Some("begin")),
            ("begin work", Some("begin")),
            ("show full processlist", Some("show_processlist")),
            ("SHOW GLOBAL STATUS", Some("show_status")),
            ("drop table t", Some("drop_table")),
            ("", None),
        ] {
            assert_eq!(of(text), wanted, "{text}");
        }
    }

    #[test]
    fn counters_are_listed_by_their_names() {
        let status = ServerStatus::default();
        status.stmt_execute.add_one();
        let list = status.list(3);
        let of = |name: &str| list.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        assert_eq!(of("Com_stmt_execute"), Some("1"));
        assert_eq!(of("Threads_connected"), Some("3"));
    }
}
