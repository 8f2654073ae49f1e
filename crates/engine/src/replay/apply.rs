//! Putting gathered changes on the pages, in the order of trees and keys. Changes of one entry are
//! in the order of the log.

use super::changes::{Change, Changes, What};
use super::tables::{Forms, Tables, Tree};
use crate::entry::{self, ClusteredValue, Extern, Externs};
use crate::error::{EngineError, Result};
use crate::overflow;
use crate::table::Table;
use btree::Run;
use buffer::{Pool, RecordLsn};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// A change with everything that is needed to sort it, so that the changes themselves, which are
/// spread over the memory, are looked at only once.
#[derive(Clone, Copy)]
pub(super) struct Item<'c> {
    tree: u32,
    /// The number of the change.
    at: u32,
    /// The first bytes of the key, or the whole key if it is that short.
    head: [u8; 8],
    key_len: usize,
    changes: &'c Changes<'c>,
}

impl<'c> Item<'c> {
    fn new(changes: &'c Changes<'c>, at: usize, change: &Change) -> Item<'c> {
        let (tree, prefix) = change.place();
        let key_len = changes.key(change).len();
        Item { tree, at: at as u32, head: prefix.to_be_bytes(), key_len, changes }
    }

    fn change(&self) -> &'c Change {
        &self.changes.all[self.at as usize]
    }

    fn key(&self) -> &[u8] {
        match self.head.get(..self.key_len) {
            Some(key) => key,
            None => self.changes.key(self.change()),
        }
    }

    fn place(&self) -> RecordLsn {
        self.changes.place(self.change())
    }

    fn order(&self, other: &Item<'_>) -> Ordering {
        let place = |item: &Item<'_>| (item.tree, u64::from_be_bytes(item.head));
        place(self).cmp(&place(other)).then_with(|| self.key().cmp(other.key()))
    }

    fn is_of(&self, other: &Item<'_>) -> bool {
        self.order(other).is_eq()
    }

    /// Starts loading a later change into the processor's cache, and the image of a change that
    /// comes sooner.
    fn prefetch(items: &[Item<'_>], from: usize) {
        if let Some(item) = items.get(from + 2 * AHEAD) {
            os::memory::prefetch(std::ptr::from_ref(item.change()).cast());
        }
        if let Some(item) = items.get(from + AHEAD)
            && let Some(image) = item.change().what.image()
        {
            let image = item.changes.bytes(image);
            image.chunks(LINE_BYTES).take(LINES).for_each(|line| os::memory::prefetch(line.as_ptr()));
        }
    }

    fn places_values(&self) -> bool {
        !self.changes.placements.is_empty() && self.changes.placements.contains_key(&self.at)
    }
}

