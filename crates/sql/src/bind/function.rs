//! Binding of function calls and aggregates.

use super::compared::{compute_text, read_operands};
use super::expr::{as_string_argument, number, show_aggregated};
use super::outer::frames_of_aggregate;
use super::text_arguments::{chosen_texts, in_one_character_set, is_of_texts, of_texts};
use super::{Binder, NODE_BYTES, Place, Scope};
use crate::ast;
use crate::error::{Result, SqlError};
use crate::expr::functions::NAMED;
use crate::expr::functions::byte_bits::is_byte_string;
use crate::expr::functions::field::check_field;
use crate::expr::functions::json::{MARIADB_JSON_ARRAY, MARIADB_JSON_OBJECT, MARIADB_JSON_VALID};
use crate::expr::functions::string::FIND_AMONG_MEMBERS;
use crate::expr::functions::table::find_function;
use crate::expr::{
    self, Aggregate, AggregateKind, Coercibility, Expr, MOST_BIT_STRING_BYTES, Node, NumericClass,
    StoredFunction, common_type, comparison_collation, is_aggregate, of_operation,
};
use crate::host::Privilege;
use crate::variables::Variables;
use std::sync::Arc;
use types::{ColumnType, TypeCode, Value, collation};

// Its frame must not become a part of `rare`, through which other operators are bound too.
#[inline(never)]
pub(super) fn function(
    binder: &mut Binder<'_>,
    call: &ast::FunctionCall,
    place: &mut Place<'_>,
) -> Result<Expr> {
    if let Some(schema) = &call.schema {
        return stored_function(binder, Some(schema), &call.name, &call.args, place);
    }
    if is_aggregate(&call.name) {
        return aggregate(binder, call, place);
    }
    if is_for_the_server(&call.name) {
        let text = format!("Access to native function '{}' is rejected.", call.written.0);
        return Err(SqlError::new(3566, text));
    }
    let native = native(binder.meaning.of_mariadb, &call.name)?;
    if native.is_none() && !CONDITIONS.contains(&call.name.as_str()) {
        return stored_function(binder, binder.schema, &call.written.0, &call.args, place);
    }
    if call.name == "grouping" && place.aggregates.is_none() {
        return Err(SqlError::new(1111, "Invalid use of group function"));
    }
    binder.noted.logging.function(call);
    let mut args = Vec::with_capacity(call.args.len());
    for arg in &call.args {
        args.push(binder.expr(arg, place)?);
    }
    call_with(binder, call, native, args, place)
}

