//! Prints the tables of FROM, and collects their columns.

use super::printed::{AND, COMPARISON};
use super::scope::{Given, Place, Scope, Source, column_list, common_columns, same};
use super::{Use, ViewNames};
use crate::ast::{
    Expr, IndexHint, IndexHintKind, IndexHintUse, JoinKind, JsonTable, JsonTableColumn, JsonTableRows,
    OnResponse, SystemTime, TableRef, TypeSpec,
};
use crate::attribute;
use crate::quoting::quoted;
use crate::schema_tables;
use engine::ObjectKind;
use std::fmt::Write;

/// A printed part of FROM.
pub(super) struct From {
    pub text: String,
    /// The columns that `*` has of it.
    pub given: Vec<Given>,
}

/// Prints a part of FROM, and puts its tables into the scope. The columns of the scope are then
/// those of the part that was printed last.
pub(super) fn table_ref(
    view_names: &ViewNames<'_>,
    written: &TableRef,
    scope: &mut Scope<'_>,
) -> Option<From> {
    match written {
        TableRef::Table { name, alias, partitions, hints, system_time } => {
            let common = match name.schema {
                None => common_columns(&scope.around, &name.name),
                Some(_) => None,
            };
            let (mut text, source) = match common {
                Some(columns) => common_source(&name.name, alias.as_deref(), columns.to_vec()),
                None => stored(view_names, name.schema.as_deref(), &name.name, alias.as_deref(), partitions)?,
            };
            if let Some(system_time) = system_time {
                write!(text, "{}", system_time_text(view_names, system_time, scope)?).ok()?;
            }
            // MySQL does not keep an alias that is the table's name.
            let alias = alias.as_ref().filter(|alias| **alias != name.name);
            let is_named = alias.is_some() || is_information_schema(&source.schema);
            if is_named {
                write!(text, " {}", quoted(&source.alias)).ok()?;
            }
            hints.iter().for_each(|hint| put_hint(&mut text, hint));
            Some(add(scope, source, text))
        }
        TableRef::Derived { query, lateral, alias, columns } => {
            let around = Place::within(scope).around();
            let around = if *lateral { around } else { scope.around.clone() };
            let inner = view_names.query(query, Use::Table, &around)?;
            let word = if *lateral { "lateral " } else { "" };
            let text = format!("{word}({}) {}{}", inner.text(), quoted(alias), column_list(columns));
            let columns = if columns.is_empty() { inner.columns } else { columns.clone() };
            Some(add(scope, named_source(alias, columns), text))
        }
        TableRef::JsonTable(table) => {
            let (text, columns) = json_table(view_names, table, scope)?;
            Some(add(scope, named_source(&table.alias, columns), text))
        }
        TableRef::Join { kind, left, right, on, using, natural } => {
            let left = table_ref(view_names, left, scope)?;
            scope.given = left.given.clone();
            let right = table_ref(view_names, right, scope)?;
            join(view_names, *kind, (left, right), on.as_ref(), (using, *natural), scope)
        }
    }
}

/// Prints a join. As in MySQL, a RIGHT JOIN becomes a LEFT JOIN, and USING and NATURAL become
/// ON.
fn join(
    view_names: &ViewNames<'_>,
    kind: JoinKind,
    (left, right): (From, From),
    on: Option<&Expr>,
    (using, natural): (&[String], bool),
    scope: &mut Scope<'_>,
) -> Option<From> {
    let as_written: Vec<Given> = left.given.iter().chain(&right.given).copied().collect();
    let (word, left, right) = match kind {
        JoinKind::Inner => ("join", left, right),
        JoinKind::Straight => ("straight_join", left, right),
        JoinKind::Left => ("left join", left, right),
        JoinKind::Right => ("left join", right, left),
    };
    let (given, condition) = if natural || !using.is_empty() {
        let (given, pairs) = common(scope, &left.given, &right.given, using)?;
        let equal = |(one, other): &(Given, Given)| {
            view_names.operation(format!("{} = {}", scope.shown(*one), scope.shown(*other)), COMPARISON)
        };
        let mut pairs: Vec<String> = pairs.iter().map(|pair| equal(pair).text).collect();
        let condition = match pairs.len() {
            0 | 1 => pairs.pop(),
            _ => Some(view_names.operation(pairs.join(" and "), AND).text),
        };
        (given, condition)
    } else {
        scope.given = as_written.clone();
        let condition = match on {
            Some(on) => Some(view_names.condition(on, Place::filter(scope))?),
            None => None,
        };
        (as_written, condition)
    };
    let on = condition.map_or(String::new(), |condition| format!(" on({condition})"));
    scope.given = given.clone();
    Some(From { text: format!("({} {word} {}{on})", left.text, right.text), given })
}

fn common_source(name: &str, alias: Option<&str>, columns: Vec<String>) -> (String, Source) {
    (quoted(name), named_source(alias.unwrap_or(name), columns))
}

