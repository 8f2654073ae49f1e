//! The state that one worker's part of the database must have after each of its steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::CommitOutcome;
use parking_lot::Mutex;
use redo::Lsn;
use types::Value;

/// The values of a row, in the order of the columns.
pub type Values = Vec<Value>;

/// A worker's rows of a shared table, or one of its own tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableState {
    /// The rows by tag, which is unique in the table.
    pub rows: BTreeMap<i64, Arc<Values>>,
    /// Whether the index over `k` exists (own tables only).
    pub indexed: bool,
    /// Whether the column `extra` exists (own tables only).
    pub has_extra: bool,
}

/// Everything that belongs to one worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerState {
    /// The tables by name.
    pub tables: BTreeMap<String, Arc<TableState>>,
    /// The position of the worker's replication channel, which every transaction moves by one.
    pub position: u64,
}

impl WorkerState {
    pub fn table(&mut self, name: &str) -> &mut TableState {
        Arc::make_mut(self.tables.entry(name.to_owned()).or_default())
    }
}

/// A state that a worker's part had, or was about to have.
#[derive(Clone, Debug)]
pub struct Step {
    pub state: WorkerState,
    /// The commit that led to the state, once it is known.
    pub seq: Option<Lsn>,
    /// The number of the commit's GTID, once it is known and if there is one.
    pub gno: Option<u64>,
}

/// The steps of a worker in one life of the engine.
#[derive(Debug)]
pub struct History {
    pub steps: Vec<Step>,
    /// The position of the newest step that was promised to survive.
    promised: usize,
}

impl History {
    pub fn new(state: WorkerState) -> History {
        History { steps: vec![Step { state, seq: None, gno: None }], promised: 0 }
    }

    pub fn current(&self) -> &WorkerState {
        &self.steps.last().expect("never empty").state
    }

    /// Notes that the worker is about to commit changes that lead to `state`.
    pub fn attempt(&mut self, state: WorkerState) {
        self.steps.push(Step { state, seq: None, gno: None });
    }

    /// Notes that the attempt was refused and has changed nothing.
    pub fn take_back(&mut self) {
        assert!(self.steps.len() > self.promised + 1);
        self.steps.pop();
    }

    /// Notes the commit that the attempt became.
    pub fn committed(&mut self, outcome: &CommitOutcome) {
        let step = self.steps.last_mut().expect("never empty");
        step.seq = Some(outcome.seq);
        step.gno = outcome.gtid.map(|gtid| gtid.gno);
    }

    /// Notes that everything so far was promised to survive.
    pub fn acknowledged(&mut self) {
        self.promised = self.steps.len() - 1;
    }

    /// Returns the position of the newest step that was promised to survive.
    pub fn promised(&self) -> usize {
        self.promised
    }

    /// Returns the steps that a crash may have left the worker at, when it had been promised step
    /// `promised`.
    pub fn possible(&self, promised: usize) -> Vec<Step> {
        self.steps[promised..].to_vec()
    }
}

/// The histories of all workers, which may still be at work in threads that are stuck on a dead
/// disk.
pub type Histories = Vec<Arc<Mutex<History>>>;

const MAX_LINES: usize = 8;

/// Returns a text that says where two states differ, for a failure's message.
pub fn difference(found: &WorkerState, expected: &WorkerState) -> String {
    let mut out = String::new();
    if found.position != expected.position {
        out += &format!("  position: found {}, expected {}\n", found.position, expected.position);
    }
    let names =
        found.tables.keys().chain(expected.tables.keys().filter(|name| !found.tables.contains_key(*name)));
    for name in names {
        match (found.tables.get(name), expected.tables.get(name)) {
            (Some(found), Some(expected)) => table_difference(name, found, expected, &mut out),
            (found, _) => out += &format!("  {name}: found {}, expected the opposite\n", found.is_some()),
        }
    }
    let lines = out.lines().count();
    let mut shown: String = out.lines().take(MAX_LINES).flat_map(|line| [line, "\n"]).collect();
    if lines > MAX_LINES {
        shown += &format!("  and {} more\n", lines - MAX_LINES);
    }
    shown
}

fn table_difference(name: &str, found: &TableState, expected: &TableState, out: &mut String) {
    if (found.indexed, found.has_extra) != (expected.indexed, expected.has_extra) {
        *out += &format!("  {name}: its definition differs\n");
    }
    let tags = found.rows.keys().chain(expected.rows.keys().filter(|tag| !found.rows.contains_key(*tag)));
    for tag in tags {
        let (found, expected) = (found.rows.get(tag), expected.rows.get(tag));
        if found != expected {
            *out += &format!("  {name} row {tag}: found {}, expected {}\n", brief(found), brief(expected));
        }
    }
}

fn brief(row: Option<&Arc<Values>>) -> String {
    let value = |value: &Value| match value {
        Value::Bytes(bytes) if bytes.len() > 12 => format!("{} bytes {:?}..", bytes.len(), &bytes[..8]),
        value => format!("{value:?}"),
    };
    row.map_or("none".into(), |row| row.iter().map(value).collect::<Vec<_>>().join(", "))
}
