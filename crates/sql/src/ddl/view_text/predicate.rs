//! Prints the predicates of a view's query: IN, ALL and ANY, REGEXP, IS TRUE, MATCH.

use super::printed::{COMPARISON, PRIMARY, Printed};
use super::scope::Place;
use super::{Use, ViewNames};
use crate::ast::{BinaryOp, Expr, Match, Query, QueryBody, SearchMode, TruthValue};
use crate::ddl::canonical::is_condition;

/// Prints IN with a list. MySQL makes a comparison of a list with one item.
pub(super) fn in_list(
    view_names: &ViewNames<'_>,
    negated: bool,
    operand: &Expr,
    list: &[Expr],
    place: Place<'_>,
) -> Option<Printed> {
    if let ([only], false) = (list, view_names.of_mariadb) {
        let op = if negated { BinaryOp::NotEqual } else { BinaryOp::Equal };
        return view_names.binary(op, operand, only, place);
    }
    let not = if negated { "not " } else { "" };
    let operand = view_names.operand(operand, COMPARISON + 1, place)?;
    Some(view_names.operation(format!("{operand} {not}in ({})", view_names.list(list, place)?), COMPARISON))
}

/// Prints IN with a subquery. MySQL has no parentheses around it.
pub(super) fn in_query(
    view_names: &ViewNames<'_>,
    negated: bool,
    operand: &Expr,
    query: &Query,
    place: Place<'_>,
) -> Option<Printed> {
    let operand = view_names.operand(operand, COMPARISON + 1, place)?;
    let query_text = view_names.query(query, Use::Value, &place.around())?.text();
    let is_in = format!("{operand} in ({query_text})");
    let text = match negated {
        false => is_in,
        true if view_names.of_mariadb => {
            return Some(view_names.not(Printed { text: is_in, binds: COMPARISON + 1 }));
        }
        true if reads_nothing(query) => format!("(not({is_in}))"),
        true if place.filters => format!("{is_in} is false"),
        true => format!("{operand} not in ({query_text})"),
    };
    Some(Printed { text, binds: COMPARISON + 1 })
}

/// Prints a comparison with ALL or ANY. Two of them are IN and NOT IN.
pub(super) fn quantified(
    view_names: &ViewNames<'_>,
    op: BinaryOp,
    all: bool,
    operand: &Expr,
    query: &Query,
    place: Place<'_>,
) -> Option<Printed> {
    match (op, all) {
        (BinaryOp::Equal, false) => return in_query(view_names, false, operand, query, place),
        (BinaryOp::NotEqual, true) => return in_query(view_names, true, operand, query, place),
        _ => {}
    }
    let word = if all { "all" } else { "any" };
    let operand = view_names.operand(operand, COMPARISON + 1, place)?;
    let query = view_names.query(query, Use::Value, &place.around())?.text();
    let text = format!("{operand} {} {word} ({query})", op.symbol());
    Some(Printed { text, binds: COMPARISON + 1 })
}

pub(super) fn regexp(
    view_names: &ViewNames<'_>,
    operand: &Expr,
    pattern: &Expr,
    place: Place<'_>,
) -> Option<Printed> {
    if view_names.of_mariadb {
        let (of, pattern) = (
            view_names.operand(operand, COMPARISON + 1, place)?,
            view_names.operand(pattern, PRIMARY, place)?,
        );
        return Some(view_names.operation(format!("{of} regexp {pattern}"), COMPARISON));
    }
    let (of, pattern) = (view_names.expr(operand, place)?, view_names.expr(pattern, place)?);
    Some(Printed::primary(format!("regexp_like({of},{pattern})")))
}

/// Prints IS TRUE, IS FALSE and IS UNKNOWN, which is IS NULL.
pub(super) fn truth_test(
    view_names: &ViewNames<'_>,
    negated: bool,
    operand: &Expr,
    value: TruthValue,
    place: Place<'_>,
) -> Option<Printed> {
    let not = if negated { "not " } else { "" };
    let word = match value {
        TruthValue::True => "true",
        TruthValue::False => "false",
        TruthValue::Unknown => "null",
    };
    // This is how MySQL prints NOT IN.
    if let (Expr::InQuery { negated: false, .. }, TruthValue::False, false, false) =
        (operand, value, negated, view_names.of_mariadb)
    {
        return Some(Printed::primary(format!("{} is false", view_names.expr(operand, place)?)));
    }
    // IS TRUE and IS FALSE of IS FALSE are one test in MySQL.
    if let (Expr::IsTruth { negated: inner, operand, value: of }, false) = (operand, view_names.of_mariadb)
        && *of != TruthValue::Unknown
        && value != TruthValue::Unknown
    {
        let stays = (value == TruthValue::True) != negated;
        return truth_test(view_names, *inner == stays, operand, *of, place);
    }
    let operand = match value {
        TruthValue::Unknown => view_names.operand(operand, COMPARISON + 1, place)?,
        _ => {
            let truth = view_names.truth(operand, place)?;
            if truth.binds <= COMPARISON { format!("({})", truth.text) } else { truth.text }
        }
    };
    Some(view_names.operation(format!("{operand} is {not}{word}"), COMPARISON))
}

/// Prints MATCH ... AGAINST.
pub(super) fn match_against(
    view_names: &ViewNames<'_>,
    written: &Match,
    place: Place<'_>,
) -> Option<Printed> {
    let Match { columns, text, mode } = written;
    let mode = match mode {
        SearchMode::NaturalLanguage => "",
        SearchMode::Boolean => " in boolean mode",
        SearchMode::Expanded => " with query expansion",
    };
    let (columns, text) = (view_names.list(columns, place)?, view_names.expr(text, place)?);
    let text = format!("match {columns} against ({text}{mode})");
    Some(Printed::primary(view_names.operation(text, PRIMARY).text))
}

/// Reports whether an expression is a condition by itself.
pub(super) fn is_truth(expr: &Expr) -> bool {
    matches!(expr, Expr::InQuery { .. } | Expr::Quantified { .. } | Expr::Exists(_) | Expr::Match(_))
        || matches!(expr, Expr::Function(call) if is_condition_function(&call.name))
        || is_condition(expr)
}

/// Reports whether a function is a condition, besides those that definitions may have.
fn is_condition_function(name: &str) -> bool {
    const NAMES: [&str; 10] = [
        "member of",
        "is_ipv4",
        "is_ipv6",
        "is_ipv4_compat",
        "is_ipv4_mapped",
        "st_isempty",
        "st_issimple",
        "st_isvalid",
        "st_isclosed",
        "isnull",
    ];
    const RELATIONS: [&str; 8] =
        ["contains", "crosses", "disjoint", "equals", "intersects", "overlaps", "touches", "within"];
    let relation = name.strip_prefix("st_").or_else(|| name.strip_prefix("mbr"));
    NAMES.contains(&name)
        || relation.is_some_and(|relation| RELATIONS.contains(&relation))
        || matches!(name, "mbrcovers" | "mbrcoveredby")
}

/// Reports whether a query is one SELECT without tables, which MySQL takes for its values.
pub(super) fn reads_nothing(query: &Query) -> bool {
    matches!(&query.body, QueryBody::Select(select) if select.from.is_none())
}
