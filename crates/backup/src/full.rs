//! A full backup: the server makes a copy of its data directory, which is then hashed, compressed
//! and encrypted if that is asked for, and described by the manifest.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use os::disk::{Disk, LockGuard, OpenMode};
use protocol::client::Client;
use sha2::{Digest, Sha256};

use crate::command_line::BackupPlan;
use crate::error::{BackupError, Result};
use crate::incremental::{catch_up, check_server, one};
use crate::location::Location;
use crate::manifest::{Copy, Manifest, Place};
use crate::retention;
use crate::sequential::Sequential;
use crate::shipping::{Known, Names, discard, run_name};
use crate::stored::{Stored, files_under, hexadecimal, in_place, put, sync_dirs_of};
use crate::vault::Vault;

/// The directory of the first copy in the backup's directory.
const DATA: &str = "data";
/// How long a run that follows the log has time to come to the place of a copy. A run that follows
/// is at most 1 s behind; if there is none, this run fetches the log by itself.
const FOLLOWER_TIME: Duration = Duration::from_secs(3);

/// Where the server's copy goes.
struct Target {
    /// The directory that the server makes.
    dir: PathBuf,
    /// The directory of the copy's files in the backup's place.
    name: String,
    /// What is removed when the backup does not come to its end.
    left: PathBuf,
    /// Whether the copy stands where the backup is.
    is_in_place: bool,
    _claim: Option<LockGuard>,
}

/// Makes the backup, or adds a copy to it, unless `stop` is set meanwhile. Returns what to tell the
/// user.
pub(crate) fn run(plan: &BackupPlan, vault: &Vault, stop: &AtomicBool) -> Result<String> {
    let disk = os::disk::real();
    let found = Manifest::find(vault)?;
    if found.is_some() && plan.keep_full.is_none() {
        let what = format!(
            "{} has a backup already; --incremental adds to it, and --keep-full a further full backup",
            vault.name("")
        );
        return Err(BackupError::Refused(what));
    }
    let mut client = Client::connect(&plan.server)?;
    if let Some((manifest, _)) = &found {
        check_server(&mut client, manifest)?;
    }
    let target = target(&*disk, plan, vault, found.is_some(), &mut client)?;
    let made = clone(&mut client, &target.dir);
    let mut taken = Vec::new();
    let finished = made.and_then(|(uuid, mut copy)| {
        store(&*disk, plan, vault, &target, stop, &mut taken)?;
        copy.files = taken.clone();
        let said = summary(vault, &copy);
        match found {
            None => begin(vault, uuid, copy)?,
            Some((manifest, version)) => add(plan, vault, Known { manifest, version }, copy)?,
        }
        Ok(said)
    });
    if let Err(error) = &finished {
        clear_failed(&*disk, vault, &target, &taken, error);
    } else if !target.is_in_place {
        remove_dir(&*disk, &target.left);
    }
    finished
}

/// Removes what a backup that has failed leaves. What the error says may be of the manifest's
/// replacement, which may have come to pass: then nothing is removed that a manifest may name.
fn clear_failed(
    disk: &dyn Disk,
    vault: &Vault,
    target: &Target,
    taken: &[(String, Stored)],
    error: &BackupError,
) {
    let is_named = match Manifest::find(vault) {
        Ok(Some((manifest, _))) => {
            let paths = manifest.paths();
            taken.iter().any(|(_, stored)| paths.contains(&stored.path))
        }
        Ok(None) => false,
        Err(_) => true,
    };
    if is_named {
        eprintln!("slipstream backup: the copy stays, since the manifest may name it: {error}");
        return;
    }
    remove_dir(disk, &target.left);
    if !target.is_in_place {
        discard(vault, taken.iter().map(|(_, stored)| &*stored.path));
    }
}

