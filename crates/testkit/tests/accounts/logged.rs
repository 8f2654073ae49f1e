//! Tests of statements about accounts in the binary log: the log has what MySQL's has, and a
//! replica applies such statements of MySQL, MariaDB and Slipstream sources.

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::StartFrom;
use protocol::client::Client;
use std::collections::BTreeMap;
use testkit::following::{By, Pair};
use testkit::server::flavor_under_test;
use testkit::{Replica, Server, available, kills};

/// Statements about accounts. Some of them fail and are not logged.
const STATEMENTS: &[&str] = &[
    "CREATE ROLE lr1, lr2@localhost",
    "CREATE ROLE IF NOT EXISTS lr1",
    "CREATE USER la@localhost IDENTIFIED BY 'x', lb IDENTIFIED WITH caching_sha2_password BY 'y' REQUIRE SSL WITH \
     MAX_QUERIES_PER_HOUR 5 PASSWORD EXPIRE NEVER ACCOUNT LOCK COMMENT 'c''c'",
    "CREATE USER IF NOT EXISTS la@localhost IDENTIFIED BY 'x', lc IDENTIFIED BY 'z'",
    "CREATE USER lc",
    "CREATE USER IF NOT EXISTS lc",
    "CREATE USER ld DEFAULT ROLE lr1 FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME UNBOUNDED",
    "CREATE USER le IDENTIFIED WITH caching_sha2_password",
    "CREATE USER lf IDENTIFIED BY 'a' DEFAULT ROLE lr1 REQUIRE X509 WITH MAX_USER_CONNECTIONS 3 MAX_QUERIES_PER_HOUR 4 \
     PASSWORD EXPIRE INTERVAL 5 DAY ACCOUNT LOCK PASSWORD HISTORY 5 PASSWORD REUSE INTERVAL 3 DAY PASSWORD REQUIRE \
     CURRENT OPTIONAL FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME 4 ATTRIBUTE '{\"a\": 1}'",
    "CREATE USER lg REQUIRE SUBJECT 'a' AND ISSUER 'b' AND CIPHER 'c' PASSWORD EXPIRE",
    "ALTER USER lg REQUIRE NONE PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT \
     DEFAULT PASSWORD EXPIRE DEFAULT",
    "ALTER USER la@localhost IDENTIFIED BY 'z' RETAIN CURRENT PASSWORD",
    "ALTER USER la@localhost DISCARD OLD PASSWORD",
    "ALTER USER IF EXISTS lx IDENTIFIED BY 'z'",
    "ALTER USER la@localhost, lb PASSWORD REQUIRE CURRENT ACCOUNT UNLOCK",
    "ALTER USER la@localhost ATTRIBUTE '{\"q\":1}'",
    "ALTER USER le IDENTIFIED BY ''",
    "GRANT lr1 TO la@localhost",
    "GRANT lr1, lr2@localhost TO lb WITH ADMIN OPTION",
    "ALTER USER la@localhost DEFAULT ROLE lr1",
    "SET DEFAULT ROLE ALL TO lb",
    "CREATE DATABASE ldb",
    "USE ldb",
    "CREATE TABLE t (a INT, b INT)",
    "grant   select (b, a), insert on t to lb",
    "GRANT SELECT ON * TO lc",
    "GRANT SELECT ON ldb.* TO lb, lc WITH GRANT OPTION",
    "GRANT GRANT OPTION ON ldb.* TO le",
    "GRANT ALL ON *.* TO lc",
    "GRANT BACKUP_ADMIN, SELECT ON *.* TO le",
    "GRANT USAGE ON *.* TO le",
    "GRANT PROXY ON la@localhost TO le WITH GRANT OPTION",
    "GRANT SELECT ON ldb.t TO nobody_there",
    "revoke if exists update on ldb.* from lb ignore unknown user",
    "REVOKE IF EXISTS lr1 FROM lx IGNORE UNKNOWN USER",
    "REVOKE lr2@localhost FROM lb",
    "REVOKE ALL, GRANT OPTION FROM lc",
    "REVOKE PROXY ON la@localhost FROM le",
    "SET PASSWORD FOR lb = 'q1'",
    "SET PASSWORD FOR lb = 'q''2' RETAIN CURRENT PASSWORD",
    "RENAME USER lc TO lc2",
    "RENAME USER lx TO ly",
    "DROP USER IF EXISTS lx, le",
    "DROP USER IF EXISTS lx",
    "DROP ROLE IF EXISTS lx",
    "DROP USER lx",
];

