//! Unsigned integers of 256 and 512 bits, for the digits of a [`super::Decimal`] and for
//! intermediate results.

use std::cmp::Ordering;

/// An integer of 256 bits, least significant limb first. 65 decimal digits need 216 bits.
pub(super) type Magnitude = [u64; 4];
/// An integer of 512 bits: a product of two magnitudes, or a dividend that was scaled up before a
/// division.
pub(super) type Wide = [u64; 8];

/// Returns 10^n for n <= 19.
pub(super) fn power_of_ten(n: u32) -> u64 {
    10u64.pow(n)
}

pub(super) fn is_zero(limbs: &[u64]) -> bool {
    limbs.iter().all(|&limb| limb == 0)
}

pub(super) fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

/// Computes `limbs = limbs * factor + addend`. Returns false if the result does not fit.
#[must_use]
pub(super) fn multiply_add_small(limbs: &mut [u64], factor: u64, addend: u64) -> bool {
    let mut carry = u128::from(addend);
    for limb in limbs {
        let product = u128::from(*limb) * u128::from(factor) + carry;
        *limb = product as u64;
        carry = product >> 64;
    }
    carry == 0
}

/// Computes `limbs = limbs * 10^n`. Returns false if the result does not fit.
#[must_use]
pub(super) fn scale_up(limbs: &mut [u64], mut n: u32) -> bool {
    while n > 0 {
        let step = n.min(19);
        if !multiply_add_small(limbs, power_of_ten(step), 0) {
            return false;
        }
        n -= step;
    }
    true
}

/// Computes `limbs = limbs / divisor` and returns the remainder.
pub(super) fn divide_small(limbs: &mut [u64], divisor: u64) -> u64 {
    let mut remainder = 0u128;
    for limb in limbs.iter_mut().rev() {
        let dividend = remainder << 64 | u128::from(*limb);
        *limb = (dividend / u128::from(divisor)) as u64;
        remainder = dividend % u128::from(divisor);
    }
    remainder as u64
}

/// Computes `limbs = limbs / 10^n`. Returns whether the part cut off is at least half of 10^n (so
/// that rounding goes up) and whether anything but zeros was cut off.
pub(super) fn scale_down(limbs: &mut [u64], mut n: u32) -> (bool, bool) {
    let mut inexact = false;
    let mut half = false;
    while n > 0 {
        let step = n.min(19);
        let remainder = divide_small(limbs, power_of_ten(step));
        half = remainder >= power_of_ten(step) / 2;
        inexact |= remainder != 0;
        n -= step;
    }
    (half, inexact)
}

pub(super) fn add(a: &Magnitude, b: &Magnitude) -> Option<Magnitude> {
    let mut sum = [0; 4];
    let mut carry = false;
    for i in 0..4 {
        let (low, over1) = a[i].overflowing_add(b[i]);
        let (low, over2) = low.overflowing_add(u64::from(carry));
        sum[i] = low;
        carry = over1 | over2;
    }
    (!carry).then_some(sum)
}

/// Returns `a - b`, where `a >= b`.
pub(super) fn subtract(a: &Magnitude, b: &Magnitude) -> Magnitude {
    let mut difference = [0; 4];
    let mut borrow = false;
    for i in 0..4 {
        let (low, under1) = a[i].overflowing_sub(b[i]);
        let (low, under2) = low.overflowing_sub(u64::from(borrow));
        difference[i] = low;
        borrow = under1 | under2;
    }
    debug_assert!(!borrow, "subtract needs a >= b");
    difference
}

pub(super) fn multiply(a: &Magnitude, b: &Magnitude) -> Wide {
    let mut product = [0u64; 8];
    for i in 0..4 {
        let mut carry = 0u128;
        for j in 0..4 {
            let t = u128::from(a[i]) * u128::from(b[j]) + u128::from(product[i + j]) + carry;
            product[i + j] = t as u64;
            carry = t >> 64;
        }
        product[i + 4] = carry as u64;
    }
    product
}

pub(super) fn widen(a: &Magnitude) -> Wide {
    let mut wide = [0; 8];
    wide[..4].copy_from_slice(a);
    wide
}

pub(super) fn narrow(a: &Wide) -> Option<Magnitude> {
    is_zero(&a[4..]).then(|| [a[0], a[1], a[2], a[3]])
}

/// Returns quotient and remainder of `dividend / divisor`; `divisor` is not zero. This is
/// schoolbook division, one bit at a time over all bits of the dividend, which suffices since
/// division is rare.
pub(super) fn divide(dividend: &Wide, divisor: &Magnitude) -> (Wide, Magnitude) {
    debug_assert!(!is_zero(divisor));
    if is_zero(&divisor[1..]) {
        let mut quotient = *dividend;
        let remainder = divide_small(&mut quotient, divisor[0]);
        return (quotient, [remainder, 0, 0, 0]);
    }
    let mut quotient = [0u64; 8];
    let mut remainder = [0u64; 4];
    for bit in (0..512).rev() {
        let high = remainder[3] >> 63;
        for i in (1..4).rev() {
            remainder[i] = remainder[i] << 1 | remainder[i - 1] >> 63;
        }
        remainder[0] = remainder[0] << 1 | (dividend[bit / 64] >> (bit % 64) & 1);
        if high != 0 || compare(&remainder, divisor) != Ordering::Less {
            // If a bit was shifted out, remainder >= divisor holds, and the wrapping difference is
            // the true one.
            remainder = subtract_wrapping(&remainder, divisor);
            quotient[bit / 64] |= 1 << (bit % 64);
        }
    }
    (quotient, remainder)
}

fn subtract_wrapping(a: &Magnitude, b: &Magnitude) -> Magnitude {
    let mut difference = [0; 4];
    let mut borrow = 0u64;
    for i in 0..4 {
        let (low, under1) = a[i].overflowing_sub(b[i]);
        let (low, under2) = low.overflowing_sub(borrow);
        difference[i] = low;
        borrow = u64::from(under1 | under2);
    }
    difference
}
