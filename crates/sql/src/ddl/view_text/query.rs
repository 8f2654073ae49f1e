//! Prints the clauses of a view's query.

use super::from::{From, table_ref};
use super::literal::limit_number;
use super::scope::{Around, Found, Given, Item, Place, Scope, Source, column_list};
use super::set_operation::Term;
use super::window::window_text;
use super::{Use, ViewNames};
use crate::ast::{CommonTable, Expr, Limit, Literal, OrderItem, Query, QueryBody, Select, SelectItem};
use crate::parse::reserved::is_reserved;
use crate::quoting::quoted;
use std::borrow::Cow;
use std::fmt::Write;

impl ViewNames<'_> {
    /// Prints a query within the names around it.
    pub(super) fn query(&self, query: &Query, used: Use, around: &Around<'_>) -> Option<Term> {
        self.named_query(query, used, around, None)
    }

    /// Prints a query. `own` is the name of the recursive common table that it defines, with the
    /// names of its columns, and without them those of the first query.
    fn named_query(
        &self,
        query: &Query,
        used: Use,
        around: &Around<'_>,
        own: Option<(&str, &[String])>,
    ) -> Option<Term> {
        // All parts are named, so that none is forgotten in silence. MySQL does not show locking
        // clauses.
        let query = &*unwrapped(query);
        let unlimited = without_idle_limit(query, used);
        let query = unlimited.as_ref().unwrap_or(query);
        let Query { with, body, order_by, limit, locks: _, into: None } = query else { return None };
        let mut around = around.clone();
        let mut lead = String::new();
        if let Some(with) = with {
            let recursive = if with.recursive { "recursive " } else { "" };
            write!(lead, "with {recursive}").ok()?;
            for (at, table) in with.tables.iter().enumerate() {
                let own = with.recursive.then_some((table.name.as_str(), &table.columns[..]));
                let inner = self.named_query(&table.query, Use::Table, &around, own)?;
                let columns = match table.columns.is_empty() {
                    true => inner.columns.clone(),
                    false => table.columns.clone(),
                };
                let comma = if at > 0 { ", " } else { "" };
                let (name, names) = self.common_name(table);
                write!(lead, "{comma}{name}{names} as ({})", inner.text()).ok()?;
                around.commons.push((table.name.clone(), columns.into()));
            }
            lead.push_str(if self.of_mariadb { "" } else { " " });
        }
        let has_tail = !order_by.is_empty() || limit.is_some();
        let term = match body {
            QueryBody::Select(select) => {
                let (text, columns) = self.select(select, order_by, limit.as_ref(), used, &around)?;
                if has_tail { Term::tailed(text, columns) } else { Term::simple(text, columns) }
            }
            // MySQL does not show ORDER BY and LIMIT of VALUES, and so has them no more.
            QueryBody::Values(_) => self.body(body, used, &around, own)?,
            QueryBody::Union { .. } | QueryBody::Nested(_) => {
                let term = self.body(body, used, &around, own)?;
                if has_tail { self.with_tail(term, order_by, limit.as_ref(), &around)? } else { term }
            }
        };
        if lead.is_empty() {
            return Some(term);
        }
        Some(Term::tailed(lead + &term.text(), term.columns))
    }

    /// Returns the name of a common table and the list of its columns. MariaDB shows the name
    /// without quotes. Where the text could not be read again without them, they stay.
    fn common_name(&self, table: &CommonTable) -> (String, String) {
        let names = column_list(&table.columns);
        if !self.of_mariadb {
            return (quoted(&table.name), names);
        }
        let is_plain = |name: &str| {
            let is_word = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '$';
            name.chars().all(is_word) && !name.starts_with(|sign: char| sign.is_ascii_digit())
        };
        let bare = is_plain(&table.name) && !is_reserved(table.name.as_bytes());
        let name = if bare { table.name.clone() } else { quoted(&table.name) };
        (name, names.trim_start().to_owned())
    }

    fn body(
        &self,
        body: &QueryBody,
        used: Use,
        around: &Around<'_>,
        own: Option<(&str, &[String])>,
    ) -> Option<Term> {
        match body {
            QueryBody::Select(select) => {
                let (text, columns) = self.select(select, &[], None, used, around)?;
                Some(Term::simple(text, columns))
            }
            QueryBody::Nested(query) => self.query(query, used, around),
            QueryBody::Union { first, rest } => {
                let mut term = self.body(first, used, around, None)?;
                let mut around = around.clone();
                if let Some((name, columns)) = own {
                    let columns = if columns.is_empty() { &term.columns[..] } else { columns };
                    around.commons.push((name.to_owned(), columns.into()));
                }
                for branch in rest {
                    let right = self.body(&branch.body, used, &around, None)?;
                    term = term.combined(branch.operator, branch.all, right);
                }
                Some(term)
            }
            QueryBody::Values(rows) => {
                let scope = Scope { around: around.clone(), ..Scope::default() };
                let row = |row: &Vec<Expr>| Some(format!("row({})", self.list(row, Place::within(&scope))?));
                let rows: Vec<String> = rows.iter().map(row).collect::<Option<_>>()?;
                let count = match body {
                    QueryBody::Values(rows) => rows.first().map_or(0, Vec::len),
                    _ => 0,
                };
                let columns = (0..count).map(|at| format!("column_{at}")).collect();
                Some(Term::simple(format!("values {}", rows.join(",")), columns))
            }
        }
    }

    /// Prints ORDER BY and LIMIT behind combined queries, which name the columns of the first one.
    fn with_tail(
        &self,
        term: Term,
        order_by: &[OrderItem],
        limit: Option<&Limit>,
        around: &Around<'_>,
    ) -> Option<Term> {
        let columns = term.columns.clone();
        let source =
            Source { shown: None, schema: String::new(), alias: String::new(), columns: columns.clone() };
        let given = (0..columns.len()).map(|at| (0, at)).collect();
        let scope = Scope { sources: vec![source], given, around: around.clone(), ..Scope::default() };
        let mut text = term.text_with_tail();
        for (at, item) in order_by.iter().enumerate() {
            let printed = match position(&item.expr) {
                Some(position) => quoted(columns.get(position.checked_sub(1)?)?),
                None => self.expr(&item.expr, Place::within(&scope))?,
            };
            put_order(&mut text, at, &printed, item.descending);
        }
        put_limit(&mut text, limit)?;
        Some(Term::tailed(text, columns))
    }

    fn select(
        &self,
        select: &Select,
        order_by: &[OrderItem],
        limit: Option<&Limit>,
        used: Use,
        around: &Around<'_>,
    ) -> Option<(String, Vec<String>)> {
        let Select {
            distinct,
            straight,
            hints: _,
            block: _,
            calc_found_rows: _,
            words,
            items,
            from,
            filter,
            group_by,
            rollup,
            having,
            windows,
            most_window_calls,
        } = select;
        let mut scope = Scope { around: around.clone(), ..Scope::default() };
        let from_text = match from {
            Some(from) => {
                let From { text, given } = table_ref(self, from, &mut scope)?;
                scope.given = given;
                Some(text)
            }
            None => None,
        };
        let used = if used == Use::Exists && having.is_some() { Use::Value } else { used };
        let shown = self.items(items, used, &mut scope)?;
        let mut text = "select ".to_owned();
        let mut put_word = |is_written: bool, word: &str| {
            if is_written {
                text.push_str(word);
                text.push(' ');
            }
        };
        put_word(*straight, "straight_join");
        put_word(words.high_priority, "high_priority");
        put_word(*distinct, "distinct");
        put_word(words.small_result, "sql_small_result");
        put_word(words.big_result, "sql_big_result");
        put_word(words.buffer_result, "sql_buffer_result");
        text.push_str(&shown.join(","));
        match (from_text, filter) {
            (Some(from), _) => write!(text, " from {from}").ok()?,
            (None, Some(_)) => text.push_str(" from DUAL "),
            (None, None) => {}
        }
        if let Some(filter) = filter {
            write!(text, " where {}", self.condition(filter, Place::filter(&scope))?).ok()?;
        }
        for (at, expr) in group_by.iter().enumerate() {
            let lead = if at == 0 { " group by " } else { "," };
            write!(text, "{lead}{}", self.group_key(expr, &scope)?).ok()?;
        }
        text.push_str(if *rollup { " with rollup" } else { "" });
        if let Some(having) = having {
            let place = Place { prefers_items: true, ..Place::filter(&scope) };
            write!(text, " having {}", self.condition(having, place)?).ok()?;
        }
        for (at, (name, window)) in windows.iter().enumerate() {
            let lead = if at == 0 { " window " } else { ", " };
            write!(text, "{lead}{} AS {} ", quoted(name), window_text(self, window, &scope)?).ok()?;
        }
        // MySQL prints the name of a column if the order is that of a temporary table's rows.
        let has_aggregate =
            items.iter().any(|item| matches!(item, SelectItem::Expr { expr, .. } if expr.has_aggregate()));
        let names_items =
            *distinct || !group_by.is_empty() || *most_window_calls > 0 || from.is_none() || has_aggregate;
        for (at, item) in order_by.iter().enumerate() {
            let printed = self.order_key(&item.expr, &scope, names_items, *rollup)?;
            put_order(&mut text, at, &printed, item.descending);
        }
        put_limit(&mut text, limit)?;
        let columns = scope.items.into_iter().map(|item| item.name).collect();
        Some((text, columns))
    }

    /// Prints the select list, and puts it into the scope.
    fn items(&self, written: &[SelectItem], used: Use, scope: &mut Scope<'_>) -> Option<Vec<String>> {
        let mut items = Vec::new();
        let mut only_exist = false;
        for item in written {
            let all: Vec<Given> = match item {
                SelectItem::Expr { expr, alias, text } => {
                    let shown = self.expr(expr, Place::within(scope))?;
                    let name = super::names::name_of(expr, alias.as_deref(), text);
                    let is_own_column = matches!(expr, Expr::Column { name: column, .. }
                        if super::scope::same(column, &name));
                    let is_integer = matches!(expr, Expr::Literal(Literal::Integer(_)));
                    items.push(Item { name, text: shown, is_own_column, is_integer });
                    continue;
                }
                SelectItem::All => scope.given.clone(),
                SelectItem::AllOf { schema, table } => {
                    let is = |source: &Source| source.is(schema.as_deref(), table);
                    let at = scope.sources.iter().position(is)?;
                    (0..scope.sources[at].columns.len()).map(|column| (at, column)).collect()
                }
            };
            only_exist |= used == Use::Exists;
            self.stars.set(self.stars.get().checked_sub(all.len())?);
            items.extend(all.into_iter().map(|given| Item {
                name: scope.name(given).to_owned(),
                text: scope.shown(given),
                is_own_column: true,
                is_integer: false,
            }));
        }
        let shown = match used {
            Use::Table => {
                items.iter().map(|item| format!("{} AS {}", item.text, quoted(&item.name))).collect()
            }
            Use::Exists if only_exist => vec!["1".to_owned()],
            Use::Exists | Use::Value => items.iter().map(|item| item.text.clone()).collect(),
        };
        scope.items = items;
        (!scope.items.is_empty()).then_some(shown)
    }

    /// Prints an expression of GROUP BY. A name is a table's column if there is one, and else one
    /// of the select list.
    fn group_key(&self, expr: &Expr, scope: &Scope<'_>) -> Option<String> {
        if let Some(position) = position(expr) {
            return self.at_position(position, scope);
        }
        if let Expr::Column { schema: None, table: None, name } = expr
            && let (Found::None, Some(item)) = (scope.given_column(None, None, name), scope.item(name))
        {
            return Some(quoted(&item.name));
        }
        self.expr(expr, Place::within(scope))
    }

    /// Prints an expression of ORDER BY. A name is that of the select list if there is one.
    fn order_key(&self, expr: &Expr, scope: &Scope<'_>, names_items: bool, rollup: bool) -> Option<String> {
        if let Some(position) = position(expr) {
            return self.at_position(position, scope);
        }
        if let Expr::Column { schema: None, table: None, name } = expr
            && let Some(item) = scope.item(name)
        {
            let is_named = names_items && (rollup || !item.is_own_column);
            return Some(if is_named { quoted(&item.name) } else { shown_key(item) });
        }
        self.expr(expr, Place::within(scope))
    }

    fn at_position(&self, position: usize, scope: &Scope<'_>) -> Option<String> {
        scope.items.get(position.checked_sub(1)?).map(shown_key)
    }
}

