//! The tables of information_schema and performance_schema that the server computes when they are
//! read.

mod binary_log;
mod cells;
mod clones;
mod columns;
mod data_locks;
mod errors;
mod files;
mod host_cache;
mod information;
mod innodb_metrics;
mod metadata_locks;
mod performance;
mod replication;
mod replication_filters;
mod replication_info;
mod role_grants;
mod roles;
mod server_state;
mod setup;
mod statements;
mod surroundings;
mod table_io;
mod table_statistics;
mod transaction_events;
mod transactions;
mod user_attributes;
mod variables_info;

use crate::accounts::Privileges;
use crate::client::checks::Holder;
use crate::client::connection_host::ConnectionHost;
use sql::{ComputedTable, SetupAction, SetupChange};

/// A function that returns a table as a session sees it: its columns at once, its rows when they
/// are read.
type Compute = fn(&ConnectionHost) -> ComputedTable<'_>;

/// Schema and name of each table, in lower case, and the function that computes it.
const TABLES: &[(&str, &str, Compute)] = &[
    ("mysql", "gtid_executed", replication_info::gtid_executed),
    ("mysql", "innodb_index_stats", table_statistics::indexes),
    ("mysql", "innodb_table_stats", table_statistics::tables),
    ("mysql", "slave_master_info", replication_info::source),
    ("mysql", "slave_relay_log_info", replication_info::relay_log),
    ("mysql", "slave_worker_info", replication_info::workers),
    ("information_schema", "administrable_role_authorizations", roles::administrable),
    ("information_schema", "applicable_roles", roles::applicable_roles),
    ("information_schema", "column_privileges", information::column_privileges),
    ("information_schema", "enabled_roles", roles::enabled_roles),
    ("information_schema", "innodb_metrics", innodb_metrics::table),
    ("information_schema", "innodb_trx", transactions::table),
    ("information_schema", "plugins", information::plugins),
    ("information_schema", "processlist", information::old_processlist),
    ("information_schema", "role_column_grants", role_grants::columns),
    ("information_schema", "role_routine_grants", role_grants::routines),
    ("information_schema", "role_table_grants", role_grants::tables),
    ("information_schema", "schema_privileges", information::schema_privileges),
    ("information_schema", "table_privileges", information::table_privileges),
    ("information_schema", "user_attributes", user_attributes::table),
    ("information_schema", "user_privileges", information::user_privileges),
    ("performance_schema", "binary_log_transaction_compression_stats", binary_log::compression_stats),
    ("performance_schema", "clone_progress", clones::progress),
    ("performance_schema", "clone_status", clones::status),
    ("performance_schema", "data_lock_waits", data_locks::waits),
    ("performance_schema", "data_locks", data_locks::locks),
    ("performance_schema", "global_status", performance::global_status),
    ("performance_schema", "global_variables", performance::global_variables),
    ("performance_schema", "host_cache", |host| host_cache::table(&host.server().hosts)),
    ("performance_schema", "metadata_locks", metadata_locks::table),
    ("performance_schema", "persisted_variables", performance::persisted_variables),
    ("performance_schema", "processlist", information::processlist),
    ("performance_schema", "session_status", performance::session_status),
    ("performance_schema", "session_variables", performance::session_variables),
    ("performance_schema", "thread_times", performance::thread_times),
    ("performance_schema", "threads", performance::threads),
    ("performance_schema", "error_log", surroundings::error_log),
    ("performance_schema", "log_status", server_state::log_status),
    ("performance_schema", "memory_summary_global_by_event_name", server_state::memory),
    ("performance_schema", "tls_channel_status", server_state::tls_channel_status),
    ("performance_schema", "variables_info", variables_info::variables_info),
    ("performance_schema", "variables_metadata", server_state::variables_metadata),
    ("performance_schema", "performance_timers", surroundings::performance_timers),
    ("performance_schema", "session_account_connect_attrs", surroundings::session_account_connect_attrs),
    ("performance_schema", "session_connect_attrs", surroundings::session_connect_attrs),
    ("performance_schema", "setup_actors", setup::actors),
    ("performance_schema", "setup_consumers", setup::consumers),
    ("performance_schema", "setup_instruments", setup::instruments),
    ("performance_schema", "setup_objects", setup::objects),
    ("performance_schema", "setup_threads", setup::threads),
    ("performance_schema", "status_by_account", surroundings::status_by_account),
    ("performance_schema", "status_by_host", surroundings::status_by_host),
    ("performance_schema", "status_by_thread", surroundings::status_by_thread),
    ("performance_schema", "status_by_user", surroundings::status_by_user),
    ("performance_schema", "accounts", statements::accounts),
    ("performance_schema", "events_statements_current", statements::current),
    ("performance_schema", "events_statements_histogram_by_digest", statements::histogram_by_digest),
    ("performance_schema", "events_statements_histogram_global", statements::histogram_global),
    ("performance_schema", "events_statements_history", statements::history),
    ("performance_schema", "events_statements_history_long", statements::history_long),
    ("performance_schema", "events_statements_summary_by_account_by_event_name", statements::by_account),
    ("performance_schema", "events_statements_summary_by_digest", statements::by_digest),
    ("performance_schema", "events_statements_summary_by_host_by_event_name", statements::by_host),
    ("performance_schema", "events_statements_summary_by_thread_by_event_name", statements::by_thread),
    ("performance_schema", "events_statements_summary_by_user_by_event_name", statements::by_user),
    ("performance_schema", "events_statements_summary_global_by_event_name", statements::global),
    ("performance_schema", "events_errors_summary_by_account_by_error", errors::by_account),
    ("performance_schema", "events_errors_summary_by_host_by_error", errors::by_host),
    ("performance_schema", "events_errors_summary_by_thread_by_error", errors::by_thread),
    ("performance_schema", "events_errors_summary_by_user_by_error", errors::by_user),
    ("performance_schema", "events_errors_summary_global_by_error", errors::global),
    ("performance_schema", "events_transactions_current", transaction_events::current),
    ("performance_schema", "events_transactions_history", transaction_events::history),
    ("performance_schema", "events_transactions_history_long", transaction_events::history_long),
    (
        "performance_schema",
        "events_transactions_summary_by_account_by_event_name",
        transaction_events::by_account,
    ),
    ("performance_schema", "events_transactions_summary_by_host_by_event_name", transaction_events::by_host),
    (
        "performance_schema",
        "events_transactions_summary_by_thread_by_event_name",
        transaction_events::by_thread,
    ),
    ("performance_schema", "events_transactions_summary_by_user_by_event_name", transaction_events::by_user),
    ("performance_schema", "events_transactions_summary_global_by_event_name", transaction_events::global),
    ("performance_schema", "events_waits_summary_by_account_by_event_name", files::waits_by_account),
    ("performance_schema", "events_waits_summary_by_host_by_event_name", files::waits_by_host),
    ("performance_schema", "events_waits_summary_by_instance", files::waits_by_instance),
    ("performance_schema", "events_waits_summary_by_thread_by_event_name", files::waits_by_thread),
    ("performance_schema", "events_waits_summary_by_user_by_event_name", files::waits_by_user),
    ("performance_schema", "events_waits_summary_global_by_event_name", files::waits_by_kind),
    ("performance_schema", "file_instances", files::instances),
    ("performance_schema", "file_summary_by_event_name", files::by_kind),
    ("performance_schema", "file_summary_by_instance", files::by_file),
    ("performance_schema", "hosts", statements::hosts),
    ("performance_schema", "objects_summary_global_by_type", table_io::objects),
    ("performance_schema", "prepared_statements_instances", statements::instances),
    ("performance_schema", "table_io_waits_summary_by_index_usage", table_io::by_index),
    ("performance_schema", "table_io_waits_summary_by_table", table_io::by_table),
    ("performance_schema", "table_lock_waits_summary_by_table", table_io::locks),
    ("performance_schema", "users", statements::users),
    ("performance_schema", "replication_applier_configuration", replication::applier_configuration),
    ("performance_schema", "replication_applier_filters", replication_filters::of_channels),
    ("performance_schema", "replication_applier_global_filters", replication_filters::global),
    ("performance_schema", "replication_applier_status", replication::applier_status),
    (
        "performance_schema",
        "replication_applier_status_by_coordinator",
        replication::applier_status_by_coordinator,
    ),
    ("performance_schema", "replication_applier_status_by_worker", replication::applier_status_by_worker),
    ("performance_schema", "replication_connection_configuration", replication::connection_configuration),
    ("performance_schema", "replication_connection_status", replication::connection_status),
    ("performance_schema", "replication_lag", replication::lag),
];

