//! Evaluates XPath expressions in a document.

use super::super::Call;
use super::document::{Document, Kind};
use super::query::{Origin, Path, Query, Xpath};
use super::steps::{Place, distinct, follow, numbered};
use crate::ast::BinaryOp;
use crate::error::Result;
use crate::expr::arithmetic::{binary, double_of, number_in};
use crate::expr::{cast, compare, text_of};
use std::cmp::Ordering;
use types::{ColumnType, Value, collation};

/// The value of an expression.
pub(super) enum Found {
    Nodes(Vec<Place>),
    Truth(bool),
    /// A number, a text or NULL.
    Scalar(Value),
}

pub(super) struct Evaluation<'d, 't> {
    document: &'d Document<'t>,
    call: &'d Call<'d>,
    /// The collation in which texts are compared.
    collation: u16,
}

impl<'d, 't> Evaluation<'d, 't> {
    pub fn new(document: &'d Document<'t>, call: &'d Call<'d>) -> Evaluation<'d, 't> {
        let ty = &call.args[0].ty;
        let collation = if ty.is_character() { ty.collation } else { collation::UTF8MB4_0900_AI_CI };
        Evaluation { document, call, collation }
    }

    /// Returns the value of the whole expression.
    ///
    /// # Errors
    /// Returns 1317 when the statement is interrupted, and the errors of arithmetic and of charging
    /// memory.
    pub fn value(&self, query: &Query) -> Result<Found> {
        self.at(query, Place { node: 0, position: 1, size: 1 })
    }

    /// Returns the nodes that an expression finds. `None` means that its value is of another kind.
    ///
    /// # Errors
    /// Returns the errors of [`Evaluation::value`].
    pub fn nodes(&self, query: &Query) -> Result<Option<Vec<usize>>> {
        match self.value(query)? {
            Found::Nodes(places) => Ok(Some(
                distinct(places.iter().map(|place| place.node)).iter().map(|place| place.node).collect(),
            )),
            _ => Ok(None),
        }
    }

    /// Returns a value as the text that is the result of EXTRACTVALUE().
    ///
    /// # Errors
    /// Returns the errors of charging memory.
    pub fn text(&self, found: Found) -> Result<Value> {
        Ok(match found {
            Found::Scalar(Value::Null) => Value::Null,
            found => Value::Bytes(text_of(&self.scalar(found)?).into_owned()),
        })
    }

    fn at(&self, query: &Query, here: Place) -> Result<Found> {
        self.call.ctx.check_interrupt()?;
        let operands = |operands: &[Query; 2]| -> Result<[Found; 2]> {
            Ok([self.at(&operands[0], here)?, self.at(&operands[1], here)?])
        };
        Ok(match query {
            Query::Constant(value) => Found::Scalar(self.call.ctx.copied(value)?),
            Query::UserVariable(name) => {
                // The value may be as long as a packet, and the expression may name the variable
                // often.
                let value = self.call.ctx.user_variables.value(name);
                self.call.check_room(text_of(&value).len())?;
                Found::Scalar(value)
            }
            Query::Or(sides) => {
                let first = self.at(&sides[0], here)?;
                Found::Truth(
                    self.truth(first)? || {
                        let second = self.at(&sides[1], here)?;
                        self.truth(second)?
                    },
                )
            }
            Query::And(sides) => {
                let first = self.at(&sides[0], here)?;
                Found::Truth(
                    self.truth(first)? && {
                        let second = self.at(&sides[1], here)?;
                        self.truth(second)?
                    },
                )
            }
            Query::Compare(op, sides) => {
                let [left, right] = operands(sides)?;
                Found::Truth(self.compared(*op, left, right)?)
            }
            Query::Arithmetic(op, sides) => {
                let [left, right] = operands(sides)?;
                let (left, right) = (self.scalar(left)?, self.scalar(right)?);
                Found::Scalar(binary(*op, &self.numeric(left), &self.numeric(right), self.call.ctx)?)
            }
            Query::Negate(operand) => {
                let operand = self.at(operand, here)?;
                let operand = self.numeric_of(operand)?;
                Found::Scalar(binary(BinaryOp::Subtract, &Value::Int(0), &operand, self.call.ctx)?)
            }
            Query::Union(sides) => match operands(sides)? {
                [Found::Nodes(left), Found::Nodes(right)] => {
                    Found::Nodes(distinct(left.iter().chain(&right).map(|place| place.node)))
                }
                [left, _] => left,
            },
            Query::Path(path) => Found::Nodes(self.path(path, here)?),
            Query::Call(function, args) => self.function(*function, args, here)?,
        })
    }

