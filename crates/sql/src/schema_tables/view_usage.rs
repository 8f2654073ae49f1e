//! VIEW_TABLE_USAGE and VIEW_ROUTINE_USAGE of information_schema: what the queries of views name.

use super::definition::{Definition, Dictionary, Rows};
use crate::attribute;
use crate::error::Result;
use crate::host::Sight;
use crate::view_query::{query_of_view, tables_of_view};
use engine::{ObjectDef, ObjectKind};
use types::Value;

pub(super) const TABLES: &[Definition] = &[
    Definition { name: "VIEW_TABLE_USAGE", fill: tables },
    Definition { name: "VIEW_ROUTINE_USAGE", fill: routines },
];

/// Adds a row for each name that `names` finds in a view, ordered and once. The query of a view
/// that this server cannot run is not read.
fn fill(
    dictionary: &Dictionary<'_>,
    rows: &mut Rows<'_>,
    names: impl Fn(&ObjectDef) -> Result<Vec<(String, String)>>,
) -> Result<()> {
    for view in dictionary.engine.catalog().all_objects(ObjectKind::View) {
        let (schema, name) = (&view.def.schema, &view.def.name);
        if !dictionary.sees(Sight::Table(schema, name)) {
            continue;
        }
        let mut named = names(&view.def).unwrap_or_default();
        named.sort();
        named.dedup();
        for (of_schema, of_name) in named {
            rows.push(["def", schema, name, "def", &of_schema, &of_name].map(Value::text).into())?;
        }
    }
    Ok(())
}

fn tables(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    fill(dictionary, rows, |view| {
        let named = tables_of_view(view)?.into_iter();
        Ok(named.filter(|(schema, name)| dictionary.sees(Sight::Table(schema, name))).collect())
    })
}

fn routines(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    fill(dictionary, rows, |view| {
        let query = query_of_view(view)?;
        let current = view.attribute(attribute::CURRENT).unwrap_or(&view.schema);
        let mut found = Vec::new();
        query.visit_all(&mut |expr| {
            if let crate::ast::Expr::Function(call) = expr {
                let schema = call.schema.as_deref().unwrap_or(current);
                found.extend(dictionary.engine.catalog().object(schema, ObjectKind::Function, &call.name));
            }
        });
        found.retain(|function| super::stored::sees_object(dictionary.host, &function.def));
        Ok(found.iter().map(|function| (function.def.schema.clone(), function.def.name.clone())).collect())
    })
}
