//! The variables of replication and of the binary log.
//!
//! Names, scopes, ranges and defaults are MySQL 9.7's, as its manual gives them. Where a default
//! differs, it tells what this server does.

use crate::variables::definition::Kind::{Bool, Enum, Text, UInt};
use crate::variables::definition::{Definition, Guard};
use crate::variables::definition::{global, own, session};
use crate::variables::{Setting, gtids, replication};
use replica::ExecMode;
use replica::info::Repository;

const SEMI_SYNC: &str = "It is there without a plugin, which MySQL has to load first.";

/// The definitions, sorted by name.
pub const DEFINITIONS: &[Definition] = &[
    session("auto_increment_increment", UInt(1, 65_535), "1")
        .does("Generated AUTO_INCREMENT values are that far apart."),
    session("auto_increment_offset", UInt(1, 65_535), "1")
        .does("Generated AUTO_INCREMENT values begin at this one."),
    global("binlog_cache_size", UInt(4_096, 18_446_744_073_709_547_520), "32768")
        .kept("A transaction keeps its events in memory up to 8 MB and then in a file."),
    global("binlog_checksum", Enum(&["NONE", "CRC32"]), "CRC32")
        .does(
            "Events of the binary log end with a CRC-32, or with nothing; a change begins \
             a new file.",
        )
        .on_set(replication::set_checksum),
    global("binlog_error_action", Enum(&["IGNORE_ERROR", "ABORT_SERVER"]), "ABORT_SERVER")
        .does(
            "When the binary log cannot be written, the server stops, or goes on without \
             one.",
        )
        .on_set(replication::set_error_action),
    global("binlog_expire_logs_auto_purge", Bool, "ON")
        .does("Files of the binary log that are old enough are removed by themselves.")
        .on_set(replication::set_auto_purge),
    global("binlog_expire_logs_seconds", UInt(0, 4_294_967_295), "2592000")
        .does(
            "A file of the binary log is old enough to be removed after that many seconds; \
             0 removes none.",
        )
        .on_set(replication::set_expiry),
    session("binlog_format", Enum(&["MIXED", "STATEMENT", "ROW"]), "ROW").guarded(Guard::Session).does(
        "Changes go to the binary log as rows, as statements, or as statements where \
             these are safe.",
    ),
    global("binlog_group_commit_sync_delay", UInt(0, 1_000_000), "0")
        .does(
            "A group of commits waits that many microseconds for others before it is \
             synced.",
        )
        .entered(|server, s| {
            server.engine.set_group_commit_delay_us(s.uint());
            Ok(())
        }),
    global("binlog_group_commit_sync_no_delay_count", UInt(0, 100_000), "0")
        .does("A group of that many commits waits no longer.")
        .entered(|server, s| {
            server.engine.set_group_commit_no_delay_count(s.uint());
            Ok(())
        }),
    global("binlog_gtid_simple_recovery", Bool, "ON")
        .read_only()
        .kept("GTIDs are recovered from the engine's log."),
    global("binlog_order_commits", Bool, "ON").kept("Commits are always in the order of the log."),
    global("binlog_row_event_max_size", UInt(256, 18_446_744_073_709_551_360), "8192")
        .read_only()
        .does("A row event is ended when it has that many bytes."),
    session("binlog_row_image", Enum(&["MINIMAL", "NOBLOB", "FULL"]), "FULL").guarded(Guard::Session).does(
        "Row events have all columns, those that changed and those that name the row, \
             or all but unchanged BLOBs.",
    ),
    global("binlog_row_metadata", Enum(&["MINIMAL", "FULL"]), "MINIMAL")
        .does("Table maps have names of columns, keys and the like (FULL), or types only.")
        .entered(|server, s| {
            server.engine.set_full_row_metadata(s.text() == "FULL");
            Ok(())
        }),
    session("binlog_row_value_options", Text, "").guarded(Guard::Session).kept("Documents are logged whole."),
    session("binlog_rows_query_log_events", Bool, "OFF")
        .guarded(Guard::Session)
        .does("The text of the statement stands before its row events."),
    global("binlog_stmt_cache_size", UInt(4_096, 18_446_744_073_709_547_520), "32768")
        .kept("There are no tables without transactions."),
    session("binlog_transaction_compression", Bool, "OFF")
        .guarded(Guard::Session)
        .does("Transactions are compressed in the binary log.")
        .entered(|server, s| {
            server.replica.apply_settings().set_transaction_compression(s.is_on());
            Ok(())
        }),
    session("binlog_transaction_compression_level_zstd", UInt(1, 22), "3")
        .guarded(Guard::Session)
        .does("Transactions are compressed at this level of zstd.")
        .entered(|server, s| {
            server.replica.apply_settings().set_compression_level(s.uint() as u8);
            Ok(())
        }),
    global("binlog_transaction_dependency_history_size", UInt(1, 100_000_000), "10000000")
        .does("That many rows are remembered to tell which transactions depend on each other.")
        .on_set(replication::set_dependency_history_size),
    global("enforce_gtid_consistency", Enum(&["OFF", "ON", "WARN"]), "OFF")
        .does("gtid_mode=ON asks for ON; no statement here violates the consistency.")
        .on_set(|server, s| gtids::check_consistency(server, s.text())),
    global("gtid_binlog_pos", Text, "")
        .read_only()
        .not_an_option()
        .does("It tells the last MariaDB GTID of each domain in the binary log.")
        .computed(|server| Some(Setting::Text(gtids::mariadb_binlog_pos(server))))
        .differs("It is MariaDB's."),
    global("gtid_domain_id", UInt(0, 0), "0")
        .read_only()
        .not_an_option()
        .does("It tells the domain of the MariaDB GTIDs of this server's own transactions.")
        .differs("It is MariaDB's."),
    global("gtid_executed", Text, "")
        .read_only()
        .not_an_option()
        .does(
            "It tells the GTIDs of all transactions that were committed here or counted as \
             such.",
        )
        .computed(|server| Some(Setting::Text(server.engine.gtid_executed().to_string()))),
    global("gtid_executed_compression_period", UInt(0, 4_294_967_295), "0")
        .kept("The set of GTIDs is kept as a whole."),
    global("gtid_mode", Enum(&["OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"]), "OFF")
        .does("Transactions have GTIDs or not; a change goes by one step at a time.")
        .on_set(|server, s| gtids::set_mode(server, s.text())),
    own("gtid_next", Text, "AUTOMATIC")
        .guarded(Guard::Applier)
        .not_an_option()
        .does("The session's next transaction gets this GTID."),
    global("gtid_slave_pos", Text, "")
        .not_an_option()
        .does("A replica of a MariaDB source begins from there.")
        .on_set(replication::set_gtid_slave_pos)
        .computed(|server| Some(Setting::Text(server.replica.gtid_slave_pos())))
        .differs("It is MariaDB's."),
    session("gtid_owned", Text, "")
        .read_only()
        .not_an_option()
        .does("It tells the GTIDs that sessions own: all of them, or the session's own.")
        .computed(|server| Some(gtids::owned(server))),
    global("gtid_purged", Text, "")
        .not_an_option()
        .does(
            "Those of the executed GTIDs whose transactions are in no file of the binary \
             log any more; setting it adds to both sets.",
        )
        .on_set(|server, s| gtids::set_purged(server, s.text()))
        .computed(|server| Some(Setting::Text(server.engine.gtid_purged().to_string()))),
    own("immediate_server_version", UInt(0, 999_999), "999999")
        .guarded(Guard::Applier)
        .not_an_option()
        .kept("It is read back; the text that mysqlbinlog writes sets it."),
    global("init_replica", Text, "")
        .kept("The applier is no session that runs statements of an administrator."),
    global("log_bin", Bool, "ON").read_only().does("The server writes a binary log, with this base name."),
    global("log_bin_basename", Text, "")
        .read_only()
        .not_an_option()
        .does("It tells the path of the binary log's files without their numbers.")
        .computed(|server| {
            Some(Setting::Text(server.binlog.as_ref()?.basename_path().display().to_string()))
        }),
    global("log_bin_index", Text, "")
        .read_only()
        .not_an_option()
        .does("It tells the file that lists the binary log's files.")
        .computed(|server| Some(Setting::Text(server.binlog.as_ref()?.index_path().display().to_string()))),
    global("log_bin_trust_function_creators", Bool, "OFF").does(
        "Whether accounts without SUPER may make triggers and functions (1419), and whether functions may be made that \
         say neither that they are deterministic nor that they change nothing (1418).",
    ),
    global("log_replica_updates", Bool, "ON")
        .read_only()
        .does("What replicas of others have applied goes to the binary log too."),
    global("log_statements_unsafe_for_binlog", Bool, "ON")
        .kept("Warnings of unsafe statements go to the client."),
    global("master_info_repository", Enum(&["FILE", "TABLE"]), "TABLE")
        .does("The connection of a channel is kept in a table or a file.")
        .on_set(|server, s| replication::set_repository(server, Repository::Connection, s.text()))
        .differs("MySQL 9 has it no more; it is here for clients of 8.0."),
    global("max_binlog_cache_size", UInt(4_096, 18_446_744_073_709_547_520), "18446744073709547520").does(
        "A transaction with more bytes of events is refused; values above 4 GB are no \
             limit.",
    ),
    global("max_binlog_size", UInt(4_096, 1_073_741_824), "1073741824")
        .block(4096)
        .does("The binary log goes on in a new file when one has that many bytes.")
        .on_set(replication::set_max_binlog_size),
    global("max_binlog_stmt_cache_size", UInt(4_096, 18_446_744_073_709_547_520), "18446744073709547520")
        .kept("There are no tables without transactions."),
    global("max_relay_log_size", UInt(0, 1_073_741_824), "0")
        .does(
            "The relay log goes on in a new file when one has that many bytes; 0 takes \
             max_binlog_size.",
        )
        .on_set(replication::set_max_relay_log_size),
    own("original_commit_timestamp", UInt(0, 1 << 55), "36028797018963968")
        .guarded(Guard::Applier)
        .not_an_option()
        .does(
            "The next transaction was first committed at this time, in microseconds of Unix \
             time; the default says that it is first committed here.",
        ),
    own("original_server_version", UInt(0, 999_999), "999999")
        .guarded(Guard::Applier)
        .not_an_option()
        .does(
            "The next transaction was first committed at a server of this version; the \
             default says that it is first committed here.",
        ),
    own("rbr_exec_mode", Enum(&["STRICT", "IDEMPOTENT"]), "STRICT")
        .guarded(Guard::Session)
        .not_an_option()
        .does(
            "The rows of BINLOG statements must be there as the events say, or they replace \
             what is there.",
        )
        .differs("MySQL also shows a global value, which cannot be set."),
    global("relay_log", Text, "").read_only().does("The files of the relay log have this name."),
    global("relay_log_basename", Text, "")
        .read_only()
        .not_an_option()
        .does("It tells the path of the relay log's files without their numbers."),
    global("relay_log_index", Text, "")
        .read_only()
        .not_an_option()
        .does("It tells the file that lists the relay log's files."),
    global("relay_log_info_file", Text, "relay-log.info")
        .read_only()
        .does("The applier's position is this file, where it is kept in a FILE.")
        .differs("MySQL 9 has it no more; it is here for clients of 8.0."),
    global("relay_log_info_repository", Enum(&["FILE", "TABLE"]), "TABLE")
        .does(
            "The applier's position is shown in a table or written to a file; the one that \
             counts is in the engine's log.",
        )
        .on_set(|server, s| replication::set_repository(server, Repository::Applier, s.text()))
        .differs("MySQL 9 has it no more; it is here for clients of 8.0."),
    global("relay_log_purge", Bool, "ON")
        .does("Files of the relay log are removed when they are applied.")
        .on_set(|server, s| {
            server.replica.set_relay_log_purge(s.is_on());
            Ok(())
        }),
    global("relay_log_recovery", Bool, "OFF")
        .read_only()
        .kept("Relay logs never survive a restart, as with ON."),
    global("relay_log_space_limit", UInt(0, u64::MAX), "0")
        .read_only()
        .does("The receiver waits while the relay log has more bytes; 0 is no limit."),
    global("replica_allow_batching", Bool, "ON").kept("Every row is applied by itself."),
    global("replica_allow_higher_version_source", Bool, "ON")
        .guarded(Guard::GlobalWith(
            "REPLICATION_SLAVE_ADMIN",
            "SYSTEM_VARIABLES_ADMIN plus REPLICATION_SLAVE_ADMIN, or SUPER",
        ))
        .kept("Sources of any version are read."),
    global("replica_checkpoint_group", UInt(32, 524_280), "512")
        .kept("The position is in each commit record."),
    global("replica_checkpoint_period", UInt(1, 4_294_967_295), "300")
        .kept("The position is in each commit record."),
    global("replica_compressed_protocol", Bool, "OFF")
        .kept("SOURCE_COMPRESSION_ALGORITHMS of CHANGE REPLICATION SOURCE says it."),
    global("replica_exec_mode", Enum(&["STRICT", "IDEMPOTENT", "CONVERGE"]), "STRICT")
        .does(
            "IDEMPOTENT passes over rows that are there already, or missing. CONVERGE, which MySQL \
             has not, sets every row as its event says, whatever is there.",
        )
        .entered(|server, s| {
            let mode = ExecMode::named(s.text()).expect("the variable takes the modes' names only");
            server.replica.apply_settings().set_exec_mode(mode);
            Ok(())
        }),
    global("replica_load_tmpdir", Text, "/tmp").read_only().kept("Files of a source's LOAD DATA are in tmpdir."),
    global("replica_max_allowed_packet", UInt(1_024, 1_073_741_824), "1073741824")
        .kept("A source's event may be as large as its packets."),
    global("replica_net_timeout", UInt(1, 31_536_000), "60")
        .does(
            "The receiver connects anew when it hears nothing for that many seconds. Each new \
             connection takes the value of its moment.",
        )
        .entered(|server, s| {
            server.replica.set_net_timeout(s.uint() as u32);
            Ok(())
        }),
    global("replica_parallel_type", Enum(&["DATABASE", "LOGICAL_CLOCK"]), "LOGICAL_CLOCK")
        .does(
            "DATABASE lets the workers apply transactions of different schemas at the same \
             time; it is another way to set slipstream_parallel_policy.",
        )
        .on_set(replication::set_parallel_type)
        .differs("MySQL 9 has it no more; it is here for option files of 8.0."),
    global("replica_parallel_workers", UInt(0, 1_024), "0")
        .does("That many workers apply; 0 and 1 are one thread.")
        .on_set(|server, s| {
            server.replica.set_parallel_workers(s.uint());
            Ok(())
        })
        .differs(
            "MySQL's default is 4. Here one thread is the default, because it is the \
             fastest for most loads; 0 is allowed, as in MySQL 8.",
        ),
    global("replica_pending_jobs_size_max", UInt(1_024, 18_446_744_073_709_550_592), "134217728")
        .kept("What workers have before them is bounded in number."),
    global("replica_preserve_commit_order", Bool, "ON")
        .kept("Workers commit in the source's order in either case."),
    global("replica_skip_errors", Text, "OFF").read_only().does(
        "The applier leaves out what fails with one of these errors, and says so in \
             the error log.",
    ),
    global("replica_sql_verify_checksum", Bool, "ON")
        .does("The applier checks the CRC-32 of what it reads from the relay log."),
    global("replica_transaction_retries", UInt(0, u64::MAX), "10")
        .does(
            "A transaction that meets a deadlock or waits too long is begun again that \
             many times.",
        )
        .entered(|server, s| {
            server.replica.apply_settings().set_transaction_retries(s.uint());
            Ok(())
        }),
    global("replica_type_conversions", Text, "")
        .does("Columns may differ from the source's in these ways.")
        .entered(replication::set_type_conversions),
    global("report_host", Text, "").read_only().does("The source shows this host for the replica."),
    global("report_password", Text, "").read_only().kept("It is not told to the source."),
    global("report_port", UInt(0, 65_535), "0")
        .read_only()
        .does("The source shows this port for the replica; 0 is the server's port."),
    global("report_user", Text, "").read_only().kept("It is not told to the source."),
    global("rpl_read_size", UInt(8_192, 18_446_744_073_709_547_520), "8192")
        .kept("Files are read in pieces of a fixed size."),
    global("rpl_semi_sync_replica_enabled", Bool, "OFF")
        .does("The receiver acknowledges what it has received.")
        .entered(|server, s| {
            server.replica.set_semi_sync(s.is_on());
            Ok(())
        })
        .differs(SEMI_SYNC),
    global("rpl_semi_sync_replica_trace_level", UInt(0, 4_294_967_295), "32")
        .kept("There is no trace.")
        .differs(SEMI_SYNC),
    global("rpl_semi_sync_source_enabled", Bool, "OFF")
        .does("Commits wait for the acknowledgement of replicas.")
        .semi_sync(|it, s| it.set_enabled(s.is_on()))
        .differs(SEMI_SYNC),
    global("rpl_semi_sync_source_timeout", UInt(0, 18_446_744_073_709_551_615), "10000")
        .does(
            "A commit waits that many milliseconds, then the source goes on without \
             acknowledgements.",
        )
        .semi_sync(|it, s| it.set_timeout_ms(s.uint()))
        .differs(SEMI_SYNC),
    global("rpl_semi_sync_source_trace_level", UInt(0, 4_294_967_295), "32")
        .kept("There is no trace.")
        .differs(SEMI_SYNC),
    global("rpl_semi_sync_source_wait_for_replica_count", UInt(1, 65_535), "1")
        .does("A commit waits for that many replicas.")
        .semi_sync(|it, s| it.set_wanted(s.uint()))
        .differs(SEMI_SYNC),
    global("rpl_semi_sync_source_wait_no_replica", Bool, "ON")
        .does("A commit waits even while fewer replicas are connected.")
        .semi_sync(|it, s| it.set_waits_without_replicas(s.is_on()))
        .differs(SEMI_SYNC),
    global("rpl_semi_sync_source_wait_point", Enum(&["AFTER_SYNC", "AFTER_COMMIT"]), "AFTER_SYNC")
        .does("A commit is visible to others after it was acknowledged, or before.")
        .semi_sync(|it, s| it.set_after_sync(s.text() == "AFTER_SYNC"))
        .differs(SEMI_SYNC),
    global("rpl_stop_replica_timeout", UInt(2, 31_536_000), "31536000")
        .kept("STOP REPLICA waits until the threads have ended."),
    global("server_id", UInt(0, 4_294_967_295), "1")
        .read_only()
        .does("It is the server's number among those that replicate from each other.")
        .differs(
            "It is taken at start and cannot be changed while the server runs, because \
             transactions in flight carry it.",
        ),
    own("slipstream_dialect", Enum(&["MYSQL", "MARIADB"]), "MYSQL")
        .guarded(Guard::Session)
        .not_an_option()
        .does(
            "MARIADB has the session's statements read as those of a MariaDB source are: the definitions \
             of a dump, for one. The binary log gets their text as it is: SET sql_log_bin = 0 goes with it."
        )
        .differs("It is this server's own."),
    own("slipstream_fire_triggers", Bool, "ON")
        .guarded(Guard::Session)
        .not_an_option()
        .does(
            "OFF keeps the session's changes of rows from running triggers, as of a copy. LOAD DATA then \
             takes a table that nobody else uses for its transaction alone, and locks no rows."
        )
        .differs("It is this server's own."),
    global("slipstream_parallel_adaptive", Bool, "ON")
        .does("One worker applies or all do, whichever is found to be faster.")
        .entered(|server, s| {
            server.replica.apply_settings().set_adaptive(s.is_on());
            Ok(())
        })
        .differs("It is this server's own."),
    global("slipstream_replica_read_ahead", Bool, "ON")
        .does(
            "Pages that the rows in the relay log will want are read before the applier comes to them, \
             while it would wait for pages.",
        )
        .entered(|server, s| {
            server.replica.apply_settings().set_reads_ahead(s.is_on());
            Ok(())
        })
        .differs("It is this server's own."),
    global("slipstream_mariadb_port", UInt(0, 65_535), "0")
        .read_only()
        .does(
            "Replicas of MariaDB find the server by MariaDB's GTIDs at this port; 0 is \
             none.",
        )
        .differs("It is this server's own."),
    global("slipstream_parallel_policy", Enum(&["ROW", "DATABASE", "LOGICAL_CLOCK", "WRITESET"]), "ROW")
        .does("It says which transactions the workers may prepare at the same time.")
        .entered(replication::set_parallel_policy)
        .differs("It is this server's own."),
    global("server_uuid", Text, "")
        .read_only()
        .not_an_option()
        .does("It tells the UUID in the file auto.cnf of the data directory."),
    global("skip_replica_start", Bool, "OFF").read_only().does("Channels are not started with the server."),
    global("source_verify_checksum", Bool, "OFF").kept("Events are checked when they are read."),
    own("sql_log_bin", Bool, "ON")
        .guarded(Guard::Session)
        .not_an_option()
        .does("OFF keeps the session's changes out of the binary log."),
    global("sql_replica_skip_counter", UInt(0, 4_294_967_295), "0")
        .does("The applier passes over that many groups when it is started.")
        .on_set(replication::set_skip_counter)
        .computed(|server| Some(Setting::UInt(server.replica.apply_settings().skip_counter()))),
    global("sync_binlog", UInt(0, 4_294_967_295), "1")
        .does(
            "One group of commits in that many waits for binlog_group_commit_sync_delay; \
             the binary log needs no sync of its own, because it is derived from the \
             engine's log.",
        )
        .entered(|server, s| {
            server.engine.set_sync_binlog(s.uint());
            Ok(())
        }),
    global("sync_relay_log", UInt(0, 4_294_967_295), "10000").kept(
        "A received transaction is durable when it is applied, and is received again \
             otherwise.",
    ),
    global("sync_relay_log_info", UInt(0, 4_294_967_295), "10000")
        .kept("The position is in each commit record."),
    global("sync_source_info", UInt(0, 4_294_967_295), "10000")
        .kept("The position is in each commit record."),
];

