//! Tests with statements that clients send, and of the places at which errors point.

use super::parse;
use crate::admin::AdminCommand;
use crate::ast::{BinaryOp, Expr, Literal, Statement, TableRef, Xa, XaStart};
use crate::lexer::LexMode;

fn statement(text: &str) -> Statement {
    match parse(text.as_bytes(), LexMode::default()) {
        Ok(Some(parsed)) => parsed.statement,
        other => panic!("{text}: {other:?}"),
    }
}

fn refusal(text: &str) -> (u16, String) {
    let error = parse(text.as_bytes(), LexMode::default()).unwrap_err();
    (error.code, error.message)
}

fn expr(text: &str) -> Expr {
    let Statement::Do(mut exprs) = statement(&format!("do {text}")) else { panic!("{text}") };
    exprs.remove(0)
}

fn integer(value: u64) -> Box<Expr> {
    Box::new(Expr::Literal(Literal::Integer(value)))
}

#[test]
fn columns_beyond_any_table_are_not_read() {
    let columns = |count: usize| (0..count).map(|at| format!("c{at} INT")).collect::<Vec<_>>().join(",");
    statement(&format!("create table t ({})", columns(4096)));
    let refused = refusal(&format!("create table t ({}, this is no column", columns(4096)));
    assert_eq!(refused, (1117, "Too many columns".to_owned()));
}

#[test]
fn precedence() {
    use BinaryOp::*;
    let product = Expr::Binary(Multiply, integer(2), integer(3));
    assert_eq!(expr("1+2*3"), Expr::Binary(Add, integer(1), Box::new(product)));
    assert_eq!(expr("1-2-3"), Expr::Binary(Subtract, Box::new(expr("1-2")), integer(3)));
    assert_eq!(expr("1 or 2 and not 3 = 4"), Expr::Or(vec![*integer(1), expr("2 and (not (3 = 4))")]));
    assert_eq!(expr("1 between 2 and 3 and 4"), Expr::And(vec![expr("1 between 2 and 3"), *integer(4)]));
    assert_eq!(expr("-2 ^ 3"), Expr::Binary(BitXor, Box::new(expr("-2")), integer(3)));
    assert_eq!(
        expr("1 not in (2)"),
        Expr::InList { negated: true, operand: integer(1), list: vec![*integer(2)] }
    );
}

#[test]
fn statements_of_the_benchmarks_and_clients() {
    for text in [
        "CREATE TABLE sbtest1(\n  id INTEGER NOT NULL AUTO_INCREMENT,\n  k INTEGER DEFAULT '0' NOT NULL,\n  c CHAR(120) \
         DEFAULT '' NOT NULL,\n  PRIMARY KEY (id)\n) /*! ENGINE = innodb */ ",
        "CREATE INDEX k_1 ON sbtest1(k)",
        "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)",
        "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c",
        "SELECT count(k) FROM sbtest1 WHERE k BETWEEN 1 AND 2 OR k BETWEEN 3 AND 4",
        "SELECT AVG(id) FROM (SELECT * FROM sbtest1 FORCE KEY (PRIMARY) LIMIT 10) t",
        "CREATE TABLE `t1` (intcol1 INT(32) ,charcol1 VARCHAR(128))",
        "CREATE TABLE t (id serial, a varchar(36) unique key)",
        "INSERT INTO t1 VALUES (NULL, uuid(), 1804289383,'xyz')",
        "create table i (transactionid bigint not null auto_increment, dateandtime datetime, primary key \
         (transactionid)) engine=InnoDB",
        "alter table i add index a (productid, customerid, price), add index b (price, dateandtime)",
        "delete from i where transactionid >= 10 order by transactionid asc limit 5",
        "select price from i FORCE INDEX (marketsegment) where price >= 1.5 order by price, customerid limit 10",
        "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci",
        "SET autocommit=1, @@session.sql_mode='ANSI', GLOBAL x = ON, @a := 3",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT",
        "SHOW FULL TABLES FROM `a` LIKE 'x%'",
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('a','b')",
        "SHOW KEYS FROM t FROM s",
        "/*!40103 SET TIME_ZONE='+00:00' */",
        "/*!40000 ALTER TABLE `t` DISABLE KEYS */",
        "LOCK TABLES `t` WRITE, u AS v READ LOCAL",
        "GRANT REPLICATION SLAVE, SELECT (a, b) ON *.* TO 'repl'@'%' WITH GRANT OPTION",
        "CREATE USER 'a'@'localhost' IDENTIFIED WITH caching_sha2_password BY 'p'",
        "select @@version_comment limit 1",
        "select t.*, a.b.* from t, a.b left join c using (x) where exists (select 1)",
        "select date_add(now(), interval 1 day), '2020-01-01' + interval 2 month",
        "insert into t select * from u on duplicate key update a = values(a)",
        "select case when a then b else c end from t group by a, b having count(*) > 1",
        "(select 1) union all (select 2) order by 1 limit 3",
        "select if(a, 1, 2), replace(b, 'x', 'y'), left(c, 3), mod(d, 2), char(65, 66 using utf8mb4)",
        "STOP SLAVE IO_THREAD",
        "START REPLICA SQL_THREAD UNTIL SQL_AFTER_GTIDS = 'a:1'",
        "RESET BINARY LOGS AND GTIDS",
    ] {
        statement(text);
    }
}

