//! Tests of the HTTP side of a server: `/health`, `/ready` and `/metrics`.

use std::io::{Read, Write};
use std::net::TcpStream;

use bench::instance::{Flavor, Settings};
use bench::replication::{StartFrom, Thread};
use os::clock::{Stopwatch, sleep};
use os::random::Rng;
use protocol::client::Client;
use testkit::http::{address_of, exchange, get, get_with, parse, samples};
use testkit::server::SOON;
use testkit::{Replica, Server};

fn settings(extra: &[&str]) -> Settings {
    let mut settings = Settings::default();
    settings.extra.push("--http-address=127.0.0.1:0".to_owned());
    settings.extra.extend(extra.iter().map(|&option| option.to_owned()));
    settings
}

fn started(extra: &[&str]) -> Server {
    Server::start(Flavor::Slipstream, &settings(extra))
}

#[test]
fn paths_and_methods() {
    let server = started(&[]);
    let address = address_of(&server);
    let health = get(address, "/health");
    assert_eq!((health.status, health.body.as_str()), (200, "the server serves\n"));
    assert_eq!(get(address, "/ready").status, 200);
    assert_eq!(get(address, "/ready?role=source").status, 200);
    assert_eq!(get(address, "/ready?role=replica").status, 503);
    assert_eq!(get(address, "/ready?max_lag=1").status, 400);
    assert_eq!(get(address, "/nothing").status, 404);
    let metrics = get(address, "/metrics");
    assert!(metrics.head.iter().any(|line| line == "Content-Type: text/plain; version=0.0.4; charset=utf-8"));
    assert_eq!(samples(&metrics.body)["mysql_up"], 1.0);
    let said = |request: &str| parse(&String::from_utf8(exchange(address, request.as_bytes())).unwrap());
    let head = said("HEAD /metrics HTTP/1.0\r\n\r\n");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(said("POST /health HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc").status, 405);
    server.run("SET GLOBAL read_only = ON");
    assert_eq!(get(address, "/ready?role=source").body, "read_only is ON\n");
    assert_eq!(get(address, "/ready?role=replica").status, 200);
    server.run("SET GLOBAL offline_mode = ON");
    assert_eq!((get(address, "/ready").status, get(address, "/health").status), (503, 200));
}

#[test]
fn a_full_server_under_a_global_read_lock_answers() {
    let server = started(&["--max-connections=3"]);
    let address = address_of(&server);
    server.run("CREATE DATABASE d");
    let mut holder = server.connect();
    holder.query("FLUSH TABLES WITH READ LOCK").unwrap();
    let mut others: Vec<Client> = Vec::new();
    let refusal = loop {
        match server.try_connect() {
            Ok(client) => others.push(client),
            Err(error) => break error,
        }
        assert!(others.len() < 10, "max_connections does not count");
    };
    assert_eq!(refusal.server_code(), Some(1040), "{refusal}");
    // A statement that waits for the lock, and the answers beside it.
    others[0].send_query("CREATE TABLE d.t (id INT PRIMARY KEY)").unwrap();
    for path in ["/health", "/ready", "/metrics"] {
        assert_eq!(get(address, path).status, 200, "{path}");
    }
    holder.query("UNLOCK TABLES").unwrap();
    others[0].read_summary().unwrap();
}