/// The names from before MySQL 8.0.26, which still work. Each stands for the variable beside it.
pub const ALIASES: &[(&str, &str)] = &[
    ("init_slave", "init_replica"),
    ("log_slave_updates", "log_replica_updates"),
    ("log_slow_slave_statements", "log_slow_replica_statements"),
    ("master_verify_checksum", "source_verify_checksum"),
    ("rpl_semi_sync_master_enabled", "rpl_semi_sync_source_enabled"),
    ("rpl_semi_sync_master_timeout", "rpl_semi_sync_source_timeout"),
    ("rpl_semi_sync_master_trace_level", "rpl_semi_sync_source_trace_level"),
    ("rpl_semi_sync_master_wait_for_slave_count", "rpl_semi_sync_source_wait_for_replica_count"),
    ("rpl_semi_sync_master_wait_no_slave", "rpl_semi_sync_source_wait_no_replica"),
    ("rpl_semi_sync_master_wait_point", "rpl_semi_sync_source_wait_point"),
    ("rpl_semi_sync_slave_enabled", "rpl_semi_sync_replica_enabled"),
    ("rpl_semi_sync_slave_trace_level", "rpl_semi_sync_replica_trace_level"),
    ("rpl_stop_slave_timeout", "rpl_stop_replica_timeout"),
    ("skip_slave_start", "skip_replica_start"),
    ("slave_allow_batching", "replica_allow_batching"),
    ("slave_checkpoint_group", "replica_checkpoint_group"),
    ("slave_checkpoint_period", "replica_checkpoint_period"),
    ("slave_compressed_protocol", "replica_compressed_protocol"),
    ("slave_exec_mode", "replica_exec_mode"),
    ("slave_load_tmpdir", "replica_load_tmpdir"),
    ("slave_max_allowed_packet", "replica_max_allowed_packet"),
    ("slave_net_timeout", "replica_net_timeout"),
    ("slave_parallel_type", "replica_parallel_type"),
    ("slave_parallel_workers", "replica_parallel_workers"),
    ("slave_pending_jobs_size_max", "replica_pending_jobs_size_max"),
    ("slave_preserve_commit_order", "replica_preserve_commit_order"),
    ("slave_skip_errors", "replica_skip_errors"),
    ("slave_sql_verify_checksum", "replica_sql_verify_checksum"),
    ("slave_transaction_retries", "replica_transaction_retries"),
    ("slave_type_conversions", "replica_type_conversions"),
    ("sql_slave_skip_counter", "sql_replica_skip_counter"),
    ("sync_master_info", "sync_source_info"),
];
