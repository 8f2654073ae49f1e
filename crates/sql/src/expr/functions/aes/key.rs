//! The key of `AES_ENCRYPT()`: the argument folded to the key's length, or the result of a key
//! derivation function.

use super::Call;
use crate::error::{Result, SqlError};
use ring::{hkdf, pbkdf2};
use std::borrow::Cow;
use std::num::NonZeroU32;

/// A salt and HKDF's info must have fewer bytes than this.
const OPTION_BYTES: usize = 256;
/// The text of the number of iterations must have fewer bytes than this.
const ITERATION_BYTES: usize = 6;
const FEWEST_ITERATIONS: u32 = 1000;
/// The largest number of iterations.
const MOST_ITERATIONS: u32 = 65_535;

/// Returns the key of a call, which has `bytes` bytes. `warns` makes a longer secret give a
/// warning.
///
/// # Errors
/// Returns 3235 for an unknown derivation function, 3238 for an option that is too long or NULL,
/// and 3236 for a number of iterations that is not allowed.
pub(super) fn of_call(call: &Call<'_>, bytes: usize, warns: bool) -> Result<Vec<u8>> {
    let secret = call.stored(1);
    if !call.is_given(3) {
        if warns && secret.len() > bytes {
            let text = format!(
                "AES key size should be {bytes} bytes length or secure KDF methods hkdf or pbkdf2_hmac should be \
                 used, please provide exact AES key size or use KDF methods for better security."
            );
            call.ctx.warn(3237, text);
        }
        return Ok(folded(&secret, bytes));
    }
    match &*option(call, 3, OPTION_BYTES)? {
        b"hkdf" => {
            let (salt, info) = (option(call, 4, OPTION_BYTES)?, option(call, 5, OPTION_BYTES)?);
            Ok(by_hkdf(&secret, &salt, &info, bytes))
        }
        b"pbkdf2_hmac" => {
            let salt = option(call, 4, OPTION_BYTES)?;
            let iterations = iterations(call)?;
            let mut key = vec![0; bytes];
            pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA512, iterations, &salt, &secret, &mut key);
            Ok(key)
        }
        _ => {
            let text = "KDF method name is not valid. Please use hkdf or pbkdf2_hmac method name";
            Err(SqlError::new(3235, text))
        }
    }
}

/// Combines the secret's bytes to a key of `bytes` bytes by exclusive or.
fn folded(secret: &[u8], bytes: usize) -> Vec<u8> {
    let mut key = vec![0; bytes];
    secret.iter().enumerate().for_each(|(at, byte)| key[at % bytes] ^= byte);
    key
}

/// Returns an option, which is empty when it is not given.
fn option<'c>(call: &'c Call<'_>, at: usize, limit: usize) -> Result<Cow<'c, [u8]>> {
    if !call.is_given(at) {
        return Ok(Cow::Borrowed(b""));
    }
    let given = call.stored(at);
    if call.values[at].is_null() || given.len() >= limit {
        let text =
            format!("KDF option size is invalid, please provide valid size < {limit} bytes and not NULL");
        return Err(SqlError::new(3238, text));
    }
    Ok(given)
}

fn iterations(call: &Call<'_>) -> Result<NonZeroU32> {
    let fewest = NonZeroU32::new(FEWEST_ITERATIONS);
    let given = match call.is_given(5) {
        false => fewest,
        true => leading_number(&option(call, 5, ITERATION_BYTES)?),
    };
    let is_allowed = |count: &NonZeroU32| (FEWEST_ITERATIONS..=MOST_ITERATIONS).contains(&count.get());
    given.filter(is_allowed).ok_or_else(|| {
        let text = "For KDF method pbkdf2_hmac iterations value less than 1000 or more than 65535 is not allowed due \
                    to security reasons. Please provide iterations >= 1000 and iterations < 65535";
        SqlError::new(3236, text)
    })
}

/// Returns the number that a text begins with.
fn leading_number(text: &[u8]) -> Option<NonZeroU32> {
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

/// A number of bytes that HKDF expands to.
struct Length(usize);

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn by_hkdf(secret: &[u8], salt: &[u8], info: &[u8], bytes: usize) -> Vec<u8> {
    let mut key = vec![0; bytes];
    let info = [info];
    let derived = hkdf::Salt::new(hkdf::HKDF_SHA512, salt).extract(secret);
    // This can fail only for a key that is longer than 255 digests.
    let filled = derived.expand(&info, Length(bytes)).and_then(|made| made.fill(&mut key));
    debug_assert!(filled.is_ok(), "a key is shorter than a digest");
    key
}
