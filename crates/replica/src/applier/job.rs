//! A job: a run of groups that one worker takes from the relay log to the pages.

use std::ops::Range;

use binlog::compressed::{PayloadReader, expand_mariadb, is_mariadb_compressed};
use binlog::event::{Event, Header, TransactionPayload};
use binlog::{Checksum, group};
use engine::{LoggedTransaction, Prepared};

use super::open_group::OpenGroup;
use super::reading::check;
use crate::event::{self, kind};
use crate::gtid::GroupHead;
use crate::relay::RelayPosition;

/// The number of groups at which a job is full.
const GROUPS: usize = 64;
/// The number of bytes at which a job is full.
const BYTES: usize = 64 * 1024;

/// The largest group that is prepared, in bytes. A larger one is applied in turn, row by row as it
/// is read.
pub(super) const LARGEST_PREPARED_BYTES: usize = 1 << 20;

/// The number of groups before their turn at which the leaves of their rows are loaded into the
/// processor's cache.
const LEAVES_AHEAD: usize = 8;
/// The number of groups before their turn at which the rows themselves are loaded.
const ROWS_AHEAD: usize = 4;

/// A group as the relay log has it.
pub(super) struct RawGroup {
    /// The place in [`Job::raw`] of the group's events, with their checksums.
    pub raw: Range<usize>,
    /// The position in the relay log where the group's first event begins.
    pub start: RelayPosition,
    /// True when the group holds only row events.
    of_rows: bool,
    /// The prepared group. `None` means that it was not prepared and is applied in turn.
    pub ready: Option<ReadyGroup>,
}

impl RawGroup {
    /// Returns the position in the relay log where the group's last event ends.
    pub fn end(&self) -> RelayPosition {
        RelayPosition { file: self.start.file, pos: self.start.pos + self.raw.len() as u64 }
    }
}

/// A group whose rows were prepared and which waits for its turn to commit.
pub(super) struct ReadyGroup {
    pub head: GroupHead,
    pub server_id: u32,
    pub timestamp_s: u32,
    /// The end of the group's last event in the source's file, as that event says it.
    pub end_pos: Option<u64>,
    /// The place in [`Job::events`] of the group's events, in the form that the commit record gets.
    pub events: Range<usize>,
    /// The group's rows. `None` means that it has none.
    pub rows: Option<Prepared>,
}

/// A run of groups that one worker takes from the relay log to the pages.
pub(super) struct Job {
    /// The number of groups at which the job is full.
    limit: usize,
    pub checksum: Checksum,
    /// The number of the job that must be complete before this one is prepared. `None` means that
    /// there is none.
    pub waits_for: Option<u64>,
    pub raw: Vec<u8>,
    pub groups: Vec<RawGroup>,
    /// The index of the first group whose turn has not come.
    pub next: usize,
    /// The time when the source committed the first group, or one before it, in microseconds of
    /// unix time. It is known from the group's turn on.
    pub begun_us: u64,
    pub events: Vec<u8>,
    /// The groups whose turn has come and whose rows are not on their pages.
    pub logged: Vec<LoggedTransaction>,
}

impl Default for Job {
    fn default() -> Job {
        Job::of(GROUPS)
    }
}

impl Job {
    /// Builds an empty job that is full with `limit` groups.
    pub fn of(limit: usize) -> Job {
        let (raw, groups, events, logged) = Default::default();
        Job {
            limit,
            checksum: Checksum::None,
            waits_for: None,
            raw,
            groups,
            next: 0,
            begun_us: 0,
            events,
            logged,
        }
    }

