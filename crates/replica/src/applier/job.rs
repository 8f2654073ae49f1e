//! A run of groups that one worker prepares at once.

use std::ops::Range;

use binlog::compressed::{PayloadReader, expand_mariadb, is_mariadb_compressed};
use binlog::event::{Event, Header, TransactionPayload};
use binlog::{Checksum, group};
use engine::Prepared;

use super::check;
use super::coordinator::LARGEST_PREPARED_BYTES;
use super::open_group::OpenGroup;
use crate::event::{self, kind};
use crate::gtid::GroupHead;
use crate::relay::RelayPosition;

/// A job goes to the workers when it has so many groups
const GROUPS: usize = 64;
/// or bytes.
const BYTES: usize = 64 * 1024;

/// A group as it stands in the relay log.
pub(super) struct RawGroup {
    /// Its events in [`Job::raw`], with their checksums.
    pub raw: Range<usize>,
    /// Where its first event begins.
    pub start: RelayPosition,
    /// Where its last event ends.
    pub end: RelayPosition,
    /// What a worker made of it; `None`: nothing, it is applied in turn.
    pub ready: Option<ReadyGroup>,
}

/// A group that was prepared.
pub(super) struct ReadyGroup {
    pub head: GroupHead,
    pub server_id: u32,
    pub timestamp_s: u32,
    /// End of its last event in the source's file, as the event says it.
    pub end_pos: Option<u64>,
    /// Its events in [`Job::events`], as the commit record gets them.
    pub events: Range<usize>,
    /// Its rows; `None`: it has none.
    pub rows: Option<Prepared>,
}

/// See the module's header.
#[derive(Default)]
pub(super) struct Job {
    pub raw: Vec<u8>,
    pub groups: Vec<RawGroup>,
    pub events: Vec<u8>,
    /// Where the group that is being filled in begins: in `raw` and in the relay log.
    open: Option<(usize, RelayPosition)>,
}

impl Job {
    /// Adds an event, which ends at `end` in the relay log, to the group that is being filled in.
    pub fn push(&mut self, event: &[u8], end: RelayPosition) {
        let start = RelayPosition { file: end.file, pos: end.pos - event.len() as u64 };
        self.open.get_or_insert((self.raw.len(), start));
        self.raw.extend_from_slice(event);
    }

    /// Ends the group that is being filled in.
    pub fn end_group(&mut self, end: RelayPosition) {
        let (from, start) = self.open.take().expect("an event was pushed");
        self.groups.push(RawGroup { raw: from..self.raw.len(), start, end, ready: None });
    }

    /// The size of the group that is being filled in.
    pub fn open_bytes(&self) -> usize {
        self.open.map_or(0, |(from, _)| self.raw.len() - from)
    }

    /// Takes out the group that is being filled in: its events and where it begins.
    pub fn take_open(&mut self) -> Option<(Vec<u8>, RelayPosition)> {
        let (from, start) = self.open.take()?;
        Some((self.raw.split_off(from), start))
    }

    /// The relay log file of the group that is being filled in.
    pub fn open_file(&self) -> Option<u64> {
        self.open.map(|(_, start)| start.file)
    }

    /// Puts back what [`Job::take_open`] took out.
    pub fn reopen(&mut self, raw: &[u8], start: RelayPosition) {
        self.open = Some((self.raw.len(), start));
        self.raw.extend_from_slice(raw);
    }

    pub fn is_full(&self) -> bool {
        self.groups.len() >= GROUPS || self.raw.len() >= BYTES
    }

    /// Forgets the content and keeps the memory.
    pub fn clear(&mut self) {
        self.raw.clear();
        self.groups.clear();
        self.events.clear();
        self.open = None;
    }

    /// Prepares every group that can be. Their events end with `checksum`, which is looked at if `verify`.
    pub fn prepare(&mut self, open: &mut OpenGroup, checksum: Checksum, verify: bool) {
        std::mem::swap(&mut open.events, &mut self.events);
        for group in &mut self.groups {
            let start = open.events.len();
            group.ready = prepare(&self.raw[group.raw.clone()], open, checksum, verify);
            if group.ready.is_none() {
                // Whatever stood in the way is found and named when the group is applied in its turn.
                open.roll_back();
                open.events.truncate(start);
            }
        }
        std::mem::swap(&mut open.events, &mut self.events);
        open.hold().release();
    }
}

/// The events of `raw`, each with its checksum and its end, counted from the start of `raw`.
pub(super) fn split(raw: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = raw.get(at..).filter(|rest| !rest.is_empty())?;
        let event = &rest[..event::size(rest)];
        at += event.len();
        Some((event, at))
    })
}

/// What was found out about a group while its events were gone through.
#[derive(Default)]
struct Found {
    head: Option<(GroupHead, Header)>,
    plain: Vec<u8>,
}

fn prepare(raw: &[u8], open: &mut OpenGroup, checksum: Checksum, verify: bool) -> Option<ReadyGroup> {
    let start = open.events.len();
    let mut found = Found::default();
    let mut end_pos = None;
    for (event, _) in split(raw) {
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

/// A compressed transaction: as if its events had come one by one.
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
