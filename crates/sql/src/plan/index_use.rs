//! Which indexes of a table a statement may use, and for what: by the hints of FROM, by those in
//! `/*+ ... */`, and by `use_invisible_indexes`.

use crate::ast::{IndexHint, IndexHintKind, IndexHintUse};
use crate::error::{Result, SqlError};
use engine::{IndexRef, KeptKind, Table};

/// What a statement says about the use of a table's indexes.
#[derive(Debug, Clone, Default)]
pub(crate) struct IndexUse {
    /// USE, FORCE and IGNORE INDEX in FROM.
    pub written: Vec<IndexHint>,
    /// The index hints in `/*+ ... */`. If there are some, those in FROM have no effect.
    pub hinted: Vec<IndexHint>,
    /// The indexes of which no ranges are read (NO_RANGE_OPTIMIZATION).
    pub without_ranges: Vec<IndexRef>,
    /// Invisible indexes are used like others.
    pub sees_invisible: bool,
    /// CHAR columns are read with the spaces up to their full length, so that indexes, which have
    /// the values without these spaces, do not find them by their values.
    pub pads_chars: bool,
}

/// An index that may be used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usable {
    pub index: IndexRef,
    /// It may find rows by their values.
    pub finds: bool,
    /// Its ranges may be read. Otherwise it finds rows by equality only.
    pub has_ranges: bool,
    /// It may deliver the order of the rows.
    pub orders: bool,
    /// It is to deliver the order if it can.
    pub must_order: bool,
}

/// The indexes that may be used.
pub(super) struct Usables {
    pub all: Vec<Usable>,
    /// The table is not to be read as a whole if one of the indexes finds rows.
    pub is_forced: bool,
}

/// Returns the index of a table with this name, or the only one whose name begins so.
///
/// # Errors
/// Returns 1176 (`ER_KEY_DOES_NOT_EXIST`) if there is none.
pub(crate) fn index_named(table: &Table, name: &str) -> Result<IndexRef> {
    if name.eq_ignore_ascii_case("PRIMARY") && table.def.primary.is_some() {
        return Ok(IndexRef::Primary);
    }
    if let Some(at) = table.def.index(name) {
        return Ok(IndexRef::Secondary(at));
    }
    if let Some(entries) = table.def.kept_index(name).and_then(|at| table.def.entries_of(at)) {
        return Ok(entries);
    }
    let begins =
        |whole: &str| whole.get(..name.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(name));
    let primary = (table.def.primary.is_some() && begins("PRIMARY")).then_some(IndexRef::Primary);
    let secondary = table.def.indexes.iter().enumerate();
    let secondary = secondary.filter(|(_, index)| begins(&index.name)).map(|(at, _)| IndexRef::Secondary(at));
    let mut found = primary.into_iter().chain(secondary);
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(SqlError::new(1176, format!("Key '{name}' doesn't exist in table '{}'", table.def.name))),
    }
}

/// What hints say about one use of a table's indexes.
struct ForUse {
    /// The only indexes for the use. `None` means all.
    only: Option<Vec<IndexRef>>,
    ignored: Vec<IndexRef>,
    is_forced: bool,
}

impl ForUse {
    fn of(table: &Table, hints: &[IndexHint], purpose: IndexHintUse) -> Result<ForUse> {
        let mut found = ForUse { only: None, ignored: Vec::new(), is_forced: false };
        for hint in hints.iter().filter(|hint| hint.purpose.is_none_or(|of| of == purpose)) {
            let named = hint.indexes.iter().map(|name| index_named(table, name));
            let named: Vec<IndexRef> = named.collect::<Result<_>>()?;
            match hint.kind {
                IndexHintKind::Ignore => found.ignored.extend(named),
                IndexHintKind::Use | IndexHintKind::Force => {
                    found.only.get_or_insert_default().extend(named);
                    found.is_forced |= hint.kind == IndexHintKind::Force;
                }
            }
        }
        Ok(found)
    }

    fn takes(&self, index: IndexRef) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&index)) && !self.ignored.contains(&index)
    }
}

/// Checks that a table does not have both USE INDEX and FORCE INDEX.
///
/// # Errors
/// Returns 1221 (`ER_WRONG_USAGE`) otherwise.
pub(crate) fn check_together(hints: &[IndexHint]) -> Result<()> {
    let has = |kind: IndexHintKind| hints.iter().any(|hint| hint.kind == kind);
    match has(IndexHintKind::Use) && has(IndexHintKind::Force) {
        true => Err(SqlError::new(1221, "Incorrect usage of USE INDEX and FORCE INDEX")),
        false => Ok(()),
    }
}

impl IndexUse {
    /// Returns the indexes that may be used.
    ///
    /// # Errors
    /// Returns 1176 when a hint in FROM names an index that the table does not have.
    pub(super) fn usable(&self, table: &Table) -> Result<Usables> {
        let hints = if self.hinted.is_empty() { &self.written } else { &self.hinted };
        let finding = ForUse::of(table, hints, IndexHintUse::Join)?;
        let ordering = ForUse::of(table, hints, IndexHintUse::Order)?;
        let mut all = Vec::with_capacity(1 + table.def.indexes.len());
        let mut add = |index: IndexRef| {
            let (finds, orders) = (finding.takes(index), ordering.takes(index));
            if finds || orders {
                let has_ranges = !self.without_ranges.contains(&index);
                let must_order = ordering.is_forced && orders;
                all.push(Usable { index, finds, has_ranges, orders, must_order });
            }
        };
        add(IndexRef::Primary);
        for (at, index) in table.def.indexes.iter().enumerate() {
            if self.sees_invisible || !index.invisible {
                add(IndexRef::Secondary(at));
            }
        }
        for (at, index) in table.def.kept_indexes.iter().enumerate() {
            let is_seen = self.sees_invisible || !index.invisible;
            // A FULLTEXT index finds rows by searches alone.
            let is_spatial = matches!(index.kind, KeptKind::Spatial { .. });
            if let Some(entries) = table.def.entries_of(at).filter(|_| is_seen && is_spatial) {
                add(entries);
            }
        }
        Ok(Usables { all, is_forced: finding.is_forced })
    }

    /// Reports whether an index may find rows.
    pub fn may_find(&self, table: &Table, index: IndexRef) -> bool {
        let is_it = |usable: &Usable| usable.index == index && usable.finds;
        self.usable(table).is_ok_and(|usables| usables.all.iter().any(is_it))
    }

    /// Returns the same use with ranges, for EXPLAIN's list of possible keys.
    pub fn with_ranges(&self) -> IndexUse {
        IndexUse { without_ranges: Vec::new(), ..self.clone() }
    }
}
