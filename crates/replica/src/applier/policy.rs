//! The policies that decide which transactions workers may prepare at the same time.
//!
//! ROW holds nothing back: overlaps are found row by row, in the transaction's turn. The others are
//! narrower schedules over the same workers, namely MySQL's policies and what MySQL computes on the
//! source. Where such a policy finds that a transaction depends on an earlier one, its job is
//! prepared only when the earlier one's job is complete. One worker prepares everything within a
//! job, so while other workers are idle, a transaction that depends on nothing in the present job
//! begins the next one. No policy changes the results or their order.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use binlog::event::{Event, Header, RowsEvent, TableMap};
use engine::{Engine, PartialRow, Table};

use crate::event;

/// The value of `slipstream_parallel_policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// All transactions may be prepared at the same time.
    #[default]
    Row,
    /// `replica_parallel_type=DATABASE`: transactions of different schemas.
    Database,
    /// `replica_parallel_type=LOGICAL_CLOCK`: the transactions that the source's GTID events
    /// declare independent, or that a MariaDB source committed together.
    LogicalClock,
    /// Transactions whose row events have no primary or unique key in common.
    Writeset,
}

/// The policies with their names, in the order of their numbers.
const POLICIES: [(&str, Policy); 4] = [
    ("ROW", Policy::Row),
    ("DATABASE", Policy::Database),
    ("LOGICAL_CLOCK", Policy::LogicalClock),
    ("WRITESET", Policy::Writeset),
];

impl Policy {
    pub(super) fn number(self) -> u8 {
        POLICIES.iter().position(|(_, policy)| *policy == self).expect("all are there") as u8
    }

    pub(super) fn of_number(number: u8) -> Policy {
        POLICIES[usize::from(number)].1
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(name: &str) -> Result<Policy, String> {
        let found = POLICIES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, policy)| *policy).ok_or_else(|| name.to_string())
    }
}

/// The largest number of jobs that may be under way. Jobs older than that are complete.
const UNDER_WAY: u64 = 1024;
/// The number of remembered keys above which those of complete jobs are dropped.
const REMEMBERED: usize = 1 << 16;

/// The things in a group on which later groups may depend.
enum Uses {
    /// The group uses these schemas or keys, given as hashes.
    Keys(Vec<u64>),
    /// The group may use anything.
    Everything,
}

/// The dependencies between groups, which are added in the source's order.
pub(super) struct Dependencies {
    policy: Policy,
    engine: Arc<Engine>,
    /// For DATABASE and WRITESET, the last job that used a schema or key, by its hash.
    last_use: HashMap<u64, u64>,
    /// The number of the last job that may have used anything.
    used_everything: Option<u64>,
    /// For LOGICAL_CLOCK, the sequence numbers in the source's present file, with their jobs.
    numbers: VecDeque<(i64, u64)>,
    /// For a MariaDB source, the commit id of the last group, and the job of the last group with
    /// another commit id.
    together: (u64, Option<u64>),
    /// The number of the job that the last group belongs to.
    last: Option<u64>,
    /// The newest earlier job on which the present one depends.
    newest: Option<u64>,
    /// The newest earlier job on which the next one depends, when a group of that one is known
    /// already.
    newest_of_next: Option<u64>,
}

impl Dependencies {
    pub fn new(policy: Policy, engine: &Arc<Engine>) -> Dependencies {
        Dependencies {
            policy,
            engine: engine.clone(),
            last_use: HashMap::new(),
            used_everything: None,
            numbers: VecDeque::new(),
            together: (0, None),
            last: None,
            newest: None,
            newest_of_next: None,
        }
    }

    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Ends the present job and returns the job that must be complete before it is prepared. No
    /// more groups are added to it.
    pub fn take(&mut self) -> Option<u64> {
        std::mem::replace(&mut self.newest, self.newest_of_next.take())
    }

    /// Adds a group to the present job, or to the next one if the group `may_part` and depends on
    /// nothing in the present job. Returns whether it is in the present job. Each of the group's
    /// events ends with `checksum_bytes` bytes of checksum.
    pub fn add(&mut self, job: u64, raw: &[u8], checksum_bytes: usize, may_part: bool) -> bool {
        let bare = || event::split(raw).filter_map(|(event, _)| event.get(..event.len() - checksum_bytes));
        let may_part = may_part && self.last == Some(job);
        let in_job = match self.policy {
            Policy::Row => return true,
            Policy::LogicalClock => self.by_clock(job, bare().next().unwrap_or_default(), may_part),
            Policy::Database => self.by_use(job, schemas(bare()), may_part),
            Policy::Writeset => {
                let uses = self.keys(bare());
                self.by_use(job, uses, may_part)
            }
        };
        self.last = Some(in_job);
        in_job == job
    }

