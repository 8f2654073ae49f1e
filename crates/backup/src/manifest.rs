//! The manifest: what a backup consists of. It is a JSON document, with the SHA-256 of its own
//! content beside it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::{BackupError, Result};
use crate::store::Version;
use crate::stored::{Stored, hexadecimal};
use crate::vault::Vault;

/// The file's name in the backup's place.
pub(crate) const FILE: &str = "manifest.json";
/// The form of manifests with one copy.
const FORMAT: u64 = 1;
/// The form of manifests with several copies, or with a log that begins before the copy.
const FORMAT_OF_COPIES: u64 = 2;

/// A place in a server's binary log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// The offset in the file in bytes.
    pub pos: u64,
}

/// A part of a binary log file: the events between two offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The name of the server's file.
    pub file: String,
    /// The offset of the first event.
    pub from: u64,
    /// The offset behind the last event.
    pub to: u64,
    /// The file in the backup. It begins with the format description event, which is an event of
    /// the segment only if `from` is 4.
    pub stored: Stored,
}

impl Segment {
    /// Returns the number that the name of the file in the backup begins with.
    pub fn number(&self) -> Option<u64> {
        self.stored.path.rsplit('/').next()?.split('-').next()?.parse().ok()
    }
}

/// A copy of the data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copy {
    pub server_version: String,
    /// The GTIDs that the copy has.
    pub gtid_executed: String,
    /// Where the copy stands in the binary log; `None` for a server without one.
    pub place: Option<Place>,
    /// When the copy was complete, in microseconds of Unix time.
    pub taken_us: u64,
    /// The files of the copy, each with its path in the data directory.
    pub files: Vec<(String, Stored)>,
}

/// A backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub server_uuid: String,
    /// The copies, the oldest first. There is at least one.
    pub copies: Vec<Copy>,
    /// The binary log, without a gap, from the segment with the place of the oldest copy on.
    pub logs: Vec<Segment>,
}

fn with(mut value: Value, more: Value) -> Value {
    if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    value
}

fn stored_json(stored: &Stored) -> Value {
    json!({
        "stored": stored.path,
        "bytes": stored.bytes,
        "sha256": stored.sha256,
        "compressed": stored.compressed,
    })
}

impl Copy {
    fn to_json(&self) -> Value {
        let file = |(path, stored): &(String, Stored)| with(stored_json(stored), json!({ "path": path }));
        json!({
            "server_version": self.server_version,
            "gtid_executed": self.gtid_executed,
            "binlog_file": self.place.as_ref().map(|place| place.file.clone()),
            "binlog_position": self.place.as_ref().map(|place| place.pos),
            "taken_us": self.taken_us,
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
        })
    }

