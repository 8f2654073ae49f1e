//! The log shipped continuously: what the server commits is in the backup at most a second later.
//!
//! The last segment of the backup grows: a longer one takes its place, until it is long enough, and
//! then another one begins. Only whole transactions are shipped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use binlog::gtid::GtidSet;
use os::clock::{Stopwatch, sleep};
use protocol::client::{Client, ConnectOptions};

use crate::command_line::BackupPlan;
use crate::dump::{Dump, Stretch};
use crate::error::{BackupError, Result};
use crate::incremental::{check_server, one};
use crate::manifest::{Place, Segment};
use crate::merging;
use crate::shipping::{Known, Names, Replaced, discard, ship};
use crate::vault::Vault;

/// How often the server says that nothing has come, which is how often this looks around.
const HEARTBEAT_MS: u64 = 100;
/// The least time between two changes of the manifest. What comes at once goes together.
const SHIP_INTERVAL: Duration = Duration::from_millis(250);
/// The length at which a segment is no longer replaced by a longer one. Each replacement ships the
/// segment again.
const GROW_BYTES: u64 = 128 << 10;
/// The length at which a segment is shipped at once.
const SEGMENT_BYTES: u64 = 4 << 20;
/// The silence after which a connection counts as lost.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a request to the store is tried again before the session ends.
pub(crate) const STORE_PATIENCE: Duration = Duration::from_secs(5);
/// The time between two attempts to reach the server or the store.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);
/// Why a session with the server ends.
enum Ended {
    /// This process was told to stop.
    Stopped,
    /// The connection is lost, or another run has added to the backup: another session begins at
    /// the end of the backup's log.
    Again(Option<BackupError>),
}

/// Adds the server's log to the backup until `stop` is set. Returns what to tell the user. Another
/// thread merges short segments meanwhile, in `other`, which is the same place.
pub(crate) fn run(
    plan: &BackupPlan,
    vault: &Vault,
    other: impl FnOnce() -> Result<Vault> + Send + 'static,
    stop: &'static AtomicBool,
) -> Result<String> {
    // Relaxed, here and below: the flags guard no other data.
    let (compression, is_over) = (plan.compression, Arc::new(AtomicBool::new(false)));
    let over = is_over.clone();
    let merging = os::thread::spawn("merge", move || match other() {
        Ok(vault) => merging::run(&vault, compression, &over),
        Err(error) => eprintln!("slipstream backup: segments of the log stay short: {error}"),
    });
    let followed = follow(plan, vault, stop);
    is_over.store(true, Ordering::Relaxed);
    // A thread that has panicked has told so.
    let _ended = merging.join();
    followed
}

fn follow(plan: &BackupPlan, vault: &Vault, stop: &AtomicBool) -> Result<String> {
    let server = ConnectOptions { read_timeout: Some(READ_TIMEOUT), ..plan.server.clone() };
    let mut shipper = Shipper {
        vault,
        names: Names::of_a_run(),
        compression: plan.compression,
        known: Known::read(vault)?,
        end: Place { file: String::new(), pos: 0 },
        last: None,
        replaced: Replaced::default(),
        shipped: GtidSet::default(),
    };
    eprintln!("slipstream backup: {}: following the server's binary log", vault.name(""));
    // The same trouble is told once, and not at each attempt.
    let mut told = String::new();
    let failed = loop {
        if stop.load(Ordering::Relaxed) {
            break None;
        }
        match shipper.session(&server, stop) {
            Ok(Ended::Stopped) => break None,
            Ok(Ended::Again(None)) => {
                told.clear();
                sleep(RETRY_INTERVAL);
            }
            Ok(Ended::Again(Some(error))) => {
                if told != error.to_string() {
                    told = error.to_string();
                    eprintln!("slipstream backup: {told}; trying again");
                }
                sleep(RETRY_INTERVAL);
            }
            Err(error) => break Some(error),
        }
    };
    shipper.replaced.discard(vault, Duration::ZERO);
    if let Some(error) = failed {
        return Err(error);
    }
    let end = shipper.known.end()?;
    Ok(format!("{}: stopped at {}:{}", vault.name(""), end.file, end.pos))
}

/// Puts stretches into the backup.
struct Shipper<'a> {
    vault: &'a Vault,
    names: Names,
    compression: Option<i32>,
    known: Known,
    /// The end of the backup's log before the stretch that grows.
    end: Place,
    /// The segment of the stretch that grows, once it has been shipped.
    last: Option<Segment>,
    replaced: Replaced,
    /// The GTIDs that this run has shipped.
    shipped: GtidSet,
}

