//! The fuzzer of a client's packets: changed handshakes, every command, and frames that are cut,
//! too long or out of order. The server must answer or close the connection; nothing more may come
//! of it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use os::random::Rng;
use protocol::capability as cap;
use protocol::command;
use protocol::handshake::HandshakeResponse;
use protocol::scalar::Scalar;
use protocol::statement::put_execute;
use protocol::stream::Stream;
use testkit::{Server, Settings};

use crate::campaign::Campaign;
use crate::pipe::{Damage, Pipe, Way};
use crate::tls;
use crate::watched::{disgrace, forget_log};

const CORPUS: &str = include_str!("corpus/protocol.txt");
/// How long all connections may need to end after the last one was closed.
const ENDED_WITHIN: Duration = Duration::from_secs(60);

/// Frames in the order in which they are sent, after a correct login or with the login as the first
/// frame.
#[derive(Debug, Clone, Default)]
struct Talk {
    logs_in: bool,
    /// Set if the frames are sent in records of TLS.
    is_encrypted: bool,
    bytes: Vec<u8>,
}

/// An input of the fuzzer.
#[derive(Debug, Clone)]
enum Input {
    Talk(Talk),
    /// A record of TLS is damaged on its way.
    Record(Damage),
}

impl Input {
    /// Returns the input as a line of the corpus.
    fn line(&self) -> String {
        match self {
            Input::Talk(talk) => talk.line(),
            Input::Record(damage) => format!("record {damage}"),
        }
    }

    fn parse(line: &str) -> Input {
        match line.strip_prefix("record ") {
            Some(rest) => Input::Record(Damage::parse(rest).expect("corpus/protocol.txt has two numbers")),
            None => Input::Talk(Talk::parse(line)),
        }
    }

    fn any(rng: &mut Rng) -> Input {
        match rng.one_in(4) {
            true => Input::Record(Damage::any(rng)),
            false => Input::Talk(Talk::any(rng)),
        }
    }
}

impl Talk {
    /// Returns the talk as a line of the corpus.
    fn line(&self) -> String {
        let hex: String = self.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let place = match (self.logs_in, self.is_encrypted) {
            (true, false) => "in",
            (false, false) => "out",
            (true, true) => "tls-in",
            (false, true) => "tls-out",
        };
        format!("{place} {hex}")
    }

    fn parse(line: &str) -> Talk {
        let (place, hex) = line.split_once(' ').unwrap_or((line, ""));
        let digit = |at: usize| {
            u8::from_str_radix(&hex[at..at + 2], 16).expect("corpus/protocol.txt has hexadecimal digits")
        };
        let bytes = (0..hex.len() / 2).map(|at| digit(at * 2)).collect();
        Talk { logs_in: place.ends_with("in"), is_encrypted: place.starts_with("tls"), bytes }
    }

    /// Returns the sequence number of the client's login. With TLS, the request for TLS has come
    /// before it.
    fn first_sequence(&self) -> u8 {
        1 + u8::from(self.is_encrypted)
    }

    fn frame(&mut self, sequence: u8, payload: &[u8]) {
        self.bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes()[..3]);
        self.bytes.push(sequence);
        self.bytes.extend_from_slice(payload);
    }

    fn any(rng: &mut Rng) -> Talk {
        let (logs_in, is_encrypted) = (!rng.one_in(4), rng.one_in(3));
        let mut talk = Talk { logs_in, is_encrypted, bytes: Vec::new() };
        if !talk.logs_in {
            let mut payload = login();
            if rng.one_in(5) {
                // The preamble of TLS comes with something else behind it.
                payload.truncate(32);
                payload[1] |= (cap::SSL >> 8) as u8;
            }
            let payload = if rng.one_in(8) { payload } else { rng.damaged(&payload) };
            talk.frame(talk.first_sequence(), &payload);
            let behind = rng.below(200) as usize;
            talk.bytes.extend(rng.bytes(behind));
            return talk;
        }
        for _ in 0..rng.between(1, 6) {
            let mut payload = any_command(rng);
            if !rng.one_in(4) {
                let code = payload[0];
                payload = rng.damaged(&payload);
                // The command's code itself is kept most of the time.
                if let (Some(first), false) = (payload.first_mut(), rng.one_in(8)) {
                    *first = code;
                }
            }
            let sequence = if rng.one_in(30) { rng.u64() as u8 } else { 0 };
            talk.frame(sequence, &payload);
        }
        if rng.one_in(6) {
            talk.bytes = rng.damaged(&talk.bytes);
        }
        talk
    }
}