    /// Adds a group, whose first event begins at `start` in the relay log.
    pub fn push(&mut self, events: &[u8], start: RelayPosition, of_rows: bool) {
        assert!(
            self.groups.last().is_none_or(|last| last.start < start),
            "groups of a job stand in the order of the relay log"
        );
        let from = self.raw.len();
        self.raw.extend_from_slice(events);
        self.groups.push(RawGroup { raw: from..self.raw.len(), start, of_rows, ready: None });
    }

    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.groups.len() >= self.limit || self.raw.len() >= BYTES
    }

    /// Drops the content and keeps the memory.
    pub fn clear(&mut self) {
        assert!(self.logged.is_empty(), "what is in the log gets to its pages");
        self.raw.clear();
        self.groups.clear();
        self.events.clear();
        self.next = 0;
    }

    /// Prepares every group that can be prepared. `verify` says whether checksums are verified.
    pub fn prepare(&mut self, open: &mut OpenGroup, verify: bool) {
        assert!(self.events.is_empty() && self.next == 0, "a job is prepared once");
        std::mem::swap(&mut open.events, &mut self.events);
        open.events.reserve(self.raw.len());
        for group in self.groups.iter_mut().filter(|group| group.of_rows) {
            let start = open.events.len();
            group.ready = prepare(&self.raw[group.raw.clone()], open, self.checksum, verify);
            if group.ready.is_none() {
                // The obstacle is found again and reported when the group is applied in its turn.
                open.roll_back();
                open.events.truncate(start);
            }
        }
        std::mem::swap(&mut open.events, &mut self.events);
        open.hold().release();
    }

    /// Starts loading what later groups need, so that it is in the processor's cache when their
    /// turn comes. It is called when the next group's turn comes.
    #[inline]
    pub fn load_ahead(&self) {
        let rows_of = |ahead: usize| self.groups.get(self.next + ahead)?.ready.as_ref()?.rows.as_ref();
        if let Some(rows) = rows_of(LEAVES_AHEAD) {
            rows.prefetch_leaves();
        }
        if let Some(rows) = rows_of(ROWS_AHEAD) {
            rows.prefetch_rows();
        }
    }

    /// Reports whether the turn of every group has come.
    pub fn is_in_order(&self) -> bool {
        self.next == self.groups.len()
    }

    /// Puts the logged groups on their pages, and releases the tables.
    pub fn complete(&mut self, open: &mut OpenGroup) -> Result<(), engine::EngineError> {
        let outcome = self.logged.drain(..).try_for_each(|logged| logged.complete().map(|_| ()));
        open.hold().release();
        outcome
    }
}

/// The facts about a group that its events have told so far.
#[derive(Default)]
struct Found {
    head: Option<(GroupHead, Header)>,
    plain: Vec<u8>,
}

fn prepare(raw: &[u8], open: &mut OpenGroup, checksum: Checksum, verify: bool) -> Option<ReadyGroup> {
    let start = open.events.len();
    let mut found = Found::default();
    let mut end_pos = None;
    for (event, _) in event::split(raw) {
        let bytes = check(event, checksum, verify).ok()?;
        end_pos = event::end_pos(bytes).or(end_pos);
        prepare_event(bytes, open, &mut found)?;
    }
    open.end_statement();
    let (head, header) = found.head?;
    Some(ReadyGroup {
        head,
        server_id: header.server_id,
        timestamp_s: header.timestamp,
        end_pos,
        events: start..open.events.len(),
        rows: open.transaction.take().map(|transaction| transaction.prepared()),
    })
}

fn prepare_event(bytes: &[u8], open: &mut OpenGroup, found: &mut Found) -> Option<()> {
    if is_mariadb_compressed(event::kind_of(bytes)) {
        let mut plain = std::mem::take(&mut found.plain);
        plain.clear();
        expand_mariadb(bytes, &mut plain).ok()?;
        let prepared = prepare_event(&plain, open, found);
        found.plain = plain;
        return prepared;
    }
    let header = Header::decode(bytes).ok()?;
    let event = binlog::event::decode_body(&header, bytes).ok()?;
    if let Some(of_group) = GroupHead::of_event(&header, &event) {
        if let Event::MariadbGtid(gtid) = &event {
            group::begin_from_mariadb(&header, gtid, &mut open.events);
        }
        found.head = Some((of_group, header));
        return Some(());
    }
    match &event {
        Event::TableMap(map) => open.table_map(bytes, map).ok(),
        Event::Rows(rows) => open.rows(bytes, rows).ok(),
        Event::Query(query) if !query.is_begin() && query.statement != b"COMMIT" => None,
        Event::Query(_) | Event::Xid(_) | Event::RowsQuery(_) => open.append(bytes).ok().map(|_| ()),
        Event::MariadbAnnotate(_) => Some(()),
        Event::TransactionPayload(payload) => prepare_payload(payload, open, found),
        _ => None,
    }
}

/// Prepares a compressed transaction as if its events had come one by one.
fn prepare_payload(payload: &TransactionPayload<'_>, open: &mut OpenGroup, found: &mut Found) -> Option<()> {
    if payload.uncompressed_len > LARGEST_PREPARED_BYTES as u64 {
        return None;
    }
    let mut events = PayloadReader::new(payload).ok()?;
    let mut last = 0;
    while let Some(event) = events.next_event().ok()? {
        last = event::kind_of(event);
        if last == kind::TRANSACTION_PAYLOAD {
            return None;
        }
        prepare_event(event, open, found)?;
    }
    (last == kind::XID).then_some(())
}
