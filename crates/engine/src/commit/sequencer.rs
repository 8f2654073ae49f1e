//! The sequencer: the one place where the order of commits is decided, and where commits become
//! visible in that order.
//!
//! [`Sequencer::enter`] gives a commit its GTID and its place in the log in one short critical
//! section, so that GTID order, log order and commit order are the same. [`Sequencer::complete`]
//! notes that a commit is on its pages. The longest prefix of completed commits is visible, and the
//! replication state advances with it.
//!
//! Lock order: the sequencer's mutex is taken with row locks held and no latch. Inside it only the
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
    /// Whether the commit's changes are in a spill file. Later commits that are on their pages
    /// sooner become visible before a spilled commit.
    spilled: bool,
    mark: CommitMark,
}

struct State {
    in_flight: VecDeque<InFlight>,
    /// The spilled commits that later commits have passed. Only a part of their rows is on pages.
    passed: Vec<InFlight>,
    /// The spilled commits whose files are still needed.
    spilled: Vec<SpilledCommit>,
    replication: ReplicationState,
    numbers: FreeNumbers,
    /// Whether a commit that asks for the next GTID gets one (`gtid_mode`).
    gives_gtids: bool,
    /// Whether commits are held back.
    closed: bool,
    /// Which commits of sessions are refused.
    read_only: ReadOnly,
    /// The largest sequence number that may become visible.
    limit: Lsn,
    /// The free numbers of each tag that has been asked for. `numbers` has those without a tag.
    tagged_numbers: BTreeMap<Tag, FreeNumbers>,
    /// The GTIDs of this server that sessions own (`gtid_next`).
    owned: BTreeSet<Gtid>,
}

impl State {
    /// Returns the free numbers of this server with the tag.
    fn numbers(&mut self, tag: Tag) -> &mut FreeNumbers {
        if tag.is_none() {
            return &mut self.numbers;
        }
        self.tagged_numbers.entry(tag).or_insert(FreeNumbers::UNKNOWN)
    }

    /// Returns the GTID that the next transaction of this server, whose UUID is in `tsid`, gets
    /// with the tag. The GTID stays free until it is taken from [`State::numbers`].
    ///
    /// # Errors
    /// Returns [`EngineError::GtidsExhausted`] when no number is free.
    fn next_gtid(&mut self, tsid: Tsid) -> Result<Gtid> {
        if let Some(gno) = self.numbers(tsid.tag).first() {
            return Ok(Gtid { tsid, gno });
        }
        let from = self.numbers(tsid.tag).searched_to();
        self.search_numbers(tsid, from);
        let gno = self.numbers(tsid.tag).first().ok_or(EngineError::GtidsExhausted)?;
        Ok(Gtid { tsid, gno })
    }

    /// Searches anew which numbers are free from `from` on, because something other than
    /// [`State::next_gtid`] has taken or released a number.
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

    /// Does what [`State::search_numbers`] does, for all tags.
    fn search_all_numbers(&mut self, uuid: Uuid) {
        let tags: Vec<Tag> = self.tagged_numbers.keys().copied().chain([Tag::NONE]).collect();
        for tag in tags {
            let from = self.numbers(tag).searched_to();
            self.search_numbers(Tsid { uuid, tag }, from);
        }
    }
}

impl State {
    /// Returns the GTIDs of all commits that have a place in the log, visible or not.
    fn logged_gtids(&self) -> GtidSet {
        let mut logged = self.replication.executed.clone();
        let invisible = self.in_flight.iter().chain(&self.passed);
        invisible.filter_map(|commit| commit.mark.gtid).for_each(|gtid| logged.add(gtid));
        logged
    }

    fn check_read_only(&self, refused_from: Option<ReadOnly>) -> Result<()> {
        match refused_from {
            Some(least) if self.read_only >= least => {
                Err(EngineError::ServerIsReadOnly { for_all: self.read_only == ReadOnly::All })
            }
            _ => Ok(()),
        }
    }

    /// Reports whether a transaction has the GTID, visible or not. This is asked for commits of
    /// sessions; an applier looks before it begins a transaction.
    fn has_logged(&self, gtid: Gtid) -> bool {
        let has = |commit: &InFlight| commit.mark.gtid == Some(gtid);
        self.replication.executed.contains(gtid)
            || self.in_flight.iter().any(has)
            || self.passed.iter().any(has)
    }
}