    fn path(&self, path: &Path, here: Place) -> Result<Vec<Place>> {
        let mut places = match &path.origin {
            Origin::Root => vec![Place { node: 0, position: 1, size: 1 }],
            Origin::Here => vec![here],
            Origin::Of(query) => match self.at(query, here)? {
                Found::Nodes(places) => places,
                _ => Vec::new(),
            },
        };
        for step in &path.steps {
            self.call.ctx.check_interrupt()?;
            places = follow(self.document, &places, step);
            self.call.check_room(places.len() * size_of::<Place>())?;
            for predicate in &step.predicates {
                let mut kept = Vec::new();
                for place in places {
                    if self.holds(predicate, place)? {
                        kept.push(place.node);
                    }
                }
                places = numbered(kept.into_iter());
            }
        }
        Ok(places)
    }

    /// Reports whether a predicate accepts a place. A number accepts the place with that position.
    fn holds(&self, predicate: &Query, place: Place) -> Result<bool> {
        Ok(match self.at(predicate, place)? {
            Found::Nodes(found) => !found.is_empty(),
            Found::Truth(truth) => truth,
            Found::Scalar(value) => {
                let wanted = cast(&value, &ColumnType::bigint(false), self.call.ctx)?;
                matches!(wanted, Value::Int(wanted) if usize::try_from(wanted) == Ok(place.position))
            }
        })
    }

