//! A fuzzer of BINLOG statements: events with random damage, which a server must refuse or apply,
//! and survive.

use os::random::{Rng, test_seed};
use protocol::client::ClientError;
use testkit::{Flavor, Server, times};

use crate::sent::{Log, anonymous, base64, binlog_of};

/// Damages an event: bytes of it become others, parts of it go, or parts come twice.
fn damage(rng: &mut Rng, event: &mut Vec<u8>) {
    for _ in 0..1 + rng.below(4) {
        if event.is_empty() {
            return;
        }
        let at = rng.below(event.len() as u64) as usize;
        match rng.below(8) {
            0..=3 => event[at] = rng.below(256) as u8,
            4 => event[at] = [0, 1, 127, 128, 252, 255][rng.below(6) as usize],
            5 => event.truncate(at),
            6 => {
                let end = (at + 1 + rng.below(8) as usize).min(event.len());
                event.drain(at..end);
            }
            _ => {
                let part = event[at..(at + 8).min(event.len())].to_vec();
                event.splice(at..at, part);
            }
        }
    }
    // In half of the cases the length in the header is right, so that the body is read.
    if event.len() >= 13 && rng.below(2) == 0 {
        let length = (event.len() as u32).to_le_bytes();
        event[9..13].copy_from_slice(&length);
    }
}

fn statement(rng: &mut Rng, log: &Log) -> String {
    let mut events: Vec<Vec<u8>> = log.groups[rng.below(log.groups.len() as u64) as usize].clone();
    if rng.below(4) == 0 {
        events.extend(log.groups[rng.below(log.groups.len() as u64) as usize].clone());
    }
    if rng.below(6) == 0 {
        events.insert(0, log.format().to_vec());
    }
    let damaged = rng.below(events.len() as u64) as usize;
    damage(rng, &mut events[damaged]);
    if rng.below(10) != 0 {
        return binlog_of(&events);
    }
    // The text of the base64 itself is damaged.
    let mut text = base64(&events.concat()).into_bytes();
    damage(rng, &mut text);
    let text: String =
        text.iter().map(|byte| char::from(byte & 0x7f)).filter(|c| !"'\\".contains(*c)).collect();
    format!("BINLOG '{text}'")
}

#[test]
fn damaged_binlog_statements_do_no_harm() {
    let log = Log::written_by(Flavor::Slipstream);
    let mut server = Server::start(Flavor::Slipstream, &anonymous());
    let seed = test_seed("damaged_binlog_statements_do_no_harm");
    let mut rng = Rng::new(seed);
    let mut client = server.connect();
    for sql in [
        "CREATE DATABASE p",
        "CREATE TABLE p.a (id INT PRIMARY KEY, v VARCHAR(20), j JSON, g INT AS (id * 2) VIRTUAL, \
         d DECIMAL(10,2), t TIMESTAMP(3) NULL, b BIT(5), e ENUM('x','y'), s SET('p','q'))",
        "CREATE TABLE p.par (id INT PRIMARY KEY, x INT)",
        "CREATE TABLE p.chi (id INT PRIMARY KEY, p INT, \
         FOREIGN KEY (p) REFERENCES par (id) ON DELETE CASCADE ON UPDATE CASCADE)",
        &binlog_of(&[log.format()]),
        "SET gtid_next = AUTOMATIC, rbr_exec_mode = IDEMPOTENT",
    ] {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let (mut applied, mut refused) = (0u64, 0u64);
    let wanted = times("SLIPSTREAM_DAMAGED_STATEMENTS", 2000);
    for number in 0..wanted {
        let sql = statement(&mut rng, &log);
        match client.query(&sql) {
            Ok(_) => applied += 1,
            Err(ClientError::Server(_)) => refused += 1,
            Err(error) => panic!("statement {number} of seed {seed}: {error}\n{sql}"),
        }
    }
    println!("{applied} applied, {refused} refused");
    assert!(applied > wanted / 50 && refused > wanted / 10, "{applied} applied, {refused} refused");
    for table in ["a", "par", "chi"] {
        let said = server.rows(&format!("CHECK TABLE p.{table}"));
        assert!(said.iter().all(|row| row.ends_with("\tOK")), "seed {seed}: {said:?}");
    }
    server.kill();
    server.come_back();
    assert_eq!(server.rows("SELECT COUNT(*) >= 0 FROM p.a"), ["1"]);
}
