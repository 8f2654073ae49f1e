//! Validates a document against a schema. The first failure is the one that MySQL finds, which
//! reads the document from its beginning to its end: the requirements on a value as a whole come
//! after those on its members.

use super::super::super::Call;
use super::number::Number;
use super::reference::resolved;
use crate::error::{Result, SqlError};
use crate::regexp::{Flags, Limits};
use std::collections::HashSet;
use types::json::{self, Node};

/// A requirement of a schema that a value does not meet.
pub(super) struct Failure<'n> {
    pub keyword: &'static str,
    /// The schema with the requirement. `None` stands for a schema that MySQL makes itself.
    pub schema: Option<&'n Node>,
    pub value: &'n Node,
}

/// The reason why a validation has stopped.
enum Stop<'n> {
    Failed(Failure<'n>),
    Error(SqlError),
}

impl From<SqlError> for Stop<'_> {
    fn from(error: SqlError) -> Self {
        Stop::Error(error)
    }
}

type Checked<'n> = std::result::Result<(), Stop<'n>>;

/// Returns the first requirement that a document does not meet, or `None` for a valid document.
///
/// # Errors
/// Returns 1317 when the statement is interrupted, and the errors of matching a pattern that takes
/// too much memory or time.
pub(super) fn first_failure<'n>(
    root: &'n Node,
    value: &'n Node,
    call: &Call<'_>,
) -> Result<Option<Failure<'n>>> {
    match (Validation { root, call }).value(resolved(root, root), value) {
        Ok(()) => Ok(None),
        Err(Stop::Failed(failure)) => Ok(Some(failure)),
        Err(Stop::Error(error)) => Err(error),
    }
}

struct Validation<'n, 'c> {
    root: &'n Node,
    call: &'c Call<'c>,
}

/// Returns a failure unless the condition holds.
fn need<'n>(holds: bool, keyword: &'static str, schema: &'n Node, value: &'n Node) -> Checked<'n> {
    if holds { Ok(()) } else { Err(Stop::Failed(Failure { keyword, schema: Some(schema), value })) }
}

/// Returns the value of a keyword that is a number of something.
fn count_of(schema: &Node, keyword: &str) -> Option<usize> {
    let count = match schema.member(keyword.as_bytes())? {
        Node::Int(count) => u32::try_from(*count).ok(),
        Node::UInt(count) => u32::try_from(*count).ok(),
        _ => None,
    };
    count.map(|count| count as usize)
}

fn is_true(schema: &Node, keyword: &str) -> bool {
    matches!(schema.member(keyword.as_bytes()), Some(Node::Bool(true)))
}

/// Returns the elements of a keyword whose value is a list.
fn list_of<'n>(schema: &'n Node, keyword: &str) -> &'n [Node] {
    match schema.member(keyword.as_bytes()) {
        Some(Node::Array(elements)) => elements,
        _ => &[],
    }
}

fn members_of<'n>(schema: &'n Node, keyword: &str) -> &'n [(Vec<u8>, Node)] {
    match schema.member(keyword.as_bytes()) {
        Some(Node::Object(members)) => members,
        _ => &[],
    }
}