#[test]
fn change_replication_source() {
    let text = "CHANGE MASTER TO MASTER_HOST='h', MASTER_PORT=3307, MASTER_USE_GTID=slave_pos, \
                MASTER_HEARTBEAT_PERIOD=1.5 FOR CHANNEL 'c'";
    let Statement::Admin(AdminCommand::ChangeReplicationSource { options, channel }) = statement(text) else {
        panic!("not a CHANGE");
    };
    assert_eq!((options.host.as_deref(), options.port), (Some("h"), Some(3307)));
    assert_eq!((options.use_gtid.as_deref(), options.heartbeat_period_s), (Some("slave_pos"), Some(1.5)));
    assert_eq!(channel.as_deref(), Some("c"));
}

#[test]
fn change_replication_filter() {
    let text = "CHANGE REPLICATION FILTER REPLICATE_DO_DB = (a, `b c`), REPLICATE_IGNORE_TABLE = (a.t), \
                REPLICATE_WILD_DO_TABLE = ('a%.%'), REPLICATE_REWRITE_DB = ((a, b), (c, d)), REPLICATE_IGNORE_DB = ()";
    let Statement::Admin(AdminCommand::ChangeReplicationFilter { filters, channel: None }) = statement(text)
    else {
        panic!("not a filter");
    };
    let texts: Vec<String> = filters
        .iter()
        .map(|(kind, rules)| {
            let rules: Vec<String> = rules.iter().map(|rule| format!("{}>{}", rule.what, rule.to)).collect();
            format!("{} {}", kind.name(), rules.join(" "))
        })
        .collect();
    assert_eq!(
        texts,
        [
            "REPLICATE_DO_DB a> b c>",
            "REPLICATE_IGNORE_TABLE a.t>",
            "REPLICATE_WILD_DO_TABLE a%.%>",
            "REPLICATE_REWRITE_DB a>b c>d",
            "REPLICATE_IGNORE_DB ",
        ]
    );
    for wrong in ["REPLICATE_DO_TABLE = (t)", "REPLICATE_REWRITE_DB = (a, b)", "REPLICATE_SOME = (a)"] {
        assert_eq!(refusal(&format!("CHANGE REPLICATION FILTER {wrong}")).0, 1064, "{wrong}");
    }
}

#[test]
fn errors_point_at_the_token() {
    let near = |text: &str| refusal(text).1.split("near ").nth(1).unwrap().to_owned();
    assert_eq!(near("selec 1"), "'selec 1' at line 1");
    assert_eq!(near("select 1\nfrom where a"), "'where a' at line 2");
    assert_eq!(near("select 1 +"), "'' at line 1");
    assert_eq!(near("insert into t values (1,)"), "')' at line 1");
}

#[test]
fn what_is_not_there_is_named() {
    let (code, text) = refusal("select first_value(a) ignore nulls over () from t");
    assert!(code == 1235 && text.contains("IGNORE NULLS"), "{text}");
}

#[test]
fn a_body_goes_as_far_as_its_blocks() {
    let body = |text: &str| {
        let parsed = parse(text.as_bytes(), LexMode::default()).unwrap().unwrap();
        let Statement::CreateObject(create) = parsed.statement else { panic!("{text}") };
        (create.body, text[parsed.next..].trim().to_owned())
    };
    for block in [
        "begin end",
        "l: begin select 1; begin select ';'; end; end l",
        "if a then select case when b then 1 else 2 end; elseif (c) then set x = 1; else set y = 2; end if",
        "case a when 1 then select 1; else begin end; end case",
        "m: loop leave m; end loop m",
        "repeat set a = 1; until case a when 1 then 1 else 0 end end repeat",
        "while a do set a = 0; end while",
        "begin declare exit handler for sqlstate '23000', 1062, not found begin end; select 1; end",
        "select 1",
        "insert into t values ('a;b')",
    ] {
        let text = format!("create procedure p () {block}; select 2");
        assert_eq!(body(&text), (block.to_owned(), "select 2".to_owned()));
        // A trigger must not return a result set (1415).
        if block.contains("select") {
            continue;
        }
        assert_eq!(body(&format!("/*!50003 create*/ /*!50020 definer=`a`@`%`*/ /*!50003 trigger t before insert on u for each row {block} */")).0, block);
    }
    for wrong in ["begin select 1", "begin select 1; end if", "if a then select 1; end", "loop end", ""] {
        assert_eq!(refusal(&format!("create procedure p () {wrong}")).0, 1064, "{wrong}");
    }
}

