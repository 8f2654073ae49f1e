//! Prints calls of functions, and the types of CAST.

use super::ViewNames;
use super::scope::Place;
use crate::ast::{CastType, Expr, FunctionCall, Literal};
use crate::ddl::canonical::{canonical_name, cast_name, literal_text};
use crate::quoting::quoted;
use engine::ObjectKind;

/// Prints a call. With OVER, the function is always one of MySQL's.
pub(super) fn call_text(
    view_names: &ViewNames<'_>,
    call: &FunctionCall,
    has_over: bool,
    place: Place<'_>,
) -> Option<String> {
    let FunctionCall { schema, name, written, args: operands, star, distinct, order_by, separator } = call;
    let args: Vec<String> =
        operands.iter().map(|operand| view_names.expr(operand, place)).collect::<Option<_>>()?;
    if let Some(schema) = schema {
        return Some(format!("{}.{}({})", quoted(schema), quoted(name), args.join(",")));
    }
    if *star {
        return Some(format!("{name}(0)"));
    }
    if name == "group_concat" {
        let distinct = if *distinct { "distinct " } else { "" };
        let mut text = format!("group_concat({distinct}{}", args.join(","));
        for (at, item) in order_by.iter().enumerate() {
            text.push_str(if at == 0 { " order by " } else { "," });
            text.push_str(&view_names.expr(&item.expr, place)?);
            text.push_str(if item.descending { " DESC" } else { " ASC" });
        }
        let separator = literal_text(separator.as_deref().unwrap_or(b","));
        return Some(format!("{text} separator {separator})"));
    }
    // DISTINCT makes no difference to the least and the greatest value.
    let distinct = if *distinct && !matches!(name.as_str(), "min" | "max") { "distinct " } else { "" };
    if !has_over && !crate::bind::is_built_in(name) {
        return stored_function(view_names, &written.0, &args);
    }
    Some(match view_names.of_mariadb {
        true => format!("{name}({distinct}{})", args.join(",")),
        false => format_call(name, distinct, &args, operands),
    })
}

/// Prints a call of a stored function. A function of MariaDB that this server lacks is no
/// stored one.
fn stored_function(view_names: &ViewNames<'_>, name: &str, args: &[String]) -> Option<String> {
    let current = view_names.current?;
    if view_names.of_mariadb && view_names.catalog.object(current, ObjectKind::Function, name).is_none() {
        return None;
    }
    let schema = match view_names.schema.is_empty() || view_names.schema == current {
        true => String::new(),
        false => format!("{}.", quoted(current)),
    };
    Some(format!("{schema}{}({})", quoted(name), args.join(",")))
}

pub(super) fn cast_type(view_names: &ViewNames<'_>, ty: &CastType) -> String {
    cast_name(ty, view_names.charset)
}

/// Returns the type behind RETURNING, which MySQL prints otherwise than that of CAST.
pub(super) fn returned_type(view_names: &ViewNames<'_>, ty: &CastType) -> String {
    let chars = |length: &Option<u64>| length.map_or(String::new(), |length| format!("({length})"));
    match ty {
        CastType::Char { length, charset: None } => format!("char{}", chars(length)),
        CastType::Binary { length } => format!("binary{}", chars(length)),
        CastType::Decimal { precision, scale } => format!("decimal({precision}, {scale})"),
        ty => cast_type(view_names, ty),
    }
}

/// Returns a call of MySQL's, in the form that MySQL has for the function.
fn format_call(name: &str, distinct: &str, args: &[String], operands: &[Expr]) -> String {
    match (name, args) {
        ("instr", [text, part]) => format!("locate({part},{text})"),
        ("mod", [left, right]) => format!("({left} % {right})"),
        ("datediff", [left, right]) => format!("(to_days({left}) - to_days({right}))"),
        ("date", [value]) => format!("cast({value} as date)"),
        ("time", [value]) => format!("cast({value} as time)"),
        ("timestamp", [value]) => format!("cast({value} as datetime)"),
        ("bin", [value]) => format!("conv({value},10,2)"),
        ("oct", [value]) => format!("conv({value},10,8)"),
        ("isnull", [value]) => format!("({value} is null)"),
        ("week" | "yearweek", [value]) => format!("{name}({value},0)"),
        ("weekofyear", [value]) => format!("week({value},3)"),
        ("round", [value]) => format!("round({value},0)"),
        ("from_unixtime", [value, format]) => format!("date_format(from_unixtime({value}),{format})"),
        ("now" | "curtime" | "sysdate" | "utc_time" | "utc_timestamp", [digits]) if digits == "0" => {
            format!("{name}()")
        }
        ("get_format", [_, standard]) => format!("get_format({}, {standard})", word_of(&operands[0])),
        ("weight_string", [value, chars]) => format!("weight_string({value} as char({chars}))"),
        ("member of", [value, document]) => format!("{value} member of ({document})"),
        ("name_const", args) => format!("NAME_CONST({})", args.join(",")),
        (name, args) => format!("{}({distinct}{})", shown_name(name), args.join(",")),
    }
}

/// Returns the name under which MySQL shows a function in a view.
fn shown_name(name: &str) -> &str {
    match name {
        "atan2" => "atan",
        "stddev" | "stddev_pop" => "std",
        "var_pop" => "variance",
        "st_asbinary" => "st_aswkb",
        "st_astext" | "st_aswkt" => "st_astext",
        "geometrycollection" => "geomcollection",
        "json_merge" => "json_merge_preserve",
        "session_user" | "system_user" => "user",
        name => canonical_name(name),
    }
}

/// Returns the keyword that the parser has turned into a text literal.
fn word_of(literal: &Expr) -> String {
    match literal {
        Expr::Literal(Literal::Text(word, None)) => String::from_utf8_lossy(word).into_owned(),
        _ => String::new(),
    }
}
