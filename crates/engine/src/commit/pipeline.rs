//! The steps of a commit from the write set to log and pages. [`crate::commit`] numbers them.

use super::handed_keys::{HandedKeys, Hashes, hashes_of};
use super::position::PositionUpdate;
use super::record::{self, CommitHeader};
use super::sequencer::{Entry, GtidRequest, ReadOnly};
use super::sidecar::{self, IndexOp, NextIds, Placement, SidecarWriter};
use crate::apply::Pages;
use crate::apply::Versioning;
use crate::catalog::Catalog;
use crate::commit::group_delay::GroupDelay;
use crate::commit::hold::Gate;
use crate::commit::sequencer::Sequencer;
use crate::config::EngineConfig;
use crate::ddl::online::OnlineBuilds;
use crate::ddl::online::{self, Captured};
use crate::dictionary::DictionaryOp;
use crate::error::{EngineError, Result};
use crate::group;
use crate::group::Replacement;
use crate::overflow;
use crate::spill::{self, NewImage, Spill, SpillRef};
use crate::status::Counters;
use crate::status::bump;
use crate::transaction::row_change::RowChange;
use crate::transaction::write_set::{TableWrites, WriteSet};
use crate::version::snapshot::Snapshots;
use crate::xa::record::XaPart;
use binlog::encode::EventBase;
use binlog::gtid::{Gtid, MariadbGtid, Tag};
use buffer::RecordLsn;
use os::panic::Indivisible;
use os::sync::Mutex;
use redo::{Log, Lsn};
use std::borrow::Cow;
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, OnceLock};

/// The GTID that a transaction is committed under (`gtid_next`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GtidNext {
    /// The next GTID of this server when `gtid_mode` is ON or ON_PERMISSIVE, otherwise none.
    #[default]
    Automatic,
    /// The next GTID of this server with this tag, under the same condition as `Automatic`.
    AutomaticTagged(Tag),
    /// No GTID.
    Anonymous,
    /// This GTID, received from a source or set by the session.
    Given(Gtid),
}

/// The options of a commit.
#[derive(Clone, Copy, Debug)]
pub struct CommitOptions<'a> {
    /// The GTID that the transaction gets (`gtid_next`).
    pub gtid: GtidNext,
    /// The GTID that a MariaDB source gave the transaction.
    pub mariadb_gtid: Option<MariadbGtid>,
    /// The server id of the server where the transaction was first committed. `None` means this
    /// server.
    pub server_id: Option<u32>,
    /// The time of the first commit, in microseconds of Unix time. `None` means now.
    pub original_commit_us: Option<u64>,
    /// The version of the server where the transaction was first committed. `None` means this
    /// server's.
    pub original_server_version: Option<u32>,
    /// The position at which the transaction leaves its channel.
    pub position: Option<PositionUpdate<'a>>,
    /// Whether the binary log, if there is one, gets the transaction (`sql_log_bin`,
    /// `log_replica_updates`).
    pub binlog: bool,
    /// The zstd level with which the binary log compresses the transaction
    /// (`binlog_transaction_compression`). Only a transaction that consists of row events and is
    /// not spilled is compressed.
    pub compression: Option<u8>,
    /// The least [`ReadOnly`] under which the commit is refused. `None` means that it never is:
    /// what replication and the server itself commit.
    pub refused_from: Option<ReadOnly>,
    /// Whether the commit waits for the log, as `innodb_flush_log_at_trx_commit` says, and until
    /// the transaction is visible.
    pub wait: bool,
    /// A place for the outcome, for callers that do not get it otherwise.
    pub noted: Option<&'a NotedCommit>,
}

impl CommitOptions<'_> {
    /// Reports whether a MariaDB server committed the transaction first, so that its statements are
    /// in MariaDB's dialect.
    pub fn is_of_mariadb(&self) -> bool {
        self.mariadb_gtid.is_some()
            || self.original_server_version.is_some_and(binlog::event::is_version_of_mariadb)
    }
}

/// A place in which a statement finds the outcome of its last commit.
#[derive(Debug, Default)]
pub struct NotedCommit(Mutex<Option<CommitOutcome>>);