/// Binds a call of a native function whose arguments are bound.
// Its frame must not become a part of that of `function`, through which arguments are bound.
#[inline(never)]
fn call_with(
    binder: &mut Binder<'_>,
    call: &ast::FunctionCall,
    native: Option<&'static expr::Function>,
    mut args: Vec<Expr>,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let count = args.len();
    let count_is = |least: usize, most: usize| {
        if (least..=most).contains(&count) {
            Ok(())
        } else {
            Err(SqlError::wrong_argument_count(&call.written.0))
        }
    };
    match call.name.as_str() {
        "if" => {
            count_is(3, 3)?;
            let condition = std::mem::replace(&mut args[0], Expr::constant(Value::Null));
            args[0] = number(condition, place.scope);
            let (ty, coercibility) =
                common_type(&[&args[1], &args[2]]).map_err(|error| of_operation(error, "if"))?;
            let nullable = args[1].nullable || args[2].nullable;
            let [condition, yes, no] = three(args);
            let args = [condition, yes.for_result(&ty), no.for_result(&ty)];
            Ok(Expr { node: Node::If(Box::new(args)), ty, nullable, coercibility })
        }
        "ifnull" | "coalesce" => {
            if call.name == "ifnull" {
                count_is(2, 2)?
            } else {
                count_is(1, usize::MAX)?
            }
            let (ty, coercibility) = common_type(&args.iter().collect::<Vec<_>>())
                .map_err(|error| of_operation(error, &call.name))?;
            // MySQL makes a column of the type of IFNULL, and of another's width.
            let ty = if call.name == "ifnull" { expr::of_if_null(ty) } else { ty };
            let nullable = args.iter().all(|arg| arg.nullable);
            let args = args.into_iter().map(|arg| arg.for_result(&ty)).collect();
            Ok(Expr { node: Node::Coalesce(args), ty, nullable, coercibility })
        }
        "name_const" => {
            count_is(2, 2)?;
            fn is_constant(arg: &Expr) -> bool {
                match &arg.node {
                    Node::Constant(_) | Node::HexLiteral(..) => true,
                    Node::Recollate(inner) | Node::Negate(inner) => is_constant(inner),
                    _ => false,
                }
            }
            if !args.iter().all(is_constant) {
                return Err(SqlError::new(1210, "Incorrect arguments to NAME_CONST"));
            }
            // As in MySQL, a column that is made of it takes NULL.
            args[1].nullable = true;
            Ok(args.swap_remove(1))
        }
        "nullif" => {
            count_is(2, 2)?;
            let (ty, coercibility) = common_type(&[&args[0]])?;
            let ty = ColumnType { unsigned: args[0].ty.unsigned, ..ty };
            let [first, second] = two(args);
            let second = second.beside(&first.ty);
            let written = first.clone();
            let mut operands = [first, second];
            read_operands(&mut binder.constants, &mut operands, place.scope)?;
            let collation = comparison_collation("nullif", operands.iter())?;
            // As in MySQL, the text has the collation in which it was compared.
            // A column of another character set keeps its own.
            let is_recollated = operands[0].coercibility == Coercibility::Literal
                || collation::charset_of(collation) == collation::charset_of(ty.collation);
            let ty = match operands.iter().all(|operand| is_characters(&operand.ty)) && is_recollated {
                true => ColumnType { collation, ..ty },
                false => ty,
            };
            // Bytes are what is compared with bytes, and not what is returned.
            if operands[0] != written || collation == collation::BINARY && is_characters(&ty) {
                let node = null_if_equal(operands, written, collation);
                return Ok(Expr { node, ty, nullable: true, coercibility });
            }
            let operands = Box::new(operands.map(|operand| operand.in_characters_of(collation)));
            Ok(Expr { node: Node::NullIf { operands, collation }, ty, nullable: true, coercibility })
        }
        name => {
            let definer = binder.view.definer.as_deref().filter(|_| name == "current_user").map(Value::text);
            let function = native.unwrap_or_else(|| panic!("{name} is one of the functions"));
            count_is(function.least_args, function.most_args)?;
            check_pairs(name, &call.written.0, count)?;
            match name {
                "strcmp" => drop(comparison_collation(name, args.iter())?),
                "field" => check_field(&args)?,
                _ => {}
            }
            if name == "json_merge" {
                let text = "'JSON_MERGE' is deprecated and will be removed in a future release. Please use \
                            JSON_MERGE_PRESERVE/JSON_MERGE_PATCH instead";
                binder.constants.complaints.push((1287, text.to_owned()));
            }
            if matches!(name, "greatest" | "least") && args.iter().any(Expr::is_json) {
                let text = "This version of MySQL doesn't yet support 'comparison of JSON in the LEAST and GREATEST \
                            operators'";
                binder.constants.complaints.push((1235, text.to_owned()));
            }
            let function = match name == "find_in_set" && is_among_members(&args, place.scope) {
                true => &FIND_AMONG_MEMBERS,
                false => function,
            };
            let mut args = args;
            prepare_first(name, &mut args, place.scope);
            if asks_for_digits(name) {
                args.iter_mut().for_each(|arg| compute_text(binder, arg));
            }
            let args = if takes_numbers(name) { numeric(args, place.scope) } else { args };
            let inferred = expr::function_type(function, &args)?;
            let (ty, coercibility) =
                in_connection_collation(binder.variables.connection_collation, inferred, &args);
            let args = if is_of_texts(name) { of_texts(name, args, place.scope) } else { args };
            let args = chosen_texts(name, args);
            if function.varies {
                binder.noted.uncacheable |= matches!(name, "last_insert_id");
            }
            let nullable = match is_strictly_null(name) && !binder.variables.sql_mode.strict() {
                true => args.iter().any(|arg| arg.nullable),
                false => function.may_be_null(&args),
            };
            let node = match definer {
                Some(definer) => Node::Constant(definer),
                None if name == "elt" => chosen_by_number(args, &ty),
                None => Node::Call { function, args },
            };
            Ok(Expr { node, ty, nullable, coercibility })
        }
    }
}

