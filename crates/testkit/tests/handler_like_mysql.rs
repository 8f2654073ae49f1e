//! HANDLER beside the real MySQL.

use bench::instance::Settings;
use testkit::answers::answer;
use testkit::server::same_as_mysql;

/// Orders, keys, conditions and limits.
const READS: &[&str] = &[
    "create database gb_h",
    "use gb_h",
    "create table t (id int primary key, a int, b varchar(10), key ka (a), key kab (a,b))",
    "insert into t values (1,5,'x'),(2,5,'y'),(3,null,'z'),(4,7,'w'),(5,7,'a')",
    "create table h (v int, w int, key kv(v))",
    "insert into h values (3,1),(1,2),(2,3),(1,4)",
    "create view tv as select * from t",
    "handler t read first",
    "handler t open",
    "handler t open",
    "handler t open as t2",
    "handler t open t3",
    "handler t read first",
    "handler t read next",
    "handler t read next",
    "handler t read next",
    "handler t read next",
    "handler t read next",
    "handler t read next",
    "handler t read prev",
    "handler t read last",
    "handler t read ka first",
    "handler t read ka next",
    "handler t read ka next",
    "handler t read ka prev",
    "handler t read ka prev",
    "handler t read ka prev",
    "handler t read ka prev",
    "handler t read ka last",
    "handler t read ka prev",
    "handler t read ka next",
    "handler t read kab next",
    "handler t read kab prev",
    "handler t read ka = (5)",
    "handler t read ka next",
    "handler t read ka next",
    "handler t read ka >= (5)",
    "handler t read ka > (5)",
    "handler t read ka < (7)",
    "handler t read ka <= (7)",
    "handler t read ka <= (6)",
    "handler t read ka = (6)",
    "handler t read ka next",
    "handler t read kab = (7)",
    "handler t read kab = (7,'a')",
    "handler t read kab next",
    "handler t read kab >= (5,'y')",
    "handler t read kab > (5,'y') limit 10",
    "handler t read kab = (7,'a',3)",
    "handler t read kab = (null)",
    "handler t read ka > (null)",
    "handler t read ka = ('abc')",
    "handler t read ka = (5+2)",
    "handler t read ka = (id)",
    "handler t read ka = (@x)",
    "handler t read nokey first",
    "handler t read `primary` = (3)",
    "handler t read `PRIMARY` = (3)",
    "handler t read `PRIMARY` next",
    "handler t read `PRIMARY` > (1) limit 2",
    "handler t read next",
    "handler t read first limit 3",
    "handler t read next limit 1,2",
    "handler t read first where a=7 limit 5",
    "handler t read next where a=5",
    "handler t read ka = (7) limit 10",
    "handler t read ka = (7) where b='a' limit 10",
    "handler t read ka >= (5) where b<>'y' limit 10",
    "handler t read ka <= (7) limit 10",
    "handler t read ka < (7) limit 10",
    "handler t read ka < (7) where id=1 limit 10",
    "handler t read ka first limit 0",
    "handler t read ka next limit 10",
    "handler t read ka first limit 1 offset 2",
    "handler t read first where nope=1",
    "handler t read first where t.a=7",
    "handler t2 read first where t2.a=7",
    "handler t2 read first where t.a=7",
    "handler t read first where a=(select 7)",
    "handler t read first where count(*)>1",
    "handler t2 read first",
    "handler t3 read last",
    "handler gb_h.t open as q",
    "handler gb_h.t read first",
    "handler nope open",
    "handler nope.t open",
    "handler tv open",
    "handler tv close",
    "handler t close",
    "handler t close",
    "handler t read first",
    "handler information_schema.tables open",
    "handler h open",
    "handler h read first",
    "handler h read next",
    "handler h read next",
    "handler h read next",
    "handler h read next",
    "handler h read kv first",
    "handler h read kv next",
    "handler h read kv next",
    "handler h read kv next",
    "handler h read kv next",
    "handler h read kv = (1) limit 5",
    "handler h read prev",
    "handler h read last",
    "handler h read kv first limit 2",
    "insert into h values (1,9)",
    "handler h read kv next limit 10",
    "delete from h where w=4",
    "handler h read kv first limit 10",
];

