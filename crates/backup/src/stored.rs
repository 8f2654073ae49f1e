//! The files of a backup: how they are stored, and how they are read back under their checksums.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use os::disk::{Disk, File, OpenMode};
use sha2::{Digest, Sha256};

use crate::error::{BackupError, Result};

/// The number of bytes that are read at a time.
const PIECE_BYTES: usize = 1 << 20;

/// A file as the backup has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    /// The path in the backup's directory.
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

/// A file of the disk, read or written from its beginning on.
pub(crate) struct Sequential {
    file: Arc<dyn File>,
    at: u64,
}

impl Sequential {
    pub fn open(disk: &dyn Disk, path: &Path, mode: OpenMode) -> Result<Sequential> {
        let file = disk.open(path, mode).map_err(|error| BackupError::io(path, error))?;
        Ok(Sequential { file, at: 0 })
    }

    /// Makes what was written durable.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

impl Read for Sequential {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(bytes, self.at)?;
        self.at += got as u64;
        Ok(got)
    }
}

impl Write for Sequential {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all_at(bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn pour(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(()),
            got => to.write_all(&piece[..got])?,
        }
    }
}

/// Takes a file into a backup: hashes it, and compresses it if a level is given. The uncompressed
/// file is then removed. `name` is the file's path in the backup's directory `root`.
pub(crate) fn take_in(disk: &dyn Disk, root: &Path, name: &str, compression: Option<i32>) -> Result<Stored> {
    let path = root.join(name);
    let mut content = Hashing::new(Sequential::open(disk, &path, OpenMode::Read)?);
    let Some(level) = compression else {
        pour(&mut content, &mut io::sink()).map_err(|error| BackupError::io(&path, error))?;
        let (bytes, sha256) = content.end();
        return Ok(Stored { path: name.to_owned(), bytes, sha256, compressed: false });
    };
    let name = format!("{name}.zst");
    let to = root.join(&name);
    let wrong = |error| BackupError::io(&to, error);
    let mut encoder =
        zstd::Encoder::new(Sequential::open(disk, &to, OpenMode::CreateNew)?, level).map_err(wrong)?;
    pour(&mut content, &mut encoder).map_err(wrong)?;
    encoder.finish().and_then(|file| file.sync()).map_err(wrong)?;
    disk.remove(&path).map_err(|error| BackupError::io(&path, error))?;
    let (bytes, sha256) = content.end();
    Ok(Stored { path: name, bytes, sha256, compressed: true })
}

impl Stored {
    /// Writes the content to `to`, durably, and checks it against the checksum.
    pub fn bring_out(&self, disk: &dyn Disk, root: &Path, to: &Path) -> Result<()> {
        let path = root.join(&self.path);
        let raw = Sequential::open(disk, &path, OpenMode::Read)?;
        let mut out = Sequential::open(disk, to, OpenMode::CreateNew)?;
        let wrong = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other => {
                BackupError::damaged(&path, error)
            }
            _ => BackupError::io(&path, error),
        };
        let (bytes, sha256) = if self.compressed {
            let mut content = Hashing::new(zstd::Decoder::new(raw).map_err(wrong)?);
            pour(&mut content, &mut out).map_err(wrong)?;
            content.end()
        } else {
            let mut content = Hashing::new(raw);
            pour(&mut content, &mut out).map_err(wrong)?;
            content.end()
        };
        if bytes != self.bytes {
            let what = format!("it has {bytes} bytes of content, the manifest says {}", self.bytes);
            return Err(BackupError::damaged(&path, what));
        }
        if sha256 != self.sha256 {
            return Err(BackupError::damaged(&path, "its content does not have the manifest's checksum"));
        }
        out.sync().map_err(|error| BackupError::io(to, error))
    }
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
