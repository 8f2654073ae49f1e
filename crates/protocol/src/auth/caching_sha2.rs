//! The authentication method `caching_sha2_password`.
//!
//! The stored form is `$A$<rounds/1000, three hex digits>$<salt of 20 bytes><43 characters>`, as in
//! MySQL's `mysql.user`. The last part is the digest of SHA-crypt with SHA-256. The fast path
//! compares with a cached `SHA256(SHA256(password))`, so the expensive crypt runs once for each
//! password and server start.

use super::equal::equal;
use sha2::{Digest, Sha256};

/// The server's AuthMoreData payload when the fast path has succeeded. An OK packet follows.
pub const FAST_AUTH_SUCCESS: u8 = 3;
/// The server's AuthMoreData payload when it needs the password itself.
pub const PERFORM_FULL_AUTHENTICATION: u8 = 4;
/// The client's payload when it wants the server's public key.
pub const REQUEST_PUBLIC_KEY: u8 = 2;

/// The number of rounds with which new passwords are hashed (MySQL's default of
/// `caching_sha2_password_digest_rounds` since 9.6).
pub const DEFAULT_ROUNDS: u32 = 10_000;
/// The length of the longest password in bytes, as in MySQL. The time of hashing grows with the
/// square of the length, and it is spent before anybody has proved anything.
pub const MAX_PASSWORD_BYTES: usize = 256;
/// The number of bytes of the salt in the stored form.
pub const SALT_BYTES: usize = 20;

const DIGEST_CHARS: usize = 43;
const MAX_ROUNDS: u32 = 0xfff * 1000;

/// The number of bytes of the client's answer, unless its password is empty.
pub const SCRAMBLE_BYTES: usize = 32;

/// The value that the server caches for a user: `SHA256(SHA256(password))`.
pub type CachedDigest = [u8; 32];

/// A digest for which nobody knows a password. It is compared with when a user has none.
pub const NO_DIGEST: CachedDigest = [0; 32];

/// A stored form that no password has, since blanks do not occur in a digest. Checking a password
/// against it takes as long as against the result of [`authentication_string`].
pub const NO_PASSWORD: &[u8] = b"$A$00A$abcdefghijklmnopqrst                                           ";

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// Returns the client's answer to `nonce`: `SHA256(p) XOR SHA256(SHA256(SHA256(p)), nonce)`, or
/// nothing for an empty password.
pub fn scramble(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let stage1 = sha256(&[password]);
    let mask = sha256(&[&sha256(&[&stage1]), nonce]);
    stage1.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// Returns the digest that the server caches after it has seen the password.
pub fn cached_digest(password: &[u8]) -> CachedDigest {
    sha256(&[&sha256(&[password])])
}

/// Checks the client's answer against the cached digest, which is the fast path.
pub fn verify_scramble(answer: &[u8], nonce: &[u8], cached: &CachedDigest) -> bool {
    if answer.len() != SCRAMBLE_BYTES {
        return false;
    }
    let mask = sha256(&[cached, nonce]);
    let stage1: Vec<u8> = answer.iter().zip(mask).map(|(a, b)| a ^ b).collect();
    equal(&sha256(&[&stage1]), cached)
}

/// Returns the value of `mysql.user.authentication_string` for `password`. It is empty for an empty
/// password.
///
/// The caller has made `salt` with [`super::nonce_from_random`], so that it can be stored.
pub fn authentication_string(password: &[u8], salt: &[u8; SALT_BYTES]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let mut out = format!("$A${:03X}$", DEFAULT_ROUNDS / 1000).into_bytes();
    out.extend_from_slice(salt);
    out.extend_from_slice(&sha256_crypt(password, salt, DEFAULT_ROUNDS));
    out
}

struct Stored<'a> {
    rounds: u32,
    salt: &'a [u8],
    digest: &'a [u8],
}

fn parse(stored: &[u8]) -> Option<Stored<'_>> {
    let rest = stored.strip_prefix(b"$A$")?;
    let (rounds, rest) = rest.split_at_checked(3)?;
    let rounds = u32::from_str_radix(std::str::from_utf8(rounds).ok()?, 16).ok()? * 1000;
    let rest = rest.strip_prefix(b"$")?;
    let (salt, digest) = rest.split_at_checked(SALT_BYTES)?;
    if digest.len() != DIGEST_CHARS || rounds == 0 || rounds > MAX_ROUNDS {
        return None;
    }
    Some(Stored { rounds, salt, digest })
}

/// Reports whether `stored` has the form of an authentication string of this plugin.
pub fn is_valid_authentication_string(stored: &[u8]) -> bool {
    stored.is_empty() || parse(stored).is_some()
}

/// Checks the password itself against the stored form, which is full authentication.
pub fn verify_password(password: &[u8], stored: &[u8]) -> bool {
    if stored.is_empty() {
        return password.is_empty();
    }
    match parse(stored) {
        Some(_) if password.len() > MAX_PASSWORD_BYTES => false,
        Some(s) => equal(&sha256_crypt(password, s.salt, s.rounds), s.digest),
        None => false,
    }
}

