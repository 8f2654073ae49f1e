//! User variables, such as `@a`.

use super::text::text_as;
use super::value_type::is_text;
use crate::error::Result;
use crate::memory::{Budget, Charge, allocated, copy_bytes, growth, heap_bytes};
use std::cell::{Ref, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use types::{ColumnType, TypeCode, Value, collation};

/// A session's user variables, by name in lower case, and the memory that they take.
#[derive(Debug)]
pub(crate) struct UserVariables {
    variables: RefCell<HashMap<String, UserVariable>>,
    charge: RefCell<Charge>,
}

/// A user variable, which holds a number or a text, never a date or a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UserVariable {
    pub value: Value,
    kind: Kind,
}

/// The type of a variable as an operand. Assigning the literal NULL leaves it as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    UInt,
    Double,
    Decimal,
    /// A text of this collation.
    Text(u16),
}

impl UserVariable {
    /// Makes a variable of a value whose expression has the type `ty`. `before` is the kind that
    /// the variable had.
    fn of(value: &Value, ty: &ColumnType, before: Option<Kind>) -> UserVariable {
        let kind = match value {
            Value::Null if ty.code == TypeCode::Null => before.unwrap_or(Kind::Text(collation::BINARY)),
            Value::Null => kind_of_type(ty),
            Value::Int(_) => Kind::Int,
            Value::UInt(_) | Value::Year(_) | Value::Bit { .. } => Kind::UInt,
            Value::Float(_) | Value::Double(_) => Kind::Double,
            Value::Decimal(_) => Kind::Decimal,
            Value::Json(_) => Kind::Text(collation::UTF8MB4_BIN),
            Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } if is_text(ty) => {
                Kind::Text(ty.collation)
            }
            Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } => {
                Kind::Text(collation::UTF8MB4_0900_AI_CI)
            }
            Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Timestamp { .. } => {
                Kind::Text(collation::LATIN1_SWEDISH_CI)
            }
        };
        let value = match value {
            Value::Null | Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => {
                value.clone()
            }
            Value::Float(number) => Value::Double(f64::from(*number)),
            Value::Year(year) => Value::UInt(u64::from(*year)),
            Value::Bit { bits, .. } => Value::UInt(*bits),
            text => Value::Bytes(text_as(text, ty).into_owned()),
        };
        UserVariable { value, kind }
    }

    /// Returns the variable's type as an operand.
    pub fn ty(&self) -> ColumnType {
        match self.kind {
            Kind::Int => ColumnType::bigint(false),
            Kind::UInt => ColumnType::bigint(true),
            Kind::Double => ColumnType::double(),
            Kind::Decimal => ColumnType::decimal(65, 30),
            Kind::Text(id) => ColumnType::longtext(id),
        }
    }
}

/// Returns the kind of a variable that is set to NULL by an expression of this type.
fn kind_of_type(ty: &ColumnType) -> Kind {
    match ty.code {
        TypeCode::NewDecimal => Kind::Decimal,
        TypeCode::Float | TypeCode::Double => Kind::Double,
        TypeCode::Year | TypeCode::Bit => Kind::UInt,
        TypeCode::Json => Kind::Text(collation::UTF8MB4_BIN),
        _ if ty.is_integer() && ty.unsigned => Kind::UInt,
        _ if ty.is_integer() => Kind::Int,
        _ if ty.is_temporal() => Kind::Text(collation::LATIN1_SWEDISH_CI),
        _ => Kind::Text(ty.collation),
    }
}

impl UserVariables {
    /// Makes an empty set of variables.
    pub fn new(memory: &Arc<Budget>) -> UserVariables {
        UserVariables { variables: RefCell::default(), charge: RefCell::new(Charge::new(memory)) }
    }

    /// Returns all variables.
    pub fn borrow(&self) -> Ref<'_, HashMap<String, UserVariable>> {
        self.variables.borrow()
    }

    /// Returns a variable's value, or NULL where it does not exist.
    pub fn value(&self, name: &str) -> Value {
        self.variables.borrow().get(name).map_or(Value::Null, |variable| variable.value.clone())
    }

    /// Returns a variable's type as an operand. A variable that does not exist has the type of
    /// bytes.
    pub fn ty(&self, name: &str) -> ColumnType {
        let missing = || ColumnType::longtext(collation::BINARY);
        self.variables.borrow().get(name).map_or_else(missing, UserVariable::ty)
    }

    /// Sets a variable to a value of an expression of the type `ty`. Numbers stay numbers, all
    /// other values become texts of the type's collation.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`]. The variable is then as before.
    pub fn set(&self, name: &str, value: &Value, ty: &ColumnType) -> Result<()> {
        let (mut variables, mut charge) = (self.variables.borrow_mut(), self.charge.borrow_mut());
        // The variable takes no more than the value and a short text.
        let bytes = copy_bytes(value);
        charge.add(bytes)?;
        let before = variables.get(name).map(|known| known.kind);
        let new = UserVariable::of(value, ty, before);
        let taken = heap_bytes(&new.value);
        if taken > bytes {
            charge.add(taken - bytes).inspect_err(|_| charge.take_away(bytes))?;
        } else {
            charge.take_away(bytes - taken);
        }
        if let Some(known) = variables.get_mut(name) {
            // The old value and the new one are both charged until here.
            let before = std::mem::replace(known, new);
            charge.take_away(heap_bytes(&before.value));
            return Ok(());
        }
        let name_bytes = allocated(name.len());
        let entered = charge.add(name_bytes).and_then(|()| {
            growth::insert_new(&mut variables, name.to_owned(), new, &mut charge)
                .inspect_err(|_| charge.take_away(name_bytes))
        });
        entered.inspect_err(|_| charge.take_away(taken))
    }

    /// Exchanges the variables with those of another session.
    pub fn swap(&self, other: &UserVariables) {
        self.variables.swap(&other.variables);
        self.charge.swap(&other.charge);
    }

    /// Removes all variables.
    pub fn clear(&self) {
        self.variables.borrow_mut().clear();
        self.charge.borrow_mut().clear();
    }
}
