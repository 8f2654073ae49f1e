//! What a name means where it could mean several things, compared with MySQL: a column beside an
//! alias of the same name, and names in information_schema that differ in the case of letters.

use bench::instance::Settings;
use testkit::answers::answer;
use testkit::server::same_as_mysql;

fn play(test: &str, statements: &[&str]) {
    same_as_mysql(test, &Settings::default(), |server| {
        let mut client = server.connect();
        statements.iter().map(|statement| answer(&mut client, statement)).collect()
    });
}

#[test]
fn a_column_hides_an_alias_inside_of_expressions_of_order_by() {
    let statements = [
        "CREATE DATABASE n",
        "USE n",
        "CREATE TABLE s (id INT PRIMARY KEY, a INT, b INT, e VARCHAR(9))",
        "INSERT INTO s VALUES (1, 1, 9, 'x'), (2, 2, 8, 'x'), (3, 3, 7, 'y'), (4, 4, 6, 'y')",
        "SELECT id, -a AS a FROM s ORDER BY a",
        "SELECT id, -a AS a FROM s ORDER BY a + 0",
        "SELECT id, b AS a FROM s ORDER BY -a",
        "SELECT id, b AS q FROM s ORDER BY -q",
        "SELECT id, b AS a FROM s ORDER BY CASE WHEN a > 2 THEN 0 ELSE 1 END, a",
        "SELECT id, b AS a FROM s ORDER BY (SELECT a)",
        "SELECT DISTINCT -a AS a FROM s ORDER BY a + 0",
        "SELECT b AS a, COUNT(*) FROM s GROUP BY a ORDER BY a + 0",
        "SELECT e, MAX(b) AS a FROM s GROUP BY e ORDER BY a + 1",
        "SELECT e, MAX(b) AS a FROM s GROUP BY e ORDER BY e, a + 1",
        "SELECT e, MAX(a) AS a FROM s GROUP BY e HAVING a + 1 > 3 ORDER BY e",
        "SELECT e, MAX(b) AS m FROM s GROUP BY e ORDER BY -m",
        "SELECT o.id, (SELECT t.b AS a FROM s t WHERE t.id < 3 ORDER BY a + o.id LIMIT 1) FROM s o ORDER BY 1",
        "SELECT o.a, (SELECT -t.b AS z FROM s t ORDER BY z + o.id LIMIT 1) FROM s o ORDER BY 1",
        "SELECT id, RANK() OVER (ORDER BY a + 0) AS a FROM s ORDER BY -a",
        "SET sql_mode = ''",
        "SELECT e, MIN(b) AS a FROM s GROUP BY e ORDER BY a + 1",
        "SELECT e, -MAX(a) AS a FROM s GROUP BY e ORDER BY a + 0",
    ];
    play("a_column_hides_an_alias_inside_of_expressions_of_order_by", &statements);
}

#[test]
fn names_in_information_schema_differ_by_the_case_of_letters() {
    let statements = [
        "CREATE DATABASE n",
        "USE n",
        "CREATE TABLE T2 (a INT PRIMARY KEY)",
        "CREATE TABLE t2 (b INT PRIMARY KEY)",
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'n' AND table_name = 't2'",
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'N'",
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'n' AND table_name LIKE 'T%'",
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'n' AND table_name = 'T2'",
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'n' AND column_name = 'B'",
        "SELECT column_name FROM information_schema.statistics WHERE table_schema = 'n' AND table_name = 'T2'",
        "SELECT index_name FROM information_schema.statistics WHERE table_schema = 'n' AND index_name = 'primary'",
        "SELECT COUNT(*) FROM information_schema.key_column_usage WHERE table_schema = 'N'",
        "SELECT COUNT(*) FROM information_schema.table_constraints WHERE table_schema = 'N'",
        "SELECT schema_name FROM information_schema.schemata WHERE schema_name IN ('N', 'MYSQL', 'PERFORMANCE_SCHEMA')",
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'information_schema' AND table_name = 'tables'",
        "SELECT DISTINCT table_type FROM information_schema.tables WHERE table_schema = 'n' AND table_type = 'base table'",
        "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'n' AND column_key = 'pri'",
    ];
    play("names_in_information_schema_differ_by_the_case_of_letters", &statements);
}