/// Prints the name of a table or view.
fn stored(
    view_names: &ViewNames<'_>,
    schema: Option<&str>,
    name: &str,
    alias: Option<&str>,
    partitions: &[String],
) -> Option<(String, Source)> {
    let schema = schema.or(view_names.current)?;
    let (schema, shown_name, columns) = match is_information_schema(schema) {
        true => {
            let columns = schema_tables::declared_columns_of(schema, name)?;
            ("information_schema", name.to_uppercase(), columns)
        }
        false => (schema, name.to_owned(), columns_of(view_names, schema, name)?),
    };
    let full = match schema == view_names.schema {
        true => quoted(&shown_name),
        false => format!("{}.{}", quoted(schema), quoted(&shown_name)),
    };
    let chosen: Vec<String> = partitions.iter().map(|name| quoted(name)).collect();
    let text = match chosen.is_empty() {
        true => full.clone(),
        false => format!("{full} PARTITION ({})", chosen.join(",")),
    };
    let shown = match alias {
        _ if is_information_schema(schema) => {
            format!("{}.{}", quoted(schema), quoted(alias.unwrap_or(name)))
        }
        Some(alias) => quoted(alias),
        None => full,
    };
    let alias = alias.unwrap_or(name).to_owned();
    Some((text, Source { shown: Some(shown), schema: schema.to_owned(), alias, columns }))
}

fn columns_of(view_names: &ViewNames<'_>, schema: &str, table: &str) -> Option<Vec<String>> {
    if let Some(table) = view_names.catalog.table(schema, table) {
        let visible = table.def.columns.iter().filter(|column| !column.invisible);
        return Some(visible.map(|column| column.name.clone()).collect());
    }
    if let Some(computed) = view_names.host.and_then(|host| schema_tables::columns_of(host, schema, table)) {
        return Some(computed.into_iter().map(|column| column.name).collect());
    }
    let view = view_names.catalog.object(schema, ObjectKind::View, table)?;
    let names = view.def.attribute(attribute::NAMES)?;
    Some(names.split('\n').map(str::to_owned).collect())
}

fn system_time_text(view_names: &ViewNames<'_>, time: &SystemTime, scope: &Scope<'_>) -> Option<String> {
    let place = Place::within(scope);
    Some(match time {
        SystemTime::All => " FOR SYSTEM_TIME ALL".to_owned(),
        SystemTime::AsOf(moment) => {
            format!(" FOR SYSTEM_TIME AS OF TIMESTAMP {}", view_names.expr(moment, place)?)
        }
        SystemTime::Between(from, to) => {
            let (from, to) = (view_names.expr(from, place)?, view_names.expr(to, place)?);
            format!(" FOR SYSTEM_TIME BETWEEN TIMESTAMP {from} AND TIMESTAMP {to}")
        }
        SystemTime::FromTo(from, to) => {
            let (from, to) = (view_names.expr(from, place)?, view_names.expr(to, place)?);
            format!(" FOR SYSTEM_TIME FROM TIMESTAMP {from} TO TIMESTAMP {to}")
        }
        // Only statements that change rows have these forms.
        SystemTime::History(_) | SystemTime::Portion(_) => return None,
    })
}

fn json_table(
    view_names: &ViewNames<'_>,
    table: &JsonTable,
    scope: &Scope<'_>,
) -> Option<(String, Vec<String>)> {
    let JsonTable { document, rows, alias } = table;
    let mut names = Vec::new();
    let document = view_names.expr(document, Place::within(scope))?;
    let rows = json_rows(view_names, rows, scope, &mut names)?;
    Some((format!("json_table({document}, {rows}) {}", quoted(alias)), names))
}

fn json_rows(
    view_names: &ViewNames<'_>,
    rows: &JsonTableRows,
    scope: &Scope<'_>,
    names: &mut Vec<String>,
) -> Option<String> {
    let mut columns = Vec::new();
    for column in &rows.columns {
        columns.push(match column {
            JsonTableColumn::Ordinality { name } => {
                names.push(name.clone());
                format!("{} for ordinality", quoted(name))
            }
            JsonTableColumn::Exists { name, ty, path } => {
                names.push(name.clone());
                format!("{} {} exists path {}", quoted(name), type_text(view_names, ty), path_text(path))
            }
            JsonTableColumn::Value { name, ty, path, on_empty, on_error } => {
                names.push(name.clone());
                let empty = response(view_names, on_empty.as_ref(), "empty", scope)?;
                let error = response(view_names, on_error.as_ref(), "error", scope)?;
                let ty = type_text(view_names, ty);
                format!("{} {ty} path {}{empty}{error}", quoted(name), path_text(path))
            }
            JsonTableColumn::Nested(rows) => {
                format!("nested path {}", json_rows(view_names, rows, scope, names)?)
            }
        });
    }
    Some(format!("{} columns ({})", path_text(&rows.path), columns.join(", ")))
}

