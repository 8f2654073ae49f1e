//! The last INSERTs of literals, each of which another one that differs in its rows only uses
//! again.
//!
//! Loading and logging applications send the same INSERT with other values, mostly as texts. The
//! text in front of the rows is compared, and the new rows are put into the bound statement, so
//! that it is neither parsed nor bound again.

use super::bound::{Bound, Plan};
use crate::error::Result;
use crate::lexical::{LexMode, Watch};
use crate::literal_rows::LiteralRows;
use crate::memory::{Budget, Charge, allocated};
use engine::Engine;
use std::sync::{Arc, OnceLock};

/// An INSERT of literals that has run.
pub(crate) struct LastInsert {
    /// The text in front of the rows, with which the statement ends.
    lead: Box<[u8]>,
    bound: Arc<Bound>,
    /// The charge for the lead and the rows, once it is kept.
    charge: Charge,
}

impl LastInsert {
    /// Returns the INSERT that a text was bound to, or `None` if it is not one of literals, is too
    /// long, or may not be used again. It will be charged to `memory`.
    pub fn of(text: &[u8], bound: &Arc<Bound>, memory: &Arc<Budget>) -> Option<LastInsert> {
        let lead = bound.literal_rows()?.lead(text)?;
        if !bound.cacheable || lead.len() > MOST_LEAD_BYTES {
            return None;
        }
        let insert = LastInsert { lead: lead.into(), bound: bound.clone(), charge: Charge::new(memory) };
        insert.is_short().then_some(insert)
    }

    /// Reports whether the rows that it has now are short enough to be kept.
    pub fn is_short(&self) -> bool {
        self.bound.literal_rows().is_some_and(|rows| rows.kept_bytes() <= MOST_ROW_BYTES)
    }

    /// Charges what it keeps. Returns false if there is no room for it.
    fn charge(&mut self) -> bool {
        let rows_bytes = self.bound.literal_rows().map_or(0, LiteralRows::kept_bytes);
        // Rows that become shorter stay charged as they were, because they often become longer
        // again.
        let more_bytes = (allocated(self.lead.len()) + rows_bytes).saturating_sub(self.charge.bytes());
        more_bytes == 0 || self.charge.add_if_room(more_bytes)
    }

    /// Reports whether a text begins as this statement does.
    #[inline]
    pub fn begins(&self, text: &[u8]) -> bool {
        text.starts_with(&self.lead)
    }

    /// Returns the bound statement with the rows of `text`, or `None` if the text is not the same
    /// statement with other rows, or if the tables or the session's settings, whose generation is
    /// given, have changed.
    ///
    /// # Errors
    /// Returns the errors of `watch`, which is called with the bytes that the rows take.
    pub fn again(
        &mut self,
        (engine, generation): (&Engine, u64),
        text: &[u8],
        mode: LexMode,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Arc<Bound>>> {
        // Somebody else has the statement while its plan is explained.
        let Some(bound) = Arc::get_mut(&mut self.bound) else { return Ok(None) };
        let Plan::Insert(plan) = &mut bound.plan else { return Ok(None) };
        let is_current = || {
            let table = engine.catalog().table_by_id(plan.table.id);
            table.is_some_and(|table| Arc::ptr_eq(&table, &plan.table))
        };
        if bound.generation != generation || !text.starts_with(&self.lead) || !is_current() {
            return Ok(None);
        }
        let Some((rows, end)) = LiteralRows::scan(text, self.lead.len(), mode, watch)? else {
            return Ok(None);
        };
        let is_like = plan.literal_rows().is_some_and(|before| before.is_row_like(&rows));
        if end != text.len() || !plan.set_literal_rows(rows) {
            return Ok(None);
        }
        if !is_like {
            // Rows of another form may have another digest.
            bound.known = OnceLock::new();
        }
        Ok(Some(self.bound.clone()))
    }
}

/// The most INSERTs that are kept.
const MOST_KEPT: usize = 16;

/// The most bytes of rows with which an INSERT is kept. Of longer ones the rows take nearly all of
/// the time.
const MOST_ROW_BYTES: usize = 16 << 10;

/// The most bytes of text in front of the rows with which an INSERT is kept.
const MOST_LEAD_BYTES: usize = 16 << 10;

/// The last INSERTs of a client, the latest one at the end.
#[derive(Default)]
pub(crate) struct LastInserts(Vec<LastInsert>);

impl LastInserts {
    /// Takes the INSERT out with which a text begins.
    #[inline]
    pub fn take(&mut self, text: &[u8]) -> Option<LastInsert> {
        let at = self.0.iter().rposition(|last| last.begins(text))?;
        Some(self.0.remove(at))
    }

    /// Keeps an INSERT, for which the one that was used the longest time ago makes room. It is
    /// dropped if it is too long, or if the client's memory has no room for it.
    pub fn keep(&mut self, mut insert: LastInsert) {
        if !insert.is_short() || !insert.charge() {
            return;
        }
        if self.0.len() >= MOST_KEPT {
            self.0.remove(0);
        }
        self.0.push(insert);
    }

    /// Forgets all INSERTs.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
