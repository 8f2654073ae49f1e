//! Scenarios of LOCK TABLES: which sessions it keeps out, what the session itself may do meanwhile,
//! and what ends it.

use crate::scenarios::scenarios;

scenarios! {
    LOCK_TABLES =
    read_lock_keeps_writers_out: "a table
        a LOCK TABLES t READ
        b SELECT COUNT(*) FROM t => [4]
        b UPDATE t SET v = 1 WHERE id = 10 => waits
        c SELECT COUNT(*) FROM t => [4]
        c SELECT id FROM t WHERE id = 10 LOCK IN SHARE MODE => [10]
        c UPDATE u SET n = 101 WHERE id = 1
        a SELECT v FROM t WHERE id = 10 => [0]
        a UNLOCK TABLES
        b => ok
        a SELECT v FROM t WHERE id = 10 => [1]";
    read_locks_are_shared: "a table
        a LOCK TABLES t READ
        b LOCK TABLE t READ LOCAL
        c LOCK TABLES t WRITE => waits
        a UNLOCK TABLES
        c => waits
        b UNLOCK TABLES
        c => ok
        c UNLOCK TABLES";
    write_lock_keeps_everybody_out: "a table
        a LOCK TABLES t WRITE
        a INSERT INTO t VALUES (50, 50, 0)
        b SELECT COUNT(*) FROM t => waits
        c INSERT INTO t VALUES (60, 60, 0) => waits
        d SELECT COUNT(*) FROM u => [4]
        a SELECT COUNT(*) FROM t => [5]
        a UNLOCK TABLES
        c => ok";
    read_lock_waits_for_who_has_changed_rows: "an open transaction
        a BEGIN
        a UPDATE t SET v = 1 WHERE id = 10
        b LOCK TABLES t READ => waits
        c SELECT v FROM t WHERE id = 10 => [0]
        c INSERT INTO t VALUES (50, 50, 0)
        a COMMIT
        b => ok
        b SELECT v FROM t WHERE id = 10 => [1]
        c INSERT INTO t VALUES (60, 60, 0) => waits
        b UNLOCK TABLES
        c => ok";
    read_lock_does_not_wait_for_who_has_read: "an open transaction
        a BEGIN
        a SELECT v FROM t WHERE id = 10 => [0]
        b LOCK TABLES t READ
        a SELECT v FROM t WHERE id = 20 => [0]
        b UNLOCK TABLES
        b LOCK TABLES t WRITE => waits
        a COMMIT
        b => ok
        b UNLOCK TABLES";
    read_lock_keeps_locking_reads_out: "a table
        a LOCK TABLES t READ
        b SELECT id FROM t WHERE id = 10 FOR UPDATE => waits
        a UNLOCK TABLES
        b => [10]";
    definitions_wait: "a table
        a LOCK TABLES t READ
        b ALTER TABLE t ADD COLUMN w INT => waits
        a UNLOCK TABLES
        b => ok
        a LOCK TABLES t WRITE
        b DROP TABLE t => waits
        a SELECT COUNT(*) FROM t => [4]
        a UNLOCK TABLES
        b => ok";
    session_may_use_what_it_has_locked: "a table
        a LOCK TABLES t READ, u WRITE
        a SELECT COUNT(*) FROM t => [4]
        a INSERT INTO t VALUES (50, 50, 0) => error 1099
        a UPDATE t SET v = 1 => error 1099
        a DELETE FROM t => error 1099
        a INSERT INTO u VALUES (5, 500)
        a UPDATE u SET n = 501 WHERE id = 5
        a DELETE FROM u WHERE id = 5
        a REPLACE INTO u VALUES (6, 600)
        a SELECT COUNT(*) FROM other => error 1100
        a SELECT 1 => [1]
        a SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'isolation' => [1]
        a INSERT INTO u SELECT 10 + id, k FROM t WHERE id = 10
        a SELECT COUNT(*) FROM u WHERE n IN (SELECT k FROM t) => [1]
        a UNLOCK TABLES
        a INSERT INTO t VALUES (50, 50, 0)";
    statements_that_were_run_before: "a table
        a SELECT COUNT(*) FROM u => [4]
        a PREPARE p FROM 'SELECT COUNT(*) FROM u'
        a EXECUTE p => [4]
        a LOCK TABLES t READ
        a SELECT COUNT(*) FROM u => error 1100
        a EXECUTE p => error 1100
        a UNLOCK TABLES
        a EXECUTE p => [4]";
    each_name_is_locked: "names
        a LOCK TABLES t READ
        a SELECT COUNT(*) FROM t AS one => error 1100
        a SELECT COUNT(*) FROM t AS one JOIN t AS two => error 1100
        a UNLOCK TABLES
        a LOCK TABLES t AS one READ, t two WRITE
        a SELECT COUNT(*) FROM t AS one => [4]
        a SELECT COUNT(*) FROM t => error 1100
        a SELECT COUNT(*) FROM t AS one JOIN t AS two => [16]
        a UPDATE t AS two SET v = 2 WHERE id = 10
        a UPDATE t AS one SET v = 2 WHERE id = 10 => error 1099
        a UNLOCK TABLES
        a LOCK TABLES t READ, t WRITE => error 1066
        a LOCK TABLES t WRITE
        a INSERT INTO t SELECT id + 1, k, v FROM t => error 1100
        a UNLOCK TABLES";
    tables_that_are_not_there: "names
        a LOCK TABLES nothing READ => error 1146
        a LOCK TABLES t WRITE
        a LOCK TABLES nothing READ => error 1146
        b SELECT COUNT(*) FROM t => [4]
        a SELECT COUNT(*) FROM u => [4]";
    another_lock_lets_the_first_go: "a table
        a LOCK TABLES t WRITE
        b SELECT COUNT(*) FROM t => waits
        a LOCK TABLES u WRITE
        b => [4]
        b INSERT INTO u VALUES (5, 500) => waits
        a UNLOCK TABLES
        b => ok";
    transaction_lets_it_go: "a table
        a LOCK TABLES t WRITE
        b SELECT COUNT(*) FROM t => waits
        a START TRANSACTION
        b => [4]
        a SELECT COUNT(*) FROM u => [4]
        a COMMIT";
    commit_and_rollback_do_not: "a table
        a LOCK TABLES t WRITE
        a SET autocommit = 0
        a INSERT INTO t VALUES (50, 50, 0)
        a ROLLBACK
        a INSERT INTO t VALUES (60, 60, 0)
        b SELECT COUNT(*) FROM t => waits
        a COMMIT
        b => waits
        a INSERT INTO t VALUES (70, 70, 0)
        a UNLOCK TABLES
        b => [6]
        a SET autocommit = 1";
    lock_commits_what_was_begun: "a table
        a BEGIN
        a INSERT INTO t VALUES (50, 50, 0)
        a LOCK TABLES u READ
        b SELECT COUNT(*) FROM t => [5]
        a ROLLBACK
        a UNLOCK TABLES";
    unlock_without_a_lock_commits_nothing: "a transaction
        a BEGIN
        a INSERT INTO t VALUES (50, 50, 0)
        a UNLOCK TABLES
        a ROLLBACK
        b SELECT COUNT(*) FROM t => [4]";
    definitions_of_ones_own: "a table
        a LOCK TABLES t WRITE, u READ
        a ALTER TABLE t ADD COLUMN w INT
        a ALTER TABLE t ADD INDEX w (w)
        a ALTER TABLE u ADD COLUMN w INT => error 1099
        a CREATE TABLE another (id INT PRIMARY KEY) => error 1100
        a DROP TABLE another => error 1100
        a CREATE DATABASE another => error 1192
        a DROP DATABASE isolation => error 1192
        b SELECT COUNT(*) FROM t => waits
        a TRUNCATE TABLE t
        a INSERT INTO t VALUES (1, 1, 1, 1)
        a UNLOCK TABLES
        b => [1]";
    locks_time_out: "a limit
        a LOCK TABLES t WRITE
        b SET lock_wait_timeout = 1
        b LOCK TABLES t READ => waits
        a SELECT SLEEP(1.5) => [0]
        b => error 1205
        b LOCK TABLES u READ
        b UNLOCK TABLES
        a UNLOCK TABLES";
    sessions_that_wait_for_each_other: "an open transaction
        a BEGIN
        a UPDATE u SET n = 101 WHERE id = 1
        b LOCK TABLES t WRITE, u WRITE => waits
        a UPDATE t SET v = 1 WHERE id = 10 => error 1213
        b => ok
        b UNLOCK TABLES";
    end_of_the_session_lets_it_go: "a connection
        a LOCK TABLES t WRITE
        b SELECT COUNT(*) FROM t => waits
        c SELECT COUNT(*) FROM u => [4]
        a ROLLBACK RELEASE
        b => [4]";
    xa_is_refused: "a table
        a LOCK TABLES t WRITE
        a XA START 'x' => error 1400
        a FLUSH TABLES WITH READ LOCK => error 1192
        a UNLOCK TABLES";
}
