//! The hints in `/*+ ... */`.

/// What a hint is about. The hint's name says whether it wants that, or with NO_ does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HintKind {
    /// JOIN_FIXED_ORDER.
    FixedOrder,
    /// JOIN_ORDER: these tables come in this order. Others may be before and between them.
    Order,
    /// JOIN_PREFIX: these tables come first, in this order.
    Prefix,
    /// JOIN_SUFFIX: these tables come last, in this order.
    Suffix,
    Bnl,
    HashJoin,
    Bka,
    Merge,
    ConditionPushdown,
    Mrr,
    Icp,
    RangeOptimization,
    Index,
    JoinIndex,
    GroupIndex,
    OrderIndex,
    IndexMerge,
    SkipScan,
    Semijoin,
    Subquery,
}

/// A table that a hint names, with the query block that it is in if that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintTable {
    pub name: String,
    pub block: Option<String>,
}

/// A hint about one query block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// MySQL's name of the hint.
    pub name: &'static str,
    pub kind: HintKind,
    /// Whether the hint wants what its kind says. It does not if its name begins with NO_.
    pub is_wanted: bool,
    /// The name of the query block that the hint is about. `None` is the one that has the hint.
    pub block: Option<String>,
    /// The tables. A hint about single tables has one; none means all of the block.
    pub tables: Vec<HintTable>,
    pub indexes: Vec<String>,
}

/// A query block, as hints name it.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// The block's number in its statement, from 1 on.
    pub number: u32,
    /// The block's name (QB_NAME).
    pub name: Option<String>,
}

/// Blocks are compared as parts of expressions, whose meaning does not depend on how hints name
/// them.
impl PartialEq for Block {
    fn eq(&self, _: &Block) -> bool {
        true
    }
}

impl Block {
    /// Returns the name by which warnings name the block.
    pub fn shown(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.numbered())
    }

    fn numbered(&self) -> String {
        format!("select#{}", self.number)
    }

    /// Reports whether a hint's name for a block means this one.
    pub fn is_named(&self, name: &str) -> bool {
        let own = self.name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name));
        own || self.numbered().eq_ignore_ascii_case(name)
    }
}
