//! Tests that the text of a statement's digest is MySQL's, so that monitoring groups the statements
//! of a source and of its replicas alike.

use testkit::answers::same_answers;

/// Statements whose digests are asked for, without single quotes around the text.
const STATEMENTS: &[&str] = &[
    "select 1",
    "SELECT  a,b FROM t WHERE id = 5 AND name = \"x\"",
    "select * from `T` as x where a in (1, 2, 3) or b in (1)",
    "select * from t where a = -1 and b = +2 and c = a - 1",
    "insert into t values (1, 2), (3, 4), (5, 6)",
    "insert into t values (1), (2)",
    "insert into t (a, b) values (1, null) on duplicate key update b = values(b) + 1",
    "replace into t set a = 1, b = now()",
    "update t set a = a + 1 where b is null limit 10",
    "delete from t where a between 1 and 2 order by b desc limit 1",
    "select count(*), max(a) from t group by 1, b order by 2 desc",
    "select distinct a from t union all select 1 limit 5, 10",
    "select a from t1 join t2 using (id) left join t3 on t1.a = t3.b",
    "select @a, @@global.max_connections, @@session.sql_mode",
    "set @a = 1, global max_connections = 10",
    "select case when a > 1 then 2 else null end from t",
    "select /*+ max_execution_time(100) */ * from t",
    "select /* a comment */ 1 -- the end",
    "create table t (a int unsigned not null default 5, b varchar(20) null, key k (b(10)))",
    "alter table t add column c bigint, drop index k",
    "call p(1, 2)",
    "select new.a, old.b from t",
    "select date.day from date",
    "select x.`select` from x",
    "select interval 1 day + now(), date_add(a, interval 2 hour) from t",
    "select * from t where a like \"x%\" escape \"|\"",
    "select row(1, 2) = (select 1, 2)",
    "select row_number() over (partition by a order by b) from t",
    "with c as (select 1 as x) select * from c",
    "begin",
    "show tables like \"x\"",
    "grant select on d.* to u@localhost",
    "select a->\"$.x\" from t",
    "select 0x41, b\"1\" , 1.5, 1e3 from t",
    "explain select 1",
    "kill 5",
];

#[test]
fn the_texts_of_digests_are_mysqls() {
    // MySQL wants a current schema for statements about tables.
    let mut asked = vec!["CREATE DATABASE d".to_owned(), "USE d".to_owned()];
    asked.extend(STATEMENTS.iter().map(|text| format!("SELECT STATEMENT_DIGEST_TEXT('{text}')")));
    for length in [10, 200, 400, 1500] {
        let items = vec!["abcdefgh"; length].join(" + ");
        asked.push(format!("SELECT STATEMENT_DIGEST_TEXT('select {items}')"));
    }
    asked.push("SELECT LENGTH(STATEMENT_DIGEST('select 1')), STATEMENT_DIGEST(NULL)".to_owned());
    asked.push("SELECT STATEMENT_DIGEST('select 1') = STATEMENT_DIGEST('SELECT   2')".to_owned());
    asked.push("SELECT STATEMENT_DIGEST_TEXT('select')".to_owned());
    asked.push("SELECT STATEMENT_DIGEST_TEXT(_binary'select 1')".to_owned());
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let answers = same_answers("digests_like_mysql::the_texts_of_digests_are_mysqls", &asked);
    assert!(answers[2].ends_with("SELECT ?"), "{}", answers[2]);
}
