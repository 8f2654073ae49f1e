//! The format of a data directory: a number in a file of its own, so that a server never reads what
//! a newer one wrote.
//!
//! The file `slipstream.format` has a line `format N`, and a line that names the version which
//! wrote it. A directory without the file was made before the file existed and has format 1. A
//! server accepts every format up to [`FORMAT`], and raises the number when it has upgraded the
//! parts that the older format lacks.

use crate::process::version::VERSION;
use os::disk::Disk;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The file that holds the number.
pub(super) const FORMAT_FILE: &str = "slipstream.format";
/// The format that this server writes. It grows by one when an older server could no longer read
/// the directory. Format 2 has views, triggers, routines and events in the dictionary. Format 3 has
/// partitions, the kinds of kept indexes and the shapes of geometries and vectors in the
/// definitions of tables. Format 4 has periods in them, and sequences, which an older server would
/// take for tables of many rows. Format 5 says which indexes were made for foreign keys.
const FORMAT: u32 = 5;

/// The reason why this server does not work with a directory's format.
#[derive(Debug)]
pub enum FormatError {
    /// A newer server wrote the directory.
    Newer {
        /// The path of the file that holds the number.
        path: PathBuf,
        /// The directory's format.
        found: u32,
        /// The newest format that this server knows.
        known: u32,
    },
    /// The file that tells the format cannot be understood.
    Unknown(PathBuf),
    /// The file cannot be read or written.
    Io(PathBuf, io::Error),
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::Newer { path, found, known } => write!(
                f,
                "The data directory has format {found}, as '{}' says, which a newer server wrote; this one knows formats \
                 up to {known}. Start the newer server on it, or restore a backup that this one made.",
                path.display()
            ),
            FormatError::Unknown(path) => write!(
                f,
                "'{}' does not tell the format of the data directory. If no newer server has run on it, remove the \
                 file and start again.",
                path.display()
            ),
            FormatError::Io(path, e) => {
                write!(f, "The data directory '{}' is unusable: {e}", path.display())
            }
        }
    }
}

impl std::error::Error for FormatError {}

/// Checks a directory's format, and writes this server's format into a directory that has none or
/// an older one.
///
/// # Errors
/// Returns [`FormatError::Newer`] when a newer server wrote the directory, [`FormatError::Unknown`]
/// when the file cannot be understood, and [`FormatError::Io`] when it cannot be read or written.
pub(super) fn check(disk: &dyn Disk, datadir: &Path) -> Result<(), FormatError> {
    let path = datadir.join(FORMAT_FILE);
    let wrong = |e| FormatError::Io(path.clone(), e);
    if disk.exists(&path).map_err(wrong)? {
        let text = String::from_utf8_lossy(&disk.read(&path).map_err(wrong)?).into_owned();
        let found = parse(&text).ok_or_else(|| FormatError::Unknown(path.clone()))?;
        match found.cmp(&FORMAT) {
            std::cmp::Ordering::Greater => {
                return Err(FormatError::Newer { path, found, known: FORMAT });
            }
            std::cmp::Ordering::Equal => return Ok(()),
            std::cmp::Ordering::Less => {}
        }
    }
    let (_, text) = file();
    disk.write_atomically(&path, &text).map_err(wrong)
}

/// Returns the name and the content of the file in a directory of this server's format.
pub(super) fn file() -> (&'static str, Vec<u8>) {
    (FORMAT_FILE, format!("format {FORMAT}\nwritten by slipstream {VERSION}\n").into_bytes())
}

/// Returns the number in the file's first line. Formats begin with 1.
fn parse(text: &str) -> Option<u32> {
    let number = text.lines().next()?.strip_prefix("format ")?.trim().parse().ok()?;
    (number >= 1).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_a_newer_server_is_refused() {
        let disk = os::sim::SimDisk::new(1);
        let datadir = Path::new("/data");
        disk.create_dir_all(datadir).unwrap();
        check(&disk, datadir).unwrap();
        check(&disk, datadir).unwrap();
        let path = datadir.join(FORMAT_FILE);
        disk.write_atomically(&path, format!("format {}\n", FORMAT + 1).as_bytes()).unwrap();
        let refusal = check(&disk, datadir).unwrap_err().to_string();
        assert!(refusal.contains("newer") && refusal.contains("/data"), "{refusal}");
        for damaged in ["", "format\n", "format 0\n", "format x\n", "4\n"] {
            disk.write_atomically(&path, damaged.as_bytes()).unwrap();
            let refusal = check(&disk, datadir).unwrap_err().to_string();
            assert!(refusal.contains(FORMAT_FILE), "{damaged:?}: {refusal}");
        }
    }
}