#[test]
fn xa_statements() {
    let xid = |gtrid: &[u8], bqual: &[u8], format_id| binlog::Xid::new(gtrid, bqual, format_id).unwrap();
    let xa = |text: &str| match statement(text) {
        Statement::Xa(xa) => xa,
        other => panic!("{text}: {other:?}"),
    };
    let start = |xid, how| Xa::Start { xid, how };
    assert_eq!(xa("XA START 'a'"), start(xid(b"a", b"", 1), XaStart::New));
    assert_eq!(xa("xa begin X'00ff', 0x62, 0x10 join"), start(xid(&[0, 255], b"b", 16), XaStart::Join));
    assert_eq!(xa("xa start b'1100001', '' resume"), start(xid(b"a", b"", 1), XaStart::Resume));
    for (words, suspend) in [("", false), (" SUSPEND", true), (" SUSPEND FOR MIGRATE", true)] {
        assert_eq!(xa(&format!("XA END 'a'{words}")), Xa::End { xid: xid(b"a", b"", 1), suspend });
    }
    assert_eq!(xa("xa prepare 'a','b',7"), Xa::Prepare(xid(b"a", b"b", 7)));
    assert_eq!(xa("xa commit 'a' one phase"), Xa::Commit { xid: xid(b"a", b"", 1), one_phase: true });
    assert_eq!(xa("xa commit 'a'"), Xa::Commit { xid: xid(b"a", b"", 1), one_phase: false });
    assert_eq!(xa("xa rollback 'a'"), Xa::Rollback(xid(b"a", b"", 1)));
    assert_eq!(xa("xa recover convert xid"), Xa::Recover { convert_xid: true });
    let long = "a".repeat(65);
    for wrong in [
        "xa",
        "xa foo 'a'",
        "xa start a",
        "xa start 1",
        "xa start 'a','',",
        "xa start 'a','',-1",
        "xa commit 'a' two phase",
        "xa end 'a' one phase",
        "xa recover convert",
        &format!("xa start '{long}'"),
    ] {
        assert_eq!(refusal(wrong).0, 1064, "{wrong}");
    }
}

#[test]
fn several_statements_and_depth() {
    let text = b"select 1; select 2";
    let first = parse(text, LexMode::default()).unwrap().unwrap();
    assert_eq!(first.next, 9);
    assert!(parse(&text[first.next..], LexMode::default()).unwrap().is_some());
    assert!(parse(b"  \n", LexMode::default()).unwrap().is_none());
    assert_eq!(statement("  -- nothing\n"), Statement::Empty);
    assert_eq!(statement("/*!999999\\- enable the sandbox mode */"), Statement::Empty);
    let of_source = LexMode { of_source: true, ..LexMode::default() };
    let sandbox = parse(b"/*M!999999\\- enable the sandbox mode */", of_source).unwrap();
    assert_eq!(sandbox.unwrap().statement, Statement::Empty);
    assert_eq!(refusal(" ; ").0, 1065);
    let deep = format!("select {}1{}", "(".repeat(5000), ")".repeat(5000));
    statement(&deep);
    let deep = format!("select {}1{}", "1+(".repeat(5000), ")".repeat(5000));
    assert_eq!(refusal(&deep).0, 1436);
    for prefix in ["not ", "! ", "+"] {
        for times in 5000..5003 {
            let same = prefix.repeat(2 - times % 2);
            let many = statement(&format!("select 1 from t where {}1", prefix.repeat(times)));
            assert_eq!(many, statement(&format!("select 1 from t where {same}1")), "{times} {prefix}");
        }
    }
    let tables = format!("select 1 from t{}", ", t".repeat(61));
    assert_eq!(refusal(&tables).0, 1116);
    let queries = format!("select {}1{}", "(select ".repeat(63), ")".repeat(63));
    assert!(matches!(refusal(&queries).0, 1436 | 1473));
    let long = format!("select 1{}", " or 1".repeat(50_000));
    statement(&long);
    let long = format!("select 1{}", "+1".repeat(50_000));
    assert_eq!(refusal(&long).0, 1436);
}

#[test]
fn table_aliases() {
    let Statement::Query(query) = statement("select a from s.t as x force index (primary) where 1") else {
        panic!()
    };
    let crate::ast::QueryBody::Select(select) = query.body else { panic!() };
    let Some(TableRef::Table { name, alias, hints, .. }) = select.from else { panic!() };
    assert_eq!((name.schema.as_deref(), name.name.as_str(), alias.as_deref()), (Some("s"), "t", Some("x")));
    assert_eq!(hints[0].indexes, ["primary"]);
}

#[test]
fn returning_of_a_source_is_no_alias() {
    let text = b"DELETE FROM t RETURNING a, b";
    let parsed = parse(text, LexMode { of_source: true, ..LexMode::default() });
    let Ok(Some(parsed)) = parsed else { panic!("{parsed:?}") };
    let Statement::Delete(delete) = parsed.statement else { panic!() };
    assert!(matches!(delete.from, TableRef::Table { alias: None, .. }), "{:?}", delete.from);
}
