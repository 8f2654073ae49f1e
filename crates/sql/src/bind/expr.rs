//! Binding of expressions.

mod arrays;
mod case;
mod clocks;
mod defaults;
mod full_text;
mod json;
mod literal;
mod operators;
mod result_type;
mod subquery;

pub(super) use case::comparands_of_field;
pub(super) use clocks::show_aggregated;
pub(super) use json::number;

use arrays::as_array;
pub(crate) use arrays::{array_outside_of_index, element_type};
pub(in crate::bind) use result_type::as_string_argument;
use result_type::{arithmetic_type, boolean, expr_text_type};
use subquery::Quantifier;

use super::compared::{
    as_documents, as_moments, compared_alone, compute_beside, compute_constant, make_dates_of_times,
    read_beside, read_items, read_operands, read_pair, read_texts_beside_numbers, show_time_beside_text,
};
use super::constants::NoDate;
use super::function::function;
use super::outer::{outer_column, outer_inserted_value};
use super::texts::{beside, comparable};
use super::{Binder, Place, Scope};
use crate::ast::{self, BinaryOp, Literal, NamedColumn, UnaryOp};
use crate::error::{Result, SqlError};
use crate::expr::functions::byte_bits::{self, is_byte_string, operator_on_bytes};
use crate::expr::{self, Coercibility, Expr, Node, comparison_collation, is_text};
use crate::host::Privilege;
use crate::memory::allocated;
use types::collation::{self, Charset};
use types::{ColumnType, Decimal, NumberForm, Value};

/// What a row is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowBeside {
    /// Another row.
    Row,
    /// The only item of an IN list.
    Item,
    /// One of several items of an IN list.
    Items,
}

