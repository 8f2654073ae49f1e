//! Attachments to sources under load, while the source, the attachment or both are killed at random
//! moments, and while commits of the source wait in vain for semi-synchronous replicas. Whatever
//! happened, the same command goes on, and in the end no row differs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bench::instance::{Flavor, Settings};
use os::clock::sleep;
use os::random::{Rng, test_seed_or};
use protocol::client::Client;
use testkit::Server;
use testkit::work::{Lasting, Work};

use crate::attaching::{Attaching, catch_up};
use crate::work::{are_the_same, fill, work_through_kills};

/// The time from the start of an attachment, or from a kill, to the next kill. An attachment
/// without kills takes a few seconds.
const BETWEEN_KILLS_MS: (u64, u64) = (50, 3000);

/// Which processes are killed at one moment.
#[derive(Clone, Copy, Debug)]
enum Killed {
    Source,
    Attachment,
    Both,
}

/// A source and an attachment to it, for one copy.
struct Fire<'a> {
    source: &'a mut Server,
    replica: Attaching,
    /// Whether the source was killed since the attachment was started. Only then may the
    /// attachment end by itself.
    may_end: bool,
    kills: Vec<Killed>,
}

impl Fire<'_> {
    fn start(&mut self) {
        self.replica.start();
        self.may_end = false;
    }

    fn kill(&mut self, killed: Killed) {
        self.kills.push(killed);
        if !matches!(killed, Killed::Source) {
            match self.replica.ended() {
                Some(status) => self.check_end(status),
                None => self.replica.kill(),
            }
        }
        if !matches!(killed, Killed::Attachment) {
            self.source.kill();
            self.may_end = true;
            self.source.come_back();
        }
        match killed {
            Killed::Source => {
                if let Some(status) = self.replica.ended() {
                    self.check_end(status);
                    self.start();
                }
            }
            _ => self.start(),
        }
    }

    /// Checks that the attachment ended with a message because its source was gone.
    fn check_end(&self, status: std::process::ExitStatus) {
        let told = self.replica.told();
        assert!(self.may_end && status.code() == Some(1), "{:?}: it ended, {status}: {told}", self.kills);
    }

    /// Waits until the copy is complete. The command is started again when the source's last kill
    /// has ended it.
    fn copied(&mut self) -> Client {
        loop {
            match self.replica.copied_or_ended() {
                Ok(client) => return client,
                Err(status) => self.check_end(status),
            }
            self.start();
        }
    }
}

/// Makes commits wait again and again, for a moment each, for replicas that do not answer. The
/// transactions are in the source's log then, and not visible. A source that comes back has
/// forgotten the settings.
fn wait_for_nobody(source: &Server) -> Work {
    let side = if source.flavor() == Flavor::MariaDb { "master" } else { "source" };
    let mut session = Lasting::new(source.connect_options());
    Work::start([move |ended: &AtomicBool| {
        while !ended.load(Ordering::Relaxed) {
            for (name, value) in [("timeout", 300), ("enabled", 0), ("enabled", 1)] {
                session.try_statement(&format!("SET GLOBAL rpl_semi_sync_{side}_{name} = {value}"), ended);
            }
            if side == "master" {
                session.try_statement("SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC", ended);
            }
            sleep(Duration::from_millis(150));
        }
        session
            .try_statement(&format!("SET GLOBAL rpl_semi_sync_{side}_enabled = 0"), &AtomicBool::new(false));
    }])
}

/// Attaches a new replica under load, and checks that it has every row of the source.
fn attach_once(source: &mut Server, rng: &mut Rng) -> (Vec<Killed>, bool) {
    source.run("DROP DATABASE IF EXISTS d");
    fill(source);
    let work = work_through_kills(source, rng);
    let waits = rng.one_in(2).then(|| wait_for_nobody(source));
    let replica = Attaching::new(source);
    let mut fire = Fire { source, replica, may_end: false, kills: Vec::new() };
    fire.start();
    for _ in 0..rng.between(1, 5) {
        sleep(Duration::from_millis(rng.between(BETWEEN_KILLS_MS.0, BETWEEN_KILLS_MS.1)));
        fire.kill([Killed::Source, Killed::Attachment, Killed::Both][rng.below(3) as usize]);
    }
    let mut here = fire.copied();
    let waited = waits.is_some();
    drop(waits);
    drop(work);
    // A receiver whose source was killed would wait for a minute before it tries again.
    here.query("STOP REPLICA IO_THREAD").expect("it stops");
    here.query("START REPLICA IO_THREAD").expect("it starts");
    catch_up(fire.source, &mut here);
    are_the_same(fire.source, &mut here);
    (fire.kills, waited)
}

fn copied_whole_under_fire(test: &str, flavor: Flavor, gtid: bool) {
    if !testkit::available(test, &[flavor]) {
        return;
    }
    let mut rng = Rng::new(test_seed_or(test, os::random::u64()));
    let mut source = Server::start(flavor, &Settings { server_id: 1, gtid, ..Settings::default() });
    if flavor == Flavor::MySql {
        source.run("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'");
    }
    for number in 1..=testkit::times("SLIPSTREAM_ATTACHES", 1) {
        let (kills, waited) = attach_once(&mut source, &mut rng);
        let semi_sync = if waited { ", with waits for acknowledgements" } else { "" };
        println!("{test}: attachment {number} is whole after {kills:?}{semi_sync}");
    }
}

#[test]
fn under_fire_a_mysql_source_is_copied_whole() {
    copied_whole_under_fire("under_fire_a_mysql_source_is_copied_whole", Flavor::MySql, true);
}

#[test]
fn under_fire_a_mysql_source_without_gtids_is_copied_whole() {
    let test = "under_fire_a_mysql_source_without_gtids_is_copied_whole";
    copied_whole_under_fire(test, Flavor::MySql, false);
}

#[test]
fn under_fire_a_mariadb_source_is_copied_whole() {
    copied_whole_under_fire("under_fire_a_mariadb_source_is_copied_whole", Flavor::MariaDb, true);
}