impl NotedCommit {
    fn set(&self, outcome: CommitOutcome) {
        *self.0.lock() = Some(outcome);
    }

    /// Takes the outcome out. `None` means that nothing was committed since the last call.
    pub fn take(&self) -> Option<CommitOutcome> {
        self.0.lock().take()
    }
}

impl Default for CommitOptions<'_> {
    fn default() -> Self {
        CommitOptions {
            gtid: GtidNext::Automatic,
            mariadb_gtid: None,
            server_id: None,
            original_commit_us: None,
            original_server_version: None,
            position: None,
            binlog: true,
            compression: None,
            refused_from: None,
            wait: true,
            noted: None,
        }
    }
}

/// A waiter whose permission a session needs before it answers its client: semi-synchronous
/// replication.
pub trait CommitWaiter: Send + Sync {
    /// Returns when the commit may go on. It is called twice: when the commit is as durable as it
    /// is to be, and again when it is visible too.
    fn wait(&self, seq: Lsn, is_visible: bool);
}

/// The result of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOutcome {
    /// The sequence number: the end of the commit's record in the log. For a transaction without
    /// changes, the sequence number that was visible.
    pub seq: Lsn,
    /// The GTID of the transaction; `None` means that it has none.
    pub gtid: Option<Gtid>,
}

/// The parts that go into one commit record.
pub(crate) struct CommitParts<'a, 'o> {
    /// The event group. It is empty when the group is in `spill`.
    pub group: &'a [u8],
    /// The files that the group and the sidecar are spilled to.
    pub spill: Option<Spill>,
    pub ddl: bool,
    /// Whether the group has the rows of the write set and nothing else, so that the keys of the
    /// write set are all that the transaction has written.
    pub only_rows: bool,
    /// The events that the binary log has in place of parts of the group.
    pub replacements: &'a [Replacement],
    /// The dictionary entries that the commit puts and deletes.
    pub dictionary: &'a [DictionaryOp],
    pub next_ids: Option<NextIds>,
    /// The part of the record about the XA transaction that the commit prepares or finishes.
    pub xa: Option<XaPart<'a>>,
    pub options: &'a CommitOptions<'o>,
}

impl CommitParts<'_, '_> {
    fn put_xa(&self, sidecar: &mut Vec<u8>) {
        if let Some(xa) = &self.xa {
            sidecar::put_xa(sidecar, xa);
        }
    }
}

/// A commit that is in the log, with its order decided, but not yet on its pages.
pub(crate) struct Logged {
    place: RecordLsn,
    gtid: Option<Gtid>,
    unversioned: bool,
    captured: Captured,
    /// The span in which the commit is not on its pages and everything later waits for it.
    unfinished: Indivisible,
}

impl Logged {
    /// Returns the commit's sequence number.
    pub fn seq(&self) -> Lsn {
        self.place.end
    }
}

/// The largest number of row changes of a commit that may leave out versions while nobody reads.
const UNVERSIONED_CHANGES: u64 = 256;

/// The largest number of row bytes for which a spilled commit reserves pages before it is in the
/// log.
const SPILLED_BYTES_AHEAD: usize = 4 << 20;

/// The buffers that a thread's commits reuse.
#[derive(Default)]
struct Scratch {
    header: Vec<u8>,
    sidecar: Vec<u8>,
}

thread_local! {
    static SCRATCH: std::cell::Cell<Scratch> = const {
        std::cell::Cell::new(Scratch { header: Vec::new(), sidecar: Vec::new() })
    };
}

/// Takes write sets from their transactions to the log and to the pages. Every change of a
/// committed row goes this way, except the changes of recovery.
pub(crate) struct Committer {
    pub config: Arc<EngineConfig>,
    pub log: Arc<Log>,
    pub catalog: Arc<Catalog>,
    pub pages: Pages,
    pub snapshots: Arc<Snapshots>,
    pub sequencer: Arc<Sequencer>,
    pub gate: Arc<Gate>,
    pub waiter: OnceLock<Arc<dyn CommitWaiter>>,
    pub counters: Arc<Counters>,
    pub builds: OnlineBuilds,
    pub group_delay: GroupDelay,
    pub flush_log_at_trx_commit: AtomicU8,
    /// Held from the moment before a record about an XA transaction gets its place in the log until
    /// the transaction knows that place. A checkpoint holds it while it looks at both, because a
    /// large commit does not keep a checkpoint from passing.
    pub xa_logging: Mutex<()>,
    /// The keys of commits for the binary log. `None` means that there is no binary log.
    pub handed_keys: Option<HandedKeys>,
}

