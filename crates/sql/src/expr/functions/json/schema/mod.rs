//! `JSON_SCHEMA_VALID()` and `JSON_SCHEMA_VALIDATION_REPORT()`, which validate a document against a
//! schema. Schemas are those of draft 4, read as MySQL reads them: a value that is no schema, and a
//! keyword whose value has a wrong type, require nothing.

mod location;
mod number;
mod reference;
mod validate;

use super::super::{Call, Function, integer, truth_value};
use super::argument::{Document, document, made};
use super::result_type::json;
use crate::error::{Result, SqlError};
use types::Value;
use types::json::Node;

pub(in super::super) const FUNCTIONS: &[Function] = &[
    Function::new("json_schema_valid", 2..=2, integer::<1>, |call| {
        let Some((schema, value)) = arguments(call)? else { return Ok(Value::Null) };
        Ok(truth_value(validate::first_failure(&schema, &value, call)?.is_none()))
    })
    .sees_nulls(),
    Function::new("json_schema_validation_report", 2..=2, json, report).sees_nulls(),
];

/// Returns the schema and the document. `None` means that one of them is NULL.
///
/// # Errors
/// Returns the errors of [`document`], 3853 for a schema that is no object, and the errors of
/// [`reference::check`].
fn arguments(call: &Call<'_>) -> Result<Option<(Document, Document)>> {
    let Some(schema) = document(call, 0)? else { return Ok(None) };
    if !matches!(&*schema, Node::Object(_)) {
        let text =
            format!("Invalid JSON type in argument 1 to function {}; an object is required.", call.name);
        return Err(SqlError::new(3853, text));
    }
    let Some(value) = document(call, 1)? else { return Ok(None) };
    reference::check(&schema)?;
    Ok(Some((schema, value)))
}

fn report(call: &Call<'_>) -> Result<Value> {
    let Some((schema, value)) = arguments(call)? else { return Ok(Value::Null) };
    let failure = validate::first_failure(&schema, &value, call)?;
    let mut members = vec![(b"valid".to_vec(), Node::Bool(failure.is_none()))];
    if let Some(failure) = failure {
        let in_schema = failure.schema.map_or_else(|| "#".to_owned(), |at| location::of(&schema, at));
        let in_document = location::of(&value, failure.value);
        let keyword = failure.keyword;
        let reason = format!(
            "The JSON document location '{in_document}' failed requirement '{keyword}' at JSON Schema location \
             '{in_schema}'"
        );
        let mut member = |name: &str, value: String| {
            members.push((name.as_bytes().to_vec(), Node::String(value.into_bytes())));
        };
        member("reason", reason);
        member("schema-location", in_schema);
        member("document-location", in_document);
        member("schema-failed-keyword", keyword.to_owned());
    }
    made(&Node::object(members), call.ctx)
}
