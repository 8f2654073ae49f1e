//! What one session measures.

use super::consumers::{Collected, Consumers};
use super::digests::DigestEntry;
use super::errors::{Conditions, ErrorSums};
use super::figures::{COUNTED, Figures, sum};
use super::histogram::bucket_of;
use super::levels::AccountName;
use super::names::EventName;
use super::recent::{Event, Outcome, Recent};
use super::session_transactions::{Around, OfSession};
use super::setup::{ThreadSettings, Timed};
use super::totals::{ByName, Measured, STATEMENT_IDS};
use super::transactions::{NotedGtid, WholeTransaction};
use super::waits::{StateSums, ThreadWaits};
use crate::counters::Counters;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many digests a session has a part for.
const PARTS: usize = 64;

/// How many statements of a digest a session keeps to itself.
const MOST_OF_PART: usize = 32;

/// Stands for the bucket of a statement whose time is not measured.
const NO_BUCKET: u16 = u16::MAX;

/// After how many statements the rate of the ticks is asked for again.
const RATE_FOR: u32 = 64;

/// The figures of a digest that the session has not given to the common sums yet, nor to its own
/// sums by kind.
struct Part {
    digest: Arc<DigestEntry>,
    /// The kind of all these statements.
    name: EventName,
    figures: Figures,
    last_ticks: u64,
    buckets: [u16; MOST_OF_PART],
}

/// A statement that begins.
pub struct Begun<'s> {
    /// Its kind.
    pub name: EventName,
    /// Its text in utf8mb4. `None` for a command without one.
    pub text: Option<&'s [u8]>,
    /// Its digest.
    pub digest: Option<&'s Arc<DigestEntry>>,
    /// The current schema, where there is no digest that says it.
    pub schema: Option<&'s str>,
    /// When it began, in ticks.
    pub ticks: u64,
}

/// What is known of a statement when it ends, beside what the session's counters have counted.
#[derive(Default)]
pub struct Ended {
    /// When it ended, in ticks.
    pub ticks: u64,
    /// How long it waited for row locks, in ticks.
    pub lock_ticks: u64,
    /// Rows that were sent to the client.
    pub rows_sent: u64,
    /// Rows that it changed, as the client was told.
    pub rows_affected: u64,
    /// The warnings that the client was told of.
    pub warnings: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The place of the prepared statement that was executed.
    pub prepared: Option<usize>,
    /// The conditions that it has raised and handled, without the error that it ended with.
    pub conditions: Vec<Conditions>,
}

/// A prepared statement, as `prepared_statements_instances` shows it.
#[derive(Clone)]
pub struct PreparedRow {
    /// Its number in the protocol.
    pub id: u64,
    /// The name that PREPARE gave it.
    pub name: Option<String>,
    /// Its text.
    pub text: Arc<[u8]>,
    /// The number of the event that prepared it.
    pub event: u64,
    /// How long preparing took, in nanoseconds.
    pub prepare_ns: u64,
    /// How often it was prepared again.
    pub reprepared: u64,
    /// Its executions.
    pub figures: Figures,
}

#[derive(Default)]
struct Inner {
    account: AccountName,
    /// Whether the session is measured, as `threads` shows it.
    settings: ThreadSettings,
    recent: Recent<Event>,
    /// What is collected of the statement that runs.
    collected: Collected,
    /// Which consumers were on when somebody looked last, and what is collected while they are.
    /// `None` means that nobody has looked since the settings changed.
    consumed: Option<(u32, Collected)>,
    transactions: OfSession,
    last_number: u64,
    next_statement_id: u64,
    parts: Vec<Option<Box<Part>>>,
    by_name: ByName,
    errors: ErrorSums,
    /// Whether the sums belong to the server alone and to no account and thread, because threads
    /// were not told apart when they were measured.
    is_unowned: bool,
    prepared: Vec<Option<Box<PreparedRow>>>,
    /// The counts of the session when its last statement ended.
    counted: [u64; COUNTED],
    /// Nanoseconds for each tick, times 2 to the power of 32, and for how many statements it is
    /// good.
    rate: (u64, u32),
}

