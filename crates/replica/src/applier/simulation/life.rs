//! One life of a replica: from its present state to the end of the source's history, or to a crash.

use std::path::PathBuf;
use std::sync::Arc;

use binlog::Checksum;
use engine::{Engine, Isolation, Transaction};
use os::random::Rng;
use os::sim::SimDisk;

use super::history::{self, History, SOURCE, content};
use crate::applier::alone::{CameTo, note_dry};
use crate::applier::group::Applier;
use crate::applier::intake::{Cut, Intake};
use crate::applier::job::Job;
use crate::applier::open_group::OpenGroup;
use crate::applier::order::Order;
use crate::applier::workers::Turns;
use crate::applier::{Gate, Policy, ResumePoint};
use crate::relay::{RelayLogConfig, RelayWriter};
use crate::{Replica, ReplicaSettings};

const FILE: &str = "source.000001";

/// A worker's progress with its job.
enum At {
    Idle,
    Cut(u64),
    Prepared(u64),
    /// The turn has come, and a group has to wait for something.
    Blocked(u64),
    Logged(u64, ResumePoint),
}

struct Worker {
    at: At,
    job: Job,
    open: OpenGroup,
}

/// The properties of a life.
#[derive(Debug, Clone, Copy)]
pub struct Nature {
    pub workers: usize,
    /// The number of groups in a job.
    pub groups: usize,
    pub policy: Policy,
    /// True when a snapshot is open all the time, so that commits keep versions.
    pub versioned: bool,
    pub durable: bool,
    /// The number of steps after which the life ends with a crash. `None` means that there is no
    /// crash.
    pub crash_after: Option<u64>,
}

fn settings() -> ReplicaSettings {
    ReplicaSettings {
        datadir: PathBuf::from("/data"),
        server_id: 2,
        server_uuid: "22222222-2222-2222-2222-222222222222".to_string(),
        relay: RelayLogConfig {
            basename: "relay".to_string(),
            index: None,
            max_file_bytes: 8192,
            space_limit_bytes: 0,
            purge: true,
        },
        net_timeout_s: Arc::new(60.into()),
        report_host: String::new(),
        report_port: 0,
        log_replica_updates: true,
        sql_verify_checksum: true,
        info: Default::default(),
        stores: Default::default(),
    }
}

/// Plays one life on the disk. Returns whether the end of the history was reached.
pub fn live(history: &History, disk: &SimDisk, nature: Nature, rng: &mut Rng) -> bool {
    let engine = history::engine(disk, |config| {
        config.flush_log_at_trx_commit = if nature.durable { 1 } else { 2 };
        config.log_bin = rng.one_in(2);
    })
    .expect("the disk works");
    let replica = Replica::open(engine.clone(), Arc::new(disk.clone()), settings()).expect("the disk works");
    let from = stands_at(history, &engine, &replica);
    check_state(history, &engine, from, true);
    let channel = &replica.channel;
    channel.apply.set_policy(nature.policy);
    let reader = crate::relay::RelayReader::from_start(&channel.relay).expect("there is a relay log");
    let (file, pos) = channel.applied_position();
    let resume =
        ResumePoint { relay: reader.position(), has_checksums: true, file, pos, last: Default::default() };
    let mut applier = Applier::new(channel, resume);
    let filters = applier.filters().clone();
    let intake = Intake::new(channel, reader, Gate::new(channel), Checksum::Crc32, nature.policy);
    let worker = |_| Worker {
        at: At::Idle,
        job: Job::of(nature.groups),
        open: OpenGroup::new(engine.clone(), channel.apply.clone(), filters.clone(), true),
    };
    let mut life = Life {
        history,
        engine: &engine,
        replica: &replica,
        writer: RelayWriter::open(&channel.relay).expect("the disk works"),
        // A part of the groups that the replica has may be sent again.
        sent: from - if rng.one_in(3) { rng.below(from as u64 + 1).min(4) as usize } else { 0 },
        seen: from,
        intake,
        turns: Turns::new(channel, &mut applier),
        order: Order::new(nature.workers),
        next: 0,
        turn: 0,
        workers: (0..nature.workers).map(worker).collect(),
        old: None,
        versioned: nature.versioned,
    };
    let mut pin = engine.begin(Isolation::RepeatableRead);
    if nature.versioned {
        pin.open_snapshot().expect("a snapshot");
    }
    life.connect();
    let mut steps = 0;
    let reached = loop {
        if nature.crash_after == Some(steps) {
            break false;
        }
        steps += 1;
        assert!(steps < 100_000, "it gets nowhere");
        life.step(rng);
        life.check_lag();
        if life.is_done() {
            break true;
        }
    };
    if reached {
        life.check_end();
    } else {
        // No worker completes the logged groups any more, so the disk must take nothing more
        // either.
        disk.power_cut();
    }
    reached
}

