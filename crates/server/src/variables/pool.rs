//! The effects of setting the variables of the buffer pool.

use super::Setting;
use crate::server::Server;
use buffer::{Doublewrite, FlushNeighbors, PoolOptions};
use sql::SqlError;

/// Sets `innodb_flush_neighbors`.
pub fn set_flush_neighbors(options: &mut PoolOptions, setting: &Setting) {
    options.flush_neighbors = match setting.uint() {
        0 => FlushNeighbors::Off,
        1 => FlushNeighbors::Contiguous,
        _ => FlushNeighbors::Extent,
    };
}

/// Returns the strategy that a value of `innodb_doublewrite` names.
pub fn strategy(setting: &Setting) -> Doublewrite {
    Doublewrite::named(setting.text()).unwrap_or(Doublewrite::Parallel)
}

/// Carries out `innodb_buffer_pool_dump_now`.
pub fn dump_now(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    if setting.is_on()
        && let Err(error) = server.engine.pool().dump_pages()
    {
        // As in MySQL the statement succeeds, and a status variable tells the result.
        log::error!("Buffer pool(s) dump: {error}");
    }
    Ok(())
}

/// Sets `innodb_doublewrite`.
///
/// # Errors
/// Returns 1231 (`ER_WRONG_VALUE_FOR_VAR`) when the pool cannot be changed.
pub fn set_doublewrite(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    server.engine.pool().set_doublewrite(strategy(setting)).map_err(|error| {
        log::error!("innodb_doublewrite cannot be changed to {setting}: {error}");
        SqlError::new(1231, format!("Variable 'innodb_doublewrite' can't be set to the value of '{setting}'"))
    })
}
