//! The tables and columns that an expression may name.

use crate::error::{Result, SqlError};
use crate::expr::{Coercibility, Expr, Node};
use crate::plan::QueryPlan;
use crate::result_column::{NOT_FIXED, column_flags, decimals, type_flags, value_flags};
use crate::sink::{ColumnMeta, column_flag};
use engine::{Table, TableDef};
use types::{ColumnType, TypeCode};

/// A column that may be named.
#[derive(Debug, Clone)]
pub(crate) struct ScopeColumn {
    pub name: String,
    pub ty: ColumnType,
    pub nullable: bool,
    /// How strongly the column's collation holds.
    pub coercibility: Coercibility,
    /// The column's flags in the description of a result.
    pub flags: u16,
    pub org_name: String,
    /// The column is INVISIBLE, and `*` leaves it out.
    pub invisible: bool,
    /// The column is the hidden one of an indexed expression, which has no name.
    pub unnamed: bool,
}

/// Returns the type of a computed table's column: that of a column of a table, or the type that
/// MySQL makes of an expression's.
fn made_type(column: &ColumnMeta) -> ColumnType {
    if column.org_name.is_empty() { crate::expr::column_type(&column.ty) } else { column.ty.clone() }
}

/// A table that may be named. Its columns have the slots from `base` on.
#[derive(Debug, Clone)]
pub(crate) struct ScopeTable {
    pub schema: String,
    /// The alias, or the table's name.
    pub alias: String,
    pub org_table: String,
    pub base: usize,
    /// Whether it is a table with stored rows, and not a view or a derived table.
    pub stored: bool,
    pub columns: Vec<ScopeColumn>,
    /// The account has SELECT on the table. An account without it may change the table if it reads
    /// none of its columns.
    pub readable: bool,
}

/// A column: the position of its table in the scope, and its own position in the table.
pub(crate) type ColumnAt = (usize, usize);

/// The tables that may be named, in the order of their slots.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub tables: Vec<ScopeTable>,
    /// With USING or NATURAL: the columns that `*` and a name without a table stand for, in the
    /// order of `*`. Columns that were merged count as one. `None` means all columns of all tables.
    pub joined: Option<Vec<ColumnAt>>,
}

/// Returns every column of these tables.
fn columns_of(tables: &[ScopeTable]) -> impl Iterator<Item = ColumnAt> {
    tables.iter().enumerate().flat_map(|(table, of)| (0..of.columns.len()).map(move |column| (table, column)))
}

/// The reason why a name does not stand for a single column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotOne {
    None,
    Several,
}

impl NotOne {
    /// Builds error 1054 (`ER_BAD_FIELD_ERROR`) or 1052 (`ER_NON_UNIQ_ERROR`).
    pub fn error(self, name: &str, clause: &str) -> SqlError {
        match self {
            NotOne::None => SqlError::unknown_column(name, clause),
            NotOne::Several => SqlError::new(1052, format!("Column '{name}' in {clause} is ambiguous")),
        }
    }
}

/// Reports whether an expression is a computed string. Its decimals are "not fixed" in MySQL;
/// strings from columns, from UNION and from literals like `x'1F'` have 0 decimals.
fn is_text_expression(expr: &Expr) -> bool {
    let is_computed = !matches!(expr.node, Node::HexLiteral(..) | Node::Constant(types::Value::Null));
    is_computed
        && matches!(
            expr.ty.code,
            TypeCode::Varchar | TypeCode::String | TypeCode::Blob | TypeCode::Enum | TypeCode::Set
        )
}

/// Returns the type that a column has in expressions. A column whose bytes have a text form (UUID,
/// INET4, INET6) is as long as the text.
fn type_of_values(ty: &ColumnType) -> ColumnType {
    let meta = ty.text_form().map_or(ty.meta, |form| u16::from(form.chars()));
    ColumnType { meta, ..ty.clone() }
}

