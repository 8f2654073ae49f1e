//! The authentication method `mysql_native_password`.

use super::equal::equal;
use sha1::{Digest, Sha1};

fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut hash = Sha1::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// Returns the client's answer to `nonce`: `SHA1(password) XOR SHA1(nonce, SHA1(SHA1(password)))`,
/// or nothing for an empty password.
pub fn scramble(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let stage1 = sha1(&[password]);
    let mask = sha1(&[nonce, &sha1(&[&stage1])]);
    stage1.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// Returns the value of `mysql.user.authentication_string` for `password`. It is empty for an empty
/// password.
pub fn authentication_string(password: &[u8]) -> String {
    if password.is_empty() {
        return String::new();
    }
    let mut out = String::from("*");
    for b in sha1(&[&sha1(&[password])]) {
        out.push_str(&format!("{b:02X}"));
    }
    out
}

/// Reports whether `stored` has the form of an authentication string of this plugin.
pub fn is_valid_authentication_string(stored: &str) -> bool {
    stored.is_empty() || stage2(stored).is_some()
}

fn stage2(stored: &str) -> Option<[u8; 20]> {
    let hex = stored.strip_prefix('*')?.as_bytes();
    if hex.len() != 40 {
        return None;
    }
    let mut out = [0; 20];
    for (byte, pair) in out.iter_mut().zip(hex.chunks_exact(2)) {
        let high = (pair[0] as char).to_digit(16)?;
        let low = (pair[1] as char).to_digit(16)?;
        *byte = (high * 16 + low) as u8;
    }
    Some(out)
}

/// Checks the client's answer against the stored authentication string.
pub fn verify(answer: &[u8], nonce: &[u8], stored: &str) -> bool {
    if stored.is_empty() {
        return answer.is_empty();
    }
    let Some(stage2) = stage2(stored) else { return false };
    if answer.len() != 20 {
        return false;
    }
    let mask = sha1(&[nonce, &stage2]);
    let stage1: Vec<u8> = answer.iter().zip(mask).map(|(a, b)| a ^ b).collect();
    equal(&sha1(&[&stage1]), &stage2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_form_is_mysqls() {
        // This is SELECT PASSWORD('secret') of any MySQL or MariaDB server.
        assert_eq!(authentication_string(b"secret"), "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7");
        assert!(is_valid_authentication_string("*14E65567ABDB5135D0CFD9A70B3032C179A49EE7"));
        assert!(!is_valid_authentication_string("secret"));
    }

    #[test]
    fn right_password_passes_and_others_do_not() {
        let nonce = [9; 20];
        let stored = authentication_string(b"secret");
        assert!(verify(&scramble(b"secret", &nonce), &nonce, &stored));
        assert!(!verify(&scramble(b"Secret", &nonce), &nonce, &stored));
        assert!(!verify(&scramble(b"secret", &[8; 20]), &nonce, &stored));
        assert!(!verify(b"", &nonce, &stored));
        assert!(!verify(&[0; 20], &nonce, "*not a hash"));
        assert!(verify(b"", &nonce, ""));
        assert!(!verify(&scramble(b"x", &nonce), &nonce, ""));
    }
}
