//! Prints a view's query as MySQL and MariaDB show it: with all names in full, and operations in
//! their form.
//!
//! Queries that are not printed here (with UNION, subqueries, or functions that have a form of
//! their own) stay as they were written, which is also what the binary log has.

use crate::ast::{
    BinaryOp, Expr, FunctionCall, JoinKind, Literal, OrderItem, Query, QueryBody, SearchMode, Select,
    SelectItem, TableName, TableRef, UnaryOp, ViewDetails,
};
use crate::attribute;
use crate::quoting::quoted;
use engine::{Catalog, ObjectKind};
use std::fmt::Write;

/// A query as it is shown, and the names of its columns.
pub(super) struct ViewText {
    pub query: String,
    pub columns: Vec<String>,
}

/// The context in which a view's names are looked up.
#[derive(Clone, Copy)]
pub(super) struct ViewNames<'a> {
    pub catalog: &'a Catalog,
    /// The schema of the view, which the text does not repeat.
    pub schema: &'a str,
    /// The schema of names without one.
    pub current: Option<&'a str>,
    pub of_mariadb: bool,
}

/// A table in FROM.
struct Source {
    /// The qualifier of its columns.
    shown: String,
    schema: String,
    alias: String,
    columns: Vec<String>,
}

/// Functions that are printed as a name with arguments.
const PLAIN_FUNCTIONS: [&str; 19] = [
    "count",
    "sum",
    "min",
    "max",
    "avg",
    "concat",
    "concat_ws",
    "coalesce",
    "ifnull",
    "round",
    "abs",
    "length",
    "if",
    "greatest",
    "least",
    "nullif",
    "year",
    "month",
    "char_length",
];

/// The precedence of operators. Whatever is no operator has the highest.
const OR: u8 = 1;
const AND: u8 = 3;
const BETWEEN: u8 = 5;
const COMPARISON: u8 = 6;
const ADDITION: u8 = 10;
const MULTIPLICATION: u8 = 11;
const PRIMARY: u8 = 20;

struct Printed {
    text: String,
    binds: u8,
}