/// Returns the digest part of SHA-crypt with SHA-256 ("Unix crypt using SHA-256", Drepper 2007).
///
/// MySQL passes salts of 20 bytes where the description allows 16. All 20 are used.
fn sha256_crypt(password: &[u8], salt: &[u8], rounds: u32) -> [u8; DIGEST_CHARS] {
    let b = sha256(&[password, salt, password]);
    let mut a = Sha256::new();
    a.update(password);
    a.update(salt);
    a.update(repeat(&b, password.len()));
    let mut len = password.len();
    while len > 0 {
        if len & 1 == 1 {
            a.update(b)
        } else {
            a.update(password)
        }
        len >>= 1;
    }
    let mut digest: [u8; 32] = a.finalize().into();

    let mut dp = Sha256::new();
    for _ in 0..password.len() {
        dp.update(password);
    }
    let p = repeat(&dp.finalize().into(), password.len());
    let mut ds = Sha256::new();
    for _ in 0..16 + usize::from(digest[0]) {
        ds.update(salt);
    }
    let s = repeat(&ds.finalize().into(), salt.len());

    for round in 0..rounds {
        let mut c = Sha256::new();
        if round & 1 == 1 {
            c.update(&p)
        } else {
            c.update(digest)
        }
        if round % 3 != 0 {
            c.update(&s);
        }
        if round % 7 != 0 {
            c.update(&p);
        }
        if round & 1 == 1 {
            c.update(digest)
        } else {
            c.update(&p)
        }
        digest = c.finalize().into();
    }
    encode(&digest)
}

fn repeat(digest: &[u8; 32], len: usize) -> Vec<u8> {
    digest.iter().copied().cycle().take(len).collect()
}

/// Encodes the digest in crypt's base 64, with crypt's order of bytes.
fn encode(digest: &[u8; 32]) -> [u8; DIGEST_CHARS] {
    const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out = [0; DIGEST_CHARS];
    let mut at = 0;
    let mut put = |high: u8, middle: u8, low: u8, chars: usize| {
        let mut word = u32::from_be_bytes([0, high, middle, low]);
        for _ in 0..chars {
            out[at] = ALPHABET[(word & 63) as usize];
            at += 1;
            word >>= 6;
        }
    };
    let (mut i, mut j, mut k) = (0, 10, 20);
    for _ in 0..10 {
        put(digest[i], digest[j], digest[k], 4);
        (i, j, k) = (k + 1, i + 1, j + 1);
    }
    put(0, digest[31], digest[30], 3);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crypt_gives_the_published_digests() {
        // This is one of the description's own test vectors.
        let digest = sha256_crypt(b"Hello world!", b"saltstring", 5000);
        assert_eq!(&digest, b"5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5");
    }

    #[test]
    fn full_authentication_checks_the_password() {
        let stored = authentication_string(b"secret", b"abcdefghijklmnopqrst");
        assert!(stored.starts_with(b"$A$00A$abcdefghijklmnopqrst"));
        assert!(is_valid_authentication_string(&stored));
        assert!(verify_password(b"secret", &stored));
        assert!(!verify_password(b"Secret", &stored));
        assert!(!verify_password(b"", &stored));
        assert!(verify_password(b"", b""));
        assert!(!verify_password(b"x", b""));
        let longest = [b'p'; MAX_PASSWORD_BYTES + 1];
        assert!(verify_password(
            &longest[1..],
            &authentication_string(&longest[1..], b"abcdefghijklmnopqrst")
        ));
        assert!(!verify_password(&longest, &authentication_string(&longest, b"abcdefghijklmnopqrst")));
        for cut in 1..stored.len() {
            assert!(!verify_password(b"secret", &stored[..cut]));
        }
    }

    #[test]
    fn no_password_is_refused_after_the_same_work() {
        let (no, some) = (parse(NO_PASSWORD).unwrap(), authentication_string(b"x", b"abcdefghijklmnopqrst"));
        let some = parse(&some).unwrap();
        assert_eq!(
            (no.rounds, no.salt.len(), no.digest.len()),
            (some.rounds, some.salt.len(), some.digest.len())
        );
        assert!(!verify_password(b"", NO_PASSWORD) && !verify_password(b"x", NO_PASSWORD));
    }

    #[test]
    fn fast_path_checks_the_scramble() {
        let cached = cached_digest(b"secret");
        let nonce = [7; 20];
        assert!(verify_scramble(&scramble(b"secret", &nonce), &nonce, &cached));
        assert!(!verify_scramble(&scramble(b"Secret", &nonce), &nonce, &cached));
        assert!(!verify_scramble(&scramble(b"secret", &[6; 20]), &nonce, &cached));
        assert!(!verify_scramble(b"", &nonce, &cached));
    }
}
