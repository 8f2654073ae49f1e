//! Tests that single BINLOG statements answer as in MySQL: values, errors and what they need.

use binlog::event::{EVENT_SIZE_OFFSET, HEADER_LEN, event_type, rows_flag};
use testkit::answers::answer;
use testkit::{Flavor, Server, Settings, available};

use crate::sent::{Log, anonymous, base64, binlog_of};

const TABLE: &str = "CREATE TABLE p.a (id INT PRIMARY KEY, v VARCHAR(20), j JSON, \
    g INT AS (id * 2) VIRTUAL, d DECIMAL(10,2), t TIMESTAMP(3) NULL, b BIT(5), e ENUM('x','y'), s SET('p','q'))";

/// A step of the play.
enum Step<'a> {
    /// A statement, with what is shown instead of its text.
    Run(&'a str, String),
    /// A new session.
    Connect,
}

/// The event with a bit of the row flags cleared or set.
fn with_flags(event: &[u8], clear: u16, set: u16) -> Vec<u8> {
    const ROW_FLAGS: usize = HEADER_LEN + 6;
    let mut event = event.to_vec();
    if event[4] == event_type::TABLE_MAP {
        return event;
    }
    let flags = u16::from_le_bytes([event[ROW_FLAGS], event[ROW_FLAGS + 1]]) & !clear | set;
    event[ROW_FLAGS..ROW_FLAGS + 2].copy_from_slice(&flags.to_le_bytes());
    event
}

/// An event of another type with the same body, as no server writes it.
fn as_type(event: &[u8], kind: u8) -> Vec<u8> {
    let mut event = event.to_vec();
    event[4] = kind;
    event
}

/// The event with another length in its header.
fn as_long(event: &[u8], length: u32) -> Vec<u8> {
    let mut event = event.to_vec();
    event[EVENT_SIZE_OFFSET..EVENT_SIZE_OFFSET + 4].copy_from_slice(&length.to_le_bytes());
    event
}

