//! The steps of a switchover, and the way back as long as there is one.

use std::time::Duration;

use os::clock::{Stopwatch, sleep};

use crate::channel::{Channel, quoted};
use crate::command_line::Plan;
use crate::error::{Failure, Outcome};
use crate::gather::Members;
use crate::interruption::Interruption;
use crate::member::Member;
use crate::semi_sync::SemiSync;

/// The pause between two looks at a server that is waited for.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a server that has been told to follow the new source may take until it does.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(60);
/// The largest number of events that a note names.
const NAMED: usize = 5;

/// Says what a switchover would do.
pub fn describe(members: &Members) {
    let (old, new) = (&members.source.name, &members.replica.name);
    let mut steps = vec![
        format!("{old} would take no more writes (super_read_only = ON)"),
        format!("{new} would apply everything that {old} has"),
        format!("{new} would stop its replication"),
        format!("{new} would take writes (read_only = OFF)"),
    ];
    let followers = std::iter::once(old).chain(members.others.iter().map(|other| &other.name));
    steps.extend(followers.map(|name| format!("{name} would follow {new}")));
    steps.into_iter().zip(1..).for_each(|(what, number)| step(number, &what));
    println!("nothing was changed (--dry-run)");
}

fn step(number: usize, what: &str) {
    println!("{number}. {what}");
}

/// What has been changed so far and can be put back.
#[derive(Default)]
struct Changed {
    source: bool,
    replica: bool,
    semi_sync: bool,
}

/// A switchover under way.
struct Switchover<'p> {
    plan: &'p Plan,
    members: Members,
    semi_sync: SemiSync,
    /// The channel through which the replica has followed the old source.
    channel: Channel,
    changed: Changed,
    /// The word with which variables are set.
    set: &'static str,
}

/// Hands the source's place over.
///
/// # Errors
/// Returns [`Outcome::Unchanged`] when everything is as before, and [`Outcome::Unfinished`] with
/// what is left to be done.
pub fn hand_over(plan: &Plan, members: Members) -> Result<(), Outcome> {
    let mut switchover =
        Switchover::new(plan, members).map_err(|failure| Outcome::Unchanged(failure.what))?;
    let interruption = Interruption::block();
    let interruption = interruption.map_err(|error| Outcome::Unchanged(format!("signals: {error}")))?;
    let refused = Stopwatch::start();
    if let Err(failure) = switchover.prepare(&interruption) {
        return Err(switchover.put_back(&failure));
    }
    switchover.promote()?;
    let took = refused.elapsed();
    let left = switchover.turn_all();
    let new = &switchover.members.replica.name;
    println!("{new} is the source; writes were refused for {:.3} s", took.as_secs_f64());
    switchover.tell_of_events();
    if left.is_empty() { Ok(()) } else { Err(Outcome::Unfinished(left.join("\n"))) }
}

