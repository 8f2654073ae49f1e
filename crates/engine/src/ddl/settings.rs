//! The settings of DDL that can be changed at run time.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The settings. The engine's setters describe them.
#[derive(Debug)]
pub(crate) struct DdlSettings {
    pub fill_factor: AtomicU8,
    pub online_alter_log_max_bytes: AtomicU64,
}

impl Default for DdlSettings {
    /// Returns MySQL's defaults.
    fn default() -> DdlSettings {
        DdlSettings { fill_factor: AtomicU8::new(100), online_alter_log_max_bytes: AtomicU64::new(128 << 20) }
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
