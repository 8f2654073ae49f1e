//! What ON DUPLICATE KEY UPDATE may name beside the row that is in the table: the row that was to
//! be inserted, and the row of the query that it comes from.
//!
//! The values lie behind those of the table's row: first the whole new row, then the columns of the
//! query's tables that the clause names. The query is given these columns as further outputs
//! ([`WantedColumns`]), as far as it has them.

use super::constants::Constants;
use super::scope::{NotOne, Scope};
use crate::ast::{Expr as Written, NamedColumn};
use crate::error::{Result, SqlError};
use crate::expr::{Expr, Node};
use engine::Table;

/// MySQL's warning about `VALUES(column)` in ON DUPLICATE KEY UPDATE.
const VALUES_OF_NEW_ROW: &str = "'VALUES function' is deprecated and will be removed in a future release. Please \
    use an alias (INSERT INTO ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE \
    clause with alias.col instead";

/// The alias of the new row: `INSERT ... VALUES (...) AS new (a, b)`.
pub(crate) struct RowAlias {
    name: String,
    /// The names of the columns, each with the position of the table's column.
    columns: Vec<(String, usize)>,
}

impl RowAlias {
    /// Builds the alias of a row whose values go to these columns of the table. `names` are the
    /// names of the columns; if it is empty, they are those of the table.
    ///
    /// # Errors
    /// Returns 1066 for the name of the table itself, 1353 when there are too few or too many
    /// names, and 1060 for a name that comes twice.
    pub fn new(
        table: &Table,
        called: &str,
        name: &str,
        names: &[String],
        columns: &[usize],
    ) -> Result<RowAlias> {
        if name == called {
            return Err(SqlError::new(1066, format!("Not unique table/alias: '{name}'")));
        }
        if !names.is_empty() && names.len() != columns.len() {
            let text = "In definition of view, derived table or common table expression, SELECT list and \
                        column names list have different column counts";
            return Err(SqlError::new(1353, text));
        }
        let own = |at: &usize| (table.def.columns[*at].name.clone(), *at);
        let named: Vec<(String, usize)> = match names.is_empty() {
            true => columns.iter().map(own).collect(),
            false => names.iter().cloned().zip(columns.iter().copied()).collect(),
        };
        for (at, (name, _)) in named.iter().enumerate() {
            if let Some((first, _)) = named[..at].iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                return Err(SqlError::new(1060, format!("Duplicate column name '{first}'")));
            }
        }
        Ok(RowAlias { name: name.to_owned(), columns: named })
    }

    /// Returns the position of the table's column that a name stands for.
    fn column(&self, named: NamedColumn<'_>) -> Option<usize> {
        if named.schema.is_some() || named.table.is_some_and(|table| table != self.name) {
            return None;
        }
        let is_it = |(known, _): &&(String, usize)| known.eq_ignore_ascii_case(named.name);
        self.columns.iter().find(is_it).map(|(_, at)| *at)
    }
}

/// The columns that the query of INSERT ... SELECT gives beside the values, if its tables have
/// them.
#[derive(Default)]
pub(crate) struct WantedColumns {
    columns: Vec<WantedColumn>,
}

struct WantedColumn {
    schema: Option<String>,
    table: Option<String>,
    name: String,
    /// The column as an expression over the query's tables, or why the name stands for none.
    found: std::result::Result<Expr, NotOne>,
}

