//! Many short segments of the log become few long ones, while another thread ships the log.
//!
//! A run that follows ships little at a time. Without this the manifest, which is written anew each
//! time, would grow by a segment for each 128 KiB.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use binlog::event::{HEADER_LEN, Header};
use os::clock::sleep;

use crate::error::{BackupError, Result};
use crate::manifest::{Manifest, Segment};
use crate::shipping::{Known, Names, Replaced, discard};
use crate::stored::{Checked, put};
use crate::vault::Vault;

/// How many segments of about the same length become one.
const FAN_IN: usize = 16;
/// The lengths in bytes between which segments are about the same.
const LEVELS: [Range<u64>; 3] = [0..1 << 20, 1 << 20..16 << 20, 16 << 20..256 << 20];
/// The time between two looks at the manifest, in steps in which the end is noticed.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(50);

/// Merges segments until `stop` is set. What goes wrong is told, and tried again later.
pub(crate) fn run(vault: &Vault, compression: Option<i32>, stop: &AtomicBool) {
    let (names, mut replaced) = (Names::of_a_run(), Replaced::default());
    // Relaxed: the flag guards no other data.
    while !stop.load(Ordering::Relaxed) {
        match merge_all(vault, &names, compression, stop, &mut replaced) {
            Ok(()) => {}
            Err(_) if stop.load(Ordering::Relaxed) => break,
            Err(error) => eprintln!("slipstream backup: segments of the log stay short for now: {error}"),
        }
        replaced.discard(vault, Replaced::STAYS);
        let mut waited = Duration::ZERO;
        while waited < LOOK_INTERVAL && !stop.load(Ordering::Relaxed) {
            sleep(STEP);
            waited += STEP;
        }
    }
    replaced.discard(vault, Duration::ZERO);
}

fn merge_all(
    vault: &Vault,
    names: &Names,
    compression: Option<i32>,
    stop: &AtomicBool,
    replaced: &mut Replaced,
) -> Result<()> {
    let mut known = Known::read(vault)?;
    while let Some(range) = mergeable(&known.manifest) {
        let parts = known.manifest.logs[range].to_vec();
        let merged = merge(vault, names, &parts, compression, stop)?;
        let is_done = known.update(vault, |manifest| {
            let Some(at) = manifest.logs.windows(parts.len()).position(|logs| logs == parts) else {
                return false;
            };
            manifest.logs.splice(at..at + parts.len(), [merged.clone()]);
            true
        })?;
        match is_done {
            true => parts.into_iter().for_each(|part| replaced.add(part.stored.path)),
            // The parts are gone with the copy that needed them.
            false => discard(vault, [&*merged.stored.path]),
        }
    }
    Ok(())
}

/// Returns the segments that are to become one: all of a file that has ended, or many short ones.
/// The last segment of the log is left to the run that makes it grow.
fn mergeable(manifest: &Manifest) -> Option<Range<usize>> {
    let logs = &manifest.logs;
    let last_file = &logs.last()?.file;
    let follows = |at: usize| logs[at - 1].file == logs[at].file && logs[at - 1].to == logs[at].from;
    let run_from = |first: usize, level: &Range<u64>| {
        let is_of = |at: &usize| level.contains(&(logs[*at].to - logs[*at].from));
        (first..logs.len() - 1).take_while(|at| is_of(at) && (*at == first || follows(*at))).count()
    };
    for (first, log) in logs.iter().enumerate().take(logs.len() - 1) {
        let whole = run_from(first, &(0..u64::MAX));
        if log.file != *last_file && whole >= 2 {
            return Some(first..first + whole);
        }
        let short = LEVELS.iter().map(|level| run_from(first, level)).find(|&count| count >= FAN_IN);
        if let Some(count) = short {
            return Some(first..first + count);
        }
    }
    None
}

/// Puts the content of segments that follow each other into the backup as one.
fn merge(
    vault: &Vault,
    names: &Names,
    parts: &[Segment],
    compression: Option<i32>,
    stop: &AtomicBool,
) -> Result<Segment> {
    let (first, last) = (parts.first().expect("there are parts"), parts.last().expect("there are parts"));
    assert!(parts.windows(2).all(|two| two[0].to == two[1].from), "the parts follow each other");
    let mut whole = Segment { to: last.to, ..first.clone() };
    let path = names.of_segment(first.number().unwrap_or(0), &whole);
    let bytes = parts.iter().map(|part| part.stored.bytes).sum();
    let mut joined = Joined { vault, rest: parts, open: None, is_first: true, stop };
    whole.stored = put(vault, &path, &mut joined, bytes, compression)?;
    Ok(whole)
}

/// The events of segments behind each other, each under its checksum.
struct Joined<'a> {
    vault: &'a Vault,
    rest: &'a [Segment],
    open: Option<Checked<'a>>,
    is_first: bool,
    stop: &'a AtomicBool,
}

impl Joined<'_> {
    fn open_next(&mut self) -> Result<bool> {
        let Some((next, rest)) = self.rest.split_first() else { return Ok(false) };
        let mut content = next.stored.checked(self.vault)?;
        if !std::mem::take(&mut self.is_first) {
            skip_head(&mut content)
                .map_err(|error| BackupError::unread(&self.vault.name(&next.stored.path), error))?;
        }
        (self.open, self.rest) = (Some(content), rest);
        Ok(true)
    }
}

