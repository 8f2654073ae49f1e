//! What has to be known to log a statement by its text (`binlog_format = STATEMENT`): the values to
//! log before the text, and the reasons why the text may do something else on a replica, which
//! MySQL calls unsafe.

use crate::ast;
use engine::Table;
use std::collections::BTreeSet;

/// A reason why a statement is unsafe. The order is that of MySQL's warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unsafe {
    Limit,
    SystemTable,
    SystemFunction,
    SystemVariable,
    InsertIgnoreSelect,
    InsertSelectUpdate,
    WriteAutoIncrementSelect,
    ReplaceSelect,
    UpdateIgnore,
    InsertTwoKeys,
}

impl Unsafe {
    /// Returns MySQL's text for the reason.
    pub fn reason(self) -> &'static str {
        match self {
            Unsafe::Limit => {
                "The statement is unsafe because it uses a LIMIT clause. This is unsafe because the set of rows included cannot be \
                 predicted."
            }
            Unsafe::SystemTable => {
                "The statement is unsafe because it uses the general log, slow query log, or performance_schema table(s). This is \
                 unsafe because system tables may differ on replicas."
            }
            Unsafe::SystemFunction => {
                "Statement is unsafe because it uses a system function that may return a different value on the replica."
            }
            Unsafe::SystemVariable => {
                "Statement is unsafe because it uses a system variable that may have a different value on the replica."
            }
            Unsafe::InsertIgnoreSelect => {
                "INSERT IGNORE... SELECT is unsafe because the order in which rows are retrieved by the SELECT determines which (if \
                 any) rows are ignored. This order cannot be predicted and may differ on source and the replica."
            }
            Unsafe::InsertSelectUpdate => {
                "INSERT... SELECT... ON DUPLICATE KEY UPDATE is unsafe because the order in which rows are retrieved by the SELECT \
                 determines which (if any) rows are updated. This order cannot be predicted and may differ on source and the replica."
            }
            Unsafe::WriteAutoIncrementSelect => {
                "Statements writing to a table with an auto-increment column after selecting from another table are unsafe because the \
                 order in which rows are retrieved determines what (if any) rows will be written. This order cannot be predicted and \
                 may differ on source and the replica."
            }
            Unsafe::ReplaceSelect => {
                "REPLACE... SELECT is unsafe because the order in which rows are retrieved by the SELECT determines which (if any) rows \
                 are replaced. This order cannot be predicted and may differ on source and the replica."
            }
            Unsafe::UpdateIgnore => {
                "UPDATE IGNORE is unsafe because the order in which rows are updated determines which (if any) rows are ignored. This \
                 order cannot be predicted and may differ on source and the replica."
            }
            Unsafe::InsertTwoKeys => {
                "INSERT... ON DUPLICATE KEY UPDATE  on a table with more than one UNIQUE KEY is unsafe"
            }
        }
    }
}

/// The functions whose values depend on the server that runs them.
const UNSAFE_FUNCTIONS: &[&str] = &[
    "aes_decrypt",
    "aes_encrypt",
    "binlog_gtid_pos",
    "current_role",
    "roles_graphml",
    "current_user",
    "found_rows",
    "get_lock",
    "icu_version",
    "is_free_lock",
    "is_used_lock",
    "load_file",
    "rand",
    "random_bytes",
    "release_all_locks",
    "release_lock",
    "row_count",
    "session_user",
    "sleep",
    "source_pos_wait",
    "sysdate",
    "system_user",
    "user",
    "uuid",
    "uuid_short",
    "version",
    "wait_for_executed_gtid_set",
];

/// The session variables whose values are logged with a statement.
const LOGGED_VARIABLES: &[&str] = &[
    "auto_increment_increment",
    "auto_increment_offset",
    "character_set_client",
    "character_set_connection",
    "character_set_database",
    "character_set_server",
    "collation_connection",
    "collation_database",
    "collation_server",
    "foreign_key_checks",
    "identity",
    "last_insert_id",
    "lc_time_names",
    "pseudo_thread_id",
    "sql_auto_is_null",
    "sql_mode",
    "time_zone",
    "timestamp",
    "unique_checks",
];

/// What binding a statement has found out about logging its text.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoggingNeeds {
    pub reasons: BTreeSet<Unsafe>,
    /// The user variables that the statement reads, in the order of their first use.
    pub user_variables: Vec<String>,
    /// The statement calls `RAND()` without a seed.
    pub rand: bool,
    pub last_insert_id: bool,
    /// The statement calls stored functions.
    pub runs_functions: bool,
}

impl LoggingNeeds {
    /// Notes that the statement calls a stored function, which a replica would have to run with the
    /// same effect.
    pub fn stored_function(&mut self) {
        self.runs_functions = true;
    }

    pub fn function(&mut self, call: &ast::FunctionCall) {
        match call.name.as_str() {
            "rand" if call.args.is_empty() => self.rand = true,
            "last_insert_id" if call.args.is_empty() => self.last_insert_id = true,
            _ => {}
        }
        if UNSAFE_FUNCTIONS.contains(&call.name.as_str()) {
            self.reasons.insert(Unsafe::SystemFunction);
        }
    }

    pub fn user_variable(&mut self, name: &str) {
        if !self.user_variables.iter().any(|known| known == name) {
            self.user_variables.push(name.to_owned());
        }
    }

    pub fn system_variable(&mut self, scope: ast::Scope, name: &str) {
        self.last_insert_id |= matches!(name, "last_insert_id" | "identity");
        if scope == ast::Scope::Global || !LOGGED_VARIABLES.contains(&name) {
            self.reasons.insert(Unsafe::SystemVariable);
        }
    }

    /// Notes that the statement writes to this table. It is called when the whole statement is
    /// bound, so that `reads_others` can say whether the statement reads other stored tables.
    fn note_write(&mut self, table: &Table, reads_others: bool) {
        let reads_others = reads_others || self.reasons.contains(&Unsafe::SystemTable);
        if reads_others && table.def.auto_increment_column().is_some() {
            self.reasons.insert(Unsafe::WriteAutoIncrementSelect);
        }
    }

    /// Notes what makes an INSERT unsafe.
    pub fn note_insert(&mut self, table: &Table, insert: &ast::Insert, reads_others: bool) {
        let updates = !insert.on_duplicate.is_empty();
        let from_query = matches!(insert.source, ast::InsertSource::Query(_));
        let unique = table.def.indexes.iter().filter(|index| index.unique).count();
        for (applies, reason) in [
            (from_query && insert.ignore, Unsafe::InsertIgnoreSelect),
            (from_query && updates, Unsafe::InsertSelectUpdate),
            (from_query && insert.replace, Unsafe::ReplaceSelect),
            (
                updates && !from_query && usize::from(table.has_primary_key()) + unique > 1,
                Unsafe::InsertTwoKeys,
            ),
        ] {
            if applies {
                self.reasons.insert(reason);
            }
        }
        self.note_write(table, reads_others);
    }

    /// Notes what makes an UPDATE or DELETE unsafe.
    pub fn note_change(&mut self, table: &Table, reads_others: bool, update_ignore: bool) {
        if update_ignore {
            self.reasons.insert(Unsafe::UpdateIgnore);
        }
        self.note_write(table, reads_others);
    }
}