/// Grants in another account's name (`AS`), each with the account that runs it. The other accounts
/// of this list have restrictions.
const IN_ANOTHERS_NAME: &[(&str, &str)] = &[
    ("root", "SET GLOBAL partial_revokes = ON"),
    ("root", "CREATE DATABASE ldb"),
    ("root", "CREATE TABLE ldb.t (a INT)"),
    ("root", "CREATE ROLE lr1, lr2, lr3"),
    ("root", "CREATE USER la, lb, lc, ld, le DEFAULT ROLE lr1"),
    ("root", "GRANT lr1, lr2 TO la, lb, lc"),
    ("root", "GRANT SELECT, INSERT ON *.* TO la, lb, lr1, lr2 WITH GRANT OPTION"),
    ("root", "GRANT BINLOG_ADMIN ON *.* TO la WITH GRANT OPTION"),
    ("root", "REVOKE INSERT ON ldb.* FROM lb, lr1"),
    ("root", "GRANT INSERT ON *.* TO ld AS lb"),
    ("root", "GRANT SELECT ON *.* TO ld WITH GRANT OPTION AS lb WITH ROLE ALL"),
    ("root", "GRANT INSERT ON *.* TO le AS lc WITH ROLE DEFAULT"),
    ("root", "GRANT INSERT ON *.* TO le AS lc WITH ROLE lr1"),
    ("root", "GRANT INSERT ON *.* TO le AS lc WITH ROLE ALL EXCEPT lr2, lr3"),
    ("root", "GRANT USAGE ON *.* TO le AS lc WITH ROLE NONE"),
    ("root", "GRANT DELETE, BINLOG_ADMIN ON *.* TO le AS CURRENT_USER"),
    ("root", "GRANT INSERT ON *.* TO le AS lc WITH ROLE lr3"),
    ("root", "GRANT INSERT ON *.* TO le AS lc WITH ROLE lr9"),
    ("root", "GRANT INSERT ON *.* TO le AS nobody_there"),
    ("root", "GRANT INSERT ON *.* TO nobody_there AS nobody_there"),
    ("root", "GRANT INSERT ON *.* TO nobody_there AS lb"),
    ("root", "GRANT INSERT ON ldb.* TO le AS lb"),
    ("root", "GRANT INSERT ON ldb.t TO le AS nobody_there"),
    ("root", "GRANT lr1 TO le AS lb"),
    ("root", "GRANT INSERT ON *.* TO le AS"),
    ("root", "GRANT INSERT ON *.* TO le AS lb WITH ROLE"),
    ("la", "GRANT SELECT ON *.* TO ld"),
    ("la", "SET ROLE lr2"),
    ("la", "GRANT SELECT ON *.* TO ld"),
    ("la", "SET ROLE ALL"),
    ("la", "GRANT BINLOG_ADMIN ON *.* TO ld"),
    ("la", "GRANT DELETE ON *.* TO ld AS nobody_there"),
    ("lb", "GRANT INSERT ON *.* TO lc"),
    ("lb", "GRANT INSERT ON *.* TO lc AS la"),
    ("lb", "GRANT SELECT ON *.* TO lc AS la"),
    ("lb", "GRANT INSERT ON *.* TO lc AS lb WITH ROLE lr2"),
    ("lb", "GRANT INSERT ON *.* TO lc AS lb WITH ROLE lr1"),
    ("lc", "GRANT INSERT ON *.* TO ld AS lb"),
    ("root", "CREATE USER lf"),
    ("root", "REVOKE INSERT, SELECT ON mysql.* FROM lb"),
    ("root", "GRANT ALL ON *.* TO lf AS lb"),
];

/// Returns the text of an event without what is stored for passwords and without the transaction's
/// number.
fn masked(info: &str) -> String {
    let mut out = String::new();
    let mut rest = info.split(" /* xid=").next().unwrap_or_default();
    while let Some(at) = rest.find(" AS '$A$") {
        out.push_str(&rest[..at]);
        out.push_str(" AS (hash)");
        rest = &rest[at + " AS '".len()..];
        let mut is_escaped = false;
        let end = rest.bytes().position(|byte| {
            let ends = byte == b'\'' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        });
        rest = &rest[end.expect("the hash ends") + 1..];
    }
    out + rest
}