impl Binder<'_> {
    pub fn expr(&mut self, written: &ast::Expr, place: &mut Place<'_>) -> Result<Expr> {
        self.may_make(super::NODE_BYTES)?;
        self.around.depth += 1;
        let bound = self.expr_at_depth(written, place);
        self.around.depth -= 1;
        let mut bound = bound?;
        clocks::show_operands(&mut bound);
        Ok(bound)
    }

    fn expr_at_depth(&mut self, written: &ast::Expr, place: &mut Place<'_>) -> Result<Expr> {
        match written {
            ast::Expr::Literal(literal) => {
                if let Literal::Text(bytes, _)
                | Literal::Bytes(bytes, _)
                | Literal::Bits(bytes)
                | Literal::HexText(bytes) = literal
                {
                    self.may_make(allocated(bytes.len()))?;
                }
                literal::literal(self.variables, self.meaning.literals, literal)
            }
            ast::Expr::Parameter(index) => Ok(self.parameter(*index)),
            ast::Expr::Column { schema, table, name } => {
                self.column(schema.as_deref(), table.as_deref(), name, place)
            }
            ast::Expr::And(operands) => self.all_or_any(Node::And, operands, place),
            ast::Expr::Or(operands) => self.all_or_any(Node::Or, operands, place),
            ast::Expr::Unary(op, operand) => self.unary(*op, operand, place),
            ast::Expr::Binary(op, left, right) => self.binary(*op, left, right, place),
            ast::Expr::Between { negated, operand, low, high } => {
                let operand = self.expr(operand, place)?;
                let bounds = [self.expr(low, place)?, self.expr(high, place)?];
                let other = bounds.iter().find(|bound| expr::is_number(&bound.ty)).unwrap_or(&bounds[0]);
                let operand = operand.beside(&other.ty);
                let [low, high] = bounds.map(|bound| bound.beside(&operand.ty));
                let mut operands = [operand, low, high];
                make_dates_of_times(&mut operands);
                let [operand, low, high] = &mut operands;
                compute_beside(self, low, operand);
                compute_beside(self, high, operand);
                read_beside(&mut self.constants, low, operand, place.scope, NoDate::Zero)?;
                read_beside(&mut self.constants, high, operand, place.scope, NoDate::Zero)?;
                show_time_beside_text(&mut operands);
                read_texts_beside_numbers(&mut operands);
                let operands = json::between(operands, place.scope, &mut self.constants);
                let collation = comparison_collation("between", operands.iter())?;
                let operands = operands.map(|operand| operand.in_characters_of(collation));
                let nullable = operands.iter().any(|operand| operand.nullable);
                Ok(boolean(
                    Node::Between { negated: *negated, operands: Box::new(operands), collation },
                    nullable,
                ))
            }
            ast::Expr::InList { negated, operand, list } => self.in_list(*negated, operand, list, place),
            ast::Expr::InQuery { negated, operand, query } => {
                let kind = Quantifier { op: BinaryOp::Equal, all: false, negated: *negated };
                subquery::quantified(self, kind, operand, query, place)
            }
            ast::Expr::Quantified { op, all, operand, query } => {
                let kind = Quantifier { op: *op, all: *all, negated: false };
                subquery::quantified(self, kind, operand, query, place)
            }
            ast::Expr::Subquery(query) => subquery::scalar_subquery(self, query, place),
            ast::Expr::Exists(query) => subquery::exists(self, query, place),
            ast::Expr::Like { negated, operand, pattern, escape } => {
                self.like(*negated, operand, pattern, escape.as_deref(), place)
            }
            ast::Expr::Regexp { negated, operand, pattern } => {
                let args = vec![self.expr(operand, place)?, self.expr(pattern, place)?];
                self.regexp(*negated, args)
            }
            ast::Expr::IsNull { negated, operand } => {
                let operand = Box::new(self.expr(operand, place)?);
                Ok(boolean(Node::IsNull { negated: *negated, operand }, false))
            }
            ast::Expr::IsTruth { negated, operand, value } => {
                let operand = self.expr(operand, place)?;
                let operand = Box::new(json::truth(operand, &mut self.constants));
                Ok(boolean(Node::IsTruth { negated: *negated, operand, value: *value }, false))
            }
            ast::Expr::Row(_) => Err(SqlError::new(1241, "Operand should contain 1 column(s)")),
            ast::Expr::Default => Err(SqlError::syntax("DEFAULT", 1)),
            // A CASE may be nested deeply, and the frame of `rare` is large.
            ast::Expr::Case { operand, whens, otherwise } => {
                case::case(self, operand.as_deref(), whens, otherwise.as_deref(), place)
            }
            _ => self.rare(written, place),
        }
    }

    fn parameter(&self, index: usize) -> Expr {
        let node = Node::Parameter(index);
        match self.parameters.types.get(index) {
            Some(ty) if self.parameters.of_program && is_text(ty) => {
                Expr { node, ty: ty.clone(), nullable: true, coercibility: Coercibility::Implicit }
            }
            Some(ty) if !ty.is_character() => {
                Expr { node, ty: ty.clone(), nullable: true, coercibility: Coercibility::Numeric }
            }
            _ => Expr {
                node,
                ty: ColumnType::varchar(16_383, self.variables.connection_collation),
                nullable: true,
                coercibility: Coercibility::Literal,
            },
        }
    }

    fn exprs(&mut self, written: &[ast::Expr], place: &mut Place<'_>) -> Result<Vec<Expr>> {
        written.iter().map(|written| self.expr(written, place)).collect()
    }

    /// Binds operands that are used as truth values.
    fn truths(&mut self, written: &[ast::Expr], place: &mut Place<'_>) -> Result<Vec<Expr>> {
        let mut truths = Vec::with_capacity(written.len());
        for written in written {
            let bound = self.expr(written, place)?;
            truths.push(json::truth(bound, &mut self.constants));
        }
        Ok(truths)
    }

    #[inline(never)]
    fn rare(&mut self, written: &ast::Expr, place: &mut Place<'_>) -> Result<Expr> {
        match written {
            ast::Expr::UserVariable(name) => Ok(self.user_variable(name)),
            ast::Expr::AssignVariable(name, value) => operators::assignment(self, name, value, place),
            ast::Expr::SystemVariable { scope, name } => self.system_variable(*scope, name),
            ast::Expr::Values(name) => {
                // VALUES() returns the value that the statement inserts, but MySQL demands SELECT
                // on the column.
                if let Ok(column) = place.scope.resolve(None, None, name, place.clause) {
                    self.view.check_readable(&column, place.scope)?;
                }
                self.inserted_value(name, place)
            }
            ast::Expr::DefaultOf(column) => defaults::default_of(self, column, place),
            ast::Expr::Function(call) => function(self, call, place),
            ast::Expr::Window(call) => super::query::bind_window_call(self, call, place),
            ast::Expr::Cast { operand, ty } => operators::cast(self, operand, ty, place),
            ast::Expr::CastArray { operand, ty } if self.meaning.makes_arrays => {
                as_array(self.expr(operand, place)?, ty)
            }
            ast::Expr::CastArray { .. } => Err(array_outside_of_index()),
            ast::Expr::ConvertUsing { operand, charset } => operators::convert(self, operand, charset, place),
            ast::Expr::Collate { operand, collation } => self.collate(operand, collation, place),
            ast::Expr::Match(written) => full_text::match_against(self, written, place),
            ast::Expr::JsonValue(written) => json::json_value(self, written, place),
            ast::Expr::DateAdd { date, amount, unit, subtract } => {
                operators::date_add(self, date, (amount, *unit), *subtract, place)
            }
            ast::Expr::Extract { unit, operand } => operators::extract(self, *unit, operand, place),
            ast::Expr::TimestampFunction { add: false, unit, first, second } => {
                operators::timestamp_diff(self, *unit, (first, second), place)
            }
            ast::Expr::TimestampFunction { add: true, unit, first, second } => {
                operators::date_add(self, second, (first, *unit), false, place)
            }
            ast::Expr::Trim { leading, trailing, remove, operand, .. } => {
                operators::trim(self, (*leading, *trailing), remove.as_deref(), operand, place)
            }
            _ => Err(SqlError::not_supported("this kind of expression")),
        }
    }

    fn column(
        &mut self,
        schema: Option<&str>,
        table: Option<&str>,
        name: &str,
        place: &mut Place<'_>,
    ) -> Result<Expr> {
        let is_it = |(alias, _): &&(String, Expr)| table.is_none() && alias.eq_ignore_ascii_case(name);
        let alias = place.aliases.iter().find(is_it).map(|(_, expr)| expr);
        if let (Some(alias), false) = (alias, place.columns_first) {
            return self.aliased(alias);
        }
        let found = place.scope.resolve_among(place.only, schema, table, name, place.clause);
        if let (Err(error), Some(alias)) = (&found, alias)
            && error.code == 1054
        {
            return self.aliased(alias);
        }
        if let Some(inserted) = place.inserted
            && let Some(value) = inserted.beside(&found, NamedColumn { schema, table, name }, place.clause)
        {
            return value;
        }
        if let (Err(error), Some(frame)) = (&found, place.outer)
            && error.code == 1054
            && let Some(outer) = outer_column(self, frame, (schema, table, name), place.clause)?
        {
            return Ok(outer);
        }
        if let (Err(error), Some(table)) = (&found, table)
            && error.code == 1054
            && place.has_no_tables()
        {
            return Err(SqlError::new(1109, format!("Unknown table '{table}' in {}", place.clause)));
        }
        let found = found.map_err(|error| self.of_hidden_table(error, table, name, place.scope))?;
        self.view.check_readable(&found, place.scope)?;
        Ok(found)
    }

    /// Returns the expression that an alias stands for.
    fn aliased(&mut self, expr: &Expr) -> Result<Expr> {
        // The parser has limited the heights of the alias's expression and of the one in which it
        // is named, but not their sum.
        if !crate::parse::fits(self.around.depth + expr.height()) {
            return Err(crate::parse::too_deep());
        }
        self.copied(expr)
    }

    /// Returns the error for a name that was not found. An account that may not read a whole table
    /// gets "access denied" instead, so that it does not learn which columns the table lacks.
    fn of_hidden_table(&self, error: SqlError, table: Option<&str>, name: &str, scope: &Scope) -> SqlError {
        let is_meant = |known: &&crate::bind::ScopeTable| {
            !known.readable && table.is_none_or(|alias| known.alias.eq_ignore_ascii_case(alias))
        };
        let hidden = scope.tables.iter().find(is_meant).filter(|_| error.code == 1054);
        let denied = hidden.map(|hidden| {
            self.view.rights.check_column(Privilege::Select, &hidden.schema, &hidden.org_table, name)
        });
        match denied {
            Some(Err(denied)) => denied,
            _ => error,
        }
    }

    #[inline(never)]
    fn inserted_value(&mut self, name: &str, place: &Place<'_>) -> Result<Expr> {
        let Some(inserted) = place.inserted else {
            let constants = &mut self.constants;
            if let Some(value) = place.outer.and_then(|frame| outer_inserted_value(constants, frame, name)) {
                return value;
            }
            self.constants.complaints.push((1681, VALUES_OF_NO_ROW.to_owned()));
            // As in MySQL, it is NULL where no row is inserted.
            let found = place.scope.resolve(None, None, name, place.clause)?;
            return Ok(Expr { node: Node::Constant(Value::Null), nullable: true, ..found });
        };
        inserted.values(name, &mut self.constants)
    }

    fn unary(&mut self, op: UnaryOp, written: &ast::Expr, place: &mut Place<'_>) -> Result<Expr> {
        let operand = self.expr(written, place)?;
        let nullable = operand.nullable;
        Ok(match op {
            UnaryOp::Plus => operand,
            UnaryOp::Not => boolean(Node::Not(Box::new(json::truth(operand, &mut self.constants))), nullable),
            UnaryOp::Binary => {
                Expr { coercibility: Coercibility::Implicit, ..operand.recollated(collation::BINARY) }
            }
            UnaryOp::BitNot if is_byte_string(&operand) => {
                let args = vec![operand];
                let (ty, coercibility) = expr::function_type(&byte_bits::NOT, &args)?;
                Expr { node: Node::Call { function: &byte_bits::NOT, args }, ty, nullable, coercibility }
            }
            UnaryOp::BitNot => Expr {
                node: Node::BitNot(Box::new(number(operand.choice_as_integer(), place.scope))),
                ty: expr::integer_type(expr::BIGINT_WIDTH, true),
                nullable,
                coercibility: Coercibility::Numeric,
            },
            UnaryOp::Minus => {
                let mut operand = operand;
                if operand.ty.unsigned && operand.ty.is_integer() {
                    compute_constant(self, &mut operand);
                }
                if let Node::Constant(Value::UInt(n)) = operand.node
                    && n > 1 << 63
                {
                    return Ok(Expr::constant(Value::Decimal(Decimal::from(n).negate())));
                }
                if matches!(
                    operand.node,
                    Node::Constant(Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_))
                ) {
                    return Ok(negated(operand));
                }
                let operand = number(as_string_argument(operand), place.scope);
                let ty = match expr::numeric_class(&operand.ty) {
                    expr::NumericClass::Integer => {
                        expr::integer_of_digits(expr::integer_digits(&operand.ty), false)
                    }
                    expr::NumericClass::Decimal => {
                        types::ColumnType { unsigned: false, ..operand.ty.clone() }
                    }
                    expr::NumericClass::Double => expr::double_with(expr::decimals_of_all(&[&operand.ty])),
                };
                let node = Node::Negate(Box::new(operand));
                Expr { node, ty, nullable, coercibility: Coercibility::Numeric }
            }
        })
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        place: &mut Place<'_>,
    ) -> Result<Expr> {
        match (left, right) {
            (ast::Expr::Row(left), ast::Expr::Row(right)) => {
                return self.row_comparison((op, RowBeside::Row), left, right, place);
            }
            (ast::Expr::Row(row), ast::Expr::Subquery(query)) if op.is_comparison() => {
                return subquery::row_and_subquery(self, op, row, query, place);
            }
            _ => {}
        }
        let [left, right] = [self.expr(left, place)?, self.expr(right, place)?];
        let nullable = left.nullable || right.nullable;
        let left = left.beside(&right.ty);
        let right = right.beside(&left.ty);
        let mut operands = comparable(op, [left, right]);
        if op.is_comparison() {
            let [left, right] = &mut operands;
            compute_beside(self, left, right);
            compute_beside(self, right, left);
            read_operands(&mut self.constants, &mut operands, place.scope)?;
            operands = json::compared_as_documents(operands);
        }
        match op {
            BinaryOp::Xor => {
                let operands = operands.map(|operand| json::truth(operand, &mut self.constants));
                Ok(boolean(Node::Xor(Box::new(operands)), nullable))
            }
            BinaryOp::NullSafeEqual => {
                let collation = comparison_collation(op.symbol(), operands.iter())?;
                let operands = operands.map(|operand| operand.in_characters_of(collation));
                Ok(boolean(Node::Compare { op, operands: Box::new(operands), collation }, false))
            }
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual => {
                let collation = comparison_collation(op.symbol(), operands.iter())?;
                let operands = operands.map(|operand| operand.in_characters_of(collation));
                Ok(boolean(Node::Compare { op, operands: Box::new(operands), collation }, nullable))
            }
            _ => {
                if let Some(function) = operator_on_bytes(op, &operands) {
                    let (ty, coercibility) = expr::function_type(function, &operands)?;
                    let node = Node::Call { function, args: operands.into() };
                    return Ok(Expr { node, ty, nullable, coercibility });
                }
                let operands = match op.is_of_bits() {
                    true => operands.map(Expr::choice_as_integer),
                    false => operands,
                };
                let operands = operands.map(|operand| number(operand, place.scope));
                let ty = arithmetic_type(op, &operands, self.variables.div_precision_increment);
                let nullable =
                    nullable || matches!(op, BinaryOp::Divide | BinaryOp::IntegerDivide | BinaryOp::Modulo);
                let operands = match ty.code {
                    types::TypeCode::NewDecimal => operands.map(Expr::exact_if_fractional),
                    _ => operands,
                };
                let node = Node::Arithmetic { op, operands: Box::new(operands) };
                Ok(Expr { node, ty, nullable, coercibility: Coercibility::Numeric })
            }
        }
    }

    fn row_comparison(
        &mut self,
        (op, beside): (BinaryOp, RowBeside),
        left: &[ast::Expr],
        right: &[ast::Expr],
        place: &mut Place<'_>,
    ) -> Result<Expr> {
        if left.len() != right.len() {
            return Err(SqlError::new(1241, format!("Operand should contain {} column(s)", left.len())));
        }
        if !op.is_comparison() {
            return Err(SqlError::new(1241, "Operand should contain 1 column(s)"));
        }
        let mut pairs = Vec::with_capacity(left.len() * 2);
        for (left, right) in left.iter().zip(right) {
            let [left, right] = [self.expr(left, place)?, self.expr(right, place)?];
            // Beside the items of an IN list, only these are numbers.
            let left = if beside == RowBeside::Row { left.beside(&right.ty) } else { left };
            // Beside a text, the numbers and dates of several items are texts.
            let is_shown = expr::is_number(&right.ty) || right.ty.is_temporal();
            let is_text_beside = is_text(&left.ty) && !left.is_json() && is_shown;
            let right = match beside == RowBeside::Items && is_text_beside {
                // Their characters have no say in the collation.
                true => Expr { coercibility: Coercibility::Numeric, ..right.shown() },
                false => right.beside(&left.ty),
            };
            let mut pair = [left, right];
            let no_date = if beside == RowBeside::Items { NoDate::Text } else { NoDate::Refused };
            read_pair(&mut self.constants, &mut pair, place.scope, no_date)?;
            let collation = comparison_collation(op.symbol(), pair.iter())?;
            pairs.extend(pair.map(|operand| operand.in_characters_of(collation)));
        }
        Ok(boolean(Node::CompareRows { op, pairs }, true))
    }

    fn in_list(
        &mut self,
        negated: bool,
        operand: &ast::Expr,
        list: &[ast::Expr],
        place: &mut Place<'_>,
    ) -> Result<Expr> {
        if let ast::Expr::Row(left) = operand {
            let mut any = Vec::with_capacity(list.len());
            let beside = if list.len() > 1 { RowBeside::Items } else { RowBeside::Item };
            for item in list {
                let ast::Expr::Row(right) = item else {
                    return Err(SqlError::new(
                        1241,
                        format!("Operand should contain {} column(s)", left.len()),
                    ));
                };
                any.push(self.row_comparison((BinaryOp::Equal, beside), left, right, place)?);
            }
            let found = boolean(Node::Or(any), true);
            return Ok(if negated { boolean(Node::Not(Box::new(found)), true) } else { found });
        }
        let operand = self.expr(operand, place)?;
        let list: Vec<Expr> =
            self.exprs(list, place)?.into_iter().map(|item| beside(item, &operand)).collect();
        let is_number = |item: &Expr| expr::is_number(&item.ty);
        // A literal such as `x'61'` is a number beside a number, and a text beside a text.
        // With a date or a time in the list, all items are compared in its way.
        let is_literal = matches!(operand.node, Node::HexLiteral(..));
        let is_split = is_literal && !list.iter().any(|item| item.ty.is_temporal());
        if is_split && list.iter().any(is_number) && !list.iter().all(is_number) {
            let (numbers, others): (Vec<Expr>, Vec<Expr>) = list.into_iter().partition(is_number);
            let any = [numbers, others]
                .into_iter()
                .map(|items| self.in_items(false, operand.clone(), items, place))
                .collect::<Result<Vec<_>>>()?;
            let nullable = any.iter().any(|found| found.nullable);
            let found = boolean(Node::Or(any), nullable);
            return Ok(if negated { boolean(Node::Not(Box::new(found)), nullable) } else { found });
        }
        self.in_items(negated, operand, list, place)
    }

    /// Binds an operand and the items of its IN list, which have been bound.
    fn in_items(
        &mut self,
        negated: bool,
        operand: Expr,
        list: Vec<Expr>,
        place: &mut Place<'_>,
    ) -> Result<Expr> {
        let all_numbers = list.iter().all(|item| expr::is_number(&item.ty));
        let operand = if all_numbers { operand.choice_as_number().numeric() } else { operand };
        let mut list: Vec<Expr> = list.into_iter().map(|item| item.beside(&operand.ty)).collect();
        read_items(&mut self.constants, &mut list, &operand, place.scope)?;
        let operand = match &mut list[..] {
            [item] => compared_alone(operand, item),
            items => as_documents(as_moments(operand, items, place.scope), items),
        };
        let operation = match (list.len(), negated) {
            (1, false) => "=",
            (1, true) => "<>",
            _ => " IN ",
        };
        // A number is compared with numbers, whose characters have no collation.
        let is_of_numbers = expr::is_number(&operand.ty) && list.len() > 1;
        let (operand, list, collation) = match is_of_numbers {
            true => (operand, list, collation::UTF8MB4_0900_AI_CI),
            false => {
                let all = std::iter::once(&operand).chain(&list);
                let collation = comparison_collation(operation, all)?;
                let of_collation = |value: Expr| value.in_characters_of(collation);
                (of_collation(operand), list.into_iter().map(of_collation).collect(), collation)
            }
        };
        let nullable = operand.nullable || list.iter().any(|item| item.nullable);
        Ok(boolean(Node::In { negated, operand: Box::new(operand), list, collation }, nullable))
    }

    fn like(
        &mut self,
        negated: bool,
        operand: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
        place: &mut Place<'_>,
    ) -> Result<Expr> {
        let operands = [self.expr(operand, place)?, self.expr(pattern, place)?];
        let default = if self.variables.sql_mode.no_backslash_escapes() { None } else { Some(b'\\') };
        let escape = match escape {
            None => default,
            Some(written) => match self.expr(written, place)?.node {
                Node::Constant(Value::Bytes(bytes)) if bytes.len() == 1 => Some(bytes[0]),
                Node::Constant(Value::Bytes(bytes)) if bytes.is_empty() => None,
                Node::Constant(Value::Null) => default,
                _ => return Err(SqlError::new(1210, "Incorrect arguments to ESCAPE")),
            },
        };
        let collation = comparison_collation("like", operands.iter())?;
        let operands = operands.map(|operand| operand.into_text().in_characters_of(collation));
        let nullable = operands.iter().any(|operand| operand.nullable);
        Ok(boolean(Node::Like { negated, operands: Box::new(operands), escape, collation }, nullable))
    }

    /// Binds an AND or an OR, which is unknown only where an operand may be.
    #[inline(never)]
    fn all_or_any(
        &mut self,
        node: fn(Vec<Expr>) -> Node,
        operands: &[ast::Expr],
        place: &mut Place<'_>,
    ) -> Result<Expr> {
        let operands = self.truths(operands, place)?;
        let nullable = operands.iter().any(|operand| operand.nullable);
        Ok(boolean(node(operands), nullable))
    }

    /// Builds the call of the function `regexp_like` that REGEXP stands for.
    fn regexp(&mut self, negated: bool, args: Vec<Expr>) -> Result<Expr> {
        let function = expr::functions::table::find_function("regexp_like").expect("a function of the table");
        let (ty, coercibility) = expr::function_type(function, &args)?;
        let nullable = args.iter().any(|arg| arg.nullable);
        let found = Expr { node: Node::Call { function, args }, ty, nullable, coercibility };
        Ok(if negated { boolean(Node::Not(Box::new(found)), nullable) } else { found })
    }

    fn collate(&mut self, operand: &ast::Expr, name: &str, place: &mut Place<'_>) -> Result<Expr> {
        let operand = self.expr(operand, place)?;
        let id = crate::variables::known_collation(&name.to_ascii_lowercase())
            .ok_or_else(|| SqlError::new(1273, format!("Unknown collation: '{name}'")))?;
        let charset = collation::charset_of(operand.ty.collation);
        // Values are in utf8mb4 here, whatever the client's character set is, so a literal may take
        // a collation of utf8mb4.
        let is_literal = matches!(
            operand.coercibility,
            Coercibility::Literal | Coercibility::Numeric | Coercibility::Null
        );
        let is_bytes = !matches!(operand.node, Node::Constant(_))
            && is_text(&operand.ty)
            && !operand.is_json()
            && operand.ty.collation == collation::BINARY;
        let is_null = operand.ty.code == types::TypeCode::Null
            && !operand.has_parameter()
            && !self.meaning.of_mariadb
            && !self.host.is_of_source();
        if (is_bytes || is_null) && id != collation::BINARY {
            return Err(SqlError::new(
                1253,
                format!("COLLATION '{name}' is not valid for CHARACTER SET 'binary'"),
            ));
        }
        let of_connection = collation::charset_of(self.variables.connection_collation);
        let may_be_recoded = is_literal
            && (of_connection != Charset::Utf8mb4 || collation::charset_of(id) == Charset::Utf8mb4);
        if operand.ty.is_character() && charset != collation::charset_of(id) && !may_be_recoded {
            return Err(SqlError::new(
                1253,
                format!("COLLATION '{name}' is not valid for CHARACTER SET '{}'", charset.name()),
            ));
        }
        let ty = expr_text_type(expr::text_length(&operand.ty), id);
        let nullable = operand.nullable;
        let node = Node::Recollate(Box::new(operand));
        Ok(Expr { node, ty, nullable, coercibility: Coercibility::Explicit })
    }

    /// Binds a user variable. Its type is that of the value that it has now.
    fn user_variable(&mut self, name: &str) -> Expr {
        self.noted.uncacheable = true;
        self.noted.logging.user_variable(name);
        let no_variable = || ColumnType::longtext(collation::BINARY);
        Expr {
            node: Node::UserVariable(name.to_owned()),
            ty: self.user_variables.map_or_else(no_variable, |variables| variables.ty(name)),
            nullable: true,
            coercibility: Coercibility::Implicit,
        }
    }

    fn system_variable(&mut self, scope: ast::Scope, name: &str) -> Result<Expr> {
        use crate::host::VariableScope;
        match scope {
            ast::Scope::Global => self.host.check_scope(VariableScope::Global, name)?,
            ast::Scope::Session => self.host.check_scope(VariableScope::Session, name)?,
            _ => {}
        }
        let own = if scope == ast::Scope::Global { None } else { self.variables.get(name, 0) };
        let host_scope =
            if scope == ast::Scope::Global { VariableScope::Global } else { VariableScope::Session };
        let value = match own {
            Some(value) => value,
            None => {
                let known = self.host.variable(host_scope, name)?;
                known.ok_or_else(|| SqlError::unknown_variable(name))?
            }
        };
        self.noted.uncacheable = true;
        self.noted.logging.system_variable(scope, name);
        let ty = match &value {
            Value::Bytes(_) | Value::Null => {
                ColumnType::varchar(VARIABLE_CHARS, collation::UTF8MB3_GENERAL_CI)
            }
            Value::Int(_) | Value::UInt(_) => {
                expr::integer_type(expr::BIGINT_WIDTH, matches!(value, Value::UInt(_)))
            }
            Value::Double(_) => {
                ColumnType { form: Some(NumberForm::new(23, Some(6), false)), ..ColumnType::double() }
            }
            other => other.natural_type(),
        };
        let node = Node::SystemVariable { scope, name: name.to_owned() };
        Ok(Expr { node, ty, nullable: true, coercibility: Coercibility::SystemConstant })
    }
}

