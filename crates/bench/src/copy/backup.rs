//! A new replica by mariadb-backup. Its time begins with the backup, and includes the start of a
//! server on the files.

use std::path::Path;

use os::clock::Stopwatch;

use super::copied::Copied;
use super::program;
use crate::error::MeasureError;
use crate::instance::{Flavor, Place, Settings, USER};
use crate::measure::Node;
use crate::progress::Progress;
use crate::replication::{LogEnd, Position};
use crate::server::Server;

const PROGRAM: &str = "mariadb-backup";
/// The names of the file with the place of the backup in the source's log, the newer one first.
const PLACE_FILES: [&str; 2] = ["mariadb_backup_binlog_info", "xtrabackup_binlog_info"];

/// Returns the reason why a source of this flavor cannot be copied; `None` means that it can.
pub(super) fn unavailable(flavor: Flavor) -> Option<String> {
    flavor.program(PROGRAM).is_none().then(|| format!("{PROGRAM} is not in PATH"))
}

/// Makes the replica.
pub(super) fn copy(
    source: &Node,
    settings: &Settings,
    threads: Option<u32>,
    progress: &mut Progress,
) -> Result<Copied, MeasureError> {
    let flavor = source.flavor();
    let place = Place::create(flavor)?;
    let directory = place.outside("backup");
    progress.step(format!("{}: {PROGRAM}", source.name()));
    let clock = Stopwatch::start();
    let mut words = words(&directory, "--backup");
    words.extend([format!("--user={USER}"), format!("--password={USER}")]);
    words.push(format!("--socket={}", source.instance().socket_inside()));
    words.extend(threads.map(|threads| format!("--parallel={threads}")));
    program::run(PROGRAM, words, &mut |_| Ok(()))?;
    program::run(PROGRAM, self::words(&directory, "--prepare"), &mut |_| Ok(()))?;
    let end = log_end(&directory)?;
    let mut replica = Node::replica(Server::start_on(flavor, settings, &directory)?, flavor);
    let seconds = clock.elapsed().as_secs_f64();
    progress.done("started on the backup");
    replica.follow_from(source, &end)?;
    Ok(Copied { seconds, ..Copied::now(replica, clock, 0) })
}

fn words(directory: &Path, step: &str) -> Vec<String> {
    let mut words = Flavor::MariaDb.program(PROGRAM).expect("a program that is there");
    // The user's own files of options may be those of another server.
    words.push("--no-defaults".to_string());
    words.extend([step.to_string(), format!("--target-dir={}", directory.display())]);
    words
}

/// Returns the place of a backup in the source's log: a file, an offset, and GTIDs.
fn log_end(directory: &Path) -> Result<LogEnd, MeasureError> {
    let text = PLACE_FILES.iter().find_map(|name| std::fs::read_to_string(directory.join(name)).ok());
    parse(&text.unwrap_or_default())
        .ok_or_else(|| MeasureError::Program(PROGRAM.into(), "the backup does not say where it is".into()))
}

fn parse(text: &str) -> Option<LogEnd> {
    let mut words = text.split_whitespace();
    let position = Position { file: words.next()?.to_string(), offset: words.next()?.parse().ok()? };
    // A source that has logged nothing has no GTIDs.
    Some(LogEnd { position, mariadb_gtids: Some(words.next().unwrap_or_default().to_string()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_backup() {
        let end = parse("binlog.000001\t1234\t0-1-5\n").expect("a place");
        assert_eq!((end.position.file.as_str(), end.position.offset), ("binlog.000001", 1234));
        assert_eq!(end.mariadb_gtids.as_deref(), Some("0-1-5"));
        assert_eq!(parse("binlog.000001 329").expect("a place").mariadb_gtids.as_deref(), Some(""));
        assert_eq!(parse(""), None);
    }
}
