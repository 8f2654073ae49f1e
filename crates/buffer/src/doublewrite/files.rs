//! The names of doublewrite files.

use std::path::{Path, PathBuf};

use os::disk::Disk;

use crate::config::PoolConfig;
use crate::error::Result;

/// Returns the path of the file whose areas hold `pages` pages each. A pool of another size has
/// another file.
pub(super) fn file_path(datadir: &Path, page_size: usize, pages: usize) -> PathBuf {
    datadir.join(format!("#ib_{page_size}_{pages}.dblwr"))
}

/// Returns the doublewrite files of this page size, each with the number of pages that its areas
/// hold.
pub(super) fn files_of(disk: &dyn Disk, config: &PoolConfig) -> Result<Vec<(PathBuf, usize)>> {
    let prefix = format!("#ib_{}_", config.page_size);
    let pages_of = |path: &PathBuf| {
        let pages =
            path.file_name()?.to_str()?.strip_prefix(&prefix)?.strip_suffix(".dblwr")?.parse().ok()?;
        // This server gives no file a number outside of this range. The bound keeps the arithmetic
        // from overflowing.
        (1..=1 << 20).contains(&pages).then_some(pages)
    };
    let all = disk.list(&config.datadir)?;
    Ok(all.into_iter().filter_map(|path| pages_of(&path).map(|pages| (path, pages))).collect())
}
