//! The names of a view's columns.
//!
//! An expression without an alias is named by its text. Where that cannot be a name, or names
//! another column already, MySQL makes up a name.

use super::scope::same;
use crate::ast::{Expr, Literal, Query, QueryBody, SelectItem, UnaryOp};
use crate::error::{Result, SqlError};

/// The greatest number of characters in a column's name.
const MOST_CHARACTERS: usize = 64;

/// Returns the name of a column of a select list.
pub(super) fn name_of(expr: &Expr, alias: Option<&str>, text: &str) -> String {
    match (alias, expr) {
        (Some(alias), _) => alias.trim_start().to_owned(),
        (None, Expr::Column { name, .. }) => name.clone(),
        // As in MySQL, a sign that has no effect is no part of the name, nor are parentheses.
        (None, Expr::Unary(UnaryOp::Plus, operand)) => {
            name_of(operand, None, text.trim_start_matches(['+', ' ']))
        }
        (None, Expr::Literal(Literal::Null)) => "NULL".to_owned(),
        (
            None,
            Expr::Literal(Literal::Integer(_) | Literal::Decimal(_) | Literal::Float(..) | Literal::Bool(_)),
        ) => text.trim_matches(['(', ')', ' ']).to_owned(),
        (None, _) => text.trim_start().to_owned(),
    }
}

/// Reports whether a text can be the name of a column.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.ends_with(' ') && name.chars().count() <= MOST_CHARACTERS
}

/// Returns the select list that names the columns of a query.
fn items_mut(query: &mut Query) -> Option<&mut Vec<SelectItem>> {
    let mut body = &mut query.body;
    loop {
        body = match body {
            QueryBody::Select(select) => return Some(&mut select.items),
            QueryBody::Union { first, .. } => first,
            QueryBody::Nested(inner) => &mut inner.body,
            QueryBody::Values(_) => return None,
        };
    }
}

/// Returns the query with an alias for each column that needs a made-up name. `None` if there is no
/// such column.
pub(super) fn with_unique_names(query: &Query) -> Option<Query> {
    let mut query = query.clone();
    let items = items_mut(&mut query)?;
    let mut names: Vec<Option<(String, bool)>> = items.iter().map(named).collect();
    let mut is_changed = false;
    for (at, name) in names.iter_mut().enumerate() {
        if let Some((text, true)) = name
            && !is_name(text)
        {
            *text = format!("Name_exp_{}", at + 1);
            is_changed = true;
        }
    }
    for at in 0..names.len() {
        for before in 0..at {
            let (Some((name, made)), Some((other, other_made))) = (&names[at], &names[before]) else {
                continue;
            };
            if !same(name, other) {
                continue;
            }
            let changed = match (made, other_made) {
                (true, _) => at,
                (false, true) => before,
                (false, false) => continue,
            };
            let unique = unique_name(name, &names);
            names[changed] = Some((unique, true));
            is_changed = true;
        }
    }
    for (item, name) in items.iter_mut().zip(names) {
        if let (SelectItem::Expr { alias, .. }, Some((name, true))) = (item, name) {
            *alias = Some(name);
        }
    }
    is_changed.then_some(query)
}

/// Returns the name of a column, and whether it comes from an expression's text.
fn named(item: &SelectItem) -> Option<(String, bool)> {
    match item {
        SelectItem::Expr { expr, alias, text } => {
            let is_text = alias.is_none() && !matches!(expr, Expr::Column { .. });
            Some((name_of(expr, alias.as_deref(), text), is_text))
        }
        SelectItem::All | SelectItem::AllOf { .. } => None,
    }
}

fn unique_name(name: &str, names: &[Option<(String, bool)>]) -> String {
    let is_taken = |wanted: &str| names.iter().flatten().any(|(taken, _)| same(taken, wanted));
    let mut unique = format!("Name_exp_{name}");
    let mut attempt = 0;
    while is_taken(&unique) {
        attempt += 1;
        unique = format!("Name_exp_{attempt}_{name}");
    }
    unique
}

/// Checks the names that a view's columns get.
///
/// # Errors
/// Returns 1166 (`ER_WRONG_COLUMN_NAME`) for what is no name, and 1060 (`ER_DUP_FIELDNAME`) for a
/// name of two columns.
pub(in crate::ddl) fn check_column_names(names: &[String]) -> Result<()> {
    for (at, name) in names.iter().enumerate() {
        if !is_name(name) {
            return Err(SqlError::new(1166, format!("Incorrect column name '{name}'")));
        }
        if names[..at].iter().any(|before| same(before, name)) {
            return Err(SqlError::new(1060, format!("Duplicate column name '{name}'")));
        }
    }
    Ok(())
}
