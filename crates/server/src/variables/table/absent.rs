//! The variables of parts of MySQL that this server does not have. Clients and scripts can read and
//! set them as in MySQL, and nothing follows from their values.
//!
//! Names, scopes, ranges and defaults are what a MySQL 9.7 shows of its own. A variable that MySQL
//! takes only at its start is refused as an option here, so that nobody believes that it has an
//! effect.

use crate::variables::definition::Definition;
use crate::variables::definition::Kind::{Bool, Enum, Int, Text, UInt};
use crate::variables::definition::{global, own, session};

/// The definitions, sorted by name.
pub const DEFINITIONS: &[Definition] = &[
    global("admin_address", Text, "")
        .read_only()
        .not_an_option()
        .kept("There is no network interface for administration alone."),
    global("admin_port", UInt(0, 65_535), "33062")
        .read_only()
        .not_an_option()
        .kept("There is no network interface for administration alone."),
    global("admin_ssl_ca", Text, "").kept("There is no network interface for administration alone."),
    global("admin_ssl_capath", Text, "").kept("There is no network interface for administration alone."),
    global("admin_ssl_cert", Text, "").kept("There is no network interface for administration alone."),
    global("admin_ssl_cipher", Text, "").kept("There is no network interface for administration alone."),
    global("admin_ssl_crl", Text, "").kept("There is no network interface for administration alone."),
    global("admin_ssl_crlpath", Text, "").kept("There is no network interface for administration alone."),
    global("admin_ssl_key", Text, "").kept("There is no network interface for administration alone."),
    global("admin_tls_ciphersuites", Text, "")
        .kept("There is no network interface for administration alone."),
    global("admin_tls_version", Text, "TLSv1.2,TLSv1.3")
        .kept("There is no network interface for administration alone."),
    session("big_tables", Bool, "OFF")
        .kept("Temporary results are in memory up to tmp_table_size, then in files."),
    session("binlog_direct_non_transactional_updates", Bool, "OFF").kept("All tables are transactional."),
    global("binlog_encryption", Enum(&["OFF"]), "OFF").kept("Nothing is encrypted on disk."),
    global("binlog_max_flush_queue_time", UInt(0, 100_000), "0").kept("Commits are not held in a queue."),
    global("caching_sha2_password_auto_generate_rsa_keys", Bool, "ON")
        .read_only()
        .not_an_option()
        .kept("Keys are made in the data directory."),
    global("caching_sha2_password_private_key_path", Text, "private_key.pem")
        .read_only()
        .not_an_option()
        .kept("Keys are made in the data directory."),
    global("caching_sha2_password_public_key_path", Text, "public_key.pem")
        .read_only()
        .not_an_option()
        .kept("Keys are made in the data directory."),
    global("concurrent_insert", Enum(&["NEVER", "AUTO", "ALWAYS"]), "AUTO").kept("There is no MyISAM."),
    global("connection_memory_status_limit", UInt(2_097_152, u64::MAX), "18446744073709551615")
        .kept("There is no warning before the limit."),
    session("default_table_encryption", Enum(&["OFF"]), "OFF").kept("Nothing is encrypted on disk."),
    global("delay_key_write", Enum(&["OFF", "ON", "ALL"]), "ON").kept("There is no MyISAM."),
    global("delayed_insert_limit", UInt(1, u64::MAX), "100").kept("INSERT DELAYED is an INSERT."),
    global("delayed_insert_timeout", UInt(1, 31_536_000), "300").kept("INSERT DELAYED is an INSERT."),
    global("delayed_queue_size", UInt(1, u64::MAX), "1000").kept("INSERT DELAYED is an INSERT."),
    global("disabled_storage_engines", Text, "")
        .read_only()
        .not_an_option()
        .kept("There is one storage engine."),
    session("enable_secondary_engine_statistics", Bool, "ON").kept("There is no secondary engine."),
    global("flush", Bool, "OFF").kept("Commits are as durable as innodb_flush_log_at_trx_commit says."),
    global("flush_time", UInt(0, 31_536_000), "0")
        .kept("Commits are as durable as innodb_flush_log_at_trx_commit says."),
    global("global_connection_memory_status_limit", UInt(16_777_216, u64::MAX), "18446744073709551615")
        .kept("There is no warning before the limit."),
    session("histogram_generation_max_mem_size", UInt(1_000_000, u64::MAX), "20000000")
        .kept("There are no histograms."),
    global("innodb_adaptive_max_sleep_delay", UInt(0, 1_000_000), "150000")
        .kept("Threads do not queue before the engine."),
    global("innodb_api_bk_commit_interval", UInt(1, 1_073_741_824), "5")
        .kept("There is no memcached interface."),
    global("innodb_api_disable_rowlock", Bool, "OFF")
        .read_only()
        .not_an_option()
        .kept("There is no memcached interface."),
    global("innodb_api_enable_binlog", Bool, "OFF")
        .read_only()
        .not_an_option()
        .kept("There is no memcached interface."),
    global("innodb_api_enable_mdl", Bool, "OFF")
        .read_only()
        .not_an_option()
        .kept("There is no memcached interface."),
    global("innodb_api_trx_level", UInt(0, 3), "0").kept("There is no memcached interface."),
    global("innodb_cmp_per_index_enabled", Bool, "OFF").kept("Pages are not compressed."),
    global("innodb_commit_concurrency", UInt(0, 1_000), "0").kept("Threads do not queue before the engine."),
    global("innodb_compression_failure_threshold_pct", UInt(0, 100), "5").kept("Pages are not compressed."),
    global("innodb_compression_level", UInt(0, 9), "6").kept("Pages are not compressed."),
    global("innodb_compression_pad_pct_max", UInt(0, 75), "50").kept("Pages are not compressed."),
    global("innodb_data_home_dir", Text, "").read_only().kept("Tables are in the data directory."),
    session("innodb_ddl_buffer_size", UInt(65_536, 4_294_967_295), "1048576")
        .kept("An index build has sorts and threads of its own sizes."),
    session("innodb_ddl_threads", UInt(1, 64), "4")
        .kept("An index build has sorts and threads of its own sizes."),
    global("innodb_dedicated_server", Enum(&["OFF"]), "OFF")
        .read_only()
        .not_an_option()
        .kept("The engine has no such part."),
    global("innodb_directories", Text, "").read_only().not_an_option().kept("The engine has no such part."),
    global("innodb_disable_sort_file_cache", Bool, "OFF").kept("The engine has no such part."),
    global("innodb_extend_and_initialize", Bool, "ON").kept("The engine has no such part."),
    global("innodb_force_load_corrupted", Bool, "OFF")
        .read_only()
        .not_an_option()
        .kept("The engine has no such part."),
    global("innodb_fsync_threshold", UInt(0, u64::MAX), "0").kept("The engine has no such part."),
    global("innodb_idle_flush_pct", UInt(0, 100), "100").kept("The engine has no such part."),
    global("innodb_log_spin_cpu_abs_lwm", UInt(0, 4_294_967_295), "80")
        .kept("Threads that wait spin as their latch does."),
    global("innodb_log_spin_cpu_pct_hwm", UInt(0, 100), "50")
        .kept("Threads that wait spin as their latch does."),
    global("innodb_log_wait_for_flush_spin_hwm", UInt(0, 4_294_967_295), "400")
        .kept("Threads that wait spin as their latch does."),
    global("innodb_max_undo_log_size", UInt(10_485_760, u64::MAX), "1073741824")
        .kept("There is no undo log."),
    global("innodb_print_ddl_logs", Bool, "OFF").kept("The engine has no such part."),
    global("innodb_purge_rseg_truncate_frequency", UInt(1, 128), "128").kept("There is no undo log."),
    global("innodb_redo_log_archive_dirs", Text, "").kept("The engine has no such part."),
    global("innodb_redo_log_encrypt", Enum(&["OFF"]), "OFF").kept("Nothing is encrypted on disk."),
    global("innodb_replication_delay", UInt(0, 4_294_967_295), "0").kept("The engine has no such part."),
    global("innodb_rollback_segments", UInt(1, 128), "128").kept("There is no undo log."),
    global("innodb_spin_wait_delay", UInt(0, 1_000), "6").kept("Threads that wait spin as their latch does."),
    global("innodb_spin_wait_pause_multiplier", UInt(0, 100), "50")
        .kept("Threads that wait spin as their latch does."),
    global("innodb_sync_array_size", UInt(1, 1_024), "1")
        .read_only()
        .not_an_option()
        .kept("Threads that wait spin as their latch does."),
    global("innodb_temp_data_file_path", Text, "ibtmp1:12M:autoextend")
        .read_only()
        .not_an_option()
        .kept("Temporary rows are in memory or in files of tmpdir."),
    global("innodb_temp_tablespaces_dir", Text, "./#innodb_temp/")
        .read_only()
        .not_an_option()
        .kept("Temporary rows are in memory or in files of tmpdir."),
    global("innodb_thread_sleep_delay", UInt(0, 1_000_000), "10000")
        .kept("Threads do not queue before the engine."),
    session("innodb_tmpdir", Text, "").kept("Temporary rows are in memory or in files of tmpdir."),
    global("innodb_undo_directory", Text, "./").read_only().not_an_option().kept("There is no undo log."),
    global("innodb_undo_log_encrypt", Enum(&["OFF"]), "OFF").kept("There is no undo log."),
    global("innodb_undo_log_truncate", Bool, "ON").kept("There is no undo log."),
    global("innodb_validate_tablespace_paths", Bool, "ON")
        .read_only()
        .not_an_option()
        .kept("The engine has no such part."),
    session("internal_tmp_mem_storage_engine", Enum(&["MEMORY", "TempTable"]), "TempTable")
        .kept("Temporary results are in memory up to tmp_table_size, then in files."),
    session("keep_files_on_create", Bool, "OFF").kept("Tables have their files in the data directory."),
    global("key_cache_age_threshold", UInt(100, 18_446_744_073_709_551_600), "300")
        .kept("There is no MyISAM."),
    global("key_cache_block_size", UInt(512, 16_384), "1024").kept("There is no MyISAM."),
    global("key_cache_division_limit", UInt(1, 100), "100").kept("There is no MyISAM."),
    global("large_files_support", Bool, "ON")
        .read_only()
        .not_an_option()
        .kept("Memory comes from the system in pages of its usual size."),
    global("large_page_size", UInt(0, 4_294_967_295), "0")
        .read_only()
        .not_an_option()
        .kept("Memory comes from the system in pages of its usual size."),
    global("large_pages", Enum(&["OFF"]), "OFF")
        .read_only()
        .not_an_option()
        .kept("Memory comes from the system in pages of its usual size."),
    global("locked_in_memory", Bool, "OFF")
        .read_only()
        .not_an_option()
        .kept("Memory comes from the system in pages of its usual size."),
    session("low_priority_updates", Bool, "OFF").kept("Readers do not wait for writers."),
    session("max_delayed_threads", UInt(0, 16_384), "20").kept("INSERT DELAYED is an INSERT."),
    session("max_insert_delayed_threads", UInt(0, 16_384), "20").kept("INSERT DELAYED is an INSERT."),
    session("max_length_for_sort_data", UInt(4, 8_388_608), "4096").kept("A sort keeps whole rows."),
    session("max_points_in_geometry", UInt(3, 1_048_576), "65536")
        .kept("ST_Buffer_Strategy takes any number of points."),
    global("max_write_lock_count", UInt(1, u64::MAX), "18446744073709551615")
        .kept("Locks of tables are granted in the order in which they are asked for."),
    global("myisam_data_pointer_size", UInt(2, 7), "6").kept("There is no MyISAM."),
    global("myisam_max_sort_file_size", UInt(0, 9_223_372_036_854_775_807), "9223372036853727232")
        .kept("There is no MyISAM."),
    global("myisam_mmap_size", UInt(7, u64::MAX), "18446744073709551615")
        .read_only()
        .not_an_option()
        .kept("There is no MyISAM."),
    global("myisam_recover_options", Text, "OFF").read_only().not_an_option().kept("There is no MyISAM."),
    session("myisam_sort_buffer_size", UInt(4_096, u64::MAX), "8388608").kept("There is no MyISAM."),
    session("myisam_stats_method", Text, "nulls_unequal").kept("There is no MyISAM."),
    global("myisam_use_mmap", Bool, "OFF").kept("There is no MyISAM."),
    session("old_alter_table", Bool, "OFF").kept("ALTER TABLE chooses its way itself."),
    session(
        "optimizer_trace_features",
        Text,
        "greedy_search=on,range_optimizer=on,dynamic_range=on,repeated_subselect=on",
    )
    .kept("There is no optimizer trace."),
    session("optimizer_trace_limit", UInt(0, 9_223_372_036_854_775_807), "1")
        .kept("There is no optimizer trace."),
    session("optimizer_trace_max_mem_size", UInt(0, u64::MAX), "1048576")
        .kept("There is no optimizer trace."),
    session("optimizer_trace_offset", Int(i64::MIN, i64::MAX), "-1").kept("There is no optimizer trace."),
    session("parser_max_mem_size", UInt(10_000_000, u64::MAX), "18446744073709551615")
        .kept("What a statement keeps is charged to its connection."),
    global("performance_schema_accounts_size", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_error_size", UInt(0, 1_048_576), "5814")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_events_stages_history_long_size", Int(-1, 1_048_576), "10000")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_events_stages_history_size", Int(-1, 1_024), "10")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_events_waits_history_long_size", Int(-1, 1_048_576), "10000")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_events_waits_history_size", Int(-1, 1_024), "10")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_hosts_size", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_cond_classes", UInt(0, 1_024), "150")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_cond_instances", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_file_classes", UInt(0, 1_024), "80")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_file_handles", UInt(0, 1_048_576), "32768")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_file_instances", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_index_stat", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_logger_classes", UInt(0, 200), "80")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_memory_classes", UInt(0, 1_024), "470")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_metadata_locks", Int(-1, 104_857_600), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_meter_classes", UInt(0, 64), "30")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_metric_classes", UInt(0, 11_000), "600")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_mutex_classes", UInt(0, 1_024), "350")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_mutex_instances", Int(-1, 104_857_600), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_program_instances", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_rwlock_classes", UInt(0, 1_024), "100")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_rwlock_instances", Int(-1, 104_857_600), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_socket_classes", UInt(0, 1_024), "10")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_socket_instances", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_stage_classes", UInt(0, 1_024), "175")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_statement_classes", UInt(0, 256), "234")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_statement_stack", UInt(1, 256), "10")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_table_handles", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_table_instances", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_table_lock_stat", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_thread_classes", UInt(0, 1_024), "100")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_max_thread_instances", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_session_connect_attrs_size", Int(-1, 1_048_576), "512")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_setup_actors_size", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_setup_objects_size", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("performance_schema_show_processlist", Bool, "OFF")
        .kept("SHOW PROCESSLIST reads the list of connections."),
    global("performance_schema_users_size", Int(-1, 1_048_576), "-1")
        .read_only()
        .not_an_option()
        .kept("The tables of performance_schema have what their rows need."),
    global("persist_only_admin_x509_subject", Text, "")
        .read_only()
        .not_an_option()
        .kept("Accounts need the privilege alone."),
    session("preload_buffer_size", UInt(1_024, 1_073_741_824), "32768").kept("There is no MyISAM."),
    session("profiling_history_size", UInt(0, 100), "15").kept("There are no profiles."),
    session("query_alloc_block_size", UInt(1_024, 4_294_966_272), "8192")
        .kept("What a statement keeps is charged to its connection."),
    session("query_prealloc_size", UInt(8_192, 18_446_744_073_709_550_592), "8192")
        .kept("What a statement keeps is charged to its connection."),
    session("range_alloc_block_size", UInt(4_096, 4_294_966_272), "4096")
        .kept("What a statement keeps is charged to its connection."),
    global("replication_optimize_for_static_plugin_config", Bool, "OFF").kept("There is no such plugin."),
    global("replication_sender_observe_commit_only", Bool, "OFF").kept("There is no such plugin."),
    global("schema_definition_cache", UInt(256, 524_288), "256")
        .kept("Definitions are in memory as long as they exist."),
    global("server_id_bits", UInt(0, 32), "32").kept("All bits of a server id count."),
    session("set_operations_buffer_size", UInt(16_384, 18_446_744_073_709_550_592), "262144")
        .kept("What a statement keeps is charged to its connection."),
    global("sha256_password_auto_generate_rsa_keys", Bool, "ON")
        .read_only()
        .not_an_option()
        .kept("Keys are made in the data directory."),
    global("sha256_password_private_key_path", Text, "private_key.pem")
        .read_only()
        .not_an_option()
        .kept("Keys are made in the data directory."),
    global("sha256_password_public_key_path", Text, "public_key.pem")
        .read_only()
        .not_an_option()
        .kept("Keys are made in the data directory."),
    own("show_create_table_skip_secondary_engine", Bool, "OFF")
        .not_an_option()
        .kept("There is no secondary engine."),
    session("show_gipk_in_create_table_and_information_schema", Bool, "ON")
        .kept("There are no generated invisible primary keys."),
    global("ssl_fips_mode", Enum(&["OFF"]), "OFF")
        .read_only()
        .not_an_option()
        .kept("The TLS library decides."),
    global("ssl_session_cache_mode", Bool, "ON").kept("The TLS library decides."),
    global("ssl_session_cache_timeout", UInt(0, 86_400), "300").kept("The TLS library decides."),
    global("stored_program_cache", UInt(16, 524_288), "256")
        .kept("Definitions are in memory as long as they exist."),
    global("stored_program_definition_cache", UInt(256, 524_288), "256")
        .kept("Definitions are in memory as long as they exist."),
    global("table_encryption_privilege_check", Bool, "OFF").kept("Nothing is encrypted on disk."),
    global("table_open_cache_triggers", UInt(1, 524_288), "524288")
        .kept("Definitions are in memory as long as they exist."),
    global("tablespace_definition_cache", UInt(256, 524_288), "256")
        .kept("Definitions are in memory as long as they exist."),
    global("temptable_max_mmap", UInt(0, u64::MAX), "0")
        .kept("Temporary results are in memory up to tmp_table_size, then in files."),
    session("terminology_use_previous", Enum(&["NONE", "BEFORE_8_0_26", "BEFORE_8_2_0"]), "NONE")
        .kept("performance_schema has the present terms."),
    session("transaction_alloc_block_size", UInt(1_024, 131_072), "8192")
        .kept("What a statement keeps is charged to its connection."),
    own("transaction_allow_batching", Bool, "OFF").not_an_option().kept("There is no NDB."),
    session("transaction_prealloc_size", UInt(1_024, 131_072), "4096")
        .kept("What a statement keeps is charged to its connection."),
    own("use_secondary_engine", Enum(&["OFF", "ON", "FORCED"]), "ON")
        .not_an_option()
        .kept("There is no secondary engine."),
    session("windowing_use_high_precision", Bool, "ON")
        .kept("Windows over doubles are computed again for each frame."),
];
