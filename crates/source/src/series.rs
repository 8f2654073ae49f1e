//! A numbered series of log files `<basename>.NNNNNN` with its index file, as mysqld keeps its
//! binary and relay logs.
//!
//! The index lists the files that exist, the oldest first, with one path per line
//! (`./binlog.000001` for a base name inside the data directory). It is replaced atomically.
//! Invariants: a file is complete and synced before its successor enters the index, so every file
//! except the last one is whole after any crash. A file leaves the index before it is removed, so
//! the index never names a file that a purge took.
//!
//! An index that is damaged, empty or missing while there are files is made again from the
//! directory. Otherwise the next file would be written over one of them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use os::disk::{Disk, File, OpenMode};

use crate::events;

/// The largest number that mysqld gives to a log file.
pub const MAX_LOG_NUMBER: u64 = 0x7FFF_FFFF;

/// The files of one log and their index.
pub struct FileSeries {
    disk: Arc<dyn Disk>,
    /// The directory and the first part of every file's name.
    base_path: PathBuf,
    index_path: PathBuf,
    /// The text in front of the file's name in a line of the index.
    line_prefix: String,
    base_name: String,
    numbers: Vec<u64>,
}

impl FileSeries {
    /// Opens the series with this base name; without an index it is empty. A relative base name or
    /// index name is relative to `datadir`. As in mysqld, an extension in the base name is dropped.
    ///
    /// # Errors
    /// Returns an error when the base name is invalid, or when the directory or the index cannot be
    /// read or written.
    pub fn open(
        disk: Arc<dyn Disk>,
        datadir: &Path,
        basename: &str,
        index: Option<&str>,
    ) -> io::Result<FileSeries> {
        let mut given = PathBuf::from(basename);
        given.set_extension("");
        let base_name = given
            .file_name()
            .and_then(|name| name.to_str())
            .filter(|name| !name.is_empty())
            .ok_or_else(|| invalid(format!("'{basename}' is not a basename for log files")))?
            .to_string();
        let line_prefix = match given.parent().and_then(Path::to_str) {
            None | Some("") => "./".to_string(),
            Some(directory) => format!("{}/", directory.trim_end_matches('/')),
        };
        let base_path = datadir.join(&given);
        let index_path = match index.filter(|name| !name.is_empty()) {
            Some(name) => {
                let mut path = datadir.join(name);
                if path.extension().is_none() {
                    path.set_extension("index");
                }
                path
            }
            None => append_to_name(&base_path, ".index"),
        };
        let mut series =
            FileSeries { disk, base_path, index_path, line_prefix, base_name, numbers: Vec::new() };
        series.load()?;
        Ok(series)
    }

    fn load(&mut self) -> io::Result<()> {
        let listed = match self.disk.exists(&self.index_path)? {
            true => self.listed(&self.disk.read(&self.index_path)?),
            false => Err("it is not there".to_owned()),
        };
        let mut present = self.present()?;
        let listed = match listed {
            Ok(listed) => self.checked(listed, &present)?,
            damaged => damaged,
        };
        // A file that a crash left in the middle of its creation holds nothing.
        while let Some(&last) = present.last()
            && listed.as_ref().is_ok_and(|listed| listed.last() < Some(&last))
            && !self.has_head(last)
        {
            present.pop();
        }
        let newer = |listed: &Vec<u64>| {
            present.iter().copied().filter(|number| listed.last().is_none_or(|last| number > last)).collect()
        };
        let lost: Vec<u64> = listed.as_ref().map_or_else(|_| present.clone(), newer);
        self.numbers = match listed {
            Ok(listed) if lost.is_empty() => listed,
            Ok(mut listed) => {
                let (index, file) = (self.index_path.display(), self.name(lost[0]));
                log::warn!(
                    "index file '{index}' did not name '{file}', which is there, and what follows it; it does now"
                );
                listed.extend(lost);
                self.write_index(&listed)?;
                listed
            }
            Err(_) if present.is_empty() && !self.disk.exists(&self.index_path)? => present,
            Err(what) => {
                let (index, files) = (self.index_path.display(), present.len());
                log::warn!("index file '{index}': {what}; made again with the {files} files that are there");
                self.write_index(&present)?;
                present
            }
        };
        Ok(())
    }