impl Inner {
    /// Returns what is collected now.
    #[inline]
    fn all_collected(&mut self, measured: &Measured) -> Collected {
        let switched = measured.consumers.switched();
        match self.consumed {
            Some((before, collected)) if before == switched => collected,
            _ => self.collected_anew(measured, switched),
        }
    }

    #[cold]
    #[inline(never)]
    fn collected_anew(&mut self, measured: &Measured, switched: u32) -> Collected {
        let is_unowned = !Consumers::tells_threads_apart(switched);
        if is_unowned != self.is_unowned {
            self.give_by_name(measured);
            self.give_errors(measured);
            self.give_transactions(measured);
            self.is_unowned = is_unowned;
        }
        let collected = Consumers::collected(switched, self.settings);
        self.consumed = Some((switched, collected));
        collected
    }

    /// Returns the account that the sums belong to.
    fn owner(&self) -> Option<&AccountName> {
        (!self.is_unowned).then_some(&self.account)
    }

    /// Gives the figures of digests to the common sums.
    fn take_parts(&mut self, measured: &Measured) {
        let Inner { parts, by_name, .. } = self;
        parts.iter_mut().flatten().for_each(|part| measured.take_part(part, by_name));
    }

    /// Gives the sums by kind to those of their owner.
    fn give_by_name(&mut self, measured: &Measured) {
        self.take_parts(measured);
        let by_name = std::mem::take(&mut self.by_name);
        measured.add_ended(self.owner(), &by_name);
    }

    fn give_errors(&mut self, measured: &Measured) {
        let errors = std::mem::take(&mut self.errors);
        if !errors.is_empty() {
            measured.errors.add_ended(self.owner(), &errors);
        }
    }

    fn give_transactions(&mut self, measured: &Measured) {
        let sums = std::mem::take(&mut self.transactions.sums);
        measured.transactions.add_ended(self.owner(), &sums);
    }
}

/// What one session measures. Only its own thread writes, so its lock is free unless somebody
/// reads.
pub struct MeasuredSession {
    measured: Arc<Measured>,
    connection_id: u32,
    inner: Mutex<Inner>,
    waits: ThreadWaits,
}

impl MeasuredSession {
    /// Begins to measure a connection's session of this account, which the calling thread serves.
    pub fn new(measured: Arc<Measured>, account: AccountName, connection_id: u32) -> MeasuredSession {
        measured.enter(&account);
        let settings = measured.actors.settings_of((account.0.as_deref(), account.1.as_deref()));
        let inner = Inner { account, settings, ..Inner::default() };
        let waits = ThreadWaits::of_this_thread();
        MeasuredSession { measured, connection_id, inner: Mutex::new(inner), waits }
    }

    /// Returns what all sessions measure together.
    pub fn measured(&self) -> &Arc<Measured> {
        &self.measured
    }

    /// Gives the session to another account (COM_CHANGE_USER).
    pub fn change_account(&self, account: AccountName) {
        self.give_by_name();
        self.give_errors();
        self.give_transactions();
        self.give_waits();
        self.measured.enter(&account);
        let settings = self.measured.actors.settings_of((account.0.as_deref(), account.1.as_deref()));
        let mut inner = self.inner.lock();
        (inner.account, inner.settings, inner.consumed) = (account, settings, None);
    }

    /// Returns whether the session is measured.
    pub fn settings(&self) -> ThreadSettings {
        self.inner.lock().settings
    }

    /// Changes whether the session is measured, from its next statement on.
    pub fn change_settings(&self, change: impl FnOnce(&mut ThreadSettings)) {
        let mut inner = self.inner.lock();
        change(&mut inner.settings);
        inner.consumed = None;
    }

    /// Returns the session's account.
    pub fn account(&self) -> AccountName {
        self.inner.lock().account.clone()
    }