fn login() -> Vec<u8> {
    let response = HandshakeResponse {
        capabilities: cap::PROTOCOL_41
            | cap::SECURE_CONNECTION
            | cap::PLUGIN_AUTH
            | cap::CONNECT_WITH_DB
            | cap::CONNECT_ATTRS
            | cap::MULTI_STATEMENTS,
        max_packet_bytes: 1 << 24,
        collation: 255,
        user: b"raw".to_vec(),
        auth_response: Vec::new(),
        schema: b"fuzzed".to_vec(),
        plugin: b"caching_sha2_password".to_vec(),
        attributes: vec![(b"_client_name".to_vec(), b"fuzz".to_vec())],
    };
    let mut bytes = Vec::new();
    response.encode(&mut bytes);
    bytes
}

fn any_command(rng: &mut Rng) -> Vec<u8> {
    let with = |code: u8, body: &[u8]| [&[code][..], body].concat();
    let id = rng.below(4) as u32;
    match rng.below(20) {
        0 => with(command::QUERY, b"SELECT * FROM t; INSERT INTO t VALUES (NULL, 'x'); SELECT @@version"),
        1 => with(command::INIT_DB, b"fuzzed"),
        2 => with(command::FIELD_LIST, b"t\0%"),
        3 => with(command::STATISTICS, b""),
        4 => with(command::PROCESS_KILL, &id.to_le_bytes()),
        5 => {
            with(command::CHANGE_USER, b"raw\0\0fuzzed\0\xff\0caching_sha2_password\0\x0d\x05_name\x06client")
        }
        6 => with(command::SET_OPTION, &[id as u8 & 1, 0]),
        7 => with(command::RESET_CONNECTION, b""),
        8 | 9 => with(
            command::STMT_PREPARE,
            rng.pick::<&[u8]>(&[
                b"SELECT ?, t.* FROM t WHERE id > ?",
                b"INSERT INTO t (v) VALUES (?), (?)",
                b"SELECT 1",
            ]),
        ),
        10 | 11 => {
            let values = [Scalar::Int(-3), Scalar::Bytes(b"text"), Scalar::Null, Scalar::Double(0.5)];
            let mut body = Vec::new();
            put_execute(id, &[*rng.pick(&values), *rng.pick(&values)], &mut body);
            body[4] = *rng.pick(&[0, 0, 0, 1, 0xFF]);
            with(command::STMT_EXECUTE, &body)
        }
        12 => with(
            command::STMT_SEND_LONG_DATA,
            &[&id.to_le_bytes()[..], &[rng.below(3) as u8, 0], b"long data"].concat(),
        ),
        13 => with(command::STMT_CLOSE, &id.to_le_bytes()),
        14 => with(command::STMT_RESET, &id.to_le_bytes()),
        15 => with(command::STMT_FETCH, &[id.to_le_bytes(), [2, 0, 0, 0]].concat()),
        16 => with(command::BINLOG_DUMP, b"\x04\0\0\0\x01\0\x09\0\0\0binlog.000001"),
        17 => {
            let mut body = vec![*rng.pick(&[0u8, 1, 4, 5]), 0, 9, 0, 0, 0, 0, 0, 0, 0];
            body.extend_from_slice(&4u64.to_le_bytes());
            let mut set = 1u64.to_le_bytes().to_vec();
            set.extend([7; 16]);
            for number in [1u64, 1, 5] {
                set.extend_from_slice(&number.to_le_bytes());
            }
            body.extend_from_slice(&(set.len() as u32).to_le_bytes());
            body.extend(set);
            with(command::BINLOG_DUMP_GTID, &body)
        }
        18 => with(command::REGISTER_SLAVE, b"\x09\0\0\0\x04host\x04user\x04pass\xea\x0c\0\0\0\0\0\0\0\0"),
        // This is a semi-synchronous acknowledgement.
        _ => with(0xEF, b"\x04\0\0\0\0\0\0\0binlog.000001"),
    }
}

