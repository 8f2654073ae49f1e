//! Tests that EXPLAIN names the partitions which MySQL names, and that the figures of partitions
//! are those of MySQL.

use bench::instance::Settings;
use protocol::client::Client;
use testkit::Server;
use testkit::answers::rows;
use testkit::server::same_as_mysql;

const TABLES: &[&str] = &[
    "create database pruned",
    "use pruned",
    "create table r(id int primary key, v int) partition by range(id)(partition p0 values less than (10), partition p1 values less than (20), partition p2 values less than (30))",
    "create table rm(id int, v int) partition by range(id)(partition p0 values less than (10), partition p1 values less than (20), partition p2 values less than maxvalue)",
    "create table l(c int, v int) partition by list(c)(partition a values in (1,2,null), partition b values in (3,4), partition z values in (7))",
    "create table h(id int primary key, v int) partition by hash(id) partitions 4",
    "create table k(id int primary key, s varchar(10)) partition by key(id) partitions 4",
    "create table rc(d date, n int) partition by range columns(d)(partition p0 values less than ('2020-01-01'), partition p1 values less than ('2021-01-01'), partition p2 values less than (maxvalue))",
    "create table rc2(a int, b int) partition by range columns(a,b)(partition p0 values less than (5,5), partition p1 values less than (5,10), partition p2 values less than (10,0), partition p3 values less than (maxvalue,maxvalue))",
    "create table lc(s varchar(10)) partition by list columns(s)(partition p0 values in ('a','b'), partition p1 values in ('c'))",
    "create table y(d date) partition by range(year(d))(partition p0 values less than (2000), partition p1 values less than (2010), partition p2 values less than maxvalue)",
    "create table td(d date) partition by range(to_days(d))(partition p0 values less than (to_days('2000-01-01')), partition p1 values less than (to_days('2010-01-01')), partition p2 values less than maxvalue)",
    "create table sp(id int, d date) partition by range(id) subpartition by hash(to_days(d)) subpartitions 2 (partition p0 values less than (10), partition p1 values less than maxvalue)",
    "insert into r values(1,1),(11,1),(21,1)",
    "insert into rm values(null,1),(5,1),(15,1),(25,1),(35,1)",
    "insert into l values(1,1),(3,1),(7,1),(null,1)",
    "insert into h values(1,1),(2,1),(3,1),(4,1),(5,5)",
    "insert into k values(1,'a'),(2,'b'),(3,'c')",
    "insert into rc values('2019-05-05',1),('2020-05-05',1),('2022-01-01',1)",
    "insert into rc2 values(1,1),(5,7),(7,7),(20,1)",
    "insert into lc values('a'),('c')",
    "insert into y values('1999-01-01'),('2005-01-01'),('2015-01-01')",
    "insert into td values('1999-01-01'),('2005-01-01'),('2015-01-01')",
    "insert into sp values(1,'2020-01-01'),(20,'2020-01-02')",
];