    /// Notes that a statement begins.
    pub fn begin(&self, begun: &Begun<'_>) {
        let settings = self.measured.settings();
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        inner.collected = inner.all_collected(&self.measured);
        let (is_enabled, timed) = self.measured.instruments.of_statement(begun.name);
        if !is_enabled {
            inner.collected = Collected::default();
        }
        if !inner.collected.is_measured {
            return;
        }
        inner.last_number += 1;
        if inner.next_statement_id.is_multiple_of(STATEMENT_IDS) {
            inner.next_statement_id = self.measured.take_statement_ids();
        }
        let event = inner.recent.begin(settings.history);
        event.number = inner.last_number;
        event.transaction = inner.transactions.open_number;
        event.statement_id = inner.next_statement_id;
        inner.next_statement_id += 1;
        event.name = begun.name;
        event.ticks = (begun.ticks, None);
        if event.outcome != Outcome::default() {
            event.outcome = Outcome::default();
        }
        event.sample.begin_anew(0);
        event.timed = timed;
        event.sample.is_untimed = timed != Timed::Whole;
        (event.is_shown, event.is_kept) = (inner.collected.is_shown, inner.collected.in_history);
        tell(event, begun, settings.text_bytes);
        if !inner.collected.has_digest {
            event.digest = None;
        }
    }

    /// Replaces what was told of the statement that runs: EXECUTE is shown by the text and digest
    /// of the statement that it names.
    pub fn retell(&self, begun: &Begun<'_>) {
        let mut inner = self.inner.lock();
        let collected = inner.collected;
        if !collected.is_measured {
            return;
        }
        if let Some(event) = inner.recent.latest() {
            tell(event, begun, self.measured.settings().text_bytes);
            if !collected.has_digest {
                event.digest = None;
            }
        }
    }

    /// Notes that the statement which runs ends, and the transaction that it was, if any, with its
    /// GTID.
    pub fn end(&self, ended: Ended, whole: Option<(&WholeTransaction, &NotedGtid)>, counters: &Counters) {
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        if ended.outcome.error_code != 0 || !ended.conditions.is_empty() {
            self.add_errors(inner, &ended);
        }
        if !inner.collected.is_measured {
            if let Some(whole) = whole {
                self.add_unmeasured_whole(inner, whole, ended.ticks);
            }
            return;
        }
        if inner.rate.1 == 0 {
            inner.rate = (os::clock::ticks_to_ns(1 << 32), RATE_FOR);
        }
        inner.rate.1 -= 1;
        let rate = inner.rate.0;
        let to_ns = |ticks: u64| ((u128::from(ticks) * u128::from(rate)) >> 32) as u64;
        let Some(event) = inner.recent.latest() else { return };
        let sample = &mut event.sample;
        let took_ns = to_ns(ended.ticks.saturating_sub(event.ticks.0));
        sample.begin_anew(if sample.is_untimed { 0 } else { took_ns });
        if ended.lock_ticks != 0 {
            sample.set(sum::LOCK_TIME_NS, to_ns(ended.lock_ticks));
        }
        sample.set(sum::ERRORS, u64::from(ended.outcome.error_code != 0));
        sample.set(sum::WARNINGS, ended.warnings);
        sample.set(sum::ROWS_AFFECTED, ended.rows_affected);
        sample.set(sum::ROWS_SENT, ended.rows_sent);
        sample.set_counted(counters, &mut inner.counted);
        event.ticks.1 = Some(ended.ticks);
        event.outcome = ended.outcome;
        if let Some(whole) = whole {
            let collected = inner.consumed.as_ref().map_or(inner.collected, |(_, collected)| *collected);
            let (last_number, statement) = (&mut inner.last_number, event.number);
            let around = Around {
                measured: &self.measured,
                connection_id: self.connection_id,
                collected,
                last_number,
                statement,
            };
            inner.transactions.add_whole(around, whole, (event.ticks.0, ended.ticks), took_ns);
        }
        event.end_number = inner.last_number;
        if inner.collected.in_long_history {
            self.measured.keep_long(self.connection_id, event);
        }
        let place = ended.prepared.and_then(|at| inner.prepared.get_mut(at));
        if let Some(Some(prepared)) = place {
            prepared.figures.add(&event.sample);
        }
        match &event.digest {
            Some(digest) => {
                self.measured.take_sample(digest, event);
                let (parts, by_name) = (&mut inner.parts, &mut inner.by_name);
                self.add_to_part((parts, by_name), digest, event, ended.ticks);
            }
            None => inner.by_name.add(event.name, &event.sample),
        }
    }