impl Committer {
    /// Runs steps 1 to 6: logs and applies a write set. The caller holds the row locks and releases
    /// them afterwards. After an error nothing of the commit is in the log or on leaf pages.
    pub(crate) fn commit_writes(
        &self,
        writes: &mut WriteSet,
        sidecar: &mut SidecarWriter,
        mut parts: CommitParts<'_, '_>,
    ) -> Result<CommitOutcome> {
        let is_in_one_place = parts.spill.is_none() || parts.group.is_empty();
        assert!(is_in_one_place, "a group that is spilled is not in memory too");
        self.log.free_check();
        let captured = self.complete_writes(writes, sidecar, &parts)?;
        let mut scratch = SCRATCH.take();
        scratch.sidecar.clear();
        sidecar.finish(&mut scratch.sidecar);
        let spill = parts.spill.take();
        let outcome = match spill {
            None => {
                parts.put_xa(&mut scratch.sidecar);
                self.log_and_apply(writes, &parts, None, &mut scratch)
            }
            Some(mut spill) => {
                let group_len = spill.group.len();
                spill.group.finish(group_len, &scratch.sidecar).and_then(|named| {
                    scratch.sidecar.clear();
                    parts.put_xa(&mut scratch.sidecar);
                    let outcome = self.log_and_apply(writes, &parts, Some((&spill, named)), &mut scratch)?;
                    spill.group.keep();
                    Ok(outcome)
                })
            }
        };
        SCRATCH.set(scratch);
        if let Ok(outcome) = &outcome {
            online::note(captured);
            if let Some(noted) = parts.options.noted {
                noted.set(*outcome);
            }
        }
        outcome
    }

    /// Runs steps 1 to 4 of a commit that spills nothing and changes no dictionary entry.
    /// [`Committer::apply_logged`] runs the rest. This does not ask for log space: a thread that
    /// has logged commits which are not on their pages must not wait for a checkpoint.
    pub(crate) fn log_writes(
        &self,
        writes: &mut WriteSet,
        sidecar: &mut SidecarWriter,
        parts: &CommitParts<'_, '_>,
        follows_logged: bool,
    ) -> Result<Logged> {
        let captured = self.complete_writes(writes, sidecar, parts)?;
        let mut scratch = SCRATCH.take();
        scratch.sidecar.clear();
        sidecar.finish(&mut scratch.sidecar);
        let logged = self.log_commit(writes, parts, (None, follows_logged), &mut scratch);
        SCRATCH.set(scratch);
        Ok(Logged { captured, ..logged? })
    }

    /// Runs steps 5 and 6 of a commit that [`Committer::log_writes`] has logged.
    pub(crate) fn apply_logged(&self, writes: &WriteSet, mut logged: Logged) -> Result<CommitOutcome> {
        let captured = std::mem::take(&mut logged.captured);
        let outcome = self.put_on_pages(writes, &[], &logged, None)?;
        online::note(captured);
        Ok(outcome)
    }

    /// Runs steps 1 and 2: does what can fail, and completes the sidecar.
    fn complete_writes(
        &self,
        writes: &mut WriteSet,
        sidecar: &mut SidecarWriter,
        parts: &CommitParts<'_, '_>,
    ) -> Result<Captured> {
        let is_in_place = parts.dictionary.is_empty() && stays_in_place(writes);
        if !is_in_place {
            writes.settle();
            self.reserve_pages(writes, parts)?;
        }
        let captured = self.builds.capture(&self.pages.rows, writes, parts.spill.as_ref());
        if !is_in_place {
            self.place_long_values(writes, sidecar, parts.spill.as_ref())?;
            add_index_ops(writes, sidecar);
        }
        for op in parts.dictionary {
            sidecar.dictionary(op);
        }
        if let Some(next) = parts.next_ids {
            sidecar.counters(next);
        }
        for replacement in parts.replacements {
            sidecar.replacement(replacement);
        }
        Ok(captured)
    }

