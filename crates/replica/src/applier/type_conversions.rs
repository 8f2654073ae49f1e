//! `replica_type_conversions`: how far the types of a table's columns may differ from the source's.

use std::cmp;
use std::str::FromStr;

/// The set of permitted conversions between column types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeConversions(u8);

/// The members of the set, each with its bit.
const CONVERSIONS: [(&str, u8); 4] =
    [("ALL_LOSSY", 1), ("ALL_NON_LOSSY", 2), ("ALL_UNSIGNED", 4), ("ALL_SIGNED", 8)];

impl TypeConversions {
    /// Returns the set with these bits, which come from [`TypeConversions::bits`].
    pub(super) fn of_bits(bits: u8) -> TypeConversions {
        TypeConversions(bits)
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// Reports whether a conversion is permitted, where `order` compares the source's type with
    /// this server's.
    pub(crate) fn permit(self, order: cmp::Ordering) -> bool {
        match order {
            cmp::Ordering::Equal => true,
            cmp::Ordering::Greater => self.0 & 1 != 0,
            cmp::Ordering::Less => self.0 & 2 != 0,
        }
    }

    /// Reports whether integers that are widened are taken as unsigned.
    pub(crate) fn unsigned(self) -> bool {
        self.0 & 4 != 0
    }

    /// Reports whether integers that are widened are taken as signed. Together with
    /// [`TypeConversions::unsigned`] the replica's column decides.
    pub(crate) fn signed(self) -> bool {
        self.0 & 8 != 0
    }
}

impl FromStr for TypeConversions {
    /// The name that is no member.
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
