//! The value of a variable, and its text.

use std::fmt;

/// A value of a system variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// The value of a variable that is ON or OFF.
    Bool(bool),
    /// The value of a variable that is a signed integer.
    Int(i64),
    /// The value of a variable that is an unsigned integer.
    UInt(u64),
    /// The value of a variable that is a floating point number.
    Double(f64),
    /// The value of a variable that is text or one of several words. A word has the letter case of
    /// the definition.
    Text(String),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Bool(true) => f.write_str("ON"),
            Setting::Bool(false) => f.write_str("OFF"),
            Setting::Int(v) => write!(f, "{v}"),
            Setting::UInt(v) => write!(f, "{v}"),
            // MySQL shows these numbers with six decimals.
            Setting::Double(v) => write!(f, "{v:.6}"),
            Setting::Text(v) => f.write_str(v),
        }
    }
}

impl Setting {
    /// Returns the number of an unsigned variable. For every other kind, which is a caller's
    /// mistake, it is 0.
    pub fn uint(&self) -> u64 {
        match self {
            Setting::UInt(v) => *v,
            _ => 0,
        }
    }

    /// Returns the number of a floating point variable. For every other kind, which is a caller's
    /// mistake, it is 0.
    pub fn double(&self) -> f64 {
        match self {
            Setting::Double(v) => *v,
            _ => 0.0,
        }
    }

    /// Reports whether the value is a boolean that is ON.
    pub fn is_on(&self) -> bool {
        matches!(self, Setting::Bool(true))
    }

    /// Returns the text of a text or enum variable, which is empty for every other kind.
    pub fn text(&self) -> &str {
        match self {
            Setting::Text(v) => v,
            _ => "",
        }
    }
}
