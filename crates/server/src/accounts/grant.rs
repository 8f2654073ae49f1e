//! GRANT and REVOKE of privileges, by MySQL's rules: the changes to accounts.
//! [`super::grant_check`] decides whether the statements are allowed.

use super::change::{By, Change};
use super::denied::no_such_grant;
use super::grant_check::{Asked, Target, check_level};
use super::privileges::DYNAMIC;
use super::{Account, AccountName, Privileges, RoutineName};
use sql::SqlError;
use sql::admin::{Account as Named, GrantAs, GrantObject, GrantPrivilege, Lenience};
use std::collections::BTreeMap;

/// The privileges on `*.*` that do not hold in a schema, by schema.
type Restrictions = BTreeMap<String, Privileges>;

/// Carries out GRANT of privileges.
pub fn grant(
    change: &mut Change<'_>,
    privileges: &[GrantPrivilege],
    on: &GrantObject,
    to: &[Named],
    with_grant_option: bool,
    grantor: Option<&GrantAs>,
) -> Result<(), SqlError> {
    let mut asked = ask(change, privileges, on)?;
    if grantor.is_some() && !matches!(asked.target, Target::Global) {
        let text = "GRANT ... AS is currently supported only for global privileges.";
        return Err(SqlError::new(3835, text));
    }
    asked.names_grant_option = asked.set.contains(Privileges::grant_option());
    if with_grant_option {
        asked.set = asked.set.with(Privileges::grant_option());
    }
    change.by.check_asked(&asked)?;
    change.check_system_users(to)?;
    change.by.check_dynamic(&asked)?;
    check_level(&asked)?;
    change.by.check_object(&mut asked)?;
    let passed_on = match grantor {
        Some(grantor) => restrictions_of(change, grantor, asked.set)?,
        None => change.by.account.restrictions.clone(),
    };
    for named in to {
        let name = change.name(named);
        let Some(account) = change.table.get(&name) else {
            return Err(SqlError::new(1410, "You are not allowed to create a user with GRANT"));
        };
        if asked.dynamic.iter().any(|name| name == "SYSTEM_USER") && change.by.mandatory.contains(&name) {
            let role = super::roles::shown(&name);
            let text =
                format!("AuthId {role} is set as mandatory_roles. Cannot grant the 'SYSTEM_USER' privilege.");
            return Err(SqlError::new(3897, text));
        }
        let mut account = Account::clone(&account);
        grant_to(&change.by, &mut account, &asked, with_grant_option, &passed_on)?;
        change.put(account);
    }
    Ok(())
}

/// Returns the restrictions that a GRANT ... AS passes on, which are those of the account and roles
/// behind AS.
///
/// # Errors
/// Returns 3836 when the account or its roles are invalid, or when the AS clause would free the
/// account that asks from restrictions of its own.
fn restrictions_of(
    change: &Change<'_>,
    grantor: &GrantAs,
    set: Privileges,
) -> Result<Restrictions, SqlError> {
    let refused = || {
        let text = "Either some of the authorization IDs in the AS clause are invalid or the current user lacks \
                    privileges to execute the statement.";
        SqlError::new(3836, text)
    };
    let account = change.table.get(&change.name(&grantor.account)).ok_or_else(refused)?;
    let name = |named: &Named| change.name(named);
    let roles = change.table.chosen_roles(&account, &grantor.roles, &change.by.mandatory, name);
    let restrictions = change.table.with_roles(&account, &roles.map_err(|_| refused())?).restrictions;
    let is_kept = |(schema, own): (&String, &Privileges)| {
        restrictions.get(schema).copied().unwrap_or_default().contains(own.common(set))
    };
    if change.by.account.restrictions.iter().all(is_kept) { Ok(restrictions) } else { Err(refused()) }
}

