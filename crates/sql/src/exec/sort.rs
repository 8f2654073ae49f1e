//! ORDER BY of rows that do not come in order.
//!
//! Beside each item stands a number that orders as its first key does as far as it goes, so that
//! few keys are compared.

use crate::error::Result;
use crate::expr::{Context, Expr, Node, scratch_bytes, sort_by, sort_compare};
use crate::memory::{Charge, growth, row_bytes};
use crate::plan::SortKey;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use types::{Value, collation};

/// Items with their sort keys. With a limit, no more than a few times that many are kept.
pub(super) struct Sorter<'p, T> {
    keys: &'p [SortKey],
    /// For each key, which of an item's values it is.
    places: Vec<usize>,
    /// The expressions of the values behind those that the caller brings.
    own: Vec<&'p Expr>,
    rows: Vec<Keyed<T>>,
    /// The kind of value that the first key has in all items that are not NULL there.
    kind: Option<Discriminant<Value>>,
    /// Every item has its prefix.
    has_prefixes: bool,
    /// Rows that will be asked for.
    wanted: Option<usize>,
    /// Of the rows and their places. What an item brings beside its values is its owner's affair.
    charge: Charge,
}

/// An item, with the values that it brought and the further keys behind them.
struct Keyed<T> {
    prefix: u64,
    values: Vec<Value>,
    item: T,
}

/// So many keys are looked for one by one.
const FEW_KEYS: usize = 8;

/// What an item's values take: they have room for more than there are.
fn kept_bytes(values: &Vec<Value>) -> usize {
    row_bytes(values) + (values.capacity() - values.len()) * size_of::<Value>()
}

/// A number for a key that orders as [`sort_compare`] does among values of one kind, as far as it
/// goes; NULL comes first.
fn prefix_of(value: &Value, collation_id: u16) -> Option<u64> {
    match value {
        Value::Null => Some(0),
        Value::Int(n) => Some((*n as u64) ^ 1 << 63),
        Value::UInt(n) => Some(*n),
        Value::Bytes(bytes) => collation::order_prefix(collation_id, bytes),
        _ => None,
    }
}

impl<'p, T> Sorter<'p, T> {
    /// A sorter of items that bring no values.
    pub fn new(keys: &'p [SortKey], wanted: Option<u64>, charge: Charge) -> Sorter<'p, T> {
        Sorter::with_values(keys, &[], wanted, charge)
    }

    /// A sorter of items that bring the values of `outputs`. A key that is one of them is not kept
    /// twice.
    pub fn with_values(
        keys: &'p [SortKey],
        outputs: &[Expr],
        wanted: Option<u64>,
        charge: Charge,
    ) -> Sorter<'p, T> {
        let mut own = Vec::new();
        let slot = |expr: &Expr| if let Node::Slot(slot) = expr.node { Some(slot) } else { None };
        // Of many keys each is looked up: both lists are as long as a text can make them.
        let by_slot: Option<HashMap<usize, usize>> = (keys.len() > FEW_KEYS).then(|| {
            let slots = outputs.iter().enumerate().rev();
            slots.filter_map(|(at, output)| slot(output).map(|slot| (slot, at))).collect()
        });
        let place = |key: &'p SortKey| {
            let found = slot(&key.expr).and_then(|wanted| match &by_slot {
                Some(by_slot) => by_slot.get(&wanted).copied(),
                None => outputs.iter().position(|output| slot(output) == Some(wanted)),
            });
            found.unwrap_or_else(|| {
                own.push(&key.expr);
                outputs.len() + own.len() - 1
            })
        };
        let places = keys.iter().map(place).collect();
        let wanted = wanted.and_then(|wanted| usize::try_from(wanted).ok());
        Sorter {
            keys,
            places,
            own,
            rows: Vec::new(),
            kind: None,
            has_prefixes: !keys.is_empty(),
            wanted,
            charge,
        }
    }

    /// Appends to an item's values the keys that are not among them; computed from `row`.
    pub fn add_keys(&self, row: &[Value], values: &mut Vec<Value>, ctx: &Context<'_>) -> Result<()> {
        for expr in &self.own {
            values.push(ctx.owned(expr.eval(row, ctx)?)?);
        }
        Ok(())
    }

    /// Takes an item with its values and keys, see [`Sorter::add_keys`].
    pub fn push(&mut self, values: Vec<Value>, item: T, ctx: &Context<'_>) -> Result<()> {
        let prefix = self.prefix(&values);
        self.charge.add(kept_bytes(&values))?;
        growth::push(&mut self.rows, Keyed { prefix, values, item }, &mut self.charge)?;
        if let Some(wanted) = self.wanted
            && self.rows.len() >= wanted.saturating_mul(4).saturating_add(1024)
        {
            self.sort(ctx)?;
            self.rows.truncate(wanted);
            self.charge.clear();
            self.charge.add(self.rows.capacity() * size_of::<Keyed<T>>())?;
            self.rows.iter().try_for_each(|row| self.charge.add(kept_bytes(&row.values)))?;
        }
        Ok(())
    }

    /// Takes an item that brings no values; the keys are computed from `row`.
    pub fn push_row(&mut self, row: &[Value], item: T, ctx: &Context<'_>) -> Result<()> {
        let mut values = Vec::with_capacity(self.own.len());
        self.add_keys(row, &mut values, ctx)?;
        self.push(values, item, ctx)
    }

    /// The prefix of an item with these values; notes when there is none, or none that compares
    /// with those before.
    fn prefix(&mut self, values: &[Value]) -> u64 {
        if !self.has_prefixes {
            return 0;
        }
        let (key, value) = (&self.keys[0], &values[self.places[0]]);
        let kind = discriminant(value);
        self.has_prefixes = value.is_null() || *self.kind.get_or_insert(kind) == kind;
        let prefix = prefix_of(value, key.expr.ty.collation).unwrap_or_else(|| {
            self.has_prefixes = false;
            0
        });
        if key.descending { !prefix } else { prefix }
    }

    fn sort(&mut self, ctx: &Context<'_>) -> Result<()> {
        let (keys, places, has_prefixes) = (self.keys, &self.places, self.has_prefixes);
        let by_keys = |a: &[Value], b: &[Value]| {
            for (key, place) in keys.iter().zip(places) {
                match sort_compare(&a[*place], &b[*place], key.expr.ty.collation, ctx)? {
                    Ordering::Equal => {}
                    ordering => return Ok(if key.descending { ordering.reverse() } else { ordering }),
                }
            }
            Ok(Ordering::Equal)
        };
        let scratch = scratch_bytes(&self.rows);
        self.charge.add(scratch)?;
        // Stable: rows that are equal keep the order in which they came.
        let sorted = sort_by(
            &mut self.rows,
            || ctx.check_interrupt(),
            |a, b| {
                if has_prefixes && a.prefix != b.prefix {
                    return Ok(a.prefix.cmp(&b.prefix));
                }
                by_keys(&a.values, &b.values)
            },
        );
        self.charge.take_away(scratch);
        sorted
    }

    /// The items in order, each with the values that it brought.
    pub fn finish(mut self, ctx: &Context<'_>) -> Result<impl Iterator<Item = (Vec<Value>, T)>> {
        self.sort(ctx)?;
        let added = self.own.len();
        let charge = self.charge;
        Ok(self.rows.into_iter().map(move |Keyed { mut values, item, .. }| {
            // Given back with the last of the rows.
            let _kept = &charge;
            values.truncate(values.len() - added);
            (values, item)
        }))
    }
}
