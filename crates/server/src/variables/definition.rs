//! What a system variable is: its name, its scope, its type and range, its default, who may set it,
//! what it does, and what setting it changes in the running server.

use super::setting::Setting;
use crate::server::Server;
use buffer::PoolOptions;
use source::semi_sync::SemiSync;
use sql::SqlError;
use std::fmt;

/// The scopes in which a variable has a value.
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

/// The accounts that may SET a variable, beside what its scope asks for: SYSTEM_VARIABLES_ADMIN or
/// SUPER for the global value, nothing for the session's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Setting the variable takes no privilege beyond that of its scope.
    Open,
    /// The session's value needs SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN.
    Session,
    /// The session's value needs SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN. SUPER is not
    /// enough: MySQL has guarded these variables since SUPER is deprecated.
    SessionWithoutSuper,
    /// The session's value says whose transaction follows: REPLICATION_APPLIER is enough too.
    Applier,
    /// The session's value cannot be set at all, with error 1621.
    GlobalOnly,
    /// The global value needs this dynamic privilege beside SYSTEM_VARIABLES_ADMIN; SUPER is enough
    /// for both. The error lists them in these words.
    GlobalWith(&'static str, &'static str),
    /// The global value needs this dynamic privilege beside SYSTEM_VARIABLES_ADMIN, as with
    /// [`Guard::GlobalWith`], but SUPER does not stand for the dynamic privilege.
    GlobalWithout(&'static str, &'static str),
}

/// Makes a global value count in the running server, or refuses it.
pub type Apply = fn(&Server, &Setting) -> Result<(), SqlError>;

/// Computes a global value; `None` where the stored one counts.
pub type Compute = fn(&Server) -> Option<Setting>;

/// What a global value changes beside being read where it counts.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    /// Setting the variable does nothing more: it is read where it counts, or has no effect.
    Nothing,
    /// SET GLOBAL enters it into the running server, and may refuse it, before it stands. At start
    /// the server is made with it.
    OnSet(Apply),
    /// The same, and it is entered at start in the same way.
    Entered(Apply),
    /// It is an option of the buffer pool, at start and whenever it is set.
    Pool(fn(&mut PoolOptions, &Setting)),
    /// It is a setting of semi-synchronous replication, at start and whenever it is set.
    SemiSync(fn(&SemiSync, &Setting)),
    /// Others follow once it stands.
    After(fn(&Server)),
    /// SET GLOBAL may refuse it, and others follow once it stands.
    Checked(Apply, fn(&Server)),
    /// SET GLOBAL does something now, and the value stays what it was.
    Command(Apply),
}

/// A system variable.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// In lower case, with underscores.
    pub name: &'static str,
    /// The scopes in which the variable has a value.
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
    /// The accounts that may SET it.
    pub guard: Guard,
    /// A sentence that says what the variable does here, or why it does nothing.
    pub about: &'static str,
    /// False when it is kept for clients to read back and nothing depends on it.
    pub has_effect: bool,
    /// Where it differs from MySQL, and why; empty where it does not.
    pub differs: &'static str,
    /// What a change of the global value changes beside the value.
    pub change: Change,
    /// How its global value is computed when it is asked for.
    pub computed: Option<Compute>,
}

const fn definition(name: &'static str, scope: Scope, kind: Kind, default: &'static str) -> Definition {
    Definition {
        name,
        scope,
        kind,
        default,
        block: 1,
        read_only: false,
        is_option: true,
        guard: Guard::Open,
        about: "",
        has_effect: true,
        differs: "",
        change: Change::Nothing,
        computed: None,
    }
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

    /// The variable with values that are multiples of `block`.
    pub const fn block(mut self, block: u64) -> Definition {
        self.block = block;
        self
    }

    /// What it does.
    pub const fn does(mut self, about: &'static str) -> Definition {
        self.about = about;
        self
    }

    /// It is kept for clients, and has no effect for this reason.
    pub const fn kept(mut self, why: &'static str) -> Definition {
        self.about = why;
        self.has_effect = false;
        self
    }

    /// Where it differs from MySQL, and why.
    pub const fn differs(mut self, how: &'static str) -> Definition {
        self.differs = how;
        self
    }

    /// SET GLOBAL enters it into the running server.
    pub const fn on_set(mut self, apply: Apply) -> Definition {
        self.change = Change::OnSet(apply);
        self
    }

    /// The start and SET GLOBAL enter it into the running server.
    pub const fn entered(mut self, apply: Apply) -> Definition {
        self.change = Change::Entered(apply);
        self
    }

    /// It is an option of the buffer pool.
    pub const fn pool(mut self, enter: fn(&mut PoolOptions, &Setting)) -> Definition {
        self.change = Change::Pool(enter);
        self
    }

    /// It is a setting of semi-synchronous replication.
    pub const fn semi_sync(mut self, enter: fn(&SemiSync, &Setting)) -> Definition {
        self.change = Change::SemiSync(enter);
        self
    }

    /// Others follow once its value stands.
    pub const fn after(mut self, follow: fn(&Server)) -> Definition {
        self.change = Change::After(follow);
        self
    }

    /// SET GLOBAL may refuse it; others follow.
    pub const fn checked(mut self, check: Apply, follow: fn(&Server)) -> Definition {
        self.change = Change::Checked(check, follow);
        self
    }

    /// SET GLOBAL does something and leaves the value.
    pub const fn command(mut self, act: Apply) -> Definition {
        self.change = Change::Command(act);
        self
    }

    /// The variable with a global value that is computed when it is read.
    pub const fn computed(mut self, compute: Compute) -> Definition {
        self.computed = Some(compute);
        self
    }
}
