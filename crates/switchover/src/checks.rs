//! The conditions that must hold before anything changes. All of them are checked at once, and each
//! finding says how it can be mended.

use std::fmt;
use std::time::Duration;

use os::clock::{Stopwatch, sleep};

use crate::channel::Channel;
use crate::command_line::Plan;
use crate::error::{Failure, Outcome};
use crate::gather::Members;
use crate::member::Member;
use crate::rights;

/// How long a commit at the source may take after its replicas have it: as long as a commit waits
/// for a replica's answer by default (`rpl_semi_sync_source_timeout`), and some more.
const COMMITS_WITHIN: Duration = Duration::from_secs(15);
/// The pause between two looks at the source.
const PAUSE: Duration = Duration::from_millis(5);

/// The privileges that the accounts need: at the old source, at the new source, at other replicas.
const AT_SOURCE: &[&str] = &[
    "SYSTEM_VARIABLES_ADMIN",
    "CONNECTION_ADMIN",
    "REPLICATION_SLAVE_ADMIN",
    "REPLICATION CLIENT",
    "REPLICATION SLAVE",
];
const AT_REPLICA: &[&str] = &[
    "SYSTEM_VARIABLES_ADMIN",
    "CONNECTION_ADMIN",
    "REPLICATION_SLAVE_ADMIN",
    "REPLICATION CLIENT",
    "RELOAD",
];
const AT_OTHER: &[&str] = &["REPLICATION_SLAVE_ADMIN", "REPLICATION CLIENT"];

/// A condition that does not hold.
struct Finding {
    what: String,
    mend: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}. {}", self.what, self.mend)
    }
}

/// The findings so far.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, what: impl Into<String>, mend: impl Into<String>) {
        self.0.push(Finding { what: what.into(), mend: mend.into() });
    }

    fn unless(&mut self, holds: bool, what: impl Into<String>, mend: impl Into<String>) {
        if !holds {
            self.add(what, mend);
        }
    }
}

/// Makes all checks, and prints what is in the way and what should be known.
///
/// # Errors
/// Returns an error when something is in the way or a server cannot be asked.
pub fn check(plan: &Plan, members: &mut Members) -> Result<(), Outcome> {
    let mut found = Findings::default();
    look(plan, members, &mut found).map_err(|failure| Outcome::Unchanged(failure.what))?;
    if plan.leave_unreached {
        members.unreached.iter().for_each(|what| println!("note: {what}; it stays where it is"));
    } else {
        for what in &members.unreached {
            found.add(what, "Name it by --replica, or leave it where it is by --leave-unreached");
        }
    }
    found.0.iter().for_each(|finding| println!("{finding}"));
    match found.0.len() {
        0 => {
            println!("the checks have passed");
            Ok(())
        }
        count => Err(Outcome::Unchanged(format!("{count} checks have failed, and nothing was changed"))),
    }
}

fn look(plan: &Plan, members: &mut Members, found: &mut Findings) -> Result<(), Failure> {
    let Members { source, replica, others, .. } = members;
    found.unless(
        source.facts.uuid != replica.facts.uuid,
        format!("{} and {} are the same server", source.name, replica.name),
        "Give the address of a replica by --to",
    );
    for member in [&*source, &*replica] {
        keeps_a_log(member, found);
    }
    found.unless(
        source.channels()?.is_empty(),
        format!("{} is itself a replica", source.name),
        "Hand the place of its own source over instead",
    );
    follows(plan, source, replica, found)?;
    has_nothing_of_its_own(source, replica, found)?;
    for other in others.iter_mut() {
        other_may_follow(source, replica, other, found)?;
    }
    let wanted = [(source, AT_SOURCE), (replica, AT_REPLICA)];
    for (member, wanted) in wanted.into_iter().chain(others.iter_mut().map(|other| (other, AT_OTHER))) {
        let lacking = rights::lacking(member, wanted)?;
        found.unless(
            lacking.is_empty(),
            format!("{}: the account lacks {}", member.name, lacking.join(", ")),
            format!("GRANT {} ON *.* TO it there", lacking.join(", ")),
        );
    }
    Ok(())
}

