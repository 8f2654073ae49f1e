//! The kinds of statements and commands, by the names that MySQL gives them.

use crate::counters::STATEMENT_KINDS;
use std::sync::LazyLock;

/// The name of a kind of statement: its place in [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventName(pub u16);

impl EventName {
    /// Finds a kind by its name behind `statement/`. A name that MySQL does not have is that of an
    /// error.
    pub fn of(name: &str) -> EventName {
        let found = SORTED.binary_search_by_key(&name, |(known, _)| known);
        debug_assert!(found.is_ok(), "{name} is no kind of statement");
        found.map_or_else(|_| EventName::of("sql/error"), |at| SORTED[at].1)
    }

    /// Returns the name of the status variable that counts this kind. `None` means that there is
    /// none: errors and commands have no such variable.
    pub fn status_variable(self) -> Option<String> {
        let name = NAMES[usize::from(self.0)];
        if usize::from(self.0) >= STATEMENT_KINDS || name == "sql/error" {
            return None;
        }
        name.split_once('/').map(|(_, of)| format!("Com_{of}"))
    }

    /// The name with `statement/`, as the tables show it.
    pub fn shown(self) -> String {
        format!("statement/{}", NAMES[usize::from(self.0)])
    }
}

/// The kinds, sorted by name, because the kind of every parsed statement is looked up.
static SORTED: LazyLock<Vec<(&'static str, EventName)>> = LazyLock::new(|| {
    let kinds = NAMES.iter().enumerate();
    let mut all: Vec<_> = kinds.map(|(at, name)| (*name, EventName(at as u16))).collect();
    all.sort_unstable();
    all
});

