//! The forms of a table's rows, after ALTER TABLE added or dropped columns without writing the rows
//! anew.
//!
//! A stored row has the columns that the table had when the row was written. The commit that wrote
//! it says which: a row has the first of the [`OlderForm`]s that is not older than the row's
//! sequence number. It reads as if added columns had their values and dropped ones were not there.
//! So a row takes the present form when it next changes, and no row and no page says anything about
//! forms. The same holds for the row images of commit records and for older versions.
//!
//! Invariants:
//! - The positions in every [`OlderForm`] are those of the table's present definition, and ascend.
//! - The positions `until` ascend. Every commit that changed the table before its columns changed
//!   ends there or before, and every later one behind it, because the statement holds the table's
//!   exclusive metadata lock while it takes the position.
//! - Each column that some form lacks has a value.

use crate::bytes::{Put, Reader};
use crate::definition::{ColumnDef, codec};
use crate::entry::{self, Extern, Externs};
use crate::error::{EngineError, Result};
use redo::Lsn;
use types::row::RowLayout;
use types::{ColumnType, packed};

/// The largest number of times that columns can be added or dropped without a rebuild, as in MySQL
/// since 9.1 (`MAX_ROW_VERSION`).
pub const MAX_ROW_VERSIONS: usize = 255;

/// A column that rows written before it was added do not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedColumn {
    /// The position of the column in the definition.
    pub position: usize,
    /// The packed value of the column in rows that lack it. `None` means NULL.
    pub value: Option<Vec<u8>>,
}

/// The columns that one ALTER TABLE adds and drops without writing the rows anew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstantColumns {
    /// The added columns, in the order of their positions in the new definition.
    pub added: Vec<AddedColumn>,
    /// The positions of the dropped columns in the old definition, in order.
    pub dropped: Vec<usize>,
}

impl InstantColumns {
    /// Reports whether no column is added or dropped.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.dropped.is_empty()
    }

    /// Returns the new position of each of `old` columns. Dropped columns have none.
    pub(crate) fn new_positions(&self, old: usize) -> Vec<Option<usize>> {
        let is_added = |at: &usize| self.added.iter().any(|added| added.position == *at);
        let mut free = (0..).filter(|at| !is_added(at));
        (0..old).map(|at| if self.dropped.contains(&at) { None } else { free.next() }).collect()
    }
}

/// A column of an older form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FormColumn {
    /// The column that is at this position of the present definition.
    Kept(usize),
    /// A column of this type, which was dropped later.
    Dropped(ColumnType),
}

/// The columns of rows that were written at some time before now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OlderForm {
    /// The log position of the end of that time.
    pub until: Lsn,
    pub columns: Vec<FormColumn>,
}

/// What the dictionary keeps of the forms of a table's rows. The default is that all rows have the
/// present columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormHistory {
    /// The forms, the oldest one first.
    pub older: Vec<OlderForm>,
    /// The columns that some form lacks.
    pub added: Vec<AddedColumn>,
}

impl FormHistory {
    /// Notes that columns change at a position of the log, in a table that has the columns `old`
    /// until then.
    pub fn change(&mut self, change: &InstantColumns, old: &[ColumnDef], lsn: Lsn) {
        let positions = change.new_positions(old.len());
        let moved = |position: usize| match positions[position] {
            Some(position) => FormColumn::Kept(position),
            None => FormColumn::Dropped(old[position].ty.clone()),
        };
        for column in self.older.iter_mut().flat_map(|form| &mut form.columns) {
            if let FormColumn::Kept(position) = column {
                *column = moved(*position);
            }
        }
        self.older.push(OlderForm { until: lsn, columns: (0..old.len()).map(moved).collect() });
        self.added.retain_mut(|added| match positions[added.position] {
            Some(position) => {
                added.position = position;
                true
            }
            None => false,
        });
        self.added.extend(change.added.iter().cloned());
        assert!(self.older.len() <= MAX_ROW_VERSIONS, "the limit was asked about before");
        assert!(self.older.is_sorted_by_key(|form| form.until), "columns change one after the other");
    }

    /// Appends the dictionary's form of the history.
    pub fn put(&self, out: &mut Vec<u8>) {
        out.put_varint(self.older.len() as u64);
        for OlderForm { until, columns } in &self.older {
            out.put_u64(*until);
            out.put_varint(columns.len() as u64);
            for column in columns {
                match column {
                    FormColumn::Kept(position) => {
                        out.put_bool(true);
                        out.put_varint(*position as u64);
                    }
                    FormColumn::Dropped(ty) => {
                        out.put_bool(false);
                        codec::put_type(out, ty);
                    }
                }
            }
        }
        out.put_varint(self.added.len() as u64);
        for column in &self.added {
            out.put_varint(column.position as u64);
            out.put_bool(column.value.is_some());
            if let Some(value) = &column.value {
                out.put_bytes(value);
            }
        }
    }

