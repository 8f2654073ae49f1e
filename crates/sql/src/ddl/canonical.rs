//! Prints the expressions of definitions in MySQL's canonical form, which SHOW CREATE TABLE shows
//! and the dictionary stores.

use crate::ast::{
    BinaryOp, CastType, Expr, FunctionCall, JsonValue, Literal, OnResponse, TruthValue, UnaryOp,
};
use crate::quoting::quoted;

/// The context in which an expression is printed.
pub(crate) struct Canonical<'a> {
    /// The character set of literals without an introducer.
    pub charset: &'a str,
    /// Returns the name that the table has for a column, or `None` if there is no such column.
    pub column: &'a dyn Fn(&str) -> Option<String>,
}

/// Returns a text in quotes, escaped as MySQL does it in expressions.
pub(super) fn literal_text(text: &[u8]) -> String {
    let mut out = String::from("'");
    for character in String::from_utf8_lossy(text).chars() {
        match character {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '\u{1a}' => out.push_str("\\Z"),
            character => out.push(character),
        }
    }
    out.push('\'');
    out
}

/// Returns the comparison that is true when this one is false.
pub(super) fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        _ => return None,
    })
}

/// Returns the name of the function that another name stands for.
pub(super) fn canonical_name(name: &str) -> &str {
    match name {
        "lcase" => "lower",
        "string_to_vector" => "to_vector",
        "vector_to_string" => "from_vector",
        "ucase" => "upper",
        "substring" | "mid" => "substr",
        "character_length" => "char_length",
        "octet_length" => "length",
        "day" => "dayofmonth",
        "ceil" => "ceiling",
        "power" => "pow",
        "schema" => "database",
        "sha" => "sha1",
        name => name,
    }
}

/// Reports whether an expression is a condition, which is true or false by itself. Any other
/// expression is true if it is not 0.
pub(super) fn is_condition(expr: &Expr) -> bool {
    /// Functions whose value is true or false.
    const FUNCTIONS: [&str; 8] = [
        "regexp_like",
        "json_valid",
        "json_contains",
        "json_contains_path",
        "json_overlaps",
        "is_uuid",
        "isnull",
        "json_schema_valid",
    ];
    match expr {
        Expr::And(_)
        | Expr::Or(_)
        | Expr::Unary(UnaryOp::Not, _)
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::Like { .. }
        | Expr::Regexp { .. }
        | Expr::IsNull { .. }
        | Expr::IsTruth { .. }
        | Expr::Literal(Literal::Bool(_)) => true,
        Expr::Binary(op, ..) => {
            opposite(*op).is_some() || matches!(op, BinaryOp::NullSafeEqual | BinaryOp::Xor)
        }
        Expr::Function(call) => FUNCTIONS.contains(&call.name.as_str()),
        _ => false,
    }
}