/// Returns the changes whose place is in the range. Changes of one entry are together and in the
/// order that `parts` have them.
pub(super) fn in_order<'c>(parts: &'c [Changes<'c>], range: &Range<(u32, u64)>) -> Vec<Item<'c>> {
    let total: usize = parts.iter().map(|changes| changes.all.len()).sum();
    let mut items = Vec::with_capacity(total / parts.len().max(1) + total / 8);
    for changes in parts {
        let all = changes.all.iter().enumerate().filter(|(_, change)| range.contains(&change.place()));
        items.extend(all.map(|(at, change)| Item::new(changes, at, change)));
    }
    // The sort is stable, so changes of one entry stay in the order of the log.
    items.sort_by(Item::order);
    items
}

/// Puts the changes on the pages.
pub(super) fn apply(tables: &Tables, pool: &Arc<Pool>, items: &[Item<'_>]) -> Result<()> {
    let mut rows = Rows { pool, row: Row::default() };
    for of_tree in items.chunk_by(|one, other| one.tree == other.tree) {
        let (_, forms) = tables.forms_of(of_tree[0].tree);
        let table = &forms.newest;
        let (tree, is_clustered) = match Tree::of(of_tree[0].tree) {
            Tree::Clustered => (&table.clustered, true),
            Tree::Secondary(at) => (&table.indexes[at].tree, false),
        };
        let mut run = tree.run();
        let (mut ahead, mut stride, mut done) = (0, 1, 0);
        for of_entry in of_tree.chunk_by(Item::is_of) {
            if done >= ahead {
                run.leave();
                let (keys, missing) = tree.read_ahead(of_tree[done..].iter().map(Item::key))?;
                // If all leaves are in the pool, it is not worth asking often.
                stride = if missing == 0 { (stride * 2).min(MOST_STRIDE) } else { 1 };
                ahead = done + keys.max(1) * stride;
            }
            let changed = match is_clustered {
                true => rows.apply(forms, &mut run, of_entry),
                false => apply_entry(&mut run, of_entry),
            };
            changed.map_err(|error| {
                let (first, last) = (of_entry[0].place().start, of_entry[of_entry.len() - 1].place().start);
                EngineError::Corrupt(format!("commit records at LSN {first} to {last}: {error}"))
            })?;
            done += of_entry.len();
            Item::prefetch(of_tree, done);
        }
    }
    Ok(())
}

const MOST_STRIDE: usize = 64;
/// How many changes ahead images are loaded into the processor's cache, and how many cache lines of
/// each.
const AHEAD: usize = 8;
const LINES: usize = 4;
const LINE_BYTES: usize = 64;

/// Returns the stretch of the log that a page needs for the state which the changes give it.
fn stretch(items: &[Item<'_>]) -> RecordLsn {
    RecordLsn::new(items[0].place().start, items[items.len() - 1].place().end)
}

/// Reports whether the entry on the page is as new as the record, so that replaying the record must
/// leave it. This is not only for speed: an update with a partial image could make a later row
/// longer than a page holds.
fn leaves(current_seq: Option<u64>, record: RecordLsn) -> bool {
    current_seq.is_some_and(|seq| seq >= record.end)
}

fn apply_entry(run: &mut Run<'_>, items: &[Item<'_>]) -> Result<()> {
    // Each change sets the entry's whole state, so the last one counts.
    let last = &items[items.len() - 1];
    let end = last.place().end;
    run.modify(last.key(), stretch(items), |current, made| {
        let seq = current.and_then(|value| entry::parse_header(value).ok()).map(|(_, seq)| seq);
        match last.change().what {
            _ if leaves(seq, last.place()) => btree::Change::Keep,
            What::PutEntry { secondary_len } => {
                made.extend_from_slice(&entry::secondary(0, end, usize::from(secondary_len)));
                btree::Change::Put(made.as_slice().into())
            }
            What::Remove => btree::Change::Remove,
            What::Put(_) | What::Patch { .. } => btree::Change::Keep,
        }
    })?;
    Ok(())
}

/// Returns the change that alone decides the state of the row: the last one, if it puts or removes
/// the row, or sets the columns that all others set.
fn decisive<'i, 'c>(items: &'i [Item<'c>]) -> Option<&'i Item<'c>> {
    let (last, earlier) = items.split_last()?;
    let mask = |item: &Item<'c>| match item.change().what {
        What::Patch { mask, .. } => Some(item.changes.mask(mask)),
        _ => None,
    };
    let is_decisive = match last.change().what {
        What::Put(_) | What::Remove => true,
        What::Patch { .. } => earlier.iter().all(|item| mask(item) == mask(last)),
        What::PutEntry { .. } => false,
    };
    is_decisive.then_some(last)
}

/// The combined outcome of the changes of a row.
#[derive(Clone, Copy)]
enum Net {
    Keep,
    Remove,
    /// The row gets the value that was made.
    Put,
}

impl Net {
    fn change(self, made: &[u8]) -> btree::Change<'_> {
        match self {
            Net::Keep => btree::Change::Keep,
            Net::Remove => btree::Change::Remove,
            Net::Put => btree::Change::Put(made.into()),
        }
    }
}

