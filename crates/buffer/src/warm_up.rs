//! The warm-up: a list of the hottest pages, which is written at shutdown or on demand, and whose
//! pages are read at start. The file has InnoDB's format: a line `space,page` for each page.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use os::disk::Disk;
use os::thread::JoinHandle;
use parking_lot::Mutex;

use crate::error::{BufferError, Result};
use crate::frame::NO_PAGE;
use crate::frames::Frames;
use crate::options::OptionsInForce;
use crate::page::{PageNo, SpaceId};
use crate::read_ahead::ReadAhead;

/// How many pages are loaded between two looks at whether the load shall end. The list has the
/// hottest pages first, so these come before all colder ones.
const LOADED_AT_ONCE: usize = 1024;

/// Writes the list and loads its pages, and keeps the status of both.
#[derive(Debug)]
pub(crate) struct WarmUp {
    frames: Arc<Frames>,
    read_ahead: Arc<ReadAhead>,
    disk: Arc<dyn Disk>,
    datadir: PathBuf,
    options: Arc<OptionsInForce>,
    /// The status of the dump and the load. The mutex is a leaf in the lock order.
    progress: Mutex<Progress>,
    /// Whether the load shall end. Relaxed: the load may end a little later.
    abort: AtomicBool,
    /// The thread that loads. The mutex is a leaf in the lock order.
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Progress {
    dump: String,
    load: String,
}

impl WarmUp {
    pub fn new(
        frames: Arc<Frames>,
        read_ahead: Arc<ReadAhead>,
        disk: Arc<dyn Disk>,
        datadir: PathBuf,
        options: Arc<OptionsInForce>,
    ) -> WarmUp {
        WarmUp {
            frames,
            read_ahead,
            disk,
            datadir,
            options,
            progress: Mutex::new(Progress::default()),
            abort: AtomicBool::new(false),
            thread: Mutex::new(None),
        }
    }

    /// Returns the texts of `Innodb_buffer_pool_dump_status` and `Innodb_buffer_pool_load_status`.
    pub fn status(&self) -> (String, String) {
        let progress = self.progress.lock();
        let or = |text: &str, otherwise: &str| {
            if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
        };
        (
            or(&progress.dump, "Dumping of buffer pool not started"),
            or(&progress.load, "Loading of buffer pool not started"),
        )
    }

    fn dump_path(&self) -> PathBuf {
        self.datadir.join(&self.options.get().dump_file)
    }

    /// Does the work of [`crate::Pool::dump_pages`].
    pub fn dump(&self) -> Result<usize> {
        let percent = self.options.get().dump_percent as usize;
        // The pages of each instance, with their rank by heat. No instance's coldest pages come
        // before another one's hottest.
        let mut ranked: Vec<(usize, u64)> = Vec::new();
        for instance in self.frames.instances() {
            let lists = instance.lists.lock();
            let listed = lists.young_len() + lists.old_len();
            let wanted = (listed * percent).div_ceil(100);
            let ids =
                lists.hottest_first().map(|frame| self.frames.frame(frame).page_id.load(Ordering::Relaxed));
            ranked.extend(ids.filter(|&packed| packed != NO_PAGE).take(wanted).enumerate());
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        let pages = ranked.len();
        let line = |(_, packed): &(usize, u64)| format!("{},{}\n", packed >> 32, *packed as u32);
        let text: String = ranked.iter().map(line).collect();
        let path = self.dump_path();
        let outcome = self.disk.write_atomically(&path, text.as_bytes());
        self.progress.lock().dump = match &outcome {
            Ok(()) => format!("Buffer pool(s) dump completed at {}", now()),
            Err(error) => format!("Cannot write '{}': {error}", path.display()),
        };
        outcome?;
        log::info!("Buffer pool(s) dump completed: {pages} pages in {}", path.display());
        Ok(pages)
    }

    /// Does the work of [`crate::Pool::start_load`].
    pub fn start_load(self: &Arc<WarmUp>) {
        let mut thread = self.thread.lock();
        if thread.as_ref().is_some_and(|running| !running.is_finished()) {
            return;
        }
        self.abort.store(false, Ordering::Relaxed);
        let warm_up = Arc::clone(self);
        *thread = Some(os::thread::spawn("buffer_pool_load", move || {
            if let Err(error) = warm_up.load() {
                log::error!("Buffer pool(s) load: {error}");
                warm_up.progress.lock().load = error.to_string();
            }
        }));
    }

    /// Aborts the load (`innodb_buffer_pool_load_abort`).
    pub fn abort_load(&self) {
        self.abort.store(true, Ordering::Relaxed);
    }

    /// Aborts the load and waits for the end of its thread.
    pub fn stop_load(&self) {
        self.abort_load();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            log::error!("the thread that loads the buffer pool ended with a panic");
        }
    }