impl Canonical<'_> {
    /// Returns the text of an expression. Returns `None` for one that no definition can have, or
    /// that names a column which does not exist.
    pub fn text(&self, expr: &Expr) -> Option<String> {
        Some(match expr {
            Expr::Literal(literal) => self.literal(literal),
            Expr::Column { name, .. } => quoted(&(self.column)(name)?),
            Expr::And(operands) => self.joined(operands, "and")?,
            Expr::Or(operands) => self.joined(operands, "or")?,
            Expr::Unary(op, operand) => self.unary(*op, operand)?,
            Expr::Binary(op, left, right) => self.binary(*op, left, right)?,
            Expr::Between { negated, operand, low, high } => {
                let not = if *negated { "not " } else { "" };
                let (operand, low, high) = (self.text(operand)?, self.text(low)?, self.text(high)?);
                format!("({operand} {not}between {low} and {high})")
            }
            Expr::InList { negated, operand, list } => {
                let not = if *negated { "not " } else { "" };
                format!("({} {not}in ({}))", self.text(operand)?, self.list(list)?)
            }
            Expr::Like { negated: true, operand, pattern, escape } => {
                format!("(not({}))", self.like(operand, pattern, escape.as_deref())?)
            }
            Expr::Like { operand, pattern, escape, .. } => self.like(operand, pattern, escape.as_deref())?,
            Expr::Regexp { negated, operand, pattern } => {
                let call = format!("regexp_like({},{})", self.text(operand)?, self.text(pattern)?);
                if *negated { format!("(not({call}))") } else { call }
            }
            Expr::IsNull { negated, operand } => {
                format!("({} is {}null)", self.text(operand)?, if *negated { "not " } else { "" })
            }
            Expr::IsTruth { negated, operand, value } => {
                let value = match value {
                    TruthValue::True => "true",
                    TruthValue::False => "false",
                    TruthValue::Unknown => "unknown",
                };
                format!("({} is {}{value})", self.truth(operand)?, if *negated { "not " } else { "" })
            }
            Expr::Case { operand, whens, otherwise } => {
                self.case(operand.as_deref(), whens, otherwise.as_deref())?
            }
            Expr::Function(call) => self.call(call)?,
            Expr::Cast { operand, ty } => {
                format!("cast({} as {})", self.text(operand)?, cast_name(ty, self.charset))
            }
            Expr::CastArray { operand, ty } => {
                let ty = match ty {
                    CastType::Char { length: Some(length), .. } => format!("char({length})"),
                    CastType::Decimal { precision, scale } => format!("decimal({precision}, {scale})"),
                    ty => cast_name(ty, self.charset),
                };
                format!("cast({} as {ty} array)", self.text(operand)?)
            }
            // MySQL does not print the character set of CHAR() here.
            Expr::ConvertUsing { operand, .. } if matches!(&**operand, Expr::Function(call) if call.name == "char") => {
                self.text(operand)?
            }
            Expr::ConvertUsing { operand, charset } => {
                format!("convert({} using {charset})", self.text(operand)?)
            }
            Expr::Collate { operand, collation } => format!("({} collate {collation})", self.text(operand)?),
            Expr::DateAdd { date, amount, unit, subtract } => {
                let sign = if *subtract { '-' } else { '+' };
                let (date, amount) = (self.text(date)?, self.text(amount)?);
                format!("({date} {sign} interval {amount} {})", unit.name())
            }
            Expr::Extract { unit, operand } => {
                format!("extract({} from {})", unit.name(), self.text(operand)?)
            }
            Expr::TimestampFunction { add: false, unit, first, second } => {
                let unit = unit.name().to_uppercase();
                format!("timestampdiff({unit},{},{})", self.text(first)?, self.text(second)?)
            }
            Expr::TimestampFunction { unit, first, second, .. } => {
                format!("({} + interval {} {})", self.text(second)?, self.text(first)?, unit.name())
            }
            Expr::Trim { leading, trailing, remove, operand, .. } => {
                let operand = self.text(operand)?;
                let ends = match (leading, trailing) {
                    (true, false) => "leading",
                    (false, true) => "trailing",
                    _ => "both",
                };
                match remove {
                    Some(remove) => format!("trim({ends} {} from {operand})", self.text(remove)?),
                    None => format!("trim({operand})"),
                }
            }
            Expr::JsonValue(value) => self.json_value(value)?,
            _ => return None,
        })
    }

    fn json_value(&self, value: &JsonValue) -> Option<String> {
        let response = |response: &Option<OnResponse>, of: &str| {
            Some(match response {
                None => String::new(),
                Some(OnResponse::Null) => format!(" null on {of}"),
                Some(OnResponse::Error) => format!(" error on {of}"),
                Some(OnResponse::Default(value)) => format!(" default {} on {of}", self.text(value)?),
            })
        };
        let returning = match &value.returning {
            None => "char(512)".to_owned(),
            Some(CastType::Char { length: Some(length), charset: None }) => format!("char({length})"),
            Some(CastType::Char { length: None, charset: None }) => "char".to_owned(),
            Some(CastType::Binary { length: Some(length) }) => format!("binary({length})"),
            Some(CastType::Decimal { precision, scale }) => format!("decimal({precision}, {scale})"),
            Some(ty) => cast_name(ty, self.charset),
        };
        Some(format!(
            "json_value({}, {} returning {returning}{}{})",
            self.text(&value.document)?,
            self.text(&value.path)?,
            response(&value.on_empty, "empty")?,
            response(&value.on_error, "error")?,
        ))
    }

    /// Returns the text of an expression that is used as a condition.
    fn truth(&self, expr: &Expr) -> Option<String> {
        if is_condition(expr) { self.text(expr) } else { Some(format!("(0 <> {})", self.text(expr)?)) }
    }

    fn literal(&self, literal: &Literal) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let charset = |given: &Option<String>| given.as_deref().unwrap_or(self.charset).to_owned();
        match literal {
            Literal::Null => "NULL".to_owned(),
            Literal::Bool(value) => value.to_string(),
            Literal::Integer(n) => n.to_string(),
            Literal::Decimal(digits) => digits.clone(),
            Literal::Float(n, _) => format!("{n:e}"),
            Literal::Text(text, given) => format!("_{}{}", charset(given), literal_text(text)),
            Literal::Bits(bytes) => format!("0x{}", hex(bytes)),
            // In MySQL's grammar it is a text with an introducer.
            Literal::HexText(bytes) => format!("_binary 0x{}", hex(bytes)),
            Literal::Bytes(bytes, given) => {
                let introducer = given.as_ref().map_or(String::new(), |charset| format!("_{charset} "));
                format!("{introducer}0x{}", hex(bytes))
            }
            Literal::Date(text) => format!("DATE{}", literal_text(text)),
            Literal::Time(text) => format!("TIME{}", literal_text(text)),
            Literal::Timestamp(text) => format!("TIMESTAMP{}", literal_text(text)),
        }
    }

    fn list(&self, exprs: &[Expr]) -> Option<String> {
        Some(exprs.iter().map(|expr| self.text(expr)).collect::<Option<Vec<_>>>()?.join(","))
    }

    fn joined(&self, operands: &[Expr], word: &str) -> Option<String> {
        let operands: Option<Vec<_>> = operands.iter().map(|operand| self.truth(operand)).collect();
        Some(format!("({})", operands?.join(&format!(" {word} "))))
    }

    fn unary(&self, op: UnaryOp, operand: &Expr) -> Option<String> {
        Some(match op {
            UnaryOp::Minus => format!("-({})", self.text(operand)?),
            UnaryOp::Plus => self.text(operand)?,
            UnaryOp::BitNot => format!("~({})", self.text(operand)?),
            UnaryOp::Binary => format!("cast({} as char charset binary)", self.text(operand)?),
            UnaryOp::Not => self.negated(operand)?,
        })
    }

    /// Returns the text of `NOT operand`. As in MySQL, the NOT moves into the operand if possible.
    fn negated(&self, operand: &Expr) -> Option<String> {
        match operand {
            Expr::Binary(op, left, right) if opposite(*op).is_some() => {
                self.binary(opposite(*op)?, left, right)
            }
            Expr::IsNull { negated, operand } => {
                self.text(&Expr::IsNull { negated: !negated, operand: operand.clone() })
            }
            Expr::And(operands) | Expr::Or(operands) => {
                let word = if matches!(operand, Expr::And(_)) { "or" } else { "and" };
                let operands: Option<Vec<_>> = operands.iter().map(|operand| self.negated(operand)).collect();
                Some(format!("({})", operands?.join(&format!(" {word} "))))
            }
            Expr::Unary(UnaryOp::Not, inner) => self.truth(inner),
            operand if is_condition(operand) => Some(format!("(not({}))", self.text(operand)?)),
            operand => Some(format!("(0 = {})", self.text(operand)?)),
        }
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<String> {
        if let (Expr::Row(left), Expr::Row(right)) = (left, right)
            && op == BinaryOp::Equal
            && left.len() == right.len()
        {
            let pair = |(left, right)| self.binary(op, left, right);
            let pairs: Option<Vec<_>> = left.iter().zip(right).map(pair).collect();
            return Some(format!("({})", pairs?.join(" and ")));
        }
        let operand = |expr| if op == BinaryOp::Xor { self.truth(expr) } else { self.text(expr) };
        Some(format!("({} {} {})", operand(left)?, op.symbol(), operand(right)?))
    }

    fn like(&self, operand: &Expr, pattern: &Expr, escape: Option<&Expr>) -> Option<String> {
        let mut text = format!("({} like {}", self.text(operand)?, self.text(pattern)?);
        if let Some(escape) = escape {
            text.push_str(&format!(" escape {}", self.text(escape)?));
        }
        text.push(')');
        Some(text)
    }

    fn case(
        &self,
        operand: Option<&Expr>,
        whens: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
    ) -> Option<String> {
        let mut text = String::from("(case");
        if let Some(operand) = operand {
            text.push_str(&format!(" {}", self.text(operand)?));
        }
        for (when, then) in whens {
            text.push_str(&format!(" when {} then {}", self.text(when)?, self.text(then)?));
        }
        if let Some(otherwise) = otherwise {
            text.push_str(&format!(" else {}", self.text(otherwise)?));
        }
        text.push_str(" end)");
        Some(text)
    }

    fn call(&self, call: &FunctionCall) -> Option<String> {
        if call.schema.is_some()
            || call.star
            || call.distinct
            || !call.order_by.is_empty()
            || call.separator.is_some()
        {
            return None;
        }
        let args: Vec<String> = call.args.iter().map(|arg| self.text(arg)).collect::<Option<_>>()?;
        Some(match (call.name.as_str(), &args[..]) {
            ("instr", [text, part]) => format!("locate({part},{text})"),
            ("mod", [left, right]) => format!("({left} % {right})"),
            ("datediff", [left, right]) => format!("(to_days({left}) - to_days({right}))"),
            ("date", [value]) => format!("cast({value} as date)"),
            ("time", [value]) => format!("cast({value} as time)"),
            ("timestamp", [value]) => format!("cast({value} as datetime)"),
            ("bin", [value]) => format!("conv({value},10,2)"),
            ("oct", [value]) => format!("conv({value},10,8)"),
            ("get_format", [_, value]) => format!("get_format({}, {value})", word_of(&call.args[0])?),
            ("weight_string", [value, chars]) => format!("weight_string({value} as char({chars}))"),
            ("isnull", [value]) => format!("({value} is null)"),
            ("yearweek", [value]) => format!("yearweek({value},0)"),
            ("member of", [value, document]) => format!("{value} member of ({document})"),
            ("if", [_, then, otherwise]) => format!("if({},{then},{otherwise})", self.truth(&call.args[0])?),
            (name, args) => format!("{}({})", canonical_name(name), args.join(",")),
        })
    }
}

