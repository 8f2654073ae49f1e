//! What the hints of a query block say about its tables.

use super::super::Binder;
use super::joined_tables::From;
use crate::ast::{Block, Hint, HintKind, HintTable, IndexHint, IndexHintKind, IndexHintUse, Select};
use crate::optimize::Mask;
use crate::plan::{IndexUse, Leaf, Source, index_named};
use engine::{IndexRef, Table};

/// The number of the warning that a name in a hint is not found (`ER_UNRESOLVED_HINT_NAME`).
const UNRESOLVED: u16 = 3128;

/// The hints about a query block.
pub(in crate::bind) struct BlockHints {
    block: Block,
    hints: Vec<Hint>,
}

impl BlockHints {
    /// Returns the hints about a SELECT: its own, and those of blocks around it. Hints about blocks
    /// within it wait for these.
    pub fn of(binder: &mut Binder<'_>, select: &Select) -> BlockHints {
        let mut hints = match select.block.number {
            1 => std::mem::take(&mut binder.hints.of_statement),
            _ => Vec::new(),
        };
        hints.extend_from_slice(&select.hints);
        BlockHints::sorted(binder, select.block.clone(), hints)
    }

    /// Returns the hints about the tables of an UPDATE or DELETE.
    pub fn of_statement(binder: &mut Binder<'_>) -> BlockHints {
        let hints = std::mem::take(&mut binder.hints.of_statement);
        BlockHints::sorted(binder, Block { number: 1, name: None }, hints)
    }

    fn sorted(binder: &mut Binder<'_>, block: Block, written: Vec<Hint>) -> BlockHints {
        let mut hints: Vec<Hint> = binder
            .hints
            .of_other_blocks
            .iter()
            .filter(|hint| block_of(hint).is_some_and(|name| block.is_named(name)))
            .cloned()
            .collect();
        for hint in written {
            match block_of(&hint) {
                Some(name) if !block.is_named(name) => {
                    if !binder.hints.of_other_blocks.contains(&hint) {
                        binder.hints.of_other_blocks.push(hint);
                    }
                }
                _ => hints.push(hint),
            }
        }
        BlockHints { block, hints }
    }

    /// Returns whether a subquery that is this block is to become a join. `None` if no hint says
    /// that.
    pub fn semijoin(&self) -> Option<bool> {
        let of = |hint: &&Hint| matches!(hint.kind, HintKind::Semijoin | HintKind::Subquery);
        self.hints.iter().find(of).map(|hint| hint.kind == HintKind::Semijoin && hint.is_wanted)
    }
}

/// Returns the name of the block that a hint is about, if it has one.
fn block_of(hint: &Hint) -> Option<&str> {
    let is_order = matches!(hint.kind, HintKind::Order | HintKind::Prefix | HintKind::Suffix);
    let of_table = hint.tables.first().filter(|_| !is_order).and_then(|table| table.block.as_deref());
    hint.block.as_deref().or(of_table)
}

fn unresolved(binder: &mut Binder<'_>, text: String) {
    let complaint = (UNRESOLVED, text);
    if !binder.constants.complaints.contains(&complaint) {
        binder.constants.complaints.push(complaint);
    }
}

/// Warns of the tables that hints of an INSERT or REPLACE without a query name.
pub(crate) fn end_hints(binder: &mut Binder<'_>) {
    if !binder.hints.of_statement.is_empty() {
        let hints = BlockHints::of_statement(binder);
        From::default().take_hints(binder, &hints);
    }
}

impl From {
    /// Returns the position of the table with this name.
    fn position(&self, table: &HintTable) -> Option<usize> {
        self.tables.iter().position(|leaf| leaf.alias == table.name)
    }

    /// Notes what the hints say. Returns true if the tables have to be read in the order in which
    /// they are written.
    pub(in crate::bind) fn take_hints(&mut self, binder: &mut Binder<'_>, hints: &BlockHints) -> bool {
        let mut is_fixed = false;
        for hint in &hints.hints {
            match hint.kind {
                HintKind::FixedOrder => is_fixed = true,
                HintKind::Order | HintKind::Prefix | HintKind::Suffix => self.take_order(binder, hint),
                // They are about the block as a whole.
                HintKind::Semijoin | HintKind::Subquery => {}
                HintKind::Bnl
                | HintKind::HashJoin
                | HintKind::Bka
                | HintKind::Merge
                | HintKind::ConditionPushdown => self.take_of_tables(binder, hint, &hints.block),
                HintKind::Mrr
                | HintKind::Icp
                | HintKind::RangeOptimization
                | HintKind::Index
                | HintKind::JoinIndex
                | HintKind::GroupIndex
                | HintKind::OrderIndex
                | HintKind::IndexMerge
                | HintKind::SkipScan => self.take_of_index(binder, hint, &hints.block),
            }
        }
        is_fixed
    }

