//! The variables of the buffer pool: its options at start, and what SET GLOBAL changes in a running one.

use super::{Globals, Setting};
use crate::server::Server;
use buffer::{Doublewrite, PoolOptions};
use sql::SqlError;

/// The options that the global values ask for.
pub fn pool_options(globals: &Globals) -> PoolOptions {
    let mut options =
        PoolOptions { doublewrite: strategy(&globals.named("innodb_doublewrite")), ..PoolOptions::default() };
    for name in CHANGEABLE {
        change(&mut options, name, &globals.named(name));
    }
    options
}

/// The variables that [`change`] knows.
const CHANGEABLE: &[&str] =
    &["innodb_io_capacity", "innodb_io_capacity_max", "innodb_lru_scan_depth", "innodb_single_page_flush"];

/// Enters a variable's value into the options; false when it is none of theirs.
fn change(options: &mut PoolOptions, name: &str, setting: &Setting) -> bool {
    match name {
        "innodb_io_capacity" => options.io_capacity = setting.uint() as u32,
        "innodb_io_capacity_max" => options.io_capacity_max = setting.uint() as u32,
        "innodb_lru_scan_depth" => options.lru_scan_depth = setting.uint() as usize,
        "innodb_single_page_flush" => options.single_page_flush = setting.is_on(),
        _ => return false,
    }
    true
}

fn strategy(setting: &Setting) -> Doublewrite {
    Doublewrite::named(setting.text()).unwrap_or(Doublewrite::Parallel)
}

/// Makes SET GLOBAL of one of the pool's variables count; other names are passed over.
pub fn apply(server: &Server, name: &str, setting: &Setting) -> Result<(), SqlError> {
    let pool = server.engine.pool();
    if name == "innodb_doublewrite" {
        let failed = |error: buffer::BufferError| {
            log::error!("innodb_doublewrite cannot be changed to {setting}: {error}");
            SqlError::new(
                1231,
                format!("Variable 'innodb_doublewrite' can't be set to the value of '{setting}'"),
            )
        };
        return pool.set_doublewrite(strategy(setting)).map_err(failed);
    }
    if CHANGEABLE.contains(&name) {
        pool.change_options(|options| {
            change(options, name, setting);
        });
    }
    Ok(())
}
