//! What a system variable is: its name, its scope, its type and range, its default.

use std::fmt;

/// Where a variable has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One value for the server.
    Global,
    /// A value for each session, and a global one that new sessions start with.
    Session,
    /// A value for each session only.
    SessionOnly,
}

/// Type and range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// ON or OFF.
    Bool,
    /// Signed, with its least and greatest value.
    Int(i64, i64),
    /// Unsigned, with its least and greatest value.
    UInt(u64, u64),
    /// Floating point, with its least and greatest value.
    Double(f64, f64),
    /// One of these words, or its index.
    Enum(&'static [&'static str]),
    /// Any text.
    Text,
}

impl fmt::Display for Kind {
    /// The type and the range in a reader's words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Bool => f.write_str("ON or OFF"),
            Kind::Int(least, greatest) => write!(f, "an integer from {least} to {greatest}"),
            Kind::UInt(least, greatest) => write!(f, "an integer from {least} to {greatest}"),
            Kind::Double(least, greatest) => write!(f, "a number from {least} to {greatest}"),
            Kind::Enum(words) => write!(f, "one of {}", words.join(", ")),
            Kind::Text => f.write_str("a string"),
        }
    }
}

/// Who may SET a variable, beside what its scope asks for: SYSTEM_VARIABLES_ADMIN or SUPER for the
/// global value, nothing for the session's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Nothing else is asked for.
    Open,
    /// The session's value needs SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN.
    Session,
    /// As [`Guard::Session`], but SUPER is not enough: variables that MySQL guards since SUPER is
    /// deprecated.
    SessionWithoutSuper,
    /// The session's value says whose transaction follows: REPLICATION_APPLIER is enough too.
    Applier,
    /// The session's value cannot be set at all, with error 1621.
    GlobalOnly,
    /// The global value needs this dynamic privilege beside SYSTEM_VARIABLES_ADMIN; SUPER is enough
    /// for both. The error lists them in these words.
    GlobalWith(&'static str, &'static str),
}

/// A system variable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Definition {
    /// In lower case, with underscores.
    pub name: &'static str,
    /// Where it has a value.
    pub scope: Scope,
    /// Type and range.
    pub kind: Kind,
    /// The default, as an option's value.
    pub default: &'static str,
    /// Values are rounded down to a multiple of this.
    pub block: u64,
    /// SET is refused with error 1238.
    pub read_only: bool,
    /// It can be set on the command line and in option files.
    pub is_option: bool,
    /// Who may SET it.
    pub guard: Guard,
}

const fn definition(name: &'static str, scope: Scope, kind: Kind, default: &'static str) -> Definition {
    let guard = Guard::Open;
    Definition { name, scope, kind, default, block: 1, read_only: false, is_option: true, guard }
}

/// A variable with one value for the server.
pub const fn global(name: &'static str, kind: Kind, default: &'static str) -> Definition {
    definition(name, Scope::Global, kind, default)
}

/// A variable with a value for each session, and a global one.
pub const fn session(name: &'static str, kind: Kind, default: &'static str) -> Definition {
    definition(name, Scope::Session, kind, default)
}

/// A variable of sessions only.
pub const fn own(name: &'static str, kind: Kind, default: &'static str) -> Definition {
    definition(name, Scope::SessionOnly, kind, default)
}

impl Definition {
    /// It cannot be set at run time.
    pub const fn read_only(mut self) -> Definition {
        self.read_only = true;
        self
    }

    /// It cannot be set at start.
    pub const fn not_an_option(mut self) -> Definition {
        self.is_option = false;
        self
    }

    /// SET asks for more than its scope does.
    pub const fn guarded(mut self, guard: Guard) -> Definition {
        self.guard = guard;
        self
    }

    /// Its values are multiples of `block`.
    pub const fn block(mut self, block: u64) -> Definition {
        self.block = block;
        self
    }
}
