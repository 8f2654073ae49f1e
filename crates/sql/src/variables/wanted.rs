//! A value that a variable is set to, read in the form that the variable takes.

use super::names::{isolation_name, known_collation, unknown_collation};
use super::switches::Switches;
use crate::error::{Result, SqlError};
use binlog::event::UNKNOWN_SERVER_VERSION;
use engine::Isolation;
use std::cell::Cell;
use types::Value;
use types::collation::{self, Charset};

/// A value for the variable with this name.
pub(super) struct Wanted<'a> {
    pub name: &'a str,
    pub value: &'a Value,
    /// Whether the value was a number outside of the variable's range and has been moved into it.
    is_moved: Cell<bool>,
}

impl<'a> Wanted<'a> {
    pub fn new(name: &'a str, value: &'a Value) -> Wanted<'a> {
        Wanted { name, value, is_moved: Cell::new(false) }
    }

    /// Reports whether a number has been moved into the variable's range.
    pub fn is_moved(&self) -> bool {
        self.is_moved.get()
    }

    /// Builds error 1231 (`ER_WRONG_VALUE_FOR_VAR`), which tells that the variable cannot have this
    /// value.
    pub fn is_wrong(&self) -> SqlError {
        let shown = if self.value.is_null() { "NULL".to_owned() } else { self.text() };
        SqlError::wrong_value_for_variable(self.name, shown)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// Returns the bytes of the value's text, which are none for NULL.
    pub fn bytes(&self) -> Vec<u8> {
        self.value.text_bytes(None).unwrap_or_default()
    }

    /// Returns the value as the name of a time zone, which has to be a text.
    pub fn zone_name(&self) -> Result<String> {
        match self.value {
            Value::Bytes(_) => Ok(self.text()),
            Value::Null => Err(self.is_wrong()),
            _ => Err(SqlError::wrong_type_for_variable(self.name)),
        }
    }

    /// Returns the value of ON, OFF, 1, 0, TRUE or FALSE.
    pub fn boolean(&self) -> Result<bool> {
        match self.value {
            Value::Int(0) | Value::UInt(0) => Ok(false),
            Value::Int(1) | Value::UInt(1) => Ok(true),
            Value::Null | Value::Int(_) | Value::UInt(_) => Err(self.is_wrong()),
            Value::Bytes(text) => match text.to_ascii_uppercase().as_slice() {
                b"ON" | b"TRUE" | b"1" => Ok(true),
                b"OFF" | b"FALSE" | b"0" => Ok(false),
                _ => Err(self.is_wrong()),
            },
            _ => Err(SqlError::wrong_type_for_variable(self.name)),
        }
    }

    /// Returns the value as an integer, moved into the range.
    pub fn number(&self, low: u64, high: u64) -> Result<u64> {
        let wide = match self.value {
            Value::Int(n) => i128::from(*n),
            Value::UInt(n) => i128::from(*n),
            _ => return Err(SqlError::wrong_type_for_variable(self.name)),
        };
        let fit = wide.clamp(i128::from(low), i128::from(high));
        self.is_moved.set(fit != wide);
        Ok(fit as u64)
    }

    /// Returns the value as the version of a server. `None` stands for an unknown one.
    pub fn server_version(&self) -> Result<Option<u32>> {
        let version = self.number(0, UNKNOWN_SERVER_VERSION.into())? as u32;
        Ok((version != UNKNOWN_SERVER_VERSION).then_some(version))
    }

    /// Returns the value for `optimizer_switch`, whose value is `now` so far. `defaults` is what
    /// `default` means in it.
    pub fn switches(&self, now: Switches, defaults: Switches) -> Result<Switches> {
        match self.value {
            Value::Int(bits) => {
                u64::try_from(*bits).ok().and_then(Switches::of_bits).ok_or_else(|| self.is_wrong())
            }
            Value::UInt(bits) => Switches::of_bits(*bits).ok_or_else(|| self.is_wrong()),
            Value::Bytes(_) => {
                let list = self.text();
                now.changed_by(&list, defaults)
                    .map_err(|rest| SqlError::wrong_value_for_variable(self.name, rest.to_owned()))
            }
            Value::Null => Err(self.is_wrong()),
            _ => Err(SqlError::wrong_type_for_variable(self.name)),
        }
    }

    /// Returns the value for `timestamp` in microseconds. `None` stands for the clock's time.
    pub fn timestamp_us(&self) -> Result<Option<u64>> {
        /// The end of the year 3000 (`TIMESTAMP_MAX_VALUE` of MySQL's 64-bit builds).
        const LAST_S: f64 = 32_536_771_199.0;
        let seconds = match self.value {
            Value::Int(n) => *n as f64,
            Value::UInt(n) => *n as f64,
            Value::Decimal(n) => n.to_f64(),
            Value::Double(n) => *n,
            Value::Float(n) => f64::from(*n),
            _ => return Err(SqlError::wrong_type_for_variable(self.name)),
        };
        if seconds > LAST_S {
            return Err(self.is_wrong());
        }
        self.is_moved.set(seconds < 0.0);
        Ok((seconds > 0.0).then_some((seconds * 1e6) as u64))
    }

    /// Returns the default collation of a character set, or the collation with a number.
    pub fn charset(&self) -> Result<u16> {
        self.collation_by(
            |name| Charset::from_name(name).map(Charset::default_collation),
            |name| SqlError::new(1115, format!("Unknown character set: '{name:.64}'")),
        )
    }

    /// Returns the collation with a name or number.
    pub fn collation(&self) -> Result<u16> {
        self.collation_by(known_collation, unknown_collation)
    }

    fn collation_by(
        &self,
        find: impl FnOnce(&str) -> Option<u16>,
        unknown: impl FnOnce(&str) -> SqlError,
    ) -> Result<u16> {
        if let Value::Int(id) = self.value
            && let Some(found) = u16::try_from(*id).ok().and_then(collation::by_id)
        {
            return Ok(found.id);
        }
        let name = self.text().to_ascii_lowercase();
        find(&name).ok_or_else(|| unknown(&name))
    }

    pub fn isolation(&self) -> Result<Isolation> {
        const LEVELS: [Isolation; 4] = [
            Isolation::ReadUncommitted,
            Isolation::ReadCommitted,
            Isolation::RepeatableRead,
            Isolation::Serializable,
        ];
        if let Value::Int(level @ 0..=3) = self.value {
            return Ok(LEVELS[*level as usize]);
        }
        let name = self.text().to_ascii_uppercase().replace(' ', "-");
        let level = LEVELS.into_iter().find(|level| isolation_name(*level) == name);
        level.ok_or_else(|| self.is_wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code<T>(result: Result<T>) -> Option<u16> {
        result.err().map(|error| error.code)
    }

    #[test]
    fn numbers_out_of_range_are_moved_and_texts_are_no_numbers() {
        let (far, near, text) = (Value::Int(-1), Value::UInt(7), Value::text("7"));
        let wanted = Wanted::new("n", &far);
        assert_eq!(wanted.number(1, 9), Ok(1));
        assert!(wanted.is_moved());
        let wanted = Wanted::new("n", &near);
        assert_eq!(wanted.number(1, 9), Ok(7));
        assert!(!wanted.is_moved());
        assert_eq!(code(Wanted::new("n", &text).number(1, 9)), Some(1232));
    }

    #[test]
    fn switches_take_words_and_two_numbers() {
        for (value, expected) in [
            (Value::text("on"), Ok(true)),
            (Value::text("False"), Ok(false)),
            (Value::UInt(1), Ok(true)),
            (Value::Int(2), Err(1231)),
            (Value::Null, Err(1231)),
            (Value::Double(1.0), Err(1232)),
        ] {
            assert_eq!(Wanted::new("s", &value).boolean().map_err(|error| error.code), expected, "{value:?}");
        }
    }
}
