//! That both ends know the group's token, shown without sending it: HMAC-SHA256 (RFC 2104) over what each end has drawn.

use sha2::{Digest, Sha256};

/// Block of SHA-256, bytes.
const BLOCK: usize = 64;

/// A token, as the key that is made of it. It is never printed.
#[derive(Clone)]
pub struct Token([u8; BLOCK]);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// Of a text of 8 to 256 bytes; `None` of others.
    pub fn of(text: &str) -> Option<Self> {
        if !(8..=256).contains(&text.len()) {
            return None;
        }
        let mut key = [0; BLOCK];
        match text.len() {
            0..=BLOCK => key[..text.len()].copy_from_slice(text.as_bytes()),
            _ => key[..32].copy_from_slice(&Sha256::digest(text.as_bytes())),
        }
        Some(Self(key))
    }

    /// What only who has the token can say of these parts, in hexadecimal.
    pub fn proof(&self, parts: &[&str]) -> String {
        let padded = |with: u8| self.0.map(|byte| byte ^ with);
        let mut inner = Sha256::new();
        inner.update(padded(0x36));
        for part in parts {
            // With its length, so that no two lists of parts are one text.
            inner.update((part.len() as u64).to_le_bytes());
            inner.update(part.as_bytes());
        }
        let mut outer = Sha256::new();
        outer.update(padded(0x5c));
        outer.update(inner.finalize());
        hex(&outer.finalize())
    }

    /// Whether a proof is that of these parts, in a time that does not depend on where it differs.
    pub fn proves(&self, parts: &[&str], proof: &str) -> bool {
        let own = self.proof(parts);
        own.len() == proof.len() && own.bytes().zip(proof.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

/// SHA-256 of a text, in hexadecimal.
pub fn digest(text: &[u8]) -> String {
    hex(&Sha256::digest(text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_its_token_and_its_parts_alone() {
        let (ours, other) = (Token::of("correct horse").unwrap(), Token::of("correct Horse").unwrap());
        let proof = ours.proof(&["member", "ab", "c"]);
        assert!(ours.proves(&["member", "ab", "c"], &proof));
        assert!(!ours.proves(&["member", "a", "bc"], &proof));
        assert!(!other.proves(&["member", "ab", "c"], &proof));
        assert!(!ours.proves(&["member", "ab", "c"], ""));
        assert_eq!(format!("{ours:?}"), "Token");
    }

    #[test]
    fn a_token_has_a_length_that_can_be_one() {
        assert!(Token::of("short").is_none() && Token::of(&"x".repeat(257)).is_none());
        let (a, b) = (Token::of(&"x".repeat(65)).unwrap(), Token::of(&"x".repeat(66)).unwrap());
        assert_ne!(a.proof(&[]), b.proof(&[]));
    }
}