/// Makes the value of a row with this image.
fn put_row(made: &mut Vec<u8>, seq: u64, externs: &[Extern], image: &[u8]) {
    entry::put_clustered(made, externs, image);
    entry::set_seq(made, seq);
}

/// Returns the outcome of a decisive change for the row on the page. `None` means that more must be
/// known than the row's image.
fn at_once(
    forms: &Forms,
    current: Option<&ClusteredValue<'_>>,
    item: &Item<'_>,
    made: &mut Vec<u8>,
) -> Result<Option<Net>> {
    let seq = item.place().end;
    match (item.change().what, current.filter(|value| !value.is_deleted())) {
        _ if leaves(current.map(|value| value.seq), item.place()) => Ok(Some(Net::Keep)),
        (What::Remove, _) => Ok(Some(Net::Remove)),
        (What::Put(image), _) => {
            put_row(made, seq, &[], item.changes.bytes(image));
            Ok(Some(Net::Put))
        }
        (What::Patch { .. }, None) => Ok(Some(Net::Keep)),
        (What::Patch { mask, image }, Some(value))
            if !value.has_externs() && forms.number_at(value.seq) == forms.number_at(seq) =>
        {
            put_row(made, seq, &[], &[]);
            forms.at(seq).layout.splice(
                value.stored,
                item.changes.mask(mask),
                item.changes.bytes(image),
                made,
            )?;
            Ok(Some(Net::Put))
        }
        _ => Ok(None),
    }
}

/// A row as replay handles it: the image as it is on the page, with empty long columns, and the
/// places of the long values.
#[derive(Default)]
struct Row {
    is_there: bool,
    /// The number of the form that the image has.
    form: usize,
    image: Vec<u8>,
    externs: Externs,
    /// The buffer in which the next image is made.
    next: Vec<u8>,
}

impl Row {
    fn load(&mut self, forms: &Forms, value: Option<&ClusteredValue<'_>>) {
        self.is_there = false;
        if let Some(value) = value.filter(|value| !value.is_deleted()) {
            self.set(forms.number_at(value.seq), value.stored);
            self.externs = value.externs();
        }
    }

    /// Gives the row another form. A row that is newer than the record at hand is only looked at
    /// for the long values that the record places, and these are in the record's own image.
    fn take_form(&mut self, forms: &Forms, form: usize) -> Result<()> {
        let Some(all) = forms.newest.forms.as_ref().filter(|_| self.form != form) else { return Ok(()) };
        if self.form > form {
            self.set(form, &all.all_null(form)?);
            return Ok(());
        }
        self.image = all.carry(self.form, form, &self.image)?;
        // The pages of a dropped column's values stay allocated until the table is rebuilt,
        // because recovery frees no pages.
        self.externs = all.carry_externs(self.form, form, std::mem::take(&mut self.externs))?;
        self.externs.retain(|held| held.column != entry::NO_COLUMN);
        self.form = form;
        Ok(())
    }

    fn set(&mut self, form: usize, image: &[u8]) {
        self.is_there = true;
        self.form = form;
        self.image.clear();
        self.image.extend_from_slice(image);
        self.externs.clear();
    }

    /// Makes a change. Returns false when there is no row that it could change.
    fn take(&mut self, forms: &Forms, item: &Item<'_>) -> Result<bool> {
        let (form, table) = (forms.number_at(item.place().end), forms.at(item.place().end));
        match item.change().what {
            What::Put(image) => self.set(form, item.changes.bytes(image)),
            What::Remove => self.is_there = false,
            What::Patch { .. } if !self.is_there => return Ok(false),
            What::Patch { mask, image } => {
                self.take_form(forms, form)?;
                let mask = item.changes.mask(mask);
                self.next.clear();
                table.layout.splice(&self.image, mask, item.changes.bytes(image), &mut self.next)?;
                std::mem::swap(&mut self.image, &mut self.next);
                self.externs.retain(|held| !mask.contains(usize::from(held.column)));
            }
            What::PutEntry { .. } => return Ok(false),
        }
        Ok(true)
    }
}

