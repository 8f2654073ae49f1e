//! The files of a backup: how they are stored, and how they are read back under their checksums.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use os::disk::{Disk, OpenMode};
use sha2::{Digest, Sha256};

use crate::error::{BackupError, Result};
use crate::sequential::{Sequential, pour};
use crate::vault::Vault;

/// A file as the backup has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    /// The path in the backup's place.
    pub path: String,
    /// The length of the content in bytes, before compression.
    pub bytes: u64,
    /// The SHA-256 of the content, before compression, in hexadecimal digits.
    pub sha256: String,
    /// Whether the file is compressed with zstd.
    pub compressed: bool,
}

/// Reads a file from its beginning, and hashes what it reads.
pub(crate) struct Hashing<R> {
    inner: R,
    hash: Sha256,
    bytes: u64,
}

impl<R> Hashing<R> {
    pub fn new(inner: R) -> Hashing<R> {
        Hashing { inner, hash: Sha256::new(), bytes: 0 }
    }

    /// Returns the length of what was read, and its SHA-256.
    pub fn end(self) -> (u64, String) {
        (self.bytes, hexadecimal(&self.hash.finalize()))
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(bytes)?;
        self.hash.update(&bytes[..got]);
        self.bytes += got as u64;
        Ok(got)
    }
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Puts content into a backup: hashes it, compresses it if a level is given, and encrypts it if the
/// backup is encrypted. `path` gets an ending for each of the two. `expected_bytes` is a guess of
/// the content's length.
pub(crate) fn put(
    vault: &Vault,
    path: &str,
    content: &mut dyn Read,
    expected_bytes: u64,
    compression: Option<i32>,
) -> Result<Stored> {
    let zst = if compression.is_some() { ".zst" } else { "" };
    let enc = if vault.is_encrypted() { ".enc" } else { "" };
    let path = format!("{path}{zst}{enc}");
    let name = vault.name(&path);
    let unread = |error| BackupError::Io("the content".to_owned(), error);
    let unwritten = |error| BackupError::Io(name.clone(), error);
    let mut content = Hashing::new(content);
    let mut sink = vault.create(&path, expected_bytes)?;
    match compression {
        None => pour(&mut content, &mut sink, unread, unwritten)?,
        Some(level) => {
            let mut encoder = zstd::Encoder::new(&mut sink, level).map_err(unwritten)?;
            pour(&mut content, &mut encoder, unread, unwritten)?;
            encoder.finish().map_err(unwritten)?;
        }
    }
    sink.finish()?;
    let (bytes, sha256) = content.end();
    Ok(Stored { path, bytes, sha256, compressed: compression.is_some() })
}

/// Describes a file that stands in its place already, as it is.
pub(crate) fn in_place(disk: &dyn Disk, root: &Path, path: &str) -> Result<Stored> {
    let file = root.join(path);
    let unread = |error| BackupError::io(&file, error);
    let mut content = Hashing::new(Sequential::open(disk, &file, OpenMode::Read)?);
    pour(&mut content, &mut io::sink(), unread, unread)?;
    let (bytes, sha256) = content.end();
    Ok(Stored { path: path.to_owned(), bytes, sha256, compressed: false })
}

impl Stored {
    /// Opens the content.
    pub fn open<'v>(&self, vault: &'v Vault) -> Result<Box<dyn Read + 'v>> {
        let raw = vault.open(&self.path)?;
        Ok(match self.compressed {
            true => {
                let unread = |error| BackupError::unread(&vault.name(&self.path), error);
                Box::new(zstd::Decoder::new(raw).map_err(unread)?)
            }
            false => raw,
        })
    }

    /// Opens the content, to be checked against the checksum when its end is read.
    pub fn checked<'v>(&self, vault: &'v Vault) -> Result<Checked<'v>> {
        Ok(Checked { content: Some(Hashing::new(self.open(vault)?)), stored: self.clone() })
    }

    /// Writes the content to `to`, durably, and checks it against the checksum.
    pub fn bring_out(&self, vault: &Vault, disk: &dyn Disk, to: &Path) -> Result<()> {
        let out = self.pour_out(vault, disk, to)?;
        out.sync().map_err(|error| BackupError::io(to, error))
    }

    /// Writes the content to `to`, and checks it against the checksum. The file need not survive a
    /// crash.
    pub fn pour_out(&self, vault: &Vault, disk: &dyn Disk, to: &Path) -> Result<Sequential> {
        let name = vault.name(&self.path);
        let unread = |error: io::Error| BackupError::unread(&name, error);
        let unwritten = |error| BackupError::io(to, error);
        let mut content = Hashing::new(self.open(vault)?);
        let mut out = Sequential::open(disk, to, OpenMode::CreateNew)?;
        pour(&mut content, &mut out, unread, unwritten)?;
        let (bytes, sha256) = content.end();
        if bytes != self.bytes {
            let what = format!("it has {bytes} bytes of content, the manifest says {}", self.bytes);
            return Err(BackupError::damaged(&name, what));
        }
        if sha256 != self.sha256 {
            return Err(BackupError::damaged(&name, "its content does not have the manifest's checksum"));
        }
        Ok(out)
    }
}

