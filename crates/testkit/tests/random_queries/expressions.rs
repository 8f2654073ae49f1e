//! The names that the rules of expressions use: columns in scope, literals of each kind, and
//! subqueries.

use os::random::Rng;
use testkit::grammar::{Grammar, World};

use crate::schema::{Kind, Table};

/// A column that an expression may name.
#[derive(Debug, Clone)]
pub struct Named {
    pub text: String,
    pub kind: Kind,
}

/// What the FROM clause of one query brings.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    pub columns: Vec<Named>,
    /// The columns that tell each row from all others, if there are some.
    pub keys: Vec<String>,
}

/// The names of one statement, and how deep its expressions are.
pub struct Names<'t> {
    pub tables: &'t [Table],
    /// The scopes of the query at hand, which is last, and of those around it.
    pub scopes: Vec<Scope>,
    /// The number of aliases so far.
    pub aliases: usize,
    /// The kinds of the expressions around the one at hand.
    kinds: Vec<Kind>,
    /// The number of expressions that may stand in one another.
    pub most_depth: usize,
    /// The number of subqueries that may stand in one another.
    pub subqueries: usize,
    /// The table that the statement changes, which its subqueries must not read.
    pub written: Option<String>,
}

impl<'t> Names<'t> {
    /// Returns the names of a statement about these tables.
    pub fn new(tables: &'t [Table], rng: &mut Rng) -> Names<'t> {
        let most_depth = *rng.pick(&[1, 1, 2, 2, 2, 3]);
        let subqueries = rng.below(3) as usize;
        let (scopes, kinds) = (Vec::new(), Vec::new());
        Names { tables, scopes, aliases: 0, kinds, most_depth, subqueries, written: None }
    }

    /// Returns an expression of this kind.
    pub fn expression(&mut self, kind: Kind, grammar: &Grammar, rng: &mut Rng) -> String {
        // Now and then the value is of another kind than MySQL's manual wants there.
        let kind = if rng.one_in(30) { Kind::any(rng) } else { kind };
        if self.kinds.len() >= self.most_depth || rng.one_in(4) {
            return self.leaf(kind, rng);
        }
        self.kinds.push(kind);
        let text = grammar.expand(&format!("{}_call", kind.name()), self, rng);
        self.kinds.pop();
        text
    }

    /// Returns a column or a literal of this kind.
    pub fn leaf(&self, kind: Kind, rng: &mut Rng) -> String {
        let scope = match self.scopes.len() {
            0 => return kind.literal(rng),
            1 => 0,
            count if rng.one_in(3) => rng.below(count as u64) as usize,
            count => count - 1,
        };
        let fitting: Vec<&Named> =
            self.scopes[scope].columns.iter().filter(|named| named.kind == kind).collect();
        match fitting.is_empty() || rng.one_in(4) {
            true => kind.literal(rng),
            false => rng.pick::<&Named>(&fitting).text.clone(),
        }
    }

    /// Returns a column of the query at hand, or a literal if there is none.
    pub fn column(&self, rng: &mut Rng) -> String {
        match self.scopes.last() {
            Some(scope) if !scope.columns.is_empty() => rng.pick::<Named>(&scope.columns).text.clone(),
            _ => "1".to_owned(),
        }
    }

    /// Returns the columns that tell the rows of the query at hand apart, or `1` if none do.
    pub fn row_key(&self) -> String {
        match self.scopes.last() {
            Some(scope) if !scope.keys.is_empty() => scope.keys.join(", "),
            _ => "1".to_owned(),
        }
    }

    fn total_order(&self, rng: &mut Rng) -> String {
        let partition =
            if rng.one_in(2) { format!("PARTITION BY {} ", self.column(rng)) } else { String::new() };
        format!("{partition}ORDER BY {}, {}", self.column(rng), self.row_key())
    }

    fn subquery_test(&mut self, grammar: &Grammar, rng: &mut Rng) -> String {
        if self.subqueries == 0 {
            return self.leaf(Kind::Truth, rng);
        }
        let not = *rng.pick(&["", " NOT"]);
        if rng.one_in(3) {
            let query = self.subquery(&[Kind::Integer], grammar, rng);
            return format!("({}EXISTS ({query}))", not.trim_start().to_owned() + " ");
        }
        let kind = Kind::any(rng);
        let value = self.leaf(kind, rng);
        let query = self.subquery(&[kind], grammar, rng);
        match rng.below(3) {
            0 => {
                let (compared, how) = (*rng.pick(&["=", "<>", "<", ">="]), *rng.pick(&["ANY", "ALL"]));
                format!("({value} {compared} {how} ({query}))")
            }
            1 => {
                let (other, second) = (self.leaf(Kind::Integer, rng), self.leaf(kind, rng));
                let query = self.subquery(&[kind, Kind::Integer], grammar, rng);
                format!("(({second}, {other}){not} IN ({query}))")
            }
            _ => format!("({value}{not} IN ({query}))"),
        }
    }
}

impl World for Names<'_> {
    fn resolve(&mut self, name: &str, grammar: &Grammar, rng: &mut Rng) -> Option<String> {
        if let Some(kind) = Kind::named(name) {
            return Some(self.expression(kind, grammar, rng));
        }
        let around = self.kinds.last().copied().unwrap_or(Kind::Integer);
        Some(match name {
            "same" => self.expression(around, grammar, rng),
            "integer_leaf" => self.leaf(Kind::Integer, rng),
            "column" => self.column(rng),
            "row_key" => self.row_key(),
            "total_order" => self.total_order(rng),
            "scalar" if self.subqueries == 0 => self.leaf(around, rng),
            "scalar" => format!("({})", self.scalar(around, grammar, rng)),
            "subquery_test" => self.subquery_test(grammar, rng),
            _ => return None,
        })
    }
}