struct Rows<'p> {
    pool: &'p Arc<Pool>,
    row: Row,
}

impl Rows<'_> {
    fn apply(&mut self, forms: &Forms, run: &mut Run<'_>, items: &[Item<'_>]) -> Result<()> {
        let (key, record) = (items[0].key(), stretch(items));
        if items.iter().any(Item::places_values) {
            // Overflow pages are changed as well, so no leaf may be held.
            run.leave();
            let current = forms.newest.clustered.get(key, <[u8]>::to_vec)?;
            let mut value = Vec::new();
            let net = self.net(forms, current.as_deref(), items, true, &mut value)?;
            return Ok(run.modify(key, record, |_, made| {
                made.extend_from_slice(&value);
                net.change(made)
            })?);
        }
        let mut outcome = Ok(());
        run.modify(key, record, |current, made| match self.net(forms, current, items, false, made) {
            Ok(net) => net.change(made),
            Err(error) => {
                outcome = Err(error);
                btree::Change::Keep
            }
        })?;
        outcome
    }

    /// Returns the outcome of the changes for the row on the page, if there is one, and makes its
    /// value. With `places`, long values go to their pages even for a row that is left as it is,
    /// because the row's page may have been written while its overflow pages were not.
    fn net(
        &mut self,
        forms: &Forms,
        current: Option<&[u8]>,
        items: &[Item<'_>],
        places: bool,
        made: &mut Vec<u8>,
    ) -> Result<Net> {
        let current = current.map(ClusteredValue::parse).transpose()?;
        if !places
            && let Some(item) = decisive(items)
            && let Some(net) = at_once(forms, current.as_ref(), item, made)?
        {
            return Ok(net);
        }
        let seq = current.as_ref().map(|value| value.seq);
        let (mut net, mut newest, mut tried) = (Net::Keep, 0, None);
        for item in items {
            let (record, is_left) = (item.place(), leaves(seq, item.place()));
            if is_left && !places {
                continue;
            }
            // Each record that the page has already is tried on the page's row by itself. So is the
            // first record that the page does not have.
            if tried.is_none_or(|(was_left, end)| was_left && end != record.end) {
                self.row.load(forms, current.as_ref());
            }
            tried = Some((is_left, record.end));
            if !self.row.take(forms, item)? {
                continue;
            }
            if places {
                self.place_values(forms.at(record.end), item)?;
            }
            if !is_left {
                (net, newest) = (if self.row.is_there { Net::Put } else { Net::Remove }, record.end);
            }
        }
        if let Net::Put = net {
            put_row(made, newest, &self.row.externs, &self.row.image);
        }
        Ok(net)
    }

    /// Writes long values to the pages that the commit placed them on, and points the row there.
    fn place_values(&mut self, table: &Table, item: &Item<'_>) -> Result<()> {
        let row = &mut self.row;
        for placement in item.changes.placements.get(&item.at).into_iter().flatten() {
            let column = usize::from(placement.column);
            if !placement.pages.is_empty() {
                let raw = match &placement.value {
                    Some(value) => Some(&value[..]),
                    None => table.layout.get_raw(&row.image, column)?,
                };
                let raw = raw.ok_or_else(|| {
                    EngineError::Corrupt("a commit record places a NULL off page".to_string())
                })?;
                let space = table.placement.space;
                btree::overflow::rewrite(self.pool, space, &placement.pages, raw, item.place())?;
            }
            row.externs.retain(|held| held.column != placement.column);
            row.externs.push(Extern {
                column: placement.column,
                len: placement.len,
                first_page: placement.first_page,
            });
            row.externs.sort_by_key(|held| held.column);
            let mut columns = Vec::with_capacity(table.columns());
            table.layout.walk(&row.image, |_, raw| columns.push(raw))?;
            row.image = overflow::emptied(table, &columns, &row.externs)?;
        }
        Ok(())
    }
}
