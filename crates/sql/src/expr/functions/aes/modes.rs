//! The modes in which a block cipher encrypts texts that are longer than a block (NIST SP 800-38A).

use crate::error::Result;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};

/// The bytes of an AES block, whatever the length of the key.
pub(super) const BLOCK_BYTES: usize = 16;

/// The most bytes that are worked on between two checks for an interrupt.
const UNASKED_BYTES: usize = 1 << 16;

pub(super) type Block = aes::Block;

/// How the encryption of a block depends on the blocks before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feedback {
    Ecb,
    Cbc,
    Cfb1,
    Cfb8,
    Cfb128,
    Ofb,
}

impl Feedback {
    /// Reports whether the mode begins with an initialization vector.
    pub fn needs_start(self) -> bool {
        self != Feedback::Ecb
    }

    /// Reports whether the mode pads texts to whole blocks.
    fn pads(self) -> bool {
        matches!(self, Feedback::Ecb | Feedback::Cbc)
    }
}

/// AES with a key of 16, 24 or 32 bytes.
pub(super) enum Cipher {
    Aes128(aes::Aes128),
    Aes192(aes::Aes192),
    Aes256(aes::Aes256),
}

impl Cipher {
    /// Makes a cipher. Callers pass a key of 16, 24 or 32 bytes. Of a longer key the first 32 bytes
    /// count, and a key of another length is filled up with zeros.
    pub fn new(key: &[u8]) -> Cipher {
        let mut whole = [0u8; 32];
        let len = key.len().min(whole.len());
        whole[..len].copy_from_slice(&key[..len]);
        match len {
            ..=16 => Cipher::Aes128(aes::Aes128::new(aes::Block::from_slice(&whole[..16]))),
            17..=24 => {
                let mut key = aes::cipher::Key::<aes::Aes192>::default();
                key.copy_from_slice(&whole[..24]);
                Cipher::Aes192(aes::Aes192::new(&key))
            }
            _ => Cipher::Aes256(aes::Aes256::new(&whole.into())),
        }
    }

    fn encrypt(&self, block: &mut Block) {
        match self {
            Cipher::Aes128(cipher) => cipher.encrypt_block(block),
            Cipher::Aes192(cipher) => cipher.encrypt_block(block),
            Cipher::Aes256(cipher) => cipher.encrypt_block(block),
        }
    }

    fn decrypt(&self, block: &mut Block) {
        match self {
            Cipher::Aes128(cipher) => cipher.decrypt_block(block),
            Cipher::Aes192(cipher) => cipher.decrypt_block(block),
            Cipher::Aes256(cipher) => cipher.decrypt_block(block),
        }
    }
}

/// Encrypts a text. `goes_on` is called from time to time.
///
/// # Errors
/// Returns the errors of `goes_on`.
pub(super) fn encrypt(
    cipher: &Cipher,
    feedback: Feedback,
    start: Block,
    plain: &[u8],
    goes_on: &dyn Fn() -> Result<()>,
) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(plain.len() + BLOCK_BYTES);
    out.extend_from_slice(plain);
    if feedback.pads() {
        let missing = BLOCK_BYTES - plain.len() % BLOCK_BYTES;
        out.resize(plain.len() + missing, missing as u8);
    }
    let mut register = start;
    for piece in out.chunks_mut(UNASKED_BYTES) {
        goes_on()?;
        match feedback {
            Feedback::Ecb => piece.chunks_exact_mut(BLOCK_BYTES).for_each(|block| {
                cipher.encrypt(Block::from_mut_slice(block));
            }),
            Feedback::Cbc => piece.chunks_exact_mut(BLOCK_BYTES).for_each(|block| {
                xor(&mut register, block);
                cipher.encrypt(&mut register);
                block.copy_from_slice(&register);
            }),
            _ => feed(cipher, feedback, &mut register, piece, true),
        }
    }
    Ok(out)
}

/// Decrypts a text. `None` means that its length or its padding is not that of a text which was
/// encrypted with this key.
///
/// # Errors
/// Returns the errors of `goes_on`.
pub(super) fn decrypt(
    cipher: &Cipher,
    feedback: Feedback,
    start: Block,
    encrypted: &[u8],
    goes_on: &dyn Fn() -> Result<()>,
) -> Result<Option<Vec<u8>>> {
    if feedback.pads() && !encrypted.len().is_multiple_of(BLOCK_BYTES) {
        return Ok(None);
    }
    let mut out = encrypted.to_vec();
    let mut register = start;
    for piece in out.chunks_mut(UNASKED_BYTES) {
        goes_on()?;
        match feedback {
            Feedback::Ecb => piece.chunks_exact_mut(BLOCK_BYTES).for_each(|block| {
                cipher.decrypt(Block::from_mut_slice(block));
            }),
            Feedback::Cbc => piece.chunks_exact_mut(BLOCK_BYTES).for_each(|block| {
                let next = Block::clone_from_slice(block);
                cipher.decrypt(Block::from_mut_slice(block));
                block.iter_mut().zip(register).for_each(|(byte, before)| *byte ^= before);
                register = next;
            }),
            _ => feed(cipher, feedback, &mut register, piece, false),
        }
    }
    Ok(if feedback.pads() { without_padding(out) } else { Some(out) })
}

/// Works in the modes that encrypt the register, not the text, and combine the text with the
/// resulting stream.
fn feed(cipher: &Cipher, feedback: Feedback, register: &mut Block, piece: &mut [u8], encrypts: bool) {
    match feedback {
        Feedback::Cfb1 => piece.iter_mut().for_each(|byte| {
            for bit in (0..8).rev() {
                let mut stream = *register;
                cipher.encrypt(&mut stream);
                let before = *byte >> bit & 1;
                let after = before ^ stream[0] >> 7;
                *byte = *byte & !(1 << bit) | after << bit;
                let fed = u128::from(if encrypts { after } else { before });
                *register = (u128::from_be_bytes((*register).into()) << 1 | fed).to_be_bytes().into();
            }
        }),
        Feedback::Cfb8 => piece.iter_mut().for_each(|byte| {
            let mut stream = *register;
            cipher.encrypt(&mut stream);
            let before = *byte;
            *byte ^= stream[0];
            let fed = if encrypts { *byte } else { before };
            register.rotate_left(1);
            register[BLOCK_BYTES - 1] = fed;
        }),
        _ => piece.chunks_mut(BLOCK_BYTES).for_each(|block| {
            cipher.encrypt(register);
            for (byte, stream) in block.iter_mut().zip(register.iter_mut()) {
                let before = *byte;
                *byte ^= *stream;
                if feedback == Feedback::Cfb128 {
                    *stream = if encrypts { *byte } else { before };
                }
            }
        }),
    }
}

fn xor(register: &mut Block, block: &[u8]) {
    register.iter_mut().zip(block).for_each(|(byte, other)| *byte ^= other);
}

/// Removes the padding, each of whose bytes says how many they are. `None` means that it is no
/// valid padding.
fn without_padding(mut out: Vec<u8>) -> Option<Vec<u8>> {
    let count = usize::from(*out.last()?);
    let padding = out.len().checked_sub(count).filter(|_| (1..=BLOCK_BYTES).contains(&count))?;
    let is_padding = out[padding..].iter().all(|byte| usize::from(*byte) == count);
    out.truncate(padding);
    is_padding.then_some(out)
}
