//! Which files dump sessions are reading. A purge leaves these and all behind them: a session that
//! went on behind a file that is gone would leave out its transactions, and nobody would notice.

use crate::error::Refusal;
use crate::files::Binlog;

/// A dump session's claim on the file that it reads.
pub(crate) struct Reading<'b> {
    binlog: &'b Binlog,
    file: u64,
}

impl<'b> Reading<'b> {
    /// Claims a file.
    ///
    /// # Errors
    /// 1236 when it has been purged.
    pub fn begin(binlog: &'b Binlog, file: u64) -> Result<Reading<'b>, Refusal> {
        let files = binlog.files.lock();
        if files.numbers().binary_search(&file).is_err() {
            return Err(Refusal::fatal_1236("Could not find first log file name in binary log index file"));
        }
        *binlog.shared.lock().readers.entry(file).or_default() += 1;
        Ok(Reading { binlog, file })
    }

    /// Claims the next file in place of this one; `None`: there is none.
    pub fn advance(&mut self) -> Option<u64> {
        let files = self.binlog.files.lock();
        let next = files.numbers().iter().copied().find(|&number| number > self.file)?;
        *self.binlog.shared.lock().readers.entry(next).or_default() += 1;
        self.let_go();
        self.file = next;
        Some(next)
    }

    fn let_go(&self) {
        let mut shared = self.binlog.shared.lock();
        if let Some(count) = shared.readers.get_mut(&self.file) {
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