    /// Reads what [`FormHistory::put`] wrote, for a table that has these columns now.
    ///
    /// # Errors
    /// Returns an error for bytes that nobody wrote.
    pub fn read(reader: &mut Reader<'_>, columns: &[ColumnDef]) -> Result<FormHistory> {
        let mut history = FormHistory::default();
        let mut last_until = 0;
        for _ in 0..reader.count()? {
            let form = OlderForm::read(reader, columns.len())?;
            if form.until < last_until {
                return Err(reader.impossible("log position of a row form"));
            }
            last_until = form.until;
            history.older.push(form);
        }
        for _ in 0..reader.count()? {
            let position = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
            let column = columns.get(position).ok_or_else(|| reader.impossible("added column"))?;
            let value = if reader.bool()? { Some(reader.bytes()?.to_vec()) } else { None };
            let width = packed::width(&column.ty);
            if value.as_ref().is_some_and(|value| packed::packed_len(width, value) != Ok(value.len())) {
                return Err(reader.impossible("value of an added column"));
            }
            history.added.push(AddedColumn { position, value });
        }
        let has_value = |at: usize| history.added.iter().any(|added| added.position == at);
        let lacks = |form: &OlderForm, at: usize| !form.columns.contains(&FormColumn::Kept(at));
        let is_lacking = |at: usize| history.older.iter().any(|form| lacks(form, at));
        if (0..columns.len()).any(|at| is_lacking(at) && !has_value(at)) {
            return Err(reader.impossible("set of added columns"));
        }
        Ok(history)
    }
}

impl OlderForm {
    fn read(reader: &mut Reader<'_>, columns: usize) -> Result<OlderForm> {
        let mut form = OlderForm { until: reader.u64()?, columns: Vec::new() };
        let mut least = 0;
        for _ in 0..reader.count()? {
            form.columns.push(if reader.bool()? {
                let position = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
                if position < least || position >= columns {
                    return Err(reader.impossible("column of a row form"));
                }
                least = position + 1;
                FormColumn::Kept(position)
            } else {
                FormColumn::Dropped(codec::read_type(reader)?)
            });
        }
        Ok(form)
    }

    /// Returns the place among the form's columns of the one that is at `position` now.
    pub fn place(&self, position: usize) -> Option<usize> {
        self.columns.iter().position(|column| *column == FormColumn::Kept(position))
    }
}

/// A form with what is needed to read its rows.
#[derive(Debug)]
struct Reading {
    form: OlderForm,
    layout: RowLayout,
    /// The columns that rows lack, if these are the last ones and no column was dropped.
    tail: Option<Tail>,
}

/// What the rows of a form lack at their ends.
#[derive(Debug)]
struct Tail {
    /// The null bitmap of a present row in which only missing columns may be NULL.
    nulls: Vec<u8>,
    /// The packed values of the missing columns.
    values: Vec<u8>,
}

impl Tail {
    fn of(form: &OlderForm, values: &[Option<Vec<u8>>]) -> Option<Tail> {
        let has = form.columns.len();
        if !form.columns.iter().cloned().eq((0..has).map(FormColumn::Kept)) {
            return None;
        }
        let mut tail = Tail { nulls: vec![0; values.len().div_ceil(8)], values: Vec::new() };
        for (at, value) in values.iter().enumerate().skip(has) {
            match value {
                Some(value) => tail.values.extend_from_slice(value),
                None => tail.nulls[at / 8] |= 1 << (at % 8),
            }
        }
        Some(tail)
    }

    /// Returns the present image of a row that has so many columns.
    fn carry(&self, has: usize, image: &[u8]) -> Option<Vec<u8>> {
        let (bitmap, row) = image.split_at_checked(has.div_ceil(8))?;
        let mut carried = Vec::with_capacity(self.nulls.len() + row.len() + self.values.len());
        carried.extend_from_slice(&self.nulls);
        for (at, byte) in bitmap.iter().enumerate() {
            // The bits behind the row's columns say nothing.
            let bits = (has - 8 * at).min(8);
            carried[at] |= byte & (0xff >> (8 - bits));
        }
        carried.extend_from_slice(row);
        carried.extend_from_slice(&self.values);
        Some(carried)
    }
}

/// All forms of a table's rows.
#[derive(Debug)]
pub(crate) struct RowForms {
    /// The forms, the oldest one first. The last one is that of the present definition.
    forms: Vec<Reading>,
    /// The values that stand for missing columns, by position. Columns that no row lacks have none.
    values: Vec<Option<Vec<u8>>>,
}

