//! The rights of an account: the sum of its grants over the levels.

use super::{Account, Privileges, RoutineName, host_pattern};
use std::collections::BTreeSet;

impl Account {
    /// Returns the privileges that hold on all of a schema, through `*.*` or `pattern.*`.
    pub fn on_schema(&self, schema: &str) -> Privileges {
        self.global_in(schema).with(self.granted_on_schema(schema))
    }

    /// Returns the privileges that hold on a schema through `*.*`, without those that were revoked
    /// from the schema.
    pub fn global_in(&self, schema: &str) -> Privileges {
        match self.restrictions.get(schema) {
            Some(restricted) => self.global.without(*restricted),
            None => self.global,
        }
    }

    /// Returns the privileges that were granted on the schema by its name or a pattern.
    pub fn granted_on_schema(&self, schema: &str) -> Privileges {
        self.schemas
            .iter()
            .filter(|(pattern, _)| pattern.as_str() == schema || host_pattern::like(pattern, schema))
            .fold(Privileges::NONE, |all, (_, more)| all.with(*more))
    }

    /// Returns the privileges that were granted on a table itself. Others may hold there through
    /// `*.*` or `pattern.*`.
    pub fn on_table_itself(&self, schema: &str, table: &str) -> Privileges {
        self.tables.get(&(schema.to_owned(), table.to_owned())).copied().unwrap_or(Privileges::NONE)
    }

    /// Returns the privileges that were granted on single tables of a schema and on their columns.
    pub fn on_tables_of<'a>(&'a self, schema: &'a str) -> impl Iterator<Item = Privileges> + 'a {
        let tables = self.tables.iter().filter(move |((of, _), _)| of == schema).map(|(_, held)| *held);
        let columns = self.columns.iter().filter(move |((of, _), _)| of == schema);
        tables.chain(columns.flat_map(|(_, columns)| columns.values().copied()))
    }

    /// Returns the privileges that were granted on at least one column of a table.
    pub fn on_columns_of(&self, schema: &str, table: &str) -> Privileges {
        let columns = self.columns.get(&(schema.to_owned(), table.to_owned()));
        columns
            .into_iter()
            .flat_map(|columns| columns.values())
            .fold(Privileges::NONE, |all, of| all.with(*of))
    }

    /// Returns the privileges that were granted on a column itself.
    pub fn on_column_itself(&self, schema: &str, table: &str, column: &str) -> Privileges {
        let columns = self.columns.get(&(schema.to_owned(), table.to_owned()));
        let named = columns.into_iter().flatten().filter(|(name, _)| name.eq_ignore_ascii_case(column));
        named.fold(Privileges::NONE, |all, (_, of)| all.with(*of))
    }

    /// Returns the privileges that were granted on a stored routine itself.
    pub fn on_routine_itself(&self, routine: &RoutineName) -> Privileges {
        self.routines.get(routine).copied().unwrap_or(Privileges::NONE)
    }

    /// Reports whether a privilege was granted on a single routine of a schema.
    pub fn has_routines_in(&self, schema: &str) -> bool {
        self.routines.keys().any(|routine| routine.schema == schema)
    }

    /// Reports whether a privilege holds on a schema, through `*.*` or `pattern.*`.
    pub fn allows_schema(&self, privilege: Privileges, schema: &str) -> bool {
        self.restrictions.is_empty() && self.global.contains(privilege)
            || self.on_schema(schema).contains(privilege)
    }

    /// Reports whether a privilege holds on a table.
    pub fn allows_table(&self, privilege: Privileges, schema: &str, table: &str) -> bool {
        self.allows_schema(privilege, schema)
            || self.on_schema(schema).with(self.on_table_itself(schema, table)).contains(privilege)
    }

    /// Reports whether a privilege holds on a column.
    pub fn allows_column(&self, privilege: Privileges, schema: &str, table: &str, column: &str) -> bool {
        self.allows_table(privilege, schema, table)
            || self.on_column_itself(schema, table, column).contains(privilege)
    }

    /// Reports whether the account may know that a schema exists and make it the current one.
    pub fn sees_schema(&self, schema: &str) -> bool {
        let plain = Privileges::named("SUPER").unwrap_or_default().with(Privileges::grant_option());
        !self.on_schema(schema).without(plain).is_empty()
            || self.on_tables_of(schema).next().is_some()
            || self.has_routines_in(schema)
    }

    /// Reports whether only accounts with SYSTEM_USER may change the account.
    pub fn is_system_user(&self) -> bool {
        self.dynamic.contains_key("SYSTEM_USER")
    }

    /// Adds the rights of another account, as those of a role.
    pub fn add_rights_of(&mut self, role: &Account) {
        self.merge_restrictions(role);
        self.global = self.global.with(role.global);
        for (name, option) in &role.dynamic {
            *self.dynamic.entry(name.clone()).or_default() |= *option;
        }
        for (schema, set) in &role.schemas {
            let held = self.schemas.entry(schema.clone()).or_default();
            *held = held.with(*set);
        }
        for (table, set) in &role.tables {
            let held = self.tables.entry(table.clone()).or_default();
            *held = held.with(*set);
        }
        for (table, columns) in &role.columns {
            for (column, set) in columns {
                let held = self.columns.entry(table.clone()).or_default().entry(column.clone()).or_default();
                *held = held.with(*set);
            }
        }
        for (routine, set) in &role.routines {
            let held = self.routines.entry(routine.clone()).or_default();
            *held = held.with(*set);
        }
        for (proxied, option) in &role.proxied {
            *self.proxied.entry(proxied.clone()).or_default() |= *option;
        }
    }

    /// Merges the restrictions of a role. A privilege that either account holds in a schema is not
    /// restricted there by the other.
    fn merge_restrictions(&mut self, role: &Account) {
        let schemas: BTreeSet<String> =
            self.restrictions.keys().chain(role.restrictions.keys()).cloned().collect();
        let merged = schemas.into_iter().map(|schema| {
            let restricted = |account: &Account| {
                let set = account.restrictions.get(&schema).copied();
                set.unwrap_or(Privileges::NONE)
            };
            let either = restricted(self).with(restricted(role));
            let kept = either.without(self.global_in(&schema)).without(role.global_in(&schema));
            (schema, kept)
        });
        self.restrictions = merged.filter(|(_, kept)| !kept.is_empty()).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn privileges_add_up_over_the_levels() {
        let select = Privileges::named("SELECT").unwrap();
        let insert = Privileges::named("INSERT").unwrap();
        let mut a = Account { user: "a".into(), host: "%".into(), ..Account::default() };
        a.schemas.insert("app\\_%".into(), select);
        a.tables.insert(("other".into(), "t".into()), insert);
        assert!(a.allows_schema(select, "app_1") && !a.allows_schema(select, "appx1"));
        assert!(a.allows_table(select, "app_1", "t") && !a.allows_table(insert, "app_1", "t"));
        assert!(a.allows_table(insert, "other", "t") && !a.allows_table(insert, "other", "u"));
        assert!(!a.on_schema("app_2").is_empty() && a.on_schema("other").is_empty());
        assert_eq!(a.on_tables_of("other").collect::<Vec<_>>(), [insert]);
        assert!(!a.administers(&["CONNECTION_ADMIN"]));
    }
}