fn steps(log: &Log) -> Vec<Step<'_>> {
    let run = |sql: &'static str| Step::Run(sql, sql.to_string());
    let send = |what: &'static str, events: &[Vec<u8>]| Step::Run(what, binlog_of(events));
    let (insert, update, delete) = (&log.groups[0], &log.groups[1], &log.groups[2]);
    let [map, rows] = [insert[0].clone(), insert[1].clone()];
    let format = log.format().to_vec();
    let mut steps = vec![
        run("CREATE DATABASE p"),
        run(TABLE),
        send("rows before a format", insert),
        run("BINLOG ''"),
        run("BINLOG ' '"),
        run("BINLOG 'a'"),
        run("BINLOG '!!!!'"),
        run("BINLOG 'AAA'"),
        run("BINLOG 'AAAA'"),
        run("BINLOG 5"),
        run("BINLOG @a"),
        run("BINLOG @a, @b"),
        run("PREPARE s FROM 'BINLOG ?'"),
        send("a format", std::slice::from_ref(&format)),
        run("SELECT @@gtid_next"),
        send("an insert", insert),
        run("SELECT * FROM p.a"),
        run("SELECT ROW_COUNT(), LAST_INSERT_ID()"),
        send("the insert again", insert),
        send("an update", update),
        run("SELECT * FROM p.a"),
        send("a delete", delete),
        send("the delete again", delete),
        run("SELECT * FROM p.a"),
        run("DELETE FROM p.a"),
        send("a table map alone", std::slice::from_ref(&map)),
        send("a missing row", update),
        run("SET rbr_exec_mode = IDEMPOTENT"),
        send("a missing row, which does not matter", update),
        send("a missing row to delete, which does not matter", delete),
        send("an insert that replaces", insert),
        send("an insert that replaces, again", insert),
        run("SELECT COUNT(*) FROM p.a"),
        run("SET rbr_exec_mode = STRICT"),
        run("DELETE FROM p.a"),
        run("BEGIN"),
        send("an insert in a transaction", insert),
        run("SELECT COUNT(*) FROM p.a"),
        run("ROLLBACK"),
        run("SELECT COUNT(*) FROM p.a"),
        run("SET autocommit = 0"),
        send("an insert without autocommit", insert),
        run("ROLLBACK"),
        run("SELECT COUNT(*) FROM p.a"),
        run("SET autocommit = 1"),
        run("START TRANSACTION READ ONLY"),
        send("an insert in a transaction that only reads", insert),
        run("COMMIT"),
        send(
            "an insert with a wrong checksum",
            &[map.clone(), {
                let mut wrong = rows.clone();
                *wrong.last_mut().expect("an event has bytes") ^= 1;
                wrong
            }],
        ),
        run("SELECT COUNT(*) FROM p.a"),
        run("DELETE FROM p.a"),
        send("an event without its end", &[map.clone(), rows[..rows.len() - 10].to_vec()]),
        send("half a header", &[map[..10].to_vec()]),
        send("a header alone", &[as_long(&map[..HEADER_LEN], HEADER_LEN as u32)]),
        send("an event of length 5", &[as_long(&map, 5)]),
        send("an event of length 0", &[as_long(&map, 0)]),
        send("an event of the greatest length", &[as_long(&map, u32::MAX)]),
        send("an event that is longer than it is", &[as_long(&map, map.len() as u32 + 1)]),
        run("SELECT COUNT(*) FROM p.a"),
    ];
    for kind in [event_type::QUERY, event_type::XID, event_type::PREVIOUS_GTIDS, event_type::ANONYMOUS_GTID] {
        steps.push(Step::Run("another event", binlog_of(&[log.first(kind)])));
    }
    for kind in [event_type::STOP, event_type::ROTATE, event_type::INTVAR, event_type::USER_VAR, 0, 99, 200] {
        steps.push(Step::Run("an event of another type", binlog_of(&[as_type(&map, kind)])));
    }
    steps.extend([
        run("RENAME TABLE p.a TO p.b"),
        send("rows of a missing table", insert),
        run("DROP TABLE p.b"),
        run("CREATE TABLE p.a (id INT PRIMARY KEY, v VARCHAR(20))"),
        send("rows with more columns than the table", insert),
        run("SELECT * FROM p.a"),
        run("DROP TABLE p.a"),
    ]);
    steps.extend(of_relatives(log));
    steps
}

/// Rows of tables with foreign keys: these are enforced and followed unless the event says that
/// they were off.
fn of_relatives(log: &Log) -> Vec<Step<'_>> {
    let run = |sql: &'static str| Step::Run(sql, sql.to_string());
    let send = |what: &'static str, events: &[Vec<u8>]| Step::Run(what, binlog_of(events));
    let (parents, children, moved, gone) = (&log.groups[3], &log.groups[4], &log.groups[5], &log.groups[6]);
    let off: Vec<Vec<u8>> =
        children.iter().map(|event| with_flags(event, 0, rows_flag::NO_FOREIGN_KEY_CHECKS)).collect();
    vec![
        run("CREATE TABLE p.par (id INT PRIMARY KEY, x INT)"),
        run("CREATE TABLE p.chi (id INT PRIMARY KEY, p INT, \
             FOREIGN KEY (p) REFERENCES par (id) ON DELETE CASCADE ON UPDATE CASCADE)"),
        send("children without parents", children),
        send("children without parents, unchecked", &off),
        run("SELECT * FROM p.chi ORDER BY id"),
        run("DELETE FROM p.chi"),
        send("parents", parents),
        send("children", children),
        run("INSERT INTO p.chi VALUES (50, 1), (51, 2)"),
        send("parents that get other keys", moved),
        run("SELECT * FROM p.chi ORDER BY id"),
        send("parents that go", gone),
        run("SELECT * FROM p.par ORDER BY id"),
        run("SELECT * FROM p.chi ORDER BY id"),
        Step::Connect,
        send("children in another session", children),
    ]
}

fn play(server: &Server, log: &Log) -> Vec<String> {
    let mut client = server.connect();
    let mut said = Vec::new();
    for step in steps(log) {
        match step {
            Step::Connect => client = server.connect(),
            Step::Run(shown, sql) => {
                let told = answer(&mut client, &sql);
                let told = told.strip_prefix(&sql).unwrap_or(&told);
                said.push(format!("{shown}{told}"));
            }
        }
    }
    said
}

