//! The authentication methods: what the client sends, what the server stores, and how one is
//! checked against the other.
//!
//! Both methods are challenge and response with a nonce of 20 bytes. `mysql_native_password` stores
//! `*HEX(SHA1(SHA1(password)))`. `caching_sha2_password` stores a SHA-256 crypt. After a successful
//! full authentication the server keeps `SHA256(SHA256(password))` in memory, which the fast path
//! needs.

pub mod caching_sha2;
mod equal;
pub mod native;

/// The number of bytes of the nonce in the handshake, without the NUL at its end.
pub const NONCE_BYTES: usize = 20;

/// The names of the authentication plugins.
pub mod plugin {
    /// SHA-1 challenge and response, from MySQL 4.1 to 8.4.
    pub const NATIVE: &str = "mysql_native_password";
    /// SHA-256 challenge and response with a cache in the server, the default of MySQL 8.
    pub const CACHING_SHA2: &str = "caching_sha2_password";
    /// The password in clear text. Clients send it only if they were told to.
    pub const CLEAR: &str = "mysql_clear_password";
}

/// Makes a nonce of random bytes that fits the handshake: it has neither NUL nor the '$' that
/// separates stored fields.
pub fn nonce_from_random(random: [u8; NONCE_BYTES]) -> [u8; NONCE_BYTES] {
    random.map(|b| match b & 0x7f {
        0 | b'$' => b'x',
        b => b,
    })
}

/// Returns a number for this name that stays the same as long as the secret does. Nobody can
/// compute it without the secret.
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