fn read_frame(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let mut payload = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
    stream.read_exact(&mut payload)?;
    Ok(payload)
}

/// Sends everything and listens for a moment. What becomes of the connection is left to the server.
fn talk(server: &Server, talk: &Talk) -> std::io::Result<&'static str> {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port()))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    read_frame(&mut stream)?;
    let login = login();
    let socket = stream.try_clone()?;
    let mut stream = if talk.is_encrypted { tls::begin(stream, &login)? } else { Stream::from(stream) };
    if talk.logs_in {
        let mut payload = login;
        if talk.is_encrypted {
            payload[1] |= (cap::SSL >> 8) as u8;
        }
        let mut first = Talk::default();
        first.frame(talk.first_sequence(), &payload);
        stream.write_all(&first.bytes)?;
        let answer = read_frame(&mut stream)?;
        if answer.first() != Some(&0) {
            return Ok("not let in");
        }
    }
    socket.set_read_timeout(Some(Duration::from_millis(50)))?;
    stream.write_all(&talk.bytes)?;
    Ok(tls::hear(&mut stream))
}

fn prepare(server: &Server) {
    for sql in [
        "CREATE DATABASE fuzzed",
        "CREATE TABLE fuzzed.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(100))",
        "INSERT INTO fuzzed.t (v) VALUES ('one'), ('two'), (NULL)",
        "CREATE USER raw@'%' IDENTIFIED BY ''",
        "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, PROCESS, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO raw@'%'",
    ] {
        server.run(sql);
    }
}

fn open() -> Server {
    let server =
        crate::watched::start(Settings { pool_bytes: 32 << 20, redo_bytes: 32 << 20, ..Settings::default() });
    prepare(&server);
    server
}

/// Waits until all fuzzed sessions have ended, and reports whether they have.
fn all_ended(server: &Server) -> bool {
    let waited = Stopwatch::start();
    while waited.elapsed() < ENDED_WITHIN {
        if server.rows("SHOW PROCESSLIST").iter().filter(|row| row.contains("\traw\t")).count() == 0 {
            return true;
        }
        sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn protocol() {
    let mut campaign = Campaign::start("protocol");
    let mut server = open();
    let pipe = Pipe::start(Way::ToTarget);
    let mut corpus: Vec<Input> =
        CORPUS.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(Input::parse).collect();
    loop {
        let next = match corpus.pop() {
            Some(next) => next,
            None if campaign.goes_on() => Input::any(&mut campaign.rng),
            None => break,
        };
        let outcome = match &next {
            Input::Talk(next) => talk(&server, next),
            Input::Record(damage) => Ok(tls::talk(&server, &pipe, *damage)),
        };
        let running = server.is_running();
        match (disgrace(&server), outcome) {
            (None, Ok(outcome)) if running => campaign.note(outcome),
            // The server closes the connection when it does not understand something, perhaps
            // before everything was sent.
            (None, Err(_)) if running => campaign.note("closed early"),
            (words, _) => {
                campaign.fault(
                    &words.unwrap_or_else(|| format!("the server ended: {}", server.log_tail())),
                    &next.line(),
                );
                forget_log(&server);
                if !running {
                    server.kill();
                    server = open();
                }
            }
        }
    }
    assert!(all_ended(&server), "sessions are left: {:?}", server.rows("SHOW PROCESSLIST"));
    campaign.finish();
}
