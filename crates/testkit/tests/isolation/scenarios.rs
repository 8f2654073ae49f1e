//! The scenarios. The first line of each says what it is about.
//!
//! Table `t` is (id, k, v) with the primary key `id` and the index `k`, rows (10, 10, 0) to (40,
//! 40, 0). Table `u` is (id, n) with the unique index `n`, rows (1, 100), (2, 200), (3, NULL), (4,
//! 400).

/// A scenario.
pub struct Scenario {
    /// The name of the scenario in reports.
    pub name: &'static str,
    /// The steps of the scenario, in the form that [`play`](crate::play::play) describes.
    pub text: &'static str,
}

macro_rules! scenarios {
    ($all:ident = $($name:ident: $text:literal;)*) => {
        /// All scenarios of this file.
        pub const $all: &[$crate::scenarios::Scenario] =
            &[$($crate::scenarios::Scenario { name: stringify!($name), text: $text }),*];
    };
}
pub(crate) use scenarios;

scenarios! {
    SCENARIOS =
    point_read_that_finds_its_row_locks_no_gap: "a row
        a BEGIN
        a SELECT id FROM t WHERE id = 20 FOR UPDATE => [20]
        b INSERT INTO t VALUES (19, 19, 0)
        b INSERT INTO t VALUES (21, 21, 0)
        b UPDATE t SET v = 1 WHERE id = 20 => waits
        a COMMIT
        b => ok";
    point_read_that_finds_nothing_locks_the_gap: "a gap
        a BEGIN
        a SELECT id FROM t WHERE id = 25 FOR UPDATE => []
        b INSERT INTO t VALUES (15, 15, 0)
        b INSERT INTO t VALUES (35, 35, 0)
        b UPDATE t SET v = 1 WHERE id IN (20, 30)
        b INSERT INTO t VALUES (29, 29, 0) => waits
        a COMMIT
        b => ok";
    gap_locks_do_not_conflict_and_inserts_into_them_deadlock: "two gaps
        a BEGIN
        b BEGIN
        a SELECT id FROM t WHERE id = 25 FOR UPDATE => []
        b SELECT id FROM t WHERE id = 25 FOR UPDATE => []
        a INSERT INTO t VALUES (25, 25, 0) => waits
        b INSERT INTO t VALUES (26, 26, 0) => error 1213
        a => ok
        a COMMIT
        c SELECT id FROM t WHERE id BETWEEN 21 AND 29 => [25]";
    delete_of_nothing_locks_the_gap: "a gap
        a BEGIN
        a DELETE FROM t WHERE id = 25
        b INSERT INTO t VALUES (24, 24, 0) => waits
        a ROLLBACK
        b => ok";
    range_read_keeps_phantoms_out: "a range
        a BEGIN
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 35 FOR UPDATE => [20 30]
        b INSERT INTO t VALUES (25, 25, 0) => waits
        c INSERT INTO t VALUES (45, 45, 0)
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 35 FOR UPDATE => [20 30]
        a COMMIT
        b => ok";
    range_locks_the_gap_before_its_first_row: "a range
        a BEGIN
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 25 FOR UPDATE => [20]
        b INSERT INTO t VALUES (12, 12, 0) => waits
        a COMMIT
        b => ok";
    range_locks_the_gap_behind_its_last_row: "a range
        a BEGIN
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 25 FOR UPDATE => [20]
        b INSERT INTO t VALUES (28, 28, 0) => waits
        a COMMIT
        b => ok";
    range_leaves_the_record_behind_it_free: "not on MariaDB, which locks it
        a BEGIN
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 25 FOR UPDATE => [20]
        b UPDATE t SET v = 1 WHERE id = 30
        b UPDATE t SET v = 1 WHERE id = 10
        b INSERT INTO t VALUES (31, 31, 0)
        a COMMIT";
    range_from_a_row_on_leaves_the_gap_before_it: "a range
        a BEGIN
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id >= 30 FOR UPDATE => [30 40]
        b INSERT INTO t VALUES (25, 25, 0)
        b INSERT INTO t VALUES (50, 50, 0) => waits
        a COMMIT
        b => ok";
    whole_table_is_locked_to_its_ends: "a scan
        a BEGIN
        a UPDATE t SET v = v + 1 WHERE v = 7
        b INSERT INTO t VALUES (5, 5, 0) => waits
        c INSERT INTO t VALUES (99, 99, 0) => waits
        d UPDATE t SET v = 1 WHERE id = 20 => waits
        a COMMIT
        b => ok
        c => ok
        d => ok";
    limit_stops_the_locks: "a range with LIMIT
        a BEGIN
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 5 ORDER BY id LIMIT 1 FOR UPDATE => [10]
        b INSERT INTO t VALUES (15, 15, 0)
        b UPDATE t SET v = 1 WHERE id = 20
        b INSERT INTO t VALUES (7, 7, 0) => waits
        a COMMIT
        b => ok";
    secondary_equality_locks_its_gaps: "a secondary index
        a BEGIN
        a SELECT id FROM t FORCE INDEX (k) WHERE k = 20 FOR UPDATE => [20]
        b INSERT INTO t VALUES (1, 5, 0)
        b INSERT INTO t VALUES (2, 35, 0)
        b INSERT INTO t VALUES (3, 20, 0) => waits
        c INSERT INTO t VALUES (4, 15, 0) => waits
        d INSERT INTO t VALUES (6, 29, 0) => waits
        a COMMIT
        b => ok
        c => ok
        d => ok";
    secondary_gap_stops_an_update_that_moves_in: "a secondary index
        a BEGIN
        a SELECT id FROM t FORCE INDEX (k) WHERE k = 20 FOR UPDATE => [20]
        b UPDATE t SET k = 21 WHERE id = 40 => waits
        a COMMIT
        b => ok";
    secondary_lock_locks_the_row: "a secondary index
        a BEGIN
        a SELECT id FROM t FORCE INDEX (k) WHERE k = 20 FOR UPDATE => [20]
        b UPDATE t SET v = 1 WHERE id = 20 => waits
        c INSERT INTO t VALUES (21, 50, 0)
        a COMMIT
        b => ok";
    unique_equality_locks_no_gap: "not on MariaDB, which locks it where the column may be NULL
        a BEGIN
        a SELECT id FROM u FORCE INDEX (n) WHERE n = 200 FOR UPDATE => [2]
        b INSERT INTO u VALUES (5, 150)
        b INSERT INTO u VALUES (6, 250)
        b UPDATE u SET n = 201 WHERE id = 2 => waits
        a COMMIT
        b => ok";
    unique_equality_that_finds_nothing_locks_the_gap: "a unique index
        a BEGIN
        a SELECT id FROM u FORCE INDEX (n) WHERE n = 300 FOR UPDATE => []
        b INSERT INTO u VALUES (5, 150)
        b INSERT INTO u VALUES (6, 250) => waits
        a COMMIT
        b => ok";
    nulls_are_not_unique: "a unique index
        a BEGIN
        a SELECT id FROM u FORCE INDEX (n) WHERE n IS NULL FOR UPDATE => [3]
        b INSERT INTO u VALUES (5, NULL) => waits
        a COMMIT
        b => ok";
    scan_waits_for_an_uncommitted_insert: "an uncommitted row
        a BEGIN
        a INSERT INTO t VALUES (25, 25, 0)
        b SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 35 FOR UPDATE => waits
        a COMMIT
        b => [20 25 30]";
    scan_waits_for_an_uncommitted_insert_that_goes: "an uncommitted row
        a BEGIN
        a INSERT INTO t VALUES (25, 25, 0)
        b SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 35 FOR UPDATE => waits
        a ROLLBACK
        b => [20 30]";
    secondary_scan_waits_for_an_uncommitted_entry: "an uncommitted row
        a BEGIN
        a UPDATE t SET k = 25 WHERE id = 40
        b SELECT id FROM t FORCE INDEX (k) WHERE k > 15 AND k < 35 FOR UPDATE => waits
        a COMMIT
        b => [20 40 30]";
    committed_reads_wait_for_an_uncommitted_insert_too: "an uncommitted row
        a BEGIN
        a INSERT INTO t VALUES (25, 25, 0)
        b SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
        b SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 35 FOR UPDATE => waits
        a COMMIT
        b => [20 25 30]";
    own_gap_does_not_stop_oneself: "one's own
        a BEGIN
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 FOR UPDATE => [20 30 40]
        a INSERT INTO t VALUES (25, 25, 0)
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 FOR UPDATE => [20 25 30 40]
        a COMMIT";
    read_committed_locks_no_gap: "READ COMMITTED
        a SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
        a BEGIN
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 35 FOR UPDATE => [20 30]
        b INSERT INTO t VALUES (25, 25, 0)
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 35 FOR UPDATE => [20 25 30]
        b UPDATE t SET v = 1 WHERE id = 25 => waits
        a COMMIT
        b => ok";
    read_committed_releases_what_does_not_match: "READ COMMITTED
        a SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
        a UPDATE t SET v = 7 WHERE id = 30
        a BEGIN
        a DELETE FROM t WHERE v = 7
        b UPDATE t SET v = 1 WHERE id = 20
        b UPDATE t SET v = 1 WHERE id = 30 => waits
        a ROLLBACK
        b => ok";
    read_committed_update_passes_rows_that_do_not_match: "READ COMMITTED
        a BEGIN
        a UPDATE t SET v = 7 WHERE id = 20
        b SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
        b UPDATE t SET v = 8 WHERE v = 5
        b UPDATE t SET v = 8 WHERE v = 0 => waits
        a COMMIT
        b => ok
        c SELECT id, v FROM t => [10|8 20|7 30|8 40|8]";
    repeatable_read_update_waits_for_rows_that_do_not_match: "REPEATABLE READ
        a BEGIN
        a UPDATE t SET v = 7 WHERE id = 20
        b UPDATE t SET v = 8 WHERE v = 5 => waits
        a COMMIT
        b => ok";
    plain_reads_see_one_snapshot: "REPEATABLE READ
        a BEGIN
        a SELECT v FROM t WHERE id = 20 => [0]
        b UPDATE t SET v = 1 WHERE id = 20
        b INSERT INTO t VALUES (25, 25, 0)
        a SELECT id, v FROM t WHERE id BETWEEN 20 AND 30 => [20|0 30|0]
        a SELECT id, v FROM t WHERE id BETWEEN 20 AND 30 FOR UPDATE => [20|1 25|0 30|0]
        a SELECT id, v FROM t WHERE id BETWEEN 20 AND 30 => [20|0 30|0]
        a COMMIT
        a SELECT id, v FROM t WHERE id BETWEEN 20 AND 30 => [20|1 25|0 30|0]";
    plain_reads_see_each_statements_snapshot: "READ COMMITTED
        a SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
        a BEGIN
        a SELECT v FROM t WHERE id = 20 => [0]
        b UPDATE t SET v = 1 WHERE id = 20
        a SELECT v FROM t WHERE id = 20 => [1]
        a COMMIT";
    lost_update_is_prevented_by_a_locking_read: "a lost update
        a BEGIN
        b BEGIN
        a SELECT v FROM t WHERE id = 20 FOR UPDATE => [0]
        b SELECT v FROM t WHERE id = 20 FOR UPDATE => waits
        a UPDATE t SET v = v + 1 WHERE id = 20
        a COMMIT
        b => [1]
        b UPDATE t SET v = v + 1 WHERE id = 20
        b COMMIT
        c SELECT v FROM t WHERE id = 20 => [2]";
    write_skew_under_serializable_deadlocks: "SERIALIZABLE
        a SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE
        b SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE
        a BEGIN
        b BEGIN
        a SELECT SUM(v) FROM t WHERE id IN (10, 20) => [0]
        b SELECT SUM(v) FROM t WHERE id IN (10, 20) => [0]
        a UPDATE t SET v = 1 WHERE id = 10 => waits
        b UPDATE t SET v = 1 WHERE id = 20 => error 1213
        a => ok
        a COMMIT
        c SELECT id, v FROM t WHERE id IN (10, 20) => [10|1 20|0]";
    insert_skew_under_serializable_deadlocks: "SERIALIZABLE
        a SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE
        b SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE
        a BEGIN
        b BEGIN
        a SELECT COUNT(*) FROM t FORCE INDEX (PRIMARY) WHERE id > 30 => [1]
        b SELECT COUNT(*) FROM t FORCE INDEX (PRIMARY) WHERE id > 30 => [1]
        a INSERT INTO t VALUES (50, 50, 0) => waits
        b INSERT INTO t VALUES (60, 60, 0) => error 1213
        a => ok
        a COMMIT";
    serializable_reads_lock_in_a_transaction_only: "SERIALIZABLE
        a SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE
        b BEGIN
        b UPDATE t SET v = 1 WHERE id = 20
        a SELECT v FROM t WHERE id = 20 => [0]
        a BEGIN
        a SELECT v FROM t WHERE id = 20 => waits
        b COMMIT
        a => [1]
        b UPDATE t SET v = 2 WHERE id = 20 => waits
        a COMMIT
        b => ok";
    write_skew_under_repeatable_read_goes_through: "REPEATABLE READ
        a BEGIN
        b BEGIN
        a SELECT SUM(v) FROM t WHERE id IN (10, 20) => [0]
        b SELECT SUM(v) FROM t WHERE id IN (10, 20) => [0]
        a UPDATE t SET v = 1 WHERE id = 10
        b UPDATE t SET v = 1 WHERE id = 20
        a COMMIT
        b COMMIT
        c SELECT id, v FROM t WHERE id IN (10, 20) => [10|1 20|1]";
    opposite_orders_deadlock_and_the_lighter_gives_way: "a deadlock
        a BEGIN
        b BEGIN
        a UPDATE t SET v = 1 WHERE id = 10
        a UPDATE t SET v = 1 WHERE id = 20
        a UPDATE t SET v = 1 WHERE id = 30
        b UPDATE t SET v = 2 WHERE id = 40
        b UPDATE t SET v = 2 WHERE id = 10 => waits
        a UPDATE t SET v = 1 WHERE id = 40
        b => error 1213
        a COMMIT
        c SELECT id, v FROM t => [10|1 20|1 30|1 40|1]";
    the_one_who_closes_the_cycle_gives_way_when_lighter: "a deadlock
        a BEGIN
        b BEGIN
        a UPDATE t SET v = 1 WHERE id = 10
        a UPDATE t SET v = 1 WHERE id = 20
        a UPDATE t SET v = 1 WHERE id = 30
        b UPDATE t SET v = 2 WHERE id = 40
        a UPDATE t SET v = 1 WHERE id = 40 => waits
        b UPDATE t SET v = 2 WHERE id = 10 => error 1213
        a => ok
        a COMMIT";
    three_sessions_deadlock: "a cycle of three
        a BEGIN
        b BEGIN
        c BEGIN
        a UPDATE t SET v = 1 WHERE id = 10
        a UPDATE t SET v = 1 WHERE id = 20
        b UPDATE t SET v = 2 WHERE id = 25
        b UPDATE t SET v = 2 WHERE id = 30
        c UPDATE t SET v = 3 WHERE id = 40
        a UPDATE t SET v = 1 WHERE id = 30 => waits
        b UPDATE t SET v = 2 WHERE id = 40 => waits
        c UPDATE t SET v = 3 WHERE id = 10 => error 1213
        b => ok
        b COMMIT
        a => ok
        a COMMIT";
    shared_locks_share_and_upgrades_deadlock: "an upgrade
        a BEGIN
        b BEGIN
        a SELECT v FROM t WHERE id = 20 LOCK IN SHARE MODE => [0]
        b SELECT v FROM t WHERE id = 20 LOCK IN SHARE MODE => [0]
        a UPDATE t SET v = 1 WHERE id = 20 => waits
        b UPDATE t SET v = 2 WHERE id = 20 => error 1213
        a => ok
        a COMMIT";
    a_transaction_can_repeat_after_a_deadlock: "a deadlock ends the transaction
        a BEGIN
        b BEGIN
        a UPDATE t SET v = 1 WHERE id = 10
        a UPDATE t SET v = 1 WHERE id = 20
        b UPDATE t SET v = 2 WHERE id = 40
        a UPDATE t SET v = 1 WHERE id = 40 => waits
        b UPDATE t SET v = 2 WHERE id = 10 => error 1213
        a => ok
        b UPDATE t SET v = 2 WHERE id = 30
        a COMMIT
        c SELECT v FROM t WHERE id = 30 => [2]";
    duplicate_waits_for_the_first_insert: "one key twice
        a BEGIN
        a INSERT INTO t VALUES (25, 25, 0)
        b INSERT INTO t VALUES (25, 26, 0) => waits
        a COMMIT
        b => error 1062";
    duplicate_goes_in_when_the_first_rolls_back: "one key twice
        a BEGIN
        a INSERT INTO t VALUES (25, 25, 0)
        b INSERT INTO t VALUES (25, 26, 0) => waits
        a ROLLBACK
        b => ok
        c SELECT k FROM t WHERE id = 25 => [26]";
    unique_duplicate_waits_for_the_first_insert: "one key twice
        a BEGIN
        a INSERT INTO u VALUES (5, 500)
        b INSERT INTO u VALUES (6, 500) => waits
        a COMMIT
        b => error 1062";
    skip_locked_passes_locked_rows: "SKIP LOCKED
        a BEGIN
        a SELECT id FROM t WHERE id = 10 FOR UPDATE => [10]
        a SELECT id FROM t WHERE id = 30 FOR UPDATE => [30]
        b BEGIN
        b SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 5 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED => [20]
        c SELECT id FROM t FORCE INDEX (PRIMARY) ORDER BY id FOR UPDATE SKIP LOCKED => [40]
        c SELECT id FROM t WHERE id = 10 FOR UPDATE SKIP LOCKED => []
        a COMMIT
        b COMMIT";
    nowait_fails_at_once: "not on MariaDB, whose error is 1205
        a BEGIN
        a SELECT id FROM t WHERE id = 20 FOR UPDATE => [20]
        b BEGIN
        b SELECT id FROM t WHERE id = 30 FOR UPDATE NOWAIT => [30]
        b SELECT id FROM t WHERE id = 20 FOR UPDATE NOWAIT => error 3572
        b SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 5 FOR SHARE NOWAIT => error 3572
        c UPDATE t SET v = 1 WHERE id = 30 => waits
        b COMMIT
        c => ok
        a COMMIT";
    nowait_sees_an_uncommitted_insert: "not on MariaDB, whose error is 1205
        a BEGIN
        a INSERT INTO t VALUES (25, 25, 0)
        b SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 35 FOR UPDATE NOWAIT => error 3572
        b SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 35 FOR UPDATE SKIP LOCKED => [20 30]
        a COMMIT";
    of_names_the_tables_that_are_locked: "not on MariaDB, which has no OF
        a BEGIN
        a SELECT t.id, u.id FROM t, u WHERE t.id = 20 AND u.id = 2 FOR UPDATE OF t => [20|2]
        b UPDATE u SET n = 201 WHERE id = 2
        b UPDATE t SET v = 1 WHERE id = 20 => waits
        a COMMIT
        b => ok
        a SELECT t.id FROM t FOR UPDATE OF x => error 3568
        a SELECT t.id FROM t FOR UPDATE OF t FOR SHARE OF t => error 3569
        a SELECT t.id, u.id FROM t, u WHERE t.id = 20 AND u.id = 2 FOR UPDATE OF t FOR SHARE OF u SKIP LOCKED => [20|2]";
    for_share_shares: "not on MariaDB, which has no FOR SHARE
        a BEGIN
        a SELECT id FROM t WHERE id = 20 FOR SHARE => [20]
        b BEGIN
        b SELECT id FROM t WHERE id = 20 FOR SHARE => [20]
        c UPDATE t SET v = 1 WHERE id = 20 => waits
        a COMMIT
        b COMMIT
        c => ok";
    locks_outlive_a_savepoint: "a savepoint
        a BEGIN
        a UPDATE t SET v = 1 WHERE id = 10
        a SAVEPOINT s
        a UPDATE t SET v = 1 WHERE id = 20
        a ROLLBACK TO s
        b UPDATE t SET v = 2 WHERE id = 20 => waits
        a COMMIT
        b => ok
        c SELECT v FROM t WHERE id = 20 => [2]";
    a_savepoint_before_everything_lets_all_go: "a savepoint
        a BEGIN
        a SAVEPOINT s
        a UPDATE t SET v = 1 WHERE id = 20
        a ROLLBACK TO s
        b UPDATE t SET v = 2 WHERE id = 20
        a SELECT v FROM t WHERE id = 20 => [2]
        a COMMIT";
    savepoints_nest_and_names_are_used_again: "savepoints
        a BEGIN
        a INSERT INTO t VALUES (1, 1, 0)
        a SAVEPOINT x
        a INSERT INTO t VALUES (2, 2, 0)
        a SAVEPOINT y
        a INSERT INTO t VALUES (3, 3, 0)
        a SAVEPOINT x
        a INSERT INTO t VALUES (4, 4, 0)
        a ROLLBACK TO X
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id < 10 => [1 2 3]
        a ROLLBACK TO SAVEPOINT y
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id < 10 => [1 2]
        a ROLLBACK TO x => error 1305
        a RELEASE SAVEPOINT y
        a ROLLBACK TO y => error 1305
        a COMMIT
        a ROLLBACK TO y => error 1305
        b SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id < 10 => [1 2]";
    chained_transactions_keep_their_level: "COMMIT AND CHAIN
        a SET TRANSACTION ISOLATION LEVEL READ COMMITTED
        a BEGIN
        a COMMIT AND CHAIN
        a SELECT v FROM t WHERE id = 20 => [0]
        b UPDATE t SET v = 1 WHERE id = 20
        a SELECT v FROM t WHERE id = 20 => [1]
        a COMMIT
        a BEGIN
        a SELECT v FROM t WHERE id = 20 => [1]
        b UPDATE t SET v = 2 WHERE id = 20
        a SELECT v FROM t WHERE id = 20 => [1]
        a COMMIT";
    consistent_snapshot_begins_at_once: "START TRANSACTION
        a START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY
        b UPDATE t SET v = 1 WHERE id = 20
        a SELECT v FROM t WHERE id = 20 => [0]
        a UPDATE t SET v = 2 WHERE id = 20 => error 1792
        a COMMIT
        a START TRANSACTION READ WRITE, WITH CONSISTENT SNAPSHOT
        a UPDATE t SET v = 3 WHERE id = 20
        a COMMIT
        b SELECT v FROM t WHERE id = 20 => [3]";
    a_row_taken_back_is_in_nobodys_way: "a savepoint
        a BEGIN
        a SAVEPOINT s
        a INSERT INTO t VALUES (25, 25, 0)
        a ROLLBACK TO s
        b SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id > 15 AND id < 35 FOR UPDATE => [20 30]
        a COMMIT";
    table_without_a_key_is_locked_row_by_row: "no primary key
        a DROP TABLE IF EXISTS h
        a CREATE TABLE h (v INT) ENGINE=InnoDB
        a INSERT INTO h VALUES (1), (2)
        a BEGIN
        a INSERT INTO h VALUES (3)
        b SELECT v FROM h FOR UPDATE => waits
        a COMMIT
        b => [1 2 3]
        b BEGIN
        b SELECT v FROM h WHERE v = 9 FOR UPDATE => []
        a INSERT INTO h VALUES (4) => waits
        b COMMIT
        a => ok
        a DROP TABLE h";
    update_of_nothing_then_insert_is_the_upsert_deadlock: "the classical upsert
        a BEGIN
        b BEGIN
        a UPDATE t SET v = 1 WHERE id = 50
        b UPDATE t SET v = 1 WHERE id = 60
        a INSERT INTO t VALUES (50, 50, 1) => waits
        b INSERT INTO t VALUES (60, 60, 1) => error 1213
        a => ok
        a COMMIT";
    backward_range_keeps_phantoms_out: "a range from above
        a BEGIN
        a SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id < 35 ORDER BY id DESC LIMIT 1 FOR UPDATE => [30]
        b INSERT INTO t VALUES (32, 32, 0) => waits
        c INSERT INTO t VALUES (15, 15, 0)
        a COMMIT
        b => ok";
}
