//! `replica_type_conversions`: how far the columns of a table may be of other types than the
//! source's.

use std::cmp;
use std::str::FromStr;

/// Which columns may be of another type than the source's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeConversions(u8);

/// The members of the set, each with its bit.
const CONVERSIONS: [(&str, u8); 4] =
    [("ALL_LOSSY", 1), ("ALL_NON_LOSSY", 2), ("ALL_UNSIGNED", 4), ("ALL_SIGNED", 8)];

impl TypeConversions {
    /// The set with these bits, which [`TypeConversions::bits`] has said.
    pub(super) fn of_bits(bits: u8) -> TypeConversions {
        TypeConversions(bits)
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// `order` is how the source's type compares with ours.
    pub(crate) fn permit(self, order: cmp::Ordering) -> bool {
        match order {
            cmp::Ordering::Equal => true,
            cmp::Ordering::Greater => self.0 & 1 != 0,
            cmp::Ordering::Less => self.0 & 2 != 0,
        }
    }

    /// Integers that are made longer are unsigned.
    pub(crate) fn unsigned(self) -> bool {
        self.0 & 4 != 0
    }

    /// They are signed; with [`TypeConversions::unsigned`]: as the replica's column is.
    pub(crate) fn signed(self) -> bool {
        self.0 & 8 != 0
    }
}

impl FromStr for TypeConversions {
    /// The member that there is not.
    type Err = String;

    fn from_str(text: &str) -> Result<TypeConversions, String> {
        let mut bits = 0;
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let known = CONVERSIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            bits |= known.ok_or_else(|| name.to_string())?.1;
        }
        Ok(TypeConversions(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_a_set_of_names() {
        assert_eq!("".parse(), Ok(TypeConversions(0)));
        assert_eq!("all_lossy, ALL_UNSIGNED".parse(), Ok(TypeConversions(5)));
        assert_eq!("ALL_LOSSY,ALL".parse::<TypeConversions>(), Err("ALL".to_string()));
        let lossy: TypeConversions = "ALL_LOSSY".parse().expect("is one");
        assert!(lossy.permit(cmp::Ordering::Greater) && !lossy.permit(cmp::Ordering::Less));
    }
}
