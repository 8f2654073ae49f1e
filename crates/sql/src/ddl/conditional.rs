//! MariaDB's `IF EXISTS` and `IF NOT EXISTS` within ALTER TABLE.

use crate::ast::{AlterTable, Alteration, KeyKind, KeySpec};
use engine::TableDef;
use std::borrow::Cow;

/// Returns the statement without conditions, with only the alterations that are to be carried out.
/// A condition sees the alterations before it as done.
pub(super) fn settled<'a>(old: &TableDef, alter: &'a AlterTable) -> Cow<'a, AlterTable> {
    if !alter.alterations.iter().any(|alteration| matches!(alteration, Alteration::Conditional { .. })) {
        return Cow::Borrowed(alter);
    }
    let mut left: Vec<Alteration> = Vec::with_capacity(alter.alterations.len());
    // The name of the column that was left out last. The constraints written at it follow it, and
    // are left out too.
    let mut without = None;
    for alteration in &alter.alterations {
        match alteration {
            Alteration::Conditional { if_exists, alteration } => {
                if names_something(old, &left, alteration) == *if_exists {
                    left.push(alteration.as_ref().clone());
                    without = None;
                } else {
                    without = written_column(alteration);
                }
            }
            Alteration::AddCheck(check) if without.is_some() && check.column.as_deref() == without => {}
            other => left.push(other.clone()),
        }
    }
    let AlterTable { table, if_exists, demands, .. } = alter;
    let (table, if_exists, demands) = (table.clone(), *if_exists, *demands);
    Cow::Owned(AlterTable { table, if_exists, alterations: left, demands })
}

/// Returns the name of the column that the alteration defines.
pub(super) fn written_column(alteration: &Alteration) -> Option<&str> {
    match alteration {
        Alteration::AddColumn(spec, _) | Alteration::ModifyColumn { spec, .. } => Some(&spec.name),
        _ => None,
    }
}

/// Reports whether the object that the alteration names exists once those in `before` are done.
fn names_something(old: &TableDef, before: &[Alteration], alteration: &Alteration) -> bool {
    let same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
    let has_column = |name: &str| {
        let added = before.iter().any(|done| match done {
            Alteration::AddColumn(spec, _) | Alteration::ModifyColumn { spec, .. } => same(&spec.name, name),
            Alteration::RenameColumn { to, .. } => same(to, name),
            _ => false,
        });
        let gone = before.iter().any(|done| match done {
            Alteration::DropColumn { name: gone, .. } => same(gone, name),
            Alteration::RenameColumn { from, .. } => same(from, name),
            Alteration::ModifyColumn { name: from, spec, .. } => same(from, name) && !same(&spec.name, name),
            _ => false,
        });
        added || (!gone && old.column(name).is_some())
    };
    let has_key = |name: &str| {
        let added = before
            .iter()
            .any(|done| matches!(done, Alteration::AddKey(key) if key_name(key).is_some_and(|key| same(key, name))));
        let gone = before
            .iter()
            .any(|done| matches!(done, Alteration::DropKey { name: gone, .. } if same(gone, name)));
        added || (!gone && old.index(name).is_some())
    };
    match alteration {
        Alteration::AddColumn(spec, _) => has_column(&spec.name),
        Alteration::ModifyColumn { name, .. }
        | Alteration::DropColumn { name, .. }
        | Alteration::SetDefault { name, .. }
        | Alteration::SetDefaultExpression { name, .. }
        | Alteration::SetVisible { name, .. } => has_column(name),
        Alteration::RenameColumn { from, .. } => has_column(from),
        Alteration::AddKey(key) if key.kind == KeyKind::Primary => {
            let goes = before.iter().any(|done| matches!(done, Alteration::DropPrimaryKey));
            old.primary.is_some() && !goes
        }
        Alteration::DropPrimaryKey => old.primary.is_some(),
        Alteration::AddKey(key) => key_name(key).is_some_and(has_key),
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