/// Runs the statements. Returns what each of them answered and what the binary log has of them.
fn told_and_logged(server: &Server) -> Vec<String> {
    // Only root may grant PROXY; the kit's user may not.
    let mut client = log_in(server, "root", "").expect("root has no password");
    let mut told: Vec<String> = Vec::new();
    for statement in STATEMENTS {
        let error = match client.query(statement) {
            Ok(result) => format!("{} warnings", result.ok.warnings),
            Err(error) => error.to_string(),
        };
        told.push(format!("{statement}: {error}"));
        let warnings = client.query("SHOW WARNINGS").expect("there is a list");
        let text = |cell: &Option<Vec<u8>>| {
            String::from_utf8_lossy(cell.as_deref().unwrap_or_default()).into_owned()
        };
        told.extend(warnings.rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(" ")));
    }
    for row in server.rows("SHOW BINLOG EVENTS") {
        let mut cells = row.splitn(6, '\t');
        if cells.nth(2) == Some("Query") {
            told.push(masked(cells.nth(2).unwrap_or_default()));
        }
    }
    told
}

/// Runs the grants in another account's name. Returns what each of them answered and what the
/// binary log has of them.
fn granted_in_anothers_name(server: &Server) -> Vec<String> {
    let mut sessions: BTreeMap<&str, Client> = BTreeMap::new();
    let mut told = Vec::new();
    for (who, statement) in IN_ANOTHERS_NAME {
        let client = sessions
            .entry(who)
            .or_insert_with(|| log_in(server, who, "").unwrap_or_else(|error| panic!("{who}: {error}")));
        let error = client.query(statement).err().map_or_else(|| "done".into(), |error| error.to_string());
        told.push(format!("{who}: {statement}: {error}"));
    }
    for row in server.rows("SHOW BINLOG EVENTS") {
        if let Some((_, text)) = row.split_once("\tGRANT ") {
            told.push(masked(text));
        }
    }
    told
}

#[test]
fn grants_in_anothers_name_pass_his_restrictions_on() {
    if !available("grants_in_anothers_name_pass_his_restrictions_on", &[Flavor::MySql]) {
        return;
    }
    let under_test = flavor_under_test();
    for (source, replica) in
        [(Flavor::MySql, under_test), (under_test, under_test), (under_test, Flavor::MySql)]
    {
        let Pair { source, replica, proxy: _proxy, .. } =
            Pair::start(source, replica, RowImage::Full, By::Gtid);
        replica.run("SET GLOBAL partial_revokes = ON");
        let told = granted_in_anothers_name(&source);
        replica.catch_up(&source);
        same_accounts(&source, &replica);
        let lines = |of: &str| source.rows(&format!("SHOW GRANTS FOR {of}"));
        assert!(lines("ld").iter().any(|line| line.starts_with("REVOKE INSERT ON `ldb`.*")), "{told:#?}");
        if source.flavor() == under_test && replica.flavor() == Flavor::MySql {
            let peer = granted_in_anothers_name(&Server::start(Flavor::MySql, &Settings::default()));
            let of_accounts = |told: &[String]| -> Vec<String> {
                let begin = told.iter().position(|line| line.contains("'la'@'%','lb'@'%'"));
                let begin = begin.expect("the grants are logged");
                [&told[..IN_ANOTHERS_NAME.len()], &told[begin..]].concat()
            };
            assert_eq!(of_accounts(&told), of_accounts(&peer));
        }
    }
}

#[test]
fn the_binary_log_has_mysqls_words() {
    if !available("the_binary_log_has_mysqls_words", &[Flavor::MySql]) {
        return;
    }
    let [ours, mysql] = [Flavor::Slipstream, Flavor::MySql]
        .map(|flavor| told_and_logged(&Server::start(flavor, &Settings::default())));
    let of_accounts = |lines: &[String]| -> Vec<String> {
        let begin = lines
            .iter()
            .position(|line| line.starts_with("CREATE ROLE lr1, lr2@localhost") && !line.contains(':'));
        [&lines[..STATEMENTS.len()], &lines[begin.expect("the first one is logged")..]].concat()
    };
    let different: Vec<String> = of_accounts(&ours)
        .iter()
        .zip(&of_accounts(&mysql))
        .filter(|(ours, mysql)| ours != mysql)
        .map(|(ours, mysql)| format!("ours:  {ours}\nMySQL: {mysql}"))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert_eq!(ours, mysql);
}

