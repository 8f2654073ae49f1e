//! Tests of the analysis with binary logs that are made by hand and whose critical paths are known.

use analyze::history::{History, KeySource, Nature};
use analyze::keys::KnownKeys;
use analyze::recorder::Recorder;
use analyze::report::Report;
use analyze::schedule::{Costs, Model, Policy, Schedule};
use binlog::Checksum;
use binlog::encode::{self, EventBase, RowMetadata, TableMapSource, finish_event};
use binlog::event::{GtidEvent, QueryEvent, RowsKind};
use binlog::gtid::{Gtid, Uuid};
use types::{ColumnMask, ColumnType};

const BASE: EventBase = EventBase { timestamp: 1_700_000_000, server_id: 1 };
const MODEL: Model =
    Model { costs: Costs { transaction: 1, row: 1 }, preserve_commit_order: true, window: 1024 };

/// A log in memory that hands each event to a recorder.
struct Log {
    recorder: Recorder,
    pos: u64,
}

/// A change of one row of table `t` in a schema.
#[derive(Clone, Copy)]
struct Touch {
    schema: &'static str,
    id: i32,
    kind: RowsKind,
}

fn update(schema: &'static str, id: i32) -> Touch {
    Touch { schema, id, kind: RowsKind::Update }
}

impl Log {
    fn new() -> Log {
        Log::with_writesets(25_000)
    }

    fn with_writesets(writesets: usize) -> Log {
        let mut recorder = Recorder::new(KnownKeys::default(), writesets, usize::MAX);
        recorder.begin_file("binlog.000001");
        let mut log = Log { recorder, pos: 4 };
        let mut event = Vec::new();
        encode::format_description(BASE, "9.7.4", 0, Checksum::Crc32, 0, Some(4), &mut event);
        log.give(&event);
        log
    }

    fn give(&mut self, event: &[u8]) {
        self.recorder.take(event, self.pos).unwrap_or_else(|error| panic!("{error}"));
        self.pos += event.len() as u64;
    }

    fn event(&mut self, write: impl FnOnce(&mut Vec<u8>) -> usize) {
        let mut event = Vec::new();
        let start = write(&mut event);
        finish_event(&mut event, start, Some(self.pos), Checksum::Crc32);
        self.give(&event);
    }

    fn gtid(&mut self, last_committed: i64, sequence_number: i64) {
        let gtid = Gtid::new(Uuid([7; 16]), sequence_number as u64);
        let event = GtidEvent { last_committed, sequence_number, ..GtidEvent::new(gtid) };
        self.event(|out| encode::gtid(BASE, &event, out));
    }

    fn query(&mut self, statement: &str) {
        let query = QueryEvent {
            thread_id: 1,
            exec_time: 0,
            error_code: 0,
            status_vars: &[],
            schema: b"a",
            statement: statement.as_bytes(),
        };
        self.event(|out| encode::query(BASE, &query, 0, out));
    }

    /// Adds the events of one changed row. `primary_key` lists the columns of the key of `t (id
    /// INT, v INT)`.
    fn rows(&mut self, touch: Touch, primary_key: &[(usize, u32)], v: i32) {
        let columns = [ColumnType::int(false), ColumnType::int(false)];
        let table_id = if touch.schema == "a" { 10 } else { 20 };
        let source = TableMapSource {
            table_id,
            schema: touch.schema,
            table: "t",
            columns: &columns,
            nullable: &ColumnMask::empty(2),
            has_generated_key: false,
            metadata: RowMetadata::Full { names: &["id", "v"], primary_key, visible: &[true, true] },
        };
        self.event(|out| encode::table_map(BASE, &source, out));
        let full = ColumnMask::full(2);
        let image = |v: i32| [&[0][..], &touch.id.to_le_bytes(), &v.to_le_bytes()].concat();
        self.event(|out| {
            let start = encode::rows(BASE, touch.kind, table_id, 1, &full, &full, out);
            if touch.kind != RowsKind::Write {
                out.extend_from_slice(&image(v));
            }
            if touch.kind != RowsKind::Delete {
                out.extend_from_slice(&image(v + 1));
            }
            start
        });
    }