    fn log_and_apply(
        &self,
        writes: &WriteSet,
        parts: &CommitParts<'_, '_>,
        spill: Option<(&Spill, SpillRef)>,
        scratch: &mut Scratch,
    ) -> Result<CommitOutcome> {
        let named = spill.as_ref().map(|(_, named)| *named);
        let logged = self.log_commit(writes, parts, (named, false), scratch)?;
        self.put_on_pages(writes, parts.dictionary, &logged, spill.map(|(file, _)| file))
    }

    /// Runs steps 3 and 4: gives the commit its order and puts its record into the log. Waits while
    /// commits are held back, unless the commit follows one that its caller has logged and not
    /// completed.
    fn log_commit(
        &self,
        writes: &WriteSet,
        parts: &CommitParts<'_, '_>,
        (named, follows_logged): (Option<SpillRef>, bool),
        scratch: &mut Scratch,
    ) -> Result<Logged> {
        loop {
            match self.try_log_commit(writes, parts, (named, follows_logged), scratch)? {
                Some(logged) => return Ok(logged),
                None => self.gate.wait_open(),
            }
        }
    }

    /// Tries steps 3 and 4 once. `None` means that commits are held back and nothing was done.
    fn try_log_commit(
        &self,
        writes: &WriteSet,
        parts: &CommitParts<'_, '_>,
        (named, follows_logged): (Option<SpillRef>, bool),
        scratch: &mut Scratch,
    ) -> Result<Option<Logged>> {
        scratch.header.clear();
        let header = self.commit_header(parts, named.is_some());
        let position = parts.options.position.as_ref();
        let lengths = match &named {
            Some(named) => (named.group_len as usize, named.sidecar_len as usize),
            None => (parts.group.len(), scratch.sidecar.len()),
        };
        let request = self.gtid_request(parts.options);
        let mut hashes = Hashes::default();
        let keys = match self.hands_keys_over(parts, &header) {
            true => hashes_of(writes, &mut hashes),
            false => &[],
        };
        record::put_header(&mut scratch.header, &header, request.tag(), position, lengths, named.as_ref());
        let payload_len = scratch.header.len() + parts.group.len() + scratch.sidecar.len();
        // Until a commit without versions is visible, every snapshot that opens would have to wait
        // for it.
        let may_be_unversioned =
            named.is_none() && writes.changes <= UNVERSIONED_CHANGES && !self.sequencer.is_limited();
        let unversioned = may_be_unversioned && self.snapshots.enter_unversioned();
        let entry = Entry {
            payload_len,
            gtid: request,
            mariadb_gtid: parts.options.mariadb_gtid,
            position: parts.options.position,
            unversioned,
            follows_logged,
            spill: named,
            refused_from: parts.options.refused_from,
        };
        let logging = parts.xa.map(|_| self.xa_logging.lock());
        let entered = self.sequencer.enter(&self.log, entry);
        let Ok(Some((reservation, gtid))) = entered else {
            self.snapshots.leave_unversioned(usize::from(unversioned));
            return entered.map(|_| None);
        };
        let unfinished = Indivisible::begin("a commit whose place in the log is taken");
        let place = RecordLsn::new(reservation.start_lsn(), reservation.end_lsn());
        if let Some(xa) = &parts.xa {
            xa.note_logged(place.end);
        }
        drop(logging);
        if let Some(gtid) = gtid {
            record::set_gtid(&mut scratch.header, gtid);
        }
        if let (Some(handed), false) = (&self.handed_keys, keys.is_empty()) {
            handed.put(place.end, keys);
        }
        let filled_len = scratch.header.len() + parts.group.len() + scratch.sidecar.len();
        assert!(filled_len == payload_len, "a record of {payload_len} bytes has got {filled_len}");
        reservation.fill(redo::kind::COMMIT, &[&scratch.header, parts.group, &scratch.sidecar]);
        Ok(Some(Logged { place, gtid, unversioned, captured: Captured::default(), unfinished }))
    }

