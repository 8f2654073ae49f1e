//! A source's history: the groups that it logged, and every state that it had.

use std::collections::BTreeMap;
use std::sync::Arc;

use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{Event, GtidEvent, HEADER_LEN, QueryEvent, rows_flag};
use binlog::group::{self, GroupStart};
use binlog::gtid::{Gtid, Uuid};
use binlog::{Checksum, Format};
use engine::{
    CommitOptions, Direction, Engine, EngineConfig, EngineError, GtidNext, IndexRef, Isolation, KeyRange,
    LockMode, RowImage, Transaction,
};
use os::random::Rng;
use os::sim::SimDisk;
use sql::replicated::ReceivedStatements;

use crate::applier::statement;

pub const SOURCE: Uuid = Uuid([1; 16]);
const SCHEMA: &str = "s";
const BASE: EventBase = EventBase { timestamp: 1_700_000_000, server_id: 1 };

/// All rows of all tables, by table. The rows are in the order of their images.
pub type Content = BTreeMap<String, Vec<Vec<u8>>>;

/// An event group as the binary log has it.
pub struct Group {
    pub bytes: Vec<u8>,
    /// The offset in the source's file where the group begins.
    pub start: u64,
    pub end: u64,
    /// The group's statements, for the message of a failed test.
    pub text: String,
}

/// A source's history.
pub struct History {
    pub groups: Vec<Group>,
    /// The content of the source after the first `n` groups, in `states[n]`.
    pub states: Vec<Arc<Content>>,
}

/// Opens a small engine without threads of its own.
pub fn engine(disk: &SimDisk, change: impl FnOnce(&mut EngineConfig)) -> Result<Arc<Engine>, EngineError> {
    let mut config = EngineConfig {
        page_size: 4096,
        pool_bytes: 1 << 20,
        redo_capacity_bytes: 8 << 20,
        log_buffer_bytes: 64 << 10,
        innodb_lock_wait_timeout_ms: 5_000,
        lock_wait_timeout_ms: 5_000,
        gtid_mode: true,
        background: false,
        ..EngineConfig::new(Arc::new(disk.clone()), "/data")
    };
    change(&mut config);
    Engine::open(config)
}

/// Returns the time when the source committed the group with this number, which counts from 1.
pub fn commit_us(number: u64) -> u64 {
    u64::from(BASE.timestamp) * 1_000_000 + number
}

/// Returns the content that a transaction sees.
pub fn content(transaction: &mut Transaction) -> Result<Content, EngineError> {
    let tables = transaction.engine().catalog().tables(SCHEMA);
    let mut content = Content::new();
    for table in tables {
        let table = transaction.open_table(SCHEMA, &table.def.name)?;
        let range = KeyRange::all();
        let mut scan =
            transaction.scan(&table, IndexRef::Primary, range, Direction::Forward, LockMode::Snapshot)?;
        let mut rows = Vec::new();
        while let Some(row) = scan.next(transaction)? {
            rows.push(row.image);
        }
        rows.sort();
        content.insert(table.def.name.clone(), rows);
    }
    Ok(content)
}

fn query(schema: &str, text: &str, out: &mut Vec<u8>) {
    let start = encode::query(BASE, &query_event(schema, text), 0, out);
    finish_event(out, start, None, Checksum::None);
}

fn query_event<'a>(schema: &'a str, text: &'a str) -> QueryEvent<'a> {
    QueryEvent {
        thread_id: 7,
        exec_time: 0,
        error_code: 0,
        status_vars: &[],
        schema: schema.as_bytes(),
        statement: text.as_bytes(),
    }
}

struct Source {
    engine: Arc<Engine>,
    /// Runs the source's statements.
    runner: ReceivedStatements,
    history: History,
    /// True when rows that follow from others by a foreign key are left to the replicas' engines,
    /// as MariaDB leaves them.
    leaves_children: bool,
}

impl History {
    /// Makes a random history of about `length` groups.
    pub fn random(rng: &mut Rng, length: usize) -> History {
        let disk = SimDisk::new(rng.u64());
        let image = *rng.pick(&[RowImage::Full, RowImage::Minimal, RowImage::Noblob]);
        let engine = engine(&disk, |config| {
            config.binlog_row_image = image;
            config.log_bin = true;
        });
        let engine = engine.expect("an empty disk");
        let history = History { groups: Vec::new(), states: vec![Arc::default()] };
        let runner = ReceivedStatements::new(engine.clone(), Arc::default(), None);
        let mut source = Source { engine, runner, history, leaves_children: rng.one_in(2) };
        source.ddl("CREATE DATABASE s");
        for definition in TABLES {
            source.ddl(definition);
        }
        while source.history.groups.len() < length {
            match rng.below(16) {
                0 => source.ddl(&random_ddl(rng)),
                kind => {
                    let statements: Vec<String> =
                        (0..rng.between(1, 4)).flat_map(|_| random_statements(rng)).collect();
                    source.transaction(&statements, kind == 1);
                }
            }
        }
        source.history
    }

