//! A variable's value, and how it is shown.

use std::fmt;

/// A value of a system variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// Of a variable that is ON or OFF.
    Bool(bool),
    /// Of a variable that is a signed integer.
    Int(i64),
    /// Of a variable that is an unsigned integer.
    UInt(u64),
    /// Of a variable that is a floating point number.
    Double(f64),
    /// Of a variable that is text, or one of some words; a word is in its own case.
    Text(String),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Bool(true) => f.write_str("ON"),
            Setting::Bool(false) => f.write_str("OFF"),
            Setting::Int(v) => write!(f, "{v}"),
            Setting::UInt(v) => write!(f, "{v}"),
            // MySQL shows these with six digits.
            Setting::Double(v) => write!(f, "{v:.6}"),
            Setting::Text(v) => f.write_str(v),
        }
    }
}

impl Setting {
    /// The number of an unsigned variable; 0 for every other kind, which is a mistake of the
    /// caller's.
    pub fn uint(&self) -> u64 {
        match self {
            Setting::UInt(v) => *v,
            _ => 0,
        }
    }

    /// The number of a floating point variable; 0 for every other kind, which is a mistake of the
    /// caller's.
    pub fn double(&self) -> f64 {
        match self {
            Setting::Double(v) => *v,
            _ => 0.0,
        }
    }

    /// True for a boolean that is ON.
    pub fn is_on(&self) -> bool {
        matches!(self, Setting::Bool(true))
    }

    /// The text of a text or enum variable; empty for every other kind.
    pub fn text(&self) -> &str {
        match self {
            Setting::Text(v) => v,
            _ => "",
        }
    }
}