#[test]
fn binlog_statements_answer_as_in_mysql() {
    if !available("binlog_statements_answer_as_in_mysql", &[Flavor::MySql]) {
        return;
    }
    let log = Log::written_by(Flavor::MySql);
    let [ours, theirs] =
        [Flavor::Slipstream, Flavor::MySql].map(|flavor| play(&Server::start(flavor, &anonymous()), &log));
    let differing: Vec<String> = ours
        .iter()
        .zip(&theirs)
        .filter(|(ours, theirs)| ours != theirs)
        .map(|(ours, theirs)| format!("here:  {ours}\nMySQL: {theirs}"))
        .collect();
    assert!(differing.is_empty(), "{} of {} differ\n{}", differing.len(), ours.len(), differing.join("\n"));
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn under_gtids_the_transaction_behind_a_format_needs_one() {
    let settings = Settings { gtid: true, ..Settings::default() };
    let server = Server::start(Flavor::Slipstream, &settings);
    let log = Log::written_by(Flavor::Slipstream);
    let mut client = server.connect();
    for sql in ["CREATE DATABASE p", TABLE, &binlog_of(&[log.format()])] {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    assert_eq!(server.rows("SELECT COUNT(*) FROM p.a"), ["0"]);
    let insert = binlog_of(&log.groups[0]);
    assert_eq!(answer(&mut client, "SELECT @@gtid_next"), "SELECT @@gtid_next: NOT_YET_DETERMINED");
    for sql in [insert.as_str(), "INSERT INTO p.a (id) VALUES (9)", "BEGIN"] {
        assert!(answer(&mut client, sql).contains(": 1782 "), "{sql}");
    }
    let gtid = "11111111-2222-3333-4444-555555555555:1";
    client.query(&format!("SET gtid_next = '{gtid}'")).expect("a GTID");
    client.query(&insert).expect("the transaction has a GTID");
    assert_eq!(server.rows("SELECT COUNT(*) FROM p.a"), ["2"]);
    let executed = &server.rows("SELECT @@GLOBAL.gtid_executed")[0];
    assert!(executed.contains(gtid), "{executed}");
    client.query("SET gtid_next = AUTOMATIC").expect("it can be set again");
    client.query("INSERT INTO p.a (id) VALUES (9)").expect("it gets a GTID of this server");
}

#[test]
fn a_binlog_statement_needs_a_privilege() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let log = Log::written_by(Flavor::Slipstream);
    server.run("CREATE USER nobody IDENTIFIED BY 'n'");
    let options = server.connect_options();
    let connect = || {
        let mut options = options.clone();
        (options.user, options.password) = ("nobody".into(), "n".into());
        protocol::client::Client::connect(&options).expect("the account is there")
    };
    let format = format!("BINLOG '{}'", base64(log.format()));
    assert!(answer(&mut connect(), &format).contains(": 1227 "));
    server.run("GRANT BINLOG_ADMIN ON *.* TO nobody");
    connect().query(&format).expect("it has the privilege");
}

#[test]
fn the_time_of_the_first_commit_can_be_told() {
    let server = Server::start(Flavor::Slipstream, &anonymous());
    let mut client = server.connect();
    for sql in [
        "CREATE DATABASE o",
        "CREATE TABLE o.t (a INT)",
        "SET original_commit_timestamp = 1234567, original_server_version = 80040",
        "INSERT INTO o.t VALUES (1)",
    ] {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let told = "SELECT @@original_commit_timestamp, @@original_server_version";
    assert_eq!(answer(&mut client, told), format!("{told}: 36028797018963968,999999"));
    let events = testkit::binlog_events::of(&server);
    let found = events.iter().rev().find_map(|event| match event.decode().1 {
        binlog::event::Event::AnonymousGtid(gtid) => Some(gtid),
        _ => None,
    });
    let gtid = found.expect("the INSERT has a GTID event");
    assert_eq!((gtid.original_commit_us, gtid.original_server_version), (1_234_567, 80_040));
}
