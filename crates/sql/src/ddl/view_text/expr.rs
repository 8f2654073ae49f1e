//! Prints the expressions of a view's query.

use super::from::response;
use super::function::{call_text, cast_type, returned_type};
use super::literal::literal;
use super::negation::negated;
use super::predicate::{in_list, in_query, is_truth, match_against, quantified, regexp, truth_test};
use super::printed::{
    ADDITION, AND, BETWEEN, BIT_AND, BIT_OR, BIT_XOR, COLLATE, COMPARISON, MULTIPLICATION, NOT, OR, PRIMARY,
    Printed, SHIFT, UNARY, XOR,
};
use super::scope::Place;
use super::window::window_call;
use super::{Use, ViewNames};
use crate::ast::{BinaryOp, Expr, JsonValue, Literal, TimeUnit, UnaryOp};
use std::fmt::Write;

impl ViewNames<'_> {
    pub(super) fn expr(&self, expr: &Expr, place: Place<'_>) -> Option<String> {
        self.printed(expr, place).map(|printed| printed.text)
    }

    /// Prints expressions with commas between them.
    pub(super) fn list(&self, exprs: &[Expr], place: Place<'_>) -> Option<String> {
        Some(exprs.iter().map(|expr| self.expr(expr, place)).collect::<Option<Vec<_>>>()?.join(","))
    }

    /// Prints an expression that is used as a condition. MySQL compares it with 0 if it is none.
    pub(super) fn condition(&self, expr: &Expr, place: Place<'_>) -> Option<String> {
        let printed = self.truth(expr, place)?;
        Some(printed.text)
    }

    pub(super) fn truth(&self, expr: &Expr, place: Place<'_>) -> Option<Printed> {
        if self.of_mariadb || is_truth(expr) {
            return self.printed(expr, place);
        }
        Some(Printed::primary(format!("(0 <> {})", self.expr(expr, place.operand())?)))
    }

    /// Returns an operation. MySQL puts every one into parentheses, MariaDB only where they are
    /// needed.
    pub(super) fn operation(&self, text: String, binds: u8) -> Printed {
        match self.of_mariadb {
            true => Printed { text, binds },
            false => Printed::primary(format!("({text})")),
        }
    }

    /// Prints an operand of an operation that binds as tightly as `least`.
    pub(super) fn operand(&self, expr: &Expr, least: u8, place: Place<'_>) -> Option<String> {
        let printed = self.printed(expr, place.operand())?;
        Some(if printed.binds < least { format!("({})", printed.text) } else { printed.text })
    }

    pub(super) fn printed(&self, expr: &Expr, place: Place<'_>) -> Option<Printed> {
        let inner = place.operand();
        let operand = |expr: &Expr, least: u8| self.operand(expr, least, place);
        let not = |negated: bool| if negated { "not " } else { "" };
        let primary = |text: String| Some(Printed::primary(text));
        match expr {
            Expr::Literal(value) => primary(literal(value)),
            Expr::Column { schema, table, name } => {
                primary(place.column(schema.as_deref(), table.as_deref(), name)?)
            }
            Expr::And(parts) => self.chain(parts, "and", AND, place),
            Expr::Or(parts) => self.chain(parts, "or", OR, place),
            Expr::Unary(UnaryOp::Not, inside) => negated(self, inside, place),
            Expr::Unary(op, inside) => self.unary(*op, inside, inner),
            Expr::Binary(op, left, right) => self.binary(*op, left, right, inner),
            Expr::Between { negated, operand: of, low, high } => {
                let (of, low) = (operand(of, BETWEEN + 1)?, operand(low, BETWEEN + 1)?);
                let text = format!("{of} {}between {low} and {}", not(*negated), operand(high, BETWEEN + 1)?);
                Some(self.operation(text, BETWEEN))
            }
            Expr::InList { negated, operand: of, list } => in_list(self, *negated, of, list, inner),
            Expr::InQuery { negated, operand: of, query } => in_query(self, *negated, of, query, place),
            Expr::Quantified { op, all, operand: of, query } => quantified(self, *op, *all, of, query, place),
            Expr::Like { negated, operand: of, pattern, escape } => {
                let mut text =
                    format!("{} like {}", operand(of, COMPARISON + 1)?, operand(pattern, PRIMARY)?);
                if let Some(escape) = escape {
                    write!(text, " escape {}", operand(escape, PRIMARY)?).ok()?;
                }
                let like = self.operation(text, COMPARISON);
                Some(if *negated { self.not(like) } else { like })
            }
            Expr::Regexp { negated, operand: of, pattern } => {
                let regexp = regexp(self, of, pattern, inner)?;
                Some(if *negated { self.not(regexp) } else { regexp })
            }
            Expr::IsNull { negated, operand: of } => {
                let text = format!("{} is {}null", operand(of, COMPARISON + 1)?, not(*negated));
                Some(self.operation(text, COMPARISON))
            }
            Expr::IsTruth { negated, operand: of, value } => truth_test(self, *negated, of, *value, inner),
            Expr::Case { operand, whens, otherwise } => {
                self.case(operand.as_deref(), whens, otherwise.as_deref(), inner)
            }
            Expr::Match(written) => match_against(self, written, inner),
            Expr::Function(call) => Some(Printed::primary(call_text(self, call, false, inner)?)),
            Expr::Window(call) => primary(window_call(self, call, inner)?),
            Expr::Cast { operand, ty } => {
                primary(format!("cast({} as {})", self.expr(operand, inner)?, cast_type(self, ty)))
            }
            Expr::CastArray { operand, ty } => {
                primary(format!("cast({} as {} array)", self.expr(operand, inner)?, cast_type(self, ty)))
            }
            // MySQL does not print the character set of CHAR().
            Expr::ConvertUsing { operand, .. } if matches!(&**operand, Expr::Function(call) if call.name == "char") => {
                self.printed(operand, inner)
            }
            Expr::ConvertUsing { operand, charset } => {
                let charset = if charset == "utf8" { "utf8mb3" } else { charset };
                primary(format!("convert({} using {charset})", self.expr(operand, inner)?))
            }
            Expr::Collate { operand: of, collation } => {
                Some(self.operation(format!("{} collate {collation}", operand(of, COLLATE)?), COLLATE))
            }
            Expr::DateAdd { date, amount, unit, subtract } => {
                self.date_add(date, amount, *unit, *subtract, inner)
            }
            Expr::Extract { unit, operand } => {
                primary(format!("extract({} from {})", unit.name(), self.expr(operand, inner)?))
            }
            Expr::TimestampFunction { add: false, unit, first, second } => {
                let unit = unit.name().to_uppercase();
                let (first, second) = (self.expr(first, inner)?, self.expr(second, inner)?);
                primary(format!("timestampdiff({unit},{first},{second})"))
            }
            Expr::TimestampFunction { add: true, unit, first, second } => {
                self.date_add(second, first, *unit, false, inner)
            }
            Expr::Trim { leading, trailing, says_both, remove, operand } => {
                let ends = match (leading, trailing) {
                    (true, false) => "leading ",
                    (false, true) => "trailing ",
                    _ if *says_both => "both ",
                    _ => "",
                };
                let operand = self.expr(operand, inner)?;
                primary(match remove {
                    Some(remove) => format!("trim({ends}{} from {operand})", self.expr(remove, inner)?),
                    None if ends.is_empty() => format!("trim({operand})"),
                    None => format!("trim({ends}from {operand})"),
                })
            }
            Expr::JsonValue(value) => primary(self.json_value(value, inner)?),
            Expr::Row(items) => primary(format!("({})", self.list(items, inner)?)),
            Expr::Subquery(query) => {
                primary(format!("({})", self.query(query, Use::Value, &place.around())?.text()))
            }
            Expr::Exists(query) => {
                primary(format!("exists({})", self.query(query, Use::Exists, &place.around())?.text()))
            }
            Expr::DefaultOf(column) => primary(format!("default({})", self.expr(column, inner)?)),
            // Outside of INSERT, MySQL takes VALUES() for NULL.
            Expr::Values(_) => primary("NULL".to_owned()),
            // No view has these; MySQL refuses them, and a source has not logged them.
            Expr::Parameter(_)
            | Expr::UserVariable(_)
            | Expr::AssignVariable(..)
            | Expr::SystemVariable { .. }
            | Expr::Default => None,
        }
    }

    fn chain(&self, parts: &[Expr], word: &str, binds: u8, place: Place<'_>) -> Option<Printed> {
        let mut printed = Vec::new();
        self.put_chain(parts, binds, place, &mut printed)?;
        Some(self.operation(printed.join(&format!(" {word} ")), binds))
    }

    /// Prints the operands of AND or OR, and those of the same operator within them.
    fn put_chain(
        &self,
        parts: &[Expr],
        binds: u8,
        place: Place<'_>,
        printed: &mut Vec<String>,
    ) -> Option<()> {
        for part in parts {
            match part {
                Expr::And(inner) if binds == AND => self.put_chain(inner, binds, place, printed)?,
                Expr::Or(inner) if binds == OR => self.put_chain(inner, binds, place, printed)?,
                Expr::Unary(UnaryOp::Not, inner) if !self.of_mariadb => match (&**inner, binds) {
                    (Expr::Or(parts), AND) | (Expr::And(parts), OR) => {
                        for part in parts {
                            printed.push(negated(self, part, place)?.text);
                        }
                    }
                    _ => printed.push(negated(self, inner, place)?.text),
                },
                part => {
                    let part = self.truth(part, place)?;
                    printed.push(if part.binds < binds { format!("({})", part.text) } else { part.text });
                }
            }
        }
        Some(())
    }

    fn unary(&self, op: UnaryOp, operand: &Expr, place: Place<'_>) -> Option<Printed> {
        let text = self.expr(operand, place)?;
        let is_number = matches!(operand, Expr::Literal(Literal::Integer(_) | Literal::Decimal(_)));
        Some(Printed::primary(match op {
            UnaryOp::Minus if self.of_mariadb && is_number => format!("-{text}"),
            UnaryOp::Minus if self.of_mariadb => format!("-{}", self.operand(operand, UNARY, place)?),
            UnaryOp::Minus => format!("-({text})"),
            UnaryOp::Plus => return self.printed(operand, place),
            UnaryOp::BitNot => format!("~({text})"),
            UnaryOp::Binary => format!("cast({text} as char charset binary)"),
            UnaryOp::Not => return negated(self, operand, place),
        }))
    }

    pub(super) fn binary(
        &self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        place: Place<'_>,
    ) -> Option<Printed> {
        if let (Expr::Row(left), Expr::Row(right)) = (left, right)
            && let Some((word, binds)) = row_chain(op)
            && left.len() == right.len()
            && !self.of_mariadb
        {
            let pairs = left.iter().zip(right);
            let pairs = pairs.map(|(left, right)| Some(self.binary(op, left, right, place)?.text));
            let pairs = pairs.collect::<Option<Vec<_>>>()?;
            return Some(self.operation(pairs.join(&format!(" {word} ")), binds));
        }
        let (symbol, binds) = (op.symbol(), binding(op));
        let (left, right) = match op {
            BinaryOp::Xor => (self.truth(left, place)?.text, self.truth(right, place)?.text),
            _ => (self.operand(left, binds, place)?, self.operand(right, binds + 1, place)?),
        };
        Some(self.operation(format!("{left} {symbol} {right}"), binds))
    }

    fn case(
        &self,
        operand: Option<&Expr>,
        whens: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        place: Place<'_>,
    ) -> Option<Printed> {
        let mut text = "case".to_owned();
        if let Some(operand) = operand {
            write!(text, " {}", self.expr(operand, place)?).ok()?;
        }
        for (condition, result) in whens {
            let condition = self.expr(condition, place)?;
            write!(text, " when {condition} then {}", self.expr(result, place)?).ok()?;
        }
        if let Some(otherwise) = otherwise {
            write!(text, " else {}", self.expr(otherwise, place)?).ok()?;
        }
        Some(Printed::primary(self.operation(text + " end", PRIMARY).text))
    }

    fn date_add(
        &self,
        date: &Expr,
        amount: &Expr,
        unit: TimeUnit,
        subtract: bool,
        place: Place<'_>,
    ) -> Option<Printed> {
        let sign = if subtract { '-' } else { '+' };
        let (date, amount) = (self.operand(date, ADDITION, place)?, self.expr(amount, place)?);
        Some(self.operation(format!("{date} {sign} interval {amount} {}", unit.name()), ADDITION))
    }

    fn json_value(&self, value: &JsonValue, place: Place<'_>) -> Option<String> {
        let JsonValue { document, path, returning, on_empty, on_error } = value;
        let returning = match returning {
            None => "char(512)".to_owned(),
            Some(ty) => returned_type(self, ty),
        };
        Some(format!(
            "json_value({}, {} returning {returning}{}{})",
            self.expr(document, place)?,
            self.expr(path, place)?,
            response(self, on_empty.as_ref(), "empty", place.scope)?,
            response(self, on_error.as_ref(), "error", place.scope)?,
        ))
    }

    /// Returns NOT of an operation.
    pub(super) fn not(&self, printed: Printed) -> Printed {
        match self.of_mariadb {
            true => Printed { text: format!("not({})", printed.text), binds: NOT },
            false => Printed::primary(format!("(not({}))", printed.text)),
        }
    }
}

/// Returns the operator between the comparisons of each item, for comparisons of rows that MySQL
/// takes apart.
fn row_chain(op: BinaryOp) -> Option<(&'static str, u8)> {
    match op {
        BinaryOp::Equal | BinaryOp::NullSafeEqual => Some(("and", AND)),
        BinaryOp::NotEqual => Some(("or", OR)),
        _ => None,
    }
}

/// Returns the precedence of an operator.
fn binding(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Xor => XOR,
        BinaryOp::Equal
        | BinaryOp::NullSafeEqual
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual => COMPARISON,
        BinaryOp::BitOr => BIT_OR,
        BinaryOp::BitAnd => BIT_AND,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => SHIFT,
        BinaryOp::Add | BinaryOp::Subtract => ADDITION,
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::IntegerDivide | BinaryOp::Modulo => MULTIPLICATION,
        BinaryOp::BitXor => BIT_XOR,
    }
}
