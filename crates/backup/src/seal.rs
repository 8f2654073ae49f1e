//! Encrypted files: AES-256-GCM over chunks, each under a nonce of its own.
//!
//! A file begins with a magic number, the name of the key, and a random salt. The key of the file
//! is derived from the user's key and the salt (HKDF with SHA-256), so no nonce comes twice under a
//! key. The content follows in chunks of 64 KiB, the last one shorter, each with a tag. The nonce
//! of a chunk is its number, and whether it is the last. So chunks that are changed, left out, put
//! elsewhere or taken from another file are refused, and so is a file that ends early.

use std::io::{self, Read, Write};

use os::disk::Disk;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use sha2::{Digest, Sha256};

use crate::error::{BackupError, Result};

/// The first bytes of an encrypted file.
pub(crate) const MAGIC: [u8; 8] = *b"SLPBKE1\n";
const CHUNK_BYTES: usize = 64 << 10;
const TAG_BYTES: usize = 16;
const KEY_BYTES: usize = 32;
const NAME_BYTES: usize = 16;
const SALT_BYTES: usize = 32;
const HEAD_BYTES: usize = MAGIC.len() + NAME_BYTES + SALT_BYTES;

/// The user's key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key([u8; KEY_BYTES]);

impl std::fmt::Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Key")
    }
}

struct KeyLen;

impl KeyType for KeyLen {
    fn len(&self) -> usize {
        KEY_BYTES
    }
}

impl Key {
    /// Reads the key of a file: 32 bytes, or 64 hexadecimal digits and perhaps a line's end.
    pub fn read(disk: &dyn Disk, path: &std::path::Path) -> Result<Key> {
        let bytes = disk.read(path).map_err(|error| BackupError::io(path, error))?;
        Key::of(&bytes).ok_or_else(|| {
            let what = "the file of a key has 32 bytes, or 64 hexadecimal digits";
            BackupError::Refused(format!("{}: {what}", path.display()))
        })
    }

    fn of(bytes: &[u8]) -> Option<Key> {
        if let Ok(key) = bytes.try_into() {
            return Some(Key(key));
        }
        let digits = std::str::from_utf8(bytes).ok()?.trim_ascii();
        if digits.len() != 2 * KEY_BYTES || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let mut key = [0; KEY_BYTES];
        for (at, byte) in key.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(Key(key))
    }

    /// Returns what tells keys apart and does not tell the key.
    fn name(&self) -> [u8; NAME_BYTES] {
        let digest = Sha256::new().chain_update(b"slipstream backup key").chain_update(self.0).finalize();
        digest[..NAME_BYTES].try_into().expect("a digest is longer")
    }

    fn of_file(&self, salt: &[u8]) -> LessSafeKey {
        let derived = Salt::new(HKDF_SHA256, salt).extract(&self.0);
        let mut key = [0; KEY_BYTES];
        derived
            .expand(&[b"slipstream backup file"], KeyLen)
            .and_then(|bytes| bytes.fill(&mut key))
            .expect("a key is shorter than HKDF's longest output");
        LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).expect("the length is that of the algorithm"))
    }
}

/// Returns the nonce of the chunk with this number.
fn nonce(number: u64, is_last: bool) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes[NONCE_LEN - 1] = u8::from(is_last);
    Nonce::assume_unique_for_key(bytes)
}

/// Encrypts what is written to it. [`Sealing::finish`] ends the file.
pub(crate) struct Sealing<W> {
    inner: W,
    key: LessSafeKey,
    number: u64,
    chunk: Vec<u8>,
}

impl<W: Write> Sealing<W> {
    pub fn new(mut inner: W, key: &Key) -> io::Result<Sealing<W>> {
        let mut salt = [0; SALT_BYTES];
        os::random::fill(&mut salt);
        for part in [&MAGIC[..], &key.name(), &salt] {
            inner.write_all(part)?;
        }
        Ok(Sealing { inner, key: key.of_file(&salt), number: 0, chunk: Vec::with_capacity(CHUNK_BYTES) })
    }

    fn seal(&mut self, is_last: bool) -> io::Result<()> {
        let nonce = nonce(self.number, is_last);
        let sealed = self.key.seal_in_place_append_tag(nonce, Aad::empty(), &mut self.chunk);
        sealed.map_err(|_| io::Error::other("a chunk cannot be encrypted"))?;
        self.inner.write_all(&self.chunk)?;
        self.chunk.clear();
        self.number += 1;
        Ok(())
    }

    /// Writes the last chunk, and returns what was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.seal(true)?;
        Ok(self.inner)
    }
}

