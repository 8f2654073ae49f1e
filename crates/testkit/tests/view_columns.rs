//! Tests that SHOW COLUMNS and information_schema.COLUMNS show of views what a real MySQL shows. A
//! tool that reads the schema finds views there as it finds tables.

use bench::instance::{Flavor, Settings};
use testkit::Server;
use testkit::answers::{answer, same_answers};

#[test]
fn a_view_has_columns_like_a_table() {
    let answers = same_answers(
        "view_columns",
        &[
            "CREATE DATABASE d",
            "CREATE DATABASE e",
            "CREATE TABLE e.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(10) CHARACTER SET latin1 NOT NULL DEFAULT \
             'x' COMMENT 'hi', d DECIMAL(10,2), b BIT(3), plain INT NOT NULL, ts TIMESTAMP(3) NULL, j JSON, e ENUM('a','b'), tx TEXT)",
            "CREATE VIEW d.v AS SELECT *, id + 1 AS n, CONCAT(v, 'x') c, d * 1.5 AS dd, '' AS nothing FROM e.t",
            "CREATE VIEW d.renamed (one, two) AS SELECT id, v FROM e.t",
            "CREATE VIEW d.outer_view AS SELECT one, n FROM d.renamed JOIN d.v ON v.id = renamed.one",
            "CREATE TABLE e.gone (a INT)",
            "CREATE VIEW d.broken AS SELECT a FROM e.gone",
            "DROP TABLE e.gone",
            "SELECT * FROM information_schema.columns WHERE table_schema = 'd' AND table_name <> 'broken' ORDER BY \
             table_name, ordinal_position",
            "SELECT table_name, COUNT(*) FROM information_schema.columns WHERE table_schema IN ('d', 'e') AND table_name \
             <> 'broken' GROUP BY table_name ORDER BY table_name",
            "SHOW COLUMNS FROM d.v",
            "SHOW FULL COLUMNS FROM d.renamed",
            "SHOW FULL COLUMNS FROM d.outer_view",
            "SHOW FULL COLUMNS FROM d.broken",
        ],
    );
    assert!(answers[9].contains("varchar(11)"), "{answers:#?}");
}

/// Some views have queries that cannot be bound: one function is gone, one definer is gone, and one
/// query needs what Slipstream lacks.
#[test]
fn a_view_that_cannot_be_bound_keeps_no_other_from_being_seen() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut session = server.connect();
    for statement in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (a INT, x TEXT, FULLTEXT KEY (x))",
        "CREATE VIEW good AS SELECT a FROM t",
        "CREATE FUNCTION f() RETURNS INT DETERMINISTIC NO SQL RETURN 1",
        "CREATE VIEW of_function AS SELECT f() AS f FROM t",
        "CREATE USER gone",
        "CREATE DEFINER = gone VIEW of_nobody AS SELECT a FROM t",
    ] {
        session.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    // This view may be kept, as a view of a source would be.
    let kept = "CREATE VIEW of_words AS SELECT a FROM t WHERE ST_Distance(x, x) > 1";
    let is_kept = session.query(kept).is_ok();
    session.query("DROP FUNCTION f").expect("the function goes");
    session.query("DROP USER gone").expect("nobody's views stay");
    let asked =
        "SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = 'good'";
    let said = answer(&mut session, asked);
    assert!(said.contains("good"), "kept: {is_kept}; {said}");
}