/// Statements of which EXPLAIN shows the partitions as MySQL does.
const STATEMENTS: &[&str] = &[
    "select * from r",
    "select * from r where id < 10",
    "select * from r where id <= 10",
    "select * from r where id > 9",
    "select * from r where id > 19 and id < 25",
    "select * from r where id between 5 and 12",
    "select * from r where id in (5, 25)",
    "select * from r where id = 1 or id = 21",
    "select * from r where id = 99",
    "select * from r where id > 30",
    "select * from r where v = 1",
    "select * from r where id < 5 or v = 1",
    "select * from r where id <> 5",
    "select * from r partition (p1, p2) where id > 15",
    "select * from rm where id is null",
    "select * from rm where id < 5",
    "select * from rm where id is not null",
    "select * from rm where id <= 19",
    "select * from rm where id >= 20",
    "select * from rm where id is null or id > 25",
    "select * from rm where 15 > id",
    "select * from rm where id = 3 + 4",
    "select * from l where c = 3",
    "select * from l where c in (1, 7)",
    "select * from l where c is null",
    "select * from l where c > 2",
    "select * from l where c < 4",
    "select * from l where c between 2 and 3",
    "select * from l where c = 50",
    "select * from h where id = 5",
    "select * from h where id in (1, 5, 9)",
    "select * from h where id between 1 and 2",
    "select * from h where id > 2",
    "select * from k where id = 1",
    "select * from k where id in (1, 2, 3)",
    "select * from k where id > 1",
    "select * from rc where d = '2020-05-05'",
    "select * from rc where d < '2020-01-01'",
    "select * from rc where d <= '2020-01-01'",
    "select * from rc where d > '2020-12-31'",
    "select * from rc where d >= '2021-01-01'",
    "select * from rc where d between '2019-01-01' and '2020-02-02'",
    "select * from rc2 where a = 5",
    "select * from rc2 where a = 5 and b = 7",
    "select * from rc2 where a < 5",
    "select * from rc2 where a > 5",
    "select * from rc2 where a >= 10",
    "select * from rc2 where b = 7",
    "select * from lc where s = 'b'",
    "select * from lc where s = 'B'",
    "select * from lc where s in ('a', 'c')",
    "select * from lc where s = 'x'",
    "select * from y where d = '2005-05-05'",
    "select * from y where d < '2000-01-01'",
    "select * from y where d <= '2009-12-31'",
    "select * from y where d >= '2010-01-01'",
    "select * from y where d between '2001-01-01' and '2002-01-01'",
    "select * from td where d = '2005-05-05'",
    "select * from td where d < '2000-01-01'",
    "select * from td where d > '2010-01-01'",
    "select * from sp",
    "select * from sp where id = 5",
    "select * from sp where d = '2020-01-01'",
    "select * from sp where id = 5 and d = '2020-01-01'",
    "select * from r a, rm b where a.id < 10 and b.id > 25",
    "update r set v = 2 where id = 15",
    "delete from r where id < 10",
    "delete from r where id = 99",
    "select * from r where id < 15.5",
    "select * from r where id > 19.5",
    "insert into h values (1, 1)",
    "insert into h values (1, 1), (2, 2)",
    "insert into h values (1, 1), (2, 2), (3, 3), (4, 4)",
    "insert into h values ('x', 1)",
    "insert into h select id, v from rm where id < 5",
    "insert into h values (1, 1) on duplicate key update v = 3",
    "insert into h values (1, 1) on duplicate key update id = 3",
    "insert into rm values (1, 1), (15, 2)",
    "insert into rm values (null, 1)",
    "insert into rm (v) values (1)",
    "insert into rm set id = 25",
    "insert into rm values (5 + 6, 2)",
    "insert into rm values (rand() * 30, 2)",
    "insert into rm partition (p0) values (1, 1)",
    "replace into rm values (15, 2)",
    "insert into l values (7, 1), (3, 1)",
    "insert into k values (1, 'x')",
    "insert into rc values ('2020-05-05', 1)",
    "insert into rc2 values (5, 7), (20, 1)",
    "insert into lc values ('b')",
    "insert into y values ('2005-05-05'), (19990101)",
    "insert into td values ('2005-05-05')",
    "insert into sp values (20, '2020-01-02')",
];