/// Reports whether the type is one of texts in characters.
fn is_characters(ty: &ColumnType) -> bool {
    expr::is_text(ty) && ty.code != TypeCode::Json && ty.collation != collation::BINARY
}

/// `ELT(number, text, ...)`, which is a CASE: of the texts only the one that is chosen is computed.
#[inline(never)]
fn chosen_by_number(args: Vec<Expr>, ty: &ColumnType) -> Node {
    let mut args = args.into_iter();
    let number = args.next().expect("the number of arguments was checked").numeric();
    let number = Expr {
        nullable: number.nullable,
        coercibility: Coercibility::Numeric,
        node: Node::Cast(Box::new(number)),
        ty: ColumnType::bigint(false),
    };
    let place = |at: usize| Expr::constant(Value::Int(at as i64 + 1));
    let whens = args.enumerate().map(|(at, text)| (place(at), text.for_result(ty))).collect();
    Node::Case { operand: Some(Box::new(number)), whens, otherwise: None, collation: collation::BINARY }
}

/// Returns NULL where the operands are equal, and `value` elsewhere: the first operand is compared
/// in another form than the one that it is returned in.
#[inline(never)]
fn null_if_equal(operands: [Expr; 2], value: Expr, collation: u16) -> Node {
    let nullable = operands.iter().any(|operand| operand.nullable);
    let operands = Box::new(operands.map(|operand| operand.in_characters_of(collation)));
    let compare = Node::Compare { op: ast::BinaryOp::Equal, operands, collation };
    let condition =
        Expr { node: compare, ty: expr::truth_type(), nullable, coercibility: Coercibility::Numeric };
    Node::If(Box::new([condition, Expr::constant(Value::Null), value]))
}

/// Reports whether FIND_IN_SET is asked for a constant in a table's own column of the type SET.
#[inline(never)]
fn is_among_members(args: &[Expr], scope: &Scope) -> bool {
    let [text, set] = args else { return false };
    let is_column = match set.node {
        Node::Slot(slot) => scope.of_slot(slot).is_some_and(|(table, _)| table.stored),
        Node::Outer(_) => true,
        _ => false,
    };
    is_column && set.ty.code == TypeCode::Set && expr::is_same_for_each_row(text)
}

/// Makes the first argument what some functions ask of it.
#[inline(never)]
fn prepare_first(name: &str, args: &mut [Expr], scope: &Scope) {
    match name {
        "abs" | "ceiling" | "floor" | "round" | "truncate" => {
            let first = std::mem::replace(&mut args[0], Expr::constant(Value::Null));
            args[0] = as_string_argument(first);
        }
        "hour" | "minute" | "second" | "microsecond" | "time" | "time_to_sec" => {
            read_time_of_document(&mut args[0], scope);
        }
        "addtime" | "subtime" => read_time_of_document(&mut args[1], scope),
        "year" | "month" | "day" | "dayofmonth" | "quarter" | "dayofweek" | "weekday" | "dayofyear"
        | "to_days" | "week" | "weekofyear" | "yearweek" | "last_day" | "dayname" | "monthname" | "date"
        | "datediff" => {
            args.iter_mut().for_each(|argument| read_document(argument, &ColumnType::date(), scope));
        }
        "date_format" | "unix_timestamp" | "convert_tz" | "to_seconds" | "timestamp" => {
            let [first, others @ ..] = args else { return };
            read_document(first, &ColumnType::datetime(MOST_DIGITS), scope);
            if name == "timestamp" {
                others.iter_mut().for_each(|time| read_time_of_document(time, scope));
            }
        }
        "inet_aton" | "inet6_aton" | "inet_ntoa" | "inet6_ntoa" | "unhex" => named(&mut args[0], scope),
        _ => {}
    }
}