impl<W: Write> Write for Sealing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full chunk waits until more comes, since the last one is sealed otherwise.
        if self.chunk.len() == CHUNK_BYTES && !bytes.is_empty() {
            self.seal(false)?;
        }
        let count = bytes.len().min(CHUNK_BYTES - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decrypts what is read from it.
pub(crate) struct Unsealing<R> {
    inner: R,
    key: LessSafeKey,
    number: u64,
    /// The chunk that is given away, decrypted.
    chunk: Vec<u8>,
    taken: usize,
    /// The bytes behind it that were read.
    next: Vec<u8>,
    is_at_end: bool,
}

impl<R: Read> Unsealing<R> {
    /// Reads the head of the file `name`.
    pub fn new(mut inner: R, key: &Key, name: &str) -> Result<Unsealing<R>> {
        let mut head = Vec::new();
        let read = inner.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head);
        read.map_err(|error| BackupError::unread(name, error))?;
        if !head.starts_with(&MAGIC) {
            return Err(BackupError::Refused(format!("{name} is not encrypted: it needs no key")));
        }
        if head.len() < HEAD_BYTES {
            return Err(BackupError::damaged(name, "it is cut short"));
        }
        if head[MAGIC.len()..][..NAME_BYTES] != key.name() {
            return Err(BackupError::Refused(format!("{name} is encrypted with another key")));
        }
        let key = key.of_file(&head[MAGIC.len() + NAME_BYTES..]);
        let (chunk, next) = (Vec::new(), Vec::new());
        Ok(Unsealing { inner, key, number: 0, chunk, taken: 0, next, is_at_end: false })
    }

    /// Decrypts the next chunk.
    fn unseal(&mut self) -> io::Result<()> {
        let wanted = CHUNK_BYTES + TAG_BYTES;
        // One byte more than the chunk tells whether it is the last.
        let more = (wanted + 1 - self.next.len()) as u64;
        self.inner.by_ref().take(more).read_to_end(&mut self.next)?;
        let is_last = self.next.len() <= wanted;
        let rest = self.next.split_off(wanted.min(self.next.len()));
        self.chunk = std::mem::replace(&mut self.next, rest);
        let opened = self.key.open_in_place(nonce(self.number, is_last), Aad::empty(), &mut self.chunk);
        let len = match opened {
            Ok(content) => content.len(),
            Err(_) => {
                let what = "its content is not what was encrypted";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
        };
        self.chunk.truncate(len);
        (self.taken, self.is_at_end) = (0, is_last);
        self.number += 1;
        Ok(())
    }
}

impl<R: Read> Read for Unsealing<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.chunk.len() && !self.is_at_end {
            self.unseal()?;
        }
        let count = bytes.len().min(self.chunk.len() - self.taken);
        bytes[..count].copy_from_slice(&self.chunk[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(content: &[u8], key: &Key) -> Vec<u8> {
        let mut sealing = Sealing::new(Vec::new(), key).expect("memory");
        sealing.write_all(content).expect("memory");
        sealing.finish().expect("memory")
    }

    fn unsealed(bytes: &[u8], key: &Key) -> std::result::Result<Vec<u8>, String> {
        let mut content = Vec::new();
        let mut unsealing = Unsealing::new(bytes, key, "file").map_err(|error| error.to_string())?;
        unsealing.read_to_end(&mut content).map_err(|error| error.to_string())?;
        Ok(content)
    }

    #[test]
    fn what_was_encrypted_comes_back_whatever_its_length() {
        let key = Key([7; KEY_BYTES]);
        for len in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES] {
            let content: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let bytes = sealed(&content, &key);
            assert_eq!(unsealed(&bytes, &key).expect("it is sound"), content, "{len}");
            assert_ne!(bytes, sealed(&content, &key), "no two files are alike");
        }
    }

    #[test]
    fn changed_cut_and_exchanged_bytes_are_refused() {
        let key = Key([7; KEY_BYTES]);
        let bytes = sealed(&vec![1; 2 * CHUNK_BYTES + 5], &key);
        for at in (0..bytes.len()).step_by(997).chain(0..HEAD_BYTES) {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(unsealed(&changed, &key).is_err(), "byte {at}");
        }
        let (chunk, end) = (CHUNK_BYTES + TAG_BYTES, bytes.len());
        for len in [0, HEAD_BYTES - 1, HEAD_BYTES, HEAD_BYTES + chunk, HEAD_BYTES + 2 * chunk, end - 1] {
            assert!(unsealed(&bytes[..len], &key).is_err(), "{len} bytes");
        }
        let (first, second) = (HEAD_BYTES..HEAD_BYTES + chunk, HEAD_BYTES + chunk..HEAD_BYTES + 2 * chunk);
        let mut exchanged = bytes.clone();
        exchanged[first.clone()].copy_from_slice(&bytes[second.clone()]);
        exchanged[second].copy_from_slice(&bytes[first]);
        assert!(unsealed(&exchanged, &key).is_err());
    }

    #[test]
    fn another_key_and_a_file_that_is_not_encrypted_are_told() {
        let (key, other) = (Key([7; KEY_BYTES]), Key([8; KEY_BYTES]));
        let told = unsealed(&sealed(b"content", &key), &other).expect_err("the key is wrong");
        assert_eq!(told, "file is encrypted with another key");
        let told = unsealed(b"content", &key).expect_err("it is plain");
        assert_eq!(told, "file is not encrypted: it needs no key");
    }

    #[test]
    fn a_key_is_32_bytes_or_64_digits() {
        assert_eq!(Key::of(&[b'a'; 32]), Some(Key([b'a'; 32])));
        let digits = format!("{}\n", "0aF1".repeat(16));
        assert_eq!(Key::of(digits.as_bytes()).map(|key| key.0[..2].to_vec()), Some(vec![0x0A, 0xF1]));
        for wrong in ["", "secret", "zz", &"g".repeat(64), &"a".repeat(63)] {
            assert_eq!(Key::of(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
