//! The buffer pool's part: its options at start, and what more than one line does when a variable
//! is set.

use super::definition::Change;
use super::{Globals, Setting, all};
use crate::server::Server;
use buffer::{Doublewrite, FlushMethod, FlushNeighbors, PoolOptions};
use sql::SqlError;

/// The options that the global values ask for.
pub fn pool_options(globals: &Globals) -> PoolOptions {
    let mut options = PoolOptions {
        doublewrite: strategy(&globals.named("innodb_doublewrite")),
        instances: globals.named("innodb_buffer_pool_instances").uint() as usize,
        page_cleaners: globals.named("innodb_page_cleaners").uint() as usize,
        flush_method: FlushMethod::named(globals.named("innodb_flush_method").text())
            .unwrap_or(FlushMethod::Direct),
        native_aio: globals.named("innodb_use_native_aio").is_on(),
        load_at_startup: globals.named("innodb_buffer_pool_load_at_startup").is_on(),
        ..PoolOptions::default()
    };
    for id in all() {
        if let Change::Pool(enter) = id.definition().change {
            enter(&mut options, &globals.get(id));
        }
    }
    options
}

/// `innodb_flush_neighbors`
pub fn set_flush_neighbors(options: &mut PoolOptions, setting: &Setting) {
    options.flush_neighbors = match setting.uint() {
        0 => FlushNeighbors::Off,
        1 => FlushNeighbors::Contiguous,
        _ => FlushNeighbors::Extent,
    };
}

fn strategy(setting: &Setting) -> Doublewrite {
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
