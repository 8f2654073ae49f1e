//! User variables: `@a`.

use crate::error::Result;
use crate::memory::{Budget, Charge, heap_bytes};
use std::cell::{Ref, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use types::Value;

/// A session's user variables, by name in lower case, and what they take.
#[derive(Debug)]
pub(crate) struct UserVariables {
    values: RefCell<HashMap<String, Value>>,
    charge: RefCell<Charge>,
}

fn bytes_of(name: &str, value: &Value) -> usize {
    size_of::<(String, Value)>() + name.len() + heap_bytes(value)
}

impl UserVariables {
    /// None yet.
    pub fn new(memory: &Arc<Budget>) -> UserVariables {
        UserVariables { values: RefCell::default(), charge: RefCell::new(Charge::new(memory)) }
    }

    /// All of them.
    pub fn borrow(&self) -> Ref<'_, HashMap<String, Value>> {
        self.values.borrow()
    }

    /// One's value.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.values.borrow().get(name).cloned()
    }

    /// Sets one.
    ///
    /// # Errors
    /// As [`Charge::add`]; it is as before then.
    pub fn set(&self, name: &str, value: Value) -> Result<()> {
        let mut charge = self.charge.borrow_mut();
        charge.add(bytes_of(name, &value))?;
        if let Some(before) = self.values.borrow_mut().insert(name.to_owned(), value) {
            charge.take_away(bytes_of(name, &before));
        }
        Ok(())
    }

    /// There are none any more.
    pub fn clear(&self) {
        self.values.borrow_mut().clear();
        self.charge.borrow_mut().clear();
    }
}