/// The most digits of a fraction of a second.
const MOST_DIGITS: u8 = 6;

/// Reads an argument that is a document as a time.
fn read_time_of_document(argument: &mut Expr, scope: &Scope) {
    read_document(argument, &ColumnType::time(MOST_DIGITS), scope);
}

/// Reads an argument that is a document as a value of this type.
#[inline(never)]
fn read_document(argument: &mut Expr, ty: &ColumnType, scope: &Scope) {
    let column = scope.column_of(argument);
    let document = std::mem::replace(argument, Expr::constant(Value::Null));
    *argument = document.read_from_json(ty, column);
}

/// Lets an argument that is a column know its name, which warnings show.
#[inline(never)]
fn named(argument: &mut Expr, scope: &Scope) {
    let Node::Slot(slot) = argument.node else { return };
    let Some((table, at)) = scope.of_slot(slot) else { return };
    let parts = [&table.schema, &table.alias, &table.columns[at].name];
    let quoted = parts.into_iter().filter(|part| !part.is_empty()).map(|part| format!("`{part}`"));
    let name = Expr::constant(Value::text(&quoted.collect::<Vec<_>>().join(".")));
    let column = std::mem::replace(argument, Expr::constant(Value::Null));
    let (ty, nullable, coercibility) = (column.ty.clone(), column.nullable, column.coercibility);
    let node = Node::Call { function: &NAMED, args: vec![column, name] };
    *argument = Expr { node, ty, nullable, coercibility };
}

/// Reports whether MySQL says of a function's texts that they may be NULL only because strict mode
/// refuses characters that are none. In other modes they are NULL where an argument is.
fn is_strictly_null(name: &str) -> bool {
    const NAMES: [&str; 33] = [
        "aes_encrypt",
        "char",
        "charset",
        "collation",
        "compress",
        "concat",
        "concat_ws",
        "export_set",
        "format",
        "format_bytes",
        "hex",
        "insert",
        "lcase",
        "left",
        "lower",
        "lpad",
        "ltrim",
        "mid",
        "quote",
        "repeat",
        "replace",
        "reverse",
        "right",
        "rpad",
        "rtrim",
        "soundex",
        "space",
        "substr",
        "substring",
        "substring_index",
        "to_base64",
        "ucase",
        "upper",
    ];
    NAMES.binary_search(&name).is_ok()
}

/// Gives the connection's collation to a text that a function makes of no text. Where a literal
/// text has the collation already, it is that of the literal.
fn in_connection_collation(
    connection: u16,
    (ty, coercibility): (ColumnType, Coercibility),
    args: &[Expr],
) -> (ColumnType, Coercibility) {
    let is_made = match coercibility {
        Coercibility::Numeric => expr::is_text(&ty),
        Coercibility::Literal => {
            let is_given = |arg: &Expr| {
                expr::is_text(&arg.ty)
                    && arg.coercibility == Coercibility::Literal
                    && arg.ty.collation == ty.collation
            };
            expr::is_text(&ty) && !args.iter().any(is_given)
        }
        _ => false,
    };
    if !is_made || ty.collation != collation::UTF8MB4_0900_AI_CI {
        return (ty, coercibility);
    }
    (expr::text_in(&ty, connection), Coercibility::Literal)
}

/// Returns the built-in function with this name. MariaDB's JSON functions work on texts and
/// return other results than MySQL's, so of them only those are known here that MariaDB's JSON
/// columns and their defaults need.
fn native(of_mariadb: bool, name: &str) -> Result<Option<&'static expr::Function>> {
    match name {
        "json_valid" if of_mariadb => Ok(Some(&MARIADB_JSON_VALID)),
        "json_array" if of_mariadb => Ok(Some(&MARIADB_JSON_ARRAY)),
        "json_object" if of_mariadb => Ok(Some(&MARIADB_JSON_OBJECT)),
        _ if of_mariadb && name.starts_with("json_") => {
            Err(SqlError::not_supported(format!("MariaDB's {}()", name.to_uppercase())))
        }
        _ => Ok(find_function(name)),
    }
}

