//! Laying a backup down: its files go into a new data directory, each under its checksum.

use std::path::{Path, PathBuf};

use binlog::gtid::GtidSet;
use os::disk::Disk;

use crate::command_line::RestorePlan;
use crate::error::{BackupError, Result};
use crate::log_plan::{LogPart, LogPlan, Point, files_from};
use crate::manifest::{Manifest, Segment};

/// The directory in the data directory in which the backup's logs are until they are applied. The
/// server passes over names that begin like this.
const LOGS: &str = "#restore";
/// The file without which a directory is no data directory. It is laid down last.
const LAST: &str = "mysql.ibd";

/// Checks the backup, finds the point in the logs, and lays the files down. Returns what is left to
/// be applied, and the directory that is to be removed afterwards.
///
/// # Errors
/// Returns [`BackupError::Damaged`] for a file that is not what the manifest says,
/// [`BackupError::Refused`] when the data directory is not empty or the point cannot be reached,
/// and errors of files.
pub fn lay_down(plan: &RestorePlan) -> Result<(Option<LogPlan>, PathBuf)> {
    let disk = os::disk::real();
    let manifest = Manifest::read(&*disk, &plan.from)?;
    let datadir = &*plan.datadir;
    let wrong = |error| BackupError::io(datadir, error);
    disk.create_dir_all(datadir).map_err(wrong)?;
    if !disk.list(datadir).map_err(wrong)?.is_empty() {
        return Err(BackupError::Refused(format!("{} is not empty", datadir.display())));
    }
    let logs = datadir.join(LOGS);
    let laid = lay_all(&*disk, plan, &manifest, &logs);
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

fn lay_all(disk: &dyn Disk, plan: &RestorePlan, manifest: &Manifest, logs: &Path) -> Result<Option<LogPlan>> {
    if matches!(plan.until, Some(Point::Time(at_us)) if at_us < manifest.taken_us) {
        return Err(BackupError::Refused("the backup is later than the point".to_owned()));
    }
    let executed: GtidSet = manifest
        .gtid_executed
        .parse()
        .map_err(|_| BackupError::Damaged("the manifest's gtid_executed is no set of GTIDs".to_owned()))?;
    disk.create_dir_all(logs).map_err(|error| BackupError::io(logs, error))?;
    let mut parts = Vec::new();
    for (number, segment) in manifest.logs.iter().enumerate() {
        let path = logs.join(number.to_string());
        segment.stored.bring_out(disk, &plan.from, &path)?;
        parts.push(part_of(segment, path));
    }
    match (&plan.binlogs, manifest.end()) {
        (None, _) => {}
        (Some(dir), Some(end)) => parts.extend(files_from(disk, dir, &end)?),
        (Some(_), None) => {
            let what = "the backed up server had no binary log, so there is no place to go on from";
            return Err(BackupError::Refused(what.to_owned()));
        }
    }
    let found = LogPlan::find(disk, parts, executed, plan.until.as_ref())?;
    lay_files(disk, plan, manifest)?;
    Ok(found)
}

fn part_of(segment: &Segment, path: PathBuf) -> LogPart {
    LogPart { path, name: segment.file.clone(), from: segment.from, is_segment: true }
}

fn lay_files(disk: &dyn Disk, plan: &RestorePlan, manifest: &Manifest) -> Result<()> {
    let (last, others): (Vec<_>, Vec<_>) = manifest.files.iter().partition(|(path, _)| path == LAST);
    for (path, stored) in others.into_iter().chain(last) {
        let to = plan.datadir.join(path);
        let dir = to.parent().unwrap_or(&plan.datadir);
        disk.create_dir_all(dir).map_err(|error| BackupError::io(dir, error))?;
        stored.bring_out(disk, &plan.from, &to)?;
        disk.sync_dir(dir).map_err(|error| BackupError::io(dir, error))?;
    }
    disk.sync_dir(&plan.datadir).map_err(|error| BackupError::io(&plan.datadir, error))
}
