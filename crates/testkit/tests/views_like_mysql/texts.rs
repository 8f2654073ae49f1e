//! The texts of views over some hundreds of queries, and their rows before and after their tables
//! have got further columns.

use bench::instance::Settings;
use protocol::client::Client;
use testkit::Server;
use testkit::answers::answer;
use testkit::server::same_as_mysql;

/// One query a line. Together they have every kind of query and expression that is parsed.
const QUERIES: &str = include_str!("queries.sql");

/// The words of functions whose values differ between servers, or from one moment to the next.
const VARYING: [&str; 22] = [
    "now(",
    "curdate",
    "curtime",
    "uuid",
    "rand(",
    "sysdate",
    "unix_timestamp()",
    "connection_id",
    "utc_",
    "version(",
    "current_",
    "user(",
    "random_bytes",
    "localtime",
    "ps_current",
    "information_schema",
    "sleep",
    "lock(",
    "found_rows",
    "row_count",
    "load_file",
    "benchmark",
];

const TABLES: &[&str] = &[
    "CREATE DATABASE vt",
    "USE vt",
    "create table t(a int, b int, c varchar(20), d datetime, e decimal(10,2), j json, f text, \
     fulltext key(f), key ka(a), key kb(b))",
    "create table u(a int, b int, x varchar(10), y date, primary key(a))",
    "create table w(a int not null, z int)",
    "create table p(a int primary key) partition by hash(a) partitions 2",
    "insert into t values(1,2,'x','2020-01-01 10:00:00',1.5,'{\"a\":1,\"b\":[1,2]}','word one'), \
     (2,3,'y',null,2.5,'[1,2,3]','two')",
    "insert into u values(1,5,'p','2021-02-03'),(2,6,'q',null)",
    "insert into w values(1,1),(3,3)",
    "insert into p values(1),(2),(3)",
    "create function fn(i int) returns int deterministic return i+1",
    "create view vv as select a, b as bb from t",
];

const LATER_COLUMNS: &[&str] = &[
    "alter table t add column z1 int first, add column x varchar(3) default 'n'",
    "alter table u add column c int default 9, add z int",
    "alter table w add column b int, add y int first",
    "alter table p add column b int default 4",
];

fn queries() -> impl Iterator<Item = &'static str> {
    QUERIES.lines().map(|line| line.trim_end_matches(';'))
}

fn is_varying(query: &str) -> bool {
    let query = query.to_lowercase();
    VARYING.iter().any(|word| query.contains(word))
}

/// Returns the answer with its rows in the order of their texts, because not all queries have one.
fn rows(client: &mut Client, query: &str) -> String {
    match client.query(query) {
        Ok(result) => {
            let mut rows: Vec<String> = result.rows.iter().map(|row| format!("{row:?}")).collect();
            rows.sort();
            format!("{query}: {rows:?}")
        }
        Err(_) => answer(client, query),
    }
}

fn create(client: &mut Client, statements: &[&str]) {
    for statement in statements {
        client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

fn columns_and_use(at: usize) -> [String; 2] {
    [
        format!(
            "select is_updatable, check_option from information_schema.views where table_schema = 'vt' and \
             table_name = 'v{at}'"
        ),
        format!(
            "select column_name from information_schema.columns where table_schema = 'vt' and table_name = \
             'v{at}' order by ordinal_position"
        ),
    ]
}

/// Returns what a server says of a view over each query.
fn play(server: &Server) -> Vec<String> {
    let mut client = server.connect();
    create(&mut client, TABLES);
    let mut said = Vec::new();
    for (at, query) in queries().enumerate() {
        said.push(answer(&mut client, &format!("create view v{at} as {query}")));
        said.push(answer(&mut client, &format!("show create view v{at}")));
        said.push(answer(&mut client, &columns_and_use(at)[0]));
        let table = rows(&mut client, &format!("select * from v{at} where false"));
        // A view that ONLY_FULL_GROUP_BY refuses to read has no columns here.
        if !table.contains("1055 (42000)") && !table.contains("1140 (42000)") {
            said.push(answer(&mut client, &columns_and_use(at)[1]));
        }
    }
    for later in [false, true] {
        create(&mut client, if later { LATER_COLUMNS } else { &[] });
        let stable = queries().enumerate().filter(|(_, query)| !is_varying(query));
        for (at, _) in stable {
            said.push(rows(&mut client, &format!("select * from v{at}")));
        }
    }
    said
}

#[test]
fn views_are_shown_as_in_mysql_and_keep_their_columns() {
    let said = same_as_mysql("views_like_mysql", &Settings::default(), play);
    assert!(said.len() > 2000, "only {} answers", said.len());
}

/// The text of a view is a query. A view over it is shown with the same text, or the text would
/// mean something else than the query from which it was printed.
#[test]
fn a_text_printed_from_a_printed_text_is_the_same() {
    let server = Server::start(bench::instance::Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    create(&mut client, TABLES);
    let shown = |client: &mut Client, name: &str| {
        let result = client.query(&format!("show create view {name}")).expect("the view is there");
        let text = String::from_utf8_lossy(result.rows[0][1].as_deref().unwrap_or_default()).into_owned();
        text.split_once(" AS ").map(|(_, query)| query.to_owned()).expect("the text has a query")
    };
    for (at, query) in queries().enumerate() {
        create(&mut client, &[&format!("create view v{at} as {query}")]);
        let once = shown(&mut client, &format!("v{at}"));
        create(&mut client, &[&format!("create view again{at} as {once}")]);
        assert_eq!(once, shown(&mut client, &format!("again{at}")), "{query}");
    }
}
