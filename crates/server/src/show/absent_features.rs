//! The status variables about what this server does not have, for those who ask for them by name:
//! monitoring takes a variable that is missing for an error.

/// Counts of features that are not there: MyISAM's keys, DELAYED inserts, TCP wrappers, NDB, undo
/// tablespaces, secondary engines, and the log of a transaction coordinator. Nothing that
/// performance_schema measures is lost, because its memory grows with what it measures.
const ZEROS: &str = "Connection_errors_tcpwrap Delayed_errors Delayed_insert_threads Delayed_writes \
     Handler_discover Innodb_truncated_status_writes Innodb_undo_tablespaces_active \
     Innodb_undo_tablespaces_explicit Innodb_undo_tablespaces_implicit Innodb_undo_tablespaces_total \
     Key_blocks_not_flushed Key_blocks_unused Key_blocks_used Key_read_requests Key_reads \
     Key_write_requests Key_writes Not_flushed_delayed_rows Open_streams \
     Performance_schema_accounts_lost Performance_schema_cond_classes_lost \
     Performance_schema_cond_instances_lost Performance_schema_file_classes_lost \
     Performance_schema_file_handles_lost Performance_schema_file_instances_lost \
     Performance_schema_hosts_lost Performance_schema_index_stat_lost Performance_schema_locker_lost \
     Performance_schema_logger_lost Performance_schema_memory_classes_lost \
     Performance_schema_metadata_lock_lost Performance_schema_meter_lost \
     Performance_schema_metric_lost Performance_schema_mutex_classes_lost \
     Performance_schema_mutex_instances_lost Performance_schema_prepared_statements_lost \
     Performance_schema_program_lost Performance_schema_rwlock_classes_lost \
     Performance_schema_rwlock_instances_lost Performance_schema_socket_classes_lost \
     Performance_schema_socket_instances_lost Performance_schema_stage_classes_lost \
     Performance_schema_statement_classes_lost Performance_schema_table_handles_lost \
     Performance_schema_table_instances_lost Performance_schema_table_lock_stat_lost \
     Performance_schema_thread_classes_lost Performance_schema_thread_instances_lost \
     Performance_schema_users_lost Secondary_engine_execution_count Tc_log_max_pages_used \
     Tc_log_page_size Tc_log_page_waits";

/// What is not supported.
const OFF: &str = "Resource_group_supported Telemetry_logs_supported Telemetry_metrics_supported \
     Telemetry_traces_supported";

/// Returns name and value of all of these variables.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    let of = |names: &'static str, value: &'static str| {
        names.split_ascii_whitespace().map(move |name| (name.to_owned(), value.to_owned()))
    };
    of(ZEROS, "0").chain(of(OFF, "OFF"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_is_there_once_and_in_order() {
        for names in [ZEROS, OFF] {
            let names: Vec<&str> = names.split_ascii_whitespace().collect();
            assert!(names.is_sorted_by(|one, other| one < other));
        }
        assert_eq!(variables().count(), 57);
    }
}
