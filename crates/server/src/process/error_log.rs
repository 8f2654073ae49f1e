//! The error log: mysqld's lines, on standard error or in the file of `--log-error`.
//!
//! A line has the form `2026-11-21T20:00:00.000000Z 0 [Warning] [MY-000000] [Server] text`. The
//! target of a log record determines the subsystem: `replica`, `source` and `binlog` are Repl, the
//! storage crates are InnoDB, and everything else is Server. The target `MY-nnnnnn` stands for one
//! of mysqld's own numbered messages, which at level info is a System message that every verbosity
//! shows.

use log::{Level, LevelFilter, Log, Metadata, Record};
use os::disk::{Disk, File, OpenMode};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The destination of the error log's lines.
enum Place {
    StandardError,
    File { disk: Arc<dyn Disk>, path: PathBuf, file: Arc<dyn File> },
}

/// The logger of the process.
pub struct ErrorLog {
    /// The destination of the lines. Lock order: innermost of the whole process; nothing is locked
    /// or logged while this lock is held.
    place: Mutex<Place>,
    /// The value of `log_error_verbosity`: 1 means errors, 2 also warnings, 3 also notes. Relaxed:
    /// when a change is seen late, only a line more or less is shown.
    verbosity: AtomicU8,
    /// The last lines, oldest first, for `performance_schema.error_log`. No other lock is taken,
    /// and nothing is logged, while this lock is held.
    recent: Mutex<VecDeque<Entry>>,
    /// The number of lines that were kept and are not any more. Relaxed: it is only shown.
    expired: AtomicU64,
}

/// The greatest number of lines that are kept for `performance_schema.error_log`.
const MAX_RECENT: usize = 1000;

/// The greatest length of a kept line's text, in bytes. The rest of a longer one is left out.
const MAX_RECENT_BYTES: usize = 1024;

/// A line of the error log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// The time when the line was written, in microseconds of Unix time.
    pub at_us: u64,
    /// `System`, `Error`, `Warning` or `Note`.
    pub level: &'static str,
    /// Such as `MY-010116`.
    pub number: String,
    /// `Server`, `InnoDB` or `Repl`.
    pub system: &'static str,
    /// The message.
    pub text: String,
}

static LOG: ErrorLog = ErrorLog {
    place: Mutex::new(Place::StandardError),
    verbosity: AtomicU8::new(2),
    recent: Mutex::new(VecDeque::new()),
    expired: AtomicU64::new(0),
};

/// Returns the last lines of the error log, oldest first. Each has a time of its own.
pub fn recent() -> Vec<Entry> {
    LOG.recent.lock().iter().cloned().collect()
}

/// What is kept of the error log.
pub struct Figures {
    /// The lines that are kept.
    pub lines: u64,
    /// The bytes of their texts.
    pub bytes: u64,
    /// The lines that were kept and are not any more.
    pub expired_lines: u64,
    /// The time of the last line, in microseconds of Unix time; 0 without one.
    pub latest_us: u64,
}

/// Returns how much is kept of the error log.
pub fn figures() -> Figures {
    let recent = LOG.recent.lock();
    Figures {
        lines: recent.len() as u64,
        bytes: recent.iter().map(|entry| entry.text.len() as u64).sum(),
        expired_lines: LOG.expired.load(Ordering::Relaxed),
        latest_us: recent.back().map_or(0, |entry| entry.at_us),
    }
}

/// Makes the error log the process's logger. Lines go to standard error at first.
pub fn install() {
    // A second call, in tests that start several servers in one process, finds the logger in place.
    if log::set_logger(&LOG).is_ok() {
        log::set_max_level(LevelFilter::Info);
    }
}

/// Sends further lines to a file, and appends them to its contents.
pub fn use_file(disk: Arc<dyn Disk>, path: &Path) -> io::Result<()> {
    let file = disk.open(path, OpenMode::Append)?;
    *LOG.place.lock() = Place::File { disk, path: path.to_owned(), file };
    Ok(())
}

/// Opens the file again, after it was renamed from outside (`FLUSH ERROR LOGS`, SIGHUP).
pub fn reopen() -> io::Result<()> {
    let mut place = LOG.place.lock();
    if let Place::File { disk, path, file } = &mut *place {
        *file = disk.open(path, OpenMode::Append)?;
    }
    Ok(())
}

/// Reports whether lines go to a file.
pub fn is_file() -> bool {
    matches!(*LOG.place.lock(), Place::File { .. })
}

/// Sets `log_error_verbosity`.
pub fn set_verbosity(verbosity: u8) {
    LOG.verbosity.store(verbosity, Ordering::Relaxed);
}

/// Logs a numbered message of mysqld that every verbosity shows.
#[macro_export]
macro_rules! log_system {
    ($number:literal, $($text:tt)+) => {
        log::info!(target: $number, $($text)+)
    };
}