fn grant_to(
    by: &By<'_>,
    account: &mut Account,
    asked: &Asked,
    with_option: bool,
    passed_on: &Restrictions,
) -> Result<(), SqlError> {
    match &asked.target {
        Target::Global => {
            // Each dynamic privilege has a grant option of its own.
            let is_dynamic_only = !asked.dynamic.is_empty() && asked.set == Privileges::grant_option();
            let set = if is_dynamic_only { Privileges::NONE } else { asked.set };
            pass_restrictions(account, set, passed_on);
            account.global = account.global.with(set);
            if asked.names_grant_option {
                // As in MySQL, GRANT OPTION as a privilege gives all dynamic privileges their
                // option, while WITH GRANT OPTION of other privileges leaves them alone.
                account.dynamic.values_mut().for_each(|option| *option = true);
            }
            for name in asked.dynamic.iter().filter(|name| !asked.is_all || by.may_grant_dynamic(name)) {
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

/// Carries out REVOKE of privileges. `on` is `None` for REVOKE ALL PRIVILEGES, GRANT OPTION FROM.
pub fn revoke(
    change: &mut Change<'_>,
    privileges: &[GrantPrivilege],
    on: Option<&GrantObject>,
    from: &[Named],
    lenience: Lenience,
) -> Result<(), SqlError> {
    // MySQL takes ALL ON *.* as ALL PRIVILEGES, GRANT OPTION.
    let is_all = *privileges == [GrantPrivilege { name: "ALL".into(), columns: Vec::new() }];
    let Some(on) = on.filter(|on| !is_all || **on != GrantObject::Global) else {
        return revoke_all(change, from, lenience);
    };
    let asked = Asked { is_revoke: true, ..ask(change, privileges, on)? };
    change.by.check_asked(&asked)?;
    change.check_system_users(from)?;
    change.by.check_dynamic(&asked)?;
    check_level(&asked)?;
    for named in from {
        let name = change.name(named);
        let Some(account) = change.table.get(&name) else {
            if lenience.ignore_unknown_user {
                change.warn(3162, format!("Authorization ID {} does not exist.", name.0));
                continue;
            }
            return Err(not_granted(&name, &asked.target));
        };
        let mut account = Account::clone(&account);
        if revoke_from(&change.by, &mut account, &asked).is_some() {
            change.put(account);
        } else {
            let error = not_granted(&name, &asked.target);
            if !lenience.if_exists {
                return Err(error);
            }
            change.warn(error.code, error.message);
        }
    }
    Ok(())
}

/// Takes the privileges from the account. `None` means that it does not hold some of them there.
fn revoke_from(by: &By<'_>, account: &mut Account, asked: &Asked) -> Option<()> {
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
        Target::Schema(schema) => return revoke_from_schema(by, account, schema, asked),
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

fn revoke_from_schema(by: &By<'_>, account: &mut Account, schema: &str, asked: &Asked) -> Option<()> {
    // USAGE is no privilege, so that nothing is missing.
    if asked.set.is_empty() && !asked.is_all {
        return Some(());
    }
    let held = account.schemas.get(schema).copied();
    let global = match by.partial_revokes {
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
    // A privilege that was granted on the schema itself is taken from there, and one that holds
    // through `*.*` is restricted.
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

fn revoke_all(change: &mut Change<'_>, from: &[Named], lenience: Lenience) -> Result<(), SqlError> {
    change.require_create_user("UPDATE")?;
    change.check_system_users(from)?;
    for named in from {
        let name = change.name(named);
        let Some(account) = change.table.get(&name) else {
            if lenience.ignore_unknown_user {
                change.warn(3162, format!("Authorization ID {} does not exist.", name.0));
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
        change.put(account);
    }
    Ok(())
}

/// Works out the meaning of a list of privileges on an object.
fn ask(change: &Change<'_>, privileges: &[GrantPrivilege], on: &GrantObject) -> Result<Asked, SqlError> {
    let current = |written: &Option<String>| {
        let schema = written.clone().or_else(|| change.schema.clone());
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

/// Passes restrictions on with privileges: a restricted grantor passes them on with its
/// restriction, and an unrestricted one lifts the account's.
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

/// Builds the error for a privilege that was not granted: 1147 for a table, 1403 for a routine, and
/// 1141 otherwise.
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