/// Returns the number of groups that the replica has applied by its position, and checks that the
/// executed GTIDs say the same.
pub fn stands_at(history: &History, engine: &Engine, replica: &Replica) -> usize {
    let (file, pos) = replica.channel.applied_position();
    let stands = history.groups.iter().position(|group| group.end == pos).map_or(0, |at| at + 1);
    assert!(stands > 0 || file.is_empty(), "{file} {pos} is between groups");
    let expected = match stands {
        0 => String::new(),
        1 => format!("{SOURCE}:1"),
        stands => format!("{SOURCE}:1-{stands}"),
    };
    assert_eq!(engine.gtid_executed().to_string(), expected, "at {file} {pos}");
    stands
}

/// Checks that readers see the state that the source had after `groups` groups.
fn check_state(history: &History, engine: &Arc<Engine>, groups: usize, thoroughly: bool) {
    let mut reader = engine.begin(Isolation::RepeatableRead);
    let found = content(&mut reader).expect("reads");
    assert!(
        found == *history.states[groups],
        "after {groups} groups: {}",
        history.difference(&found, groups)
    );
    if thoroughly {
        for table in engine.catalog().all_tables() {
            assert_eq!(
                engine.check_table(&table).expect("reads"),
                Vec::<String>::new(),
                "{}",
                table.def.name
            );
        }
    }
}

struct Life<'a, 'c> {
    history: &'a History,
    engine: &'a Arc<Engine>,
    replica: &'a Replica,
    writer: RelayWriter,
    /// The number of groups that are in the relay log.
    sent: usize,
    /// The number of groups that a reader has seen.
    seen: usize,
    intake: Intake<'c>,
    turns: Turns<'a, 'c>,
    order: Order,
    /// The number of jobs given out, and below it the number of those that have had their turn.
    next: u64,
    turn: u64,
    workers: Vec<Worker>,
    /// A reader with an old snapshot, and the number of groups that it saw.
    old: Option<(Transaction, usize)>,
    versioned: bool,
}

impl Life<'_, '_> {
    /// Writes what a source sends at the beginning of a connection.
    fn connect(&mut self) {
        let pos = self.history.groups.get(self.sent).map_or(self.history.end(), |group| group.start);
        let rotate = source::events::fake_rotate(FILE, pos, 1, Checksum::Crc32);
        self.writer.append_rotate(&rotate, rotate.clone()).expect("the disk works");
    }

    fn send(&mut self, rng: &mut Rng) {
        for _ in 0..rng.between(1, 12) {
            let Some(group) = self.history.groups.get(self.sent) else { break };
            let mut bytes = &group.bytes[..];
            if rng.one_in(40) {
                // The connection breaks within the group, which is then sent again.
                let events: Vec<&[u8]> = crate::event::split(bytes).map(|(event, _)| event).collect();
                for event in &events[..rng.below(events.len() as u64) as usize] {
                    self.writer.append(event).expect("the disk works");
                }
                self.connect();
            }
            while !bytes.is_empty() {
                let (event, rest) = bytes.split_at(crate::event::size(bytes));
                self.writer.append(event).expect("the disk works");
                bytes = rest;
            }
            self.sent += 1;
            self.writer.end_of_group(&|| false).expect("the disk works");
        }
        self.writer.flush().expect("the disk works");
    }

    fn step(&mut self, rng: &mut Rng) {
        match rng.below(20) {
            0 | 1 => self.send(rng),
            2 => self.read(),
            3 => self.read_again(rng),
            4 if rng.one_in(4) => drop(self.engine.purge().expect("the disk works")),
            6 => self.apply_alone(rng),
            5 if rng.one_in(8) => drop(self.engine.checkpoint().expect("the disk works")),
            _ => {
                let at = rng.below(self.workers.len() as u64) as usize;
                self.work(at, rng);
            }
        }
    }

    fn anything_logged(&self) -> bool {
        self.workers.iter().any(|worker| !worker.job.logged.is_empty())
    }

    fn visible(&self) -> usize {
        stands_at(self.history, self.engine, self.replica)
    }

    /// Checks that no transaction which readers do not see is older than the time from which the
    /// lag counts.
    fn check_lag(&self) {
        let (visible, since_us) = (self.visible(), self.replica.channel.pending_since_us());
        if visible < self.sent
            && let Some(since_us) = since_us
        {
            let oldest_us = history::commit_us(visible as u64 + 1);
            assert!(
                since_us <= oldest_us,
                "the lag of group {visible} is too low by {}",
                since_us - oldest_us
            );
        }
    }

    /// Checks that a reader sees the state that the position tells, and never an earlier one than
    /// before.
    fn read(&mut self) {
        // Opening a snapshot waits for commits without versions.
        if self.versioned || !self.anything_logged() {
            let visible = self.visible();
            assert!(visible >= self.seen, "readers went back from {} to {visible}", self.seen);
            self.seen = visible;
            check_state(self.history, self.engine, visible, false);
        }
    }

