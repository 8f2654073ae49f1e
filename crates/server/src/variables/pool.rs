//! The variables of the buffer pool: its options at start, and what SET GLOBAL changes in a running
//! one.

use super::{Globals, Setting};
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
    for &(name, enter) in CHANGEABLE {
        enter(&mut options, &globals.named(name));
    }
    options
}

/// Enters a variable's value into the options.
type Enter = fn(&mut PoolOptions, &Setting);

/// The variables that can be changed in a running pool, but `innodb_doublewrite`.
const CHANGEABLE: &[(&str, Enter)] = &[
    ("innodb_adaptive_flushing", |options, setting| options.adaptive_flushing = setting.is_on()),
    ("innodb_adaptive_flushing_lwm", |options, setting| {
        options.adaptive_flushing_lwm_percent = setting.uint() as f64;
    }),
    ("innodb_buffer_pool_dump_at_shutdown", |options, setting| options.dump_at_shutdown = setting.is_on()),
    ("innodb_buffer_pool_dump_pct", |options, setting| options.dump_percent = setting.uint() as u32),
    ("innodb_buffer_pool_filename", |options, setting| options.dump_file = setting.text().to_owned()),
    ("innodb_flush_neighbors", |options, setting| {
        options.flush_neighbors = match setting.uint() {
            0 => FlushNeighbors::Off,
            1 => FlushNeighbors::Contiguous,
            _ => FlushNeighbors::Extent,
        };
    }),
    ("innodb_flush_sync", |options, setting| options.flush_sync = setting.is_on()),
    ("innodb_flushing_avg_loops", |options, setting| options.flushing_avg_loops = setting.uint() as u32),
    ("innodb_io_capacity", |options, setting| options.io_capacity = setting.uint() as u32),
    ("innodb_io_capacity_max", |options, setting| options.io_capacity_max = setting.uint() as u32),
    ("innodb_lru_flushers", |options, setting| options.lru_flushers = setting.is_on()),
    ("innodb_lru_scan_depth", |options, setting| options.lru_scan_depth = setting.uint() as usize),
    ("innodb_max_dirty_pages_pct", |options, setting| options.max_dirty_percent = setting.double()),
    ("innodb_max_dirty_pages_pct_lwm", |options, setting| options.max_dirty_lwm_percent = setting.double()),
    ("innodb_old_blocks_pct", |options, setting| options.old_blocks_percent = setting.uint() as usize),
    ("innodb_old_blocks_time", |options, setting| options.old_blocks_time_ms = setting.uint() as u32),
    ("innodb_random_read_ahead", |options, setting| {
        options.random_read_ahead = setting.is_on();
    }),
    ("innodb_read_ahead_threshold", |options, setting| {
        options.read_ahead_threshold = setting.uint() as u32;
    }),
    ("innodb_single_page_flush", |options, setting| options.single_page_flush = setting.is_on()),
];

fn strategy(setting: &Setting) -> Doublewrite {
    Doublewrite::named(setting.text()).unwrap_or(Doublewrite::Parallel)
}

/// Does what setting one of these variables ON asks for; they stay OFF. False when it is none of
/// them.
pub fn act(server: &Server, name: &str, setting: &Setting) -> bool {
    let pool = server.engine.pool();
    let on = setting.is_on();
    match name {
        "innodb_buffer_pool_dump_now" => {
            if on && let Err(error) = pool.dump_pages() {
                // As in MySQL: the statement succeeds, the status variable tells.
                log::error!("Buffer pool(s) dump: {error}");
            }
        }
        "innodb_buffer_pool_load_now" if on => pool.start_load(),
        "innodb_buffer_pool_load_abort" if on => pool.abort_load(),
        "innodb_buffer_pool_load_now" | "innodb_buffer_pool_load_abort" => {}
        _ => return false,
    }
    true
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
    if let Some((_, enter)) = CHANGEABLE.iter().find(|(known, _)| *known == name) {
        pool.change_options(|options| enter(options, setting));
    }
    Ok(())
}
