//! Claims on the pages of indexes that are being built or freed. Each claim is settled by its
//! statement, or after a crash when the engine is opened.

use crate::catalog::Catalog;
use crate::error::Result;
use buffer::{Pool, SpaceId};
use std::sync::Arc;

/// Frees the pages that the claims of these indexes cover.
pub(super) fn free_claims(pool: &Arc<Pool>, space: SpaceId, ids: &[u32]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    for claim in pool.claims(space)?.into_iter().filter(|claim| ids.contains(&claim.index_id)) {
        btree::claimed::free(pool, space, claim)?;
    }
    Ok(())
}

/// Frees, after recovery, the pages of indexes whose build or removal a crash cut off.
pub(crate) fn settle(pool: &Arc<Pool>, catalog: &Catalog) -> Result<()> {
    for table in catalog.all_tables() {
        let space = table.placement.space;
        for claim in pool.claims(space)? {
            if table.indexes.iter().any(|index| index.id == claim.index_id) {
                pool.release_claim(space, claim.index_id)?;
            } else {
                log::info!(
                    "InnoDB: Freeing the pages of index {} of {}",
                    claim.index_id,
                    table.qualified_name
                );
                btree::claimed::free(pool, space, claim)?;
            }
        }
    }
    Ok(())
}
