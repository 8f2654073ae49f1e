//! Options as they were written, and what is said of one that cannot be used.

use std::fmt;
use std::path::PathBuf;

/// One option as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawOption {
    /// Name with its prefixes, without the leading dashes.
    pub name: String,
    /// The text behind the `=`.
    pub value: Option<String>,
    /// The option file and line; `None` is the command line.
    pub place: Option<(PathBuf, usize)>,
}

/// Why the options cannot be used; worded as mysqld words it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionError(pub String);

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OptionError {}
