//! The checks of every page that comes from disk.

use crate::page::{self, PageId, PageType};
use crate::slotted;

/// Checks a page that was read from disk: its checksum, its identity, its type, and everything that
/// the code for pages of this type relies on.
///
/// # Errors
/// Returns what is wrong, as the middle of a sentence.
pub(crate) fn verify(page: &[u8], expected: PageId) -> Result<(), String> {
    let (stored, computed) = (page::stored_checksum(page), page::content_checksum(page));
    if stored != computed {
        if page.iter().all(|&byte| byte == 0) {
            return Err("it was never written (all zeros)".to_owned());
        }
        return Err(format!("its checksum is {stored:#010x}, its content has {computed:#010x}"));
    }
    let found = page::id(page);
    if found != expected {
        return Err(format!("it says it is page {found} (space:page)"));
    }
    match page::page_type(page) {
        None => Err(format!("its type is {}, which is none", page::type_byte(page))),
        Some(PageType::Index) => slotted::check(page).map_err(str::to_owned),
        Some(_) => Ok(()),
    }
}

/// Reports whether a page is as it was written: it has its checksum and its identity, or was never
/// written and is all zeros.
pub(crate) fn is_whole(page: &[u8], expected: PageId) -> bool {
    let has_checksum = page::stored_checksum(page) == page::content_checksum(page);
    has_checksum && page::id(page) == expected || page.iter().all(|&byte| byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_page_verifies_and_any_flipped_bit_does_not() {
        let id = PageId::new(7, 9);
        let mut page = vec![0; 4096];
        page::format(&mut page, id, PageType::Free, 0);
        page::seal(&mut page);
        assert_eq!(verify(&page, id), Ok(()));
        for bit in (0..4096 * 8).step_by(37) {
            page[bit / 8] ^= 1 << (bit % 8);
            assert!(verify(&page, id).is_err(), "bit {bit}");
            page[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(verify(&page, PageId::new(7, 8)).unwrap_err().contains("7:9"));
    }
}
