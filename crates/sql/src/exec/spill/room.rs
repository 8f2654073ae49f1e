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

/// Bounds `bytes` by an eighth of what the connection has left, so that a connection near its
/// memory limit writes to files before it is refused memory.
fn bounded(bytes: u64, ctx: &Context<'_>) -> usize {
    const LEAST_BYTES: u64 = 1 << 10;
    let most = (ctx.memory.left_bytes() / 8).max(LEAST_BYTES);
    usize::try_from(bytes.min(most)).unwrap_or(usize::MAX)
}
