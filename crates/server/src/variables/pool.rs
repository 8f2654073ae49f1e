//! What the variables of the buffer pool change when they are set.

use super::Setting;
use crate::server::Server;
use buffer::{Doublewrite, FlushNeighbors, PoolOptions};
use sql::SqlError;

/// `innodb_flush_neighbors`
pub fn set_flush_neighbors(options: &mut PoolOptions, setting: &Setting) {
    options.flush_neighbors = match setting.uint() {
        0 => FlushNeighbors::Off,
        1 => FlushNeighbors::Contiguous,
        _ => FlushNeighbors::Extent,
    };
}

/// The strategy that a value of `innodb_doublewrite` names.
pub fn strategy(setting: &Setting) -> Doublewrite {
    Doublewrite::named(setting.text()).unwrap_or(Doublewrite::Parallel)
}

/// `innodb_buffer_pool_dump_now`
pub fn dump_now(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    if setting.is_on()
        && let Err(error) = server.engine.pool().dump_pages()
    {
        // As in MySQL: the statement succeeds, the status variable tells.
        log::error!("Buffer pool(s) dump: {error}");
    }
    Ok(())
}

/// `innodb_doublewrite`
pub fn set_doublewrite(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    server.engine.pool().set_doublewrite(strategy(setting)).map_err(|error| {
        log::error!("innodb_doublewrite cannot be changed to {setting}: {error}");
        SqlError::new(1231, format!("Variable 'innodb_doublewrite' can't be set to the value of '{setting}'"))
    })
}
