//! A full backup: the server makes a copy of its data directory, which is then hashed, compressed
//! if that is asked for, and described by the manifest.

use std::path::Path;

use os::disk::Disk;
use protocol::client::Client;

use crate::command_line::BackupPlan;
use crate::error::{BackupError, Result};
use crate::manifest::{Manifest, Place};
use crate::stored::{files_under, sync_dirs_of, take_in};

/// The directory of the copy in the backup's directory.
const DATA: &str = "data";

/// Makes the backup. Returns what to tell the user.
pub(crate) fn run(plan: &BackupPlan) -> Result<String> {
    let disk = os::disk::real();
    let root = &*plan.to;
    let data = root.join(DATA);
    if Manifest::exists(&*disk, root)? {
        let what = format!("{} has a backup already; --incremental adds to it", root.display());
        return Err(BackupError::Refused(what));
    }
    let was_there = disk.exists(root).map_err(|error| BackupError::io(root, error))?;
    let mut client = Client::connect(&plan.server)?;
    let made = clone(&mut client, &data);
    let finished = made.and_then(|manifest| {
        let manifest = store(&*disk, root, manifest, plan.compression)?;
        manifest.write(&*disk, root)?;
        Ok(summary(root, &manifest))
    });
    let left = if was_there { &*data } else { root };
    if finished.is_err()
        && disk.exists(left).unwrap_or(false)
        && let Err(error) = disk.remove_dir_all(left)
    {
        eprintln!("slipstream backup: {}: it stays there unfinished: {error}", left.display());
    }
    finished
}

fn summary(root: &Path, manifest: &Manifest) -> String {
    let bytes: u64 = manifest.files.iter().map(|(_, stored)| stored.bytes).sum();
    let gtids = if manifest.gtid_executed.is_empty() { "none" } else { &manifest.gtid_executed };
    format!("{}: {} files with {bytes} bytes; GTIDs: {gtids}", root.display(), manifest.files.len())
}

/// Has the server make the copy. Returns the manifest without files.
fn clone(client: &mut Client, data: &Path) -> Result<Manifest> {
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
    Ok(Manifest {
        server_version: version,
        server_uuid: cell(5),
        gtid_executed: cell(0),
        place: Some(place).filter(|place| !place.file.is_empty()),
        taken_us: cell(3).parse().unwrap_or(0),
        files: Vec::new(),
        logs: Vec::new(),
    })
}

pub(crate) fn one(client: &mut Client, sql: &str) -> Result<String> {
    Ok(client.query(sql)?.cell(0, 0).unwrap_or_default())
}

/// Takes the files of the copy into the manifest.
fn store(disk: &dyn Disk, root: &Path, mut manifest: Manifest, compression: Option<i32>) -> Result<Manifest> {
    let data = root.join(DATA);
    if !disk.is_dir(&data).map_err(|error| BackupError::io(&data, error))? {
        let what =
            format!("the server's copy is not at {}: the server has to be on this machine", data.display());
        return Err(BackupError::Refused(what));
    }
    for path in files_under(disk, &data)? {
        let Some(path) = path.to_str() else {
            return Err(BackupError::Refused(format!("{}: the path is no text", path.display())));
        };
        let stored = take_in(disk, root, &format!("{DATA}/{path}"), compression)?;
        manifest.files.push((path.to_owned(), stored));
    }
    sync_dirs_of(disk, root, manifest.files.iter().map(|(_, stored)| stored))?;
    Ok(manifest)
}
