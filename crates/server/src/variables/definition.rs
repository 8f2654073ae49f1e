//! The definition of a system variable: its name, its scope, its type and range, its default, the
//! accounts that may set it, its purpose, and the effect of setting it on the running server.

use super::setting::Setting;
use crate::server::Server;
use buffer::PoolOptions;
use source::semi_sync::SemiSync;
use sql::SqlError;
use std::fmt;

/// The scopes in which a variable has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The variable has one value for the server.
    Global,
    /// The variable has a value for each session, and a global one with which new sessions start.
    Session,
    /// The variable has a value for each session, and no global one.
    SessionOnly,
}

/// The type and the range of a variable's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// The value is ON or OFF.
    Bool,
    /// The value is a signed integer between these two.
    Int(i64, i64),
    /// The value is an unsigned integer between these two.
    UInt(u64, u64),
    /// The value is a floating point number between these two.
    Double(f64, f64),
    /// The value is one of these words, or a word's index.
    Enum(&'static [&'static str]),
    /// The value is one of these collations, by its name or its number.
    Collation(&'static [&'static str]),
    /// The value is any text.
    Text,
}

impl fmt::Display for Kind {
    /// Writes the type and the range in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Bool => f.write_str("ON or OFF"),
            Kind::Int(least, greatest) => write!(f, "an integer from {least} to {greatest}"),
            Kind::UInt(least, greatest) => write!(f, "an integer from {least} to {greatest}"),
            Kind::Double(least, greatest) => write!(f, "a number from {least} to {greatest}"),
            Kind::Enum(words) | Kind::Collation(words) => write!(f, "one of {}", words.join(", ")),
            Kind::Text => f.write_str("a string"),
        }
    }
}

/// The privileges that are needed to SET a variable besides those of its scope, which are
/// SYSTEM_VARIABLES_ADMIN or SUPER for the global value and none for the session's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Setting the variable needs no further privilege.
    Open,
    /// The session's value needs SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN.
    Session,
    /// The session's value needs SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN. SUPER is not
    /// enough: MySQL has guarded these variables since it deprecated SUPER.
    SessionWithoutSuper,
    /// The session's value describes the next transactions as another server's, so
    /// REPLICATION_APPLIER is enough to set it too.
    Applier,
    /// The session's value cannot be set at all; the attempt fails with error 1621.
    GlobalOnly,
    /// The global value needs this dynamic privilege besides SYSTEM_VARIABLES_ADMIN; SUPER stands
    /// for both. The second text is the list of privileges in the error.
    GlobalWith(&'static str, &'static str),
    /// The global value needs this dynamic privilege besides SYSTEM_VARIABLES_ADMIN, as with
    /// [`Guard::GlobalWith`], but SUPER does not stand for the dynamic privilege.
    GlobalWithout(&'static str, &'static str),
}

/// A function that puts a global value into force in the running server, or refuses it.
pub type Apply = fn(&Server, &Setting) -> Result<(), SqlError>;

/// A function that computes a global value. `None` means that the stored value is the right one.
pub type Compute = fn(&Server) -> Option<Setting>;

/// The effect of setting a global value besides that it can be read.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    /// Setting the variable has no further effect: the value is read where it is needed, or has no
    /// effect.
    Nothing,
    /// SET GLOBAL applies the value to the running server, which may refuse it, before the value is
    /// stored. At start the server is built with the value.
    OnSet(Apply),
    /// SET GLOBAL applies the value like [`Change::OnSet`], and the start applies it in the same
    /// way.
    Entered(Apply),
    /// The value is an option of the buffer pool, at start and whenever it is set.
    Pool(fn(&mut PoolOptions, &Setting)),
    /// The value is a setting of semi-synchronous replication, at start and whenever it is set.
    SemiSync(fn(&SemiSync, &Setting)),
    /// This function runs after the value is stored, and changes what depends on it.
    After(fn(&Server)),
    /// SET GLOBAL may refuse the value, and the second function runs after the value is stored.
    Checked(Apply, fn(&Server)),
    /// SET GLOBAL carries out an action, and the value stays as it was.
    Command(Apply),
}

