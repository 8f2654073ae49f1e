//! All variables, found by their names.

use super::store::{Globals, VariableId};
use super::{Definition, table};
use std::sync::OnceLock;

impl VariableId {
    /// Returns the variable's definition.
    pub fn definition(self) -> &'static Definition {
        registry()[self.0]
    }
}

/// Returns the global values of a server that has been given no options.
pub fn default_globals() -> Globals {
    Globals::new(all().map(|id| id.definition().default_setting()).collect(), find)
}

/// Returns the definitions of all variables, sorted by name.
fn registry() -> &'static [&'static Definition] {
    static REGISTRY: OnceLock<Vec<&'static Definition>> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut all: Vec<&Definition> = table::ALL.iter().flat_map(|part| part.iter()).collect();
        all.sort_by_key(|d| d.name);
        all
    })
}

/// Returns all variables, sorted by name.
pub fn all() -> impl Iterator<Item = VariableId> {
    (0..registry().len()).map(VariableId)
}

/// Returns all names that stand for another variable, with that variable.
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
    use super::super::Setting;
    use super::super::definition::Change;
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
            let follows_start = matches!(d.change, Change::Entered(_));
            assert!(
                !d.read_only || !changes || follows_start,
                "{} cannot be set, so that nothing follows but the start",
                d.name
            );
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

    #[test]
    fn a_session_keeps_the_values_of_its_start() {
        let globals = default_globals();
        let id = find("wait_timeout").unwrap();
        let mut old = globals.session();
        globals.set(id, Setting::UInt(5));
        assert_eq!((old.get(id), globals.session().get(id)), (Setting::UInt(28_800), Setting::UInt(5)));
        old.set(id, Setting::UInt(7));
        assert_eq!((old.get(id), globals.get(id)), (Setting::UInt(7), Setting::UInt(5)));
    }

    #[test]
    fn read_only_is_what_was_set_last() {
        let globals = default_globals();
        assert!(!globals.is_read_only());
        globals.set_named("read_only", Setting::Bool(true));
        assert!(globals.is_read_only());
        globals.set_named("read_only", Setting::Bool(false));
        assert!(!globals.is_read_only());
    }
}