impl Log for ErrorLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let needed = match metadata.level() {
            Level::Error => 1,
            Level::Warn => 2,
            _ if metadata.target().starts_with("MY-") => 1,
            Level::Info => 3,
            Level::Debug | Level::Trace => return false,
        };
        self.verbosity.load(Ordering::Relaxed) >= needed
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let entry = Entry::of(record, os::clock::now_us());
            self.place.lock().write(entry.line().as_bytes());
            let mut recent = self.recent.lock();
            if recent.len() >= MAX_RECENT {
                self.expired.fetch_add(1, Ordering::Relaxed);
            }
            keep(&mut recent, entry);
        }
    }

    fn flush(&self) {}
}

impl Place {
    fn write(&mut self, line: &[u8]) {
        let written = match self {
            Place::StandardError => io::stderr().write_all(line),
            Place::File { file, .. } => file.len_bytes().and_then(|end| file.write_all_at(line, end)),
        };
        if written.is_err() {
            // Errors are reported in this log, so standard error is the last resort, and nothing
            // can follow it.
            let _last_resort = io::stderr().write_all(line);
        }
    }
}

/// Adds a line to the last ones, which then have room for it.
fn keep(recent: &mut VecDeque<Entry>, mut entry: Entry) {
    if recent.len() >= MAX_RECENT {
        recent.pop_front();
    }
    let end = (0..=MAX_RECENT_BYTES).rev().find(|end| entry.text.is_char_boundary(*end));
    entry.text.truncate(end.unwrap_or(0));
    // The time is the key of the table.
    let after_last = recent.back().map_or(0, |last| last.at_us + 1);
    entry.at_us = entry.at_us.max(after_last);
    recent.push_back(entry);
}

impl Entry {
    fn of(record: &Record<'_>, at_us: u64) -> Entry {
        let target = record.target();
        let numbered = target.starts_with("MY-");
        let level = match record.level() {
            Level::Error => "Error",
            Level::Warn => "Warning",
            _ if numbered => "System",
            _ => "Note",
        };
        let number = if numbered { target } else { "MY-000000" }.to_owned();
        let system = match target.split("::").next().unwrap_or("") {
            "replica" | "source" | "binlog" => "Repl",
            "engine" | "btree" | "buffer" | "redo" => "InnoDB",
            _ => "Server",
        };
        Entry { at_us, level, number, system, text: record.args().to_string() }
    }

    fn line(&self) -> String {
        let Entry { at_us, level, number, system, text } = self;
        format!("{} 0 [{level}] [{number}] [{system}] {text}\n", timestamp(*at_us))
    }
}

/// Returns microseconds since 1970 in the form `2026-11-21T20:00:00.000000Z`.
pub fn timestamp(now_us: u64) -> String {
    let (seconds, micros) = (now_us / 1_000_000, now_us % 1_000_000);
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil_from_days(days as i64);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// Returns year, month and day of the Gregorian calendar for a number of days since 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    // The days are counted from 0000-03-01, so that the leap day is a year's last day. An era is
    // 400 years.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_emptied_from_outside_has_what_comes_afterwards() {
        let dir = std::env::temp_dir().join(format!("slipstream-error-log-{}", std::process::id()));
        let disk = os::disk::real();
        disk.create_dir_all(&dir).unwrap();
        let path = dir.join("error.log");
        let file = disk.open(&path, OpenMode::Append).unwrap();
        let mut place = Place::File { disk: disk.clone(), path: path.clone(), file };
        place.write(b"one\n");
        place.write(b"two\n");
        assert_eq!(disk.read(&path).unwrap(), b"one\ntwo\n");
        // This is what logrotate's copytruncate does, or `> error.log`.
        disk.open(&path, OpenMode::ReadWrite).unwrap().set_len(0).unwrap();
        place.write(b"three\n");
        assert_eq!(disk.read(&path).unwrap(), b"three\n");
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn the_last_lines_are_bounded_and_have_times_of_their_own() {
        let mut recent = VecDeque::new();
        let text = "\u{e9}".repeat(MAX_RECENT_BYTES);
        for _ in 0..MAX_RECENT + 5 {
            let number = "MY-000000".to_owned();
            keep(
                &mut recent,
                Entry { at_us: 7, level: "Note", number, system: "Server", text: text.clone() },
            );
        }
        assert_eq!(recent.len(), MAX_RECENT);
        assert_eq!((recent[0].at_us, recent[MAX_RECENT - 1].at_us), (12, 11 + MAX_RECENT as u64));
        assert!(recent.iter().all(|entry| entry.text.len() == MAX_RECENT_BYTES));
    }

    #[test]
    fn timestamps_are_of_the_gregorian_calendar() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(timestamp(951_782_400_000_001), "2000-02-29T00:00:00.000001Z");
        assert_eq!(timestamp(1_795_291_199_999_999), "2026-11-21T19:59:59.999999Z");
    }

    #[test]
    fn lines_have_mysqlds_form() {
        let of = |level, target| {
            let record = &Record::builder().level(level).target(target).args(format_args!("text")).build();
            Entry::of(record, 0).line()
        };
        assert_eq!(
            of(Level::Warn, "replica::receiver"),
            "1970-01-01T00:00:00.000000Z 0 [Warning] [MY-000000] [Repl] text\n"
        );
        assert_eq!(
            of(Level::Info, "MY-010931"),
            "1970-01-01T00:00:00.000000Z 0 [System] [MY-010931] [Server] text\n"
        );
    }
}
