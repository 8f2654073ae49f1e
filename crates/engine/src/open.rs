//! Opening an engine: a new one in an empty data directory, or what recovery makes of an old one.

use crate::Engine;
use crate::config::EngineConfig;
use crate::dictionary::SYSTEM_FILE;
use crate::engine::REDO_DIRECTORY;
use crate::error::{EngineError, Result};
use crate::files::{io_error, make_dir};
use std::sync::Arc;

impl Engine {
    /// Opens the engine in its data directory: creates what it needs in an empty one, else recovers
    /// to the last commit in the log.
    pub fn open(config: EngineConfig) -> Result<Arc<Engine>> {
        let datadir = config.datadir.clone();
        let disk = config.disk.clone();
        make_dir(&*disk, &datadir)?;
        let exists = |name: &str| {
            let path = datadir.join(name);
            disk.exists(&path).map_err(|error| io_error(&path, error))
        };
        let (has_log, has_system) = (exists(REDO_DIRECTORY)?, exists(SYSTEM_FILE)?);
        if has_system && !has_log {
            let place = datadir.display();
            return Err(EngineError::Datadir(format!("{place} has a system tablespace but no redo log")));
        }
        let recovered = if has_log { crate::recovery::open(&config)? } else { None };
        let Some(engine) = recovered else {
            let engine = Engine::create(config)?;
            engine.start_threads();
            return Ok(engine);
        };
        engine.start_threads();
        // With the checkpointer at work: freeing many pages takes much log.
        engine.settle_claims()?;
        Ok(engine)
    }
}
