//! Prints bound expressions as MySQL prints the conditions of a plan.

use crate::ast::SearchMode;
use crate::expr::{Expr, Node, Quantified, SubqueryUse};
use std::cell::RefCell;
use types::Value;

/// The names of slots and arguments.
pub(super) struct Names<'n> {
    pub slot: &'n dyn Fn(usize) -> String,
    /// The arguments of the current subquery, as the query around it names them.
    pub arguments: &'n [String],
    /// The subqueries that have been met, with their arguments.
    pub subqueries: &'n RefCell<Vec<(usize, Vec<String>)>>,
}

impl Names<'_> {
    /// Returns the text of conditions that are all demanded.
    pub fn all(&self, conditions: &[&Expr]) -> String {
        match conditions {
            [one] => self.text(one),
            several => format!("({})", self.list(several.iter().copied(), " and ")),
        }
    }

    pub fn list<'e>(&self, exprs: impl Iterator<Item = &'e Expr>, between: &str) -> String {
        exprs.map(|expr| self.text(expr)).collect::<Vec<_>>().join(between)
    }

    /// Notes the subqueries of expressions that are not printed.
    pub fn meet<'e>(&self, exprs: impl Iterator<Item = &'e Expr>) {
        exprs.for_each(|expr| drop(self.text(expr)));
    }

    /// Returns the text for a subquery, with the number that it is shown by. The statement's own
    /// query is number 1.
    fn subquery(&self, number: usize, args: &[Expr]) -> String {
        let mut met = self.subqueries.borrow_mut();
        if !met.iter().any(|(known, _)| *known == number) {
            met.push((number, args.iter().map(|arg| self.text_with(arg, true)).collect()));
        }
        format!("(select #{})", number + 2)
    }

    fn text(&self, expr: &Expr) -> String {
        self.text_with(expr, false)
    }

    /// Returns the text of an expression. With `is_argument`, its subqueries are not recorded,
    /// because the list of them is borrowed already.
    fn text_with(&self, expr: &Expr, is_argument: bool) -> String {
        let text = |expr: &Expr| self.text_with(expr, is_argument);
        let joined = |operands: &[Expr], between: &str| {
            format!("({})", operands.iter().map(text).collect::<Vec<_>>().join(between))
        };
        let not = |negated: bool| if negated { "not " } else { "" };
        match &expr.node {
            Node::Constant(value) | Node::HexLiteral(value, _) => constant(value),
            Node::Parameter(_) => "?".to_owned(),
            Node::Slot(slot) => (self.slot)(*slot),
            Node::Outer(at) => self.arguments.get(*at).cloned().unwrap_or_else(|| "?".to_owned()),
            Node::UserVariable(name) => format!("(@{name})"),
            Node::AssignVariable(name, value) => format!("(@{name}:={})", text(value)),
            Node::SystemVariable { name, .. } => format!("@@{name}"),
            Node::And(operands) => joined(operands, " and "),
            Node::Or(operands) => joined(operands, " or "),
            Node::Xor(operands) => joined(&operands[..], " xor "),
            Node::Not(operand) => format!("(not {})", text(operand)),
            Node::Compare { op, operands, .. } | Node::Arithmetic { op, operands } => {
                joined(&operands[..], &format!(" {} ", op.symbol()))
            }
            Node::CompareRows { op, pairs } => {
                let half = |at: usize| {
                    let operands = pairs.iter().skip(at).step_by(2).map(text);
                    operands.collect::<Vec<_>>().join(",")
                };
                format!("(({}) {} ({}))", half(0), op.symbol(), half(1))
            }
            Node::Between { negated, operands, .. } => {
                let [operand, low, high] = &**operands;
                format!("({} {}between {} and {})", text(operand), not(*negated), text(low), text(high))
            }
            Node::In { negated, operand, list, .. } => {
                let list = list.iter().map(text).collect::<Vec<_>>().join(",");
                format!("({} {}in ({list}))", text(operand), not(*negated))
            }
            Node::Like { negated, operands, .. } => {
                format!("({} {}like {})", text(&operands[0]), not(*negated), text(&operands[1]))
            }
            Node::IsNull { negated, operand } => format!("({} is {}null)", text(operand), not(*negated)),
            Node::IsTruth { negated, operand, value } => {
                let value = format!("{value:?}").to_lowercase();
                format!("({} is {}{value})", text(operand), not(*negated))
            }
            Node::Negate(operand) => format!("-({})", text(operand)),
            Node::BitNot(operand) => format!("~({})", text(operand)),
            Node::Case { operand, whens, otherwise, .. } => {
                let operand = operand.iter().map(|operand| format!(" {}", text(operand)));
                let whens =
                    whens.iter().map(|(when, then)| format!(" when {} then {}", text(when), text(then)));
                let otherwise = otherwise.iter().map(|otherwise| format!(" else {}", text(otherwise)));
                format!("(case{} end)", operand.chain(whens).chain(otherwise).collect::<String>())
            }
            Node::If(operands) => format!("if{}", joined(&operands[..], ",")),
            Node::Coalesce(operands) => format!("coalesce{}", joined(operands, ",")),
            Node::NullIf { operands, .. } => format!("nullif{}", joined(&operands[..], ",")),
            Node::Call { function, args } if function.name == "member of" => {
                let [element, array] = &args[..] else { return joined(args, ",") };
                format!("{} member of ({})", text(element), text(array))
            }
            Node::Call { function, args } => format!("{}{}", function.name, joined(args, ",")),
            Node::Stored { function, args } => {
                format!("`{}`.`{}`{}", function.schema, function.name, joined(args, ","))
            }
            Node::Cast(operand) => format!("cast({})", text(operand)),
            Node::Recollate(operand) | Node::OnClocks(operand) => text(operand),
            Node::DateAdd { operands, unit, subtract } => {
                let sign = if *subtract { '-' } else { '+' };
                let unit = format!("{unit:?}").to_lowercase();
                format!("({} {sign} interval {} {unit})", text(&operands[0]), text(&operands[1]))
            }
            Node::Extract { unit, operand } => {
                format!("extract({} from {})", format!("{unit:?}").to_lowercase(), text(operand))
            }
            Node::TimestampDiff { unit, operands } => {
                let unit = format!("{unit:?}").to_lowercase();
                format!("timestampdiff({unit},{},{})", text(&operands[0]), text(&operands[1]))
            }
            Node::Trim { operands, .. } => {
                format!("trim({} from {})", text(&operands[1]), text(&operands[0]))
            }
            Node::InsertedValue(slot) => format!("values({})", (self.slot)(*slot)),
            Node::Match(searched) => {
                let mode = match searched.mode {
                    SearchMode::NaturalLanguage => "",
                    SearchMode::Boolean => " in boolean mode",
                    SearchMode::Expanded => " with query expansion",
                };
                let columns = searched.columns().iter().map(text).collect::<Vec<_>>().join(",");
                let against = searched.operands.last().map(text).unwrap_or_default();
                format!("(match {columns} against ({against}{mode}))")
            }
            Node::MayEqual(equal) => joined(&equal.operands, " = "),
            Node::Subquery { .. } | Node::Quantified(_) | Node::RowSubquery(_) if is_argument => {
                "(select)".to_owned()
            }
            Node::Subquery { call, what } => {
                let shown = self.subquery(call.number, &call.args);
                match what {
                    SubqueryUse::Exists => format!("exists{shown}"),
                    SubqueryUse::Scalar => shown,
                }
            }
            Node::Quantified(quantified) => self.quantified(quantified),
            Node::RowSubquery(compared) => {
                let operands = compared.operands.iter().map(text).collect::<Vec<_>>().join(",");
                let shown = self.subquery(compared.call.number, &compared.call.args);
                format!("(({operands}) {} {shown})", compared.op.symbol())
            }
        }
    }

    fn quantified(&self, quantified: &Quantified) -> String {
        let Quantified { op, all, negated, operands, call, .. } = quantified;
        let operands = match &operands[..] {
            [one] => self.text(one),
            several => format!("({})", self.list(several.iter(), ",")),
        };
        let shown = self.subquery(call.number, &call.args);
        let not = if *negated { "not " } else { "" };
        match (op, all) {
            (crate::ast::BinaryOp::Equal, false) => format!("({operands} {not}in {shown})"),
            (op, all) => {
                format!("({not}{operands} {} {} {shown})", op.symbol(), if *all { "all" } else { "any" })
            }
        }
    }
}

fn constant(value: &Value) -> String {
    let is_text = !matches!(
        value,
        Value::Null | Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_)
    );
    if value.is_null() {
        return "NULL".to_owned();
    }
    let mut text = Vec::new();
    value.to_text(None, &mut text);
    let text = String::from_utf8_lossy(&text);
    if matches!(value, Value::Json(_)) {
        return format!("json'{}'", text.replace('\'', "''"));
    }
    if is_text { format!("'{}'", text.replace('\'', "''")) } else { text.into_owned() }
}