impl RowForms {
    /// Returns the forms of a table with columns of these types. `None` means that all rows have
    /// the present columns.
    pub fn new(types: &[ColumnType], history: &FormHistory) -> Option<Box<RowForms>> {
        if history.older.is_empty() {
            return None;
        }
        let mut values = vec![None; types.len()];
        for column in &history.added {
            values[column.position].clone_from(&column.value);
        }
        let present =
            OlderForm { until: Lsn::MAX, columns: (0..types.len()).map(FormColumn::Kept).collect() };
        let reading = |form: OlderForm| {
            let types = form.columns.iter().map(|column| match column {
                FormColumn::Kept(position) => types[*position].clone(),
                FormColumn::Dropped(ty) => ty.clone(),
            });
            let layout = RowLayout::new(&types.collect::<Vec<_>>());
            Reading { layout, tail: Tail::of(&form, &values), form }
        };
        let forms = history.older.iter().cloned().chain([present]).map(reading).collect();
        Some(Box::new(RowForms { forms, values }))
    }

    /// Returns the forms that are older than the present one, the oldest one first.
    pub fn older(&self) -> impl Iterator<Item = &OlderForm> {
        self.forms[..self.newest()].iter().map(|reading| &reading.form)
    }

    /// Returns the number of the present form.
    pub fn newest(&self) -> usize {
        self.forms.len() - 1
    }

    /// Returns the number of the form of rows with this sequence number.
    pub fn number_at(&self, seq: Lsn) -> usize {
        self.forms.iter().position(|reading| seq <= reading.form.until).unwrap_or(self.newest())
    }

    /// Reports whether rows with this sequence number have an older form.
    #[inline]
    pub fn are_older_at(&self, seq: Lsn) -> bool {
        self.forms[self.newest() - 1].form.until >= seq
    }

    /// Returns the image that a row of one form has in a later form.
    ///
    /// # Errors
    /// Returns an error for an image that does not decode.
    pub fn carry(&self, from: usize, to: usize, image: &[u8]) -> Result<Vec<u8>> {
        assert!(from <= to, "a row takes form {to}, and has form {from}, which is later");
        let is_newest = to == self.newest();
        let (from, to) = (&self.forms[from], &self.forms[to]);
        if let Some(tail) = from.tail.as_ref().filter(|_| is_newest)
            && let Some(carried) = tail.carry(from.form.columns.len(), image)
        {
            return Ok(carried);
        }
        // What was dropped is read by nobody, so it may be NULL in a form that has it still.
        let mut columns: Vec<Option<&[u8]>> = self.values.iter().map(Option::as_deref).collect();
        from.layout.walk(image, |at, raw| {
            if let FormColumn::Kept(position) = from.form.columns[at] {
                columns[position] = raw;
            }
        })?;
        let of_form = |column: &FormColumn| match column {
            FormColumn::Kept(position) => columns[*position],
            FormColumn::Dropped(_) => None,
        };
        let columns: Vec<Option<&[u8]>> = to.form.columns.iter().map(of_form).collect();
        let mut carried = Vec::with_capacity(image.len() + 16);
        to.layout.encode_raw(&columns, &mut carried)?;
        Ok(carried)
    }

    /// Renames the columns of a row's off-page values as [`RowForms::carry`] moves them. Values of
    /// dropped columns get the number [`entry::NO_COLUMN`].
    ///
    /// # Errors
    /// Returns an error for a column that the form does not have.
    pub fn carry_externs(&self, from: usize, to: usize, mut externs: Externs) -> Result<Externs> {
        let (from, to) = (&self.forms[from].form, &self.forms[to].form);
        for Extern { column, .. } in &mut externs {
            *column = match from.columns.get(usize::from(*column)) {
                Some(FormColumn::Kept(position)) => {
                    to.place(*position).map_or(entry::NO_COLUMN, |place| place as u16)
                }
                Some(FormColumn::Dropped(_)) => entry::NO_COLUMN,
                None => {
                    let message =
                        format!("a row has an off-page value in column {column}, which is not there");
                    return Err(EngineError::Corrupt(message));
                }
            };
        }
        Ok(externs)
    }

    /// Returns the image of a form in which every column is NULL.
    ///
    /// # Errors
    /// Returns no error that a caller could bring about.
    pub fn all_null(&self, number: usize) -> Result<Vec<u8>> {
        let Reading { form, layout, .. } = &self.forms[number];
        let mut image = Vec::new();
        layout.encode_raw(&vec![None; form.columns.len()], &mut image)?;
        Ok(image)
    }
}
