//! The counters behind `SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool%'` and related status
//! variables.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $field:ident = $name:literal;)*) => {
        /// The counters since the pool was opened. All accesses are relaxed, since each counter
        /// stands for itself.
        #[derive(Debug, Default)]
        pub(crate) struct Counters { $(pub $field: AtomicU64,)* }

        /// The pool's figures at one moment, as MySQL names them.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct PoolStatus {
            $($(#[$doc])* pub $field: u64,)*
            /// The number of pages that the pool has room for.
            pub pages_total: u64,
            /// The number of frames that hold no page.
            pub pages_free: u64,
            /// The number of frames that hold a page.
            pub pages_data: u64,
            /// The number of frames in the old part of the LRU list.
            pub pages_old: u64,
            /// The number of requests for pages by all threads of the process, whether the pool had
            /// the page or not.
            pub read_requests: u64,
            /// The number of pages that were changed since they were written.
            pub pages_dirty: u64,
            /// The size of a page in bytes.
            pub page_size: u64,
        }

        impl Counters {
            pub fn snapshot(&self) -> PoolStatus {
                PoolStatus { $($field: self.$field.load(Ordering::Relaxed),)* ..PoolStatus::default() }
            }
        }

        impl PoolStatus {
            /// Returns all figures under the names of MySQL's status variables.
            pub fn variables(&self) -> Vec<(&'static str, u64)> {
                vec![
                    $(($name, self.$field),)*
                    ("Innodb_buffer_pool_pages_total", self.pages_total),
                    ("Innodb_buffer_pool_pages_free", self.pages_free),
                    ("Innodb_buffer_pool_pages_data", self.pages_data),
                    ("Innodb_buffer_pool_pages_flushed", self.pages_written),
                    ("Innodb_buffer_pool_read_requests", self.read_requests),
                    ("Innodb_pages_read", self.pages_read + self.read_ahead + self.read_ahead_random),
                    ("Innodb_buffer_pool_pages_old", self.pages_old),
                    ("Innodb_buffer_pool_pages_dirty", self.pages_dirty),
                    ("Innodb_buffer_pool_bytes_data", self.pages_data * self.page_size),
                    ("Innodb_buffer_pool_bytes_dirty", self.pages_dirty * self.page_size),
                    ("Innodb_page_size", self.page_size),
                ]
            }
        }
    };
}

counters! {
    /// Pages read from disk because they were wanted at once.
    pages_read = "Innodb_buffer_pool_reads";
    /// Pages read from disk before they were wanted.
    read_ahead = "Innodb_buffer_pool_read_ahead";
    /// Pages read from disk because many of their neighbours were used (random read-ahead).
    read_ahead_random = "Innodb_buffer_pool_read_ahead_rnd";
    /// Pages read ahead, linearly or randomly, that left the pool unused.
    read_ahead_evicted = "Innodb_buffer_pool_read_ahead_evicted";
    /// Pages written to their places.
    pages_written = "Innodb_pages_written";
    /// Pages that came to be without a read.
    pages_created = "Innodb_pages_created";
    /// Pages that left the pool to make room for others.
    pages_evicted = "Innodb_buffer_pool_pages_evicted";
    /// Pages moved to the young part of the LRU list.
    pages_made_young = "Innodb_buffer_pool_pages_made_young";
    /// The number of times that a foreground thread found no free page.
    wait_free = "Innodb_buffer_pool_wait_free";
    /// Pages that foreground threads wrote themselves because there was no free page.
    single_page_flushes = "Innodb_buffer_pool_single_page_flushes";
    /// Pages written because they were at the end of the LRU list.
    lru_flushed = "Innodb_buffer_pool_lru_flushed";
    /// Pages written because of the age of their changes in the log.
    list_flushed = "Innodb_buffer_pool_list_flushed";
    /// Pages that went through the doublewrite file.
    dblwr_pages_written = "Innodb_dblwr_pages_written";
    /// Batches that went through the doublewrite file.
    dblwr_writes = "Innodb_dblwr_writes";
}

pub(crate) fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}