impl WantedColumns {
    /// Returns the columns that these expressions name. The query has not been looked at yet.
    pub fn of<'w>(written: impl Iterator<Item = &'w Written>) -> WantedColumns {
        let mut named = Vec::new();
        written.for_each(|expr| expr.put_named_columns(&mut named));
        let wanted = |named: &NamedColumn<'_>| WantedColumn {
            schema: named.schema.map(str::to_owned),
            table: named.table.map(str::to_owned),
            name: named.name.to_owned(),
            found: Err(NotOne::None),
        };
        WantedColumns { columns: named.iter().map(wanted).collect() }
    }

    /// Looks the columns up in the tables of the query. Returns those that are there and that
    /// `may_be` lets through, each with its name.
    pub fn look_up(&mut self, scope: &Scope, may_be: impl Fn(&Expr) -> bool) -> Vec<(Expr, String)> {
        let mut outputs = Vec::new();
        for wanted in &mut self.columns {
            let (schema, table) = (wanted.schema.as_deref(), wanted.table.as_deref());
            match scope.resolve(schema, table, &wanted.name, "field list") {
                Ok(expr) if may_be(&expr) => {
                    wanted.found = Ok(expr.clone());
                    outputs.push((expr, wanted.name.clone()));
                }
                Err(error) if error.code == 1052 => wanted.found = Err(NotOne::Several),
                Ok(_) | Err(_) => {}
            }
        }
        outputs
    }

    /// Returns the number of columns that the query has.
    pub fn count(&self) -> usize {
        self.columns.iter().filter(|wanted| wanted.found.is_ok()).count()
    }

    /// Returns the value of a name: its position among the columns that the query has, and the
    /// expression there.
    fn column(&self, named: NamedColumn<'_>) -> std::result::Result<(usize, &Expr), NotOne> {
        let is_it = |wanted: &WantedColumn| {
            wanted.schema.as_deref() == named.schema
                && wanted.table.as_deref() == named.table
                && wanted.name == named.name
        };
        let at = self.columns.iter().position(is_it).ok_or(NotOne::None)?;
        let expr = self.columns[at].found.as_ref().map_err(|not_one| *not_one)?;
        let before = self.columns[..at].iter().filter(|wanted| wanted.found.is_ok()).count();
        Ok((before, expr))
    }
}

/// The values of a row that is to be inserted, and of the query's row that it comes from.
#[derive(Clone, Copy)]
pub(crate) struct Inserted<'s> {
    pub table: &'s Table,
    /// The slot of the first value.
    pub first_slot: usize,
    /// For a row that is inserted through a view: the names of the view's columns, each with the
    /// position of the table's column that it stands for.
    pub names: Option<&'s [(String, Option<usize>)]>,
    /// The alias of the new row.
    pub alias: Option<&'s RowAlias>,
    /// The columns of the query's tables, whose values lie behind the new row.
    pub wanted: &'s WantedColumns,
}

impl Inserted<'_> {
    /// Returns the position of the table's column that a name within VALUES() means. `None` if
    /// there is none.
    pub fn column(&self, name: &str) -> Option<usize> {
        match self.names {
            None => self.table.def.column(name),
            Some(names) => names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?.1,
        }
    }

    /// Returns the value of the new row in this column of the table.
    pub fn value(&self, at: usize) -> Expr {
        let ty = self.table.column_type(at).clone();
        let coercibility = crate::expr::Coercibility::Implicit;
        Expr { node: Node::InsertedValue(self.first_slot + at), ty, nullable: true, coercibility }
    }

    /// Binds VALUES(name), and warns that it is deprecated.
    ///
    /// # Errors
    /// Returns 1054 (`ER_BAD_FIELD_ERROR`) when no column has the name.
    pub fn values(&self, name: &str, constants: &mut Constants) -> Result<Expr> {
        let at = self.column(name).ok_or_else(|| SqlError::unknown_column(name, "field list"))?;
        constants.complaints.push((1287, VALUES_OF_NEW_ROW.to_owned()));
        Ok(self.value(at))
    }

    /// Returns what a name stands for that may name a column of the row's alias or of the query's
    /// tables. `found` is what it stands for without these. `None` means that it stands for that.
    // The frames of the recursion that binds expressions have to stay small.
    #[inline(never)]
    pub fn beside(&self, found: &Result<Expr>, named: NamedColumn<'_>, clause: &str) -> Option<Result<Expr>> {
        let is_unknown = matches!(found, Err(error) if error.code == 1054);
        match self.named(named) {
            Ok(value) if is_unknown => Some(Ok(value)),
            Err(NotOne::None) => None,
            Ok(_) | Err(NotOne::Several) => Some(Err(NotOne::Several.error(named.name, clause))),
        }
    }

    fn named(&self, named: NamedColumn<'_>) -> std::result::Result<Expr, NotOne> {
        if let Some(at) = self.alias.and_then(|alias| alias.column(named)) {
            return Ok(self.value(at));
        }
        let (at, expr) = self.wanted.column(named)?;
        let node = Node::InsertedValue(self.first_slot + self.table.columns() + at);
        Ok(Expr { node, ..expr.clone() })
    }
}
