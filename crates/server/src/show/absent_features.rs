//! The status variables about what this server does not have, for those who ask for them by name:
//! monitoring takes a variable that is missing for an error.

/// Counts of features that are not there: caches of tables, of grants and of changes without a
/// transaction, locks of tables beside those of definitions, MyISAM's keys, DELAYED inserts, TCP
/// wrappers, NDB, undo tablespaces, secondary engines, TempTable, sampling, multi-range reads, a
/// pool whose size changes, renegotiation of TLS, the log of a transaction coordinator, and a
/// number of the redo log. Nothing that performance_schema measures is lost, because its memory
/// grows with what it measures. The rows of the server's own schemas are counted with all others
/// (`Innodb_rows_read` and the like).
const ZEROS: &str = "Acl_cache_items_count Binlog_stmt_cache_disk_use Binlog_stmt_cache_use \
     Connection_errors_peer_address Connection_errors_select Connection_errors_tcpwrap \
     Delayed_errors Delayed_insert_threads Delayed_writes Handler_discover Handler_mrr_init \
     Innodb_buffer_pool_resize_status_code Innodb_buffer_pool_resize_status_progress \
     Innodb_redo_log_uuid Innodb_sampled_pages_read Innodb_sampled_pages_skipped \
     Innodb_system_rows_deleted Innodb_system_rows_inserted Innodb_system_rows_read \
     Innodb_system_rows_updated Innodb_truncated_status_writes \
     Innodb_undo_tablespaces_active Innodb_undo_tablespaces_explicit \
     Innodb_undo_tablespaces_implicit Innodb_undo_tablespaces_total Key_blocks_not_flushed \
     Key_blocks_unused Key_blocks_used Key_read_requests Key_reads Key_write_requests \
     Key_writes Not_flushed_delayed_rows Open_streams Performance_schema_accounts_lost \
     Performance_schema_cond_classes_lost Performance_schema_cond_instances_lost \
     Performance_schema_file_classes_lost Performance_schema_file_handles_lost \
     Performance_schema_file_instances_lost Performance_schema_hosts_lost \
     Performance_schema_index_stat_lost Performance_schema_locker_lost \
     Performance_schema_logger_lost Performance_schema_memory_classes_lost \
     Performance_schema_metadata_lock_lost Performance_schema_meter_lost \
     Performance_schema_metric_lost Performance_schema_mutex_classes_lost \
     Performance_schema_mutex_instances_lost Performance_schema_nested_statement_lost \
     Performance_schema_prepared_statements_lost Performance_schema_program_lost \
     Performance_schema_rwlock_classes_lost Performance_schema_rwlock_instances_lost \
     Performance_schema_socket_classes_lost Performance_schema_socket_instances_lost \
     Performance_schema_stage_classes_lost Performance_schema_statement_classes_lost \
     Performance_schema_table_handles_lost Performance_schema_table_instances_lost \
     Performance_schema_table_lock_stat_lost Performance_schema_thread_classes_lost \
     Performance_schema_thread_instances_lost Performance_schema_users_lost \
     Secondary_engine_execution_count Ssl_accept_renegotiates Ssl_callback_cache_hits \
     Ssl_client_connects Ssl_connect_renegotiates Ssl_finished_connects Table_locks_immediate \
     Table_locks_waited Table_open_cache_hits Table_open_cache_misses \
     Table_open_cache_overflows Table_open_cache_triggers_hits \
     Table_open_cache_triggers_misses Table_open_cache_triggers_overflows \
     Tc_log_max_pages_used Tc_log_page_size Tc_log_page_waits TempTable_count_hit_max_ram";

/// What is not supported.
const OFF: &str = "Resource_group_supported Telemetry_logs_supported Telemetry_metrics_supported \
     Telemetry_traces_supported";

/// What has no text to show: files that cannot be named, and a size that never changes.
const EMPTY: &str = "Current_tls_capath Current_tls_crl Current_tls_crlpath Innodb_buffer_pool_resize_status";

/// Returns name and value of all of these variables.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    let of = |names: &'static str, value: &'static str| {
        names.split_ascii_whitespace().map(move |name| (name.to_owned(), value.to_owned()))
    };
    of(ZEROS, "0").chain(of(OFF, "OFF")).chain(of(EMPTY, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_is_there_once_and_in_order() {
        for names in [ZEROS, OFF, EMPTY] {
            let names: Vec<&str> = names.split_ascii_whitespace().collect();
            assert!(names.is_sorted_by(|one, other| one < other));
        }
        assert_eq!(variables().count(), 91);
    }
}