impl ViewNames<'_> {
    /// Prints a query. Returns `None` if it has to stay as it was written.
    pub fn print(&self, query: &Query) -> Option<ViewText> {
        // All parts are named, so that none is forgotten in silence.
        let Query { with: None, body: QueryBody::Select(select), order_by, limit, locks, into: None } = query
        else {
            return None;
        };
        if !locks.is_empty() || select.calc_found_rows || !select.windows.is_empty() {
            return None;
        }
        let mut sources = Vec::new();
        let from = match &select.from {
            Some(from) => Some(self.table_ref(from, &mut sources)?),
            None => None,
        };
        let mut columns = Vec::new();
        let items = self.items(select, &sources, &mut columns)?;
        let straight = if select.straight { "straight_join " } else { "" };
        let mut text =
            format!("select {straight}{}{}", if select.distinct { "distinct " } else { "" }, items.join(","));
        if let Some(from) = from {
            write!(text, " from {from}").ok()?;
        }
        if let Some(filter) = &select.filter {
            write!(text, " where {}", self.expr(filter, &sources, &[])?).ok()?;
        }
        if !select.group_by.is_empty() {
            let parts: Option<Vec<String>> =
                select.group_by.iter().map(|expr| self.expr(expr, &sources, &[])).collect();
            let rollup = if select.rollup { " with rollup" } else { "" };
            write!(text, " group by {}{rollup}", parts?.join(",")).ok()?;
        }
        let aliases: Vec<&str> = select
            .items
            .iter()
            .filter_map(|item| match item {
                SelectItem::Expr { alias: Some(alias), .. } => Some(alias.as_str()),
                _ => None,
            })
            .collect();
        if let Some(having) = &select.having {
            write!(text, " having {}", self.expr(having, &sources, &aliases)?).ok()?;
        }
        self.order(&mut text, order_by, &sources, &aliases)?;
        if let Some(limit) = limit {
            let count = number(&limit.count)?;
            match &limit.offset {
                Some(offset) => write!(text, " limit {},{count}", number(offset)?).ok()?,
                None => write!(text, " limit {count}").ok()?,
            }
        }
        Some(ViewText { query: text, columns })
    }

    /// Prints the query of a view with a list of column names, so that the query's columns have
    /// these names.
    pub fn print_as(&self, view: &ViewDetails) -> Option<String> {
        let mut query = view.query.as_deref()?.clone();
        let QueryBody::Select(select) = &mut query.body else { return None };
        let mut names = view.columns.iter();
        for item in &mut select.items {
            let SelectItem::Expr { alias, .. } = item else { return None };
            *alias = Some(names.next()?.clone());
        }
        self.print(&query).filter(|_| names.next().is_none()).map(|printed| printed.query)
    }

    fn order(
        &self,
        text: &mut String,
        order_by: &[OrderItem],
        sources: &[Source],
        aliases: &[&str],
    ) -> Option<()> {
        for (at, item) in order_by.iter().enumerate() {
            if matches!(item.expr, Expr::Literal(_)) {
                return None;
            }
            let printed = self.expr(&item.expr, sources, aliases)?;
            let lead = if at == 0 { " order by " } else { "," };
            write!(text, "{lead}{printed}{}", if item.descending { " desc" } else { "" }).ok()?;
        }
        Some(())
    }

    fn items(&self, select: &Select, sources: &[Source], columns: &mut Vec<String>) -> Option<Vec<String>> {
        let mut items = Vec::new();
        let all_of = |source: &Source, items: &mut Vec<String>, columns: &mut Vec<String>| {
            for column in &source.columns {
                items.push(format!("{}.{} AS {}", source.shown, quoted(column), quoted(column)));
                columns.push(column.clone());
            }
        };
        for item in &select.items {
            match item {
                SelectItem::All => sources.iter().for_each(|source| all_of(source, &mut items, columns)),
                SelectItem::AllOf { schema, table } => {
                    let found = sources.iter().find(|source| source.is(schema.as_deref(), table))?;
                    all_of(found, &mut items, columns);
                }
                SelectItem::Expr { .. } => {}
            }
            if let SelectItem::Expr { expr, alias, text } = item {
                let name = match (alias, expr) {
                    (Some(alias), _) => alias.clone(),
                    (None, Expr::Column { name, .. }) => name.clone(),
                    (None, _) => text.clone(),
                };
                let printed = self.expr(expr, sources, &[])?;
                items.push(format!("{printed} AS {}", quoted(&name)));
                columns.push(name);
            }
        }
        Some(items)
    }

    fn columns_of(&self, schema: &str, table: &str) -> Option<Vec<String>> {
        if let Some(table) = self.catalog.table(schema, table) {
            let visible = table.def.columns.iter().filter(|column| !column.invisible);
            return Some(visible.map(|column| column.name.clone()).collect());
        }
        let view = self.catalog.object(schema, ObjectKind::View, table)?;
        let names = view.def.attribute(attribute::NAMES)?;
        Some(names.split('\n').map(str::to_owned).collect())
    }

    fn table_ref(&self, written: &TableRef, sources: &mut Vec<Source>) -> Option<String> {
        match written {
            TableRef::Table {
                name: TableName { schema, name },
                alias,
                partitions,
                hints,
                system_time: None,
            } if hints.is_empty() && partitions.is_empty() => {
                let schema = schema.as_deref().or(self.current)?;
                let columns = self.columns_of(schema, name)?;
                let full = match schema == self.schema {
                    true => quoted(name),
                    false => format!("{}.{}", quoted(schema), quoted(name)),
                };
                let (shown, alias, text) = match alias {
                    Some(alias) => (quoted(alias), alias.clone(), format!("{full} {}", quoted(alias))),
                    None => (full.clone(), name.clone(), full),
                };
                sources.push(Source { shown, schema: schema.to_owned(), alias, columns });
                Some(text)
            }
            TableRef::Join { kind, left, right, on, using, natural: false } if using.is_empty() => {
                let word = match kind {
                    JoinKind::Inner => "join",
                    JoinKind::Straight => "straight_join",
                    JoinKind::Left => "left join",
                    JoinKind::Right => return None,
                };
                let left = self.table_ref(left, sources)?;
                let right = self.table_ref(right, sources)?;
                let Some(on) = on else { return Some(format!("({left} {word} {right})")) };
                Some(format!("({left} {word} {right} on({}))", self.expr(on, sources, &[])?))
            }
            _ => None,
        }
    }

    fn expr(&self, expr: &Expr, sources: &[Source], aliases: &[&str]) -> Option<String> {
        self.printed(expr, sources, aliases).map(|printed| printed.text)
    }

    /// Returns an operation. MySQL puts every one into parentheses, MariaDB only where they are
    /// needed.
    fn operation(&self, text: String, binds: u8) -> Printed {
        match self.of_mariadb {
            true => Printed { text, binds },
            false => Printed { text: format!("({text})"), binds: PRIMARY },
        }
    }

    fn operand(&self, expr: &Expr, least: u8, sources: &[Source], aliases: &[&str]) -> Option<String> {
        let printed = self.printed(expr, sources, aliases)?;
        Some(if printed.binds < least { format!("({})", printed.text) } else { printed.text })
    }

    fn printed(&self, expr: &Expr, sources: &[Source], aliases: &[&str]) -> Option<Printed> {
        let primary = |text: String| Some(Printed { text, binds: PRIMARY });
        let operand = |expr: &Expr, least: u8| self.operand(expr, least, sources, aliases);
        let not = |negated: bool| if negated { "not " } else { "" };
        match expr {
            Expr::Literal(literal) => primary(literal_text(literal)?),
            Expr::Column { schema: None, table: None, name } if aliases.contains(&name.as_str()) => {
                primary(quoted(name))
            }
            Expr::Column { schema, table, name } => {
                primary(column(schema.as_deref(), table.as_deref(), name, sources)?)
            }
            Expr::And(parts) => self.chain(parts, "and", AND, sources, aliases),
            Expr::Or(parts) => self.chain(parts, "or", OR, sources, aliases),
            Expr::Unary(UnaryOp::Minus, inner) => match &**inner {
                Expr::Literal(literal @ (Literal::Integer(_) | Literal::Decimal(_))) => {
                    primary(format!("-{}", literal_text(literal)?))
                }
                _ => None,
            },
            Expr::Binary(op, left, right) => {
                let (word, binds) = (op.symbol(), binding(*op)?);
                let text = format!("{} {word} {}", operand(left, binds)?, operand(right, binds + 1)?);
                Some(self.operation(text, binds))
            }
            Expr::Between { negated, operand: of, low, high } => {
                let (of, low) = (operand(of, BETWEEN + 1)?, operand(low, BETWEEN + 1)?);
                let text = format!("{of} {}between {low} and {}", not(*negated), operand(high, BETWEEN + 1)?);
                Some(self.operation(text, BETWEEN))
            }
            Expr::InList { negated, operand: of, list } if list.len() > 1 => {
                let list: Option<Vec<String>> =
                    list.iter().map(|item| self.expr(item, sources, aliases)).collect();
                let text =
                    format!("{} {}in ({})", operand(of, COMPARISON + 1)?, not(*negated), list?.join(","));
                Some(self.operation(text, COMPARISON))
            }
            Expr::Like { negated: false, operand: of, pattern, escape: None } => {
                let text = format!("{} like {}", operand(of, COMPARISON + 1)?, operand(pattern, PRIMARY)?);
                Some(self.operation(text, COMPARISON))
            }
            Expr::IsNull { negated, operand: of } => {
                let text = format!("{} is {}null", operand(of, COMPARISON + 1)?, not(*negated));
                Some(self.operation(text, COMPARISON))
            }
            Expr::Case { operand: None, whens, otherwise } => {
                let mut text = "case".to_owned();
                for (condition, result) in whens {
                    let condition = self.expr(condition, sources, aliases)?;
                    write!(text, " when {condition} then {}", self.expr(result, sources, aliases)?).ok()?;
                }
                if let Some(otherwise) = otherwise {
                    write!(text, " else {}", self.expr(otherwise, sources, aliases)?).ok()?;
                }
                let mut printed = self.operation(text + " end", PRIMARY);
                printed.binds = PRIMARY;
                Some(printed)
            }
            Expr::Match(written) => {
                let mode = match written.mode {
                    SearchMode::NaturalLanguage => "",
                    SearchMode::Boolean => " in boolean mode",
                    SearchMode::Expanded => " with query expansion",
                };
                let columns: Option<Vec<String>> =
                    written.columns.iter().map(|column| self.expr(column, sources, aliases)).collect();
                let against = self.expr(&written.text, sources, aliases)?;
                let text = format!("match {} against ({against}{mode})", columns?.join(","));
                Some(self.operation(text, PRIMARY))
            }
            Expr::Function(call) => primary(self.call(call, sources, aliases)?),
            _ => None,
        }
    }

    fn chain(
        &self,
        parts: &[Expr],
        word: &str,
        binds: u8,
        sources: &[Source],
        aliases: &[&str],
    ) -> Option<Printed> {
        let parts: Option<Vec<String>> =
            parts.iter().map(|part| self.operand(part, binds, sources, aliases)).collect();
        Some(self.operation(parts?.join(&format!(" {word} ")), binds))
    }

    fn call(&self, call: &FunctionCall, sources: &[Source], aliases: &[&str]) -> Option<String> {
        let FunctionCall { schema: None, name, written: _, args, star, distinct, order_by, separator: None } =
            call
        else {
            return None;
        };
        if !PLAIN_FUNCTIONS.contains(&name.as_str()) || !order_by.is_empty() {
            return None;
        }
        let mut args: Vec<String> =
            args.iter().map(|arg| self.expr(arg, sources, aliases)).collect::<Option<_>>()?;
        if *star {
            args = vec!["0".to_owned()];
        }
        let distinct = if *distinct { "distinct " } else { "" };
        Some(format!("{name}({distinct}{})", args.join(",")))
    }
}

