//! The manifest: what a backup consists of. It is a JSON document, with the SHA-256 of its own
//! content beside it.

use std::path::Path;

use os::disk::Disk;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::{BackupError, Result};
use crate::stored::{Stored, hexadecimal};

/// The file's name in the backup's directory.
const FILE: &str = "manifest.json";
/// The form of manifests that this program writes and reads.
const FORMAT: u64 = 1;

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

/// A backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub server_version: String,
    pub server_uuid: String,
    /// The GTIDs that the copy has.
    pub gtid_executed: String,
    /// Where the copy stands in the binary log; `None` for a server without one.
    pub place: Option<Place>,
    /// When the copy was complete, in microseconds of Unix time.
    pub taken_us: u64,
    /// The files of the copy, each with its path in the data directory.
    pub files: Vec<(String, Stored)>,
    /// The binary log from `place` on.
    pub logs: Vec<Segment>,
}

fn stored_json(stored: &Stored) -> Value {
    json!({
        "stored": stored.path,
        "bytes": stored.bytes,
        "sha256": stored.sha256,
        "compressed": stored.compressed,
    })
}

impl Manifest {
    /// Returns the place behind everything that the backup has.
    pub fn end(&self) -> Option<Place> {
        match self.logs.last() {
            Some(last) => Some(Place { file: last.file.clone(), pos: last.to }),
            None => self.place.clone(),
        }
    }

    fn to_json(&self) -> Value {
        let with = |mut value: Value, more: Value| {
            if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
                value.extend(more);
            }
            value
        };
        let file = |(path, stored): &(String, Stored)| with(stored_json(stored), json!({ "path": path }));
        let log = |log: &Segment| {
            with(stored_json(&log.stored), json!({ "file": log.file, "from": log.from, "to": log.to }))
        };
        json!({
            "format": FORMAT,
            "server_version": self.server_version,
            "server_uuid": self.server_uuid,
            "gtid_executed": self.gtid_executed,
            "binlog_file": self.place.as_ref().map(|place| place.file.clone()),
            "binlog_position": self.place.as_ref().map(|place| place.pos),
            "taken_us": self.taken_us,
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
            "logs": self.logs.iter().map(log).collect::<Vec<_>>(),
        })
    }

    /// Writes the manifest in one step, in place of the one that may be there.
    pub fn write(&self, disk: &dyn Disk, root: &Path) -> Result<()> {
        let content = self.to_json();
        let whole = json!({ "sha256": checksum(&content), "backup": content });
        let path = root.join(FILE);
        disk.write_atomically(&path, format!("{whole:#}\n").as_bytes())
            .map_err(|error| BackupError::io(&path, error))
    }

    /// Reports whether there is a manifest.
    pub fn exists(disk: &dyn Disk, root: &Path) -> Result<bool> {
        let path = root.join(FILE);
        disk.exists(&path).map_err(|error| BackupError::io(&path, error))
    }

    /// Reads the manifest of a backup.
    pub fn read(disk: &dyn Disk, root: &Path) -> Result<Manifest> {
        let path = root.join(FILE);
        if !Manifest::exists(disk, root)? {
            let what =
                format!("{} has no {FILE}: it is no backup, or one that was not finished", root.display());
            return Err(BackupError::Refused(what));
        }
        let bytes = disk.read(&path).map_err(|error| BackupError::io(&path, error))?;
        let whole: Value =
            serde_json::from_slice(&bytes).map_err(|error| BackupError::damaged(&path, error))?;
        let content = &whole["backup"];
        if whole["sha256"].as_str() != Some(&checksum(content)) {
            return Err(BackupError::damaged(&path, "it does not have its own checksum"));
        }
        if content["format"].as_u64() != Some(FORMAT) {
            let what = format!("its format is {}, this program knows {FORMAT}", content["format"]);
            return Err(BackupError::damaged(&path, what));
        }
        Manifest::of_json(content).ok_or_else(|| BackupError::damaged(&path, "something is missing in it"))
    }

    fn of_json(value: &Value) -> Option<Manifest> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let stored = |value: &Value| {
            Some(Stored {
                path: text(&value["stored"]).filter(|path| is_inside(path))?,
                bytes: value["bytes"].as_u64()?,
                sha256: text(&value["sha256"])?,
                compressed: value["compressed"].as_bool()?,
            })
        };
        let file =
            |value: &Value| Some((text(&value["path"]).filter(|path| is_inside(path))?, stored(value)?));
        let log = |value: &Value| {
            Some(Segment {
                file: text(&value["file"])?,
                from: value["from"].as_u64()?,
                to: value["to"].as_u64()?,
                stored: stored(value)?,
            })
        };
        let place = match &value["binlog_file"] {
            Value::Null => None,
            file => Some(Place { file: text(file)?, pos: value["binlog_position"].as_u64()? }),
        };
        Some(Manifest {
            server_version: text(&value["server_version"])?,
            server_uuid: text(&value["server_uuid"])?,
            gtid_executed: text(&value["gtid_executed"])?,
            place,
            taken_us: value["taken_us"].as_u64()?,
            files: value["files"].as_array()?.iter().map(file).collect::<Option<_>>()?,
            logs: value["logs"].as_array()?.iter().map(log).collect::<Option<_>>()?,
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

    fn manifest() -> Manifest {
        let stored =
            |path: &str| Stored { path: path.into(), bytes: 5, sha256: "ab".into(), compressed: true };
        Manifest {
            server_version: "9.7.0".into(),
            server_uuid: "uuid".into(),
            gtid_executed: "uuid:1-5".into(),
            place: Some(Place { file: "binlog.000001".into(), pos: 1422 }),
            taken_us: 77,
            files: vec![("d/t.ibd".into(), stored("data/d/t.ibd.zst"))],
            logs: vec![Segment { file: "binlog.000002".into(), from: 4, to: 99, stored: stored("logs/x") }],
        }
    }

    #[test]
    fn a_manifest_comes_back_and_any_change_of_it_is_refused() {
        let (disk, root) = (os::sim::SimDisk::new(1), Path::new("/backup"));
        disk.create_dir_all(root).unwrap();
        assert!(Manifest::read(&disk, root).is_err());
        manifest().write(&disk, root).unwrap();
        assert_eq!(Manifest::read(&disk, root).unwrap(), manifest());
        assert_eq!(manifest().end(), Some(Place { file: "binlog.000002".into(), pos: 99 }));
        let bytes = disk.read(&root.join(FILE)).unwrap();
        for at in (0..bytes.len()).filter(|&at| !bytes[at].is_ascii_whitespace()) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            disk.write_atomically(&root.join(FILE), &damaged).unwrap();
            assert!(Manifest::read(&disk, root).is_err(), "byte {at}");
        }
    }

    #[test]
    fn paths_lead_nowhere_else() {
        assert!(is_inside("data/x.ibd") && is_inside("x"));
        for path in ["", "/etc/passwd", "../x", "data/../../x", "./x"] {
            assert!(!is_inside(path), "{path}");
        }
    }
}