    /// Adds a transaction with the logical clock `last_committed` and `sequence_number`.
    fn transaction(&mut self, last_committed: i64, sequence_number: i64, touches: &[Touch]) {
        self.gtid(last_committed, sequence_number);
        self.query("BEGIN");
        for &touch in touches {
            self.rows(touch, &[(0, 0)], 1);
        }
        self.event(|out| encode::xid(BASE, 1, out));
    }

    fn history(self) -> History {
        self.recorder.finish()
    }

    fn report(self) -> Report {
        analyze::report(self.history(), MODEL)
    }
}

fn of(report: &Report, policy: Policy) -> &Schedule {
    report.schedules.iter().find(|schedule| schedule.policy == policy).expect("every policy is simulated")
}

fn time(report: &Report, policy: Policy, workers: usize) -> u64 {
    let points = &of(report, policy).points;
    points.iter().find(|point| point.workers == workers).expect("is simulated").time
}

/// Returns a log of six transactions with 13 units of work. Three of the transactions change row 1
/// of `a`; each of the others changes rows of its own.
fn six() -> Log {
    let mut log = Log::new();
    log.transaction(0, 1, &[update("a", 1)]);
    log.transaction(0, 2, &[update("b", 2)]);
    log.transaction(0, 3, &[update("a", 1)]);
    log.transaction(3, 4, &[update("a", 1)]);
    log.transaction(3, 5, &[update("b", 3)]);
    log.transaction(5, 6, &[update("a", 4), update("a", 5)]);
    log
}

#[test]
fn the_critical_path_of_every_policy() {
    let report = six().report();
    assert!(
        report.schedules.iter().all(|schedule| schedule.points[0].time == 13),
        "one worker does all of it"
    );
    // The transactions in schema `a` run one after the other.
    assert_eq!((of(&report, Policy::Database).path.time, time(&report, Policy::Database, 2)), (9, 9));
    // The logical clock forms the groups {1, 2, 3}, {4, 5} and {6}.
    let clock = of(&report, Policy::CommitOrder);
    assert_eq!((clock.path.time, clock.path.transactions), (2 + 2 + 3, 3));
    assert_eq!(clock.limit, 13.0 / 7.0);
    // Two workers run 1 and 2 together, then 3, then 4 and 5, then 6.
    assert_eq!(time(&report, Policy::CommitOrder, 2), 2 + 2 + 2 + 3);
    assert_eq!(time(&report, Policy::CommitOrder, 4), 7);
    // Transaction 1 comes before 3 and 3 before 4, and 6 is not handed out before 4 is.
    assert_eq!(of(&report, Policy::Writeset).path.time, 2 + 2 + 3);
    // The critical path is the three changes of one row.
    let row = of(&report, Policy::Row);
    assert_eq!((row.path.time, row.path.transactions), (3, 3));
    assert_eq!(row.path.tables, [("a.t".to_string(), 1.0)]);
    assert_eq!((time(&report, Policy::Row, 2), time(&report, Policy::Row, 64)), (7, 3));
}

#[test]
fn what_the_log_holds() {
    let mut log = six();
    for _ in 0..2 {
        log.transaction(6, 7, &[update("a", 1), Touch { schema: "b", id: 9, kind: RowsKind::Write }]);
    }
    let report = log.report();
    let tables: Vec<_> = report
        .facts
        .tables
        .iter()
        .map(|&number| &report.history.tables[number])
        .map(|table| (table.name.as_str(), table.keys, table.inserts, table.updates, table.transactions))
        .collect();
    assert_eq!(tables, [("a.t", KeySource::Metadata, 0, 7, 6), ("b.t", KeySource::Metadata, 2, 2, 4)]);
    let hot = &report.history.hot_rows;
    assert_eq!(
        (hot.len(), hot[0].table.as_str(), hot[0].key.as_str(), hot[0].changes),
        (1, "a.t", "id=1", 5)
    );
    assert_eq!((report.facts.changes.max, report.facts.changes.median), (2, 1));
    let text = analyze::report::text(&report);
    assert!(text.contains("8 transactions, 11 row changes"), "{text}");
    let json = analyze::report::json(&report);
    assert_eq!(json["policies"][3]["policy"], "ROW");
    assert_eq!(json["hot_rows"][0]["key"], "id=1");
}