    /// Returns the texts directly within nodes, in the order of the document.
    fn texts(&self, places: &[Place]) -> impl Iterator<Item = &'t [u8]> {
        let mut is_found = vec![false; self.document.nodes.len()];
        places.iter().for_each(|place| is_found[place.node] = true);
        let nodes = self.document.nodes.iter();
        nodes.filter(move |node| node.kind == Kind::Text && is_found[node.parent]).map(|node| node.text)
    }

    /// Returns the characters directly within nodes, separated by blanks.
    fn characters(&self, places: &[Place]) -> Result<Vec<u8>> {
        let texts: Vec<&[u8]> = self.texts(places).collect();
        self.call.check_room(texts.iter().map(|text| text.len() + 1).sum())?;
        Ok(texts.join(&b' '))
    }

    fn scalar(&self, found: Found) -> Result<Value> {
        Ok(match found {
            Found::Nodes(places) => Value::Bytes(self.characters(&places)?),
            Found::Truth(truth) => Value::Int(i64::from(truth)),
            Found::Scalar(value) => value,
        })
    }

    /// Converts a text to the number that it begins with.
    fn numeric(&self, value: Value) -> Value {
        match value {
            Value::Bytes(_) => Value::Double(double_of(&number_in(&value, self.call.ctx))),
            value => value,
        }
    }

    fn numeric_of(&self, found: Found) -> Result<Value> {
        let value = self.scalar(found)?;
        Ok(self.numeric(value))
    }

    fn double(&self, found: Found) -> Result<f64> {
        Ok(double_of(&number_in(&self.scalar(found)?, self.call.ctx)))
    }

    fn truth(&self, found: Found) -> Result<bool> {
        Ok(match found {
            Found::Nodes(places) => !places.is_empty(),
            Found::Truth(truth) => truth,
            found => self.double(found)? != 0.0,
        })
    }

    /// Compares two values. A comparison with nodes is true if it is true for one of their texts.
    fn compared(&self, op: BinaryOp, left: Found, right: Found) -> Result<bool> {
        match (left, right) {
            (Found::Nodes(places), other) => self.some_compares(op, &places, &self.scalar(other)?, false),
            (other, Found::Nodes(places)) => self.some_compares(op, &places, &self.scalar(other)?, true),
            (left, right) => self.compares(op, &self.scalar(left)?, &self.scalar(right)?),
        }
    }

    fn some_compares(&self, op: BinaryOp, places: &[Place], value: &Value, swapped: bool) -> Result<bool> {
        for text in self.texts(places) {
            let text = Value::text(&String::from_utf8_lossy(text));
            let (left, right) = if swapped { (value, &text) } else { (&text, value) };
            if self.compares(op, left, right)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn compares(&self, op: BinaryOp, left: &Value, right: &Value) -> Result<bool> {
        let Some(ordering) = compare(left, right, self.collation, self.call.ctx)? else { return Ok(false) };
        Ok(match op {
            BinaryOp::Equal => ordering == Ordering::Equal,
            BinaryOp::NotEqual => ordering != Ordering::Equal,
            BinaryOp::Less => ordering == Ordering::Less,
            BinaryOp::LessEqual => ordering != Ordering::Greater,
            BinaryOp::Greater => ordering == Ordering::Greater,
            _ => ordering != Ordering::Less,
        })
    }

    fn function(&self, function: Xpath, args: &[Query], here: Place) -> Result<Found> {
        let mut given = Vec::with_capacity(args.len());
        for arg in args {
            given.push(self.at(arg, here)?);
        }
        let mut given = given.into_iter();
        let mut next = || given.next().unwrap_or(Found::Nodes(vec![here]));
        let number = |number: f64| Found::Scalar(Value::Double(number));
        Ok(match function {
            Xpath::True => Found::Truth(true),
            Xpath::False => Found::Truth(false),
            Xpath::Not => Found::Truth(!self.truth(next())?),
            Xpath::Boolean => Found::Truth(self.truth(next())?),
            Xpath::Last => Found::Scalar(Value::Int(here.size as i64)),
            Xpath::Position => Found::Scalar(Value::Int(here.position as i64)),
            Xpath::Count => match next() {
                Found::Nodes(places) => Found::Scalar(Value::Int(places.len() as i64)),
                _ => Found::Scalar(Value::Int(0)),
            },
            Xpath::Sum => number(self.sum(next())?),
            Xpath::Floor => number(self.double(next())?.floor()),
            Xpath::Ceiling => number(self.double(next())?.ceil()),
            Xpath::Round => number(self.double(next())?.round()),
            Xpath::Number => Found::Scalar(self.numeric_of(next())?),
            Xpath::Concat => {
                // MySQL ignores the arguments after the second.
                let (left, right) = (self.scalar(next())?, self.scalar(next())?);
                let (left, right) = (text_of(&left), text_of(&right));
                self.call.check_room(left.len() + right.len())?;
                Found::Scalar(Value::Bytes([&*left, &*right].concat()))
            }
            Xpath::Contains => {
                let (whole, part) = (self.characters_of(next())?, self.characters_of(next())?);
                let [whole, part] = [whole, part].map(|text| collation::lower(self.collation, &text));
                Found::Truth(whole.contains(&part))
            }
            Xpath::Substring => {
                let text = self.characters_of(next())?;
                let from = self.double(next())?.round();
                let count = if args.len() > 2 { self.double(next())?.round() } else { f64::MAX };
                // A start that is no number, or is below 1, yields an empty text.
                let skipped = if from >= 1.0 { from as usize - 1 } else { text.len() };
                let part: String = text.chars().skip(skipped).take(count.max(0.0) as usize).collect();
                Found::Scalar(Value::text(&part))
            }
            Xpath::StringLength => {
                Found::Scalar(Value::Int(self.characters_of(next())?.chars().count() as i64))
            }
        })
    }

    fn characters_of(&self, found: Found) -> Result<String> {
        let value = self.scalar(found)?;
        let text = text_of(&value);
        self.call.check_room(text.len())?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Returns the sum of the nodes' texts as numbers.
    fn sum(&self, found: Found) -> Result<f64> {
        let Found::Nodes(places) = found else { return Ok(0.0) };
        let number =
            |text: &[u8]| double_of(&number_in(&Value::text(&String::from_utf8_lossy(text)), self.call.ctx));
        Ok(self.texts(&places).fold(0.0, |sum, text| sum + number(text)))
    }
}
