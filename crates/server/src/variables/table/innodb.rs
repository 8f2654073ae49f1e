//! The variables of the storage engine.
//!
//! Names, scopes, ranges and defaults are MySQL 9.7's, as its manual gives them. Where a default
//! differs, it tells what this server does. Some variables that MySQL changes while it runs are
//! read only here, because they are read at start.

use crate::variables::definition::Kind::{Bool, Double, Enum, Text, UInt};
use crate::variables::definition::{Definition, Guard};
use crate::variables::definition::{global, session};
use crate::variables::pool;

/// The definitions, sorted by name.
pub const DEFINITIONS: &[Definition] = &[
    global("innodb_adaptive_flushing", Bool, "ON")
        .does("The page cleaners write more pages the fuller the redo log is.")
        .pool(|o, s| o.adaptive_flushing = s.is_on()),
    global("innodb_adaptive_flushing_lwm", UInt(0, 70), "10")
        .does("Adaptive flushing begins when the redo log is full to this percentage.")
        .pool(|o, s| o.adaptive_flushing_lwm_percent = s.uint() as f64),
    global("innodb_adaptive_hash_index", Bool, "OFF").kept("There is no adaptive hash index."),
    global("innodb_adaptive_hash_index_parts", UInt(1, 512), "8")
        .read_only()
        .kept("There is no adaptive hash index."),
    global("innodb_autoextend_increment", UInt(1, 1_000), "64").kept(
        "The system tablespace holds the dictionary alone and grows as other \
             tablespaces do.",
    ),
    global("innodb_autoinc_lock_mode", UInt(0, 2), "2")
        .read_only()
        .does(
            "Values are taken one by one without a lock on the table, which is mode 2; the \
             server shows 2 whatever is asked for.",
        )
        .differs("Modes 0 and 1 are not there."),
    global("innodb_buffer_pool_chunk_size", UInt(1_048_576, 144_115_188_075_855_871), "134217728")
        .read_only()
        .kept("The pool is made in one piece."),
    global("innodb_buffer_pool_dump_at_shutdown", Bool, "ON")
        .does("The pool's list of pages is written to a file when the server shuts down.")
        .pool(|o, s| o.dump_at_shutdown = s.is_on()),
    global("innodb_buffer_pool_dump_now", Bool, "OFF")
        .does("ON writes the pool's list of pages to a file now; the value stays OFF.")
        .command(pool::dump_now),
    global("innodb_buffer_pool_dump_pct", UInt(1, 100), "25")
        .does(
            "This percentage of the most recently used pages of each instance is listed in \
             a dump.",
        )
        .pool(|o, s| o.dump_percent = s.uint() as u32),
    global("innodb_buffer_pool_filename", Text, "ib_buffer_pool")
        .does("The dump of the pool is this file in the data directory.")
        .pool(|o, s| o.dump_file = s.text().to_owned()),
    global("innodb_buffer_pool_in_core_file", Bool, "OFF").kept("The server makes no core files of its own."),
    global("innodb_buffer_pool_instances", UInt(0, 64), "0").read_only().does(
        "The pool is divided into that many instances, each with lists and latches of \
             its own; 0 lets the server choose by the pool's size and the processors.",
    ),
    global("innodb_buffer_pool_load_abort", Bool, "OFF")
        .does("ON ends a load of the pool that is under way; the value stays OFF.")
        .command(|server, s| {
            if s.is_on() {
                server.engine.pool().abort_load();
            }
            Ok(())
        }),
    global("innodb_buffer_pool_load_at_startup", Bool, "ON")
        .read_only()
        .does("The pages that the last dump lists are read when the server starts."),
    global("innodb_buffer_pool_load_now", Bool, "OFF")
        .does("ON reads the pages that the last dump lists; the value stays OFF.")
        .command(|server, s| {
            if s.is_on() {
                server.engine.pool().start_load();
            }
            Ok(())
        }),
    global("innodb_buffer_pool_size", UInt(5_242_880, i64::MAX as u64), "134217728")
        .read_only()
        .does("The pool has that many bytes.")
        .differs(
            "It is taken at start and cannot be changed while the server runs, because the \
             pool is made in one piece.",
        ),
    global("innodb_change_buffer_max_size", UInt(0, 50), "5").kept(
        "There is no change buffer: entries of secondary indexes are put into their \
             pages.",
    ),
    global(
        "innodb_change_buffering",
        Enum(&["none", "inserts", "deletes", "changes", "purges", "all"]),
        "all",
    )
    .kept(
        "There is no change buffer: entries of secondary indexes are put into their \
             pages.",
    ),
    global(
        "innodb_checksum_algorithm",
        Enum(&["crc32", "strict_crc32", "innodb", "strict_innodb", "none", "strict_none"]),
        "crc32",
    )
    .kept("Every page has a CRC-32C."),
    global("innodb_concurrency_tickets", UInt(1, 4_294_967_295), "5000").kept(
        "A thread that innodb_thread_concurrency has let in stays until its statement \
             ends.",
    ),
    global("innodb_data_file_path", Text, "ibdata1:12M:autoextend")
        .read_only()
        .kept("The system tablespace is the file mysql.ibd."),
    global("innodb_deadlock_detect", Bool, "ON")
        .does(
            "Deadlocks are found when a wait begins; without it they end by \
             innodb_lock_wait_timeout.",
        )
        .entered(|server, s| {
            server.engine.set_deadlock_detect(s.is_on());
            Ok(())
        }),
    global("innodb_default_row_format", Enum(&["redundant", "compact", "dynamic"]), "dynamic")
        .kept("There is one row format."),
    global(
        "innodb_doublewrite",
        Enum(&["OFF", "ON", "DETECT_ONLY", "DETECT_AND_RECOVER", "LEGACY", "PARALLEL", "AUTO"]),
        "ON",
    )
    .does(
        "Pages are written to the doublewrite file before they are written in their \
             places.",
    )
    .on_set(pool::set_doublewrite)
    .differs(
        "LEGACY, PARALLEL (what ON means) and AUTO are this server's own words; the \
             change needs no restart in any direction.",
    ),
    global("innodb_doublewrite_batch_size", UInt(0, 256), "0")
        .read_only()
        .kept("A batch has as many pages as an area of the doublewrite file has room for."),
    global("innodb_doublewrite_dir", Text, "")
        .read_only()
        .kept("The doublewrite file is in the data directory."),
    global("innodb_doublewrite_files", UInt(1, 256), "2")
        .read_only()
        .kept("There is one doublewrite file, with as many areas as there are writers."),
    global("innodb_doublewrite_pages", UInt(1, 512), "128")
        .read_only()
        .kept("The size of an area follows from the page size and the pool's size."),
    global("innodb_fast_shutdown", UInt(0, 2), "1").kept(
        "A shutdown is always fast: recovery replays the log, and nothing is rolled \
             back.",
    ),
    global("innodb_file_per_table", Bool, "ON").kept("Every table has a file of its own."),
    global("innodb_fill_factor", UInt(10, 100), "100")
        .does("A sorted index build fills its pages to this percentage.")
        .entered(|server, s| {
            server.engine.set_fill_factor(s.uint() as u8);
            Ok(())
        }),
    global("innodb_flush_log_at_timeout", UInt(0, 2_700), "1").kept(
        "A commit that need not be durable is written and synced soon after it, not \
             once a second.",
    ),
    global("innodb_flush_log_at_trx_commit", UInt(0, 2), "1")
        .does(
            "A commit is answered when its record is synced (1), written (2), or in the \
             log buffer (0).",
        )
        .on_set(|server, s| {
            server.engine.set_flush_log_at_trx_commit(s.uint() as u8);
            Ok(())
        }),
    global(
        "innodb_flush_method",
        Enum(&["fsync", "O_DSYNC", "littlesync", "nosync", "O_DIRECT", "O_DIRECT_NO_FSYNC"]),
        "O_DIRECT",
    )
    .read_only()
    .does("The files of tables are opened and synced this way."),
    global("innodb_flush_neighbors", UInt(0, 2), "0")
        .does(
            "A page is written together with no neighbours (0), with contiguous dirty ones \
             (1), or with all dirty ones of its extent (2).",
        )
        .pool(pool::set_flush_neighbors),
    global("innodb_flush_sync", Bool, "ON")
        .does("The page cleaners pass over innodb_io_capacity when a checkpoint is urgent.")
        .pool(|o, s| o.flush_sync = s.is_on()),
    global("innodb_flushing_avg_loops", UInt(1, 1_000), "30")
        .does("Adaptive flushing averages over that many rounds.")
        .pool(|o, s| o.flushing_avg_loops = s.uint() as u32),
    global("innodb_force_recovery", UInt(0, 6), "0").read_only().kept(
        "Nothing is rolled back at recovery, and damaged pages are named; there is no \
             part of recovery to leave out.",
    ),
    global("innodb_io_capacity", UInt(100, 4_294_967_295), "10000")
        .does("The page cleaners write that many pages a second when nothing presses.")
        .pool(|o, s| o.io_capacity = s.uint() as u32),
    global("innodb_io_capacity_max", UInt(100, 4_294_967_295), "20000")
        .does("The page cleaners write at most that many pages a second.")
        .pool(|o, s| o.io_capacity_max = s.uint() as u32),
    session("innodb_lock_wait_timeout", UInt(1, 1_073_741_824), "50")
        .does("A wait for a row lock ends with error 1205 after that many seconds."),
    global("innodb_log_buffer_size", UInt(262_144, 4_294_967_295), "67108864")
        .block(1024)
        .does("The log buffer has that many bytes.")
        .on_set(|server, s| {
            server.engine.log().set_buffer_bytes(s.uint());
            Ok(())
        }),
    global("innodb_log_checksums", Bool, "ON").kept("Every record of the log has a checksum."),
    global("innodb_log_compressed_pages", Bool, "ON").kept("There are no compressed pages."),
    global("innodb_log_group_home_dir", Text, "./").read_only().does(
        "The redo log is in #innodb_redo in this directory. A relative path begins in the data directory.",
    ),
    global("innodb_log_write_ahead_size", UInt(512, 16_384), "8192")
        .kept("The log's files are filled with zeros ahead of use."),
    global("innodb_log_writer_threads", Bool, "OFF")
        .does(
            "The log is written and synced by threads of its own; without it by the \
             threads that commit.",
        )
        .on_set(|server, s| {
            server.engine.log().set_writer_threads(s.is_on());
            Ok(())
        }),
    global("innodb_lru_flushers", Bool, "ON")
        .does(
            "Each instance of the pool has a thread that makes frames free as they are \
             asked for.",
        )
        .pool(|o, s| o.lru_flushers = s.is_on())
        .differs("It is this server's own."),
    global("innodb_lru_scan_depth", UInt(100, 4_294_967_295), "1024")
        .does(
            "The page cleaners look at that many pages of each instance's list for some to \
             write, and keep so many frames free.",
        )
        .pool(|o, s| o.lru_scan_depth = s.uint() as usize),
    global("innodb_max_dirty_pages_pct", Double(0.0, 99.999), "90")
        .does("The page cleaners keep the dirty pages below this percentage of the pool.")
        .pool(|o, s| o.max_dirty_percent = s.double()),
    global("innodb_max_dirty_pages_pct_lwm", Double(0.0, 99.999), "10")
        .does(
            "The page cleaners begin to write ahead when this percentage of the pool is \
             dirty.",
        )
        .pool(|o, s| o.max_dirty_lwm_percent = s.double()),
    global("innodb_max_purge_lag", UInt(0, 4_294_967_295), "0")
        .kept("Statements are not slowed down for purge."),
    global("innodb_max_purge_lag_delay", UInt(0, 10_000_000), "0")
        .kept("Statements are not slowed down for purge."),
    global("innodb_native_foreign_keys", Bool, "OFF")
        .read_only()
        .kept("Foreign keys are always checked by the engine."),
    global("innodb_old_blocks_pct", UInt(5, 95), "37")
        .does("The old part of the pool's list has this percentage of it.")
        .pool(|o, s| o.old_blocks_percent = s.uint() as usize),
    global("innodb_old_blocks_time", UInt(0, 4_294_967_295), "1000")
        .does("A page becomes young by an access that many milliseconds after the first one.")
        .pool(|o, s| o.old_blocks_time_ms = s.uint() as u32),
    global("innodb_online_alter_log_max_size", UInt(65_536, u64::MAX), "134217728")
        .does(
            "The changes that an online index build has to catch up with may take that \
             many bytes.",
        )
        .entered(|server, s| {
            server.engine.set_online_alter_log_max_bytes(s.uint());
            Ok(())
        }),
    global("innodb_open_files", UInt(0, 2_147_483_647), "4000")
        .read_only()
        .kept("The file of a tablespace stays open while the tablespace is known."),
    global("innodb_page_cleaners", UInt(1, 64), "4")
        .read_only()
        .does("That many threads write dirty pages; there are never more than instances."),
    global("innodb_page_size", UInt(4_096, 65_536), "16384")
        .read_only()
        .does("A page has that many bytes; it is fixed when the data directory is made."),
    session("innodb_parallel_read_threads", UInt(1, 256), "4")
        .does("A large scan of an aggregate query is read by at most that many threads.")
        .differs("They are at most as many as there are processors."),
    global("innodb_print_all_deadlocks", Bool, "OFF")
        .does("Every deadlock is written to the error log.")
        .entered(|server, s| {
            server.engine.set_print_all_deadlocks(s.is_on());
            Ok(())
        }),
    global("innodb_purge_batch_size", UInt(1, 5_000), "300")
        .kept("Purge takes what no snapshot needs any more."),
    global("innodb_purge_threads", UInt(1, 32), "1").read_only().kept("One thread purges."),
    global("innodb_random_read_ahead", Bool, "OFF")
        .does("An extent is read ahead when many of its pages are in the pool.")
        .pool(|o, s| o.random_read_ahead = s.is_on()),
    global("innodb_read_ahead_threshold", UInt(0, 64), "56")
        .does(
            "The next extent is read ahead when that many pages of one were read in order; \
             0 reads none ahead.",
        )
        .pool(|o, s| o.read_ahead_threshold = s.uint() as u32),
    global("innodb_read_io_threads", UInt(1, 64), "4")
        .read_only()
        .kept("The thread that needs a page reads it."),
    global("innodb_read_only", Bool, "OFF").read_only().kept("The engine always opens its files to write."),
    global("innodb_redo_log_capacity", UInt(8_388_608, 549_755_813_888), "104857600")
        .does("The log's files may take that many bytes.")
        .on_set(|server, s| {
            server.engine.set_redo_capacity(s.uint());
            Ok(())
        }),
    global("innodb_rollback_on_timeout", Bool, "OFF")
        .read_only()
        .does("Error 1205 rolls the whole transaction back, not the statement alone."),
    global("innodb_single_page_flush", Bool, "ON")
        .does("A thread that needs a frame and finds none free writes a page itself.")
        .pool(|o, s| o.single_page_flush = s.is_on())
        .differs("It is this server's own."),
    global("innodb_sort_buffer_size", UInt(65_536, 67_108_864), "1048576")
        .read_only()
        .does("An index build sorts that many bytes in memory at a time."),
    global("innodb_stats_auto_recalc", Bool, "ON").kept("The server keeps no statistics of tables."),
    global("innodb_stats_include_delete_marked", Bool, "OFF")
        .kept("The server keeps no statistics of tables."),
    global("innodb_stats_method", Enum(&["nulls_equal", "nulls_unequal", "nulls_ignored"]), "nulls_equal")
        .kept("The server keeps no statistics of tables."),
    global("innodb_stats_on_metadata", Bool, "OFF").kept("The server keeps no statistics of tables."),
    global("innodb_stats_persistent", Bool, "ON").kept("The server keeps no statistics of tables."),
    global("innodb_stats_persistent_sample_pages", UInt(1, u64::MAX), "20")
        .kept("The server keeps no statistics of tables."),
    global("innodb_stats_transient_sample_pages", UInt(1, u64::MAX), "8")
        .kept("The server keeps no statistics of tables."),
    global("innodb_status_output", Bool, "OFF")
        .kept("The monitor is shown by SHOW ENGINE INNODB STATUS only."),
    global("innodb_status_output_locks", Bool, "OFF")
        .kept("The monitor is shown by SHOW ENGINE INNODB STATUS only."),
    session("innodb_strict_mode", Bool, "ON")
        .guarded(Guard::SessionWithoutSuper)
        .kept("CREATE TABLE refuses what it does not know, in either mode."),
    global("innodb_sync_spin_loops", UInt(0, 4_294_967_295), "30").kept("How long a latch spins is fixed."),
    session("innodb_table_locks", Bool, "ON").kept("LOCK TABLES always locks in the engine."),
    global("innodb_thread_concurrency", UInt(0, 1_000), "0")
        .does("At most that many statements are in the engine at a time; 0 is no limit.")
        .entered(|server, s| {
            server.engine.set_thread_concurrency(s.uint() as u32);
            Ok(())
        }),
    global("innodb_use_fdatasync", Bool, "ON").kept("Files are synced without their times."),
    global("innodb_use_native_aio", Bool, "ON").read_only().does(
        "Pages are written through io_uring where the system has it; the value is OFF \
             where it has not.",
    ),
    global("innodb_version", Text, "")
        .read_only()
        .not_an_option()
        .does("It tells which release of InnoDB the server stands in for."),
    global("innodb_write_io_threads", UInt(1, 64), "4").read_only().kept("The page cleaners write."),
    global("slipstream_version_memory_limit", UInt(0, u64::MAX), "0")
        .does(
            "Old versions of rows may take that many bytes, then the oldest snapshots are \
             ended; 0 is a quarter of the pool, and 8 MB at least.",
        )
        .on_set(|server, s| {
            server.engine.set_version_memory_limit(s.uint());
            Ok(())
        })
        .differs("It is this server's own."),
];