/// Prints what JSON_TABLE or JSON_VALUE does if a path selects nothing, or nothing that fits.
pub(super) fn response(
    view_names: &ViewNames<'_>,
    response: Option<&OnResponse>,
    of: &str,
    scope: &Scope<'_>,
) -> Option<String> {
    Some(match response {
        None => String::new(),
        Some(OnResponse::Null) => format!(" null on {of}"),
        Some(OnResponse::Error) => format!(" error on {of}"),
        Some(OnResponse::Default(value)) => {
            format!(" default {} on {of}", view_names.expr(value, Place::within(scope))?)
        }
    })
}

fn type_text(view_names: &ViewNames<'_>, ty: &TypeSpec) -> String {
    let mut text = ty.name.clone();
    match (ty.length, ty.scale) {
        (Some(length), Some(scale)) => text.push_str(&format!("({length},{scale})")),
        (Some(length), None) => text.push_str(&format!("({length})")),
        (None, _) if ty.name == "decimal" => text.push_str("(10,0)"),
        (None, _) => {}
    }
    if !ty.members.is_empty() {
        let members: Vec<String> = ty.members.iter().map(|member| path_text(member)).collect();
        text.push_str(&format!("({})", members.join(",")));
    }
    text.push_str(if ty.unsigned { " unsigned" } else { "" });
    text.push_str(if ty.zerofill { " zerofill" } else { "" });
    const TEXTS: [&str; 8] = ["char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set"];
    if TEXTS.contains(&ty.name.as_str()) {
        match (&ty.charset, &ty.collation) {
            (None, None) => {
                text.push_str(&format!(
                    " character set {} collate {}",
                    view_names.charset, view_names.collation
                ));
            }
            (charset, collation) => {
                let charset = charset.as_ref().map_or(String::new(), |name| format!(" character set {name}"));
                let collation = collation.as_ref().map_or(String::new(), |name| format!(" collate {name}"));
                text.push_str(&(charset + &collation));
            }
        }
    }
    text
}

fn is_information_schema(schema: &str) -> bool {
    schema.eq_ignore_ascii_case("information_schema")
}

fn path_text(path: &[u8]) -> String {
    crate::ddl::canonical::literal_text(path)
}

fn named_source(alias: &str, columns: Vec<String>) -> Source {
    Source { shown: Some(quoted(alias)), schema: String::new(), alias: alias.to_owned(), columns }
}

fn add(scope: &mut Scope<'_>, source: Source, text: String) -> From {
    let at = scope.sources.len();
    let given: Vec<Given> = (0..source.columns.len()).map(|column| (at, column)).collect();
    scope.sources.push(source);
    From { text, given }
}

/// The columns that a join gives, and the pairs of columns that it compares.
type Merged = (Vec<Given>, Vec<(Given, Given)>);

/// Returns the columns of a join with common columns, and the pairs of these. Without names, all
/// columns with the same name are common. `None` if a name is not on both sides.
fn common(scope: &Scope<'_>, left: &[Given], right: &[Given], using: &[String]) -> Option<Merged> {
    let partner = |name: &str| right.iter().copied().find(|given| same(scope.name(*given), name));
    let is_wanted = |name: &str| using.is_empty() || using.iter().any(|wanted| same(wanted, name));
    let mut pairs = Vec::new();
    for one in left.iter().copied() {
        let name = scope.name(one);
        if let (true, Some(other)) = (is_wanted(name), partner(name)) {
            pairs.push((one, other));
        }
    }
    if !using.is_empty() && pairs.len() != using.len() {
        return None;
    }
    let is_common = |given: &Given| pairs.iter().any(|(one, other)| one == given || other == given);
    let mut given: Vec<Given> = pairs.iter().map(|(one, _)| *one).collect();
    given.extend(left.iter().chain(right).filter(|given| !is_common(given)));
    Some((given, pairs))
}

/// Adds a hint. MySQL repeats its words for each index.
fn put_hint(text: &mut String, hint: &IndexHint) {
    let word = match hint.kind {
        IndexHintKind::Use => "USE",
        IndexHintKind::Force => "FORCE",
        IndexHintKind::Ignore => "IGNORE",
    };
    let purpose = match hint.purpose {
        None => "",
        Some(IndexHintUse::Join) => " FOR JOIN",
        Some(IndexHintUse::Order) => " FOR ORDER BY",
        Some(IndexHintUse::Group) => " FOR GROUP BY",
    };
    if hint.indexes.is_empty() {
        text.push_str(&format!(" {word} INDEX{purpose} ()"));
    }
    for index in &hint.indexes {
        let name = match index.eq_ignore_ascii_case("PRIMARY") {
            true => "PRIMARY".to_owned(),
            false => quoted(index),
        };
        text.push_str(&format!(" {word} INDEX{purpose} ({name})"));
    }
}
