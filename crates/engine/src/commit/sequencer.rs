//! The one place where the order of commits is decided, and where they become visible in that
//! order.
//!
//! [`Sequencer::enter`] gives a commit its GTID and its place in the log in one short critical
//! section, so that GTID order, log order and commit order are the same. [`Sequencer::complete`]
//! notes that a commit is on its pages; commits become visible as the longest prefix of completed
//! ones, and the replication state advances with them.
//!
//! Lock order: the sequencer's mutex is taken with row locks held and no latch; inside it only the
//! log's reservation is made. `visible` is stored with release ordering after everything of the
//! commits up to it is on pages, and loaded sequentially consistent by the snapshot protocol (see
//! [`crate::version::snapshot`]).

use super::numbers::FreeNumbers;
use super::position::{CommitMark, PositionUpdate, ReplicationState};
use crate::error::{EngineError, Result};
use crate::spill::{SpillRef, SpilledCommit};
use crate::version::view::View;
use binlog::gtid::{Gtid, GtidSet, MariadbGtid, Tag, Tsid, Uuid};
use os::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use os::sync::{Condvar, Mutex, MutexGuard};
use redo::{Log, Lsn, Reservation};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A commit whose log space is reserved and that is not yet visible.
struct InFlight {
    start: Lsn,
    /// The commit's sequence number.
    end: Lsn,
    applied: bool,
    unversioned: bool,
    /// Its changes are in a spill file: later commits become visible before it, if they are sooner
    /// on their pages.
    spilled: bool,
    mark: CommitMark,
}

struct State {
    in_flight: VecDeque<InFlight>,
    /// Spilled commits that later ones have passed; they are on some of their pages.
    passed: Vec<InFlight>,
    /// Spilled commits whose files are needed.
    spilled: Vec<SpilledCommit>,
    replication: ReplicationState,
    numbers: FreeNumbers,
    /// A commit that asks for the next GTID gets one (`gtid_mode`).
    gives_gtids: bool,
    /// Commits are held back.
    closed: bool,
    /// Commits become visible up to here.
    limit: Lsn,
    /// As `numbers`, of tags that have been asked for.
    tagged_numbers: BTreeMap<Tag, FreeNumbers>,
    /// GTIDs of this server that sessions own (`gtid_next`).
    owned: BTreeSet<Gtid>,
}

impl State {
    /// The free numbers of this server with the tag.
    fn numbers(&mut self, tag: Tag) -> &mut FreeNumbers {
        if tag.is_none() {
            return &mut self.numbers;
        }
        self.tagged_numbers.entry(tag).or_insert(FreeNumbers::UNKNOWN)
    }

    /// The GTID that the next transaction of this server (which has the UUID) gets with the tag. It
    /// stays free until it is taken from [`State::numbers`].
    ///
    /// # Errors
    /// [`EngineError::GtidsExhausted`]
    fn next_gtid(&mut self, tsid: Tsid) -> Result<Gtid> {
        if let Some(gno) = self.numbers(tsid.tag).first() {
            return Ok(Gtid { tsid, gno });
        }
        let from = self.numbers(tsid.tag).searched_to();
        self.search_numbers(tsid, from);
        let gno = self.numbers(tsid.tag).first().ok_or(EngineError::GtidsExhausted)?;
        Ok(Gtid { tsid, gno })
    }

    /// Looks anew which numbers are free from one on, for something else than [`State::next_gtid`]
    /// has taken or left one.
    fn search_numbers(&mut self, tsid: Tsid, from: u64) {
        let mut taken = GtidSet::default();
        let executed = self.replication.executed.intervals(tsid).iter();
        for interval in executed.chain(self.replication.purged.intervals(tsid)) {
            taken.add_interval(tsid, *interval);
        }
        let logged = self.in_flight.iter().chain(&self.passed).filter_map(|commit| commit.mark.gtid);
        logged.chain(self.owned.iter().copied()).for_each(|gtid| taken.add(gtid));
        *self.numbers(tsid.tag) = FreeNumbers::search(&taken, tsid, from);
    }

    /// As [`State::search_numbers`], of all tags.
    fn search_all_numbers(&mut self, uuid: Uuid) {
        let tags: Vec<Tag> = self.tagged_numbers.keys().copied().chain([Tag::NONE]).collect();
        for tag in tags {
            let from = self.numbers(tag).searched_to();
            self.search_numbers(Tsid { uuid, tag }, from);
        }
    }
}

impl State {
    /// A transaction has the GTID, whether or not it is visible yet. Looked at for what a session
    /// does; an applier looks before it begins.
    fn has_logged(&self, gtid: Gtid) -> bool {
        let has = |commit: &InFlight| commit.mark.gtid == Some(gtid);
        self.replication.executed.contains(gtid)
            || self.in_flight.iter().any(has)
            || self.passed.iter().any(has)
    }
}

