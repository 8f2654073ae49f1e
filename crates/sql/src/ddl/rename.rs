//! The names in a RENAME TABLE, whose steps count in order: `a TO tmp, b TO a, tmp TO b` swaps.

use super::object_errors::exists;
use crate::error::{Result, SqlError};
use engine::{Catalog, ObjectChange, ObjectKind};
use std::collections::BTreeSet;

/// A schema and a name in it.
type Name<'n> = (&'n str, &'n str);

/// What the names stand for after the steps so far.
#[derive(Default)]
pub(super) struct Renames<'n> {
    /// The steps that are about tables, in order.
    pub tables: Vec<(Name<'n>, Name<'n>)>,
    /// The views, each with the name that it has now.
    pub views: Vec<ObjectChange>,
    /// The names to which tables were renamed.
    made: BTreeSet<Name<'n>>,
    /// The names from which tables were renamed.
    left: BTreeSet<Name<'n>>,
}

impl<'n> Renames<'n> {
    /// Takes the next step.
    ///
    /// # Errors
    /// Returns 1050 when a view has the new name, or the new name of a view is taken, and 1450 for
    /// a view that would come into another schema. What is wrong about tables alone is not looked
    /// for.
    pub fn add(&mut self, catalog: &Catalog, from: Name<'n>, to: Name<'n>) -> Result<()> {
        let Some(view) = self.view(catalog, from) else {
            if self.has_view(catalog, to) {
                return Err(exists(ObjectKind::View, to.1));
            }
            self.tables.push((from, to));
            self.made.remove(&from);
            self.left.insert(from);
            self.left.remove(&to);
            self.made.insert(to);
            return Ok(());
        };
        if from.0 != to.0 {
            let text = format!("Changing schema from '{}' to '{}' is not allowed.", from.0, to.0);
            return Err(SqlError::new(1450, text));
        }
        let has_table =
            self.made.contains(&to) || catalog.table(to.0, to.1).is_some() && !self.left.contains(&to);
        if has_table || self.has_view(catalog, to) {
            return Err(exists(ObjectKind::View, to.1));
        }
        let def = self.views[view].new.as_mut().expect("a renamed view stays");
        def.name = to.1.to_owned();
        Ok(())
    }

    /// Returns the index of the view that has the name now, which is a new one for a view that had
    /// it before the statement.
    fn view(&mut self, catalog: &Catalog, name: Name<'_>) -> Option<usize> {
        if let Some(at) = self.views.iter().position(|view| has_now(view, name)) {
            return Some(at);
        }
        let old = catalog.object(name.0, ObjectKind::View, name.1)?;
        if self.was_view(name) {
            return None;
        }
        let new = Some(old.def.clone());
        self.views.push(ObjectChange { old: Some(old), new });
        Some(self.views.len() - 1)
    }

    /// Reports whether a renamed view had this name before the statement.
    fn was_view(&self, name: Name<'_>) -> bool {
        let is_old = |view: &ObjectChange| {
            view.old.as_ref().is_some_and(|old| (old.def.schema.as_str(), old.def.name.as_str()) == name)
        };
        self.views.iter().any(is_old)
    }

    fn has_view(&self, catalog: &Catalog, name: Name<'_>) -> bool {
        self.views.iter().any(|view| has_now(view, name))
            || catalog.object(name.0, ObjectKind::View, name.1).is_some() && !self.was_view(name)
    }
}

fn has_now(view: &ObjectChange, name: Name<'_>) -> bool {
    view.new.as_ref().is_some_and(|def| (def.schema.as_str(), def.name.as_str()) == name)
}