/// What DDL, FLUSH and LOCK TABLES do to open tables.
const CHANGES: &[&str] = &[
    "create database gb_h",
    "use gb_h",
    "create table t (id int primary key, a int, key ka(a))",
    "insert into t values (1,5),(2,5),(3,null),(4,7)",
    "create table u (x int)",
    "handler t open",
    "handler t read first",
    "alter table t add c int",
    "handler t read next",
    "handler t open",
    "handler t read first",
    "flush tables",
    "handler t read next",
    "handler t read next",
    "flush tables t",
    "handler t read next",
    "truncate table t",
    "handler t read next",
    "handler t open",
    "drop table t",
    "handler t read next",
    "create table t (id int primary key, a int, key ka(a))",
    "insert into t values (1,5),(2,5),(3,null),(4,7)",
    "handler t open",
    "lock tables u read",
    "handler t read next",
    "handler t open as t9",
    "handler t close",
    "unlock tables",
    "handler t read next",
    "handler t open",
    "lock tables t read",
    "handler t read next",
    "handler t read next",
    "unlock tables",
    "handler t read next",
    "handler t open",
    "handler t read next",
    "begin",
    "handler t read next",
    "insert into t values (5,5)",
    "handler t read next",
    "commit",
    "handler t read next",
    "rollback",
    "handler t read next",
    "rename table t to t8",
    "handler t read next",
    "handler t8 open",
    "handler t8 read next",
    "create temporary table tt (i int primary key)",
    "insert into tt values (1),(2)",
    "handler tt open",
    "handler tt read first",
    "handler tt read next",
    "drop temporary table tt",
    "handler tt read next",
    "prepare p from 'handler t8 read first'",
    "prepare p from 'handler t8 open'",
    "create procedure pp() handler t8 read first",
    "create procedure pp() begin handler t8 open; end",
    "analyze table t8",
    "handler t8 read next",
    "handler t8 read next",
    "flush tables with read lock",
    "handler t8 open",
    "handler t8 read next",
    "unlock tables",
    "handler t8 read next",
    "handler t8 close",
    "handler t8 open",
    "use mysql",
    "handler t8 read next",
    "handler t8 close",
    "use gb_h",
    "handler t8 open",
    "drop table t8",
    "handler t8 read next",
    "handler t8 close",
    "explain handler t8 read next",
    "create table tz (a int, b int, primary key(a,b), key kb(b))",
    "insert into tz values (1,1),(1,2),(2,1)",
    "handler tz open",
    "handler tz read `primary` = (1)",
    "handler tz read `primary` next",
    "handler tz read `primary` next",
    "handler tz read `primary` next",
    "handler tz read `primary` prev",
    "handler tz read `primary` next",
    "handler tz read kb prev",
    "handler tz read kb prev",
    "handler tz read kb next",
    "handler tz read kb = (9)",
    "handler tz read kb prev",
    "handler tz read kb > (9)",
    "handler tz read kb next",
    "handler tz read kb prev",
    "handler tz read kb = ()",
    "handler tz read kb = (1",
    "handler tz read kb <> (1)",
    "handler tz read kb first where a=1 limit 5",
    "handler tz foo",
    "handler tz read kb = (default)",
    "handler tz read `primary` = (-1)",
    "handler tz read `primary` = (1.5)",
    "handler tz read `primary` >= (1.5)",
    "handler tz read `primary` = ('1x')",
];

