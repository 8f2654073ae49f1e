//! Tests with hosts whose clients misbehave: what `performance_schema.host_cache` counts of them,
//! and when connections from such a host are refused. A real MySQL gets the same clients and has to
//! count the same.

use bench::instance::Settings;
use os::clock::Stopwatch;
use protocol::auth::plugin;
use std::net::Ipv4Addr;
use std::time::Duration;
use testkit::Server;
use testkit::caller::{Caller, Said, response};
use testkit::server::same_as_mysql;

/// An address of the loopback interface that counts as a host like any other.
const HERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The columns about the resolver, whose answers depend on the machine.
const OF_RESOLVER: &[&str] = &[
    "HOST",
    "HOST_VALIDATED",
    "COUNT_NAMEINFO_TRANSIENT_ERRORS",
    "COUNT_NAMEINFO_PERMANENT_ERRORS",
    "COUNT_FORMAT_ERRORS",
    "COUNT_ADDRINFO_TRANSIENT_ERRORS",
    "COUNT_ADDRINFO_PERMANENT_ERRORS",
    "COUNT_FCRDNS_ERRORS",
    "FIRST_SEEN",
    "LAST_SEEN",
    "FIRST_ERROR_SEEN",
    "LAST_ERROR_SEEN",
];

/// Returns what the table counts for [`HERE`], without the columns that are 0.
fn counted(server: &Server) -> String {
    let rows = server.run("SELECT * FROM performance_schema.host_cache WHERE ip = '127.0.0.2'");
    let Some(_) = rows.rows.first() else { return "no entry".into() };
    let cells = rows.columns.iter().enumerate().filter(|(_, c)| !OF_RESOLVER.contains(&&*c.name));
    let shown = cells.map(|(at, column)| (column.name.clone(), rows.cell(0, at).unwrap_or("NULL".into())));
    shown
        .filter(|(_, value)| value != "0")
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn number(server: &Server, status: &str) -> u64 {
    let shown = server.rows(&format!("SHOW GLOBAL STATUS LIKE '{status}'")).join("");
    shown.split('\t').nth(1).and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{status}: {shown}"))
}

/// Waits until `wanted` connections have been aborted.
fn wait_aborted(server: &Server, wanted: u64) {
    let watch = Stopwatch::start();
    while number(server, "Aborted_connects") < wanted {
        assert!(watch.elapsed() < Duration::from_secs(60), "{}: nothing was aborted", server.flavor());
    }
}

/// A way in which a client comes to the server.
type Attempt = (&'static str, fn(&mut Caller) -> Said);

fn hang_up(_: &mut Caller) -> Said {
    Said::Nothing
}

fn read_greeting(caller: &mut Caller) -> Option<Said> {
    match caller.hear() {
        Said::Packet(_) => None,
        other => Some(other),
    }
}

/// Reads the greeting, answers it with `say`, and returns what the server says then.
fn after_greeting(caller: &mut Caller, say: impl FnOnce(&mut Caller)) -> Said {
    read_greeting(caller).unwrap_or_else(|| {
        say(caller);
        caller.hear()
    })
}

fn login(user: &str) -> Vec<u8> {
    let mut out = Vec::new();
    response(user, "", &[], plugin::CACHING_SHA2).encode(&mut out);
    out
}

const ATTEMPTS: &[Attempt] = &[
    ("hangs up at once", hang_up),
    ("hangs up after the greeting", |c| read_greeting(c).unwrap_or(Said::Nothing)),
    ("garbage", |c| after_greeting(c, |c| c.say(b"garbage"))),
    ("another protocol", |c| after_greeting(c, |c| c.shout(b"GET / HTTP/1.0\r\n\r\n"))),
    ("an empty packet", |c| after_greeting(c, |c| c.say(b""))),
    ("a login that is cut", |c| after_greeting(c, |c| c.say(&login("u")[..33]))),
    ("a login without the name's end", |c| {
        after_greeting(c, |c| c.say(&[&login("u")[..33], b"uuuu"].concat()))
    }),
    ("a client of 3.20", |c| after_greeting(c, |c| c.say(b"\x05\0\0\0\x01root\0"))),
    ("no name of a plugin", |c| {
        after_greeting(c, |c| {
            let mut old = login("u");
            old[2] &= !0x08;
            c.say(&old[..35]);
        })
    }),
    ("garbage in place of TLS", |c| {
        let said = after_greeting(c, |c| {
            let mut wish = login("u")[..32].to_vec();
            wish[1] |= 0x08;
            c.say(&wish);
            c.shout(b"no TLS at all, and long enough for a record's header");
        });
        // A TLS alert may precede the error, and what is no packet is not read; so an error and no
        // answer count as the same.
        if matches!(said, Said::Error(..)) { Said::Nothing } else { said }
    }),
    ("goes while its plugin is asked for", |c| {
        after_greeting(c, |c| {
            let mut out = Vec::new();
            response("p", "", &[], "mysql_clear_password").encode(&mut out);
            c.say(&out);
        });
        Said::Nothing
    }),
    ("gets in", |c| c.log_in("u", "")),
    ("no password", |c| c.log_in("p", "")),
    ("a name that nobody has", |c| c.log_in("nobody", "")),
    ("no such schema", |c| c.log_in("u", "no_such_schema")),
    ("a locked account", |c| c.log_in("l", "")),
    ("an account that requires TLS", |c| c.log_in("s", "")),
    ("an expired password", |c| c.log_in("e", "")),
    ("too often in this hour", |c| c.log_in("h", "")),
    ("too many at a time", |c| c.log_in("m", "")),
    ("an account that locks itself", |c| c.log_in("t", "")),
    ("an account that has locked itself", |c| c.log_in("t", "")),
    ("gets in again", |c| c.log_in("u", "")),
];

const ACCOUNTS: &[&str] = &[
    "CREATE USER u",
    "CREATE USER p IDENTIFIED BY 'secret'",
    "CREATE USER l ACCOUNT LOCK",
    "CREATE USER s REQUIRE SSL",
    "CREATE USER e PASSWORD EXPIRE",
    "CREATE USER h WITH MAX_CONNECTIONS_PER_HOUR 1",
    "CREATE USER m WITH MAX_USER_CONNECTIONS 1",
    "CREATE USER t IDENTIFIED BY 'x' FAILED_LOGIN_ATTEMPTS 1 PASSWORD_LOCK_TIME 1",
];

/// Runs [`same_as_mysql`] once the clients are gone that asked whether the server is ready, because
/// they hang up without a login too.
fn same(test: &str, settings: &Settings, play: impl Fn(&Server) -> Vec<String>) -> Vec<String> {
    same_as_mysql(test, settings, |server| {
        let asks = "SELECT id FROM information_schema.processlist WHERE user = 'unauthenticated user'";
        while !server.rows(asks).is_empty() {}
        play(server)
    })
}

/// Returns what the server said without the name of the host, which depends on the resolver.
fn shown(said: &Said) -> String {
    let Said::Error(code, state, words) = said else { return format!("{said:?}") };
    let words = match words.split_once("'@'") {
        Some((before, after)) => {
            let after = after.split_once('\'').map_or("", |(_host, after)| after);
            format!("{before}'@'HOST'{after}")
        }
        None => words.clone(),
    };
    format!("{code} ({state}) {words}")
}

fn attempt(server: &Server, what: &str, act: fn(&mut Caller) -> Said) -> String {
    let before = number(server, "Aborted_connects");
    let mut caller = Caller::from(HERE, server.port());
    let said = act(&mut caller);
    if said != Said::Ok {
        drop(caller);
        wait_aborted(server, before + 1);
    }
    format!("{what}: {}: {}", shown(&said), counted(server))
}

#[test]
fn errors_of_connections_are_counted_by_host() {
    let answers = same("host_cache", &Settings::default(), |server| {
        ACCOUNTS.iter().for_each(|statement| drop(server.run(statement)));
        let _first = (Caller::from(Ipv4Addr::LOCALHOST, server.port()), Caller::from(HERE, server.port()));
        let (mut h, mut m) = (Caller::from(HERE, server.port()), Caller::from(HERE, server.port()));
        assert_eq!((h.log_in("h", ""), m.log_in("m", "")), (Said::Ok, Said::Ok), "{}", server.flavor());
        let mut lines: Vec<String> = ATTEMPTS.iter().map(|(what, act)| attempt(server, what, *act)).collect();
        lines.push(server.rows("SELECT COUNT(*) FROM performance_schema.host_cache").join(""));
        server.run("SET GLOBAL require_secure_transport = ON");
        let mut caller = Caller::from(HERE, server.port());
        lines.push(format!("{}: {}", shown(&caller.log_in("u", "")), counted_over_tls(server)));
        lines
    });
    assert!(answers[1].contains("SUM_CONNECT_ERRORS=2 COUNT_HANDSHAKE_ERRORS=2"), "{answers:#?}");
    let in_again = answers.iter().find(|line| line.starts_with("gets in again")).unwrap();
    assert!(!in_again.contains("SUM_CONNECT_ERRORS"), "{in_again}");
    for kind in
        ["HANDSHAKE_ERRORS=11", "AUTHENTICATION_ERRORS=2", "SSL_ERRORS=1", "DEFAULT_DATABASE_ERRORS=1"]
    {
        assert!(in_again.contains(&format!(" COUNT_{kind}")), "{kind}: {in_again}");
    }
}

/// Returns [`counted`] of a server that lets nobody in without encryption. The query goes over the
/// socket.
fn counted_over_tls(server: &Server) -> String {
    let options = protocol::client::ConnectOptions::unix(server.socket()).user(testkit::USER, testkit::USER);
    let mut client = protocol::client::Client::connect(&options).expect("the socket is secure");
    client.query("SET GLOBAL require_secure_transport = OFF").expect("a variable that can be set");
    counted(server)
}

#[test]
fn a_host_with_too_many_connect_errors_is_blocked() {
    let answers = same("max_connect_errors", &Settings::default(), |server| {
        ACCOUNTS.iter().for_each(|statement| drop(server.run(statement)));
        server.run("SET GLOBAL max_connect_errors = 3");
        server.run("CREATE USER w IDENTIFIED BY 'w'");
        server.run("GRANT SELECT ON performance_schema.* TO w");
        let hang_up: fn(&mut Caller) -> Said = |c| read_greeting(c).unwrap_or(Said::Nothing);
        let log_in: fn(&mut Caller) -> Said = |c| c.log_in("u", "");
        let come = |acts: &[fn(&mut Caller) -> Said]| -> Vec<String> {
            acts.iter().map(|act| attempt(server, "comes", *act)).collect()
        };
        // A successful login in between resets the count.
        let mut lines = come(&[hang_up, hang_up, log_in, hang_up, hang_up, hang_up, log_in, hang_up]);
        // Only the host is blocked, not the whole loopback interface.
        assert_eq!(Caller::from(Ipv4Addr::LOCALHOST, server.port()).log_in("u", ""), Said::Ok);
        lines.push(shown(&Caller::from(Ipv4Addr::new(127, 0, 0, 3), server.port()).log_in("u", "")));
        lines.push(format!("{:?}", server.refuses("FLUSH HOSTS")));
        server.run("SET GLOBAL max_connect_errors = 4");
        lines.extend(come(&[log_in, hang_up, hang_up, hang_up, hang_up, log_in]));
        let mut other = protocol::client::Client::connect(&server.connect_options().user("w", "w")).unwrap();
        for statement in [
            "TRUNCATE TABLE performance_schema.host_cache",
            "DELETE FROM performance_schema.host_cache",
            "DROP TABLE performance_schema.host_cache",
            "SELECT COUNT(*) FROM performance_schema.host_cache",
        ] {
            lines.push(match other.query(statement) {
                Ok(rows) => format!("{statement}: {:?}", rows.cell(0, 0)),
                Err(e) => format!("{statement}: {e}"),
            });
        }
        server.run("SET GLOBAL super_read_only = ON");
        server.run("TRUNCATE TABLE performance_schema.host_cache");
        server.run("SET GLOBAL read_only = OFF");
        lines.push(counted(server));
        lines.extend(come(&[log_in]));
        for statement in
            ["TRUNCATE TABLE performance_schema.threads", "TRUNCATE TABLE performance_schema.no_such_table"]
        {
            lines.push(format!("{statement}: {:?}", server.refuses(statement)));
        }
        // Without entries no host is blocked.
        server.run("SET GLOBAL host_cache_size = 0, GLOBAL max_connect_errors = 1");
        lines.extend(come(&[hang_up, hang_up, log_in]));
        server.run("SET GLOBAL host_cache_size = 1");
        lines.extend(come(&[log_in, hang_up]));
        lines.push(shown(&Caller::from(Ipv4Addr::new(127, 0, 0, 3), server.port()).log_in("u", "")));
        lines.extend(come(&[log_in]));
        lines.push(server.rows("SELECT @@host_cache_size, @@skip_name_resolve").join(""));
        lines
    });
    let blocked = "Host '127.0.0.2' is blocked because of many connection errors; unblock with 'mysqladmin flush-hosts'";
    let refused = answers.iter().filter(|line| line.contains(&format!("1129 () {blocked}"))).count();
    assert_eq!(refused, 3, "{answers:#?}");
}

/// Without name resolution, clients are known by their addresses, and nothing is counted.
#[test]
fn without_names_nobody_is_blocked_and_localhost_is_the_socket() {
    let settings = Settings { extra: vec!["--skip-name-resolve".into()], ..Settings::default() };
    same("skip_name_resolve", &settings, |server| {
        for statement in ["CREATE USER u", "CREATE USER o@localhost", "SET GLOBAL max_connect_errors = 1"] {
            server.run(statement);
        }
        let hang_up: fn(&mut Caller) -> Said = |c| read_greeting(c).unwrap_or(Said::Nothing);
        let mut lines: Vec<String> = (0..3).map(|_| attempt(server, "hangs up", hang_up)).collect();
        lines.push(attempt(server, "logs in", |c| c.log_in("u", "")));
        for from in [Ipv4Addr::LOCALHOST, HERE] {
            let said = ["u", "o"].map(|user| Caller::from(from, server.port()).log_in(user, ""));
            lines.push(format!("{from}: {said:?}"));
        }
        lines.push(server.rows("SELECT USER(), COUNT(*) FROM performance_schema.host_cache").join(""));
        lines
    });
}

#[test]
fn a_host_that_no_account_is_for_is_told_so() {
    let answers = same("host_acl", &Settings::default(), |server| {
        server.run("CREATE USER u@'127.0.4.%'");
        server.run("CREATE USER u@'127.0.5.0/255.255.255.0'");
        server.run(&format!("DROP USER {}@'%'", testkit::USER));
        server.run("FLUSH PRIVILEGES");
        let others = [[127, 0, 4, 1], [127, 0, 5, 1], [127, 0, 6, 1]];
        let come = |ip| shown(&Caller::from(Ipv4Addr::from(ip), server.port()).log_in("u", ""));
        let mut lines: Vec<String> = others.into_iter().map(come).collect();
        lines.push(attempt(server, "comes", |c| c.log_in("u", "")));
        lines.push(attempt(server, "comes", |c| c.log_in("u", "")));
        lines
    });
    assert!(answers[2].starts_with("1130 () Host '"), "{answers:#?}");
    assert!(answers[4].contains("COUNT_HOST_ACL_ERRORS=2"), "{answers:#?}");
}

/// A failing `init_connect` ends the connection at its first command.
#[test]
fn a_failed_init_connect_is_told_and_counted() {
    let answers = same("init_connect", &Settings::default(), |server| {
        server.run("CREATE USER u");
        server.run("SET GLOBAL init_connect = 'SELEKT'");
        let mut caller = Caller::from(HERE, server.port());
        assert_eq!(caller.log_in("u", ""), Said::Ok);
        caller.command(b"\x03SELECT 1");
        let said = match caller.hear() {
            Said::Error(1184, state, words) if state == "08S01" => {
                let (number, rest) = words.trim_start_matches("Aborted connection ").split_once(' ').unwrap();
                assert!(number.parse::<u32>().is_ok(), "{words}");
                let (before, after) = rest.split_once("host: '").unwrap();
                format!("{before}{}", after.split_once('\'').unwrap().1)
            }
            other => panic!("{}: {other:?}", server.flavor()),
        };
        assert_eq!(caller.hear(), Said::Nothing);
        let mut changes = Caller::from(HERE, server.port());
        server.run("SET GLOBAL init_connect = ''");
        let mut lines = vec![said, counted(server)];
        // COM_CHANGE_USER counts as a login does, and ends the connection if it fails.
        for packet in
            [&b"\x11nobody\0\0\0\xff\0caching_sha2_password\0"[..], b"\x11u\0\0no_such\0\xff\0", b"\x11u"]
        {
            assert_eq!(changes.log_in("u", ""), Said::Ok);
            changes.command(packet);
            let said = changes.hear_of_login();
            lines.push(format!("{} {:?}: {}", shown(&said), changes.hear(), counted(server)));
            changes = Caller::from(HERE, server.port());
        }
        lines
    });
    assert_eq!(answers[1], "IP=127.0.0.2 COUNT_INIT_CONNECT_ERRORS=1");
}
