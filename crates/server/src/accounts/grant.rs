//! GRANT and REVOKE of privileges, by MySQL's rules: who may, what of, and what becomes of the
//! accounts.

use super::change::Change;
use super::denied::no_such_grant;
use super::privileges::DYNAMIC;
use super::{
    Account, AccountName, Level, Privileges, RoutineName, needs_privilege, routine_denied, schema_denied,
};
use sql::SqlError;
use sql::admin::{Account as Named, GrantAs, GrantObject, GrantPrivilege, Lenience};
use std::collections::BTreeMap;

/// Privileges on `*.*` that do not hold in a schema.
type Restrictions = BTreeMap<String, Privileges>;

/// What GRANT or REVOKE is written on, with the current schema filled in.
enum Target {
    Global,
    Schema(String),
    Table(String, String),
    Routine { routine: RoutineName, written: String },
}

/// What a list of privileges means.
struct Asked {
    target: Target,
    /// Of REVOKE.
    is_revoke: bool,
    /// ALL was written.
    is_all: bool,
    /// GRANT OPTION was written as one of the privileges, not behind WITH.
    names_grant_option: bool,
    /// Static ones, without those on columns.
    set: Privileges,
    dynamic: Vec<String>,
    /// On columns, by name as the table has it where the table is there.
    columns: BTreeMap<String, Privileges>,
}

impl Asked {
    fn of_columns(&self) -> Privileges {
        self.columns.values().fold(Privileges::NONE, |all, set| all.with(*set))
    }
}

