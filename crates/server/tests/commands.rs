//! Tests of the protocol's commands on a whole server, sent as clients send them and in ways in
//! which no client should send them.

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError, ConnectOptions};
use protocol::command;
use std::io::{Read, Write};
use std::net::TcpStream;
use testkit::Server;

fn start() -> Server {
    Server::start(Flavor::Slipstream, &Settings::default())
}

fn code<T: std::fmt::Debug>(result: Result<T, ClientError>) -> u16 {
    let error = result.expect_err("this must be refused");
    error.server_code().unwrap_or_else(|| panic!("not the server's error: {error}"))
}

/// The conversation that the client has with real servers goes the same way with Slipstream.
#[test]
fn the_whole_client_is_understood() {
    testkit::conversation::whole_client(&start());
}

#[test]
fn small_commands_answer() {
    let server = start();
    server.run("CREATE DATABASE p");
    server.run("CREATE TABLE p.t (id INT PRIMARY KEY, name VARCHAR(10))");
    let mut client = server.connect();
    client.ping().unwrap();
    assert_eq!(code(client.command(command::INIT_DB, b"nowhere")), 1049);
    client.command(command::INIT_DB, b"p").unwrap();
    assert_eq!(client.query("SELECT DATABASE()").unwrap().cell(0, 0).as_deref(), Some("p"));
    client.send_command(command::STATISTICS, &[]).unwrap();
    let line = String::from_utf8_lossy(client.read_packet().unwrap()).into_owned();
    assert!(line.starts_with("Uptime: ") && line.contains("Threads: "), "{line}");
    assert_eq!(code(client.query_all("SELECT 1; SELECT 2")), 1064);
    client.command(command::SET_OPTION, &[0, 0]).unwrap();
    assert_eq!(client.query_all("SELECT 1; SELECT 2").unwrap().len(), 2);
    client.send_command(command::FIELD_LIST, b"t\0%\0").unwrap();
    let mut columns = 0;
    while client.read_packet().unwrap()[0] != 0xfe {
        columns += 1;
    }
    assert_eq!(columns, 2);
    assert_eq!(code(client.command(0x7f, b"")), 1047);
    assert_eq!(code(client.command(command::STMT_RESET, &[9, 9, 9, 9])), 1243);
    assert_eq!(code(client.command(command::STMT_RESET, &[9])), 1835);
    assert_eq!(code(client.command(command::STMT_FETCH, &[9, 0, 0, 0, 1, 0, 0, 0])), 1243);
    client.ping().unwrap();
}

#[test]
fn kill_ends_a_statement_and_a_connection() {
    let server = start();
    let mut killer = server.connect();
    for (words, lost) in [("KILL QUERY", false), ("KILL", true)] {
        let mut victim = server.connect();
        let id = victim.connection_id();
        victim.send_query("SELECT SLEEP(600)").unwrap();
        let watch = os::clock::Stopwatch::start();
        loop {
            assert!(watch.elapsed_ms() < 60_000, "the statement is not in SHOW PROCESSLIST");
            let list = killer.query("SHOW PROCESSLIST").unwrap();
            let of_victim = |row: &usize| list.text(*row, "Id") == Some(id.to_string());
            let row = (0..list.rows.len()).find(of_victim).expect("the victim is listed");
            if list.text(row, "Info").is_some_and(|info| info.contains("SLEEP")) {
                break;
            }
        }
        killer.query(&format!("{words} {id}")).unwrap();
        let answer = victim.read_summary();
        // A SLEEP that is killed ends with 1 or with error 1317. A killed connection may be closed
        // before the answer.
        assert!(lost || answer.is_ok() || answer.unwrap_err().server_code() == Some(1317));
        assert_eq!(victim.ping().is_err(), lost);
    }
    assert_eq!(code(killer.query("KILL 4000000000")), 1094);
}

#[test]
fn too_many_connections_are_refused_but_for_one_administrator() {
    let settings = Settings { extra: vec!["--max-connections=3".into()], ..Settings::default() };
    let server = Server::start(Flavor::Slipstream, &settings);
    server.run("CREATE USER plain IDENTIFIED BY ''");
    let plain = || Client::connect(&ConnectOptions::tcp("127.0.0.1", server.port()).user("plain", ""));
    // The connection that made the account may need a moment to go away.
    let come_in = || loop {
        match plain() {
            Ok(client) => return client,
            Err(e) => assert_eq!(e.server_code(), Some(1040), "{e}"),
        }
    };
    let held: Vec<Client> = (0..3).map(|_| come_in()).collect();
    assert_eq!(code(plain()), 1040);
    let mut administrator = server.connect();
    assert_eq!(code(server.try_connect()), 1040);
    drop(held);
    while administrator.query("SHOW STATUS LIKE 'Threads_connected'").unwrap().cell(0, 1).as_deref()
        != Some("1")
    {}
    plain().unwrap();
}

#[test]
fn bytes_that_are_no_protocol_harm_nobody() {
    let server = start();
    let mut other = server.connect();
    let seed = os::random::test_seed("bytes_that_are_no_protocol_harm_nobody");
    let mut random = os::random::Rng::new(seed);
    for _ in 0..200 {
        let mut socket = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        socket.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        let len = random.between(0, 300) as usize;
        let mut bytes = random.bytes(len);
        if len > 40 && random.one_in(2) {
            // The bytes begin like a valid response: they have the right length, the right packet
            // number and the protocol's bits.
            bytes[..4].copy_from_slice(&[(len - 4) as u8, ((len - 4) >> 8) as u8, 0, 1]);
            bytes[5] |= 2;
        }
        // The server may have closed the connection already.
        let _gone = socket.write_all(&bytes);
        let _gone = socket.shutdown(std::net::Shutdown::Write);
        let mut rest = Vec::new();
        let _gone = socket.read_to_end(&mut rest);
    }
    assert_eq!(other.query("SELECT 1").unwrap().cell(0, 0).as_deref(), Some("1"));
    assert!(!server.log_tail().contains("panicked"), "{}", server.log_tail());
}

#[test]
fn commands_with_random_bodies_harm_nobody() {
    let server = start();
    let seed = os::random::test_seed("commands_with_random_bodies_harm_nobody");
    let mut random = os::random::Rng::new(seed);
    for _ in 0..60 {
        let mut client = server.connect();
        client.set_read_timeout(Some(std::time::Duration::from_millis(200))).unwrap();
        let _known = client.prepare("SELECT ?, ?").unwrap();
        for _ in 0..20 {
            // COM_QUIT and the dump commands are left out, because they end the connection by
            // design.
            let command = *random.pick(&[
                0x00u8, 0x02, 0x03, 0x04, 0x09, 0x0e, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1f,
            ]);
            let len = random.below(40) as usize;
            let mut body = random.bytes(len);
            if len >= 4 && random.one_in(2) {
                body[..4].copy_from_slice(&1u32.to_le_bytes());
            }
            if client.send_command(command, &body).is_err()
                || (command != 0x18 && command != 0x19 && client.read_packet().is_err())
            {
                break;
            }
            // The rest of a longer answer is dropped with the connection.
            if client.has_buffered_input() {
                break;
            }
        }
    }
    assert_eq!(server.rows("SELECT 1"), ["1"]);
    assert!(!server.log_tail().contains("panicked"), "{}", server.log_tail());
}