impl ScopeTable {
    /// Returns the scope of a stored table.
    pub fn stored(table: &Table, alias: &str, base: usize) -> ScopeTable {
        let columns = table.def.columns.iter().enumerate().map(|(at, column)| ScopeColumn {
            name: column.name.clone(),
            ty: type_of_values(&column.ty),
            nullable: column.nullable,
            coercibility: Coercibility::of_type(&column.ty),
            flags: column_flags(table, at),
            org_name: column.name.clone(),
            invisible: column.invisible,
            unnamed: column.is_indexed_expression(),
        });
        ScopeTable {
            schema: table.def.schema.clone(),
            alias: alias.to_owned(),
            org_table: table.def.name.clone(),
            base,
            stored: true,
            columns: columns.collect(),
            readable: true,
        }
    }

    /// Returns the scope of a table's definition, for the expressions in the definition itself.
    pub fn defined(def: &TableDef) -> ScopeTable {
        let columns = def.columns.iter().map(|column| ScopeColumn {
            name: column.name.clone(),
            ty: column.ty.clone(),
            // These expressions are evaluated before the row's NOT NULL columns are checked.
            nullable: true,
            coercibility: Coercibility::of_type(&column.ty),
            flags: type_flags(&column.ty),
            org_name: column.name.clone(),
            invisible: column.invisible,
            unnamed: column.is_indexed_expression(),
        });
        ScopeTable {
            schema: def.schema.clone(),
            alias: def.name.clone(),
            org_table: def.name.clone(),
            base: 0,
            stored: true,
            columns: columns.collect(),
            readable: true,
        }
    }

    /// Returns the scope of rows that a plan or the host computes.
    pub fn computed(
        schema: &str,
        alias: &str,
        org_table: &str,
        columns: &[ColumnMeta],
        base: usize,
    ) -> ScopeTable {
        let columns = columns.iter().map(|column| ScopeColumn {
            name: column.name.clone(),
            ty: made_type(column),
            nullable: column.flags & column_flag::NOT_NULL == 0,
            coercibility: Coercibility::of_type(&made_type(column)),
            flags: column.flags & column_flag::NOT_NULL | type_flags(&made_type(column)),
            org_name: column.org_name.clone(),
            invisible: false,
            unnamed: false,
        });
        ScopeTable {
            schema: schema.to_owned(),
            alias: alias.to_owned(),
            org_table: org_table.to_owned(),
            base,
            stored: false,
            columns: columns.collect(),
            readable: true,
        }
    }

    /// Returns the column at this position as an expression.
    pub fn column(&self, at: usize) -> Expr {
        let column = &self.columns[at];
        Expr {
            node: Node::Slot(self.base + at),
            ty: column.ty.clone(),
            nullable: column.nullable,
            coercibility: column.coercibility,
        }
    }

    /// Returns the scope of the rows of a plan, as [`ScopeTable::computed`] does. The collations of
    /// the columns hold as strongly as those of the plan.
    pub fn of_plan(schema: &str, alias: &str, org_table: &str, plan: &QueryPlan, base: usize) -> ScopeTable {
        let mut table = ScopeTable::computed(schema, alias, org_table, &plan.columns, base);
        table.hold_as(plan);
        table
    }

    /// Has the collations of the columns hold as strongly as those of the plan that yields them.
    pub fn hold_as(&mut self, plan: &QueryPlan) {
        assert_eq!(self.columns.len(), plan.columns.len(), "each column of the plan has a name");
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.coercibility = plan.coercibility(at);
        }
    }

    fn is_named(&self, schema: Option<&str>, table: &str) -> bool {
        self.alias == table && schema.is_none_or(|schema| schema == self.schema)
    }
}

impl Scope {
    /// Creates a scope of one table.
    pub fn of(table: ScopeTable) -> Scope {
        Scope { tables: vec![table], joined: None }
    }

    /// Returns the columns that `*` stands for.
    pub fn all_columns(&self) -> Vec<ColumnAt> {
        match &self.joined {
            Some(joined) => joined.clone(),
            None => columns_of(&self.tables).collect(),
        }
    }

    /// Returns the number of slots of all tables together.
    pub fn slots(&self) -> usize {
        self.tables.last().map_or(0, |table| table.base + table.columns.len())
    }

    /// Returns the table that a slot belongs to, and the column's position in the table.
    pub fn of_slot(&self, slot: usize) -> Option<(&ScopeTable, usize)> {
        self.tables
            .iter()
            .find(|table| (table.base..table.base + table.columns.len()).contains(&slot))
            .map(|table| (table, slot - table.base))
    }

