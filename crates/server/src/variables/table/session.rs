//! The variables of statements and sessions.
//!
//! Names, scopes, ranges and defaults are MySQL 9.7's, as its manual gives them. Where a default
//! differs, it tells what this server does.

use crate::variables::definition::Kind::{Bool, Double, Enum, Text, UInt};
use crate::variables::definition::{Definition, Guard};
use crate::variables::definition::{global, own, session};
use crate::variables::event_scheduler::{check_setting, follow_variables};

/// The definitions, sorted by name.
pub const DEFINITIONS: &[Definition] = &[
    session("autocommit", Bool, "ON")
        .does("Each statement is a transaction of its own."),
    global("automatic_sp_privileges", Bool, "ON")
        .does("The account that makes a routine gets EXECUTE and ALTER ROUTINE on it, and a routine that is dropped takes the privileges on it along."),
    session(
        "block_encryption_mode",
        Enum(&[
            "aes-128-ecb", "aes-192-ecb", "aes-256-ecb", "aes-128-cbc", "aes-192-cbc", "aes-256-cbc",
            "aes-128-cfb1", "aes-192-cfb1", "aes-256-cfb1", "aes-128-cfb8", "aes-192-cfb8", "aes-256-cfb8",
            "aes-128-cfb128", "aes-192-cfb128", "aes-256-cfb128", "aes-128-ofb", "aes-192-ofb", "aes-256-ofb",
        ]),
        "aes-128-ecb",
    )
        .does("The key's bits and the mode of AES_ENCRYPT() and AES_DECRYPT()."),
    session("bulk_insert_buffer_size", UInt(0, u64::MAX), "8388608").guarded(Guard::Session)
        .kept("It is of MyISAM."),
    session("completion_type", Enum(&["NO_CHAIN", "CHAIN", "RELEASE"]), "NO_CHAIN")
        .does("What follows a COMMIT or ROLLBACK that does not say it."),
    session("cte_max_recursion_depth", UInt(0, 4_294_967_295), "1000")
        .does("A recursive common table expression ends in error 3636 after more rounds."),
    session("default_storage_engine", Text, "InnoDB")
        .kept("Every table is the engine's, which answers to InnoDB."),
    session("default_tmp_storage_engine", Text, "InnoDB")
        .kept("Temporary tables are InnoDB's, whatever is asked for."),
    session("default_week_format", UInt(0, 7), "0")
        .does("WEEK() without a mode and EXTRACT(WEEK FROM date) count weeks by this mode."),
    session("div_precision_increment", UInt(0, 30), "4")
        .does("A division's result has that many more digits behind the point."),
    session("end_markers_in_json", Bool, "OFF")
        .kept("EXPLAIN FORMAT=JSON has no markers."),
    session("eq_range_index_dive_limit", UInt(0, 4_294_967_295), "200")
        .kept("The planner keeps no statistics."),
    own("error_count", UInt(0, u64::MAX), "0").read_only().not_an_option()
        .does("It tells how many errors the last statement has raised."),
    global("event_scheduler", Enum(&["OFF", "ON", "DISABLED"]), "ON")
        .does("Events are run when their time has come; DISABLED is for the start alone.")
        .checked(check_setting, follow_variables),
    session("explain_format", Enum(&["TRADITIONAL", "TREE", "JSON"]), "TREE")
        .does("EXPLAIN that names no format has this one."),
    session("explain_json_format_version", UInt(1, 2), "2")
        .does("1 forbids EXPLAIN ANALYZE FORMAT=JSON; the form is always one of its own, after version 2."),
    session("explicit_defaults_for_timestamp", Bool, "ON")
        .does("OFF gives TIMESTAMP columns the defaults of old."),
    session("foreign_key_checks", Bool, "ON")
        .does("Foreign keys are checked, and their cascades followed."),
    session("group_concat_max_len", UInt(4, u64::MAX), "1024")
        .does("GROUP_CONCAT() gives at most that many bytes."),
    own("identity", UInt(0, u64::MAX), "0").not_an_option()
        .does("It is another name of last_insert_id."),
    session("information_schema_stats_expiry", UInt(0, 31_536_000), "86400")
        .kept("Numbers in information_schema are those of now."),
    global("init_file", Text, "").read_only()
        .kept("No file of statements is read at start."),
    session("join_buffer_size", UInt(128, 18_446_744_073_709_551_488), "262144")
        .does("The hash table of a join has that many bytes before it goes on in files."),
    global("key_buffer_size", UInt(0, 18_446_744_073_709_547_520), "8388608")
        .kept("It is of MyISAM."),
    own("last_insert_id", UInt(0, u64::MAX), "0").not_an_option()
        .does("LAST_INSERT_ID() gives this value."),
    session("lock_wait_timeout", UInt(1, 31_536_000), "31536000")
        .does("A wait for the lock of a whole table ends after that many seconds."),
    global("log_queries_not_using_indexes", Bool, "OFF")
        .does("Statements that read a table without an index are written to the slow query log, however quick."),
    global("log_raw", Bool, "OFF")
        .does("The general log has statements with the passwords in them.")
        .differs("Statements that are not understood are not in the general log."),
    global("log_slow_admin_statements", Bool, "OFF")
        .does("The slow query log has ALTER TABLE, ANALYZE TABLE and their kin too."),
    global("log_slow_extra", Bool, "OFF")
        .does("The file of the slow query log has more figures of each statement.")
        .differs("The bytes that the client sent and got are not among them."),
    global("log_slow_replica_statements", Bool, "OFF")
        .kept("The slow query log has statements of clients alone."),
    global("log_throttle_queries_not_using_indexes", UInt(0, u64::MAX), "0")
        .kept("The slow query log has all statements that read a table without an index, however many."),
    session("long_query_time", Double(0.0, 31536000.0), "10")
        .does("A statement that takes that many seconds is slow."),
    global("max_digest_length", UInt(0, 1_048_576), "1024").read_only()
        .does("The digest of a longer statement is cut; the length is of its tokens, in bytes."),
    session("max_error_count", UInt(0, 65_535), "1024").guarded(Guard::SessionWithoutSuper)
        .does("A statement keeps that many errors, warnings and notes, and counts them all."),
    session("max_execution_time", UInt(0, u64::MAX), "0")
        .does("A SELECT ends after that many milliseconds with error 3024; 0 is no limit."),
    session("max_heap_table_size", UInt(16_384, 18_446_744_073_709_550_592), "16777216")
        .kept("The memory of a statement is bounded by connection_memory_limit."),
    session("max_join_size", UInt(1, u64::MAX), "18446744073709551615")
        .kept("The planner does not count the rows of joins."),
    session("max_seeks_for_key", UInt(1, u64::MAX), "18446744073709551615")
        .kept("The planner keeps no statistics."),
    session("max_sort_length", UInt(4, 8_388_608), "1024")
        .kept("Values are sorted by all their bytes."),
    session("max_sp_recursion_depth", UInt(0, 255), "0")
        .kept("There are no stored programs."),
    session("min_examined_row_limit", UInt(0, u64::MAX), "0").guarded(Guard::SessionWithoutSuper)
        .does("Statements that read fewer rows are not written to the slow query log."),
    session("optimizer_max_subgraph_pairs", UInt(1, 2_147_483_647), "100000")
        .kept("The planner has one way to order joins."),
    session("optimizer_prune_level", UInt(0, 1), "1")
        .kept("The planner has one way to order joins."),
    session("optimizer_search_depth", UInt(0, 62), "62")
        .kept("The planner has one way to order joins."),
    session(
        "optimizer_switch",
        Text,
        "index_merge=on,index_merge_union=on,index_merge_sort_union=on,index_merge_intersection=on,engine_condition_pushdown=on,index_condition_pushdown=on,mrr=on,mrr_cost_based=on,block_nested_loop=on,batched_key_access=off,materialization=on,semijoin=on,loosescan=on,firstmatch=on,duplicateweedout=on,subquery_materialization_cost_based=on,use_index_extensions=on,condition_fanout_filter=on,derived_merge=on,use_invisible_indexes=off,skip_scan=on,hash_join=on,subquery_to_derived=off,prefer_ordering_index=on,hypergraph_optimizer=off,derived_condition_pushdown=on,hash_set_operations=on",
    )
        .does("block_nested_loop, semijoin, derived_merge, use_invisible_indexes and prefer_ordering_index have an effect."),
    session("optimizer_trace", Text, "enabled=off,one_line=off")
        .kept("The planner writes no trace."),
    session("profiling", Bool, "OFF")
        .kept("SHOW PROFILE is not there."),
    own("rand_seed1", UInt(0, u64::MAX), "0").not_an_option()
        .kept("RAND() has a seed of its own."),
    own("rand_seed2", UInt(0, u64::MAX), "0").not_an_option()
        .kept("RAND() has a seed of its own."),
    session("range_optimizer_max_mem_size", UInt(0, u64::MAX), "8388608")
        .kept("The ranges of a statement count for its memory."),
    session("read_buffer_size", UInt(8_192, 2_147_479_552), "131072")
        .kept("Pages are read into the pool only."),
    session("read_rnd_buffer_size", UInt(1, 2_147_483_647), "262144")
        .kept("Rows are read in the order of the index."),
    session("restrict_fk_on_non_standard_key", Bool, "ON")
        .does("New foreign keys refer to the columns of a unique key; OFF lets any index serve that begins with them.")
        .differs("the columns of the primary key do not count at the end of an index."),
    session("select_into_buffer_size", UInt(8_192, 2_147_479_552), "131072")
        .guarded(Guard::SessionWithoutSuper)
        .kept("SELECT ... INTO OUTFILE has a buffer of 64 KB."),
    session("select_into_disk_sync", Bool, "OFF")
        .kept("The system writes files of SELECT ... INTO OUTFILE out when it likes."),
    session("select_into_disk_sync_delay", UInt(0, 31_536_000), "0").guarded(Guard::SessionWithoutSuper)
        .kept("Files of SELECT ... INTO OUTFILE are not synced."),
    session("sort_buffer_size", UInt(32_768, u64::MAX), "262144")
        .does("A sort that takes more memory goes on in files under tmpdir."),
    session("sql_auto_is_null", Bool, "OFF")
        .kept("IS NULL never finds the generated value."),
    session("sql_big_selects", Bool, "ON")
        .kept("The planner does not count the rows of joins."),
    session("sql_buffer_result", Bool, "OFF")
        .kept("Results are sent as they are found."),
    session("sql_log_off", Bool, "OFF").guarded(Guard::Session)
        .does("What the session does is not written to the general log."),
    session(
        "sql_mode",
        Text,
        "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
    )
        .does("Values and the grammar are taken in these ways."),
    session("sql_notes", Bool, "ON")
        .kept("Notes are always kept among the warnings."),
    session("sql_quote_show_create", Bool, "ON")
        .kept("SHOW CREATE always quotes names."),
    session("sql_require_primary_key", Bool, "OFF").guarded(Guard::Session)
        .kept("Tables without a primary key can always be made."),
    session("sql_safe_updates", Bool, "OFF")
        .does("UPDATE and DELETE need a key in their conditions, or a LIMIT."),
    session("sql_select_limit", UInt(0, u64::MAX), "18446744073709551615")
        .does("A SELECT without LIMIT gives at most that many rows."),
    session("sql_warnings", Bool, "OFF")
        .kept("INSERT tells its warnings in either case."),
    global("table_definition_cache", UInt(400, 524_288), "2000")
        .kept("The definition of every table is in memory."),
    global("table_open_cache", UInt(1, 524_288), "4000")
        .kept("A table is not opened for each statement."),
    global("table_open_cache_instances", UInt(1, 64), "16").read_only()
        .kept("A table is not opened for each statement."),
    session("time_zone", Text, "SYSTEM")
        .does("TIMESTAMP values are shown in this time zone.").differs(
            "Named time zones are known without loading them; the tables in mysql come first.",
        ),
    own("timestamp", Double(0.0, i64::MAX as f64), "0").not_an_option()
        .does("NOW() gives this time, in seconds; 0 is the clock's."),
    session("tmp_table_size", UInt(1_024, u64::MAX), "16777216")
        .does("Groups, duplicates and made tables that take more memory go on in files under tmpdir."),
    session(
        "transaction_isolation",
        Enum(&["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"]),
        "REPEATABLE-READ",
    )
        .does("Transactions have this isolation level."),
    session("transaction_read_only", Bool, "OFF")
        .does("Transactions may only read."),
    session("unique_checks", Bool, "ON")
        .does("Row events tell it to replicas; keys are unique in either case."),
    own("warning_count", UInt(0, u64::MAX), "0").read_only().not_an_option()
        .does("It tells how many errors, warnings and notes the last statement has raised."),
    session("xa_detach_on_prepare", Bool, "ON").guarded(Guard::Session)
        .does("A prepared XA transaction is no longer its session's."),
];
