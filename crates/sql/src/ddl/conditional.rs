//! MariaDB's `IF EXISTS` and `IF NOT EXISTS` within ALTER TABLE.

use super::key::keys_of_column;
use crate::ast::{AlterTable, Alteration, KeyKind, KeySpec};
use engine::TableDef;
use std::borrow::Cow;

/// Returns the statement without conditions, with only the alterations that are to be carried out.
/// As in MariaDB, a condition is about the table as it is before the statement. But an object that
/// the statement has dropped before is not dropped again, and one that it has added is not added
/// again.
pub(super) fn settled<'a>(old: &TableDef, alter: &'a AlterTable) -> Cow<'a, AlterTable> {
    let has_condition = |alteration: &Alteration| {
        matches!(alteration, Alteration::Conditional { .. }) || drops_if_exists(alteration)
    };
    if !alter.alterations.iter().any(has_condition) {
        return Cow::Borrowed(alter);
    }
    let mut left: Vec<Alteration> = Vec::with_capacity(alter.alterations.len());
    // The name of the column that was left out last. The constraints written at it follow it, and
    // are left out too.
    let mut without = None;
    for alteration in &alter.alterations {
        match alteration {
            Alteration::Conditional { if_exists, alteration } => {
                let mut settled = alteration.as_ref().clone();
                without_second_primary(old, &left, &mut settled);
                if names_something(old, &left, alteration) == *if_exists {
                    left.push(settled);
                    without = None;
                } else {
                    without = written_column(alteration);
                    if let Alteration::AddColumn(spec, _) = &settled {
                        // The column that is there gets the keys.
                        left.extend(keys_of_column(spec).into_iter().map(Alteration::AddKey));
                    }
                }
            }
            drop if drops_if_exists(drop) && !names_something(old, &left, drop) => {}
            Alteration::AddCheck(check) if without.is_some() && check.column.as_deref() == without => {}
            other => left.push(other.clone()),
        }
    }
    let AlterTable { table, if_exists, demands, .. } = alter;
    let (table, if_exists, demands) = (table.clone(), *if_exists, *demands);
    Cow::Owned(AlterTable { table, if_exists, alterations: left, demands })
}

/// Reports whether the alteration drops a column or a key if it exists.
fn drops_if_exists(alteration: &Alteration) -> bool {
    matches!(
        alteration,
        Alteration::DropColumn { if_exists: true, .. } | Alteration::DropKey { if_exists: true, .. }
    )
}

/// Takes PRIMARY KEY off a column with a condition if the table has a primary key, because the
/// condition is the key's, too.
fn without_second_primary(old: &TableDef, before: &[Alteration], alteration: &mut Alteration) {
    let (Alteration::AddColumn(spec, _) | Alteration::ModifyColumn { spec, .. }) = alteration else { return };
    if spec.primary && has_primary(old, before) {
        spec.primary = false;
        spec.nullable = spec.nullable.or(Some(false));
    }
}

/// Reports whether the table has a primary key once the alterations in `before` are done.
fn has_primary(old: &TableDef, before: &[Alteration]) -> bool {
    let adds = |done: &Alteration| match done {
        Alteration::AddColumn(spec, _) | Alteration::ModifyColumn { spec, .. } => spec.primary,
        Alteration::AddKey(key) => key.kind == KeyKind::Primary,
        _ => false,
    };
    let is_gone = before.iter().any(|done| matches!(done, Alteration::DropPrimaryKey));
    before.iter().any(adds) || old.primary.is_some() && !is_gone
}

/// Returns the name of the column that the alteration defines.
pub(super) fn written_column(alteration: &Alteration) -> Option<&str> {
    match alteration {
        Alteration::AddColumn(spec, _) | Alteration::ModifyColumn { spec, .. } => Some(&spec.name),
        _ => None,
    }
}

/// Reports whether a condition finds the object that the alteration names. Those in `before` stand
/// before it in the statement.
fn names_something(old: &TableDef, before: &[Alteration], alteration: &Alteration) -> bool {
    let same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
    let has_column = |name: &str| {
        let gone = before
            .iter()
            .any(|done| matches!(done, Alteration::DropColumn { name: gone, .. } if same(gone, name)));
        old.column(name).is_some() && !gone
    };
    let has_key = |name: &str| {
        let gone = before
            .iter()
            .any(|done| matches!(done, Alteration::DropKey { name: gone, .. } if same(gone, name)));
        let is_primary = name.eq_ignore_ascii_case("PRIMARY") && old.primary.is_some();
        !gone && (is_primary || old.index(name).is_some() || old.kept_index(name).is_some())
    };
    match alteration {
        Alteration::AddColumn(spec, _) => {
            let adds = |done: &Alteration| matches!(done, Alteration::AddColumn(own, _) if same(&own.name, &spec.name));
            old.column(&spec.name).is_some() || before.iter().any(adds)
        }
        Alteration::ModifyColumn { name, .. }
        | Alteration::DropColumn { name, .. }
        | Alteration::SetDefault { name, .. }
        | Alteration::SetDefaultExpression { name, .. }
        | Alteration::SetVisible { name, .. } => has_column(name),
        Alteration::RenameColumn { from, .. } => has_column(from),
        Alteration::AddKey(key) if key.kind == KeyKind::Primary => has_primary(old, before),
        Alteration::DropPrimaryKey => old.primary.is_some(),
        Alteration::AddKey(key) => key_name(key).is_some_and(|name| {
            let adds = |done: &Alteration| match done {
                Alteration::AddKey(own) => key_name(own).is_some_and(|own| same(own, name)),
                _ => false,
            };
            old.index(name).is_some() || old.kept_index(name).is_some() || before.iter().any(adds)
        }),
        Alteration::RenameKey { from: name, .. }
        | Alteration::DropKey { name, .. }
        | Alteration::SetIndexVisible { name, .. } => has_key(name),
        Alteration::AddCheck(check) => {
            check.name.as_deref().is_some_and(|name| old.check_constraint(name).is_some())
        }
        Alteration::AddForeignKey(spec) => {
            spec.name.as_deref().or(spec.index.as_deref()).is_some_and(|name| old.foreign_key(name).is_some())
        }
        _ => false,
    }
}

/// Returns the name that MariaDB looks for: the key's own, or that of its first column.
fn key_name(key: &KeySpec) -> Option<&str> {
    key.name.as_deref().or_else(|| key.parts.first().map(|part| part.column.as_str()))
}
