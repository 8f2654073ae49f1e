//! Subqueries that are run only for the values that few rows look for, compared with MySQL, and how
//! many rows are read for them.

use bench::instance::Settings;
use testkit::Server;
use testkit::answers::{answer, rows};
use testkit::server::same_as_mysql;

const TABLES: &[&str] = &[
    "CREATE DATABASE n",
    "USE n",
    "SET cte_max_recursion_depth = 10000",
    "CREATE TABLE land (id INT PRIMARY KEY, name VARCHAR(20))",
    "INSERT INTO land WITH RECURSIVE r AS (SELECT 0 i UNION ALL SELECT i + 1 FROM r WHERE i < 24)
     SELECT i, CONCAT('land', i) FROM r",
    "CREATE TABLE seller (id INT PRIMARY KEY, land INT NOT NULL, other INT, big BIGINT UNSIGNED, KEY (land))",
    "INSERT INTO seller WITH RECURSIVE r AS (SELECT 0 i UNION ALL SELECT i + 1 FROM r WHERE i < 499)
     SELECT i, i % 25, IF(i % 3 = 0, NULL, i - 3), IF(i % 50 = 4, 18446744073709551615, i) FROM r",
    "CREATE TABLE part (id INT PRIMARY KEY, name VARCHAR(20))",
    "INSERT INTO part WITH RECURSIVE r AS (SELECT 0 i UNION ALL SELECT i + 1 FROM r WHERE i < 3999)
     SELECT i, CONCAT(ELT(1 + i % 10, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'), i) FROM r",
    "CREATE TABLE offer (part INT NOT NULL, seller INT, amount INT NOT NULL, KEY (part), KEY (seller))",
    "INSERT INTO offer SELECT id, IF(id % 7 = 0, NULL, id * 31 % 500), id % 100 FROM part",
    "INSERT INTO offer SELECT id, id * 17 % 500, id % 90 FROM part",
    "INSERT INTO offer SELECT id, -1, id % 90 FROM part WHERE id % 5 = 0",
    "ANALYZE TABLE land, seller, part, offer",
];

/// A query for the sellers of a land that sell some part. The subquery depends on a value for each
/// of its rows.
const OF_A_LAND: &str = "SELECT s.id, s.other FROM seller s JOIN land l ON s.land = l.id
    WHERE l.name = 'land4' AND s.id IN (SELECT o.seller FROM offer o JOIN part p ON o.part = p.id
    WHERE p.name LIKE 'c%' AND o.amount > (SELECT 0.5 * SUM(amount) FROM offer i
    WHERE i.part = o.part AND i.seller = o.seller)) ORDER BY 1";

const QUERIES: &[&str] = &[
    OF_A_LAND,
    "SELECT COUNT(*), MAX(s.id) FROM seller s WHERE s.land = 4 AND s.other IN (SELECT o.seller
     FROM offer o JOIN part p ON o.part = p.id WHERE p.name LIKE 'd%' AND o.amount > 40)",
    "SELECT s.id, s.big FROM seller s WHERE s.land = 4 AND s.big IN (SELECT o.seller FROM offer o
     JOIN part p ON o.part = p.id WHERE p.name LIKE 'c%' AND o.amount < 50) ORDER BY 1",
    "SELECT s.id FROM seller s WHERE s.land = 77 AND s.id IN (SELECT o.seller FROM offer o
     JOIN part p ON o.part = p.id WHERE p.name LIKE 'c%') ORDER BY 1",
    "SELECT s.id FROM seller s WHERE s.land = 3 AND s.id NOT IN (SELECT o.seller FROM offer o
     JOIN part p ON o.part = p.id WHERE p.name LIKE 'c%' AND o.seller IS NOT NULL) ORDER BY 1",
    "SELECT s.id, s.other IN (SELECT o.seller FROM offer o JOIN part p ON o.part = p.id
     WHERE p.name LIKE 'c%') FROM seller s WHERE s.land = 3 AND s.id IN (SELECT o.seller FROM offer o
     JOIN part p ON o.part = p.id WHERE p.name LIKE 'b%') ORDER BY 1",
    "SELECT l.name, (SELECT COUNT(*) FROM seller s WHERE s.land = l.id AND s.id IN (SELECT o.seller
     FROM offer o JOIN part p ON o.part = p.id WHERE p.name LIKE 'c%')) FROM land l ORDER BY l.id",
    "SELECT d.land, COUNT(*) FROM (SELECT s.land, s.id FROM seller s WHERE s.land IN (2, 7) AND s.id
     IN (SELECT DISTINCT o.seller FROM offer o JOIN part p ON o.part = p.id WHERE p.name LIKE 'g%'
     ORDER BY o.amount)) d JOIN offer o ON o.seller = d.id GROUP BY d.land ORDER BY d.land",
    "SELECT s.id FROM seller s WHERE s.land = 2 AND s.id IN (SELECT o.seller FROM offer o
     JOIN part p ON o.part = p.id WHERE p.name LIKE 'c%') UNION ALL SELECT s.id FROM seller s
     WHERE s.land = 5 AND s.id IN (SELECT o.seller FROM offer o JOIN part p ON o.part = p.id
     WHERE p.name LIKE 'f%') ORDER BY 1",
    "PREPARE q FROM 'SELECT COUNT(*), SUM(s.id) FROM seller s WHERE s.land = ? AND s.id IN (SELECT
     o.seller FROM offer o JOIN part p ON o.part = p.id WHERE p.name LIKE ? AND 1 = ?)'",
    "SET @land = 4, @name = 'c%', @one = 1, @other = 9, @two = 2",
    "EXECUTE q USING @land, @name, @one",
    "EXECUTE q USING @other, @name, @one",
    "EXECUTE q USING @other, @name, @two",
    "EXECUTE q USING @land, @name, @one",
    "CREATE TABLE kept AS SELECT s.id FROM seller s WHERE s.land = 4 AND s.id IN (SELECT o.seller
     FROM offer o JOIN part p ON o.part = p.id WHERE p.name LIKE 'c%')",
    "SELECT COUNT(*), SUM(id) FROM kept",
    "INSERT INTO seller SELECT s.id + 1000, 4, NULL, 1 FROM seller s WHERE s.land = 4 AND s.id IN
     (SELECT o.seller FROM offer o JOIN part p ON o.part = p.id WHERE p.name LIKE 'c%')",
    "SELECT COUNT(*), SUM(id) FROM seller",
];

#[test]
fn subqueries_for_few_values_answer_as_in_mysql() {
    let answers = same_as_mysql("narrowed_subqueries", &Settings::default(), |server| {
        let mut client = server.connect();
        TABLES.iter().chain(QUERIES).map(|statement| answer(&mut client, statement)).collect()
    });
    assert!(answers[TABLES.len()].contains(": "), "{answers:?}");
}

/// A subquery with an argument runs only for those rows of the narrowed subquery whose sellers are
/// asked for. Without that it runs for each offer of the parts.
#[test]
fn rows_that_nobody_asks_for_are_not_computed() {
    let server = Server::start(bench::instance::Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    for sql in TABLES {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    client.query("FLUSH STATUS").expect("set to zero");
    assert!(!rows(&mut client, OF_A_LAND).is_empty());
    let row = rows(&mut client, "SHOW SESSION STATUS LIKE 'Handler_read_key'").remove(0);
    let keys: u64 = row.split('\t').next_back().and_then(|number| number.parse().ok()).expect("a number");
    // 400 parts are looked up among the offers, and some 800 offers have them.
    assert!(keys < 600, "{keys} keys are read");
}