impl Source {
    fn is(&self, schema: Option<&str>, table: &str) -> bool {
        self.alias == table && schema.is_none_or(|schema| schema == self.schema)
    }
}

fn column(schema: Option<&str>, table: Option<&str>, name: &str, sources: &[Source]) -> Option<String> {
    let mut found = None;
    for source in sources {
        if table.is_some_and(|table| !source.is(schema, table)) {
            continue;
        }
        if let Some(column) = source.columns.iter().find(|column| column.eq_ignore_ascii_case(name)) {
            if found.is_some() {
                return None;
            }
            found = Some(format!("{}.{}", source.shown, quoted(column)));
        }
    }
    found
}

/// Returns the precedence of an operator. `None` means that a view with it keeps its text as
/// written.
fn binding(op: BinaryOp) -> Option<u8> {
    Some(match op {
        BinaryOp::Equal
        | BinaryOp::NullSafeEqual
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual => COMPARISON,
        BinaryOp::Add | BinaryOp::Subtract => ADDITION,
        BinaryOp::Multiply | BinaryOp::Divide => MULTIPLICATION,
        _ => return None,
    })
}

fn number(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Literal(Literal::Integer(number)) => Some(*number),
        _ => None,
    }
}

fn literal_text(literal: &Literal) -> Option<String> {
    match literal {
        Literal::Null => Some("NULL".to_owned()),
        Literal::Integer(number) => Some(number.to_string()),
        Literal::Decimal(digits) => Some(digits.clone()),
        Literal::Text(bytes, None) => {
            let text = std::str::from_utf8(bytes).ok()?;
            let plain = !text.contains(['\'', '\\', '\0', '\n', '\r', '\u{1a}']);
            plain.then(|| format!("'{text}'"))
        }
        _ => None,
    }
}