#[test]
fn statements_are_barriers_by_row_and_for_the_writesets() {
    let mut log = Log::new();
    log.transaction(0, 1, &[update("a", 1)]);
    log.gtid(1, 2);
    log.query("ALTER TABLE t ADD COLUMN c INT");
    log.transaction(0, 3, &[update("a", 2)]);
    let report = log.report();
    assert_eq!(report.history.transactions[1].nature, Nature::Statement);
    for policy in [Policy::Writeset, Policy::Row] {
        let schedule = of(&report, policy);
        // The row policy runs a transaction's one row beside the rest of the transaction.
        let rows_last = if policy == Policy::Row { 1 } else { 2 };
        assert_eq!(schedule.path.time, rows_last + 2 + rows_last, "{}", policy.name());
        assert!(schedule.path.tables.iter().any(|(name, _)| name == "(statements)"), "{}", policy.name());
    }
}

#[test]
fn a_table_without_a_key_keeps_the_commit_order() {
    let mut log = Log::new();
    for number in 1..=3 {
        log.gtid(number - 1, number);
        log.query("BEGIN");
        log.rows(update("a", number as i32), &[], 1);
        log.event(|out| encode::xid(BASE, 1, out));
    }
    let history = log.history();
    let parents: Vec<u32> = history.transactions.iter().map(|t| t.writeset_parent).collect();
    let is_keyless = history.tables[0].keys == KeySource::None;
    assert_eq!((is_keyless, parents), (true, vec![0, 1, 2]));
}

#[test]
fn a_full_history_of_writesets_begins_anew() {
    let mut log = Log::with_writesets(2);
    for number in 1..=4 {
        log.transaction(0, number, &[update("a", number as i32)]);
    }
    let parents: Vec<u32> = log.history().transactions.iter().map(|t| t.writeset_parent).collect();
    // The history has no room for a third key, so later transactions wait for the third one.
    assert_eq!(parents, [0, 0, 0, 3]);
}

#[test]
fn an_unfinished_transaction_is_left_out() {
    let mut log = six();
    log.gtid(6, 7);
    log.query("BEGIN");
    log.rows(update("a", 1), &[(0, 0)], 1);
    let history = log.history();
    assert!(history.is_open_at_end);
    assert_eq!((history.transactions.len(), history.changes.len(), history.tables[0].updates), (6, 7, 5));
}

/// In random logs the row policy's critical path is the longest chain of changes of one row, and no
/// schedule beats its bounds.
#[test]
fn random_logs_keep_the_bounds() {
    let seed: u64 = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(os::random::u64());
    println!("SEED={seed}");
    let mut state = seed;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    for _ in 0..50 {
        let mut log = Log::new();
        let rows = 1 + below(30);
        let mut chains = vec![0u64; 2 * rows as usize];
        let mut committed = 0;
        for number in 1..=(1 + below(60)) as i64 {
            committed += below((number - committed) as u64) as i64;
            let touches: Vec<Touch> = (0..1 + below(4))
                .map(|_| update(if below(2) == 0 { "a" } else { "b" }, below(rows) as i32))
                .collect();
            for touch in &touches {
                chains[touch.id as usize * 2 + usize::from(touch.schema == "b")] += 1;
            }
            log.transaction(committed, number, &touches);
        }
        let report = log.report();
        let longest = chains.into_iter().max().unwrap_or(0);
        assert_eq!(of(&report, Policy::Row).path.time, longest);
        for schedule in &report.schedules {
            let serial = schedule.points[0].time;
            for point in &schedule.points {
                let bound = serial.div_ceil(point.workers as u64).max(schedule.path.time);
                assert!(
                    (bound..=serial).contains(&point.time),
                    "{} with {} workers: {} is not within {bound}..={serial}",
                    schedule.policy.name(),
                    point.workers,
                    point.time
                );
            }
        }
    }
}