    /// Does the work of [`crate::Pool::load_pages`].
    pub fn load(&self) -> Result<usize> {
        let path = self.dump_path();
        let say = |text: String| self.progress.lock().load = text;
        if !self.disk.exists(&path)? {
            say(format!("Cannot open '{}' for reading: No such file or directory", path.display()));
            return Ok(0);
        }
        let bytes = self.disk.read(&path)?;
        let mut listed = parse(&bytes).map_err(|line| {
            BufferError::Config(format!("Error parsing '{}', line {line}", path.display()))
        })?;
        let (mut loaded, total, mut done, mut sufficed) = (0, listed.len(), 0, true);
        for hottest in listed.chunks_mut(LOADED_AT_ONCE) {
            if self.abort.load(Ordering::Relaxed) {
                say(format!("Buffer pool(s) load aborted on request at {}", now()));
                return Ok(loaded);
            }
            // Neighbours are read together.
            hottest.sort_unstable();
            for of_space in hottest.chunk_by(|a, b| a.0 == b.0) {
                let mut pages: Vec<PageNo> = of_space.iter().map(|&(_, no)| no).collect();
                pages.dedup();
                let (read, enough) = self.read_ahead.read_unasked(of_space[0].0, pages)?;
                loaded += read;
                sufficed &= enough;
            }
            done += hottest.len();
            if !sufficed {
                break;
            }
            say(format!("Loaded {done}/{total} pages"));
        }
        say(format!("Buffer pool(s) load completed at {}", now()));
        log::info!("Buffer pool(s) load completed: {loaded} of {total} pages read");
        Ok(loaded)
    }
}

/// Returns the pages of a list, or as the error the number of the line that names no page.
fn parse(bytes: &[u8]) -> std::result::Result<Vec<(SpaceId, PageNo)>, usize> {
    let page = |line: &[u8]| {
        let (space, no) = std::str::from_utf8(line).ok()?.trim().split_once(',')?;
        Some((space.trim().parse().ok()?, no.trim().parse().ok()?))
    };
    let lines = bytes.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    lines.map(|(number, line)| page(line).ok_or(number + 1)).collect()
}

/// Returns the time in UTC as InnoDB writes it into these texts: `YYMMDD hh:mm:ss`.
fn now() -> String {
    let seconds = os::clock::now_us() / 1_000_000;
    let (year, month, day) = date_of((seconds / 86_400) as i64);
    let of_day = seconds % 86_400;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{:02}{month:02}{day:02} {hour:02}:{minute:02}:{second:02}", year % 100)
}

/// Returns year, month and day of a day counted from 1970-01-01. It works with eras of 400 years
/// that begin in March.
fn date_of(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * shifted_month + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_parsed_and_nonsense_is_found() {
        assert_eq!(parse(b"1,2\n3, 4\n\n"), Ok(vec![(1, 2), (3, 4)]));
        assert_eq!(parse(b""), Ok(vec![]));
        for (text, line) in [(&b"1,2\n3\n"[..], 2), (b"x,1", 1), (b"1,4294967296", 1), (b"\xFF,1", 1)] {
            assert_eq!(parse(text), Err(line));
        }
    }

    #[test]
    fn days_have_their_dates() {
        assert_eq!(date_of(0), (1970, 1, 1));
        assert_eq!(date_of(11_016), (2000, 2, 29));
        assert_eq!(date_of(20_777), (2026, 11, 20));
    }
}
