//! Settings of performance_schema for what is not measured: objects and background threads. They
//! are kept, so that they are shown as they were set. Beside them stands what was measured before
//! the sums of waits were set to zero.

use os::disk::uses::Times;
use parking_lot::Mutex;
use sql::measured::ThreadSettings;
use std::collections::BTreeMap;

/// The name of the threads that serve connections.
pub const ONE_CONNECTION: &str = "thread/sql/one_connection";

/// A row of `setup_objects`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupObject {
    /// The type of the object, its schema and its name.
    pub key: [String; 3],
    /// Whether it would be measured.
    pub is_enabled: bool,
    /// Whether its time would be.
    pub is_timed: bool,
}

/// The settings.
pub struct Setup {
    /// The waits for clients that are not counted any more, because somebody has set their sums to
    /// zero. The time accounts that hold them cannot be.
    idle_before: Mutex<Times>,
    objects: Mutex<Vec<SetupObject>>,
    threads: Mutex<Threads>,
}

/// What was set for threads. What is not here is measured.
#[derive(Default)]
struct Threads {
    /// For new threads by their names.
    by_name: BTreeMap<String, ThreadSettings>,
    /// For threads that run, by their numbers in the system.
    by_id: BTreeMap<i32, ThreadSettings>,
}

impl Default for Setup {
    fn default() -> Setup {
        let of_kind = |kind: &str| {
            let own = ["mysql", "performance_schema", "information_schema"];
            let key = |schema: &str| [kind, schema, "%"].map(str::to_owned);
            let object = |schema, on| SetupObject { key: key(schema), is_enabled: on, is_timed: on };
            own.map(|schema| object(schema, false)).into_iter().chain([object("%", true)]).collect::<Vec<_>>()
        };
        let kinds = ["EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER"];
        Setup {
            idle_before: Mutex::default(),
            objects: Mutex::new(kinds.into_iter().flat_map(of_kind).collect()),
            threads: Mutex::default(),
        }
    }
}

impl Setup {
    /// Returns the waits for clients that are not counted any more.
    pub fn idle_before(&self) -> Times {
        *self.idle_before.lock()
    }

    /// Counts the waits for clients from here on.
    pub fn set_idle_before(&self, idle: Times) {
        *self.idle_before.lock() = idle;
    }

    /// Returns the rows of `setup_objects`.
    pub fn objects(&self) -> Vec<SetupObject> {
        self.objects.lock().clone()
    }

    /// Changes the rows of `setup_objects`.
    pub fn change_objects<T>(&self, change: impl FnOnce(&mut Vec<SetupObject>) -> T) -> T {
        change(&mut self.objects.lock())
    }

    /// Returns what new threads with this name get.
    pub fn of_name(&self, name: &str) -> ThreadSettings {
        self.threads.lock().by_name.get(name).copied().unwrap_or_default()
    }

    /// Returns what a background thread has.
    pub fn of_thread(&self, name: &str, tid: Option<i32>) -> ThreadSettings {
        let threads = self.threads.lock();
        let own = tid.and_then(|tid| threads.by_id.get(&tid));
        own.or_else(|| threads.by_name.get(name)).copied().unwrap_or_default()
    }

    /// Changes what new threads with this name get. `running` are those that keep what they have.
    pub fn change_name(
        &self,
        name: &str,
        running: impl Iterator<Item = i32>,
        change: impl FnOnce(&mut ThreadSettings),
    ) {
        let mut threads = self.threads.lock();
        let Threads { by_name, by_id } = &mut *threads;
        let settings = by_name.entry(name.to_owned()).or_default();
        for tid in running {
            by_id.entry(tid).or_insert(*settings);
        }
        change(settings);
    }

    /// Changes what a background thread has.
    pub fn change_thread(&self, name: &str, tid: Option<i32>, change: impl FnOnce(&mut ThreadSettings)) {
        let mut settings = self.of_thread(name, tid);
        change(&mut settings);
        if let Some(tid) = tid {
            self.threads.lock().by_id.insert(tid, settings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_run_keep_what_they_have() {
        let setup = Setup::default();
        let off = |settings: &mut ThreadSettings| settings.is_instrumented = false;
        setup.change_name("cleaner", [7].into_iter(), off);
        assert!(setup.of_thread("cleaner", Some(7)).is_instrumented);
        assert!(
            !setup.of_thread("cleaner", Some(8)).is_instrumented && !setup.of_name("cleaner").is_instrumented
        );
        setup.change_thread("cleaner", Some(7), off);
        assert!(!setup.of_thread("cleaner", Some(7)).is_instrumented);
        assert!(setup.of_name("writer").is_instrumented);
    }
}
