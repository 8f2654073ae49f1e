//! The files that dump sessions are reading. A purge leaves these and all files behind them. A
//! session that went on behind a removed file would leave out its transactions unnoticed.

use crate::error::Refusal;
use crate::files::LogFiles;

/// A dump session's claim on the file that it reads.
pub(crate) struct Reading<'b> {
    files: &'b LogFiles,
    file: u64,
}

impl<'b> Reading<'b> {
    /// Claims a file.
    ///
    /// # Errors
    /// Returns 1236 (`ER_SOURCE_FATAL_ERROR_READING_BINLOG`) when the file has been purged.
    pub fn begin(files: &'b LogFiles, file: u64) -> Result<Reading<'b>, Refusal> {
        let series = files.series.lock();
        if series.numbers().binary_search(&file).is_err() {
            return Err(Refusal::fatal_1236("Could not find first log file name in binary log index file"));
        }
        *files.shared.lock().readers.entry(file).or_default() += 1;
        Ok(Reading { files, file })
    }

    /// Claims the next file in place of this one, and returns its number. `None` means that there
    /// is none.
    pub fn advance(&mut self) -> Option<u64> {
        let series = self.files.series.lock();
        let next = series.numbers().iter().copied().find(|&number| number > self.file)?;
        *self.files.shared.lock().readers.entry(next).or_default() += 1;
        self.let_go();
        assert!(next > self.file, "files are read in the order of their numbers");
        self.file = next;
        Some(next)
    }

    fn let_go(&self) {
        let mut shared = self.files.shared.lock();
        if let Some(count) = shared.readers.get_mut(&self.file) {
            debug_assert!(*count > 0, "a file without readers is not listed");
            *count -= 1;
            if *count == 0 {
                shared.readers.remove(&self.file);
            }
        }
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.let_go();
    }
}
