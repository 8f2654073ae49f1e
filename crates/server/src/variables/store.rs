//! The values of variables: the global ones, and those of a session.

use super::origin::{Origin, Origins};
use super::setting::Setting;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::mem::discriminant;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The index of a variable in the registry, which is also the index of its value here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub(super) usize);

/// A function that finds a variable by its name.
pub type Find = fn(&str) -> Option<VariableId>;

/// The global values of all variables.
#[derive(Debug)]
pub struct Globals {
    find: Find,
    /// The index of `read_only`.
    read_only_id: VariableId,
    /// The values. The lock is held for a read or a change only, and never while another lock is
    /// taken.
    values: RwLock<Arc<Vec<Setting>>>,
    /// The value of `read_only`, which every statement that changes rows reads. Relaxed, because no
    /// other data depends on it.
    read_only: AtomicBool,
    /// Where the values come from.
    origins: Origins,
}

impl Globals {
    /// Builds the global values from a list in the order of the registry, whose indexes `find`
    /// returns.
    ///
    /// # Panics
    /// Panics when `read_only` is not among the variables or is not OFF.
    pub fn new(values: Vec<Setting>, find: Find) -> Globals {
        let read_only_id = find("read_only").expect("read_only is a variable");
        assert_eq!(values[read_only_id.0], Setting::Bool(false), "a new server's read_only");
        let values = RwLock::new(Arc::new(values));
        Globals { find, read_only_id, values, read_only: AtomicBool::new(false), origins: Origins::default() }
    }

    /// Returns the index of a variable that certainly exists.
    fn place(&self, name: &str) -> VariableId {
        (self.find)(name).unwrap_or_else(|| panic!("there is no system variable '{name}'"))
    }

    /// Returns the value of a variable.
    pub fn get(&self, id: VariableId) -> Setting {
        self.values.read()[id.0].clone()
    }

    /// Returns the value of a variable that certainly exists, by its name.
    pub fn named(&self, name: &str) -> Setting {
        self.get(self.place(name))
    }

    /// Replaces a value.
    pub fn set(&self, id: VariableId, setting: Setting) {
        let mut values = self.values.write();
        if id == self.read_only_id {
            self.read_only.store(setting.is_on(), Ordering::Relaxed);
        }
        let place = &mut Arc::make_mut(&mut values)[id.0];
        assert_eq!(discriminant(place), discriminant(&setting), "a variable keeps its kind: {setting:?}");
        *place = setting;
    }

    /// Notes how a variable was set last.
    pub fn note_origin(&self, id: VariableId, origin: Origin) {
        self.origins.note(id.0, origin);
    }

    /// Returns how a variable was set last. `None` means that it was not.
    pub fn origin(&self, id: VariableId) -> Option<Origin> {
        self.origins.of(id.0)
    }

    /// Returns the value of `read_only`.
    pub fn is_read_only(&self) -> bool {
        self.read_only.load(Ordering::Relaxed)
    }

    /// Replaces the value of a variable that certainly exists, by its name.
    pub fn set_named(&self, name: &str, setting: Setting) {
        self.set(self.place(name), setting);
    }

    /// Returns the values for a new session.
    pub fn session(&self) -> SessionValues {
        SessionValues { start: self.values.read().clone(), own: HashMap::new() }
    }
}

/// The values of one session's variables.
#[derive(Debug, Clone)]
pub struct SessionValues {
    start: Arc<Vec<Setting>>,
    own: HashMap<VariableId, Setting>,
}

impl SessionValues {
    /// Returns the value of a variable.
    pub fn get(&self, id: VariableId) -> Setting {
        self.own.get(&id).unwrap_or(&self.start[id.0]).clone()
    }

    /// Replaces a value.
    pub fn set(&mut self, id: VariableId, setting: Setting) {
        let start = &self.start[id.0];
        assert_eq!(discriminant(start), discriminant(&setting), "a variable keeps its kind: {setting:?}");
        self.own.insert(id, setting);
    }
}
