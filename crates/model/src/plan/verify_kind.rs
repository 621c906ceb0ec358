//! What `verify` checks, by name; the names that fio's job files use are accepted.

use std::str::FromStr;

named! {
    /// What is checked of a block that was read. Every kind writes the same stamp into each sector and checks its CRC-32C,
    /// run, target, place, generation and write; they differ in what they do with the payload.
    #[derive(Default, PartialOrd, Ord, Hash)]
    pub enum VerifyKind {
        /// Every byte is compared with what was written, made again from the secret. The strongest, and the default.
        #[default]
        Stamp = "stamp",
        /// The payload's CRC-32C is compared with the one in the stamp.
        Crc32c = "crc32c",
        /// The payload's XXH3 with 64 bits is compared with the one in the stamp. fio's `xxhash` is XXH32.
        Xxhash = "xxhash",
        /// The payload is not looked at: only that the right version of the right place came back.
        Meta = "meta",
    }
}

/// A name that is none of a [`VerifyKind`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{name}' is not supported; {instead}")]
pub struct UnknownVerify {
    /// What was asked for.
    pub name: String,
    /// What to take, as a sentence.
    pub instead: &'static str,
}

impl VerifyKind {
    /// What it checks, for a person.
    pub fn checks(self) -> &'static str {
        match self {
            Self::Stamp => "stamp, place, version, and every byte of the payload",
            Self::Crc32c => "stamp, place, version, and the CRC-32C of the payload",
            Self::Xxhash => "stamp, place, version, and the XXH3 of the payload",
            Self::Meta => "stamp, place and version; not the payload",
        }
    }
}

impl FromStr for VerifyKind {
    type Err = UnknownVerify;

    /// Accepts our names and fio's: `crc32c`, `crc32c-intel`, `xxhash`, `meta`.
    fn from_str(name: &str) -> Result<Self, UnknownVerify> {
        let instead = match name {
            "stamp" => return Ok(Self::Stamp),
            // fio keeps the second name for old job files; the instruction is used wherever there is one.
            "crc32c" | "crc32c-intel" => return Ok(Self::Crc32c),
            "xxhash" => return Ok(Self::Xxhash),
            "meta" => return Ok(Self::Meta),
            "pattern" | "pattern_hdr" => "use stamp: it compares every byte too, with data that differ in every sector",
            "null" => "use stamp to verify, or no verify at all: null only pretends to",
            "md5" | "crc64" | "crc32" | "crc16" | "crc7" | "sha1" | "sha256" | "sha512" | "sha3-224" | "sha3-256"
            | "sha3-384" | "sha3-512" => "use crc32c or xxhash, or stamp, which compares every byte and is faster",
            _ => "supported are stamp, crc32c, crc32c-intel, xxhash and meta",
        };
        Err(UnknownVerify { name: name.to_owned(), instead })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for kind in VerifyKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert_eq!("crc32c-intel".parse(), Ok(VerifyKind::Crc32c));
    }

    #[test]
    fn a_refusal_says_what_to_take() {
        let message = "md5".parse::<VerifyKind>().unwrap_err().to_string();
        assert!(message.contains("'md5'") && message.contains("stamp"), "{message}");
        let message = "crc33".parse::<VerifyKind>().unwrap_err().to_string();
        assert!(message.contains("supported are stamp"), "{message}");
    }
}