/// The content of a file of a backup. Reading its end is an error when the content is not what the
/// manifest says.
pub(crate) struct Checked<'v> {
    content: Option<Hashing<Box<dyn Read + 'v>>>,
    stored: Stored,
}

impl Read for Checked<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Some(content) = &mut self.content else { return Ok(0) };
        let got = content.read(bytes)?;
        if got > 0 || bytes.is_empty() {
            return Ok(got);
        }
        match self.content.take().map(Hashing::end) {
            Some((bytes, sha256)) if bytes != self.stored.bytes || sha256 != self.stored.sha256 => {
                let what = format!("{}: its content is not what the manifest says", self.stored.path);
                Err(io::Error::new(io::ErrorKind::InvalidData, what))
            }
            _ => Ok(0),
        }
    }
}

/// Makes the names of a backup's files durable: those in the directories that hold them.
pub(crate) fn sync_dirs_of<'s>(
    disk: &dyn Disk,
    root: &Path,
    files: impl IntoIterator<Item = &'s Stored>,
) -> Result<()> {
    let dir_of = |stored: &Stored| root.join(&stored.path).parent().map(Path::to_owned);
    let dirs: BTreeSet<PathBuf> = files.into_iter().filter_map(dir_of).collect();
    dirs.iter().try_for_each(|dir| disk.sync_dir(dir).map_err(|error| BackupError::io(dir, error)))
}

/// Returns the paths of all files under a directory, relative to it, sorted.
pub(crate) fn files_under(disk: &dyn Disk, dir: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut dirs) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(next) = dirs.pop() {
        for path in disk.list(&next).map_err(|error| BackupError::io(&next, error))? {
            match disk.is_dir(&path).map_err(|error| BackupError::io(&path, error))? {
                true => dirs.push(path),
                false => found.extend(path.strip_prefix(dir).map(Path::to_owned)),
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Directory;
    use os::sim::SimDisk;
    use std::sync::Arc;

    #[test]
    fn content_comes_back_and_an_error_of_writing_names_the_file_that_is_written() {
        let disk = Arc::new(SimDisk::new(1));
        disk.create_dir_all(Path::new("backup")).expect("a directory");
        let vault = Vault::new(Box::new(Directory::new(disk.clone(), PathBuf::from("backup"))), None);
        for compression in [None, Some(3)] {
            let stored = put(&vault, "log", &mut &b"the content"[..], 11, compression).expect("it is put");
            let out = Path::new("backup/out");
            stored.bring_out(&vault, &*disk, out).expect("the file is sound");
            assert_eq!(disk.read(out).expect("the file is there"), b"the content");
            disk.remove(out).expect("removed");
            disk.fail_writes(Some("out"));
            let failed = stored.bring_out(&vault, &*disk, out);
            assert!(matches!(&failed, Err(BackupError::Io(place, _)) if place == "backup/out"), "{failed:?}");
            disk.fail_writes(None);
            disk.remove(out).expect("removed");
        }
    }
}