fn keeps_a_log(member: &Member, found: &mut Findings) {
    let Member { name, facts, .. } = member;
    found.unless(
        facts.gtid_mode == "ON",
        format!("{name}: gtid_mode is {}", facts.gtid_mode),
        "Turn GTIDs on, one step after the other",
    );
    found.unless(
        facts.log_bin && facts.log_replica_updates,
        format!("{name} does not log what it replicates, so nobody could follow it"),
        "Start it with log_bin and log_replica_updates",
    );
}

/// Checks that the replica follows the source, in whole, by GTID, and without much lag.
fn follows(plan: &Plan, source: &Member, replica: &mut Member, found: &mut Findings) -> Result<(), Failure> {
    let channels = replica.channels()?;
    let name = &replica.name;
    let from_source = |channel: &&Channel| channel.source_uuid.eq_ignore_ascii_case(&source.facts.uuid);
    let Some(channel) = channels.iter().find(from_source) else {
        found.add(format!("{name} does not follow {}", source.name), "Make it a replica first");
        return Ok(());
    };
    found.unless(
        channels.len() == 1,
        format!("{name} has {} channels, and would forget the others", channels.len()),
        "Choose a replica of this source alone",
    );
    found.unless(
        channel.auto_position,
        format!("{name} follows by file and position"),
        "CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 1",
    );
    found.unless(
        channel.runs() && channel.error.is_empty(),
        format!("{name}: replication does not run. {}", channel.error),
        "START REPLICA, and mend what stops it",
    );
    found.unless(
        channel.filters.is_empty(),
        format!("{name} does not replicate everything: {}", channel.filters),
        "Choose a replica without filters",
    );
    found.unless(
        channel.delay_s == 0,
        format!("{name} keeps a delay of {} s", channel.delay_s),
        "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 0",
    );
    if channel.runs() {
        found.unless(
            channel.lag_s.is_some_and(|lag_s| lag_s <= plan.max_lag_s),
            match channel.lag_s {
                Some(lag_s) => format!("{name} is {lag_s} s behind"),
                None => format!("{name}: its lag is not known"),
            },
            format!("Wait until it is at most {} s, or allow more by --max-lag", plan.max_lag_s),
        );
    }
    Ok(())
}

/// Checks that a replica has no transactions that the source does not have.
///
/// A source sends a transaction to its replicas when it has synced it to the binary log, and adds
/// it to `gtid_executed` after that, so a replica may have it first. While the replica is ahead by
/// transactions under the source's UUID, the source is therefore asked again for a while.
fn has_nothing_of_its_own(
    source: &mut Member,
    replica: &mut Member,
    found: &mut Findings,
) -> Result<(), Failure> {
    let mut alone = replica.gtids("gtid_executed")?;
    alone.subtract(&source.gtids("gtid_executed")?);
    let waited = Stopwatch::start();
    while alone.iter().any(|(tsid, _)| tsid.uuid.to_string() == source.facts.uuid)
        && waited.elapsed() < COMMITS_WITHIN
    {
        sleep(PAUSE);
        alone.subtract(&source.gtids("gtid_executed")?);
    }
    found.unless(
        alone.is_empty(),
        format!("{} has transactions that {} does not have: {alone}", replica.name, source.name),
        "Look at them in its binary log, and make the replica anew or commit empty transactions under these \
         GTIDs at the source",
    );
    Ok(())
}

/// Checks that another replica can follow the new source.
fn other_may_follow(
    source: &mut Member,
    replica: &mut Member,
    other: &mut Member,
    found: &mut Findings,
) -> Result<(), Failure> {
    match other.channel_from(&source.facts.uuid)? {
        None => found.add(
            format!("{} does not follow {}", other.name, source.name),
            "Leave it out, or make it a replica first",
        ),
        Some(channel) => found.unless(
            channel.auto_position,
            format!("{} follows by file and position", other.name),
            "CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 1",
        ),
    }
    has_nothing_of_its_own(source, other, found)?;
    let mut gone = replica.gtids("gtid_purged")?;
    gone.subtract(&other.gtids("gtid_executed")?);
    found.unless(
        gone.is_empty(),
        format!("{} lacks transactions whose log {} has purged: {gone}", other.name, replica.name),
        "Wait until it has them",
    );
    Ok(())
}
