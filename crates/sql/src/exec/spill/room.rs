//! How much a query may have in memory before it goes on in files.

use crate::expr::Context;

/// What is written to a file, and read from it, at once.
pub(crate) const BLOCK_BYTES: usize = 64 << 10;

/// What a sort may have in memory: `sort_buffer_size`, and no more than a part of what the
/// connection has left.
pub(crate) fn sort_bytes(ctx: &Context<'_>) -> usize {
    bounded(ctx.variables.sort_buffer_bytes, ctx)
}

/// What groups, duplicates or a made table may have in memory: `tmp_table_size`, bounded so.
pub(crate) fn table_bytes(ctx: &Context<'_>) -> usize {
    bounded(ctx.variables.tmp_table_bytes, ctx)
}

/// A connection near its limit has its rows in files before it is refused memory.
fn bounded(bytes: u64, ctx: &Context<'_>) -> usize {
    const LEAST_BYTES: u64 = 1 << 10;
    let most = (ctx.memory.left_bytes() / 8).max(LEAST_BYTES);
    usize::try_from(bytes.min(most)).unwrap_or(usize::MAX)
}