/// The place of a commit in the log, and its GTID.
pub(crate) type Entered<'l> = (Reservation<'l>, Option<Gtid>);

/// The request of a commit to the sequencer.
pub(crate) struct Entry<'a> {
    pub payload_len: usize,
    pub gtid: GtidRequest,
    pub mariadb_gtid: Option<MariadbGtid>,
    pub position: Option<PositionUpdate<'a>>,
    pub unversioned: bool,
    /// Whether the caller has a commit in the log that is not on its pages. Such a caller's next
    /// commit is let in while commits are being held back, because the holder waits for the earlier
    /// commit.
    pub follows_logged: bool,
    pub spill: Option<SpillRef>,
    /// The least [`ReadOnly`] under which the commit is refused. `None` means that it never is.
    pub refused_from: Option<ReadOnly>,
}

/// The sequencer's state that a checkpoint takes, all of one moment.
pub(crate) struct Captured {
    /// The end of the log.
    pub current: Lsn,
    /// The start of the oldest commit that is not on its pages and has its changes in the log, or
    /// the end of the log if there is none.
    pub oldest: Lsn,
    /// The replication state, encoded.
    pub replication: Vec<u8>,
    pub spilled: Vec<SpilledCommit>,
}

/// Which commits of sessions the server refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadOnly {
    /// None.
    Off,
    /// Those of accounts without CONNECTION_ADMIN (`read_only`).
    Ordinary,
    /// All of them (`super_read_only`).
    All,
}

/// The GTID that a commit asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GtidRequest {
    None,
    /// The next GTID of this server with this tag, if `gtid_mode` gives GTIDs.
    Next(Tag),
    Given(Gtid),
}

impl GtidRequest {
    /// Returns the tag of the GTID that the commit will have.
    pub fn tag(self) -> Tag {
        match self {
            GtidRequest::None => Tag::NONE,
            GtidRequest::Next(tag) => tag,
            GtidRequest::Given(gtid) => gtid.tsid.tag,
        }
    }
}

/// The order and the visibility of commits.
pub(crate) struct Sequencer {
    state: Mutex<State>,
    visible: AtomicU64,
    /// The length of `State::passed`. A commit is counted before `visible` passes it.
    passed_count: AtomicUsize,
    became_visible: Condvar,
    /// The number of threads that wait on `became_visible`. It saves a notification when nobody
    /// waits.
    waiting: AtomicUsize,
    /// Whether `State::limit` is set. Readers for whom a slightly old value is good enough load it
    /// without the mutex.
    limited: AtomicBool,
    /// The largest `seq` whose row locks have been released. A transaction that takes those locks
    /// later depends on no newer commit than this.
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
                read_only: ReadOnly::Off,
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

    /// Returns the sequence number up to which everything can be read.
    pub fn visible(&self) -> Lsn {
        self.visible.load(Ordering::SeqCst)
    }

    /// Returns the sequence number of the newest commit that has its place in the log.
    pub fn newest(&self) -> Lsn {
        let state = self.state.lock();
        state.in_flight.back().map_or_else(|| self.visible(), |last| last.end)
    }

    /// Returns the view of a reader: everything up to a sequence number, except the spilled commits
    /// that later commits have passed.
    pub fn view(&self) -> View {
        let seq = self.visible();
        if self.passed_count.load(Ordering::SeqCst) == 0 {
            // Every commit that was passed before `seq` was loaded is on its pages by now.
            return View::up_to(seq);
        }
        let state = self.state.lock();
        View { seq: self.visible(), excluded: state.passed.iter().map(|commit| commit.end).collect() }
    }

    /// Returns the oldest commit that is not visible although later ones are. `u64::MAX` means that
    /// there is none.
    pub fn oldest_passed(&self) -> Lsn {
        if self.passed_count.load(Ordering::SeqCst) == 0 {
            return Lsn::MAX;
        }
        self.state.lock().passed.iter().map(|commit| commit.end).min().unwrap_or(Lsn::MAX)
    }

    /// Lets no further commit in, and waits until the commits that are in are on their pages.
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

