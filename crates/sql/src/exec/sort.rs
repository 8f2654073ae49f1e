//! ORDER BY of rows that do not come in order.

use crate::error::Result;
use crate::expr::{Context, Expr, Node, sort_compare};
use crate::plan::SortKey;
use std::cmp::Ordering;
use types::Value;

/// Items with their sort keys. With a limit, no more than a few times that many are kept.
pub(super) struct Sorter<'p, T> {
    keys: &'p [SortKey],
    /// For each key, which of an item's values it is.
    places: Vec<usize>,
    /// The expressions of the values behind those that the caller brings.
    own: Vec<&'p Expr>,
    rows: Vec<(Vec<Value>, T)>,
    /// Rows that will be asked for.
    wanted: Option<usize>,
}

impl<'p, T> Sorter<'p, T> {
    /// A sorter of items that bring no values.
    pub fn new(keys: &'p [SortKey], wanted: Option<u64>) -> Sorter<'p, T> {
        Sorter::with_values(keys, &[], wanted)
    }

    /// A sorter of items that bring the values of `outputs`. A key that is one of them is not kept twice.
    pub fn with_values(keys: &'p [SortKey], outputs: &[Expr], wanted: Option<u64>) -> Sorter<'p, T> {
        let mut own = Vec::new();
        let place = |key: &'p SortKey| {
            let slot = |expr: &Expr| if let Node::Slot(slot) = expr.node { Some(slot) } else { None };
            let is_key = |output: &Expr| slot(output).is_some() && slot(output) == slot(&key.expr);
            outputs.iter().position(is_key).unwrap_or_else(|| {
                own.push(&key.expr);
                outputs.len() + own.len() - 1
            })
        };
        let places = keys.iter().map(place).collect();
        let wanted = wanted.and_then(|wanted| usize::try_from(wanted).ok());
        Sorter { keys, places, own, rows: Vec::new(), wanted }
    }

    /// Appends to an item's values the keys that are not among them; computed from `row`.
    pub fn add_keys(&self, row: &[Value], values: &mut Vec<Value>, ctx: &Context<'_>) -> Result<()> {
        for expr in &self.own {
            values.push(expr.eval(row, ctx)?.into_owned());
        }
        Ok(())
    }

    /// Takes an item with its values and keys, see [`Sorter::add_keys`].
    pub fn push(&mut self, values: Vec<Value>, item: T, ctx: &Context<'_>) -> Result<()> {
        self.rows.push((values, item));
        if let Some(wanted) = self.wanted
            && self.rows.len() >= wanted.saturating_mul(4).saturating_add(1024)
        {
            self.sort(ctx)?;
            self.rows.truncate(wanted);
        }
        Ok(())
    }

    /// Takes an item that brings no values; the keys are computed from `row`.
    pub fn push_row(&mut self, row: &[Value], item: T, ctx: &Context<'_>) -> Result<()> {
        let mut values = Vec::with_capacity(self.own.len());
        self.add_keys(row, &mut values, ctx)?;
        self.push(values, item, ctx)
    }

    fn sort(&mut self, ctx: &Context<'_>) -> Result<()> {
        let mut failed = None;
        let (keys, places) = (self.keys, &self.places);
        // Stable: rows that are equal keep the order in which they came.
        self.rows.sort_by(|(a, _), (b, _)| {
            for (key, place) in keys.iter().zip(places) {
                match sort_compare(&a[*place], &b[*place], key.expr.ty.collation, ctx) {
                    Ok(Ordering::Equal) => {}
                    Ok(ordering) => return if key.descending { ordering.reverse() } else { ordering },
                    Err(error) => {
                        failed = Some(error);
                        return Ordering::Equal;
                    }
                }
            }
            Ordering::Equal
        });
        failed.map_or(Ok(()), Err)
    }

    /// The items in order, each with the values that it brought.
    pub fn finish(mut self, ctx: &Context<'_>) -> Result<impl Iterator<Item = (Vec<Value>, T)>> {
        self.sort(ctx)?;
        let added = self.own.len();
        Ok(self.rows.into_iter().map(move |(mut values, item)| {
            values.truncate(values.len() - added);
            (values, item)
        }))
    }
}