    /// Notes the transaction of a statement that is not measured itself.
    #[inline(never)]
    fn add_unmeasured_whole(&self, inner: &mut Inner, whole: (&WholeTransaction, &NotedGtid), ticks: u64) {
        let collected = inner.all_collected(&self.measured);
        let around = Around {
            measured: &self.measured,
            connection_id: self.connection_id,
            collected,
            last_number: &mut inner.last_number,
            statement: 0,
        };
        inner.transactions.add_whole(around, whole, (ticks, ticks), 0);
    }

    /// Gives out what is kept of the session's transactions, what surrounds them, and when the
    /// statement that runs has begun, in ticks.
    pub(super) fn with_transactions(&self, run: impl FnOnce(&mut OfSession, Around<'_>, Option<u64>)) {
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        let collected = inner.all_collected(&self.measured);
        let is_measured = inner.collected.is_measured;
        let running = inner.recent.latest().filter(|event| is_measured && event.ticks.1.is_none());
        let (statement, since_ticks) = running.map_or((0, None), |event| (event.number, Some(event.ticks.0)));
        let around = Around {
            measured: &self.measured,
            connection_id: self.connection_id,
            collected,
            last_number: &mut inner.last_number,
            statement,
        };
        run(&mut inner.transactions, around, since_ticks);
    }

    #[inline(never)]
    fn add_errors(&self, inner: &mut Inner, ended: &Ended) {
        let is_measured = inner.all_collected(&self.measured).is_measured;
        if !is_measured || !self.measured.instruments.counts_errors() {
            return;
        }
        let now_us = os::clock::now_us();
        for conditions in &ended.conditions {
            inner.errors.add(conditions, now_us);
        }
        let code = ended.outcome.error_code;
        if code != 0 {
            inner.errors.add(&Conditions { code, raised: 1, handled: 0 }, now_us);
        }
    }

    /// Returns the account and the conditions by their numbers, as far as they belong to it.
    pub fn errors(&self) -> (AccountName, ErrorSums) {
        let inner = self.inner.lock();
        let errors = if inner.is_unowned { ErrorSums::default() } else { inner.errors.clone() };
        (inner.account.clone(), errors)
    }

    /// Gives the conditions to those of the account.
    pub(super) fn give_errors(&self) {
        self.inner.lock().give_errors(&self.measured);
    }

    /// Gives the sums of transactions to those of the account.
    pub(super) fn give_transactions(&self) {
        self.inner.lock().give_transactions(&self.measured);
    }

    /// Reports whether what is measured belongs to no account.
    pub(super) fn is_unowned(&self) -> bool {
        self.inner.lock().is_unowned
    }

    /// Gives what belongs to no account to the sums of the whole server.
    pub(super) fn give_unowned(&self) {
        let mut inner = self.inner.lock();
        if inner.is_unowned {
            inner.give_by_name(&self.measured);
            inner.give_errors(&self.measured);
            inner.give_transactions(&self.measured);
        }
    }

    fn add_to_part(
        &self,
        (parts, by_name): (&mut Vec<Option<Box<Part>>>, &mut ByName),
        digest: &Arc<DigestEntry>,
        event: &Event,
        ticks: u64,
    ) {
        let (name, sample) = (event.name, &event.sample);
        if parts.is_empty() {
            parts.resize_with(PARTS, || None);
        }
        let place = &mut parts[digest.number % PARTS];
        let is_its = |part: &Part| Arc::ptr_eq(&part.digest, digest) && part.name == name;
        if !place.as_deref().is_some_and(is_its) {
            if let Some(part) = place {
                self.measured.take_part(part, by_name);
            }
            let (figures, buckets) = (Figures::default(), [0; MOST_OF_PART]);
            *place = Some(Box::new(Part { digest: digest.clone(), name, figures, last_ticks: 0, buckets }));
        }
        let Some(part) = place else { return };
        if part.figures.count as usize >= MOST_OF_PART {
            self.measured.take_part(part, by_name);
        }
        let bucket = if sample.is_untimed { NO_BUCKET } else { bucket_of(sample.wait_ns) };
        part.buckets[part.figures.count as usize] = bucket;
        part.figures.add(sample);
        part.last_ticks = ticks;
    }

    /// Gives the figures of digests to the common sums.
    pub(super) fn give_digests(&self) {
        self.inner.lock().take_parts(&self.measured);
    }

    /// Gives the sums by kind to those of the account.
    pub(super) fn give_by_name(&self) {
        self.inner.lock().give_by_name(&self.measured);
    }

    /// Gives everything to the common sums, because the session ends.
    pub fn finish(&self) {
        self.give_digests();
        self.inner.lock().parts = Vec::new();
        self.give_by_name();
        self.give_errors();
        self.give_transactions();
        self.give_waits();
    }

    /// Returns the account and the waits of the session's thread, as far as they belong to it.
    pub fn waits(&self) -> (AccountName, StateSums) {
        let inner = self.inner.lock();
        let waits = if inner.is_unowned { StateSums::default() } else { self.waits.sums() };
        (inner.account.clone(), waits)
    }

    /// Gives the waits to those of the account.
    pub(super) fn give_waits(&self) {
        let inner = self.inner.lock();
        self.measured.waits.add_ended(inner.owner(), &self.waits.take());
    }

    /// Returns the account and the sums by kind, as far as they belong to it.
    pub fn by_name(&self) -> (AccountName, ByName) {
        let mut inner = self.inner.lock();
        inner.take_parts(&self.measured);
        let by_name = if inner.is_unowned { ByName::default() } else { inner.by_name.clone() };
        (inner.account.clone(), by_name)
    }

    /// Returns the statement that runs, or the last one.
    pub fn current(&self) -> Option<Event> {
        self.inner.lock().recent.latest().filter(|event| event.is_shown).cloned()
    }

    /// Returns the latest statements that have ended, the oldest first.
    pub fn history(&self) -> Vec<Event> {
        self.inner.lock().recent.ended(self.measured.settings().history)
    }

    /// Forgets the statements that have ended.
    pub fn clear_history(&self) {
        self.inner.lock().recent.clear_ended();
    }

    /// Returns the prepared statements.
    pub fn prepared(&self) -> Vec<PreparedRow> {
        self.inner.lock().prepared.iter().flatten().map(|row| (**row).clone()).collect()
    }

    /// Forgets the figures of the prepared statements.
    pub fn clear_prepared(&self) {
        let mut inner = self.inner.lock();
        inner.prepared.iter_mut().flatten().for_each(|row| row.figures = Figures::default());
    }

    /// Notes a prepared statement, until the result is dropped.
    pub fn keep_prepared(self: &Arc<Self>, mut row: PreparedRow, prepare_ticks: u64) -> MeasuredPrepared {
        let mut inner = self.inner.lock();
        row.event = inner.last_number;
        row.prepare_ns = os::clock::ticks_to_ns(prepare_ticks);
        let free = inner.prepared.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            inner.prepared.push(None);
            inner.prepared.len() - 1
        });
        inner.prepared[place] = Some(Box::new(row));
        MeasuredPrepared { session: self.clone(), place }
    }
}