    /// Notes that the group depends on job `earlier`, which may be the present one. Returns the job
    /// that the group is put into.
    fn depends_on(&mut self, job: u64, earlier: Option<u64>, may_part: bool) -> u64 {
        if earlier == Some(job) {
            return job;
        }
        if may_part {
            self.newest_of_next = earlier;
            return job + 1;
        }
        self.newest = self.newest.max(earlier);
        job
    }

    fn by_clock(&mut self, job: u64, first: &[u8], may_part: bool) -> u64 {
        let decoded = Header::decode(first).and_then(|header| binlog::event::decode_body(&header, first));
        match decoded {
            Ok(Event::Gtid(gtid) | Event::AnonymousGtid(gtid)) if gtid.sequence_number > 0 => {
                if self.numbers.back().is_some_and(|(number, _)| *number >= gtid.sequence_number) {
                    // Groups of one file of the source are never under way together with those of
                    // the next.
                    self.numbers.clear();
                }
                while self.numbers.pop_front_if(|(_, of)| *of + UNDER_WAY < job).is_some() {}
                let known = self.numbers.partition_point(|(number, _)| *number <= gtid.last_committed);
                let earlier = known.checked_sub(1).map(|at| self.numbers[at].1);
                let job = self.depends_on(job, earlier, may_part);
                self.numbers.push_back((gtid.sequence_number, job));
                job
            }
            Ok(Event::MariadbGtid(gtid)) => {
                if gtid.commit_id == 0 || gtid.commit_id != self.together.0 {
                    self.together = (gtid.commit_id, self.last);
                }
                self.depends_on(job, self.together.1, may_part)
            }
            _ => self.depends_on(job, self.last, may_part),
        }
    }

    fn by_use(&mut self, job: u64, uses: Uses, may_part: bool) -> u64 {
        let job = match uses {
            Uses::Everything => {
                let job = self.depends_on(job, self.last, may_part);
                self.used_everything = Some(job);
                job
            }
            Uses::Keys(keys) => {
                let last_uses = keys.iter().map(|key| self.last_use.get(key).copied());
                let earlier = last_uses.max().flatten().max(self.used_everything);
                let job = self.depends_on(job, earlier, may_part);
                self.last_use.extend(keys.into_iter().map(|key| (key, job)));
                job
            }
        };
        if self.last_use.len() > REMEMBERED {
            self.last_use.retain(|_, of| *of + UNDER_WAY >= job);
        }
        job
    }

    /// Returns the keys that a group's row events name.
    fn keys<'e>(&self, events: impl Iterator<Item = &'e [u8]>) -> Uses {
        let (mut tables, mut keys): (Vec<(u64, Arc<Table>)>, _) = (Vec::new(), Vec::new());
        for event in events {
            let Ok(header) = Header::decode(event) else { return Uses::Everything };
            match binlog::event::decode_body(&header, event) {
                Ok(Event::TableMap(map)) => match self.table(&map) {
                    Some(table) => tables.push((map.table_id, table)),
                    None => return Uses::Everything,
                },
                Ok(Event::Rows(rows)) => {
                    let table = tables.iter().rev().find(|(id, _)| *id == rows.table_id);
                    if !table.is_some_and(|(_, table)| row_keys(table, &rows, &mut keys)) {
                        return Uses::Everything;
                    }
                }
                Ok(Event::Gtid(_) | Event::AnonymousGtid(_) | Event::MariadbGtid(_) | Event::Xid(_)) => {}
                Ok(Event::RowsQuery(_) | Event::MariadbAnnotate(_)) => {}
                Ok(Event::Query(query)) if query.is_begin() || query.is_end() => {}
                _ => return Uses::Everything,
            }
        }
        Uses::Keys(keys)
    }

    fn table(&self, map: &TableMap<'_>) -> Option<Arc<Table>> {
        let (schema, name) = (str::from_utf8(map.schema).ok()?, str::from_utf8(map.table).ok()?);
        self.engine.catalog().table(schema, name)
    }
}

/// Returns the schemas that a group uses.
fn schemas<'e>(events: impl Iterator<Item = &'e [u8]>) -> Uses {
    let mut schemas = Vec::new();
    for event in events {
        let Ok(header) = Header::decode(event) else { return Uses::Everything };
        match binlog::event::decode_body(&header, event) {
            Ok(Event::TableMap(map)) => schemas.push(hash(map.schema)),
            Ok(Event::Query(query)) if query.is_begin() || query.is_end() => {}
            // The statement's text may name other schemas.
            Ok(Event::Query(_) | Event::TransactionPayload(_)) | Err(_) => return Uses::Everything,
            _ => {}
        }
    }
    Uses::Keys(schemas)
}

