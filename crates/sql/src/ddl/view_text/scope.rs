//! The names that an expression of a view's query may use, and what is printed for them.

use crate::quoting::quoted;
use std::rc::Rc;

/// A table in FROM.
pub(super) struct Source {
    /// The qualifier of its columns. `None` for the result of combined queries, whose columns have
    /// none.
    pub shown: Option<String>,
    pub schema: String,
    pub alias: String,
    pub columns: Vec<String>,
}

impl Source {
    pub fn is(&self, schema: Option<&str>, table: &str) -> bool {
        self.alias == table && schema.is_none_or(|schema| schema == self.schema)
    }

    pub fn column(&self, at: usize) -> String {
        match &self.shown {
            Some(shown) => format!("{shown}.{}", quoted(&self.columns[at])),
            None => quoted(&self.columns[at]),
        }
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| same(column, name))
    }
}

/// Reports whether two names of columns are the same.
pub(in crate::ddl) fn same(left: &str, right: &str) -> bool {
    left.to_lowercase() == right.to_lowercase()
}

/// A column that a FROM gives: the number of its source, and its number there.
pub(super) type Given = (usize, usize);

/// A column of a select list.
pub(super) struct Item {
    pub name: String,
    /// The expression as it is printed.
    pub text: String,
    /// The expression is the column that has the same name.
    pub is_own_column: bool,
    /// The expression is an integer, which ORDER BY would take for a position.
    pub is_integer: bool,
}

/// The names outside a query.
#[derive(Clone, Default)]
pub(super) struct Around<'s> {
    pub outer: Option<&'s Scope<'s>>,
    /// The common tables, with the names of their columns. The last one of a name counts.
    pub commons: Vec<(String, Rc<[String]>)>,
}

/// The names within a query.
#[derive(Default)]
pub(super) struct Scope<'s> {
    pub sources: Vec<Source>,
    /// The columns of `*`. Those that a NATURAL join or USING makes one are here once.
    pub given: Vec<Given>,
    /// The select list, as soon as it is printed.
    pub items: Vec<Item>,
    pub around: Around<'s>,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    pub scope: &'s Scope<'s>,
    /// Names of the select list come before those of tables, as in HAVING.
    pub prefers_items: bool,
    /// The expression is a condition, for which NULL is the same as false.
    pub filters: bool,
}

impl<'s> Place<'s> {
    pub fn within(scope: &'s Scope<'s>) -> Place<'s> {
        Place { scope, prefers_items: false, filters: false }
    }

    pub fn filter(scope: &'s Scope<'s>) -> Place<'s> {
        Place { filters: true, ..Place::within(scope) }
    }

    /// Returns the place of an operand, which is not itself the condition.
    pub fn operand(self) -> Place<'s> {
        Place { filters: false, ..self }
    }

    /// Returns the names outside a subquery that stands here.
    pub fn around(self) -> Around<'s> {
        Around { outer: Some(self.scope), commons: self.scope.around.commons.clone() }
    }

    /// Returns what is printed for a column. `None` if it is unknown or ambiguous.
    pub fn column(self, schema: Option<&str>, table: Option<&str>, name: &str) -> Option<String> {
        let mut scope = Some(self.scope);
        while let Some(here) = scope {
            let item = if table.is_none() { here.item(name) } else { None };
            if let (Some(item), true) = (item, self.prefers_items) {
                return Some(item.reference());
            }
            match here.given_column(schema, table, name) {
                Found::One(text) => return Some(text),
                Found::Several => return None,
                Found::None => {}
            }
            if let Some(item) = item {
                return Some(quoted(&item.name));
            }
            scope = here.around.outer;
        }
        None
    }
}

/// The result of a search among the columns of a FROM.
pub(super) enum Found {
    None,
    One(String),
    Several,
}

impl Item {
    /// Returns what HAVING prints for the name of this column.
    fn reference(&self) -> String {
        if self.is_own_column { self.text.clone() } else { quoted(&self.name) }
    }
}

impl Scope<'_> {
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.items.iter().find(|item| same(&item.name, name))
    }

    /// Searches a column among those of the FROM.
    pub fn given_column(&self, schema: Option<&str>, table: Option<&str>, name: &str) -> Found {
        let mut found: Vec<String> = match table {
            None => {
                let named = |(source, at): &&Given| same(&self.sources[*source].columns[*at], name);
                self.given.iter().filter(named).map(|given| self.shown(*given)).collect()
            }
            Some(table) => {
                let sources = self.sources.iter().filter(|source| source.is(schema, table));
                sources.filter_map(|source| source.find(name).map(|at| source.column(at))).collect()
            }
        };
        match (found.pop(), found.is_empty()) {
            (Some(text), true) => Found::One(text),
            (Some(_), false) => Found::Several,
            (None, _) => Found::None,
        }
    }

    pub fn shown(&self, (source, at): Given) -> String {
        self.sources[source].column(at)
    }

    pub fn name(&self, (source, at): Given) -> &str {
        &self.sources[source].columns[at]
    }
}

/// Returns the list of a table's column names, with a blank in front. It is empty without names.
pub(super) fn column_list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(" ({})", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",")),
    }
}

/// Returns the columns of a common table, whose last definition counts.
pub(super) fn common_columns(around: &Around<'_>, name: &str) -> Option<Rc<[String]>> {
    around.commons.iter().rev().find(|(known, _)| known == name).map(|(_, columns)| columns.clone())
}