fn remove_dir(disk: &dyn Disk, dir: &Path) {
    if disk.exists(dir).unwrap_or(false)
        && let Err(error) = disk.remove_dir_all(dir)
    {
        eprintln!("slipstream backup: {}: it stays there unfinished: {error}", dir.display());
    }
}

/// Finds the directory for the server's copy: the backup's own, or for an object store one on this
/// machine that is removed in the end.
fn target(
    disk: &dyn Disk,
    plan: &BackupPlan,
    vault: &Vault,
    is_further: bool,
    client: &mut Client,
) -> Result<Target> {
    let of_run = format!("{DATA}-{}", run_name());
    if let Location::Directory(root) = &plan.to {
        let was_there = disk.exists(root).map_err(|error| BackupError::io(root, error))?;
        let name = if is_further { of_run } else { DATA.to_owned() };
        let dir = root.join(&name);
        let left = if was_there { dir.clone() } else { root.clone() };
        return Ok(Target { dir, name, left, is_in_place: true, _claim: None });
    }
    let above = match &plan.staging {
        Some(dir) => dir.clone(),
        None => PathBuf::from(one(client, "SELECT @@tmpdir")?),
    };
    // Two servers of a machine may have backups in places of the same name.
    let whole = format!("{} {}", vault.name(""), one(client, "SELECT @@server_uuid")?);
    let place = hexadecimal(&Sha256::digest(whole.as_bytes())[..8]);
    let dir = above.join(format!("slipstream-backup-{place}"));
    let lock = dir.with_extension("lock");
    let claim = disk.lock(&lock).map_err(|error| match error.kind() {
        std::io::ErrorKind::WouldBlock => {
            BackupError::Refused(format!("another full backup to {} is under way", vault.name("")))
        }
        _ => BackupError::io(&lock, error),
    })?;
    // A run that was killed has left its copy.
    if disk.exists(&dir).map_err(|error| BackupError::io(&dir, error))? {
        disk.remove_dir_all(&dir).map_err(|error| BackupError::io(&dir, error))?;
    }
    Ok(Target { left: dir.clone(), dir, name: of_run, is_in_place: false, _claim: Some(claim) })
}

fn summary(vault: &Vault, copy: &Copy) -> String {
    let bytes: u64 = copy.files.iter().map(|(_, stored)| stored.bytes).sum();
    let gtids = if copy.gtid_executed.is_empty() { "none" } else { &copy.gtid_executed };
    format!("{}: {} files with {bytes} bytes; GTIDs: {gtids}", vault.name(""), copy.files.len())
}

/// Has the server make the copy. Returns the server's UUID and the copy without files.
fn clone(client: &mut Client, data: &Path) -> Result<(String, Copy)> {
    let Some(path) = data.to_str() else {
        return Err(BackupError::Refused(format!("{}: the path is no text", data.display())));
    };
    let version = one(client, "SELECT VERSION()")?;
    if !version.contains("slipstream") {
        let what = format!("the server is no Slipstream, but {version}: use its own backup tool");
        return Err(BackupError::Refused(what));
    }
    let quoted = path.replace('\\', "\\\\").replace('\'', "''");
    client.query("SET SESSION sql_mode = ''")?;
    client.query(&format!("CLONE LOCAL DATA DIRECTORY = '{quoted}'"))?;
    let status = client.query(
        "SELECT GTID_EXECUTED, BINLOG_FILE, BINLOG_POSITION, FLOOR(UNIX_TIMESTAMP(END_TIME) * 1000000), \
         PID = CONNECTION_ID(), @@server_uuid FROM performance_schema.clone_status",
    )?;
    let cell = |at| status.cell(0, at).unwrap_or_default();
    if cell(4) != "1" {
        return Err(BackupError::Refused("another clone began before the state of this one was read".into()));
    }
    let place = Place { file: cell(1), pos: cell(2).parse().unwrap_or(0) };
    let copy = Copy {
        server_version: version,
        gtid_executed: cell(0),
        place: Some(place).filter(|place| !place.file.is_empty()),
        taken_us: cell(3).parse().unwrap_or(0),
        files: Vec::new(),
    };
    Ok((cell(5), copy))
}