/// Sets what is shown of a statement.
fn tell(event: &mut Event, begun: &Begun<'_>, text_bytes: usize) {
    event.set_text(begun.text, text_bytes);
    event.schema = match begun.digest {
        Some(digest) if !digest.is_rest() => digest.schema.clone(),
        _ => begun.schema.map(Arc::from),
    };
    event.digest = begun.digest.cloned();
}

/// A prepared statement that is shown as long as this value lives.
pub struct MeasuredPrepared {
    session: Arc<MeasuredSession>,
    place: usize,
}

impl MeasuredPrepared {
    /// Returns the statement's place, for [`Ended::prepared`].
    pub fn place(&self) -> usize {
        self.place
    }

    /// Gives the statement the number that the client knows, or the name that PREPARE gives it.
    pub fn call(&self, id: u64, name: Option<&str>) {
        self.change(|row| {
            row.id = id;
            row.name = name.map(str::to_owned);
        });
    }

    /// Counts that the statement was prepared again.
    pub fn prepared_again(&self) {
        self.change(|row| row.reprepared += 1);
    }

    fn change(&self, change: impl FnOnce(&mut PreparedRow)) {
        if let Some(Some(row)) = self.session.inner.lock().prepared.get_mut(self.place) {
            change(row);
        }
    }
}