/// A system variable.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The variable's name, in lower case with underscores.
    pub name: &'static str,
    /// The scopes in which the variable has a value.
    pub scope: Scope,
    /// The type and the range of the values.
    pub kind: Kind,
    /// The default, written like the value of an option.
    pub default: &'static str,
    /// The number to whose multiples values are rounded down.
    pub block: u64,
    /// True when SET is refused with error 1238.
    pub read_only: bool,
    /// True when the variable can be set on the command line and in option files.
    pub is_option: bool,
    /// The further privileges that SET needs.
    pub guard: Guard,
    /// A sentence that says what the variable does in this server, or why it does nothing.
    pub about: &'static str,
    /// False when the variable is only kept for clients to read back.
    pub has_effect: bool,
    /// The difference from MySQL and its reason; empty when there is none.
    pub differs: &'static str,
    /// The effect of setting the global value.
    pub change: Change,
    /// The function that computes the global value when it is read; `None` means that it is stored.
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

/// Defines a variable that has one value for the server.
pub const fn global(name: &'static str, kind: Kind, default: &'static str) -> Definition {
    definition(name, Scope::Global, kind, default)
}

/// Defines a variable that has a value for each session and a global one.
pub const fn session(name: &'static str, kind: Kind, default: &'static str) -> Definition {
    definition(name, Scope::Session, kind, default)
}

/// Defines a variable that has values of sessions only.
pub const fn own(name: &'static str, kind: Kind, default: &'static str) -> Definition {
    definition(name, Scope::SessionOnly, kind, default)
}

impl Definition {
    /// Makes the variable one that cannot be set at run time.
    pub const fn read_only(mut self) -> Definition {
        self.read_only = true;
        self
    }

    /// Makes the variable one that cannot be set at start.
    pub const fn not_an_option(mut self) -> Definition {
        self.is_option = false;
        self
    }

    /// Makes SET need more privileges than those of the scope.
    pub const fn guarded(mut self, guard: Guard) -> Definition {
        self.guard = guard;
        self
    }

    /// Makes the values multiples of `block`.
    pub const fn block(mut self, block: u64) -> Definition {
        self.block = block;
        self
    }

    /// Says what the variable does.
    pub const fn does(mut self, about: &'static str) -> Definition {
        self.about = about;
        self
    }

    /// Makes the variable one that is only kept for clients, and says why it has no effect.
    pub const fn kept(mut self, why: &'static str) -> Definition {
        self.about = why;
        self.has_effect = false;
        self
    }

    /// Says how the variable differs from MySQL, and why.
    pub const fn differs(mut self, how: &'static str) -> Definition {
        self.differs = how;
        self
    }

    /// Makes SET GLOBAL apply the value to the running server.
    pub const fn on_set(mut self, apply: Apply) -> Definition {
        self.change = Change::OnSet(apply);
        self
    }

    /// Makes the start and SET GLOBAL apply the value to the running server.
    pub const fn entered(mut self, apply: Apply) -> Definition {
        self.change = Change::Entered(apply);
        self
    }

    /// Makes the value an option of the buffer pool.
    pub const fn pool(mut self, enter: fn(&mut PoolOptions, &Setting)) -> Definition {
        self.change = Change::Pool(enter);
        self
    }

    /// Makes the value a setting of semi-synchronous replication.
    pub const fn semi_sync(mut self, enter: fn(&SemiSync, &Setting)) -> Definition {
        self.change = Change::SemiSync(enter);
        self
    }

    /// Makes `follow` run after the value is stored.
    pub const fn after(mut self, follow: fn(&Server)) -> Definition {
        self.change = Change::After(follow);
        self
    }

    /// Makes `check` refuse values of SET GLOBAL, and `follow` run after the value is stored.
    pub const fn checked(mut self, check: Apply, follow: fn(&Server)) -> Definition {
        self.change = Change::Checked(check, follow);
        self
    }

    /// Makes SET GLOBAL carry out an action that leaves the value as it is.
    pub const fn command(mut self, act: Apply) -> Definition {
        self.change = Change::Command(act);
        self
    }

    /// Makes the global value one that is computed when it is read.
    pub const fn computed(mut self, compute: Compute) -> Definition {
        self.computed = Some(compute);
        self
    }
}