impl Change<'_> {
    /// GRANT.
    pub fn grant(
        &mut self,
        privileges: &[GrantPrivilege],
        on: &GrantObject,
        to: &[Named],
        with_grant_option: bool,
        grantor: Option<&GrantAs>,
    ) -> Result<(), SqlError> {
        let mut asked = self.ask(privileges, on)?;
        if grantor.is_some() && !matches!(asked.target, Target::Global) {
            let text = "GRANT ... AS is currently supported only for global privileges.";
            return Err(SqlError::new(3835, text));
        }
        asked.names_grant_option = asked.set.contains(Privileges::grant_option());
        if with_grant_option {
            asked.set = asked.set.with(Privileges::grant_option());
        }
        self.check_asked(&asked)?;
        self.check_system_users(to)?;
        self.check_dynamic(&asked)?;
        check_level(&asked)?;
        self.check_object(&mut asked)?;
        let passed_on = match grantor {
            Some(grantor) => self.restrictions_of(grantor, asked.set)?,
            None => self.by.account.restrictions.clone(),
        };
        for named in to {
            let name = self.name(named);
            let Some(account) = self.table.get(&name) else {
                return Err(SqlError::new(1410, "You are not allowed to create a user with GRANT"));
            };
            if asked.dynamic.iter().any(|name| name == "SYSTEM_USER") && self.by.mandatory.contains(&name) {
                let role = super::roles::shown(&name);
                let text = format!(
                    "AuthId {role} is set as mandatory_roles. Cannot grant the 'SYSTEM_USER' privilege."
                );
                return Err(SqlError::new(3897, text));
            }
            let mut account = Account::clone(&account);
            self.grant_to(&mut account, &asked, with_grant_option, &passed_on)?;
            self.put(account);
        }
        Ok(())
    }

    /// Where the privileges that are granted in another's name do not hold for that one. No account
    /// gets rid of its own restrictions by it.
    fn restrictions_of(&self, grantor: &GrantAs, set: Privileges) -> Result<Restrictions, SqlError> {
        let refused = || {
            let text = "Either some of the authorization IDs in the AS clause are invalid or the current user lacks \
                        privileges to execute the statement.";
            SqlError::new(3836, text)
        };
        let account = self.table.get(&self.name(&grantor.account)).ok_or_else(refused)?;
        let name = |named: &Named| self.name(named);
        let roles = self.table.chosen_roles(&account, &grantor.roles, &self.by.mandatory, name);
        let restrictions = self.table.with_roles(&account, &roles.map_err(|_| refused())?).restrictions;
        let is_kept = |(schema, own): (&String, &Privileges)| {
            restrictions.get(schema).copied().unwrap_or_default().contains(own.common(set))
        };
        if self.by.account.restrictions.iter().all(is_kept) { Ok(restrictions) } else { Err(refused()) }
    }

    fn grant_to(
        &self,
        account: &mut Account,
        asked: &Asked,
        with_option: bool,
        passed_on: &Restrictions,
    ) -> Result<(), SqlError> {
        match &asked.target {
            Target::Global => {
                // Dynamic privileges have a grant option of their own each.
                let is_dynamic_only = !asked.dynamic.is_empty() && asked.set == Privileges::grant_option();
                let set = if is_dynamic_only { Privileges::NONE } else { asked.set };
                pass_restrictions(account, set, passed_on);
                account.global = account.global.with(set);
                if asked.names_grant_option {
                    // As MySQL does; WITH GRANT OPTION of other privileges leaves these alone.
                    account.dynamic.values_mut().for_each(|option| *option = true);
                }
                for name in asked.dynamic.iter().filter(|name| !asked.is_all || self.may_grant_dynamic(name))
                {
                    if !DYNAMIC.contains(&name.as_str()) {
                        return Err(SqlError::new(1149, SYNTAX_ERROR));
                    }
                    *account.dynamic.entry(name.clone()).or_default() |= with_option;
                }
            }
            Target::Schema(schema) => {
                let lifted = account.restrictions.get(schema).copied().unwrap_or_default().common(asked.set);
                if !lifted.is_empty() {
                    let left = account.restrictions.entry(schema.clone()).or_default();
                    *left = left.without(lifted);
                    account.restrictions.retain(|_, set| !set.is_empty());
                }
                let set = asked.set.without(lifted);
                if !set.is_empty() {
                    let had = account.schemas.entry(schema.clone()).or_default();
                    *had = had.with(set);
                }
            }
            Target::Table(schema, table) => {
                let place = (schema.clone(), table.clone());
                if !asked.set.is_empty() {
                    let had = account.tables.entry(place.clone()).or_default();
                    *had = had.with(asked.set);
                }
                for (column, set) in &asked.columns {
                    let columns = account.columns.entry(place.clone()).or_default();
                    let had = columns.entry(column.clone()).or_default();
                    *had = had.with(*set);
                }
            }
            Target::Routine { routine, .. } if !asked.set.is_empty() => {
                let had = account.routines.entry(routine.clone()).or_default();
                *had = had.with(asked.set);
            }
            Target::Routine { .. } => {}
        }
        Ok(())
    }

    /// REVOKE. `on` is `None` for REVOKE ALL PRIVILEGES, GRANT OPTION FROM.
    pub fn revoke(
        &mut self,
        privileges: &[GrantPrivilege],
        on: Option<&GrantObject>,
        from: &[Named],
        lenience: Lenience,
    ) -> Result<(), SqlError> {
        // MySQL takes ALL ON *.* as ALL PRIVILEGES, GRANT OPTION.
        let is_all = *privileges == [GrantPrivilege { name: "ALL".into(), columns: Vec::new() }];
        let Some(on) = on.filter(|on| !is_all || **on != GrantObject::Global) else {
            return self.revoke_all(from, lenience);
        };
        let asked = Asked { is_revoke: true, ..self.ask(privileges, on)? };
        self.check_asked(&asked)?;
        self.check_system_users(from)?;
        self.check_dynamic(&asked)?;
        check_level(&asked)?;
        for named in from {
            let name = self.name(named);
            let Some(account) = self.table.get(&name) else {
                if lenience.ignore_unknown_user {
                    self.warn(3162, format!("Authorization ID {} does not exist.", name.0));
                    continue;
                }
                return Err(not_granted(&name, &asked.target));
            };
            let mut account = Account::clone(&account);
            if self.revoke_from(&mut account, &asked).is_some() {
                self.put(account);
            } else {
                let error = not_granted(&name, &asked.target);
                if !lenience.if_exists {
                    return Err(error);
                }
                self.warn(error.code, error.message);
            }
        }
        Ok(())
    }

    /// Takes the privileges away; `None` when some are not held there.
    fn revoke_from(&self, account: &mut Account, asked: &Asked) -> Option<()> {
        match &asked.target {
            Target::Global => {
                account.global = account.global.without(asked.set);
                account.dynamic.retain(|name, _| !asked.dynamic.contains(name));
                let global = account.global;
                account.restrictions.retain(|_, set| {
                    *set = set.common(global);
                    !set.is_empty()
                });
            }
            Target::Schema(schema) => return self.revoke_from_schema(account, schema, asked),
            Target::Table(schema, table) => {
                return revoke_from_table(account, &(schema.clone(), table.clone()), asked);
            }
            Target::Routine { routine, .. } => {
                let held = account.routines.get(routine).copied()?;
                if !asked.is_all && !asked.set.without(held).is_empty() {
                    return None;
                }
                account.routines.insert(routine.clone(), held.without(asked.set));
                account.routines.retain(|_, set| !set.is_empty());
            }
        }
        Some(())
    }

    fn revoke_from_schema(&self, account: &mut Account, schema: &str, asked: &Asked) -> Option<()> {
        let held = account.schemas.get(schema).copied();
        let global = match self.by.partial_revokes {
            true => account.global.common(asked.set).without(Privileges::grant_option()),
            false => Privileges::NONE,
        };
        let missing = asked.set.without(held.unwrap_or_default()).without(global);
        if held.is_none() && global.is_empty() || !asked.is_all && !missing.is_empty() {
            return None;
        }
        if let Some(held) = account.schemas.get_mut(schema) {
            *held = held.without(asked.set);
        }
        account.schemas.retain(|_, set| !set.is_empty());
        // What was granted on the schema itself is taken from there, and what holds through `*.*`
        // is restricted.
        let restricted = match asked.is_all {
            true => global,
            false => global.without(held.unwrap_or_default()),
        };
        if !restricted.is_empty() {
            let set = account.restrictions.entry(schema.to_owned()).or_default();
            *set = set.with(restricted);
        }
        Some(())
    }

    fn revoke_all(&mut self, from: &[Named], lenience: Lenience) -> Result<(), SqlError> {
        self.require_create_user("UPDATE")?;
        self.check_system_users(from)?;
        for named in from {
            let name = self.name(named);
            let Some(account) = self.table.get(&name) else {
                if lenience.ignore_unknown_user {
                    self.warn(3162, format!("Authorization ID {} does not exist.", name.0));
                    continue;
                }
                let text = "Can't revoke all privileges for one or more of the requested users";
                return Err(SqlError::new(1269, text));
            };
            let mut account = Account::clone(&account);
            account.global = Privileges::NONE;
            account.dynamic.clear();
            account.schemas.clear();
            account.tables.clear();
            account.columns.clear();
            account.routines.clear();
            account.restrictions.clear();
            self.put(account);
        }
        Ok(())
    }

    /// What a list of privileges on an object means.
    fn ask(&self, privileges: &[GrantPrivilege], on: &GrantObject) -> Result<Asked, SqlError> {
        let current = |written: &Option<String>| {
            let schema = written.clone().or_else(|| self.schema.clone());
            schema.ok_or_else(SqlError::no_schema_selected)
        };
        let target = match on {
            GrantObject::Global => Target::Global,
            GrantObject::CurrentSchema => Target::Schema(current(&None)?),
            GrantObject::Schema(schema) => Target::Schema(schema.clone()),
            GrantObject::Table { schema, table } => Target::Table(current(schema)?, table.clone()),
            GrantObject::Routine { is_function, schema, name } => {
                let routine = RoutineName::new(*is_function, &current(schema)?, name);
                Target::Routine { routine, written: name.clone() }
            }
        };
        let mut asked = Asked {
            target,
            is_revoke: false,
            is_all: false,
            names_grant_option: false,
            set: Privileges::NONE,
            dynamic: Vec::new(),
            columns: BTreeMap::new(),
        };
        for privilege in privileges {
            asked.add(privilege);
        }
        Ok(asked)
    }

    /// Errors 1045, 1044 and 1142 unless the grantor has the static privileges, with GRANT OPTION,
    /// where they are granted.
    fn check_asked(&self, asked: &Asked) -> Result<(), SqlError> {
        if self.by.is_unchecked {
            return Ok(());
        }
        let account = &self.by.account;
        let is_dynamic_only = asked.set.is_empty() && !asked.dynamic.is_empty();
        let wanted = asked.set.with(asked.of_columns()).with(Privileges::grant_option());
        match &asked.target {
            Target::Global if is_dynamic_only || account.global.contains(wanted) => Ok(()),
            Target::Global => Err(self.global_denied()),
            Target::Schema(schema)
            | Target::Table(schema, _)
            | Target::Routine { routine: RoutineName { schema, .. }, .. }
                if schema.eq_ignore_ascii_case("information_schema") =>
            {
                Err(schema_denied(&account.shown(), schema))
            }
            Target::Schema(schema) => {
                if account.on_schema(schema).contains(wanted) {
                    return Ok(());
                }
                let schema_level = Privileges::all(Level::Schema).with(Privileges::grant_option());
                match wanted.without(account.global).without(schema_level).is_empty() {
                    true => Err(schema_denied(&account.shown(), schema)),
                    false => Err(self.global_denied()),
                }
            }
            Target::Table(schema, table) => self.check_on_table(schema, table, asked, wanted),
            Target::Routine { routine, written } => self.check_on_routine(routine, written, wanted),
        }
    }

    fn check_on_routine(
        &self,
        routine: &RoutineName,
        written: &str,
        wanted: Privileges,
    ) -> Result<(), SqlError> {
        let account = &self.by.account;
        let held = account.on_schema(&routine.schema).with(account.on_routine_itself(routine));
        let missing = wanted.without(held);
        if missing.is_empty() {
            return Ok(());
        }
        let named = ["ALTER ROUTINE", "EXECUTE"]
            .into_iter()
            .find(|name| missing.contains(Privileges::named(name).unwrap_or_default()));
        let object = format!("{}.{written}", routine.schema);
        Err(routine_denied(named.unwrap_or("GRANT"), &account.shown(), &object))
    }

    fn check_on_table(
        &self,
        schema: &str,
        table: &str,
        asked: &Asked,
        wanted: Privileges,
    ) -> Result<(), SqlError> {
        let account = &self.by.account;
        let on_schema = account.on_schema(schema);
        let table_level = Privileges::all(Level::Table).with(Privileges::grant_option());
        let schema_level = Privileges::all(Level::Schema).with(Privileges::grant_option());
        let beyond = wanted.without(on_schema).without(table_level);
        if !beyond.without(schema_level).is_empty() {
            return Err(self.global_denied());
        }
        if !beyond.is_empty() {
            return Err(schema_denied(&account.shown(), schema));
        }
        if !asked.dynamic.is_empty() {
            return check_level(asked);
        }
        let held = on_schema.with(account.on_table_itself(schema, table));
        let on_columns = held.with(account.on_columns_of(schema, table));
        let of_table = asked.set.with(Privileges::grant_option());
        let missing = of_table.with(asked.of_columns()).without(on_columns);
        // What is held on columns alone is told only where nothing else is missing, and is enough
        // to revoke.
        let missing = if missing.is_empty() && !asked.is_revoke { of_table.without(held) } else { missing };
        if !missing.is_empty() {
            return Err(self.table_denied(&missing.names().join(", "), table));
        }
        for (column, set) in &asked.columns {
            let missing = set.without(held).without(account.on_column_itself(schema, table, column));
            if let Some(first) = missing.names().first() {
                let text = format!(
                    "{first} command denied to user '{}'@'{}' for column '{column}' in table '{table}'",
                    account.user, self.by.client_host
                );
                return Err(SqlError::new(1143, text));
            }
        }
        Ok(())
    }

    /// Whether the grantor may pass a dynamic privilege on.
    fn may_grant_dynamic(&self, name: &str) -> bool {
        self.by.is_unchecked || self.by.account.dynamic.get(name).is_some_and(|option| *option)
    }

    fn check_dynamic(&self, asked: &Asked) -> Result<(), SqlError> {
        if asked.is_all || !matches!(asked.target, Target::Global) {
            return Ok(());
        }
        let may_grant_some = self.by.is_unchecked || self.by.account.dynamic.values().any(|option| *option);
        for name in &asked.dynamic {
            let is_known = DYNAMIC.contains(&name.as_str());
            if is_known && !self.may_grant_dynamic(name) || !is_known && !may_grant_some {
                return Err(needs_privilege("GRANT OPTION"));
            }
        }
        Ok(())
    }

    /// Errors 1146, 1054 and 1305 for what is not there; CREATE may be granted before its table.
    fn check_object(&self, asked: &mut Asked) -> Result<(), SqlError> {
        let (schema, table) = match &asked.target {
            Target::Table(schema, table) => (schema.clone(), table.clone()),
            Target::Routine { routine, .. } if (self.by.has_routine)(routine) => return Ok(()),
            Target::Routine { routine, written } => {
                let kind = if routine.is_function { "FUNCTION" } else { "PROCEDURE" };
                return Err(SqlError::new(1305, format!("{kind} {written} does not exist")));
            }
            _ => return Ok(()),
        };
        let columns = (self.by.columns_of)(&schema, &table);
        let Some(there) = columns else {
            let create = Privileges::named("CREATE").unwrap_or_default();
            if asked.set.contains(create) {
                return Ok(());
            }
            if !asked.columns.is_empty() && !(self.by.has_schema)(&schema) {
                return Err(SqlError::unknown_schema(&schema));
            }
            return Err(SqlError::new(1146, format!("Table '{schema}.{table}' doesn't exist")));
        };
        let mut named = BTreeMap::new();
        for (column, set) in &asked.columns {
            let Some(name) = there.iter().find(|name| name.eq_ignore_ascii_case(column)) else {
                return Err(SqlError::new(1054, format!("Unknown column '{column}' in '{table}'")));
            };
            let all: &mut Privileges = named.entry(name.clone()).or_default();
            *all = all.with(*set);
        }
        asked.columns = named;
        Ok(())
    }
}

