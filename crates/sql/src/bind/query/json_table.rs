//! JSON_TABLE in FROM. Its document may name columns of the tables before it.

use super::super::{Binder, Frame, Place, Scope, ScopeTable};
use crate::ast::{self, JsonTableColumn, OnResponse};
use crate::error::{Result, SqlError};
use crate::expr::functions::json::{JSON_TABLE_DOCUMENT, no_document, no_path, stored};
use crate::expr::{Coercibility, Expr, Node};
use crate::plan::{JsonColumn, JsonColumnKind, JsonResponse, JsonRows, JsonTable, Source};
use crate::sink::ColumnMeta;
use types::convert::DateModes;
use types::json::{self, Path};
use types::{ColumnType, Value};

/// The columns that have been bound so far, in the order of the table.
#[derive(Default)]
struct Columns(Vec<ColumnMeta>);

impl Columns {
    /// Adds a column and returns its position in the row.
    fn add(&mut self, name: &str, ty: &ColumnType) -> Result<usize> {
        if self.0.iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
            return Err(SqlError::new(1060, format!("Duplicate column name '{name}'")));
        }
        self.0.push(ColumnMeta {
            schema: String::new(),
            table: String::new(),
            org_table: String::new(),
            name: name.to_owned(),
            org_name: name.to_owned(),
            ty: ty.clone(),
            flags: 0,
            decimals: 0,
        });
        Ok(self.0.len() - 1)
    }
}

/// Returns the table and its columns. The tables of `scope` stand before it in FROM.
pub(super) fn json_table(
    binder: &mut Binder<'_>,
    written: &ast::JsonTable,
    scope: &Scope,
    outer: Option<&Frame<'_>>,
) -> Result<(Source, ScopeTable)> {
    let place = &mut Place::within(outer, scope, "a table function argument");
    let document = binder.expr(&written.document, place)?;
    let mut columns = Columns::default();
    let rows = json_rows(binder, &written.rows, &mut columns)?;
    let document = Expr {
        ty: ColumnType::json(),
        nullable: true,
        coercibility: Coercibility::Implicit,
        node: Node::Call { function: &JSON_TABLE_DOCUMENT, args: vec![document] },
    };
    let table = ScopeTable::computed("", &written.alias, &written.alias, &columns.0, scope.slots());
    Ok((Source::JsonTable(Box::new(JsonTable { document, rows })), table))
}

fn column_type(written: &ast::TypeSpec, connection: u16) -> Result<ColumnType> {
    crate::ddl::kept_type(written, connection)
        .ok_or_else(|| SqlError::not_supported(format!("columns of type {} of JSON_TABLE", written.name)))
}

/// Binds the rows of a path. The recursion is as deep as the parser lets paths be nested.
fn json_rows(
    binder: &mut Binder<'_>,
    written: &ast::JsonTableRows,
    columns: &mut Columns,
) -> Result<JsonRows> {
    let parse = |path: &[u8]| Path::parse(path).map_err(no_path);
    let mut rows = JsonRows { path: parse(&written.path)?, columns: Vec::new(), nested: Vec::new() };
    for column in &written.columns {
        binder.may_make(super::super::NODE_BYTES)?;
        let (name, ty, kind) = match column {
            JsonTableColumn::Nested(nested) => {
                rows.nested.push(json_rows(binder, nested, columns)?);
                continue;
            }
            JsonTableColumn::Ordinality { name } => {
                (name, ColumnType::bigint(false), JsonColumnKind::Ordinality)
            }
            JsonTableColumn::Exists { name, ty, path } => {
                let ty = column_type(ty, binder.variables.connection_collation)?;
                (name, ty, JsonColumnKind::Exists(parse(path)?))
            }
            JsonTableColumn::Value { name, ty, path, on_empty, on_error } => {
                let ty = column_type(ty, binder.variables.connection_collation)?;
                let dates = binder.variables.sql_mode.dates();
                let kind = JsonColumnKind::Value {
                    path: parse(path)?,
                    on_empty: json_response(on_empty, name, &ty, dates)?,
                    on_error: json_response(on_error, name, &ty, dates)?,
                };
                (name, ty, kind)
            }
        };
        let at = columns.add(name, &ty)?;
        rows.columns.push((at, JsonColumn { name: name.clone(), ty, kind }));
    }
    Ok(rows)
}

/// Binds ON EMPTY or ON ERROR. A default is the text of a document, whose value has to fit the
/// column.
fn json_response(
    written: &Option<OnResponse>,
    name: &str,
    ty: &ColumnType,
    dates: DateModes,
) -> Result<JsonResponse> {
    let literal = match written {
        None | Some(OnResponse::Null) => return Ok(JsonResponse::Null),
        Some(OnResponse::Error) => return Ok(JsonResponse::Error),
        Some(OnResponse::Default(ast::Expr::Literal(ast::Literal::Text(text, _)))) => text,
        Some(OnResponse::Default(_)) => return Err(SqlError::syntax("DEFAULT", 1)),
    };
    let node = json::parse_node(literal).map_err(|error| no_document(&error, "JSON_TABLE", 0))?;
    let wrong = || SqlError::new(1067, format!("Invalid default value for '{name}'"));
    if node == json::Node::Null {
        return Ok(JsonResponse::Default(Value::Null));
    }
    stored(&node, name, ty, dates).map(JsonResponse::Default).map_err(|error| match error.code {
        3666 => wrong(),
        _ => error,
    })
}