/// Binds a call of a stored function. An account that may not execute the function is not told
/// whether it exists.
fn stored_function(
    binder: &mut Binder<'_>,
    schema: Option<&str>,
    name: &str,
    args: &[ast::Expr],
    place: &mut Place<'_>,
) -> Result<Expr> {
    let kind = engine::ObjectKind::Function;
    let schema = schema.ok_or_else(SqlError::no_schema_selected)?;
    if !is_of_mysql(name) {
        binder.view.rights.check_routine(Privilege::Execute, kind, schema, name)?;
    }
    let Some(stored) = binder.engine.catalog().object(schema, kind, name) else {
        return Err(SqlError::new(1305, format!("FUNCTION {schema}.{name} does not exist")));
    };
    let signature = crate::program::Signature::of(&stored.def)?;
    if args.len() != signature.parameters {
        let (expected, got) = (signature.parameters, args.len());
        let text = format!(
            "Incorrect number of arguments for FUNCTION {}.{}; expected {expected}, got {got}",
            stored.def.schema, stored.def.name
        );
        return Err(SqlError::new(1318, text));
    }
    let args = args.iter().map(|arg| binder.expr(arg, place)).collect::<Result<Vec<_>>>()?;
    binder.noted.calls_functions = true;
    binder.noted.uncacheable = true;
    binder.noted.logging.stored_function();
    let coercibility = Coercibility::of_type(&signature.ty);
    let function = StoredFunction {
        schema: stored.def.schema.clone(),
        name: stored.def.name.clone(),
        deterministic: signature.deterministic,
    };
    let node = Node::Stored { function: Arc::new(function), args };
    Ok(Expr { node, ty: signature.ty, nullable: true, coercibility })
}

/// Binds an aggregate, which belongs to the query in which it is written or to one around it.
fn aggregate(binder: &mut Binder<'_>, call: &ast::FunctionCall, place: &mut Place<'_>) -> Result<Expr> {
    let Some(frames) = frames_of_aggregate(binder, call, place)? else {
        return aggregate_here(binder, call, place);
    };
    let owner = frames.last().expect("the aggregate is in a subquery of the query that it belongs to");
    let found = aggregate_here(binder, call, &mut owner.place())?;
    Ok(frames.iter().rev().fold(found, |found, frame| frame.argument(found)))
}

/// Binds an aggregate of this query. Its value gets a slot behind those of the row.
fn aggregate_here(binder: &mut Binder<'_>, call: &ast::FunctionCall, place: &mut Place<'_>) -> Result<Expr> {
    let Some(aggregates) = place.aggregates else {
        return Err(SqlError::new(1111, "Invalid use of group function"));
    };
    let known = aggregates.written.borrow().iter().position(|written| written == call);
    if let Some(at) = known {
        let expr = aggregates.found.borrow()[at].expr.clone();
        return Ok(Expr { node: Node::Slot(aggregates.first_slot + at), ..expr });
    }
    // Aggregates do not nest, so the arguments are in a place that allows none. Nor may the
    // arguments name aliases.
    let mut arguments =
        Place { aggregates: None, windows: None, aliases: &[], only: None, is_aggregated: true, ..*place };
    let aggregate = bind_aggregate(binder, call, &mut arguments)?;
    // The copy of the written call is charged too.
    binder.may_make(4 * NODE_BYTES)?;
    let mut found = aggregates.found.borrow_mut();
    let slot = aggregates.first_slot + found.len();
    let expr = Expr { node: Node::Slot(slot), ..aggregate.expr.clone() };
    found.push(aggregate);
    aggregates.written.borrow_mut().push(call.clone());
    Ok(expr)
}

