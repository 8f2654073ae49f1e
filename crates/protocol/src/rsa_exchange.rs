//! The RSA exchange of `caching_sha2_password`, over a connection that is neither encrypted nor
//! local.
//!
//! The client asks for the server's public key, XORs the NUL-terminated password with the nonce and
//! sends it encrypted with RSA-OAEP (SHA-1), as OpenSSL's `RSA_PKCS1_OAEP_PADDING` does.

use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, LineEnding};
use rsa::rand_core::{CryptoRng, Error as RngError, RngCore};
use rsa::{Oaep, RsaPrivateKey, RsaPublicKey};
use sha1::Sha1;
use std::fmt;

/// The number of bits of a generated key's modulus, as in MySQL.
const KEY_BITS: usize = 2048;

/// A function that fills a buffer with random bytes of cryptographic quality.
pub type FillRandom = fn(&mut [u8]);

/// The reason why the exchange failed.
#[derive(Debug)]
pub struct RsaError(String);

impl fmt::Display for RsaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for RsaError {}

impl RsaError {
    fn new(what: &str, e: impl fmt::Display) -> Self {
        RsaError(format!("{what}: {e}"))
    }
}

struct Rng(FillRandom);

impl RngCore for Rng {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        (self.0)(&mut bytes);
        u32::from_le_bytes(bytes)
    }
    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        (self.0)(&mut bytes);
        u64::from_le_bytes(bytes)
    }
    fn fill_bytes(&mut self, dest: &mut [u8]) {
        (self.0)(dest);
    }
    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), RngError> {
        (self.0)(dest);
        Ok(())
    }
}

impl CryptoRng for Rng {}

/// The server's key pair. Generating one takes from a tenth of a second to several seconds.
pub struct ServerKey {
    private: RsaPrivateKey,
    public_pem: String,
}

impl ServerKey {
    /// Generates a key pair.
    pub fn generate(random: FillRandom) -> Result<Self, RsaError> {
        let private = RsaPrivateKey::new(&mut Rng(random), KEY_BITS)
            .map_err(|e| RsaError::new("cannot generate an RSA key", e))?;
        ServerKey::of(private)
    }

    /// Reads the key pair whose private key [`ServerKey::private_pem`] returned.
    pub fn from_private_pem(pem: &str) -> Result<Self, RsaError> {
        let private = RsaPrivateKey::from_pkcs8_pem(pem)
            .map_err(|e| RsaError::new("cannot read the RSA private key", e))?;
        ServerKey::of(private)
    }

    /// Returns the private key in PKCS #8, as PEM.
    pub fn private_pem(&self) -> Result<String, RsaError> {
        let pem = self.private.to_pkcs8_pem(LineEnding::LF);
        pem.map(|pem| pem.to_string()).map_err(|e| RsaError::new("cannot encode the RSA private key", e))
    }

    fn of(private: RsaPrivateKey) -> Result<Self, RsaError> {
        let public_pem = RsaPublicKey::from(&private)
            .to_public_key_pem(LineEnding::LF)
            .map_err(|e| RsaError::new("cannot encode the RSA public key", e))?;
        Ok(ServerKey { private, public_pem })
    }

    /// Returns the public key as the client receives it.
    pub fn public_pem(&self) -> &str {
        &self.public_pem
    }

    /// Decrypts what the client sent, and returns the password, without the nonce and the NUL at
    /// its end.
    pub fn decrypt_password(&self, encrypted: &[u8], nonce: &[u8]) -> Result<Vec<u8>, RsaError> {
        let mut password = self
            .private
            .decrypt(Oaep::new::<Sha1>(), encrypted)
            .map_err(|e| RsaError::new("cannot decrypt the password", e))?;
        xor(&mut password, nonce);
        match password.pop() {
            Some(0) => Ok(password),
            _ => Err(RsaError("the decrypted password has no end".into())),
        }
    }
}

/// Encrypts `password` for the key that the server sent. This is the client's side.
pub fn encrypt_password(
    password: &[u8],
    nonce: &[u8],
    public_pem: &str,
    random: FillRandom,
) -> Result<Vec<u8>, RsaError> {
    // The file that mysqld writes ends with a NUL.
    let pem = public_pem.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    let key = RsaPublicKey::from_public_key_pem(pem)
        .map_err(|e| RsaError::new("cannot read the server's RSA public key", e))?;
    let mut plain = password.to_vec();
    plain.push(0);
    xor(&mut plain, nonce);
    key.encrypt(&mut Rng(random), Oaep::new::<Sha1>(), &plain)
        .map_err(|e| RsaError::new("cannot encrypt the password", e))
}

fn xor(bytes: &mut [u8], nonce: &[u8]) {
    for (byte, mask) in bytes.iter_mut().zip(nonce.iter().cycle()) {
        *byte ^= mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a buffer with bytes that are not random: a test needs no secrets, only bytes that
    /// differ.
    fn counting(buf: &mut [u8]) {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        for byte in buf {
            // Relaxed: only distinct values matter.
            let n = NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            *byte = (n >> 56) as u8;
        }
    }

    #[test]
    fn password_survives_the_exchange() {
        let key = ServerKey::generate(counting).unwrap();
        let nonce = [5; 20];
        for password in [&b""[..], b"secret", &[b'p'; 150]] {
            let sent = encrypt_password(password, &nonce, key.public_pem(), counting).unwrap();
            assert_eq!(key.decrypt_password(&sent, &nonce).unwrap(), password);
        }
        assert!(key.decrypt_password(&[1; 256], &nonce).is_err());
        assert!(key.decrypt_password(b"", &nonce).is_err());
        assert!(encrypt_password(b"x", &nonce, "no key", counting).is_err());
    }
}