    /// Runs steps 5 and 6: puts the rows of a logged commit on their pages and makes the commit
    /// visible in its turn.
    fn put_on_pages(
        &self,
        writes: &WriteSet,
        dictionary: &[DictionaryOp],
        logged: &Logged,
        spill: Option<&Spill>,
    ) -> Result<CommitOutcome> {
        let Logged { place, gtid, unversioned, .. } = *logged;
        let seq = place.end;
        if !dictionary.is_empty() {
            self.catalog.begin_change(seq);
        }
        let versioning = if unversioned { Versioning::Off } else { Versioning::On };
        let applied = self
            .pages
            .apply_dictionary(dictionary, place)
            .and_then(|()| self.pages.apply_writes(writes, place, versioning, spill));
        if let Err(error) = applied {
            // The log has the commit, so it cannot be taken back and must not be missing on the
            // pages.
            self.config.disk.fail_stop(&format!("commit {seq} is in the log but not on its pages: {error}"));
            return Err(error);
        }
        if spill.is_some() {
            self.sequencer.note_applied(seq, self.log.current_lsn());
            bump(&self.counters.spilled_commits, 1);
        }
        self.snapshots.leave_unversioned(self.sequencer.complete(seq));
        logged.unfinished.finish();
        bump(&self.counters.commits, 1);
        bump(&self.counters.changes_on_pages, writes.changes);
        bump(&self.counters.unversioned_commits, u64::from(unversioned));
        Ok(CommitOutcome { seq, gtid })
    }

    fn commit_header(&self, parts: &CommitParts<'_, '_>, has_spill: bool) -> CommitHeader {
        let options = parts.options;
        let now_us = os::clock::now_us();
        CommitHeader {
            binlogged: self.config.log_bin
                && options.binlog
                && (has_spill || parts.xa.is_some() || !parts.group.is_empty()),
            ddl: parts.ddl,
            replaced: parts.xa.is_some() || !parts.replacements.is_empty(),
            compression: options.compression.filter(|_| {
                let as_logged = parts.replacements.is_empty() && parts.xa.is_none();
                as_logged && !parts.ddl && !has_spill && !parts.group.is_empty()
            }),
            server_id: options.server_id.unwrap_or(self.config.server_id),
            gtid: None,
            mariadb_gtid: options.mariadb_gtid,
            immediate_commit_us: now_us,
            original_commit_us: options.original_commit_us.unwrap_or(now_us),
            depends_lsn: self.sequencer.depends_on(),
            original_server_version: options.original_server_version.unwrap_or(self.config.server_version),
            immediate_server_version: self.config.server_version,
        }
    }

    /// Reports whether the binary log gets the rows of a commit and nothing else, so that it wants
    /// the keys of the write set.
    fn hands_keys_over(&self, parts: &CommitParts<'_, '_>, header: &CommitHeader) -> bool {
        self.handed_keys.is_some() && header.binlogged && parts.only_rows && !header.ddl && !header.replaced
    }

    fn gtid_request(&self, options: &CommitOptions<'_>) -> GtidRequest {
        let tag = match options.gtid {
            GtidNext::Given(gtid) => return GtidRequest::Given(gtid),
            GtidNext::Anonymous => return GtidRequest::None,
            GtidNext::Automatic => Tag::NONE,
            GtidNext::AutomaticTagged(tag) => tag,
        };
        // A transaction that the binary log does not get has no number, because a replica would
        // wait for that number for ever.
        if options.binlog && self.config.log_bin { GtidRequest::Next(tag) } else { GtidRequest::None }
    }