pub(super) fn bind_aggregate(
    binder: &mut Binder<'_>,
    call: &ast::FunctionCall,
    place: &mut Place<'_>,
) -> Result<Aggregate> {
    let mut args = Vec::new();
    for arg in &call.args {
        args.push(binder.expr(arg, place)?);
    }
    if args.len() != 1 && !matches!(call.name.as_str(), "count" | "group_concat" | "json_objectagg") {
        return Err(SqlError::syntax(")", 1));
    }
    let kind = match call.name.as_str() {
        "count" if call.star => AggregateKind::CountRows,
        "count" => AggregateKind::Count,
        "sum" => AggregateKind::Sum,
        "avg" => AggregateKind::Avg,
        "min" => AggregateKind::Min,
        "max" => AggregateKind::Max,
        "bit_and" => AggregateKind::BitAnd,
        "bit_or" => AggregateKind::BitOr,
        "bit_xor" => AggregateKind::BitXor,
        "std" | "stddev" | "stddev_pop" => AggregateKind::Variance { sample: false, root: true },
        "stddev_samp" => AggregateKind::Variance { sample: true, root: true },
        "variance" | "var_pop" => AggregateKind::Variance { sample: false, root: false },
        "var_samp" => AggregateKind::Variance { sample: true, root: false },
        "any_value" => AggregateKind::Any,
        "json_arrayagg" => AggregateKind::JsonArray,
        "json_objectagg" => AggregateKind::JsonObject,
        "st_collect" => AggregateKind::Collect,
        "group_concat" => {
            // Values that are gathered have the digits of their type, whatever chose them.
            args = in_one_character_set(args).into_iter().map(Expr::shown_as_typed).collect();
            let mut order = Vec::new();
            for item in &call.order_by {
                let key = match position_in(&args[..call.args.len()], &item.expr)? {
                    Some(argument) => argument,
                    None => binder.expr(&item.expr, place)?,
                };
                args.push(key);
                order.push(item.descending);
            }
            AggregateKind::GroupConcat {
                separator: call.separator.clone().unwrap_or_else(|| b",".to_vec()),
                order,
            }
        }
        name => return Err(SqlError::not_supported(format!("{}()", name.to_uppercase()))),
    };
    check_shapes(&kind, &call.name, &args)?;
    let args = match kind {
        AggregateKind::Sum
        | AggregateKind::Avg
        | AggregateKind::BitAnd
        | AggregateKind::BitOr
        | AggregateKind::BitXor
        | AggregateKind::Variance { .. } => numeric(args, place.scope),
        _ => args,
    };
    let args = match kind {
        // Texts that are one number, such as '1' and '1.0', count once.
        AggregateKind::Sum | AggregateKind::Avg if call.distinct => doubles_of_texts(args),
        _ => args,
    };
    let expr = result_of(&kind, &args, binder.variables)?;
    let mut aggregate = Aggregate { kind, distinct: call.distinct, args, expr };
    show_aggregated(&mut aggregate);
    Ok(aggregate)
}

/// Makes numbers with a floating point of texts.
fn doubles_of_texts(args: Vec<Expr>) -> Vec<Expr> {
    let read = |arg: Expr| match matches!(arg.ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob)
    {
        true => Expr {
            nullable: arg.nullable,
            ty: ColumnType::double(),
            coercibility: Coercibility::Numeric,
            node: Node::Cast(Box::new(arg)),
        },
        false => arg,
    };
    args.into_iter().map(read).collect()
}

/// Refuses sums, least values, greatest values and the like of geometries and vectors.
fn check_shapes(kind: &AggregateKind, name: &str, args: &[Expr]) -> Result<()> {
    let is = |code: TypeCode| args.iter().any(|arg| arg.ty.code == code);
    match kind {
        AggregateKind::Sum
        | AggregateKind::Avg
        | AggregateKind::Min
        | AggregateKind::Max
        | AggregateKind::Variance { .. }
            if is(TypeCode::Geometry) || is(TypeCode::Vector) =>
        {
            Err(SqlError::new(1210, format!("Incorrect arguments to {name}")))
        }
        AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor if is(TypeCode::Vector) => {
            Err(SqlError::new(1210, format!("Incorrect arguments to {name}")))
        }
        AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor
            if is(TypeCode::Geometry)
                || is_byte_string(&args[0]) && args[0].ty.max_bytes() > MOST_BIT_STRING_BYTES =>
        {
            let text = "Aggregate bitwise functions cannot accept arguments longer than 511 bytes; consider using the \
                        SUBSTRING() function";
            Err(SqlError::new(3514, text))
        }
        _ => Ok(()),
    }
}

