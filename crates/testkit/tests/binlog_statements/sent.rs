//! Events of a real server's binary log, and BINLOG statements that send them.

use binlog::event::{Event, event_type};
use testkit::binlog_events::{self, FileEvent};
use testkit::{Server, Settings};

/// The statements whose events are sent.
const WRITTEN: &[&str] = &[
    "CREATE DATABASE p",
    "CREATE TABLE p.a (id INT PRIMARY KEY, v VARCHAR(20), j JSON, g INT AS (id * 2) VIRTUAL, \
     d DECIMAL(10,2), t TIMESTAMP(3) NULL, b BIT(5), e ENUM('x','y'), s SET('p','q'))",
    "INSERT INTO p.a (id, v, j, d, t, b, e, s) VALUES (1, 'one', '{\"a\":1}', 1.5, \
     '2020-01-01 01:02:03.456', 5, 'x', 'p,q'), (2, 'two', '[1,2,3]', -2.25, NULL, NULL, 'y', '')",
    "UPDATE p.a SET v = 'ONE', j = JSON_SET(j, '$.b', 'text') WHERE id = 1",
    "DELETE FROM p.a WHERE id = 2",
    "CREATE TABLE p.par (id INT PRIMARY KEY, x INT)",
    "CREATE TABLE p.chi (id INT PRIMARY KEY, p INT, \
     FOREIGN KEY (p) REFERENCES par (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "INSERT INTO p.par VALUES (1, 1), (2, 2)",
    "INSERT INTO p.chi VALUES (1, 1), (2, 1), (3, 2)",
    "UPDATE p.par SET id = 10 WHERE id = 1",
    "DELETE FROM p.par WHERE id = 2",
    "SET binlog_row_image = MINIMAL",
    "UPDATE p.a SET v = 'min' WHERE id = 1",
    "SET binlog_row_image = FULL",
];

/// Settings without GTIDs.
pub fn anonymous() -> Settings {
    Settings { gtid: false, ..Settings::default() }
}

/// A transaction's row events, with the TABLE_MAP events before them.
pub type Group = Vec<Vec<u8>>;

/// The events of a binary log.
pub struct Log {
    /// All events, in order.
    pub events: Vec<FileEvent>,
    /// The row events of each transaction that has some.
    pub groups: Vec<Group>,
}

impl Log {
    /// Runs the statements on a server and reads its binary log.
    pub fn written_by(flavor: testkit::Flavor) -> Log {
        let server = Server::start(flavor, &anonymous());
        let mut client = server.connect();
        for statement in WRITTEN {
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        let events = binlog_events::of(&server);
        let mut groups: Vec<Group> = vec![Vec::new()];
        for event in &events {
            match event.decode().1 {
                Event::TableMap(_) | Event::Rows(_) => {
                    groups.last_mut().expect("there is one").push(event.bytes.clone());
                }
                _ if groups.last().is_some_and(|group| !group.is_empty()) => groups.push(Vec::new()),
                _ => {}
            }
        }
        groups.pop_if(|group| group.is_empty());
        assert_eq!(groups.len(), 8, "a transaction for each statement about rows");
        Log { events, groups }
    }

    /// The FORMAT_DESCRIPTION event.
    pub fn format(&self) -> &[u8] {
        self.first(event_type::FORMAT_DESCRIPTION)
    }

    /// The first event of a type.
    pub fn first(&self, kind: u8) -> &[u8] {
        let found = self.events.iter().find(|event| event.kind() == kind);
        &found.unwrap_or_else(|| panic!("there is no event of type {kind}")).bytes
    }
}

/// The BINLOG statement that sends these events, each as a block of its own.
pub fn binlog_of(events: &[impl AsRef<[u8]>]) -> String {
    let blocks: Vec<String> = events.iter().map(|event| base64(event.as_ref())).collect();
    format!("BINLOG '\n{}\n'", blocks.join("\n"))
}

/// Bytes in base 64.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().enumerate().fold(0u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { digit.into() } else { '=' });
        }
    }
    out
}