#[test]
fn a_login_is_asked_for_if_there_is_one() {
    let directory = std::env::temp_dir().join(format!("slipstream-http-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("password");
    os::disk::real().write_atomically(&file, b"secret\nanother line\n").unwrap();
    let option = format!("--http-password-file={}", file.display());
    let server = started(&["--http-user=prometheus", &option]);
    let address = address_of(&server);
    let refused = get(address, "/metrics");
    assert_eq!(refused.status, 401);
    assert!(refused.head.iter().any(|line| line.starts_with("WWW-Authenticate: Basic ")), "{refused:?}");
    let status = |credentials: &str| {
        get_with(address, "/metrics", &format!("Authorization: Basic {credentials}\r\n")).status
    };
    assert_eq!([status("cHJvbWV0aGV1czpzZWNyZXQ="), status("cHJvbWV0aGV1czpTZWNyZXQ=")], [200, 401]);
    assert_eq!([get(address, "/health").status, get(address, "/ready").status], [200, 200]);
    drop(server);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn connections_are_bounded_and_freed() {
    const MOST: usize = 32;
    let server = started(&[]);
    let address = address_of(&server);
    let mut silent: Vec<TcpStream> = (0..MOST).map(|_| TcpStream::connect(address).unwrap()).collect();
    // One that came later is refused, whatever it says.
    let clock = Stopwatch::start();
    let refused = get(address, "/health");
    assert_eq!((refused.status, refused.body.as_str()), (503, "too many HTTP connections\n"));
    // A request in pieces is answered, and a place that is given back is free.
    let first = &mut silent[0];
    for piece in ["GET /hea", "lth HT", "TP/1.1\r\n", "\r\n"] {
        first.write_all(piece.as_bytes()).unwrap();
    }
    let mut answer = String::new();
    first.read_to_string(&mut answer).unwrap();
    assert_eq!(parse(&answer).status, 200);
    silent.clear();
    while get(address, "/health").status != 200 {
        assert!(clock.elapsed() < SOON, "no place becomes free");
        sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_silent_client_is_told_and_left() {
    let server = started(&[]);
    let answer = exchange(address_of(&server), b"GET /metrics HTTP/1.1\r\nHost: ");
    assert_eq!(parse(&String::from_utf8(answer).unwrap()).status, 408);
}

#[test]
fn no_bytes_harm_the_server() {
    let server = started(&[]);
    let address = address_of(&server);
    let mut random = Rng::new(os::random::test_seed("no_bytes_harm_the_server"));
    let request =
        b"GET /ready?max_lag_ms=1&role=source HTTP/1.1\r\nHost: h\r\nAuthorization: Basic YQ==\r\n\r\n";
    for _ in 0..300 {
        let mut bytes = match random.below(3) {
            0 => random.bytes(200),
            _ => random.damaged(request),
        };
        // The end of a head makes the server answer at once, whatever stands before it.
        bytes.extend_from_slice(b"\r\n\r\n");
        let answer = exchange(address, &bytes);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 "), "{bytes:?}: {answer:?}");
    }
    let long = exchange(address, &[b"GET /metrics HTTP/1.1\r\nA: ".as_slice(), &[b'a'; 100_000]].concat());
    assert!(long.is_empty() || long.starts_with(b"HTTP/1.1 431 "), "{long:?}");
    assert_eq!(get(address, "/health").status, 200);
    assert_eq!(server.rows("SELECT 1"), ["1"]);
}

#[test]
fn a_replica_is_ready_by_its_true_lag() {
    let source = Server::start(Flavor::Slipstream, &Settings { server_id: 1, ..Settings::default() });
    let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..settings(&[]) });
    replica.follow(Flavor::Slipstream, source.port(), &StartFrom::Gtid);
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    replica.catch_up(&source);
    let address = address_of(&replica);
    // The lag is 0 as soon as what was received is visible.
    let clock = Stopwatch::start();
    while get(address, "/ready?max_lag_ms=0&role=replica").status != 200 {
        assert!(clock.elapsed() < SOON, "{}", get(address, "/ready?max_lag_ms=0").body);
        sleep(std::time::Duration::from_millis(5));
    }
    // Without a connection and with nothing pending the lag cannot be known.
    replica.stop_thread(Thread::Io);
    assert_eq!(get(address, "/ready?max_lag_ms=1000000").status, 503);
    assert_eq!(get(address, "/ready").status, 200);
    replica.start_thread(Thread::Io);
    replica.stop_thread(Thread::Sql);
    source.run("INSERT INTO d.t VALUES (1)");
    let clock = Stopwatch::start();
    let late = loop {
        let answer = get(address, "/ready?max_lag_ms=20");
        if answer.status == 503 && answer.body.contains("behind the source") {
            break answer.body;
        }
        assert!(clock.elapsed() < SOON, "{answer:?}");
        sleep(std::time::Duration::from_millis(5));
    };
    assert!(
        late.starts_with("channel '': ") && late.ends_with(" ms behind the source, more than 20\n"),
        "{late}"
    );
    let metrics = samples(&get(address, "/metrics").body);
    assert!(metrics["slipstream_replica_lag_milliseconds{channel_name=\"\"}"] > 20.0);
    assert_eq!(metrics["slipstream_replica_running{channel_name=\"\",thread=\"applier\"}"], 0.0);
    assert_eq!(metrics["slipstream_replica_running{channel_name=\"\",thread=\"receiver\"}"], 1.0);
    let lag = replica.rows("SELECT LAG_US > 20000, HELD_BACK_BY FROM performance_schema.replication_lag");
    assert_eq!(lag, ["1\tthe applier is stopped"]);
    // An error that stops the applier counts without a largest lag too.
    replica.run("INSERT INTO d.t VALUES (1)");
    replica.start_thread(Thread::Sql);
    replica.wait_until("stopped", |status| status.sql_errno == 1062);
    let clock = Stopwatch::start();
    while get(address, "/ready").body != "channel '': the applier has stopped with error 1062\n" {
        assert!(clock.elapsed() < SOON, "{}", get(address, "/ready").body);
        sleep(std::time::Duration::from_millis(5));
    }
}
