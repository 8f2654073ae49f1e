//! Making the data directory of a new replica in one step.
//!
//! A process that is killed while it initialises a data directory leaves half of one, in which no
//! server starts. The files are therefore made in another directory within it and then moved to
//! their place, the system tablespace last. Where that file is missing and an inner directory is
//! there, the directory is not complete and is made anew. Each attempt has an inner directory of
//! its own: a child of a killed attempt may still be writing into an earlier one.

use crate::datadir::SYSTEM_FILE;
use os::disk::Disk;
use std::io;
use std::path::{Path, PathBuf};

/// The names of inner directories begin with this.
const INNER: &str = ".initialising-";

/// Makes a data directory where there is none, an empty one, or one that an earlier call has not
/// completed. `initialise` puts the files into the directory that it is given, which does not exist
/// yet.
///
/// # Errors
/// Returns the errors of `initialise` and those of the disk. The next call begins anew then.
pub fn make(
    disk: &dyn Disk,
    datadir: &Path,
    initialise: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    disk.create_dir_all(datadir)?;
    let entries = disk.list(datadir)?;
    let is_inner = |path: &&PathBuf| name_of(path).starts_with(INNER);
    if disk.exists(&datadir.join(SYSTEM_FILE))? {
        return entries.iter().filter(is_inner).try_for_each(|inner| remove_inner(disk, inner));
    }
    if !entries.is_empty() && !entries.iter().any(|path| is_inner(&path)) {
        // The directory is somebody's. The server says what is wrong with it.
        return Ok(());
    }
    for entry in &entries {
        match disk.is_dir(entry)? {
            true if is_inner(&entry) => remove_inner(disk, entry)?,
            true => disk.remove_dir_all(entry)?,
            false => disk.remove(entry)?,
        }
    }
    let inner = datadir.join(format!("{INNER}{:016x}", os::random::u64()));
    initialise(&inner)?;
    let (system, others): (Vec<PathBuf>, Vec<PathBuf>) =
        disk.list(&inner)?.into_iter().partition(|path| name_of(path) == SYSTEM_FILE);
    for files in [others, system] {
        for file in files {
            disk.rename(&file, &datadir.join(name_of(&file)))?;
        }
        disk.sync_dir(datadir)?;
    }
    disk.remove_dir_all(&inner)
}

/// Removes an inner directory of an earlier attempt. A child of that attempt may put a further file
/// into it meanwhile, and then the directory stays for the next call to remove.
fn remove_inner(disk: &dyn Disk, inner: &Path) -> io::Result<()> {
    match disk.remove_dir_all(inner) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed,
    }
}

/// Returns the last part of a path, empty where that is no text.
fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::disk::OpenMode;
    use os::sim::SimDisk;

    fn files(disk: &dyn Disk, datadir: &Path) -> Vec<String> {
        let listed = disk.list(datadir).expect("it can be listed");
        let mut names: Vec<String> = listed.iter().map(|path| name_of(path).to_owned()).collect();
        names.sort();
        names
    }

    fn put(disk: &dyn Disk, place: &Path, name: &str) -> io::Result<()> {
        disk.create_dir_all(place)?;
        disk.open(&place.join(name), OpenMode::CreateNew).map(drop)
    }

    #[test]
    fn a_directory_that_was_half_made_is_made_anew() {
        let disk = SimDisk::new(1);
        let datadir = Path::new("/data");
        let killed = make(&disk, datadir, |place| {
            put(&disk, place, "first")?;
            Err(io::Error::other("killed"))
        });
        assert!(killed.is_err());
        // Another attempt was killed while it moved the files.
        put(&disk, datadir, "first").expect("it is made");
        let both = |place: &Path| {
            assert!(name_of(place).starts_with(INNER));
            put(&disk, place, SYSTEM_FILE)?;
            put(&disk, place, "first")
        };
        make(&disk, datadir, both).expect("it is made anew");
        assert_eq!(files(&disk, datadir), ["first", SYSTEM_FILE]);
        // The child of a killed attempt comes late.
        put(&disk, &datadir.join(".initialising-0"), "first").expect("it is made");
        make(&disk, datadir, |_| panic!("it is there")).expect("nothing is to be done");
        assert_eq!(files(&disk, datadir), ["first", SYSTEM_FILE]);
    }

    #[test]
    fn a_directory_of_somebody_else_stays_as_it_is() {
        let disk = SimDisk::new(1);
        let datadir = Path::new("/data");
        put(&disk, datadir, "letter").expect("it is made");
        make(&disk, datadir, |_| panic!("it is not ours")).expect("nothing is done");
        assert_eq!(files(&disk, datadir), ["letter"]);
    }
}