    /// Begins a long reading transaction, or reads again in the present one.
    fn read_again(&mut self, rng: &mut Rng) {
        match self.old.take() {
            Some((mut reader, groups)) => {
                let found = content(&mut reader).expect("reads");
                assert!(found == *self.history.states[groups], "a snapshot of {groups} groups changed");
                if rng.one_in(2) {
                    self.old = Some((reader, groups));
                }
            }
            None if self.versioned || !self.anything_logged() => {
                let groups = self.visible();
                let mut reader = self.engine.begin(Isolation::RepeatableRead);
                content(&mut reader).expect("reads");
                self.old = Some((reader, groups));
            }
            None => {}
        }
    }

    /// Makes one step of a worker, if that step need not wait for another worker.
    fn work(&mut self, at: usize, rng: &mut Rng) {
        let at_now = std::mem::replace(&mut self.workers[at].at, At::Idle);
        let new = match at_now {
            At::Idle => self.cut(at, rng),
            At::Cut(number)
                if self.workers[at].job.waits_for.is_none_or(|before| self.order.is_complete(before + 1)) =>
            {
                let worker = &mut self.workers[at];
                worker.job.prepare(&mut worker.open, true);
                At::Prepared(number)
            }
            At::Prepared(number) if number == self.turn => self.order(at, number),
            At::Blocked(number) => self.order_waiting(at, number),
            At::Logged(number, resume) => {
                let worker = &mut self.workers[at];
                if !worker.job.logged.is_empty() {
                    let any = rng.below(worker.job.logged.len() as u64) as usize;
                    worker.job.logged.remove(any).complete().expect("the disk works");
                    At::Logged(number, resume)
                } else {
                    worker.job.complete(&mut worker.open).expect("nothing is left");
                    self.order.complete(&self.replica.channel, number, resume);
                    At::Idle
                }
            }
            waits @ (At::Cut(_) | At::Prepared(_)) => waits,
        };
        self.workers[at].at = new;
    }

    /// Applies the next groups in one thread alone, a random number of them.
    fn apply_alone(&mut self, rng: &mut Rng) {
        if !self.intake.is_at_end_of_event() || !self.order.is_complete(self.next) {
            return;
        }
        // The applier would wait for a reader's metadata lock.
        self.old = None;
        let applied =
            self.intake.apply_alone(self.turns.applier, |came_to| came_to == CameTo::Pause || rng.one_in(4));
        applied.expect("it can be applied");
    }

    fn cut(&mut self, at: usize, rng: &mut Rng) -> At {
        let cut = self.intake.cut(&mut self.workers[at].job, self.next, rng.one_in(2));
        match cut.expect("the relay log is sound") {
            Cut::Job => {
                self.next += 1;
                At::Cut(self.next - 1)
            }
            cut if self.order.is_complete(self.next) => {
                self.old = None;
                let applier = &mut *self.turns.applier;
                if cut == Cut::InTurn {
                    self.intake.apply_in_turn(applier).expect("it can be applied");
                    applier.release_tables();
                } else {
                    note_dry(&self.replica.channel, self.intake.reader(), applier).expect("the disk works");
                }
                At::Idle
            }
            // The intake gives the same answer when it is asked again later.
            _ => At::Idle,
        }
    }

    fn order(&mut self, at: usize, number: u64) -> At {
        let worker = &mut self.workers[at];
        self.turns.order(&mut worker.job, &mut worker.open).expect("it can be applied");
        if !worker.job.is_in_order() {
            worker.job.complete(&mut worker.open).expect("the disk works");
            return At::Blocked(number);
        }
        self.order.pass_turn(&self.replica.channel, number, worker.job.begun_us);
        self.turn += 1;
        At::Logged(number, self.turns.applier.resume_point())
    }

    fn order_waiting(&mut self, at: usize, number: u64) -> At {
        if self.workers.iter().any(|worker| matches!(worker.at, At::Logged(..))) {
            return At::Blocked(number);
        }
        // The applier would wait for a reader's metadata lock.
        self.old = None;
        let worker = &mut self.workers[at];
        self.turns.order_waiting(&mut worker.job, &mut worker.open).expect("it can be applied");
        self.order(at, number)
    }

    fn is_done(&self) -> bool {
        self.sent == self.history.groups.len()
            && self.turn == self.next
            && self.order.is_complete(self.next)
            && self.visible() == self.history.groups.len()
    }

    fn check_end(&mut self) {
        self.old = None;
        check_state(self.history, self.engine, self.history.groups.len(), true);
        let shown = self.replica.status();
        assert!(shown.is_none(), "no source is configured");
    }
}