fn begin(server: &Server) -> Client {
    let mut client = server.connect();
    for sql in TABLES {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    client
}

#[test]
fn explain_names_the_partitions_that_mysql_names() {
    let test = "partition_pruning_like_mysql::explain_names_the_partitions_that_mysql_names";
    let lines = same_as_mysql(test, &Settings::default(), |server| {
        let mut client = begin(server);
        let mut lines = Vec::new();
        for sql in STATEMENTS {
            for row in rows(&mut client, &format!("EXPLAIN FORMAT=TRADITIONAL {sql}")) {
                // How the rows are read depends on costs.
                let cells: Vec<&str> = row.split('\t').collect();
                let why = cells[11].starts_with("No ") || cells[11].starts_with("no ");
                lines.push(format!("{sql}: {} {} {}", cells[2], cells[3], if why { cells[11] } else { "" }));
            }
        }
        lines
    });
    assert!(lines.len() > STATEMENTS.len(), "{lines:?}");
}

#[test]
fn partitions_have_mysqls_numbers_of_rows() {
    let test = "partition_pruning_like_mysql::partitions_have_mysqls_numbers_of_rows";
    same_as_mysql(test, &Settings::default(), |server| {
        let mut client = begin(server);
        for table in ["r", "rm", "l", "h", "k", "rc", "rc2", "lc", "y", "td", "sp"] {
            rows(&mut client, &format!("ANALYZE TABLE {table}"));
        }
        rows(
            &mut client,
            "SELECT table_name, partition_name, subpartition_name, table_rows, \
             avg_row_length > 0 = (table_rows > 0), data_length > 0 OR table_rows = 0 \
             FROM information_schema.PARTITIONS WHERE table_schema = 'pruned' ORDER BY 1, 2, 3",
        )
    });
}

/// The rows of a large table are estimated, so that they add up to those of the table.
#[test]
fn partitions_of_a_large_table_are_estimated() {
    let server = Server::start(bench::instance::Flavor::Slipstream, &Settings::default());
    let mut client = begin(&server);
    for sql in [
        "SET cte_max_recursion_depth = 20000",
        "INSERT INTO rm WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 9999) \
         SELECT IF(i % 4 = 0, 5, 25), i FROM n",
        "ANALYZE TABLE rm",
    ] {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let found = rows(
        &mut client,
        "SELECT partition_name, table_rows FROM information_schema.PARTITIONS \
         WHERE table_schema = 'pruned' AND table_name = 'rm' ORDER BY 1",
    );
    let count =
        |at: usize| found[at].split('\t').nth(1).and_then(|n| n.parse::<i64>().ok()).expect("a number");
    assert!((1500..3500).contains(&count(0)) && (6500..8500).contains(&count(2)), "{found:?}");
    assert!((9000..11_500).contains(&(count(0) + count(1) + count(2))), "{found:?}");
}

/// Tables in which keys and partitions go together, and rows that move, come and go.
const READ: &[&str] = &[
    "create database read_in_part",
    "use read_in_part",
    "set time_zone = '+00:00', cte_max_recursion_depth = 100000",
    "create table n(n int primary key)",
    "insert into n with recursive r(n) as (select 0 union all select n + 1 from r where n < 19999) select n from r",
    "create table r(id int, at datetime(3), v int, primary key(id, at)) partition by range columns(at)(partition p0 values less than ('2021-01-01'), partition p1 values less than ('2022-01-01'), partition p2 values less than (maxvalue))",
    "create table d(id int, at date, v int, primary key(id, at)) partition by range(to_days(at))(partition p0 values less than (to_days('2021-01-01')), partition p1 values less than (to_days('2022-01-01')), partition p2 values less than maxvalue)",
    "create table u(id int, at timestamp, v int, primary key(id, at)) partition by range(unix_timestamp(at))(partition p0 values less than (unix_timestamp('2021-01-01')), partition p1 values less than (unix_timestamp('2022-01-01')), partition p2 values less than maxvalue)",
    "create table l(id int, at int, v int, primary key(id, at)) partition by list(at)(partition p0 values in (2020), partition p1 values in (2021), partition p2 values in (2022))",
    "insert into r select n, '2020-01-01' + interval n hour, n % 7 from n",
    "insert into d select n, '2020-01-01' + interval n hour, n % 7 from n",
    "insert into u select n, '2020-01-01' + interval n hour, n % 7 from n",
    "insert into l select n, 2020 + n div 7000, n % 7 from n",
];

/// Questions about the table `{t}` with two values of its partitioning column. Each is asked twice,
/// because the first time learns what the second one leaves out.
const QUESTIONS: &[&str] = &[
    "select count(*), sum(v), min(id), max(id) from {t} where at >= {a} and at < {b}",
    "select count(*), sum(id) from {t} where at between {a} and {b} and v = 3",
    "select id, v from {t} where {b} < at order by id limit 5",
    "select id, v from {t} where at = {a} order by id limit 5",
    "select count(*) from {t} where at <> {a}",
    "select count(*) from {t} where at in ({a}, {b})",
    "select count(*) from {t} x join {t} y using (id) where x.at < {a}",
    "select v, count(*) from {t} where at > {a} group by v order by v",
    "select count(*) from {t} where at < now() - interval 1 day and at > now() - interval 4000 day",
];

const CHANGES: &[&str] = &[
    "update {t} set at = {a} where id in (10, 15000, 19999)",
    "delete from {t} where id between 8000 and 8100",
    "insert into {t} values(50000, {a}, 3)",
    "update {t} set v = 4 where id % 100 = 1",
    "update {t} set at = {b} where id in (10, 5000)",
];

/// Scans leave out parts of partitioned tables, and the answers are those of MySQL.
#[test]
fn tables_that_are_read_in_part_answer_as_in_mysql() {
    let test = "partition_pruning_like_mysql::tables_that_are_read_in_part_answer_as_in_mysql";
    let of = |text: &str, table: &str| {
        let (first, second) = match table {
            "l" => ("2021", "2022"),
            _ => ("'2020-12-31 22:00:00'", "'2021-01-15'"),
        };
        text.replace("{t}", table).replace("{a}", first).replace("{b}", second)
    };
    // The moment and a year are compared as numbers, in which MySQL warns.
    let questions = |table: &'static str| {
        let count = if table == "l" { QUESTIONS.len() - 1 } else { QUESTIONS.len() };
        QUESTIONS[..count].iter().map(move |question| of(question, table))
    };
    same_as_mysql(test, &Settings::default(), |server| {
        let (mut client, mut lines) = (server.connect(), Vec::new());
        for sql in READ {
            client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let mut ask = |client: &mut Client, sql: String| {
            lines.extend(rows(client, &sql).into_iter().map(|row| format!("{sql}: {row}")));
        };
        for change in [None].into_iter().chain(CHANGES.iter().map(Some)) {
            for table in ["r", "d", "u", "l"] {
                if let Some(sql) = change.map(|change| of(change, table)) {
                    client.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
                }
                for _ in 0..2 {
                    questions(table).for_each(|sql| ask(&mut client, sql));
                }
            }
        }
        for zone in ["-12:00", "+14:00"] {
            client.query(&format!("set time_zone = '{zone}'")).unwrap();
            questions("u").for_each(|sql| ask(&mut client, sql));
        }
        lines
    });
}

/// A query for one partition reads few of the other rows, once a query has passed them.
#[test]
fn a_partition_is_read_without_the_others() {
    let server = Server::start(bench::instance::Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    for sql in READ {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let steps = |client: &mut Client| -> u64 {
        let row = rows(client, "SHOW SESSION STATUS LIKE 'Handler_read_rnd_next'").remove(0);
        row.split('\t').next_back().unwrap().parse().unwrap()
    };
    for table in ["r", "u"] {
        let sql = format!("select count(*) from {table} where at >= '2022-01-01' and at < '2022-01-02'");
        let mut taken = Vec::new();
        for _ in 0..2 {
            let before = steps(&mut client);
            assert_eq!(rows(&mut client, &sql), ["24"], "{table}");
            taken.push(steps(&mut client) - before);
        }
        assert!(taken[0] >= 20_000, "{table}: the first query reads {taken:?} rows");
        assert!(taken[1] < 5_000, "{table}: the second query reads {taken:?} rows");
    }
}
