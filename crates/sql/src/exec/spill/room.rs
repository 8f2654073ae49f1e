//! How many bytes a query may keep in memory before it goes on in files.

use crate::expr::Context;

/// The size of the blocks that are written to a temporary file and read from it.
pub(crate) const BLOCK_BYTES: usize = 64 << 10;

/// Returns the bytes that a sort may keep in memory: `sort_buffer_size`, but at most an eighth of
/// what the connection has left.
pub(crate) fn sort_bytes(ctx: &Context<'_>) -> usize {
    bounded(ctx.variables.sort_buffer_bytes, ctx)
}

/// Returns the bytes that groups, DISTINCT or a materialized table may keep in memory:
/// `tmp_table_size`, but at most an eighth of what the connection has left.
pub(crate) fn table_bytes(ctx: &Context<'_>) -> usize {
    bounded(ctx.variables.tmp_table_bytes, ctx)
}

/// Returns the bytes that the hash table of a join may keep in memory: `join_buffer_size`, but at
/// most an eighth of what the connection has left. Less than a few kilobytes would save nothing,
/// because the files that the table goes on in have a block each in memory.
pub(crate) fn join_bytes(ctx: &Context<'_>) -> usize {
    const LEAST_BYTES: usize = 4 << 10;
    bounded(ctx.variables.join_buffer_bytes, ctx).max(LEAST_BYTES)
}

/// Bounds `bytes` by an eighth of what the connection has left, so that a connection near its
/// memory limit writes to files before it is refused memory.
fn bounded(bytes: u64, ctx: &Context<'_>) -> usize {
    const LEAST_BYTES: u64 = 1 << 10;
    let most = (ctx.memory.left_bytes() / 8).max(LEAST_BYTES);
    usize::try_from(bytes.min(most)).unwrap_or(usize::MAX)
}
