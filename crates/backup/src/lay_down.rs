//! Laying a backup down: its files go into a new data directory, each under its checksum.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use binlog::gtid::GtidSet;
use os::disk::Disk;

use crate::command_line::RestorePlan;
use crate::error::{BackupError, Result};
use crate::location::PATIENCE;
use crate::log_plan::{LogPart, LogPlan, Point, files_from};
use crate::manifest::{Copy, Manifest, Place};
use crate::seal::Key;
use crate::vault::Vault;

/// The directory in the data directory in which the backup's logs are until they are applied. The
/// server passes over names that begin like this.
const LOGS: &str = "#restore";
/// The file without which a directory is no data directory. It is laid down last.
const LAST: &str = "mysql.ibd";
/// How often the segments are looked for when another run replaces them meanwhile.
const ATTEMPTS: u32 = 10;

/// Checks the backup, finds the point in the logs, and lays the files down. Returns what is left to
/// be applied, and the directory that is to be removed afterwards.
///
/// # Errors
/// Returns [`BackupError::Damaged`] for a file that is not what the manifest says,
/// [`BackupError::Refused`] when the data directory is not empty or the point cannot be reached,
/// and errors of files.
pub fn lay_down(plan: &RestorePlan) -> Result<(Option<LogPlan>, PathBuf)> {
    let disk = os::disk::real();
    let key = plan.key_file.as_ref().map(|file| Key::read(&*disk, file)).transpose()?;
    let vault = Vault::new(plan.from.open(PATIENCE)?, key);
    let (manifest, _) = Manifest::read(&vault)?;
    let datadir = &*plan.datadir;
    let wrong = |error| BackupError::io(datadir, error);
    disk.create_dir_all(datadir).map_err(wrong)?;
    if !disk.list(datadir).map_err(wrong)?.is_empty() {
        return Err(BackupError::Refused(format!("{} is not empty", datadir.display())));
    }
    let logs = datadir.join(LOGS);
    let laid = lay_all(&*disk, plan, &vault, manifest, &logs);
    if laid.is_err() {
        // What is there is of this restore.
        for path in disk.list(datadir).unwrap_or_default() {
            let is_dir = disk.is_dir(&path).unwrap_or(false);
            let removed = if is_dir { disk.remove_dir_all(&path) } else { disk.remove(&path) };
            if let Err(error) = removed {
                eprintln!("slipstream restore: {}: it stays there: {error}", path.display());
            }
        }
    }
    Ok((laid?, logs))
}

/// Returns the GTIDs that a copy has.
pub(crate) fn executed_of(copy: &Copy) -> Result<GtidSet> {
    copy.gtid_executed
        .parse()
        .map_err(|_| BackupError::Damaged("the manifest's gtid_executed is no set of GTIDs".to_owned()))
}

/// Chooses the newest copy that is not later than the point. If all are later, the oldest one is
/// chosen, whose log then says why the point cannot be reached.
fn choose<'m>(manifest: &'m Manifest, until: Option<&Point>) -> Result<(&'m Copy, GtidSet)> {
    for copy in manifest.copies.iter().rev() {
        let executed = executed_of(copy)?;
        let is_early = match until {
            None => true,
            Some(Point::Time(at_us)) => copy.taken_us <= *at_us,
            Some(Point::Gtids(wanted)) => executed.is_subset(wanted),
        };
        if is_early {
            return Ok((copy, executed));
        }
    }
    let oldest = manifest.copies.first().expect("a manifest has a copy");
    Ok((oldest, executed_of(oldest)?))
}

fn lay_all(
    disk: &dyn Disk,
    plan: &RestorePlan,
    vault: &Vault,
    manifest: Manifest,
    logs: &Path,
) -> Result<Option<LogPlan>> {
    let (copy, executed) = choose(&manifest, plan.until.as_ref())?;
    if matches!(plan.until, Some(Point::Time(at_us)) if at_us < copy.taken_us) {
        return Err(BackupError::Refused("the backup is later than the point".to_owned()));
    }
    disk.create_dir_all(logs).map_err(|error| BackupError::io(logs, error))?;
    let copy = copy.clone();
    let (mut parts, manifest) = bring_logs(disk, vault, manifest, &copy, logs)?;
    match (&plan.binlogs, copy.place.as_ref().and(manifest.end())) {
        (None, _) => {}
        (Some(dir), Some(end)) => parts.extend(files_from(disk, dir, &end)?),
        (Some(_), None) => {
            let what = "the backed up server had no binary log, so there is no place to go on from";
            return Err(BackupError::Refused(what.to_owned()));
        }
    }
    let found = LogPlan::find(disk, parts, executed, plan.until.as_ref())?;
    lay_files(disk, plan, vault, &copy)?;
    Ok(found)
}

/// Brings the segments that follow a copy. A run that follows the server's log may replace the last
/// one meanwhile; the newer manifest then names the longer one, and is returned.
fn bring_logs(
    disk: &dyn Disk,
    vault: &Vault,
    mut manifest: Manifest,
    copy: &Copy,
    logs: &Path,
) -> Result<(Vec<LogPart>, Manifest)> {
    let Some(place) = &copy.place else { return Ok((Vec::new(), manifest)) };
    let mut brought: BTreeMap<String, PathBuf> = BTreeMap::new();
    for attempt in 1.. {
        match bring_segments(disk, vault, &manifest, place, logs, &mut brought) {
            Err(BackupError::Missing(_)) if attempt < ATTEMPTS => manifest = Manifest::read(vault)?.0,
            parts => return Ok((parts?, manifest)),
        }
    }
    unreachable!("the last attempt returns")
}

fn bring_segments(
    disk: &dyn Disk,
    vault: &Vault,
    manifest: &Manifest,
    place: &Place,
    logs: &Path,
    brought: &mut BTreeMap<String, PathBuf>,
) -> Result<Vec<LogPart>> {
    let mut parts = Vec::new();
    for segment in &manifest.logs[manifest.segment_of(place)..] {
        let path = match brought.get(&segment.stored.path) {
            Some(path) => path.clone(),
            None => {
                let path = logs.join(brought.len().to_string());
                segment.stored.bring_out(vault, disk, &path)?;
                brought.insert(segment.stored.path.clone(), path.clone());
                path
            }
        };
        // A later copy may stand in the middle of a segment.
        let is_behind = segment.file == place.file && segment.from < place.pos;
        let begin = if is_behind { place.pos } else { segment.from };
        parts.push(LogPart { path, name: segment.file.clone(), from: segment.from, begin, is_segment: true });
    }
    Ok(parts)
}

fn lay_files(disk: &dyn Disk, plan: &RestorePlan, vault: &Vault, copy: &Copy) -> Result<()> {
    let (last, others): (Vec<_>, Vec<_>) = copy.files.iter().partition(|(path, _)| path == LAST);
    for (path, stored) in others.into_iter().chain(last) {
        let to = plan.datadir.join(path);
        let dir = to.parent().unwrap_or(&plan.datadir);
        disk.create_dir_all(dir).map_err(|error| BackupError::io(dir, error))?;
        stored.bring_out(vault, disk, &to)?;
        disk.sync_dir(dir).map_err(|error| BackupError::io(dir, error))?;
    }
    disk.sync_dir(&plan.datadir).map_err(|error| BackupError::io(&plan.datadir, error))
}
