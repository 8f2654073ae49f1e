//! Authentication plugins: what the client sends, what the server stores, how one is checked
//! against the other.
//!
//! Both methods are challenge and response over a nonce of 20 bytes. `mysql_native_password` stores
//! `*HEX(SHA1(SHA1(password)))`. `caching_sha2_password` stores a SHA-256 crypt; the server keeps
//! `SHA256(SHA256(password))` in memory after a successful full authentication, which the fast path
//! needs.

pub mod caching_sha2;
mod equal;
pub mod native;

/// Length of the nonce in the handshake, without its closing NUL.
pub const NONCE_BYTES: usize = 20;

/// The plugins' names.
pub mod plugin {
    /// SHA-1 challenge and response, from MySQL 4.1 to 8.4.
    pub const NATIVE: &str = "mysql_native_password";
    /// SHA-256 with a server-side cache, MySQL 8's default.
    pub const CACHING_SHA2: &str = "caching_sha2_password";
    /// The password in clear text; only sent by clients that were told to.
    pub const CLEAR: &str = "mysql_clear_password";
}

/// Makes a nonce of random bytes fit for the handshake: neither NUL nor the '$' that separates
/// stored fields.
pub fn nonce_from_random(random: [u8; NONCE_BYTES]) -> [u8; NONCE_BYTES] {
    random.map(|b| match b & 0x7f {
        0 | b'$' => b'x',
        b => b,
    })
}

/// A number of this name that stays the same as long as the secret does, and says nothing to
/// those that do not know it.
pub fn keyed_number(secret: &[u8], name: &[u8]) -> u32 {
    let keyed = caching_sha2::cached_digest(&[secret, b"\0", name].concat());
    u32::from_le_bytes([keyed[0], keyed[1], keyed[2], keyed[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonce_has_no_byte_that_ends_a_string_early() {
        for seed in 0..=255 {
            let nonce = nonce_from_random([seed; NONCE_BYTES]);
            assert!(nonce.iter().all(|&b| b != 0 && b != b'$' && b < 128));
        }
    }
}
