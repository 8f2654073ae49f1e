//! Where the values of variables come from (`performance_schema.variables_info`).

use parking_lot::RwLock;
use std::collections::HashMap;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// MySQL's word for the place.
    pub source: &'static str,
    /// The path of the file that has the value, or an empty text.
    pub path: String,
    /// When a statement set the value, in microseconds of Unix time, with the user and the host of
    /// the account.
    pub set: Option<(u64, (String, String))>,
}

impl Origin {
    /// Returns the origin of a value that an account sets now.
    pub fn now(by: (String, String)) -> Origin {
        Origin { source: "DYNAMIC", path: String::new(), set: Some((os::clock::now_us(), by)) }
    }

    /// Returns the origin of a value of the command line.
    pub fn command_line() -> Origin {
        Origin { source: "COMMAND_LINE", path: String::new(), set: None }
    }

    /// Returns the origin of a value of a file that no statement has set.
    pub fn file(source: &'static str, path: String) -> Origin {
        Origin { source, path, set: None }
    }
}

/// The origins of the values that are not those which the program begins with, by the indexes of
/// the variables.
#[derive(Debug, Default)]
pub struct Origins(RwLock<HashMap<usize, Origin>>);

impl Origins {
    /// Notes how a variable was set last.
    pub fn note(&self, variable: usize, origin: Origin) {
        self.0.write().insert(variable, origin);
    }

    /// Returns where the value comes from. `None` means that the program begins with it.
    pub fn of(&self, variable: usize) -> Option<Origin> {
        self.0.read().get(&variable).cloned()
    }
}