impl<'p> Switchover<'p> {
    fn new(plan: &'p Plan, mut members: Members) -> Result<Switchover<'p>, Failure> {
        let semi_sync = SemiSync::ask(&mut members.source, &mut members.replica)?;
        let channel = members.replica.channel_from(&members.source.facts.uuid)?;
        let name = &members.replica.name;
        let channel = channel.ok_or_else(|| Failure { what: format!("{name} is no replica any more") })?;
        if semi_sync.is_wanted() && !semi_sync.is_possible() {
            println!(
                "note: {name} has no semi-synchronous replication as a source; its commits will not wait"
            );
        }
        if !members.replica.facts.read_only {
            println!("note: {name} was not read_only, so that clients may have written there");
        }
        let set = if plan.persist { "PERSIST" } else { "GLOBAL" };
        Ok(Switchover { plan, members, semi_sync, channel, changed: Changed::default(), set })
    }

    /// Runs the steps that can be undone.
    fn prepare(&mut self, interruption: &Interruption) -> Result<(), Failure> {
        assert!(!self.changed.source && !self.changed.replica, "a switchover is prepared once");
        self.changed.source = true;
        let set = self.set;
        let source = &mut self.members.source;
        let sql = format!("SET {set} super_read_only = ON");
        source.run_patiently("super_read_only", &sql, self.plan.timeout)?;
        step(1, &format!("{} takes no more writes (super_read_only = ON)", source.name));
        self.wait_until_all_is_there(interruption)?;
        self.changed.replica = true;
        let replica = &mut self.members.replica;
        replica.run("STOP REPLICA", "STOP REPLICA")?;
        step(3, &format!("{} has stopped its replication", replica.name));
        self.changed.semi_sync = true;
        self.semi_sync.begin(replica)?;
        go_on(interruption)
    }

    /// Waits until the replica has every transaction of the source, whose set must not grow
    /// meanwhile.
    fn wait_until_all_is_there(&mut self, interruption: &Interruption) -> Result<(), Failure> {
        let Members { source, replica, .. } = &mut self.members;
        let waited = Stopwatch::start();
        loop {
            let wanted = source.gtids("gtid_executed")?;
            if wanted.is_subset(&replica.gtids("gtid_executed")?) && source.gtids("gtid_executed")? == wanted
            {
                step(2, &format!("{} has everything that {} has", replica.name, source.name));
                return Ok(());
            }
            go_on(interruption)?;
            let channel = replica.channel_from(&source.facts.uuid)?;
            let error = channel.map(|channel| channel.error).unwrap_or_default();
            if !error.is_empty() {
                return Err(Failure { what: format!("{}: {error}", replica.name) });
            }
            if waited.elapsed() > self.plan.timeout {
                let seconds = self.plan.timeout.as_secs();
                let what = format!("{} does not have everything within {seconds} s", replica.name);
                return Err(Failure { what });
            }
            sleep(PAUSE);
        }
    }

    /// Puts everything back as it was before, and returns the end of the switchover.
    fn put_back(&mut self, why: &Failure) -> Outcome {
        println!("{why}; everything is put back");
        let Members { source, replica, .. } = &mut self.members;
        let mut left = Vec::new();
        let mut again = |member: &mut Member, sql: &str| {
            // The connection may be what has failed.
            let done = match member.run(sql, sql) {
                Ok(_) => Ok(()),
                Err(_) => member.reconnect().and_then(|()| member.run(sql, sql).map(drop)),
            };
            if let Err(failure) = done {
                left.push(format!("{failure}. Run there by hand: {sql}"));
            }
        };
        if self.changed.replica {
            again(replica, &format!("START REPLICA{}", self.channel.clause()));
        }
        if self.changed.source {
            let (set, facts) = (self.set, &source.facts);
            let on_off = |is_on| if is_on { "ON" } else { "OFF" };
            let (all, ordinary) = (on_off(facts.super_read_only), on_off(facts.read_only));
            again(source, &format!("SET {set} super_read_only = {all}, {set} read_only = {ordinary}"));
        }
        if self.changed.semi_sync
            && let Err(failure) = self.semi_sync.take_back(replica)
        {
            left.push(failure.what);
        }
        match left.is_empty() {
            true => Outcome::Unchanged(format!("{why}. Everything is as before")),
            false => Outcome::Unfinished(format!("{why}\n{}", left.join("\n"))),
        }
    }

    /// Makes the replica take writes. This is the step that is not undone.
    fn promote(&mut self) -> Result<(), Outcome> {
        let has_stopped = self.changed.source && self.changed.replica;
        assert!(has_stopped, "two servers would take writes");
        let set = self.set;
        let sql = format!("SET {set} super_read_only = OFF, {set} read_only = OFF");
        let promoted = self.members.replica.run("read_only", &sql);
        if let Err(failure) = promoted {
            let replica = &mut self.members.replica;
            // The server may have done it before the connection broke.
            let now = replica.reconnect().and_then(|()| replica.ask("SELECT @@global.read_only"));
            match (now.as_deref(), replica.facts.read_only) {
                (Ok("1"), _) | (Ok(_), false) => return Err(self.put_back(&failure)),
                (Ok(_), true) => {}
                (Err(unknown), _) => {
                    return Err(Outcome::Unfinished(format!(
                        "{failure}; {unknown}. Whether {} takes writes is not known, so {} stays read-only. Look at \
                         read_only there before you turn it off at either of them",
                        replica.name, self.members.source.name
                    )));
                }
            }
        }
        step(4, &format!("{} takes writes (read_only = OFF)", self.members.replica.name));
        Ok(())
    }

    /// Makes everybody follow the new source. Returns what could not be done, in words.
    fn turn_all(&mut self) -> Vec<String> {
        let Members { source, replica, others, .. } = &mut self.members;
        let mut left = Vec::new();
        if let Err(failure) = replica.run("RESET REPLICA ALL", "RESET REPLICA ALL") {
            left.push(format!("{failure}. Run it there by hand"));
        }
        let (host, port) = self.plan.reached_at.clone().unwrap_or_else(|| replica.place());
        let place = format!("SOURCE_HOST = {}, SOURCE_PORT = {port}", quoted(&host));
        let user = self.plan.replication_user.as_ref().unwrap_or(&self.channel.user);
        // Without TLS, caching_sha2_password needs the source's RSA key.
        let security = if self.channel.is_encrypted { "SOURCE_SSL = 1" } else { "GET_SOURCE_PUBLIC_KEY = 1" };
        let account = format!(
            "{place}, SOURCE_USER = {}, SOURCE_PASSWORD = {}, {security}, SOURCE_AUTO_POSITION = 1",
            quoted(user),
            quoted(&self.plan.replication_password)
        );
        let uuid = replica.facts.uuid.clone();
        assert_ne!(uuid, source.facts.uuid, "a server does not follow itself");
        let turned = self.semi_sync.turn_round(source).and_then(|()| follow(source, &account, "", &uuid));
        note(5, source, &replica.name, turned, &mut left);
        for (other, number) in others.iter_mut().zip(6..) {
            let turned = other.channel_from(&source.facts.uuid).and_then(|channel| {
                let clause = channel.map(|channel| channel.clause()).unwrap_or_default();
                other.run("STOP REPLICA", &format!("STOP REPLICA{clause}"))?;
                follow(other, &format!("{place}, SOURCE_AUTO_POSITION = 1"), &clause, &uuid)
            });
            note(number, other, &replica.name, turned, &mut left);
        }
        left
    }

    /// Names the events that the new source would run and does not, because they came from a
    /// source.
    fn tell_of_events(&mut self) {
        let sql = "SELECT CONCAT(EVENT_SCHEMA, '.', EVENT_NAME) FROM information_schema.EVENTS WHERE STATUS IN \
                   ('REPLICA_SIDE_DISABLED', 'SLAVESIDE_DISABLED') ORDER BY 1";
        if let Ok(shown) = self.members.replica.run("its events", sql)
            && !shown.rows.is_empty()
        {
            let names: Vec<String> =
                (0..shown.rows.len().min(NAMED)).filter_map(|row| shown.cell(row, 0)).collect();
            let more = if shown.rows.len() > NAMED { ", ..." } else { "" };
            println!(
                "note: {} has {} events of the old source that do not run until ALTER EVENT ... ENABLE: {}{more}",
                self.members.replica.name,
                shown.rows.len(),
                names.join(", ")
            );
        }
    }
}

/// Checks that nobody has interrupted the command.
fn go_on(interruption: &Interruption) -> Result<(), Failure> {
    match interruption.has_come() {
        true => Err(Failure { what: "interrupted".to_owned() }),
        false => Ok(()),
    }
}

/// Says that a server follows the new source, or keeps why it does not.
fn note(number: usize, member: &Member, new: &str, turned: Result<(), Failure>, left: &mut Vec<String>) {
    match turned {
        Ok(()) => step(number, &format!("{} follows {new}", member.name)),
        Err(failure) => left.push(format!("{} does not follow {new} yet: {failure}", member.name)),
    }
}

/// Makes a server follow a source, and waits until both threads run.
fn follow(member: &mut Member, options: &str, clause: &str, source_uuid: &str) -> Result<(), Failure> {
    let change = format!("CHANGE REPLICATION SOURCE TO {options}{clause}");
    member.run("CHANGE REPLICATION SOURCE", &change)?;
    member.run("START REPLICA", &format!("START REPLICA{clause}"))?;
    let waited = Stopwatch::start();
    loop {
        // Before the first connection the channel does not know its source's UUID.
        let channel = member.channel_from(source_uuid)?.filter(Channel::runs);
        if channel.is_some() {
            return Ok(());
        }
        let errors: Vec<String> = member.channels()?.into_iter().map(|channel| channel.error).collect();
        let error = errors.join("; ");
        if waited.elapsed() > FOLLOWS_WITHIN {
            return Err(Failure { what: format!("{}: replication does not run. {error}", member.name) });
        }
        sleep(PAUSE);
    }
}