/// Returns a table as a session sees it. `None` means that there is no such table.
pub fn table<'h>(host: &'h ConnectionHost, schema: &str, table: &str) -> Option<ComputedTable<'h>> {
    let (_, _, compute) = TABLES.iter().find(|(s, t, _)| *s == schema && *t == table)?;
    Some(compute(host))
}

/// Reports whether there is such a table. Case does not count.
pub fn is_one(schema: &str, table: &str) -> bool {
    sql::can_be_truncated(schema, table).is_some()
        || TABLES.iter().any(|(s, t, _)| schema.eq_ignore_ascii_case(s) && table.eq_ignore_ascii_case(t))
}

/// Empties a table of counters.
///
/// # Errors
/// Returns 1142 (`ER_TABLEACCESS_DENIED_ERROR`) when the table cannot be emptied, and 1146
/// (`ER_NO_SUCH_TABLE`) when no table has this name.
pub fn truncate(host: &ConnectionHost, schema: &str, table: &str) -> sql::Result<()> {
    if (schema, table) == ("performance_schema", "host_cache") {
        host.server().hosts.clear();
        return Ok(());
    }
    if schema == "performance_schema" {
        let table = table.to_lowercase();
        let all = [
            statements::truncate,
            setup::truncate,
            errors::truncate,
            table_io::truncate,
            files::truncate,
            transaction_events::truncate,
        ];
        if all.iter().any(|empty| empty(host, &table)) {
            return Ok(());
        }
    }
    if sql::can_be_truncated(schema, table) == Some(true) {
        // Nothing in it is counted, or what it shows is not counted since a moment.
        return Ok(());
    }
    match is_one(schema, table) {
        true => Err(Holder::of_session(host).table_denied("DROP", table)),
        false => Err(sql::SqlError::no_such_table(schema, table)),
    }
}

