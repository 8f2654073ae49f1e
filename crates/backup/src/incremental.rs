//! An incremental backup: the binary log that the server has written since the last run.

use binlog::gtid::GtidSet;
use os::disk::Disk;
use protocol::client::{Client, ConnectOptions};

use crate::command_line::BackupPlan;
use crate::dump::Dump;
use crate::error::{BackupError, Result};
use crate::manifest::{Manifest, Place, Segment};
use crate::shipping::{Known, Names, discard, ship};
use crate::vault::Vault;

/// Adds to the backup what came since its last run. Returns what to tell the user.
pub(crate) fn run(plan: &BackupPlan, vault: &Vault) -> Result<String> {
    let mut known = Known::read(vault)?;
    let from = known.end()?;
    let names = Names::plain(vault)?;
    let bytes = catch_up(&plan.server, vault, &names, &mut known, plan.compression)?;
    let end = known.manifest.end().unwrap_or(from);
    Ok(format!("{}: {bytes} bytes of binary log up to {}:{}", vault.name(""), end.file, end.pos))
}

/// Adds the server's log up to its end. Returns the number of bytes of events.
pub(crate) fn catch_up(
    server: &ConnectOptions,
    vault: &Vault,
    names: &Names,
    known: &mut Known,
    compression: Option<i32>,
) -> Result<u64> {
    let disk = os::disk::real();
    loop {
        let end = known.end()?;
        let mut client = Client::connect(server)?;
        check_server(&mut client, &known.manifest)?;
        let segments =
            receive(&*disk, client, &end, vault, names, known.manifest.next_number(), compression)?;
        if segments.is_empty() {
            return Ok(0);
        }
        let stored = || segments.iter().map(|segment| &*segment.stored.path);
        match known.add(vault, &end, &segments) {
            Ok(true) => return Ok(segments.iter().map(|segment| segment.to - segment.from).sum()),
            Ok(false) => discard(vault, stored()),
            Err(error) => {
                // The manifest may have been replaced although the answer did not come.
                return Err(error);
            }
        }
    }
}

fn receive(
    disk: &dyn Disk,
    client: Client,
    from: &Place,
    vault: &Vault,
    names: &Names,
    first_number: u64,
    compression: Option<i32>,
) -> Result<Vec<Segment>> {
    let (mut dump, mut segments) = (Dump::begin(disk, client, from, None)?, Vec::new());
    loop {
        let goes_on = dump.take_next()?;
        if !goes_on {
            dump.gathered.end();
        }
        for stretch in dump.gathered.take_done() {
            let number = first_number + segments.len() as u64;
            segments.push(ship(vault, names, number, &stretch, compression)?);
        }
        if !goes_on {
            return Ok(segments);
        }
    }
}

/// Checks that the server's log goes on from the backup's.
pub(crate) fn check_server(client: &mut Client, manifest: &Manifest) -> Result<()> {
    let uuid = one(client, "SELECT @@server_uuid")?;
    if uuid != manifest.server_uuid {
        let what = format!("the backup is of server {}, this is {uuid}", manifest.server_uuid);
        return Err(BackupError::Refused(what));
    }
    let ours = manifest.copies.last().map(|copy| copy.gtid_executed.clone()).unwrap_or_default();
    let sets = [ours, one(client, "SELECT @@GLOBAL.gtid_executed")?];
    if let [Ok(ours), Ok(theirs)] = sets.map(|text| text.parse::<GtidSet>())
        && !ours.is_subset(&theirs)
    {
        let what = "the server has reset its GTIDs since the backup: a full backup is needed";
        return Err(BackupError::Refused(what.to_owned()));
    }
    Ok(())
}

pub(crate) fn one(client: &mut Client, sql: &str) -> Result<String> {
    Ok(client.query(sql)?.cell(0, 0).unwrap_or_default())
}