    /// Returns the end of the source's file.
    pub fn end(&self) -> u64 {
        self.groups.last().map_or(4, |last| last.end)
    }

    /// Describes where `found` differs from the state after this number of groups.
    pub fn difference(&self, found: &Content, groups: usize) -> String {
        let expected = &*self.states[groups];
        let differs =
            expected.keys().chain(found.keys()).find(|name| expected.get(*name) != found.get(*name));
        let name = differs.map_or("nothing", String::as_str);
        let is = self.states.iter().position(|state| **state == *found);
        let last = groups.checked_sub(1).map_or("", |at| &self.groups[at].text);
        format!(
            "{name} differs ({:?} rows, expected {:?}); it is state {is:?}; the last group was {last}",
            found.get(name).map(Vec::len),
            expected.get(name).map(Vec::len)
        )
    }
}

impl Source {
    fn options(&self) -> CommitOptions<'static> {
        let gno = self.history.groups.len() as u64 + 1;
        CommitOptions { gtid: GtidNext::Given(Gtid::new(SOURCE, gno)), ..CommitOptions::default() }
    }

    /// Runs and logs a DDL statement. If it fails, it leaves no trace.
    fn ddl(&mut self, text: &str) {
        let mut bytes = Vec::new();
        let schema = if text.starts_with("CREATE DATABASE") { "" } else { SCHEMA };
        query(schema, text, &mut bytes);
        let event = query_event(schema, text);
        if statement::ddl(
            &self.engine,
            &event,
            BASE.timestamp,
            &bytes,
            &self.options(),
            None,
            &Arc::default(),
        )
        .is_ok()
        {
            self.log(&bytes, text);
        }
    }

    /// Runs a transaction and logs it as rows or as statements. If it fails or changes nothing, it
    /// leaves no trace.
    fn transaction(&mut self, statements: &[String], as_statements: bool) {
        let mut transaction = self.engine.begin(Isolation::RepeatableRead);
        let mut texts = Vec::new();
        for text in statements {
            query(SCHEMA, text, &mut texts);
            let logged = Default::default();
            let event = query_event(SCHEMA, text);
            let beside = statement::Beside::plain(&logged, false);
            let done = statement::change(&mut self.runner, &mut transaction, &event, BASE.timestamp, beside);
            if done.is_err() {
                return transaction.rollback();
            }
        }
        let mut stream = self.engine.commit_stream(self.engine.log().current_lsn()).expect("the log's end");
        let options = CommitOptions { wait: true, ..self.options() };
        transaction.commit(&options).expect("nothing is in the way");
        let Some(committed) = stream.next(None).expect("was written") else { return };
        let mut bytes = committed.group.to_vec().expect("is small");
        if self.leaves_children {
            bytes = self.without_followers(&bytes);
        }
        if as_statements {
            bytes.clear();
            query(SCHEMA, "BEGIN", &mut bytes);
            bytes.extend_from_slice(&texts);
            let start = encode::xid(BASE, 1, &mut bytes);
            finish_event(&mut bytes, start, None, Checksum::None);
        }
        self.log(&bytes, &statements.join("; "));
    }

    /// Returns a group without the rows of `children` that follow from rows of `parents`, and
    /// without the flags that announce them.
    fn without_followers(&self, events: &[u8]) -> Vec<u8> {
        const FLAGS_AT: usize = HEADER_LEN + 6;
        const TOLD: u16 = rows_flag::NO_FOREIGN_KEY_CHECKS | rows_flag::USE_SQL_FOREIGN_KEY;
        let children = self.engine.catalog().table(SCHEMA, "children").expect("it is made first").id;
        let mut kept = Vec::with_capacity(events.len());
        for event in group::walk(events) {
            let bytes = event.expect("whole events").bytes;
            let start = kept.len();
            kept.extend_from_slice(bytes);
            if let Ok((_, Event::Rows(rows))) = binlog::decode(bytes, &Format::new(Checksum::None)) {
                // Nothing follows from a row of `children`, so an event of a statement about
                // `children` itself does not have the flag.
                if rows.table_id == children && rows.flags & rows_flag::NO_FOREIGN_KEY_CHECKS != 0 {
                    kept.truncate(start);
                } else {
                    let flags = rows.flags & !TOLD;
                    kept[start + FLAGS_AT..start + FLAGS_AT + 2].copy_from_slice(&flags.to_le_bytes());
                }
            }
        }
        kept
    }

    fn log(&mut self, events: &[u8], text: &str) {
        let number = self.history.groups.len() as u64 + 1;
        let event = GtidEvent {
            gtid: Gtid::new(SOURCE, number),
            flags: 0,
            last_committed: number as i64 - 1,
            sequence_number: number as i64,
            immediate_commit_us: commit_us(number),
            original_commit_us: commit_us(number),
            transaction_length: 0,
            immediate_server_version: 80400,
            original_server_version: 80400,
            commit_group_ticket: 0,
        };
        let start = self.history.groups.last().map_or(4, |last| last.end);
        let mut bytes = Vec::new();
        group::emit(events, GroupStart::Gtid(&event), start, Checksum::Crc32, &mut bytes)
            .expect("a list of events");
        let end = start + bytes.len() as u64;
        self.history.groups.push(Group { bytes, start, end, text: text.to_string() });
        let mut reader = self.engine.begin(Isolation::RepeatableRead);
        self.history.states.push(Arc::new(content(&mut reader).expect("reads")));
    }
}

