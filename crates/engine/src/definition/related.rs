//! Tables and their foreign keys: the indexes that lead along a key, the names that follow a
//! rename, and the text of a constraint.

use super::foreign_key::{ForeignKeyDef, ReferentialAction};
use super::index::{IndexColumn, IndexDef, IndexRef};
use super::name::same_name;
use super::table::TableDef;

impl TableDef {
    /// Returns the position of the foreign key with this name.
    pub fn foreign_key(&self, name: &str) -> Option<usize> {
        self.foreign_keys.iter().position(|foreign_key| same_name(&foreign_key.name, name))
    }

    /// Returns the positions of the columns with these names; `None` when one is missing.
    pub fn positions(&self, names: &[String]) -> Option<Vec<usize>> {
        names.iter().map(|name| self.column(name)).collect()
    }

    /// Returns the index that leads to rows by these columns, in this order: the primary key or a
    /// unique index of just these columns first, otherwise any index that begins with them.
    pub fn index_on(&self, columns: &[usize]) -> Option<IndexRef> {
        self.unique_index_on(columns).or_else(|| {
            self.all_indexes().find(|(_, _, parts)| begins_with(parts, columns)).map(|(index, ..)| index)
        })
    }

    /// Reports whether a foreign key of these columns needs no index of its own: an index that
    /// begins with them was made for something else, or a longer one was made for another foreign
    /// key. As in MySQL, an index in which one of the columns descends does not serve.
    pub fn serves_foreign_key(&self, columns: &[usize]) -> bool {
        let leads = |parts: &[IndexColumn]| {
            begins_with(parts, columns) && parts.iter().take(columns.len()).all(|part| !part.descending)
        };
        let serves = |index: &IndexDef| {
            !self.is_multi_valued(index)
                && leads(&index.columns)
                && (!index.generated || index.columns.len() > columns.len())
        };
        self.primary.as_deref().is_some_and(leads) || self.indexes.iter().any(serves)
    }

    /// Reports whether one of the parts of an index is an array.
    pub fn is_multi_valued(&self, index: &IndexDef) -> bool {
        index.columns.iter().any(|part| self.columns[part.column].elements.is_some())
    }

    /// Removes the indexes that were made for foreign keys if another index begins with their
    /// columns: as in MySQL they make way for whatever index serves. Of two with the same columns
    /// the later one stays.
    pub fn drop_redundant_indexes(&mut self) {
        for at in (0..self.indexes.len()).rev() {
            let index = &self.indexes[at];
            let columns: Vec<usize> = index.columns.iter().map(|part| part.column).collect();
            let is_again = |other: &IndexDef| other.generated && begins_with(&other.columns, &columns);
            let is_redundant =
                self.serves_foreign_key(&columns) || self.indexes[at + 1..].iter().any(is_again);
            if index.generated && is_redundant {
                self.indexes.remove(at);
                self.close_gap_in_order(at);
            }
        }
    }

    /// Returns the primary key or the unique index of these columns and no others, in this order.
    pub fn unique_index_on(&self, columns: &[usize]) -> Option<IndexRef> {
        self.all_indexes()
            .find(|(_, unique, parts)| *unique && parts.len() == columns.len() && begins_with(parts, columns))
            .map(|(index, ..)| index)
    }

    fn all_indexes(&self) -> impl Iterator<Item = (IndexRef, bool, &[IndexColumn])> {
        let primary = self.primary.iter().map(|parts| (IndexRef::Primary, true, &parts[..]));
        // A multi-valued index does not lead to all rows.
        let secondary = self.indexes.iter().enumerate().filter(|(_, index)| !self.is_multi_valued(index));
        primary
            .chain(secondary.map(|(at, index)| (IndexRef::Secondary(at), index.unique, &index.columns[..])))
    }

    /// Gives the table another name, and with it the names of its constraints that were made from
    /// the old one.
    pub fn rename(&mut self, schema: &str, name: &str) {
        let (generated, of_checks) = (format!("{}_ibfk_", self.name), format!("{}_chk_", self.name));
        for check in &mut self.checks {
            if let Some(number) = check.name.strip_prefix(&of_checks) {
                check.name = format!("{name}_chk_{number}");
            }
        }
        for foreign_key in &mut self.foreign_keys {
            if foreign_key.is_about(&self.schema, &self.name) {
                (foreign_key.parent_schema, foreign_key.parent_table) = (schema.to_owned(), name.to_owned());
            }
            if let Some(number) = foreign_key.name.strip_prefix(&generated) {
                foreign_key.name = format!("{name}_ibfk_{number}");
            }
        }
        (self.schema, self.name) = (schema.to_owned(), name.to_owned());
    }

    /// Gives columns other names (from, to), in the table's references to itself too.
    pub(crate) fn rename_columns(&mut self, renamed: &[(String, String)]) {
        for column in &mut self.columns {
            if let Some((_, to)) = renamed.iter().find(|(from, _)| same_name(from, &column.name)) {
                column.name.clone_from(to);
            }
        }
        for key in &mut self.foreign_keys {
            if key.is_about(&self.schema, &self.name) {
                key.rename_parent_columns(renamed);
            }
        }
    }