/// Returns a column of the select list as ORDER BY shows it. A number would be taken for a
/// position.
fn shown_key(item: &Item) -> String {
    if item.is_integer { "''".to_owned() } else { item.text.clone() }
}

/// Returns the number of a column that stands for it in ORDER BY or GROUP BY.
fn position(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Literal(Literal::Integer(number)) => usize::try_from(*number).ok(),
        _ => None,
    }
}

fn put_order(text: &mut String, at: usize, printed: &str, descending: bool) {
    text.push_str(if at == 0 { " order by " } else { "," });
    text.push_str(printed);
    text.push_str(if descending { " desc" } else { "" });
}

fn put_limit(text: &mut String, limit: Option<&Limit>) -> Option<()> {
    let Some(limit) = limit else { return Some(()) };
    let count = limit_number(&limit.count)?;
    match &limit.offset {
        Some(offset) => write!(text, " limit {},{count}", limit_number(offset)?).ok(),
        None => write!(text, " limit {count}").ok(),
    }
}

/// Returns the query without parentheses that make no difference. As in MySQL, two limits become
/// one.
fn unwrapped(query: &Query) -> Cow<'_, Query> {
    let mut query = Cow::Borrowed(query);
    loop {
        let Query { with, body: QueryBody::Nested(inner), order_by, limit, .. } = &*query else {
            return query;
        };
        let both = if inner.limit.is_some() {
            merged_limit(inner.limit.as_ref(), limit.as_ref())
        } else {
            limit.clone()
        };
        let orders_once = order_by.is_empty() || (inner.order_by.is_empty() && inner.limit.is_none());
        if !orders_once
            || (inner.limit.is_some() && both.is_none())
            || (with.is_some() && inner.with.is_some())
        {
            return query;
        }
        let order_by = if order_by.is_empty() { inner.order_by.clone() } else { order_by.clone() };
        let with = with.clone().or_else(|| inner.with.clone());
        query = Cow::Owned(Query { with, order_by, limit: both, ..(**inner).clone() });
    }
}

