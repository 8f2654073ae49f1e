//! MATCH ... AGAINST: the relevance of the row at hand.
//!
//! A search is made when its value is asked for first, and holds for the statement. It reads
//! committed rows alone, as InnoDB's index has them; the row at hand is known among them by its
//! texts.

use super::node::Match;
use super::searched_rows::{SearchedRows, text_in};
use super::text::text_of;
use super::{Context, Expr};
use crate::error::{Result, SqlError};
use crate::full_text::{Found, search};
use std::rc::Rc;
use types::Value;
use types::words::Rules;

impl Match {
    /// How relevant the row is; 0: it is not found.
    ///
    /// # Errors
    /// 1191 where no index was found; as [`search`].
    // The evaluation of an expression recurses, and its frames must stay small.
    #[inline(never)]
    pub fn relevance(&self, row: &[Value], ctx: &Context<'_>) -> Result<f64> {
        let Some(found) = self.found(row, ctx)? else { return Ok(0.0) };
        let columns = self.columns();
        let mut texts = Vec::with_capacity(columns.len());
        for column in columns {
            texts.push(column.eval(row, ctx)?);
        }
        Ok(found.relevance(texts.iter().map(|value| text_in(value))))
    }

    /// Returns what the search finds. `None` means that there is nothing to search for. `row` has
    /// the values of outer tables' columns.
    ///
    /// # Errors
    /// Returns the errors of [`Match::relevance`].
    pub fn found(&self, row: &[Value], ctx: &Context<'_>) -> Result<Option<Rc<Found>>> {
        let Some(against) = self.operands.last() else { return Ok(None) };
        let Some(index) = &self.index else { return Err(no_index()) };
        let text = against.eval(row, ctx)?;
        if text.is_null() {
            return Ok(None);
        }
        let text = text_of(&text);
        let found = ctx.searches.found((index.table.id, &index.columns), self.mode, &text, || {
            let interrupt = || ctx.check_interrupt();
            let mut rows = SearchedRows::new(index, ctx);
            let text = String::from_utf8_lossy(&text);
            let sizes = index.entries.map_or_else(|| ctx.engine.word_sizes(), |(sizes, _)| sizes);
            let rules = Rules::new(index.collation, index.is_ngram, sizes);
            let (found, numbers) = search(&text, self.mode, &rules, &mut rows, ctx.memory, &interrupt)?;
            found.with_keys(rows.keys(&numbers))
        })?;
        Ok(Some(found))
    }

    /// The columns.
    pub fn columns(&self) -> &[Expr] {
        self.operands.split_last().map_or(&[], |(_, columns)| columns)
    }
}

/// Error 1191.
pub(crate) fn no_index() -> SqlError {
    SqlError::new(1191, "Can't find FULLTEXT index matching the column list")
}