    /// Sets which commits of sessions are refused from here on. `now` is called under the mutex, so
    /// that of several callers the last one has the newest answer.
    pub fn set_read_only(&self, now: impl FnOnce() -> ReadOnly) {
        let mut state = self.state.lock();
        state.read_only = now();
    }

    /// Checks that a commit which is refused from this level on is not refused now.
    ///
    /// # Errors
    /// Returns [`EngineError::ServerIsReadOnly`] when it is.
    pub fn check_read_only(&self, refused_from: Option<ReadOnly>) -> Result<()> {
        self.state.lock().check_read_only(refused_from)
    }

    /// Sets whether commits that ask for the next GTID get one from here on.
    pub fn set_gives_gtids(&self, gives: bool) {
        self.state.lock().gives_gtids = gives;
    }

    /// Lets commits in again.
    pub fn open(&self) {
        self.state.lock().closed = false;
    }

    /// Gives a commit its order. The caller fills the reservation at once and must call
    /// [`Sequencer::complete`] later. `None` means that commits are held back.
    pub fn enter<'l>(&self, log: &'l Log, entry: Entry<'_>) -> Result<Option<Entered<'l>>> {
        let mut state = self.state.lock();
        if state.closed && !entry.follows_logged {
            return Ok(None);
        }
        state.check_read_only(entry.refused_from)?;
        if let GtidRequest::Given(gtid) = entry.gtid
            && entry.position.is_none()
            && state.has_logged(gtid)
        {
            return Err(EngineError::GtidUnusable(format!("{gtid} has been executed meanwhile")));
        }
        // The steps that can fail come first. The mutex keeps the order of commits in the log equal
        // to the order in which they change the state below.
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
        assert!(place.0 < place.1, "the record of a commit at {} has no bytes", place.0);
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
    /// this, for [`crate::version::snapshot::Snapshots::leave_unversioned`].
    pub fn complete(&self, seq: Lsn) -> usize {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let Ok(at) = state.in_flight.binary_search_by_key(&seq, |commit| commit.end) else {
            let at = state.passed.iter().position(|commit| commit.end == seq);
            let commit = state.passed.swap_remove(at.expect("a commit completes once"));
            assert!(commit.spilled, "later commits have passed the commit {seq}, which is not spilled");
            state.replication.advance(commit.mark);
            self.passed_count.fetch_sub(1, Ordering::SeqCst);
            drop(guard);
            self.became_visible.notify_all();
            return 0;
        };
        assert!(!state.in_flight[at].applied, "the commit {seq} completes once");
        let visible = self.visible();
        assert!(visible < seq, "what is visible has come to {visible} without the commit {seq}");
        state.in_flight[at].applied = true;
        self.show(guard)
    }

    /// Makes commits visible up to `limit` at most. Returns what [`Sequencer::complete`] returns.
    pub fn limit_visibility(&self, limit: Lsn) -> usize {
        self.limited.store(limit != Lsn::MAX, Ordering::SeqCst);
        let mut guard = self.state.lock();
        guard.limit = limit;
        self.show(guard)
    }

    /// Reports whether a limit keeps completed commits from becoming visible at once.
    pub fn is_limited(&self) -> bool {
        self.limited.load(Ordering::SeqCst)
    }

    /// Makes every commit visible that can be. Returns how many unversioned commits became visible.
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
                // A waiter that looked at `visible` just before the store holds the mutex until it
                // waits. Taking the mutex between store and notification makes sure that such a
                // waiter is woken.
                drop(self.state.lock());
                self.became_visible.notify_all();
            }
        }
        unversioned
    }

    /// Waits until the commit with this sequence number is visible.
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

    /// Returns the number of threads in [`Sequencer::wait_visible`] or [`Sequencer::close`].
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Notes that the row locks of a commit are about to be released.
    pub fn note_released(&self, seq: Lsn) {
        self.released.fetch_max(seq, Ordering::AcqRel);
    }

    /// Returns the newest commit that a transaction which holds all its locks can depend on.
    pub fn depends_on(&self) -> Lsn {
        self.released.load(Ordering::Acquire)
    }

    /// Returns what a checkpoint needs to know. A spilled commit does not keep the log from being
    /// freed, because recovery finds the commit through the checkpoint.
    pub fn capture(&self, log: &Log) -> Captured {
        let state = self.state.lock();
        let current = log.current_lsn();
        let visible = self.visible();
        assert!(visible <= current, "the commit {visible} is visible behind the log's end {current}");
        let oldest = state.in_flight.iter().find(|commit| !commit.spilled);
        let oldest = oldest.map_or(current, |commit| commit.start.min(current));
        let mut replication = Vec::new();
        state.replication.encode(&mut replication);
        Captured { current, oldest, replication, spilled: state.spilled.clone() }
    }

    /// Returns the end of the log, the GTIDs of all commits whose records are before it, and the
    /// encoded replication state of what is visible, all of one moment.
    pub fn end_of_log(&self, log: &Log) -> (Lsn, GtidSet, Vec<u8>) {
        let state = self.state.lock();
        let mut replication = Vec::new();
        state.replication.encode(&mut replication);
        (log.current_lsn(), state.logged_gtids(), replication)
    }

    /// Returns the GTIDs of all commits that have a place in the log, visible or not.
    pub fn logged_gtids(&self) -> GtidSet {
        self.state.lock().logged_gtids()
    }

    /// Notes that a spilled commit's last row is on its page, and that the log's end was at `lsn`
    /// by then.
    pub fn note_applied(&self, seq: Lsn, lsn: Lsn) {
        assert!(lsn >= seq, "the log's end {lsn} is behind the commit {seq}, which is on its pages");
        let mut state = self.state.lock();
        if let Some(commit) = state.spilled.iter_mut().find(|commit| commit.seq == seq) {
            commit.applied_lsn = Some(lsn);
        }
    }

    /// Takes over the spilled commits that recovery has found.
    pub fn adopt_spilled(&self, commits: Vec<SpilledCommit>) {
        let mut state = self.state.lock();
        assert!(state.spilled.is_empty(), "recovery hands its spilled commits over before all others");
        state.spilled = commits;
    }

    /// Forgets the spilled commits that a durable checkpoint at this position does not need.
    /// Returns the numbers of their files.
    pub fn forget_spilled(&self, checkpoint_lsn: Lsn) -> Vec<u64> {
        let mut state = self.state.lock();
        let forgotten = state.spilled.extract_if(.., |commit| !commit.is_needed_from(checkpoint_lsn));
        forgotten.map(|commit| commit.spill.number).collect()
    }

    /// Calls `with` on the replication state.
    pub fn replication<R>(&self, with: impl FnOnce(&ReplicationState) -> R) -> R {
        with(&self.state.lock().replication)
    }

    /// Reports whether a transaction with this GTID is visible.
    pub fn has_executed(&self, gtid: Gtid) -> bool {
        self.state.lock().replication.executed.contains(gtid)
    }

    /// Calls `with`, which may change the replication state, and searches the free numbers anew.
    pub fn change_replication<R>(&self, with: impl FnOnce(&mut ReplicationState) -> R) -> R {
        let mut state = self.state.lock();
        let result = with(&mut state.replication);
        state.search_all_numbers(self.server_uuid);
        result
    }

    /// Notes that a session owns a GTID from now on, so that no other transaction gets it.
    pub fn own(&self, gtid: Gtid) {
        if gtid.tsid.uuid == self.server_uuid {
            let mut state = self.state.lock();
            state.owned.insert(gtid);
            let from = state.numbers(gtid.tsid.tag).searched_to();
            state.search_numbers(gtid.tsid, from);
        }
    }

    /// Notes that a session no longer owns a GTID. If nothing was committed under the GTID, it is
    /// free again.
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
        // Recovery must not bring the GTIDs back from spilled commits either.
        state.spilled.iter_mut().for_each(|commit| commit.mark.gtid = None);
        state.numbers = FreeNumbers::UNKNOWN;
        state.tagged_numbers.clear();
    }
}

/// Turns an error of a reservation into an engine error. A record larger than the log can hold is
/// the transaction's fault, not the log's.
fn reservation_error(error: redo::RedoError) -> EngineError {
    match error {
        redo::RedoError::RecordTooLarge { max_payload_bytes, .. } => {
            EngineError::TransactionTooLarge { limit_bytes: max_payload_bytes as usize }
        }
        error => EngineError::Redo(error),
    }
}
