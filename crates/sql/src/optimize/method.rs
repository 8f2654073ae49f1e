//! The method by which one table is read for the rows of the tables before it: by an index for each
//! of them, or once into a hash table.

use super::dive::Constants;
use super::equalities::{equal_columns, key_kind};
use super::estimate::Size;
use super::tables::{Mask, Tables};
use crate::error::Result;
use crate::expr::{Expr, Node};
use crate::plan::{Access, HashKey, Source, Wish, accesses};
use engine::{IndexRef, Table};

/// The costs of operations, in units of the cost of reading one row in sequence.
mod price {
    /// A descent in a tree.
    pub const LOOKUP: f64 = 4.0;
    /// A row of the clustered tree that is found through an entry of another index.
    pub const ROW_OF_ENTRY: f64 = 3.0;
    /// A row that is put into a hash table.
    pub const HASHED: f64 = 1.0;
    /// A key that is looked up in a hash table.
    pub const PROBE: f64 = 0.5;
    /// A row that is in memory.
    pub const IN_MEMORY: f64 = 0.3;
    /// The factors for an access that yields the rows in the wanted order: without and with a
    /// LIMIT.
    pub const ORDERED: f64 = 0.9;
    pub const ORDERED_WITH_LIMIT: f64 = 0.2;
}

/// A way to read a table, and its cost for all rounds, that is for all rows of the tables before.
#[derive(Debug, Clone)]
pub(super) struct Method {
    /// The access to a stored table. `None` for other sources.
    pub access: Option<Access>,
    pub hashes: bool,
    /// The number of rows that are read in one round, or once to fill the hash table.
    pub read: f64,
    pub cost: f64,
}

/// The circumstances in which a table is read.
pub(super) struct Asked<'a> {
    /// The conditions on the table alone, and those on it and known tables.
    pub conditions: &'a [Expr],
    /// The tables whose rows are available.
    pub known: Mask,
    /// The number of combinations of their rows, for each of which the table is read.
    pub rounds: f64,
    /// The number of the table's rows in one round that meet the conditions.
    pub taken: f64,
    pub may_hash: bool,
    pub wish: &'a Wish,
}

/// Returns the pairs of columns that serve as the key of a hash table: a column of the table, and a
/// column of a known table that equals it.
pub(super) fn hash_keys(tables: &Tables, at: usize, known: Mask, conditions: &[Expr]) -> Vec<HashKey> {
    let slot_of = |expr: &Expr| match expr.node {
        Node::Slot(slot) => tables.of_slot(slot).map(|table| (slot, table)),
        _ => None,
    };
    let key = |condition: &Expr| {
        let (left, right, collation) = equal_columns(condition)?;
        let kind = key_kind(&left.ty, &right.ty, collation)?;
        match (slot_of(left)?, slot_of(right)?) {
            ((own, table), (other, of)) if table == at && known.has(of) => Some(HashKey { own, other, kind }),
            ((other, of), (own, table)) if table == at && known.has(of) => Some(HashKey { own, other, kind }),
            _ => None,
        }
    };
    conditions.iter().filter_map(key).collect()
}

fn cost_of_access(
    table: &Table,
    constants: &Constants<'_>,
    size: &Size,
    access: &Access,
    wish: &Wish,
) -> (f64, f64) {
    let (guessed, ranges) = size.found(table, access);
    let read = constants.found(table, access).unwrap_or(guessed);
    let has_all = |columns: &Vec<usize>| table.entry_reader(access.index, columns).is_some();
    let has_rows = access.index == IndexRef::Primary || wish.needed.as_ref().is_some_and(has_all);
    let of_row = if has_rows { 1.0 } else { 1.0 + price::ROW_OF_ENTRY };
    let mut cost = ranges * price::LOOKUP + read * of_row;
    if access.ordered {
        cost *= if wish.has_limit { price::ORDERED_WITH_LIMIT } else { price::ORDERED };
    }
    (read, cost)
}

/// Returns the cheapest way to read a table.
pub(super) fn cheapest(
    tables: &Tables,
    constants: &Constants<'_>,
    size: &Size,
    at: usize,
    asked: &Asked<'_>,
) -> Result<Method> {
    let leaf = &tables.leaves[at];
    let (mut best, mut hashed): (Option<Method>, Option<Method>) = (None, None);
    let mut consider = |method: Method| {
        let is_wanted = method.hashes && leaf.hash_hint == Some(true);
        let best = if is_wanted { &mut hashed } else { &mut best };
        if best.as_ref().is_none_or(|best| method.cost < best.cost) {
            *best = Some(method);
        }
    };
    let keys = match asked.may_hash && !asked.known.is_empty() && leaf.hash_hint != Some(false) {
        true => hash_keys(tables, at, asked.known, asked.conditions),
        false => Vec::new(),
    };
    let of_probes = asked.rounds * (price::PROBE + asked.taken * price::IN_MEMORY);
    match &leaf.source {
        Source::Stored { table, .. } => {
            let read_by = |is_known: &dyn Fn(usize) -> bool, wish: &Wish| {
                accesses(table, leaf.base, asked.conditions, is_known, &leaf.index_use, wish)
            };
            let is_known = |slot: usize| tables.of_slot(slot).is_some_and(|at| asked.known.has(at));
            for access in read_by(&is_known, asked.wish)? {
                let (read, cost) = cost_of_access(table, constants, size, &access, asked.wish);
                consider(Method { access: Some(access), hashes: false, read, cost: cost * asked.rounds });
            }
            if !keys.is_empty() {
                let nothing = Wish::default();
                for access in read_by(&|_| false, &nothing)? {
                    let (read, cost) = cost_of_access(table, constants, size, &access, &nothing);
                    let cost = cost + read * price::HASHED + of_probes;
                    consider(Method { access: Some(access), hashes: true, read, cost });
                }
            }
        }
        source => {
            let cost = asked.rounds * size.rows * price::IN_MEMORY;
            consider(Method { access: None, hashes: false, read: size.rows, cost });
            // The values that the host computes need not have the types of the columns, so they are
            // not hashed.
            let is_fixed = !matches!(source, Source::Virtual { .. }) && tables.needed_by(at).is_empty();
            if !keys.is_empty() && is_fixed {
                let cost = size.rows * (price::IN_MEMORY + price::HASHED) + of_probes;
                consider(Method { access: None, hashes: true, read: size.rows, cost });
            }
        }
    }
    let method = hashed.or(best).expect("a table can be read");
    assert!(
        method.cost.is_finite() && method.cost >= 0.0 && method.read.is_finite() && method.read >= 0.0,
        "methods are compared by their costs: {} for {} rows",
        method.cost,
        method.read
    );
    assert!(!method.hashes || !keys.is_empty(), "a hash table has a key");
    Ok(method)
}
