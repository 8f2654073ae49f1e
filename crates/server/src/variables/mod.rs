//! System variables: the registry, global values, each session's values.
//!
//! Everything about a variable stands in its definition, in `table`: scope, type, range, default,
//! who may set it, what it does, where it differs from MySQL, and what setting its global value
//! changes in the running server. What takes more than a line of that is a function in `pool`,
//! `replication`, `server` or `gtids`. `docs/variables.md` is made from the definitions.
//!
//! From the bottom up: `setting` is a value and `store` keeps the values of the server and of a
//! session, which `Server` owns. `definition` says what a variable is, and which function of a
//! `Server` its global value enters; `from_option` and `from_sql` make settings by it. `table` has
//! all definitions, `registry` finds one by its name, and `effects` and `at_start` carry out what
//! the definitions say. `of_session` is what one session sees and sets.
//!
//! A variable is found by its name in any case, with dashes or underscores where an option is
//! meant. Global values are one immutable snapshot that SET GLOBAL replaces; a session keeps the
//! snapshot it started with, as MySQL's sessions keep the values of their start, and its own
//! changes over it.

mod at_start;
pub mod definition;
mod effects;
mod event_scheduler;
mod from_option;
mod from_sql;
pub mod gtids;
mod of_session;
mod page;
mod pool;
mod registry;
mod replication;
mod server;
mod setting;
mod store;
mod table;

pub use at_start::{enter_all, enter_semi_sync, pool_options};
pub use definition::{Definition, Kind, Scope};
pub use effects::{check_global, check_has_global, global_now, read_only, session_read_only, set_global};
pub use event_scheduler::begin_events;
pub use from_option::{BadValue, parse_bool};
pub use of_session::{SessionVariables, check_scope, settable};
pub use page::page;
pub use registry::{aliases, all, default_globals, find};
pub use replication::checksum_named;
pub use setting::Setting;
pub use store::{Globals, SessionValues, VariableId};
