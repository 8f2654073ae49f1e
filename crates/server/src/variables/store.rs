//! The values of variables: the global ones, and those of a session.

use super::setting::Setting;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The place of a variable in the registry, which is that of its value here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub(super) usize);

/// Finds a variable by its name.
pub type Find = fn(&str) -> Option<VariableId>;

/// The global values.
#[derive(Debug)]
pub struct Globals {
    find: Find,
    /// The place of `read_only`.
    read_only_id: VariableId,
    /// Lock order: held for a read or a swap only, never while another lock is taken.
    values: RwLock<Arc<Vec<Setting>>>,
    /// The value of `read_only`, which every statement that changes rows asks for. Relaxed: nothing
    /// else is told with it.
    read_only: AtomicBool,
}

impl Globals {
    /// Values by the places of their variables, which `find` knows.
    ///
    /// # Panics
    /// When `read_only`, which has to be OFF, is none of them.
    pub fn new(values: Vec<Setting>, find: Find) -> Globals {
        let read_only_id = find("read_only").expect("read_only is a variable");
        assert_eq!(values[read_only_id.0], Setting::Bool(false), "a new server's read_only");
        let values = RwLock::new(Arc::new(values));
        Globals { find, read_only_id, values, read_only: AtomicBool::new(false) }
    }

    /// The place of a variable that certainly exists.
    fn place(&self, name: &str) -> VariableId {
        (self.find)(name).unwrap_or_else(|| panic!("there is no system variable '{name}'"))
    }

    /// The value of a variable.
    pub fn get(&self, id: VariableId) -> Setting {
        self.values.read()[id.0].clone()
    }

    /// The value of a variable that certainly exists, by its name.
    pub fn named(&self, name: &str) -> Setting {
        self.get(self.place(name))
    }

    /// Replaces a value.
    pub fn set(&self, id: VariableId, setting: Setting) {
        let mut values = self.values.write();
        if id == self.read_only_id {
            self.read_only.store(setting.is_on(), Ordering::Relaxed);
        }
        Arc::make_mut(&mut values)[id.0] = setting;
    }

    /// The value of `read_only`.
    pub fn is_read_only(&self) -> bool {
        self.read_only.load(Ordering::Relaxed)
    }

    /// Replaces the value of a variable that certainly exists, by its name.
    pub fn set_named(&self, name: &str, setting: Setting) {
        self.set(self.place(name), setting);
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
