//! Tables with foreign keys that have every action, and a random load on parents and children.

use os::random::Rng;
use protocol::client::{Client, ClientError};

use crate::server::Server;

/// Parents, children that refer to a primary key and to a unique key, children of children,
/// children without a key of their own, a tree, and a table whose foreign key has no action.
const TABLES: &[&str] = &[
    "CREATE DATABASE family",
    "CREATE TABLE family.elders (id INT PRIMARY KEY, code VARCHAR(20) UNIQUE)",
    "CREATE TABLE family.parents (id INT PRIMARY KEY, elder INT, note INT, \
     FOREIGN KEY (elder) REFERENCES elders (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE family.children (id INT PRIMARY KEY, parent INT, code VARCHAR(30), note INT, \
     CONSTRAINT of_parent FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE SET NULL ON UPDATE CASCADE, \
     CONSTRAINT of_code FOREIGN KEY (code) REFERENCES elders (code) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE family.keyless (parent INT, note INT, \
     FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE CASCADE ON UPDATE SET NULL)",
    "CREATE TABLE family.tree (id INT PRIMARY KEY, up INT, \
     FOREIGN KEY (up) REFERENCES tree (id) ON DELETE CASCADE)",
    "CREATE TABLE family.strict (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES parents (id))",
];

/// Queries whose answers show the state of all tables.
const QUERIES: &[&str] = &[
    "SELECT * FROM family.elders ORDER BY id",
    "SELECT * FROM family.parents ORDER BY id",
    "SELECT * FROM family.children ORDER BY id",
    "SELECT * FROM family.keyless ORDER BY parent, note",
    "SELECT * FROM family.tree ORDER BY id",
    "SELECT * FROM family.strict ORDER BY id",
];

/// Makes the tables.
pub fn make(server: &Server) {
    TABLES.iter().for_each(|sql| drop(server.run(sql)));
}

/// Runs random transactions in several sessions at once. A transaction that is refused because of a
/// foreign key, a unique key or a deadlock is rolled back. It returns the number of committed
/// transactions.
pub fn load(server: &Server, sessions: u64, transactions: u64, seed: u64) -> u64 {
    let session = |number: u64| {
        let mut client = server.connect();
        let mut rng = Rng::new(seed.wrapping_add(number));
        move || (0..transactions).filter(|_| transaction(&mut client, &mut rng)).count() as u64
    };
    os::thread::run_all("family_load", (0..sessions).map(session).collect()).into_iter().sum()
}

/// Runs a transaction. It returns false when the server has refused a statement.
fn transaction(client: &mut Client, rng: &mut Rng) -> bool {
    run(client, "BEGIN");
    for _ in 0..rng.between(1, 4) {
        if !run(client, &statement(rng)) {
            run(client, "ROLLBACK");
            return false;
        }
    }
    run(client, "COMMIT")
}

fn run(client: &mut Client, sql: &str) -> bool {
    match client.query(sql) {
        Ok(_) => true,
        Err(ClientError::Server(error)) if [1062, 1205, 1213, 1451, 1452].contains(&error.code) => false,
        Err(error) => panic!("{sql}: {error}"),
    }
}

fn statement(rng: &mut Rng) -> String {
    let (a, b, c) = (rng.below(30), rng.below(30), rng.below(1000));
    match rng.below(18) {
        0..=1 => {
            format!("INSERT INTO family.elders VALUES ({a}, 'code{a}') ON DUPLICATE KEY UPDATE code = code")
        }
        2..=4 => format!("INSERT INTO family.parents VALUES ({a}, {b}, {c})"),
        5..=6 => format!(
            "INSERT INTO family.children VALUES ({c}, {a}, 'CODE{b}', {c}), ({c} + 1, {b}, NULL, {a})"
        ),
        7 => format!("INSERT INTO family.keyless VALUES ({a}, {c}), ({b}, {c}), (NULL, {a})"),
        8 => format!("INSERT INTO family.tree VALUES ({c}, NULL), ({c} + 1, {c}), ({c} + 2, {c} + 1)"),
        9 => format!("INSERT INTO family.strict VALUES ({c}, {a})"),
        10 => format!("UPDATE family.parents SET note = {c} WHERE id BETWEEN {a} AND {a} + 5"),
        11 => format!("UPDATE family.parents SET id = id + 30, note = {c} WHERE id = {a}"),
        12 => format!("UPDATE family.elders SET id = id + 30, code = 'moved{c}' WHERE id = {a}"),
        13 => format!("UPDATE family.elders SET code = 'code{b}' WHERE id IN ({a}, {a} + 30)"),
        14 => format!("DELETE FROM family.elders WHERE id = {a}"),
        15 => format!("DELETE FROM family.parents WHERE id IN ({a}, {b})"),
        16 => format!("DELETE FROM family.tree WHERE id BETWEEN {c} AND {c} + 30"),
        _ => format!("DELETE FROM family.strict WHERE id > {c}"),
    }
}

/// Compares all rows at both ends, and checks that every child has its parent.
pub fn compare(source: &Server, replica: &Server) {
    for query in QUERIES {
        assert_eq!(replica.rows(query), source.rows(query), "{query}\n{}", replica.log_tail());
    }
    for (child, column, parent, key) in [
        ("parents", "elder", "elders", "id"),
        ("children", "parent", "parents", "id"),
        ("children", "code", "elders", "code"),
        ("keyless", "parent", "parents", "id"),
        ("tree", "up", "tree", "id"),
        ("strict", "parent", "parents", "id"),
    ] {
        let orphans = format!(
            "SELECT COUNT(*) FROM family.{child} c LEFT JOIN family.{parent} p ON c.{column} = p.{key} \
             WHERE c.{column} IS NOT NULL AND p.{key} IS NULL"
        );
        assert_eq!(replica.rows(&orphans), ["0"], "{orphans}");
    }
}