impl Drop for MeasuredPrepared {
    fn drop(&mut self) {
        if let Some(row) = self.session.inner.lock().prepared.get_mut(self.place) {
            *row = None;
        }
    }
}

impl Measured {
    /// Adds the part of a session to the sums of its digest and to those of its kind, and empties
    /// the part.
    fn take_part(&self, part: &mut Part, by_name: &mut ByName) {
        let statements = part.figures.count as usize;
        if statements == 0 {
            return;
        }
        let age_ns = os::clock::ticks_to_ns(os::clock::ticks().saturating_sub(part.last_ticks));
        let seen_us = os::clock::now_us().saturating_sub(age_ns / 1000);
        let mut sums = part.digest.sums.lock();
        if sums.figures.count == 0 {
            let first_us = seen_us.saturating_sub(part.figures.wait_ns / 1000);
            sums.first_seen_us = if sums.sample_seen_us == 0 { first_us } else { sums.sample_seen_us };
        }
        sums.last_seen_us = sums.last_seen_us.max(seen_us).max(sums.first_seen_us);
        sums.figures.merge(&part.figures);
        for bucket in part.buckets[..statements.min(MOST_OF_PART)].iter().filter(|at| **at != NO_BUCKET) {
            sums.histogram.add(*bucket);
            self.histogram[usize::from(*bucket)].fetch_add(1, Ordering::Relaxed);
        }
        drop(sums);
        by_name.of(part.name).merge(&part.figures);
        part.figures = Figures::default();
    }

    /// Keeps the text of a statement as its digest's sample where it took longer than the present
    /// one, or where the present one is too old.
    fn take_sample(&self, digest: &DigestEntry, event: &Event) {
        let (wait_ns, now) = (event.sample.wait_ns, event.ticks.0);
        let since = digest.sample_ticks.load(Ordering::Relaxed);
        let is_longer = wait_ns > digest.sample_wait_ns.load(Ordering::Relaxed);
        // A tick is a nanosecond or less, so no division is needed to see that it is too early.
        let age_ns = || os::clock::ticks_to_ns(now.saturating_sub(since));
        let oldest_ns = self.settings.sample_age_s.saturating_mul(1_000_000_000);
        let is_old = since != 0 && oldest_ns > 0 && {
            let age_ticks = now.saturating_sub(since);
            age_ticks >= oldest_ns && age_ns() >= oldest_ns
        };
        if !(is_longer || is_old || since == 0) {
            return;
        }
        // Another session that has the lock has a sample, too.
        let Some(mut sums) = digest.sums.try_lock() else { return };
        digest.sample_wait_ns.store(wait_ns, Ordering::Relaxed);
        digest.sample_ticks.store(now.max(1), Ordering::Relaxed);
        sums.sample.clear();
        sums.sample.extend_from_slice(event.text.as_deref().unwrap_or_default());
        sums.sample_seen_us = os::clock::now_us();
        sums.sample_wait_ns = wait_ns;
    }
}