/// An account that is restricted in a schema passes the privilege on with that restriction; one
/// that is not lifts it.
fn pass_restrictions(account: &mut Account, set: Privileges, grantor: &Restrictions) {
    for (schema, held) in &mut account.restrictions {
        let own = grantor.get(schema).copied().unwrap_or_default();
        *held = held.without(set.without(own));
    }
    for (schema, own) in grantor {
        let new = own.common(set).without(account.global);
        let held = account.restrictions.entry(schema.clone()).or_default();
        *held = held.with(new);
    }
    account.restrictions.retain(|_, held| !held.is_empty());
}

/// The message of error 1149.
const SYNTAX_ERROR: &str = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL \
                            server version for the right syntax to use";

/// Errors for privileges that cannot be granted at the level that was written.
fn check_level(asked: &Asked) -> Result<(), SqlError> {
    let illegal = || {
        let text =
            "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used";
        SqlError::new(1144, text)
    };
    let not_here = |what: &str| SqlError::new(3619, format!("Illegal privilege level specified for {what}"));
    let outside = |level| asked.set.without(Privileges::all(level)).without(Privileges::grant_option());
    match &asked.target {
        Target::Global if !asked.columns.is_empty() => Err(illegal()),
        Target::Global => Ok(()),
        Target::Schema(_) => match asked.dynamic.first() {
            _ if !asked.columns.is_empty() => Err(illegal()),
            Some(name) => Err(not_here(name)),
            None if outside(Level::Schema).is_empty() => Ok(()),
            None => Err(SqlError::new(1221, "Incorrect usage of DB GRANT and GLOBAL PRIVILEGES")),
        },
        Target::Table(_, table) => {
            if !asked.dynamic.is_empty() {
                return Err(not_here(table));
            }
            if outside(Level::Table).is_empty() { Ok(()) } else { Err(illegal()) }
        }
        Target::Routine { written, .. } => {
            if !asked.dynamic.is_empty() {
                return Err(not_here(written));
            }
            let is_legal = outside(Level::Routine).is_empty() && asked.columns.is_empty();
            if is_legal { Ok(()) } else { Err(illegal()) }
        }
    }
}