    /// Returns the numbers in an index, or text that says what is wrong with it.
    fn listed(&self, index: &[u8]) -> Result<Vec<u64>, String> {
        let text = std::str::from_utf8(index).map_err(|_| "it is not text".to_owned())?;
        let mut numbers: Vec<u64> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            // A line that this server would not write may be two lines, of which one would be lost.
            let number = self
                .number_of(line)
                .filter(|number| line == format!("{}{}", self.line_prefix, self.name(*number)))
                .ok_or_else(|| format!("it names '{line}', which is no file of this log"))?;
            if numbers.last().is_some_and(|&last| last >= number) {
                return Err(format!("it is out of order at '{line}'"));
            }
            numbers.push(number);
        }
        Ok(numbers)
    }

    /// Checks the numbers of an index. They are wrong if the index names a missing file while it
    /// does not name an existing one, because a new file enters the index only once it exists.
    fn checked(&self, listed: Vec<u64>, present: &[u64]) -> io::Result<Result<Vec<u64>, String>> {
        if present.iter().all(|number| listed.contains(number)) {
            return Ok(Ok(listed));
        }
        for number in &listed {
            if !self.disk.exists(&self.path(*number))? {
                return Ok(Err(format!("it names '{}', which is not there", self.name(*number))));
            }
        }
        Ok(Ok(listed))
    }

    /// Returns the newest files in the directory, as far back as their numbers are consecutive.
    /// Older files behind a gap were left by something else.
    fn present(&self) -> io::Result<Vec<u64>> {
        let directory = self.base_path.parent().unwrap_or(Path::new(""));
        let mut numbers: Vec<u64> = (self.disk.list(directory)?.iter())
            .filter_map(|path| self.number_of(path.file_name()?.to_str()?))
            .collect();
        numbers.sort_unstable();
        let gap = numbers.windows(2).rposition(|pair| pair[0] + 1 != pair[1]);
        Ok(numbers.split_off(gap.map_or(0, |at| at + 1)))
    }

    fn has_head(&self, number: u64) -> bool {
        let file = self.open_file(number, OpenMode::Read);
        file.is_ok_and(|file| events::read_head(&*file).is_ok_and(|head| !head.is_empty()))
    }

    /// Returns the numbers of the files in the index, the oldest first.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// Returns the number of the newest file.
    pub fn last(&self) -> Option<u64> {
        self.numbers.last().copied()
    }

    /// Returns a file's name as users see it, such as `binlog.000001`.
    pub fn name(&self, number: u64) -> String {
        format!("{}.{number:06}", self.base_name)
    }

    /// Returns the path of the file with this number.
    pub fn path(&self, number: u64) -> PathBuf {
        append_to_name(&self.base_path, &format!(".{number:06}"))
    }

    /// Returns the path of the index file.
    pub fn index_path(&self) -> &Path {
        &self.index_path
    }

    /// Returns the base name with its directory (`@@log_bin_basename`).
    pub fn base_path(&self) -> &Path {
        &self.base_path
    }

    /// Returns the number of a file that is named with or without its directory. `None` means that
    /// it cannot be a file of this series.
    pub fn number_of(&self, name: &str) -> Option<u64> {
        let file = name.rsplit('/').next().unwrap_or(name);
        let digits = file.strip_prefix(&self.base_name)?.strip_prefix('.')?;
        if digits.len() < 6 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        digits.parse().ok().filter(|n| (1..=MAX_LOG_NUMBER).contains(n))
    }

    /// Returns the number of a file if it is in the index.
    pub fn find(&self, name: &str) -> Option<u64> {
        self.number_of(name).filter(|n| self.numbers.binary_search(n).is_ok())
    }

    /// Opens a file of the series.
    pub fn open_file(&self, number: u64, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        self.disk.open(&self.path(number), mode)
    }

    /// Returns the length in bytes of a file of the series.
    pub fn len_bytes(&self, number: u64) -> io::Result<u64> {
        self.open_file(number, OpenMode::Read)?.len_bytes()
    }

    /// Creates the next file with `head` as its first bytes, syncs it, and enters it in the index.
    /// The caller must have synced the previous file.
    pub fn create_next(&mut self, head: &[u8]) -> io::Result<(u64, Arc<dyn File>)> {
        self.create_numbered(self.last().unwrap_or(0) + 1, head)
    }

    /// Creates the next file like [`FileSeries::create_next`], with a given number that is larger
    /// than all others.
    pub fn create_numbered(&mut self, number: u64, head: &[u8]) -> io::Result<(u64, Arc<dyn File>)> {
        assert!(self.last().is_none_or(|last| last < number), "numbers of log files rise");
        if number > MAX_LOG_NUMBER {
            return Err(invalid(format!("log '{}' has no number left for a new file", self.base_name)));
        }
        let file = self.open_file(number, OpenMode::OpenOrCreate)?;
        file.set_len(0)?;
        file.write_all_at(head, 0)?;
        file.sync_data()?;
        if let Some(directory) = self.base_path.parent() {
            self.disk.sync_dir(directory)?;
        }
        let mut numbers = self.numbers.clone();
        numbers.push(number);
        self.write_index(&numbers)?;
        self.numbers = numbers;
        Ok((number, file))
    }

    /// Removes every file older than `first_kept`, first from the index and then from the disk.
    /// Returns their numbers.
    pub fn remove_before(&mut self, first_kept: u64) -> io::Result<Vec<u64>> {
        let cut = self.numbers.partition_point(|&n| n < first_kept);
        let kept = self.numbers[cut..].to_vec();
        self.replace(kept)
    }

    /// Removes every file, first from the index and then from the disk, and returns their numbers.
    /// The next file is number 1 again.
    pub fn remove_all(&mut self) -> io::Result<Vec<u64>> {
        self.replace(Vec::new())
    }

    /// Removes every file like [`FileSeries::remove_all`], and also files in the directory that are
    /// not in the index, because a crash may have interrupted their removal.
    pub fn remove_present(&mut self) -> io::Result<()> {
        self.remove_all()?;
        let directory = self.base_path.parent().unwrap_or(Path::new(""));
        for path in self.disk.list(directory)? {
            let is_ours = path.file_name().and_then(|name| self.number_of(name.to_str()?)).is_some();
            if is_ours {
                self.disk.remove(&path)?;
            }
        }
        Ok(())
    }

    /// Removes the index of a series that will not go on.
    pub fn remove_index(&mut self) -> io::Result<()> {
        assert!(self.numbers.is_empty(), "files of the series are removed first");
        if self.disk.exists(&self.index_path)? { self.disk.remove(&self.index_path) } else { Ok(()) }
    }

    fn replace(&mut self, kept: Vec<u64>) -> io::Result<Vec<u64>> {
        if kept.len() == self.numbers.len() {
            return Ok(Vec::new());
        }
        self.write_index(&kept)?;
        let removed: Vec<u64> =
            self.numbers.iter().copied().filter(|n| kept.binary_search(n).is_err()).collect();
        self.numbers = kept;
        for &number in &removed {
            match self.disk.remove(&self.path(number)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        Ok(removed)
    }

    fn write_index(&self, numbers: &[u64]) -> io::Result<()> {
        let mut text = String::new();
        for &number in numbers {
            text.push_str(&self.line_prefix);
            text.push_str(&self.name(number));
            text.push('\n');
        }
        self.disk.write_atomically(&self.index_path, text.as_bytes())
    }
}

fn append_to_name(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(disk: &Arc<dyn Disk>) -> FileSeries {
        FileSeries::open(disk.clone(), Path::new("/data"), "binlog", None).expect("opens")
    }

    #[test]
    fn names_index_and_purge_survive_a_reopen() {
        let disk: Arc<dyn Disk> = Arc::new(os::sim::SimDisk::new(1));
        disk.create_dir_all(Path::new("/data")).expect("makes the directory");
        let mut log = series(&disk);
        assert_eq!(log.last(), None);
        for expected in 1..=4 {
            assert_eq!(log.create_next(b"head").expect("creates").0, expected);
        }
        let index = disk.read(Path::new("/data/binlog.index")).expect("reads");
        assert!(index.starts_with(b"./binlog.000001\n./binlog.000002\n"));
        assert_eq!(log.remove_before(3).expect("purges"), vec![1, 2]);
        let log = series(&disk);
        assert_eq!(log.numbers(), &[3, 4]);
        assert_eq!(log.find("binlog.000002"), None);
        assert_eq!(log.find("./binlog.000003"), Some(3));
        assert!(!disk.exists(&log.path(1)).expect("asks"));
    }

    #[test]
    fn a_name_of_another_log_is_not_ours() {
        let disk: Arc<dyn Disk> = Arc::new(os::sim::SimDisk::new(2));
        disk.create_dir_all(Path::new("/data")).expect("makes the directory");
        let log = series(&disk);
        for name in ["binlog", "binlog.1", "binlog.00000x", "other.000001", "binlog.000000"] {
            assert_eq!(log.number_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_damaged_index_is_made_again_from_the_files() {
        let head = events::file_head("9.7.0", 1, &Default::default(), false, binlog::Checksum::Crc32);
        let disk: Arc<dyn Disk> = Arc::new(os::sim::SimDisk::new(3));
        disk.create_dir_all(Path::new("/data")).expect("makes the directory");
        let mut log = series(&disk);
        for _ in 0..4 {
            log.create_next(&head).expect("creates");
        }
        log.remove_before(2).expect("purges");
        let index = Path::new("/data/binlog.index");
        let whole = disk.read(index).expect("reads");
        for damaged in [
            &b""[..],
            &whole[..3],
            &whole[..16],
            &whole[..33],
            b"./binlog.000003\n./binlog.000002\n",
            b"./binlog.000002J./binlog.000003\n./binlog.000004\n",
            b"./other.000001\n",
            b"./binlog.000002\n./binlog.000003\n./binlog.020004\n",
            &[0xFF; 40],
            &[0; 48],
        ] {
            disk.write_atomically(index, damaged).expect("writes");
            assert_eq!(series(&disk).numbers(), &[2, 3, 4], "{damaged:?}");
            assert_eq!(disk.read(index).expect("reads"), whole);
        }
        disk.remove(index).expect("removes");
        assert_eq!(series(&disk).numbers(), &[2, 3, 4]);
        // A crash in the middle of a creation left this file, which is empty.
        disk.open(&log.path(5), OpenMode::OpenOrCreate)
            .and_then(|file| file.write_all_at(&head[..20], 0))
            .expect("writes");
        assert_eq!(series(&disk).numbers(), &[2, 3, 4]);
    }
}
