//! LOAD DATA of a source that logs statements: its file comes in blocks before it, which are kept
//! in a file of `tmpdir` until it is loaded.

use std::collections::BTreeMap;

use binlog::event::{ExecuteLoadQuery, Header, LoadBlock, QueryEvent};
use os::disk::TempFile;
use sql::replicated::LoggedContext;

use super::Applier;
use super::progress::Stage;
use crate::applier::{report, statement};
use crate::error::ThreadError;

/// `ER_ERROR_ON_WRITE`.
const WRITE_FAILED: u32 = 3;

/// What stands in a statement for the name of its file, which has none.
const NAMELESS: &str = "SQL_LOAD";

/// The files of a group that have not been loaded yet, by their numbers at the source. They have no
/// names: a file is gone with its value.
#[derive(Default)]
pub(super) struct LoadedFiles(BTreeMap<u32, TempFile>);

impl LoadedFiles {
    /// Forgets a file.
    pub fn remove(&mut self, file_id: u32) -> Option<TempFile> {
        self.0.remove(&file_id)
    }
}

impl Applier<'_> {
    /// A block of a file, the first or a further one.
    pub(super) fn load_block(&mut self, block: &LoadBlock<'_>, is_first: bool) -> Result<bool, ThreadError> {
        let engine = self.progress.open.engine();
        let (disk, dir) = (engine.config().disk.clone(), engine.config().tmpdir.clone());
        let written = (|| {
            if is_first {
                let file = TempFile::create(&*disk, &dir, "load")?;
                self.loaded.0.insert(block.file_id, file);
            }
            match self.loaded.0.get_mut(&block.file_id) {
                Some(file) => file.append(block.bytes).map(|_| true),
                None => Ok(false),
            }
        })();
        match written {
            Ok(true) => Ok(false),
            Ok(false) => Err(self.no_file(block.file_id)),
            Err(error) => {
                let text = format!("Error writing a file of LOAD DATA in '{}': {error}", dir.display());
                Err(report::query(WRITE_FAILED, &text, "", "LOAD DATA"))
            }
        }
    }

    /// The statement that loads a file.
    pub(super) fn load(&mut self, header: &Header, load: &ExecuteLoadQuery<'_>) -> Result<bool, ThreadError> {
        let file = self.loaded.remove(load.file_id);
        let text = load.statement_for(NAMELESS);
        let filters = self.progress.open.filters().clone();
        let mut query = QueryEvent { statement: &text, ..load.query.clone() };
        if filters.is_on() {
            if let Some(schema) = filters.rewritten(query.schema) {
                query.schema = schema.as_bytes();
            }
            if !statement::is_allowed(&filters, &query) {
                self.logged = LoggedContext::default();
                return Ok(false);
            }
        }
        let Some(file) = file else { return Err(self.no_file(load.file_id)) };
        if self.progress.stage != Stage::Open {
            let what = "LOAD DATA outside of a transaction";
            return Err(report::not_supported(what, self.progress.place()));
        }
        self.statement(header, &query, Some(&file))
    }

    fn no_file(&self, file_id: u32) -> ThreadError {
        let what = format!("a LOAD DATA whose file {file_id} did not begin");
        report::not_supported(&what, self.progress.place())
    }
}