/// Takes the files of the server's copy into the backup.
fn store(
    disk: &dyn Disk,
    plan: &BackupPlan,
    vault: &Vault,
    target: &Target,
    stop: &AtomicBool,
    taken: &mut Vec<(String, Stored)>,
) -> Result<()> {
    let dir = &target.dir;
    if !disk.is_dir(dir).map_err(|error| BackupError::io(dir, error))? {
        let what =
            format!("the server's copy is not at {}: the server has to be on this machine", dir.display());
        return Err(BackupError::Refused(what));
    }
    let root = dir.parent().unwrap_or(dir);
    for path in files_under(disk, dir)? {
        // Relaxed: the flag guards no other data.
        if stop.load(Ordering::Relaxed) {
            return Err(BackupError::Refused("the backup was told to stop before it was complete".into()));
        }
        let Some(path) = path.to_str() else {
            return Err(BackupError::Refused(format!("{}: the path is no text", path.display())));
        };
        let name = format!("{}/{path}", target.name);
        let stored = match target.is_in_place && plan.compression.is_none() && !vault.is_encrypted() {
            true => in_place(disk, root, &name)?,
            false => take_in(disk, &dir.join(path), vault, &name, plan.compression)?,
        };
        taken.push((path.to_owned(), stored));
    }
    match target.is_in_place {
        true => sync_dirs_of(disk, root, taken.iter().map(|(_, stored)| stored)),
        false => Ok(()),
    }
}

/// Puts a file into the backup, and removes it.
fn take_in(
    disk: &dyn Disk,
    file: &Path,
    vault: &Vault,
    name: &str,
    compression: Option<i32>,
) -> Result<Stored> {
    let mut content = Sequential::open(disk, file, OpenMode::Read)?;
    let bytes = content.len_bytes().map_err(|error| BackupError::io(file, error))?;
    let stored = put(vault, name, &mut content, bytes, compression)?;
    disk.remove(file).map_err(|error| BackupError::io(file, error))?;
    Ok(stored)
}

/// Writes the first manifest of a backup.
fn begin(vault: &Vault, server_uuid: String, copy: Copy) -> Result<()> {
    let manifest = Manifest { server_uuid, copies: vec![copy], logs: Vec::new() };
    match manifest.replace(vault, None)? {
        Some(_) => Ok(()),
        None => {
            let what = format!("{} has got a backup by another run meanwhile", vault.name(""));
            Err(BackupError::Refused(what))
        }
    }
}

/// Adds the copy to a backup, whose log must have come to the copy's place, and drops the copies
/// that are too many.
fn add(plan: &BackupPlan, vault: &Vault, mut known: Known, copy: Copy) -> Result<()> {
    let waited = Stopwatch::start();
    // Without a log of its own before the copy, the backup's log begins at the copy.
    while let (Some(place), Some(_)) = (&copy.place, known.manifest.end()) {
        if known.manifest.has_come_to(place) {
            break;
        }
        if waited.elapsed() < FOLLOWER_TIME {
            sleep(Duration::from_millis(200));
            known = Known::read(vault)?;
            continue;
        }
        catch_up(&plan.server, vault, &Names::plain(vault)?, &mut known, plan.compression)?;
        if !known.manifest.has_come_to(place) {
            let what = format!("the server's binary log ends before {}:{}", place.file, place.pos);
            return Err(BackupError::Refused(what));
        }
    }
    let keep = plan.keep_full.unwrap_or(usize::MAX);
    let mut dropped = Vec::new();
    known.update(vault, |manifest| {
        manifest.copies.push(copy.clone());
        dropped = manifest.keep_newest(keep);
        true
    })?;
    retention::remove(vault, &known.manifest, &dropped);
    Ok(())
}
