//! Printed expressions, and how tightly their operations bind.

/// The precedence of operators. Whatever is no operator has the highest.
pub(super) const OR: u8 = 1;
pub(super) const XOR: u8 = 2;
pub(super) const AND: u8 = 3;
pub(super) const NOT: u8 = 4;
pub(super) const BETWEEN: u8 = 5;
pub(super) const COMPARISON: u8 = 6;
pub(super) const BIT_OR: u8 = 7;
pub(super) const BIT_AND: u8 = 8;
pub(super) const SHIFT: u8 = 9;
pub(super) const ADDITION: u8 = 10;
pub(super) const MULTIPLICATION: u8 = 11;
pub(super) const BIT_XOR: u8 = 12;
pub(super) const UNARY: u8 = 13;
pub(super) const COLLATE: u8 = 15;
pub(super) const PRIMARY: u8 = 20;

/// A printed expression, and how tightly its operation binds.
pub(super) struct Printed {
    pub text: String,
    pub binds: u8,
}

impl Printed {
    pub fn primary(text: String) -> Printed {
        Printed { text, binds: PRIMARY }
    }
}
