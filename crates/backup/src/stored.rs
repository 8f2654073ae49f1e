//! The files of a backup: how they are stored, and how they are read back under their checksums.

use std::collections::BTreeSet;
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

    /// Makes a new file of a backup, in the place of one that a run that was cut short has left.
    pub fn create(disk: &dyn Disk, path: &Path) -> Result<Sequential> {
        let wrong = |error| BackupError::io(path, error);
        if disk.exists(path).map_err(wrong)? {
            disk.remove(path).map_err(wrong)?;
        }
        Sequential::open(disk, path, OpenMode::CreateNew)
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

/// Copies all bytes. `unread` and `unwritten` say what an error of each side means.
fn pour(
    from: &mut dyn Read,
    to: &mut dyn Write,
    unread: impl Fn(io::Error) -> BackupError,
    unwritten: impl Fn(io::Error) -> BackupError,
) -> Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match from.read(&mut piece).map_err(&unread)? {
            0 => return Ok(()),
            got => to.write_all(&piece[..got]).map_err(&unwritten)?,
        }
    }
}

/// Takes a file into a backup: hashes it, and compresses it if a level is given. The uncompressed
/// file is then removed. `name` is the file's path in the backup's directory `root`.
pub(crate) fn take_in(disk: &dyn Disk, root: &Path, name: &str, compression: Option<i32>) -> Result<Stored> {
    let path = root.join(name);
    let unread = |error| BackupError::io(&path, error);
    let mut content = Hashing::new(Sequential::open(disk, &path, OpenMode::Read)?);
    let Some(level) = compression else {
        pour(&mut content, &mut io::sink(), unread, unread)?;
        let (bytes, sha256) = content.end();
        return Ok(Stored { path: name.to_owned(), bytes, sha256, compressed: false });
    };
    let name = format!("{name}.zst");
    let to = root.join(&name);
    let unwritten = |error| BackupError::io(&to, error);
    let mut encoder = zstd::Encoder::new(Sequential::create(disk, &to)?, level).map_err(unwritten)?;
    pour(&mut content, &mut encoder, unread, unwritten)?;
    encoder.finish().and_then(|file| file.sync()).map_err(unwritten)?;
    disk.remove(&path).map_err(unread)?;
    let (bytes, sha256) = content.end();
    Ok(Stored { path: name, bytes, sha256, compressed: true })
}

impl Stored {
    /// Writes the content to `to`, durably, and checks it against the checksum.
    pub fn bring_out(&self, disk: &dyn Disk, root: &Path, to: &Path) -> Result<()> {
        let path = root.join(&self.path);
        let unread = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other => {
                BackupError::damaged(&path, error)
            }
            _ => BackupError::io(&path, error),
        };
        let unwritten = |error| BackupError::io(to, error);
        let raw = Sequential::open(disk, &path, OpenMode::Read)?;
        let content: Box<dyn Read> = match self.compressed {
            true => Box::new(zstd::Decoder::new(raw).map_err(unread)?),
            false => Box::new(raw),
        };
        let mut content = Hashing::new(content);
        let mut out = Sequential::open(disk, to, OpenMode::CreateNew)?;
        pour(&mut content, &mut out, unread, unwritten)?;
        let (bytes, sha256) = content.end();
        if bytes != self.bytes {
            let what = format!("it has {bytes} bytes of content, the manifest says {}", self.bytes);
            return Err(BackupError::damaged(&path, what));
        }
        if sha256 != self.sha256 {
            return Err(BackupError::damaged(&path, "its content does not have the manifest's checksum"));
        }
        out.sync().map_err(unwritten)
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
    use os::sim::SimDisk;

    const CONTENT: &[u8] = b"the content";

    fn root() -> &'static Path {
        Path::new("backup")
    }

    /// Returns a disk with the file `log` in the backup's directory, which a power cut keeps.
    fn disk(seed: u64) -> SimDisk {
        let disk = SimDisk::new(seed);
        disk.create_dir_all(root()).expect("a directory");
        disk.write_atomically(&root().join("log"), CONTENT).expect("a file");
        disk.sync_dir(Path::new("")).expect("the directory is durable");
        disk
    }

    /// A backup that was ended between the compression of a file and the manifest leaves the
    /// compressed file. The next run takes the file in again.
    #[test]
    fn a_file_that_an_earlier_run_has_left_is_replaced() {
        let disk = disk(1);
        disk.write_atomically(&root().join("log.zst"), b"a file that was cut short").expect("a file");
        let stored = take_in(&disk, root(), "log", Some(3)).expect("the file is taken in");
        stored.bring_out(&disk, root(), &root().join("out")).expect("the file is sound");
        assert_eq!(disk.read(&root().join("out")).expect("the file is there"), CONTENT);
        assert_eq!(files_under(&disk, root()).expect("a list"), ["log.zst", "out"].map(PathBuf::from));
    }

    #[test]
    fn files_that_are_taken_in_survive_a_power_cut() {
        for seed in 0..32 {
            let disk = disk(seed);
            let stored = take_in(&disk, root(), "log", Some(3)).expect("the file is taken in");
            sync_dirs_of(&disk, root(), [&stored]).expect("the names are durable");
            let after = disk.power_cut();
            stored.bring_out(&after, root(), &root().join("out")).expect("the file is there");
        }
    }

    #[test]
    fn an_error_of_writing_names_the_file_that_is_written() {
        let disk = disk(1);
        let stored = take_in(&disk, root(), "log", None).expect("the file is taken in");
        disk.fail_writes(Some("out"));
        let failed = stored.bring_out(&disk, root(), Path::new("backup/out"));
        assert!(matches!(&failed, Err(BackupError::Io(place, _)) if place == "backup/out"), "{failed:?}");
    }
}