    fn of_json(value: &Value) -> Option<Copy> {
        let file =
            |value: &Value| Some((text(&value["path"]).filter(|path| is_inside(path))?, stored_of(value)?));
        let place = match &value["binlog_file"] {
            Value::Null => None,
            file => Some(Place { file: text(file)?, pos: value["binlog_position"].as_u64()? }),
        };
        Some(Copy {
            server_version: text(&value["server_version"])?,
            gtid_executed: text(&value["gtid_executed"])?,
            place,
            taken_us: value["taken_us"].as_u64()?,
            files: value["files"].as_array()?.iter().map(file).collect::<Option<_>>()?,
        })
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn stored_of(value: &Value) -> Option<Stored> {
    Some(Stored {
        path: text(&value["stored"]).filter(|path| is_inside(path))?,
        bytes: value["bytes"].as_u64()?,
        sha256: text(&value["sha256"])?,
        compressed: value["compressed"].as_bool()?,
    })
}

fn log_json(log: &Segment) -> Value {
    with(stored_json(&log.stored), json!({ "file": log.file, "from": log.from, "to": log.to }))
}

fn log_of(value: &Value) -> Option<Segment> {
    Some(Segment {
        file: text(&value["file"])?,
        from: value["from"].as_u64()?,
        to: value["to"].as_u64()?,
        stored: stored_of(value)?,
    })
}

impl Manifest {
    /// Returns the place behind everything that the backup has.
    pub fn end(&self) -> Option<Place> {
        match self.logs.last() {
            Some(last) => Some(Place { file: last.file.clone(), pos: last.to }),
            None => self.copies.last().and_then(|copy| copy.place.clone()),
        }
    }

    /// Returns the number of the segment in which the events behind a place begin. The log has
    /// come to the place.
    pub fn segment_of(&self, place: &Place) -> usize {
        let is_in = |log: &Segment| log.file == place.file && (log.from..log.to).contains(&place.pos);
        let ends = |log: &Segment| log.file == place.file && log.to == place.pos;
        let within = self.logs.iter().position(is_in);
        let behind = || self.logs.iter().rposition(ends).map(|number| number + 1);
        // A place that is in no segment is the end of a file that came before all of them.
        within.or_else(behind).unwrap_or(0)
    }

    /// Reports whether the log of the backup has come to a place.
    pub fn has_come_to(&self, place: &Place) -> bool {
        let is_there = |log: &Segment| log.file == place.file && (log.from..=log.to).contains(&place.pos);
        self.end().as_ref() == Some(place) || self.logs.iter().any(is_there)
    }

    /// Returns the number that the name of the next segment begins with.
    pub fn next_number(&self) -> u64 {
        self.logs.last().and_then(Segment::number).map_or(self.logs.len() as u64, |number| number + 1)
    }

    /// Drops all copies but the newest ones, and the segments that no copy needs then. Returns the
    /// paths of the files that the backup no longer names.
    pub fn keep_newest(&mut self, copies: usize) -> Vec<String> {
        assert!(copies > 0, "a backup without a copy is none");
        let before = self.paths();
        self.copies.drain(..self.copies.len().saturating_sub(copies));
        let oldest = self.copies.iter().find_map(|copy| copy.place.clone());
        let first = oldest.map_or(self.logs.len(), |place| self.segment_of(&place));
        self.logs.drain(..first);
        let now = self.paths();
        before.difference(&now).cloned().collect()
    }

    /// Returns the paths of all files of the backup but the manifest.
    pub fn paths(&self) -> BTreeSet<String> {
        let files = self.copies.iter().flat_map(|copy| copy.files.iter().map(|(_, stored)| stored));
        files.chain(self.logs.iter().map(|log| &log.stored)).map(|stored| stored.path.clone()).collect()
    }

    /// Returns the first form's document if the backup can be told in it: one copy, with whose
    /// place the log begins.
    fn plain_json(&self) -> Option<Value> {
        let [copy] = &self.copies[..] else { return None };
        let begins = |first: &Segment, place: &Place| place.file != first.file || place.pos == first.from;
        match (self.logs.first(), &copy.place) {
            (None, _) => {}
            (Some(first), Some(place)) if begins(first, place) => {}
            _ => return None,
        }
        let own = json!({
            "format": FORMAT,
            "server_uuid": self.server_uuid,
            "logs": self.logs.iter().map(log_json).collect::<Vec<_>>(),
        });
        Some(with(copy.to_json(), own))
    }

    fn to_json(&self) -> Value {
        self.plain_json().unwrap_or_else(|| {
            json!({
                "format": FORMAT_OF_COPIES,
                "server_uuid": self.server_uuid,
                "copies": self.copies.iter().map(Copy::to_json).collect::<Vec<_>>(),
                "logs": self.logs.iter().map(log_json).collect::<Vec<_>>(),
            })
        })
    }

    /// Writes the manifest in one step, in place of the version `seen`. Returns the new version, or
    /// `None` when another run has written one meanwhile.
    pub fn replace(&self, vault: &Vault, seen: Option<&Version>) -> Result<Option<Version>> {
        let content = self.to_json();
        // A manifest that another run could not read would make the backup worthless.
        assert_eq!(Manifest::of_json(&content).as_ref(), Some(self), "the manifest can be read back");
        let whole = json!({ "sha256": checksum(&content), "backup": content });
        vault.replace(FILE, format!("{whole:#}\n").as_bytes(), seen)
    }

    /// Reads the manifest of a backup and its version. `None` means that there is no backup.
    pub fn find(vault: &Vault) -> Result<Option<(Manifest, Version)>> {
        let Some((bytes, version)) = vault.read_version(FILE)? else { return Ok(None) };
        Ok(Some((Manifest::of_bytes(&bytes, &vault.name(FILE))?, version)))
    }

    /// Reads the manifest of a backup and its version.
    pub fn read(vault: &Vault) -> Result<(Manifest, Version)> {
        Manifest::find(vault)?.ok_or_else(|| {
            let what =
                format!("{} has no {FILE}: it is no backup, or one that was not finished", vault.name(""));
            BackupError::Refused(what)
        })
    }

    /// Reads the manifest and its version if it is not the version `seen` any more.
    pub fn read_newer(vault: &Vault, seen: &Version) -> Result<Option<(Manifest, Version)>> {
        match vault.read_newer(FILE, seen)? {
            Some((bytes, version)) if version != *seen => {
                Ok(Some((Manifest::of_bytes(&bytes, &vault.name(FILE))?, version)))
            }
            _ => Ok(None),
        }
    }

    fn of_bytes(bytes: &[u8], name: &str) -> Result<Manifest> {
        let whole: Value =
            serde_json::from_slice(bytes).map_err(|error| BackupError::damaged(name, error))?;
        let content = &whole["backup"];
        if whole["sha256"].as_str() != Some(&checksum(content)) {
            return Err(BackupError::damaged(name, "it does not have its own checksum"));
        }
        let format = content["format"].as_u64();
        if ![Some(FORMAT), Some(FORMAT_OF_COPIES)].contains(&format) {
            let what = format!(
                "its format is {}, this program knows {FORMAT} and {FORMAT_OF_COPIES}",
                content["format"]
            );
            return Err(BackupError::damaged(name, what));
        }
        Manifest::of_json(content).ok_or_else(|| BackupError::damaged(name, "something is missing in it"))
    }

    fn of_json(value: &Value) -> Option<Manifest> {
        let copies = match value["format"].as_u64()? {
            FORMAT => vec![Copy::of_json(value)?],
            _ => value["copies"].as_array()?.iter().map(Copy::of_json).collect::<Option<Vec<_>>>()?,
        };
        Some(Manifest {
            server_uuid: text(&value["server_uuid"])?,
            copies: Some(copies).filter(|copies| !copies.is_empty())?,
            logs: value["logs"].as_array()?.iter().map(log_of).collect::<Option<_>>()?,
        })
    }
}

fn checksum(content: &Value) -> String {
    hexadecimal(&Sha256::digest(content.to_string().as_bytes()))
}

/// Reports whether a path leads to something within the directory that it is relative to.
fn is_inside(path: &str) -> bool {
    let parts = Path::new(path).components();
    !path.is_empty() && parts.into_iter().all(|part| matches!(part, std::path::Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Directory;
    use os::disk::Disk;
    use os::sim::SimDisk;
    use std::path::PathBuf;
    use std::sync::Arc;

    fn stored(path: &str) -> Stored {
        Stored { path: path.into(), bytes: 5, sha256: "ab".into(), compressed: true }
    }

    fn copy(number: u64, pos: u64) -> Copy {
        Copy {
            server_version: "9.7.0".into(),
            gtid_executed: "uuid:1-5".into(),
            place: Some(Place { file: "binlog.000001".into(), pos }),
            taken_us: 77 + number,
            files: vec![("d/t.ibd".into(), stored(&format!("data-{number}/d/t.ibd.zst")))],
        }
    }

    fn log(file: &str, from: u64, to: u64) -> Segment {
        Segment { file: file.into(), from, to, stored: stored(&format!("logs/{file}.{from}")) }
    }

    fn manifest() -> Manifest {
        let logs = vec![log("binlog.000001", 1422, 2000), log("binlog.000002", 4, 99)];
        Manifest { server_uuid: "uuid".into(), copies: vec![copy(0, 1422)], logs }
    }

    fn vault() -> (Arc<SimDisk>, Vault) {
        let disk = Arc::new(SimDisk::new(1));
        disk.create_dir_all(Path::new("/backup")).expect("a directory");
        let store = Directory::new(disk.clone(), PathBuf::from("/backup"));
        (disk, Vault::new(Box::new(store), None))
    }

    #[test]
    fn a_manifest_comes_back_and_any_change_of_it_is_refused() {
        let (disk, vault) = vault();
        assert!(Manifest::read(&vault).is_err());
        assert!(manifest().replace(&vault, None).unwrap().is_some());
        assert!(manifest().replace(&vault, None).unwrap().is_none(), "there is one");
        assert_eq!(Manifest::read(&vault).unwrap().0, manifest());
        assert_eq!(manifest().end(), Some(Place { file: "binlog.000002".into(), pos: 99 }));
        let path = Path::new("/backup").join(FILE);
        let bytes = disk.read(&path).unwrap();
        for at in (0..bytes.len()).filter(|&at| !bytes[at].is_ascii_whitespace()) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            disk.write_atomically(&path, &damaged).unwrap();
            assert!(Manifest::read(&vault).is_err(), "byte {at}");
        }
    }

    #[test]
    fn one_copy_with_the_log_behind_it_has_the_first_form() {
        let mut several = manifest();
        assert_eq!(several.to_json()["format"], FORMAT);
        several.copies.push(copy(1, 1800));
        assert_eq!(several.to_json()["format"], FORMAT_OF_COPIES);
        assert_eq!(Manifest::of_json(&several.to_json()), Some(several.clone()));
        several.copies.remove(0);
        assert_eq!(several.to_json()["format"], FORMAT_OF_COPIES, "the log begins before the copy");
    }

    #[test]
    fn what_no_restore_needs_goes_with_the_oldest_copies() {
        let mut several = manifest();
        several.copies.extend([copy(1, 1800), copy(2, 2000)]);
        let place = |pos| Place { file: "binlog.000001".into(), pos };
        assert_eq!([1422, 1999, 2000].map(|pos| several.segment_of(&place(pos))), [0, 0, 1]);
        assert!(several.has_come_to(&place(2000)) && !several.has_come_to(&place(2001)));
        assert_eq!(several.keep_newest(2), ["data-0/d/t.ibd.zst"]);
        assert_eq!(several.logs.len(), 2);
        assert_eq!(several.keep_newest(1), ["data-1/d/t.ibd.zst", "logs/binlog.000001.1422"]);
        assert_eq!(several.logs, [log("binlog.000002", 4, 99)]);
        assert!(several.keep_newest(1).is_empty());
    }

    #[test]
    fn paths_lead_nowhere_else() {
        assert!(is_inside("data/x.ibd") && is_inside("x"));
        for path in ["", "/etc/passwd", "../x", "data/../../x", "./x"] {
            assert!(!is_inside(path), "{path}");
        }
    }
}