/// A commit's place in the log, and its GTID.
pub(crate) type Entered<'l> = (Reservation<'l>, Option<Gtid>);

/// What a commit asks the sequencer for.
pub(crate) struct Entry<'a> {
    pub payload_len: usize,
    pub gtid: GtidRequest,
    pub mariadb_gtid: Option<MariadbGtid>,
    pub position: Option<PositionUpdate<'a>>,
    pub unversioned: bool,
    /// Its caller has a commit in the log that is not on its pages: the commit is let in while
    /// commits are being held back, for whoever holds them back waits for the earlier one.
    pub follows_logged: bool,
    pub spill: Option<SpillRef>,
}

/// What the checkpoint takes from the sequencer, all of one moment.
pub(crate) struct Captured {
    /// The log's end.
    pub current: Lsn,
    /// The start of the oldest commit that is not on its pages and has its changes in the log; the
    /// log's end if there is none.
    pub oldest: Lsn,
    /// The replication state, encoded.
    pub replication: Vec<u8>,
    pub spilled: Vec<SpilledCommit>,
}

/// Which GTID a commit is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GtidRequest {
    None,
    /// The next one of this server, with this tag, where `gtid_mode` gives any.
    Next(Tag),
    Given(Gtid),
}

impl GtidRequest {
    /// The tag of the GTID that it comes to.
    pub fn tag(self) -> Tag {
        match self {
            GtidRequest::None => Tag::NONE,
            GtidRequest::Next(tag) => tag,
            GtidRequest::Given(gtid) => gtid.tsid.tag,
        }
    }
}

/// Order and visibility of commits.
pub(crate) struct Sequencer {
    state: Mutex<State>,
    visible: AtomicU64,
    /// Length of `passed`. A commit is counted before `visible` passes it.
    passed_count: AtomicUsize,
    became_visible: Condvar,
    /// Threads waiting on `became_visible`, so that nobody is woken for nothing.
    waiting: AtomicUsize,
    /// There is a limit to what is visible; read without the mutex by those for whom a moment ago
    /// is good enough.
    limited: AtomicBool,
    /// Largest `seq` whose row locks have been released: whoever takes its locks later depends on
    /// it at most.
    released: AtomicU64,
    server_uuid: Uuid,
}

impl Sequencer {
    pub fn new(server_uuid: Uuid, visible: Lsn, replication: ReplicationState) -> Sequencer {
        Sequencer {
            state: Mutex::new(State {
                in_flight: VecDeque::new(),
                passed: Vec::new(),
                spilled: Vec::new(),
                replication,
                numbers: FreeNumbers::UNKNOWN,
                gives_gtids: true,
                closed: false,
                tagged_numbers: BTreeMap::new(),
                owned: BTreeSet::new(),
                limit: Lsn::MAX,
            }),
            visible: AtomicU64::new(visible),
            passed_count: AtomicUsize::new(0),
            became_visible: Condvar::new(),
            waiting: AtomicUsize::new(0),
            limited: AtomicBool::new(false),
            released: AtomicU64::new(visible),
            server_uuid,
        }
    }

    /// Everything up to here can be read.
    pub fn visible(&self) -> Lsn {
        self.visible.load(Ordering::SeqCst)
    }

    /// What can be read: everything up to a position, but for the spilled commits that others have
    /// passed.
    pub fn view(&self) -> View {
        let seq = self.visible();
        if self.passed_count.load(Ordering::SeqCst) == 0 {
            // What was passed before `seq` was loaded is on its pages by now.
            return View::up_to(seq);
        }
        let state = self.state.lock();
        View { seq: self.visible(), excluded: state.passed.iter().map(|commit| commit.end).collect() }
    }

    /// The oldest commit that is not visible although later ones are; `u64::MAX`: there is none.
    pub fn oldest_passed(&self) -> Lsn {
        if self.passed_count.load(Ordering::SeqCst) == 0 {
            return Lsn::MAX;
        }
        self.state.lock().passed.iter().map(|commit| commit.end).min().unwrap_or(Lsn::MAX)
    }

