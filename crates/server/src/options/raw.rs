//! Options as they were written, and the error for options that cannot be used.

use std::fmt;
use std::path::PathBuf;

/// One option as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawOption {
    /// The option's name with its prefixes, without the leading dashes.
    pub name: String,
    /// The text behind the `=`. `None` means that there is no `=`.
    pub value: Option<String>,
    /// The option file and the line. `None` means the command line.
    pub place: Option<(PathBuf, usize)>,
}

/// The reason why the options cannot be used, worded as by mysqld.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionError(pub String);

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OptionError {}
