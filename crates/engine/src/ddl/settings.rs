//! The settings of DDL that can be changed at run time.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use types::words::WordSizes;

/// The settings. The engine's setters describe them.
#[derive(Debug)]
pub(crate) struct DdlSettings {
    pub fill_factor: AtomicU8,
    pub online_alter_log_max_bytes: AtomicU64,
    /// What new FULLTEXT indexes take for words. Nothing is locked under it.
    pub word_sizes: Mutex<WordSizes>,
}

impl Default for DdlSettings {
    /// Returns MySQL's defaults.
    fn default() -> DdlSettings {
        DdlSettings {
            fill_factor: AtomicU8::new(100),
            online_alter_log_max_bytes: AtomicU64::new(128 << 20),
            word_sizes: Mutex::default(),
        }
    }
}

impl DdlSettings {
    pub fn fill_factor(&self) -> u8 {
        self.fill_factor.load(Ordering::Relaxed)
    }

    pub fn online_alter_log_max_bytes(&self) -> u64 {
        self.online_alter_log_max_bytes.load(Ordering::Relaxed)
    }
}
