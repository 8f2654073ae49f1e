//! Functions that read documents.

use super::super::{Call, Function, bigint, integer, truth_value};
use super::argument::{check_type, document, document_for, made, path, scalar, single_path};
use super::result_type::{json, text_of_chars};
use crate::error::{Result, SqlError};
use crate::expr::documents::{damaged, too_deep};
use crate::expr::{Coercibility, Expr, is_text};
use types::collation::{BINARY, UTF8MB4_BIN};
use types::json::{self as documents, JsonError, Leg, Node, Path};
use types::like::like_while;
use types::{TypeCode, Value};

/// MariaDB's `JSON_VALID`, which checks the text of any value. Statements cannot write its name.
pub(crate) static MARIADB_JSON_VALID: Function =
    Function::new("json_valid of MariaDB", 1..=1, bigint, |call| {
        Ok(truth_value(documents::mariadb::is_valid(&call.bytes(0))))
    });

/// The most arguments of a call.
const MOST: usize = usize::MAX;

pub(in super::super) const FUNCTIONS: &[Function] = &[
    Function::new("json_valid", 1..=1, bigint, valid).sees_nulls(),
    Function::new("json_extract", 2..=MOST, json, extract).sees_nulls(),
    Function::new("json_length", 1..=2, bigint, length).sees_nulls(),
    Function::new("json_depth", 1..=1, bigint, |call| {
        Ok(document(call, 0)?.map_or(Value::Null, |node| Value::Int(node.depth() as i64)))
    })
    .sees_nulls(),
    Function::new("json_type", 1..=1, text_of_chars::<17>, |call| {
        Ok(document(call, 0)?.map_or(Value::Null, |node| Value::text(node.type_name())))
    })
    .sees_nulls(),
    Function::new("json_keys", 1..=2, json, keys).sees_nulls(),
    Function::new("json_contains", 2..=3, bigint, contains).sees_nulls(),
    Function::new("json_contains_path", 3..=MOST, bigint, contains_path).sees_nulls(),
    Function::new("json_overlaps", 2..=2, integer::<1>, |call| {
        let Some(a) = document(call, 0)? else { return Ok(Value::Null) };
        let Some(b) = document(call, 1)? else { return Ok(Value::Null) };
        documents::overlaps(&a, &b, &|| call.ctx.check_interrupt()).map(truth_value)
    })
    .sees_nulls(),
    Function::new("member of", 2..=2, integer::<1>, member_of).sees_nulls(),
    Function::new("json_search", 3..=MOST, json, search).sees_nulls(),
    Function::new("json_storage_size", 1..=1, bigint, |call| match (&*call.values[0], document(call, 0)?) {
        (_, None) => Ok(Value::Null),
        (Value::Json(bytes), _) => Ok(Value::Int(bytes.len() as i64)),
        (_, Some(node)) => {
            let written = documents::write_document(&node).ok_or_else(damaged)?;
            Ok(Value::Int(written.len() as i64))
        }
    })
    .sees_nulls(),
    // Documents are always written anew as a whole, so they contain no free space.
    Function::new("json_storage_free", 1..=1, bigint, |call| {
        Ok(document(call, 0)?.map_or(Value::Null, |_| Value::Int(0)))
    })
    .sees_nulls(),
];

fn valid(call: &Call<'_>) -> Result<Value> {
    if matches!(&*call.values[0], Value::Json(_)) {
        return Ok(truth_value(true));
    }
    let ty = &call.args[0].ty;
    // NULL of a type that no document is read from is no document.
    if call.values[0].is_null() && check_type(call, 0, call.name).is_ok() {
        return Ok(Value::Null);
    }
    let is_text = ty.is_character() && ty.collation != BINARY || ty.code == TypeCode::Null;
    if !is_text {
        return Ok(truth_value(false));
    }
    match documents::parse_text(&call.bytes(0)) {
        Ok(_) => Ok(truth_value(true)),
        Err(error) if error.complaint == JsonError::TOO_DEEP => Err(too_deep()),
        Err(_) => Ok(truth_value(false)),
    }
}

