//! Scenarios of parents and children. Each makes its own: `p` (id, v) with the rows 1 to 3, and `c` (id, p, v) with a foreign key
//! on `p` that cascades deletes, and the row (1, 1, 0).

use crate::scenarios::Scenario;

macro_rules! families {
    ($($name:ident: $text:literal;)*) => {
        /// All of them.
        pub const FAMILIES: &[Scenario] = &[$(Scenario { name: stringify!($name), text: $text }),*];
    };
}

families! {
    child_row_keeps_its_parent_row: "a parent row
        a CREATE TABLE p (id INT PRIMARY KEY, v INT) ENGINE=InnoDB
        a CREATE TABLE c (id INT PRIMARY KEY, p INT, v INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB
        a INSERT INTO p VALUES (1, 0), (2, 0), (3, 0)
        a INSERT INTO c VALUES (1, 1, 0)
        a BEGIN
        a INSERT INTO c VALUES (2, 2, 0)
        b INSERT INTO c VALUES (3, 2, 0)
        b DELETE FROM p WHERE id = 2 => waits
        c DELETE FROM p WHERE id = 3
        a COMMIT
        b => ok
        a SELECT id FROM c => [1]
        a DROP TABLE c
        a DROP TABLE p";
    child_row_that_moves_keeps_its_new_parent_row: "a parent row
        a CREATE TABLE p (id INT PRIMARY KEY, v INT) ENGINE=InnoDB
        a CREATE TABLE c (id INT PRIMARY KEY, p INT, v INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB
        a INSERT INTO p VALUES (1, 0), (2, 0), (3, 0)
        a INSERT INTO c VALUES (1, 1, 0)
        a BEGIN
        a UPDATE c SET p = 3 WHERE id = 1
        b UPDATE p SET v = 1 WHERE id = 3 => waits
        a ROLLBACK
        b => ok
        a DROP TABLE c
        a DROP TABLE p";
    child_row_waits_for_a_parent_row_that_goes: "a parent row
        a CREATE TABLE p (id INT PRIMARY KEY, v INT) ENGINE=InnoDB
        a CREATE TABLE c (id INT PRIMARY KEY, p INT, v INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB
        a INSERT INTO p VALUES (1, 0), (2, 0), (3, 0)
        a INSERT INTO c VALUES (1, 1, 0)
        a BEGIN
        a DELETE FROM p WHERE id = 2
        b INSERT INTO c VALUES (2, 2, 0) => waits
        a COMMIT
        b => error 1452
        a DROP TABLE c
        a DROP TABLE p";
    child_row_waits_for_a_parent_row_that_comes: "a parent row
        a CREATE TABLE p (id INT PRIMARY KEY, v INT) ENGINE=InnoDB
        a CREATE TABLE c (id INT PRIMARY KEY, p INT, v INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB
        a INSERT INTO p VALUES (1, 0), (2, 0), (3, 0)
        a INSERT INTO c VALUES (1, 1, 0)
        a BEGIN
        a INSERT INTO p VALUES (9, 0)
        b INSERT INTO c VALUES (2, 9, 0) => waits
        a COMMIT
        b => ok
        a DROP TABLE c
        a DROP TABLE p";
    child_row_waits_for_a_parent_row_that_comes_not: "a parent row
        a CREATE TABLE p (id INT PRIMARY KEY, v INT) ENGINE=InnoDB
        a CREATE TABLE c (id INT PRIMARY KEY, p INT, v INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB
        a INSERT INTO p VALUES (1, 0), (2, 0), (3, 0)
        a INSERT INTO c VALUES (1, 1, 0)
        a BEGIN
        a INSERT INTO p VALUES (9, 0)
        b INSERT INTO c VALUES (2, 9, 0) => waits
        a ROLLBACK
        b => error 1452
        a DROP TABLE c
        a DROP TABLE p";
    cascade_locks_child_rows: "child rows
        a CREATE TABLE p (id INT PRIMARY KEY, v INT) ENGINE=InnoDB
        a CREATE TABLE c (id INT PRIMARY KEY, p INT, v INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB
        a INSERT INTO p VALUES (1, 0), (2, 0), (3, 0)
        a INSERT INTO c VALUES (1, 1, 0)
        a BEGIN
        a DELETE FROM p WHERE id = 1
        b UPDATE c SET v = 1 WHERE id = 1 => waits
        a ROLLBACK
        b => ok
        a SELECT id FROM c => [1]
        a DROP TABLE c
        a DROP TABLE p";
    cascade_waits_for_child_rows: "child rows
        a CREATE TABLE p (id INT PRIMARY KEY, v INT) ENGINE=InnoDB
        a CREATE TABLE c (id INT PRIMARY KEY, p INT, v INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB
        a INSERT INTO p VALUES (1, 0), (2, 0), (3, 0)
        a INSERT INTO c VALUES (1, 1, 0)
        a BEGIN
        a UPDATE c SET v = 1 WHERE id = 1
        b DELETE FROM p WHERE id = 1 => waits
        a COMMIT
        b => ok
        a SELECT id FROM c => []
        a DROP TABLE c
        a DROP TABLE p";
    column_that_is_no_key_of_a_child_row_locks_no_parent_row: "a parent row
        a CREATE TABLE p (id INT PRIMARY KEY, v INT) ENGINE=InnoDB
        a CREATE TABLE c (id INT PRIMARY KEY, p INT, v INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB
        a INSERT INTO p VALUES (1, 0), (2, 0), (3, 0)
        a INSERT INTO c VALUES (1, 1, 0)
        a BEGIN
        a UPDATE c SET v = 1 WHERE id = 1
        b UPDATE p SET v = 1 WHERE id = 1
        a COMMIT
        a DROP TABLE c
        a DROP TABLE p";
}