impl Asked {
    fn add(&mut self, privilege: &GrantPrivilege) {
        let name = privilege.name.as_str();
        if name == "USAGE" {
            return;
        }
        if name == "ALL" {
            self.is_all = true;
            let level = match self.target {
                Target::Global => Level::Global,
                Target::Schema(_) => Level::Schema,
                Target::Table(..) => Level::Table,
                Target::Routine { .. } => Level::Routine,
            };
            self.set = self.set.with(Privileges::all(level));
            if level == Level::Global {
                self.dynamic.extend(DYNAMIC.iter().map(|d| (*d).to_owned()));
            }
            return;
        }
        match Privileges::named(name) {
            Some(set) if privilege.columns.is_empty() => self.set = self.set.with(set),
            Some(set) => {
                for column in &privilege.columns {
                    let all = self.columns.entry(column.clone()).or_default();
                    *all = all.with(set);
                }
            }
            None => self.dynamic.push(name.to_owned()),
        }
    }
}

fn revoke_from_table(account: &mut Account, place: &(String, String), asked: &Asked) -> Option<()> {
    let held = account.tables.get(place).copied();
    let columns = account.columns.get(place).cloned().unwrap_or_default();
    let on_columns = columns.values().fold(Privileges::NONE, |all, set| all.with(*set));
    if held.is_none() && columns.is_empty() {
        return None;
    }
    let held = held.unwrap_or_default();
    if !asked.is_all && !asked.set.without(held).without(on_columns).is_empty() {
        return None;
    }
    let mut left = columns;
    for (column, set) in &asked.columns {
        let had = left.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case(column)).map(|(_, set)| set)?;
        if !had.contains(*set) {
            return None;
        }
        *had = had.without(*set);
    }
    for set in left.values_mut() {
        *set = set.without(asked.set);
    }
    left.retain(|_, set| !set.is_empty());
    let on_table = held.without(asked.set);
    account.tables.remove(place);
    account.columns.remove(place);
    if !on_table.is_empty() {
        account.tables.insert(place.clone(), on_table);
    }
    if !left.is_empty() {
        account.columns.insert(place.clone(), left);
    }
    Some(())
}

/// Errors 1141, 1147 and 1403.
fn not_granted(name: &AccountName, target: &Target) -> SqlError {
    let of_user = no_such_grant(name);
    match target {
        Target::Global | Target::Schema(_) => of_user,
        Target::Table(_, table) => SqlError::new(1147, format!("{} on table '{table}'", of_user.message)),
        Target::Routine { written, .. } => {
            SqlError::new(1403, format!("{} on routine '{written}'", of_user.message))
        }
    }
}