/// Passes over the magic number and the format description with which every segment begins.
fn skip_head(content: &mut dyn Read) -> io::Result<()> {
    let mut head = [0; 4 + HEADER_LEN];
    content.read_exact(&mut head)?;
    let damaged = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let header = Header::decode(&head[4..]).map_err(|error| damaged(error.to_string()))?;
    let rest = u64::from(header.event_size).checked_sub(HEADER_LEN as u64);
    let rest = rest.ok_or_else(|| damaged("its first event is too short".to_owned()))?;
    match io::copy(&mut content.take(rest), &mut io::sink())? {
        skipped if skipped == rest => Ok(()),
        _ => Err(damaged("it ends within its first event".to_owned())),
    }
}

impl Read for Joined<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "it was told to stop"));
        }
        loop {
            if let Some(content) = &mut self.open {
                match content.read(bytes)? {
                    0 => self.open = None,
                    got => return Ok(got),
                }
            }
            if !self.open_next().map_err(|error| io::Error::other(error.to_string()))? {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Directory;
    use crate::store::read_all;
    use os::disk::Disk;
    use os::sim::SimDisk;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    /// Returns an event of this type with a body.
    fn event(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut event = vec![0; HEADER_LEN];
        event[4] = kind;
        let size = u32::try_from(HEADER_LEN + body.len()).expect("it is short");
        event[9..13].copy_from_slice(&size.to_le_bytes());
        event.extend_from_slice(body);
        event
    }

    fn vault() -> Vault {
        let disk = Arc::new(SimDisk::new(1));
        disk.create_dir_all(Path::new("backup")).expect("a directory");
        Vault::new(Box::new(Directory::new(disk, PathBuf::from("backup"))), None)
    }

    /// Puts segments of one event each into the backup.
    fn segments(vault: &Vault, count: u64) -> Vec<Segment> {
        let put_one = |number: u64| {
            let mut content = binlog::MAGIC.to_vec();
            content.extend(event(15, b"description"));
            content.extend(event(2, &[number as u8; 10]));
            let path = format!("logs/{number:06}-binlog.000001");
            let stored = put(vault, &path, &mut &content[..], 0, None).expect("it is put");
            let from = 100 + 29 * number;
            Segment { file: "binlog.000001".into(), from, to: from + 29, stored }
        };
        (0..count).map(put_one).collect()
    }

    fn segment(file: &str, from: u64, to: u64) -> Segment {
        let mut segment = segments(&vault(), 1).remove(0);
        (segment.file, segment.from, segment.to) = (file.to_owned(), from, to);
        segment
    }

    fn manifest(logs: Vec<Segment>) -> Manifest {
        Manifest { server_uuid: "uuid".into(), copies: Vec::new(), logs }
    }

    #[test]
    fn a_merged_segment_has_one_head_and_all_events() {
        let vault = vault();
        let parts = segments(&vault, 3);
        let stop = AtomicBool::new(false);
        let merged = merge(&vault, &Names::of_a_run(), &parts, Some(1), &stop).expect("merged");
        assert_eq!((merged.from, merged.to), (100, 187));
        let content = read_all(&mut merged.stored.checked(&vault).expect("it is there"), "x").expect("sound");
        let mut expected = binlog::MAGIC.to_vec();
        expected.extend(event(15, b"description"));
        (0..3).for_each(|number| expected.extend(event(2, &[number; 10])));
        assert_eq!(content, expected);
    }

    #[test]
    fn a_part_without_its_checksum_is_not_merged() {
        let (vault, stop) = (vault(), AtomicBool::new(false));
        for at in 0..3 {
            let mut parts = segments(&vault, 3);
            parts[at].stored.sha256 = "00".repeat(32);
            assert!(merge(&vault, &Names::of_a_run(), &parts, None, &stop).is_err(), "part {at}");
        }
    }

    #[test]
    fn segments_of_a_file_that_has_ended_and_many_short_ones_are_merged() {
        let of = |file: &str, lens: &[u64]| {
            let mut from = 4;
            let next = |&len: &u64| {
                from += len;
                segment(file, from - len, from)
            };
            lens.iter().map(next).collect::<Vec<_>>()
        };
        let join = |parts: &[Vec<Segment>]| manifest(parts.concat());
        assert_eq!(mergeable(&manifest(Vec::new())), None);
        assert_eq!(mergeable(&join(&[of("b.1", &[10, 10, 10])])), None, "few, and the file goes on");
        assert_eq!(mergeable(&join(&[of("b.1", &[10; 3]), of("b.2", &[10])])), Some(0..3));
        assert_eq!(mergeable(&join(&[of("b.1", &[10]), of("b.2", &[10])])), None, "one segment is one");
        assert_eq!(mergeable(&join(&[of("b.1", &[10; FAN_IN])])), None, "the last one grows");
        assert_eq!(mergeable(&join(&[of("b.1", &[10; FAN_IN + 1])])), Some(0..FAN_IN));
        assert_eq!(mergeable(&join(&[of("b.1", &[2 << 20; FAN_IN + 1])])), Some(0..FAN_IN));
        let long = [&[2 << 20][..], &[10; FAN_IN + 1]].concat();
        assert_eq!(mergeable(&join(&[of("b.1", &long)])), Some(1..FAN_IN + 1), "the long one stays");
        let mut gap = of("b.1", &[10; FAN_IN + 1]);
        gap[8].from += 1;
        assert_eq!(mergeable(&join(&[gap])), None, "those that do not follow each other stay");
    }
}
