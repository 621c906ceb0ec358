//! HdrHistogram's encoding V2, compressed, in base 64, as its logs hold it (HdrHistogram's Java implementation, AbstractHistogram.encodeIntoByteBuffer
//! and encodeIntoCompressedByteBuffer; read back by the Rust implementation in our tests).

/// Known to 0.1 %, finer than the 0.8 % of what is recorded: 3 significant digits.
const SIGNIFICANT_DIGITS: u32 = 3;
/// Values of one bucket before its unit doubles: twice 10^3, rounded up to a power of two.
const SUB_BUCKETS_LOG2: u32 = 11;
const HALF: usize = 1 << (SUB_BUCKETS_LOG2 - 1);
const COOKIE: u32 = 0x1c84_9313;
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;
/// The level of zlib, of 1 to 10.
const COMPRESSION: u8 = 6;

/// Counts in HdrHistogram's buckets for values from 1 to `highest`.
pub struct Counts {
    highest: u64,
    counts: Vec<u64>,
}

/// The place of a value: the values up to 2,047 have one each, then each doubling has 1,024.
fn index(value: u64) -> usize {
    let bucket = (u64::BITS - value.leading_zeros()).saturating_sub(SUB_BUCKETS_LOG2) as usize;
    bucket * HALF + (value >> bucket) as usize
}

/// The highest value that shares a place.
fn top(index: usize) -> u64 {
    let bucket = (index / HALF).saturating_sub(1);
    (((index - bucket * HALF) as u64 + 1) << bucket) - 1
}

impl Counts {
    pub fn new(highest: u64) -> Self {
        Self { highest, counts: Vec::new() }
    }

    /// Counts a value; sums saturate at what readers hold.
    pub fn add(&mut self, value: u64, count: u64) {
        let at = index(value);
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] = self.counts[at].saturating_add(count).min(i64::MAX as u64);
    }

    /// The highest value that the last place with a count stands for; 0 without one.
    pub fn max(&self) -> u64 {
        self.counts.iter().rposition(|count| *count > 0).map_or(0, top)
    }

    #[cfg(test)]
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The text of the last column of a log.
    pub fn encoded(&self) -> String {
        let payload = self.payload();
        let mut plain = Vec::with_capacity(40 + payload.len());
        for number in [COOKIE, payload.len() as u32, 0, SIGNIFICANT_DIGITS] {
            plain.extend(number.to_be_bytes());
        }
        plain.extend(1u64.to_be_bytes());
        plain.extend(self.highest.to_be_bytes());
        plain.extend(1.0f64.to_be_bytes());
        plain.extend(payload);
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&plain, COMPRESSION);
        let mut bytes = Vec::with_capacity(8 + packed.len());
        bytes.extend(COMPRESSED_COOKIE.to_be_bytes());
        bytes.extend((packed.len() as u32).to_be_bytes());
        bytes.extend(packed);
        base64(&bytes)
    }

    /// Each count, and how many in a row are 0 as a negative number, in ZigZag LEB128.
    fn payload(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut rest = &self.counts[..];
        while let Some((&count, behind)) = rest.split_first() {
            let zeros = rest.iter().take_while(|count| **count == 0).count();
            if zeros > 1 {
                put(&mut bytes, -(zeros as i64));
                rest = &rest[zeros..];
            } else {
                put(&mut bytes, count as i64);
                rest = behind;
            }
        }
        bytes
    }
}

/// ZigZag LEB128 in 9 bytes at most: the ninth holds 8 bits.
fn put(bytes: &mut Vec<u8>, number: i64) {
    let mut left = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if left < 0x80 {
            break;
        }
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, i| bits << 8 | u32::from(*chunk.get(i).unwrap_or(&0)));
        for digit in 0..4 {
            let is_padding = digit > chunk.len();
            text.push(if is_padding { '=' } else { char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the format's own Rust implementation makes of the same values is what is read of ours.
    #[test]
    fn their_implementation_reads_what_is_written() {
        use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
        for values in [vec![1], vec![2047, 2048, 4095, 4096], vec![5, 7_000, 1 << 40, i64::MAX as u64 / 2]] {
            let highest = *values.last().unwrap();
            let mut ours = Counts::new(highest.max(2));
            let mut theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, highest.max(2), 3).unwrap();
            for (i, value) in values.iter().enumerate() {
                ours.add(*value, i as u64 * 1_000 + 1);
                theirs.record_n(*value, i as u64 * 1_000 + 1).unwrap();
            }
            assert_eq!(ours.max(), theirs.max(), "{values:?}");
            let bytes = decoded(&ours.encoded());
            let read: hdrhistogram::Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
            assert_eq!(read, theirs, "{values:?}");
            let mut written = Vec::new();
            V2DeflateSerializer::new().serialize(&theirs, &mut written).unwrap();
            assert_eq!(bytes[..4], written[..4]);
        }
    }

    fn decoded(text: &str) -> Vec<u8> {
        let digit = |c: u8| match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        let mut out = Vec::new();
        for four in text.as_bytes().chunks(4) {
            let bits = four.iter().fold(0u32, |bits, c| bits << 6 | if *c == b'=' { 0 } else { u32::from(digit(*c)) });
            let padding = four.iter().filter(|c| **c == b'=').count();
            out.extend(&bits.to_be_bytes()[1..4 - padding]);
        }
        out
    }

    #[test]
    fn base_64_pads() {
        assert_eq!(["", "f", "fo", "foo"].map(|t| base64(t.as_bytes())), ["", "Zg==", "Zm8=", "Zm9v"]);
    }
}