    /// Makes sure that the pages which the commit's rows may need can be had, since the commit
    /// cannot be refused later. For a spilled commit the file grows further while its rows are
    /// applied: growing it by gigabytes at once would keep the disk busy for everybody.
    fn reserve_pages(&self, writes: &WriteSet, parts: &CommitParts<'_, '_>) -> Result<()> {
        for table_writes in &writes.tables {
            let (mut entries, mut bytes) = (0, 0);
            for (key, change) in &table_writes.rows {
                let Some(new) = &change.new else { continue };
                // A row that does not get longer stays where it is. One of an older form may be
                // shorter on its page than it was read.
                let is_longer = (change.old_len as usize) < new.len();
                if change.old.is_none() || is_longer || table_writes.table.forms.is_some() {
                    entries += 1;
                    bytes += key.len() + new.len();
                }
            }
            let of_indexes = table_writes.entries.iter().flat_map(|entries| entries.settled());
            for (key, _) in of_indexes.filter(|(_, change)| change.present) {
                entries += 1;
                bytes += key.len();
            }
            if entries > 0 {
                let table = &table_writes.table;
                let bytes = if parts.spill.is_some() { bytes.min(SPILLED_BYTES_AHEAD) } else { bytes };
                table
                    .clustered
                    .reserve(entries, bytes)
                    .map_err(|error| EngineError::of_pages_of(&table.def.name, error))?;
            }
        }
        if !parts.dictionary.is_empty() {
            let value_len = |(key, value): &DictionaryOp| key.len() + value.as_ref().map_or(0, Vec::len);
            self.pages
                .dictionary
                .reserve(parts.dictionary.len(), parts.dictionary.iter().map(value_len).sum())?;
        }
        Ok(())
    }

    /// Runs step 2: places long values on overflow pages.
    fn place_long_values(
        &self,
        writes: &mut WriteSet,
        sidecar: &mut SidecarWriter,
        spill: Option<&Spill>,
    ) -> Result<()> {
        for table_writes in &mut writes.tables {
            let table = &table_writes.table;
            for (key, change) in &mut table_writes.rows {
                let image = match &change.new {
                    None => continue,
                    Some(NewImage::Here(image)) => Cow::Borrowed(&image[..]),
                    Some(new)
                        if !overflow::may_place(table, key.len(), new.len()) && !has_externs(change) =>
                    {
                        continue;
                    }
                    Some(new) => spill::image_of(new, spill)?,
                };
                let image: &[u8] = &image;
                let mut kept = crate::entry::Externs::new();
                // The write set keeps no old image, but the row is locked and its page has it.
                let mut before = None;
                if let Some(old) = change.old.as_ref().filter(|old| !old.externs.is_empty()) {
                    before = self.pages.rows.stored_row(table, key)?.map(|row| row.image);
                    let changed = table.layout.changed(before.as_deref().unwrap_or_default(), image)?;
                    kept.extend(
                        old.externs
                            .iter()
                            .filter(|held| held.column != crate::entry::NO_COLUMN)
                            .filter(|held| !changed.contains(usize::from(held.column)))
                            .copied(),
                    );
                }
                let placed = overflow::place(&self.pages.rows.pool, table, key.len(), image, &kept);
                let placed = placed.map_err(|error| match error {
                    EngineError::Pages(error) => EngineError::of_pages_of(&table.def.name, error),
                    error => error,
                })?;
                let Some(placed) = placed else { continue };
                if change.old.is_some() && before.is_none() {
                    before = self.pages.rows.stored_row(table, key)?.map(|row| row.image);
                }
                for (entry, pages) in placed.externs.iter().zip(placed.pages) {
                    let column = usize::from(entry.column);
                    let old = before.as_ref().filter(|_| !pages.is_empty());
                    let value = match old.map(|old| table.layout.get_raw(old, column)).transpose()? {
                        Some(old) if old == table.layout.get_raw(image, column)? => old.map(<[u8]>::to_vec),
                        _ => None,
                    };
                    sidecar.placement(&Placement {
                        value,
                        table_id: table.id,
                        key: key.to_vec(),
                        column: entry.column,
                        len: entry.len,
                        first_page: entry.first_page,
                        pages,
                    });
                }
                change.new = Some(NewImage::Here(placed.image));
                change.externs = placed.externs;
            }
        }
        Ok(())
    }