/// The names behind `statement/` in MySQL's order.
pub const NAMES: &[&str] = &[
    "sql/select",
    "sql/create_table",
    "sql/create_index",
    "sql/alter_table",
    "sql/update",
    "sql/insert",
    "sql/insert_select",
    "sql/delete",
    "sql/truncate",
    "sql/drop_table",
    "sql/drop_index",
    "sql/show_databases",
    "sql/show_tables",
    "sql/show_fields",
    "sql/show_keys",
    "sql/show_variables",
    "sql/show_status",
    "sql/show_engine_logs",
    "sql/show_engine_status",
    "sql/show_engine_mutex",
    "sql/show_processlist",
    "sql/show_binary_log_status",
    "sql/show_replica_status",
    "sql/show_grants",
    "sql/show_create_table",
    "sql/show_charsets",
    "sql/show_collations",
    "sql/show_create_db",
    "sql/show_table_status",
    "sql/show_triggers",
    "sql/load",
    "sql/set_option",
    "sql/lock_tables",
    "sql/unlock_tables",
    "sql/grant",
    "sql/change_db",
    "sql/create_db",
    "sql/drop_db",
    "sql/alter_db",
    "sql/repair",
    "sql/replace",
    "sql/replace_select",
    "sql/create_udf",
    "sql/drop_function",
    "sql/revoke",
    "sql/optimize",
    "sql/check",
    "sql/assign_to_keycache",
    "sql/preload_keys",
    "sql/flush",
    "sql/kill",
    "sql/analyze",
    "sql/rollback",
    "sql/rollback_to_savepoint",
    "sql/commit",
    "sql/savepoint",
    "sql/release_savepoint",
    "sql/replica_start",
    "sql/replica_stop",
    "sql/group_replication_start",
    "sql/group_replication_stop",
    "sql/begin",
    "sql/change_replication_source",
    "sql/change_repl_filter",
    "sql/rename_table",
    "sql/reset",
    "sql/purge",
    "sql/purge_before_date",
    "sql/show_binlogs",
    "sql/show_open_tables",
    "sql/ha_open",
    "sql/ha_close",
    "sql/ha_read",
    "sql/show_replicas",
    "sql/delete_multi",
    "sql/update_multi",
    "sql/show_binlog_events",
    "sql/do",
    "sql/show_warnings",
    "sql/empty_query",
    "sql/show_errors",
    "sql/show_storage_engines",
    "sql/show_privileges",
    "sql/help",
    "sql/create_user",
    "sql/drop_user",
    "sql/rename_user",
    "sql/revoke_all",
    "sql/checksum",
    "sql/create_procedure",
    "sql/create_function",
    "sql/call_procedure",
    "sql/drop_procedure",
    "sql/alter_procedure",
    "sql/alter_function",
    "sql/show_create_proc",
    "sql/show_create_func",
    "sql/show_procedure_status",
    "sql/show_function_status",
    "sql/prepare_sql",
    "sql/execute_sql",
    "sql/dealloc_sql",
    "sql/create_view",
    "sql/drop_view",
    "sql/create_trigger",
    "sql/drop_trigger",
    "sql/xa_start",
    "sql/xa_end",
    "sql/xa_prepare",
    "sql/xa_commit",
    "sql/xa_rollback",
    "sql/xa_recover",
    "sql/show_procedure_code",
    "sql/show_function_code",
    "sql/alter_tablespace",
    "sql/install_plugin",
    "sql/uninstall_plugin",
    "sql/binlog",
    "sql/show_plugins",
    "sql/create_server",
    "sql/drop_server",
    "sql/alter_server",
    "sql/create_event",
    "sql/alter_event",
    "sql/drop_event",
    "sql/show_create_event",
    "sql/show_events",
    "sql/show_create_trigger",
    "sql/show_profile",
    "sql/show_profiles",
    "sql/signal",
    "sql/resignal",
    "sql/show_relaylog_events",
    "sql/get_diagnostics",
    "sql/alter_user",
    "sql/explain_other",
    "sql/show_create_user",
    "sql/shutdown",
    "sql/set_password",
    "sql/alter_instance",
    "sql/install_component",
    "sql/uninstall_component",
    "sql/create_role",
    "sql/drop_role",
    "sql/set_role",
    "sql/grant_roles",
    "sql/revoke_roles",
    "sql/alter_user_default_role",
    "sql/import",
    "sql/create_resource_group",
    "sql/alter_resource_group",
    "sql/drop_resource_group",
    "sql/set_resource_group",
    "sql/lock_instance",
    "sql/unlock_instance",
    "sql/restart",
    "sql/create_spatial_reference_system",
    "sql/drop_spatial_reference_system",
    "sql/show_parse_tree",
    "sql/create_library",
    "sql/drop_library",
    "sql/show_create_library",
    "sql/alter_library",
    "sql/show_library_status",
    "sql/create_masking_policy",
    "sql/drop_masking_policy",
    "sql/show_create_masking_policy",
    "sql/error",
    "abstract/clone",
    "sp/stmt",
    "sp/set",
    "sp/set_trigger_field",
    "sp/jump",
    "sp/jump_if_not",
    "sp/freturn",
    "sp/hpush_jump",
    "sp/hpop",
    "sp/hreturn",
    "sp/cpush",
    "sp/cpop",
    "sp/copen",
    "sp/cclose",
    "sp/cfetch",
    "sp/error",
    "sp/set_case_expr",
    "scheduler/event",
    "com/Sleep",
    "com/Quit",
    "com/Init DB",
    "com/Field List",
    "com/Create DB",
    "com/Drop DB",
    "com/Refresh",
    "com/Shutdown",
    "com/Statistics",
    "com/Processlist",
    "com/Connect",
    "com/Kill",
    "com/Debug",
    "com/Ping",
    "com/Time",
    "com/Delayed insert",
    "com/Change user",
    "com/Binlog Dump",
    "com/Table Dump",
    "com/Connect Out",
    "com/Register Replica",
    "com/Prepare",
    "com/Execute",
    "com/Long Data",
    "com/Close stmt",
    "com/Reset stmt",
    "com/Set option",
    "com/Fetch",
    "com/Daemon",
    "com/Binlog Dump GTID",
    "com/Reset Connection",
    "com/Group Replication Data Stream subscription",
    "com/Error",
    "abstract/Query",
    "abstract/new_packet",
    "abstract/relay_log",
    "stmt_handle/regular",
    "stmt_handle/prepare",
    "stmt_handle/execute",
    "stmt_handle/fetch",
    "stmt_handle/reset",
    "stmt_handle/close",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        assert_eq!(EventName::of("com/Ping").shown(), "statement/com/Ping");
        let mut sorted = NAMES.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), NAMES.len(), "no name is there twice");
    }

    #[test]
    fn statements_are_counted_and_commands_are_not() {
        let of = |name: &str| EventName::of(name).status_variable();
        assert_eq!(of("sql/insert_select").as_deref(), Some("Com_insert_select"));
        assert_eq!(of("abstract/clone").as_deref(), Some("Com_clone"));
        assert_eq!(of("sql/error"), None);
        assert_eq!(of("sp/stmt"), None);
        let last = STATEMENT_KINDS - 1;
        assert_eq!(NAMES[last], "abstract/clone", "the counted kinds end here");
        assert!(NAMES[..last].iter().all(|name| name.starts_with("sql/")));
    }
}
