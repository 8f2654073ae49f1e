//! The query blocks of a statement as its hints name them: their numbers and names, and the hints
//! that have been given for them.

use crate::ast::{Block, Hint, HintKind};
use std::collections::BTreeSet;

/// Warnings: their numbers and texts.
type Warnings = Vec<(u16, String)>;

/// The query blocks of the statement that is being read.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    /// The number of the last block.
    last: u32,
    /// A number that the next SELECT gets: that of the statement's own block, or of the query
    /// behind WITH.
    reserved: Option<u32>,
    /// The blocks with names that have been read.
    known: Vec<Block>,
    /// The names that hints have for other blocks, each with the hint's name.
    wanted: Vec<(String, &'static str)>,
    /// What hints have been given for: the subject, the block, the table and the index.
    given: BTreeSet<(Subject, String, String, String)>,
}

/// What only one hint may be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    FixedOrder,
    SomeOrder,
    Of(HintKind),
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks { last: 1, reserved: Some(1), known: Vec::new(), wanted: Vec::new(), given: BTreeSet::new() }
    }
}

impl Blocks {
    /// Returns the number of the block that begins.
    pub fn begin(&mut self) -> u32 {
        self.reserved.take().unwrap_or_else(|| {
            self.last += 1;
            self.last
        })
    }

    /// Has the next block take this number.
    pub fn resume(&mut self, number: u32) {
        self.reserved = Some(number);
    }

    /// Notes a block whose hints have been read, if they name it.
    pub fn add(&mut self, block: &Block) {
        if block.name.is_some() {
            self.known.push(block.clone());
        }
    }

    /// Reports whether a block has this name already.
    pub fn has_name(&self, name: &str) -> bool {
        self.known.iter().any(|block| block.is_named(name))
    }

    /// Takes a hint of a block. Returns false, and adds a warning, if another hint has been about
    /// the same.
    pub fn take(&mut self, own: &Block, hint: &Hint, arguments: &str, warnings: &mut Warnings) -> bool {
        let named = |name: &Option<String>| name.clone().filter(|name| !own.is_named(name));
        let table = hint.tables.first();
        let far = named(&hint.block).or_else(|| table.and_then(|table| named(&table.block)));
        let is_order =
            matches!(hint.kind, HintKind::FixedOrder | HintKind::Order | HintKind::Prefix | HintKind::Suffix);
        let far = if is_order { named(&hint.block) } else { far };
        let block = far.as_ref().map_or_else(|| own.number.to_string(), |name| name.to_lowercase());
        let table = table.filter(|_| !is_order).map_or_else(String::new, |table| table.name.clone());
        let index = match hint.kind {
            HintKind::Mrr | HintKind::Icp | HintKind::RangeOptimization => hint.indexes.first().cloned(),
            _ => None,
        };
        let index = index.unwrap_or_default();
        let key = |subject: Subject| (subject, block.clone(), table.clone(), index.clone());
        let (refusing, giving) = subjects(hint.kind);
        if refusing.iter().any(|subject| self.given.contains(&key(*subject))) {
            let text = format!("Hint {}({arguments}) is ignored as conflicting/duplicated", hint.name);
            warnings.push((3126, text));
            return false;
        }
        self.given.extend(giving.into_iter().map(key));
        if let Some(far) = far {
            self.wanted.push((far, hint.name));
        }
        for table in hint.tables.iter().filter(|_| is_order) {
            self.wanted.extend(table.block.clone().map(|block| (block, hint.name)));
        }
        true
    }

    /// Ends the statement, and returns warnings of names that no block has.
    pub fn end(self) -> Warnings {
        let mut warnings = Warnings::new();
        for (name, hint) in &self.wanted {
            let is_numbered = name
                .to_ascii_lowercase()
                .strip_prefix("select#")
                .and_then(|number| number.parse::<u32>().ok())
                .is_some_and(|number| (1..=self.last).contains(&number));
            if !is_numbered && !self.has_name(name) {
                let text = format!("Query block name `{name}` is not found for {hint} hint");
                warnings.push((3127, text));
            }
        }
        warnings
    }
}

/// Returns the subjects of which none may have been given for a hint of this kind, and those that
/// the hint gives.
fn subjects(kind: HintKind) -> (Vec<Subject>, Vec<Subject>) {
    use HintKind as K;
    let index = [K::JoinIndex, K::GroupIndex, K::OrderIndex].map(Subject::Of).to_vec();
    match kind {
        K::FixedOrder => (vec![Subject::FixedOrder, Subject::SomeOrder], vec![Subject::FixedOrder]),
        K::Order => (vec![Subject::FixedOrder], vec![Subject::SomeOrder]),
        K::Prefix | K::Suffix => {
            (vec![Subject::FixedOrder, Subject::Of(kind)], vec![Subject::SomeOrder, Subject::Of(kind)])
        }
        K::Index => (index.clone(), index),
        K::Semijoin | K::Subquery => (vec![Subject::Of(K::Semijoin)], vec![Subject::Of(K::Semijoin)]),
        _ => (vec![Subject::Of(kind)], vec![Subject::Of(kind)]),
    }
}
