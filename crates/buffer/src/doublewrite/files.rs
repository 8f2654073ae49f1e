//! The names of doublewrite files.

use std::path::{Path, PathBuf};

use os::disk::Disk;

use crate::config::PoolConfig;
use crate::error::Result;

/// The file whose areas hold `pages` pages each; a pool of another size has another file.
pub(super) fn file_path(datadir: &Path, page_size: usize, pages: usize) -> PathBuf {
    datadir.join(format!("#ib_{page_size}_{pages}.dblwr"))
}

/// The doublewrite files of this page size, and how many pages their areas hold.
pub(super) fn files_of(disk: &dyn Disk, config: &PoolConfig) -> Result<Vec<(PathBuf, usize)>> {
    let prefix = format!("#ib_{}_", config.page_size);
    let pages_of = |path: &PathBuf| {
        let pages =
            path.file_name()?.to_str()?.strip_prefix(&prefix)?.strip_suffix(".dblwr")?.parse().ok()?;
        // Nothing that this server names so; the bound keeps the arithmetic in range.
        (1..=1 << 20).contains(&pages).then_some(pages)
    };
    let all = disk.list(&config.datadir)?;
    Ok(all.into_iter().filter_map(|path| pages_of(&path).map(|pages| (path, pages))).collect())
}
