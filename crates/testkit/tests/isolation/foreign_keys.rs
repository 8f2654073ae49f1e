//! Scenarios of parents and children: table `p` (id, v) has the rows 1 to 3, and table `c` (id, p,
//! v) has a foreign key on `p` that cascades deletes, and the row (1, 1, 0).

use crate::scenarios::scenarios;

scenarios! {
    FAMILIES =
    child_row_keeps_its_parent_row: "a parent row
        a BEGIN
        a INSERT INTO c VALUES (2, 2, 0)
        b INSERT INTO c VALUES (3, 2, 0)
        b DELETE FROM p WHERE id = 2 => waits
        c DELETE FROM p WHERE id = 3
        a COMMIT
        b => ok
        a SELECT id FROM c => [1]";
    child_row_that_moves_keeps_its_new_parent_row: "a parent row
        a BEGIN
        a UPDATE c SET p = 3 WHERE id = 1
        b UPDATE p SET v = 1 WHERE id = 3 => waits
        a ROLLBACK
        b => ok";
    child_row_waits_for_a_parent_row_that_goes: "a parent row
        a BEGIN
        a DELETE FROM p WHERE id = 2
        b INSERT INTO c VALUES (2, 2, 0) => waits
        a COMMIT
        b => error 1452";
    child_row_waits_for_a_parent_row_that_comes: "a parent row
        a BEGIN
        a INSERT INTO p VALUES (9, 0)
        b INSERT INTO c VALUES (2, 9, 0) => waits
        a COMMIT
        b => ok";
    child_row_waits_for_a_parent_row_that_comes_not: "a parent row
        a BEGIN
        a INSERT INTO p VALUES (9, 0)
        b INSERT INTO c VALUES (2, 9, 0) => waits
        a ROLLBACK
        b => error 1452";
    cascade_locks_child_rows: "child rows
        a BEGIN
        a DELETE FROM p WHERE id = 1
        b UPDATE c SET v = 1 WHERE id = 1 => waits
        a ROLLBACK
        b => ok
        a SELECT id FROM c => [1]";
    cascade_waits_for_child_rows: "child rows
        a BEGIN
        a UPDATE c SET v = 1 WHERE id = 1
        b DELETE FROM p WHERE id = 1 => waits
        a COMMIT
        b => ok
        a SELECT id FROM c => []";
    cascade_follows_a_child_row_to_its_new_key: "child rows
        a BEGIN
        a UPDATE c SET id = 5 WHERE id = 1
        b DELETE FROM p WHERE id = 1 => waits
        a COMMIT
        b => ok
        a SELECT id FROM c => []";
    column_that_is_no_key_of_a_child_row_locks_no_parent_row: "a parent row
        a BEGIN
        a UPDATE c SET v = 1 WHERE id = 1
        b UPDATE p SET v = 1 WHERE id = 1
        a COMMIT";
}