    /// Returns the definition of a child after its parent has changed to another name or has
    /// `renamed` columns (from, to). `None` means that the child's definition stays as it is.
    pub(crate) fn following(
        &self,
        old: &TableDef,
        new: &TableDef,
        renamed: &[(String, String)],
    ) -> Option<TableDef> {
        let mut def = self.clone();
        for foreign_key in def.foreign_keys.iter_mut().filter(|key| key.is_about(&old.schema, &old.name)) {
            (foreign_key.parent_schema, foreign_key.parent_table) = (new.schema.clone(), new.name.clone());
            foreign_key.rename_parent_columns(renamed);
        }
        (def != *self).then_some(def)
    }
}

fn begins_with(parts: &[IndexColumn], columns: &[usize]) -> bool {
    let leads = parts.iter().zip(columns).all(|(part, &at)| part.column == at && part.prefix.is_none());
    parts.len() >= columns.len() && leads
}

/// The texts of a constraint, which name the columns of the table that has it.
impl ForeignKeyDef {
    /// Returns the constraint of the table `child` as SHOW CREATE TABLE shows it.
    pub fn clause(&self, child: &TableDef) -> String {
        let (delete, update) = (self.on_delete, self.on_update);
        let action = |event: &str, action: ReferentialAction| match action {
            ReferentialAction::NoAction => String::new(),
            action => format!(" ON {event} {}", action.name()),
        };
        format!("{}{}{}", self.reference(child), action("DELETE", delete), action("UPDATE", update))
    }

    /// Returns the constraint as error messages show it, which do not know SET DEFAULT.
    pub(crate) fn described(&self, child: &TableDef) -> String {
        let known =
            |action| if action == ReferentialAction::SetDefault { Default::default() } else { action };
        let shown = ForeignKeyDef {
            on_delete: known(self.on_delete),
            on_update: known(self.on_update),
            ..self.clone()
        };
        format!("{}.{}, {}", quoted(&child.schema), quoted(&child.name), shown.clause(child))
    }

    /// Returns the constraint without its actions.
    pub(crate) fn reference(&self, child: &TableDef) -> String {
        let columns: Vec<String> = self.columns.iter().map(|&at| quoted(&child.columns[at].name)).collect();
        let parent_columns: Vec<String> = self.parent_columns.iter().map(|name| quoted(name)).collect();
        let parent = match self.parent_schema == child.schema {
            true => quoted(&self.parent_table),
            false => format!("{}.{}", quoted(&self.parent_schema), quoted(&self.parent_table)),
        };
        format!(
            "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {parent} ({})",
            quoted(&self.name),
            columns.join(", "),
            parent_columns.join(", "),
        )
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{ColumnDef, IndexColumn, IndexDef};
    use types::ColumnType;

    fn child() -> TableDef {
        let mut def = TableDef::new("shop", "lines");
        for name in ["a", "b"] {
            def.columns.push(ColumnDef::new(name, ColumnType::int(false)));
        }
        def.indexes.push(IndexDef {
            id: 1,
            name: "ba".into(),
            unique: false,
            columns: vec![IndexColumn::whole(1), IndexColumn::whole(0)],
            comment: String::new(),
            invisible: false,
            generated: false,
            using_btree: false,
        });
        def.foreign_keys.push(ForeignKeyDef {
            name: "lines_ibfk_7".into(),
            columns: vec![1],
            parent_schema: "shop".into(),
            parent_table: "lines".into(),
            parent_columns: vec!["a".into()],
            on_delete: ReferentialAction::SetDefault,
            on_update: ReferentialAction::Cascade,
        });
        def
    }

    #[test]
    fn an_index_serves_the_columns_that_it_begins_with() {
        let def = child();
        assert_eq!(def.index_on(&[1]), Some(IndexRef::Secondary(0)));
        assert_eq!(def.index_on(&[1, 0]), Some(IndexRef::Secondary(0)));
        assert_eq!(def.index_on(&[0]), None);
        assert_eq!(def.unique_index_on(&[1, 0]), None);
    }

    #[test]
    fn a_foreign_key_follows_its_tables_names() {
        let mut def = child();
        def.rename("store", "items");
        let foreign_key = &def.foreign_keys[0];
        assert!(foreign_key.is_about("store", "items"));
        assert_eq!(
            foreign_key.clause(&def),
            "CONSTRAINT `items_ibfk_7` FOREIGN KEY (`b`) REFERENCES `items` (`a`) ON DELETE SET DEFAULT ON UPDATE CASCADE"
        );
        assert!(!foreign_key.described(&def).contains("DEFAULT"));
        let mut parent = child();
        parent.rename("other", "parents");
        let followed = child().following(&child(), &parent, &[("A".into(), "z".into())]).unwrap();
        assert!(followed.foreign_keys[0].clause(&followed).contains("REFERENCES `other`.`parents` (`z`)"));
        assert_eq!(child().following(&parent, &child(), &[]), None);
    }
}
