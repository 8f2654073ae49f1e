//! Rounds numbers to decimals as MySQL does where it shows coordinates.

/// The largest power of ten that a double can hold.
const MOST_DECIMALS: i32 = 308;

/// Rounds a number to this many decimals; halves go to the even neighbour. A number that is too
/// large to have decimals stays as it is.
pub(super) fn rounded(number: f64, decimals: u32) -> f64 {
    let Ok(decimals @ ..=MOST_DECIMALS) = i32::try_from(decimals) else { return number };
    let power = 10f64.powi(decimals);
    let scaled = number * power;
    if scaled.is_finite() { scaled.round_ties_even() / power } else { number }
}