/// The characters that MySQL gives the text of a system variable.
const VARIABLE_CHARS: u32 = 21_845;

/// MySQL's warning about `VALUES(column)` outside of ON DUPLICATE KEY UPDATE.
const VALUES_OF_NO_ROW: &str = "'VALUES function' is deprecated and will be removed in a future release.";

/// Returns a constant number with the opposite sign. The digits of -9223372036854775808 alone are
/// an unsigned number.
#[inline(never)]
fn negated(mut constant: Expr) -> Expr {
    if let Node::Constant(value) = &mut constant.node {
        *value = match &*value {
            Value::Int(n) => match n.checked_neg() {
                Some(n) => Value::Int(n),
                None => {
                    let number = types::Decimal::parse_prefix(n.unsigned_abs().to_string().as_bytes()).number;
                    constant.ty = expr::decimal_type(number.integer_digits() as u32, 0);
                    Value::Decimal(number)
                }
            },
            Value::UInt(n) => {
                constant.ty = expr::integer_of_digits(19, false);
                Value::Int((*n as i64).wrapping_neg())
            }
            Value::Decimal(n) => Value::Decimal(n.negate()),
            Value::Double(n) => {
                constant.ty = ColumnType::double();
                Value::Double(-*n)
            }
            other => other.clone(),
        };
    }
    constant
}
