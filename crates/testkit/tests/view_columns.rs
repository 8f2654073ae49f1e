//! What SHOW COLUMNS and information_schema.COLUMNS say of views: of a real MySQL, and of
//! Slipstream. A tool that reads the schema finds views there as it finds tables.

use testkit::answers::same_answers;

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
