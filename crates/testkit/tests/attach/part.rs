//! Tests of a copy of some of a source's tables: what is not chosen is neither copied nor followed.

use bench::instance::{Flavor, Settings};
use testkit::Server;

use crate::attaching::{Attaching, catch_up, shown};

const SOURCE: &[&str] = &[
    "CREATE DATABASE shop_1",
    "CREATE TABLE shop_1.orders (id INT PRIMARY KEY, what VARCHAR(20))",
    "INSERT INTO shop_1.orders VALUES (1, 'a'), (2, 'b')",
    "CREATE TABLE shop_1.log (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(20))",
    "CREATE TRIGGER shop_1.t AFTER INSERT ON shop_1.orders FOR EACH ROW INSERT INTO shop_1.log (what) VALUES (NEW.what)",
    "CREATE SQL SECURITY INVOKER VIEW shop_1.v AS SELECT COUNT(*) n FROM shop_1.orders",
    "CREATE FUNCTION shop_1.twice(x INT) RETURNS INT DETERMINISTIC SQL SECURITY INVOKER RETURN x * 2",
    // The name matches the pattern shop_1 unless its _ is escaped.
    "CREATE DATABASE shopx1",
    "CREATE TABLE shopx1.orders (id INT PRIMARY KEY)",
    "CREATE DATABASE parts",
    "CREATE TABLE parts.chosen (id INT PRIMARY KEY, v INT)",
    "INSERT INTO parts.chosen VALUES (1, 1), (2, 2)",
    "CREATE TABLE parts.other (id INT PRIMARY KEY)",
    "INSERT INTO parts.other VALUES (1)",
    "CREATE VIEW shop_1.w AS SELECT * FROM parts.other",
    // What is not chosen is not in the way.
    "CREATE DATABASE old",
    "CREATE TABLE old.aria (a INT) ENGINE = MyISAM",
    "CREATE PROCEDURE old.p() SELECT 1",
];

const LATER: &[&str] = &[
    "INSERT INTO shop_1.orders VALUES (3, 'c')",
    "CREATE TABLE shop_1.new (id INT PRIMARY KEY)",
    "INSERT INTO shop_1.new VALUES (1)",
    "INSERT INTO shopx1.orders VALUES (1)",
    "UPDATE parts.chosen SET v = 10 WHERE id = 1",
    "INSERT INTO parts.other VALUES (2)",
    "ALTER TABLE parts.other ADD c INT",
    "CREATE TABLE parts.another (id INT PRIMARY KEY)",
    "CREATE PROCEDURE old.q() SELECT 1",
    "DROP PROCEDURE old.p",
    "CREATE DATABASE later",
    "CREATE TABLE later.t (id INT PRIMARY KEY)",
    "CREATE PROCEDURE later.p() SELECT 1",
    "CREATE USER somebody",
    "GRANT SELECT ON parts.other TO somebody",
    "DROP DATABASE shopx1",
    "INSERT INTO shop_1.orders VALUES (4, 'd')",
];

const OWN: &str = "('mysql', 'information_schema', 'performance_schema', 'sys')";

fn part_of(test: &str, flavor: Flavor) {
    if !testkit::available(test, &[flavor]) {
        return;
    }
    let source = Server::start(flavor, &Settings { server_id: 1, ..Settings::default() });
    SOURCE.iter().for_each(|sql| drop(source.run(sql)));
    let mut replica = Attaching::new(&source);
    replica.set_words(&["--tables=shop_1.*,parts.chosen"]);
    replica.start();
    let mut here = replica.wait();
    LATER.iter().for_each(|sql| drop(source.run(sql)));
    catch_up(&source, &mut here);
    let mut there = source.connect();
    for sql in [
        "SELECT * FROM shop_1.orders ORDER BY id",
        "SELECT * FROM shop_1.log ORDER BY id",
        "SELECT * FROM shop_1.v",
        "SELECT * FROM shop_1.new",
        "SELECT shop_1.twice(4)",
        "SELECT * FROM parts.chosen ORDER BY id",
    ] {
        assert_eq!(shown(&mut here, sql), shown(&mut there, sql), "{sql}");
    }
    let tables = format!(
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN {OWN} ORDER BY 1"
    );
    let here_is: Vec<String> = shown(&mut here, &tables).concat();
    assert_eq!(here_is, ["parts.chosen", "shop_1.log", "shop_1.new", "shop_1.orders", "shop_1.v"]);
    let schemas = format!(
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN {OWN} ORDER BY 1"
    );
    assert_eq!(shown(&mut here, &schemas).concat(), ["later", "old", "parts", "shop_1"]);
    let programs = "SELECT ROUTINE_SCHEMA, ROUTINE_NAME FROM information_schema.ROUTINES \
                    WHERE ROUTINE_SCHEMA NOT IN ('mysql', 'sys') ORDER BY 1, 2";
    assert_eq!(shown(&mut here, programs).concat(), ["later", "p", "old", "q", "shop_1", "twice"]);
    source.run("DROP DATABASE parts");
    catch_up(&source, &mut here);
    assert_eq!(shown(&mut here, &schemas).concat(), ["later", "old", "shop_1"]);
}

#[test]
fn chosen_tables_of_mysql_are_copied_and_followed() {
    part_of("chosen_tables_of_mysql_are_copied_and_followed", Flavor::MySql);
}

#[test]
fn chosen_tables_of_mariadb_are_copied_and_followed() {
    part_of("chosen_tables_of_mariadb_are_copied_and_followed", Flavor::MariaDb);
}

#[test]
fn a_chosen_table_whose_parent_is_left_out_is_in_the_way() {
    let test = "a_chosen_table_whose_parent_is_left_out_is_in_the_way";
    if !testkit::available(test, &[Flavor::MySql]) {
        return;
    }
    let source = Server::start(Flavor::MySql, &Settings { server_id: 1, ..Settings::default() });
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.parents (id INT PRIMARY KEY)",
        "CREATE TABLE d.children (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES d.parents (id))",
    ] {
        source.run(sql);
    }
    let mut replica = Attaching::new(&source);
    for (words, is_torn) in [
        (&["--tables=d.children"][..], true),
        (&["--", "--replicate-ignore-table=d.parents"], true),
        (&["--tables=d.parents,d.unknown"], false),
    ] {
        // The account may not be used for replication, so that the checks fail anyway.
        source.run("REVOKE REPLICATION SLAVE ON *.* FROM repl");
        replica.set_words(words);
        let told = replica.dry_run();
        let what = "error: d.children refers by a foreign key to a table that the filters leave out.";
        assert_eq!(told.contains(what), is_torn, "{words:?}: {told}");
    }
    replica.set_words(&["--tables=d"]);
    let told = replica.refused();
    assert!(told.contains("it is not of the form schema.* or schema.table"), "{told}");
}
