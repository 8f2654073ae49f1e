//! Measures one stream of transactions: what replicas need to apply it with each setting.
//!
//! A load is generated once for each stream. For every further setting, the replicas forget what
//! they have received and executed, and receive the same part of the source's log once more. Where
//! that would not end with the same rows ([`Stream::can_be_repeated`]), the source runs another
//! load.

use super::case::{Case, Repository, Setting, Stream};
use super::outcome::{Outcome, Plan, Sample};
use crate::error::MeasureError;
use crate::measure::{Applied, Node};
use crate::progress::Progress;
use crate::replication::{LogEnd, Position, Thread};
use crate::sbtest::{Checksum, Load, Loaded, Workload, slap};

/// A source and the replicas that are attached to it.
pub(super) struct Group {
    pub source: Node,
    pub replicas: Vec<Attached>,
}

/// A replica that is attached to a source.
pub(super) struct Attached {
    /// The index of the pair in [`Outcome::pairs`].
    pub pair: usize,
    pub node: Node,
    pub logged: bool,
    /// Whether the server has the variable `relay_log_info_repository`.
    pub has_repository: bool,
}

impl Attached {
    fn knows(&self, repository: Repository) -> bool {
        self.has_repository || repository == Repository::Table
    }
}

/// A load that has run on a source.
struct Logged {
    loaded: Loaded,
    start: LogEnd,
    end: Position,
    /// The checksums of the source's tables after the load, which every replica has to reach.
    expected: Vec<Checksum>,
}

/// Measures all settings with one stream. `round` is the number of the round, from 1.
pub(super) fn measure(
    plan: &Plan,
    (round, stream): (u32, &Stream),
    groups: &mut [Group],
    outcome: &mut Outcome,
    progress: &mut Progress,
) -> Result<(), MeasureError> {
    let mut loads: Vec<Logged> = Vec::new();
    for setting in &plan.settings() {
        if !is_known(groups, setting) {
            continue;
        }
        if loads.is_empty() || !stream.can_be_repeated() {
            let seed = plan.seed.wrapping_add(1 + outcome.samples.len() as u64);
            let all = groups.iter_mut().map(|group| run_load(plan, stream, seed, group, progress));
            loads = all.collect::<Result<_, _>>()?;
        }
        // A repeatable load is not run again, so a server that does not know the setting may miss
        // it. Otherwise every server has to receive the load, because the next load begins where
        // this one ends.
        let takes_part =
            |replica: &&mut Attached| replica.knows(setting.repository) || !stream.can_be_repeated();
        for (group, load) in groups.iter_mut().zip(&loads) {
            for replica in group.replicas.iter_mut().filter(takes_part) {
                if plan.restarts {
                    replica.node.start_anew(progress)?;
                }
                receive(replica, &group.source, stream, (setting, load), progress)?;
            }
        }
        // All replicas have received the load. Now each applies it while the others are idle.
        for (group, load) in groups.iter_mut().zip(&loads) {
            for replica in group.replicas.iter_mut().filter(takes_part) {
                let applied = replica.node.apply(&load.end, progress)?;
                progress.step("comparing checksums");
                let equal = replica.node.checksums(stream.workload, plan.size.tables)? == load.expected;
                progress.done(if equal { "equal" } else { "DIFFERENT" });
                if replica.knows(setting.repository) {
                    outcome.samples.push(sample(round, (stream, setting), replica, load, applied, equal));
                }
            }
        }
    }
    Ok(())
}

fn is_known(groups: &[Group], setting: &Setting) -> bool {
    groups.iter().flat_map(|group| &group.replicas).any(|replica| replica.knows(setting.repository))
}

fn sample(
    round: u32,
    (stream, setting): (&Stream, &Setting),
    replica: &Attached,
    load: &Logged,
    applied: Applied,
    equal: bool,
) -> Sample {
    let case = Case { stream: *stream, setting: *setting, logged: replica.logged };
    Sample { round, case, pair: replica.pair, loaded: load.loaded, applied, equal }
}

/// Runs a load on a source and returns its place in the log and the checksums after it.
fn run_load(
    plan: &Plan,
    stream: &Stream,
    seed: u64,
    group: &mut Group,
    progress: &mut Progress,
) -> Result<Logged, MeasureError> {
    let source = &mut group.source;
    let flavor = source.flavor();
    stream.prepare(&mut source.server, flavor)?;
    if stream.workload == Workload::Mysqlslap {
        slap::empty(source.server.client())?;
    }
    let start = source.end_of_log()?;
    let load = Load {
        workload: stream.workload,
        size: plan.size,
        transactions: plan.transactions,
        clients: plan.clients,
        rand_type: plan.rand_type,
        seed,
    };
    let loaded = source.load(&load, progress)?;
    let end = source.position()?;
    let expected = source.checksums(stream.workload, plan.size.tables)?;
    Ok(Logged { loaded, start, end, expected })
}

/// Sets a replica up and lets it receive the load.
fn receive(
    replica: &mut Attached,
    source: &Node,
    stream: &Stream,
    (setting, load): (&Setting, &Logged),
    progress: &mut Progress,
) -> Result<(), MeasureError> {
    let node = &mut replica.node;
    if stream.workload == Workload::Mysqlslap {
        slap::empty(node.server.client())?;
    }
    let flavor = node.flavor();
    node.server.set_mode(setting.mode)?;
    node.server.set_workers(flavor, setting.workers)?;
    node.server.run(&format!("SET GLOBAL binlog_row_image = {}", stream.format.image().name()))?;
    if replica.has_repository {
        node.stop_thread(Thread::Io)?;
        node.stop_thread(Thread::Sql)?;
        node.server
            .run(&format!("SET GLOBAL relay_log_info_repository = '{}'", setting.repository.name()))?;
    }
    node.begin_anew(source, &load.start)?;
    // The receiver keeps running: a MariaDB replica by GTID that starts with both threads stopped
    // drops its relay log.
    node.receive(&load.end, progress)
}