fn extract(call: &Call<'_>) -> Result<Value> {
    if let Some(found) = extract_one(call)? {
        return Ok(found);
    }
    let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
    let mut found = Vec::new();
    let mut is_list = call.values.len() > 2;
    for at in 1..call.values.len() {
        let Some(path) = path(call, at)? else { return Ok(Value::Null) };
        is_list |= path.may_mean_several();
        call.ctx.check_interrupt()?;
        found.extend(path.find(&node));
    }
    match (found.as_slice(), is_list) {
        ([], _) => Ok(Value::Null),
        ([one], false) => made(one, call.ctx),
        (several, _) => {
            call.ctx.charge_if_long(several.iter().map(|node| node.heap_bytes()).sum())?;
            made(&Node::Array(several.iter().map(|node| (*node).clone()).collect()), call.ctx)
        }
    }
}

/// Extracts by one path without wildcards from a document in binary form, of which it reads only
/// the value at the path. `None` means that the call is of another kind.
fn extract_one(call: &Call<'_>) -> Result<Option<Value>> {
    let (Value::Json(bytes), 2) = (&*call.values[0], call.values.len()) else { return Ok(None) };
    let Some(path) = path(call, 1)? else { return Ok(Some(Value::Null)) };
    if path.may_mean_several() {
        return Ok(None);
    }
    match documents::read_at(bytes, &path).ok_or_else(damaged)? {
        Some(node) => made(&node, call.ctx).map(Some),
        None => Ok(Some(Value::Null)),
    }
}

fn length(call: &Call<'_>) -> Result<Value> {
    if call.values.len() == 1 {
        return Ok(document(call, 0)?.map_or(Value::Null, |node| Value::Int(node.length() as i64)));
    }
    // With a path, MySQL computes the length of JSON_EXTRACT's result, whose name is in its
    // messages.
    let Some(node) = document_for(call, 0, "json_extract")? else { return Ok(Value::Null) };
    let Some(path) = path(call, 1)? else { return Ok(Value::Null) };
    let found = path.find(&node);
    // A path that may find several values has the length of their list.
    let length = if path.may_mean_several() { found.len() } else { found.first().map_or(0, |n| n.length()) };
    Ok(if found.is_empty() { Value::Null } else { Value::Int(length as i64) })
}

fn keys(call: &Call<'_>) -> Result<Value> {
    let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
    let path = match call.is_given(1) {
        true => single_path(call, 1)?,
        false => Some(Path::default()),
    };
    let Some(path) = path else { return Ok(Value::Null) };
    match found_in_arrays(&node, &path) {
        Some(Node::Object(members)) => {
            let names = members.iter().map(|(name, _)| Node::String(name.clone())).collect();
            made(&Node::Array(names), call.ctx)
        }
        _ => Ok(Value::Null),
    }
}

/// Returns the value that a path without wildcards leads to, as [`Path::find_one`] does, except
/// that only arrays have elements: elsewhere an object is also its own first element.
fn found_in_arrays<'n>(root: &'n Node, path: &Path) -> Option<&'n Node> {
    path.legs.iter().try_fold(root, |node, leg| match (node, leg) {
        (Node::Object(_), Leg::Member(name)) => node.member(name),
        (Node::Array(elements), Leg::Cell(cell)) => elements.get(cell.place(elements.len()).ok()?),
        _ => None,
    })
}

fn contains(call: &Call<'_>) -> Result<Value> {
    let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
    let Some(candidate) = document(call, 1)? else { return Ok(Value::Null) };
    let path = match call.is_given(2) {
        true => single_path(call, 2)?,
        false => Some(Path::default()),
    };
    let Some(path) = path else { return Ok(Value::Null) };
    let Some(target) = path.find_one(&node) else { return Ok(Value::Null) };
    documents::contains(target, &candidate, &|| call.ctx.check_interrupt()).map(truth_value)
}

/// Reads the argument `one` or `all` and returns whether it is `one`. `None` means NULL.
///
/// # Errors
/// Returns 3154 for any other text.
fn is_one(call: &Call<'_>, at: usize) -> Result<Option<bool>> {
    if call.values[at].is_null() {
        return Ok(None);
    }
    match call.bytes(at).to_ascii_lowercase().as_slice() {
        b"one" => Ok(Some(true)),
        b"all" => Ok(Some(false)),
        _ => Err(SqlError::new(
            3154,
            format!("The oneOrAll argument to {} may take these values: 'one' or 'all'.", call.name),
        )),
    }
}