/// The tables: with and without a primary key, with unique and other indexes, with values that go
/// off the page, with foreign keys.
const TABLES: [&str; 6] = [
    "CREATE TABLE hot (id INT PRIMARY KEY, n INT NOT NULL)",
    "CREATE TABLE keyed (id INT PRIMARY KEY, k INT NOT NULL, u INT, c TEXT, UNIQUE KEY u (u), KEY k (k))",
    "CREATE TABLE bare (a INT NOT NULL, b INT)",
    "CREATE TABLE uniq (u INT NOT NULL, v INT NOT NULL, w VARCHAR(40), UNIQUE KEY u (u), KEY v (v))",
    "CREATE TABLE parents (id INT PRIMARY KEY, u INT, n INT, UNIQUE KEY u (u))",
    "CREATE TABLE children (id INT PRIMARY KEY, p INT, q INT, FOREIGN KEY (p) REFERENCES parents (id) ON DELETE CASCADE \
     ON UPDATE CASCADE, FOREIGN KEY (q) REFERENCES parents (u) ON DELETE SET NULL ON UPDATE CASCADE)",
];

fn random_ddl(rng: &mut Rng) -> String {
    let text = match rng.below(7) {
        0 => "CREATE TABLE made (id INT PRIMARY KEY, v INT)",
        1 => "DROP TABLE made",
        2 => "ALTER TABLE keyed ADD INDEX more (k, u)",
        3 => "ALTER TABLE keyed DROP INDEX more",
        4 => "ALTER TABLE uniq ADD COLUMN extra INT DEFAULT 5",
        5 => "ALTER TABLE uniq DROP COLUMN extra",
        _ => "TRUNCATE TABLE bare",
    };
    text.to_string()
}

/// Returns one random statement, or several that belong together.
fn random_statements(rng: &mut Rng) -> Vec<String> {
    let (id, other) = (rng.below(30), rng.below(30));
    let (small, k) = (rng.below(4), rng.below(5));
    let len = if rng.one_in(6) { rng.between(1500, 6000) } else { rng.below(30) };
    let text = match rng.below(26) {
        0 => format!("INSERT INTO hot VALUES ({small}, 0)"),
        1..=3 => format!("UPDATE hot SET n = n + 1 WHERE id = {}", if rng.one_in(3) { small } else { 1 }),
        4 => format!("INSERT INTO keyed VALUES ({id}, {k}, {other}, REPEAT('i', {len}))"),
        5 => format!("INSERT INTO keyed VALUES ({id}, {k}, NULL, REPEAT('j', {len}))"),
        6 => format!("UPDATE keyed SET c = REPEAT('u', {len}) WHERE id = {id}"),
        7 => format!("UPDATE keyed SET k = {k} WHERE id < {}", id / 4),
        8 => format!("UPDATE keyed SET id = {other} WHERE id = {id}"),
        9 => format!("DELETE FROM keyed WHERE id = {id}"),
        10 => {
            return vec![
                format!("UPDATE keyed SET u = NULL WHERE u = {other}"),
                format!("UPDATE keyed SET u = {other} WHERE id = {id}"),
            ];
        }
        11 => format!("INSERT INTO bare VALUES ({small}, {k}), ({small}, {k})"),
        12 => format!("UPDATE bare SET b = b + 1 WHERE a = {small}"),
        13 => format!("DELETE FROM bare WHERE a = {small} AND b = {k}"),
        14 => format!("INSERT INTO uniq (u, v, w) VALUES ({id}, {k}, REPEAT('w', {}))", len % 40),
        15 => format!("UPDATE uniq SET u = {other}, v = v + 1 WHERE u = {id}"),
        16 => format!("DELETE FROM uniq WHERE u = {id}"),
        17..=18 => format!("INSERT INTO parents VALUES ({small}, {k}, 0), ({}, NULL, 0)", id + 4),
        19..=20 => format!("INSERT INTO children VALUES ({id}, {small}, {k}), ({other} + 30, {small}, NULL)"),
        21 => format!("UPDATE children SET p = {small}, q = NULL WHERE id > {id}"),
        22 => format!("UPDATE parents SET n = n + 1, u = {other} WHERE id = {small}"),
        23 => format!("UPDATE parents SET id = {} WHERE id = {small}", rng.below(6)),
        24 => format!("DELETE FROM parents WHERE id = {small}"),
        _ => format!("REPLACE INTO made VALUES ({small}, {k})"),
    };
    vec![text]
}