    fn take_order(&mut self, binder: &mut Binder<'_>, hint: &Hint) {
        let mut named = Vec::new();
        // Tables of other blocks are not among those that are ordered here.
        for table in hint.tables.iter().filter(|table| table.block.is_none()) {
            match self.position(table) {
                Some(at) => named.push(at),
                None => {
                    unresolved(binder, format!("Unresolved name `{}` for {} hint", table.name, hint.name))
                }
            }
        }
        let listed = named.iter().fold(Mask::NONE, |mask, at| mask.with(*at));
        let all = (0..self.tables.len()).fold(Mask::NONE, Mask::with);
        let pairs = named.windows(2).map(|pair| (Mask::of(pair[0]), Mask::of(pair[1])));
        self.before.extend(pairs);
        match hint.kind {
            HintKind::Prefix => self.before.push((listed, all.without(listed))),
            HintKind::Suffix => self.before.push((all.without(listed), listed)),
            _ => {}
        }
    }

    fn take_of_tables(&mut self, binder: &mut Binder<'_>, hint: &Hint, block: &Block) {
        let named = match hint.tables.first() {
            None => (0..self.tables.len()).collect(),
            Some(table) => match self.position(table) {
                Some(at) => vec![at],
                None => {
                    let (name, block) = (&table.name, block.shown());
                    let text = format!("Unresolved name `{name}`@`{block}` for {} hint", hint.name);
                    return unresolved(binder, text);
                }
            },
        };
        for at in named {
            let leaf = &mut self.tables[at];
            match hint.kind {
                HintKind::Bnl | HintKind::HashJoin => leaf.hash_hint = Some(hint.is_wanted),
                HintKind::Merge if leaf.merge_hint != Some(true) => leaf.merge_hint = Some(hint.is_wanted),
                _ => {}
            }
        }
    }

    /// Takes a hint about the indexes of one table.
    fn take_of_index(&mut self, binder: &mut Binder<'_>, hint: &Hint, block: &Block) {
        let [table] = &hint.tables[..] else { return };
        let shown = format!("`{}`@`{}`", table.name, block.shown());
        let missing = |binder: &mut Binder<'_>, index: &str| {
            unresolved(binder, format!("Unresolved name {shown}{index} for {} hint", hint.name));
        };
        let leaf = self.position(table).map(|at| &mut self.tables[at]);
        let is_of_single = matches!(hint.kind, HintKind::Mrr | HintKind::Icp | HintKind::RangeOptimization);
        if leaf.is_none() && (hint.indexes.is_empty() || !is_of_single) {
            missing(binder, "");
        }
        let Some(Leaf { source: Source::Stored { table, .. }, index_use, .. }) = leaf else {
            hint.indexes.iter().for_each(|index| missing(binder, &format!(" `{index}`")));
            return;
        };
        let mut named = Vec::new();
        for name in &hint.indexes {
            match index_named(table, name) {
                Ok(index) => named.push(index),
                Err(_) => missing(binder, &format!(" `{name}`")),
            }
        }
        if named.is_empty() && !hint.indexes.is_empty() {
            return;
        }
        let named = if hint.indexes.is_empty() { all_indexes(table) } else { named };
        note_indexes(index_use, table, hint, named);
    }
}

fn all_indexes(table: &Table) -> Vec<IndexRef> {
    let primary = table.def.primary.as_ref().map(|_| IndexRef::Primary);
    primary.into_iter().chain((0..table.def.indexes.len()).map(IndexRef::Secondary)).collect()
}

/// Notes what a hint says about these indexes of a table.
fn note_indexes(uses: &mut IndexUse, table: &Table, hint: &Hint, indexes: Vec<IndexRef>) {
    let purposes: &[IndexHintUse] = match hint.kind {
        HintKind::Index => &[IndexHintUse::Join, IndexHintUse::Group, IndexHintUse::Order],
        HintKind::JoinIndex => &[IndexHintUse::Join],
        HintKind::GroupIndex => &[IndexHintUse::Group],
        HintKind::OrderIndex => &[IndexHintUse::Order],
        HintKind::RangeOptimization => {
            uses.without_ranges.extend(indexes);
            return;
        }
        _ => return,
    };
    let kind = if hint.is_wanted { IndexHintKind::Force } else { IndexHintKind::Ignore };
    let names: Vec<String> = indexes.iter().map(|index| table.index_name(*index).to_owned()).collect();
    let of = |purpose: &IndexHintUse| IndexHint { kind, purpose: Some(*purpose), indexes: names.clone() };
    uses.hinted.extend(purposes.iter().map(of));
}
