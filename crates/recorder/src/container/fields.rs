//! Fields of a record of bytes, little-endian, one behind the other.

/// Writes fields into a record.
pub(super) struct FieldWriter<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> FieldWriter<'a> {
    /// From the start of `bytes`, which is long enough for all that is put.
    pub fn into(bytes: &'a mut [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub fn bytes(mut self, value: &[u8]) -> Self {
        self.bytes[self.at..self.at + value.len()].copy_from_slice(value);
        self.at += value.len();
        self
    }

    pub fn u8(self, value: u8) -> Self {
        self.bytes(&[value])
    }

    pub fn u16(self, value: u16) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    pub fn u32(self, value: u32) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    pub fn u64(self, value: u64) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Goes on at this place.
    pub fn at(mut self, at: usize) -> Self {
        self.at = at;
        self
    }
}

/// Reads the fields of a record.
pub(super) struct FieldReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> FieldReader<'a> {
    /// From the start of `bytes`; what lies behind them is zero.
    pub fn from(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let found = self.bytes.get(self.at..self.at + N).and_then(|b| b.try_into().ok());
        self.at += N;
        found.unwrap_or([0; N])
    }

    pub fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.array())
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// Goes on at this place.
    pub fn at(&mut self, at: usize) -> &mut Self {
        self.at = at;
        self
    }
}

/// Length of the records that are a page of their own.
pub const RECORD_BYTES: usize = 4096;
const SUM_AT: usize = RECORD_BYTES - 4;

/// Puts the CRC32C of a record at its end.
pub(super) fn seal(record: &mut [u8; RECORD_BYTES]) {
    let sum = crc32c::crc32c(&record[..SUM_AT]);
    record[SUM_AT..].copy_from_slice(&sum.to_le_bytes());
}

/// A record that begins with `magic` and whose CRC32C is right.
pub(super) fn sealed<'a>(bytes: &'a [u8], magic: &[u8; 8]) -> Option<FieldReader<'a>> {
    let record = bytes.get(..RECORD_BYTES)?;
    let sum = u32::from_le_bytes(record[SUM_AT..].try_into().ok()?);
    (record.starts_with(magic) && crc32c::crc32c(&record[..SUM_AT]) == sum).then(|| {
        let mut fields = FieldReader::from(record);
        fields.at(8);
        fields
    })
}
