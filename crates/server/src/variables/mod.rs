//! System variables: the registry, the global values, and the values of each session.
//!
//! A variable's definition in `table` has everything about it: scope, type, range, default, the
//! privileges to set it, its purpose, its differences from MySQL, and the effect of setting its
//! global value on the running server. An effect that needs more than a line is a function in
//! `pool`, `replication`, `server` or `gtids`. `docs/variables.md` is made from the definitions.
//!
//! The modules build on each other. `setting` is a value, and `store` keeps the values of the
//! server and of a session, which `Server` owns. `definition` is what defines a variable, with the
//! function of a `Server` that applies its global value; `from_option` and `from_sql` make settings
//! by it. `table` has all definitions, `registry` finds one by its name, and `effects` and
//! `at_start` carry out the effects in the definitions. `of_session` is what one session sees and
//! sets. `persisted` is the file of the values that SET PERSIST keeps for later starts, and
//! `persist` puts them there.
//!
//! A variable is found by its name in any letter case, and for options with dashes or underscores.
//! Global values are one immutable snapshot, which SET GLOBAL replaces. A session keeps the
//! snapshot with which it started, as MySQL's sessions keep the values of their start, and its own
//! changes over it.

mod at_start;
pub mod definition;
mod effects;
mod event_scheduler;
mod from_option;
mod from_sql;
pub mod gtids;
mod of_session;
mod origin;
mod page;
mod persist;
mod persisted;
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
pub use of_session::{SessionVariables, check_scope, list_global, listed_name, settable};
pub use origin::Origin;
pub use page::page;
pub use persist::{apply_persisted, check_persist, open_persisted, persist, reset_persisted};
pub use persisted::Persisted;
pub use registry::{aliases, all, default_globals, find};
pub use replication::checksum_named;
pub use server::refused_commits;
pub use setting::Setting;
pub use store::{Globals, SessionValues, VariableId};