/// Returns the type of a cast as it is shown. `charset` is that of CHAR where none is written.
pub(super) fn cast_name(ty: &CastType, charset: &str) -> String {
    let digits = |fsp: u8| if fsp == 0 { String::new() } else { format!("({fsp})") };
    let chars = |length: &Option<u64>| length.map_or(String::new(), |length| format!("({length})"));
    match ty {
        CastType::Signed => "signed".to_owned(),
        CastType::Unsigned => "unsigned".to_owned(),
        CastType::Char { length, charset: own } => {
            let charset = own.as_deref().unwrap_or(charset);
            format!("char{} charset {charset}", chars(length))
        }
        CastType::Binary { length } => format!("char{} charset binary", chars(length)),
        CastType::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
        CastType::Double => "double".to_owned(),
        CastType::Float => "float".to_owned(),
        CastType::Date => "date".to_owned(),
        CastType::Time { fsp } => format!("time{}", digits(*fsp)),
        CastType::DateTime { fsp } => format!("datetime{}", digits(*fsp)),
        CastType::Year => "year".to_owned(),
        CastType::Json => "json".to_owned(),
    }
}

/// Returns the keyword that the parser has turned into a text literal.
fn word_of(literal: &Expr) -> Option<String> {
    match literal {
        Expr::Literal(Literal::Text(word, None)) => String::from_utf8(word.clone()).ok(),
        _ => None,
    }
}

/// Calls `found` with the expression and with every expression within it.
pub(crate) fn walk(expr: &Expr, found: &mut dyn FnMut(&Expr)) {
    found(expr);
    expr.for_operands(&mut |operand| walk(operand, found));
}