impl<'n> Validation<'n, '_> {
    /// Checks a value. The recursion is as deep as the document and, for each value of the
    /// document, as the schema.
    fn value(&self, schema: Option<&'n Node>, value: &'n Node) -> Checked<'n> {
        let Some(schema) = schema else { return Ok(()) };
        self.call.ctx.check_interrupt()?;
        need(has_type(schema, value), "type", schema, value)?;
        match value {
            Node::Array(elements) => self.array(schema, value, elements)?,
            Node::Object(members) => self.object(schema, value, members)?,
            Node::String(text) => self.string(schema, value, text)?,
            value => match Number::of(value) {
                Some(number) => numeric(schema, value, number)?,
                None if matches!(value, Node::Opaque(..)) => {
                    let mut text = Vec::new();
                    json::write_unquoted(value, &mut text);
                    self.string(schema, value, &text)?;
                }
                None => {}
            },
        }
        self.combined(schema, value)
    }

    fn is_valid(&self, schema: Option<&'n Node>, value: &'n Node) -> Result<bool> {
        match self.value(schema, value) {
            Ok(()) => Ok(true),
            Err(Stop::Failed(_)) => Ok(false),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    fn resolved(&self, value: &'n Node) -> Option<&'n Node> {
        resolved(self.root, value)
    }

    /// Returns the schema that is a keyword's value. The outer `None` means that the value is no
    /// schema, the inner one that the schema requires nothing.
    fn schema_of(&self, schema: &'n Node, keyword: &str) -> Option<Option<&'n Node>> {
        let written = schema.member(keyword.as_bytes())?;
        matches!(written, Node::Object(_)).then(|| self.resolved(written))
    }

    fn string(&self, schema: &'n Node, value: &'n Node, text: &[u8]) -> Checked<'n> {
        let (least, most) = (count_of(schema, "minLength"), count_of(schema, "maxLength"));
        if least.is_some() || most.is_some() {
            let chars = types::collation::char_count(types::collation::UTF8MB4_BIN, text);
            need(least.is_none_or(|least| chars >= least), "minLength", schema, value)?;
            need(most.is_none_or(|most| chars <= most), "maxLength", schema, value)?;
        }
        match schema.member(b"pattern") {
            Some(Node::String(pattern)) => {
                // An invalid pattern requires nothing.
                let matches = self.matches(pattern, text)?.unwrap_or(true);
                need(matches, "pattern", schema, value)
            }
            _ => Ok(()),
        }
    }

    /// Reports whether a pattern is found in a text. The characters of both are their bytes. `None`
    /// means that the pattern is invalid.
    fn matches(&self, pattern: &[u8], text: &[u8]) -> Result<Option<bool>> {
        let characters = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
        let ctx = self.call.ctx;
        let limits = || Ok(Limits::default());
        let compiled = ctx.regexps.pattern(&characters(pattern), Flags::default(), ctx.memory, limits);
        match compiled {
            Ok(pattern) => Ok(Some(pattern.is_match(&characters(text))?)),
            Err(_) => Ok(None),
        }
    }

    fn array(&self, schema: &'n Node, value: &'n Node, elements: &'n [Node]) -> Checked<'n> {
        let all = self.schema_of(schema, "items");
        let tuple = match schema.member(b"items") {
            Some(Node::Array(tuple)) => Some(tuple.as_slice()),
            _ => None,
        };
        let is_unique = is_true(schema, "uniqueItems");
        let mut seen = HashSet::new();
        for (at, element) in elements.iter().enumerate() {
            let of_element = match (all, tuple) {
                (Some(all), _) => all,
                (None, Some(tuple)) if at < tuple.len() => self.resolved(&tuple[at]),
                (None, Some(_)) => match self.schema_of(schema, "additionalItems") {
                    Some(additional) => additional,
                    None => {
                        let forbidden = matches!(schema.member(b"additionalItems"), Some(Node::Bool(false)));
                        need(!forbidden, "additionalItems", schema, element)?;
                        None
                    }
                },
                (None, None) => None,
            };
            self.value(of_element, element)?;
            if is_unique {
                let mut key = Vec::new();
                element.write_key(&mut key);
                self.call.ctx.charge_if_long(key.len())?;
                need(seen.insert(key), "uniqueItems", schema, element)?;
            }
        }
        let least = count_of(schema, "minItems").unwrap_or(0);
        need(elements.len() >= least, "minItems", schema, value)?;
        let most = count_of(schema, "maxItems");
        need(most.is_none_or(|most| elements.len() <= most), "maxItems", schema, value)
    }

    fn object(&self, schema: &'n Node, value: &'n Node, members: &'n [(Vec<u8>, Node)]) -> Checked<'n> {
        for (name, member) in members {
            self.member(schema, name, member)?;
        }
        for required in list_of(schema, "required") {
            if let Node::String(name) = required {
                let is_there = value.member(name).is_some() || self.has_default(schema, name);
                need(is_there, "required", schema, value)?;
            }
        }
        let least = count_of(schema, "minProperties").unwrap_or(0);
        need(members.len() >= least, "minProperties", schema, value)?;
        let most = count_of(schema, "maxProperties");
        need(most.is_none_or(|most| members.len() <= most), "maxProperties", schema, value)?;
        for (name, wanted) in members_of(schema, "dependencies") {
            if value.member(name).is_some() {
                need(self.has_dependency(wanted, value)?, "dependencies", schema, value)?;
            }
        }
        Ok(())
    }

    /// Reports whether an object meets the requirements that one of its members brings along.
    fn has_dependency(&self, wanted: &'n Node, value: &'n Node) -> Result<bool> {
        match wanted {
            Node::Array(names) => Ok(names.iter().all(|name| match name {
                Node::String(name) => value.member(name).is_some(),
                _ => true,
            })),
            wanted => self.is_valid(self.resolved(wanted), value),
        }
    }

    /// Reports whether a property has a non-empty text as its default, which takes the place of a
    /// missing member.
    fn has_default(&self, schema: &'n Node, name: &[u8]) -> bool {
        let property = schema.member(b"properties").and_then(|properties| properties.member(name));
        let default = property.and_then(|property| self.resolved(property)?.member(b"default"));
        matches!(default, Some(Node::String(text)) if !text.is_empty())
    }

    fn member(&self, schema: &'n Node, name: &[u8], value: &'n Node) -> Checked<'n> {
        let mut patterns = Vec::new();
        for (pattern, of_pattern) in members_of(schema, "patternProperties") {
            if self.matches(pattern, name)? == Some(true) {
                patterns.push(self.resolved(of_pattern));
            }
        }
        let property = schema.member(b"properties").and_then(|properties| properties.member(name));
        let is_property = property.is_some() || names_property(schema, name);
        let additional = self.schema_of(schema, "additionalProperties");
        let own = match property {
            Some(property) => self.resolved(property),
            None if is_property => None,
            None => additional.flatten(),
        };
        if patterns.is_empty() {
            let forbidden = matches!(schema.member(b"additionalProperties"), Some(Node::Bool(false)));
            if forbidden && !is_property {
                return need(false, "additionalProperties", schema, value);
            }
            return self.value(own, value);
        }
        let mut fits = true;
        for pattern in patterns {
            fits = fits && self.is_valid(pattern, value)?;
        }
        fits = match (is_property, additional) {
            (true, _) => fits && self.is_valid(own, value)?,
            // It suffices that the value fits the schema for additional properties.
            (false, Some(additional)) => fits || self.is_valid(additional, value)?,
            (false, None) => fits,
        };
        if fits {
            return Ok(());
        }
        Err(Stop::Failed(Failure { keyword: "patternProperties", schema: None, value }))
    }

    /// Checks the requirements that are stated in terms of other values and schemas.
    fn combined(&self, schema: &'n Node, value: &'n Node) -> Checked<'n> {
        let choices = list_of(schema, "enum");
        if !choices.is_empty() {
            need(choices.iter().any(|choice| is_equal(choice, value)), "enum", schema, value)?;
        }
        for part in list_of(schema, "allOf") {
            need(self.is_valid(self.resolved(part), value)?, "allOf", schema, value)?;
        }
        let parts = list_of(schema, "anyOf");
        if !parts.is_empty() {
            need(self.valid_parts(parts, value, 1)? > 0, "anyOf", schema, value)?;
        }
        let parts = list_of(schema, "oneOf");
        if !parts.is_empty() {
            need(self.valid_parts(parts, value, 2)? == 1, "oneOf", schema, value)?;
        }
        match schema.member(b"not") {
            Some(not) => need(!self.is_valid(self.resolved(not), value)?, "not", schema, value),
            None => Ok(()),
        }
    }

    /// Counts the schemas of the list that the value is valid for, up to `most`.
    fn valid_parts(&self, parts: &'n [Node], value: &'n Node, most: usize) -> Result<usize> {
        let mut count = 0;
        for part in parts {
            if count < most && self.is_valid(self.resolved(part), value)? {
                count += 1;
            }
        }
        Ok(count)
    }
}

/// Reports whether a schema names a member outside of its properties. Such a member is no
/// additional property.
fn names_property(schema: &Node, name: &[u8]) -> bool {
    let is = |node: &Node| matches!(node, Node::String(text) if text == name);
    list_of(schema, "required").iter().any(is)
        || members_of(schema, "dependencies").iter().any(|(source, wanted)| {
            source == name || matches!(wanted, Node::Array(names) if names.iter().any(is))
        })
}

fn has_type(schema: &Node, value: &Node) -> bool {
    let is = |ty: &Node| match (ty, value) {
        (Node::String(ty), value) => match (ty.as_slice(), value) {
            (b"null", Node::Null)
            | (b"boolean", Node::Bool(_))
            | (b"array", Node::Array(_))
            | (b"object", Node::Object(_))
            | (b"string", Node::String(_)) => true,
            (b"number", value) => Number::of(value).is_some(),
            (b"integer", value) => matches!(Number::of(value), Some(Number::Whole(_))),
            (b"string", value @ Node::Opaque(..)) => Number::of(value).is_none(),
            _ => false,
        },
        _ => false,
    };
    match schema.member(b"type") {
        None => true,
        Some(Node::Array(types)) => types.iter().any(is),
        Some(ty) => is(ty),
    }
}

fn numeric<'n>(schema: &'n Node, value: &'n Node, number: Number) -> Checked<'n> {
    let of = |keyword: &str| schema.member(keyword.as_bytes()).and_then(Number::of);
    if let Some(least) = of("minimum") {
        let is_out = is_true(schema, "exclusiveMinimum") && number.is_same(least);
        need(!is_out && !number.is_less(least), "minimum", schema, value)?;
    }
    if let Some(most) = of("maximum") {
        let is_out = is_true(schema, "exclusiveMaximum") && number.is_same(most);
        need(!is_out && !most.is_less(number), "maximum", schema, value)?;
    }
    match of("multipleOf").filter(|factor| factor.double() > 0.0) {
        Some(factor) => need(number.is_multiple_of(factor), "multipleOf", schema, value),
        None => Ok(()),
    }
}

/// Reports whether two values are equal. Numbers are compared as numbers.
fn is_equal(a: &Node, b: &Node) -> bool {
    match (Number::of(a), Number::of(b)) {
        (Some(a), Some(b)) => a.is_same(b),
        (None, None) => a.compare(b).is_eq(),
        _ => false,
    }
}
