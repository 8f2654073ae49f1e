//! Conversion of SET's values to settings and of settings to values, with MySQL's errors.

use super::from_option::{parse_bool, word_index};
use super::{Definition, Kind, Setting};
use sql::SqlError;
use types::{Value, collation};

impl Definition {
    /// Converts a value of SET to a setting; `None` is DEFAULT. A number out of range is moved into
    /// the range, and the second part of the result is true then.
    ///
    /// # Errors
    /// Returns 1231 (`ER_WRONG_VALUE_FOR_VAR`) for a wrong value, and 1232
    /// (`ER_WRONG_TYPE_FOR_VAR`) for a value of a wrong type.
    pub fn from_sql(&self, value: Option<&Value>) -> Result<(Setting, bool), SqlError> {
        let Some(value) = value else { return Ok((self.default_setting(), false)) };
        let wrong_value = || SqlError::wrong_value_for_variable(self.name, shown(value));
        let wrong_type = || SqlError::wrong_type_for_variable(self.name);
        match self.kind {
            Kind::Bool => {
                let on = match value {
                    Value::Int(0) | Value::UInt(0) => Some(false),
                    Value::Int(1) | Value::UInt(1) => Some(true),
                    Value::Bytes(text) => parse_bool(&String::from_utf8_lossy(text)),
                    Value::Null | Value::Int(_) | Value::UInt(_) => None,
                    _ => return Err(wrong_type()),
                };
                on.map(|on| (Setting::Bool(on), false)).ok_or_else(wrong_value)
            }
            Kind::Int(..) | Kind::UInt(..) => match value {
                Value::Int(v) => Ok(self.fit_int((*v).into())),
                Value::UInt(v) => Ok(self.fit_int((*v).into())),
                _ => Err(wrong_type()),
            },
            Kind::Double(..) => match value {
                Value::Int(v) => Ok(self.fit_double(*v as f64)),
                Value::UInt(v) => Ok(self.fit_double(*v as f64)),
                Value::Decimal(v) => Ok(self.fit_double(v.to_f64())),
                Value::Double(v) => Ok(self.fit_double(*v)),
                Value::Float(v) => Ok(self.fit_double((*v).into())),
                _ => Err(wrong_type()),
            },
            Kind::Enum(words) => {
                let index = match value {
                    Value::Int(v) => usize::try_from(*v).ok(),
                    Value::UInt(v) => usize::try_from(*v).ok(),
                    Value::Bytes(text) => word_index(words, &String::from_utf8_lossy(text)),
                    _ => None,
                };
                let word = index.and_then(|i| words.get(i)).ok_or_else(wrong_value)?;
                Ok((Setting::Text((*word).to_owned()), false))
            }
            Kind::Collation(names) => collation_of(names, value).map(|name| (Setting::Text(name), false)),
            Kind::Text => match value {
                Value::Bytes(text) => Ok((Setting::Text(String::from_utf8_lossy(text).into_owned()), false)),
                Value::Null => Ok((Setting::Text(String::new()), false)),
                _ => Err(wrong_type()),
            },
        }
    }
}

/// Returns the name of the collation that a value names, by its name or its number.
///
/// # Errors
/// Returns 1273 (`ER_UNKNOWN_COLLATION`) for an unknown collation, and 3721
/// (`ER_INVALID_DEFAULT_UTF8MB4_COLLATION`) for one that is not among `names`.
fn collation_of(names: &[&str], value: &Value) -> Result<String, SqlError> {
    let known = match value {
        Value::Int(id) => u16::try_from(*id).ok().and_then(collation::by_id),
        Value::UInt(id) => u16::try_from(*id).ok().and_then(collation::by_id),
        _ => collation::from_name(&shown(value)).and_then(collation::by_id),
    };
    let Some(known) = known else {
        return Err(SqlError::new(1273, format!("Unknown collation: '{:.64}'", shown(value))));
    };
    if names.contains(&known.name) {
        return Ok(known.name.to_owned());
    }
    let text = format!("Invalid default collation {}: {} expected", known.name, names.join(" or "));
    Err(SqlError::new(3721, text))
}

fn shown(value: &Value) -> String {
    match value.text_bytes(None) {
        Some(text) => String::from_utf8_lossy(&text).into_owned(),
        None => "NULL".into(),
    }
}

impl Setting {
    /// Returns the value that `SELECT @@x` gives. Booleans are 1 and 0.
    pub fn to_value(&self) -> Value {
        match self {
            Setting::Bool(v) => Value::Int(i64::from(*v)),
            Setting::Int(v) => Value::Int(*v),
            Setting::UInt(v) => Value::UInt(*v),
            Setting::Double(v) => Value::Double(*v),
            Setting::Text(v) => Value::text(v),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::global;
    use super::*;

    #[test]
    fn values_of_the_wrong_kind_have_mysqls_errors() {
        let number = global("n", Kind::UInt(10, 100), "10");
        assert_eq!(number.from_sql(Some(&Value::Int(-5))), Ok((Setting::UInt(10), true)));
        assert_eq!(number.from_sql(Some(&Value::UInt(u64::MAX))), Ok((Setting::UInt(100), true)));
        assert_eq!(number.from_sql(Some(&Value::text("50"))).unwrap_err().code, 1232);
        assert_eq!(number.from_sql(None), Ok((Setting::UInt(10), false)));
        let flag = global("f", Kind::Bool, "ON");
        assert_eq!(flag.from_sql(Some(&Value::text("off"))), Ok((Setting::Bool(false), false)));
        assert_eq!(flag.from_sql(Some(&Value::Int(2))).unwrap_err().code, 1231);
        let e = flag.from_sql(Some(&Value::Null)).unwrap_err();
        assert_eq!(e.message, "Variable 'f' can't be set to the value of 'NULL'");
        let word = global("w", Kind::Enum(&["A", "B"]), "A");
        assert_eq!(word.from_sql(Some(&Value::text("b"))), Ok((Setting::Text("B".into()), false)));
        assert_eq!(word.from_sql(Some(&Value::Int(2))).unwrap_err().code, 1231);
    }
}