fn contains_path(call: &Call<'_>) -> Result<Value> {
    let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
    let Some(one) = is_one(call, 1)? else { return Ok(Value::Null) };
    for at in 2..call.values.len() {
        let Some(path) = path(call, at)? else { return Ok(Value::Null) };
        call.ctx.check_interrupt()?;
        if path.find(&node).is_empty() != one {
            return Ok(truth_value(one));
        }
    }
    Ok(truth_value(!one))
}

fn member_of(call: &Call<'_>) -> Result<Value> {
    if call.values[0].is_null() {
        return Ok(Value::Null);
    }
    let Some(node) = document(call, 1)? else { return Ok(Value::Null) };
    let wanted = scalar(call, 0)?;
    let is = |element: &Node| element.compare(&wanted).is_eq();
    Ok(truth_value(match &*node {
        Node::Array(elements) => elements.iter().any(is),
        node => is(node),
    }))
}

/// JSON_SEARCH's pattern, and the paths at which it has been found.
struct Search<'c> {
    call: &'c Call<'c>,
    pattern: Vec<u8>,
    collation: u16,
    escape: Option<u8>,
    one: bool,
    found: Vec<Vec<u8>>,
}

impl Search<'_> {
    /// Searches a value and returns whether the whole search is done. The recursion is as deep as
    /// the document.
    fn visit(&mut self, node: &Node, at: &mut Vec<u8>) -> Result<bool> {
        let len = at.len();
        match node {
            Node::String(text) => {
                let goes_on = || self.call.ctx.check_interrupt();
                let matches = like_while(text, &self.pattern, self.escape, self.collation, goes_on)?;
                if matches && !self.found.contains(at) {
                    self.call.check_room(at.len())?;
                    self.found.push(at.clone());
                }
                return Ok(matches && self.one);
            }
            Node::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    at.extend_from_slice(format!("[{index}]").as_bytes());
                    let done = self.visit(element, at)?;
                    at.truncate(len);
                    if done {
                        return Ok(true);
                    }
                }
            }
            Node::Object(members) => {
                for (name, value) in members {
                    documents::write_leg(&Leg::Member(name.clone()), at);
                    let done = self.visit(value, at)?;
                    at.truncate(len);
                    if done {
                        return Ok(true);
                    }
                }
            }
            _ => {}
        }
        Ok(false)
    }
}

/// Returns the escape character of JSON_SEARCH, which is `\` unless an argument says otherwise.
fn escape_of(call: &Call<'_>) -> Result<Option<u8>> {
    if !call.is_given(3) || call.values[3].is_null() {
        return Ok(Some(b'\\'));
    }
    match *call.bytes(3) {
        [] => Ok(Some(b'\\')),
        [escape] => Ok(Some(escape)),
        _ => Err(SqlError::new(1210, "Incorrect arguments to ESCAPE")),
    }
}

/// Returns the collation in which JSON_SEARCH compares: that of a pattern which has its own, as a
/// column and a variable do. The texts of documents are binary beside literals.
fn collation_of_search(pattern: &Expr) -> u16 {
    let has_own = pattern.coercibility < Coercibility::Literal;
    let is_of_characters = is_text(&pattern.ty) && pattern.ty.collation != BINARY;
    if has_own && is_of_characters { pattern.ty.collation } else { UTF8MB4_BIN }
}

fn search(call: &Call<'_>) -> Result<Value> {
    let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
    let Some(one) = is_one(call, 1)? else { return Ok(Value::Null) };
    let escape = escape_of(call)?;
    if call.values[2].is_null() {
        return Ok(Value::Null);
    }
    let mut paths = Vec::new();
    for at in 4..call.values.len() {
        let Some(path) = path(call, at)? else { return Ok(Value::Null) };
        paths.push(path);
    }
    if paths.is_empty() {
        paths.push(Path::default());
    }
    let pattern = call.bytes(2).into_owned();
    let collation = collation_of_search(&call.args[2]);
    let mut search = Search { call, pattern, collation, escape, one, found: Vec::new() };
    for path in &paths {
        let mut done = false;
        for (mut at, node) in path.places(&node) {
            done = search.visit(node, &mut at)?;
            if done {
                break;
            }
        }
        if done {
            break;
        }
    }
    let mut found: Vec<Node> = search.found.into_iter().map(Node::String).collect();
    match found.len() {
        0 => Ok(Value::Null),
        1 => made(&found.swap_remove(0), call.ctx),
        _ => made(&Node::Array(found), call.ctx),
    }
}
