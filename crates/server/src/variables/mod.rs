//! System variables: the registry, global values, each session's values.
//!
//! Everything about a variable stands in its definition, in `table`: scope, type, range, default,
//! who may set it, what it does, where it differs from MySQL, and what setting its global value
//! changes in the running server. What takes more than a line of that is a function in `pool`,
//! `replication`, `server` or `gtids`. `docs/variables.md` is made from the definitions.
//!
//! A variable is found by its name in any case, with dashes or underscores where an option is
//! meant. Global values are one immutable snapshot that SET GLOBAL replaces; a session keeps the
//! snapshot it started with, as MySQL's sessions keep the values of their start, and its own
//! changes over it.

pub mod definition;
mod effects;
mod from_sql;
pub mod gtids;
mod page;
mod pool;
mod replication;
mod server;
pub mod setting;
mod store;
mod table;

pub use definition::{Definition, Kind, Scope};
pub use effects::{
    check_global, check_has_global, enter_all, enter_semi_sync, global_now, read_only, session_read_only,
    set_global,
};
pub use page::page;
pub use pool::pool_options;
pub use setting::{BadValue, Setting};
pub use store::{Globals, SessionValues};

use std::sync::OnceLock;

/// The place of a variable in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(usize);

impl VariableId {
    /// Its definition.
    pub fn definition(self) -> &'static Definition {
        registry()[self.0]
    }
}

/// All variables, sorted by name.
fn registry() -> &'static [&'static Definition] {
    static REGISTRY: OnceLock<Vec<&'static Definition>> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut all: Vec<&Definition> = table::ALL.iter().flat_map(|part| part.iter()).collect();
        all.sort_by_key(|d| d.name);
        all
    })
}

/// All variables, sorted by name.
pub fn all() -> impl Iterator<Item = VariableId> {
    (0..registry().len()).map(VariableId)
}

/// All names that stand for another variable, with that variable.
pub fn aliases() -> impl Iterator<Item = (&'static str, VariableId)> {
    table::ALIASES.iter().filter_map(|&(old, new)| Some((old, find(new)?)))
}

/// Finds a variable by its name, or by an older name of it.
pub fn find(name: &str) -> Option<VariableId> {
    let name = name.to_ascii_lowercase();
    let exact = |name: &str| registry().binary_search_by_key(&name, |d| d.name).ok().map(VariableId);
    exact(&name).or_else(|| {
        let (_, new) = table::ALIASES.iter().find(|(old, _)| *old == name)?;
        exact(new)
    })
}

#[cfg(test)]
mod tests {
    use super::definition::Change;
    use super::*;

    #[test]
    fn every_definition_is_whole() {
        for pair in registry().windows(2) {
            assert!(pair[0].name < pair[1].name, "{} is there twice", pair[0].name);
        }
        for id in all() {
            let d = id.definition();
            assert_eq!(find(d.name), Some(id));
            assert_eq!(d.name, d.name.to_ascii_lowercase());
            let _in_range = d.default_setting();
            assert!(d.about.ends_with('.'), "{}: what does it do?", d.name);
            assert!(d.differs.is_empty() || d.differs.ends_with('.'), "{}: {}", d.name, d.differs);
            let changes = !matches!(d.change, Change::Nothing);
            assert!(d.has_effect || !changes, "{} has an effect after all", d.name);
            assert!(!d.read_only || !changes, "{} cannot be set, so that nothing follows", d.name);
        }
        for (old, new) in table::ALIASES {
            assert!(find(new).is_some(), "{old} stands for {new}, which does not exist");
            assert_eq!(find(old), find(new));
        }
    }

    #[test]
    fn variables_are_found_in_any_case_and_by_older_names() {
        assert_eq!(find("SERVER_ID").map(|id| id.definition().name), Some("server_id"));
        assert_eq!(
            find("slave_parallel_workers").map(|id| id.definition().name),
            Some("replica_parallel_workers")
        );
        assert_eq!(find("no_such_variable"), None);
    }
}
