//! The use that the start of a server makes of the global values that the options gave.

use super::definition::Change;
use super::pool::strategy;
use super::{Globals, all};
use crate::server::Server;
use buffer::{FlushMethod, PoolOptions};
use source::semi_sync::SemiSync;
use sql::SqlError;

/// Returns the options of the buffer pool that the global values ask for.
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

/// Applies the values that the options gave to a server that no client uses yet.
///
/// # Errors
/// Returns the variable whose value is refused, and the reason.
pub fn enter_all(server: &Server) -> Result<(), (&'static str, SqlError)> {
    for id in all() {
        let definition = id.definition();
        if let Change::Entered(apply) = definition.change {
            apply(server, &server.globals.get(id)).map_err(|error| (definition.name, error))?;
        }
    }
    Ok(())
}

/// Applies the values that the options gave to semi-synchronous replication. No commit waits yet,
/// so their order does not matter.
pub fn enter_semi_sync(globals: &Globals, semi_sync: &SemiSync) {
    for id in all() {
        if let Change::SemiSync(enter) = id.definition().change {
            enter(semi_sync, &globals.get(id));
        }
    }
}
