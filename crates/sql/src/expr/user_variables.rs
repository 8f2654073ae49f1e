//! User variables: `@a`.

use crate::error::Result;
use crate::memory::{Budget, Charge, allocated, copy_bytes, growth, heap_bytes};
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

    /// Sets one to a copy of the value.
    ///
    /// # Errors
    /// As [`Charge::add`]; it is as before then.
    pub fn set(&self, name: &str, value: &Value) -> Result<()> {
        let text;
        let value = match value {
            // A variable has no documents, only their texts.
            Value::Json(_) => {
                text = Value::Bytes(super::text_of(value).into_owned());
                &text
            }
            value => value,
        };
        let (mut values, mut charge) = (self.values.borrow_mut(), self.charge.borrow_mut());
        let bytes = copy_bytes(value);
        charge.add(bytes)?;
        if let Some(known) = values.get_mut(name) {
            // Both are there until the copy is made.
            let before = std::mem::replace(known, value.clone());
            charge.take_away(heap_bytes(&before));
            return Ok(());
        }
        let name_bytes = allocated(name.len());
        let entered = charge.add(name_bytes).and_then(|()| {
            growth::insert_new(&mut values, name.to_owned(), value.clone(), &mut charge)
                .inspect_err(|_| charge.take_away(name_bytes))
        });
        entered.inspect_err(|_| charge.take_away(bytes))
    }

    /// These become those of the other session, and the other way round.
    pub fn swap(&self, other: &UserVariables) {
        self.values.swap(&other.values);
        self.charge.swap(&other.charge);
    }

    /// There are none any more.
    pub fn clear(&self) {
        self.values.borrow_mut().clear();
        self.charge.borrow_mut().clear();
    }
}