fn numeric(args: Vec<Expr>, scope: &Scope) -> Vec<Expr> {
    args.into_iter().map(|arg| number(arg, scope)).collect()
}

/// Reports whether the type of a function's value depends on how many digits behind the seconds its
/// arguments have.
fn asks_for_digits(name: &str) -> bool {
    matches!(name, "addtime" | "subtime" | "time" | "timediff" | "timestamp" | "unix_timestamp")
}

/// Reports whether all arguments of a function are numbers.
fn takes_numbers(name: &str) -> bool {
    const NAMES: [&str; 21] = [
        "abs",
        "char",
        "sign",
        "round",
        "truncate",
        "ceiling",
        "floor",
        "mod",
        "power",
        "sqrt",
        "exp",
        "ln",
        "log",
        "log2",
        "log10",
        "bit_count",
        "sin",
        "cos",
        "tan",
        "radians",
        "degrees",
    ];
    NAMES.contains(&name)
}

/// Checks the number of arguments of a JSON function that takes pairs of them, with or without a
/// document in front.
fn check_pairs(name: &str, written: &str, count: usize) -> Result<()> {
    let is_odd = match name {
        "json_object" => count % 2 == 1,
        "json_set" | "json_insert" | "json_replace" | "json_array_append" | "json_array_insert" => {
            count.is_multiple_of(2)
        }
        _ => false,
    };
    if is_odd { Err(SqlError::wrong_argument_count(written)) } else { Ok(()) }
}

fn two(args: Vec<Expr>) -> [Expr; 2] {
    let mut args = args.into_iter();
    std::array::from_fn(|_| args.next().unwrap_or_else(|| Expr::constant(Value::Null)))
}

fn three(args: Vec<Expr>) -> [Expr; 3] {
    let mut args = args.into_iter();
    std::array::from_fn(|_| args.next().unwrap_or_else(|| Expr::constant(Value::Null)))
}

/// The functions that are bound by code here and are not in the table of functions.
const CONDITIONS: &[&str] = &["if", "ifnull", "coalesce", "name_const", "nullif"];

/// Reports whether MySQL has this function for the views of its information_schema only.
fn is_for_the_server(name: &str) -> bool {
    const OTHERS: [&str; 9] = [
        "can_access_column",
        "can_access_database",
        "can_access_table",
        "can_access_user",
        "can_access_view",
        "get_dd_column_privileges",
        "get_dd_create_options",
        "get_dd_index_sub_part_length",
        "is_visible_dd_object",
    ];
    OTHERS.contains(&name) || INTERNAL.iter().any(|rest| name.strip_prefix("internal_") == Some(rest))
}

/// The names of functions for the server that begin with `internal_`, without that prefix.
const INTERNAL: [&str; 20] = [
    "auto_increment",
    "avg_row_length",
    "check_time",
    "checksum",
    "data_free",
    "data_length",
    "dd_char_length",
    "get_comment_or_error",
    "get_enabled_role_json",
    "get_hostname",
    "get_username",
    "get_view_warning_or_error",
    "index_column_cardinality",
    "index_length",
    "is_enabled_role",
    "is_mandatory_role",
    "keys_disabled",
    "max_data_length",
    "table_rows",
    "update_time",
];

/// Reports whether a name looks like one of MySQL's functions that is missing here. The call then
/// fails because the function does not exist, not because of a missing privilege.
fn is_of_mysql(name: &str) -> bool {
    ["json_", "regexp_", "st_", "mbr"].iter().any(|begin| name.starts_with(begin))
}