/// Appends the hashes of the keys in a row event. Returns false when the event touches keys that it
/// does not name.
fn row_keys(table: &Table, rows: &RowsEvent<'_>, keys: &mut Vec<u64>) -> bool {
    let (before_mask, after_mask) = (rows.before_mask(), rows.after_mask());
    if before_mask.iter().chain(&after_mask).any(|mask| mask.columns() != table.columns()) {
        return false;
    }
    for row in rows.iter(&table.layout) {
        let Ok(row) = row else { return false };
        for (mask, image) in [(&before_mask, row.before), (&after_mask, row.after)] {
            let (Some(mask), Some(image)) = (mask, image) else { continue };
            let mut found = |index: usize, key: &[u8]| keys.push(hash((table.id, index, key)));
            if !matches!(table.known_keys(PartialRow { mask, image }, &mut found), Ok(true)) {
                return false;
            }
        }
    }
    true
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use binlog::Checksum;
    use binlog::encode::{self, EventBase, finish_event};
    use binlog::event::GtidEvent;
    use binlog::gtid::{Gtid, Uuid};
    use os::sim::SimDisk;

    const BASE: EventBase = EventBase { timestamp: 0, server_id: 1 };

    fn dependencies(policy: Policy) -> Dependencies {
        let config = engine::EngineConfig {
            background: false,
            ..engine::EngineConfig::new(Arc::new(SimDisk::new(1)), "/d")
        };
        Dependencies::new(policy, &Engine::open(config).expect("an empty disk"))
    }

    fn gtid(last_committed: i64, sequence_number: i64) -> Vec<u8> {
        let gtid = Gtid::new(Uuid([1; 16]), 1);
        let event = GtidEvent {
            gtid,
            flags: 0,
            last_committed,
            sequence_number,
            immediate_commit_us: 1,
            original_commit_us: 1,
            transaction_length: 100,
            immediate_server_version: 80400,
            original_server_version: 80400,
            commit_group_ticket: 0,
        };
        let mut out = Vec::new();
        let start = encode::gtid(BASE, &event, &mut out);
        finish_event(&mut out, start, None, Checksum::None);
        out
    }

    fn statement(schema: &str, text: &str) -> Vec<u8> {
        let query = binlog::event::QueryEvent {
            thread_id: 7,
            exec_time: 0,
            error_code: 0,
            status_vars: &[],
            schema: schema.as_bytes(),
            statement: text.as_bytes(),
        };
        let mut out = Vec::new();
        let start = encode::query(BASE, &query, 0, &mut out);
        finish_event(&mut out, start, None, Checksum::None);
        out
    }

    fn waits(dependencies: &mut Dependencies, job: u64, groups: &[Vec<u8>]) -> Option<u64> {
        groups.iter().for_each(|group| assert!(dependencies.add(job, group, 0, false)));
        dependencies.take()
    }

    #[test]
    fn what_depends_on_nothing_in_a_job_begins_the_next_one_where_others_have_nothing_to_do() {
        let mut by = dependencies(Policy::LogicalClock);
        assert!(by.add(0, &gtid(0, 1), 0, true), "the first begins a job");
        assert!(by.add(0, &gtid(1, 2), 0, true), "it depends on the other");
        assert!(!by.add(0, &gtid(0, 3), 0, true), "it is the first of job 1");
        assert_eq!(by.take(), None);
        assert!(by.add(1, &gtid(3, 4), 0, true));
        assert!(!by.add(1, &gtid(2, 5), 0, true), "it is the first of job 2");
        assert_eq!(by.take(), None);
        assert!(!by.add(2, &gtid(4, 6), 0, true));
        assert_eq!((by.take(), by.take()), (Some(0), Some(1)));
        let mut by = dependencies(Policy::Row);
        assert!(by.add(0, &gtid(0, 1), 0, true) && by.add(0, &gtid(0, 2), 0, true));
    }

    #[test]
    fn the_clock_of_the_source_holds_back_what_committed_later() {
        let mut by = dependencies(Policy::LogicalClock);
        assert_eq!(waits(&mut by, 0, &[gtid(0, 1), gtid(1, 2)]), None, "one worker prepares a job");
        assert_eq!(waits(&mut by, 1, &[gtid(0, 3), gtid(1, 4)]), Some(0));
        assert_eq!(waits(&mut by, 2, &[gtid(2, 5)]), Some(0));
        assert_eq!(waits(&mut by, 3, &[gtid(4, 6)]), Some(1));
        assert_eq!(waits(&mut by, 4, &[gtid(0, 1)]), None, "a new file");
        assert_eq!(waits(&mut by, 5, &[gtid(0, 0)]), Some(4), "a source that says nothing");
    }

    #[test]
    fn statements_and_what_nothing_is_known_of_are_in_nobodys_way_under_row_alone() {
        let ddl = [statement("a", "CREATE TABLE t (a INT)")];
        for (policy, expected) in
            [(Policy::Row, None), (Policy::Database, Some(0)), (Policy::Writeset, Some(0))]
        {
            let mut by = dependencies(policy);
            assert_eq!(waits(&mut by, 0, &ddl), None);
            assert_eq!(waits(&mut by, 1, &ddl), expected, "{policy:?}");
        }
    }
}
