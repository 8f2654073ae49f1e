//! Builds a hash table: in memory up to a bound, in files beyond it.

use super::kept::{Kept, MOST_BYTES};
use super::parts::{LEVELS, PARTS, Parts, Spread, part_of};
use crate::error::Result;
use crate::exec::by_hash::{SortedRows, Sorting};
use crate::exec::spill::{join_bytes, table_bytes};
use crate::expr::Context;
use crate::memory::Charge;

/// Whether rows of the tables before may wait until a part of the hash table is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::exec) enum Waiting {
    Allowed,
    /// The rows have to go on in their order, or what becomes of each has to be known at once.
    Forbidden,
    /// There is no use for a table that is not in memory as a whole: several threads share it.
    InMemoryOnly,
}

/// Where the rows go that have no room in memory.
enum Rest {
    None,
    /// They are spread over parts, of which the first ones are still in memory.
    Parts {
        spread: Spread,
        in_memory: usize,
    },
    Sorted(Box<Sorting>),
    /// They are left out, and so are all others: the table is given up.
    Nowhere,
}

/// The rows of a complete table that are not in memory.
pub(super) enum Beyond {
    None,
    Parts(Box<Parts>),
    Sorted(Box<SortedRows>),
    /// Nowhere: the table was given up.
    GivenUp,
}

/// A hash table that rows are added to.
pub(super) struct Builder {
    kept: Kept,
    rest: Rest,
    most_bytes: usize,
    waiting: Waiting,
    /// How many times the rows have been spread before.
    level: u32,
}

fn nothing_kept(ctx: &Context<'_>) -> Kept {
    Kept::new(Charge::new(ctx.memory), Charge::new(ctx.memory))
}

/// Returns the bytes that a table may have which threads share: the join buffers that each of them
/// may have, or a part of what a table of the statement may have, if that is more. Without the
/// table there is one thread.
fn shared_bytes(ctx: &Context<'_>) -> usize {
    /// As many such tables take no more than groups may.
    const TABLES: usize = 4;
    let threads = ctx.variables.parallel_read_threads as usize;
    join_bytes(ctx).saturating_mul(threads).max(table_bytes(ctx) / TABLES)
}

impl Builder {
    pub fn new(waiting: Waiting, level: u32, ctx: &Context<'_>) -> Builder {
        let most_bytes = match waiting {
            Waiting::InMemoryOnly => shared_bytes(ctx),
            Waiting::Allowed | Waiting::Forbidden => join_bytes(ctx),
        };
        let most_bytes = most_bytes.min(MOST_BYTES);
        Builder { kept: nothing_kept(ctx), rest: Rest::None, most_bytes, waiting, level }
    }

    /// Adds a row behind those that have the same key.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`], and 1 and 3 when a temporary file cannot be created
    /// or written.
    pub fn push(&mut self, key: &[u8], hash: u64, row: &[u8], ctx: &Context<'_>) -> Result<()> {
        match &mut self.rest {
            Rest::Parts { spread, in_memory } if part_of(hash, self.level) >= *in_memory => {
                return spread.push(key, hash, row, ctx);
            }
            Rest::Sorted(sorting) => return sorting.push(key, hash, row, ctx),
            Rest::Nowhere => return Ok(()),
            Rest::None | Rest::Parts { .. } => {}
        }
        self.kept.push(key, hash, row)?;
        if self.kept.used_bytes() > self.most_bytes { self.make_room(ctx) } else { Ok(()) }
    }

    /// Is told that the table will have this many times as many rows as it has. A table that has to
    /// be in memory, and will not have room there, is given up before the others are read.
    pub fn expect(&mut self, times: f64, ctx: &Context<'_>) {
        // The rows so far may be larger than the others.
        const CERTAINLY: f64 = 1.5;
        let expected_bytes = self.kept.used_bytes() as f64 * times;
        if self.waiting == Waiting::InMemoryOnly && expected_bytes > self.most_bytes as f64 * CERTAINLY {
            (self.kept, self.rest) = (nothing_kept(ctx), Rest::Nowhere);
        }
    }

    /// Reports whether the table needed more memory than it may have and could not go on in files.
    pub fn has_given_up(&self) -> bool {
        matches!(self.rest, Rest::Nowhere)
    }

    /// Writes rows to a file, until those that stay in memory have room there: the parts of half of
    /// what is still there, and all rows where none may wait.
    #[cold]
    fn make_room(&mut self, ctx: &Context<'_>) -> Result<()> {
        if self.waiting == Waiting::InMemoryOnly {
            (self.kept, self.rest) = (nothing_kept(ctx), Rest::Nowhere);
            return Ok(());
        }
        if self.waiting == Waiting::Forbidden || self.level >= LEVELS {
            let mut sorting = Box::new(Sorting::new(ctx));
            let kept = std::mem::replace(&mut self.kept, nothing_kept(ctx));
            kept.for_each(|key, hash, row| sorting.push(key, hash, row, ctx))?;
            assert_eq!(sorting.len(), kept.len() as u64, "all rows have gone to the file");
            self.rest = Rest::Sorted(sorting);
            return Ok(());
        }
        if matches!(self.rest, Rest::None) {
            self.rest = Rest::Parts { spread: Spread::new(self.level, ctx), in_memory: PARTS };
        }
        let (level, most_bytes) = (self.level, self.most_bytes);
        let Rest::Parts { spread, in_memory } = &mut self.rest else { return Ok(()) };
        while self.kept.used_bytes() > most_bytes && *in_memory > 0 {
            *in_memory /= 2;
            let (mut stays, before) = (nothing_kept(ctx), spread.len());
            self.kept.for_each(|key, hash, row| {
                ctx.check_interrupt()?;
                match part_of(hash, level) < *in_memory {
                    true => stays.push(key, hash, row),
                    false => spread.push(key, hash, row, ctx),
                }
            })?;
            let moved = spread.len() - before;
            assert_eq!(stays.len() as u64 + moved, self.kept.len() as u64, "each row stays or is moved");
            self.kept = stays;
        }
        Ok(())
    }

    /// Ends the table.
    ///
    /// # Errors
    /// Returns the errors of [`Builder::push`].
    pub fn finish(self, ctx: &Context<'_>) -> Result<(Kept, Beyond)> {
        let beyond = match self.rest {
            Rest::None => Beyond::None,
            Rest::Nowhere => Beyond::GivenUp,
            Rest::Parts { spread, in_memory } => Beyond::Parts(Box::new(Parts::new(spread, in_memory, ctx)?)),
            Rest::Sorted(sorting) => Beyond::Sorted(Box::new(sorting.finish(ctx)?)),
        };
        Ok((self.kept, beyond))
    }
}
