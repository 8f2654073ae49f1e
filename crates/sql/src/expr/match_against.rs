//! MATCH ... AGAINST: the relevance of the row at hand.
//!
//! A search is made when its value is asked for first, and holds for the statement. It reads the
//! table by a transaction of its own, for InnoDB's index has committed rows alone; the row at hand
//! is known among them by its texts.

use super::node::{Match, SearchedIndex};
use super::text::text_of;
use super::{Context, Expr};
use crate::error::{Result, SqlError};
use crate::full_text::{Documents, Rules, WordSizes, search};
use crate::host::VariableScope;
use engine::{Direction, Found, IndexRef, KeyRange, LockMode, TableHold};
use types::Value;

impl Match {
    /// How relevant the row is; 0: it is not found.
    ///
    /// # Errors
    /// 1191 where no index was found; as [`search`].
    // The evaluation of an expression recurses, and its frames must stay small.
    #[inline(never)]
    pub fn relevance(&self, row: &[Value], ctx: &Context<'_>) -> Result<f64> {
        let Some((against, columns)) = self.operands.split_last() else { return Ok(0.0) };
        let Some(index) = &self.index else { return Err(no_index()) };
        let text = against.eval(row, ctx)?;
        if text.is_null() {
            return Ok(0.0);
        }
        let text = text_of(&text);
        let found = ctx.searches.found((index.table.id, &index.columns), self.mode, &text, || {
            let interrupt = || ctx.check_interrupt();
            let mut rows = Rows { index, ctx };
            let text = String::from_utf8_lossy(&text);
            let collation = index.table.column_type(index.columns[0]).collation;
            let rules = Rules::new(collation, index.is_ngram, word_sizes(ctx)?);
            search(&text, self.mode, &rules, &mut rows, ctx.memory, &interrupt)
        })?;
        let mut texts = Vec::with_capacity(columns.len());
        for column in columns {
            texts.push(column.eval(row, ctx)?);
        }
        Ok(found.relevance(texts.iter().map(|value| text_in(value))))
    }

    /// The columns.
    pub fn columns(&self) -> &[Expr] {
        self.operands.split_last().map_or(&[], |(_, columns)| columns)
    }
}

/// What the server's variables say about words.
///
/// # Errors
/// Those of the host.
fn word_sizes(ctx: &Context<'_>) -> Result<WordSizes> {
    let number = |name| match ctx.host.variable(VariableScope::Global, name)? {
        Some(Value::UInt(number)) => Ok(usize::try_from(number).ok()),
        Some(Value::Int(number)) => Ok(usize::try_from(number).ok()),
        _ => Ok::<_, SqlError>(None),
    };
    let usual = WordSizes::default();
    Ok(WordSizes {
        least_chars: number("innodb_ft_min_token_size")?.unwrap_or(usual.least_chars),
        most_chars: number("innodb_ft_max_token_size")?.unwrap_or(usual.most_chars),
        ngram_chars: number("ngram_token_size")?.unwrap_or(usual.ngram_chars).max(1),
        has_stop_words: number("innodb_ft_enable_stopword")?.map_or(usual.has_stop_words, |on| on != 0),
    })
}

/// Error 1191.
pub(crate) fn no_index() -> SqlError {
    SqlError::new(1191, "Can't find FULLTEXT index matching the column list")
}

/// The text of a column; `None`: it is NULL.
fn text_in(value: &Value) -> Option<&str> {
    match value {
        Value::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// The committed rows of a table.
struct Rows<'a> {
    index: &'a SearchedIndex,
    ctx: &'a Context<'a>,
}

impl Documents for Rows<'_> {
    fn each(&mut self, visit: &mut dyn FnMut(&[Option<&str>]) -> Result<()>) -> Result<()> {
        let SearchedIndex { table, columns, .. } = self.index;
        let mut transaction = TableHold::begin_beside(self.ctx.engine);
        let all = KeyRange::all();
        let mut scan =
            transaction.scan(table, IndexRef::Primary, all, Direction::Forward, LockMode::Snapshot)?;
        let mut values = vec![Value::Null; table.def.columns.len()];
        loop {
            let own;
            let image: &[u8] = match scan.next_lent(&mut transaction, false)? {
                None => return Ok(()),
                Some(Found::Row(row)) => {
                    own = row;
                    &own.image
                }
                Some(Found::Lent | Found::Entry) => scan.image(),
            };
            self.ctx.check_interrupt()?;
            table.layout.decode_columns(image, columns, &mut values)?;
            let texts: Vec<Option<&str>> = columns.iter().map(|at| text_in(&values[*at])).collect();
            visit(&texts)?;
        }
    }
}