fn log_in(server: &Server, user: &str, password: &str) -> Result<Client, protocol::client::ClientError> {
    let mut options = server.connect_options();
    (options.user, options.password, options.schema) = (user.into(), password.into(), None);
    options.get_server_public_key = true;
    Client::connect(&options)
}

/// The query for the accounts that the statements of this file are about.
const OWN: &str =
    "SELECT user, host FROM mysql.user WHERE user LIKE 'l_' OR user LIKE 'l__' ORDER BY user, host";

fn same_accounts(source: &Server, replica: &Server) {
    let (theirs, ours) = (source.rows(OWN), replica.rows(OWN));
    assert_eq!(ours, theirs);
    assert!(!ours.is_empty(), "nothing was carried out");
    for account in ours.iter().map(|row| row.replacen('\t', "'@'", 1)) {
        for show in [format!("SHOW CREATE USER '{account}'"), format!("SHOW GRANTS FOR '{account}'")] {
            assert_eq!(replica.rows(&show), source.rows(&show), "{show}");
        }
    }
}

#[test]
fn a_replica_has_the_accounts_of_its_source() {
    if !available("a_replica_has_the_accounts_of_its_source", &[Flavor::MySql]) {
        return;
    }
    for source in [Flavor::MySql, flavor_under_test()] {
        let Pair { source, replica, proxy: _proxy, .. } =
            Pair::start(source, flavor_under_test(), RowImage::Full, By::Gtid);
        told_and_logged(&source);
        replica.catch_up(&source);
        same_accounts(&source, &replica);
        assert!(log_in(&replica, "lb", "q'2").is_ok() == log_in(&source, "lb", "q'2").is_ok());
        assert!(log_in(&replica, "lc2", "z").is_ok(), "the password came along");
        assert!(log_in(&replica, "lc2", "no").is_err());
    }
}

#[test]
fn a_mysql_replica_has_our_accounts() {
    if !available("a_mysql_replica_has_our_accounts", &[Flavor::MySql]) {
        return;
    }
    let Pair { source, replica, proxy: _proxy, .. } =
        Pair::start(flavor_under_test(), Flavor::MySql, RowImage::Full, By::Gtid);
    told_and_logged(&source);
    replica.catch_up(&source);
    same_accounts(&source, &replica);
    assert!(log_in(&replica, "lc2", "z").is_ok(), "the password came along");
}

/// MySQL applies the filters of tables to the tables that hold accounts.
#[test]
fn a_filter_keeps_accounts_away() {
    if !available("a_filter_keeps_accounts_away", &[Flavor::MySql]) {
        return;
    }
    for replica in [flavor_under_test(), Flavor::MySql] {
        let source = Server::start(Flavor::MySql, &Settings { server_id: 1, ..Settings::default() });
        let replica = Replica::start(replica, &Settings { server_id: 2, ..Settings::default() });
        replica.run("CHANGE REPLICATION FILTER REPLICATE_WILD_IGNORE_TABLE = ('mysql.%')");
        replica.follow(Flavor::MySql, source.port(), &StartFrom::Gtid);
        source.run("CREATE DATABASE kept");
        source.run("CREATE USER l1 IDENTIFIED BY 'x'");
        source.run("GRANT SELECT ON *.* TO l1");
        source.run("CREATE TABLE kept.t (a INT PRIMARY KEY)");
        replica.catch_up(&source);
        assert!(replica.rows(OWN).is_empty(), "{:?}", replica.rows(OWN));
        assert_eq!(replica.rows("SELECT COUNT(*) FROM kept.t"), ["0"]);
    }
}