/// Returns the query of EXISTS without a LIMIT, which makes no difference there unless it is 0.
/// `None` if there is no such limit.
fn without_idle_limit(query: &Query, used: Use) -> Option<Query> {
    let limit = query.limit.as_ref().filter(|limit| used == Use::Exists && limit.offset.is_none())?;
    limit_number(&limit.count).filter(|count| *count > 0)?;
    Some(Query { limit: None, ..query.clone() })
}

/// Returns the limit that has the effect of two. `None` if there is none without arithmetic on both
/// offsets.
fn merged_limit(inner: Option<&Limit>, outer: Option<&Limit>) -> Option<Limit> {
    let (inner, outer) = match (inner, outer) {
        (Some(inner), Some(outer)) => (inner, outer),
        (one, other) => return one.or(other).cloned(),
    };
    let number = |number: u64| Expr::Literal(Literal::Integer(number));
    let (most, count) = (limit_number(&inner.count)?, limit_number(&outer.count)?);
    let (count, offset) = match (&inner.offset, &outer.offset) {
        (_, None) => (most.min(count), inner.offset.clone()),
        (None, Some(offset)) => (most.saturating_sub(limit_number(offset)?).min(count), Some(offset.clone())),
        (Some(_), Some(_)) => return None,
    };
    Some(Limit { count: number(count), offset })
}
