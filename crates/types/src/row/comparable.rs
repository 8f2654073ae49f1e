//! Row images in a form in which equal values have equal bytes.

use super::RowLayout;
use crate::{ColumnMask, TypeCode, json};
use std::borrow::Cow;

impl RowLayout {
    /// Returns the image in a form in which rows can be looked for by its bytes. The bits of the
    /// null bitmap that belong to no column are 1 in one server's images and 0 in another's; here
    /// they are 0. Among the values only JSON has several forms: a server that changes a document
    /// in place leaves gaps in it, and one that writes it anew does not. An image that cannot be
    /// read is left as it is.
    pub fn comparable<'a>(&self, mask: &ColumnMask, image: &'a [u8]) -> Cow<'a, [u8]> {
        let mut image = self.comparable_values(mask, image);
        let (last, used) = (mask.count() / 8, mask.count() % 8);
        let unused = !0u8 << used;
        if used > 0 && image.get(last).is_some_and(|bits| bits & unused != 0) {
            image.to_mut()[last] &= !unused;
        }
        image
    }

    fn comparable_values<'a>(&self, mask: &ColumnMask, image: &'a [u8]) -> Cow<'a, [u8]> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ColumnType, Value};

    #[test]
    fn bits_of_no_column_do_not_count() {
        let layout = RowLayout::new(&[ColumnType::int(false), ColumnType::int(false)]);
        let mut ours = Vec::new();
        layout.encode(&[Value::Int(1), Value::Null], &mut ours).unwrap();
        let mut theirs = ours.clone();
        theirs[0] |= 0xfc;
        let mask = ColumnMask::full(2);
        assert_eq!(layout.comparable(&mask, &ours), layout.comparable(&mask, &theirs));
        theirs[0] ^= 2;
        assert_ne!(layout.comparable(&mask, &ours), layout.comparable(&mask, &theirs));
    }
}
