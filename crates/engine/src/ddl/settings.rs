//! Settings of DDL that can be changed at run time.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// See each setter.
#[derive(Debug)]
pub(crate) struct DdlSettings {
    fill_factor: AtomicU8,
    online_alter_log_max_bytes: AtomicU64,
}

impl Default for DdlSettings {
    /// MySQL's defaults.
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

impl crate::Engine {
    /// `innodb_fill_factor`: percentage of each page that a sorted build fills, 10 to 100.
    pub fn set_fill_factor(&self, percent: u8) {
        self.settings.fill_factor.store(percent.clamp(10, 100), Ordering::Relaxed);
    }

    /// `innodb_online_alter_log_max_size` in bytes: changes of others that an index build remembers
    /// until it is there.
    pub fn set_online_alter_log_max_bytes(&self, bytes: u64) {
        self.settings.online_alter_log_max_bytes.store(bytes, Ordering::Relaxed);
    }
}
