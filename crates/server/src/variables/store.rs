//! The values of variables.

use super::{Setting, VariableId, all, find};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The global values.
#[derive(Debug)]
pub struct Globals {
    /// Lock order: held for a read or a swap only, never while another lock is taken.
    values: RwLock<Arc<Vec<Setting>>>,
    /// `read_only`, which every statement that changes rows asks for. Relaxed: it is told on its
    /// own.
    read_only: AtomicBool,
}

impl Default for Globals {
    fn default() -> Self {
        let values = RwLock::new(Arc::new(all().map(|id| id.definition().default_setting()).collect()));
        Globals { values, read_only: AtomicBool::new(false) }
    }
}

impl Globals {
    /// The value of a variable.
    pub fn get(&self, id: VariableId) -> Setting {
        self.values.read()[id.0].clone()
    }

    /// The value of a variable that certainly exists, by its name.
    pub fn named(&self, name: &str) -> Setting {
        match find(name) {
            Some(id) => self.get(id),
            None => panic!("there is no system variable '{name}'"),
        }
    }

    /// Replaces a value.
    pub fn set(&self, id: VariableId, setting: Setting) {
        let mut values = self.values.write();
        if id.definition().name == "read_only" {
            self.read_only.store(setting.is_on(), Ordering::Relaxed);
        }
        Arc::make_mut(&mut values)[id.0] = setting;
    }

    /// `read_only`
    pub fn is_read_only(&self) -> bool {
        self.read_only.load(Ordering::Relaxed)
    }

    /// Replaces the value of a variable that certainly exists, by its name.
    pub fn set_named(&self, name: &str, setting: Setting) {
        match find(name) {
            Some(id) => self.set(id, setting),
            None => panic!("there is no system variable '{name}'"),
        }
    }

    /// Values for a new session.
    pub fn session(&self) -> SessionValues {
        SessionValues { start: self.values.read().clone(), own: HashMap::new() }
    }
}

/// One session's values.
#[derive(Debug, Clone)]
pub struct SessionValues {
    start: Arc<Vec<Setting>>,
    own: HashMap<VariableId, Setting>,
}

impl SessionValues {
    /// The value of a variable.
    pub fn get(&self, id: VariableId) -> Setting {
        self.own.get(&id).unwrap_or(&self.start[id.0]).clone()
    }

    /// Replaces a value.
    pub fn set(&mut self, id: VariableId, setting: Setting) {
        self.own.insert(id, setting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_keeps_the_values_of_its_start() {
        let globals = Globals::default();
        let id = find("wait_timeout").unwrap();
        let mut old = globals.session();
        globals.set(id, Setting::UInt(5));
        assert_eq!((old.get(id), globals.session().get(id)), (Setting::UInt(28_800), Setting::UInt(5)));
        old.set(id, Setting::UInt(7));
        assert_eq!((old.get(id), globals.get(id)), (Setting::UInt(7), Setting::UInt(5)));
    }

    #[test]
    fn read_only_is_what_was_set_last() {
        let globals = Globals::default();
        assert!(!globals.is_read_only());
        globals.set_named("read_only", Setting::Bool(true));
        assert!(globals.is_read_only());
        globals.set_named("read_only", Setting::Bool(false));
        assert!(!globals.is_read_only());
    }
}