    /// Waits as a session waits for its commit: for the log as `innodb_flush_log_at_trx_commit`
    /// says, then until the commit is visible.
    pub(crate) fn wait_for_commit(&self, seq: Lsn) -> Result<()> {
        if self.config.log_bin {
            self.group_delay.gather();
        }
        self.log.commit_wait(seq)?;
        let waiter = self.waiter.get();
        if let Some(waiter) = waiter {
            waiter.wait(seq, false);
        }
        self.sequencer.wait_visible(seq);
        if let Some(waiter) = waiter {
            waiter.wait(seq, true);
        }
        Ok(())
    }

    /// Makes commits visible up to `limit` at most. `u64::MAX` means no limit: a commit becomes
    /// visible as soon as it and all before it are on their pages.
    pub fn limit_visibility(&self, limit: Lsn) {
        self.snapshots.leave_unversioned(self.sequencer.limit_visibility(limit));
    }

    /// Sets the waiter that every committing session asks before it answers its client. It can be
    /// set only once.
    pub fn set_commit_waiter(&self, waiter: Arc<dyn CommitWaiter>) {
        let first = self.waiter.set(waiter).is_ok();
        assert!(first, "the engine has one commit waiter");
    }

    /// Waits for a commit as a session does, or only has the log make it durable in the background.
    /// The commits of a thread that does not wait, such as a replica's applier, thus become durable
    /// soon too.
    pub(crate) fn settle_commit(&self, seq: Lsn, wait: bool) -> Result<()> {
        match wait {
            true => self.wait_for_commit(seq),
            false => Ok(self.log.commit_request(seq)?),
        }
    }

    /// Commits an empty transaction under a GTID, so that the GTID counts as executed (`BEGIN;
    /// COMMIT;` with `gtid_next` set, or a transaction that a filter left empty), or only moves a
    /// channel's position.
    pub fn commit_empty(&self, options: &CommitOptions<'_>) -> Result<CommitOutcome> {
        let mut bytes = Vec::new();
        let timestamp_s = (os::clock::now_us() / 1_000_000) as u32;
        let server_id = options.server_id.unwrap_or(self.config.server_id);
        let with_events = matches!(options.gtid, GtidNext::Given(_));
        if with_events {
            let base = EventBase { timestamp: timestamp_s, server_id };
            group::query::put_begin(&mut bytes, base);
            group::query::put_commit(&mut bytes, base);
        }
        let parts = CommitParts {
            group: &bytes,
            spill: None,
            ddl: false,
            only_rows: false,
            replacements: &[],
            dictionary: &[],
            next_ids: None,
            xa: None,
            options,
        };
        let mut writes = WriteSet::new(false);
        let outcome = self.commit_writes(&mut writes, &mut SidecarWriter::default(), parts)?;
        self.settle_commit(outcome.seq, options.wait)?;
        Ok(outcome)
    }
}

/// Reports whether all changes are of rows that stay as long as they were, or get shorter, with no
/// value off page and no entry of an index. So are most updates. They need no room on pages, and
/// replay derives everything from their rows.
fn stays_in_place(writes: &WriteSet) -> bool {
    writes.tables.iter().all(|TableWrites { table, rows, entries }| {
        table.forms.is_none()
            && entries.iter().all(|entries| entries.len() == 0)
            && rows.iter().all(|(key, change)| match (&change.old, &change.new) {
                (Some(old), Some(new)) => {
                    old.externs.is_empty()
                        && new.len() <= change.old_len as usize
                        && !overflow::may_place(table, key.len(), new.len())
                }
                _ => false,
            })
    })
}

fn has_externs(change: &RowChange) -> bool {
    change.old.as_ref().is_some_and(|old| !old.externs.is_empty())
}

/// Adds to the sidecar the secondary entries that replay cannot derive from the rows.
fn add_index_ops(writes: &WriteSet, sidecar: &mut SidecarWriter) {
    for table_writes in &writes.tables {
        let table = &table_writes.table;
        for (index, entries) in table.indexes.iter().zip(&table_writes.entries) {
            for (key, change) in entries.settled().iter().filter(|(_, change)| !change.derivable) {
                sidecar.index_op(&IndexOp {
                    table_id: table.id,
                    index_id: index.id,
                    put: change.present,
                    secondary_len: usize::from(change.secondary_len),
                    key,
                });
            }
        }
    }
}