    /// Lets no commit in any more, and waits until those that are in are on their pages.
    pub fn close(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut state = self.state.lock();
        state.closed = true;
        while !state.in_flight.is_empty() || !state.passed.is_empty() {
            self.became_visible.wait(&mut state);
        }
        drop(state);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether those that ask for the next GTID get one from here on.
    pub fn set_gives_gtids(&self, gives: bool) {
        self.state.lock().gives_gtids = gives;
    }

    /// Lets commits in again.
    pub fn open(&self) {
        self.state.lock().closed = false;
    }

    /// Gives a commit its order. The caller fills the reservation at once, and owes
    /// [`Sequencer::complete`]. `None`: commits are held back.
    pub fn enter<'l>(&self, log: &'l Log, entry: Entry<'_>) -> Result<Option<Entered<'l>>> {
        let mut state = self.state.lock();
        if state.closed && !entry.follows_logged {
            return Ok(None);
        }
        if let GtidRequest::Given(gtid) = entry.gtid
            && entry.position.is_none()
            && state.has_logged(gtid)
        {
            return Err(EngineError::GtidUnusable(format!("{gtid} has been executed meanwhile")));
        }
        // First what can fail; the mutex keeps the log's order of commits equal to the order of
        // what follows.
        let gtid = match entry.gtid {
            GtidRequest::None => None,
            GtidRequest::Given(gtid) => Some(gtid),
            GtidRequest::Next(_) if !state.gives_gtids => None,
            GtidRequest::Next(tag) => Some(state.next_gtid(Tsid { uuid: self.server_uuid, tag })?),
        };
        let reservation = log.reserve(entry.payload_len as u64).map_err(reservation_error)?;
        if let (GtidRequest::Next(tag), Some(_)) = (entry.gtid, gtid) {
            state.numbers(tag).take();
        }
        let position = entry.position.as_ref().map(|update| state.replication.mark(update));
        let mark = CommitMark { gtid, mariadb_gtid: entry.mariadb_gtid, position };
        let place = (reservation.start_lsn(), reservation.end_lsn());
        let before = state.in_flight.back().map_or_else(|| self.visible(), |last| last.end);
        assert!(before <= place.0, "a commit at {} begins before the end {before} of the last", place.0);
        if let Some(spill) = entry.spill {
            let (start_lsn, seq) = place;
            state.spilled.push(SpilledCommit {
                spill,
                start_lsn,
                seq,
                mark: mark.clone(),
                applied_lsn: None,
            });
        }
        state.in_flight.push_back(InFlight {
            start: place.0,
            end: place.1,
            applied: false,
            unversioned: entry.unversioned,
            spilled: entry.spill.is_some(),
            mark,
        });
        if let GtidRequest::Given(gtid) = entry.gtid
            && gtid.tsid.uuid == self.server_uuid
        {
            let from = state.numbers(gtid.tsid.tag).searched_to();
            state.search_numbers(gtid.tsid, from);
        }
        Ok(Some((reservation, gtid)))
    }

    /// Notes that a commit is on its pages. Returns how many unversioned commits became visible by
    /// it, for [`crate::version::snapshot::Snapshots::leave_unversioned`].
    pub fn complete(&self, seq: Lsn) -> usize {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let Ok(at) = state.in_flight.binary_search_by_key(&seq, |commit| commit.end) else {
            let at = state.passed.iter().position(|commit| commit.end == seq);
            let commit = state.passed.swap_remove(at.expect("a commit completes once"));
            state.replication.advance(commit.mark);
            self.passed_count.fetch_sub(1, Ordering::SeqCst);
            drop(guard);
            self.became_visible.notify_all();
            return 0;
        };
        assert!(!state.in_flight[at].applied, "the commit {seq} completes once");
        state.in_flight[at].applied = true;
        self.show(guard)
    }

    /// Makes commits visible up to here at most. Returns what [`Sequencer::complete`] returns.
    pub fn limit_visibility(&self, limit: Lsn) -> usize {
        self.limited.store(limit != Lsn::MAX, Ordering::SeqCst);
        let mut guard = self.state.lock();
        guard.limit = limit;
        self.show(guard)
    }

    /// Completed commits may not be visible at once.
    pub fn is_limited(&self) -> bool {
        self.limited.load(Ordering::SeqCst)
    }

    /// Makes visible what can be.
    fn show(&self, mut guard: MutexGuard<'_, State>) -> usize {
        let state = &mut *guard;
        let limit = state.limit;
        let mut unversioned = 0;
        let mut visible = None;
        let may_be_seen = |commit: &mut InFlight| (commit.applied || commit.spilled) && commit.end <= limit;
        while let Some(commit) = state.in_flight.pop_front_if(may_be_seen) {
            visible = Some(commit.end);
            if commit.applied {
                unversioned += usize::from(commit.unversioned);
                state.replication.advance(commit.mark);
            } else {
                state.passed.push(commit);
                self.passed_count.fetch_add(1, Ordering::SeqCst);
            }
        }
        if let Some(visible) = visible {
            let before = self.visible.swap(visible, Ordering::SeqCst);
            assert!(before < visible, "what is visible went back from {before} to {visible}");
            drop(guard);
            if self.waiting.load(Ordering::SeqCst) > 0 {
                // Taking the mutex between store and notify closes the gap of a waiter that looked
                // just before.
                drop(self.state.lock());
                self.became_visible.notify_all();
            }
        }
        unversioned
    }

    /// Waits until the commit is visible.
    pub fn wait_visible(&self, seq: Lsn) {
        if self.visible() >= seq {
            return;
        }
        let _state = os::account::enter(os::account::State::CommitOrderWait);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut state = self.state.lock();
        while self.visible() < seq {
            self.became_visible.wait(&mut state);
        }
        drop(state);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Threads in [`Sequencer::wait_visible`] or [`Sequencer::close`].
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Notes that the locks of a commit are about to be released.
    pub fn note_released(&self, seq: Lsn) {
        self.released.fetch_max(seq, Ordering::AcqRel);
    }

    /// The newest commit that a transaction which holds all its locks can depend on.
    pub fn depends_on(&self) -> Lsn {
        self.released.load(Ordering::Acquire)
    }

    /// What a checkpoint needs to know. A spilled commit does not hold the log: recovery finds it
    /// through the checkpoint.
    pub fn capture(&self, log: &Log) -> Captured {
        let state = self.state.lock();
        let current = log.current_lsn();
        let oldest = state.in_flight.iter().find(|commit| !commit.spilled);
        let oldest = oldest.map_or(current, |commit| commit.start.min(current));
        let mut replication = Vec::new();
        state.replication.encode(&mut replication);
        Captured { current, oldest, replication, spilled: state.spilled.clone() }
    }

    /// Notes that a spilled commit's last row is on its page, the log being at `lsn`.
    pub fn note_applied(&self, seq: Lsn, lsn: Lsn) {
        let mut state = self.state.lock();
        if let Some(commit) = state.spilled.iter_mut().find(|commit| commit.seq == seq) {
            commit.applied_lsn = Some(lsn);
        }
    }

    /// Takes up spilled commits that recovery has found.
    pub fn adopt_spilled(&self, commits: Vec<SpilledCommit>) {
        self.state.lock().spilled = commits;
    }

    /// Forgets the spilled commits that a durable checkpoint at this position does not need, and
    /// returns their files.
    pub fn forget_spilled(&self, checkpoint_lsn: Lsn) -> Vec<u64> {
        let mut state = self.state.lock();
        let forgotten = state.spilled.extract_if(.., |commit| !commit.is_needed_from(checkpoint_lsn));
        forgotten.map(|commit| commit.spill.number).collect()
    }

    /// Reads the replication state.
    pub fn replication<R>(&self, with: impl FnOnce(&ReplicationState) -> R) -> R {
        with(&self.state.lock().replication)
    }

    /// Whether a transaction with this GTID is visible.
    pub fn has_executed(&self, gtid: Gtid) -> bool {
        self.state.lock().replication.executed.contains(gtid)
    }

    /// Changes the replication state.
    pub fn change_replication<R>(&self, with: impl FnOnce(&mut ReplicationState) -> R) -> R {
        let mut state = self.state.lock();
        let result = with(&mut state.replication);
        state.search_all_numbers(self.server_uuid);
        result
    }

    /// A session owns a GTID from now on: nobody else gets it.
    pub fn own(&self, gtid: Gtid) {
        if gtid.tsid.uuid == self.server_uuid {
            let mut state = self.state.lock();
            state.owned.insert(gtid);
            let from = state.numbers(gtid.tsid.tag).searched_to();
            state.search_numbers(gtid.tsid, from);
        }
    }

    /// A session no longer owns a GTID. If nothing was committed under it, it is free again.
    pub fn disown(&self, gtid: Gtid) {
        if gtid.tsid.uuid == self.server_uuid {
            let mut state = self.state.lock();
            state.owned.remove(&gtid);
            let from = state.numbers(gtid.tsid.tag).searched_to().min(gtid.gno);
            state.search_numbers(gtid.tsid, from);
        }
    }

    /// Starts numbering GTIDs anew (`RESET BINARY LOGS AND GTIDS`).
    pub fn reset_gtids(&self) {
        let mut state = self.state.lock();
        state.replication.executed = Default::default();
        state.replication.purged = Default::default();
        // Nor does recovery bring them back from spilled commits.
        state.spilled.iter_mut().for_each(|commit| commit.mark.gtid = None);
        state.numbers = FreeNumbers::UNKNOWN;
        state.tagged_numbers.clear();
    }
}

/// A record larger than the log can hold is the transaction's fault, not the log's.
fn reservation_error(error: redo::RedoError) -> EngineError {
    match error {
        redo::RedoError::RecordTooLarge { max_payload_bytes, .. } => {
            EngineError::TransactionTooLarge { limit_bytes: max_payload_bytes as usize }
        }
        error => EngineError::Redo(error),
    }
}