/// Returns an expression with the type of an aggregate's result.
fn result_of(kind: &AggregateKind, args: &[Expr], limits: &Variables) -> Result<Expr> {
    let increment = limits.div_precision_increment;
    let numeric = |ty: ColumnType, nullable: bool| Expr {
        node: Node::Constant(Value::Null),
        ty,
        nullable,
        coercibility: Coercibility::Numeric,
    };
    Ok(match kind {
        AggregateKind::CountRows | AggregateKind::Count => {
            numeric(expr::integer_type(expr::BIGINT_WIDTH, false), false)
        }
        AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => {
            match is_byte_string(&args[0]) {
                // One byte more than the longest value, as in MySQL.
                true => numeric(ColumnType::varbinary(args[0].ty.max_bytes() as u32 + 1), false),
                false => numeric(expr::integer_type(expr::BIGINT_WIDTH, true), false),
            }
        }
        AggregateKind::Variance { .. } => numeric(ColumnType::double(), true),
        AggregateKind::Sum | AggregateKind::Avg => {
            let ty = &args[0].ty;
            if expr::numeric_class(ty) == NumericClass::Double {
                let more = if *kind == AggregateKind::Avg { u32::from(increment) } else { 0 };
                let decimals = expr::decimals_of_all(&[ty]).map(|decimals| decimals + more);
                return Ok(numeric(expr::double_with(decimals), true));
            }
            let (digits, scale) = (expr::integer_digits(ty), expr::scale_of(ty));
            numeric(
                match kind {
                    AggregateKind::Sum => expr::decimal_type(digits + 22, scale),
                    _ => {
                        let of_quotient = expr::computed_scale(scale + u32::from(increment), &[scale]);
                        expr::decimal_type(digits, of_quotient)
                    }
                },
                true,
            )
        }
        AggregateKind::Min | AggregateKind::Max | AggregateKind::Any => {
            let ty = args[0].ty.clone().without_zerofill();
            let is_made = ty.is_integer() && ty.form.is_some();
            let is_year = ty.code == TypeCode::Year && ty.form.is_some();
            let ty = match ty {
                ty if is_made => expr::kept_integer(&ty),
                _ if is_year => expr::kept_year(),
                ty if *kind == AggregateKind::Any => expr::made_of(ty),
                ty => ty,
            };
            let nullable = *kind != AggregateKind::Any || args[0].nullable;
            Expr { node: Node::Constant(Value::Null), ty, nullable, ..args[0].clone() }
        }
        AggregateKind::JsonArray | AggregateKind::JsonObject => Expr {
            node: Node::Constant(Value::Null),
            ty: ColumnType::json(),
            nullable: true,
            coercibility: Coercibility::Implicit,
        },
        AggregateKind::Collect => Expr {
            node: Node::Constant(Value::Null),
            ty: ColumnType::geometry(types::GeometryKind::Geometry, None),
            nullable: true,
            coercibility: Coercibility::Literal,
        },
        AggregateKind::GroupConcat { order, .. } => Expr {
            node: Node::Constant(Value::Null),
            ty: expr::group_concat_type(
                limits.group_concat_max_len,
                concat_collation(&args[..args.len() - order.len()]),
            ),
            nullable: true,
            coercibility: Coercibility::Implicit,
        },
    })
}

/// Returns the collation of the texts of GROUP_CONCAT.
fn concat_collation(args: &[Expr]) -> u16 {
    let is_bytes = |arg: &Expr| matches!(arg.ty.code, TypeCode::Null | TypeCode::Bit);
    match args.iter().find(|arg| expr::is_text(&arg.ty) || arg.is_json()) {
        Some(text) => expr::text_collation(&text.ty),
        None if args.iter().all(is_bytes) => collation::BINARY,
        None => collation::UTF8MB4_0900_AI_CI,
    }
}

/// Reports whether MySQL has a function with this name, which is in lower case.
pub(crate) fn is_built_in(name: &str) -> bool {
    is_aggregate(name)
        || is_for_the_server(name)
        || CONDITIONS.contains(&name)
        || find_function(name).is_some()
}

/// Returns the argument of GROUP_CONCAT that an item like the 2 in `ORDER BY 2` stands for. `None`
/// if the item is an expression.
#[inline(never)]
fn position_in(args: &[Expr], written: &ast::Expr) -> Result<Option<Expr>> {
    let ast::Expr::Literal(ast::Literal::Integer(n)) = written else { return Ok(None) };
    let at = usize::try_from(*n).ok().and_then(|n| n.checked_sub(1));
    match at.and_then(|at| args.get(at)) {
        Some(argument) => Ok(Some(argument.clone())),
        None => Err(SqlError::unknown_column(n, "order clause")),
    }
}