/// Checks that the server still has what was shipped. One that does not sync its log may have lost
/// it in a crash, and then writes other transactions where they were.
fn check_shipped(client: &mut Client, shipped: &GtidSet) -> Result<()> {
    let executed = one(client, "SELECT @@GLOBAL.gtid_executed")?;
    match executed.parse::<GtidSet>() {
        Ok(executed) if !shipped.is_subset(&executed) => {
            let mut lost = shipped.clone();
            lost.subtract(&executed);
            let what = format!("the server has lost '{lost}', which the backup has: a full backup is needed");
            Err(BackupError::Refused(what))
        }
        _ => Ok(()),
    }
}

impl Shipper<'_> {
    /// Ships the log over one connection.
    fn session(&mut self, server: &ConnectOptions, stop: &AtomicBool) -> Result<Ended> {
        let disk = os::disk::real();
        let begun = Known::read(self.vault).and_then(|known| {
            let end = known.end()?;
            let mut client = Client::connect(server)?;
            check_server(&mut client, &known.manifest)?;
            check_shipped(&mut client, &self.shipped)?;
            let dump = Dump::begin(&*disk, client, &end, Some(HEARTBEAT_MS))?;
            Ok((known, end, dump))
        });
        let (known, end, mut dump) = match begun {
            Ok(begun) => begun,
            Err(error) => return again(error),
        };
        (self.known, self.end, self.last) = (known, end, None);
        let mut shipped = Stopwatch::start();
        loop {
            let taken = dump.take_next();
            let must_stop = stop.load(Ordering::Relaxed);
            let has_ended = !matches!(taken, Ok(true));
            let is_due = shipped.elapsed() >= SHIP_INTERVAL && !dump.has_more();
            let is_long = dump.gathered.open().is_some_and(|stretch| stretch.len_bytes() >= SEGMENT_BYTES);
            if must_stop || has_ended || is_due || is_long || dump.gathered.has_done() {
                if dump.gathered.open().is_some_and(|stretch| stretch.len_bytes() >= GROW_BYTES) {
                    dump.gathered.cut()?;
                }
                match self.ship_all(&mut dump) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Ended::Again(None)),
                    Err(error) => return again(error),
                }
                shipped = Stopwatch::start();
                self.replaced.discard(self.vault, Replaced::STAYS);
            }
            match taken {
                _ if must_stop => return Ok(Ended::Stopped),
                Ok(true) => {}
                Ok(false) => return Ok(Ended::Again(None)),
                Err(error) => return again(error),
            }
        }
    }

    /// Ships what has come. Returns false when another run has added to the backup.
    fn ship_all(&mut self, dump: &mut Dump) -> Result<bool> {
        for stretch in dump.gathered.take_done() {
            if !self.ship(&stretch)? {
                return Ok(false);
            }
            self.end = Place { file: stretch.file.clone(), pos: stretch.whole_to };
            self.last = None;
        }
        match dump.gathered.open() {
            Some(stretch) if stretch.len_bytes() > 0 => self.ship(stretch),
            _ => Ok(true),
        }
    }

    fn ship(&mut self, stretch: &Stretch) -> Result<bool> {
        if self.last.as_ref().is_some_and(|last| last.to == stretch.whole_to) {
            return Ok(true);
        }
        // A segment that is replaced leaves its number to the next one.
        let number = match &self.last {
            Some(_) => self.known.manifest.next_number().saturating_sub(1),
            None => self.known.manifest.next_number(),
        };
        let segment = ship(self.vault, &self.names, number, stretch, self.compression)?;
        let is_named = match &self.last {
            Some(last) => self.known.replace_last(self.vault, last, &segment)?,
            None => self.known.add(self.vault, &self.end, std::slice::from_ref(&segment))?,
        };
        if !is_named {
            discard(self.vault, [&*segment.stored.path]);
            return Ok(false);
        }
        if let Some(old) = self.last.replace(segment) {
            self.replaced.add(old.stored.path);
        }
        self.shipped.union(&stretch.gtids);
        Ok(true)
    }
}

/// Decides whether an error is one that passes: of a connection to the server or to the store.
fn again(error: BackupError) -> Result<Ended> {
    match error {
        BackupError::Server(protocol::client::ClientError::Server(ref refusal))
            if !PASSING.contains(&refusal.code) =>
        {
            Err(error)
        }
        BackupError::Server(_) | BackupError::Store(_) => Ok(Ended::Again(Some(error))),
        BackupError::Io(_, ref why) if why.kind() == std::io::ErrorKind::ConnectionAborted => {
            Ok(Ended::Again(Some(error)))
        }
        error => Err(error),
    }
}

/// The errors of a server that is stopping, or has no connection to spare: too many connections,
/// shutdown in progress, and a killed statement or connection.
const PASSING: [u16; 5] = [1040, 1053, 1317, 1927, 3169];