/// MariaDB's own syntax, plugins and privileges, none of which stops the applier.
const OF_MARIADB: &[&str] = &[
    "CREATE USER l1 IDENTIFIED BY 'a', l2 IDENTIFIED VIA mysql_native_password USING PASSWORD('x')",
    "CREATE OR REPLACE USER l1 IDENTIFIED BY 'b'",
    "CREATE USER l3 IDENTIFIED VIA unix_socket",
    "CREATE USER l4 IDENTIFIED VIA unix_socket OR mysql_native_password USING PASSWORD('k')",
    "CREATE ROLE l5",
    "CREATE ROLE l6 WITH ADMIN l1",
    "CREATE ROLE IF NOT EXISTS l5",
    "CREATE OR REPLACE ROLE l7",
    "GRANT SELECT ON *.* TO l8 IDENTIFIED BY 'new'",
    "GRANT l5 TO l1 WITH ADMIN OPTION",
    "SET DEFAULT ROLE l5 FOR l1",
    "SET PASSWORD FOR l1 = PASSWORD('zz')",
    "ALTER USER l8 IDENTIFIED BY 'newer' PASSWORD EXPIRE NEVER",
    "GRANT BINLOG MONITOR, REPLICA MONITOR, DELETE HISTORY ON *.* TO l1",
    "GRANT USAGE ON *.* TO l8 REQUIRE SSL WITH MAX_USER_CONNECTIONS 4",
    "REVOKE BINLOG MONITOR ON *.* FROM l1",
    "DROP USER IF EXISTS lx",
    "DROP ROLE IF EXISTS lx",
    "DROP ROLE l7",
    "GRANT ALL ON test.* TO PUBLIC",
    "CREATE USER l9 WITH MAX_USER_CONNECTIONS 3 ACCOUNT LOCK",
];

#[test]
fn a_mariadb_sources_accounts_never_stop_the_replica() {
    if !available("a_mariadb_sources_accounts_never_stop_the_replica", &[Flavor::MariaDb]) {
        return;
    }
    let Pair { source, replica, proxy: _proxy, .. } =
        Pair::start(Flavor::MariaDb, flavor_under_test(), RowImage::Full, By::Gtid);
    OF_MARIADB.iter().for_each(|statement| drop(source.run(statement)));
    source.run("CREATE DATABASE behind");
    replica.catch_up(&source);
    assert_eq!(replica.rows("SHOW DATABASES LIKE 'behind'"), ["behind"]);
    for (user, password) in [("l1", "zz"), ("l8", "newer")] {
        assert!(log_in(&replica, user, password).is_ok(), "{user}");
        assert!(log_in(&replica, user, "another").is_err(), "{user}");
    }
    // The hash that is logged for a password does not serve as the password.
    let stored = source.rows("SELECT authentication_string FROM mysql.user WHERE user = 'l1'").remove(0);
    assert!(log_in(&replica, "l1", &stored).is_err());
    let error = log_in(&replica, "l3", "").expect_err("nobody logs in by a plugin that is not here");
    assert!(error.to_string().contains("unix_socket"), "{error}");
    assert!(replica.rows("SHOW CREATE USER l3")[0].contains("'unix_socket'"));
    assert!(replica.rows("SHOW GRANTS FOR l1").iter().any(|line| line.contains("`l5`@`%`")));
}

/// After `kill -9` an account exists if and only if the binary log has its creation.
#[test]
fn accounts_and_the_binary_log_agree_after_every_kill() {
    let mut server = Server::start(Flavor::Slipstream, &Settings { durable: true, ..Settings::default() });
    let mut made = 0;
    for _ in 0..kills().div_ceil(5) {
        let options = server.connect_options();
        let worker = os::thread::spawn("accounts", move || {
            let Ok(mut client) = Client::connect(&options) else { return made };
            let mut next = made;
            while client.query(&format!("CREATE USER lk{next}")).is_ok() {
                next += 1;
            }
            next + 1
        });
        os::clock::sleep(std::time::Duration::from_millis(os::random::u64() % 200 + 20));
        server.kill();
        made = worker.join().expect("the client ends");
        server.come_back();
        let there = server.rows("SELECT user FROM mysql.user WHERE user LIKE 'lk%'").len();
        let mut logged = 0;
        for file in server.rows("SHOW BINARY LOGS") {
            let name = file.split('\t').next().unwrap_or_default();
            let events = server.rows(&format!("SHOW BINLOG EVENTS IN '{name}'"));
            logged += events.iter().filter(|event| event.contains("CREATE USER 'lk")).count();
        }
        assert_eq!(there, logged);
    }
    assert!(made > 1, "the client made next to no account");
}