    /// Returns the name of the column that an expression is. `None` if it is no column.
    pub fn column_of(&self, expr: &Expr) -> Option<&str> {
        let Node::Slot(slot) = expr.node else { return None };
        self.of_slot(slot).map(|(table, at)| &*table.columns[at].name)
    }

    /// Returns the name of a column of a table of information_schema that is a view in MySQL. The
    /// result's column then has the view's own name, in upper case, however it was written. `None`
    /// for other expressions.
    pub fn name_of_view_column(&self, expr: &Expr) -> Option<&str> {
        let Node::Slot(slot) = expr.node else { return None };
        let (table, at) = self.of_slot(slot)?;
        let is_view = crate::schema_tables::is_view_in_mysql(&table.schema, &table.org_table);
        is_view.then(|| table.columns[at].name.as_str())
    }

    /// Returns the description of an expression's result. For a column it is the column's
    /// description.
    pub fn describe(&self, expr: &Expr, name: &str) -> ColumnMeta {
        if let Node::Slot(slot) = expr.node
            && let Some((table, at)) = self.of_slot(slot)
        {
            let column = &table.columns[at];
            return ColumnMeta {
                schema: table.schema.clone(),
                table: table.alias.clone(),
                org_table: table.org_table.clone(),
                name: name.to_owned(),
                org_name: column.org_name.clone(),
                ty: column.ty.clone(),
                flags: if expr.nullable { column.flags & !column_flag::NOT_NULL } else { column.flags },
                decimals: decimals(&column.ty),
            };
        }
        let not_null = if expr.nullable { 0 } else { column_flag::NOT_NULL };
        ColumnMeta {
            schema: String::new(),
            table: String::new(),
            org_table: String::new(),
            name: name.to_owned(),
            org_name: String::new(),
            ty: expr.ty.clone(),
            flags: value_flags(&expr.ty) | not_null,
            decimals: if is_text_expression(expr) || expr.is_json() { NOT_FIXED } else { decimals(&expr.ty) },
        }
    }

    /// Resolves a name to a column.
    ///
    /// # Errors
    /// Returns 1054 when there is no such column, and 1052 when there are several.
    pub fn resolve(
        &self,
        schema: Option<&str>,
        table: Option<&str>,
        name: &str,
        clause: &str,
    ) -> Result<Expr> {
        self.resolve_among(None, schema, table, name, clause)
    }

    /// Does what [`Scope::resolve`] does, among the columns with the slots in `only`. `None` means
    /// all columns.
    pub fn resolve_among(
        &self,
        only: Option<&[usize]>,
        schema: Option<&str>,
        table: Option<&str>,
        name: &str,
        clause: &str,
    ) -> Result<Expr> {
        let may_be = |at: &ColumnAt| only.is_none_or(|only| only.contains(&(self.tables[at.0].base + at.1)));
        let found = match (table, &self.joined) {
            (None, Some(joined)) => self.only(joined.iter().copied().filter(may_be), name),
            (None, None) => self.only(columns_of(&self.tables).filter(may_be), name),
            (Some(table), _) => {
                let of_table = |at: &ColumnAt| self.tables[at.0].is_named(schema, table) && may_be(at);
                self.only(columns_of(&self.tables).filter(of_table), name)
            }
        };
        let error = match found {
            Ok((table, column)) => return Ok(self.tables[table].column(column)),
            Err(error) => error,
        };
        let shown: Vec<&str> = [schema, table, Some(name)].into_iter().flatten().collect();
        Err(error.error(&shown.join("."), clause))
    }

    /// Returns the one column of these that has the name.
    pub fn only(
        &self,
        columns: impl Iterator<Item = ColumnAt>,
        name: &str,
    ) -> std::result::Result<ColumnAt, NotOne> {
        let same = |at: &ColumnAt| {
            let column = &self.tables[at.0].columns[at.1];
            !column.unnamed && (column.name == name || column.name.eq_ignore_ascii_case(name))
        };
        let mut found = columns.filter(same);
        match (found.next(), found.next()) {
            (Some(at), None) => Ok(at),
            (None, _) => Err(NotOne::None),
            (Some(_), Some(_)) => Err(NotOne::Several),
        }
    }
}
