//! Images of which equal bytes mean equal values.

use super::RowLayout;
use crate::{ColumnMask, TypeCode, json};
use std::borrow::Cow;

impl RowLayout {
    /// The image in a form in which rows can be looked for by its bytes. Only JSON has several
    /// forms of a value: a server that changes a document in place leaves gaps in it, one that
    /// writes it anew does not. An image that cannot be read is left as it is.
    pub fn comparable<'a>(&self, mask: &ColumnMask, image: &'a [u8]) -> Cow<'a, [u8]> {
        let is_json = |column: usize| self.types[column].code == TypeCode::Json;
        if !mask.iter().any(is_json) {
            return Cow::Borrowed(image);
        }
        let mut out = image[..mask.count().div_ceil(8).min(image.len())].to_vec();
        let walked = self.walk_partial(mask, image, |column, packed| {
            let Some(packed) = packed else { return };
            let len_bytes = usize::from(self.types[column].meta);
            match packed.get(len_bytes..).filter(|_| is_json(column)).and_then(json::normalized) {
                Some(document) => {
                    out.extend_from_slice(&(document.len() as u64).to_le_bytes()[..len_bytes]);
                    out.extend(document);
                }
                None => out.extend_from_slice(packed),
            }
        });
        if walked.is_err() { Cow::Borrowed(image) } else { Cow::Owned(out) }
    }
}