/// Checks that the session may change a table of settings in performance_schema in this way.
///
/// # Errors
/// Returns 1142 (`ER_TABLEACCESS_DENIED_ERROR`) when the account may not, or when nobody may.
pub fn check_setup(host: &ConnectionHost, action: SetupAction, table: &str) -> sql::Result<()> {
    let wanted: &[&str] = match action {
        SetupAction::Insert => &["INSERT"],
        SetupAction::Replace => &["INSERT", "DELETE"],
        SetupAction::Update => &["UPDATE"],
        SetupAction::Delete => &["DELETE"],
    };
    // Rows come and go where they may all be removed at once.
    let has_own_rows = sql::can_be_truncated("performance_schema", table) == Some(true);
    let is_possible = has_own_rows || action == SetupAction::Update;
    let has = |privilege: &str| {
        let privilege = Privileges::of_names(&[privilege]);
        host.may_do_everything() || host.account().allows_table(privilege, "performance_schema", table)
    };
    let lacks = |privilege: &&str| !is_possible || !has(privilege);
    let lacking: Vec<&str> = wanted.iter().copied().filter(lacks).collect();
    match lacking.is_empty() {
        true => Ok(()),
        false => Err(Holder::of_session(host).table_denied(&lacking.join(", "), table)),
    }
}

/// Changes a row of a table of settings in performance_schema.
///
/// # Errors
/// Returns what [`setup::change`] does.
pub fn change_setup(host: &ConnectionHost, table: &str, change: SetupChange<'_>) -> sql::Result<()> {
    setup::change(host, table, change)
}

/// Returns the number that `performance_schema.threads` gives to the thread of a connection.
pub fn thread_of_connection(host: &ConnectionHost, connection_id: u32) -> Option<u64> {
    performance::thread_ids(host).get(&connection_id).copied()
}

/// Returns the names of a schema's tables.
pub fn names(schema: &str) -> Vec<String> {
    TABLES.iter().filter(|(s, ..)| *s == schema).map(|(_, t, _)| (*t).to_owned()).collect()
}