/// Where the reading is after what found nothing.
const POSITIONS: &[&str] = &[
    "create database gb_h",
    "use gb_h",
    "create table t (id int primary key, a int, b varchar(10), key ka (a), key kab (a,b))",
    "insert into t values (1,5,'x'),(2,5,'y'),(3,null,'z'),(4,7,'w'),(5,7,'a'),(6,8,'a')",
    "handler t open",
    "handler t read ka = (5) limit 10",
    "handler t read ka next",
    "handler t read ka = (5) limit 10",
    "handler t read ka prev",
    "handler t read ka = (5) limit 2",
    "handler t read ka next",
    "handler t read ka prev",
    "handler t read ka prev",
    "handler t read ka prev",
    "handler t read ka prev",
    "handler t read ka next",
    "handler t read ka first limit 0",
    "handler t read ka next",
    "handler t read ka = (5) limit 0",
    "handler t read ka next",
    "handler t read ka > (5) limit 1,1",
    "handler t read ka next",
    "handler t read ka first where id=4",
    "handler t read ka next",
    "handler t read first where id=4",
    "handler t read next",
    "handler t read next where b='nope'",
    "handler t read next",
    "handler t read first where b='nope'",
    "handler t read next",
    "handler t read ka < (5)",
    "handler t read ka < (null)",
    "handler t read ka next",
    "handler t read ka = (6)",
    "handler t read ka prev",
    "handler t read ka next",
    "handler t read ka >= (9)",
    "handler t read ka prev",
    "handler t read ka <= (9)",
    "handler t read ka next",
    "handler t read kab = (5) limit 5",
    "handler t read kab next",
    "handler t read first limit -1",
    "handler t read first limit 'a'",
    "handler t read first limit @x",
    "handler t read first where sum(a)",
    "handler t read ka = (sum(1))",
    "handler t read ka = (now())",
    "handler t read ka = (abs(-5))",
    "handler t read ka first where @y:=a",
    "handler t read first where row_number() over ()",
    "handler t read",
    "handler t read ka",
    "handler t open x y",
    "handler t",
    "handler gb_h.t close",
];

/// Plays the statements; gives the answers.
fn play(test: &str, statements: &[&str]) -> Vec<String> {
    same_as_mysql(test, &Settings::default(), |server| {
        let mut client = server.connect();
        statements.iter().map(|statement| answer(&mut client, statement)).collect()
    })
}

fn has(answers: &[String], wanted: &str) -> bool {
    answers.iter().any(|answer| answer == wanted)
}

#[test]
fn rows_are_read_as_by_mysql() {
    let answers = play("handler_reads", READS);
    assert!(has(&answers, "handler t read ka = (7) limit 10: 4,7,w 5,7,a"), "{answers:#?}");
}

#[test]
fn open_tables_change_as_in_mysql() {
    let answers = play("handler_changes", CHANGES);
    let closed = "handler t read next: 1109 (42S02) Unknown table 't' in HANDLER";
    assert!(has(&answers, closed), "{answers:#?}");
}

#[test]
fn positions_are_kept_as_by_mysql() {
    let answers = play("handler_positions", POSITIONS);
    assert!(has(&answers, "handler t read ka = (5) limit 10: 1,5,x 2,5,y"), "{answers:#?}");
}

#[test]
fn statements_of_others_close_a_table() {
    let answers = same_as_mysql("handler_others", &Settings::default(), |server| {
        let [mut reader, mut other] = [server.connect(), server.connect()];
        let mut answers = Vec::new();
        for statement in ["create database gb_h", "create table gb_h.t (id int primary key)"] {
            answers.push(answer(&mut other, statement));
        }
        answers.push(answer(&mut other, "insert into gb_h.t values (1), (2), (3)"));
        for statement in ["handler gb_h.t open", "handler t read first"] {
            answers.push(answer(&mut reader, statement));
        }
        answers.push(answer(&mut other, "delete from gb_h.t where id = 2"));
        answers.push(answer(&mut reader, "handler t read next"));
        answers.push(answer(&mut other, "alter table gb_h.t add column a int"));
        answers.push(answer(&mut reader, "handler t read first"));
        answers
    });
    assert!(answers.last().is_some_and(|answer| answer.contains("1109")), "{answers:#?}");
}
